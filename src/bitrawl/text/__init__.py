"""What a text alone tells."""
