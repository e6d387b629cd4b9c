"""ARPA files: the text format in which SRILM, KenLM and others exchange back-off models; gzipped or not."""

import math
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.files import replacing
from bitrawl.text.ngrams.counting import Words, shared, sorted_order
from bitrawl.text.ngrams.lines import fault, numbered_lines
from bitrawl.text.ngrams.model import MARKS, UNKNOWN, WORD_BITS, Floats, Integers, Level, NgramModel, search

_SIZE = re.compile(r"ngram\s+(\d+)\s*=\s*(\d+)")
_SECTION = re.compile(r"\\(\d+)-grams:")
_FIELDS = re.compile(r"[^ \t]+")  # other spaces may be part of a word
_ABSENT = -100.0  # log10 of <unk>, <s> or </s> if the file does not list it; KenLM's number
_ROWS = 1 << 16  # that are written at a time
_WORD = (1 << WORD_BITS) - 1


def read_arpa(path: Path) -> NgramModel:
    """Raises `ConfigError` with the line of the fault.

    A pruned model may list an n-gram, but not the same n-gram without its first word. That one is then added with the
    probability that the model gives it.
    """
    words = {mark: number for number, mark in enumerate(MARKS)}
    sections = list(_sections(path, words))
    tables = [_sorted(path, section) for section in sections]
    tables[0] = _with_marks(tables[0])
    for order in range(len(tables), 2, -1):
        tables[order - 2] = _with_suffixes(tables[order - 2], tables[order - 1])
    return NgramModel(list(words), _levels(tables))


def write_arpa(model: NgramModel, path: Path) -> None:
    """Gzipped if the name ends in `.gz`."""
    with replacing(path, compress=path.suffix == ".gz") as file:
        head = [f"ngram {order}={len(level.keys)}" for order, level in enumerate(model.levels, 1)]
        file.write("\n".join(["\\data\\", *head, ""]).encode())
        for order, level in enumerate(model.levels, 1):
            file.write(f"\n\\{order}-grams:\n".encode())
            for start in range(0, len(level.keys), _ROWS):
                file.write(_rows(model, order, np.arange(start, min(start + _ROWS, len(level.keys)))).encode())
        file.write(b"\n\\end\\\n")


def _rows(model: NgramModel, order: int, rows: Integers) -> str:
    level, words, nodes = model.levels[order - 1], np.array(model.words, dtype=object), rows
    ngrams = words[level.keys[rows] & _WORD]
    for below in range(order - 1, 0, -1):
        nodes = model.levels[below].keys[nodes] >> WORD_BITS
        ngrams = ngrams + " " + words[model.levels[below - 1].keys[nodes] & _WORD]
    logs = level.log10[rows].tolist()
    if order == model.order:
        return "".join(f"{log:.7g}\t{ngram}\n" for log, ngram in zip(logs, ngrams, strict=True))
    backoffs = level.backoff[rows].tolist()
    return "".join(f"{p:.7g}\t{ngram}\t{b:.7g}\n" for p, ngram, b in zip(logs, ngrams, backoffs, strict=True))


class _Section(NamedTuple):
    """The n-grams of one length as they are listed."""

    order: int
    line: int  # of the section's title
    size: int  # as the head of the file says
    words: "array[int]"  # of all n-grams, in a row
    logs: "array[float]"
    backoffs: "array[float]"
    lines: "array[int]"


def _sections(path: Path, words: dict[str, int]) -> Iterator[_Section]:
    lines = ((line, text.strip(" \t")) for line, text in numbered_lines(path))
    lines = ((line, text) for line, text in lines if text)
    sizes: list[int] = []
    section: _Section | None = None
    line, text = next(lines, (1, ""))
    while text != "\\data\\":  # what stands before it is a comment
        line, text = next(lines, (line, ""))
        if not text:
            raise fault(path, line, "the file ends without \\data\\; it is no ARPA file")
    for line, text in lines:
        if text.startswith("\\") and (section is None or text == "\\end\\" or _SECTION.fullmatch(text)):
            if section is not None:
                yield _complete(path, section, line)
            if text == "\\end\\":
                break
            section = _opened(path, line, text, sizes, 1 if section is None else section.order + 1)
        elif section is None:
            sizes.append(_size(path, line, text, len(sizes) + 1))
        else:
            _read(path, line, text, section, words)
    else:
        raise fault(path, line, "the file ends without \\end\\; it is cut off")
    if section is None or section.order != len(sizes):
        raise fault(path, line, f"{len(sizes)} lengths of n-grams are announced, but fewer are listed")


def _size(path: Path, line: int, text: str, order: int) -> int:
    found = _SIZE.fullmatch(text)
    if not found or int(found[1]) != order:
        raise fault(path, line, f"expected `ngram {order}=COUNT`, found {text[:60]!r}")
    return int(found[2])


