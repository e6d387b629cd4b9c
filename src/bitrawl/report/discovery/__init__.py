"""The report of a search for bilingual sites."""
