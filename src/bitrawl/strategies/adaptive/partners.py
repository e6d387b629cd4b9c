"""Which pages of one site may be translations of each other, and which visited pages are.

Declarations, equal addresses without language marks, and links at the same place of paired pages put two addresses side
by side. Two visited pages are a pair when they are in two of the languages asked for and have similar texts. That only
has to tell whether a visit paid: the pairs of the corpus are found later, from all pages and all evidence (mine/). A partner
that no page links to may be at the address that the site's other pairs suggest; a language that no page links to, at those
that most sites use.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple

from rapidfuzz.distance import Indel

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import MAX_REDIRECTS, UNDETERMINED, Alternate, Language, Link, LinkKind, Page
from bitrawl.strategies.adaptive.addresses import Numbered, NumberedUrls, PlacedLinks, Relation, SameKey, TagLetters
from bitrawl.strategies.adaptive.rates import Rates
from bitrawl.strategies.visited_page import VisitedPage, aligned_targets, comparable
from bitrawl.url import Url
from bitrawl.urls import PatternCounts, named_languages, page_extension, renamed, skeleton, versions

MIN_LIKENESS = 0.35  # of the fingerprints of two pages: anything below was chance on the site packs
# Of the longer of two texts, in characters. Of the pairs that were believed without it (2026-11), 13 wrong ones on apisix
# and webgl-fundamentals were shorter, and 3 true ones on gimp-help.
MIN_LENGTH = 100
MAX_DECLARED = 12  # judgement: addresses that one page declares
MAX_BESIDE = 4  # judgement: addresses that stood at the same place as one
MAX_TAGS = 1500  # tags of a page that are aligned
MAX_PLACED = 20_000  # pages without a partner whose links are remembered, at about 2 kB; the oldest go first

# Each address is asked about once: the caches of these would take 50 MB and be of no use.
_named_languages, _skeleton = named_languages.__wrapped__, skeleton.__wrapped__
_UNVISITED, _NO_PAGE = -2, -1  # of an address, in the place of its page's language

# All four are a judgement. What the whole brings on openbsd-2009 is in lab/notes/adaptive.md.
MIN_PAIRS = 5  # of a site, before its habits are followed
MIN_CONFIDENCE = 0.5  # of such a habit
GROWTH = 1.3  # of the pairs, before all pages without a partner are looked at again
MIN_RATE = 0.03  # of such links that led to a pair, as long as they are suggested

# Addresses that a host is asked for in a language of which no page was read, and a site in all languages; judgement.
MAX_TWINS, MAX_ALL_TWINS = 6, 24


class NamedLanguages(NamedTuple):
    """The languages that an address names."""

    wanted: tuple[Language, ...]  # of those asked for
    others: bool


class Partners:
    """What the addresses and the visited pages of one site say of each other, for two languages or more.

    It is told of addresses and asked by number: a site may have hundreds of thousands of them.
    """

    def __init__(self, languages: Sequence[Language], addresses: NumberedUrls | None = None) -> None:
        self.languages = tuple(languages)
        self.paired = 0  # pairs that were believed
        self.examined = 0
        self.visits = 0  # addresses that were visited, with a page or without
        self.addresses = addresses or NumberedUrls()
        self._same_key = SameKey(self.addresses)
        self._every_mark: Numbered[NamedLanguages | None] = Numbered()
        self._marks = self.addresses.column("H", self._every_mark.number(None))
        self._every_claim: Numbered[Language] = Numbered()
        self._claims = self.addresses.column("H", self._every_claim.number(UNDETERMINED))
        self._read_as = (*self.languages, UNDETERMINED)
        self._visited = self.addresses.column("h", _UNVISITED)  # a place in `_read_as`
        self._declaring = self.addresses.column("b", 0)  # visited pages that name versions of themselves
        self._open: dict[int, VisitedPage] = {}  # visited pages that may find another partner
        self._placed: dict[int, PlacedLinks] = {}  # their links
        self._letters = TagLetters()
        self._partners = Relation(self.addresses)
        self._declared = Relation(self.addresses)  # the least address first, as of the next one
        self._beside = Relation(self.addresses)
        self._redirects: dict[int, int] = {}

    # addresses

    def add(self, url: Url, keys: Sequence[str] = ()) -> int:
        """Make the address a candidate for others; one that is known already stays as it is. Its number."""
        number = self.addresses.number(url)
        if not self._same_key.has(number):
            self._same_key.add(number, keys or self.keys(url))
        return number

    def keys(self, url: Url) -> list[str]:
        """What is left of an address without the marks of its language, for each language that it may be."""
        wanted = self.marks(self.addresses.number(url), url).wanted or [UNDETERMINED]
        return list(dict.fromkeys(_skeleton(url, language) for language in wanted))

    def declare(self, group: Iterable[Url]) -> None:
        """A page or a sitemap names these as versions of each other."""
        numbers = [self.addresses.number(url) for url in islice(dict.fromkeys(group), MAX_DECLARED)]
        for number in numbers:
            self._relate(self._declared, number, (other for other in numbers if other != number), MAX_DECLARED)

    def redirect(self, old: Url, new: Url) -> None:
        """What was said of the old address is said of the new one."""
        old_number, number = self.addresses.number(old), self.addresses.number(new)
        self._redirects[old_number] = number
        for relation in (self._declared, self._beside):
            others = [other for other in relation.of(old_number) if other != number]
            self._relate(relation, number, others, len(others) + len(relation.of(number)))

    def wanted(self, alternates: Iterable[Alternate]) -> list[Url]:
        """Those that may be in a language asked for; remembers the language that is claimed of each."""
        urls = []
        for alternate in alternates:
            claimed = claimed_language(alternate.language) if alternate.language else UNDETERMINED
            if claimed != UNDETERMINED:
                number = self.addresses.number(alternate.url)
                self._claims[number] = self._claims[number] or self._every_claim.number(claimed)
            if claimed == UNDETERMINED or any(same_language(claimed, wanted) for wanted in self.languages):
                urls.append(alternate.url)
        return urls

    def claim(self, number: int) -> Language:
        """The language that a page or a sitemap says it is in; "und" where none does."""
        return self._every_claim.values[self._claims[number]]

    def is_declared(self, number: int) -> bool:
        """Whether something names it as a version of another page."""
        return bool(self._declared.of(number))

    # candidates

    def candidates(self, number: int) -> list[int]:
        """Addresses that may be the other version of that one, the best evidence first; visited or not."""
        numbers = [number]
        for other in (*self._declared.of(number), *self._otherwise_marked(number)):
            landed = self._landed(other)
            if landed not in numbers:
                numbers.append(landed)
        return numbers[1:] or list(self._beside.of(number))

    def is_beside(self, number: int) -> bool:
        """Whether nothing but its place on paired pages says what its partner may be."""
        return bool(self._beside.of(number)) and not self._declared.of(number) and not self._otherwise_marked(number)

    def twins(self, number: int) -> list[int]:
        """Other spellings of the address: with or without a slash at the end, an index file, an extension."""
        same = self._same_key.of(number)
        if len(same) < 2:
            return []
        mine = self.marks(number).wanted
        return [other for other in same if other != number and self.marks(other).wanted == mine]

    def _otherwise_marked(self, number: int) -> list[int]:
        """Addresses that are the same without their marks, and name other languages."""
        same = self._same_key.of(number)
        if len(same) < 2:
            return []
        mine = self.marks(number).wanted
        return [other for other in same if self.marks(other).wanted != mine]

    def _landed(self, number: int) -> int:
        for _ in range(MAX_REDIRECTS):
            if number not in self._redirects:
                break
            number = self._redirects[number]
        return number

    def marks(self, number: int, url: Url | None = None) -> NamedLanguages:
        """The address is read from memory where it is not given."""
        marks = self._every_mark.values[self._marks[number]]
        if marks is None:
            named = _named_languages(url or self.addresses.url(number))
            wanted = tuple(
                language for language in self.languages if any(same_language(mark, language) for mark in named)
            )
            others = any(not any(same_language(mark, language) for language in self.languages) for mark in named)
            marks = NamedLanguages(wanted, others)
            self._marks[number] = self._every_mark.number(marks)
        return marks

    def _relate(self, relation: Relation, number: int, others: Iterable[int], most: int) -> None:
        related = relation.of(number)
        new = tuple(islice((other for other in others if other not in related), max(0, most - len(related))))
        if new:
            both = (*related, *new)
            relation.put(number, both if len(both) == 1 else tuple(sorted(both, key=self.addresses.url)))

    # visits

    def failed(self, url: Url) -> None:
        """A visit that brought no page."""
        number = self.addresses.number(url)
        if self._visited[number] == _UNVISITED:
            self._visit(number, _NO_PAGE)

    def is_visited(self, number: int) -> bool:
        """With a page or without."""
        return self._visited[number] != _UNVISITED

    def has_page(self, number: int) -> bool:
        """Whether it was visited and brought a page."""
        return self._visited[number] > _NO_PAGE

    def unpaired(self) -> Iterator[Url]:
        """Visited pages in a language asked for that may find another partner."""
        return map(self.addresses.url, self._open)

    def arrived(self, page: Page) -> list[Url]:
        """A page was visited: the partners that it finds among the pages before it."""
        number = self.add(page.url)
        seen = VisitedPage.of(page, self.languages, max_tags=0)
        self._visit(number, self._read_as.index(seen.language))
        self._read_declarations(page)
        if seen.language == UNDETERMINED:
            return []
        self._open[number] = seen
        if not self._is_as_claimed(number, seen.language):
            return []
        self._placed[number] = PlacedLinks.of(page, self._letters, self.addresses, max_tags=MAX_TAGS)
        if len(self._placed) > MAX_PLACED:
            del self._placed[next(iter(self._placed))]
        partners = []
        for other in self.candidates(number):
            if not self._may_pair(number, other):
                continue
            self.examined += 1
            if self._pair(number, other):
                partners.append(self.addresses.url(other))
        return partners

    def language(self, number: int) -> Language:
        """Of a visited page, as far as it is one asked for; "und" for anything else."""
        read_as = self._visited[number]
        return UNDETERMINED if read_as < 0 else self._read_as[read_as]

    def pairs(self) -> set[tuple[Url, Url]]:
        """Visited pages that are translations of each other, the address that was met first in front."""
        url = self.addresses.url
        return {(url(number), url(other)) for number, other in self._partners.pairs() if number < other}

    def is_paired(self, number: int) -> bool:
        return bool(self._partners.of(number))

    def expects(self, other: int, number: int) -> bool:
        """Whether the visited page `other` may find its partner at that address.

        It must be in the language that its own address and declarations name, and not in the one that the other address
        names: an English text below /tr/ has no partner there, and its original below /en/ has no Turkish version.
        """
        language = self.language(other)
        if language == UNDETERMINED or not self._is_as_claimed(other, language):
            return False
        named = self.marks(other).wanted
        if (named and language not in named) or language in self.marks(number).wanted:
            return False
        return len(self._partners.of(other)) < len(self.languages) - 1

    def leaves_out(self, other: int, number: int) -> bool:
        """Whether a visited page names its translations, and that address is none of them."""
        return bool(self._declaring[other]) and number not in self._declared.of(other)

    def _visit(self, number: int, read_as: int) -> None:
        self.visits += self._visited[number] == _UNVISITED
        self._visited[number] = read_as

    def _read_declarations(self, page: Page) -> None:
        """What the page says of its own translations, as far as they are wanted."""
        if any(other.url != page.url for other in page.alternates):
            self._declaring[self.addresses.number(page.url)] = 1
        for other in self.wanted(page.alternates):
            if other != page.url:
                self.declare((page.url, other))

    def _is_as_claimed(self, number: int, language: Language) -> bool:
        """An English page that is declared French is an original that nobody translated."""
        claimed = self.claim(number)
        return claimed == UNDETERMINED or same_language(claimed, language)

    def _may_pair(self, number: int, other: int) -> bool:
        """Two languages that are asked for, and neither page has a partner in the other's yet."""
        languages = (self.language(number), self.language(other))
        if UNDETERMINED in languages or languages[0] == languages[1]:
            return False
        if self._is_contradicted(number, other) or self._are_stubs(number, other):
            return False
        return not any(
            self.language(partner) == language
            for page, language in zip((other, number), languages, strict=True)
            for partner in self._partners.of(page)
        )

    def _is_contradicted(self, number: int, other: int) -> bool:
        """Each has another address as its partner but for the marks: one of their declarations is a slip."""
        mine = self._otherwise_marked(number)
        return bool(mine) and other not in mine and bool(self._otherwise_marked(other))

    def _are_stubs(self, *numbers: int) -> bool:
        """Neither page has a text to speak of; those that have all their partners have one."""
        return all(page in self._open and self._open[page].length < MIN_LENGTH for page in numbers)

    def _pair(self, number: int, other: int) -> bool:
        a, b = self._open[number], self._open[other]
        if not comparable(a, b) or not (built_alike(a, b) or self._name_each_other(number, other)):
            return False
        self.paired += 1
        placed = [self._placed.get(page) for page in (number, other)]
        for page, partner in ((number, other), (other, number)):
            partners = (*self._partners.of(page), partner)
            self._partners.put(page, partners)
            if len(partners) == len(self.languages) - 1:  # it has no other partner to find
                del self._open[page]
                self._placed.pop(page, None)
        if placed[0] and placed[1]:
            self._put_beside(aligned_targets(placed[0].read(), placed[1].read()))
        return True

    def _name_each_other(self, number: int, other: int) -> bool:
        """Both pages were visited, and each declares the other."""
        both = self._declaring[number] and self._declaring[other]
        return bool(both) and number in self._declared.of(other)

    def _put_beside(self, aligned: Iterable[tuple[int, int]]) -> None:
        """Links at the same place of two paired pages may lead to another pair (Liu et al., section 5)."""
        for first, second in aligned:
            if first == second:
                continue
            for page, other in ((first, second), (second, first)):
                neighbours = self._beside.of(page)
                if (
                    other in neighbours
                    or len(neighbours) >= MAX_BESIDE
                    or self._declared.of(page)
                    or self._otherwise_marked(page)
                ):
                    continue  # what is declared or has other marks is believed instead
                if self.addresses.url(first).site == self.addresses.url(second).site:
                    self._relate(self._beside, page, [other], MAX_BESIDE)


