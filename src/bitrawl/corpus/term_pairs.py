"""The bilingual terms of a corpus: which terms translate each other, by the aligned segments that have them, and their files.

The files are TSV, CSV for spreadsheets, and TBX-Basic of 2008: translate-toolkit 3.20 does not read
that of 2019.
"""

import csv
import io
import shlex
import tempfile
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import IO, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.corpus.formats import TermFormat
from bitrawl.corpus.units import Corpora, CorpusUnit
from bitrawl.errors import ConfigError
from bitrawl.files import cell
from bitrawl.model import Language, Unpacker, pack
from bitrawl.text.arrays import Floats, Ints
from bitrawl.text.frequencies import BREAK, Keyness, Phrases, Texts, general_rates, unnested
from bitrawl.text.lexicon import Lexicon, WordBags
from bitrawl.text.numbers import values
from bitrawl.text.words import one_line, xml
from bitrawl.url import Url
from bitrawl.version import __version__

MIN_TOGETHER = 3  # segments that have both terms; judgement: in two, chance has a say
MIN_SHARE = 0.1  # of the segments with one of the terms, those that must have both; less cannot reach a useful score
SAME = 0.5  # The weight of a term that is written alike in both languages, as product names are; judgement.
TIED_SHARE = 0.5  # A candidate that a hyphen ties to another word in this share of its places is a part; judgement.
# A term that one and the same word precedes or follows in this share of its places is a part of a longer phrase; judgement,
# from reading wet-styleguide en-fr and apisix en-zh (2026-11).
FIXED_SHARE = 0.6
MIN_LINK = 0.2  # of two such words that translate each other; judgement
_FARTHEST = 3  # words that say nothing between a term and such a word: "outils de l'expérience"
PART_SHARE = 0.6  # A pair that is a part of a longer one in this share of its segments is left out; judgement.
MOST_CANDIDATES = 10_000  # of either language, the most telling; judgement
MOST_LEARNED = 12_000  # segments that the lexicon learns from: about 200 MB; judgement
LONGEST = 50  # different words and terms of such a segment; judgement: a word of a longer one has too many neighbours
_OF_EACH = 10  # segments of each candidate that the lexicon learns from before it takes any others; judgement
_BLOCK = 10_000  # segments whose pairs of terms are counted at once: about 50 MB
MOST_EXAMPLES = 3
MOST_SEGMENTS = 200_000  # that are read, evenly from all
TELL_EVERY = 50_000  # segments
_SHORT = 40  # characters of an example that says something

Languages = tuple[Language, Language]
Tell = Callable[[str], None]

COLUMNS = (
    *("lang_a", "lang_b", "term_a", "term_b", "score", "weight", "count_a", "count_b", "count_together"),
    *(f"{name}_{number}" for number in range(1, MOST_EXAMPLES + 1) for name in ("text_a", "text_b", "url_a", "url_b")),
)


class TermExample(msgspec.Struct, frozen=True, gc=False):
    """A segment pair that has both terms."""

    text_a: str
    text_b: str
    url_a: Url
    url_b: Url


class TermPair(msgspec.Struct, frozen=True):
    """Two terms that translate each other, as the corpus mostly writes them."""

    lang_a: Language
    lang_b: Language
    term_a: str
    term_b: str
    score: float  # how surely they translate each other, from 0 to 1
    weight: float  # how telling they are of the corpus, from 1 to 100, as in a term list
    count_a: int  # segments that have the first, the second, both
    count_b: int
    count_together: int
    examples: tuple[TermExample, ...] = ()

    @staticmethod
    def as_file(terms: "Sequence[TermPair]", style: TermFormat) -> bytes:
        """The content of a file; `topic.term_list.read_terms` reads all of them but JSON lines."""
        if style is TermFormat.TBX:
            return "".join(_tbx(terms)).encode()
        if style is TermFormat.CSV:
            return _csv(terms)
        if style is TermFormat.JSONL:
            return msgspec.json.Encoder(enc_hook=str).encode_lines([_in_lines(term) for term in terms])
        rows = [COLUMNS, *map(_cells, terms)]
        return "".join("\t".join(map(_cell, row)) + "\n" for row in rows).encode()


class FoundPair(NamedTuple):
    """Two terms, and the numbers of their phrases."""

    a: int
    b: int
    terms: TermPair  # not rounded, and without examples


