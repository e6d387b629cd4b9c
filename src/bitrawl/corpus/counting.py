"""Counts the figures of a corpus while its items are written. The card and `summary.json` use them."""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from bitrawl.corpus.card_facts import CorpusFacts, Side
from bitrawl.corpus.checksums import FileFacts
from bitrawl.corpus.export import Item
from bitrawl.corpus.merge_facts import MergedCounts
from bitrawl.corpus.merger import different
from bitrawl.corpus.naming import CorpusHeader
from bitrawl.model import Page, PagePair, TranslationUnit
from bitrawl.text.words import words
from bitrawl.url import Url


class CorpusCounter:
    """Pages take 16 bytes each. `sites`, the number of each site that was met, is shared by all corpora."""

    def __init__(self, header: CorpusHeader, sites: dict[str, int]) -> None:
        self._header = header
        self._numbers = sites
        self.pages = [array("q") for _ in header.languages]  # by side
        self.sites = [array("q") for _ in header.languages]
        self._methods: Counter[str] = Counter()
        self._flags: Counter[str] = Counter()
        self._pairs = self._units = self._occurrences = self._near_duplicates = 0
        self._segments = [0, 0]
        self._words = [0, 0]
        self._characters = [0, 0]

    def count(self, item: Item) -> None:
        """A page counts only in a monolingual corpus.

        In a bilingual one it is written to XCES files, and the pairs count.
        """
        match item:
            case PagePair():
                self._pairs += 1
                self._methods.update(item.evidence.keys())
                self._add(0, item.url_a)
                self._add(1, item.url_b)
            case TranslationUnit():
                self._units += 1
                self._occurrences += len(item.sources)
                self._near_duplicates += item.variants
                if item.pair.flags:
                    self._flags.update(item.pair.flags)
                self._measure(0, item.pair.a.text, item.pair.scores.get("words_a"))
                self._measure(1, item.pair.b.text, item.pair.scores.get("words_b"))
            case Page() if len(self._header.languages) == 1:
                self._add(0, item.url)
                for paragraph in item.paragraphs:
                    if not paragraph.boilerplate:
                        self._measure(0, paragraph.text)

    def _add(self, side: int, url: Url) -> None:
        self.pages[side].append(hash(url))  # It differs between processes and is never stored.
        self.sites[side].append(self._numbers.setdefault(url.site, len(self._numbers)))

    def _measure(self, side: int, text: str, counted: float | None = None) -> None:
        """The judge has counted the words of most segments, which takes as long as all the rest here."""
        self._segments[side] += 1
        self._words[side] += len(words(text, self._header.languages[side])) if counted is None else int(counted)
        self._characters[side] += len(text)

    def facts(
        self, rejected: Mapping[str, int], files: Sequence[FileFacts] = (), merged: MergedCounts | None = None
    ) -> CorpusFacts:
        """What was counted, what was kept out, and the files of the corpus."""
        return CorpusFacts(
            name=self._header.name,
            sides=tuple(
                Side(language, different(np.array(pages)), segments, word_count, characters)
                for language, pages, segments, word_count, characters in zip(
                    self._header.languages, self.pages, self._segments, self._words, self._characters, strict=False
                )
            ),
            document_pairs=self._pairs,
            units=self._units,
            occurrences=self._occurrences,
            near_duplicates=self._near_duplicates,
            methods=self._methods,
            flags=self._flags,
            rejected=most_first(rejected),
            files=tuple(files),
            merged=merged,
        )


def pages_by_site(counters: Sequence[CorpusCounter], numbers: Mapping[str, int]) -> dict[str, int]:
    """A page counts once, also if it has translations into several languages."""
    pages = np.concatenate([np.array(side) for counter in counters for side in counter.pages])
    sites = np.concatenate([np.array(side) for counter in counters for side in counter.sites])
    _, places = np.unique(pages, return_index=True)
    return dict(zip(numbers, np.bincount(sites[places], minlength=len(numbers)).tolist(), strict=True))


def most_first(rejected: Mapping[str, int]) -> dict[str, int]:
    return {str(reason): count for reason, count in sorted(rejected.items(), key=lambda item: (-item[1], item[0]))}


def summary(facts: CorpusFacts) -> dict[str, object]:
    """The same figures for programs: an entry of `summary.json`."""
    if len(facts.sides) == 1:
        (side,) = facts.sides
        return {"documents": side.documents, "paragraphs": side.segments, "words": side.words}
    return {
        "units": facts.units,
        "occurrences": facts.occurrences,
        "pairs": facts.document_pairs,
        "refused": dict(facts.rejected),
        "near_duplicates": facts.near_duplicates,
        **({"refused_pairs": dict(facts.rejected_pairs)} if facts.rejected_pairs else {}),
        **({"merged": facts.merged.summary()} if facts.merged else {}),
    }
