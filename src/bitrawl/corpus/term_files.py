"""Bilingual terms as files: TSV, CSV for spreadsheets, and TBX-Basic (ISO 30042:2019, style DCA)."""

import csv
import io
from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec

from bitrawl.corpus.characters import one_line, xml
from bitrawl.model import Language
from bitrawl.text.cells import cell
from bitrawl.url import Url
from bitrawl.version import __version__

MOST_EXAMPLES = 3

COLUMNS = (
    *("lang_a", "lang_b", "term_a", "term_b", "score", "weight", "count_a", "count_b", "count_together"),
    *(f"{name}_{number}" for number in range(1, MOST_EXAMPLES + 1) for name in ("text_a", "text_b", "url_a", "url_b")),
)


class TermFormat(StrEnum):
    TSV = "tsv"
    CSV = "csv"
    TBX = "tbx"
    JSONL = "jsonl"


class TermExample(msgspec.Struct, frozen=True, gc=False):
    """A segment pair that has both terms."""

    text_a: str
    text_b: str
    url_a: Url
    url_b: Url


class TermPair(msgspec.Struct, frozen=True):
    """Two terms that translate each other, as the corpus mostly writes them."""

    lang_a: Language
    lang_b: Language
    term_a: str
    term_b: str
    score: float  # how surely they translate each other, from 0 to 1
    weight: float  # how telling they are of the corpus, from 1 to 100, as in a term list
    count_a: int  # segments that have the first, the second, both
    count_b: int
    count_together: int
    examples: tuple[TermExample, ...] = ()


def write(terms: Sequence[TermPair], style: TermFormat) -> bytes:
    """The content of a file; `topic.term_list.read_terms` reads all of them but JSON lines."""
    if style is TermFormat.TBX:
        return "".join(_tbx(terms)).encode()
    if style is TermFormat.CSV:
        return _csv(terms)
    if style is TermFormat.JSONL:
        return msgspec.json.Encoder(enc_hook=str).encode_lines([_in_lines(term) for term in terms])
    rows = [COLUMNS, *map(_cells, terms)]
    return "".join("\t".join(map(_cell, row)) + "\n" for row in rows).encode()


def _cells(term: TermPair) -> tuple[str, ...]:
    examples = [value for one in term.examples for value in (one.text_a, one.text_b, one.url_a, one.url_b)]
    return (
        *(term.lang_a, term.lang_b, term.term_a, term.term_b, f"{term.score:.3f}", f"{term.weight:g}"),
        *(str(term.count_a), str(term.count_b), str(term.count_together)),
        *examples,
        *[""] * (4 * (MOST_EXAMPLES - len(term.examples))),
    )


def _in_lines(term: TermPair) -> TermPair:
    """With the characters that every format supports."""
    examples = tuple(
        msgspec.structs.replace(one, text_a=one_line(one.text_a), text_b=one_line(one.text_b)) for one in term.examples
    )
    return msgspec.structs.replace(term, term_a=one_line(term.term_a), term_b=one_line(term.term_b), examples=examples)


def _csv(terms: Sequence[TermPair]) -> bytes:
    """With a byte order mark, without which Excel takes UTF-8 for something else."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    writer.writerows(map(_cell, _cells(term)) for term in terms)
    return file.getvalue().encode("utf-8-sig")


def _cell(text: str) -> str:
    return cell(one_line(text))


def _tbx(terms: Sequence[TermPair]) -> Iterator[str]:
    yield (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<tbx type="TBX-Basic" style="dca" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2">\n'
        "<tbxHeader>\n<fileDesc>\n<titleStmt>\n<title>Bilingual terms of a corpus</title>\n</titleStmt>\n"
        f"<sourceDesc>\n<p>Made by bitrawl {xml(__version__)}</p>\n</sourceDesc>\n</fileDesc>\n</tbxHeader>\n"
        "<text>\n<body>\n"
    )
    for number, term in enumerate(terms, 1):
        counts = f"{term.count_a} and {term.count_b} segments, {term.count_together} together"
        yield f'<conceptEntry id="c{number}">\n<note>Score {term.score:.3f}, weight {term.weight:g}; {counts}</note>\n'
        yield _language_section(term.lang_a, term.term_a, [(one.text_a, one.url_a) for one in term.examples])
        yield _language_section(term.lang_b, term.term_b, [(one.text_b, one.url_b) for one in term.examples])
        yield "</conceptEntry>\n"
    yield "</body>\n</text>\n</tbx>\n"


def _language_section(language: Language, term: str, contexts: Sequence[tuple[str, Url]]) -> str:
    return (
        f'<langSec xml:lang="{xml(language)}">\n<termSec>\n<term>{xml(term)}</term>\n'
        + "".join(
            f'<descripGrp>\n<descrip type="context">{xml(text)}</descrip>\n'
            f'<admin type="source">{xml(url)}</admin>\n</descripGrp>\n'
            for text, url in contexts
        )
        + "</termSec>\n</langSec>\n"
    )
