"""Personal data out of a corpus: the same placeholder on both sides, or the segment left out."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from bitrawl.config import Anonymise
from bitrawl.mine.judging import Flag
from bitrawl.model import Language, Page, Paragraph, SegmentPair
from bitrawl.text.personal_data import (
    Found,
    PersonalKind,
    may_have_personal_data,
    page_regions,
    personal_data,
    placeholder,
)

Texts = tuple[str, ...]


class Anonymiser:
    """Takes personal data out, and counts what it finds by kind. Made with `OFF`, it changes nothing and looks at nothing."""

    def __init__(self, how: Anonymise = Anonymise.OFF) -> None:
        self._how = how
        self.counts: Counter[str] = Counter()  # different values of a segment pair or of a paragraph
        self.dropped = 0  # segment pairs and paragraphs

    def kept(self, pairs: Iterable[SegmentPair], languages: Sequence[Language]) -> Iterator[SegmentPair]:
        """All pairs but those that have to be left out. Nothing is replaced yet."""
        if self._how is not Anonymise.DROP:
            yield from pairs
            return
        for pair in pairs:
            if self._count(_found_in(pair, languages)):
                self.dropped += 1
            else:
                yield pair

    def replaced(self, pair: SegmentPair, languages: Sequence[Language]) -> SegmentPair:
        """With placeholders in the place of personal data, and flagged if there was any."""
        if self._how is not Anonymise.REPLACE:
            return pair
        found = _found_in(pair, languages)
        if not self._count(found):
            return pair
        replace, (a, b) = msgspec.structs.replace, with_placeholders((pair.a.text, pair.b.text), found)
        flags = (*pair.flags, str(Flag.ANONYMISED))
        return replace(pair, a=replace(pair.a, text=a), b=replace(pair.b, text=b), flags=flags)

    def page(self, page: Page) -> Page:
        """The same with its paragraphs, its title, and what it says about itself. One that is left out keeps its number."""
        if self._how is Anonymise.OFF:
            return page
        regions, replace = page_regions(page.url, page.language), msgspec.structs.replace

        def text(original: str) -> str:
            found = [personal_data(original, regions)]
            return with_placeholders((original,), found)[0] if found[0] else original

        about = {name: text(getattr(page.metadata, name)) for name in ("description", "keywords", "author", "licence")}
        return replace(
            page,
            title=text(page.title),
            metadata=replace(page.metadata, **about),
            paragraphs=tuple(self._paragraph(paragraph, regions) for paragraph in page.paragraphs),
        )

    def _paragraph(self, paragraph: Paragraph, regions: Sequence[str]) -> Paragraph:
        found = [personal_data(paragraph.text, regions)]
        if not found[0]:
            return paragraph
        if not paragraph.boilerplate:
            self._count(found)
        if self._how is Anonymise.DROP:
            self.dropped += not paragraph.boilerplate
            return msgspec.structs.replace(paragraph, text="", boilerplate=True)
        return msgspec.structs.replace(paragraph, text=with_placeholders((paragraph.text,), found)[0])

    def _count(self, sides: Sequence[Sequence[Found]]) -> bool:
        """Whether there is anything. What stands on both sides counts once."""
        for kind, values in _values(sides).items():
            self.counts[kind] += max(map(len, values))
        return any(sides)


def _found_in(pair: SegmentPair, languages: Sequence[Language]) -> list[list[Found]]:
    """On both sides. What is found on one of them counts on the other too, where it stands there in the same form."""
    texts = pair.a.text, pair.b.text
    if not any(map(may_have_personal_data, texts)):
        return [[], []]
    regions = (*page_regions(pair.url_a, languages[0]), *page_regions(pair.url_b, languages[1]))
    sides = [personal_data(text, tuple(dict.fromkeys(regions))) for text in texts]
    return [_with_repeats(texts, sides, side) for side in (0, 1)] if any(sides) else sides


def _with_repeats(texts: Sequence[str], sides: Sequence[Sequence[Found]], side: int) -> list[Found]:
    text, found = texts[side], list(sides[side])
    for other in sides[1 - side]:
        written = texts[1 - side][other.start : other.end]
        for match in re.finditer(rf"(?<!\w){re.escape(written)}(?!\w)", text):
            if all(match.end() <= one.start or one.end <= match.start() for one in found):
                found.append(Found(match.start(), match.end(), other.kind, other.value))
    return sorted(found)


def with_placeholders(texts: Sequence[str], sides: Sequence[Sequence[Found]]) -> Texts:
    """The texts with what was found in each replaced.

    Where a side has several values of a kind they are numbered, so that each is told from the others: the same value has the
    same number on both sides. What only one side has takes the number of what only the other has, in their order: a local
    office for another.
    """
    names = {kind: _names(kind, values) for kind, values in _values(sides).items()}
    return tuple(
        _replaced(text, found, names, side) for side, (text, found) in enumerate(zip(texts, sides, strict=True))
    )


def _values(sides: Sequence[Sequence[Found]]) -> dict[PersonalKind, list[list[str]]]:
    """The different values of each kind, by side, in their order."""
    kinds = dict.fromkeys(one.kind for found in sides for one in found)
    return {
        kind: [list(dict.fromkeys(one.value for one in found if one.kind is kind)) for found in sides] for kind in kinds
    }


def _names(kind: PersonalKind, values: Sequence[Sequence[str]]) -> list[Mapping[str, str]]:
    """By side, the placeholder of each value."""
    if max(map(len, values)) == 1:
        return [dict.fromkeys(side, placeholder(kind)) for side in values]
    first, *others = values
    numbers = [{value: number for number, value in enumerate(first, 1)}]
    for side in others:
        shared = {value: numbers[0][value] for value in side if value in numbers[0]}
        free = [number for number in range(1, len(first) + len(side) + 1) if number not in shared.values()]
        numbers.append(shared | dict(zip((value for value in side if value not in shared), free, strict=False)))
    return [{value: placeholder(kind, number) for value, number in side.items()} for side in numbers]


def _replaced(
    text: str, found: Sequence[Found], names: Mapping[PersonalKind, Sequence[Mapping[str, str]]], side: int
) -> str:
    pieces, end = list[str](), 0
    for one in found:
        pieces += (text[end : one.start], names[one.kind][side][one.value])
        end = one.end
    return "".join((*pieces, text[end:]))
