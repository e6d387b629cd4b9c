"""Mining one site with workers that fail: what breaks is lost, recorded and kept; everything else is found."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from hostile_readers import dying_service
from prose_site import keep
from small_site import articles, page

from bitrawl import config
from bitrawl.endings import Doing
from bitrawl.files import zstd
from bitrawl.job.site_mining import USUAL, MinedSite, MiningPlan, SiteMiner
from bitrawl.job.workers import Workers, packed_pair
from bitrawl.mining.findings import SiteFindings
from bitrawl.mining.judging import Flag
from bitrawl.mining.stages import AlignedPair, PairedSite
from bitrawl.model import Language, Page, PagePair, Segment, SegmentPair, Unpacker
from bitrawl.process import Failure, FailureKind
from bitrawl.reasons import Reason, Stage
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings, PackedAlignment
from bitrawl.testing import FakeClock
from bitrawl.text.template import Template
from bitrawl.url import Url

EN, FR = Language("en"), Language("fr")
ERROR = Failure(FailureKind.ERROR, "IndexError: string index out of range", "Traceback ...")
CRASH = Failure(FailureKind.CRASH, "exit status 3")
KILLED = Failure(FailureKind.KILLED, "killed by SIGKILL")


class FakeWorkers:
    """Find one segment in each pair; fail where they are told to."""

    def __init__(self, pairs: Sequence[PagePair]) -> None:
        self.pairs = pairs
        self.asked: list[int] = []  # the sizes of the batches
        self.got_ready = 0
        self.learned_from: list[Sequence[PagePair]] = []
        self.taught: set[bytes] = set()  # what batches were aligned with
        self.pairing: Callable[[], Failure | None] = lambda: None
        self.breaks: Callable[[PagePair], Failure | None] = lambda _pair: None
        self.breaks_learning: Callable[[PagePair], Failure | None] = lambda _pair: None
        self.too_long: dict[Url, str] = {}
        self.pages_too_long: dict[str, str] = {}

    async def pair(self, site: str, **_how: bool) -> PairedSite | Failure:
        found = SiteFindings(site, 2 * len(self.pairs), tuple(self.pairs))
        return self.pairing() or PairedSite(found, Template({}), self.pages_too_long)

    def get_ready(self, count: int) -> None:
        self.got_ready += count > 1

    async def learn(self, _languages: object, pairs: Sequence[PagePair], _template: Template) -> bytes | Failure:
        self.learned_from.append(pairs)
        broken = [failure for pair in pairs if (failure := self.breaks_learning(pair))]
        return broken[0] if broken else " ".join(pair.url_a for pair in pairs).encode()

    async def align(
        self, _languages: object, pairs: Sequence[PagePair], _template: Template, learned: bytes = b""
    ) -> list[PackedAlignment] | Failure:
        self.taught.add(learned)
        self.asked.append(len(pairs))
        broken = [failure for pair in pairs if (failure := self.breaks(pair))]
        if broken:
            return broken[0]
        return [
            packed_pair(pair, AlignedPair((_segment(pair),), too_long=self.too_long.get(pair.url_a, "")))
            for pair in pairs
        ]


def _segment(pair: PagePair) -> SegmentPair:
    return SegmentPair(pair.url_a, pair.url_b, Segment(str(pair.url_a)), Segment(str(pair.url_b)), 0.9)


class Site:
    """A site of so many pairs in a ledger, and what mines it."""

    def __init__(self, folder: Path, count: int, plan: MiningPlan = USUAL) -> None:
        self.plan = plan
        pages, pairs = articles(count, "http://s.test/en/p{}", "http://s.test/fr/p{}")
        keep(folder, pages)
        by_url = {str(page.url): page.url for page in pages}
        self.folder = folder
        self.ledger = Ledger(folder / "job.sqlite")
        self.pairs = [PagePair(by_url[a], by_url[b], EN, FR, 0.9) for a, b in sorted(pairs)]
        self.workers = FakeWorkers(self.pairs)
        self.told: list[Doing | None] = []

    async def mine(self, settings: str = "s") -> MinedSite:
        rejected = self.folder / "rejected"
        made = SiteMiner(
            *(self.ledger, self.workers, FakeClock()),
            settings=settings,
            rejected=rejected,
            watch=self.told.append,
            plan=self.plan,
        )
        mined = await made.mine("s.test")
        if mined.found is None:
            Findings(self.ledger).failed("s.test", mined.faults)
        else:
            Findings(self.ledger).replace(mined.found, mined.alignments, mined.faults)
        return mined

    def segments(self) -> int:
        return sum(1 for _ in Findings(self.ledger).segments(EN, FR))

    def made_from(self) -> str | None:
        mined = Findings(self.ledger).mined("s.test")
        return mined and mined.made_from


@pytest.fixture
def site(tmp_path: Path):
    made = Site(tmp_path, 9)
    yield made
    made.ledger.close()


async def test_a_pair_that_breaks_its_batch_is_lost_and_no_other(site: Site):
    bad = site.pairs[4]
    site.workers.breaks = lambda pair: ERROR if pair == bad else None
    await site.mine()
    assert site.segments() == 8
    [fault] = Findings(site.ledger).faults()
    assert (fault.url, fault.stage, fault.reason) == (bad.url_a, Stage.ALIGN, Reason.MINING_ERROR)
    assert str(bad.url_b) in fault.detail
    assert "IndexError" in fault.detail
    [about] = (site.folder / "rejected").glob("*.json")
    assert json.loads(about.read_text())["url_a"] == str(bad.url_a)
    both: Unpacker[tuple[Page, Page]] = Unpacker(tuple[Page, Page])
    assert [page.url for page in both(about.with_suffix(".pages").read_bytes())] == [bad.url_a, bad.url_b]


async def test_a_pair_that_was_lost_is_still_told_when_the_site_is_mined_again(site: Site):
    site.workers.breaks = lambda pair: ERROR if pair == site.pairs[4] else None
    await site.mine()
    before, asked = Findings(site.ledger).faults(), len(site.workers.asked)
    await site.mine()
    assert len(site.workers.asked) == asked  # nothing was aligned again
    assert Findings(site.ledger).faults() == before != []


async def test_what_is_too_long_for_a_segment_is_a_skip_with_its_page_pair_and_stays_one(site: Site):
    site.workers.too_long = {site.pairs[2].url_a: "one segment of 2000 characters without a mark to split at: 'aaa'"}
    for _ in range(2):
        await site.mine()
        assert site.segments() == 9
        [fault] = Findings(site.ledger).faults()
        assert (fault.url, fault.stage, fault.reason) == (site.pairs[2].url_a, Stage.ALIGN, Reason.SEGMENT_TOO_LONG)
        assert fault.detail.startswith(f"with {site.pairs[2].url_b}: one segment of 2000 characters")


async def test_what_is_left_out_of_a_page_of_one_language_is_a_skip(site: Site):
    url = site.pairs[0].url_a
    site.workers.pages_too_long = {str(url): "one segment of 2000 characters"}
    await site.mine()
    [fault] = Findings(site.ledger).faults()
    assert (fault.url, fault.reason, fault.detail) == (url, Reason.SEGMENT_TOO_LONG, "one segment of 2000 characters")


@pytest.mark.parametrize(("failure", "reason"), [(KILLED, Reason.KILLED), (CRASH, Reason.MINING_CRASH)])
async def test_a_site_that_could_not_be_paired_is_not_taken_for_mined(site: Site, failure: Failure, reason: Reason):
    site.workers.pairing = lambda: failure
    assert (await site.mine()).found is None
    [fault] = Findings(site.ledger).faults()
    assert (fault.stage, fault.reason, fault.detail) == (Stage.PAIR, reason, failure.detail)
    assert site.made_from() is None


async def test_a_site_that_could_not_be_paired_keeps_what_was_found_before_and_is_not_taken_for_mined(site: Site):
    await site.mine()
    whole = site.made_from()
    for failure in (KILLED, KILLED, None):
        site.workers.pairing = lambda failure=failure: failure
        await site.mine()
        assert site.segments() == 9
        assert len(Findings(site.ledger).faults()) == (failure is not None)
        assert (site.made_from() == whole) == (failure is None)


async def test_a_pair_at_which_workers_were_killed_is_told_and_aligned_by_the_next_run(site: Site):
    bad = site.pairs[4]
    site.workers.breaks = lambda pair: KILLED if pair == bad else None
    await site.mine()
    [fault] = Findings(site.ledger).faults()
    assert (fault.url, fault.stage, fault.reason) == (bad.url_a, Stage.ALIGN, Reason.KILLED)
    assert site.segments() == 8
    unfinished = site.made_from()
    site.workers.breaks = lambda _pair: None
    site.workers.asked.clear()
    await site.mine()
    assert (site.workers.asked, site.segments(), Findings(site.ledger).faults()) == ([1], 9, [])
    assert site.made_from() != unfinished


async def test_what_was_aligned_with_a_part_of_the_sample_is_aligned_again_when_all_of_it_can_be_learned_from(
    site: Site,
):
    kills = iter([KILLED])
    site.workers.breaks_learning = lambda _pair: next(kills, None)
    await site.mine()
    [fault] = Findings(site.ledger).faults()
    assert (fault.stage, fault.reason) == (Stage.ALIGN, Reason.KILLED)
    assert "from 4 page pairs instead of 9" in fault.detail
    site.workers.taught.clear()
    await site.mine()
    assert site.workers.taught == {" ".join(pair.url_a for pair in site.workers.learned_from[0]).encode()}
    assert (site.segments(), Findings(site.ledger).faults()) == (9, [])


async def test_segments_of_partly_translated_pages_bear_a_flag(site: Site):
    site.pairs[3] = msgspec.structs.replace(site.pairs[3], partial=True)
    await site.mine()
    flagged = [one.url_a for one in Findings(site.ledger).segments(EN, FR) if one.flags == (Flag.PARTIAL,)]
    assert flagged == [site.pairs[3].url_a]


async def test_the_untranslated_rest_of_a_partly_translated_page_is_not_aligned(tmp_path: Path):
    pages, pairs = articles(3, "http://s.test/en/p{}", "http://s.test/fr/p{}")
    rest = page("http://s.test/rest", EN, ["This paragraph was never translated."]).paragraphs
    pages = [msgspec.structs.replace(one, paragraphs=(*one.paragraphs, *rest)) for one in pages]
    keep(tmp_path, pages)
    found = [PagePair(Url.parse(a), Url.parse(b), EN, FR, 0.9, partial=a.endswith("p1")) for a, b in sorted(pairs)]
    async with Workers(config.Job(langs=["en", "fr"]), tmp_path) as workers:
        aligned = await workers.align((EN, FR), found, Template({}))
    assert not isinstance(aligned, Failure)
    untranslated = [rest[0].text.encode() in zstd.decompress(of_pair.segments) for of_pair in aligned]
    assert untranslated == [not pair.partial for pair in found]
    assert all(of_pair.count for of_pair in aligned)


async def test_what_is_aligned_is_not_aligned_again(site: Site):
    await site.mine()
    site.workers.asked.clear()
    await site.mine()
    assert (site.workers.asked, site.segments()) == ([], 9)
    await site.mine(settings="others")
    assert (sum(site.workers.asked), site.segments()) == (9, 9)


async def test_many_pairs_are_aligned_in_batches_with_what_a_sample_taught(tmp_path: Path):
    site = Site(tmp_path, 22, MiningPlan(sample=10, batch=4))
    await site.mine()
    assert list(map(len, site.workers.learned_from)) == [10]
    assert site.workers.asked == [4, 4, 2, 2, 2, 2, 2, 2, 2]  # all workers end at about the same time
    assert site.segments() == 22
    done = [doing.done for doing in site.told if doing and doing.total == 22]
    assert done == sorted(done)
    assert str(site.told[-1]) == "aligning s.test (22 of 22 en-fr pairs)"
    site.ledger.close()


@pytest.mark.parametrize(("count", "times"), [(USUAL.batch, 0), (USUAL.batch + 1, 1)])
async def test_a_second_worker_is_asked_for_while_words_are_learned_if_there_will_be_work_for_it(
    tmp_path: Path, count: int, times: int
):
    many = Site(tmp_path, count)
    await many.mine()
    await many.mine()  # nothing is left to learn or to align
    assert many.workers.got_ready == times
    many.ledger.close()


@pytest.mark.parametrize("count", [9, 22])
async def test_what_a_pair_is_aligned_with_depends_on_no_batch_half_or_interruption(tmp_path: Path, count: int):
    site = Site(tmp_path, count, MiningPlan(sample=10, batch=4))
    site.workers.breaks = lambda pair: ERROR if pair == site.pairs[4] else None
    await site.mine()
    with site.ledger.transaction():  # as if it had been killed before the others were stored
        site.ledger.database.query("DELETE FROM alignments WHERE id > 5")
    await site.mine()
    assert len(site.workers.taught) == 1
    assert site.segments() == count - 1
    site.ledger.close()


async def test_the_order_in_which_pairs_come_changes_nothing_that_is_learned(site: Site):
    await site.mine()
    site.workers.pairs = site.pairs[::-1]
    await site.mine(settings="others")
    first, second = site.workers.learned_from
    assert first == second


async def test_a_pair_that_breaks_learning_is_left_out_of_the_sample_and_the_others_teach(site: Site):
    bad = site.pairs[4]
    site.workers.breaks_learning = lambda pair: CRASH if pair == bad else None
    await site.mine()
    assert {pair.url_a for pair in site.workers.learned_from[-1]} == {pair.url_a for pair in site.pairs} - {bad.url_a}
    assert len(site.workers.taught) == 1
    assert site.segments() == 9
    [fault] = Findings(site.ledger).faults()
    assert (fault.url, fault.stage, fault.reason) == (bad.url_a, Stage.ALIGN, Reason.MINING_CRASH)


async def test_pairs_that_all_break_learning_are_aligned_alone(site: Site):
    site.workers.breaks_learning = lambda _pair: ERROR
    await site.mine()
    assert site.workers.taught == {b""}
    assert set(site.workers.asked) == {1}


async def test_a_worker_that_is_killed_at_each_attempt_costs_its_site_and_not_the_job(tmp_path: Path):
    """The real workers: the service dies when it reads the site's pages."""
    site = Site(tmp_path, 9)
    job = config.resolve({"langs": ["en", "fr"], "seeds": ["http://s.test/"], "mining": {"megabytes": 256}})
    async with Workers(job, tmp_path) as workers:
        workers._children._factory = dying_service  # instead of `mining_service`
        site.workers = workers  # type: ignore[assignment]
        await site.mine()
    [fault] = Findings(site.ledger).faults()
    assert (fault.stage, fault.reason) == (Stage.PAIR, Reason.MINING_CRASH)
    assert "exit status 3" in fault.detail
    site.ledger.close()


def test_a_mining_child_loads_neither_the_crawler_nor_what_writes_a_corpus_or_a_report():
    unwanted = ("aiohttp", "jinja2", "bitrawl.corpus.merger", "bitrawl.job.reporting")
    loaded = f"import sys, bitrawl.job.workers; print([name for name in {unwanted} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", loaded], capture_output=True, check=True).stdout == b"[]\n"
