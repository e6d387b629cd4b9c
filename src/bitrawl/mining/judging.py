"""How good a segment pair is, measured; and apart from that whether it is good enough, decided."""

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import groupby, zip_longest
from math import inf
from typing import Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from bitrawl.languages import same_language
from bitrawl.mining.segment_score import SHORT, Measured, SegmentScore, segment_score
from bitrawl.mining.settings import Thresholds
from bitrawl.model import UNDETERMINED, Language, PagePair, SegmentPair, Verdict, Verdicts
from bitrawl.protocols import LanguageIdentifier
from bitrawl.text.language import is_in_another_script
from bitrawl.text.lexicon import Lexicon, share
from bitrawl.text.numbers import agreement
from bitrawl.text.words import one_line, sentence_words, weight
from bitrawl.url import Url

Column = npt.NDArray[np.float64]
Truth = npt.NDArray[np.bool_]
PageUrls = tuple[Url, Url]
"""The two pages of a pair."""
MEASURES = ("length_ratio", "language_a", "language_b", "coverage_a", "coverage_b", "words_a", "words_b", "alignment")
"""The names of all that a judge measures; coverage only where there is a lexicon."""

MIN_RATIO = 0.5  # of lengths, below which a pair is marked: ILSP-FC's 0.5 and 2.0
# Judgement: below a third of letters a line is a row of figures or of dashes, whatever words stand between.
_LETTERS = 1 / 3
_UNKNOWN = 0.5  # the score of a language where the text says nothing, neither for nor against it

# The local part of an address has 64 characters at most (RFC 5321), a label of a domain 63: bounded, so that a long line
# of dots costs no quadratic time.
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+")
_ADDRESS = re.compile(r"\b(?:https?|ftp)://|\bwww\.\w", re.IGNORECASE)
# Tokens of ASCII that bear what only markup and programs have: tags, braces, quoted attributes, entities, operators,
# an opening bracket at the end, brackets alone; and all between two braces that stand alone. A path, an address, an
# identifier or "x = 3" has none of it. Two braces that stand more than 2,000 characters apart (judgement) belong to no
# one statement.
_TOKEN = re.compile(r"(?<!\S)\{\s.{0,2000}?\s\}|[!-~]+")
_MARKED = re.compile(
    r"</?[A-Za-z!]|[\w\"'/-]>|[{}]|=[\"']|&#?\w+;|[=!<>+*|&-]=|=>|&&|\|\||\$\(|^//|\w[(\[]$|^(?!;$)[()\[\];]+$"
)
_MARKS = re.compile(r"[<>{}=&|$()\[\];]|//")  # without one of them, no token is marked
_LINKED = re.compile(r"[\"'(<]*\w+://")
# Of 3,120 units of wet-styleguide, a manual of HTML, 178 are above it: read by hand (2026-11), all but about 20 are code,
# and those are of the kind 'Add disabled="disabled" to a field.'; of 11,298 of debian-handbook four are, three rightly.
_CODE = 0.4
# What only terminals, listings and configuration have: a prompt and a command with an option, a path, an assignment or a
# pipe; lines of comments; permissions as `ls -l` has them; a debconf question; the border of a table; a line that goes on.
# Of 31,510 units of seven sites 75 have it; of those that were read, one was no listing (2026-11).
_LISTING = re.compile(
    r"""
    ^(?:\S{1,64}@\S{1,64})?\s?[$\#]\s[a-z~./].*\s(?:--?[A-Za-z]|[~.]{0,2}/\w|[A-Za-z_]\w*=\S|[|<>&]{1,2}\s|\\$)
    |^\S{1,64}@[\w.-]{1,64}:\S{0,64}[$\#]\s
    |^\#+\s[^#]*\s\#+\s
    |(?<!\S)[dlcbps-](?:[r-][w-][xsStT-]){3}[.+@]?\s+\d
    |^\#?\s?[a-z][\w.+-]*\s[a-z][\w.-]*/[\w./-]+\s(?:string|select|multiselect|boolean|note|password|text|error|title)\b
    |(?<!\S)[+|][-=+|]{3,}
    |\s\\$
    """,
    re.VERBOSE | re.ASCII,
)
# A section's number at the beginning: a release or an amount has no mark after its last part.
_NUMBERING = re.compile(r"\s*(?:[A-Z]|\d{1,2})(?:[.．]\d{1,2}){1,4}[.．:)](?=\D)\s*")


