"""The same text at several URLs: one of them is the original, and only that one is paired.

Sites put the untranslated page into the other language's folder, or serve a page with and without its language mark.
Such copies have the same content, so only their URLs can tell which one is meant.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable

from bitrawl.languages import same_language
from bitrawl.pair.site import PageSummary, Site
from bitrawl.urls.marks import named_languages, skeleton

# Judgements, except where a line names its evidence.
SAME = 0.8  # Papavassiliou: a page repeats another if they share at least this much text.
LONGEST = 3  # Paragraphs that copies are looked up by. A print version has other menus and the same text.
MAX_BUCKET = 20  # Pages that a page is compared with under one key; it limits the time.
NEAR = 0.75  # Ratio of the lengths of two pages that may repeat each other.

Texts = dict[str, int]


def copies(site: Site) -> dict[int, int]:
    """Pages that repeat another page of the same language, with the number of that page."""
    own = _own_texts(site)
    popularity = Counter(target for summary in site.summaries for _, target in summary.links)
    ranked = sorted(site.summaries, key=lambda summary: _claim(summary, popularity[summary.number]))
    originals: dict[object, list[PageSummary]] = defaultdict(list)
    repeated: dict[int, int] = {}
    for summary in ranked:
        keys = list(_keys(summary, own[summary.number]))
        known = (other for key in keys for other in originals[key][:MAX_BUCKET])
        original = next((other for other in known if _repeats(summary, other, own)), None)
        if original is not None:
            repeated[summary.number] = original.number
            continue
        for key in keys:
            originals[key].append(summary)
    return repeated


def _own_texts(site: Site) -> list[Texts]:
    """The running text of each page, without text that too many pages have to be copies: the menu of a section."""
    counts = Counter((summary.language, text) for summary in site.summaries for text in summary.prose)
    most = 4 + 2 * len({summary.language for summary in site.summaries})
    return [
        {text: weight for text, weight in summary.prose.items() if counts[summary.language, text] <= most}
        for summary in site.summaries
    ]


def _claim(summary: PageSummary, popularity: int) -> tuple[int, int, int, int, int]:
    """Sorts the most likely original first: a URL in its own language, declared translations, many links."""
    named = named_languages(summary.url)
    own = any(same_language(language, summary.language) for language in named)
    return (
        0 if own else 1 if not named else 2,
        -len(summary.alternates),
        -popularity,
        len(summary.url),
        summary.number,
    )


def _keys(summary: PageSummary, own: Texts) -> Iterable[object]:
    """Keys under which pages with the same text meet: the longest paragraphs, or the URL without language marks."""
    for text in heapq.nlargest(LONGEST, own, key=own.__getitem__):
        yield summary.language, text
    for language in (summary.language, *sorted(named_languages(summary.url))):
        yield summary.language, skeleton(summary.url, language)


def _repeats(summary: PageSummary, other: PageSummary, own: list[Texts]) -> bool:
    a, b = own[summary.number], own[other.number]
    if not a or not b:
        return summary.paragraphs == other.paragraphs
    near = min(summary.weight, other.weight) >= NEAR * max(summary.weight, other.weight)
    shared = sum(weight for text, weight in a.items() if text in b)
    return near and shared >= SAME * max(sum(a.values()), sum(b.values()))
