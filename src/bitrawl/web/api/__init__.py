"""The HTTP API: all that the pages can do, for programs. The table of operations also makes openapi.json."""