def built_alike(a: VisitedPage, b: VisitedPage) -> bool:
    return Indel.normalized_similarity(a.fingerprint, b.fingerprint) >= MIN_LIKENESS


class UnlinkedPartners:
    """Suggests links from visited pages without a partner, as long as such links pay."""

    def __init__(self, partners: Partners, known: Container[int], rates: Rates) -> None:
        self._partners = partners
        self._known = known  # addresses that a link led to
        self._rates = rates
        self._habits = PatternCounts()
        self._alone: set[Url] = set()  # visited pages without a partner that were not looked at since
        self._pairs = 0  # when all were looked at

    def paired(self, url: Url, partner: Url) -> None:
        """Learn from a pair; a habit has a direction, from the language that was asked for first."""
        forward = self._place(url) <= self._place(partner)
        self._habits.add(*((url, partner) if forward else (partner, url)))

    def alone(self, url: Url) -> None:
        """A visited page found no partner."""
        self._alone.add(url)

    def links(self) -> tuple[Link, ...]:
        """Links to follow that are on no page."""
        pairs = self._partners.paired
        if pairs < MIN_PAIRS:
            return ()
        if pairs > GROWTH * self._pairs:
            self._pairs = pairs  # the habits may know more than they did
            self._alone.update(self._partners.unpaired())
        links = {link.url: link for link in self._suggested(sorted(self._alone))}
        self._alone.clear()
        return tuple(links.values())

    def group(self, source: Url | None) -> int:
        """The group of such links from pages in the same language: what is rarely translated has few partners."""
        language = self._language(source) if source else UNDETERMINED
        return self._rates.group(("foreseen", language))

    def _suggested(self, urls: Iterable[Url]) -> Iterator[Link]:
        for url in urls:
            if not self._has_no_candidate(url) or self._rates.rate(self.group(url)) < MIN_RATE:
                continue
            for partner, confidence in self._habits.partners(url):
                number = self._partners.addresses.known(partner)
                is_met = number is not None and self._is_met(number)
                if confidence >= MIN_CONFIDENCE and not is_met and partner.host == url.host:
                    yield Link(partner, LinkKind.PARTNER, url)

    def _has_no_candidate(self, url: Url) -> bool:
        """Visited, in a language asked for, and nothing is known that could be its partner."""
        partners = self._partners
        number = partners.addresses.number(url)
        if partners.language(number) == UNDETERMINED or partners.is_paired(number):
            return False
        return not any(map(self._is_met, partners.candidates(number)))

    def _is_met(self, number: int) -> bool:
        return number in self._known or self._partners.is_visited(number)

    def _language(self, url: Url) -> Language:
        number = self._partners.addresses.known(url)
        return UNDETERMINED if number is None else self._partners.language(number)

    def _place(self, url: Url) -> int:
        return self._partners.languages.index(self._language(url))


