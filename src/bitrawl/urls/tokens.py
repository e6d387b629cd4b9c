"""Cuts a URL into host, segments and query, and these into words, numbers, separators and language marks.

All modules of this room cut URLs here. They differ in how finely: each model was trained with one way of cutting.

    pieces("FirstNations2-fra")   # First Nations 2 - fra
    runs("FirstNations2-fra")     # FirstNations 2 - fra
    words("FirstNations2-fra")    # FirstNations2 fra

A mark names a language. Two pages of one site with the same `skeleton`, each in the language that its marks name, are
versions of each other. A mark alone says little ("it", "to" and "no" are words too): it counts only if it names the
language of the page's text.

    skeleton(Url.parse("https://fr.example.org/news_fr.html"), Language("fr"))   # "example/news"
    skeleton(Url.parse("https://www.example.org/news.php"), Language("en"))      # "example/news"

Comparisons of URLs start from `marked_tokens`: `pieces`, decoded and folded, with a locale that fills a segment ("en-GB")
as one token. Case and accents are dropped, because sites are not consistent in them (First_Nations-fra,
first_nations-eng).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain
from pathlib import PurePosixPath
from string import ascii_letters
from sys import intern
from typing import NamedTuple, TypeVar
from urllib.parse import quote, unquote, unquote_plus

import langcodes
from langcodes import data_dicts

from bitrawl.languages import base_language, claimed_language, language_name, same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.text.language_names import NamedLanguage, folded, language_code, language_table, three_letter_codes
from bitrawl.url import MAX_LENGTH, Url

Tokens = tuple[str, ...]
Shared = TypeVar("Shared", Tokens, tuple[Language | None, ...], frozenset[Language])

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
_WITH_SEPARATOR = (re.compile(rf"(?:[._\-]|(?<![^\W_]))({_LOCALE})", re.IGNORECASE), re.compile(rf"[._\-]?({_WORD})"))


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


# Where an address names its page's language: a directory, a value, what begins or ends one of them or a file's name.
_NAMING = re.compile(
    rf"(?<=[/=])(?:{_LOCALE}|{_WORD})(?=[/&.?_-]|$)|(?<=[._-])(?:{_LOCALE}|{_WORD})(?=[/&.?]|$)", re.IGNORECASE
)


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
    parts = [parameter.partition("=") for parameter in query.split("&") if parameter]
    return [Parameter(name, value) for name, _, value in parts]


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


_CODE = re.compile(r"[a-z]{2,3}(?:[-_](?:[a-z]{2}|[a-z]{4}|419))?")
_PAGE = re.compile(r"\.(?:[sx]?html?|php\d?|aspx?|jspx?|cfm|cgi|do|xml|md)$", re.IGNORECASE)
_INDEX = re.compile(r"(?:^|/)(?:index|default|home|welcome)?$", re.IGNORECASE)
_LANGUAGE_PARAMETER = re.compile(
    r"(?:set_?)?(?:lang(?:uage)?(?:_?(?:id|code|select))?|locale|hl|lng|lg|l|idioma|langue|sprache|lingua|taal|jezyk)",
    re.IGNORECASE,
)
# Where a page's own URL names its language. A mark may be removed at more places: here codes with digits do not count.
_IN_QUERY = re.compile(
    r"(?:^|&)(?:lang|language|locale|hl|lng|lg|l|langid|idioma|langue|sprache|set_?lang\w*)=([A-Za-z_\-]{2,7})(?=&|$)",
    re.IGNORECASE,
)
_SUFFIX = re.compile(r"([._\-])([A-Za-z]{2})(?:\.(?:s?html?|php\d?|aspx?|jsp|xml|cfm))?$")  # page_fr.html, index.php.fr
_NONE: frozenset[Language] = frozenset()
PARTS = 8192  # parts of URLs that are remembered. Folders come again soon, and file names never.
_MAX_TOKEN = 24  # characters: of the 25,812 one-word names in CLDR's table, all but 6 are this short
_ABBREVIATES = 0.08  # share of a language's names that begin so; judgement


@lru_cache(maxsize=PARTS)
def mark_language(token: str) -> Language:
    """The language that a token of a URL names, by code, locale, country or name; "und" if it names none."""
    return _named(folded(unquote(token))) if 2 <= len(token) <= 3 * _MAX_TOKEN else UNDETERMINED


@lru_cache(maxsize=PARTS)
def named_languages(url: Url) -> frozenset[Language]:
    """Every language that some token of the URL could name."""
    host, segments, query = UrlParts.of(url)
    parts = [_registered(host), *segments, query]
    return frozenset().union(*[_named_in(unquote(part)) for part in parts if len(part) > 1])


@lru_cache(maxsize=PARTS)
def skeleton(url: Url, language: Language) -> str:
    """The URL without everything that names that language, and without what does not tell pages apart.

    Marks are removed with the separator before them. The domain's suffix, "www", the name of an index file and the
    file's extension are removed too.
    """
    parts = UrlParts.of(url)
    host = _bare(_registered(parts.host), language).removeprefix("www.").removeprefix("www")
    path = "/".join([bare for part in parts.segments if part and (bare := _bare(unquote(part), language))])
    path = _INDEX.sub("", _PAGE.sub("", path)).rstrip("/").casefold()
    query = "&".join(sorted(_parameters(parts.query, language)))
    return f"{host}/{path}?{query}" if query else f"{host}/{path}"


@lru_cache(maxsize=64)
def language_spellings(language: Language) -> tuple[str, ...]:
    """What a site may call that language in its URLs: codes, the shortest first, then English name, then endonyms."""
    code = base_language(language)
    tables = (data_dicts.LANGUAGE_ALPHA3, data_dicts.LANGUAGE_ALPHA3_BIBLIOGRAPHIC)
    codes = [code, *(table[code] for table in tables if code in table)]
    return tuple(dict.fromkeys([*codes, folded(language_name(code)), *_endonyms().get(code, ())]))


@lru_cache(maxsize=4096)
def abbreviates(mark: Language, language: Language) -> bool:
    """Whether what was read as one language's code more likely stands for another's name: "an" for English (anglais).

    The code of a language that is the main one of its own country is never read so.
    """
    code = str(mark)
    if code not in _abbreviations(base_language(language)):
        return False
    home = langcodes.Language.get(code).maximize().territory
    return not home or langcodes.Language.get(f"und-{home}").maximize().language != code


@lru_cache(maxsize=4096)
def sign_of(languages: tuple[Language, Language], *marks: Language) -> int:
    """1 if the marks name the first of the two languages, -1 if the second, 0 if neither."""
    both = tuple(zip((1, -1), languages, strict=True))
    exact = (sign for mark in marks for sign, language in both if are_one(mark, language))
    shortened = (sign for sign, language in both for mark in marks if abbreviates(mark, language))
    return next(chain(exact, shortened), 0)


@lru_cache(maxsize=64)
def _abbreviations(code: str) -> frozenset[str]:
    """Two or three letters with which many languages' names for that language begin."""
    names = [name for line in _table() if line.code == code for name in line.others if name.isascii()]
    counts = Counter(name[:width] for name in names for width in (2, 3))
    return frozenset(text for text, count in counts.items() if count >= _ABBREVIATES * len(names))


