"""Which sentences of two texts are translations of each other."""
