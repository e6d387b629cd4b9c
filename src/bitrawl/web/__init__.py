"""The web app: other people's jobs, as processes in folders like any other."""
