"""What each job brings to a merged corpus, and what merging removed. The figures add up."""

from collections.abc import Mapping, Sequence

import msgspec


class SitePart(msgspec.Struct, frozen=True):
    """One site of one job."""

    site: str
    pages: int = 0
    fetched: int = 0
    page_pairs: int = 0
    segment_pairs: int = 0  # good enough for the corpus
    why: str = ""  # why it brought nothing, or what failed there; empty if all went well


class SiteRows(msgspec.Struct, frozen=True):
    """The rows of one site in the shards of a corpus. The rows of a site follow each other."""

    site: str
    page_pairs: int
    segment_pairs: int


class CorpusPart(msgspec.Struct, frozen=True):
    """One corpus of one job."""

    languages: tuple[str, str]  # sorted
    segment_pairs: int  # good enough for the corpus, before duplicates are merged
    units: int  # of the job alone
    page_pairs: int
    rejected: Mapping[str, int] = {}  # segment pairs by the threshold that kept them out
    rejected_pairs: Mapping[str, int] = {}  # page pairs by the same
    sites: tuple[SiteRows, ...] = ()


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
    source_pages: int = 0  # whose texts are in the shards
    licences: dict[str, int] = {}  # that they state
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
        """Of the parts."""
        return sum(part.page_pairs for part in self.parts.values())

    def summary(self) -> dict[str, object]:
        """For `summary.json`."""
        return {
            "segment_pairs": self.segment_pairs,
            "duplicates": self.duplicates,
            "near_duplicates": self.near_duplicates,
            "units": self.units,
            "units_of_parts": self.unit_sum,
            "units_in_several_parts": self.unit_sum - self.units,
            "page_pairs_of_parts": self.page_pair_sum,
            "page_pairs_in_several_parts": self.page_pair_sum - self.page_pairs,
            "parts": {
                name: {"segment_pairs": one.segment_pairs, "units": one.units, "page_pairs": one.page_pairs}
                for name, one in self.parts.items()
            },
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
