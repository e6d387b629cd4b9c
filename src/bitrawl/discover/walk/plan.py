"""What a walk visits next: the seam between a walk and the configurations of Barbosa et al., section 3.1, and ours."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from bitrawl.discover.walk.bayes import Learned
from bitrawl.discover.walk.neighbourhood import Candidate
from bitrawl.model import Link, Page
from bitrawl.url import Url


class Step(NamedTuple):
    """A page to fetch: the entry of a candidate, or a page that is read for its links."""

    link: Link
    value: float  # from 0 to 1
    candidate: Candidate | None = None


class Plan(Protocol):
    """Orders what is known. It fetches nothing, and is told everything again when a walk resumes."""

    notes: list[str]
    """What a person should know, as sentences."""

    def read(self, step: Step, page: Page) -> None:
        """A page came. Its links are known, and for a hub that is what it was fetched for."""
        ...

    def judged(self, candidate: Candidate) -> None: ...

    def steps(self, most: int, *, idle: bool) -> list[Step]:
        """What to queue now, the best first; each only once. `idle`: nothing else is queued, so the walk would end."""
        ...

    def values(self, queued: Sequence[Step]) -> Iterable[tuple[Url, float]]:
        """New values of what is queued, where they have changed."""
        ...

    def learned(self, most: int) -> dict[str, list[Learned]]:
        """The words that say most, by classifier."""
        ...
