"""Which hosts of a site are asked at all: a name server that answers for any name makes them without end."""

from collections.abc import Callable, Iterable

from bitrawl.crawl.traps import NEAR
from bitrawl.url import Url

# Hosts of a site whose first page has the same text, before the site is held to answer for any name; judgement: more
# than the mirrors (www, m, old) that honest sites have.
ALIKE_HOSTS = 5


class SiteHosts:
    """Counts the hosts of each site that were asked for anything; those of the seeds are always asked."""

    def __init__(self, site_of: Callable[[str], str], most: int) -> None:
        self._site_of = site_of
        self._most = most
        self._seeds: set[str] = set()
        self._asked: dict[str, set[str]] = {}  # by site
        self._first_texts: dict[str, dict[str, int]] = {}  # by site and host, the signature of its first page
        self._alike: set[str] = set()  # sites whose hosts answer alike

    def seed(self, hosts: Iterable[str]) -> None:
        """Hosts that the user named."""
        self._seeds.update(hosts)

    def refusal(self, host: str) -> str:
        """Why nothing is asked of that host; empty when it may be asked, or was before."""
        site = self._site_of(host)
        asked = self._asked.get(site, ())
        if host in asked or host in self._seeds:
            return ""
        if site in self._alike:
            return f"{ALIKE_HOSTS} hosts of {site} have the same text"
        return f"{self._most} hosts of {site} were visited" if len(asked) >= self._most else ""

    def ask(self, host: str) -> bool:
        """True at the first time."""
        asked = self._asked.setdefault(self._site_of(host), set())
        new = host not in asked
        asked.add(host)
        return new

    def answered(self, url: Url, signature: int) -> None:
        """A page came from that host; 0 for one without text."""
        site = self._site_of(url.host)
        texts = self._first_texts.setdefault(site, {})
        if url.host in texts or site in self._alike:
            return
        texts[url.host] = signature
        same = sum((signature ^ other).bit_count() <= NEAR for other in texts.values()) if signature else 0
        if same >= ALIKE_HOSTS:
            self._alike.add(site)