class LanguageTwins:
    """Asks for the pages that a site should have in a language in which none was read, one after the other.

    Only hosts of seeds are asked, at addresses made as the site makes its own, or as most sites do.
    """

    def __init__(self, partners: Partners, known: Container[int]) -> None:
        self.asked: Url | None = None  # the last one
        self._partners = partners
        self._known = known  # addresses that a link led to
        self._seeds: set[Url] = set()
        self._read: set[Language] = set()
        self._entries: dict[str, Url] = {}  # by host, as the next: a seed that was read
        self._extensions: dict[str, str] = {}
        self._named: dict[str, tuple[Url, Language]] = {}  # a page whose address names its language
        self._ever_asked: set[Url] = set()
        self._counts: Counter[tuple[str, Language]] = Counter()

    def seed(self, url: Url) -> None:
        """Where the crawl began, or where that redirects to."""
        self._seeds.add(url)

    def redirected(self, old: Url, new: Url) -> None:
        """As above, and what is asked for is now the new address."""
        if old in self._seeds:
            self.seed(new)
        if old == self.asked:
            self.asked = new

    def is_seed(self, url: Url) -> bool:
        """Whether the user named it, or what leads there."""
        return url in self._seeds

    def arrived(self, page: Page, language: Language) -> bool:
        """A page was read, in that one of the languages asked for; whether it is the first in one."""
        is_first = language not in self._read and language != UNDETERMINED
        self._read.add(language)
        if page.url in self._seeds:
            self._entries.setdefault(page.url.host, page.url)
        if page.url.host not in self._extensions and (extension := page_extension(page.url)):
            self._extensions[page.url.host] = extension
        if page.url.host not in self._named and renamed(page.url, page.language, self._partners.languages[0]):
            self._named[page.url.host] = page.url, page.language
        return is_first

    @property
    def waiting(self) -> int | None:
        """The one that was asked for last, as long as it is queued. What is out of scope never was."""
        number = None if self.asked is None else self._partners.addresses.known(self.asked)
        return None if number is None or number not in self._known or self._partners.is_visited(number) else number

    def next(self) -> Link | None:
        """The next one that nothing is known of."""
        missing = [language for language in self._partners.languages if language not in self._read]
        if self.waiting is not None or not self._read - {UNDETERMINED} or self._counts.total() >= MAX_ALL_TWINS:
            return None
        # The likeliest one of each: the first that is found shows how the site names its other languages.
        for host, language in sorted(product(self._entries, missing), key=self._counts.__getitem__):
            if self._counts[host, language] < MAX_TWINS and (twin := self._unasked(host, language)) is not None:
                self._counts[host, language] += 1
                self._ever_asked.add(twin)
                self.asked = twin
                return Link(twin, LinkKind.PARTNER)
        return None

    def _unasked(self, host: str, language: Language) -> Url | None:
        if host in self._named:
            twins = renamed(*self._named[host], language)
        else:
            twins = versions(self._entries[host], language, self._extensions.get(host, ""))
        known = self._partners.addresses.known
        return next(
            (twin for twin in twins if twin not in self._ever_asked and not self._is_visited(known(twin))), None
        )

    def _is_visited(self, number: int | None) -> bool:
        return number is not None and self._partners.is_visited(number)
