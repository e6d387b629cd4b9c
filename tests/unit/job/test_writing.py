"""From the ledger of a job to its corpus folder, without a crawl."""

import hashlib
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from kept_findings import Aligned, keep_findings

from bitrawl import config
from bitrawl.config import Job
from bitrawl.job.exporting import corpus_units, write_corpus
from bitrawl.job.reporting import gather
from bitrawl.model import (
    Language,
    Lease,
    Link,
    LinkKind,
    Metadata,
    Page,
    PagePair,
    Paragraph,
    Relevance,
    Segment,
    SegmentPair,
    Skip,
    Verdict,
    Visit,
)
from bitrawl.reasons import Reason, Stage
from bitrawl.show import brief
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import Subject, VerdictHistory
from bitrawl.url import Url

EN, FR, DE = map(Language, ("en", "fr", "de"))
TEXTS = {
    EN: "The museum is open every day of the week.",
    FR: "Le musée est ouvert tous les jours de la semaine.",
    DE: "Das Museum ist jeden Tag der Woche geöffnet.",
}
CES = "{http://www.xces.org/schema/2003}"


def address(language: Language, number: int) -> Url:
    return Url.parse(f"https://www.example.org/{language}/{number}")


def page(language: Language, number: int, found: Language | None = None) -> Page:
    """A page whose text was identified as `found`."""
    text = Paragraph(f"{TEXTS[language]} {number}", language=found or language)
    return Page(address(language, number), found or language, paragraphs=(text,))


def paired(lang_a: Language, lang_b: Language, number: int, *segments: tuple[str, str, float]) -> Aligned:
    urls = (address(lang_a, number), address(lang_b, number))
    pair = PagePair(*urls, lang_a, lang_b, 0.9, {"a": 0.4, "u": 0.25, "r": 0.1})
    return Aligned(pair, tuple(SegmentPair(*urls, Segment(a, 0, 0), Segment(b, 0, 0), s) for a, b, s in segments))


def good(lang_a: Language, lang_b: Language, number: int = 0) -> Aligned:
    return paired(lang_a, lang_b, number, (TEXTS[lang_a], TEXTS[lang_b], 0.9))


def job(langs: str = "en,fr", *formats: str, **more: object) -> Job:
    asked = {"langs": langs.split(","), "seeds": ["https://www.example.org/"], "export": {"formats": list(formats)}}
    return config.resolve(asked | more)


