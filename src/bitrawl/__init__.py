"""bitrawl trawls the web for bitext: a focused crawler for parallel and domain corpora."""

__version__ = "0.1.0"
