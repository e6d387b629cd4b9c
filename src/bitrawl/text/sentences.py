"""Splits a paragraph into sentences, and what is too long for a segment at the marks within a sentence, for any script."""

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec
import sentencex

from bitrawl.model import Language, Page, Paragraph
from bitrawl.text.words import UNSPACED, unspaced_count

# sentencex takes everything between an opening quotation mark or bracket and the next closing one as one sentence. An
# inch mark, or a quotation that goes on in the next paragraph, swallows the rest of the text. Beyond this many
# characters, the marks are treated as letters instead.
_LONG_QUOTATION = 300
_QUOTES = re.compile(r"""["“”„‟«»‹›()\[\]]""")
_NEUTRAL = "’"
LINE_END = "\u2028"
"""The end of a line within a paragraph. It is a space, but what is too long for a segment may be split there."""
_BREAK = re.compile(r"\n+")
# An initial or a title of one letter ("M. Dupont", "J. Verne"), if sentencex does not have the abbreviation.
_INITIAL = re.compile(r"(?:^|[\s(«“\"'’])[^\W\d_]\.\s*$")
# In Japanese, what follows a quotation mostly still belongs to its sentence: 「本当？」と聞いた。
_QUOTED, _GOES_ON = re.compile(r"[」』]\s*$"), re.compile(r"[\u3041-\u309f]")
# A number that begins a heading (5.4.4., IV., A.1.), or a mark alone (#!), is not a sentence.
_NUMBERING = re.compile(r"\s*(?:\d+|[A-Za-z]|[IVXLCDM]+)(?:\.(?:\d+|[A-Za-z]))*\.?\s*$")
_WORD = re.compile(r"[^\W_]")
# The marks that end a sentence in Khmer and a clause in Tibetan. sentencex does not have them. Khmer writes "etc." with
# two of them: ។ល។
_UNKNOWN_END = re.compile(
    r"(?<=[\u17d4\u17d5])(?!\s*(?:ល\u17d4|[\u17d4\u17d5]|$))|(?<=[\u0f0d-\u0f11])(?=\s+[^\s\u0f0d-\u0f14])"
)
_MAY_END = re.compile("[\u0f0d-\u0f11\u17d4\u17d5]")
# sentencex cuts after the Burmese comma and after the Burmese sign for "of".
_BURMESE_WITHIN = re.compile("[\u104a\u104f]\\s*$")
# "1957. године", "3. května": a number with a point is an ordinal if a small letter follows.
_ORDINAL = re.compile(r"\d\.\s*$")


def sentences(text: str, language: Language) -> list[str]:
    """In order, without the space around them. A text without any end mark, as in Thai, is one sentence."""
    if LINE_END in text:
        return _with_line_ends(text, sentences(text.replace(LINE_END, " "), language))
    split: list[str] = []
    for line in _BREAK.split(text):
        parts = _segments(line, language)
        if not line.isascii() and _MAY_END.search(line):
            parts = [piece for part in parts for piece in _UNKNOWN_END.split(part)]
        split += (piece for part in _joined(parts) if (piece := part.strip()))
    return split


def _with_line_ends(text: str, parts: list[str]) -> list[str]:
    """The parts of a text as they stand in it: they were found with spaces for the ends of lines."""
    plain, end = text.replace(LINE_END, " "), 0
    as_written = []
    for part in parts:
        begin = plain.index(part, end)
        end = begin + len(part)
        as_written.append(text[begin:end])
    return as_written


def _segments(line: str, language: Language) -> list[str]:
    parts: list[str] = []
    for part in sentencex.segment(language, line):
        if len(part) > _LONG_QUOTATION and _QUOTES.search(part):
            parts += _without_quotations(part, language)
        else:
            parts.append(part)
    return parts


def _without_quotations(text: str, language: Language) -> list[str]:
    parts, at = [], 0
    for part in sentencex.segment(language, _QUOTES.sub(_NEUTRAL, text)):
        parts.append(text[at : at + len(part)])
        at += len(part)
    return parts


def _joined(parts: list[str]) -> list[str]:
    """Joins sentences that were cut after an initial, a quotation or a number, or within a path or a name."""
    whole: list[str] = []
    for part in parts:
        if whole and _goes_on(whole[-1], part):
            whole[-1] += part
        else:
            whole.append(part)
    return whole


def _goes_on(before: str, after: str) -> bool:
    if _QUOTED.search(before):
        return _GOES_ON.match(after) is not None
    # "./configure", "README.Debian": in ASCII, a space follows the end of a sentence. Before another script, it may be
    # missing: 真的吗?是的。
    if before[-1:].isascii() and after[:1].isascii() and not (before[-1:].isspace() or after[:1].isspace()):
        return True
    if _BURMESE_WITHIN.search(before) or (after.lstrip()[:1].islower() and _ORDINAL.search(before)):
        return True
    if _NUMBERING.match(before) or not _WORD.search(before):
        return True
    # "C." at the end of a longer sentence is as often a vitamin as an initial, so it counts only if it stands alone.
    return len(before.strip()) <= len("« M.") and _INITIAL.search(before) is not None


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
    cuts = {match.end() for pattern in _patterns()[: level + 1] for match in pattern.finditer(text)}
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
    paragraphs: list[Paragraph] = []
    left_out: list[str] = []
    for paragraph in page.paragraphs:
        if paragraph.boilerplate or not is_long(paragraph.text, most):
            paragraphs.append(paragraph)
            continue
        for text in _lines(paragraph.text, page.language, most):
            if is_long(text, most):
                left_out.append(text)
            else:
                paragraphs.append(msgspec.structs.replace(paragraph, text=text))
    if len(paragraphs) == len(page.paragraphs) and not left_out:
        return page, []
    return msgspec.structs.replace(page, paragraphs=tuple(paragraphs)), left_out


def _lines(text: str, language: Language, most: int) -> Iterator[str]:
    """Neighbouring sentences joined, as many as are not too long together."""
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
