"""What a job remembers."""
