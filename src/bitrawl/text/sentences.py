"""Splits a paragraph into sentences, for any script."""

import re

import sentencex

from bitrawl.model import Language

# sentencex takes everything between an opening quotation mark or bracket and the next closing one as one sentence. An
# inch mark, or a quotation that goes on in the next paragraph, swallows the rest of the text. Beyond this many
# characters, the marks are treated as letters instead: a judgement.
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
    found: list[str] = []
    for line in _BREAK.split(text):
        parts = _segments(line, language)
        if not line.isascii() and _MAY_END.search(line):
            parts = [piece for part in parts for piece in _UNKNOWN_END.split(part)]
        found += (piece for part in _joined(parts) if (piece := part.strip()))
    return found


def _with_line_ends(text: str, parts: list[str]) -> list[str]:
    """The parts of a text as they stand in it: they were found with spaces for the ends of lines."""
    plain, end = text.replace(LINE_END, " "), 0
    found = []
    for part in parts:
        begin = plain.index(part, end)
        end = begin + len(part)
        found.append(text[begin:end])
    return found


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
