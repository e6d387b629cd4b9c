"""Language marks in a URL: where it names a language, and what is left of it when the marks are taken out.

    skeleton(Url.parse("https://fr.example.org/news_fr.html"), Language("fr"))   # "example/news"
    skeleton(Url.parse("https://www.example.org/news.php"), Language("en"))      # "example/news"

Two pages of one site with the same skeleton, each in the language that its marks name, are versions of each other.
A mark alone says little ("it", "to" and "no" are words as well): only one that names the language which the page's
text is in, counts.
"""

import gzip
import re
import unicodedata
from functools import lru_cache
from importlib import resources
from urllib.parse import unquote

import langcodes
from langcodes import data_dicts

from bitrawl.languages import claimed_language, language_name, same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.url import Url

_ACCENTS = re.compile("[\u0300-\u036f]")
_TOKENS = re.compile(r"[^\W_]+")
_LOCALE = re.compile(r"(?:[._\-]|(?<![^\W_]))[a-z]{2,3}[-_](?:[a-z]{2}|[a-z]{4}|419)(?![^\W_])", re.IGNORECASE)
_CODE = re.compile(r"[a-z]{2,3}(?:[-_](?:[a-z]{2}|[a-z]{4}|419))?")
_SEPARATED = re.compile(r"([._\-]?)([^\W_]+)")
_PAGE = re.compile(r"\.(?:[sx]?html?|php\d?|aspx?|jspx?|cfm|cgi|do|xml|md)$", re.IGNORECASE)
_INDEX = re.compile(r"(?:^|/)(?:index|default|home|welcome)?$", re.IGNORECASE)
_LANGUAGE_PARAMETER = re.compile(
    r"(?:set_?)?(?:lang(?:uage)?(?:_?(?:id|code|select))?|locale|hl|lng|lg|l|idioma|langue|sprache|lingua|taal|jezyk)",
    re.IGNORECASE,
)
_MAX_TOKEN = 24  # Longer than any language's name that is written as one word.


@lru_cache(maxsize=65536)
def mark_language(token: str) -> Language:
    """The language that a token of a URL names, by code, locale, country or name; "und" where it names none."""
    return _named(folded(unquote(token))) if 2 <= len(token) <= 3 * _MAX_TOKEN else UNDETERMINED


@lru_cache(maxsize=65536)
def named_languages(url: Url) -> frozenset[Language]:
    """Every language that some token of the URL could name."""
    parts = [_without_suffix(url.host), *url.path.split("/"), url.query]
    return frozenset().union(*[_named_in(unquote(part)) for part in parts if len(part) > 1])


@lru_cache(maxsize=65536)
def skeleton(url: Url, language: Language) -> str:
    """The URL without all that names that language, and without what does not tell pages apart.

    Marks go with the separator before them. Suffix of the domain, "www", an index file's name and the file's
    extension go too.
    """
    host = _bare(_without_suffix(url.host), language).removeprefix("www.").removeprefix("www")
    path = "/".join([part for part in [_bare(unquote(s), language) for s in url.path.split("/") if s] if part])
    path = _INDEX.sub("", _PAGE.sub("", path)).rstrip("/").casefold()
    query = "&".join(sorted(_parameters(url.query, language)))
    return f"{host}/{path}?{query}" if query else f"{host}/{path}"


@lru_cache(maxsize=65536)
def is_marked(url: Url, language: Language) -> bool:
    """Whether the URL names that language."""
    return any(_are_one(named, language) for named in named_languages(url))


@lru_cache(maxsize=64)
def language_spellings(language: Language) -> frozenset[str]:
    """What a site may call its pages in that language by: codes of two and three letters, English name, endonyms."""
    code = str(language).partition("-")[0]
    tables = (data_dicts.LANGUAGE_ALPHA3, data_dicts.LANGUAGE_ALPHA3_BIBLIOGRAPHIC)
    codes = {code, *(table[code] for table in tables if code in table)}
    endonyms = (name for name in _endonyms().get(code, "").split("|") if name)
    return frozenset([*codes, folded(language_name(code)), *endonyms])


