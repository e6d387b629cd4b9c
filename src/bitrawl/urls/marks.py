"""Language marks in a URL: where it names a language, and what is left without the marks.

    skeleton(Url.parse("https://fr.example.org/news_fr.html"), Language("fr"))   # "example/news"
    skeleton(Url.parse("https://www.example.org/news.php"), Language("en"))      # "example/news"

Two pages of one site with the same skeleton, each in the language that its marks name, are versions of each other. A
mark alone says little ("it", "to" and "no" are words too). It counts only if it names the language of the page's text.
"""

import re
from collections import Counter
from functools import lru_cache
from urllib.parse import unquote

import langcodes
from langcodes import data_dicts

from bitrawl.languages import claimed_language, language_name, same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.text.language_names import NamedLanguage, folded, language_code, language_table, three_letter_codes
from bitrawl.url import Url
from bitrawl.urls.tokens import UrlParts, host_name, locales, parameters, without, words

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
_NONE: frozenset[str] = frozenset()
PARTS = 8192  # judgement: parts of URLs that are remembered. Folders come again soon, and file names never.
_MAX_TOKEN = 24  # characters: of the 25,812 one-word names in CLDR's table, all but 6 are this short
_ABBREVIATES = 0.08  # share of a language's names that begin so; judgement


@lru_cache(maxsize=PARTS)
def mark_language(token: str) -> Language:
    """The language that a token of a URL names, by code, locale, country or name; "und" if it names none."""
    return _named(folded(unquote(token))) if 2 <= len(token) <= 3 * _MAX_TOKEN else UNDETERMINED


@lru_cache(maxsize=65536)
def named_languages(url: Url) -> frozenset[Language]:
    """Every language that some token of the URL could name."""
    host, segments, query = UrlParts.of(url)
    parts = [_registered(host), *segments, query]
    return frozenset().union(*[_named_in(unquote(part)) for part in parts if len(part) > 1])


@lru_cache(maxsize=65536)
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
def language_spellings(language: Language) -> frozenset[str]:
    """What a site may call that language in its URLs: codes of two and three letters, English name, endonyms."""
    code = str(language).partition("-")[0]
    tables = (data_dicts.LANGUAGE_ALPHA3, data_dicts.LANGUAGE_ALPHA3_BIBLIOGRAPHIC)
    codes = {code, *(table[code] for table in tables if code in table)}
    return frozenset([*codes, folded(language_name(code)), *_endonyms().get(code, ())])


@lru_cache(maxsize=4096)
def abbreviates(mark: Language, language: Language) -> bool:
    """Whether what was read as one language's code more likely stands for another's name: "an" for English (anglais).

    The code of a language that is the main one of its own country is never read so.
    """
    code = str(mark)
    if code not in _abbreviations(str(language).partition("-")[0]):
        return False
    home = langcodes.Language.get(code).maximize().territory
    return not home or langcodes.Language.get(f"und-{home}").maximize().language != code


@lru_cache(maxsize=64)
def _abbreviations(code: str) -> frozenset[str]:
    """Two or three letters with which many languages' names for that language begin."""
    names = [name for line in _table() if line.code == code for name in line.others if name.isascii()]
    counts = Counter(name[:width] for name in names for width in (2, 3))
    return frozenset(text for text, count in counts.items() if count >= _ABBREVIATES * len(names))


@lru_cache(maxsize=1)
def _table() -> list[NamedLanguage]:
    return language_table()


@lru_cache(maxsize=8192)
def address_languages(url: Url, beside: Url | None = None) -> frozenset[str]:
    """The languages that a URL names at the usual places: a parameter, a folder, the host's first label, a suffix.

    A folder counts if it is the first one, if it contains others, or if `beside` has a language at the same place: the
    last folder of /tag/it/ is a subject.
    """
    host, folders, query = UrlParts.of(url)
    tokens = [named[1] for named in _IN_QUERY.finditer(query)] if query else []
    if host.count(".") > 1:
        tokens.append(host.partition(".")[0])
    last = len(folders) - (2 if not folders[-1] else 1)
    for place, folder in enumerate(folders):
        if 2 <= len(folder) <= 7 and (
            place == 0 or place < last or (beside is not None and place in _language_folders(beside))
        ):
            tokens.append(folder)
    # "how-to.html" is not Tongan. A hyphen counts only if something else indicates that language.
    if (suffix := _SUFFIX.search(folders[-1])) and (suffix[1] != "-" or beside):
        tokens.append(suffix[2])
    if not tokens:
        return _NONE
    return frozenset(code for token in tokens if 2 <= len(token) <= 7 and (code := language_code(token)))


@lru_cache(maxsize=16)
def _language_folders(url: Url) -> frozenset[int]:
    """The places of the folders that name a language. Cached for the page whose links are read."""
    return frozenset(place for place, folder in enumerate(UrlParts.of(url).segments) if language_code(folder))


def _parameters(query: str, language: Language) -> list[str]:
    kept = []
    for name, value in parameters(query):
        if _LANGUAGE_PARAMETER.fullmatch(name) and mark_language(value) != UNDETERMINED:
            continue
        bare = _bare(value, language)
        if bare or not value:
            kept.append(f"{name}={bare}")
    return kept


@lru_cache(maxsize=PARTS)
def _bare(text: str, language: Language) -> str:
    """Without the tokens that name the language, each with one separator."""
    if any(_are_one(named, language) for named in _named_in(text)):
        text = without(text, lambda token: _are_one(mark_language(token), language))
    return text.strip("._-")


@lru_cache(maxsize=PARTS)
def _named_in(text: str) -> frozenset[Language]:
    """Every language that a token of a part of a URL could name. Cached, because a site's URLs share their folders."""
    return frozenset(map(mark_language, [*locales(text), *words(text)])) - {UNDETERMINED}


def _are_one(named: Language, language: Language) -> bool:
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
        for name in (*endonyms, *others):
            if " " not in name:
                names.setdefault(name, claimed_language(code))
    return names


@lru_cache(maxsize=1)
def _endonyms() -> dict[str, tuple[str, ...]]:
    return {code: endonyms for code, endonyms, _ in language_table()}
