"""Personal data out of a corpus: the same placeholder on both sides, or the segment left out.

And out of all that goes with a corpus: URLs, titles, licences, what a report shows.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import msgspec

from bitrawl.corpus.formats import Anonymise
from bitrawl.mining import Flag
from bitrawl.model import Language, Page, PagePair, Paragraph, SegmentPair
from bitrawl.text.personal_data import (
    Found,
    PersonalKind,
    may_have_personal_data,
    personal_data,
    placeholder,
    regions_among,
)
from bitrawl.url import Url

Value = TypeVar("Value")
Texts = tuple[str, ...]


class Anonymiser:
    """Takes personal data out, and counts what it finds by kind. Made with `OFF`, it changes nothing and looks at nothing.

    `languages` are all of the corpus: numbers in URLs can be of any of their countries.
    """

    def __init__(self, how: Anonymise = Anonymise.OFF, languages: Sequence[Language] = ()) -> None:
        self._how = how
        self._languages = tuple(languages)
        self.counts: Counter[str] = Counter()  # different values of a segment pair or of a paragraph
        self.dropped = 0  # segment pairs and paragraphs

    def public(self, pair: SegmentPair, languages: Sequence[Language]) -> SegmentPair | None:
        """With placeholders in the place of personal data, and flagged if there was any. None if the pair is left out.

        It is also left out if the two sides do not have as many values of each kind: one of them was probably not found.
        """
        if self._how is Anonymise.OFF:
            return pair
        found, pair = _found_in(pair, languages), self._with_urls(pair)
        if not self._count(found):
            return pair
        if (
            self._how is Anonymise.DROP
            or len({frozenset(Counter(one.kind for one in side).items()) for side in found}) > 1
        ):
            self.dropped += 1
            return None
        replace, (a, b) = msgspec.structs.replace, with_placeholders((pair.a.text, pair.b.text), found)
        flags = (*pair.flags, str(Flag.ANONYMISED))
        return replace(pair, a=replace(pair.a, text=a), b=replace(pair.b, text=b), flags=flags)

    def page_pair(self, pair: PagePair) -> PagePair:
        return pair if self._how is Anonymise.OFF else self._with_urls(pair)

    def page(self, page: Page) -> Page:
        """The same with its paragraphs, its URL, its title, and what it says about itself. One left out keeps its number."""
        if self._how is Anonymise.OFF:
            return page
        regions, replace = regions_among([page.url.host], [page.language]), msgspec.structs.replace
        described = page.title, page.metadata, [paragraph.terms for paragraph in page.paragraphs]
        title, metadata, terms = self.everywhere(described, [page.url.host], [page.language])
        paragraphs = tuple(
            replace(self._paragraph(paragraph, regions), terms=own)
            for paragraph, own in zip(page.paragraphs, terms, strict=True)
        )
        repeats = self.url(page.repeats) if page.repeats else None
        url = self.url(page.url)
        return replace(page, url=url, title=title, metadata=metadata, paragraphs=paragraphs, repeats=repeats)

    def url(self, url: Url) -> Url:
        """With placeholders in its path and its query. The host stays: it says who publishes, and is needed to find the rest."""
        return url if self._how is Anonymise.OFF else _public_url(url, self._languages)

    def everywhere(self, value: Value, hosts: Iterable[str], languages: Sequence[Language] = ()) -> Value:
        """The same with placeholders in all of its texts and URLs, which are about these hosts. Nothing is counted."""
        if self._how is Anonymise.OFF:
            return value
        regions = regions_among(hosts, languages or self._languages)

        def public(text: str) -> str:
            if text.startswith(("http://", "https://")) and not re.search(r"\s", text):
                return self.url(Url.known(text))
            found = [personal_data(text, regions)]
            return with_placeholders((text,), found)[0] if found[0] else text

        result: Value = _everywhere(value, public)
        return result

    def _with_urls(self, pair: Value) -> Value:
        urls = {name: url for name in ("url_a", "url_b") if (url := self.url(own := getattr(pair, name))) != own}
        return msgspec.structs.replace(pair, **urls) if urls else pair  # type: ignore[type-var]

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


def _everywhere(value: Any, public: Callable[[str], str]) -> Any:
    match value:
        case Enum():
            return value
        case str():
            return type(value)(public(value))
        case msgspec.Struct():
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            changed = {name: new for name, old in fields.items() if (new := _everywhere(old, public)) != old}
            return msgspec.structs.replace(value, **changed) if changed else value
        case dict():
            return {_everywhere(key, public): _everywhere(item, public) for key, item in value.items()}
        case tuple() | list():
            return type(value)([_everywhere(item, public) for item in value])
    return value


_PIECE = re.compile(r"[^/?&=;]+")  # of a path or a query


@lru_cache(maxsize=10_000)
def _public_url(url: Url, languages: tuple[Language, ...]) -> Url:
    tail = url.removeprefix(url.origin)
    if not may_have_personal_data(tail):
        return url
    regions = regions_among([url.host], languages)

    def public(match: re.Match[str]) -> str:
        text = unquote(match[0])
        found = [one for one in personal_data(text, regions) if not _is_name(one, text)]
        return quote(with_placeholders((text,), [found])[0], safe="[]@:!$'()*,+~%") if found else match[0]

    return Url.known(url.origin + _PIECE.sub(public, tail))


def _is_name(one: Found, text: str) -> bool:
    """A row of digits that does not begin with 0 is the name of a page more often than a number of a person."""
    written = text[one.start : one.end]
    return written.isdecimal() and not (one.kind is PersonalKind.PHONE and written.startswith("0"))


def _found_in(pair: SegmentPair, languages: Sequence[Language]) -> list[list[Found]]:
    """On both sides. What is found on one of them counts on the other too, where it stands there in the same form."""
    texts = pair.a.text, pair.b.text
    if not any(map(may_have_personal_data, texts)):
        return [[], []]
    regions = regions_among((pair.url_a.host,), languages[:1]) + regions_among((pair.url_b.host,), languages[1:])
    sides = [personal_data(text, tuple(dict.fromkeys(regions))) for text in texts]
    return [_with_repeats(texts, sides, side) for side in (0, 1)] if any(sides) else sides


def _with_repeats(texts: Sequence[str], sides: Sequence[Sequence[Found]], side: int) -> list[Found]:
    text, found = texts[side], list(sides[side])
    for other in sides[1 - side]:
        written = texts[1 - side][other.start : other.end]
        for match in re.finditer(rf"(?<![0-9A-Za-z]){re.escape(written)}(?![0-9A-Za-z])", text):
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
