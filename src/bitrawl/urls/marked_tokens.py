"""The tokens of a URL with the languages that they name, and the changes that turn one URL into another.

Comparisons of URLs start from these. Tokens are `pieces`, decoded and folded; a locale that fills a segment ("en-GB")
is one token. Case and accents are dropped, because sites are not consistent in them (First_Nations-fra,
first_nations-eng).
"""

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_plus

from rapidfuzz.distance import Levenshtein

from bitrawl.model import UNDETERMINED, Language
from bitrawl.text.language_names import folded
from bitrawl.url import Url
from bitrawl.urls.marks import mark_language
from bitrawl.urls.tokens import Tokens, pieces

# Narrower than `tokens.locales`: one within a segment ("to-be-or-no") is made of words here, because comparisons count
# words.
_LOCALE = re.compile(r"(?<=[/=.])([A-Za-z]{2,3})[-_]([A-Za-z]{2}|[A-Z][a-z]{3})(?=[/&.]|$)")
_BOUNDS = frozenset("/=&?")
_EDGES = frozenset("/=&?.:")
# Names that a server gives to a page that needs none, and extensions of its files.
PAGE_WORDS = frozenset(
    [
        "index",
        "default",
        "home",
        "welcome",
        "main",
        "html",
        "htm",
        "shtml",
        "xhtml",
        "php",
        "php3",
        "php5",
        "asp",
        "aspx",
        "jsp",
        "cfm",
        "cgi",
        "do",
        "xml",
        "md",
        "www",
    ]
)
_HEAD = 4  # letters by which cognates are recognised; judgement
_MAX_DIGITS = 18
_LONGEST = 60  # tokens; the rest is compared as one token, because time is quadratic; judgement


class MarkedTokens(NamedTuple):
    """The tokens of a URL without its scheme, and the language that each names if it is in the place of a mark."""

    tokens: Tokens
    marks: tuple[Language | None, ...]
    whole: tuple[bool, ...]  # whether the token fills a directory, a parameter's value or a label of the host
    bare: Tokens  # words and numbers, without names of languages and pages
    host_end: int
    heads: frozenset[str]  # first letters of the path's words, and its numbers; without marks
    # Computed once, because each comparison would count them again:
    size: int  # of all tokens
    content_places: tuple[int, ...]  # after the host: words and numbers that are not page names
    mark_places: tuple[int, ...]  # after the host: marks that are whole
    marked_languages: frozenset[Language]  # by marks that are whole, anywhere


class Change(NamedTuple):
    """Tokens `start` to `end` of the first URL correspond to `low` to `high` of the second. Either may be empty."""

    start: int
    end: int
    low: int
    high: int


@lru_cache(maxsize=65536)
def marked_tokens(url: Url) -> MarkedTokens:
    """Cached, because a page's URL is compared with each of its links, and a site's URLs with many others of the site."""
    return read_tokens(url)


def read_tokens(url: Url) -> MarkedTokens:
    """For those who look at each URL of a large site once."""
    text = unquote_plus(url.partition("://")[2].removeprefix("www."))
    text = text.removesuffix("/")
    tokens = _tokens(text)
    if len(tokens) > _LONGEST:
        tokens = (*tokens[: _LONGEST - 1], "".join(tokens[_LONGEST - 1 :]))
    host = tokens.index("/") if "/" in tokens else len(tokens)
    whole = tuple(_is_whole(tokens, place, host) for place in range(len(tokens)))
    marks = tuple(_mark(tokens, place, whole=whole[place]) for place in range(len(tokens)))
    heads = frozenset([token[:_HEAD] for token in bare_tokens(tokens[host:], marks[host:])])
    marked = [place for place, mark in enumerate(marks) if mark and whole[place]]
    return MarkedTokens(
        tokens,
        marks,
        whole,
        bare_tokens(tokens, marks),
        host,
        heads,
        size=sum(map(len, tokens)),
        content_places=tuple([place for place in range(host + 1, len(tokens)) if is_content(tokens[place])]),
        mark_places=tuple([place for place in marked if place > host]),
        marked_languages=frozenset([mark for place in marked if (mark := marks[place])]),
    )


def bare_tokens(tokens: Tokens, marks: tuple[Language | None, ...]) -> Tokens:
    """Words and numbers, without names of languages and pages."""
    return tuple([token for token, mark in zip(tokens, marks, strict=True) if not mark and is_content(token)])


def changes(a: Tokens, b: Tokens) -> list[Change]:
    """The fewest, from left to right, path with path and query with query; neighbours that only a separator parts stay apart."""
    query_a, query_b = (tokens.index("?") if "?" in tokens else len(tokens) for tokens in (a, b))
    if query_a == len(a) and query_b == len(b):
        return _changes(a, b, 0, 0)
    return [
        *_changes(a[:query_a], b[:query_b], 0, 0),
        *_changes(a[query_a:], b[query_b:], query_a, query_b),
    ]


def _changes(a: Tokens, b: Tokens, before_a: int, before_b: int) -> list[Change]:
    return [
        Change(before_a + code.src_start, before_a + code.src_end, before_b + code.dest_start, before_b + code.dest_end)
        for code in Levenshtein.opcodes(a, b)
        if code.tag != "equal"
    ]


def is_content(token: str) -> bool:
    """Whether it is a word or a number that is not the name of a page."""
    return token.isalnum() and token not in PAGE_WORDS


def number_value(token: str) -> int:
    """The value of a token of digits. Only the first 18 digits count, which is what fits into 64 bits."""
    return int(token[:_MAX_DIGITS])


def is_word(token: str) -> bool:
    """Whether it has letters: not a number and not a separator."""
    return token[:1].isalpha()


def _tokens(text: str) -> Tokens:
    found: list[str] = []
    last = 0
    for match in _LOCALE.finditer(text):
        if mark_language(match[1]) == UNDETERMINED:
            continue
        found += pieces(text[last : match.start()])
        found.append(match[0])
        last = match.end()
    found += pieces(text[last:] if last else text)
    return tuple(folded(token) for token in found)


def _is_whole(tokens: Tokens, place: int, host: int) -> bool:
    before = tokens[place - 1] if place else "/"
    after = tokens[place + 1] if place + 1 < len(tokens) else "/"
    if place < host:
        return before in "/.-" and after in "/.-"
    return before in _BOUNDS and after in _BOUNDS


def _mark(tokens: Tokens, place: int, *, whole: bool) -> Language | None:
    """A short code counts only at the edges of a segment: within a slug it is a word ("de", "no", "it")."""
    token = tokens[place]
    after = tokens[place + 1] if place + 1 < len(tokens) else "/"
    if len(token) < 2 or not token[0].isalpha() or after == "=":  # the name of a parameter: id is not Indonesian
        return None
    language = mark_language(token)
    if language == UNDETERMINED:
        return None
    if whole or len(token) > 3:
        return language
    before = tokens[place - 1] if place else "/"
    at_edge = before in _EDGES or after in _EDGES or _ends(tokens, place)
    return language if at_edge else None


def _ends(tokens: Tokens, place: int) -> bool:
    """Whether only the file's extension follows, or a number that is part of the name (davis_eng_2003.htm)."""
    rest = tokens[place + 1 : place + 3]
    return bool(rest) and rest[0] in "_-" and len(rest) > 1 and rest[1].isdecimal()
