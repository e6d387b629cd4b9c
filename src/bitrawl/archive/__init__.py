"""WARC in and out: what was fetched is kept, and archives of any origin are read in place of the web."""
