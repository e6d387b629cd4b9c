"""What each page shows, and what each form does."""
