"""Pages that repeat others of their language: Papavassiliou et al., section 3.8, without comparing all pairs of pages."""

import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b
from itertools import islice
from math import ceil
from typing import Self

import msgspec
import numpy as np

from bitrawl.languages import same_language
from bitrawl.mining.site import PageSummary
from bitrawl.model import Language, Page, Paragraph
from bitrawl.url import Url
from bitrawl.urls import named_languages

SHARED = 0.8
"""The share of a page's paragraphs on another page from which it is a duplicate. The value is the paper's."""

# Judgement: a page whose own words outweigh the list items that it shares is not a duplicate, however many it shares.
_SHARED_CHARACTERS = 0.5
# A paragraph counts if it has three words, as in ILSP-FC: "Read more" is on all pages. Words are counted by spaces, or
# by characters in scripts that may have none (ten: judgement). `text.words` would take 26 s for 10,000 pages instead of
# less than 2.
_MIN_SPACES, _MIN_CHARACTERS = 2, 10
# Pages that a page is compared with. Only texts made of blocks that hundreds of other pages have reach it.
_MOST_CANDIDATES = 200


# Of a rendering: other words in its URL than in the original's, and of the original's links and text. Judgement: a page to
# print has no menus, and a whole book to print is no rendering of its first page.
_MOST_TOKENS, _FEW_LINKS, _LONGER = 2, 0.5, 1.25
FOREIGN = 2
_TOKEN = re.compile(r"[A-Za-z0-9]+")


class PageText(msgspec.Struct, frozen=True):
    """What is remembered about a page: the hash and the length of each paragraph."""

    url: Url
    language: Language
    keys: "array[int]"
    lengths: "array[int]"
    links: int
    canonical: Url | None  # another page that it calls the original
    protected: bool = False

    @classmethod
    def of(cls, page: Page) -> Self | None:
        """None for a page without text."""
        keys = _paragraphs(page)
        if not keys:
            return None
        canonical = page.canonical if page.canonical != page.url else None
        numbers = array("q", keys), array("I", keys.values())
        return cls(page.url, page.language, *numbers, len(page.links), canonical)

    @property
    def rank(self) -> tuple[bool, bool, int, int, int, int, str]:
        """Kept in this order: protected pages, originals, those at an address of their language, the longest, simple URLs."""
        size = -len(self.keys), -sum(self.lengths), len(self.url), self.url
        return (not self.protected, self.canonical is not None, claimed(self), *size)


def claimed(page: "PageText | PageSummary") -> int:
    """0 if its address names the language of the page, 1 if it names none, 2 if it names another."""
    return min((0 if same_language(name, page.language) else FOREIGN for name in named_languages(page.url)), default=1)


def is_rendering(url: Url, links: int, original: Url, links_of_original: int) -> bool:
    """Whether a page with the same text is the original in another form: at a longer URL, and with few of its links.

    So `/page?print=1` and `/print/page` are, whatever the word. A page of another version of a manual has as many links.
    """
    more, less = (Counter(_TOKEN.findall(text.partition("://")[2].lower())) for text in (url, original))
    return not less - more and 0 < (more - less).total() <= _MOST_TOKENS and links < _FEW_LINKS * links_of_original


def duplicates(pages: Iterable[PageText], protected: Collection[Url] = ()) -> dict[Url, Url]:
    """For each page that repeats another in its language, the page that it repeats, which itself stays.

    A page is dropped if `SHARED` of its paragraphs are on a page that stays. The shorter of two is dropped, so the
    longest are examined first; but a page that calls another one the original gives way to it, and so does a page to
    print. Protected pages are never dropped. The order in which the pages come does not matter.
    """
    protected = frozenset(protected)
    texts: dict[Language, dict[Url, PageText]] = {}
    for text in pages:
        kept = msgspec.structs.replace(text, protected=True) if text.url in protected else text
        texts.setdefault(text.language, {})[text.url] = kept
    copies: dict[Url, Url] = {}
    for of_language in texts.values():
        known = [
            text if text.canonical in of_language else msgspec.structs.replace(text, canonical=None)
            for text in of_language.values()
        ]
        copies |= _with_originals(_repeated(known), of_language)
    return copies


def _with_originals(copies: dict[Url, Url], texts: Mapping[Url, PageText]) -> dict[Url, Url]:
    """The same, but where a page that stays is only a rendering of one that is dropped, that one stays instead."""
    originals: dict[Url, Url] = {}
    for copy, kept in sorted(copies.items()):
        text, other = texts[copy], texts[kept]
        if (
            not other.protected
            and sum(other.lengths) <= _LONGER * sum(text.lengths)
            and is_rendering(kept, other.links, copy, text.links)
        ):
            originals.setdefault(kept, copy)
    swapped = {copy: originals.get(kept, kept) for copy, kept in copies.items() if copy not in originals.values()}
    return swapped | originals


def _repeated(texts: list[PageText]) -> dict[Url, Url]:
    """Each text is looked up by its rarest paragraphs among the texts kept so far.

    Prefix filtering (Chaudhuri et al. 2006, Bayardo et al. 2007): a page that shares 8 of another's 10 paragraphs
    shares one of any 3. So the rarest three find all pages that the rule would find, and few pages have them.
    """
    keys, counts = np.unique(np.concatenate([text.keys for text in texts]), return_counts=True)
    frequency = dict(zip(keys[counts > 1].tolist(), counts[counts > 1].tolist(), strict=True))
    holders: dict[int, list[PageText]] = {}
    copies: dict[Url, Url] = {}
    for text in sorted(texts, key=lambda text: text.rank):
        original = None if text.protected else _original(text, holders, frequency)
        if original is not None:
            copies[text.url] = original
        else:
            for key in text.keys:
                if key in frequency:
                    holders.setdefault(key, []).append(text)
    return copies


def _original(text: PageText, holders: dict[int, list[PageText]], frequency: dict[int, int]) -> Url | None:
    """The kept page that has the most of its paragraphs, if that is enough of them; `frequency` where it is above 1."""
    needed = ceil(SHARED * len(text.keys) - 1e-9)  # 0.8 of 5 is 4, also in binary fractions
    rarest = sorted(text.keys, key=lambda key: frequency.get(key, 1))[: len(text.keys) - needed + 1]
    holding = (holder for key in rarest for holder in holders.get(key, ()))
    candidates = {holder.url: holder for holder in islice(holding, _MOST_CANDIDATES)}
    mine = dict(zip(text.keys, text.lengths, strict=True))
    enough = _SHARED_CHARACTERS * sum(text.lengths)
    best: tuple[int, Url] | None = None
    for holder in candidates.values():
        shared = [key for key in holder.keys if key in mine]
        if (
            len(shared) >= needed
            and sum(mine[key] for key in shared) >= enough
            and (best is None or len(shared) > best[0])
        ):
            best = (len(shared), holder.url)
    return best[1] if best else None


def _paragraphs(page: Page) -> dict[int, int]:
    """Hash and length of each paragraph of the main text. Short paragraphs count only if there are no longer ones."""
    content = [paragraph for paragraph in page.paragraphs if not paragraph.boilerplate and paragraph.text]
    long = [paragraph for paragraph in content if _is_long(paragraph.text)]
    return {_key(paragraph): len(paragraph.text) for paragraph in long or content}


def _is_long(text: str) -> bool:
    return text.count(" ") >= _MIN_SPACES or (not text.isascii() and len(text) >= _MIN_CHARACTERS)


def _key(paragraph: Paragraph) -> int:
    data = " ".join(paragraph.text.casefold().split()).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)
