"""Cuts a URL into host, segments and query, and these into words, numbers and separators.

All modules of this folder cut URLs here. They differ in how finely: each model was trained with one way of cutting.

    pieces("FirstNations2-fra")   # First Nations 2 - fra
    runs("FirstNations2-fra")     # FirstNations 2 - fra
    words("FirstNations2-fra")    # FirstNations2 fra
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from bitrawl.url import Url

Tokens = tuple[str, ...]

_SMALL = r"[^\W\d_A-Z]"
_LETTER = r"[^\W\d_]"
_WORD = r"[^\W_]+"
# Numbers; several capitals (horn15EN, AboutFR); a word with or without its capital; one separator.
_PIECES = re.compile(rf"\d+|[A-Z]+(?!{_SMALL})|[A-Z]?{_SMALL}+|{_LETTER}+|[\W_]")
_RUNS = re.compile(rf"\d+|{_LETTER}+|[\W_]")
_WORDS = re.compile(_WORD)
# Not [^\W_]+, which would end a word at the vowel signs of Indic scripts.
_READABLE = re.compile(r"[^\x00-\x20\s!-/:-@\[-`{-\x7f\u2010-\u2027«»、。，]+")
_LOCALE = r"[a-z]{2,3}[-_](?:[a-z]{2}|[a-z]{4}|419)(?![^\W_])"
_LOCALES = re.compile(rf"(?<![^\W_]){_LOCALE}", re.IGNORECASE)
_WITH_SEPARATOR = (
    re.compile(rf"(?:[._\-]|(?<![^\W_]))({_LOCALE})", re.IGNORECASE),
    re.compile(rf"[._\-]?({_WORD})"),
)


def pieces(text: str) -> list[str]:
    """Numbers, words and single separators. A word is cut at its capitals. Joined, they are the text again."""
    return _PIECES.findall(text)


def runs(text: str) -> list[str]:
    """Runs of digits, runs of letters and single separators. Joined, they are the text again."""
    return _RUNS.findall(text)


def words(text: str) -> list[str]:
    """Runs of letters and digits, without the separators."""
    return _WORDS.findall(text)


def readable_words(text: str) -> list[str]:
    """Words as a person sees them, in any script: only punctuation separates them."""
    return _READABLE.findall(text)


def locales(text: str) -> list[str]:
    """What looks like a language with a country or a script: en-GB, zh_Hant, es-419."""
    return _LOCALES.findall(text)


def without(text: str, is_dropped: Callable[[str], bool]) -> str:
    """The text without the locales and words to be dropped, each with the separator before it."""
    for token in _WITH_SEPARATOR:
        text = token.sub(lambda match: "" if is_dropped(match[1]) else match[0], text)
    return text


@lru_cache(maxsize=2048)
def raw_tokens(url: Url) -> Tokens:
    """The URL as written, cut into `runs`. The scheme stays in front. Joined, they are the URL again."""
    scheme, _, rest = url.partition("://")
    return (scheme, "://", *runs(rest))


class UrlParts(NamedTuple):
    """The parts of a URL as written. Escapes are kept, because some models decode them and some do not."""

    host: str  # with its port
    segments: tuple[str, ...]  # of the path; the last is the page's own name, empty if the path ends in a slash
    query: str

    @classmethod
    def of(cls, url: str) -> "UrlParts":
        """The URL must be canonical."""
        _, _, host, rest = url.split("/", 3)
        path, _, query = rest.partition("?")
        return cls(host, tuple(path.split("/")), query)


class Parameter(NamedTuple):
    """A part of the query, as written."""

    name: str
    value: str


def parameters(query: str) -> list[Parameter]:
    """In their order, without the empty ones."""
    found = [parameter.partition("=") for parameter in query.split("&") if parameter]
    return [Parameter(name, value) for name, _, value in found]


class HostName(NamedTuple):
    """A host without its port: subdomains, the registered label, the public suffix."""

    subdomains: tuple[str, ...]
    label: str  # the whole name if the host is an IP address or a bare name
    suffix: str  # empty for those


@lru_cache(maxsize=8192)
def host_name(host: str) -> HostName:
    """Cached, because a site's URLs share their hosts."""
    name = host.partition(":")[0].rstrip(".")
    site = Url.known(f"http://{name}/").site
    label, _, suffix = site.partition(".")
    if not suffix or is_address(host):
        return HostName((), name, "")
    return HostName(tuple(name.removesuffix(site).strip(".").split(".")) if name != site else (), label, suffix)


def is_address(host: str) -> bool:
    """Whether the host is an IP address."""
    return host.startswith("[") or host.partition(":")[0].rpartition(".")[2].isdigit()
