"""What can be learned from a text alone."""
