"""A job's life and memory: its folder, its ledger and all SQL, findings, facts, crawling, mining, export, and the wiring."""
