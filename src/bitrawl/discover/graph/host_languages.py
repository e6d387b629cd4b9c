"""Which languages a host has, from Common Crawl's index in Parquet: a first guess that needs no visit."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bitrawl.discover.graph.names import host_of, without_www
from bitrawl.errors import ConfigError, GraphError
from bitrawl.languages import claimed_language
from bitrawl.model import Language

HOST, LANGUAGES = "url_host_name", "content_languages"
_ROWS = 1 << 16  # of a batch, in memory; judgement
_COUNTED = 1 << 20  # hosts and languages that are held before they are summed up; judgement: some 100 MB
# Judgements. A language is believed to have this share of a host's pages before any is counted, and that belief weighs as much
# as two pages: one page in English says little against French, a hundred say much.
SHARE, BELIEF = 0.05, 2.0
MOST_ODDS = 4.0  # that counts may speak for a language, or against it; judgement


class HostLanguages:
    """Pages of each host in the languages asked for, and in all. 16 to 24 bytes a host, and some 300 while the index is read."""

    def __init__(self, languages: Sequence[Language], counts: Mapping[str, Sequence[int]]) -> None:
        """`counts` has the pages in each of the languages for each host, and then those in any."""
        self.languages = tuple(languages)
        names = np.fromiter((hash(host) for host in counts), np.int64, len(counts))
        order = np.argsort(names)
        self._names: NDArray[np.int64] = names[order]
        rows = np.array(list(counts.values()), np.uint32).reshape(len(names), len(self.languages) + 1)
        self._counts: NDArray[np.uint32] = rows[order]

    @classmethod
    def read(cls, path: Path, languages: Sequence[Language]) -> Self:
        """From a Parquet file, or a folder of them, in one pass.

        Raises `GraphError` for a file without the columns, and `ConfigError` without the extra `parquet`.
        """
        bases = [_base(language) for language in languages]
        counts: dict[str, list[int]] = {}
        for host, spoken, pages in _counted(path):
            row = counts.setdefault(without_www(host), [0] * (len(bases) + 1))
            row[-1] += pages
            main = _base(claimed_language(spoken or "und"))  # the first of several is the main one
            for place, base in enumerate(bases):
                row[place] += pages * (base == main)
        return cls(languages, counts)

    def __len__(self) -> int:
        return len(self._names)

    def counts(self, host: str) -> tuple[int, ...]:
        """Pages in each of the languages, and in any; empty for a host that the index does not have."""
        name = hash(without_www(host_of(host)))
        place = int(np.searchsorted(self._names, name))
        found = place < len(self._names) and self._names[place] == name
        return tuple(self._counts[place].tolist()) if found else ()

    def odds(self, host: str) -> dict[Language, float]:
        """How far the counts speak for each language, as a logarithm; below 0 they speak against it. Empty if they say nothing."""
        *counts, pages = self.counts(host) or (0,)
        shares = ((count + BELIEF * SHARE) / (pages + BELIEF) for count in counts)
        told = (max(-MOST_ODDS, min(MOST_ODDS, log(share / SHARE))) for share in shares)
        return dict(zip(self.languages, told, strict=False))

    def evidence(self, host: str) -> float:
        """The same for two of the languages: the rarer of the two that it has most of decides."""
        told = sorted(self.odds(host).values())
        return told[-2] if len(told) > 1 else 0.0


def _counted(path: Path) -> Iterator[tuple[str, str | None, int]]:
    """Host, languages and pages. A host comes several times if the index is large."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 - an extra
        from pyarrow import parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError("Common Crawl's index needs pyarrow. Run: pip install 'bitrawl[parquet]'") from error
    held: list[Any] = []
    for file in _files(path):
        try:
            with pq.ParquetFile(file) as parquet:
                _check_columns(parquet.schema_arrow.names, file)
                for batch in parquet.iter_batches(_ROWS, columns=[HOST, LANGUAGES]):
                    rows = pa.Table.from_batches([batch]).combine_chunks()
                    held.append(rows.group_by([HOST, LANGUAGES]).aggregate([([], "count_all")]))
                    if sum(map(len, held)) > _COUNTED:
                        yield from _summed(pa.concat_tables(held))
                        held.clear()
        except (pa.ArrowInvalid, OSError) as error:
            raise GraphError(f"{file} cannot be read as Parquet: {error}; download it again") from error
    if held:
        yield from _summed(pa.concat_tables(held))


def _summed(table: Any) -> Iterator[tuple[str, str | None, int]]:
    for row in table.group_by([HOST, LANGUAGES]).aggregate([("count_all", "sum")]).to_pylist():
        if row[HOST]:
            yield row[HOST], row[LANGUAGES], row["count_all_sum"]


def _base(language: str) -> str:
    return language.partition("-")[0]


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
