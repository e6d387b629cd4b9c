"""A topic from nothing: the titles, translations and external links of a wiki's category (Papavassiliou, section 4)."""
