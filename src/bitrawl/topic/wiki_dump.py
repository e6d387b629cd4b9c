"""A wiki that is read from the SQL files of its dump (https://dumps.wikimedia.org), for those who must not ask its API.

Each level of the category tree takes one pass over `categorylinks` and one over `page`; nothing is kept of the rows that
do not belong to the category. Both schemas are read: categories and domains as text, and as numbers of `linktarget`. The
files are read as a stream: a table of any size takes a few megabytes.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import IO

import msgspec
from isal import igzip, isal_zlib

from bitrawl.errors import ConfigError, WikiError
from bitrawl.model import UNDETERMINED, Language
from bitrawl.topic.wiki_articles import (
    NEAREST,
    Article,
    Extent,
    Gathered,
    Member,
    edition_language,
    nearest,
    same_name,
    unknown_category,
    walked,
)

CHUNK = 1 << 20  # bytes read at once: about the length of one INSERT of Wikimedia's files
LONGEST_ROW = 64 << 20  # bytes; MySQL's own limit for a row that is sent (max_allowed_packet) is 64 MB by default

_VALUE = rb"(?:(?:_binary\s+)?'(?:[^'\\]++|\\.|'')*+'|[^,()']++)"  # "_binary" is MySQL 8's
_COLUMN = re.compile(rb"^\s*`(\w+)`", re.MULTILINE)
_INSERT = re.compile(rb"INSERT\s+(?:IGNORE\s+)?INTO\s+`?\w+`?\s*(\([^)]*\)\s*)?VALUES\s*", re.IGNORECASE)
_BETWEEN = re.compile(rb"\s*,\s*")
_END = re.compile(rb"\s*;")
_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)
_ESCAPES = {b"0": b"\0", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"Z": b"\x1a"}


def columns(path: Path) -> list[str]:
    """The names of the table's columns, in their order. They tell the older schema from the newer."""
    head = b""
    with opened(path) as file:
        while chunk := _read(file, path):
            head += chunk
            if b"INSERT INTO" in head or b"ENGINE=" in head or len(head) > LONGEST_ROW:
                break
    _, mark, table = head.partition(b"CREATE TABLE")
    if not mark:
        raise WikiError(f"{path} is not a table of a MySQL dump: it has no CREATE TABLE")
    return [name.decode() for name in _COLUMN.findall(table[: table.find(b"ENGINE=")].partition(b"(")[2])]


def rows(path: Path, wanted: Sequence[str], *, chunk: int = CHUNK) -> Iterator[tuple[bytes, ...]]:
    """The values of these columns, two or more, of each row, as they are in the file; `text` and `number` read them."""
    table_columns = columns(path)
    if missing := set(wanted) - set(table_columns):
        raise WikiError(f"{path} has no column {', '.join(sorted(missing))}; is it a file of a MediaWiki dump?")
    ordered = [name for name in table_columns if name in wanted]
    pick = itemgetter(*(ordered.index(name) for name in wanted))
    for values in _rows(path, _row_pattern(table_columns, wanted), chunk):
        yield pick(values)


def _rows(path: Path, pattern: re.Pattern[bytes], size: int) -> Iterator[tuple[bytes, ...]]:
    with opened(path) as file:
        buffer, at, inside = b"", 0, False
        while True:
            if inside:
                while match := pattern.match(buffer, at):
                    follows = _BETWEEN.match(buffer, match.end())
                    ended = None if follows else _END.match(buffer, match.end())
                    if not follows and not ended:
                        break  # the file goes on in the next chunk
                    yield match.groups()
                    at = (follows or ended).end()  # type: ignore[union-attr]
                    if ended:
                        inside = False
                        break
            if not inside and (start := _INSERT.search(buffer, at)):
                at, inside = start.end(), True
                continue
            buffer, at = buffer[at if inside else max(at, len(buffer) - 4096) :], 0
            if len(buffer) > LONGEST_ROW:
                raise WikiError(f"{path} has a row that cannot be read; download the file again")
            chunk = _read(file, path, size)
            if not chunk:
                break
            buffer += chunk
    if inside:
        raise WikiError(f"{path} ends in the middle of a row; download the file again")


def text(value: bytes) -> str:
    """A string without its quotes and escapes; titles of MediaWiki have underscores for spaces."""
    if value == b"NULL":
        return ""
    if value[-1:] == b"'":
        value = value[value.index(b"'") + 1 : -1]
    if b"\\" in value or b"''" in value:
        value = _ESCAPE.sub(_unescaped, value)
    return value.decode("utf-8", "replace")


