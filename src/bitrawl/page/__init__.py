"""From bytes to a Page."""
