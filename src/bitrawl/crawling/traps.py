"""Places that never end: texts and kinds of address that stopped leading to anything new, and hosts without number.

A page brings something new by its own text, or by a page that its links lead to. Neither a text that many pages share nor a
kind of address is given up at first sight: what they lead to comes last, when all else of the host has been visited. By then
the pages that were followed before have shown whether there is anything behind them.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Link, Page
from bitrawl.text.words import plain_words
from bitrawl.url import Url

# Judgement where nothing else is said; tests/end_to_end/test_hostile_web.py holds that a calendar, a shop, a maze and
# session ids end with these, and test_every_page_is_reached.py that no page of a web of hubs is lost.
WINDOW = 30  # the last visits to one kind of address that are looked at
MIN_FRESH = 0.2  # share of them that must have brought something new
TRUSTED = 0.5  # the same for a kind that is in doubt, before it is trusted again
MEMORY = 64  # signatures kept of one kind: a calendar repeats itself sooner
COPIES = 5  # addresses of one text on a host: print versions and the like
DRY = 5  # pages in a row that the links of one text led to, and none of them new
TRIES = 5  # of the links that come last, without anything new, before the others are refused
LINEAGE = 5  # pages on the way to a page that are looked at
REMEMBERED = 100_000  # addresses with parameters, and up to twice as many links that were met: bounds the memory
PAGES = 50_000  # pages remembered for what is found on them, and their texts: about 30 MB
KINDS = 20_000  # kinds of address kept; the one not visited for the longest time is forgotten first
# Bits in which two signatures of the same text, but for a word or two, may differ (Manku et al. 2007: 3 of 64).
NEAR = 3
ALIKE = 8  # the same for texts that may bring nothing new; unrelated pages differ in 17 and more (199 pages of ours)
# Pages that share a template or a small vocabulary are alike, too. Such a page is new by its passages: words in a row that no page
# alike had. A word that differs makes PASSAGE of them, so a calendar runs out of them with its last weekday or month.
PASSAGE = 4
NEW_PASSAGES = 8  # a paragraph of eight words, or five new words within one
PASSAGES = 4096  # of pages alike, kept of one kind: about twice as many at most, 64 kB
READ = 20_000  # characters of a page whose passages are read, as many as its signature reads
READ_KINDS = 2000  # kinds whose passages are kept

Key = TypeVar("Key")
Value = TypeVar("Value")

_FRESH, _STALE = b"\1", b"\0"
_NUMBER = re.compile(r"\d+|[0-9a-f]{16,}", re.IGNORECASE)
_CODE = re.compile(r"\b[a-z_]*+\d\w*+", re.IGNORECASE | re.ASCII)  # a session id, a version: no word


class Traps:
    """What visits brought: by kind of address, and by the text of the page that had the link.

    Infinite calendars, mazes, sort and filter combinations, and session ids that we do not know by name all end here.
    """

    def __init__(self) -> None:
        self._kinds: Recent[str, _Kind] = Recent(KINDS)
        self._passages: Recent[str, _Passages] = Recent(READ_KINDS)  # of the pages alike, by their kind
        self._texts: Recent[int, _TrapText] = Recent(PAGES)  # by the hash of host and signature
        self._queries: Recent[str, Url] = Recent(REMEMBERED)
        self._pages: Recent[int, _Visited] = Recent(PAGES)  # by the hash of the address
        self._met: set[int] = set()  # the hashes of addresses that pages link to
        self._earlier: set[int] = set()  # those before them

    def new_links(self, links: Iterable[Link]) -> list[Link]:
        """Those that no page had before."""
        met, earlier, pages = self._met, self._earlier, self._pages
        new = [link for link in links if (key := hash(link.url)) not in met and key not in earlier and key not in pages]
        self._met.update(hash(link.url) for link in new)
        if len(self._met) > REMEMBERED:
            self._met, self._earlier = set(), self._met
        return new

    def visited(self, page: Page, source: Url | None, *, leads_on: bool = True, last: bool = False) -> None:
        """A page was visited that `source` links to. `last` says that its turn had come last.

        `leads_on` is false for a page without new links, which costs one visit and nothing more.
        """
        address = kind_of(page.url)
        kind = self._kinds.note(address, self._kinds.get(address) or _Kind())
        alike = kind.alike(page.signature)
        says_more = self._says_more(page, address, alike)
        is_known = not says_more and (bool(alike) or not page.signature)
        # Pages with a long template and little else may have one signature.
        content = hash((page.url.host, page.digest if says_more else page.signature))
        text = self._texts.note(content, self._texts.get(content) or _TrapText())
        text.copies += 1
        way = list(self._way(source))
        # Pages without new links are no trap, unless it is an endless row of pages of one text that lists them.
        counts = leads_on or (bool(way) and way[0].text in [passed.text for passed in way[1:]])
        kind.count(fresh=not (is_known and counts), last=last)
        self._pages.note(hash(page.url), _Visited(kind, text, hash(source) if source else 0, text.like(page)))
        if page.signature and text.copies == 1 and not is_known:
            for passed in way:
                passed.led_on(kind)
        elif way and leads_on:
            way[0].text.dry += 1
            way[0].text.tries += last

    def _says_more(self, page: Page, kind: str, alike: set[int]) -> bool:
        """Whether it says what none that it is alike has said. Pages of an earlier run have no paragraphs here."""
        passages = self._passages.get(kind)
        if not page.paragraphs or (passages is None and not alike):
            return False
        return self._passages.note(kind, passages or _Passages()).are_new(page, alike or {page.signature})

    def redirected(self, url: Url, source: Url | None) -> None:
        """What is found at the address that it leads to was found on the page that had the link."""
        page = self._pages.get(hash(source)) if source else None
        if page is not None:
            self._pages.note(hash(url), page)

    def repeats(self, url: Url) -> bool:
        """Whether a visited page is the same as many others, or has their text and what they led to brought nothing new."""
        page = self._pages.get(hash(url))
        return page is not None and (page.copies > COPIES or page.text.is_dry)

    def doubtful(self, url: Url) -> bool:
        """Whether too few of the latest pages of this kind brought anything new. More of them come last."""
        kind = self._kinds.get(kind_of(url))
        return kind is not None and kind.doubted

    def closed(self, url: Url, source: Url | None) -> str:
        """Why a link is not visited although its turn has come, after all others; empty when it is."""
        kind = self._kinds.get(kind_of(url))
        if kind is not None and kind.doubted and kind.tries >= TRIES:
            return f"{WINDOW - sum(kind.fresh)} of the last {WINDOW} pages like this brought nothing new"
        page = self._pages.get(hash(source)) if source else None
        if page is not None and page.text.is_dry and page.text.tries >= TRIES:
            return f"found on a text of {page.text.copies} pages whose links lead to nothing new"
        return ""

    def reordered(self, url: Url) -> str:
        """The address met before that has the same parameters in another order; empty when there is none."""
        if "&" not in url:
            return ""
        path, _, query = url.partition("?")
        key = path + "?" + "&".join(sorted(query.split("&")))
        first = self._queries.get(key) or self._queries.note(key, url)
        return "" if first == url else first

    def _way(self, source: Url | None) -> Iterator["_Visited"]:
        """The page that had the link, the page that had the link to that page, and so on."""
        key = hash(source) if source else 0
        for _ in range(LINEAGE):
            page = self._pages.get(key)
            if page is None:
                return
            yield page
            key = page.source


def kind_of(url: Url) -> str:
    """The path with its numbers masked, and whether there are parameters: sorts and filters combine without end."""
    path, mark, _ = url.partition("?")
    return _NUMBER.sub("0", path) + mark


class Recent(Generic[Key, Value]):
    """Remembers at most so many entries, and those of the latest half of so many mentions at least.

    In two dictionaries, of which the older is forgotten as a whole: an `OrderedDict` takes twice the memory.
    """

    def __init__(self, limit: int) -> None:
        self._most = limit // 2
        self._young: dict[Key, Value] = {}
        self._old: dict[Key, Value] = {}

    def __len__(self) -> int:
        """How many it holds, one that is in both twice."""
        return len(self._young) + len(self._old)

    def __contains__(self, key: Key) -> bool:
        return key in self._young or key in self._old

    def get(self, key: Key) -> Value | None:
        return self._young[key] if key in self._young else self._old.get(key)

    def note(self, key: Key, value: Value) -> Value:
        """Remember it, or mention it again."""
        self._young[key] = value
        if len(self._young) >= self._most:
            self._young, self._old = {}, self._young
        return value


class _Kind:
    """Most kinds are one address, so it is small: an empty deque takes half a kilobyte, and a byte or no byte nothing."""

    __slots__ = ("_signatures", "doubted", "fresh", "tries")

    def __init__(self) -> None:
        self.fresh = b""  # a byte for each of the last visits: 1 if it brought something new
        self.doubted = False  # Too few of the latest visits brought anything new.
        self.tries = 0  # of links that came last: more brought nothing new than something
        self._signatures: tuple[int, ...] = ()

    def alike(self, signature: int) -> set[int]:
        """Those of its latest texts that this one is alike. If there are none, it is remembered from now on."""
        alike = {other for other in self._signatures if signature and (signature ^ other).bit_count() <= ALIKE}
        if signature and not alike:
            self._signatures = (*self._signatures[1 - MEMORY :], signature)
        return alike

    def count(self, *, fresh: bool, last: bool) -> None:
        self.fresh = self.fresh[1 - WINDOW :] + (_FRESH if fresh else _STALE)
        self.tries = max(0, self.tries + (-1 if fresh else 1)) if last else self.tries
        self._weigh()

    def led_on(self) -> None:
        """One of the visits that had brought nothing new has led to something new."""
        self.tries = 0
        if _STALE in self.fresh:
            self.fresh = self.fresh.replace(_STALE, _FRESH, 1)
            self._weigh()

    def _weigh(self) -> None:
        if len(self.fresh) >= WINDOW:
            self.doubted = sum(self.fresh) < (TRUSTED if self.doubted else MIN_FRESH) * WINDOW


class _Passages:
    """The passages of the pages of one kind since two were alike, and which texts were read for them.

    Those of the latest PASSAGES mentions at least.
    """

    __slots__ = ("_old", "_read", "_young")

    def __init__(self) -> None:
        self._young = self._old = np.empty(0, np.int64)
        self._read: Recent[int, None] = Recent(4 * MEMORY)

    def are_new(self, page: Page, alike: set[int]) -> bool:
        """Whether the page says what none that it is alike has said; noted from now on.

        A page that is alike a text that was not read may be a copy of it, and stands for it from now on.
        """
        hashes = _passages(page)
        new = ~(np.isin(hashes, self._young) | np.isin(hashes, self._old))
        self._young = np.union1d(self._young, hashes)
        if len(self._young) >= PASSAGES:
            self._young, self._old = self._young[:0], self._young
        is_copy = any(text not in self._read for text in alike)
        for text in alike:
            self._read.note(text, None)
        return not is_copy and int(new.sum()) >= NEW_PASSAGES


def _passages(page: Page) -> NDArray[np.int64]:
    """Each word with the words before it in its paragraph: of the main text, or of all that the page says.

    Paragraphs are apart, because what is sorted in another way says nothing new.
    """
    text = page.text or "\n".join(paragraph.text for paragraph in page.paragraphs)
    found: set[int] = set()
    for paragraph in _CODE.sub(" ", text[:READ]).split("\n"):
        words = [*[""] * (PASSAGE - 1), *plain_words(paragraph)]
        found.update(map(hash, zip(*(words[at:] for at in range(PASSAGE)), strict=False)))
    return np.fromiter(found, np.int64, len(found))


class _TrapText:
    """The pages of a host with the same text, and what became of the links found on them."""

    __slots__ = ("_first", "_names", "copies", "dry", "tries")

    def __init__(self) -> None:
        self.copies = 0
        self.dry = 0  # pages found there, since one of them brought something new
        self.tries = 0  # those of them whose turn came last
        self._first = 0  # the names of the links of its first page: most texts are of one page
        # Once it has several pages, how many of them have links of those names.
        self._names: dict[int, int] | None = None

    @property
    def is_dry(self) -> bool:
        return self.copies > COPIES and self.dry >= DRY

    def like(self, page: Page) -> int:
        """How many of its pages have links of the same names, with this one; of those that were met last.

        A page under another session id, or in another mirror, leads to other addresses by links of the same names. Lists
        that share a notice have links of their own.
        """
        names = hash(
            frozenset(
                [(link.anchor, link.image_alt, link.url.partition("?")[0].rpartition("/")[2]) for link in page.links]
            )
        )
        if self.copies == 1:
            self._first = names
            return 1
        if self._names is None:
            self._names = {self._first: 1}
        self._names[names] = count = self._names.pop(names, 0) + 1
        if len(self._names) > MEMORY:
            del self._names[next(iter(self._names))]
        return count


class _Visited:
    """A visited page, remembered to judge what is found on it."""

    __slots__ = ("copies", "kind", "led", "source", "text")

    def __init__(self, kind: _Kind, text: _TrapText, source: int, copies: int) -> None:
        self.kind = kind
        self.text = text
        self.copies = copies  # pages that are the same, text and links, when it was visited
        self.source = source  # the hash of the address of the page that had the link
        self.led = False  # to something new

    def led_on(self, kind: _Kind) -> None:
        """To something new, of that kind. A kind that leads only to itself is judged by what its own pages bring."""
        self.text.dry = self.text.tries = 0
        if kind is not self.kind and not self.led:
            self.led = True
            self.kind.led_on()


# Hosts of a site whose first page has the same text, before the site is held to answer for any name: more
# than the mirrors (www, m, old) that honest sites have.
ALIKE_HOSTS = 5


class SiteHosts:
    """Counts the hosts of each site that were asked for anything; those of the seeds are always asked."""

    def __init__(self, site_of: Callable[[str], str], most: int) -> None:
        self._site_of = site_of
        self._most = most
        self._seeds: set[str] = set()
        self._visited: dict[str, set[str]] = {}  # hosts that were asked for anything, by site
        self._first_texts: dict[str, dict[str, int]] = {}  # by site and host, the signature of its first page
        self._alike: set[str] = set()  # sites whose hosts answer alike

    def seed(self, hosts: Iterable[str]) -> None:
        self._seeds.update(hosts)

    def refusal(self, host: str) -> str:
        """Why nothing is asked of that host; empty when it may be asked, or was before."""
        site = self._site_of(host)
        visited = self._visited.get(site, ())
        if host in visited or host in self._seeds:
            return ""
        if site in self._alike:
            return f"{ALIKE_HOSTS} hosts of {site} have the same text"
        return f"{self._most} hosts of {site} were visited" if len(visited) >= self._most else ""

    def ask(self, host: str) -> bool:
        """Note that the host is asked for something; true at the first time."""
        visited = self._visited.setdefault(self._site_of(host), set())
        is_new = host not in visited
        visited.add(host)
        return is_new

    def answered(self, url: Url, signature: int) -> None:
        """A page came from that host, with this signature: 0 for one without text."""
        site = self._site_of(url.host)
        texts = self._first_texts.setdefault(site, {})
        if url.host in texts or site in self._alike:
            return
        texts[url.host] = signature
        same = sum((signature ^ other).bit_count() <= NEAR for other in texts.values()) if signature else 0
        if same >= ALIKE_HOSTS:
            self._alike.add(site)
