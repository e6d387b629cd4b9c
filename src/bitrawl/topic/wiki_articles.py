"""What a wiki tells of a category, whether through its API or from a dump.

Names may be spelt otherwise, so there are other spellings, sameness and nearness of names. `walked` goes from a category to those
below it, level by level. Language codes are those of Wikimedia's editions: most are ISO 639, some are older than it.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Protocol

import msgspec
from rapidfuzz import fuzz, process

from bitrawl.errors import CategoryError
from bitrawl.languages import base_language, claimed_language
from bitrawl.model import Language


class Article(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a wiki, and how it was reached."""

    title: str
    category: str = ""  # where it was found first, without the namespace
    branch: str = ""  # the subcategory of the root that leads there; the root itself for its own articles
    depth: int = 0  # of its category below the root
    translations: dict[Language, str] = {}  # titles in the languages asked for
    links: tuple[str, ...] = ()  # external ones, as the wiki has them
    redirect: bool = False
    disambiguation: bool = False
    lead: str = ""  # its first paragraphs as plain text; empty where they are not known


class Gathered(msgspec.Struct, frozen=True):
    """The articles of a category and of those below it; each of them once, at its least depth."""

    articles: tuple[Article, ...] = ()
    categories: int = 0  # that were read
    complete: bool = True  # false if there are more articles than were asked for


class Extent(msgspec.Struct, frozen=True):
    """How much of a category is read."""

    depth: int  # levels of subcategories
    most: int  # articles
    languages: tuple[Language, ...] = ()  # of the translations


class Wiki(Protocol):
    """One language's edition of a wiki."""

    language: Language

    async def category(self, name: str) -> str:
        """The category of that name, in the wiki's own spelling, without the namespace.

        Raises `CategoryError` with the nearest names if there is none, or if it is empty.
        """
        ...

    async def articles(self, category: str, extent: Extent) -> Gathered: ...


NEAREST = 5  # names in a message
_WORD = re.compile(r"\w+")


def spellings(name: str) -> list[str]:
    """The name as it is, then as others may write it. A wiki capitalises the first letter by itself."""
    plain = " ".join(name.replace("_", " ").split())
    names = [plain]
    for change in (_with_and, _with_ampersand, str.lower, _other_number):
        names += [change(each) for each in names]
    return list(dict.fromkeys(each for each in names if each))


def _with_and(name: str) -> str:
    return " ".join(name.replace("&", " and ").split())


def _with_ampersand(name: str) -> str:
    return name.replace(" and ", " & ")


def _other_number(name: str) -> str:
    """English categories are in the plural; elsewhere this is a spelling that nobody has."""
    return name[:-1] if name.endswith("s") else f"{name}s"


def same_name(name: str, other: str) -> bool:
    """Whether only case, punctuation, "&" for "and" and the English plural differ."""
    return _key(name) == _key(other)


def _key(name: str) -> list[str]:
    words = _WORD.findall(name.replace("&", " and ").casefold())
    return [word.removesuffix("s") if len(word) > 3 else word for word in words]


def nearest(name: str, candidates: Iterable[str], most: int = NEAREST) -> list[str]:
    """The candidates most like the name, the nearest first."""
    unique = list(dict.fromkeys(candidates))
    matches = process.extract(name.casefold(), unique, scorer=fuzz.token_set_ratio, processor=str.casefold, limit=most)
    return [match for match, _, _ in matches]


def unknown_category(name: str, where: str, near: list[str]) -> CategoryError:
    if near:
        sentence = f'{where} has no category "{name}". Similar names: {_quoted(near)}. Try one of these'
        return CategoryError(sentence, category=name, near=near)
    sentence = (
        f'{where} has no category "{name}" and none like it. Look the subject up there: the categories are at the foot of '
        "each article"
    )
    return CategoryError(
        sentence, category=name, advice=". For a name in another language, give that edition to --wiki"
    )


def empty_category(name: str, where: str, near: list[str]) -> CategoryError:
    hint = f"; try {_quoted(near)}" if near else ""
    sentence = f'the category "{name}" of {where} is empty: its articles may have moved to another category{hint}'
    return CategoryError(sentence, category=name, near=near, empty=True)


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


class Member(msgspec.Struct, frozen=True):
    """What is in a category: an article, or a category below it."""

    article: Article | None = None
    subcategory: str = ""


Members = Callable[[Sequence[str]], AsyncIterator[tuple[str, Member]]]
"""What is in each of these categories, with the category's name."""


async def walked(root: str, extent: Extent, members: Members) -> Gathered:
    """Breadth first, so that an article in several categories is found at its least depth."""
    branches = {root: root}  # of all categories met
    articles: dict[str, Article] = {}
    level, read = [root], 0
    for depth in range(extent.depth + 1):
        below: list[str] = []
        read += len(level)
        async for name, member in members(level):
            if member.article is None:
                if member.subcategory not in branches:
                    branches[member.subcategory] = branches[name] if depth else member.subcategory
                    below.append(member.subcategory)
            elif member.article.title not in articles:
                if len(articles) >= extent.most:
                    return Gathered(tuple(articles.values()), read, complete=False)
                placed = msgspec.structs.replace(member.article, category=name, branch=branches[name], depth=depth)
                articles[placed.title] = placed
        level = below
        if not level:
            break
    return Gathered(tuple(articles.values()), read)


# https://meta.wikimedia.org/wiki/Special_language_codes
_EDITIONS = {
    "nb": "no", "gsw": "als", "nan": "zh-min-nan", "yue": "zh-yue", "lzh": "zh-classical", "rup": "roa-rup",
    "sgs": "bat-smg", "vro": "fiu-vro", "fil": "tl", "cnr": "sh",
}  # fmt: skip
_LANGUAGES = {edition: language for language, edition in _EDITIONS.items() if language not in ("fil", "cnr")}


def edition_code(language: Language) -> str:
    """The code of a language in the addresses and the language links of Wikipedia."""
    base = base_language(language)
    return _EDITIONS.get(base, base)


def edition_language(code: str) -> Language:
    """The language of an edition; "und" if the code is not known. Simple English is English."""
    if code.startswith("simple"):
        return Language("en")
    return Language(_LANGUAGES.get(code) or claimed_language(code))
