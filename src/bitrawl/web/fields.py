"""Readers of form fields: from what a person typed, or an API was given, to a value of a job file.

A form sends texts, an API any JSON value. Whatever it is, a reader returns a value that is right, or raises `Wrong`.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from math import isfinite
from typing import Any, NamedTuple

from bitrawl.config import Format, Job, PolitenessSection
from bitrawl.config.settings import listed
from bitrawl.crawl.fetch import user_agent
from bitrawl.crawl.scope import folder_path
from bitrawl.errors import ConfigError, UrlError
from bitrawl.languages import parse_language
from bitrawl.url import Url
from bitrawl.web.language_input import typed_languages
from bitrawl.web.said import said
from bitrawl.web.settings import Settings

MOST_SEEDS = 10_000  # judgement: more is an attack or a mistake
MOST_PREFIXES = 100  # each is tried on every link; judgement
LONGEST = 2000  # characters of a URL, a path or a name; judgement
_TRUE, _FALSE = ("on", "true", "yes", "1"), ("off", "false", "no", "0")


class Wrong(Exception):  # noqa: N818 - never leaves the app
    """What was typed into one field cannot be used."""

    def __init__(self, text: str, **values: object) -> None:
        super().__init__(text)
        self.said = said(text, **values)


class Field(NamedTuple):
    """What a user may give, and where it goes."""

    key: str  # of the job file, or of what it becomes
    read: Callable[[Any, Settings], Any]


Fields = Mapping[str, Field]


def text(value: object, _settings: Settings) -> str:
    if not isinstance(value, str):
        raise Wrong("give a text")
    words = " ".join(value.split())
    if len(words) > LONGEST or not words.isprintable():
        raise Wrong("give a shorter text, without control characters")
    return words


def content(value: object, _settings: Settings) -> str:
    if not isinstance(value, str):
        raise Wrong("give a text")
    return value


def contents(value: object, _settings: Settings) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
        raise Wrong("give a text, or a list of texts")
    return [one for one in texts if one.strip()]


def contact(value: object, settings: Settings) -> str:
    address = text(value, settings)
    try:
        user_agent(address)
    except ConfigError as error:
        raise Wrong("give an e-mail address or the address of a page") from error
    return address


def _lines(value: object) -> list[str]:
    items = value.splitlines() if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise Wrong("give one per line, or a list of texts")
    return [item.strip() for item in items if item.strip()]


def urls(value: object, _settings: Settings) -> list[str]:
    """Addresses as people type them: without a scheme they are https."""
    typed = [one for line in _lines(value) for one in line.split()]
    if len(typed) > MOST_SEEDS:
        raise Wrong("give at most {most} addresses", most=MOST_SEEDS)
    return [_url(one) for one in typed]


def _url(typed: str) -> str:
    if len(typed) > LONGEST:
        raise Wrong("{address} is too long", address=typed[:80] + "…")
    scheme, mark, _ = typed.partition("://")
    if mark and scheme.lower() not in ("http", "https"):
        raise Wrong("{address} is no web address; write it as in https://www.example.org/", address=typed)
    try:
        (url,) = Job(seeds=[typed if mark else f"https://{typed}"]).seed_urls()
    except ConfigError as error:
        raise Wrong("{address} is no web address; write it as in https://www.example.org/", address=typed) from error
    return str(url)


def languages(value: object, _settings: Settings) -> list[str]:
    text = value if isinstance(value, str) else ",".join(_lines(value))
    if len(text) > LONGEST:
        raise Wrong("give fewer languages")
    return [str(code) for code in typed_languages(text)]


def flag(value: object, _settings: Settings) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in (*_TRUE, *_FALSE):
        return value.lower() in _TRUE
    raise Wrong("say yes or no")


def _number(value: object, *, whole: bool = False) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or not isfinite(number) or (whole and number != int(number)):
        raise Wrong("give a whole number") if whole else Wrong("give a number")
    return int(number) if whole else number


def between(least: float, most: float, *, whole: bool = False) -> Callable[[Any, Settings], float]:
    def read(value: object, _settings: Settings) -> float:
        number = _number(value, whole=whole)
        if not least <= number <= most:
            raise Wrong("give a number between {least} and {most}", least=f"{least:g}", most=f"{most:g}")
        return number

    return read


share = between(0, 1)


def budget(name: str, *, whole: bool = False) -> Callable[[Any, Settings], float]:
    def read(value: object, settings: Settings) -> float:
        number, most = _number(value, whole=whole), getattr(settings.limits, name)
        if number <= 0:
            raise Wrong("give a number greater than 0")
        if number > most:
            raise Wrong("this server allows at most {most}", most=f"{most:g}")
        return number

    return read


def delay(value: object, settings: Settings) -> float:
    number = _number(value)
    least = settings.job.get("politeness", {}).get("delay", PolitenessSection().delay)
    if not least <= number <= 3600:
        raise Wrong("give a number between {least} and {most}", least=f"{least:g}", most="3600")
    return number


def one_of(names: type[StrEnum]) -> Callable[[Any, Settings], str]:
    def read(value: object, _settings: Settings) -> str:
        if not isinstance(value, str) or value not in set(names):
            raise Wrong("choose one of {names}", names=", ".join(names))
        return value

    return read


def formats(value: object, _settings: Settings) -> list[str]:
    names = [name.lower() for name in listed(value if isinstance(value, str) else _lines(value))]
    if any(name not in set(Format) for name in names):
        raise Wrong("choose from {names}", names=", ".join(Format))
    return names


def paths(value: object, _settings: Settings) -> list[str]:
    paths = _few(_lines(value))
    try:
        return [folder_path(path) for path in paths]
    except (ConfigError, UrlError) as error:
        raise Wrong("write a path from the root of the site, as in /docs/") from error


def prefixes(value: object, _settings: Settings) -> list[str]:
    return [_pattern(one) for one in _few(_lines(value))]


def _few(items: list[str]) -> list[str]:
    if len(items) > MOST_PREFIXES or any(len(item) > LONGEST for item in items):
        raise Wrong("give at most {most}", most=MOST_PREFIXES)
    return items


def _pattern(prefix: str) -> str:
    """A pattern that matches addresses which begin so, and nothing else: "/news/" on any host, or a whole address."""
    try:
        if prefix.startswith("/") and not prefix.startswith("//"):
            return r"^https?://[^/]+" + re.escape(Url.parse(f"http://host{prefix}").removeprefix("http://host"))
        if prefix.lower().startswith(("http://", "https://")):
            return "^" + re.escape(Url.parse(prefix))
    except UrlError as error:
        raise Wrong("{prefix} is no beginning of an address", prefix=prefix) from error
    raise Wrong("begin {prefix} with / or with https://", prefix=prefix)


def wiki(value: object, settings: Settings) -> str:
    """An edition, by its language: no address of a server, which might be inside the operator's network."""
    (code, *more) = languages(value, settings) or [""]
    if more:
        raise Wrong("name one language")
    if settings.wiki is not None and code not in settings.wiki.editions:
        raise Wrong("choose one of {names}", names=", ".join(settings.wiki.editions))
    return str(parse_language(code))
