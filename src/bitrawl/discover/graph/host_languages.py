"""Which languages a host has, from Common Crawl's index in Parquet: a first guess that needs no visit."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bitrawl.discover.graph.names import host_of, spellings, without_www
from bitrawl.errors import ConfigError, GraphError
from bitrawl.languages import claimed_language
from bitrawl.model import Language

HOST, LANGUAGES = "url_host_name", "content_languages"
_ROWS = 1 << 16  # of a batch, in memory; judgement


def language_counts(path: Path, hosts: Iterable[str]) -> dict[str, dict[Language, int]]:
    """How many pages of each host are in each language, by their main one, for the hosts that the index has.

    `path` is a Parquet file, or a folder of them. Memory does not grow with it. Raises `GraphError` for a file without
    the columns, and `ConfigError` without the extra `parquet`.
    """
    try:
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 - an extra
        from pyarrow import compute  # noqa: PLC0415
        from pyarrow import parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError("Common Crawl's index needs pyarrow. Run: pip install 'bitrawl[parquet]'") from error
    asked = {without_www(host_of(host)): host for host in hosts}
    wanted = pa.array([name for host in asked for name in spellings(host)])
    counts: dict[str, Counter[Language]] = {}
    for file in _files(path):
        try:
            with pq.ParquetFile(file) as parquet:
                _check_columns(parquet.schema_arrow.names, file)
                for batch in parquet.iter_batches(_ROWS, columns=[HOST, LANGUAGES]):
                    rows = pa.Table.from_batches([batch])
                    _count(rows.filter(compute.is_in(rows[HOST], value_set=wanted)), asked, counts)
        except (pa.ArrowInvalid, OSError) as error:
            raise GraphError(f"{file} cannot be read as Parquet: {error}; download it again") from error
    return {host: dict(found.most_common()) for host, found in counts.items()}


def _count(table: Any, asked: dict[str, str], counts: dict[str, Counter[Language]]) -> None:
    for row in table.group_by([HOST, LANGUAGES]).aggregate([([], "count_all")]).to_pylist():
        language = claimed_language(row[LANGUAGES] or "und")  # the first of several is the main one
        host = asked[without_www(row[HOST])]
        counts.setdefault(host, Counter())[language] += row["count_all"]


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = sorted(path.rglob("*.parquet")) if path.is_dir() else []
    if not found:
        raise GraphError(f"{path} has no Parquet files; give a file or a folder of Common Crawl's columnar index")
    return found


def _check_columns(names: Iterable[str], file: Path) -> None:
    missing = [name for name in (HOST, LANGUAGES) if name not in names]
    if missing:
        raise GraphError(
            f"{file} has no column {' and no column '.join(missing)}; it is not a part of Common Crawl's columnar index"
        )
