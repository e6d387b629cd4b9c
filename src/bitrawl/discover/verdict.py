"""What is known of a site that may be bilingual."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from bitrawl.model import Language, Link, Visit
from bitrawl.url import Url


class Answer(StrEnum):
    """Whether two pages of a site are translations of each other."""

    BILINGUAL = "bilingual"
    THIN = "thin"  # a page or two are translated, and nothing says that there is more
    NO = "no"
    UNKNOWN = "unknown"  # it did not answer, or not enough


class SiteVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of sites.jsonl. The names of the fields are part of the output format."""

    site: str  # its host
    verdict: Answer
    probability: float = 0.0  # that it is bilingual
    languages: tuple[Language, ...] = ()  # those asked for that it has
    evidence: dict[str, float] = {}  # by method
    url_a: Url | None = None  # the two pages compared
    url_b: Url | None = None
    downloads: int = 0  # pages fetched of it, the entry page included
    cited_by: tuple[Url, ...] = ()
    pages: int = 0  # estimated; 0 if nothing says how many
    detail: str = ""  # why, in words


class SiteCheck(Protocol):
    """Judges one site step by step: it says what to fetch next, is told what came, and ends with a verdict.

    It waits for nothing and fetches nothing, so that a crawl of thousands of hosts can hold thousands of them.
    """

    @property
    def verdict(self) -> SiteVerdict | None:
        """None until it is sure, or has asked for all that it may."""
        ...

    def wanted(self) -> Sequence[Link]:
        """What to fetch now, the cheapest evidence first; empty while it waits for what it asked for, and at the end."""
        ...

    def saw(self, visit: Visit) -> None:
        """What came of a link that it wanted, or of another page of the site that was fetched anyway."""
        ...
