"""Corpora as files: formats (each a context manager that returns a `write`), judging, merging, the datasheet."""
