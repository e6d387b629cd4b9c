"""Which language a URL's page is in, by the URL alone."""