def _opened(path: Path, line: int, text: str, sizes: list[int], order: int) -> _Section:
    found = _SECTION.fullmatch(text)
    if not found or int(found[1]) != order or order > len(sizes):
        raise fault(path, line, f"expected \\{order}-grams: of {len(sizes)} lengths, found {text[:60]!r}")
    return _Section(order, line, sizes[order - 1], array("i"), array("d"), array("d"), array("q"))


def _complete(path: Path, section: _Section, line: int) -> _Section:
    if len(section.logs) != section.size:
        listed, order = len(section.logs), section.order
        raise fault(path, line, f"the head announces {section.size} {order}-grams, but {listed} are listed")
    return section


def _read(path: Path, line: int, text: str, section: _Section, words: dict[str, int]) -> None:
    fields = _FIELDS.findall(text)
    ngram = fields[1 : section.order + 1]
    try:
        log = float(fields[0])
        backoff = float(fields[section.order + 1]) if len(fields) > section.order + 1 else 0.0
    except ValueError:
        log = math.nan
    if not log <= 0 or not math.isfinite(backoff) or not 1 <= len(fields) - section.order <= 2:
        raise fault(path, line, f"expected log10, {section.order} words and perhaps a back-off, found {text[:60]!r}")
    if section.order == 1:
        words.setdefault(_known_as(ngram[0]), len(words))
    try:
        section.words.extend([words[_known_as(word)] for word in ngram])
    except KeyError as error:
        raise fault(path, line, f"the word {error.args[0]!r} is not among the 1-grams") from None
    section.logs.append(max(log, _ABSENT))
    section.backoffs.append(backoff)
    section.lines.append(line)


def _known_as(word: str) -> str:
    return UNKNOWN if word == "<UNK>" else word


class _Table(NamedTuple):
    """The n-grams of one length, one column each, the last word first; sorted as `Level` is."""

    grams: Words
    logs: Floats  # not a number if the n-gram was added
    backoffs: Floats


def _sorted(path: Path, section: _Section) -> _Table:
    grams = np.array(section.words, dtype=np.int32).reshape(-1, section.order).T[::-1]
    order = sorted_order(grams)
    grams = grams[:, order]
    again = np.flatnonzero(shared(grams) == section.order)
    if len(again):
        raise fault(path, section.lines[order[again[0]]], "this n-gram is listed for the second time")
    return _Table(grams, np.array(section.logs)[order], np.array(section.backoffs)[order])


def _with_marks(unigrams: _Table) -> _Table:
    """The marks have the first numbers, whether the file lists them or not. All other words are listed."""
    size = int(max(unigrams.grams.max(initial=0) + 1, len(MARKS)))
    logs, backoffs = np.full(size, _ABSENT), np.zeros(size)
    logs[unigrams.grams[0]], backoffs[unigrams.grams[0]] = unigrams.logs, unigrams.backoffs
    return _Table(np.arange(size, dtype=np.int32)[np.newaxis], logs, backoffs)


def _with_suffixes(table: _Table, longer: _Table) -> _Table:
    """With what the longer n-grams end with, where it is not listed."""
    ends = longer.grams[:-1]
    ends = ends[:, shared(ends) < len(ends)]
    grams = np.concatenate([table.grams, ends], axis=1)
    order = sorted_order(grams)  # stable: what is listed comes before what is added
    order = order[shared(grams[:, order]) < len(grams)]
    added = np.full(ends.shape[1], np.nan)
    logs, backoffs = np.concatenate([table.logs, added]), np.concatenate([table.backoffs, np.zeros(len(added))])
    return _Table(grams[:, order], logs[order], backoffs[order])


def _levels(tables: list[_Table]) -> list[Level]:
    levels: list[Level] = []
    for order, table in enumerate(tables, 1):
        suffixes, _ = _nodes(levels, table.grams[:-1])
        logs = table.logs.copy()
        added = np.isnan(logs)
        if added.any():
            histories, known = _nodes(levels, table.grams[1:, added])
            logs[added] = levels[-1].log10[suffixes[added]] + np.where(known, levels[-1].backoff[histories], 0)
        keys = (suffixes << WORD_BITS) | table.grams[order - 1]
        levels.append(Level(keys, logs.astype(np.float32), table.backoffs.astype(np.float32)))
    return levels


def _nodes(levels: list[Level], grams: Words) -> tuple[Integers, NDArray[np.bool_]]:
    """Where n-grams of the highest of these levels are, and which of them exist."""
    nodes, known = np.zeros(grams.shape[1], dtype=np.int64), np.ones(grams.shape[1], dtype=np.bool_)
    for level, words in zip(levels, grams, strict=True):
        nodes, found = search(level, nodes, words.astype(np.int64))
        known &= found
    return nodes, known
