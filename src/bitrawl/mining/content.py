"""c: pages that say the same, by what translations keep as it is and by a lexicon that the job learns from its pairs."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, combinations, groupby

import numpy as np

from bitrawl.mining.evidence import KnownPairs, PageNumbers, both_ends, pair_keys
from bitrawl.mining.site import LEARNED_TEXT, Numbers, Rows, Site, SiteVocabulary, hashed
from bitrawl.model import Language
from bitrawl.text.arrays import Floats, Floats32, Ints, Ints32, bounds, distinct, places_in, ranges
from bitrawl.text.known_words import ENGLISH, Dictionary, known_words
from bitrawl.text.lexicon import Lexicon, TokenPair
from bitrawl.text.words import words

# Judgements, except where a line names its evidence.
RAREST = 80  # Terms of a page that candidates are looked up by.
MAX_HOLDERS = 40  # Pages of a language that hold a term: a more common one finds nobody.
NEAREST = 5  # Candidates of a page in another language ...
ALL_NEAREST = 15  # ... and in all of them, where there are many; at least two in each.

MIN_PAIRS = 5  # Known pairs of two languages that a lexicon is learned from.
# Pages whose words are learned. On a site of 7,680 pages (2026-11), 100, 400 and 1,000 of them tell .85, .95 and .98 of the
# true pairs from 95 % of wrong ones, in .4, 1.2 and 3.3 s.
MAX_LEARNED = 800
LEARNED = 400  # Words of each.
MAX_LEXICONS = 8  # On a site in many languages: those of the two with most known pairs; bridges do the rest.
# Known pairs from which on a site teaches its words without those that ship.
TAUGHT = 50
# How alike two pages of a small site may seem by the words that ship though they are no translations. Of 192 pairs on sites of 6
# pages, by content alone (2026-11), 155 are found without those words, with 1 wrong pair; 178 with 3 wrong ones with this, 183
# with 7 with .4, 186 with 22 with .25.
CHANCE = 0.5
TRANSLATIONS = 3  # Of a word, at most ...
MIN_TRANSLATION = 0.1  # ... and how probable each has to be.
LENGTH_FLOOR = 0.2  # What a candidate keeps of its rank, however its length differs.

_BLOCK = 1 << 20  # Elements that are weighed at a time.

Languages = tuple[Language, Language]


class Inverted:
    """Under which key which pages are found; a key that too many pages have finds nobody."""

    def __init__(self, keys: Numbers, pages: Numbers) -> None:
        """`pages` runs beside `keys` and ascends."""
        order = np.argsort(keys, kind="stable")
        distinct, starts, counts = np.unique(keys[order], return_index=True, return_counts=True)
        few = counts <= MAX_HOLDERS
        self._keys, self._starts, self._counts = distinct[few], starts[few], counts[few]
        self._pages = pages[order].astype(np.int32)

    def holders(self, keys: Numbers, worth: Floats) -> tuple[Ints, Floats]:
        """The pages that have one of those keys, and for each what the key is worth; in the order of the keys."""
        places = places_in(self._keys, keys)
        worth, places = worth[places >= 0], places[places >= 0]
        starts, counts = self._starts[places], self._counts[places]
        return self._pages[ranges(starts, starts + counts)].astype(np.int64), np.repeat(worth, counts)


class TermSpace:
    """Pages as vectors over the terms that occur in both of two languages."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._rows = rows = site.term_rows
        count = len(site.languages)
        spoken = site.spoken.astype(np.int32)
        self._sizes = np.bincount(site.spoken, minlength=count)
        holders = np.zeros((count, len(site.terms)), np.int32)
        owners = rows.owners()
        for place in range(count):
            holders[place] = np.bincount(rows.flat[spoken[owners] == place], minlength=len(site.terms))
        self._values = np.empty(len(rows.flat), np.float32)
        self._norms = np.zeros((count, len(site.summaries)))
        for start in range(0, len(owners), _BLOCK):
            block = slice(start, start + _BLOCK)
            terms, own = rows.flat[block], spoken[owners[block]]
            rarity = np.log(1 + self._sizes[own] / holders[own, terms])
            value = (1 + np.log(rows.values[block])) * rarity
            self._values[block] = value
            for place in range(count):
                shared = np.where(holders[place, terms] > 0, value * value, 0.0)
                self._norms[place] += np.bincount(owners[block], shared, len(site.summaries))
        np.sqrt(self._norms, out=self._norms)
        self._inverted = self._index(holders, owners, spoken)
        self._nearest_few = max(2, min(NEAREST, ALL_NEAREST // max(count - 1, 1)))

    def candidates(self) -> Ints:
        """Pairs that share rare terms."""
        languages = np.arange(len(self._site.languages))
        pairs = [np.zeros(0, np.int64)]
        for number in range(len(self._site.summaries)):
            values = self._vector(number)
            if not len(values):
                continue
            top = np.argsort(-values, kind="stable")[:RAREST]
            others = languages[languages != self._site.spoken[number]]
            keys = self._rows[number][top].astype(np.int64)[:, None] * len(languages) + others
            worth = np.repeat(values[top].astype(float) ** 2, len(others))
            near = self._nearest(number, *self._inverted.holders(keys.ravel(), worth))
            pairs.append(pair_keys(np.full(len(near), number), near))
        return distinct(np.concatenate(pairs))

    def cosines(self, keys: Ints) -> Floats:
        """The cosine of each pair, over the terms that both languages have."""
        spoken = self._site.spoken
        a, b = both_ends(keys)
        dots = np.zeros(len(keys))
        scratch = np.zeros(len(self._site.terms))
        for first, members in groupby(enumerate(zip(a.tolist(), b.tolist(), strict=True)), key=lambda item: item[1][0]):
            own = self._rows[first]
            scratch[own] = self._vector(first)
            for place, (_, second) in members:
                dots[place] = scratch[self._rows[second]] @ self._vector(second)
            scratch[own] = 0.0
        norms = self._norms[spoken[b], a] * self._norms[spoken[a], b]
        return np.minimum(1.0, dots / np.where(norms > 0, norms, 1.0))

    def _vector(self, number: int) -> Floats32:
        return self._values[self._rows.starts[number] : self._rows.starts[number + 1]]

    def _nearest(self, number: int, pages: Ints, worth: Floats) -> Ints:
        """Of the pages that share terms with one, the few best in each language."""
        others, place = np.unique(pages, return_inverse=True)
        weights, own = self._site.weights[others], self._site.weights[number]
        ratio = np.minimum(weights, own) / np.maximum(np.maximum(weights, own), 1)
        scores = np.bincount(place, worth, len(others)) * (LENGTH_FLOOR + ratio)
        best = others[np.lexsort((others, scores))[::-1]]
        spoken = self._site.spoken[best]
        few = (best[spoken == language][: self._nearest_few] for language in distinct(spoken))
        return np.concatenate([np.zeros(0, np.int64), *few])

    def _index(self, holders: Ints32, owners: Ints32, spoken: Ints32) -> Inverted:
        """Which pages of a language have a term."""
        few = np.zeros(len(owners), bool)
        for start in range(0, len(owners), _BLOCK):
            block = slice(start, start + _BLOCK)
            few[block] = holders[spoken[owners[block]], self._rows.flat[block]] <= MAX_HOLDERS
        pages = owners[few]
        keys = self._rows.flat[few].astype(np.int64) * len(self._site.languages) + spoken[pages]
        return Inverted(keys, pages)


class LexiconSpace:
    """For every two languages with known pairs, a lexicon learned from them, and pages as vectors of its words."""

    def __init__(
        self,
        index: "WordIndex",
        known_pairs: KnownPairs,
        dictionary: Dictionary | None = None,
        *,
        shipped: bool = False,
    ) -> None:
        """With the user's `dictionary`. `shipped`: with the words that ship too, where few pairs are known."""
        self._site = site = index.site
        by_languages: dict[Languages, list[PageNumbers]] = defaultdict(list)
        for pair in known_pairs.pairs:
            first, second = sorted((site.summaries[n] for n in pair), key=lambda summary: summary.language)
            by_languages[first.language, second.language].append((first.number, second.number))
        self._bridges: dict[Languages, Bridge] = {}
        wanted = {languages for languages, pairs in by_languages.items() if len(pairs) >= MIN_PAIRS}
        if dictionary:
            wanted.add((min(dictionary.languages), max(dictionary.languages)))
        most = sorted(wanted, key=lambda languages: (-len(by_languages.get(languages, ())), languages))
        if shipped:
            others = set(combinations(sorted(site.languages), 2)) - wanted
            most += sorted(others, key=lambda languages: (ENGLISH not in languages, languages))
        for languages in most:
            if len(self._bridges) == MAX_LEXICONS:
                break
            if languages not in wanted and known_words(*languages) is None:
                continue
            pairs = by_languages.get(languages, [])
            if len(pairs) > MAX_LEARNED:  # from all over the list
                pairs = [pairs[i * len(pairs) // MAX_LEARNED] for i in range(MAX_LEARNED)]
            self._bridges[languages] = Bridge(index, languages, pairs, dictionary, shipped=shipped)

    def candidates(self) -> Ints:
        """Pairs that share rare words through the lexicon."""
        pairs = [bridge.candidates() for bridge in self._bridges.values()]
        return distinct(np.concatenate([np.zeros(0, np.int64), *pairs]))

    def similarities(self, keys: Ints) -> Floats:
        """Of each pair; -1 where there is no lexicon of the two languages."""
        values = np.full(len(keys), -1.0)
        a, b = both_ends(keys)
        spoken = self._site.spoken
        first, second = np.where(spoken[a] < spoken[b], a, b), np.where(spoken[a] < spoken[b], b, a)
        places = {language: place for place, language in enumerate(self._site.languages)}
        for languages, bridge in self._bridges.items():
            place_a, place_b = (places.get(language, -1) for language in languages)
            rows = np.flatnonzero((spoken[first] == place_a) & (spoken[second] == place_b))
            rows = rows[np.argsort(first[rows], kind="stable")]
            values[rows] = bridge.cosines(first[rows], second[rows])
        return values


class WordIndex:
    """The words of the pages as vectors (tf-idf), and where to look up the pages of a language by their rarest."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._inverted: dict[Language, Inverted] = {}

    def vocabulary(self, language: Language) -> SiteVocabulary:
        """Empty where no page is in that language."""
        nothing = SiteVocabulary(np.zeros(0, np.uint32), np.zeros(0, np.int64), 0)
        return self.site.vocabularies.get(language, nothing)

    def idf(self, language: Language) -> Floats:
        """How rare each word of a language is."""
        vocabulary = self.vocabulary(language)
        return np.log(1 + vocabulary.pages / np.maximum(vocabulary.holders, 1))

    def vector(self, number: int, idf: Floats) -> Floats:
        """The weight (tf-idf) of each word of a page, in their order."""
        rows = self.site.words
        return (1 + np.log(rows.values_of(number))) * idf[rows[number]]

    def inverted(self, language: Language) -> Inverted:
        """The pages of a language by their rarest words."""
        if language not in self._inverted:
            idf = self.idf(language)
            numbers = [summary.number for summary in self.site.of_language(language)]
            order = (np.argsort(-self.vector(number, idf), kind="stable")[:RAREST] for number in numbers)
            rarest = [self.site.words[number][top] for number, top in zip(numbers, order, strict=True)]
            pages = np.repeat(np.array(numbers, np.int32), [len(row) for row in rarest])
            self._inverted[language] = Inverted(np.concatenate([np.zeros(0, np.uint32), *rarest]), pages)
        return self._inverted[language]


class Bridge:
    """Two languages and the lexicon between them: pages of the first are carried over into words of the second."""

    def __init__(
        self,
        index: WordIndex,
        languages: Languages,
        pairs: Sequence[PageNumbers],
        dictionary: Dictionary | None,
        *,
        shipped: bool,
    ) -> None:
        self._index = index
        self._languages = languages
        self._idf = index.idf(languages[1])
        shipped = shipped and len(pairs) < TAUGHT
        own = dictionary.words(*languages) if dictionary else None
        prior = known_words(*languages, dictionary) if shipped else own
        if prior is not None and len(pairs) < MIN_PAIRS:
            pairs = []
        self._chance = CHANCE if shipped and prior and not pairs else 0.0
        lexicon = Lexicon.learn(_sample(index.site, pairs), rounds=3, prior=prior)
        self._translations = _translations(lexicon, *map(index.vocabulary, languages))

    def candidates(self) -> Ints:
        """For each page of the first language the nearest few of the second."""
        inverted = self._index.inverted(self._languages[1])
        pairs = [np.zeros(0, np.int64)]
        for summary in self._index.site.of_language(self._languages[0]):
            carried, values = self._carry(summary.number)
            top = np.argsort(-values, kind="stable")[:RAREST]
            pages, worth = inverted.holders(carried[top], values[top] ** 2)
            others, first, place = np.unique(pages, return_index=True, return_inverse=True)
            best = np.lexsort((first, -np.bincount(place, worth, len(others))))[:NEAREST]
            pairs.append(pair_keys(np.full(len(best), summary.number), others[best]))
        return np.concatenate(pairs)

    def cosines(self, first: Ints, second: Ints) -> Floats:
        """Of pages of the first language, carried over, with pages of the second; in the order of the first."""
        site, index = self._index.site, self._index
        values = np.zeros(len(first))
        scratch = np.zeros(len(self._idf))
        pairs = enumerate(zip(first.tolist(), second.tolist(), strict=True))
        for number, members in groupby(pairs, key=lambda item: item[1][0]):
            carried, weights = self._carry(number)
            scratch[carried] = weights
            for place, (_, other) in members:
                vector = index.vector(other, self._idf)
                norm = math.sqrt(float(vector @ vector))
                values[place] = min(1.0, float(scratch[site.words[other]] @ vector) / norm) if norm else 0.0
            scratch[carried] = 0.0
        above: Floats = np.maximum(values - self._chance, 0.0) / (1 - self._chance)
        return above

    def _carry(self, number: int) -> tuple[Numbers, Floats]:
        """The page as a vector of words of the other language, of length 1, in the order of the page."""
        rows = self._index.site.words
        starts, ends = self._translations.starts, self._translations.starts[1:]
        own = rows[number]
        places = ranges(starts[own], ends[own])
        counts = np.repeat(rows.values_of(number).astype(float), ends[own] - starts[own])
        others, first, place = np.unique(self._translations.flat[places], return_index=True, return_inverse=True)
        summed = np.bincount(place, counts * self._translations.values[places], len(others))
        order = np.argsort(first)
        others, weighted = others[order], (np.log1p(summed) * self._idf[others])[order]
        return others, weighted / (math.sqrt(float(weighted @ weighted)) or 1.0)


def _sample(site: Site, pairs: Iterable[PageNumbers]) -> list[TokenPair]:
    """The beginnings of those pages as words, read again: paragraph by paragraph where both have as many."""
    wanted = {site.summaries[number].url for pair in pairs for number in pair}
    begun = {
        number: (len(texts), _first_paragraphs(texts, site.summaries[number].language))
        for number, texts in site.texts.of(sorted(wanted))
    }
    sample: list[TokenPair] = []
    for a, b in pairs:
        if a in begun and b in begun:
            (count_a, first), (count_b, second) = begun[a], begun[b]
            if count_a == count_b:
                sample += zip(first, second, strict=False)
            else:
                sample.append((list(chain.from_iterable(first)), list(chain.from_iterable(second))))
    return sample


def _first_paragraphs(texts: Sequence[str], language: Language) -> list[list[str]]:
    """As many as have `LEARNED` words together."""
    paragraphs: list[list[str]] = []
    room = LEARNED
    for text in texts:
        if room <= 0:
            break
        paragraphs.append(words(text[:LEARNED_TEXT], language)[:room])
        room -= len(paragraphs[-1])
    return paragraphs


def _translations(lexicon: Lexicon, first: SiteVocabulary, second: SiteVocabulary) -> Rows:
    """For each word of the first vocabulary its translations in the second; a word without any stays as it is."""
    same = places_in(second.hashes, first.hashes)
    translated: dict[int, list[tuple[int, float]]] = {}
    numbers_a, numbers_b = map(_numbered, (first, second), lexicon.words())
    for word, number in numbers_a.items():
        known = ((other, p) for other, (p, _) in lexicon.known_translations(word).items() if p >= MIN_TRANSLATION)
        if likely := sorted(known, key=lambda entry: -entry[1])[:TRANSLATIONS]:
            translated[number] = [(numbers_b[other], p) for other, p in likely if other in numbers_b]
    counts = (same >= 0).astype(np.int64)
    for number, others in translated.items():
        counts[number] = len(others)
    starts = bounds(counts)
    flat, values = np.zeros(int(starts[-1]), np.uint32), np.ones(int(starts[-1]))
    stay = same >= 0
    stay[np.fromiter(translated, np.int64)] = False
    flat[starts[:-1][stay]] = same[stay]
    for number, others in translated.items():
        for place, (other, probability) in enumerate(others, int(starts[number])):
            flat[place], values[place] = other, probability
    return Rows(starts, flat, values)


def _numbered(vocabulary: SiteVocabulary, names: Collection[str]) -> dict[str, int]:
    """The place of each word that a page has."""
    numbers = places_in(vocabulary.hashes, np.fromiter(map(hashed, names), np.uint32, len(names))).tolist()
    return {name: number for name, number in zip(names, numbers, strict=True) if number >= 0}
