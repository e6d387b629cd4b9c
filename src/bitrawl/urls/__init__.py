"""What URLs alone tell.

Flat files are about any URL: how it is cut (tokens), which languages it names (marks, marked_tokens), the patterns of a
site and how often they hold (patterns, habits). The folders answer one question each: the language behind a URL
(language), whether two are translations (parallel), the pairs of a whole list (sitewide).
"""
