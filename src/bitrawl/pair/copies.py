"""The same text at several addresses: one of them is the original, and only that is paired.

Sites put the untranslated page below the other language's folder, or serve a page with and without its language's
mark. By content such copies are the same page, so no evidence but their addresses can tell which one is meant.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable

from bitrawl.languages import same_language
from bitrawl.pair.site import Sheet, Site
from bitrawl.urls.marks import named_languages, skeleton

SAME = 0.8  # Papavassiliou: shared text from which on a page repeats another.
LONGEST = 3  # Paragraphs by which copies are looked for: a print version has other menus and the same text.
MAX_BUCKET = 20

Texts = dict[int, int]


def copies(site: Site) -> dict[int, int]:
    """Sheets that repeat another of the same language, with the number of that one."""
    own = _own_texts(site)
    popularity = Counter(target for sheet in site.sheets for _, target in sheet.links)
    ranked = sorted(site.sheets, key=lambda sheet: _claim(sheet, popularity[sheet.number]))
    originals: dict[object, list[Sheet]] = defaultdict(list)
    repeated: dict[int, int] = {}
    for sheet in ranked:
        keys = list(_keys(sheet, own[sheet.number]))
        known = (other for key in keys for other in originals[key][:MAX_BUCKET])
        original = next((other for other in known if _repeats(sheet, other, own)), None)
        if original is not None:
            repeated[sheet.number] = original.number
            continue
        for key in keys:
            originals[key].append(sheet)
    return repeated


def _own_texts(site: Site) -> list[Texts]:
    """The running text of each page without what more pages have than there could be copies: the menu of a section."""
    counts = Counter((sheet.language, text) for sheet in site.sheets for text in sheet.prose)
    most = 4 + 2 * len({sheet.language for sheet in site.sheets})
    return [
        {text: weight for text, weight in sheet.prose.items() if counts[sheet.language, text] <= most}
        for sheet in site.sheets
    ]


def _claim(sheet: Sheet, popularity: int) -> tuple[int, int, int, int, int]:
    """The best claim to be the original first: an address in its own language, declared translations, many links."""
    named = named_languages(sheet.url)
    own = any(same_language(language, sheet.language) for language in named)
    return (0 if own else 1 if not named else 2, -len(sheet.alternates), -popularity, len(sheet.url), sheet.number)


def _keys(sheet: Sheet, own: Texts) -> Iterable[object]:
    """Where pages with the same text would meet: by its longest paragraphs, or by the address without language marks."""
    for text in heapq.nlargest(LONGEST, own, key=own.__getitem__):
        yield sheet.language, text
    for language in (sheet.language, *sorted(named_languages(sheet.url))):
        yield sheet.language, skeleton(sheet.url, language)


def _repeats(sheet: Sheet, other: Sheet, own: list[Texts]) -> bool:
    a, b = own[sheet.number], own[other.number]
    if not a or not b:
        return sheet.paragraphs == other.paragraphs
    near = 4 * min(sheet.weight, other.weight) >= 3 * max(sheet.weight, other.weight)
    shared = sum(weight for text, weight in a.items() if text in b)
    return near and shared >= SAME * max(sum(a.values()), sum(b.values()))