@lru_cache(maxsize=1)
def _table() -> list[NamedLanguage]:
    return language_table()


def address_languages(url: Url, beside: Url | None = None, *, countries: bool = True) -> frozenset[str]:
    """The languages that a URL names at the usual places: a parameter, a folder, the host's first label, a suffix.

    A folder counts if it is the first one, if it contains others, or if `beside` has a language at the same place: the
    last folder of /tag/it/ is a subject. Without `countries`, /faq/pf/ does not name the language of French Polynesia.
    """
    return _address_languages(url, None if beside is None else _language_folders(beside), countries)


@lru_cache(maxsize=8192)
def _address_languages(url: Url, beside: frozenset[int] | None, countries: bool) -> frozenset[str]:  # noqa: FBT001
    """Cached, because the pages of a site share links and the places of the folders that name a language."""
    host, folders, query = UrlParts.of(url)
    tokens = [named[1] for named in _IN_QUERY.finditer(query)] if query else []
    if host.count(".") > 1:
        tokens.append(host.partition(".")[0])
    last = len(folders) - (2 if not folders[-1] else 1)
    for place, folder in enumerate(folders):
        if 2 <= len(folder) <= 7 and (place == 0 or place < last or (beside is not None and place in beside)):
            tokens.append(folder)
    # "how-to.html" is not Tongan. A hyphen counts only if something else indicates that language.
    if (suffix := _SUFFIX.search(folders[-1])) and (suffix[1] != "-" or beside is not None):
        tokens.append(suffix[2])
    if not tokens:
        return _NONE
    named = {token.lower(): code for token in tokens if 2 <= len(token) <= 7 and (code := language_code(token))}
    return frozenset(code for token, code in named.items() if countries or len(token) > 2 or token == code)


@lru_cache(maxsize=16)
def _language_folders(url: Url) -> frozenset[int]:
    """The places of the folders that name a language. Cached for the page whose links are read."""
    return frozenset(place for place, folder in enumerate(UrlParts.of(url).segments) if language_code(folder))


