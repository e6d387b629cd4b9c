"""What can be learned from URLs alone: the language of a page, whether two are translations, the pairs of a whole site."""
