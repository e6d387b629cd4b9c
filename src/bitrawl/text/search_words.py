"""The words of a text as a search compares them: folded, in any script, with their places in the text as it is written.

All that is alike here is so by Unicode's own data (decompositions, combining classes, names of characters, direction of
letters), and by Snowball where it knows the language.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from operator import add
from typing import NamedTuple

import Stemmer

from bitrawl.languages import base_language
from bitrawl.model import Language
from bitrawl.text.words import UNSPACED, is_elaborate, is_unspaced, marks_of_words

# Soft hyphens, stretched Arabic letters, zero-width spaces (between Khmer and Thai words), marks of direction
_INVISIBLE = "\u00ad\u0640\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
# Canonical combining classes (Unicode Standard Annex 44). The first are the points of Hebrew and Arabic, which are mostly
# not written. The second are accents. Vowel signs, viramas, nuktas, voicing marks and Thai tones have other classes: they
# make other words.
_POINTS, _ACCENTS = range(10, 37), range(202, 241)
# LATIN SMALL LIGATURE OE, LATIN SMALL LETTER AE, LATIN SMALL LETTER O WITH STROKE: the name says how to type it.
_SPELLED = re.compile("LATIN SMALL (?:LIGATURE|LETTER) ([A-Z]{1,2})(?: WITH .+)?")
_ASCII_WORD = re.compile("[a-z0-9]+")
_PLAIN_WORD = re.compile(r"[^\W_]+")
_HIDDEN = re.compile(f"[{_INVISIBLE}]")
_LONGEST_REMEMBERED = 50  # characters of a word
_LEAST_REST = 3  # letters: most roots of the languages that write their article with the noun have three


class _KeptCharacters(dict[int, str | None]):
    """A table for `str.translate`, filled as it is used."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        mark = unicodedata.combining(character)
        if character == "\0" or unicodedata.category(character) == "Cs":  # SQLite takes neither
            self[code] = " "
        elif character in _INVISIBLE or mark in _POINTS or mark in _ACCENTS:
            self[code] = None
        else:
            name = _SPELLED.fullmatch(unicodedata.name(character, ""))
            self[code] = name[1].lower() if name else character
        return self[code]


_KEPT_CHARACTERS = _KeptCharacters()


def folded(text: str) -> str:
    """What two texts have in common that a reader calls the same: `Été` and `ete`, `œuvre` and `oeuvre`, `مُدَرِّس` and `مدرس`."""
    if text.isascii():
        return text.replace("\0", " ").lower()
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", decomposed.translate(_KEPT_CHARACTERS))


class PlacedWord(NamedTuple):
    """A word as it is searched for, and where it stands in the text as it is written."""

    word: str
    start: int
    end: int


def search_words(text: str, language: Language) -> list[str]:
    """Words in order. In a script without spaces, each pair of neighbouring characters, and the last character of a run.

    So spaces between such a script and another make no difference, and any part of a run is found.
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    if not is_elaborate(text):
        return folded(" ".join(_PLAIN_WORD.findall(_HIDDEN.sub("", text)))).split()
    forms = list[str]()
    for word in _written().findall(text):  # Runs without spaces are too various to remember.
        is_remembered = len(word) <= _LONGEST_REMEMBERED and not is_unspaced(word[0])
        forms += _forms(word, language) if is_remembered else _made_forms(word, language)
    return forms


def placed_words(text: str, language: Language) -> list[PlacedWord]:
    """The words by which a text is found, each with where it stands."""
    if text.isascii():
        return [PlacedWord(match[0], *match.span()) for match in _ASCII_WORD.finditer(text.lower())]
    placed: list[PlacedWord] = []
    for match in _written().finditer(text):
        forms, start = _made_forms(match[0], language), match.start()
        if not is_unspaced(match[0][0]):
            placed += [PlacedWord(form, start, match.end()) for form in forms]
            continue
        ends = _ends(match[0], len(forms))
        for number, form in enumerate(forms):
            first, last = ends[number - 1] if number else 0, ends[number + len(form) - 1]
            while first < last - 1 and match[0][first].isspace():
                first += 1
            placed.append(PlacedWord(form, start + min(first, last - 1), start + last))
    return placed


def _ends(run: str, count: int) -> list[int]:
    """Where each of so many folded characters ends in the run as it is written."""
    lengths = [len(_only_words(folded(character))) for character in run]
    if sum(lengths) != count:  # Some are one character together: ｶﾞ
        totals = [len(_only_words(folded(run[: n + 1]))) for n in range(len(run))]
        lengths = [total - before for before, total in pairwise([0, *totals])]
        lengths = [max(length, 0) for length in lengths]
    ends = [n + 1 for n, length in enumerate(lengths) for _ in range(length)]
    for n, length in enumerate(lengths):  # What adds nothing belongs to the character before it.
        if not length and n and run[n] != " ":
            ends = [n + 1 if end == n else end for end in ends]
    return (ends + [len(run)] * count)[:count]


def _made_forms(written: str, language: Language) -> list[str]:
    if is_unspaced(written[0]):
        run = _only_words(folded(written))
        return [*map(add, run, run[1:]), run[-1]] if run else []
    return [_without_article(word, language) for word in folded(written).split()]


_forms = lru_cache(maxsize=50_000)(_made_forms)


def _only_words(text: str) -> str:
    """Without spaces and signs."""
    return text if text.isalnum() else "".join(c for c in text if c.isalnum() or unicodedata.category(c)[0] == "M")


def _without_article(word: str, language: Language) -> str:
    """Without the article and the particles that are written with the noun where letters go from right to left.

    Snowball takes them off. Elsewhere, what it takes off the beginning makes another word (Dutch `ge-`).
    """
    if word[0] < "\u0590" or unicodedata.bidirectional(word[0]) not in ("R", "AL"):
        return word
    stemmer = _stemmer(language)
    if stemmer is None:
        return word
    rest = word[_beginning(word, stemmer) :]
    if rest == word and len(word) > _LEAST_REST + 2:  # Snowball leaves a particle before the article: والمدرس
        inner = word[1 + _beginning(word[1:], stemmer) :]
        twice = 2 * (word[0] + inner)
        if len(inner) < len(word) - 2 and twice.find(stemmer.stemWord(twice) or twice) == 1:
            return inner
    return rest


def _beginning(word: str, stemmer: Stemmer.Stemmer) -> int:
    """How many characters Snowball takes off the beginning."""
    count = max(word.find(stemmer.stemWord(word) or word), 0)
    if not count:  # It spares short words after it has taken off their end. Twice the word is long enough.
        count = max((word + word).find(stemmer.stemWord(word + word) or word), 0)
        count = count if count > 1 and len(word) - count >= _LEAST_REST else 0
    return count


@lru_cache(maxsize=64)
def _stemmer(language: Language) -> Stemmer.Stemmer | None:
    try:
        return Stemmer.Stemmer(base_language(language), 0)
    except KeyError:
        return None


@lru_cache(maxsize=1)
def _written() -> re.Pattern[str]:
    """Runs of scripts without spaces, whatever spaces are in them, and words of the others, with what is invisible in them."""
    run = rf"[{UNSPACED}](?:[{UNSPACED}{_INVISIBLE}]|\s+(?=[{UNSPACED}]))*"
    letter, marks = rf"[^\W_{UNSPACED}]", marks_of_words()
    return re.compile(rf"{run}|(?:{letter}|[{marks}])(?:{letter}|[{marks}{_INVISIBLE}])*")
