"""Many sites on many machines: bundles of sites, executors, places for what is finished, checkpoints (extra `cluster`)."""