def number(value: bytes) -> int:
    digits = value.strip(b"' ")
    return int(digits) if digits.lstrip(b"-").isdigit() else 0


def _unescaped(match: re.Match[bytes]) -> bytes:
    return _ESCAPES.get(match[1], match[1]) if match[1] is not None else b"'"


def _row_pattern(table_columns: Sequence[str], wanted: Sequence[str]) -> re.Pattern[bytes]:
    """One expression for the whole row, which captures the wanted columns only: half the time of two steps."""
    values = [b"(" + _VALUE + b")" if name in wanted else _VALUE for name in table_columns]
    return re.compile(rb"\s*\(\s*" + rb"\s*,\s*".join(values) + rb"\s*\)", re.DOTALL)


def opened(path: Path) -> IO[bytes]:
    """Open a dump, packed or not; raises `WikiError`."""
    try:
        return igzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[no-untyped-call]
    except OSError as error:
        raise WikiError(f"{path} cannot be read: {error.strerror or error}") from error


def _read(file: IO[bytes], path: Path, size: int = CHUNK) -> bytes:
    try:
        return file.read(size)
    except (OSError, EOFError, isal_zlib.error) as error:  # type: ignore[misc]
        raise WikiError(f"{path} cannot be read: {error}; download the file again") from error


CATEGORY, ARTICLE = b"14", b"0"  # namespaces
_NAME = re.compile(r"(?:(?P<wiki>[a-z0-9_]+)-(?:\d{8}|latest)-)?(?P<table>[a-z_]+)\.sql(?:\.gz)?")
_DATABASE = re.compile(rb"Database: (\w+)")
_PROJECT = re.compile(r"wik(?:i|tionary|ibooks|iquote|isource|inews|iversity|ivoyage)$")
_COMPARED = 1000  # names that are held before the nearest are chosen; little memory, few comparisons twice
NEEDED = ("page", "categorylinks")


class DumpWiki:
    """One edition. `langlinks`, `externallinks` and `page_props` are read where the folder has them."""

    def __init__(self, folder: Path) -> None:
        self._tables = _tables(folder)
        self._folder = folder
        self._ids: dict[str, int] = {}  # of the articles met, by title
        self.language = _language(self._tables["page"])

    async def category(self, name: str) -> str:
        """The category's name as the wiki spells it. Raises `CategoryError` if there is none in any spelling."""
        wanted = name.partition(":")[2].strip() if name.casefold().startswith("category:") else name
        near: list[str] = []
        same: list[str] = []
        for namespace, raw in rows(self._tables["page"], ("page_namespace", "page_title")):
            if namespace != CATEGORY:
                continue
            title = _title(raw)
            near.append(title)
            if same_name(title, wanted):
                same.append(title)
            if len(near) > _COMPARED:
                near = nearest(wanted, near, NEAREST)
        if not same:
            raise unknown_category(name, str(self._folder), nearest(wanted, near))
        return min(same, key=lambda title: (title.casefold() != wanted.casefold(), title))

    async def articles(self, category: str, extent: Extent) -> Gathered:
        gathered = await walked(category, extent, self._members)
        by_id = {self._ids[article.title]: article for article in gathered.articles}
        translations = self._translations(by_id, extent.languages)
        links, disambiguations = self._links(by_id), self._disambiguations(by_id)
        articles = tuple(
            msgspec.structs.replace(
                article,
                translations=translations.get(number, {}),
                links=tuple(links.get(number, ())),
                disambiguation=number in disambiguations,
            )
            for number, article in by_id.items()
        )
        return msgspec.structs.replace(gathered, articles=articles)

    async def _members(self, names: Sequence[str]) -> AsyncIterator[tuple[str, Member]]:
        within: dict[int, list[str]] = {}  # the categories of each page
        for page, category in self._links_to(names):
            within.setdefault(page, []).append(category)
        wanted = ("page_id", "page_namespace", "page_title", "page_is_redirect")
        for raw_id, namespace, raw_title, redirect in rows(self._tables["page"], wanted):
            page = number(raw_id)
            if page not in within or namespace not in (CATEGORY, ARTICLE):
                continue
            title = _title(raw_title)
            if namespace == CATEGORY:
                member = Member(subcategory=title)
            else:
                self._ids[title] = page
                member = Member(article=Article(title=title, redirect=redirect == b"1"))
            for category in within[page]:
                yield category, member

    def _links_to(self, names: Sequence[str]) -> Iterator[tuple[int, str]]:
        """The pages in these categories; files are left out."""
        table = self._tables["categorylinks"]
        newer = "cl_to" not in columns(table)
        targets: Mapping[str, str] = {name: name for name in names}
        if newer:
            targets = self._targets(set(names))
        read: Callable[[bytes], str] = _plain if newer else _title
        for page, raw, kind in rows(table, ("cl_from", "cl_target_id" if newer else "cl_to", "cl_type")):
            name = targets.get(read(raw))
            if name is not None and kind != b"'file'":
                yield number(page), name

    def _targets(self, names: set[str]) -> dict[str, str]:
        """Names by the number that newer dumps have in their place."""
        if "linktarget" not in self._tables:
            raise WikiError(
                f"{self._folder} has no linktarget.sql, which categorylinks of this dump refers to; download it"
            )
        targets = rows(self._tables["linktarget"], ("lt_id", "lt_namespace", "lt_title"))
        return {
            _plain(number_): title
            for number_, namespace, raw in targets
            if namespace == CATEGORY and (title := _title(raw)) in names
        }

    def _translations(self, ids: Mapping[int, object], languages: Sequence[Language]) -> dict[int, dict[Language, str]]:
        translations: dict[int, dict[Language, str]] = {}
        for page, raw_language, raw in self._optional("langlinks", ("ll_from", "ll_lang", "ll_title")):
            if (key := number(page)) in ids:
                language = edition_language(text(raw_language))
                if language in languages and (title := _title(raw)):
                    translations.setdefault(key, {}).setdefault(language, title)
        return translations

    def _links(self, ids: Mapping[int, object]) -> dict[int, list[str]]:
        if "externallinks" not in self._tables:
            return {}
        newer = "el_to" not in columns(self._tables["externallinks"])
        wanted = ("el_from", "el_to_domain_index", "el_to_path") if newer else ("el_from", "el_to")
        links: dict[int, list[str]] = {}
        for page, *address in rows(self._tables["externallinks"], wanted):
            if (key := number(page)) in ids:
                url = address_of(*map(text, address)) if newer else text(address[0])
                links.setdefault(key, []).append(url)
        return links

    def _disambiguations(self, ids: Mapping[int, object]) -> set[int]:
        properties = self._optional("page_props", ("pp_page", "pp_propname"))
        return {key for page, name in properties if name == b"'disambiguation'" and (key := number(page)) in ids}

    def _optional(self, table: str, wanted: Sequence[str]) -> Iterable[tuple[bytes, ...]]:
        return rows(self._tables[table], wanted) if table in self._tables else ()


