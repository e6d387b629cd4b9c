"""The pattern that turns one URL into another, as Liu et al. define it (section 2.2)."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz.distance import Indel

from bitrawl.url import Url

_BASENAME = re.compile(r"[._=&:\-?]")


class UrlPattern(NamedTuple):
    """Tokens and their replacements. An empty side means that tokens are inserted or deleted."""

    pathname: tuple[tuple[str, str], ...]
    basename: tuple[tuple[str, str], ...]


def pattern_of(a: Url, b: Url) -> UrlPattern:
    """The difference between two URLs.

    Slashes separate the tokens of host and directories; any of ._=&:-? separates those of the file and its parameters.
    """
    path_a, base_a = _tokens(a)
    path_b, base_b = _tokens(b)
    return UrlPattern(_changes(path_a, path_b), _changes(base_a, base_b))


def _tokens(url: Url) -> tuple[list[str], list[str]]:
    """The tokens of the pathname and of the basename. The scheme is in neither."""
    address, mark, query = url.partition("://")[2].partition("?")
    pathname, _, name = address.rpartition("/")
    return pathname.split("/"), _BASENAME.split(f"{name}{mark}{query}")


def _changes(a: Sequence[str], b: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What is between the tokens that both have, as in table 3: {"zh/documents" -> "ga/search"}."""
    found = []
    end_a = end_b = 0
    for same in Indel.opcodes(a, b).as_matching_blocks():  # the last block is empty, at the end of both
        if end_a < same.a or end_b < same.b:
            found.append(("/".join(a[end_a : same.a]), "/".join(b[end_b : same.b])))
        end_a, end_b = same.a + same.size, same.b + same.size
    return tuple(found)
