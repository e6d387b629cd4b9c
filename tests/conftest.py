"""Says at the end of a run what was left out, since a silent skip looks like a pass."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from app.program import what_is_missing
from inline_children import inline_children

BROWSER_TESTS = Path(__file__).parent / "app"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    return True if BROWSER_TESTS in (collection_path, *collection_path.parents) and what_is_missing() else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    asked = [Path(config.invocation_params.dir, one.partition("::")[0]).resolve() for one in config.args]
    concerned = any(one in (BROWSER_TESTS, *BROWSER_TESTS.parents) or BROWSER_TESTS in one.parents for one in asked)
    if concerned and (missing := what_is_missing()):
        terminalreporter.section("not everything was tested", sep="!", red=True, bold=True)
        terminalreporter.line(f"browser tests were NOT run: {missing}; make test-web installs it", red=True, bold=True)


@pytest.fixture
def no_children() -> Iterator[None]:
    """For tests of jobs that are not about processes."""
    with inline_children():
        yield
