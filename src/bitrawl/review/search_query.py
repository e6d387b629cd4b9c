"""What a reader searches for: words as they are typed, read into patterns that SQLite and a text are asked for."""

import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

import msgspec

from bitrawl.errors import FieldError
from bitrawl.model import Language
from bitrawl.store.index_reader import LanguageOrder
from bitrawl.text.known_words import known_words
from bitrawl.text.lexicon import Lexicon
from bitrawl.text.search_words import folded, search_words
from bitrawl.text.words import is_unspaced, words

ANYWHERE = 1_000_000
"""Words between two others: more than any text has."""
_LONGEST = 500  # characters of a field
# Judgements: how surely two words translate each other, and how many translations of a word are looked for.
_LIKELY, _MOST = 0.2, 8
_UNIT = re.compile(r'"([^"]*)"|([^\s"]+)')


class QueryMistake(StrEnum):
    """What is wrong with a search, and how to write it."""

    STAR = "An asterisk stands at the end of a word, as in pag*"
    QUOTATION = 'A quotation mark has no partner. Write: "old port" museum'
    NO_WORD = "There is no word in it. Type at least one letter or figure."
    NOTHING = "Say which words to search for; the other side only narrows that down."


class SearchedSide(StrEnum):
    """In which texts a phrase is searched."""

    A = "a"
    B = "b"
    BOTH = "both"


