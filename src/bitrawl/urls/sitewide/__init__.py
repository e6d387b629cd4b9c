"""Which URLs of a site are versions of each other, all of them at once."""
