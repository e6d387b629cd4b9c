"""Site packs: multilingual websites stored as WARC, with the page pairs that are known to be translations.

A folder of packs contains one folder per site, with four files:

    site.warc.gz   the site's answers; a URL without a record is a 404
    site.json      where to begin (`seeds`), the codes of its `languages`, and the count of `pairs_by_languages`
    truth.tsv      the true pairs: url_a, url_b, lang_a, lang_b, with a header line
    doubtful.tsv   pairs that the site names and that are not in truth.tsv: the same columns, and the reason
"""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from bitrawl.errors import ConfigError, UrlError
from bitrawl.model import Language
from bitrawl.papers.trial import UrlPair, in_order
from bitrawl.url import Url

FILES = ("site.warc.gz", "site.json", "truth.tsv", "doubtful.tsv")
# Nobody can judge these: one side is in another language than it claims, half untranslated, or has too little text. The
# reason that is missing here, `same-text`, makes a pair wrong: one of its pages was never translated.
UNCOUNTED = frozenset(("language", "partial", "short"))


class KnownPair(NamedTuple):
    """A row of truth.tsv or of doubtful.tsv."""

    url_a: Url
    url_b: Url
    lang_a: Language
    lang_b: Language
    reason: str = ""  # why it is doubtful


class _About(msgspec.Struct):
    """The part of site.json that training reads."""

    seeds: list[str]
    languages: list[str]
    pairs_by_languages: dict[str, int]


class SitePack(NamedTuple):
    """An archived site and what is known about its pairs."""

    folder: Path
    seeds: tuple[Url, ...]
    languages: tuple[Language, ...]
    pair_counts: dict[str, int]  # true pairs by languages, for example {"en-fr": 70}

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Raises `ConfigError` if a file is missing."""
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            raise ConfigError(
                f"{folder} is not a site pack: {' and '.join(missing)} missing; it needs {', '.join(FILES)}"
            )
        try:
            about = msgspec.json.decode((folder / "site.json").read_bytes(), type=_About)
            seeds = tuple(Url.parse(raw) for raw in about.seeds)
        except (OSError, msgspec.DecodeError, UrlError) as error:
            raise ConfigError(f"{folder / 'site.json'} cannot be read: {error}") from error
        return cls(folder, seeds, tuple(map(Language, about.languages)), about.pairs_by_languages)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def archive(self) -> Path:
        return self.folder / "site.warc.gz"

    def true_pairs(self, languages: Iterable[Language] | None = None) -> frozenset[UrlPair]:
        """The pairs of two of the languages; all pairs by default."""
        wanted = frozenset(languages or self.languages)
        rows = known_pairs(self.folder / "truth.tsv")
        return frozenset(in_order((row.url_a, row.url_b)) for row in rows if {row.lang_a, row.lang_b} <= wanted)

    def uncounted_pairs(self) -> frozenset[UrlPair]:
        """Pairs that are neither right nor wrong when they are found."""
        rows = known_pairs(self.folder / "doubtful.tsv")
        return frozenset(in_order((row.url_a, row.url_b)) for row in rows if row.reason in UNCOUNTED)

    def pairs_with_english(self, least: int) -> list[tuple[Language, Language]]:
        """English and each other language with at least this many true pairs."""
        english = Language("en")
        split = ((name.split("-", 1), count) for name, count in self.pair_counts.items())
        return [(english, Language(other)) for (first, other), count in split if first == english and count >= least]


def open_packs(folder: Path) -> list[SitePack]:
    """All packs below that folder, by name. Raises `ConfigError` if there is none."""
    found = sorted(path.parent for path in folder.glob("*/truth.tsv"))
    if not found:
        raise ConfigError(
            f"{folder} contains no site packs: it should have one folder per site, with {', '.join(FILES)}"
        )
    return [SitePack.open(path) for path in found]


def known_pairs(path: Path) -> list[KnownPair]:
    """The rows of truth.tsv or of doubtful.tsv, in their order."""
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
        return [
            KnownPair(
                Url.parse(row["url_a"]),
                Url.parse(row["url_b"]),
                Language(row["lang_a"]),
                Language(row["lang_b"]),
                row.get("reason") or "",
            )
            for row in rows
        ]
    except (OSError, UnicodeDecodeError, UrlError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except KeyError as error:
        raise ConfigError(f"{path} has no column {error}; the first line must name the columns") from error
