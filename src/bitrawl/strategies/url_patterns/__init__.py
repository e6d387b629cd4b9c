"""Two language versions of a site, visited side by side, in the order of the patterns of their URLs (Liu et al.)."""
