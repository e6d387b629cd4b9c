"""The default strategy: all evidence at once, weighed by a model that each visit teaches."""
