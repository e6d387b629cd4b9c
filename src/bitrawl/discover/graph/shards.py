"""The text files of a graph as they are downloaded: which they are, and their lines in blocks."""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from isal import igzip, isal_zlib

from bitrawl.errors import GraphError

Read = Callable[[int], None]
"""Is told how many bytes of a file were read, as they lie on the disk."""

_BLOCK = (
    1 << 19
)  # bytes of text. Measured (2026-11): 64 kB to 1 MB read 5 to 6 M edges a CPU second, 2 MB takes more memory
_SUFFIXES = (".txt", ".txt.gz", ".tsv", ".tsv.gz", ".gz")
_OTHER_FORMATS = (".graph", ".graph.gz", ".offsets", ".properties", ".ef", ".graph-t")
_LISTS = (".paths", ".paths.gz")  # Common Crawl's lists of the parts
_GZIP = b"\x1f\x8b"
_DAMAGE: tuple[type[Exception], ...] = (isal_zlib.error, gzip.BadGzipFile)  # type: ignore[assignment]
_WANTED = "a folder with the text files of vertices (id, host) and edges (from, to)"


class GraphFiles(NamedTuple):
    vertices: list[Path]
    edges: list[Path]

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in (*self.vertices, *self.edges))

    @property
    def is_of_domains(self) -> bool:
        """As Common Crawl names them; hosts otherwise."""
        return "domain" in self.vertices[0].name or "domain" in self.vertices[0].parent.parent.name


def is_graph(folder: Path) -> bool:
    """Whether it holds vertices and edges as they are downloaded."""
    found = _listed(folder)
    return bool(found.vertices and found.edges)


def graph_files(folder: Path) -> GraphFiles:
    """Files named after vertices or edges, or in folders named so. Raises `GraphError` if one kind is missing."""
    if not folder.is_dir():
        raise GraphError(f"{folder} is not a folder; give {_WANTED}")
    found = _listed(folder)
    if found.vertices and found.edges:
        return found
    packed = next((path for path in sorted(folder.rglob("*")) if path.name.endswith(_OTHER_FORMATS)), None)
    if packed is not None:
        raise GraphError(
            f"{packed} is a graph in another format (BVGraph); download the text files of vertices and edges instead"
        )
    listing = next((path for path in sorted(folder.rglob("*")) if path.name.endswith(_LISTS)), None)
    if listing is not None:
        raise GraphError(f"{listing} only lists the parts of a graph; download the files that it names")
    missing = " or ".join(kind for kind, paths in zip(found._fields, found, strict=True) if not paths)
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
