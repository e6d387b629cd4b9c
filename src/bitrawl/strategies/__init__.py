"""What to visit next: one file a strategy, or one folder."""