class Flag(StrEnum):
    """What is noted of a pair, in the words of ILSP-FC, which Bitextor shares; `corpus/merger.py` adds which are duplicates."""

    NON_LETTERS = "non-letters"
    EQUAL = "equal TUVs"
    SHORT = f"very short segments, shorter than {SHORT}"
    LENGTH = f"charlength ratio of TUVs is lower than {MIN_RATIO} or higher than {1 / MIN_RATIO}"
    NUMBERS = "different numbers in TUVs"
    MAIL = "e-mail address"
    ADDRESS = "url"
    CODE = "code"  # ours
    SCRIPT = "wrong script"  # ours: no letter of a script that the language is written in, as in YAML on a Chinese page
    PARTIAL = "partly translated page"  # ours: the rest of the page is the same on both sides
    EDITED = "edited"  # ours: a person wrote the text
    ANONYMISED = "anonymised"  # ours: placeholders stand for personal data; only in a corpus that is written


class Rejection(StrEnum):
    """Why a segment pair stays out of the corpus."""

    EMPTY = "empty"
    SCORE = "score"
    COVERAGE = "coverage"
    LENGTH_RATIO = "length-ratio"
    LANGUAGE = "language"
    WORDS = "words"
    TYPE = "type"
    FLAG = "flag"
    SCRIPT = "script"  # no other flag than that of this name
    CODE = "code"  # the flag of this name, whatever others there are
    PERSONAL_DATA = "personal data"  # where such segments are left out
    PERSON = "rejected by a person"  # itself or its page pair
    NOT_ACCEPTED = "not accepted by a person"  # where only what people accepted is wanted


class Judge:
    """Measures the pairs of two languages and scores them, a batch at a time.

    Give the pairs of two pages together and in order: neighbours support each other.
    """

    def __init__(
        self,
        languages: tuple[Language, Language],
        identifier: LanguageIdentifier,
        lexicon: Lexicon | None = None,
        *,
        model: SegmentScore | None = None,
    ) -> None:
        self._languages = languages
        self._identifier = identifier
        self._lexicon = lexicon
        self._model = model

    def judge(self, pairs: Sequence[SegmentPair]) -> list[SegmentPair]:
        """The same pairs with their scores and flags, whatever they had before but for the aligner's own score."""
        known = self._lexicon is not None and self._lexicon.prior is not None
        model = self._model or segment_score(known=known)
        judged: list[SegmentPair] = []
        for _, group in groupby(
            self.measured(list(map(_unnumbered, pairs))), key=lambda measured: _pages(measured.pair)
        ):
            page = list(group)
            judged += map(_judged, page, model.scores(page).tolist())
        return [msgspec.structs.replace(found, a=pair.a, b=pair.b) for found, pair in zip(judged, pairs, strict=True)]

    def measured(self, pairs: Sequence[SegmentPair]) -> list[Measured]:
        """What stands on several pages is measured once: on apisix, a third of all pairs."""
        different = {(pair.a.text, pair.b.text): pair for pair in pairs}
        measured = dict(zip(different, map(self._measured, different.values()), strict=True))
        languages = dict(zip(different, self._languages_of(list(different.values())), strict=True))
        texts = ((pair.a.text, pair.b.text) for pair in pairs)
        return [measured[both].of(pair, languages[both]) for pair, both in zip(pairs, texts, strict=True)]

    def _languages_of(self, pairs: Sequence[SegmentPair]) -> Iterator[tuple[float, float]]:
        """How far each text is believed to be in the language that it should be in."""
        in_a = self._language_scores([pair.a.text for pair in pairs], self._languages[0])
        in_b = self._language_scores([pair.b.text for pair in pairs], self._languages[1])
        return zip(in_a, in_b, strict=True)

    def _language_scores(self, texts: list[str], wanted: Language) -> list[float]:
        return [
            _UNKNOWN if language == UNDETERMINED else sure if same_language(language, wanted) else 1.0 - sure
            for language, sure in self._identifier.identify(texts, prior=wanted)
        ]

    def _measured(self, pair: SegmentPair) -> Measured:
        a, b = pair.a.text, pair.b.text
        words_a, words_b = sentence_words(a, self._languages[0]), sentence_words(b, self._languages[1])
        scores = {"length_ratio": length_ratio(a, b), "words_a": float(len(words_a)), "words_b": float(len(words_b))}
        weakest = None
        known = told = 0.0, 0.0
        if self._lexicon is not None:
            explained = self._lexicon.explained(words_a, words_b)
            scores["coverage_a"], scores["coverage_b"] = map(share, (words_a, words_b), explained)
            weakest = _weakest((words_a, words_b), explained)
            if self._lexicon.prior is not None:
                known, told = _told(self._lexicon.prior, (words_a, words_b))
        return Measured(
            pair,
            scores,
            (words_a, words_b),
            agreement(a, b, self._languages),
            equal=_are_equal(a, b),
            links=len(self._lexicon) if self._lexicon is not None else 0,
            lengths=(weight(a), weight(b)),
            wrong_script=any(map(is_in_another_script, (a, b), self._languages)),
            weakest=weakest,
            known=known,
            told=told,
        )


