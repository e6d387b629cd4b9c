"""The columns of `sentences.jsonl`, Parquet and a monolingual `documents.jsonl`, with their types."""

from typing import NamedTuple

from bitrawl.mine.judging import MEASURES


class Column(NamedTuple):
    """A value, a table of values, or a list of either."""

    name: str
    kind: str = "string"  # or "float64", "int32"; unused if there are fields
    fields: tuple["Column", ...] = ()
    is_list: bool = False


def _all(names: str, kind: str = "string") -> tuple[Column, ...]:
    return tuple(Column(name, kind) for name in names.split())


_PLACE = (*_all("paragraph_a paragraph_b"), *_all("sentence_a sentence_b", "int32"))

SENTENCES = (
    *_all("url_a url_b text_a text_b"),
    Column("score", "float64"),
    Column("type"),
    Column("flags", is_list=True),
    Column("scores", fields=tuple(Column(name, "float64") for name in MEASURES)),
    *_PLACE,
    Column("sources", fields=(*_all("url_a url_b"), *_PLACE), is_list=True),
    *_all("lang_a lang_b"),
)
"""The columns of a unit, in the order of the file. `jsonl.row` has their values."""

DOCUMENTS = (*_all("url lang title date licence"), Column("paragraphs", fields=_all("id kind text"), is_list=True))
"""The columns of a page in a monolingual corpus."""
