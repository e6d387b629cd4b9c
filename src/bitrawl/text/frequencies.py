"""How frequent words and phrases are: in a language in general, in given texts, and in these more than in general.

`rate` answers the first. `Texts` and `Phrases` count texts in flat arrays, and `Keyness` compares them with the language.
"""

import unicodedata
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.languages import base_language
from bitrawl.model import Language
from bitrawl.model_files import model_file
from bitrawl.text.arrays import Bools, Floats, Floats32, Ints, Ints32
from bitrawl.text.words import is_unspaced, stems_of, word_places, words, written_words

# A stem is known by this many bits of its CRC-32. With the largest table (30,000 stems), one in 560 stems that are not in
# the table is taken for one that is.
KEY_MASK = (1 << 24) - 1
# A rate is a byte: 0.1 * 10 ** (byte / 40) occurrences per million, so at most 237,000. A step is 6 %.
STEPS_PER_TENFOLD, LOWEST_RATE = 40, 0.1
# Of a stem that the language's table lacks: half of the rate of the rarest stem that a table may have. Judgement.
UNSEEN_RATE = 0.25
# Of every stem of a language without a table: rare, and all alike, so that only a text's own counts tell its words apart.
EQUAL_RATE = 20.0  # of a language with 50,000 equally frequent words; judgement

# Languages that are written with the words of another one's table. Those of a table are stems as `words` makes them for
# exactly these codes, so Serbian, which has a stemmer, cannot share a table with Croatian, which has none.
_SHARED = {"no": "nb", "nn": "nb", "hr": "sh", "bs": "sh", "cnr": "sh", "tl": "fil"}


def rate(stems: Sequence[str], language: Language) -> Floats32:
    """Expected occurrences of each stem in a million words. Stems are as `text.words.words` makes them.

    A number is as frequent as all numbers with as many digits together: it never looks like a rare word. In a language
    without a table (`known`), every stem is equally rare.
    """
    return rate_of_keys(keys_of(stems), language)


def rate_of_keys(keys: Ints32, language: Language) -> Floats32:
    """`rate` of stems that only their keys (`keys_of`) are kept of."""
    table = _table(_file(), _code(language))
    if table is None:
        return np.full(len(keys), EQUAL_RATE, np.float32)
    places = np.minimum(np.searchsorted(table.keys, keys), len(table.keys) - 1)
    return np.where(table.keys[places] == keys, table.rates[places], np.float32(UNSEEN_RATE))


def typical_keys(count: int, language: Language, random: np.random.Generator) -> Ints32:
    """Keys of words drawn as general language uses them; in a language without a table, of words that nobody has seen."""
    table = _table(_file(), _code(language))
    if table is None:
        return random.integers(KEY_MASK, size=count, dtype=np.int32)
    return random.choice(table.keys, count, p=table.rates / table.rates.sum(dtype=np.float64))


def known(language: Language) -> bool:
    """Whether there is a table of that language."""
    return _code(language) in _languages(_file())


def keys_of(stems: Iterable[str]) -> Ints32:
    """What a table knows the stems by. All numbers with the same number of digits have the same key."""
    return np.array([key_of(stem) for stem in stems], np.int32)


def key_of(stem: str) -> int:
    """`keys_of` one stem, for those that remember it."""
    shape = "".join("0" if c.isdecimal() else c for c in stem) if stem[:1].isdecimal() else stem
    return zlib.crc32(shape.encode()) & KEY_MASK


class Table(NamedTuple):
    """One language: the keys in order, and the rate of each in occurrences per million."""

    keys: Ints32
    rates: Floats32


def read_tables(path: Path) -> dict[str, Table | None]:
    """All that the file has, to check it."""
    return {code: _table(path, code) for code in _languages(path)}


def _file() -> Path:
    return model_file("frequencies.npz")


def _code(language: Language) -> str:
    bare = base_language(language)
    return _SHARED.get(bare, bare)


@lru_cache(maxsize=2)
def _languages(path: Path) -> frozenset[str]:
    with np.load(path) as data:
        return frozenset(name.partition(".")[0] for name in data.files)


