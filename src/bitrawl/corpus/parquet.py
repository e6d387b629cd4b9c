"""Parquet, for dataframes and training, with the columns of sentences.jsonl. Needs the extra `parquet`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bitrawl.corpus.columns import SENTENCES, Column
from bitrawl.corpus.jsonl import row
from bitrawl.corpus.naming import CorpusHeader
from bitrawl.errors import ConfigError
from bitrawl.files import replacing
from bitrawl.model import TranslationUnit

GROUP = 20_000
"""Units per row group (judgement): these are held in memory, about 20 MB at 1 kB per unit."""


@contextmanager
def parquet(
    folder: Path, header: CorpusHeader, *, compress: bool = False
) -> Iterator[Callable[[TranslationUnit], None]]:
    """`en-fr.parquet`.

    zstd compresses its columns whatever `compress` says, because nothing reads a gzipped Parquet file.
    """
    del compress
    try:
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 — an extra
        from pyarrow import parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError("Parquet needs pyarrow: pip install 'bitrawl[parquet]', or leave the format out") from error
    schema = _schema(pa)
    group: list[dict[str, Any]] = []
    with (
        replacing(folder / f"{header.name}.parquet") as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):

        def flush() -> None:
            writer.write_table(pa.Table.from_pylist(group, schema))
            group.clear()

        def write(unit: TranslationUnit) -> None:
            group.append({"sources": [], **row(unit, header)})
            if len(group) == GROUP:
                flush()

        yield write
        flush()


def _schema(pa: Any) -> Any:
    return pa.schema([(column.name, _type(pa, column)) for column in SENTENCES])


def _type(pa: Any, column: Column) -> Any:
    if column.fields:
        one = pa.struct([(field.name, _type(pa, field)) for field in column.fields])
    else:
        one = {"string": pa.string, "float64": pa.float64, "int32": pa.int32}[column.kind]()
    return pa.list_(one) if column.is_list else one
