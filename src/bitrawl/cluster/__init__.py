"""Many sites on many machines: where results go, archives split by site, checkpoints of running work (extra `cluster`)."""
