"""What a job remembers: its folder and the SQLite files in it. All SQL is here."""
