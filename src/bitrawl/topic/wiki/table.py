"""The table of terms that a person edits, and the topic file that is made of it."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.text.cells import cell, from_cell
from bitrawl.topic.term_list import Term, line
from bitrawl.topic.wiki.gathering import TermRow

_BEFORE, _AFTER = ("keep", "weight"), ("class", "category", "depth", "why")
_YES = frozenset({"yes", "y", "1", "x", "true"})
# Marks of the topic file's own: weight:term=class;class>language
_MARKS = str.maketrans(dict.fromkeys("=>;:\t\r\n", " "))


def table(rows: Sequence[TermRow], languages: Sequence[Language]) -> str:
    """Tab-separated, a column for each language; the first is the wiki's own."""
    columns = list(dict.fromkeys(languages))
    written = io.StringIO()
    writer = csv.writer(written, "excel-tab", lineterminator="\n")
    writer.writerow([*_BEFORE, *columns, *_AFTER])
    for row in rows:
        terms = [cell(row.terms.get(language, "")) for language in columns]
        keep = "yes" if row.keep else "no"
        writer.writerow([keep, row.weight, *terms, cell(row.branch), cell(row.category), row.depth, cell(row.why)])
    return written.getvalue()


def read_table(content: bytes, name: str) -> list[TermRow]:
    """Also as a spreadsheet has saved it. Raises `ConfigError` with the line."""
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), dialect="excel-tab")
        missing = {*_BEFORE, "class"} - set(reader.fieldnames or ())
        if missing:
            raise ConfigError(
                f"{name} has no column {', '.join(sorted(missing))}; keep the first line as it was written"
            )
        return [_row(cells, f"{name}, line {reader.line_num}") for cells in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{name} is not a tab-separated table in UTF-8: {error}") from error


def _row(cells: Mapping[str | None, str | None], where: str) -> TermRow:
    said = {key: from_cell((value or "").strip()) for key, value in cells.items() if key is not None}
    weight, depth = said["weight"] or "0", said.get("depth") or "0"
    try:
        whole, level = round(float(weight)), int(depth)
    except ValueError as error:
        raise ConfigError(f"{where}: {weight!r} or {depth!r} is not a number; write one, for example 50") from error
    terms = {Language(key): term for key, term in said.items() if key not in (*_BEFORE, *_AFTER) and term}
    return TermRow(
        keep=said["keep"].casefold() in _YES,
        weight=whole,
        terms=terms,
        branch=said["class"],
        category=said.get("category", ""),
        depth=level,
        why=said.get("why", ""),
    )


def topic_lines(rows: Sequence[TermRow], languages: Mapping[Language, Language]) -> Iterator[tuple[Language, str]]:
    """ILSP-FC's `weight:term=class>lang`, with the language of each; the heaviest of equal terms.

    `languages` are those asked for, each with its name in the table.
    """
    for asked, column in languages.items():
        heaviest: dict[str, TermRow] = {}
        for row in rows:
            term = row.terms.get(column, "") if row.keep else ""
            if term and (term.casefold() not in heaviest or row.weight > heaviest[term.casefold()].weight):
                heaviest[term.casefold()] = row
        for row in sorted(heaviest.values(), key=lambda row: (-row.weight, row.terms[column].casefold())):
            yield asked, line(Term(_clean(row.terms[column]), row.weight, (_clean(row.branch),), asked))


def _clean(text: str) -> str:
    return " ".join(text.translate(_MARKS).split())
