"""The web app (extra `web`): `bitrawl serve`."""
