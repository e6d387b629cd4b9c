"""The default strategy. It combines all evidence with a model and learns from each visit."""
