"""Builds the objects that a job's description asks for: the only room that names implementations, and does nothing else."""
