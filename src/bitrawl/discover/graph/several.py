"""Several sources of backlinks as one."""

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest

from bitrawl.discover.graph.names import host_of, without_www
from bitrawl.discover.graph.rows import has_text, ranked
from bitrawl.discover.graph.service import BacklinkService
from bitrawl.model import Link
from bitrawl.protocols import BacklinkSource
from bitrawl.url import Url


class Backlinks:
    """A `BacklinkSource` that merges others. Without any, nothing is known of anybody."""

    def __init__(self, sources: Sequence[BacklinkSource] = (), services: Sequence[BacklinkService] = ()) -> None:
        self._sources: tuple[BacklinkSource, ...] = (*sources, *services)
        self._services = tuple(services)

    def __len__(self) -> int:
        return len(self._sources)

    async def prefetch(self, targets: Iterable[Url | str], limit: int) -> None:
        """Ask the services among the sources, before `referrers`. It does nothing if there are none."""
        targets = list(targets)
        for service in self._services:
            await service.prefetch(targets, limit)

    def referrers(self, target: Url | str, limit: int) -> list[Link]:
        """Each page once. A home page that a graph of hosts guesses gives way to the page that another source knows."""
        answers = [source.referrers(target, limit) for source in self._sources]
        if len(answers) == 1:
            return answers[0]
        links = [link for link in chain(*zip_longest(*answers)) if link is not None]
        known = {_host(link) for link in links if not _is_guess(link)}
        return ranked(link for link in links if not _is_guess(link) or _host(link) not in known)[:limit]

    def cites(self, target: Url | str, limit: int) -> list[str]:
        answers = [source.cites(target, limit) for source in self._sources]
        hosts = (host for host in chain(*zip_longest(*answers)) if host is not None)
        return list({without_www(host): host for host in hosts}.values())[:limit]


def _host(link: Link) -> str:
    return without_www(host_of(link.source or ""))


def _is_guess(link: Link) -> bool:
    """A home page without a word about the link."""
    return link.source is not None and link.source.path == "/" and not link.source.query and not has_text(link)