def renamed(url: Url, own: Language, language: Language) -> list[Url]:
    """Addresses that a page's version in another language may have, if its address names its own: in the same manner.

    A directory that is named so comes before what it holds: names of pages are often translated too.
    """
    text = unquote(url.removeprefix(url.origin))
    made = []
    for match in _NAMING.finditer(text):
        if are_one(mark_language(match[0]), own):
            before, after = text[: match.start()], text[match.end() :]
            for name in _alike(match[0], language):
                made += [f"{before}{name}/"] * after.startswith("/") + [f"{before}{name}{after}"]
    return _parsed(url, made)


def versions(url: Url, language: Language, extension: str = "") -> list[Url]:
    """Addresses of a version in another language, if the address names none, as most sites do it: directory, end of the file's name, parameter.

    The extension is that of other pages of the site, for an address without a file's name.
    """
    text = url.removeprefix(url.origin)
    folder, _, name = text.partition("?")[0].rpartition("/")
    stem, extension = (PurePosixPath(name).stem, PurePosixPath(name).suffix) if name else ("index", extension)
    code = language_spellings(language)[0]
    file = [f"{folder}/{stem}.{code}{extension}"] if extension else []
    query = f"{text}{'&' if url.query else '?'}lang={code}"
    above = [f"/{code}{text}", f"/{code}/"] if text != "/" else []
    return _parsed(url, [f"{folder}/{code}/", *file, query, f"{folder}/{_own_name(language)}/", *above])


def _parsed(url: Url, texts: Iterable[str]) -> list[Url]:
    return [Url.parse(url.origin + text) for text in texts if len(url.origin + quote(text)) <= MAX_LENGTH]


def _alike(mark: str, language: Language) -> list[str]:
    """Names of a language like this one of another: with a country, by a code as long, or by a word."""
    code, *_ = spellings = language_spellings(language)
    if _LOCALES.fullmatch(mark):
        country = langcodes.Language.get(language).maximize().territory or ""
        separator = mark.lstrip(ascii_letters)[0]
        return [f"{code}{separator}{country.lower() if mark.islower() else country}", code]
    if len(mark) <= 3 and mark.isascii():
        return [next((name for name in spellings if len(name) == len(mark)), code)]
    is_english = folded(mark) == folded(language_name(mark_language(mark)))
    return [folded(language_name(code)) if is_english else _own_name(language)]


def page_extension(url: Url) -> str:
    """The extension of a file that holds a page; empty where the address has none."""
    match = _PAGE.search(url.path)
    return match[0] if match else ""


def _own_name(language: Language) -> str:
    """The language's name in itself, as an address has it; its code if that name has spaces."""
    code = language_spellings(language)[0]
    names = _endonyms().get(str(language).lower()) or _endonyms().get(code, ())
    return next((name for name in names if " " not in name), code)


def _parameters(query: str, language: Language) -> list[str]:
    rest = []
    for name, value in parameters(query):
        if _LANGUAGE_PARAMETER.fullmatch(name) and mark_language(value) != UNDETERMINED:
            continue
        bare = _bare(value, language)
        if bare or not value:
            rest.append(f"{name}={bare}")
    return rest


@lru_cache(maxsize=PARTS)
def _bare(text: str, language: Language) -> str:
    """Without the tokens that name the language, each with one separator."""
    if any(are_one(named, language) for named in _named_in(text)):
        text = without(text, lambda token: are_one(mark_language(token), language))
    return text.strip("._-")


@lru_cache(maxsize=PARTS)
def _named_in(text: str) -> frozenset[Language]:
    """Every language that a token of a part of a URL could name. Cached, because a site's URLs share their folders."""
    return (
        frozenset(map(mark_language, [*locales(text), *words(text)])) - {UNDETERMINED} or _NONE
    )  # each takes 216 bytes


def are_one(named: Language, language: Language) -> bool:
    """Whether they are the same language, even if one is more specific. Never for "und"."""
    return same_language(named, language) or same_language(language, named)


@lru_cache(maxsize=4096)
def _registered(host: str) -> str:
    """Without the public suffix: example.fr and example.com are one name. An IP address stays as it is."""
    name = host_name(host)
    return ".".join((*name.subdomains, name.label))


def _named(token: str) -> Language:
    if _CODE.fullmatch(token):
        return _by_code(token)
    if len(token) > _MAX_TOKEN or len(token) < 2 or (token.isascii() and len(token) < 4):
        return UNDETERMINED
    return _names_of_languages().get(token, UNDETERMINED)


def _by_code(token: str) -> Language:
    code, _, variety = token.replace("_", "-").partition("-")
    if code in data_dicts.LANGUAGE_ALPHA3 or (len(code) == 3 and code in three_letter_codes()):
        named = claimed_language(token)
        return named if named != UNDETERMINED else claimed_language(code)
    if variety or len(code) != 2:
        return UNDETERMINED
    # "cn" and "jp" stand for the language of the country; "pf" and "gm" only for themselves.
    language = langcodes.Language.make(territory=code.upper()).maximize().language or ""
    home = langcodes.Language.make(language=language).maximize().territory if language else None
    return claimed_language(language) if home == code.upper() else UNDETERMINED


