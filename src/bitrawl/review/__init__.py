"""What people do with a corpus: they list, search and judge it, write texts anew, draw samples, and choose thresholds."""
