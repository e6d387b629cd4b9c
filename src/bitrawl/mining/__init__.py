"""Which pages and which sentences are translations: pairing, alignment, judging. `stages.py` is the straight line."""
