"""The figures of a job, for its report."""