@lru_cache(maxsize=1)
def _names_of_languages() -> dict[str, Language]:
    """Names and endonyms from CLDR, folded as in the table. Only names of one word can occur in URLs."""
    names: dict[str, Language] = {}
    for code, endonyms, others in language_table():
        language = claimed_language(code)
        for name in (*endonyms, *others):
            if " " not in name:
                names.setdefault(name, language)
    return names


@lru_cache(maxsize=1)
def _endonyms() -> dict[str, tuple[str, ...]]:
    return {code: endonyms for code, endonyms, _ in language_table()}


# Narrower than `tokens.locales`: one within a segment ("to-be-or-no") is made of words here, because comparisons count
# words.
_MARKED_LOCALE = re.compile(r"(?<=[/=.])([A-Za-z]{2,3})[-_]([A-Za-z]{2}|[A-Z][a-z]{3})(?=[/&.]|$)")
_BOUNDS = frozenset("/=&?")
_EDGES = frozenset("/=&?.:")
# Names that a server gives to a page that needs none, and extensions of its files.
PAGE_WORDS = frozenset([
    "index", "default", "home", "welcome", "main", "html", "htm", "shtml", "xhtml", "php", "php3", "php5", "asp",
    "aspx", "jsp", "cfm", "cgi", "do", "xml", "md", "www",
])  # fmt: skip
_MAX_DIGITS = 18
_LONGEST = 60  # tokens; the rest is compared as one token, because time is quadratic


class MarkedTokens(NamedTuple):
    """The tokens of a URL without its scheme, and the language that each names if it is in the place of a mark."""

    tokens: Tokens
    marks: tuple[Language | None, ...]
    whole: bytes  # 1 if the token fills a directory, a parameter's value or a label of the host
    bare: Tokens  # words and numbers, without names of languages and pages
    host_end: int
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


@lru_cache(maxsize=PARTS)
def marked_tokens(url: Url) -> MarkedTokens:
    """Cached, because a page's URL is compared with each of its links."""
    return read_tokens(url)


def read_tokens(url: Url) -> MarkedTokens:
    """For those who go through all URLs of a site: of 50,000, the cache would hold 200 MB."""
    text = unquote_plus(url.partition("://")[2].removeprefix("www."))
    text = text.removesuffix("/")
    tokens = _tokens(text)
    if len(tokens) > _LONGEST:
        tokens = (*tokens[: _LONGEST - 1], "".join(tokens[_LONGEST - 1 :]))
    host = tokens.index("/") if "/" in tokens else len(tokens)
    whole = bytes([_is_whole(tokens, place, host) for place in range(len(tokens))])
    marks = _one(tuple([_mark(tokens, place, whole=bool(whole[place])) for place in range(len(tokens))]))
    marked = [place for place, mark in enumerate(marks) if mark and whole[place]]
    return MarkedTokens(
        tokens,
        marks,
        whole,
        bare_tokens(tokens, marks),
        host,
        size=sum(map(len, tokens)),
        content_places=tuple([place for place in range(host + 1, len(tokens)) if is_content(tokens[place])]),
        mark_places=tuple([place for place in marked if place > host]),
        marked_languages=_one(frozenset([mark for place in marked if (mark := marks[place])])),
    )


@lru_cache(maxsize=PARTS)
def _one(value: Shared) -> Shared:
    """The first of all equal values: the URLs of a site share most of what they are made of."""
    return value


def bare_tokens(tokens: Tokens, marks: tuple[Language | None, ...]) -> Tokens:
    """Words and numbers, without names of languages and pages."""
    return tuple([token for token, mark in zip(tokens, marks, strict=True) if not mark and is_content(token)])


def changes(a: Tokens, b: Tokens) -> list[Change]:
    """The fewest, from left to right, path with path and query with query; neighbours that only a separator parts stay apart."""
    query_a, query_b = (tokens.index("?") if "?" in tokens else len(tokens) for tokens in (a, b))
    if query_a == len(a) and query_b == len(b):
        return _changes(a, b, 0, 0)
    return [*_changes(a[:query_a], b[:query_b], 0, 0), *_changes(a[query_a:], b[query_b:], query_a, query_b)]


def _changes(a: Tokens, b: Tokens, before_a: int, before_b: int) -> list[Change]:
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - 10 ms, and readers of pages compare no URLs

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
    tokens: list[str] = []
    last = 0
    for match in _MARKED_LOCALE.finditer(text):
        if mark_language(match[1]) == UNDETERMINED:
            continue
        tokens += pieces(text[last : match.start()])
        tokens.append(match[0])
        last = match.end()
    tokens += pieces(text[last:] if last else text)
    return tuple([intern(folded(token)) for token in tokens])


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