def bilingual_terms(  # noqa: PLR0913 - what is asked, and how much it may take
    corpora: Corpora,
    folder: Path,
    languages: str,
    most: int,
    *,
    min_score: float,
    tell: Tell,
    most_segments: int = MOST_SEGMENTS,
) -> list[TermPair]:
    """The terms of a folder's corpus in two languages ("en-fr"), the most telling first; empty if it supports none.

    The languages may be left out if the folder has translations in one pair only; "fr-en" puts French first. Raises
    `ConfigError` if a job has not been mined, or if there is no such pair.
    """
    with _segments(corpora, _chosen_languages(folder, corpora, languages), tell, most_segments) as segments:
        tell(f"looking for terms in {len(segments):,} segments")
        sides = [Phrases(texts) for texts in segments.texts]
        a, b = (Keyness(side, general_rates(side.texts.language)) for side in sides)
        pairs = [pair for pair in find_pairs(a, b) if pair.terms.score >= min_score][:most]
        return _described(pairs, segments, *sides)


def _chosen_languages(folder: Path, corpora: Corpora, name: str) -> Languages:
    """The pair of languages that is meant, in the order in which it is written."""
    headers = corpora.headers
    pairs = {
        header.name: (header.languages[0], header.languages[1]) for header in headers if len(header.languages) == 2
    }
    if not pairs and headers:
        where, code = shlex.quote(str(folder)), headers[0].name
        raise ConfigError(
            f"{folder} has a corpus in one language ({code}); bilingual terms need two. For the terms of one language:"
            f" bitrawl topic learn {where} --lang {code} -o topic.txt"
        )
    if not pairs:
        raise ConfigError(f"the corpus of {folder} is empty")
    filled = [pair for pair, count in corpora.counts().items() if count and pair in pairs] or list(pairs)
    if not name and len(filled) > 1:
        raise ConfigError(f"{folder} has several language pairs; choose one with --languages: {', '.join(filled)}")
    both_ways = {f"{b}-{a}": (b, a) for a, b in pairs.values()} | pairs
    by_any_case = {pair.casefold(): languages for pair, languages in both_ways.items()}
    chosen = (name or filled[0]).casefold().replace(",", "-")
    if chosen not in by_any_case:
        raise ConfigError(f"{folder} has no language pair {name!r}; choose one of {', '.join(pairs)}")
    return by_any_case[chosen]


class _SegmentFile:
    """The segments of a corpus: as numbers in memory, and as they are in a file."""

    def __init__(self, languages: Languages, file: IO[bytes]) -> None:
        self.languages, self._file = languages, file
        self.texts = Texts(languages[0]), Texts(languages[1])
        self._begins, self.lengths = array("q"), array("i")
        self._unpack: Unpacker[TermExample] = Unpacker(TermExample)

    def __len__(self) -> int:
        return len(self._begins)

    def add(self, unit: CorpusUnit) -> None:
        urls = Url.known(unit.url_a), Url.known(unit.url_b)
        if unit.lang_a == self.languages[0]:
            example = TermExample(unit.text_a, unit.text_b, *urls)
        else:
            example = TermExample(unit.text_b, unit.text_a, *reversed(urls))
        self.texts[0].add(example.text_a)
        self.texts[1].add(example.text_b)
        self._begins.append(self._file.tell())
        self.lengths.append(len(example.text_a) + len(example.text_b))
        packed = pack(example)
        self._file.write(len(packed).to_bytes(4, "big") + packed)

    def __getitem__(self, number: int) -> TermExample:
        self._file.seek(self._begins[number])
        return self._unpack(self._file.read(int.from_bytes(self._file.read(4), "big")))


