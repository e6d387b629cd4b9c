"""What a strategy remembers about a visited page, and a fast comparison of two of them.

The pairs of the corpus are found later, from all pages and all evidence (mine/). Here pages are compared after each
visit, so the comparison must be cheap.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec
from rapidfuzz.distance import Indel

from bitrawl.languages import asked_language
from bitrawl.model import UNDETERMINED, Language, Page
from bitrawl.url import Url

MAX_COPY_DISTANCE = 6  # judgement: the signatures of a page and its copy differ in at most this many of 64 bits
MIN_LENGTH_RATIO = 0.25  # judgement: a text in Chinese characters needs about a third of the letters of its translation
MAX_FINGERPRINT = 600  # letters of a fingerprint that are kept

Target = TypeVar("Target")  # what has a place in the tag sequence: the target of a link, or a text


class VisitedPage(msgspec.Struct, frozen=True):
    """A page without its text."""

    language: Language  # a requested language, or "und"
    length: int = 0  # of the text, in characters
    signature: int = 0
    fingerprint: str = ""
    tags: tuple[str, ...] = ()
    links: tuple[tuple[int, Url], ...] = ()  # targets, each with its place in the tag sequence

    @classmethod
    def of(cls, page: Page, languages: Sequence[Language], *, max_tags: int) -> "VisitedPage":
        """Leaves out tags and links that are too far down the page to be compared."""
        return cls(
            wanted_language(page, languages),
            sum([len(paragraph.text) for paragraph in page.paragraphs if not paragraph.boilerplate]),
            page.signature,
            page.fingerprint[:MAX_FINGERPRINT],
            page.tags[:max_tags],
            tuple((link.position, link.url) for link in page.links if 0 <= link.position < max_tags)
            if max_tags
            else (),
        )


def wanted_language(page: Page, languages: Sequence[Language]) -> Language:
    """Which requested language the page is in, or "und"."""
    return asked_language(page.language, languages) or UNDETERMINED


def comparable(a: VisitedPage, b: VisitedPage) -> bool:
    """Whether two texts have similar lengths and are not nearly the same: an untranslated copy is not a translation."""
    shorter, longer = sorted((a.length, b.length))
    return (
        shorter > 0
        and shorter >= MIN_LENGTH_RATIO * longer
        and (a.signature ^ b.signature).bit_count() > MAX_COPY_DISTANCE
    )


def aligned_links(a: VisitedPage, b: VisitedPage) -> Iterator[tuple[Url, Url]]:
    """Targets of links at the same place once the tag sequences are aligned (Liu et al., section 5)."""
    return aligned(a, dict(a.links), b, dict(b.links))


def aligned(
    a: VisitedPage, targets_a: dict[int, Target], b: VisitedPage, targets_b: dict[int, Target]
) -> Iterator[tuple[Target, Target]]:
    """The same for anything that has its place in the tag sequence, such as texts."""
    letters = {tag: chr(number + 32) for number, tag in enumerate(dict.fromkeys([*a.tags, *b.tags]))}
    first, second = ("".join([letters[tag] for tag in page.tags]) for page in (a, b))
    return aligned_targets((first, targets_a), (second, targets_b))


def aligned_targets(
    a: tuple[str, dict[int, Target]], b: tuple[str, dict[int, Target]]
) -> Iterator[tuple[Target, Target]]:
    """As `aligned`, of tag sequences with a letter for each tag."""
    (first, targets_a), (second, targets_b) = a, b
    places = sorted(targets_a)
    for block in Indel.opcodes(first, second):
        if block.tag != "equal":
            continue
        shift = block.dest_start - block.src_start
        for place in places[bisect_left(places, block.src_start) : bisect_left(places, block.src_end)]:
            target = targets_b.get(place + shift)
            if target is not None:
                yield targets_a[place], target
