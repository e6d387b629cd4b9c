"""Reads what somebody sent: fields of a form, of an address or of a body. Each mistake is named by its field.

A form and an address send texts, an API any JSON value. Whatever it is, a reader returns a value that is right, or raises
`MistakeError`.
"""

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any, TypeAlias, TypeVar

from bitrawl.errors import BitrawlError, ConfigError, FieldError, UrlError
from bitrawl.languages import parse_language
from bitrawl.mining import Flag
from bitrawl.review import (
    JobReview,
    LanguageOrder,
    LengthUnit,
    PairFilter,
    PairOrder,
    SearchQuery,
    SegmentFilter,
    SegmentState,
    VerdictState,
)
from bitrawl.web.messages import Message, marked, message, message_of
from bitrawl.web.operator_settings import Settings

Value = TypeVar("Value")
Choice = TypeVar("Choice", bound=str)
Reader: TypeAlias = Callable[[Any, Settings], Value]

LONGEST = 2000  # characters of a URL, a path, a name or a line of a term list
_TRUE, _FALSE = ("on", "true", "yes", "1"), ("off", "false", "no", "0")
MOST_ROWS = 500  # of one answer
MOST_OFFSET = 10_000_000
VERDICT_STATES = {"none": VerdictState.NONE, "accept": VerdictState.ACCEPTED, "reject": VerdictState.REJECTED}
SORTS = {
    "score": (PairOrder.SCORE, False, marked("surest first")),
    "doubtful": (PairOrder.SCORE, True, marked("most doubtful first")),
    "segments": (PairOrder.SEGMENTS, False, marked("longest first")),
    "short": (PairOrder.SEGMENTS, True, marked("shortest first")),
    "title": (PairOrder.TITLE, True, marked("by title, A to Z")),
    "title-down": (PairOrder.TITLE, False, marked("by title, Z to A")),
    "mean": (PairOrder.MEAN_SCORE, True, marked("worst segments first")),
    "completed": (PairOrder.COMPLETED, False, marked("newest first")),
}


class Fields:
    """What somebody sent. What is wrong is noted, and the usual value stands in for it."""

    def __init__(self, given: Mapping[str, object], settings: Settings | None = None) -> None:
        """`settings` are the operator's; some readers look at them."""
        self.mistakes: dict[str, Message] = {}
        self._given = given
        self._settings = settings or Settings()

    def text(self, name: str) -> str:
        return str(self._given.get(name) or "")

    def read(self, name: str, reader: Reader[Value], usual: Value) -> Value:
        value = self._given.get(name)
        if value in ("", None, []):
            return usual
        return self.attempt(name, lambda: reader(value, self._settings), usual)

    def attempt(self, name: str, make: Callable[[], Value], usual: Value) -> Value:
        """What `make` gives, unless it objects to the field."""
        try:
            return make()
        except (MistakeError, ConfigError, UrlError) as error:
            self.mistakes[name] = message_of(error)
            return usual

    def read_one(self, name: str, reader: Reader[Value], usual: Value) -> Value:
        """Raises `FieldError`."""
        value = self.read(name, reader, usual)
        self.check()
        return value

    def need(self, name: str, reader: Reader[Value]) -> Value:
        """Raises `FieldError` if it is wrong or not there, with all that was wrong before."""
        try:
            return reader(self._given.get(name), self._settings)
        except (MistakeError, ConfigError, UrlError) as error:
            self.mistakes[name] = message_of(error)
            raise FieldError(self.mistakes) from error

    def check(self) -> None:
        if self.mistakes:
            raise FieldError(self.mistakes)


class MistakeError(Exception):
    """What was typed into one field cannot be used."""

    def __init__(self, text: str, **values: object) -> None:
        super().__init__(message(text, **values))


def text(value: object, _settings: Settings) -> str:
    if not isinstance(value, str):
        raise MistakeError("give a text")
    words = " ".join(value.split())
    if len(words) > LONGEST or not words.isprintable():
        raise MistakeError("give a shorter text, without control characters")
    return words


def lines(value: object) -> list[str]:
    items = value.splitlines() if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise MistakeError("give one per line, or a list of texts")
    return [item.strip() for item in items if item.strip()]


def flag(value: object, _settings: Settings) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in (*_TRUE, *_FALSE):
        return value.lower() in _TRUE
    raise MistakeError("say yes or no")


def number(value: object, *, whole: bool = False) -> float:
    """Texts in ASCII digits: other digits would be hard to tell in what is shown again."""
    value = None if isinstance(value, str) and not value.isascii() else value
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or not isfinite(number) or (whole and number != int(number)):
        raise MistakeError("give a whole number") if whole else MistakeError("give a number")
    return int(number) if whole else number