def folded(text: str) -> str:
    """Without case and without the accents that people leave out; signs of Indic scripts stay."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold())))


def _parameters(query: str, language: Language) -> list[str]:
    kept = []
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        if not parameter or (_LANGUAGE_PARAMETER.fullmatch(name) and mark_language(value) != UNDETERMINED):
            continue
        bare = _bare(value, language)
        if bare or not value:
            kept.append(f"{name}={bare}")
    return kept


@lru_cache(maxsize=65536)
def _bare(text: str, language: Language) -> str:
    """Without the tokens that name the language, each with one separator."""
    if any(_are_one(named, language) for named in _named_in(text)):
        text = _LOCALE.sub(lambda match: "" if _names(match[0].lstrip("._-"), language) else match[0], text)
        text = _SEPARATED.sub(lambda match: "" if _names(match[2], language) else match[0], text)
    return text.strip("._-")


@lru_cache(maxsize=65536)
def _named_in(text: str) -> frozenset[Language]:
    """Every language that some token of a part of a URL could name. Cached: a site's URLs share their folders."""
    found = {mark_language(match[0].lstrip("._-")) for match in _LOCALE.finditer(text)}
    found.update(map(mark_language, _TOKENS.findall(text)))
    return frozenset(found - {UNDETERMINED})


def _names(token: str, language: Language) -> bool:
    return _are_one(mark_language(token), language)


def _are_one(named: Language, language: Language) -> bool:
    """Whichever of them is said more closely; never for "und"."""
    return same_language(named, language) or same_language(language, named)


@lru_cache(maxsize=4096)
def _without_suffix(host: str) -> str:
    """Without the public suffix: example.fr and example.com are one name; an address stays as it is."""
    name = host.partition(":")[0]
    site = Url.known(f"http://{name}/").site
    label = site.partition(".")[0]
    return name.removesuffix(site) + label if "." in site and not name.replace(".", "").isdigit() else name


def _named(token: str) -> Language:
    if _CODE.fullmatch(token):
        return _by_code(token)
    if len(token) > _MAX_TOKEN or len(token) < 2 or (token.isascii() and len(token) < 4):
        return UNDETERMINED
    return _names_of_languages().get(token, UNDETERMINED)


def _by_code(token: str) -> Language:
    code, _, variety = token.replace("_", "-").partition("-")
    if code in data_dicts.LANGUAGE_ALPHA3 or (len(code) == 3 and code in _three_letters()):
        named = claimed_language(token)
        return named if named != UNDETERMINED else claimed_language(code)
    if variety or len(code) != 2:
        return UNDETERMINED
    # "cn" and "jp" stand for the language of the country, "pf" and "gm" for nothing but themselves.
    language = langcodes.Language.make(territory=code.upper()).maximize().language or ""
    home = langcodes.Language.make(language=language).maximize().territory if language else None
    return claimed_language(language) if home == code.upper() else UNDETERMINED


@lru_cache(maxsize=1)
def _three_letters() -> frozenset[str]:
    """Of the languages that have a code of two letters, the bibliographic ones ("ger") too: others are chance."""
    return frozenset([*data_dicts.LANGUAGE_ALPHA3.values(), *data_dicts.LANGUAGE_ALPHA3_BIBLIOGRAPHIC.values()])


@lru_cache(maxsize=1)
def _names_of_languages() -> dict[str, Language]:
    """Names and endonyms of CLDR, folded as in the table; a name that URLs can hold is one word."""
    names: dict[str, Language] = {}
    for code, endonyms, others in _cldr_names():
        for name in (*endonyms.split("|"), *others.split("|")):
            if name and " " not in name:
                names.setdefault(name, claimed_language(code))
    return names


@lru_cache(maxsize=1)
def _endonyms() -> dict[str, str]:
    return {code: endonyms for code, endonyms, _ in _cldr_names()}


def _cldr_names() -> list[list[str]]:
    packed = (resources.files("bitrawl.page") / "language_names.tsv.gz").read_bytes()
    return [line.split("\t") for line in gzip.decompress(packed).decode().splitlines()]
