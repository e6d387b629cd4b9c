"""A category by a name that may be spelt otherwise: other spellings, sameness and nearness of names."""

import re
from collections.abc import Iterable

from rapidfuzz import fuzz, process

from bitrawl.errors import ConfigError

NEAREST = 5  # names in a message; judgement
_WORD = re.compile(r"\w+")


def spellings(name: str) -> list[str]:
    """The name as it is, then as others may write it. A wiki capitalises the first letter by itself."""
    plain = " ".join(name.replace("_", " ").split())
    found = [plain]
    for change in (_with_and, _with_ampersand, str.lower, _other_number):
        found += [change(each) for each in found]
    return list(dict.fromkeys(each for each in found if each))


def _with_and(name: str) -> str:
    return " ".join(name.replace("&", " and ").split())


def _with_ampersand(name: str) -> str:
    return name.replace(" and ", " & ")


def _other_number(name: str) -> str:
    """English categories are in the plural; elsewhere this is a spelling that nobody has."""
    return name[:-1] if name.endswith("s") else f"{name}s"


def same_name(one: str, other: str) -> bool:
    """Whether only case, punctuation, "&" for "and" and the English plural differ."""
    return _key(one) == _key(other)


def _key(name: str) -> list[str]:
    words = _WORD.findall(name.replace("&", " and ").casefold())
    return [word.removesuffix("s") if len(word) > 3 else word for word in words]


def nearest(name: str, candidates: Iterable[str], most: int = NEAREST) -> list[str]:
    """The candidates most like the name, the nearest first."""
    unique = list(dict.fromkeys(candidates))
    found = process.extract(name.casefold(), unique, scorer=fuzz.token_set_ratio, processor=str.casefold, limit=most)
    return [match for match, _, _ in found]


def unknown_category(name: str, where: str, near: list[str]) -> ConfigError:
    if near:
        return ConfigError(f'{where} has no category "{name}". Near it are: {_quoted(near)}. Try one of these')
    return ConfigError(
        f'{where} has no category "{name}" and none like it. Look the subject up there: the categories are at the foot of '
        "each article",
        advice=". For a name in another language, give that edition to --wiki",
    )


def empty_category(name: str, where: str, near: list[str]) -> ConfigError:
    hint = f"; try {_quoted(near)}" if near else ""
    return ConfigError(
        f'the category "{name}" of {where} is empty: its articles may have moved to another category{hint}'
    )


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
