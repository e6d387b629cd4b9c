"""A site that grows while it is mined: what is mined belongs to one moment, and what came later is not forgotten."""

import pickle
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from prose_site import keep, visit
from small_site import EN, FR, articles

from bitrawl import config
from bitrawl.job import workers
from bitrawl.job.workers import PairSite, PassPages, mining_service
from bitrawl.mining.pairing import Pairing, PairingResult
from bitrawl.mining.stages import Miner, PagePass, PairedSite
from bitrawl.model import Page, Sitemap, Unpacker
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.own_files import SHARED
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.template import Template
from bitrawl.url import Url

SITE = "s.test"


class GrowingPairing(Pairing):
    """While it pairs, the crawl goes on."""

    def __init__(self, before: Callable[[], None], after: Callable[[], None]) -> None:
        super().__init__()
        self._before, self._after = before, after

    def pairs(self, *given, **more) -> PairingResult:
        self._before()
        found = super().pairs(*given, **more)
        self._after()
        return found


@pytest.fixture
def grown():
    return articles(30, "http://s.test/en/p{}", "http://s.test/fr/p{}")[0]


def paired(folder: Path) -> PairedSite:
    """As a child process does it."""
    serve = mining_service(config.resolve(config.read(folder / "job.toml")), folder)
    answer = serve(msgspec.msgpack.encode(PairSite(SITE)), lambda _message: None)
    return Unpacker(PairedSite)(answer)


def urls(site: PairedSite) -> set[tuple[str, str]]:
    return {(pair.url_a, pair.url_b) for pair in site.findings.pairs}


def grow_meanwhile(
    monkeypatch: pytest.MonkeyPatch, before: Callable[[], None], after: Callable[[], None] = lambda: None
) -> None:
    pairing = GrowingPairing(before, after)
    monkeypatch.setattr(workers, "wired_miner", lambda _job: Miner((EN, FR), pairing, NgramLanguageIdentifier()))


def test_pages_that_come_while_a_site_is_mined_leave_it_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grown: list[Page]
):
    keep(tmp_path, grown[:24])
    expected = paired(tmp_path)
    ledger = Ledger(tmp_path / "job.sqlite")
    grow_meanwhile(monkeypatch, before=lambda: visit(ledger, grown[24:40]), after=lambda: visit(ledger, grown[40:]))
    found = paired(tmp_path)
    now = ledger.extent(SITE)
    ledger.close()
    assert found == expected  # of all passes, none has read what came between
    assert found.findings.pages == 24
    assert found.extent != now


def test_a_sitemap_that_comes_while_a_site_is_mined_leaves_it_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grown: list[Page]
):
    keep(tmp_path, grown)
    ledger = Ledger(tmp_path / "job.sqlite")
    sitemap = Sitemap(Url.parse("http://s.test/sitemap.xml"))
    grow_meanwhile(monkeypatch, before=lambda: visit(ledger, [sitemap]))
    found = paired(tmp_path)
    assert found.extent != ledger.extent(SITE)
    assert paired(tmp_path).extent == ledger.extent(SITE)
    ledger.close()


def test_whatever_the_order_of_the_visits_a_view_has_the_same_pages_in_the_same_order(
    tmp_path: Path, grown: list[Page]
):
    views = []
    for name, pages in (("there", grown), ("back", grown[::-1])):
        (tmp_path / name).mkdir()
        keep(tmp_path / name, pages)
        ledger = Ledger(tmp_path / name / "job.sqlite", read_only=True)
        views.append([page.url for page in ledger.view(SITE).pages()])
        ledger.close()
    assert views[0] == views[1] == sorted(page.url for page in grown)


def test_no_transaction_stays_open_between_two_pages_of_a_view(tmp_path: Path, grown: list[Page]):
    keep(tmp_path, grown)
    reader, writer = Ledger(tmp_path / "job.sqlite", read_only=True), Ledger(tmp_path / "job.sqlite")
    next(pages := reader.view(SITE).pages())
    writer.remember("some", "news")
    busy, written, moved = writer.database.one("PRAGMA wal_checkpoint(TRUNCATE)")
    assert (busy, written, moved) == (0, 0, 0)  # else the log would grow for as long as a site is mined
    assert sum(1 for _ in pages) == len(grown) - 1
    reader.close()
    writer.close()


@pytest.mark.parametrize("made", [0, 1, 5, 8])
def test_whatever_another_worker_passes_of_the_pages_their_pairs_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grown: list[Page], made: int
):
    keep(tmp_path, grown)
    expected = paired(tmp_path)
    monkeypatch.setattr(workers, "MANY", 10)
    monkeypatch.setattr(workers, "PART", 8)
    serve = mining_service(config.resolve(config.read(tmp_path / "job.toml")), tmp_path)
    places: list[Path] = []

    def helped(place: str) -> None:
        """The other worker is killed at a part, and has left a draft of that."""
        places.append(Path(place))
        serve(msgspec.msgpack.encode(PassPages(place)), lambda _message: None)
        for number in range(8 - made):
            (Path(place) / str(number)).rename(Path(place) / f"{number}.new")

    assert Unpacker(PairedSite)(serve(msgspec.msgpack.encode(PairSite(SITE)), helped)) == expected
    [place] = places
    assert not place.exists()
    assert serve(msgspec.msgpack.encode(PassPages(str(place))), lambda _message: None) == b""  # it comes too late


def test_a_worker_that_helps_ends_where_the_other_has_begun(tmp_path: Path, grown: list[Page]):
    keep(tmp_path, grown)
    with Ledger(tmp_path / "job.sqlite", read_only=True) as ledger:
        numbers = ledger.view(SITE).numbers
        (tmp_path / "work").write_bytes(pickle.dumps((numbers, PagePass(Template({}), None))))
        (tmp_path / "0.begun").touch()
    serve = mining_service(config.resolve(config.read(tmp_path / "job.toml")), tmp_path)
    serve(msgspec.msgpack.encode(PassPages(str(tmp_path))), lambda _message: None)
    assert [(tmp_path / name).exists() for name in ("0", "1")] == [False, True]


def test_what_two_killed_workers_shared_is_removed_with_the_next_look_at_the_job(tmp_path: Path, grown: list[Page]):
    keep(tmp_path, grown)
    left = tmp_path / f"{SHARED}a_b1"
    left.mkdir()
    (left / "3").touch()
    JobFolder(tmp_path).check_writable()  # it is ours
    JobFolder(tmp_path).reading().close()
    assert not left.exists()
