"""What can be learned from URLs alone.

The files here are about any URL: how it is cut (tokens), which languages it names (marks, marked_tokens), the patterns
of a site and how often they hold (patterns, habits). Each folder answers one question: which language a URL's page is
in (language), whether two URLs are translations (parallel), which URLs of a whole list are pairs (sitewide).
"""