@lru_cache(maxsize=8)  # a job has two or three languages; a table has 0.3 MB in memory
def _table(path: Path, code: str) -> Table | None:
    if code not in _languages(path):
        return None
    with np.load(path) as data:
        gaps, steps = data[f"{code}.gaps"], data[f"{code}.steps"]
    rates = 10 ** (steps.astype(np.float32) / STEPS_PER_TENFOLD) * LOWEST_RATE
    return Table(np.cumsum(gaps, dtype=np.int32), rates.astype(np.float32))


REMEMBERED, LONGEST_REMEMBERED = 50_000, 50  # words of a language, letters of a word: at most 10 MB


def word_keys(text: str, language: Language) -> Ints32:
    """In order. Numbers and single letters are left out, because they are about nothing."""
    keys = _keys_of_words(language)
    return np.fromiter(chain.from_iterable(map(keys.__getitem__, written_words(text))), np.int32)


def meaningful(stem: str) -> bool:
    """No number, and no single letter of the alphabet."""
    return not stem[0].isdecimal() and (len(stem) > 1 or not stem.isascii())


class KeysOfWords(dict[str, tuple[int, ...]]):
    """The keys of the stems of written words, made when they are asked for."""

    def __init__(self, language: Language) -> None:
        self._stems = stems_of(language)

    def __missing__(self, written: str) -> tuple[int, ...]:
        keys = tuple(map(key_of, filter(meaningful, self._stems[written])))
        if len(written) <= LONGEST_REMEMBERED and not is_unspaced(written[0]):
            if len(self) >= REMEMBERED:
                self.clear()
            self[written] = keys
        return keys


@lru_cache(maxsize=8)  # a job has two or three languages
def _keys_of_words(language: Language) -> KeysOfWords:
    return KeysOfWords(language)


BREAK = -1
"""Stands before each text, and between words that punctuation parts. Also: no phrase."""

MIN_PHRASE_COUNT = 2  # of two words, which hold together by themselves
MAX_WORDS, MAX_CHARACTERS = 4, 6  # of a phrase, in scripts with and without spaces
_JOINERS = frozenset(" -'’‐\u00ad")  # what may stand between the words of a phrase
_HYPHENS = frozenset("-‐")
# What parts words as punctuation does, and ties them all the same where no space is beside it: GNU/Linux, example.org, x_y
_GLUE = frozenset("/\\._:@+#&~=")
_LONGEST_GAP = 2
_GLUED = 1  # the number of a gap that is only remembered as such
_FORMS = 100  # occurrences of a phrase that its usual form is taken from


class Texts:
    """Texts of one language as numbers of stems, one after the other. The texts themselves are not kept.

    A unit is a word, or a character of a script without spaces: nine bytes of memory, beside the different words.
    """

    def __init__(self, language: Language, texts: Iterable[str] = ()) -> None:
        self.language = language
        self._stems: dict[str, int] = {}
        self._known: dict[str, tuple[int, int]] = {}  # from a written word to the numbers of its stem and of its form
        self._forms: list[str] = []
        self._gaps = {"": 0, "/": _GLUED}
        self._numbers, self._written, self._before = array("i"), array("i"), array("b")
        self._begins = array("q")
        for text in texts:
            self.add(text)

    def __len__(self) -> int:
        return len(self._begins)

    def add(self, text: str) -> None:
        text = unicodedata.normalize("NFKC", text)
        self._begins.append(len(self._numbers))
        self._append((BREAK, BREAK), 0)
        numbers_of, end = self._known, 0
        for begin, after in word_places(text):
            gap = self._gap(text[end:begin]) if end else 0
            if gap == BREAK:
                gap = _GLUED if begin - end <= _LONGEST_GAP and _GLUE.issuperset(text[end:begin]) else 0
                self._append((BREAK, BREAK), gap)
            end = after
            if text[begin] >= "\u0e00" and is_unspaced(text[begin]):
                for character in text[begin:after]:
                    self._append(numbers_of.get(character) or self._learned(character), gap)
                    gap = 0
            else:
                word = text[begin:after]
                self._append(numbers_of.get(word) or self._learned(word), gap)

    @property
    def stems(self) -> list[str]:
        return list(self._stems)

    @property
    def numbers(self) -> Ints32:
        return np.array(self._numbers, np.int32)

    @property
    def begins(self) -> Ints:
        """Where each text begins in `numbers`."""
        return np.array(self._begins, np.int64)

    @property
    def tied(self) -> Bools:
        """Whether each unit is tied to the one before it: by a hyphen, by what glues words, or with nothing between."""
        ties = np.array([gap == "/" or bool(_HYPHENS.intersection(gap)) for gap in self._gaps])
        before, numbers = np.array(self._before, np.int8), self.numbers
        spaced = np.array([not is_unspaced(stem[0]) for stem in self._stems] + [False])[numbers]
        touching = (before == 0) & spaced & np.append(False, spaced[:-1])
        tied: Bools = ties[before] | touching
        return tied

    def form(self, place: int, length: int) -> str:
        """Some units in a row as they are written."""
        gaps = list(self._gaps)
        parts = [self._forms[self._written[place]]]
        for at in range(place + 1, place + length):
            parts += gaps[self._before[at]], self._forms[self._written[at]]
        return "".join(parts).replace("\u00ad", "")

    def _append(self, word: tuple[int, int], gap: int) -> None:
        self._numbers.append(word[0])
        self._written.append(word[1])
        self._before.append(gap)

    def _learned(self, word: str) -> tuple[int, int]:
        stem = word if is_unspaced(word[0]) else " ".join(stems_of(self.language)[word.casefold()])
        self._known[word] = numbers = self._stems.setdefault(stem, len(self._stems)), len(self._forms)
        self._forms.append(word)
        return numbers

    def _gap(self, between: str) -> int:
        """The number of what joins two words, or `BREAK`."""
        if len(between) > _LONGEST_GAP or not _JOINERS.issuperset(between):
            return BREAK
        return self._gaps.setdefault(between, len(self._gaps))


