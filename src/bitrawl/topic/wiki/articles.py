"""What a wiki tells of a category, whether through its API or from a dump."""

from typing import Protocol

import msgspec

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

        Raises `ConfigError` with the nearest names if there is none, or if it is empty.
        """
        ...

    async def articles(self, category: str, extent: Extent) -> Gathered: ...
