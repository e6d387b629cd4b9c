"""What to visit next: one file or folder for each strategy."""
