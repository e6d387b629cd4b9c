"""The report of a job: one HTML file."""
