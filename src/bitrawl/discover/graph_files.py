"""The files of a link graph: its text files as they are downloaded, and the columns and lists that an index is made of.

A block of text is read with a dozen operations of numpy, without a loop. Columns of numbers are .npy files that grow while they
are written. A set of ids has one bit for each: 31 MB for the 247 million hosts of Common Crawl's graph. Names of hosts stand
there as Common Crawl writes them: reversed, with or without `www.`.
"""

import gzip
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
from isal import igzip, isal_zlib
from numpy.typing import NDArray

from bitrawl.errors import GraphError
from bitrawl.url import Url

Read = Callable[[int], None]
"""Is told how many bytes of a file were read, as they lie on the disk."""

# Bytes of text. Measured (2026-11): 64 kB to 1 MB read 5 to 6 M edges a CPU second, 2 MB takes more memory.
_BLOCK = 1 << 19
_SUFFIXES = (".txt", ".txt.gz", ".tsv", ".tsv.gz", ".gz")
_OTHER_FORMATS = (".graph", ".graph.gz", ".offsets", ".properties", ".ef", ".graph-t")
_LISTS = (".paths", ".paths.gz")  # Common Crawl's lists of the parts
_GZIP = b"\x1f\x8b"
_DAMAGE: tuple[type[Exception], ...] = (isal_zlib.error, gzip.BadGzipFile)  # type: ignore[assignment]
_WANTED = "a folder with the text files of vertices (id, host) and edges (from, to)"
Ids = NDArray[np.uint32]
_Places = NDArray[np.int64]

MOST_IDS = 1 << 32
_TAB, _NEWLINE, _ZERO, _NINE = 9, 10, 48, 57
_FRONT = b"0" * 16  # what may be read before the first number of a block
_LONGEST = 10  # digits of an id below 2³²
Pairs = NDArray[np.uint64]
"""Two ids as one number, the key in the upper half: sorted by key, then by value."""

_MAGIC = b"\x93NUMPY\x01\x00"
HEADER = 128  # bytes; numpy reads any length, and this leaves room for the length of the column
_CHUNK = 1 << 21  # pairs in memory at a time: 16 MB
# The largest top-level domains: the first label of most names that are reversed, and the last label of most that are not.
# Those of countries say nothing in the first place: fr.example.org is the French part of a site.
_GENERIC = frozenset(("com", "org", "net", "edu", "gov"))
_TOP_LEVEL = _GENERIC | {"de", "uk", "cn", "nl", "ru", "br", "fr", "eu", "it", "au", "jp"}
_WWW = "www."


class GraphFiles(NamedTuple):
    vertices: list[Path]
    edges: list[Path]

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in (*self.vertices, *self.edges))

    @property
    def is_of_domains(self) -> bool:
        """Whether the names are domains, by the names that Common Crawl gives its files; hosts otherwise."""
        return "domain" in self.vertices[0].name or "domain" in self.vertices[0].parent.parent.name


def is_graph(folder: Path) -> bool:
    """Whether it holds vertices and edges as they are downloaded."""
    files = _listed(folder)
    return bool(files.vertices and files.edges)


def graph_files(folder: Path) -> GraphFiles:
    """Files named after vertices or edges, or in folders named so. Raises `GraphError` if one kind is missing."""
    if not folder.is_dir():
        raise GraphError(f"{folder} is not a folder; give {_WANTED}")
    files = _listed(folder)
    if files.vertices and files.edges:
        return files
    packed = next((path for path in sorted(folder.rglob("*")) if path.name.endswith(_OTHER_FORMATS)), None)
    if packed is not None:
        raise GraphError(
            f"{packed} is a graph in another format (BVGraph); download the text files of vertices and edges instead"
        )
    listing = next((path for path in sorted(folder.rglob("*")) if path.name.endswith(_LISTS)), None)
    if listing is not None:
        raise GraphError(f"{listing} only lists the parts of a graph; download the files that it names")
    missing = " or ".join(kind for kind, paths in zip(files._fields, files, strict=True) if not paths)
    raise GraphError(
        f"{folder} has no file of {missing}; give {_WANTED}, as Common Crawl names them: *-vertices.txt.gz"
    )


