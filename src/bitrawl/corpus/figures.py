"""The figures of a corpus: what its card states, what `summary.json` has, and what each job brought to a merge. They add up.

`CorpusWriter` counts them while it writes. `file_facts` lists the files, with size and SHA-256.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Literal

import msgspec

from bitrawl.corpus.export import CorpusFolder
from bitrawl.message import Wording


class SiteLack(Wording):
    """What a site did not bring. The label is a key of the web app's catalogues."""

    NO_PAGES = ("no-pages", "no pages")
    NOT_MINED = ("not-mined", "not mined yet")
    NO_PAIRS = ("no-pairs", "no page pairs")
    NO_SEGMENTS = ("no-segments", "no segment pair is good enough")
    FAULTS = ("faults", "failed")  # and something was found all the same


class SiteWhy(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a site brought nothing, or what failed there. Counts have the most frequent first."""

    lack: SiteLack
    skips: dict[str, int] = {}  # links that became no page, by reason
    pages: dict[str, int] = {}  # by language
    refusals: dict[str, int] = {}  # suggested pairs, by reason
    faults: dict[str, int] = {}  # what could not be mined, by reason

    def __str__(self) -> str:
        """A cell of a table."""
        counts = {"pages": self.pages, "refused": self.refusals, "failed": self.faults}
        first = "" if self.lack is SiteLack.FAULTS else f"{self.lack.text}{_listed(self.skips)}"
        return "; ".join(filter(None, (first, *(f"{name}{_listed(count)}" for name, count in counts.items() if count))))


def _listed(counts: Mapping[str, int], most: int = 3) -> str:
    shown = ", ".join(f"{name} {count}" for name, count in list(counts.items())[:most])
    return f": {shown}" if shown else ""


class SitePart(msgspec.Struct, frozen=True):
    """One site of one job."""

    site: str
    pages: int = 0
    fetched: int = 0
    page_pairs: int = 0
    segment_pairs: int = 0  # good enough for the corpus
    why: SiteWhy | Literal[""] = ""  # empty if all went well


class SiteRows(msgspec.Struct, frozen=True):
    """The rows of one site in the shards of a corpus. The rows of a site follow each other."""

    site: str
    page_pairs: int
    segment_pairs: int
    partial: int = 0  # partly translated pairs: their rows are among those of the page pairs


class CorpusPart(msgspec.Struct, frozen=True):
    """One corpus of one job."""

    languages: tuple[str, str]  # sorted
    segment_pairs: int  # good enough for the corpus, before duplicates are merged
    units: int  # of the job alone
    page_pairs: int  # without the partly translated ones, which the rows of the sites count
    rejected: Mapping[str, int] = {}  # segment pairs by the threshold that kept them out
    rejected_pairs: Mapping[str, int] = {}  # page pairs by the same
    sites: tuple[SiteRows, ...] = ()
    personal_data: Mapping[str, int] = {}  # by kind: replaced, or in what was left out


class JobPart(msgspec.Struct, frozen=True, kw_only=True):
    """What a merge needs to know of a job, beside its shards."""

    fingerprint: str = ""  # of all that the shards depend on
    sums: dict[str, int] = {}  # checksums of their files, by name
    languages: tuple[str, ...]  # in the order of the job
    formats: tuple[str, ...]
    thresholds: dict[str, object]
    origin: str
    state: str = ""  # why it ended, or that it runs
    first_fetch: float = 0.0
    last_fetch: float = 0.0
    opt_outs: int = 0
    robots: int = 0
    machine_translated: int = 0
    duplicate_pages: int = 0
    corpora: tuple[CorpusPart, ...] = ()
    sites: tuple[SitePart, ...] = ()

    def corpus(self, languages: tuple[str, str]) -> CorpusPart | None:
        return next((corpus for corpus in self.corpora if corpus.languages == languages), None)


class MergedCounts(msgspec.Struct, frozen=True):
    """How the corpora of several jobs became one.

    `segment_pairs` is the sum of the parts. It is also units + duplicates + near duplicates.
    """

    languages: tuple[str, ...]
    parts: Mapping[str, CorpusPart]  # by the name of the job
    segment_pairs: int
    duplicates: int  # the same texts again
    near_duplicates: int  # texts that differ only in case, punctuation or spaces
    units: int
    page_pairs: int  # different ones

    @property
    def unit_sum(self) -> int:
        """Of the parts, each for itself."""
        return sum(part.units for part in self.parts.values())

    @property
    def page_pair_sum(self) -> int:
        """How many page pairs all parts have together."""
        return sum(part.page_pairs for part in self.parts.values())

    def summary(self) -> dict[str, object]:
        """For `summary.json`."""
        of_all, of_part = (
            ("segment_pairs", "duplicates", "near_duplicates", "units"),
            ("segment_pairs", "units", "page_pairs"),
        )
        return {
            **{name: getattr(self, name) for name in of_all},
            "units_of_parts": self.unit_sum,
            "units_in_several_parts": self.unit_sum - self.units,
            "page_pairs_of_parts": self.page_pair_sum,
            "page_pairs_in_several_parts": self.page_pair_sum - self.page_pairs,
            "parts": {job: {name: getattr(part, name) for name in of_part} for job, part in self.parts.items()},
        }


class MergedSite(msgspec.Struct, frozen=True):
    """One site of one job in a merged corpus."""

    job: str
    part: SitePart
    units: int  # that it represents in the merged corpora: where several sites have a unit, the best scored counts


class MergeFacts(msgspec.Struct, frozen=True):
    """What the report of a merge shows."""

    jobs: Mapping[str, JobPart]
    corpora: Sequence[MergedCounts]
    sites: Sequence[MergedSite]
    notes: Sequence[str] = ()  # what was left out, or may be incomplete


class FileFacts(msgspec.Struct, frozen=True):
    """One file, or a folder of files (XCES)."""

    name: str
    bytes: int = 0
    sha256: str = ""  # for a folder: of what `sha256sum *` prints in it
    members: int = 0  # files in a folder; 0 for a file


def file_facts(folder: Path, names: Iterable[str]) -> list[FileFacts]:
    """The facts about existing files, by their names in that folder."""
    return [_file_facts(CorpusFolder(folder), name) for name in names]


def _file_facts(folder: CorpusFolder, name: str) -> FileFacts:
    path = folder.path / name
    if not path.is_dir():
        return FileFacts(name, path.stat().st_size, folder.sha256(name))
    sizes = [member.stat().st_size for member in path.iterdir() if member.is_file()]
    return FileFacts(name, sum(sizes), folder.sha256(name), len(sizes))


class Origin(StrEnum):
    """Where the pages come from."""

    CRAWL = "crawl"
    REPLAY = "replay"  # archives that replaced the web
    ARCHIVE = "archive"  # archives that were read as a whole


class LanguageFigures(msgspec.Struct, frozen=True):
    language: str
    documents: int = 0
    segments: int = 0  # paragraphs, in a monolingual corpus
    words: int = 0
    characters: int = 0


class CorpusFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about one corpus, bilingual or monolingual."""

    name: str  # "en-fr"
    sides: tuple[LanguageFigures, ...]
    document_pairs: int = 0
    partial: int = 0  # pairs that are translated in part
    units: int = 0
    occurrences: int = 0  # of the units, before duplicates were merged
    near_duplicates: int = 0  # texts that were merged with a nearly equal one
    methods: Mapping[str, int] = {}  # page pairs by the method that found them
    flags: Mapping[str, int] = {}  # units by flag
    rejected: Mapping[str, int] = {}  # segment pairs by what kept them out: a threshold, or a person
    rejected_pairs: Mapping[str, int] = {}  # page pairs by the same
    files: tuple[FileFacts, ...] = ()
    personal_data: Mapping[str, int] = {}  # by kind: replaced, or in what was left out, before duplicates were merged
    merged: MergedCounts | None = None  # if it was merged from the corpora of several jobs


class HumanReview(msgspec.Struct, frozen=True):
    """The precision of a corpus, by people who judged a random sample of it."""

    precision: float
    low: float  # of the interval of 95 %
    high: float
    units: int  # that were judged
    people: int
    kappa: (
        float | None
    )  # Cohen's, the mean of all pairs of people; None for one person, or if chance explains everything
    least: float  # only units with this score or more were drawn
    at: float  # when it was drawn, in seconds since the epoch

    @property
    def sentence(self) -> str:
        """What they found."""
        by = "one person" if self.people == 1 else f"{self.people} people"
        kappa = f", who agree with a kappa of {self.kappa + 0.0:.2f}" if self.kappa is not None else ""
        return (
            f"Precision by human review: {self.precision:.2f} ({self.low:.2f}–{self.high:.2f} with 95 % confidence)."
            f" {number(self.units, 'unit')}, drawn at random on {day(self.at)} from those that scored at least"
            f" {self.least:.2f}, {'was' if self.units == 1 else 'were'} judged by {by}{kappa}."
        )


def number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def paired_pages(pairs: int, partial: int) -> str:
    """The page pairs, and the partly translated ones if there are any: they are no page pairs anywhere."""
    return number(pairs, "page pair") + (f" and {number(partial, 'partly translated pair')}" if partial else "")


def day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


class CardFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that the card states. What is empty is called unknown or left out."""

    at: float  # when the corpus was written, in seconds since the epoch
    versions: Mapping[str, str]  # by program: {"bitrawl": "0.1.0", "python": "3.11.9"}
    corpora: tuple[CorpusFacts, ...]  # one per language pair
    origin: Origin = Origin.CRAWL
    first_fetch: float = 0.0  # seconds since the epoch; 0 if not known
    last_fetch: float = 0.0
    sites: Mapping[str, int] = {}  # pages of the corpora by site, each counted once
    thresholds: Mapping[str, object] = {}
    licences: Mapping[str, int] = {}  # the same pages by the licence that they state; without those that state none
    opt_outs: int = 0  # pages left out because their site reserves text and data mining
    robots: int = 0  # links that robots.txt forbade
    machine_translated: int = 0  # pairs left out because one side has marks of machine translation
    duplicate_pages: int = 0
    job: str = ""  # job.toml, without private settings
    reviewed: Mapping[str, HumanReview] = {}  # by the name of the corpus

    @property
    def filled(self) -> tuple[CorpusFacts, ...]:
        """The corpora that have files; or the only one."""
        return tuple(corpus for corpus in self.corpora if corpus.files or corpus.units or len(self.corpora) == 1)

    @property
    def empty(self) -> list[str]:
        """The names of the corpora that have none, because nothing was found."""
        return [corpus.name for corpus in self.corpora if corpus not in self.filled]

    @property
    def pages(self) -> int:
        """Of all corpora, each counted once."""
        return sum(self.sites.values())

    @property
    def bilingual(self) -> bool:
        """Whether there are language pairs."""
        return any(len(corpus.sides) > 1 for corpus in self.corpora)


def most_first(rejected: Mapping[str, int]) -> dict[str, int]:
    return {str(reason): count for reason, count in sorted(rejected.items(), key=lambda item: (-item[1], item[0]))}


def summary(facts: CorpusFacts) -> dict[str, object]:
    """The same figures for programs: an entry of `summary.json`."""
    personal = {"personal_data": dict(facts.personal_data)} if facts.personal_data else {}
    if len(facts.sides) == 1:
        (side,) = facts.sides
        return {"documents": side.documents, "paragraphs": side.segments, "words": side.words, **personal}
    return {
        "units": facts.units,
        "occurrences": facts.occurrences,
        "pairs": facts.document_pairs,
        **({"partial": facts.partial} if facts.partial else {}),
        "refused": dict(facts.rejected),
        "near_duplicates": facts.near_duplicates,
        **({"refused_pairs": dict(facts.rejected_pairs)} if facts.rejected_pairs else {}),
        **personal,
        **({"merged": facts.merged.summary()} if facts.merged else {}),
    }
