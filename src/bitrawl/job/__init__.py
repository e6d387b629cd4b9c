"""A job's life: it is described, run, mined, exported, merged and reported; and the wiring, which alone names implementations."""
