"""What a card says of corpora, before it is put into words."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from bitrawl.corpus.checksums import FileFacts


class Origin(StrEnum):
    """Where the pages come from."""

    CRAWL = "crawl"
    REPLAY = "replay"  # archives that stood for the web
    ARCHIVE = "archive"  # archives that were taken whole


class Side(msgspec.Struct, frozen=True):
    """One language of a corpus."""

    language: str
    documents: int = 0
    segments: int = 0  # paragraphs, in a corpus of one language
    words: int = 0
    characters: int = 0


class CorpusFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of one corpus, of two languages or of one."""

    name: str  # "en-fr"
    sides: tuple[Side, ...]
    document_pairs: int = 0
    units: int = 0
    occurrences: int = 0  # of the units, before duplicates were merged
    near_duplicates: int = 0  # texts that were merged with another for being nearly equal
    methods: Mapping[str, int] = {}  # document pairs by the method that spoke for them
    flags: Mapping[str, int] = {}  # units by flag
    rejected: Mapping[str, int] = {}  # segment pairs by the threshold that kept them out
    files: tuple[FileFacts, ...] = ()


class CardFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the card says; whatever is empty is said to be unknown or left out."""

    at: float  # when the corpus was written, seconds since the epoch
    versions: Mapping[str, str]  # by program: {"bitrawl": "0.1.0", "python": "3.11.9"}
    corpora: tuple[CorpusFacts, ...]  # one for each pair of languages
    origin: Origin = Origin.CRAWL
    first_fetch: float = 0.0  # seconds since the epoch; 0 when not known
    last_fetch: float = 0.0
    sites: Mapping[str, int] = {}  # pages of the corpora by site, each counted once
    thresholds: Mapping[str, object] = {}
    licences: Mapping[str, int] = {}  # pages by what they say of their licence; those that say nothing are not in it
    opt_outs: int = 0  # pages left out since their site reserves text and data mining
    robots: int = 0  # links that robots.txt forbade
    machine_translated: int = 0  # pairs left out, since one side bears marks of machine translation
    duplicate_pages: int = 0
    job: str = ""  # job.toml, without what is nobody else's business

    @property
    def bilingual(self) -> bool:
        """Whether there are pairs of languages."""
        return any(len(corpus.sides) > 1 for corpus in self.corpora)
