"""What a URL alone tells: the languages that it names, what is left without them, the patterns of a site."""
