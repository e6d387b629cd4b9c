"""The browser that the tests use, if there is one."""

import os
import shutil
from importlib.util import find_spec

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """What $CHROMIUM names, otherwise what is installed; empty if there is none."""
    named = os.environ.get("CHROMIUM", "")
    return (shutil.which(named) or "") if named else next(filter(None, map(shutil.which, PROGRAMS)), "")


def what_is_missing() -> str:
    """Empty if the tests can run."""
    missing = [name for name in ("playwright", "axe_playwright_python") if find_spec(name) is None]
    return "no chromium" if not chromium() else f"no {missing[0]}" if missing else ""
