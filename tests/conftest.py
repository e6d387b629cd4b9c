"""Says at the end of a run what was left out, since a silent skip looks like a pass."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER_TESTS = Path(__file__).parent / "browser"


def chromium() -> str:
    """The program; empty if there is none."""
    named = os.environ.get("CHROMIUM", "")
    return (shutil.which(named) or "") if named else next(filter(None, map(shutil.which, BROWSERS)), "")


def why_no_browser() -> str:
    if not chromium():
        return "no chromium"
    return "" if find_spec("playwright") else "no playwright"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    return True if collection_path == BROWSER_TESTS and why_no_browser() else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    asked = [Path(config.invocation_params.dir, str(one).partition("::")[0]).resolve() for one in config.args]
    concerned = any(one in (BROWSER_TESTS, *BROWSER_TESTS.parents) or BROWSER_TESTS in one.parents for one in asked)
    if concerned and (why := why_no_browser()):
        terminalreporter.section("browser tests", sep="!", red=True, bold=True)
        terminalreporter.line(f"browser tests were NOT run: {why}; make test-web installs it", red=True, bold=True)
