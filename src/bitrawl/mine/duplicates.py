"""Pages that repeat others of their language: Papavassiliou et al., section 3.8, without comparing all pairs of pages."""

from array import array
from collections.abc import Collection, Iterable
from hashlib import blake2b
from itertools import islice
from math import ceil

import msgspec
import numpy as np

from bitrawl.model import Language, Page, Paragraph
from bitrawl.url import Url

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


class _PageText(msgspec.Struct, frozen=True):
    """What is remembered about a page: the hash and the length of each paragraph."""

    url: Url
    keys: "array[int]"
    lengths: "array[int]"
    protected: bool

    @property
    def rank(self) -> tuple[bool, int, int, int, str]:
        """Pages are kept in this order: protected ones, the longest, the one with the simpler URL."""
        return (not self.protected, -len(self.keys), -sum(self.lengths), len(self.url), self.url)


def duplicates(pages: Iterable[Page], protected: Collection[Url] = ()) -> dict[Url, Url]:
    """For each page that repeats another in its language, the page that it repeats, which itself stays.

    A page is dropped if `SHARED` of its paragraphs are on a page that stays. The shorter of two is dropped, so the
    longest are examined first. Protected pages are never dropped. The order in which the pages come does not matter.
    """
    protected = frozenset(protected)
    texts: dict[Language, list[_PageText]] = {}
    for page in pages:
        keys = _paragraphs(page)
        if keys:
            text = _PageText(page.url, array("q", keys), array("I", keys.values()), page.url in protected)
            texts.setdefault(page.language, []).append(text)
    copies: dict[Url, Url] = {}
    for of_language in texts.values():
        copies |= _repeated(of_language)
    return copies


def _repeated(texts: list[_PageText]) -> dict[Url, Url]:
    """Each text is looked up by its rarest paragraphs among the texts kept so far.

    Prefix filtering (Chaudhuri et al. 2006, Bayardo et al. 2007): a page that shares 8 of another's 10 paragraphs
    shares one of any 3. So the rarest three find all pages that the rule would find, and few pages have them.
    """
    keys, counts = np.unique(np.concatenate([text.keys for text in texts]), return_counts=True)
    frequency = dict(zip(keys[counts > 1].tolist(), counts[counts > 1].tolist(), strict=True))
    holders: dict[int, list[_PageText]] = {}
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


def _original(text: _PageText, holders: dict[int, list[_PageText]], frequency: dict[int, int]) -> Url | None:
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
