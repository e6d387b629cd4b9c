"""Languages as people type them into a form: codes, English names, endonyms, and names in other languages."""

import difflib
import re
from functools import lru_cache
from typing import NamedTuple

from bitrawl.errors import ConfigError
from bitrawl.languages import language_name, parse_language
from bitrawl.model import Language
from bitrawl.text.language_names import language_table, spaced
from bitrawl.web.said import Said, said

_BETWEEN = re.compile(r"[,;/+&|\n]+|\s+(?:and|et|y|und)\s+")
_SHORTEST, _LONGEST = 3, 40  # characters that a name has more than, and at most; judgement
SUGGESTED = 8  # fits below a field; judgement


class SuggestedLanguage(NamedTuple):
    """A language that a person may be about to type."""

    code: Language
    name: str  # in English
    endonym: str  # in lower case, without accents


def typed_languages(text: str) -> list[Language]:
    """Each once, in the order in which they were typed. Raises `ConfigError` for what is no language."""
    found: list[Language] = []
    for part in (part.strip() for part in _BETWEEN.split(text)):
        if not part:
            continue
        try:
            found.append(_typed_language(part))
        except ConfigError:
            words = part.split()
            if len(words) < 2:
                raise
            found += [_typed_language(word) for word in words]
    return list(dict.fromkeys(found))


def suggested_languages(text: str, most: int = SUGGESTED) -> list[SuggestedLanguage]:
    """Those with a name or an endonym that begins so, or with this code; nothing for an empty text."""
    begun = spaced(text)
    if not begun:
        return []
    ranked = []
    for one in _names():
        names = (spaced(one.name), one.endonym)
        if begun in (one.code.lower(), *names):
            ranked.append((0, one.name, one))
        elif any(name.startswith(begun) for name in names):
            ranked.append((1, one.name, one))
    return [one for _, _, one in sorted(ranked)[:most]]


def _typed_language(text: str) -> Language:
    try:
        return parse_language(text)
    except ConfigError:
        code = _codes().get(spaced(text))
        if code is None:
            raise ConfigError(_unknown(text[:_LONGEST])) from None
        return parse_language(code)


def _unknown(text: str) -> Said:
    """Names that most people use come first: with those of all languages, almost any word is near one."""
    usual = {name: one for one in _names() for name in (spaced(one.name), one.endonym) if name}
    near = difflib.get_close_matches(spaced(text), usual, 1) if len(text) > _SHORTEST else []
    if near:
        name = f"{usual[near[0]].name} ({usual[near[0]].code})"
        return said("{typed} is no known language; did you mean {near}?", typed=text, near=name)
    return said("{typed} is no known language; type its name, or its code", typed=text)


@lru_cache(maxsize=1)
def _codes() -> dict[str, str]:
    """By name, as `spaced` writes it. An endonym wins over a name in another language."""
    table = language_table()
    codes = {name: one.code for one in reversed(table) for name in one.others}
    codes.update({name: one.code for one in reversed(table) for name in one.endonyms})
    return codes


@lru_cache(maxsize=1)
def _names() -> tuple[SuggestedLanguage, ...]:
    found = []
    for one in language_table():
        try:
            code = parse_language(one.code)
        except ConfigError:
            continue
        found.append(SuggestedLanguage(code, language_name(code), one.endonyms[0] if one.endonyms else ""))
    return tuple(found)
