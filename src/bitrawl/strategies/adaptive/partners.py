"""Which pages of one site may be translations of each other, and which visited pages are.

Two URLs are candidates if a page declares them, if they are equal without their language marks, or if they are linked
at the same place of paired pages. Two visited pages are a pair if they are in two of the requested languages and have
similar texts. This only has to tell whether a visit was worth its cost. The pairs of the corpus are found later, from
all pages and all evidence (pair/).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from rapidfuzz.distance import Indel

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Alternate, Language, Page
from bitrawl.strategies.visited_page import VisitedPage, aligned_links, comparable
from bitrawl.url import Url
from bitrawl.urls.marks import named_languages, skeleton

MIN_LIKENESS = 0.35  # similarity of the fingerprints of two pages; anything below was chance on the site packs
MAX_SAME_KEY = 12  # judgement: URLs with the same key that are examined, or URLs that one page declares
MAX_BESIDE = 4  # judgement: URLs that were found at the same place as one URL
MAX_REDIRECTS = 5  # judgement: redirects that are followed to where a URL leads
MAX_TAGS = 1500  # judgement: tags of a page that are aligned


class Marks(NamedTuple):
    """The languages that a URL names."""

    wanted: tuple[Language, ...]  # those that were requested
    others: bool


class Partners:
    """What the URLs and the visited pages of one site say about each other, for two or more languages."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self.languages = tuple(languages)
        self.visited: dict[Url, VisitedPage | None] = {}  # None for a URL that brought no page
        self.pairs: set[tuple[Url, Url]] = set()
        self.examined = 0
        self._by_key: dict[str, list[Url]] = defaultdict(list)
        self._keys: dict[Url, tuple[str, ...]] = {}
        self._marks: dict[Url, Marks] = {}
        self._partners: dict[Url, set[Url]] = {}
        self._declaring: set[Url] = set()  # visited pages that declare versions of themselves, in any language
        self._declared: dict[Url, set[Url]] = defaultdict(set)
        self._beside: dict[Url, set[Url]] = defaultdict(set)
        self._redirects: dict[Url, Url] = {}
        self._claims: dict[Url, Language] = {}

    # URLs

    def add(self, url: Url) -> None:
        """Make the URL a candidate for others. A known URL stays as it is."""
        if url in self._keys:
            return
        keys = tuple(dict.fromkeys(skeleton(url, language) for language in self.marks(url).wanted or [UNDETERMINED]))
        self._keys[url] = keys
        for key in keys:
            self._by_key[key].append(url)

    def key(self, url: Url) -> str:
        """What is left of an added URL without its language marks."""
        return self._keys[url][0]

    def marks(self, url: Url) -> Marks:
        found = self._marks.get(url)
        if found is None:
            named = named_languages(url)
            wanted = tuple(one for one in self.languages if any(same_language(mark, one) for mark in named))
            others = any(not any(same_language(mark, one) for one in self.languages) for mark in named)
            found = self._marks[url] = Marks(wanted, others)
        return found

    def declare(self, group: Iterable[Url]) -> None:
        """Note that a page or a sitemap declares these as versions of each other."""
        urls = list(islice(dict.fromkeys(group), MAX_SAME_KEY))
        for url in urls:
            known = self._declared[url]
            known.update(islice((other for other in urls if other != url), max(0, MAX_SAME_KEY - len(known))))

    def redirect(self, old: Url, new: Url) -> None:
        """What was said about the old URL now applies to the new one."""
        self._redirects[old] = new
        for relation in (self._declared, self._beside):
            relation[new] |= relation.get(old, set()) - {new}

    def wanted(self, alternates: Iterable[Alternate]) -> list[Url]:
        """The alternates that may be in a requested language. Remembers the language that is claimed for each."""
        found = []
        for alternate in alternates:
            claimed = claimed_language(alternate.language) if alternate.language else UNDETERMINED
            if claimed != UNDETERMINED:
                self._claims.setdefault(alternate.url, claimed)
            if claimed == UNDETERMINED or any(same_language(claimed, wanted) for wanted in self.languages):
                found.append(alternate.url)
        return found

    def claim(self, url: Url) -> Language:
        """The language that a page or a sitemap claims for it; "und" if none does."""
        return self._claims.get(url, UNDETERMINED)

    def is_declared(self, url: Url) -> bool:
        """Whether something declares it as a version of another page."""
        return bool(self._declared.get(url))

    # candidates

    def candidates(self, url: Url) -> Iterator[Url]:
        """URLs that may be the other version of this one, visited or not, the best evidence first."""
        seen = {url}
        for found in (*sorted(self._declared.get(url, ())), *self._same_key(url)):
            landed = self._landed(found)
            if landed not in seen:
                seen.add(landed)
                yield landed
        if len(seen) == 1:
            yield from sorted(self._beside.get(url, ()))

    def is_beside(self, url: Url) -> bool:
        """Whether its place on paired pages is the only evidence of its partner."""
        return url in self._beside and not self._declared.get(url) and next(self._same_key(url), None) is None

    def twins(self, url: Url) -> Iterator[Url]:
        """Other spellings of the URL: with or without a slash at the end, an index file, an extension."""
        mine = self.marks(url).wanted
        for key in self._keys.get(url, ()):
            yield from (
                other for other in self._by_key[key][:MAX_SAME_KEY] if other != url and self.marks(other).wanted == mine
            )

    def _same_key(self, url: Url) -> Iterator[Url]:
        mine = self.marks(url).wanted
        for key in self._keys.get(url, ()):
            yield from (other for other in self._by_key[key][:MAX_SAME_KEY] if self.marks(other).wanted != mine)

    def _landed(self, url: Url) -> Url:
        for _ in range(MAX_REDIRECTS):
            url = self._redirects.get(url, url)
        return url

    # visits

    def failed(self, url: Url) -> None:
        """Note a visit that brought no page."""
        self.visited.setdefault(url, None)

    def arrived(self, page: Page) -> list[Url]:
        """Note a visited page. Returns the partners found for it among the pages visited before."""
        self.add(page.url)
        seen = VisitedPage.of(page, self.languages, max_tags=MAX_TAGS)
        self.visited[page.url] = seen
        self._read_declarations(page)
        if seen.language == UNDETERMINED or not self._is_as_claimed(page.url, seen.language):
            self.visited[page.url] = seen.without_links()
            return []
        found = []
        for other in list(self.candidates(page.url)):
            if not self._may_pair(page.url, other):
                continue
            self.examined += 1
            if self._pair(page.url, other):
                found.append(other)
        return found

    def language(self, url: Url) -> Language:
        """The language of a visited page if it was requested; "und" for anything else."""
        seen = self.visited.get(url)
        return UNDETERMINED if seen is None else seen.language

    def is_paired(self, url: Url) -> bool:
        return bool(self._partners.get(url))

    def expects(self, other: Url, url: Url) -> bool:
        """Whether the visited page `other` may find its partner at that URL.

        Its text must be in the language that its own URL and declarations name, and not in the language that the other
        URL names. An English text below /tr/ has no partner there, and its original below /en/ has no Turkish version.
        """
        language = self.language(other)
        if language == UNDETERMINED or not self._is_as_claimed(other, language):
            return False
        named = self.marks(other).wanted
        if (named and language not in named) or language in self.marks(url).wanted:
            return False
        return len(self._partners.get(other, ())) < len(self.languages) - 1

    def leaves_out(self, other: Url, url: Url) -> bool:
        """Whether a visited page declares its translations, and that URL is not one of them."""
        return other in self._declaring and url not in self._declared.get(other, ())

    def _read_declarations(self, page: Page) -> None:
        """Read what the page says about its own translations in requested languages."""
        if any(other.url != page.url for other in page.alternates):
            self._declaring.add(page.url)
        for other in self.wanted(page.alternates):
            if other != page.url:
                self.declare((page.url, other))

    def _is_as_claimed(self, url: Url, language: Language) -> bool:
        """An English page that is declared to be French is an original that nobody translated."""
        claimed = self.claim(url)
        return claimed == UNDETERMINED or same_language(claimed, language)

    def _may_pair(self, url: Url, other: Url) -> bool:
        """Whether the pages are in two requested languages, and neither has a partner in the other's language yet."""
        languages = (self.language(url), self.language(other))
        if UNDETERMINED in languages or languages[0] == languages[1]:
            return False
        return not any(
            self.language(partner) == language
            for one, language in zip((other, url), languages, strict=True)
            for partner in self._partners.get(one, ())
        )

    def _pair(self, url: Url, other: Url) -> bool:
        a, b = self.visited[url], self.visited[other]
        if a is None or b is None or not alike(a, b):
            return False
        self.pairs.add((url, other))
        self._partners.setdefault(url, set()).add(other)
        self._partners.setdefault(other, set()).add(url)
        self._put_beside(aligned_links(a, b))
        if len(self.languages) == 2:  # neither can have another partner
            self.visited[url], self.visited[other] = a.without_links(), b.without_links()
        return True

    def _put_beside(self, aligned: Iterable[tuple[Url, Url]]) -> None:
        """Links at the same place of two paired pages may lead to another pair (Liu et al., section 5)."""
        for first, second in aligned:
            # Earlier pairs already showed the links of the menu at this place.
            if second in self._beside.get(first, ()) and first in self._beside.get(second, ()):
                continue
            if first != second and first.site == second.site:
                for one, other in ((first, second), (second, first)):
                    if len(self._beside[one]) < MAX_BESIDE:
                        self._beside[one].add(other)


def alike(a: VisitedPage, b: VisitedPage) -> bool:
    """Whether two texts in different languages may be translations: alike in length and structure, and no copy."""
    return comparable(a, b) and Indel.normalized_similarity(a.fingerprint, b.fingerprint) >= MIN_LIKENESS
