"""The true pairs of a site, which strategies are measured against, and the file that lists them."""

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.errors import ConfigError, UrlError
from bitrawl.languages import asked_language, parse_language
from bitrawl.model import Language, PagePair
from bitrawl.url import Url

UrlPair = tuple[Url, Url]
"""Two pages by their URLs, in alphabetical order. Which side is which language does not matter here."""

_COLUMNS = ("url_a", "url_b", "lang_a", "lang_b")


class Truth(msgspec.Struct, frozen=True):
    """The true pairs of a site, and the pairs that nobody can judge."""

    pairs: frozenset[UrlPair]
    uncounted: frozenset[UrlPair] = frozenset()  # a strategy that accepts one of these is neither right nor wrong

    def of(self, site: str, site_of: Callable[[str], str]) -> "Truth":
        """Only the pairs with a page of that site."""

        def here(pairs: Iterable[UrlPair]) -> frozenset[UrlPair]:
            return frozenset(pair for pair in pairs if site in (site_of(pair[0].host), site_of(pair[1].host)))

        return Truth(here(self.pairs), here(self.uncounted))


def in_order(pair: tuple[Url, Url]) -> UrlPair:
    """The same pair whichever side came first."""
    a, b = sorted(pair)
    return a, b


def read_pairs(path: Path, languages: Sequence[Language]) -> frozenset[UrlPair]:
    """The pairs of two of the languages, from a TSV file with the columns url_a, url_b, lang_a, lang_b."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    if rows and not rows[0].keys() >= set(_COLUMNS):
        raise ConfigError(f"{path} needs a header line with the columns {', '.join(_COLUMNS)}, tab-separated")
    pairs = set()
    for number, row in enumerate(rows, 2):
        try:
            sides = {_which(row[name] or "", languages) for name in ("lang_a", "lang_b")}
            if len(sides - {None}) == len(("a", "b")):
                pairs.add(in_order((Url.parse(row["url_a"] or ""), Url.parse(row["url_b"] or ""))))
        except (UrlError, ConfigError) as error:
            raise ConfigError(f"{path}, line {number}: {error}") from error
    return frozenset(pairs)


def write_pairs(path: Path, pairs: Sequence[PagePair]) -> None:
    """Write the format that `read_pairs` reads."""
    rows = [_COLUMNS, *((pair.url_a, pair.url_b, pair.lang_a, pair.lang_b) for pair in pairs)]
    files.write(path, "".join("\t".join(row) + "\n" for row in rows))


def _which(code: str, languages: Sequence[Language]) -> Language | None:
    return asked_language(parse_language(code), languages)
