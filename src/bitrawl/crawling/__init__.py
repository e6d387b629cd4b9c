"""What to visit, and visiting it."""
