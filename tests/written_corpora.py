"""Corpora as bitrawl writes them, in every shape that a folder can have, for readers that are not ours."""

from pathlib import Path
from typing import NamedTuple

from kept_findings import Aligned, keep_findings

from bitrawl import config
from bitrawl.job.exporting import write_corpus
from bitrawl.job.job_merge import merge
from bitrawl.job.running import export_copy
from bitrawl.model import Language, Lease, Link, LinkKind, Page, PagePair, Paragraph, Segment, SegmentPair, Skip, Visit
from bitrawl.reasons import Reason, Stage
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url

# What readers of tables stumble over: words that stand for nothing, quotes, formulas, other scripts, digits.
TEXTS = [
    ("NA", "S.O."),
    ('He said "null".', "Il a dit « nul »."),
    ("=1+1 is two", "=1+1 font deux"),
    ("It's 5 < 6 & 7 > 6", "C'est 5 < 6 & 7 > 6"),
    ("Water 🌊 and # signs", "De l'eau 🌊 et des # signes"),
    ("42", "42"),
    ("Tea", "Thé"),
    ("Tea!", "Thé !"),
]
UNITS = len(TEXTS) - 1  # the last two are one


class CorpusFolder(NamedTuple):
    """A folder, and what it must hold: rows by the name of a configuration."""

    folder: Path
    rows: dict[str, int]


def written_corpora(base: Path) -> dict[str, CorpusFolder]:
    """By what is special about them."""
    job, three, german = _job(base / "job", "en,fr"), _job(base / "three", "en,fr,de"), _job(base / "german", "en,de")
    units = {"en-fr": UNITS}
    corpora = {
        "as mine writes it": CorpusFolder(_written(job, "jsonl", "tmx", "tsv"), units),
        "one pair of three has results": CorpusFolder(_written(three, "jsonl"), units),
        "nothing was found": CorpusFolder(_written(_job(base / "none", "en,fr", found=False), "jsonl"), {"en-fr": 0}),
        "one language": CorpusFolder(_written(_job(base / "one", "en"), "text", "jsonl"), {"en": len(TEXTS)}),
        "one language as text": CorpusFolder(_written(_job(base / "text", "en"), "text"), {"en": len(TEXTS) * 2 - 1}),
    }
    for name, formats, compress in (
        ("Parquet", ["parquet"], False),
        ("Parquet and JSONL", ["parquet", "jsonl", "moses"], False),
        ("compressed JSONL", ["jsonl", "tmx"], True),
        ("TSV", ["tsv", "moses"], False),
        ("compressed TSV", ["tsv"], True),
        ("documents", ["jsonl", "documents"], True),
        ("documents in Parquet", ["parquet", "documents-parquet"], False),
    ):
        to, documents = base / f"export of {name}", {"en-fr-documents": len(TEXTS)} if "doc" in name else {}
        export_copy(job.changed({"export": {"formats": formats, "compress": compress}}), job, to)
        corpora[f"export --to, {name}"] = CorpusFolder(to, units | documents)
    for format_ in ("jsonl", "parquet"):
        out = base / f"merged {format_}"
        settings = {"export": {"formats": [format_]}}
        merge([job.path, three.path, german.path], out, settings, tell=lambda _: None)
        corpora[f"merged, {format_}"] = CorpusFolder(out / "corpus", units | {"en-de": UNITS})
    return corpora


def _job(path: Path, langs: str, *, found: bool = True) -> JobFolder:
    path.mkdir(parents=True)
    codes = langs.split(",")
    asked = {"langs": codes, "seeds": ["https://www.example.org/"]}
    config.write(config.resolve(asked), path / "job.toml")
    with Ledger(path / "job.sqlite") as ledger:
        findings = Findings(ledger)
        keep_findings(findings, "example.org", 10, _aligned(codes) if found and len(codes) > 1 else [])
        for number, (text, _) in enumerate(TEXTS):
            url = Url.parse(f"https://www.example.org/en/{number}")
            link, page = Link(url, LinkKind.PAGE), Page(url, Language("en"), paragraphs=(Paragraph(text),))
            with ledger.transaction():
                ledger.refuse([(link, Skip(url, Stage.SCOPE, Reason.OFF_SITE))])
                ledger.record(Visit(Lease(link, 1.0), page, 200, 1000, at=1e9, took=0.1))
    return JobFolder(path)


def _aligned(codes: list[str]) -> list[Aligned]:
    """Only some units have a coverage, and only the last one has several sources."""
    pairs = []
    for number, (a, b) in enumerate(TEXTS):
        places = [Url.parse(f"https://www.example.org/{code}/{number}") for code in codes[:2]]
        scores = {"length_ratio": 0.75, "language_a": 0.9, "language_b": 0.9, "words_a": 2.0, "words_b": 3.0}
        scores |= {"alignment": 0.5, **({"coverage_a": 0.5, "coverage_b": 0.5} if number > 3 else {})}
        segment = SegmentPair(places[0], places[1], Segment(a, 0, 0), Segment(b, 1, 1), 0.9, "1:1", scores)
        first, second = map(Language, codes[:2])
        pairs.append(Aligned(PagePair(places[0], places[1], first, second, 0.9, {"a": 0.4}), (segment,)))
    return pairs


def _written(job: JobFolder, *formats: str) -> Path:
    write_corpus(job.changed({"export": {"formats": list(formats)}}), job.path)
    return job.corpus
