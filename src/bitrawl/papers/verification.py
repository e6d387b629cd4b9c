"""Liu et al., section 4: whether two visited pages are translations of each other.

Three features are combined linearly: the ratio of the lengths, the similarity of the tag sequences, and how many words of
one page have their translation on the other. The paper looks words up in a dictionary. Here a lexicon is learned from the
pairs that were accepted so far, whose texts are aligned by their tag sequences (section 5), and from the user's dictionary.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from math import exp
from statistics import fmean
from typing import NamedTuple

from rapidfuzz.distance import Indel

from bitrawl.languages import asked_language
from bitrawl.mining.site import SplitText
from bitrawl.model import UNDETERMINED, Language, Page, Paragraph
from bitrawl.strategies import VisitedPage, aligned
from bitrawl.text.lexicon import Lexicon, TokenPair
from bitrawl.text.words import weight, words
from bitrawl.url import Url

# All are judgements. lab/notes/paper-strategies.md says what each was compared with.
MAX_LETTERS, MAX_BOILERPLATE = 5000, 2000  # of a page's main text and of its boilerplate, that are kept
SHORT = (
    200  # weight of a main text with too little to compare: then boilerplate, such as a list of links, is compared too
)
WORDS, PARTNER_WORDS = 400, 800  # of a page, and of the page on which their translations are looked up
MIN_PROBABILITY = 0.1  # of a translation
MAX_LEARNED = 200  # pairs that the lexicon is learned from
GROWTH = 1.5  # of the pairs, before it is learned again
OTHERS = 10  # pages of earlier pairs that a page is compared with
RECENT = 20  # pairs that say what is usual
UNTRANSLATED = 0.5  # share of the sentences that are the same on both


class Weights(NamedTuple):
    """What each feature adds to the logarithm of the odds that two pages are translations."""

    bias: float
    lengths: float
    tags: float
    translated: float


# `python -m lab.bench.papers liu --train` learns them from ten frozen sites.
WEIGHTS = Weights(-9.014, 4.338, 6.348, 6.771)

Places = tuple[tuple[int, str], ...]
"""Texts, each with its place in the tag sequence."""


class ReadPage(NamedTuple):
    """A visited page with the beginning of its text."""

    url: Url
    visited: VisitedPage
    spoken: frozenset[Language]  # of those asked for: the language of its main text, and that of most of all its text
    weight: int  # of its main text, in characters of an alphabet
    main: Places
    boilerplate: Places

    @classmethod
    def of(cls, page: Page, languages: Sequence[Language], *, max_tags: int) -> "ReadPage":
        visited = VisitedPage.of(page, languages, max_tags=max_tags)
        main = [paragraph for paragraph in page.paragraphs if not paragraph.boilerplate]
        return cls(
            page.url,
            visited,
            frozenset((visited.language, _most_spoken(page, languages))) - {UNDETERMINED},
            sum(weight(paragraph.text) for paragraph in main),
            tuple(_beginning(main, MAX_LETTERS)),
            tuple(_beginning((paragraph for paragraph in page.paragraphs if paragraph.boilerplate), MAX_BOILERPLATE)),
        )


def _most_spoken(page: Page, languages: Sequence[Language]) -> Language:
    """The language of most of its text with menus and all: a manual may have more English code than words."""
    letters: Counter[Language] = Counter()
    for paragraph in page.paragraphs:
        letters[asked_language(paragraph.language, languages) or UNDETERMINED] += len(paragraph.text)
    del letters[UNDETERMINED]
    most = max(letters, key=lambda language: (letters[language], language), default=UNDETERMINED)
    return most if 2 * letters[most] > letters.total() else UNDETERMINED


def _beginning(paragraphs: Iterable[Paragraph], room: int) -> Iterator[tuple[int, str]]:
    for paragraph in paragraphs:
        if room <= 0:
            return
        yield paragraph.position, paragraph.text[:room]
        room -= len(paragraph.text)


class Verification:
    """Two languages, and what their pairs on a site have taught so far."""

    def __init__(
        self, languages: tuple[Language, Language], own: Lexicon | None = None, weights: Weights = WEIGHTS
    ) -> None:
        self._languages = languages
        self._own = own or Lexicon.learn([])  # the user's words
        self._weights = weights
        self._texts: dict[tuple[str, str], TokenPair] = {}  # each once: menus are on every page
        self._others: deque[tuple[Counter[str], Counter[str]]] = deque(maxlen=OTHERS)  # of main texts, of all text
        self._usual: deque[float] = deque(maxlen=RECENT)
        self._latest: tuple[str, str, float] = ("", "", 0.0)  # a candidate that is accepted is asked about twice
        self._pairs = self._learned = 0
        self._translations: dict[str, list[str]] = {}
        self._learn()

    def score(self, a: ReadPage, b: ReadPage) -> float:
        """How probably they are translations, if both are in their languages and right pairs are as many as wrong ones."""
        if _untranslated(a, b) > UNTRANSLATED:
            return 0.0
        bias, *weights = self._weights
        return 1 / (1 + exp(-bias - sum(w * value for w, value in zip(weights, self.features(a, b), strict=True))))

    def features(self, a: ReadPage, b: ReadPage) -> tuple[float, float, float]:
        """Formulas 5 to 7. The shorter text is divided by the longer one, and half of what is usual is subtracted from
        the share of translated words: a lexicon knows few words at first, and more of some languages than of others.
        """
        shorter, longer = sorted((a.weight, b.weight))
        tags = Indel.normalized_similarity(a.visited.tags, b.visited.tags)
        usual = fmean(self._usual) if self._usual else 0.0
        return shorter / max(longer, 1), tags, self.translated(a, b) - usual / 2

    def translated(self, a: ReadPage, b: ReadPage) -> float:
        """The share of the words of one page that have their translation on the other: formula 7.

        The mean of the same with pages of earlier pairs is subtracted, since common words have translations everywhere.
        """
        if self._latest[:2] == (a.url, b.url):
            return self._latest[2]
        whole = max(a.weight, b.weight) < SHORT
        mine = self._counts(a, 0, whole=whole)
        others = [self._share(mine, counts[whole]) for counts in self._others]
        share = self._share(mine, self._counts(b, 1, whole=whole)) - (fmean(others) if others else 0.0)
        self._latest = (a.url, b.url, share)
        return share

    def add(self, a: ReadPage, b: ReadPage) -> None:
        """Learn from a pair that was accepted."""
        self._pairs += 1
        if self._others:
            self._usual.append(self.translated(a, b))
        self._others.append((self._counts(b, 1, whole=False), self._counts(b, 1, whole=True)))
        if self._pairs <= MAX_LEARNED:
            self._read(a, b)
            if self._pairs >= GROWTH * self._learned:
                self._learn()

    def _read(self, a: ReadPage, b: ReadPage) -> None:
        """Remember the texts at the same places, except those that are the same."""
        room = WORDS
        first, second = (dict((*page.main, *page.boilerplate)) for page in (a, b))
        for texts in aligned(a.visited, first, b.visited, second):
            if room <= 0:
                break
            if texts[0] != texts[1] and texts not in self._texts:
                self._texts[texts] = words(texts[0], self._languages[0]), words(texts[1], self._languages[1])
                room -= len(self._texts[texts][0])

    def _learn(self) -> None:
        lexicon = Lexicon.learn(self._texts.values(), prior=self._own).added_to(self._own)
        self._learned = self._pairs
        self._translations = {}
        likely = lexicon.links.forward >= MIN_PROBABILITY
        for a, b in zip(lexicon.links.a[likely].tolist(), lexicon.links.b[likely].tolist(), strict=True):
            self._translations.setdefault(lexicon.names_a[a], []).append(lexicon.names_b[b])

    def _counts(self, page: ReadPage, side: int, *, whole: bool) -> Counter[str]:
        """How often each word is on the page; with `whole`, boilerplate counts too."""
        texts = (*page.main, *page.boilerplate) if whole else page.main
        found = words("\n".join(text for _, text in texts), self._languages[side])
        return Counter(found[: (WORDS, PARTNER_WORDS)[side]])

    def _share(self, mine: Counter[str], partner: Counter[str]) -> float:
        found = 0
        for word, count in mine.items():
            if others := self._translations.get(word):
                found += min(count, sum(partner[other] for other in others))
        return found / max(1, mine.total())


def _untranslated(a: ReadPage, b: ReadPage) -> float:
    """The share of the sentences of one page that are on the other as they are."""
    sentences = [text for _, text in a.main if SplitText(text).is_sentence]
    others = {text for _, text in b.main}
    return sum(len(text) for text in sentences if text in others) / max(1, sum(map(len, sentences)))
