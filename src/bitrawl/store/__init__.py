"""Everything that a job stores. All SQL is here."""
