"""Corpora as files: each format a context manager that gives a `write`; judging, merging, the datasheet."""