class HitOrder(StrEnum):
    """How hits are sorted."""

    SCORE = "score"
    LEFT = "left"  # by the words before the hit, the nearest first
    RIGHT = "right"


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A search as a person asks for it."""

    text: str
    other: str = ""  # what the other side has
    without: str = ""  # what the other side has not
    translated: bool = False  # also what has, on the other side, words that ship as translations of these
    side: SearchedSide = SearchedSide.BOTH
    between: int | None = None  # how many words may be between those of `text`, in any order; None for a phrase
    languages: LanguageOrder | None = None
    order: HitOrder = HitOrder.SCORE


class SearchedWord(NamedTuple):
    word: str
    is_prefix: bool = False

    def fits(self, word: str) -> bool:
        return word.startswith(self.word) if self.is_prefix else word == self.word


Phrase = tuple[SearchedWord, ...]
Group = tuple[Phrase, ...]  # one of them is wanted
Terms = Callable[[str], list[str]]


class WordSpan(NamedTuple):
    """The first word, and the one after the last."""

    start: int
    end: int


class WordPattern(NamedTuple):
    """Phrases near each other, in each of the forms that they have in the languages of a corpus: of each group one."""

    forms: tuple[tuple[Group, ...], ...]
    between: int

    @property
    def is_exact(self) -> bool:
        """Whether FTS5 can say all of it: it takes a prefix only at the end of a phrase."""
        return not any(word.is_prefix for form in self.forms for phrase in chain(*form) for word in phrase[:-1])

    def expression(self) -> str:
        """For FTS5; it finds more than the pattern if that is not exact."""
        return " OR ".join(f"({self._conjunction(form)})" for form in self.forms)

    def spans(self, words: Sequence[str]) -> list[WordSpan]:
        """Where its phrases stand; none if one of them is missing or too far from the others."""
        for form in self.forms:
            places = [sorted(span for phrase in group for span in _places(phrase, words)) for group in form]
            if all(places) and (spans := _near(places, self.between)):
                return spans
        return []

    def _conjunction(self, form: tuple[Group, ...]) -> str:
        if not self.is_exact:
            return " AND ".join(_quoted((word,)) for phrase in chain(*form) for word in phrase)
        if len(form) == 1 or self.between == ANYWHERE:
            return " AND ".join(f"({' OR '.join(map(_quoted, group))})" for group in form)
        return f"NEAR({' '.join(map(_quoted, chain(*form)))}, {self.between})"


class Search(NamedTuple):
    """A query as it was read."""

    text: WordPattern
    other: WordPattern | None
    without: WordPattern | None
    side: SearchedSide

    @property
    def is_exact(self) -> bool:
        return all(pattern is None or pattern.is_exact for pattern in (self.text, self.other, self.without))

    def expression(self) -> str:
        """For FTS5, over the columns `a` and `b`."""
        if (self.side, self.other, self.without) == (SearchedSide.BOTH, None, None) and self.text.between < ANYWHERE:
            return f"{{a b}} : ({self.text.expression()})"
        return " OR ".join(f"({self._one_way(side, other)})" for side, other in self._ways)

    def matched_side(self, a: Sequence[str], b: Sequence[str]) -> SearchedSide | None:
        """The side that has the text, the first if both have it; None if it is not a hit."""
        words = {SearchedSide.A: a, SearchedSide.B: b}
        for side, other in self._ways:
            if (
                self.text.spans(words[side])
                and (self.other is None or self.other.spans(words[other]))
                and (self.without is None or not self.without.spans(words[other]))
            ):
                return side
        return None

    @property
    def _ways(self) -> Iterable[tuple[SearchedSide, SearchedSide]]:
        ways = (SearchedSide.A, SearchedSide.B), (SearchedSide.B, SearchedSide.A)
        return [way for way in ways if self.side in (SearchedSide.BOTH, way[0])]

    def _one_way(self, side: SearchedSide, other: SearchedSide) -> str:
        expression = f"{{{side}}} : ({self.text.expression()})"
        if self.other is not None:
            expression = f"({expression} AND {{{other}}} : ({self.other.expression()}))"
        if self.without is not None and self.without.is_exact:
            expression = f"({expression} NOT {{{other}}} : ({self.without.expression()}))"
        return expression


def read_query(query: SearchQuery, languages: Iterable[Language]) -> Search | None:
    """None if nothing is searched for. Raises `FieldError`, which names the field and the fix."""
    if not query.text.strip():
        if query.other.strip() or query.without.strip():
            raise FieldError({"q": QueryMistake.NOTHING})
        return None
    of = tuple(languages) or (Language("und"),)
    return Search(
        _pattern("q", query.text, of, query.between),
        _pattern("other", query.other, of) if query.other.strip() else None,
        _pattern("without", query.without, of) if query.without.strip() else None,
        query.side,
    )


def translated(query: SearchQuery, pairs: Iterable[LanguageOrder], terms: Terms) -> Search | None:
    """What finds the words of a query by their translations; None if none is known. `terms` are those that begin so.

    The query is taken to be in the languages that know most of its words.
    """
    ways = (way for a, b in pairs for way in ((a, b), (b, a)))
    found = [form for way in ways if (form := _translations(query.text[:_LONGEST], way, terms))[1]]
    least = min((unknown for unknown, _ in found), default=0)
    forms = dict.fromkeys(groups for unknown, groups in found if unknown == least)
    side = {SearchedSide.A: SearchedSide.B, SearchedSide.B: SearchedSide.A}.get(query.side, SearchedSide.BOTH)
    return Search(WordPattern(tuple(forms), ANYWHERE), None, None, side) if forms else None


def _translations(text: str, way: tuple[Language, Language], terms: Terms) -> tuple[int, tuple[Group, ...]]:
    """Of how many words nothing is known: names, which stay as they are. And of each word what may stand for it.

    A word like "of", which has no likely translation, is left out.
    """
    lexicon = known_words(*way) or Lexicon.learn([])
    likely = {word: _likely(lexicon, word) for word in words(text, way[0])}
    unknown = [[(word, way[0])] for word in likely if not lexicon.knows_a(word)]
    stems = unknown + [[(other, way[1]) for other in others] for others in likely.values() if others]
    groups = tuple(tuple(phrase for stem in group for phrase in _with_stem(*stem, terms)) for group in stems)
    return len(unknown), groups if all(groups) and len(stems) > len(unknown) else ()


def _likely(lexicon: Lexicon, word: str) -> list[str]:
    both = sorted((-share, other) for other, share in lexicon.mutual(word).items() if share >= _LIKELY)
    return [other for _, other in both[:_MOST]]


def _with_stem(stem: str, language: Language, terms: Terms) -> list[Phrase]:
    """The words of the corpus that have that stem. It may end otherwise than they do: happi, happy."""
    if is_unspaced(stem[0]):
        return [_phrase("q", stem, language)]
    plain = folded(stem)
    found = terms(plain[: max(3, len(plain) - 1)])
    return [(SearchedWord(term),) for term in found if list(map(folded, words(term, language))) == [plain]]


def _pattern(field: str, text: str, languages: Sequence[Language], between: int | None = None) -> WordPattern:
    text = text[:_LONGEST]
    units = [text]
    if between is not None:
        if text.count('"') % 2:
            raise FieldError({field: QueryMistake.QUOTATION})
        units = [quoted or plain for quoted, plain in _UNIT.findall(text)]
    forms = dict.fromkeys(
        tuple((phrase,) for unit in units if (phrase := _phrase(field, unit, language))) for language in languages
    )
    if not all(forms):
        raise FieldError({field: QueryMistake.NO_WORD})
    return WordPattern(tuple(forms), min(between or 0, ANYWHERE))


def _phrase(field: str, text: str, language: Language) -> Phrase:
    phrase: list[SearchedWord] = []
    *beginnings, last = text.split("*")
    for number, part in enumerate(beginnings):
        words = search_words(part, language)
        if not words or not search_words(part[-1:], language) or (number and search_words(part[:1], language)):
            raise FieldError({field: QueryMistake.STAR})
        phrase += _open_ended(words[:-1], words[-1], is_prefix=True)
    if beginnings and search_words(last[:1], language):
        raise FieldError({field: QueryMistake.STAR})
    if words := search_words(last, language):
        phrase += _open_ended(words[:-1], words[-1], is_prefix=False)
    return tuple(phrase)


def _open_ended(words: Sequence[str], last: str, *, is_prefix: bool) -> list[SearchedWord]:
    """A run without spaces may go on after what was typed of it; its last character begins a pair of any other."""
    phrase = [SearchedWord(word) for word in words]
    if len(last) > 1 or not is_unspaced(last):
        return [*phrase, SearchedWord(last, is_prefix)]
    is_in_a_pair = bool(words) and len(words[-1]) > 1 and is_unspaced(words[-1][0])
    return phrase if is_in_a_pair else [*phrase, SearchedWord(last, is_prefix=True)]


def _quoted(phrase: Phrase) -> str:
    """As a string of FTS5, in which nothing is syntax: words are letters, figures and marks."""
    return f'"{" ".join(word.word for word in phrase)}"' + (" *" if phrase[-1].is_prefix else "")


def _places(phrase: Phrase, words: Sequence[str]) -> list[WordSpan]:
    size, first = len(phrase), phrase[0]
    return [
        WordSpan(start, start + size)
        for start in range(len(words) - size + 1)
        if first.fits(words[start]) and all(word.fits(words[start + n]) for n, word in enumerate(phrase))
    ]


def _near(places: Sequence[Sequence[WordSpan]], between: int) -> list[WordSpan]:
    """The places of one phrase, or of each phrase those that are near one of each other."""
    if len(places) == 1:
        return list(places[0])
    near: set[WordSpan] = set()
    for first in (span for spans in places for span in spans):
        group = [next((span for span in spans if span.start >= first.start), None) for spans in places]
        if all(span is not None and span.start - first.end <= between for span in group):
            near.update(span for span in group if span is not None)
    return sorted(near)
