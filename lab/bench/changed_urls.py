"""Sites as they would be with other URLs, where it is known which pages are translations of each other.

hidden  a number by chance for each page: URLs say nothing
folder  a folder for each language, whose name is no language's: /gobi/x and /public/x
glued   two letters for each language at the end of the name: /x and /xte
slugs   the words of the address translated, a quarter of them kept and a quarter alike: /en/history and /fr/histobaku
titles  the words of its title for each page: /open-data and /donnees-ouvertes
step    a number for each page, that of a translation a constant step away
"""

import hashlib
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum

from msgspec.structs import replace

from bitrawl.model import Language, Page
from bitrawl.text.language_names import folded
from bitrawl.url import Url
from bitrawl.urls import readable_words
from lab.train.made_up_urls import (
    Change,
    added_folder,
    glued_letters,
    name_by_chance,
    string_by_chance,
    unmarked,
)
from lab.train.pairs import LabelledSite

Rename = Callable[[Url], Url]
_HOST = "http://www.site.test/"
_TITLE = 8  # words of a title that make an address
_WORD = re.compile(r"(?!html?\b|php\b)[^\W\d_]{3,}")


class ChangedUrls(StrEnum):
    """How the URLs of a site are changed."""

    HIDDEN = "hidden"
    FOLDER = "folder"
    GLUED = "glued"
    SLUGS = "slugs"
    TITLES = "titles"
    STEP = "step"


def with_changed_urls(site: LabelledSite, kind: ChangedUrls) -> LabelledSite:
    """The same pages, links and pairs under other URLs; without declarations and sitemaps, which would tell."""
    addresses = dict(_addresses(site, kind))

    def new(url: Url) -> Url:
        return addresses.get(url) or _number(url)

    def moved(page: Page) -> Page:
        source = new(page.url)
        links = tuple(replace(link, url=new(link.url), source=source) for link in page.links)
        canonical = new(page.canonical) if page.canonical else page.canonical
        return replace(page, url=source, links=links, alternates=(), canonical=canonical)

    pages = sorted(map(moved, site.pages), key=lambda page: page.url)
    return LabelledSite(site.name, pages, site.languages, _pairs(site.true, new), _pairs(site.doubtful, new))


def _pairs(pairs: Iterable[tuple[Url, Url]], new: Rename) -> frozenset[tuple[Url, Url]]:
    return frozenset((min(new(a), new(b)), max(new(a), new(b))) for a, b in pairs)


def _number(url: Url) -> Url:
    return Url.known(f"{_HOST}{int.from_bytes(hashlib.blake2b(url.encode(), digest_size=5).digest(), 'big')}")


def _addresses(site: LabelledSite, kind: ChangedUrls) -> Iterator[tuple[Url, Url]]:
    if kind is ChangedUrls.HIDDEN:
        return
    rng = random.Random(f"{kind} {site.name}")
    language_of = {page.url: page.language for page in site.pages}
    titles = {page.url: "-".join(readable_words(folded(page.title))[:_TITLE]) for page in site.pages}
    languages = sorted(set(language_of.values()))
    changes = _changes(kind, languages, rng)
    taken: set[str] = set()
    number = 1000
    for first, versions in sorted(_versions(site).items(), key=lambda item: _number(item[0])):
        number += rng.choice((1, 1, 1, 2, 3, 5, 9))
        base = str(number) if kind is ChangedUrls.STEP else unmarked(first).strip("/") or "start"
        for url in versions:
            path = titles[url] or "page" if kind is ChangedUrls.TITLES else changes[language_of[url]](base)
            while path in taken:  # further versions in one language
                path = f"{path}-2"
            taken.add(path)
            yield url, Url.parse(_HOST + path)


def _versions(site: LabelledSite) -> dict[Url, list[Url]]:
    """The pages by the first of their translations."""
    first: dict[Url, Url] = {page.url: page.url for page in site.pages}

    def root(url: Url) -> Url:
        while first.setdefault(url, url) != url:
            url = first[url]
        return url

    for a, b in sorted(site.true):
        one, other = sorted((root(a), root(b)))
        first[other] = one
    found: defaultdict[Url, list[Url]] = defaultdict(list)
    for page in sorted(site.pages, key=lambda page: page.url):
        found[root(page.url)].append(page.url)
    return found


def _changes(kind: ChangedUrls, languages: list[Language], rng: random.Random) -> dict[Language, Change]:
    if kind is ChangedUrls.STEP:
        return {language: _stepped(5000 * place + rng.randrange(3000)) for place, language in enumerate(languages)}
    if kind is ChangedUrls.SLUGS:
        return {language: _translated(language, rng) for language in languages}
    texts: dict[str, None] = {}
    while len(texts) < len(languages):
        texts[name_by_chance(rng) if kind is ChangedUrls.FOLDER else string_by_chance(rng, 2, 2, glued=True)] = None
    change = added_folder if kind is ChangedUrls.FOLDER else glued_letters
    return {language: change(text) for language, text in zip(languages, texts, strict=True)}


def _stepped(step: int) -> Change:
    return lambda number: f"article.php?id={int(number) + step}"


def _translated(language: Language, rng: random.Random) -> Change:
    words: dict[str, str] = {}

    def word(match: re.Match[str]) -> str:
        old = match[0].lower()
        if old not in words:
            chance = rng.random()
            alike = old[:5] + string_by_chance(rng, 2, 4) if len(old) > 5 else None
            other = string_by_chance(rng, max(3, len(old) - 2), len(old) + 3)
            words[old] = old if chance < 0.25 else alike if alike and chance < 0.5 else other
        return words[old]

    return lambda path: f"{language}/{_WORD.sub(word, path)}"
