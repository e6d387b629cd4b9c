"""Addresses that a page's own address suggests for its translation, although no page links to them.

Only the site's own habit and CLDR's codes count: /en/ suggests /fr/, en-US suggests fr-FR, index_en.html index_fr.html.
"""

import re
from functools import lru_cache

import langcodes
from langcodes import data_dicts

from bitrawl.errors import UrlError
from bitrawl.languages import language_name
from bitrawl.model import Language
from bitrawl.text.language_names import folded
from bitrawl.url import Url
from bitrawl.urls.marks import language_spellings, mark_language

# A code counts where it fills a segment, a label or a value, begins a segment, or ends it before the extension.
_CODE = r"[a-z]{2,3}(?:[-_](?:[a-z]{2}|[a-z]{4}))?"
_IN_HOST = re.compile(r"(?<=://)([a-z]{2,3})(?=\.[^/]+\.)", re.IGNORECASE)
_PLACES = (
    re.compile(rf"(?<=/)({_CODE})(?=[/._]|$)", re.IGNORECASE),
    re.compile(rf"(?<=[._-])({_CODE})(?=/|$|\?|\.\w{{1,6}}(?:$|\?))", re.IGNORECASE),
    re.compile(rf"(?<==)({_CODE})(?=&|$)", re.IGNORECASE),
    _IN_HOST,
    re.compile(r"(?<![^\W_])([^\W\d_]{4,24})(?![^\W_])"),
)


@lru_cache(maxsize=65536)
def counterparts(url: Url, own: Language, wanted: Language) -> tuple[Url, ...]:
    """The URL with each mark of the one language replaced by one of the other, the likeliest first.

    Empty if the URL does not name its language.
    """
    path = len(url.origin)
    marks = {
        match.span(1): match[1]
        for place in _PLACES
        for match in place.finditer(url)
        if (match.start() >= path or place is _IN_HOST) and _names(match[1], own)
    }
    spans = sorted(span for span in marks if not any(_within(span, other) for other in marks))
    found: dict[Url, None] = {}
    for choice in range(max((len(_spellings(marks[span], wanted)) for span in spans), default=0)):
        text, last = "", 0
        for span in spans:
            spelled = _spellings(marks[span], wanted)
            text += url[last : span[0]] + spelled[min(choice, len(spelled) - 1)]
            last = span[1]
        try:
            found[Url.parse(text + url[last:])] = None
        except UrlError:
            continue
    found.pop(url, None)
    return tuple(found)


def folder_of(url: Url, language: Language) -> Url:
    """The folder of that language beside a page."""
    return Url.parse(f"{url.folder}{_bare(language)}/")


def _names(token: str, language: Language) -> bool:
    """Codes of countries do not count: contact-us.html is not marked as English."""
    first = re.split("[-_]", token)[0]
    return folded(token if len(first) > 3 else first) in language_spellings(Language(_bare(language)))


@lru_cache(maxsize=1024)
def _spellings(mark: str, wanted: Language) -> tuple[str, ...]:
    """The wanted language, written as the mark is: code, locale or name, in its case."""
    code = _bare(wanted)
    parts = re.split("([-_])", mark)
    if len(parts) == 3 and len(parts[0]) <= 3:
        region = langcodes.Language.get(code).maximize().territory or code.upper()
        spelled = [_cased(code, parts[0]) + parts[1] + _cased(region, parts[2]), _cased(code, parts[0])]
    elif len(mark) == 2:
        spelled = [code]
    elif len(mark) == 3:
        tables = (data_dicts.LANGUAGE_ALPHA3, data_dicts.LANGUAGE_ALPHA3_BIBLIOGRAPHIC)
        spelled = list(dict.fromkeys(table[code] for table in tables if code in table)) or [code]
    else:
        spelled = _names_like(mark, code)
    return tuple(dict.fromkeys(_cased(text, mark) if len(parts) == 1 else text for text in spelled))


def _names_like(mark: str, code: str) -> list[str]:
    """The English name for an English name, the endonym for an endonym."""
    english = folded(language_name(code))
    others = sorted(name for name in language_spellings(Language(code)) if len(name) > 3 and name != english)
    own = mark_language(mark)
    return [english, *others[:1]] if folded(mark) == folded(language_name(_bare(own))) else [*others[:1], english]


def _cased(text: str, model: str) -> str:
    if model.isupper():
        return text.upper()
    return text.capitalize() if model[:1].isupper() else text.lower()


def _bare(language: str) -> str:
    return language.partition("-")[0]


def _within(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]
