"""Which language the page behind a URL is in, by the URL alone."""
