"""Splits what is too long for a segment at the marks within a sentence, for any script."""

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from bitrawl.model import Language, Page, Paragraph
from bitrawl.text.sentences import LINE_END, sentences
from bitrawl.text.words import UNSPACED, unspaced_count

# By the names of the marks in Unicode, because they hold for all scripts: IDEOGRAPHIC COMMA, ETHIOPIC SEMICOLON.
_ENDS = ("FULL STOP", "QUESTION MARK", "EXCLAMATION MARK", "DANDA", "ELLIPSIS", "INTERROBANG")
_SEMICOLONS = ("SEMICOLON", "MIDDLE DOT", "ANO TELEIA")
_ITEMS = ("BULLET", "VERTICAL LINE", "BROKEN BAR")
_NOT_MARKS = ("INVERTED", "WORD")  # ¿ opens a sentence; an Ethiopic wordspace stands between words
_SPACED = 0x370  # marks before it are also written within numbers, names and words, so a space has to follow
_HAS_WORD = re.compile(r"[^\W_]")
LEVELS = 7
"""How fine a text can be split: at the ends of lines, of sentences, semicolons and list marks, colons and dashes, commas, other
marks of its script, and the spaces of scripts that write none between words."""


def is_long(text: str, most: int) -> bool:
    """Whether it has more than so many characters; or half as many, in a script that writes no spaces between words."""
    if len(text) <= most // 2:
        return False
    return len(text) > most or unspaced_count(text) * 2 > len(text)


def clauses(text: str, level: int) -> list[str]:
    """Its parts in order, without the space around them, split at all marks up to that level, from 0 on."""
    cuts = {found.end() for pattern in _patterns()[: level + 1] for found in pattern.finditer(text)}
    parts: list[str] = []
    begin, word, last = 0, _HAS_WORD.search(text), _last_word(text)
    for cut in sorted(cuts):
        if word and word.start() < cut <= last:  # marks without a word belong to what is beside them
            parts.append(text[begin:cut].strip())
            begin, word = cut, _HAS_WORD.search(text, cut)
    return [*parts, text[begin:].strip()]


def _last_word(text: str) -> int:
    """Where its last letter or digit is; -1 if it has none."""
    return next((place for place in range(len(text) - 1, -1, -1) if _HAS_WORD.match(text, place)), -1)


def shortened(text: str, most: int) -> list[str]:
    """Its parts, none of them too long (`is_long`), split at the coarsest marks that do; what has no marks stays long."""
    if is_long(text, most):
        for level in range(LEVELS):
            if len(parts := clauses(text, level)) > 1:
                return [short for part in parts for short in shortened(part, most)]
    return [text]


def bounded(page: Page, most: int) -> tuple[Page, list[str]]:
    """For a monolingual corpus: the page with its long paragraphs split, and the texts that are left out as too long.

    Paragraphs are split between sentences if that is enough.
    """
    kept: list[Paragraph] = []
    left_out: list[str] = []
    for paragraph in page.paragraphs:
        if paragraph.boilerplate or not is_long(paragraph.text, most):
            kept.append(paragraph)
            continue
        for text in _lines(paragraph.text, page.language, most):
            if is_long(text, most):
                left_out.append(text)
            else:
                kept.append(msgspec.structs.replace(paragraph, text=text))
    if len(kept) == len(page.paragraphs) and not left_out:
        return page, []
    return msgspec.structs.replace(page, paragraphs=tuple(kept)), left_out


def _lines(text: str, language: Language, most: int) -> Iterator[str]:
    """As many sentences together as are not too long."""
    begin = end = 0
    for part in (short for sentence in sentences(text, language) for short in shortened(sentence, most)):
        first = text.index(part, end)
        last = first + len(part)
        if end > begin and is_long(text[begin:last], most):
            yield text[begin:end]
            begin = first
        elif end == begin:
            begin = first
        end = last
    if end > begin:
        yield text[begin:end]


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Of each level. A part ends where a match does."""
    every = {chr(code): name for code in range(sys.maxunicode + 1) if (name := _mark_name(chr(code)))}
    kinds = {mark: unicodedata.category(mark) for mark in every}
    marks = {mark: name for mark, name in every.items() if kinds[mark] == "Po" and not _has(name, _NOT_MARKS)}
    ends = {mark for mark, name in marks.items() if _has(name, _ENDS)}
    semicolons = {mark for mark, name in marks.items() if _has(name, _SEMICOLONS)}
    colons = {mark for mark, name in marks.items() if "COLON" in name} - semicolons
    commas = {mark for mark, name in marks.items() if "COMMA" in name}
    own = {mark for mark in marks if ord(mark) >= _SPACED} - ends - semicolons - colons - commas
    items = {mark for mark, name in every.items() if kinds[mark] == "So" or _has(name, _ITEMS)}
    dashes = {mark for mark, kind in kinds.items() if kind == "Pd"}
    closing = _set(mark for mark, kind in kinds.items() if kind in ("Pe", "Pf") or mark in "\"'")
    return (
        re.compile(LINE_END),
        re.compile(_after(ends, closing)),
        re.compile(f"{_after(semicolons, closing)}|{_before(items)}"),
        re.compile(f"{_after(colons, closing)}|{_before(dashes)}"),
        re.compile(_after(commas, closing)),
        re.compile(rf"{_set(own)}(?=\s)"),
        re.compile(rf"(?<=[{UNSPACED}])\s+(?=[{UNSPACED}])"),
    )


def _mark_name(character: str) -> str:
    """Empty if it is a letter, a digit or a space."""
    return unicodedata.name(character, "") if unicodedata.category(character)[0] in "PS" else ""


def _has(name: str, words: Iterable[str]) -> bool:
    return any(word in name for word in words)


def _set(marks: Iterable[str]) -> str:
    return f"[{re.escape(''.join(sorted(marks)))}]"


def _after(marks: Iterable[str], closing: str) -> str:
    """After one of the marks, and the quotation marks and brackets that it closes."""
    spaced = _set(mark for mark in marks if ord(mark) < _SPACED)
    free = _set(mark for mark in marks if ord(mark) >= _SPACED)
    return rf"{spaced}{closing}*(?=\s)|{free}{closing}*(?!\d)"


def _before(marks: Iterable[str]) -> str:
    """Before one of the marks that stands alone."""
    return rf"\s(?={_set(marks)}\s)"
