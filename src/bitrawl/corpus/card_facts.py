"""The facts that a card states about corpora."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from bitrawl.corpus.checksums import FileFacts
from bitrawl.corpus.merge_facts import MergedCounts


class Origin(StrEnum):
    """Where the pages come from."""

    CRAWL = "crawl"
    REPLAY = "replay"  # archives that replaced the web
    ARCHIVE = "archive"  # archives that were read as a whole


class Side(msgspec.Struct, frozen=True):
    language: str
    documents: int = 0
    segments: int = 0  # paragraphs, in a monolingual corpus
    words: int = 0
    characters: int = 0


class CorpusFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about one corpus, bilingual or monolingual."""

    name: str  # "en-fr"
    sides: tuple[Side, ...]
    document_pairs: int = 0
    units: int = 0
    occurrences: int = 0  # of the units, before duplicates were merged
    near_duplicates: int = 0  # texts that were merged with a nearly equal one
    methods: Mapping[str, int] = {}  # page pairs by the method that found them
    flags: Mapping[str, int] = {}  # units by flag
    rejected: Mapping[str, int] = {}  # segment pairs by what kept them out: a threshold, or a person
    rejected_pairs: Mapping[str, int] = {}  # page pairs by the same
    files: tuple[FileFacts, ...] = ()
    merged: MergedCounts | None = None  # if it was merged from the corpora of several jobs


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
    source_pages: int = 0  # pages whose texts are in the corpora: of these, the licences are counted
    licences: Mapping[str, int] = {}  # pages by the licence that they state; pages that state none are not included
    opt_outs: int = 0  # pages left out because their site reserves text and data mining
    robots: int = 0  # links that robots.txt forbade
    machine_translated: int = 0  # pairs left out because one side has marks of machine translation
    duplicate_pages: int = 0
    job: str = ""  # job.toml, without private settings

    @property
    def filled(self) -> tuple[CorpusFacts, ...]:
        """The corpora that have files; or the only one."""
        return tuple(one for one in self.corpora if one.files or one.units or len(self.corpora) == 1)

    @property
    def empty(self) -> list[str]:
        """The names of the corpora that have none, because nothing was found."""
        return [one.name for one in self.corpora if one not in self.filled]

    @property
    def bilingual(self) -> bool:
        """Whether there are language pairs."""
        return any(len(corpus.sides) > 1 for corpus in self.corpora)