class Phrases:
    """Words by the numbers of their stems, then phrases by further numbers.

    A phrase is known if it occurs `MIN_PHRASE_COUNT` times. Its parts are then known too.
    """

    def __init__(self, texts: Texts) -> None:
        self.texts, self.stems = texts, texts.stems
        self.unspaced = np.fromiter((is_unspaced(stem[0]) for stem in self.stems), np.bool_, len(self.stems))
        numbers = texts.numbers
        self.words = int(np.count_nonzero(numbers >= 0))
        self.count = np.bincount(numbers[numbers >= 0], minlength=len(self.stems)).astype(np.int64)
        self.begin = self.end = np.arange(len(self.stems))  # the phrase without its last word, and without its first
        self.length = np.ones(len(self.stems), np.int64)
        self.is_run = self.unspaced.copy()  # of a script without spaces
        self.at = [numbers]
        """For each length, less one, the number of the phrase that begins at each place."""
        while len(self.at) < MAX_CHARACTERS and self._grow():
            pass

    def __len__(self) -> int:
        return len(self.count)

    def _grow(self) -> bool:
        """Find the phrases that are one word longer; False if there are none."""
        shorter = self.at[-1]
        first, second = shorter[:-1], shorter[1:]
        enough = np.append(self.count >= MIN_PHRASE_COUNT, False)  # the last is that of BREAK
        if len(self.at) >= MAX_WORDS:
            enough[:-1] &= self.is_run
        places = np.flatnonzero(enough[first] & enough[second])
        keys = first[places].astype(np.int64) * len(self) + second[places]
        different, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
        frequent = counts >= MIN_PHRASE_COUNT
        begin, end = different[frequent] // len(self), different[frequent] % len(self)
        numbers = np.full(len(different), BREAK, np.int32)
        numbers[frequent] = np.arange(len(self), len(self) + len(begin))
        here = np.full(len(shorter), BREAK, np.int32)
        here[places] = numbers[which]
        self.at.append(here)
        self.count = np.append(self.count, counts[frequent])
        self.begin, self.end = np.append(self.begin, begin), np.append(self.end, end)
        self.length = np.append(self.length, np.full(len(begin), len(self.at)))
        self.is_run = np.append(self.is_run, self.is_run[begin] & self.is_run[end])
        return len(begin) > 0

    @cached_property
    def first_word(self) -> Ints:
        return self._edges(self.begin)

    @cached_property
    def last_word(self) -> Ints:
        return self._edges(self.end)

    def _edges(self, shorter: Ints) -> Ints:
        edges = shorter
        for _ in range(len(self.at)):
            edges = shorter[edges]
        return edges

    def parts_of(self, phrase: int, length: int) -> list[int]:
        """The phrases of that length within a phrase, from left to right; itself if it is no longer."""
        if self.length[phrase] <= length:
            return [phrase]
        return [*self.parts_of(int(self.begin[phrase]), length), self.parts_of(int(self.end[phrase]), length)[-1]]

    def all_parts(self, phrase: int) -> list[int]:
        """A phrase and the phrases of any length within it."""
        return [part for length in range(1, int(self.length[phrase]) + 1) for part in self.parts_of(phrase, length)]

    def units_of(self, phrase: int) -> list[str]:
        """The stems of a phrase, or its characters in a script without spaces."""
        return [self.stems[unit] for unit in self.parts_of(phrase, 1)]

    def associations(self) -> Floats:
        """Dunning's ratio for the two parts of each phrase that hold together least. Infinite for words."""
        least = np.full(len(self), np.inf)
        for length in range(2, len(self.at) + 1):
            phrases = np.flatnonzero(self.length == length)
            begins = [phrases]  # without their last 0, 1, 2, ... words
            ends = [phrases]
            for _ in range(length - 1):
                begins.append(self.begin[begins[-1]])
                ends.append(self.end[ends[-1]])
            for cut in range(1, length):
                parts = self.count[begins[length - cut]], self.count[ends[cut]]
                least[phrases] = np.minimum(least[phrases], dunning(self.count[phrases], *parts, self.words))
        return least

    def inside(self, wanted: Bools) -> Ints:
        """How often each phrase occurs at most as a part of one of the wanted ones that is longer."""
        inside = np.zeros(len(self), np.int64)
        for length in range(len(self.at), 1, -1):
            phrases = np.flatnonzero(self.length == length)
            counts = np.maximum(inside[phrases], np.where(wanted[phrases], self.count[phrases], 0))
            np.maximum.at(inside, self.begin[phrases], counts)
            np.maximum.at(inside, self.end[phrases], counts)
        return inside

    def tied(self) -> Floats:
        """In which share of its places a phrase is tied to a word outside: 1 for the "ray" of "x-ray", the GNU of GNU/Linux."""
        before = self.texts.tied
        count = np.zeros(len(self))
        for length, here in enumerate(self.at, 1):
            after = np.append(before, np.zeros(length, np.bool_))[length:]
            count += np.bincount(here[(before | after) & (here != BREAK)], minlength=len(self))
        return count / np.maximum(self.count, 1)

    def numbered(self, phrases: Collection[int]) -> Bools:
        """Whether each phrase is one of these."""
        among = np.zeros(len(self), np.bool_)
        among[list(phrases)] = True
        return among

    def in_texts(self, wanted: Bools, texts: Ints | None = None) -> tuple[Ints, Ints]:
        """The numbers of texts, all or these, and of the wanted phrases in them: each pair once, sorted by the text."""
        begins, keys = self.texts.begins, []
        looked_at = np.ones(len(begins), np.bool_) if texts is None else np.isin(np.arange(len(begins)), texts)
        for here in self.at:
            places = np.flatnonzero(np.append(wanted, False)[here])
            number = np.searchsorted(begins, places, "right") - 1
            mine = looked_at[number]
            keys.append(number[mine] * len(self) + here[places[mine]])
        return np.divmod(np.unique(np.concatenate(keys)), len(self))

    def spread(self, wanted: Bools) -> Ints:
        """In how many texts each of the wanted phrases is."""
        return np.bincount(self.in_texts(wanted)[1], minlength=len(self)).astype(np.int64)

    def forms(self, wanted: Bools) -> dict[int, str]:
        """Each as it is mostly written; in lower case where that is as frequent."""
        forms: dict[int, str] = {}
        for length, here in enumerate(self.at, 1):
            places = np.flatnonzero(np.append(wanted, False)[here])
            places = places[np.argsort(here[places], kind="stable")]
            for group in np.split(places, np.flatnonzero(np.diff(here[places])) + 1):
                if len(group):
                    step = max(1, len(group) // _FORMS)
                    counts = Counter(self.texts.form(place, length) for place in group[::step].tolist())
                    form, _ = max(counts.items(), key=lambda item: (item[1], item[0].islower()))
                    forms[int(here[group[0]])] = form
        return forms


def dunning(both: Ints, first: Ints, second: Ints, size: int) -> Floats:
    """The likelihood ratio of things that are found together (Dunning 1993); 0 where they meet less than by chance."""
    observed = np.array([both, first - both, second - both, size - first - second + both], np.float64)
    expected = np.array(
        [first * second, first * (size - second), (size - first) * second, (size - first) * (size - second)]
    )
    expected = expected / size
    filled = np.maximum(observed, 1e-9)
    ratio: Floats = 2 * np.sum(filled * np.log(filled / np.maximum(expected, 1e-9)), axis=0)
    return np.where(observed[0] <= expected[0], 0.0, ratio)


Rates = Callable[[Sequence[str], Language], NDArray[np.floating]]
"""Expected occurrences of each stem in a million words of the language, whatever the subject."""

# A term must be beyond chance (p < 0.0001 of the chi-squared distribution), and twice as frequent as expected: a large
# sample finds significance in any difference.
MIN_LIKELIHOOD, MIN_RATIO = 15.13, 2.0
MIN_COUNT = 3  # and in two texts, where there are several; judgement
MIN_ASSOCIATION = 10.83  # likelihood ratio of the weakest link of a phrase: p < 0.001
# Occurrences in a million words from which a word says nothing. English: "new", "people"; judgement.
STOP_RATE = 1000.0
# Judgement: a word spends about a tenth of its occurrences beside one and the same neighbour.
NEIGHBOUR_SHARE = 0.1
NESTED_SHARE = 0.9  # A term that occurs in a longer one this often is a part of it; judgement.
_PIECES, _PIECE = 8, 150  # spread is measured over as many texts of as many words, or over pieces; judgement
_SHORT = 3  # letters of a stem that is a function word if half of the texts have it; judgement
_NEW_NEIGHBOURS, _WIDE = 0.5, 0.4  # shares of its places, and of the texts: see `_guessed_rates`
_EQUAL_RATE = 50.0  # of a word whose language is not known; judgement


def general_rates(language: Language) -> Rates | None:
    """How frequent words are in general; None where that is not known: then their spread over the texts decides."""
    return rate if known(language) else None


class Keyness:
    """How much more frequent each phrase is than `background` and the texts of `against` lead to expect.

    Without a background, words that all texts have, beside any other word, are taken for those of every subject.
    """

    def __init__(self, phrases: Phrases, background: Rates | None, against: Sequence[str] = ()) -> None:
        self.phrases = phrases
        self._general = background
        self._against = Counter(chain.from_iterable(words(text, phrases.texts.language) for text in against))
        self._total_against = sum(self._against.values())
        stems = phrases.stems
        has_rates = background is not None and stems
        general = background(stems, phrases.texts.language) if background and has_rates else _guessed_rates(phrases)
        self.word_rates: Floats = np.maximum(np.asarray(general, np.float64), self._rates_against(stems))

    def _rates_against(self, stems: Sequence[str]) -> Floats:
        return np.array([self._against[stem] * 1e6 / max(1, self._total_against) for stem in stems], np.float64)

    @cached_property
    def expected(self) -> Floats:
        """Occurrences of each phrase; of longer ones, a share of what their rarest word has."""
        phrases = self.phrases
        rates = np.append(self.word_rates, np.zeros(len(phrases) - len(self.word_rates)))
        share = np.where(phrases.length > 1, NEIGHBOUR_SHARE, 1.0)
        for length in range(2, len(phrases.at) + 1):
            these = np.flatnonzero(phrases.length == length)
            rates[these] = np.minimum(rates[phrases.begin[these]], rates[phrases.end[these]])
            if length == 2:
                pairs = these[phrases.is_run[these]]
                rates[pairs] = self._rates_of_pairs(pairs, rates[pairs])
                share[pairs] = NEIGHBOUR_SHARE if self._general is None else 1.0
        return np.maximum(rates * share * phrases.words / 1e6, 1e-6)

    def _rates_of_pairs(self, pairs: Ints, of_characters: Floats) -> Floats:
        """Two characters of a script without spaces are a word of the background."""
        phrases = self.phrases
        written = ["".join(phrases.units_of(pair)) for pair in pairs.tolist()]
        if not written:
            return of_characters
        rates = self._rates_against(written)
        if self._general is not None:
            rates = np.maximum(rates, self._general(written, phrases.texts.language))
        return np.where(rates > 0, rates, of_characters)

    @cached_property
    def ratios(self) -> Floats:
        return self.phrases.count / self.expected

    @cached_property
    def likelihoods(self) -> Floats:
        """Dunning's log-likelihood (1993), 0 for what is less frequent than expected."""
        count = self.phrases.count
        likelihoods = 2 * (count * np.log(np.maximum(self.ratios, 1.0)) - (count - self.expected))
        return np.where(self.ratios > 1, likelihoods, 0.0)

    @cached_property
    def stop_words(self) -> Bools:
        """Whether each word says so little that no term begins or ends with it."""
        short = np.array([len(stem) < 2 or stem[0].isdecimal() for stem in self.phrases.stems], np.bool_)
        return ~self.phrases.unspaced & (short | (self.word_rates >= STOP_RATE))

    @cached_property
    def units(self) -> Bools:
        """Whether a phrase can be a term, key or not: frequent enough, held together, no stop word at its edges."""
        phrases, length = self.phrases, self.phrases.length
        # A repeated sentence gives many long phrases; a term of three words comes up as often as one of one.
        often = phrases.count >= np.where(length == 2, MIN_PHRASE_COUNT, MIN_COUNT)
        edges = self.stop_words[phrases.first_word] | self.stop_words[phrases.last_word]
        one_character = (length == 1) & phrases.is_run
        units: Bools = often & ~edges & ~one_character & (phrases.associations() >= MIN_ASSOCIATION)
        return units

    @cached_property
    def key(self) -> Bools:
        """Whether a phrase can be a term, and is far more frequent than expected."""
        return self.units & (self.ratios >= MIN_RATIO) & (self.likelihoods >= MIN_LIKELIHOOD)


def unnested(phrases: Phrases, wanted: Bools) -> Bools:
    """The wanted ones without parts of longer ones that hardly occur elsewhere."""
    return wanted & (phrases.inside(wanted) < NESTED_SHARE * phrases.count)


def _guessed_rates(phrases: Phrases) -> Floats:
    """Where the language is not known: words that most texts have and that have ever new neighbours say nothing.

    All others are taken for equally rare. On ten of the Ebola pages (2026-11), three in four function words have new
    neighbours in half of their places or more, and three in ten words of the subject have.
    """
    numbers, begins, kinds = phrases.at[0], phrases.texts.begins, len(phrases.stems)
    rates = np.full(kinds, _EQUAL_RATE)
    words_at = np.flatnonzero(numbers != BREAK)
    pieces = np.searchsorted(begins, words_at, "right") - 1
    if len(begins) < _PIECES or phrases.words < _PIECE * len(begins):
        pieces = np.arange(len(words_at)) // _PIECE
    if not len(pieces):
        return rates
    kinds_seen = np.unique(pieces * kinds + numbers[words_at]) % kinds
    spread = np.bincount(kinds_seen, minlength=kinds) / (pieces[-1] + 1)
    neighbours = _neighbours(numbers, kinds)
    count = phrases.count[:kinds]
    various = (neighbours >= 2 * _NEW_NEIGHBOURS * count) & (spread >= _WIDE) & (count >= MIN_COUNT)
    short = np.array([len(stem) <= _SHORT for stem in phrases.stems])
    rates[(various | (short & (spread >= 0.5))) & ~phrases.unspaced] = STOP_RATE
    return rates


def _neighbours(numbers: Ints32, kinds: int) -> Ints:
    """In how many different pairs of neighbours each word is."""
    shifted = numbers.astype(np.int64) + 1  # BREAK is a neighbour too
    pairs = np.unique(shifted[:-1] * (kinds + 1) + shifted[1:])
    both = np.concatenate([pairs // (kinds + 1), pairs % (kinds + 1)])
    return np.bincount(both, minlength=kinds + 1)[1:].astype(np.int64)