@contextmanager
def _segments(corpora: Corpora, languages: Languages, tell: Tell, most: int) -> Iterator[_SegmentFile]:
    """All, or one in so many; their texts are in a temporary file."""
    counts = corpora.counts()
    total = max(counts.get("-".join(order), 0) for order in (languages, languages[::-1]))
    step = max(1, -(-total // most))
    if step > 1:
        tell(f"reading one in {step} of the corpus, which has {total:,} segments")
    with tempfile.TemporaryFile() as file:
        segments = _SegmentFile(languages, file)
        for number, unit in enumerate(corpora.units(languages)):
            if number % step == 0:
                segments.add(unit)
                if len(segments) % TELL_EVERY == 0:
                    tell(f"reading the corpus: {len(segments):,} segments")
        yield segments


def _described(pairs: Sequence[FoundPair], segments: _SegmentFile, a: Phrases, b: Phrases) -> list[TermPair]:
    lengths = np.array(segments.lengths)
    return [
        msgspec.structs.replace(
            pair.terms,
            score=round(pair.terms.score, 3),
            weight=max(1.0, round(pair.terms.weight)),
            examples=tuple(segments[number] for number in _examples(have_both, lengths)),
        )
        for pair, have_both in zip(pairs, segments_with(pairs, a, b), strict=True)
    ]


def _examples(numbers: Ints, lengths: Ints) -> list[int]:
    """The shortest that are no fragments."""
    length = lengths[numbers]
    chosen: list[int] = numbers[np.lexsort((numbers, length, length < 2 * _SHORT))][:MOST_EXAMPLES].tolist()
    return chosen


def find_pairs(a: Keyness, b: Keyness) -> list[FoundPair]:
    """Pairs of terms, the most telling first; a term of either language is in one pair at most.

    The texts of both are segments that are translations of each other, in the same order. A score is the geometric mean
    of two shares: the segments with either term that have both (Dice), and the words of the terms that a lexicon
    links. The order is by score times weight.
    """
    sides = _Side(a), _Side(b)
    links = _without_parts(_one_to_one(_linked(*sides)), a.phrases, b.phrases)
    forms_a = a.phrases.forms(a.phrases.numbered({link.a for link in links}))
    forms_b = b.phrases.forms(b.phrases.numbered({link.b for link in links}))
    pairs = [_found(link, forms_a[link.a], forms_b[link.b], *sides) for link in links]
    terms = [pair for pair in pairs if not _are_numbers(pair.terms)]
    return sorted(terms, key=lambda pair: (-pair.terms.score * pair.terms.weight, pair.a))


class _Linked(NamedTuple):
    """Two candidates by their numbers."""

    a: int
    b: int
    score: float
    together: int


def _linked(a: "_Side", b: "_Side") -> list[_Linked]:
    first, second, together = _together(a, b)
    if not len(first):
        return []
    # Half a segment is subtracted: three of three are less certain than thirty of thirty.
    dice = 2 * (together - 0.5) / (a.count[first] + b.count[second])
    good = np.flatnonzero((together >= MIN_TOGETHER) & (dice >= MIN_SHARE))
    links = _Links(a, b)
    columns = (column[good].tolist() for column in (first, second, together, dice))
    return [
        _Linked(x, y, (share * links.between(x, y)) ** 0.5, count)
        for x, y, count, share in zip(*columns, strict=True)
        if links.are_equally_whole(x, y)
    ]


def _found(link: _Linked, term_a: str, term_b: str, a: "_Side", b: "_Side") -> FoundPair:
    weight: float = 100 * float(a.strength[link.a] * b.strength[link.b]) ** 0.5
    if term_a.casefold() == term_b.casefold():
        weight *= SAME
    languages = a.phrases.texts.language, b.phrases.texts.language
    counts = int(a.count[link.a]), int(b.count[link.b]), link.together
    return FoundPair(link.a, link.b, TermPair(*languages, term_a, term_b, link.score, weight, *counts))


def _are_numbers(pair: TermPair) -> bool:
    """As "four" and "quatre" are: one word, and the same value."""
    return " " not in pair.term_a and bool(
        values(pair.term_a, pair.lang_a).keys() & values(pair.term_b, pair.lang_b).keys()
    )


def segments_with(pairs: Sequence[FoundPair], a: Phrases, b: Phrases) -> Iterator[Ints]:
    """For each pair, the numbers of the segments that have both terms."""
    places_a, places_b = _places(a, {pair.a for pair in pairs}), _places(b, {pair.b for pair in pairs})
    for pair in pairs:
        yield np.intersect1d(places_a[pair.a], places_b[pair.b], assume_unique=True)


def _places(phrases: Phrases, wanted: set[int]) -> dict[int, Ints]:
    text, phrase = phrases.in_texts(phrases.numbered(wanted))
    order = np.argsort(phrase, kind="stable")
    cuts = np.flatnonzero(np.diff(phrase[order])) + 1
    return {int(phrase[group[0]]): text[group] for group in np.split(order, cuts) if len(group)}


class _Side:
    """The candidates of one language, and the segments that they are in."""

    def __init__(self, keyness: Keyness) -> None:
        self.phrases, self.keyness = keyness.phrases, keyness
        spread = self.phrases.spread(keyness.key)
        whole = self.phrases.tied() < TIED_SHARE
        best = np.flatnonzero(unnested(self.phrases, keyness.key & (spread >= MIN_TOGETHER)) & whole)
        best = best[np.argsort(-keyness.likelihoods[best], kind="stable")][:MOST_CANDIDATES]
        self.wanted = np.zeros(len(self.phrases), np.bool_)
        self.wanted[best] = True
        self.text, self.phrase = self.phrases.in_texts(self.wanted)
        self.count = spread
        strength = np.sqrt(keyness.likelihoods)
        self.strength: Floats = strength / (strength[best].max() if len(best) else 1.0)

    @cached_property
    def fixed_neighbours(self) -> dict[int, tuple[int, ...]]:
        """Of each candidate that has any, the word before it and the word after it that are nearly always the same."""
        before, after = self._neighbour(-1), self._neighbour(1)
        keys = [np.zeros(0, np.int64)]
        for length, here in enumerate(self.phrases.at, 1):
            places = np.flatnonzero(np.append(self.wanted, False)[here])
            ends = np.minimum(places + length, len(after) - 1)
            keys += [
                here[places[beside != BREAK]].astype(np.int64) * len(self.phrases) + beside[beside != BREAK]
                for beside in (before[places - 1], after[ends])
            ]
        pairs, counts = np.unique(np.concatenate(keys), return_counts=True)
        phrase, word = np.divmod(pairs, len(self.phrases))
        # One is added: two of three times is chance.
        fixed = counts >= FIXED_SHARE * (self.phrases.count[phrase] + 1)
        neighbours: dict[int, tuple[int, ...]] = {}
        for number, beside in zip(phrase[fixed].tolist(), word[fixed].tolist(), strict=True):
            neighbours[number] = (*neighbours.get(number, ()), beside)
        return neighbours

    def _neighbour(self, step: int) -> Ints:
        """At each place, the word there or, if it says nothing, a further one in that direction; `BREAK` if there is none."""
        numbers = self.phrases.texts.numbers.astype(np.int64)
        silent = np.append(self.keyness.stop_words, False)[numbers]
        place = np.arange(len(numbers))
        for _ in range(_FARTHEST):
            place = np.where(silent[place], np.clip(place + step, 0, len(numbers) - 1), place)
        return np.where(silent[place], BREAK, numbers[place])

    @property
    def tokens(self) -> NDArray[np.bool_]:
        """What the lexicon links: words, pairs of characters of a script without spaces, and candidates."""
        phrases = self.phrases
        runs = phrases.is_run
        tokens: NDArray[np.bool_] = self.wanted | np.where(runs, phrases.length == 2, phrases.length == 1)
        return tokens

    def words_of(self, phrase: int) -> list[int]:
        """The words that tell something, or the pairs of characters, of a term."""
        if self.phrases.is_run[phrase]:
            return self.phrases.parts_of(phrase, 2)
        words = self.phrases.parts_of(phrase, 1)
        return [word for word in words if not self.keyness.stop_words[word]] or words


def _together(a: _Side, b: _Side) -> tuple[Ints, Ints, Ints]:
    """Every pair of candidates that some segment has, and how many segments do."""
    width = len(b.phrases)
    keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for low in range(0, len(a.phrases.texts), _BLOCK):
        first, second = _cooccurrences(_within(a, low, low + _BLOCK), _within(b, low, low + _BLOCK))
        new, times = np.unique(first * width + second, return_counts=True)
        every, which = np.unique(np.append(keys, new), return_inverse=True)
        keys, counts = every, np.bincount(which, np.append(counts, times)).astype(np.int64)
    return keys // width, keys % width, counts


def _within(side: _Side, low: int, high: int) -> tuple[Ints, Ints]:
    begin, end = np.searchsorted(side.text, [low, high])
    return side.text[begin:end] - low, side.phrase[begin:end]


def _cooccurrences(a: tuple[Ints, Ints], b: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Each phrase of a segment beside each of its translation."""
    sizes = np.bincount(b[0], minlength=_BLOCK)
    begins = np.cumsum(sizes) - sizes
    of_row = sizes[a[0]]
    row = np.repeat(np.arange(len(a[0])), of_row)
    column = np.arange(len(row)) - np.repeat(np.cumsum(of_row) - of_row - begins[a[0]], of_row)
    return a[1][row], b[1][column]


class _Links:
    """How well a lexicon that is learned from the segments links two terms."""

    def __init__(self, a: _Side, b: _Side) -> None:
        self._a, self._b = a, b
        chosen = _chosen(a, b)
        bags = _bags(a, chosen), _bags(b, chosen)
        short = np.flatnonzero(np.maximum(*(np.diff(bag.begin) for bag in bags)) <= LONGEST)
        ids_a, bags_a = _renumbered(_picked(bags[0], short))
        ids_b, bags_b = _renumbered(_picked(bags[1], short))
        self._mutual = cache(Lexicon.of_numbers((ids_a, ids_b), bags_a, bags_b, np.ones(len(short))).mutual)

    def between(self, a: int, b: int) -> float:
        """Of the terms as a whole, or of their words, if that is more."""
        whole = self._mutual(str(a)).get(str(b), 0.0)
        words_a, words_b = self._a.words_of(a), self._b.words_of(b)
        cells = [[self._word(x, y) for y in words_b] for x in words_a]
        of_a: float = sum(max(row) for row in cells) / len(words_a)
        of_b: float = sum(max(column) for column in zip(*cells, strict=True)) / len(words_b)
        return max(whole, min(of_a, of_b))

    def are_equally_whole(self, a: int, b: int) -> bool:
        """Whether what always stands beside one term translates what always stands beside the other.

        "Government of Canada Intranet" is always followed by "theme", and "Canada pour les sites" by "intranet": neither is
        whole, and they are not parts of the same. "production files" and "fichiers de production", which always follow
        "Download" and "Télécharger", are.
        """
        besides_a, besides_b = self._a.fixed_neighbours.get(a, ()), self._b.fixed_neighbours.get(b, ())
        return all(any(self._word(x, y) >= MIN_LINK for y in besides_b) for x in besides_a) and all(
            any(self._word(x, y) >= MIN_LINK for x in besides_a) for y in besides_b
        )

    def _word(self, a: int, b: int) -> float:
        if self._a.phrases.units_of(a) == self._b.phrases.units_of(b):
            return 1.0
        return self._mutual(str(a)).get(str(b), 0.0)


def _chosen(a: _Side, b: _Side) -> Ints:
    """The segments to learn from, all or some: those with candidates first, as many of each."""
    total = len(a.phrases.texts)
    if total <= MOST_LEARNED:
        return np.arange(total)
    first = np.unique(np.concatenate([_first_of_each(side) for side in (a, b)]))
    others = np.setdiff1d(np.arange(total), first)
    return np.sort(np.append(_spread(first, MOST_LEARNED), _spread(others, max(0, MOST_LEARNED - len(first)))))


def _first_of_each(side: _Side) -> Ints:
    order = np.argsort(side.phrase, kind="stable")
    phrase = side.phrase[order]
    begins = np.searchsorted(phrase, phrase)
    return side.text[order][np.arange(len(phrase)) - begins < _OF_EACH]


def _spread(numbers: Ints, most: int) -> Ints:
    """As many of them at most, evenly."""
    if len(numbers) <= most:
        return numbers
    return numbers[np.linspace(0, len(numbers) - 1, most).astype(np.int64)] if most else numbers[:0]


def _bags(side: _Side, chosen: Ints) -> WordBags:
    text, phrase = side.phrases.in_texts(side.tokens, chosen)
    sizes = np.bincount(np.searchsorted(chosen, text), minlength=len(chosen))
    return WordBags(phrase, np.append(0, np.cumsum(sizes)))


def _picked(bags: WordBags, chosen: Ints) -> WordBags:
    sizes = np.diff(bags.begin)
    mask = np.repeat(np.isin(np.arange(len(sizes)), chosen), sizes)
    return WordBags(bags.word[mask], np.append(0, np.cumsum(sizes[chosen])))


def _renumbered(bags: WordBags) -> tuple[dict[str, int], WordBags]:
    """By the numbers of a lexicon, whose words are the numbers of phrases."""
    different, number = np.unique(bags.word, return_inverse=True)
    return {str(phrase): at for at, phrase in enumerate(different.tolist())}, WordBags(number, bags.begin)


def _one_to_one(links: Sequence[_Linked]) -> Iterator[_Linked]:
    """Competitive linking (Melamed 2000): the best pair first, and each term once."""
    used_a: set[int] = set()
    used_b: set[int] = set()
    for link in sorted(links, key=lambda pair: (-pair.score, -pair.together, pair.a, pair.b)):
        if link.a not in used_a and link.b not in used_b:
            used_a.add(link.a)
            used_b.add(link.b)
            yield link


def _without_parts(links: Iterator[_Linked], a: Phrases, b: Phrases) -> list[_Linked]:
    """Without "floating" where it is mostly "floating selection", in both languages."""
    pairs = {(link.a, link.b): link for link in links}
    inside: dict[tuple[int, int], int] = {}
    for link in pairs.values():
        for part_a in a.all_parts(link.a):
            for part_b in b.all_parts(link.b):
                if (part := (part_a, part_b)) in pairs and part != (link.a, link.b):
                    inside[part] = max(inside.get(part, 0), link.together)
    return [link for key, link in pairs.items() if inside.get(key, 0) < PART_SHARE * link.together]


def _cells(term: TermPair) -> tuple[str, ...]:
    examples = [
        value for example in term.examples for value in (example.text_a, example.text_b, example.url_a, example.url_b)
    ]
    return (
        *(term.lang_a, term.lang_b, term.term_a, term.term_b, f"{term.score:.3f}", f"{term.weight:g}"),
        *(str(term.count_a), str(term.count_b), str(term.count_together)),
        *examples,
        *[""] * (4 * (MOST_EXAMPLES - len(term.examples))),
    )


def _in_lines(term: TermPair) -> TermPair:
    """With the characters that every format supports."""
    examples = tuple(
        msgspec.structs.replace(example, text_a=one_line(example.text_a), text_b=one_line(example.text_b))
        for example in term.examples
    )
    return msgspec.structs.replace(term, term_a=one_line(term.term_a), term_b=one_line(term.term_b), examples=examples)


def _csv(terms: Sequence[TermPair]) -> bytes:
    """With a byte order mark, without which Excel takes UTF-8 for something else."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    writer.writerows(map(_cell, _cells(term)) for term in terms)
    return file.getvalue().encode("utf-8-sig")


def _cell(text: str) -> str:
    return cell(one_line(text))


def _tbx(terms: Sequence[TermPair]) -> Iterator[str]:
    yield (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<martif type="TBX-Basic" xml:lang="en">\n'
        "<martifHeader>\n<fileDesc>\n<titleStmt>\n<title>Bilingual terms of a corpus</title>\n</titleStmt>\n"
        f"<sourceDesc>\n<p>Made by bitrawl {xml(__version__)}</p>\n</sourceDesc>\n</fileDesc>\n"
        '<encodingDesc>\n<p type="XCSURI">TBXBasicXCSV02.xcs</p>\n</encodingDesc>\n</martifHeader>\n'
        "<text>\n<body>\n"
    )
    for number, term in enumerate(terms, 1):
        counts = f"{term.count_a} and {term.count_b} segments, {term.count_together} together"
        yield f'<termEntry id="c{number}">\n<note>Score {term.score:.3f}, weight {term.weight:g}; {counts}</note>\n'
        yield _language_section(
            term.lang_a, term.term_a, [(example.text_a, example.url_a) for example in term.examples]
        )
        yield _language_section(
            term.lang_b, term.term_b, [(example.text_b, example.url_b) for example in term.examples]
        )
        yield "</termEntry>\n"
    yield "</body>\n</text>\n</martif>\n"


def _language_section(language: Language, term: str, contexts: Sequence[tuple[str, Url]]) -> str:
    return (
        f'<langSet xml:lang="{xml(language)}">\n<tig>\n<term>{xml(term)}</term>\n'
        + "".join(
            f'<descripGrp>\n<descrip type="context">{xml(text)}</descrip>\n'
            f'<admin type="source">{xml(url)}</admin>\n</descripGrp>\n'
            for text, url in contexts
        )
        + "</tig>\n</langSet>\n"
    )
