"""Parquet, for dataframes and training: the columns of sentences.jsonl. Needs the extra `parquet`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bitrawl.corpus.jsonl import row
from bitrawl.corpus.naming import CorpusHeader
from bitrawl.errors import ConfigError
from bitrawl.files import replacing
from bitrawl.model import TranslationUnit

GROUP = 20_000
"""Units of a row group (judgement): what is held in memory, about 20 MB at 1 kB a unit."""


@contextmanager
def parquet(
    folder: Path, header: CorpusHeader, *, compress: bool = False
) -> Iterator[Callable[[TranslationUnit], None]]:
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
        replacing(folder / f"{header.name}.parquet") as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):

        def flush() -> None:
            writer.write_table(pa.Table.from_pylist(group, schema))
            group.clear()

        def write(unit: TranslationUnit) -> None:
            group.append(_columns(unit, header))
            if len(group) == GROUP:
                flush()

        yield write
        flush()


def _columns(unit: TranslationUnit, header: CorpusHeader) -> dict[str, Any]:
    values = row(unit, header)
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
            ("lang_a", pa.string()),
            ("lang_b", pa.string()),
        ]
    )
