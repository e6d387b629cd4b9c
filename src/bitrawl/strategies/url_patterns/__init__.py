"""Visits two language versions of a site together, in the order of their URL patterns (Liu et al.)."""
