"""Whether a page is about a topic: term lists, language models, topics learned from texts."""
