"""What people look at: the reports, as HTML files that open offline, and their short form for the terminal.

`wording` has the names, labels and sentences. `templating` is the one HTML engine, of the reports and of the web app:
Jinja2, which escapes every value. The markup is in `templates/`.
"""
