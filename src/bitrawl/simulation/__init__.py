"""Replay an archived web under several strategies."""
