"""Replay an archived web under several strategies."""

SIMULATED_DOWNLOADS = 1000  # of a walk; here, because help shows it
