"""A list of sites to mine, as a file: lines of text, or rows with a column `site`, as a search for sites writes them."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bitrawl.config import seeds_from
from bitrawl.discover.verdict import Answer
from bitrawl.errors import ConfigError, UrlError
from bitrawl.url import Url

SITE, VERDICT, COMPARED = "site", "verdict", ("url_a", "url_b")
MINED = frozenset({"", Answer.BILINGUAL, Answer.THIN})  # verdicts of rows that are mined; a list need not have any
_PARQUET = b"PAR1"  # how such a file begins
_IN_JSON, _IN_TABLE = (".jsonl", ".ndjson", ".json"), (".tsv", ".tab")

Row = Mapping[str, Any]


class ListedSites(NamedTuple):
    """Where mining begins, and what of the list is not mined."""

    seeds: list[str]
    sites: int
    left_out: int  # rows whose verdict is neither bilingual nor thin


def read_sites(path: Path) -> ListedSites:
    """The kind of file is told by its first bytes, and then by its name. Raises `ConfigError`, which names the file and the line."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"the sites cannot be read from {path}: {error.strerror}") from error
    if content.startswith(_PARQUET) or path.suffix == ".parquet":
        found = _chosen(_parquet_rows(path), f"{path}, row")
    elif content.lstrip().startswith(b"{") or path.suffix in _IN_JSON:
        found = _chosen(_json_rows(content, path), f"{path}, line")
    elif b"\t" in content.partition(b"\n")[0] or path.suffix in _IN_TABLE:
        found = _chosen(_table_rows(content, path), f"{path}, line", first=2)
    else:
        found = _text_sites(content, str(path))
    if not found.seeds:
        raise ConfigError(_nothing(path, found.left_out))
    return found


def _text_sites(content: bytes, name: str) -> ListedSites:
    """One host or URL per line; blank lines and lines that begin with # are left out."""
    seeds = list(dict.fromkeys(_address(line, name) for line in seeds_from(content, name)))
    return ListedSites(seeds, len({Url.parse(seed).host for seed in seeds}), 0)


def _chosen(rows: Iterable[Row], place: str, first: int = 1) -> ListedSites:
    """The pages that a search compared, so that mining begins in both languages; else the home page."""
    seeds: dict[str, None] = {}
    sites: set[str] = set()
    left_out = 0
    for number, row in enumerate(rows, first):
        if (row.get(VERDICT) or "") not in MINED:
            left_out += 1
            continue
        where = f"{place} {number}"
        site = row.get(SITE)
        if not isinstance(site, str) or not site.strip():
            raise ConfigError(f"{where} names no site in the column {SITE}")
        sites.add(site.strip())
        compared = [str(row[name]) for name in COMPARED if row.get(name)]
        seeds.update(dict.fromkeys(_address(raw, where) for raw in compared or [site]))
    return ListedSites(list(seeds), len(sites), left_out)


def _table_rows(content: bytes, path: Path) -> Iterator[Row]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not a text file in UTF-8") from error
    reader = csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    _check_columns(reader.fieldnames or (), path)
    return reader


def _json_rows(content: bytes, path: Path) -> Iterator[Row]:
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}, line {number} is no JSON object: {error}") from error
        _check_columns(row, path)
        yield row


def _parquet_rows(path: Path) -> Iterator[Row]:
    try:
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 - an extra
        from pyarrow import parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(f"{path} needs pyarrow. Run: pip install 'bitrawl[parquet]'") from error
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            _check_columns(names, path)
            columns = [name for name in (SITE, VERDICT, *COMPARED) if name in names]
            for batch in file.iter_batches(columns=columns):
                yield from batch.to_pylist()
    except (pa.ArrowInvalid, OSError) as error:
        raise ConfigError(f"{path} cannot be read as Parquet: {error}") from error


def _check_columns(names: Iterable[str], path: Path) -> None:
    if SITE not in (known := list(names)):
        raise ConfigError(f"{path} has no column {SITE}; it has {', '.join(known) or 'no columns'}")


def _address(raw: str, place: str) -> str:
    """A host stands for its home page."""
    text = raw.strip() if "://" in raw else f"https://{raw.strip()}"
    try:
        Url.parse(text)
    except UrlError as error:
        raise ConfigError(f"{place}: {error}; write a host or a URL") from error
    return text


def _nothing(path: Path, left_out: int) -> str:
    if left_out:
        return f"{path} has no bilingual site: all of its {left_out} rows have another verdict"
    return f"{path} lists no sites; write one host or URL on each line"
