"""Commands that may use next to no address space end with a sentence."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

KILOBYTES = 200_000  # ulimit -v 200000


@pytest.mark.parametrize(
    "command",
    [
        ("mine", "http://127.0.0.1:9/", "--allow-private", "--langs", "en,fr", "--out", "job"),
        ("pair", "job"),
    ],
    ids=lambda command: command[0],
)
def test_an_address_space_of_200_megabytes_gives_a_sentence(tmp_path: Path, command: tuple[str, ...]):
    ended = subprocess.run(
        [sys.executable, "-m", "bitrawl", *command],
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (KILOBYTES << 10, KILOBYTES << 10)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    # On a machine with many cores, OpenBLAS ends the process before we are asked, with a sentence of its own.
    (said,) = ended.stderr.splitlines()
    assert said.startswith(("bitrawl: This process may use only 204 MB of address space", "OpenBLAS error: Memory"))
    assert list(tmp_path.iterdir()) == []
