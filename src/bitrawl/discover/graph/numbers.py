"""Lines of numbers and names as arrays: a block of text is read with a dozen operations of numpy, without a loop."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.errors import GraphError

Ids = NDArray[np.uint32]
_Places = NDArray[np.int64]

MOST_IDS = 1 << 32
_TAB, _NEWLINE, _ZERO, _NINE = 9, 10, 48, 57
_FRONT = b"0" * 16  # what may be read before the first number of a block
_LONGEST = 10  # digits of an id below 2³²


class Edges(NamedTuple):
    sources: Ids
    targets: Ids


class Vertices(NamedTuple):
    """The rows of a block: the name of each is `text[start:end]`."""

    text: bytes
    ids: Ids
    starts: _Places
    ends: _Places

    def name(self, row: int) -> bytes:
        return self.text[self.starts[row] : self.ends[row]]


def edges_in(block: bytes, path: Path) -> Edges:
    """`from TAB to` on each line. Raises `GraphError` for anything else."""
    text = _FRONT + block
    letters = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(letters < _ZERO)
    if (
        len(ends) % 2
        or letters.max() > _NINE
        or (letters[ends[0::2]] != _TAB).any()
        or (letters[ends[1::2]] != _NEWLINE).any()
    ):
        raise _not_edges(block, path)
    starts = np.empty_like(ends)
    starts[:1] = len(_FRONT)
    starts[1:] = ends[:-1] + 1
    numbers = _numbers(text, starts, ends, path)
    return Edges(numbers[0::2], numbers[1::2])


def vertices_in(block: bytes, path: Path) -> Vertices:
    """`id TAB name` on each line; graphs of domains have a third column, the number of hosts."""
    text = _FRONT + block
    letters = np.frombuffer(text, np.uint8)
    newlines, tabs = np.flatnonzero(letters == _NEWLINE), np.flatnonzero(letters == _TAB)
    columns = len(tabs) // len(newlines) + 1
    starts = np.empty_like(newlines)
    starts[:1] = len(_FRONT)
    starts[1:] = newlines[:-1] + 1
    if columns not in (2, 3) or len(tabs) != (columns - 1) * len(newlines):
        raise _not_vertices(block, path)
    first = tabs[:: columns - 1]
    ends = newlines if columns == 2 else tabs[1::2]
    if (first <= starts).any() or (ends <= first + 1).any() or (ends > newlines).any():
        raise _not_vertices(block, path)
    if not (_are_digits(letters[starts]) & _are_digits(letters[first - 1])).all():
        raise _not_vertices(block, path)
    return Vertices(text, _numbers(text, starts, first, path), first + 1, ends)


def _are_digits(letters: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return (letters >= _ZERO) & (letters <= _NINE)


def _numbers(text: bytes, starts: _Places, ends: _Places, path: Path) -> Ids:
    """Eight digits at once, as one 64-bit number: neighbours are added up as pairs, as fours, as eights."""
    lengths = ends - starts
    if lengths.min(initial=1) < 1 or lengths.max(initial=0) > _LONGEST:
        raise GraphError(f"{path} has ids that are empty or longer than {_LONGEST} digits; ids up to 2^32 are read")
    eights: NDArray[np.uint64] = np.ndarray((len(text) - 7,), "<u8", buffer=text, strides=(1,))
    value = eights[ends - 8] & np.uint64(0x0F0F0F0F0F0F0F0F)
    before = ((8 - np.minimum(lengths, 8)) << 3).astype(np.uint64)
    value >>= before  # the letters before a shorter number
    value <<= before
    for factor, shift, mask in (
        (2561, 8, 0x00FF00FF00FF00FF),
        (6553601, 16, 0x0000FFFF0000FFFF),
        (42949672960001, 32, 0x00000000FFFFFFFF),
    ):
        value *= np.uint64(factor)
        value >>= np.uint64(shift)
        value &= np.uint64(mask)
    letters = np.frombuffer(text, np.uint8)
    for digits in (9, 10):
        longer = np.flatnonzero(lengths >= digits)
        value[longer] += (letters[ends[longer] - digits] - _ZERO).astype(np.uint64) * np.uint64(10 ** (digits - 1))
    if value.max(initial=0) >= MOST_IDS:
        raise GraphError(f"{path} has ids above 2^32; a graph may have {MOST_IDS:,} hosts at most")
    return value.astype(np.uint32)


def _not_edges(block: bytes, path: Path) -> GraphError:
    line = next((one for one in block.splitlines() if not _is_edge(one)), block[:80])
    return GraphError(
        f"{path} is not a file of edges: it has the line {_shown(line)} where two ids with a tab between them are expected"
    )


def _not_vertices(block: bytes, path: Path) -> GraphError:
    line = next((one for one in block.splitlines() if not _is_vertex(one)), block[:80])
    return GraphError(
        f"{path} is not a file of vertices: it has the line {_shown(line)} where an id, a tab and a host are expected"
    )


def _is_edge(line: bytes) -> bool:
    source, _, target = line.partition(b"\t")
    return source.isdigit() and target.isdigit()


def _is_vertex(line: bytes) -> bool:
    number, _, name = line.partition(b"\t")
    return number.isdigit() and bool(name)


def _shown(line: bytes) -> str:
    return repr(line[:80].decode("utf-8", "replace"))
