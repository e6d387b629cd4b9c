"""Where more bilingual sites are: from the sites that are known back to who cites them, and forth to what those cite."""
