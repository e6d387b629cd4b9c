"""A run without a browser says that its tests were left out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_a_run_without_a_browser_says_so_also_with_workers():
    others = (f"--ignore={path}" for path in (ROOT / "tests").iterdir() if path.name != "app")
    command = ("pytest", "tests", *others, "-n", "1", "-p", "no:cacheprovider")
    environment = {**os.environ, "CHROMIUM": "/no/such/program"}
    ended = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert "browser tests were NOT run: no chromium; make test-web installs it" in ended.stdout
    assert ended.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
