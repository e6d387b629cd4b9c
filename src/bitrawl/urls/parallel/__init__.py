"""Whether two URLs are versions of one page, by the URLs alone."""
