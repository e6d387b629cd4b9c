"""How bilingual sites are searched for, and how much of a link graph is kept."""

from enum import StrEnum

import msgspec

from bitrawl.choices import Count, FileOrUrl, FilePath
from bitrawl.packages import Added

# How much of a link graph is kept of what is popular: a hub that cites more is a directory of the whole web, and ten
# thousand hubs of one host say what they have to say together.
HUB_LINKS = 1000  # the given hosts among them are always kept
REFERRERS = 10_000  # of a given host, about


class Walk(StrEnum):
    """How the search for bilingual sites is ordered. All but the first are Barbosa et al., section 3.1."""

    COCITATION = "cocitation"
    COBFC = "cobfc"
    OBFC = "obfc"
    FC = "fc"
    FOCUSED = "focused"


WALKS = Added("bitrawl.walks", "walk", "walks", tuple(Walk))
"""An entry is called with a `Neighbourhood`, and returns a `Plan`. Those of the paper come in like that."""


class DiscoverySection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The search for bilingual sites (`bitrawl discover`)."""

    walk: Walk | None = None  # which site is visited next; without it the job searches for no sites
    backlinks: list[FileOrUrl] = []  # link graphs: who cites whom
    host_languages: FilePath = (
        ""  # Common Crawl's columnar index, a Parquet file or a folder: which languages hosts have
    )
    downloads: Count | None = None  # where to stop: requests, whatever they bring

    @property
    def is_set(self) -> bool:
        """Whether the job searches for sites."""
        return self.walk is not None
