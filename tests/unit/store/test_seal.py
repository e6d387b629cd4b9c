"""A ledger that is not as it was left is never read as if it were."""

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bitrawl.errors import DamagedError
from bitrawl.store import seal
from bitrawl.store.ledger import Ledger
from bitrawl.url import Url

PAGES = 40
KILLED = """
import os, sys
sys.path[:] = {path!r}
from pathlib import Path
from bitrawl.store.ledger import Ledger
ledger = Ledger(Path({ledger!r}))
for number in range({pages}):
    ledger.remember(f"page {{number}}", f"The harbour of page {{number}} " * 40)
os.kill(os.getpid(), 9)
"""


def write_ledger(path: Path) -> None:
    ledger = Ledger(path)
    for number in range(PAGES):
        ledger.remember(f"page {number}", f"The harbour of page {number}" * 40)
    ledger.close()


def killed_ledger(path: Path) -> None:
    """A process that writes is killed: what it wrote is in the log."""
    code = KILLED.format(path=sys.path, ledger=str(path), pages=PAGES)
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert path.with_name("job.sqlite-wal").stat().st_size > 1000


def facts(path: Path) -> list[object]:
    ledger = Ledger(path, read_only=True)
    try:
        return [ledger.recall(f"page {number}") for number in range(PAGES)]
    finally:
        ledger.close()


def flip(path: Path, place: int, bit: int = 0) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << bit
    path.write_bytes(data)


def test_a_flipped_bit_anywhere_in_a_closed_ledger_is_noticed_by_readers_and_writers(tmp_path: Path):
    whole = tmp_path / "whole" / "job.sqlite"
    write_ledger(whole)
    chance = random.Random(1)
    for number in range(20):
        copy = tmp_path / str(number)
        shutil.copytree(whole.parent, copy)
        flip(copy / "job.sqlite", chance.randrange(whole.stat().st_size), chance.randrange(8))
        for read_only in (True, False):
            with pytest.raises(DamagedError, match=r"is damaged.*bitrawl check"):
                Ledger(copy / "job.sqlite", read_only=read_only)
    assert None not in facts(whole)


def test_a_ledger_that_somebody_cut_off_is_noticed(tmp_path: Path):
    write_ledger(tmp_path / "job.sqlite")
    os.truncate(tmp_path / "job.sqlite", 4096)
    with pytest.raises(DamagedError):
        facts(tmp_path / "job.sqlite")


def test_a_damaged_seal_costs_nothing(tmp_path: Path):
    write_ledger(tmp_path / "job.sqlite")
    for place in range((tmp_path / "job.seal").stat().st_size):
        flip(tmp_path / "job.seal", place)
        assert None not in facts(tmp_path / "job.sqlite")
        flip(tmp_path / "job.seal", place)
    write_ledger(tmp_path / "job.sqlite")


def test_a_flipped_bit_in_the_log_of_a_killed_job_is_noticed_unless_only_the_last_commit_is_lost(tmp_path: Path):
    killed_ledger(tmp_path / "whole" / "job.sqlite")
    log = "job.sqlite-wal"
    size = (tmp_path / "whole" / log).stat().st_size
    chance = random.Random(2)
    for number in range(20):
        copy = tmp_path / str(number)
        copy.mkdir()
        for name in ("job.sqlite", log):
            shutil.copy(tmp_path / "whole" / name, copy / name)
        flip(copy / log, chance.randrange(size - 3 * 4120), chance.randrange(8))
        with pytest.raises(DamagedError):
            facts(copy / "job.sqlite")
        with pytest.raises(DamagedError):
            Ledger(copy / "job.sqlite")
    assert None not in facts(tmp_path / "whole" / "job.sqlite")


def test_a_killed_job_whose_log_is_whole_is_no_damage(tmp_path: Path):
    killed_ledger(tmp_path / "job.sqlite")
    Ledger(tmp_path / "job.sqlite").close()
    assert None not in facts(tmp_path / "job.sqlite")


def test_a_row_that_cannot_be_read_is_a_sentence_about_its_file(tmp_path: Path):
    ledger = Ledger(tmp_path / "job.sqlite")
    url = Url.parse("http://a.test/")
    with ledger.transaction():
        values = (url, "a.test", "en", "", "", 0, ledger._compress(b"no page"))
        ledger.database.query("INSERT INTO stored_pages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", values)
    with pytest.raises(DamagedError, match=r"job\.sqlite is damaged: a row cannot be read"):
        ledger.page(url)
    with ledger.transaction():
        row = ("http://a.test/x", "a.test", "a.test", "page", 3, 0.0, "fetch", "no-such-reason", "", b"")
        ledger.database.query(
            "INSERT INTO links (url, host, site, kind, state, score, stage, reason, detail, link) VALUES (?,?,?,?,?,?,?,?,?,?)",
            row,
        )
    with pytest.raises(DamagedError, match="no-such-reason"):
        ledger.skip_of(Url.parse("http://a.test/x"))
    ledger.close()


def test_a_ledger_that_is_written_while_it_is_compared_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "job.sqlite"
    write_ledger(path)
    measured, before = seal._measured, seal._measured(path)

    def late(_path: Path) -> seal.Seal:
        monkeypatch.setattr(seal, "_measured", measured)
        ledger = Ledger(path)
        ledger.remember("more", 1)
        ledger.close()
        return seal.Seal(before.size, before.crc + 1)

    monkeypatch.setattr(seal, "_measured", late)
    seal.verify_seal(path)
    assert None not in facts(path)