def blocks(path: Path, read: Read = lambda _bytes: None) -> Iterator[bytes]:
    """Whole lines, a megabyte at a time, unpacked if need be. Raises `GraphError` for a file that is damaged."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            yield from _lines(_unpacking(raw) if packed else raw, raw, read)
    except EOFError as error:
        raise GraphError(f"{path} is cut off: its gzip stream has no end; download it again") from error
    except _DAMAGE as error:
        raise GraphError(f"{path} is damaged: {error}; download it again") from error
    except OSError as error:
        raise GraphError(f"{path} cannot be read: {error.strerror or error}") from error


def _unpacking(raw: BinaryIO) -> BinaryIO:
    file: BinaryIO = igzip.open(raw, "rb")  # type: ignore[no-untyped-call]
    return file


def _lines(text: BinaryIO, raw: BinaryIO, read: Read) -> Iterator[bytes]:
    rest, position = b"", 0
    while block := text.read(_BLOCK):
        read(raw.tell() - position)
        position = raw.tell()
        end = block.rfind(b"\n") + 1
        if end:
            yield rest + block[:end]
            rest = block[end:]
        else:
            rest += block
    if rest:
        yield rest + b"\n"


def _listed(folder: Path) -> GraphFiles:
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name.endswith(_SUFFIXES) and not path.name.endswith(_LISTS)
    )

    def of(kind: str) -> list[Path]:
        """By the file's own name, or by its folder: part files have no name that says what they are."""
        named = [path for path in paths if kind in path.name]
        return [path for path in named or paths if kind in path.name or path.parent.name == kind]

    return GraphFiles(of("vertices"), of("edges"))


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
        raise _bad_line(block, path, "edges", _is_edge, "two ids with a tab between them are expected")
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
        raise GraphError(f"{path} has ids above 2^32; a graph may have at most {MOST_IDS:,} hosts")
    return value.astype(np.uint32)


def _not_vertices(block: bytes, path: Path) -> GraphError:
    return _bad_line(block, path, "vertices", _is_vertex, "an id, a tab and a host are expected")


def _bad_line(block: bytes, path: Path, kind: str, is_good: Callable[[bytes], bool], expected: str) -> GraphError:
    line = next((line for line in block.splitlines() if not is_good(line)), block)[:80]
    return GraphError(
        f"{path} is not a file of {kind}: it has the line {line.decode('utf-8', 'replace')!r} where {expected}"
    )


def _is_edge(line: bytes) -> bool:
    source, _, target = line.partition(b"\t")
    return source.isdigit() and target.isdigit()


def _is_vertex(line: bytes) -> bool:
    number, _, name = line.partition(b"\t")
    return number.isdigit() and bool(name)


class NumberColumn:
    """Appends arrays to one file. numpy's own writer must know the length before it begins."""

    def __init__(self, path: Path, kind: str) -> None:
        self._file = path.open("wb")
        self._file.write(b" " * HEADER)
        self._kind = np.dtype(kind)
        self.length = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        with self._file as file:
            head = f"{{'descr': '{self._kind.str}', 'fortran_order': False, 'shape': ({self.length},), }}"
            size = HEADER - len(_MAGIC) - 2
            file.seek(0)
            file.write(_MAGIC + struct.pack("<H", size) + head.encode().ljust(size - 1) + b"\n")

    def write(self, values: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, self._kind).data)
        self.length += len(values)


