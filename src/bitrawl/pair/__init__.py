"""Which pages are translations of each other: detectors, verification, one score, one-to-one matching."""
