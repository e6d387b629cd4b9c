"""What a run shows while it goes on."""

import pytest
from rich.console import Console

from bitrawl.cli.progress import Progress


@pytest.mark.parametrize("what", ["pairing example.org (635 pages)", "aligning en-de (12 pairs of pages)"])
def test_the_live_display_says_what_is_being_mined(what: str):
    progress, console = Progress(), Console(width=120)
    progress.mining(what)
    with console.capture() as shown:
        console.print(progress._table(""))
    assert what in shown.get()
    progress.mining("")
    with console.capture() as shown:
        console.print(progress._table(""))
    assert what not in shown.get()


def test_without_a_terminal_many_sites_do_not_flood_the_log(capsys: pytest.CaptureFixture[str]):
    progress = Progress()
    for number in range(100):
        progress.mining(f"pairing site{number}.test (8 pages)")
    assert capsys.readouterr().err.count("pairing") < 10


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]):
    Progress(quiet=True).mining("pairing example.org (635 pages)")
    assert not any(capsys.readouterr())
