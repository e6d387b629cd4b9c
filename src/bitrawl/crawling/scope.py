"""Which links a visit brings, and which of them belong to the job: by site or host, path, pattern, and the shapes of traps."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from zlib import crc32

import msgspec

from bitrawl.crawling.settings import Reach, ScopeRules
from bitrawl.errors import ConfigError, UrlError
from bitrawl.languages import claimed_language, same_language
from bitrawl.model import (
    FEED,
    UNDETERMINED,
    Directive,
    Language,
    Link,
    LinkKind,
    Page,
    SiteKnowledge,
    Sitemap,
    Skip,
)
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url, folder_path
from bitrawl.urls import host_name, mark_language

MAX_SEGMENTS = 20  # Heritrix' own bound (TooManyPathSegmentsDecideRule)
MAX_REPEATS = 2  # of one run of path segments, as in /a/b/a/b/a/b; Heritrix' own bound (PathologicalPathDecideRule)
MAX_OCCURRENCES = 3  # of one segment anywhere in a path; judgement
MAX_PARAMETERS = 12  # judgement
MAX_FACETS = 3  # parameters that a page may have added to its own address (sort, filter, page); judgement

REMEMBERED = 8192  # addresses, and hosts, whose verdict is remembered, about 2 MB

_NO_PAGES = frozenset((LinkKind.INDEX, LinkKind.PROBE))
_NEW_HOSTS = frozenset((LinkKind.ALTERNATE, LinkKind.REDIRECT))
_BY_PATTERN = frozenset((Reason.NOT_UNDER, Reason.EXCLUDED, Reason.NOT_INCLUDED))
# Never a page, whatever the server calls it. One HEAD less for each.
_FILES = re.compile(
    r"\.(7z|aac|apk|avi|avif|bin|bmp|bz2|css|csv|deb|dmg|docx?|eot|epub|exe|flac|flv|gif|gz|ico|iso|jar|jpe?g|js|json|"
    r"m4[av]|mid|mjs|mkv|mobi|mov|mp[34]|mpe?g|msi|odp|ods|odt|og[agv]|otf|pdf|png|pptx?|ps|rar|rpm|svgz?|swf|tar|tgz|"
    r"tiff?|torrent|ttf|wasm|wav|webm|webp|wm[av]|woff2?|xlsx?|xz|zip|zst)$",
    re.IGNORECASE,
)


class Sites:
    """From a host to its site; hosts that the user declares one site share a name."""

    def __init__(self, together: Sequence[Sequence[str]] = ()) -> None:
        self._named = {}
        for group in together:
            names = [_host_name(raw) for raw in group]
            self._named.update(dict.fromkeys(names, names[0]))
        self.of = lru_cache(maxsize=65536)(self._of)

    def declare(self, host: str) -> bool:
        """Whether the user said of this host, or of its domain, to which site it belongs."""
        return host in self._named or Url.known(f"http://{host}/").site in self._named

    def _of(self, host: str) -> str:
        site = Url.known(f"http://{host}/").site
        return self._named.get(host) or self._named.get(site, site)


class Scope:
    """Score apart from decision: a link is in or it is a Skip, whatever a strategy thinks of it."""

    def __init__(
        self, sites: Sites, seeds: Iterable[Url], rules: ScopeRules | None = None, languages: Sequence[Language] = ()
    ) -> None:
        """`languages` are those of the job: hosts of other translations are left alone."""
        self.sites = sites
        self.rules = rules or ScopeRules()
        self._languages = languages
        self._seeds = frozenset(seeds)
        self._moved = set(self._seeds)  # the seeds, and where they redirect to
        self._home = {sites.of(seed.host) for seed in self._seeds}
        self._hosts = {_without_www(seed.host) for seed in self._seeds}
        self._versions = {self._without_language(host) for host in self._hosts}
        self._include = [re.compile(raw) for raw in self.rules.include]
        self._exclude = [re.compile(raw) for raw in self.rules.exclude]
        self._under = tuple(folder_path(raw) for raw in self.rules.under)
        self._readable = {ending for kind in self.rules.types for ending in kind.endings}
        self._by_address = lru_cache(maxsize=REMEMBERED)(self._judge_address)
        self._by_host = lru_cache(maxsize=REMEMBERED)(self._judge_host)

    def refusal(self, link: Link) -> Skip | None:
        """Why the link is not followed; None when it is. What the user named as a seed is always followed."""
        url = link.url
        if url in self._seeds:
            return None
        refused = self._by_host(url.host)
        if refused is not None:
            return Skip(url, Stage.SCOPE, *refused)
        return None if link.kind in _NO_PAGES else self._of_page(link)

    def new_hosts(self, links: Iterable[Link]) -> list[str]:
        """Hosts that belong to the site from now on: a page of the site declares its translation there, or a seed moved there."""
        hosts = []
        for link in links:
            if link.kind in _NEW_HOSTS and self.rules.reach is Reach.SITE and self._leads_home(link):
                hosts.append(link.url.host)
                self.add_host(link.url.host)
        return hosts

    def add_host(self, host: str) -> None:
        """The host belongs to the site from now on."""
        self._versions.add(self._without_language(host))
        self._by_host.cache_clear()

    def _judge_host(self, host: str) -> tuple[Reason, str] | None:
        """Why no link to the host is followed, in detail."""
        if self.rules.reach is not Reach.WEB and self.sites.of(host) not in self._home:
            return Reason.OFF_SITE, ""
        if self.rules.same_host and _without_www(host) not in self._hosts:
            return Reason.OFF_HOST, "--same-host"
        if self.rules.reach is Reach.SITE and not self._is_home(host):
            return Reason.OFF_HOST, ""
        return None

    def _leads_home(self, link: Link) -> bool:
        host = link.url.host
        if link.kind is LinkKind.REDIRECT and link.source in self._moved:
            self._moved.add(link.url)
        elif (not link.hreflang and link.kind is LinkKind.REDIRECT) or not self._asks_for(link.hreflang):
            return False
        return self.sites.of(host) in self._home and not self._is_home(host)

    def _asks_for(self, tag: str) -> bool:
        language = claimed_language(tag)
        return language == UNDETERMINED or any(same_language(language, wanted) for wanted in self._languages)

    def _is_home(self, host: str) -> bool:
        return self._without_language(host) in self._versions or self.sites.declare(host)

    def _without_language(self, host: str) -> tuple[str, ...]:
        """The same for all language versions of a host: www.example.org, example.org, fr.example.org."""
        name, port = host_name(host), host.partition(":")[2]
        return (*(label for label in name.subdomains if not self._is_version(label)), name.label, name.suffix, port)

    def _is_version(self, label: str) -> bool:
        return label == "www" or any(same_language(mark_language(label), wanted) for wanted in self._languages)

    def _of_page(self, link: Link) -> Skip | None:
        url = link.url
        if link.rel and Directive.NOFOLLOW in link.rel.lower().split():
            return Skip(url, Stage.SCOPE, Reason.NOFOLLOW)
        if self.rules.depth is not None and link.depth > self.rules.depth:
            return Skip(url, Stage.SCOPE, Reason.DEPTH, f"depth {link.depth}")
        refusal = self._by_address(url)
        # A file and an address with the shape of a trap are refused before one that adds parameters, patterns after it.
        if "?" in url and (refusal is None or refusal.reason in _BY_PATTERN) and _adds_facets(link):
            return Skip(url, Stage.SCOPE, Reason.TRAP, "ever more parameters")
        return refusal

    def _judge_address(self, url: Url) -> Skip | None:
        """What the address alone decides. Most links of a page were on the page before, so it is remembered."""
        if (file := _FILES.search(url.path)) and file[1].lower() not in self._readable:
            return Skip(url, Stage.SCOPE, Reason.CONTENT_TYPE, "not a page by its name")
        trap = trap_shape(url)
        return Skip(url, Stage.SCOPE, Reason.TRAP, trap) if trap else self._by_pattern(url)

    def _by_pattern(self, url: Url) -> Skip | None:
        if self._under and not f"{url.path}/".startswith(self._under):
            return Skip(url, Stage.SCOPE, Reason.NOT_UNDER)
        for pattern in self._exclude:
            if pattern.search(url):
                return Skip(url, Stage.SCOPE, Reason.EXCLUDED, pattern.pattern)
        if self._include and not any(pattern.search(url) for pattern in self._include):
            return Skip(url, Stage.SCOPE, Reason.NOT_INCLUDED)
        return None


def trap_shape(url: Url) -> str:
    """What makes this address look like one of endlessly many; empty when nothing does."""
    segments = url.path.split("/")[1:]
    if len(segments) > MAX_SEGMENTS:
        return f"more than {MAX_SEGMENTS} path segments"
    if len(set(segments)) < len(segments) and _goes_round(segments):
        return "repeated path segments"
    if url.query.count("&") >= MAX_PARAMETERS:
        return f"more than {MAX_PARAMETERS} parameters"
    return ""


def _adds_facets(link: Link) -> bool:
    """Whether the link is its source with one more sort or filter, when there are some already."""
    if link.source is None or not link.url.query or link.source.partition("?")[0] != link.url.partition("?")[0]:
        return False
    before, after = link.source.query.split("&"), link.url.query.split("&")
    return len(after) > max(MAX_FACETS, len(before)) and set(before) <= set(after)


def _goes_round(segments: Sequence[str]) -> bool:
    """Whether a run of up to four segments comes more than MAX_REPEATS times in a row; bare numbers may (dates)."""
    if any(segments.count(name) > MAX_OCCURRENCES for name in segments if name and not name.isdigit()):
        return True
    for period in range(1, 5):
        same = 0
        for before, after in zip(segments, segments[period:], strict=False):
            same = same + 1 if before == after and not before.isdigit() else 0
            if same >= period * MAX_REPEATS:
                return True
    return False


def _without_www(host: str) -> str:
    return host.removeprefix("www.")


def _host_name(raw: str) -> str:
    """A host that the user named, bare or as a whole URL."""
    try:
        return Url.parse(raw if "://" in raw else f"http://{raw}/").host
    except UrlError as error:
        message = f"{raw!r} is not a host; write it as www.example.org"
        raise ConfigError(message) from error


MAX_SITEMAP_DEPTH = 3  # sitemaps.org allows an index of sitemaps, not an index of indexes
MAX_SITEMAPS = 500  # files per site: at 50,000 URLs a file, more than a polite crawl visits in a year
FIRST_SITEMAPS = 10  # files that a site is asked for, whatever they list; judgement
# A further file costs as much as a page. It is read if each file so far listed five pages that the job may visit. Judgement:
# the sitemaps of a newspaper, one for each day, are read, and those that repeat each other are not.
A_FILE = 5
ENOUGH = A_FILE * (MAX_SITEMAPS - FIRST_SITEMAPS)  # addresses: with so many, all files are read


class NewLinks:
    """Finds the links that an answer leads to. Remembers the sitemaps that each site has named."""

    def __init__(self, site_of: Callable[[str], str], *, probe: bool, sitemaps: bool, feeds: bool) -> None:
        self._site_of = site_of
        self._feeds = feeds
        self._probe = probe
        self._sitemaps = sitemaps
        self._sitemaps_named: dict[str, set[Url]] = {}
        self._listed: dict[str, set[int]] = {}  # by site, the addresses in sitemaps that were named, by a checksum

    def links_of(self, link: Link, outcome: Page | Sitemap | Skip) -> list[Link]:
        """What the answer to that link leads to."""
        if isinstance(outcome, Page):
            return [_deeper(link, target) for target in _followed(outcome)]
        if isinstance(outcome, Sitemap):
            depth = link.depth + 1
            return spread([msgspec.structs.replace(target, source=link.url, depth=depth) for target in outcome.links])
        if outcome.target is not None and link.kind is not LinkKind.PROBE:
            return [_redirected(link, outcome.target)]
        return []

    def after(self, site: SiteKnowledge, link: Link, sitemap: Sitemap) -> SiteKnowledge:
        """What is known of the site after that part of a sitemap. The same part must not be counted twice."""
        if not link.is_named_sitemap or site.listed >= ENOUGH:
            self._listed.pop(site.site, None)
            return site
        listed = self._listed.setdefault(site.site, set())
        before = len(listed)
        listed.update(crc32(target.url.encode()) for target in sitemap.links if target.kind is not LinkKind.INDEX)
        return msgspec.structs.replace(site, listed=site.listed + len(listed) - before)

    def first_asked(self, url: Url) -> Iterator[Link]:
        """What a host is asked before anything else: a page that cannot exist, and the sitemap."""
        if self._probe:
            name = hashlib.blake2b(url.host.encode(), digest_size=8).hexdigest()
            yield Link(Url.parse(f"{url.origin}/bitrawl-asks-for-a-missing-page-{name}"), LinkKind.PROBE)
        if self._sitemaps:
            yield Link(Url.parse(f"{url.origin}/sitemap.xml"), LinkKind.INDEX)

    def refusal(self, link: Link) -> Skip | None:
        """Why a sitemap is not read; None for all other links."""
        if link.kind is not LinkKind.INDEX:
            return None
        if link.rel == FEED and not self._feeds:
            return Skip(link.url, Stage.SCOPE, Reason.CONTENT_TYPE, "a feed")
        if link.depth > MAX_SITEMAP_DEPTH:
            return Skip(link.url, Stage.SCOPE, Reason.DEPTH, f"a sitemap more than {MAX_SITEMAP_DEPTH} sitemaps deep")
        named = self._sitemaps_named.setdefault(self._site_of(link.url.host), set())
        if len(named) >= MAX_SITEMAPS and link.url not in named:
            return Skip(link.url, Stage.SCOPE, Reason.TRAP, f"more than {MAX_SITEMAPS} sitemaps of the site")
        named.add(link.url)
        return None


def sitemaps_allowed(listed: int, pages: int | None = None) -> int:
    """How many named sitemaps of a site are read that have listed so many addresses; `pages` is the budget of the job."""
    return FIRST_SITEMAPS + (listed if pages is None else min(listed, pages)) // A_FILE


def spread(links: list[Link]) -> list[Link]:
    """The same links; if many are sitemaps, in an order of which any beginning is spread over the list.

    The files of one language or one year stand together, and maybe only some are read.
    """
    if sum(link.kind is LinkKind.INDEX for link in links) <= FIRST_SITEMAPS:
        return links
    bits = len(links).bit_length()
    return [links[place] for place in sorted(range(len(links)), key=lambda place: int(f"{place:0{bits}b}"[::-1], 2))]


def _followed(page: Page) -> Iterable[Link]:
    """The page's links, none of which is to be followed if the page says so."""
    if Directive.NOFOLLOW not in page.directives:
        return page.links
    return (msgspec.structs.replace(link, rel=f"{link.rel} {Directive.NOFOLLOW}".strip()) for link in page.links)


def _redirected(link: Link, target: Url) -> Link:
    """All that was known of the old address is known of the new one."""
    kind = link.kind if link.kind is LinkKind.INDEX else LinkKind.REDIRECT
    return msgspec.structs.replace(link, url=target, kind=kind, source=link.url, redirects=link.redirects + 1)


def _deeper(source: Link, target: Link) -> Link:
    """A translation is as deep as its original; every other link is one step further. What a feed lists is as near as what a
    sitemap lists.
    """
    if target.kind is LinkKind.INDEX:
        return target
    return msgspec.structs.replace(target, depth=source.depth + (target.kind is not LinkKind.ALTERNATE))
