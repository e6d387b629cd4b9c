"""Who cites whom, as far as it is known, and what the hubs have yielded so far."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from bitrawl.url import Url


class HubRecord(NamedTuple):
    """What a hub has yielded."""

    hub: str
    cites: int  # hosts
    judged: int
    bilingual: int


class Citations:
    """Hubs and the hosts that they cite. A hub is a page that was read, or a host of a link graph."""

    def __init__(self) -> None:
        self.cited_by: dict[str, dict[str, None]] = {}  # by host, in the order in which they were found
        self.cites: dict[str, dict[str, None]] = {}  # by hub
        self.bilingual: Counter[str] = Counter()  # sites cited by each hub
        self.judged: Counter[str] = Counter()
        self._answers: dict[str, bool] = {}

    def add(self, hub: str, hosts: Iterable[str]) -> list[str]:
        """The hosts that it was not known to cite."""
        cited = self.cites.setdefault(hub, {})
        new = [host for host in dict.fromkeys(hosts) if host not in cited]
        for host in new:
            cited[host] = None
            self.cited_by.setdefault(host, {})[hub] = None
            if host in self._answers:
                self._count(hub, bilingual=self._answers[host])
        return new

    def judge(self, host: str, *, bilingual: bool) -> None:
        """A host that is judged again counts once, by its last verdict."""
        before = self._answers.get(host)
        self._answers[host] = bilingual
        for hub in self.cited_by.get(host, ()):
            if before is None:
                self._count(hub, bilingual=bilingual)
            else:
                self.bilingual[hub] += bilingual - before

    def neighbours(self, host: str) -> set[str]:
        """All that is cited together with it."""
        return {other for hub in self.cited_by.get(host, ()) for other in self.cites[hub]}

    def best_hubs(self, most: int) -> list[HubRecord]:
        """Those that cite most bilingual sites, the most precise first."""
        records = (
            HubRecord(hub, len(self.cites[hub]), self.judged[hub], count)
            for hub, count in self.bilingual.most_common(10 * most)
            if count
        )
        return sorted(records, key=lambda one: (-one.bilingual, one.judged, one.hub))[:most]

    def hub_pages(self, host: str, most: int) -> tuple[Url, ...]:
        """Who cites that host, as addresses."""
        return tuple(hub_address(hub) for hub in list(self.cited_by.get(host, ()))[:most])

    def _count(self, hub: str, *, bilingual: bool) -> None:
        self.judged[hub] += 1
        self.bilingual[hub] += bilingual


def hub_address(hub: str) -> Url:
    return Url.known(hub if "://" in hub else f"https://{hub}/")