class NeighbourLists:
    """Lists of ids by id, in bounded memory: pairs go to files by the range of their key, each is sorted in its place."""

    def __init__(self, folder: Path, nodes: int, parts: int) -> None:
        folder.mkdir()
        self._folder, self._nodes = folder, nodes
        self._width = max(-(-nodes // parts), 1)  # keys in a part
        self._paths = [folder / f"part-{number}" for number in range(parts)]
        self._files = [path.open("wb") for path in self._paths]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for file in self._files:
            file.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def add(self, keys: Ids, values: Ids) -> None:
        pairs = paired(keys, values)
        if len(self._files) == 1:
            self._files[0].write(pairs.data)
            return
        parts = keys // np.uint32(self._width)
        order = np.argsort(parts, kind="stable")
        edges = np.searchsorted(parts[order], np.arange(len(self._files) + 1))
        pairs = pairs[order]
        for number in np.flatnonzero(np.diff(edges)):
            self._files[number].write(pairs[edges[number] : edges[number + 1]].data)

    def write(self, starts: Path, values: Path) -> int:
        """How many pairs there are, each counted once. The list of key k is `values[starts[k]:starts[k + 1]]`."""
        for file in self._files:
            file.close()
        with NumberColumn(starts, "<u8") as first, NumberColumn(values, "<u4") as column:
            first.write(np.zeros(1))
            for number, path in enumerate(self._paths):
                base = number * self._width
                counts = np.zeros(max(min(self._width, self._nodes - base), 0), np.uint64)
                before = column.length
                for pairs in sorted_pairs(path):
                    keys = (pairs >> np.uint64(32)).astype(np.int64) - base
                    low, high = int(keys[0]), int(keys[-1])
                    counts[low : high + 1] += np.bincount(keys - low, minlength=high - low + 1).astype(np.uint64)
                    column.write(pairs.astype(np.uint32))  # the lower half
                path.unlink()
                first.write(np.cumsum(counts, dtype=np.uint64) + np.uint64(before))
            return column.length


def paired(keys: Ids, values: Ids) -> Pairs:
    return keys.astype(np.uint64) << np.uint64(32) | values


def unpaired(pairs: Pairs) -> Edges:
    return Edges((pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32))


def sorted_pairs(path: Path) -> Iterator[Pairs]:
    """The pairs of a file in order, each once, some at a time. The file is sorted in its place."""
    if not path.stat().st_size:
        return
    pairs = np.memmap(path, "<u8", "r+")
    pairs.sort()
    last = None
    for start in range(0, len(pairs), _CHUNK):
        chunk = np.asarray(pairs[start : start + _CHUNK])
        new = np.empty(len(chunk), bool)
        new[0] = last is None or chunk[0] != last
        new[1:] = chunk[1:] != chunk[:-1]
        last = chunk[-1]
        if new.any():
            yield chunk[new]


class IdSet:
    """Ids below `size`."""

    def __init__(self, size: int, ids: Ids | None = None) -> None:
        self._bits = np.zeros((size >> 3) + 1, np.uint8)
        if ids is not None:
            self.add(ids)

    def add(self, ids: Ids) -> None:
        np.bitwise_or.at(self._bits, ids >> 3, np.left_shift(1, ids & 7).astype(np.uint8))

    def has(self, ids: Ids) -> NDArray[np.bool_]:
        bits: NDArray[Any] = self._bits[ids >> 3] >> (ids & 7).astype(np.uint8)
        return (bits & 1).astype(bool)


def reversed_host(host: str) -> str:
    """`org.example.www` for `www.example.org`, and the other way round."""
    return ".".join(reversed(host.split(".")))


def host_of(target: Url | str) -> str:
    """The host of a URL, or the name as given, in lower case and without port."""
    name = target.partition("://")[2] or target
    return name.partition("/")[0].partition(":")[0].strip().rstrip(".").lower()


def without_www(host: str) -> str:
    """Two hosts that differ only in `www.` are one here: releases of a graph treat it differently, and so do links."""
    return host.removeprefix(_WWW) if host.count(".") > 1 else host


def spellings(host: str) -> tuple[str, str]:
    """The names that a graph may have for a host. Older releases strip `www.`, newer ones keep it."""
    bare = without_www(host)
    return bare, _WWW + bare


def home_page(host: str) -> Url:
    return Url.parse(f"https://{host}/")


def look_reversed(names: list[str]) -> bool | None:
    """Whether most of these hosts are written as Common Crawl writes them; None if they do not say."""
    first = sum(name.partition(".")[0] in _GENERIC for name in names)
    last = sum(name.rpartition(".")[2] in _TOP_LEVEL for name in names)
    return None if first == last else first > last
