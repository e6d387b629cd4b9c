import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bitrawl.cli import main


@pytest.fixture
def bitrawl(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command here: its exit status, output and errors."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bitrawl", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capfd.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return run