def address_of(domain_index: str, path: str) -> str:
    """The address of a link of the newer schema: "https://org.example.www." and "/a" are https://www.example.org/a."""
    scheme, mark, reversed_host = domain_index.partition("://")
    if not mark:
        return domain_index + path  # mailto: and its like
    host, _, port = reversed_host.partition(":") if not reversed_host.startswith("V6") else (reversed_host, "", "")
    labels = [label for label in host.split(".") if label]
    if labels[:1] == ["V4"]:
        host = ".".join(labels[1:])
    elif labels[:1] == ["V6"]:
        host = f"[{':'.join(labels[1:])}]"
    else:
        host = ".".join(reversed(labels))
    return f"{scheme}://{host}{f':{port}' if port else ''}{path}"


def _plain(value: bytes) -> str:
    return value.decode("ascii", "replace")


def _title(value: bytes) -> str:
    return text(value).replace("_", " ")


def _tables(folder: Path) -> dict[str, Path]:
    """The files by their table; raises `ConfigError` if the folder is not the dump of one wiki."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder; give the one that has the SQL files of the dump")
    paths: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        name = _NAME.fullmatch(path.name)
        if name is None:
            continue
        if name["table"] in paths:
            raise ConfigError(
                f"{folder} has two files of the table {name['table']}: {paths[name['table']].name} and {path.name}. "
                "Keep each dump in a folder of its own"
            )
        paths[name["table"]] = path
    missing = [f"{table}.sql.gz" for table in NEEDED if table not in paths]
    if missing:
        raise ConfigError(
            f"{folder} has no {' and no '.join(missing)}; download them from https://dumps.wikimedia.org, with langlinks and "
            "externallinks"
        )
    return paths


def _language(path: Path) -> Language:
    """From the name of the file, else from the database that the file names."""
    name = _NAME.fullmatch(path.name)
    database = name["wiki"] if name and name["wiki"] else ""
    if not database:
        with opened(path) as file:
            match = _DATABASE.search(file.read(1000))
        database = match[1].decode() if match else ""
    language = edition_language(_PROJECT.sub("", database).replace("_", "-"))
    if language == UNDETERMINED:
        raise ConfigError(f"{path} does not say its language; name it as Wikimedia does: enwiki-latest-page.sql.gz")
    return language
