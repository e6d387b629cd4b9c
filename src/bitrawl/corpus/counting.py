"""Counts the figures of a corpus while its items are written. The card and `summary.json` use them."""

from collections import Counter
from collections.abc import Mapping, Sequence

from bitrawl.corpus.card_facts import CorpusFacts, Side
from bitrawl.corpus.checksums import FileFacts
from bitrawl.corpus.export import Item
from bitrawl.corpus.naming import CorpusHeader
from bitrawl.mine.judging import Rejection
from bitrawl.model import Page, PagePair, TranslationUnit
from bitrawl.text.words import words
from bitrawl.url import Url


class CorpusCounter:
    def __init__(self, header: CorpusHeader) -> None:
        self.urls: tuple[set[Url], set[Url]] = (set(), set())  # by side
        self.sources: set[Url] = set()  # the pages whose texts are in the corpus
        self._header = header
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
                self.urls[0].add(item.url_a)
                self.urls[1].add(item.url_b)
            case TranslationUnit():
                self._units += 1
                self._occurrences += len(item.sources)
                for source in item.sources:
                    self.sources.update((source.url_a, source.url_b))
                self._near_duplicates += item.variants
                if item.pair.flags:
                    self._flags.update(item.pair.flags)
                self._measure(0, item.pair.a.text, item.pair.scores.get("words_a"))
                self._measure(1, item.pair.b.text, item.pair.scores.get("words_b"))
            case Page() if len(self._header.languages) == 1:
                self.urls[0].add(item.url)
                self.sources.add(item.url)
                for paragraph in item.paragraphs:
                    if not paragraph.boilerplate:
                        self._measure(0, paragraph.text)

    def _measure(self, side: int, text: str, counted: float | None = None) -> None:
        """The judge has counted the words of most segments, which takes as long as all the rest here."""
        self._segments[side] += 1
        self._words[side] += len(words(text, self._header.languages[side])) if counted is None else int(counted)
        self._characters[side] += len(text)

    def facts(
        self,
        rejections: Mapping[Rejection, int],
        files: Sequence[FileFacts] = (),
        rejected_pairs: Mapping[Rejection, int] | None = None,
    ) -> CorpusFacts:
        """What was counted, what was kept out, and the files of the corpus."""
        return CorpusFacts(
            name=self._header.name,
            sides=tuple(
                Side(language, len(self.urls[n]), self._segments[n], self._words[n], self._characters[n])
                for n, language in enumerate(self._header.languages)
            ),
            document_pairs=self._pairs,
            units=self._units,
            occurrences=self._occurrences,
            near_duplicates=self._near_duplicates,
            methods=self._methods,
            flags=self._flags,
            rejected=_ordered(rejections),
            rejected_pairs=_ordered(rejected_pairs or {}),
            files=tuple(files),
        )


def _ordered(rejections: Mapping[Rejection, int]) -> dict[str, int]:
    return {str(reason): n for reason, n in sorted(rejections.items(), key=lambda item: (-item[1], item[0]))}


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
