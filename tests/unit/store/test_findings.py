"""What is kept of a mined site beside its pairs: patterns, refusals; and the report's table of sites."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from small_site import EN, FR, articles

from bitrawl.facts import LanguagePair
from bitrawl.job.reporting import gather
from bitrawl.mining import RefusedPair, SiteFindings
from bitrawl.mining.pairing import PairingResult
from bitrawl.mining.stages import Miner
from bitrawl.model import Language, Lease, Link, LinkKind, Page, PagePair, Segment, SegmentPair, Skip, Visit
from bitrawl.reasons import Reason, Stage
from bitrawl.show import report_of_job
from bitrawl.store import ledger_facts as tables
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings, PackedAlignment
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.url import Url


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    (tmp_path / "job.toml").write_text('langs = ["en", "fr"]\nseeds = ["http://s.test/"]\n', "utf-8")
    made = Ledger(tmp_path / "job.sqlite")
    yield made
    made.close()


def pair(a: str, b: str, langs: str = "en fr") -> PagePair:
    lang_a, lang_b = map(Language, langs.split())
    return PagePair(Url.parse(a), Url.parse(b), lang_a, lang_b, 0.9, {"u": 1.0})


PAIR = pair("http://s.test/en/1", "http://s.test/fr/1")
REFUSAL = RefusedPair(Url.parse("http://s.test/en/2"), Url.parse("http://s.test/fr/2"), "untranslated")


def site(name: str, **more: object) -> SiteFindings:
    known = {"pairs": (PAIR,), "refusals": (REFUSAL,)} | more
    return SiteFindings(name, 10, **known)  # type: ignore[arg-type]


def test_findings_of_a_site_are_read_back_as_they_were_stored(ledger: Ledger):
    findings = Findings(ledger)
    findings.replace(site("s.test", patterns={"en-fr a": 3, "en-fr c": 7, "en-fr b": 7}))
    findings.replace(site("t.test"))
    assert findings.recorded("s.test") == ([PAIR], [REFUSAL])
    assert list(findings.patterns("s.test").items()) == [("en-fr b", 7), ("en-fr c", 7), ("en-fr a", 3)]
    assert findings.patterns("t.test") == {}
    assert findings.recorded("never.test") == ([], [])
    assert tables.language_pairs(ledger) == [LanguagePair(EN, FR, 2, 0, 0)]


def test_partial_pairs_give_segments_and_are_not_counted_as_pairs_of_pages(ledger: Ledger):
    findings = Findings(ledger)
    half = msgspec.structs.replace(pair("http://s.test/en/2", "http://s.test/fr/2"), partial=True)
    segments = [SegmentPair(one.url_a, one.url_b, Segment("a"), Segment("b"), 0.9) for one in (PAIR, half)]
    for key, segment in zip((b"1", b"2"), segments, strict=True):
        findings.aligned("s.test", key, PackedAlignment.of([segment]))
    findings.replace(site("s.test", pairs=(PAIR, half)), [b"1", b"2"])
    assert list(findings.pairs(EN, FR)) == [PAIR, half]
    assert list(findings.segments(EN, FR)) == segments
    assert tables.language_pairs(ledger) == [LanguagePair(EN, FR, 1, 1, 2)]
    assert [(one.site, one.pairs) for one in tables.site_counts(ledger, 9)] == [("s.test", 1)]
    assert findings.recorded("s.test")[0] == [PAIR, half]


def test_new_findings_of_a_site_take_the_place_of_the_old_and_of_no_others(ledger: Ledger):
    findings = Findings(ledger)
    for name in ("s.test", "t.test"):
        findings.replace(site(name, patterns={"en-fr old": 3}))
    findings.replace(site("s.test", pairs=(), refusals=(), patterns={"en-fr new": 4}))
    assert findings.recorded("s.test") == ([], [])
    assert findings.patterns("s.test") == {"en-fr new": 4}
    assert findings.patterns("t.test") == {"en-fr old": 3}


class Pairer:
    """Answers with what it was made with."""

    def __init__(self, pairs: list[PagePair]) -> None:
        self._pairs = pairs

    def pairs(self, pages: object, languages: object, sitemaps: object = (), **_how: object) -> PairingResult:
        return PairingResult(pairs=self._pairs, refusals=[])


def mined(pages: list[Page], pairs: list[PagePair], langs: str = "en fr") -> SiteFindings:
    miner = Miner([Language(code) for code in langs.split()], Pairer(pairs), NgramLanguageIdentifier())
    return miner.pair("s.test", lambda: pages, ()).findings


@pytest.mark.parametrize(
    ("english", "french", "few"),
    [
        ("http://s.test/en/p{}", "http://s.test/fr/p{}", 1),
        ("http://s.test/p{}", "http://s.test/fr/p{}", 1),
        ("http://s.test/p{}?lang=en", "http://s.test/p{}?lang=fr", 1),
        ("http://s.test/x{}/", "http://s.test/{}y/", 5),
    ],
)
def test_the_patterns_of_a_site_say_how_many_of_its_pairs_show_them(english: str, french: str, few: int):
    pages, pairs = articles(8, english, french)
    patterns = mined(pages, [pair(a, b) for a, b in sorted(pairs)]).patterns
    assert len(patterns) <= few
    assert all(name.startswith("en-fr ") for name in patterns)
    assert all(3 <= count <= 8 for count in patterns.values())
    if few == 1:
        assert list(patterns.values()) == [8]


def test_each_two_languages_have_patterns_of_their_own():
    pages, pairs = articles(5, "http://s.test/en/p{}", "http://s.test/fr/p{}")
    german, more = articles(4, "http://s.test/en/p{}", "http://s.test/de/p{}")
    german = [msgspec.structs.replace(one, language=Language("de")) for one in german if one.language == FR]
    both = [*(pair(a, b) for a, b in sorted(pairs)), *(pair(a, b, "en de") for a, b in sorted(more))]
    patterns = mined([*pages, *german], both, "en fr de").patterns
    assert {name.split()[0]: count for name, count in patterns.items()} == {"en-fr": 5, "en-de": 4}


def test_two_pairs_are_no_habit():
    pages, pairs = articles(2, "http://s.test/en/p{}", "http://s.test/fr/p{}")
    assert mined(pages, [pair(a, b) for a, b in pairs]).patterns == {}


def test_the_report_says_of_each_site_how_its_addresses_differ_and_why_it_was_left(ledger: Ledger, tmp_path: Path):
    findings = Findings(ledger)
    hostile = "en-fr <b>&</b> → <script>"
    findings.replace(
        site("rich.test", patterns={f"en-fr {number}": 30 - number for number in range(9)} | {hostile: 99})
    )
    findings.replace(site("poor.test", pairs=()))
    with ledger.transaction():
        ledger.learn(msgspec.structs.replace(ledger.knowledge("poor.test"), left="8 pages, and <nothing> but en"))
        link = Link(Url.parse("http://rich.test/"), LinkKind.SEED)
        ledger.refuse([(link, Skip(link.url, Stage.SCOPE, Reason.OFF_SITE))])
        ledger.record(Visit(Lease(link, 1.0), Page(link.url, EN), 200, 1000, at=1e9, took=0.1))
    drawn = report_of_job(gather(tmp_path))
    rows = {
        name: row for row in re.findall(r"<tr>.*?</tr>", drawn) for name in ("rich.test", "poor.test") if name in row
    }
    assert "8 pages, and &lt;nothing&gt; but en" in rows["poor.test"]
    assert "<code>" not in rows["poor.test"]
    assert "a budget was spent" in rows["rich.test"]
    shown = re.findall(r"<code>(.*?)</code> (\d+)", rows["rich.test"])
    assert [count for _, count in shown] == ["99", "30", "29"]
    assert "<script>" not in shown[0][0]
    assert drawn.index("rich.test") < drawn.index("poor.test")