class Mined:
    """A job folder, as a crawl and a miner leave it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.corpus = folder / "corpus"
        self.ledger = Ledger(folder / "job.sqlite")

    def visited(self, *pages: Page) -> "Mined":
        for one in pages:
            link = Link(one.url, LinkKind.PAGE)
            with self.ledger.transaction():
                self.ledger.refuse([(link, Skip(one.url, Stage.SCOPE, Reason.OFF_SITE))])
                self.ledger.record(Visit(Lease(link, 1.0), one, 200, 1000, at=1e9, took=0.1))
        return self

    def found(self, *pairs: Aligned) -> "Mined":
        keep_findings(Findings(self.ledger), "example.org", 10, pairs)
        return self

    def written(self, asked: Job) -> dict[str, dict[str, object]]:
        config.write(asked, self.folder / "job.toml")
        write_corpus(asked, self.folder)
        return json.loads((self.corpus / "summary.json").read_text())

    def said(self, verdict: Verdict, one: PagePair | SegmentPair) -> "Mined":
        subject = Subject.of_pair(one) if isinstance(one, PagePair) else Subject.of_segment(one)
        VerdictHistory(self.folder / "verdicts.sqlite").say(subject, verdict, "anna", 1e9)
        return self

    def texts(self) -> list[str]:
        """Of the units that were written."""
        lines = (self.corpus / "en-fr.sentences.jsonl").read_text().splitlines()
        return [json.loads(line)["text_a"] for line in lines]

    def card(self) -> str:
        return (self.corpus / "README.md").read_text()

    def names(self) -> set[str]:
        return {path.name for path in self.corpus.iterdir()} - {"README.md", "summary.json"}


@pytest.fixture
def mined(tmp_path: Path):
    folder = Mined(tmp_path)
    yield folder
    folder.ledger.close()


def test_a_pair_that_is_found_no_more_is_in_the_corpus_no_more(mined):
    assert mined.found(good(EN, FR)).written(job())["en-fr"]["units"] == 1
    assert mined.found().written(job())["en-fr"]["units"] == 0
    assert (mined.corpus / "en-fr.sentences.jsonl").read_text() == ""
    assert "0 translation units" in mined.card()


def test_one_card_tells_of_all_pairs_of_languages(mined):
    mined.found(good(EN, FR), good(EN, DE), good(FR, DE)).written(job("en,fr,de", "jsonl"))
    named = {f"{pair}.{kind}.jsonl" for pair in ("en-fr", "en-de", "fr-de") for kind in ("documents", "sentences")}
    assert mined.names() == named
    assert mined.card().count("```toml") == 1
    assert "from 3 pages of 1 site" in mined.card()
    assert all(f"| {name} |" in mined.card() for name in named)
    assert "Nothing was found" not in mined.card()


def test_pairs_of_languages_without_results_have_no_files_and_one_sentence(mined):
    figures = mined.found(good(EN, FR)).written(job("en,fr,de", "jsonl", "tmx", "xces"))
    assert mined.names() == {"en-fr.documents.jsonl", "en-fr.sentences.jsonl", "en-fr.tmx", "xces"}
    assert {path.name for path in (mined.corpus / "xces").iterdir()} == {"en-fr"}
    said = "Nothing was found for en-de and fr-de, so there are no files for them."
    assert mined.card().count(said) == 1
    assert "German" not in mined.card()
    assert said in brief(gather(mined.folder)).lines
    assert said in (mined.folder / "report.html").read_text()
    assert figures["fr-de"]["units"] == 0


def test_files_of_a_pair_of_languages_that_has_no_results_any_more_go(mined):
    everything = {"formats": ["tmx", "jsonl", "tsv", "moses", "parquet", "xces"], "compress": True}
    mined.found(good(EN, FR), good(EN, DE)).written(job("en,fr,de", export=everything))
    assert any(name.startswith("en-de") for name in mined.names())
    mined.found(good(EN, FR)).written(job("en,fr,de", "jsonl"))
    assert mined.names() == {"en-fr.documents.jsonl", "en-fr.sentences.jsonl", "xces"}
    assert list((mined.corpus / "xces").iterdir()) == []


def test_many_languages_without_any_result_have_a_card_and_no_files(mined):
    mined.found().written(job("en,fr,de"))
    assert mined.names() == set()
    assert "Nothing was found for en-fr, en-de and fr-de" in mined.card()


def test_page_pairs_without_good_segments_are_a_result(mined):
    mined.found(good(EN, FR), paired(EN, DE, 0, ("Bad", "Schlecht", 0.0))).written(job("en,fr,de", "jsonl"))
    assert len((mined.corpus / "en-de.documents.jsonl").read_text().splitlines()) == 1
    assert (mined.corpus / "en-de.sentences.jsonl").read_text() == ""


@pytest.mark.parametrize("langs", ["en,fr", "fr"])
def test_the_only_corpus_of_a_job_has_its_files_also_when_nothing_was_found(mined, langs):
    mined.found().written(job(langs, "jsonl"))
    assert all((mined.corpus / name).read_text() == "" for name in mined.names())
    assert f"{langs.replace(',', '-')}.documents.jsonl" in mined.names()


@pytest.mark.parametrize("formats", [("tmx",), ("moses", "xces"), ("tsv", "parquet")])
def test_the_folder_and_the_card_have_what_was_asked_for_the_last_time(mined, formats):
    everything = ("tmx", "jsonl", "tsv", "moses", "parquet", "xces")
    mined.found(good(EN, FR)).written(job(export={"formats": list(everything), "compress": True}))
    mined.written(job("en,fr", *formats))
    rows = (line.split(" | ") for line in mined.card().splitlines() if line.startswith(("| en-fr.", "| xces/en-fr")))
    listed = {row[0][2:] for row in rows}
    assert {name.partition("/")[0] for name in listed} == mined.names() - ({"xces"} - set(formats))
    assert not any(name.endswith(".gz") for name in mined.names())


def test_a_page_is_filed_under_the_language_of_its_pair(mined):
    mined.visited(page(EN, 0), page(FR, 0, found=EN)).found(good(EN, FR))
    mined.written(job("en,fr", "xces"))
    folder = mined.corpus / "xces/en-fr"
    (pair,) = folder.glob("*_*")
    sides = [side.get("trans.loc") for side in ET.parse(pair).getroot().iter(f"{CES}translation")]
    languages = [next(ET.parse(folder / name).getroot().iter(f"{CES}language")).get("iso639") for name in sides]
    assert languages == ["en", "fr"]


def test_evidence_is_counted_and_not_summed(mined):
    mined.found(good(EN, FR, 0), good(EN, FR, 1)).written(job())
    assert "| a: declared translations: hreflang, sitemaps, language switchers | 2 |" in mined.card()
    assert "| r: links to each other | 2 |" in mined.card()


def test_the_summary_adds_up(mined):
    segments = [("Tea time", "L'heure du thé", 0.9), ("Tea time!", "L'heure du thé !", 0.8), ("Bread", "Pain", 0.1)]
    first, second = paired(EN, FR, 0, *segments), paired(EN, FR, 1, segments[0])
    written = mined.found(first, second).written(job())["en-fr"]
    assert written.pop("thresholds")["score"] == job().judge.score
    assert written == {
        "units": 1,
        "occurrences": 2,
        "pairs": 2,
        "refused": {"score": 1},
        "near_duplicates": 1,
    }


def licensed(language: Language, number: int, licence: str) -> Page:
    return msgspec.structs.replace(page(language, number), metadata=Metadata(licence=licence))


BY = "https://creativecommons.org/licenses/by/4.0/"


def test_licences_are_those_that_the_pages_of_the_corpus_state(mined):
    mined.visited(licensed(EN, 0, BY), page(FR, 0)).found(good(EN, FR)).written(job())
    assert f"| {BY} | 1 |" in mined.card()
    assert "- Without a licence statement: 1 page." in mined.card()


def test_licences_are_counted_of_the_pages_that_the_card_counts_and_of_no_others(mined):
    """Not those of a pair that a person rejected, or that nobody paired."""
    rejected, bad = good(EN, FR, 1), paired(EN, FR, 2, ("Bad", "Mauvais", 0.0))
    stated = [licensed(language, number, f"{BY}?{number}") for language in (EN, FR) for number in range(4)]
    mined.visited(*stated).found(good(EN, FR), rejected, bad).said(Verdict.REJECT, rejected.pair).written(job())
    assert "in 2 page pairs from 4 pages" in mined.card()
    assert f"| {BY}?0 | 2 |" in mined.card()
    assert f"{BY}?1" not in mined.card()
    assert f"| {BY}?2 | 2 |" in mined.card()
    assert f"{BY}?3" not in mined.card()
    assert "- Without a licence statement: 0 pages." in mined.card()
    assert 'license: "cc-by-4.0"' in mined.card()


def test_off_topic_pages_say_nothing_of_the_licences_of_a_corpus_in_one_language(mined):
    off = msgspec.structs.replace(licensed(FR, 1, "CC0"), relevance=Relevance(0.0, relevant=False))
    mined.visited(licensed(FR, 0, BY), off).found().written(job("fr"))
    assert f"| {BY} | 1 |" in mined.card()
    assert "CC0" not in mined.card()


def test_one_language_gives_plain_text_and_json(mined):
    mined.visited(page(FR, 0), page(FR, 1), page(EN, 0)).found()
    assert mined.written(job("fr")) == {"fr": {"documents": 2, "paragraphs": 2, "words": 22}}
    assert mined.names() == {"fr.txt", "fr.ids", "fr.documents.jsonl"}
    assert "| fr | 2 | 2 | 22 |" in mined.card()


def test_a_document_of_one_language_has_what_people_filter_by(mined):
    """A text that another site has too, menus, a list, the same again and again, and a paragraph in another language."""
    prose = " ".join(f"Le bateau numéro {number} quitte le port avant la nuit." for number in range(4))
    again, foreign = " ".join(["Le port est ouvert."] * 50), f"{TEXTS[EN]} " * 3
    here, there, alone = (Url.parse(f"https://{name}.org/fr") for name in ("a", "b", "c"))

    def document(url: Url, *texts: str, menu: str = "") -> Page:
        paragraphs = [Paragraph(text, language=EN if text == foreign else FR) for text in texts]
        return Page(url, FR, paragraphs=(Paragraph(menu, boilerplate=True), *paragraphs))

    mined.visited(document(here, prose, menu="x" * len(prose)), document(there, prose), document(alone, again, foreign))
    mined.found().written(job("fr"))
    rows = {row["url"]: row for row in map(json.loads, (mined.corpus / "fr.documents.jsonl").read_text().splitlines())}
    assert [bool(row["repeats"]) for row in rows.values()].count(True) == 1
    assert {row["repeats"] for row in rows.values()} <= {"", here, there}
    assert [rows[url]["boilerplate"] for url in (here, there, alone)] == [0.5, 0.0, 0.0]
    assert (rows[here]["repetition"] < 0.5, rows[alone]["repetition"] > 0.8) == (True, True)
    assert rows[here]["quality"] == round(1 - rows[here]["repetition"], 4)
    assert rows[alone]["quality"] < 0.2
    assert [paragraph["lang"] for paragraph in rows[alone]["paragraphs"]] == ["fr", "en"]


def test_long_paragraphs_of_one_language_are_split_as_the_job_asks(mined):
    long = Page(address(FR, 0), FR, paragraphs=(Paragraph(" ".join([TEXTS[FR]] * 5)), Paragraph("mot " * 60)))
    mined.visited(long).found()
    assert mined.written(job("fr", align={"characters": 110})) == {"fr": {"documents": 1, "paragraphs": 3, "words": 50}}
    lines = (mined.corpus / "fr.txt").read_text().splitlines()
    assert lines == [f"{TEXTS[FR]} {TEXTS[FR]}", f"{TEXTS[FR]} {TEXTS[FR]}", TEXTS[FR]]
    assert len((mined.corpus / "fr.ids").read_text().splitlines()) == 3


def test_what_was_read_from_archives_was_not_fetched_today(mined, tmp_path):
    (tmp_path / "a.warc.gz").write_bytes(b"")
    mined.visited(page(EN, 0)).found(good(EN, FR))
    mined.written(job(seeds=[], warc=[str(tmp_path / "a.warc.gz")]))
    assert "Taken from web archives" in mined.card()
    assert not any(word in mined.card() for word in ("Fetched", "Crawled", "Archived"))


def test_the_card_has_the_figures_of_the_summary_and_the_checksums_of_the_files(mined):
    segments = [("Tea time", "L'heure du thé", 0.9), ("Tea time!", "L'heure du thé !", 0.8), ("Bread", "Pain", 0.1)]
    mined.found(paired(EN, FR, 0, *segments), paired(EN, FR, 1, segments[0])).visited(page(EN, 0), page(FR, 0))
    figures = mined.written(job("en,fr", "jsonl", "tmx", "xces"))["en-fr"]
    said = (
        f"{figures['units']} translation unit in {figures['pairs']} page pairs.",
        f"found {figures['occurrences']} times",
        f"{figures['near_duplicates']} that differ only",
        f"| score | {figures['refused']['score']} |",
    )
    assert all(words in mined.card() for words in said)
    for name in ("en-fr.documents.jsonl", "en-fr.sentences.jsonl", "en-fr.tmx"):
        content = (mined.corpus / name).read_bytes()
        assert f"| {name} | {len(content):,} | {hashlib.sha256(content).hexdigest()} |" in mined.card()
    assert "| xces/en-fr/ (4 files) |" in mined.card()


def test_the_card_does_not_say_who_made_it_and_where(mined, tmp_path):
    words = tmp_path / "words.tsv"
    words.write_text("tea\tthé\n")
    fetch = {
        "contact": "me@example.org",
        "proxy": "http://me:secret@proxy.test:8080",
        "connect_to": {"*": "10.0.0.1:80"},
    }
    mined.found(good(EN, FR)).written(job(fetch=fetch, pair={"dictionary": str(words)}))
    assert not any(told in mined.card() for told in ("me@", "secret", "proxy.test", "10.0.0.1", str(tmp_path)))
    assert 'dictionary = "words.tsv"' in mined.card()


TEA, MILK, BREAD = ("Tea time", "L'heure du thé", 0.9), ("Cold milk", "Lait froid", 0.8), ("Bread", "Pain", 0.1)
ONLY = {"export": {"formats": ["jsonl", "tmx", "xces"], "accepted_only": True}}


def reviewed(mined: Mined) -> tuple[Aligned, Aligned]:
    """Two page pairs; tea is on both, bread is below the threshold."""
    one, two = paired(EN, FR, 0, TEA, BREAD), paired(EN, FR, 1, TEA, MILK)
    mined.visited(*(page(language, number) for language in (EN, FR) for number in (0, 1))).found(one, two)
    return one, two


def test_a_rejected_page_pair_stays_out_with_its_segments_and_is_counted(mined):
    _, two = reviewed(mined)
    figures = mined.said(Verdict.REJECT, two.pair).written(job("en,fr", "jsonl", "xces"))["en-fr"]
    assert mined.texts() == ["Tea time"]
    assert (figures["pairs"], figures["occurrences"]) == (1, 1)
    assert figures["refused"] == {"rejected by a person": 2, "score": 1}
    assert figures["refused_pairs"] == {"rejected by a person": 1}
    assert "/1" not in (mined.corpus / "en-fr.documents.jsonl").read_text()
    assert len(list((mined.corpus / "xces/en-fr").iterdir())) == 3  # two pages and their alignment
    assert "| rejected by a person | 2 |" in mined.card()
    assert "| rejected by a person | 1 |" in mined.card()
    assert "rejected by a person 2" in (mined.folder / "report.html").read_text()


def test_a_rejected_segment_stays_out_wherever_it_occurs(mined):
    one, _ = reviewed(mined)
    figures = mined.said(Verdict.REJECT, one.segments[0]).written(job())["en-fr"]
    assert mined.texts() == ["Cold milk"]
    assert figures["refused"] == {"rejected by a person": 2, "score": 1}
    assert figures["pairs"] == 2
    assert "Tea time" not in (mined.folder / "report.html").read_text()


def test_an_accepted_segment_gets_in_below_the_thresholds_but_not_from_a_rejected_page_pair(mined):
    one, _ = reviewed(mined)
    assert mined.said(Verdict.ACCEPT, one.segments[1]).written(job())["en-fr"]["refused"] == {}
    assert mined.texts() == ["Tea time", "Bread", "Cold milk"]
    mined.said(Verdict.REJECT, one.pair).written(job())
    assert mined.texts() == ["Tea time", "Cold milk"]


def test_an_accepted_segment_without_text_stays_out(mined):
    empty = paired(EN, FR, 0, (" ", "Pain", 0.9))
    figures = mined.found(empty).said(Verdict.ACCEPT, empty.segments[0]).written(job())["en-fr"]
    assert figures["refused"] == {"empty": 1}


def test_an_accepted_segment_represents_what_is_nearly_equal(mined):
    one = paired(EN, FR, 0, ("TEA TIME!", "L'heure du thé !", 0.9), ("Tea time", "L'heure du thé", 0.2))
    mined.found(one).said(Verdict.ACCEPT, one.segments[1]).written(job())
    assert mined.texts() == ["Tea time"]


@pytest.mark.parametrize(
    ("verdicts", "texts", "pairs", "refused"),
    [
        ([], [], 0, {"not accepted by a person": 3, "score": 1}),
        ([(1, None)], ["Tea time", "Cold milk"], 1, {"not accepted by a person": 1, "score": 1}),
        ([(0, None)], ["Tea time"], 1, {"not accepted by a person": 2, "score": 1}),
        ([(0, 1)], ["Bread"], 1, {"not accepted by a person": 3}),
        ([(0, 0)], ["Tea time"], 2, {"not accepted by a person": 1, "score": 1}),
    ],
)
def test_accepted_only_writes_what_people_accepted_and_the_sums_add_up(mined, verdicts, texts, pairs, refused):
    both = reviewed(mined)
    for number, place in verdicts:
        mined.said(Verdict.ACCEPT, both[number].pair if place is None else both[number].segments[place])
    figures = mined.written(job(**ONLY))["en-fr"]
    assert mined.texts() == texts
    assert figures["refused"] == refused
    assert figures["pairs"] + sum(figures.get("refused_pairs", {}).values()) == 2
    assert figures["pairs"] == pairs
    assert figures["occurrences"] + sum(refused.values()) == 4
    assert [unit.pair.a.text for _, unit in corpus_units(job(**ONLY), mined.folder)] == texts
    assert "| accepted_only | true |" in mined.card()


def test_a_rejected_segment_of_an_accepted_page_pair_stays_out(mined):
    _, two = reviewed(mined)
    mined.said(Verdict.ACCEPT, two.pair).said(Verdict.REJECT, two.segments[1]).written(job(**ONLY))
    assert mined.texts() == ["Tea time"]


def test_without_verdicts_there_is_no_file_of_them(mined):
    reviewed(mined)
    mined.written(job())
    assert not list(mined.folder.glob("verdicts*"))


def test_starting_over_keeps_what_people_said(mined, tmp_path):
    one, _ = reviewed(mined)
    mined.said(Verdict.REJECT, one.pair)
    mined.ledger.close()
    JobFolder(tmp_path).start_over()
    assert not (tmp_path / "job.sqlite").exists()
    assert len(VerdictHistory(JobFolder(tmp_path).verdicts).standing().pairs) == 1
    mined.ledger = Ledger(tmp_path / "job.sqlite")


EVERYTHING = ["tmx", "jsonl", "tsv", "moses", "parquet", "xces"]
SECRETS = ("anna@s.test", "+33 1 42 68 53 00", "ben@s.test")


def personal() -> Aligned:
    texts = [(f"Ask {who}@s.test now", f"Demandez à {who}@s.test", 0.9) for who in ("anna", "ben")]
    return paired(EN, FR, 1, *texts, ("Call +33 1 42 68 53 00", "Appelez le 01 42 68 53 00", 0.9))


def written_bytes(corpus: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(corpus.rglob("*")) if path.is_file())


@pytest.mark.parametrize(("how", "units"), [("replace", 3), ("drop", 1)])
def test_no_format_has_personal_data_and_all_of_it_is_counted(mined, how, units):
    pages = [
        Page(address(lang, 1), lang, title=SECRETS[0], paragraphs=tuple(map(Paragraph, SECRETS))) for lang in (EN, FR)
    ]
    mined.visited(*pages).found(good(EN, FR), personal())
    ledger = mined.folder / "job.sqlite"
    before = ledger.read_bytes()
    figures = mined.written(job(export={"formats": EVERYTHING, "anonymise": how}))["en-fr"]
    written = written_bytes(mined.corpus)
    assert not [secret for secret in (*SECRETS, "01 42 68 53 00") if secret.encode() in written]
    assert (figures["units"], figures["personal_data"]) == (units, {"email": 2, "phone": 1})
    assert figures["refused"] == ({"personal data": 3} if how == "drop" else {})
    assert "| e-mail addresses | 2 |" in mined.card()
    assert "merged: 2 e-mail addresses, 1 telephone number." in (mined.folder / "report.html").read_text()
    assert "; personal data: 2 e-mail addresses, 1 telephone number" in "\n".join(brief(gather(mined.folder)).lines)
    assert ledger.read_bytes() == before  # what was found stays


ANNA, PHONE, ACCOUNT = "anna@s.test", "+33142685300", "DE89370400440532013000"
LEAKS = (ANNA, "anna%40s.test", PHONE, "33142685300", ACCOUNT, "0142685300", "bob@s.test")


def everywhere(language: Language, number: int) -> Page:
    """A page with personal data in all that is ever written of it."""
    about = f"{ANNA}から {PHONE}"
    return Page(
        Url.parse(f"https://www.example.org/{language}/{number}/anna%40s.test?tel={PHONE}"),
        language,
        title=f"{ANNA}_{language}",
        digest=f"{number}",
        metadata=Metadata(about, about, about, about, f"© {ANNA}, {number}"),
        paragraphs=(Paragraph(f"{TEXTS[language]} {ACCOUNT}です {number}", language=language, terms=(ANNA,)),),
    )


@pytest.mark.parametrize("how", ["replace", "drop"])
def test_nothing_that_goes_with_a_corpus_has_personal_data(mined, how):
    pages = [everywhere(language, number) for number in range(3) for language in (EN, FR)]
    a, b = pages[:2]
    pair = PagePair(a.url, b.url, EN, FR, 0.9, {"a": 0.4})
    texts = [
        (TEXTS[EN], TEXTS[FR]),
        (f"Write to {ANNA}으로 now", f"Écrivez à {ANNA}へ maintenant"),
        (f"Write to {ANNA} or bob@s.test now", f"Écrivez à {ANNA} ou à bob (s.test) maintenant"),
    ]
    segments = tuple(SegmentPair(a.url, b.url, Segment(x, 0, 0), Segment(y, 0, 0), 0.9) for x, y in texts)
    mined.visited(*pages).found(Aligned(pair, segments))
    asked = job(
        seeds=[f"https://www.example.org/?by={ANNA}&tel=%2B33142685300"],
        export={"formats": EVERYTHING, "anonymise": how},
    )
    figures = mined.written(asked)["en-fr"]
    parquet = str(pq.read_table(mined.corpus / "en-fr.parquet").to_pylist())
    names = "".join(path.name for path in mined.corpus.rglob("*"))
    report = (mined.folder / "report.html").read_text()
    everything = written_bytes(mined.corpus).decode(errors="replace") + parquet + names + report
    assert [leak for leak in LEAKS if leak in everything] == []
    assert figures["refused"] == {"personal data": 1 if how == "replace" else 2}
    assert f"| personal data | {figures['refused']['personal data']} |" in mined.card()
    assert "| © \\[EMAIL], 0 | 2 |" in mined.card()
    assert "/en/0/[EMAIL]?tel=[PHONE]" in parquet
    assert "[EMAIL]_en" in report
    # The files of a page and of its pairs name each other.
    (alignment,) = (mined.corpus / "xces" / "en-fr").glob("*_*.xml")
    for document in ET.parse(alignment).iter(f"{CES}translation"):
        assert (alignment.parent / document.get("trans.loc")).exists()
    units = [unit for _, unit in corpus_units(asked, mined.folder)]
    assert not [leak for leak in LEAKS if leak in str(units)]


@pytest.mark.parametrize("how", ["replace", "drop"])
def test_nothing_that_goes_with_a_corpus_in_one_language_has_personal_data(mined, how):
    mined.visited(*(everywhere(EN, number) for number in range(3)))
    mined.written(job("en", export={"formats": ["text", "jsonl", "xces"], "anonymise": how}))
    everything = written_bytes(mined.corpus).decode() + (mined.folder / "report.html").read_text()
    assert [leak for leak in LEAKS if leak in everything] == []
    assert "| © \\[EMAIL], 0 | 1 |" in mined.card()


def test_segments_that_differ_only_in_personal_data_are_one_unit_with_both_places(mined):
    mined.found(personal()).written(job(export={"formats": ["jsonl"], "anonymise": "replace"}))
    first = json.loads((mined.corpus / "en-fr.sentences.jsonl").read_text().splitlines()[0])
    assert (first["text_a"], first["flags"]) == ("Ask [EMAIL] now", ["anonymised"])
    assert mined.texts() == ["Ask [EMAIL] now", "Call [PHONE]"]


def test_a_verdict_is_about_the_text_as_it_was_found(mined):
    one = paired(EN, FR, 1, ("Ask anna@s.test", "Demandez à anna@s.test", 0.1))
    mined.found(one).said(Verdict.ACCEPT, one.segments[0])
    mined.written(job(export={"formats": ["jsonl"], "anonymise": "replace"}))
    assert mined.texts() == ["Ask [EMAIL]"]


@pytest.mark.parametrize(
    ("how", "text"), [("replace", "[EMAIL]\n[PHONE]\nThe end.\n"), ("drop", "The end.\n"), ("off", None)]
)
def test_a_corpus_in_one_language_has_no_personal_data(mined, how, text):
    paragraphs = tuple(map(Paragraph, (*SECRETS[:2], "The end.")))
    mined.visited(Page(address(EN, 1), EN, paragraphs=paragraphs))
    figures = mined.written(job("en", export={"formats": ["text", "jsonl"], "anonymise": how}))["en"]
    if text is None:
        assert SECRETS[0].encode() in written_bytes(mined.corpus)
        assert "personal_data" not in figures
        return
    assert (mined.corpus / "en.txt").read_text() == text
    assert SECRETS[0].encode() not in written_bytes(mined.corpus)
    assert figures["personal_data"] == {"email": 1, "phone": 1}
