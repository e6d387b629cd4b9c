"""What is known of a site that may be bilingual, and lists of such sites as files.

A search writes its verdicts as lines of JSON, as a table, and as a list of seeds. `read_sites` reads a list to mine: lines of
text, or rows with a column `site`, as a search writes them.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from bitrawl.errors import ConfigError, UrlError
from bitrawl.files import cell
from bitrawl.model import Language, Link, Visit
from bitrawl.packages import extra
from bitrawl.url import Url, seeds_from, with_scheme


class SiteAnswer(StrEnum):
    """Whether two pages of a site are translations of each other."""

    BILINGUAL = "bilingual"
    THIN = "thin"  # a page or two are translated, and nothing says that there is more
    NO = "no"
    UNKNOWN = "unknown"  # it did not answer, or not enough


class SiteVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of sites.jsonl. The names of the fields are part of the output format."""

    site: str  # its host
    verdict: SiteAnswer
    probability: float = 0.0  # that it is bilingual
    languages: tuple[Language, ...] = ()  # those asked for that it has
    evidence: dict[str, float] = {}  # by method
    url_a: Url | None = None  # the two pages compared
    url_b: Url | None = None
    downloads: int = 0  # pages fetched of it, the entry page included
    cited_by: tuple[Url, ...] = ()
    pages: int = 0  # estimated; 0 if nothing says how many
    detail: str = ""  # why, in words


class SiteCheck(Protocol):
    """Judges one site step by step: it says what to fetch next, is told what came, and ends with a verdict.

    It waits for nothing and fetches nothing, so that a crawl of thousands of hosts can hold thousands of them.
    """

    @property
    def verdict(self) -> SiteVerdict | None:
        """None until it is sure, or has asked for all that it may."""
        ...

    def wanted(self) -> Sequence[Link]:
        """What to fetch now, the cheapest evidence first; empty while it waits for what it asked for, and at the end."""
        ...

    def saw(self, visit: Visit) -> None:
        """What came of a link that it wanted, or of another page of the site that was fetched anyway."""
        ...


SITE, VERDICT, COMPARED = "site", "verdict", ("url_a", "url_b")
MINED = frozenset(
    {"", SiteAnswer.BILINGUAL, SiteAnswer.THIN}
)  # verdicts of rows that are mined; a list need not have any
_PARQUET = b"PAR1"  # how such a file begins
_IN_JSON, _IN_TABLE = (".jsonl", ".ndjson", ".json"), (".tsv", ".tab")

Row = Mapping[str, Any]
_ORDER = {SiteAnswer.BILINGUAL: 0, SiteAnswer.THIN: 1, SiteAnswer.UNKNOWN: 2, SiteAnswer.NO: 3}
_json = msgspec.json.Encoder(enc_hook=str)
_from_json = msgspec.json.Decoder(SiteVerdict, dec_hook=lambda _kind, text: Url.known(text))


def ranked(verdicts: Iterable[SiteVerdict]) -> list[SiteVerdict]:
    """The bilingual sites first, the surest and the largest of them before the others."""
    return sorted(
        verdicts, key=lambda verdict: (_ORDER[verdict.verdict], -verdict.probability, -verdict.pages, verdict.site)
    )


def json_lines(verdicts: Sequence[SiteVerdict]) -> bytes:
    """Each line has all fields, also those that say nothing."""
    rows = ({name: getattr(verdict, name) for name in SiteVerdict.__struct_fields__} for verdict in verdicts)
    return b"".join(_json.encode(row) + b"\n" for row in rows)


def from_json_lines(content: bytes) -> list[SiteVerdict]:
    """What `json_lines` wrote."""
    return [_from_json.decode(line) for line in content.splitlines()]


def table(verdicts: Sequence[SiteVerdict]) -> str:
    """Tab-separated, with a header; several values of a column have spaces between them."""
    names = SiteVerdict.__struct_fields__
    rows = ("\t".join(_cell(getattr(verdict, name)) for name in names) for verdict in verdicts)
    return "".join(f"{row}\n" for row in ("\t".join(names), *rows))


def seed_list(verdicts: Sequence[SiteVerdict]) -> str:
    """For `bitrawl mine --sites`: the pages that were compared, so that mining begins in both languages."""
    return "".join(_seed_lines(verdict) for verdict in verdicts if verdict.verdict is SiteAnswer.BILINGUAL)


def seeds_of(verdict: SiteVerdict) -> list[Url]:
    """Where mining the site begins."""
    return [url for url in (verdict.url_a, verdict.url_b) if url] or [Url.known(f"https://{verdict.site}/")]


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
        sites = _chosen(_parquet_rows(path), f"{path}, row")
    elif content.lstrip().startswith(b"{") or path.suffix in _IN_JSON:
        sites = _chosen(_json_rows(content, path), f"{path}, line")
    elif b"\t" in content.partition(b"\n")[0] or path.suffix in _IN_TABLE:
        sites = _chosen(_table_rows(content, path), f"{path}, line", first=2)
    else:
        sites = _text_sites(content, str(path))
    if not sites.seeds:
        raise ConfigError(_nothing(path, sites.left_out))
    return sites


def _seed_lines(verdict: SiteVerdict) -> str:
    comment = f"# {verdict.site}: {', '.join(verdict.languages)}; probability {verdict.probability:.2f}"
    return "".join(f"{line}\n" for line in (comment, *seeds_of(verdict)))


def _cell(value: object) -> str:
    return cell(" ".join(" ".join(_parts(value)).split()))  # no tab and no line break gets into a table


def _parts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{name}={number:.3g}" for name, number in value.items())
    elif isinstance(value, tuple):
        yield from map(str, value)
    elif isinstance(value, float):
        yield f"{value:.3f}"
    elif value is not None:
        yield str(value)


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
            raise ConfigError(f"{path}, line {number} is not a JSON object: {error}") from error
        _check_columns(row, path)
        yield row


def _parquet_rows(path: Path) -> Iterator[Row]:
    with extra("parquet", f"{path} needs pyarrow"):
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 - an extra
        from pyarrow import parquet as pq  # noqa: PLC0415
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
    if SITE not in (columns := list(names)):
        raise ConfigError(f"{path} has no column {SITE}; it has {', '.join(columns) or 'no columns'}")


def _address(raw: str, place: str) -> str:
    """A host stands for its home page."""
    text = with_scheme(raw.strip())
    try:
        Url.parse(text)
    except UrlError as error:
        raise ConfigError(f"{place}: {error}; write a host or a URL") from error
    return text


def _nothing(path: Path, left_out: int) -> str:
    if left_out:
        return f"{path} has no bilingual site, only rows with another verdict ({left_out})"
    return f"{path} lists no sites; write one host or URL on each line"