def _pages(pair: SegmentPair) -> PageUrls:
    return pair.url_a, pair.url_b


def _unnumbered(pair: SegmentPair) -> SegmentPair:
    """Without the numbers of two sections, where they differ: versions of a page are numbered apart."""
    a, b = _NUMBERING.match(pair.a.text), _NUMBERING.match(pair.b.text)
    if a is None or b is None or a.group().strip() == b.group().strip():
        return pair
    replace = msgspec.structs.replace
    texts = pair.a.text[a.end() :], pair.b.text[b.end() :]
    return replace(pair, a=replace(pair.a, text=texts[0]), b=replace(pair.b, text=texts[1]))


def _weakest(
    words: tuple[Sequence[str], Sequence[str]], explained: tuple[dict[str, float], dict[str, float]]
) -> tuple[float, float] | None:
    """Of short texts: one word that nothing translates is hidden by the others in their mean."""
    if not 0 < min(map(len, words)) <= SHORT:
        return None
    a, b = (min(known.get(word, 0.0) for word in text) for text, known in zip(words, explained, strict=True))
    return a, b


def _told(prior: Lexicon, both: tuple[Sequence[str], Sequence[str]]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Of two texts how many words the prior has translations of, and how far these have one in the other text."""
    linked = prior.linked(*both)
    a, b = ([word for word in text if word in known] for text, known in zip(both, linked, strict=True))
    explained = prior.explained(*both)
    told_a, told_b = (sum(found.get(word, 0.0) for word in text) for text, found in zip((a, b), explained, strict=True))
    return (len(a), len(b)), (told_a, told_b)


def _judged(measured: Measured, score: float) -> SegmentPair:
    return msgspec.structs.replace(measured.pair, score=round(score, 4), scores=measured.scores, flags=_flags(measured))


def from_partial_pages(segments: Iterable[SegmentPair]) -> tuple[SegmentPair, ...]:
    """The same judged segments, with the flag by which they can be kept out of a corpus."""
    flag = str(Flag.PARTIAL)
    return tuple(msgspec.structs.replace(segment, flags=(*segment.flags, flag)) for segment in segments)


class Measures(NamedTuple):
    """What is compared with the thresholds of the same names: the values of one segment pair, or columns of many pairs."""

    score: "float | Column"
    coverage: "float | Column"
    length_ratio: "float | Column"
    language: "float | Column"
    words: "float | Column"

    @classmethod
    def of(cls, pair: SegmentPair) -> "Measures":
        scores = pair.scores
        return cls(
            pair.score,
            _mean(scores, "coverage"),
            scores.get("length_ratio", 1.0),
            _smaller(scores, "language"),
            _smaller(scores, "words"),
        )

    def too_low(self, thresholds: Thresholds) -> "dict[Rejection, bool | Truth]":
        """Which of these thresholds are not reached."""
        return {
            Rejection.SCORE: self.score < thresholds.score,
            Rejection.COVERAGE: self.coverage < thresholds.coverage,
            Rejection.LENGTH_RATIO: self.length_ratio < thresholds.length_ratio,
            Rejection.LANGUAGE: self.language < thresholds.language,
            Rejection.WORDS: self.words < thresholds.words,
        }


class SegmentKind(NamedTuple):
    """What is noted of a segment pair besides numbers."""

    type: str
    flags: tuple[str, ...]
    is_empty: bool

    @classmethod
    def of(cls, pair: SegmentPair) -> "SegmentKind":
        return cls(pair.type, pair.flags, not one_line(pair.a.text) or not one_line(pair.b.text))

    def is_of_type(self, types: tuple[str, ...]) -> bool:
        """None given takes all."""
        return not types or self.type in types

    def flags_like(self, *beginnings: str) -> list[str]:
        return [flag for flag in self.flags if flag.startswith(beginnings)]


def rejection(pair: SegmentPair, thresholds: Thresholds) -> Rejection | None:
    """Why that judged pair is not good enough; None when it is. Nothing is measured here: thresholds move for free."""
    kind = SegmentKind.of(pair)
    unwanted = kind.flags_like(*thresholds.refuse)
    if kind.is_empty:
        return Rejection.EMPTY
    for reason, is_so in Measures.of(pair).too_low(thresholds).items():
        if is_so:
            return reason
    if not kind.is_of_type(thresholds.types):
        return Rejection.TYPE
    if unwanted:
        if Flag.CODE in unwanted:
            return Rejection.CODE
        return Rejection.FLAG if any(flag != Flag.SCRIPT for flag in unwanted) else Rejection.SCRIPT
    return None


def decided_by_people(
    of_pages: Verdict | None, verdict: Verdict | None, *, accepted_only: bool
) -> Rejection | Literal[Verdict.ACCEPT] | None:
    """Why a segment pair stays out, or that it gets in, whatever its score; None leaves it to the thresholds."""
    if Verdict.REJECT in (of_pages, verdict):
        return Rejection.PERSON
    if verdict is Verdict.ACCEPT:
        return Verdict.ACCEPT
    return Rejection.NOT_ACCEPTED if accepted_only and of_pages is None else None


class ThresholdFilter:
    """Lets through what is good enough, and counts the rest by the reason that keeps it out.

    What people say counts more than thresholds. A rejected page pair stays out with all of its segments, and a rejected
    segment wherever it occurs. An accepted segment gets in however low it scores, unless its page pair is rejected.
    With `accepted_only` nothing else gets in but the good segments of accepted page pairs.
    """

    def __init__(
        self, thresholds: Thresholds, verdicts: Verdicts | None = None, *, accepted_only: bool = False
    ) -> None:
        self._thresholds = thresholds
        self._verdicts = verdicts or Verdicts()
        self._accepted_only = accepted_only
        self.rejections: Counter[Rejection] = Counter()
        self.rejected_pairs: Counter[Rejection] = Counter()  # of pages

    def accepted(self, pairs: Iterable[SegmentPair]) -> Iterator[SegmentPair]:
        """Their texts are as they stand in the corpus: what is equal there is equal from here on."""
        for pair in pairs:
            if (reason := self.rejection(pair)) is None:
                yield as_written(pair)
            else:
                self.rejections[reason] += 1

    def accepted_pairs(self, pairs: Iterable[PagePair], needed: Container[PageUrls] = ()) -> Iterator[PagePair]:
        """Page pairs that belong into the corpus; `needed` are those that hold an accepted segment."""
        for pair in pairs:
            verdict = self._verdicts.of_pair(pair)
            if verdict is Verdict.REJECT:
                self.rejected_pairs[Rejection.PERSON] += 1
            elif self._accepted_only and verdict is None and (pair.url_a, pair.url_b) not in needed:
                self.rejected_pairs[Rejection.NOT_ACCEPTED] += 1
            else:
                yield pair

    def rejection(self, pair: SegmentPair) -> Rejection | None:
        """Why that judged pair stays out; None when it gets in."""
        measured = rejection(pair, self._thresholds)
        if measured is Rejection.EMPTY or not (self._verdicts or self._accepted_only):
            return measured
        decided = decided_by_people(
            self._verdicts.of_pair(pair), self._verdicts.of_segment(pair), accepted_only=self._accepted_only
        )
        if decided is Verdict.ACCEPT:
            return None
        return decided if decided is Rejection.PERSON else measured or decided


def length_ratio(a: str, b: str) -> float:
    """Of the shorter to the longer, in characters; those of scripts without an alphabet count three."""
    shorter, longer = sorted((weight(a), weight(b)))
    return shorter / (longer or 1)


def code_share(text: str) -> float:
    """How much of a text is markup or program, by the tokens that look so."""
    if not _MARKS.search(text):
        return 0.0  # of most texts, in a tenth of the time
    tokens = (
        token
        for token in _TOKEN.findall(text)
        if _MARKS.search(token) and _MARKED.search(token) and not _LINKED.match(token)
    )
    code = sum(weight("".join(token.split())) for token in tokens)
    return code / weight("".join(text.split())) if code else 0.0


def _flags(measured: Measured) -> tuple[str, ...]:
    a, b = measured.pair.a.text, measured.pair.b.text
    flags = {
        Flag.NON_LETTERS: _has_few_letters(a) or _has_few_letters(b),
        Flag.EQUAL: measured.equal,
        Flag.SHORT: min(map(len, measured.words)) < SHORT,
        Flag.LENGTH: measured.scores["length_ratio"] < MIN_RATIO,
        Flag.NUMBERS: measured.numbers.different > 0,
        Flag.MAIL: _has_mail(a) or _has_mail(b),
        Flag.ADDRESS: _has_address(a) or _has_address(b),
        Flag.CODE: any(code_share(text) > _CODE or _LISTING.search(text) for text in (a, b)),
        Flag.SCRIPT: measured.wrong_script,
    }
    return tuple(str(flag) for flag, is_so in flags.items() if is_so)


# Looking for what none of them is without costs a tenth of looking for them.
def _has_mail(text: str) -> bool:
    return "@" in text and _MAIL.search(text) is not None


def _has_address(text: str) -> bool:
    return ("://" in text or "w." in text or "W." in text) and _ADDRESS.search(text) is not None


def as_written(pair: SegmentPair) -> SegmentPair:
    """With its texts as they stand in the corpus."""
    a, b = one_line(pair.a.text), one_line(pair.b.text)
    if (a, b) == (pair.a.text, pair.b.text):
        return pair
    replace = msgspec.structs.replace
    return replace(pair, a=replace(pair.a, text=a), b=replace(pair.b, text=b))


def _has_few_letters(text: str) -> bool:
    """Whether there are few letters, and marks that many scripts write their vowels with, in all but the spaces."""
    dense = "".join(text.split())
    enough = _LETTERS * len(dense)
    # Most texts have enough without the marks, which take ten times as long to find.
    return sum(map(str.isalpha, dense)) < enough and sum(unicodedata.category(c)[0] in "LM" for c in dense) < enough


def _are_equal(a: str, b: str) -> bool:
    """By their letters and digits, which in most pairs differ from the first on; where there are none, by all of them."""
    bare = zip_longest(filter(str.isalnum, a.casefold()), filter(str.isalnum, b.casefold()))
    return all(one == other for one, other in bare) and (a == b or any(map(str.isalnum, a.casefold())))


def _mean(scores: dict[str, float], name: str) -> float:
    return (scores.get(f"{name}_a", 1.0) + scores.get(f"{name}_b", 1.0)) / 2


def _smaller(scores: dict[str, float], name: str) -> float:
    return min(scores.get(f"{name}_a", inf), scores.get(f"{name}_b", inf))
