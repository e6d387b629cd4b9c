"""The report of a simulation: harvest curves side by side."""
