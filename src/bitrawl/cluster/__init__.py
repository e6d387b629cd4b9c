"""Many sites on many machines: bundles of sites, where they are mined, and what is finished (extra `cluster` for Dask)."""
