"""The same text at several addresses: one of them is the original, and only that is paired.

Sites put the untranslated page below the other language's folder, or serve a page with and without its language's
mark. By content such copies are the same page, so no evidence but their addresses can tell which one is meant.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from bitrawl.languages import same_language
from bitrawl.pair.rows import Rows
from bitrawl.pair.site import PageSummary, Site, text_key
from bitrawl.urls.marks import named_languages, skeleton

# Judgements, except where a line names its evidence.
SAME = 0.8  # Papavassiliou: shared text from which on a page repeats another.
LONGEST = 3  # Paragraphs by which copies are looked for: a print version has other menus and the same text.
MAX_BUCKET = 20  # Pages that a page is compared with under one key: it bounds the time.
NEAR = 0.75  # Ratio of the lengths of two pages that may repeat each other.
FOREIGN = 2


def copies(site: Site) -> dict[int, int]:
    """Pages that repeat another of the same language, with the number of that one."""
    own = _own_texts(site)
    popularity = np.bincount(site.links.flat, minlength=len(site.summaries)).tolist()
    ranked = sorted(site.summaries, key=lambda summary: _claim(summary, popularity[summary.number]))
    originals: dict[tuple[int, int], list[int]] = defaultdict(list)
    repeated: dict[int, int] = {}
    for summary in ranked:
        keys = list(_keys(site, summary, own))
        known = (other for key in keys for other in originals.get(key, ()))
        original = next((other for other in known if _repeats(site, summary.number, other, own)), None)
        if original is not None:
            repeated[summary.number] = original
            continue
        for key in keys:
            if len(originals[key]) < MAX_BUCKET:
                originals[key].append(summary.number)
    return repeated


def misplaced(site: Site, copied: Mapping[int, int]) -> set[int]:
    """The copies at an address that is less their own than the original's: of another language, or of none.

    The others are pages in their own right that differ by a little, each with its own translations.
    """
    rank = {number: _address(site.summaries[number]) for number in {*copied, *copied.values()}}
    return {copy for copy, original in copied.items() if rank[copy] == FOREIGN or rank[copy] > rank[original]}


def _own_texts(site: Site) -> Rows:
    """The running text of each page without what more pages have than there could be copies: the menu of a section."""
    most = 4 + 2 * len(site.languages)
    spoken = site.spoken[site.prose.owners()]
    kept = np.zeros(len(site.prose.flat), bool)
    for place in range(len(site.languages)):
        here = spoken == place
        _, text, counts = np.unique(site.prose.flat[here], return_inverse=True, return_counts=True)
        kept[here] = counts[text] <= most
    return site.prose.kept(kept)


def _claim(summary: PageSummary, popularity: int) -> tuple[int, int, int, int, int]:
    """The best claim to be the original first: an address in its own language, declared translations, many links."""
    return (
        _address(summary),
        -summary.alternates,
        -popularity,
        len(summary.url),
        summary.number,
    )


def _address(summary: PageSummary) -> int:
    """0 if it names the language of the page, 1 if it names none, 2 if it names another."""
    named = named_languages(summary.url)
    if not named:
        return 1
    return 0 if any(same_language(language, summary.language) for language in named) else FOREIGN


def _keys(site: Site, summary: PageSummary, own: Rows) -> Iterable[tuple[int, int]]:
    """Where pages with the same text would meet: by its longest paragraphs, or by the address without language marks."""
    place = int(site.spoken[summary.number])
    weights = own.values_of(summary.number).astype(np.int64)
    for longest in np.argsort(-weights, kind="stable")[:LONGEST]:
        yield place, int(own[summary.number][longest])
    for language in (summary.language, *sorted(named_languages(summary.url))):
        yield place, text_key(skeleton(summary.url, language))


def _repeats(site: Site, number: int, other: int, own: Rows) -> bool:
    a, b = own[number], own[other]
    one, two = site.summaries[number], site.summaries[other]
    if not len(a) or not len(b):
        return one.text == two.text
    if min(one.weight, two.weight) < NEAR * max(one.weight, two.weight):
        return False
    mine, theirs = own.values_of(number), own.values_of(other)
    return bool(mine[np.isin(a, b)].sum() >= SAME * max(mine.sum(), theirs.sum()))
