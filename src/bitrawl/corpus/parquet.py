"""Parquet, for dataframes and training: the columns of sentences.jsonl. Needs the extra `parquet`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bitrawl.corpus.files import drafting
from bitrawl.corpus.jsonl import row
from bitrawl.corpus.units import Head, TranslationUnit
from bitrawl.errors import ConfigError

GROUP = 20_000
"""Units of a row group: what is held in memory, about 20 MB."""


@contextmanager
def parquet(folder: Path, head: Head, *, compress: bool = False) -> Iterator[Callable[[TranslationUnit], None]]:
    """`en-fr.parquet`, its columns compressed by zstd whatever `compress` says: nothing reads a gzipped Parquet file."""
    del compress
    try:
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 — an extra
        from pyarrow import parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError("Parquet needs pyarrow: pip install 'bitrawl[parquet]', or leave the format out") from error
    schema = _schema(pa)
    group: list[dict[str, Any]] = []
    with (
        drafting(folder / f"{head.name}.parquet") as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):

        def flush() -> None:
            writer.write_table(pa.Table.from_pylist(group, schema))
            group.clear()

        def write(unit: TranslationUnit) -> None:
            group.append(_columns(unit))
            if len(group) == GROUP:
                flush()

        yield write
        flush()


def _columns(unit: TranslationUnit) -> dict[str, Any]:
    values = row(unit)
    return {"sources": [], **values, "scores": list(values["scores"].items())}


def _schema(pa: Any) -> Any:
    place = [("paragraph_a", pa.string()), ("paragraph_b", pa.string())]
    place += [("sentence_a", pa.int32()), ("sentence_b", pa.int32())]
    urls = [("url_a", pa.string()), ("url_b", pa.string())]
    return pa.schema(
        [
            *urls,
            ("text_a", pa.string()),
            ("text_b", pa.string()),
            ("score", pa.float64()),
            ("type", pa.string()),
            ("flags", pa.list_(pa.string())),
            ("scores", pa.map_(pa.string(), pa.float64())),
            *place,
            ("sources", pa.list_(pa.struct([*urls, *place]))),
        ]
    )
