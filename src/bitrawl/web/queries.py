"""From the fields of a form or of an address to what is asked of the corpus of a job. Each mistake is named by its field."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from bitrawl.errors import BitrawlError, FieldError
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
    SegmentOrder,
    SegmentState,
    VerdictState,
)
from bitrawl.web.messages import Message, marked, message

Choice = TypeVar("Choice", bound=str)

MOST_ROWS = 500  # of one answer
MOST_OFFSET = 10_000_000
MOST_WHOLE = 999_999_999
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
    """Reads texts as what they stand for. What is wrong is noted, and the usual value stands in for it."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.mistakes: dict[str, Message] = {}

    def text(self, name: str) -> str:
        return self._values.get(name, "")

    def one_of(self, name: str, choices: Iterable[Choice], usual: Choice) -> Choice:
        known: dict[str, Choice] = {str(choice): choice for choice in choices}
        if (text := self.text(name)) and text not in known:
            self.mistakes[name] = message("Choose one of: {choices}.", choices=", ".join(known))
        return known.get(text, usual)

    def whole(self, name: str, usual: int, least: int = 0, most: int = MOST_WHOLE) -> int:
        text = self.text(name)
        number = whole_number(text)
        if not text or (number is not None and least <= number <= most):
            return usual if number is None else number
        self.mistakes[name] = message("Give a number from {least} to {most}.", least=least, most=most)
        return usual

    def share(self, name: str, usual: float) -> float:
        try:
            number = float(self.text(name) or usual)
        except ValueError:
            number = -1.0
        if 0 <= number <= 1:
            return number
        self.mistakes[name] = message("Give a number from 0 to 1.")
        return usual

    def languages(self, name: str = "languages") -> LanguageOrder | None:
        """Two, as in en-fr; None for all."""
        text = self.text(name)
        if text and two_languages(text) is None:
            self.mistakes[name] = message("Name two languages, as in en-fr.")
        return two_languages(text)

    def check(self) -> None:
        if self.mistakes:
            raise FieldError(self.mistakes)


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
    part = {"offset": fields.whole("offset", 0, 0, MOST_OFFSET), "limit": fields.whole("limit", 50, 1, MOST_ROWS)}
    fields.check()
    return part


def offset_in(values: dict[str, str]) -> int:
    """Taken out of the values of a page, which begins at the start if it cannot be read."""
    return min(whole_number(values.pop("offset", "")) or 0, MOST_OFFSET)


def pair_filter(values: Mapping[str, str], offset: int, limit: int, *, strict: bool = False) -> PairFilter:
    """Raises `FieldError` if `strict`; otherwise what is wrong is left out, as nobody types into these fields of the page."""
    fields = Fields(values)
    order, ascending, _ = SORTS[fields.one_of("sort", SORTS, "score")]
    verdict = fields.one_of("verdict", ["", *VERDICT_STATES], "")
    wanted = PairFilter(
        languages=fields.languages(),
        site=fields.text("site"),
        text=fields.text("text"),
        method=fields.text("method")[:1],
        verdict=VERDICT_STATES.get(verdict),
        order=order,
        ascending=ascending,
        offset=offset,
        limit=limit,
    )
    if strict:
        fields.check()
    return wanted


def segment_filter(values: Mapping[str, str]) -> SegmentFilter:
    """Raises `FieldError`."""
    fields = Fields(values)
    wanted = SegmentFilter(
        languages=fields.languages(),
        flag=fields.one_of("flag", ("", JobReview.NO_FLAG, *Flag), ""),
        state=fields.one_of("state", SegmentState, SegmentState.NONE) if fields.text("state") else None,
        unit=fields.one_of("unit", LengthUnit, LengthUnit.WORDS),
        words_a=fields.text("words_a"),
        words_b=fields.text("words_b"),
        least=fields.share("least", 0.0),
        most=fields.share("most", 1.0),
        shortest=fields.whole("shortest", 0),
        longest=fields.whole("longest", 0) if fields.text("longest") else None,
    )
    fields.check()
    return wanted


def segment_order(values: Mapping[str, str]) -> SegmentOrder:
    """Raises `FieldError`."""
    fields = Fields(values)
    order = fields.one_of("sort", SegmentOrder, SegmentOrder.WORST)
    fields.check()
    return order


def search_query(values: Mapping[str, str]) -> SearchQuery:
    """Raises `FieldError`."""
    fields, near, usual = Fields(values), values.get("near", ""), SearchQuery(text="")
    if near not in ("", "any") and not near.isdecimal():
        fields.mistakes["near"] = message("Give a number of words, or any. Leave it out for a phrase.")
    anywhere = JobReview.ANYWHERE
    query = SearchQuery(
        text=fields.text("q"),
        other=fields.text("other"),
        without=fields.text("without"),
        translated=fields.one_of("translated", ("", "true"), "") == "true",
        side=fields.one_of("side", type(usual.side), usual.side),
        between=None if not near else min(int(near), anywhere) if near.isdecimal() else anywhere,
        languages=fields.languages(),
        order=fields.one_of("sort", type(usual.order), usual.order),
    )
    fields.check()
    return query