def between(least: float, most: float, *, whole: bool = False) -> Reader[float]:
    def read(value: object, _settings: Settings) -> float:
        given = number(value, whole=whole)
        if not least <= given <= most:
            raise MistakeError("give a number between {least} and {most}", least=f"{least:.9g}", most=f"{most:.9g}")
        return given

    return read


SHARE = between(0, 1)


def whole(least: int, most: int) -> Reader[int]:
    read = between(least, most, whole=True)
    return lambda value, settings: int(read(value, settings))


def one_of(choices: Iterable[Choice]) -> Reader[Choice]:
    by_name = {str(choice): choice for choice in choices}

    def read(value: object, _settings: Settings) -> Choice:
        if not isinstance(value, str) or value not in by_name:
            raise MistakeError("choose one of {names}", names=", ".join(by_name))
        return by_name[value]

    return read


def language_pair(value: object, _settings: Settings) -> LanguageOrder:
    """Two, as in en-fr."""
    pair = two_languages(value) if isinstance(value, str) else None
    if pair is None:
        raise MistakeError("Name two languages, as in en-fr.")
    return pair


def words_between(value: object, _settings: Settings) -> int:
    """How many may stand between two words that are searched for."""
    if value != "any" and not (isinstance(value, str) and value.isdecimal()):
        raise MistakeError("Give a number of words, or any. Leave it out for a phrase.")
    return JobReview.ANYWHERE if value == "any" else min(int(value), JobReview.ANYWHERE)


def two_languages(name: str) -> LanguageOrder | None:
    """From "en-fr", "zh-Hant-en"; None for all."""
    parts = name.split("-")
    for cut in range(1, len(parts)):
        try:
            return LanguageOrder(parse_language("-".join(parts[:cut])), parse_language("-".join(parts[cut:])))
        except BitrawlError:
            continue
    return None


def whole_number(text: str) -> int | None:
    """None for what is none, or is larger than anything here."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else None


def rows_wanted(values: Mapping[str, str]) -> dict[str, int]:
    """Which part of a list; raises `FieldError`."""
    fields = Fields(values)
    rows = {"offset": fields.read("offset", whole(0, MOST_OFFSET), 0), "limit": fields.read("limit", _LIMIT, 50)}
    fields.check()
    return rows


_LIMIT, _LENGTH = whole(1, MOST_ROWS), whole(0, 999_999_999)


def offset_in(values: dict[str, str]) -> int:
    """Taken out of the values of a page, which begins at the start if it cannot be read."""
    return min(whole_number(values.pop("offset", "")) or 0, MOST_OFFSET)


def pair_filter(values: Mapping[str, str], offset: int, limit: int, *, strict: bool = False) -> PairFilter:
    """Raises `FieldError` if `strict`; otherwise what is wrong is left out, as nobody types into these fields of the page."""
    fields = Fields(values)
    order, ascending, _ = SORTS[fields.read("sort", one_of(SORTS), "score")]
    wanted = PairFilter(
        languages=fields.read("languages", language_pair, None),
        site=fields.text("site"),
        text=fields.text("text"),
        method=fields.text("method")[:1],
        verdict=VERDICT_STATES.get(fields.read("verdict", one_of(VERDICT_STATES), "")),
        order=order,
        ascending=ascending,
        offset=offset,
        limit=limit,
    )
    if strict:
        fields.check()
    return wanted


def segment_filter(values: Mapping[str, object]) -> SegmentFilter:
    """Raises `FieldError`."""
    fields = Fields(values)
    wanted = SegmentFilter(
        languages=fields.read("languages", language_pair, None),
        flag=fields.read("flag", one_of((JobReview.NO_FLAG, *Flag)), ""),
        state=fields.read("state", one_of(SegmentState), None),
        unit=fields.read("unit", one_of(LengthUnit), LengthUnit.WORDS),
        words_a=fields.text("words_a"),
        words_b=fields.text("words_b"),
        least=fields.read("least", SHARE, 0.0),
        most=fields.read("most", SHARE, 1.0),
        shortest=fields.read("shortest", _LENGTH, 0),
        longest=fields.read("longest", _LENGTH, None),
    )
    fields.check()
    return wanted


def search_query(values: Mapping[str, str]) -> SearchQuery:
    """Raises `FieldError`."""
    fields, usual = Fields(values), SearchQuery(text="")
    query = SearchQuery(
        text=fields.text("q"),
        other=fields.text("other"),
        without=fields.text("without"),
        translated=fields.read("translated", flag, False),
        side=fields.read("side", one_of(type(usual.side)), usual.side),
        between=fields.read("near", words_between, None),
        languages=fields.read("languages", language_pair, None),
        order=fields.read("sort", one_of(type(usual.order)), usual.order),
    )
    fields.check()
    return query
