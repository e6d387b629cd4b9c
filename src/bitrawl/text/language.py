"""Identifies the language of texts: naive Bayes over byte n-grams, a whole batch at once.

What n-grams cannot tell apart is told by words (the standards of Serbo-Croatian) or by characters (the two Chinese scripts).
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import langcodes
import numpy as np
from langcodes import data_dicts
from numpy.typing import NDArray

from bitrawl.languages import base_language, in_script, same_language, script_of, scripts_of
from bitrawl.model import UNDETERMINED, Language
from bitrawl.model_files import model_file
from bitrawl.text.arrays import Floats32, Ints, Ints32

# Bytes. A text longer than two windows is judged by its beginning and its middle. On the tuning half of
# lab/bench/language.py (2026-11), 90 is as good as whole sentences, 70 costs 0.1 points, 50 costs 0.4.
WINDOW = 70
# A text whose first bytes make one language that likely is not read further. Of 11,308 longer paragraphs on 500 pages,
# this is true of 87 %, and 0.14 % of those would get another language if they were read as far as the windows reach.
BEGINNING, SURE = 50, 0.99
LONG, WINDOWS_OF_LONG = 2000, 8  # a page's whole text, in characters: judgement
SHORTEST_NGRAM, LONGEST_NGRAM = 2, 5  # bytes
# Texts that are scored at a time. With more, numpy's intermediate arrays leave the cache; with fewer, its calls
# dominate.
CHUNK = 4000
GROUP = 48  # n-grams that are added at a time: a beginning. OpenBLAS uses one thread for up to 9,216 products: 64 times 142 classes.
BUCKET_BITS, SLOT_BITS = 15, 17  # the layout of the model's file

_GAP, _END = b"\x01", b"\x00"  # between windows and after a text; no n-gram of the model contains them
_ADDRESS = re.compile(r"(?:\b[a-z]{2,8}://|\bwww\.)\S+|[\w.+-]{1,64}@\S+")
_COMPOSITE = {"Jpan": ("Hira", "Kana", "Hani"), "Kore": ("Hang",), "Hans": ("Hani",), "Hant": ("Hani",)}
# Judgement: fewer letters are in no language ("OK"). A character of a script without an alphabet carries more.
_MIN_LETTERS, _MIN_IDEOGRAPHS = 3, 2
_RARE_IDEOGRAPHS = "\U00020000-\U0003ffff"  # beyond the basic plane, which the table is of
_IDEOGRAPHIC = frozenset({"Hani", "Hira", "Kana", "Hang"})
# A claim multiplies the odds of its language by this. A judgement, which tests/unit/text/test_language.py checks: enough for
# "Contact", nothing against a sentence, because untranslated pages with a foreign claim must be noticed.
_CLAIM_ODDS = 12.0
# Also judgements: the same for a claim of a language that the model does not know, and the highest confidence that such
# a claim can get.
_UNKNOWN_ODDS, _MOST_UNKNOWN = 6.0, 0.5
# Judgements, except where a line names its evidence.
# A text without a claim that the model takes for a language nobody asked for, with less confidence than this, is in the
# one requested language that the model lacks. It is an even bet: without a claim nothing favours either.
_DOUBTFUL = 0.5
_FEW = 3  # if the model has at most this many languages in a script, they cannot contradict a claim
_LONE_SCRIPT = 0.8  # Confidence in the usual language of a script if the model does not have that language.
# How far n-grams alone may rule out one standard of Serbo-Croatian against another. Swept 0.02–0.4 with the weights of
# text/language.py on the tuning half of lab/bench/language.py (2026-11), on single sentences and on eight together.
_LEAST_SHARE = 0.1
_MARKED = 4000  # characters that are searched for its markers
# n-grams that contain a byte: the row of their length, and how far behind that byte they end.
_ACROSS = np.array(
    [(row, behind) for row in range(LONGEST_NGRAM - SHORTEST_NGRAM + 1) for behind in range(SHORTEST_NGRAM + row)]
).T[:, :, None]
_LOG_COUNTS = np.log1p(np.arange(256)).astype(np.float32)


class LanguageNgrams(NamedTuple):
    """n-grams in a perfect hash table, and how much likelier each is in each class than an unseen one."""

    labels: tuple[Language, ...]  # one per class; a language written in two scripts is two classes
    keys: NDArray[np.uint32]  # the polynomial hash of the n-gram in each slot; unique
    slots: NDArray[np.uint32]  # the row of its weights
    displacements: NDArray[np.uint32]
    multipliers: NDArray[np.uint32]
    weights: NDArray[np.uint8]  # n-grams × classes
    floor: Floats32  # the weight of an unseen n-gram, by class
    prior: Floats32
    temperature: Floats32  # factor and exponent of the sum of weights
    calibration: Floats32
    scripts: tuple[str, ...]
    # for each character of the basic plane, an index into `scripts`; 0 means that it is not a letter
    script_table: NDArray[np.uint8]

    @classmethod
    def load(cls, path: Path | None = None) -> "LanguageNgrams":
        """The package's model, or one that `python -m lab.train` made."""
        with np.load(path or model_file("language.npz")) as data:
            fields: dict[str, Any] = {name: data[name] for name in data.files}
        fields["labels"] = _labels(str(fields["labels"]).split())
        fields["keys"] = fields["keys"][fields["slots"]]
        fields["scripts"] = tuple(str(fields["scripts"]).split())
        present = np.unpackbits(fields.pop("present"), axis=1, count=len(fields["labels"])).view(bool)
        weights = np.zeros(present.size, np.uint8)
        weights[np.flatnonzero(present)] = fields["weights"]
        fields["weights"] = weights.reshape(present.shape)
        return cls(**fields)

    def score(self, texts: Sequence[bytes]) -> tuple[Floats32, Floats32]:
        """The log-likelihood of each text in each class, and the amount of evidence."""
        scores = np.empty((len(texts), len(self.labels)), np.float32)
        evidence = np.empty(len(texts), np.float32)
        start = size = 0
        for end, text in enumerate(texts, 1):
            size += len(text)
            if size > CHUNK or end == len(texts):
                self._score_chunk(texts[start:end], scores[start:end], evidence[start:end])
                start, size = end, 0
        return scores, evidence

    def confidence(self, scores: Floats32, evidence: Floats32, chances: Floats32) -> Floats32:
        """The probability that the best language is right at all, given its probability among the known languages."""
        logits = np.einsum("ij,j->i", self.signs(scores, evidence, chances), self.calibration)
        return np.where(evidence > 0, 1 / (1 + np.exp(-logits)), np.float32(0))

    def signs(self, scores: Floats32, evidence: Floats32, chances: Floats32) -> Floats32:
        """What confidence depends on: the odds, how usual the n-grams are in the best class, and their number.

        A text in a language that the model does not know has a best class too, but its n-grams are less usual there.
        """
        best = (scores + self.prior).argmax(axis=1)
        amount = np.maximum(evidence, 1.0)
        usual = (scores[np.arange(len(best)), best] / amount - self.floor.take(best)) / 255
        # Clipped, because higher odds tell nothing about a missing language. Of 32 forms (clip 4–14), this one had the
        # least log-loss on one quarter of the data when fitted on another, both from the tuning half.
        odds = np.minimum(np.log(chances + 1e-6) - np.log1p(1e-6 - chances), 4)
        size = np.log(amount)
        signs = np.empty((len(best), 5), np.float32)
        signs[:, 0], signs[:, 1], signs[:, 2], signs[:, 3], signs[:, 4] = 1, odds, usual, size, usual * size
        return signs

    def _score_chunk(self, texts: Sequence[bytes], scores: Floats32, evidence: Floats32) -> None:
        data = np.frombuffer(_END + _END.join(texts) + _END, np.uint8)
        places, found = self._find(data)
        # One number for text and n-gram. After sorting, the runs of equal numbers are the counts.
        both = (data == 0).cumsum(dtype=np.int32).take(places)
        both -= 1
        both <<= SLOT_BITS
        both |= found
        both.sort()
        edges = np.ones(len(both) + 1, bool)
        np.not_equal(both[1:], both[:-1], out=edges[1:-1])
        at = edges.nonzero()[0]
        counts = _LOG_COUNTS.take(at[1:] - at[:-1], mode="clip")
        distinct = both.take(at[:-1])
        bounds = distinct.searchsorted(np.arange(len(texts) + 1) << SLOT_BITS)
        # In 64 bits, so that it does not depend on the other texts of the chunk.
        sums = np.zeros(len(counts) + 1)
        counts.cumsum(dtype=np.float64, out=sums[1:])
        reached = sums.take(bounds)
        evidence[:] = reached[1:] - reached[:-1]
        rows = distinct[: bounds[-1]] & ((1 << SLOT_BITS) - 1)
        scores[:] = self._sums(rows, counts[: len(rows)], bounds)
        scores += evidence[:, None] * self.floor

    def _sums(self, rows: Ints32, counts: Floats32, bounds: Ints) -> Floats32:
        """The sum of the weights of each text's n-grams, each times its count.

        Texts are padded to whole groups of n-grams, so that one call multiplies them all. A group is small enough for
        one thread of BLAS: threads wait for each other when other processes work, which made identification 5 times
        slower on two busy cores.
        """
        sizes = bounds[1:] - bounds[:-1]
        groups = np.maximum(-(-sizes // GROUP), 1)
        ends = groups.cumsum()
        places = np.arange(len(rows)) + ((ends - groups) * GROUP - bounds[:-1]).repeat(sizes)
        padded = np.zeros(ends[-1] * GROUP, np.int32)
        padded[places] = rows
        factors = np.zeros(len(padded), np.float32)
        factors[places] = counts
        weights = self.weights.take(padded, axis=0).astype(np.float32).reshape(len(padded) // GROUP, GROUP, -1)
        products = np.matmul(factors.reshape(-1, 1, GROUP), weights)[:, 0]
        return np.add.reduceat(products, ends - groups, axis=0) if len(products) > len(groups) else products

    def _find(self, data: NDArray[np.uint8]) -> tuple[Ints, Ints32]:
        """The bytes at which a known n-gram ends, and the row of the longest that does."""
        keys = ngram_keys(data, int(self.multipliers[0]))
        slots = slots_of(keys, self.multipliers, self.displacements)
        hits = self.keys.take(slots) == keys
        # What begins in one text and ends in the next is no n-gram, though its hash may be that of one.
        ends = (data == 0).nonzero()[0]
        hits[_ACROSS[0], np.minimum(ends + _ACROSS[1], len(data) - 1)] = False
        longest = slots[0]
        for slot, hit in zip(slots[1:], hits[1:], strict=True):
            longest = np.where(hit, slot, longest)
        places = np.logical_or.reduce(hits).nonzero()[0]
        return places, self.slots.take(longest.take(places)).view(np.int32)


def ngram_keys(data: NDArray[np.uint8], multiplier: int) -> NDArray[np.uint32]:
    """For each length, the polynomial hash of the bytes up to each place. A zero byte adds nothing."""
    values = data.astype(np.uint32)
    keys = np.empty((LONGEST_NGRAM - SHORTEST_NGRAM + 1, len(data)), np.uint32)
    for length in range(SHORTEST_NGRAM, LONGEST_NGRAM + 1):
        row = keys[length - SHORTEST_NGRAM]
        row[:] = keys[length - SHORTEST_NGRAM - 1] if length > SHORTEST_NGRAM else values
        factor = np.uint32(pow(multiplier, length - 1, 1 << 32))
        row[length - 1 :] += values[: max(len(values) - length + 1, 0)] * factor
    return keys


def slots_of(
    keys: NDArray[np.uint32], multipliers: NDArray[np.uint32], displacements: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """Hash and displace: where a key is, if it is present."""
    slots: NDArray[np.uint32] = keys * multipliers[1]
    slots >>= np.uint32(32 - SLOT_BITS)
    buckets = keys * multipliers[2]
    buckets >>= np.uint32(32 - BUCKET_BITS)
    slots ^= displacements.take(buckets)
    return slots


def language_ngrams() -> LanguageNgrams:
    """The model of the job, which is loaded once in a process."""
    return _loaded(model_file("language.npz"))


@lru_cache(maxsize=2)
def _loaded(path: Path) -> LanguageNgrams:
    return LanguageNgrams.load(path)


class NgramLanguageIdentifier:
    """The default identifier. docs/decisions/language-identification.md says what it can tell apart.

    `asked` are the languages that the user wants. They matter only where the model lacks one of them: a close relative
    that the model has must not take all of its texts (Tagalog those of Cebuano, German those of Swiss German). With `brief`,
    a text is read no further than its language is sure: for the many texts of a page. Segments are judged by all of it.
    """

    def __init__(
        self, model: LanguageNgrams | None = None, *, asked: Sequence[Language] = (), brief: bool = False
    ) -> None:
        self._model = model or language_ngrams()
        self.languages: tuple[Language, ...] = tuple(dict.fromkeys(self._model.labels))
        index = {language: number for number, language in enumerate(self.languages)}
        self._first = [self._model.labels.index(language) for language in self.languages]
        self._further = sorted(set(range(len(self._model.labels))) - set(self._first))
        self._further_of = [index[self._model.labels[number]] for number in self._further]
        self._in_two_scripts = {self._model.labels[number] for number in self._further}
        self._rivals = Counter(script for language in self.languages for script in _parts(language))
        self._known = frozenset(self.languages)
        self._asked = tuple(asked)
        self._brief = brief
        self._missing = [language for language in asked if base_language(language) not in self._known]
        self._standards = [index[Language(code)] for code in STANDARDS if code in index]

    def identify(self, texts: Sequence[str], *, prior: Language | None = None) -> list[tuple[Language, float]]:
        """See `LanguageIdentifier`.

        A claim of a language that the model does not know is believed if nothing else fits.
        """
        if not texts:
            return []
        samples = [sample(text) for text in texts]
        if not self._brief:
            return self._judged(texts, samples, prior)[0]
        verdicts, sure = self._judged(texts, [_beginning(data) for data in samples], prior)
        doubtful = [number for number, data in enumerate(samples) if not sure[number] and _beginning(data) != data]
        if doubtful:
            whole = [texts[number] for number in doubtful], [samples[number] for number in doubtful]
            for number, verdict in zip(doubtful, self._judged(*whole, prior)[0], strict=True):
                verdicts[number] = verdict
        return verdicts

    def _judged(
        self, texts: Sequence[str], samples: Sequence[bytes], claim: Language | None
    ) -> tuple[list[tuple[Language, float]], list[bool]]:
        """The verdicts on samples of texts, and which of them more of the text would hardly change.

        What contradicts the claim is never sure: a text may begin with a foreign name.
        """
        scripts = self._scripts(samples)
        scores, evidence = self._model.score(samples)
        chances = self.chances(scores, evidence)
        self._tell_standards(chances, texts, scripts)
        believable = range(len(self.languages)) if claim is None else self._claimed(claim)
        if claim is not None:
            for number in believable:  # mostly one
                chances[:, number] *= _CLAIM_ODDS
            chances /= np.add.reduce(chances, axis=1, keepdims=True)
        best, most = chances.argmax(axis=1).tolist(), np.maximum.reduce(chances, axis=1)
        confidences = self._model.confidence(scores, evidence, most)
        verdicts = [
            self._verdict(script, self.languages[number], confidence, text, claim)
            for script, number, confidence, text in zip(scripts, best, confidences.tolist(), texts, strict=True)
        ]
        likely = zip(scripts, best, (most >= SURE).tolist(), strict=True)
        return verdicts, [bool(script) and is_sure and number in believable for script, number, is_sure in likely]

    def _scripts(self, samples: Sequence[bytes]) -> list[str]:
        """The script of most letters of each text; empty if there are too few letters."""
        characters = np.frombuffer(_END.join(samples).decode("utf-8", "ignore").encode("utf-32-le"), np.uint32)
        number = len(self._model.scripts)
        places = (characters == 0).cumsum() * number
        places += self._model.script_table.take(characters, mode="clip")
        counts = np.bincount(places, minlength=len(samples) * number).reshape(-1, number)
        counts[:, 0] = 0
        names = [self._model.scripts[index] for index in counts.argmax(axis=1).tolist()]
        letters = np.add.reduce(counts, axis=1).tolist()
        return [name if _enough(name, count) else "" for name, count in zip(names, letters, strict=True)]

    def chances(self, scores: Floats32, evidence: Floats32) -> Floats32:
        """The probability of each language, assuming that the text is in one of them."""
        factor, exponent = self._model.temperature
        logits = scores + self._model.prior
        logits -= np.maximum.reduce(logits, axis=1, keepdims=True)
        logits /= (factor * np.maximum(evidence, 1.0) ** exponent)[:, None]
        every = np.exp(logits, out=logits)
        # Rows in one piece, so that their sums do not depend on how many there are.
        chances: Floats32 = every.take(self._first, axis=1)
        chances[:, self._further_of] += every[:, self._further]
        chances /= np.add.reduce(chances, axis=1, keepdims=True)
        return chances

    def _tell_standards(self, chances: Floats32, texts: Sequence[str], scripts: Sequence[str]) -> None:
        """Redistribute, by their words, the total probability of the standards of Serbo-Croatian."""
        standards = self._standards
        for number, best in enumerate(chances.argmax(axis=1).tolist()):
            if best in standards and scripts[number] == "Latn":
                shares = chances[number, standards].tolist()
                odds = standard_odds(texts[number][:_MARKED])
                least = max(shares) * _LEAST_SHARE
                anew = [max(share, least) * math.exp(odds[code]) for share, code in zip(shares, STANDARDS, strict=True)]
                chances[number, standards] = [share / sum(anew) * sum(shares) for share in anew]

    @lru_cache(maxsize=64)  # noqa: B019 an identifier lives as long as its process
    def _claimed(self, claim: Language) -> list[int]:
        """The languages that a claim covers: "no" covers Bokmål and Nynorsk."""
        bare = base_language(claim)
        return [number for number, language in enumerate(self.languages) if same_language(language, bare)]

    def _verdict(
        self, script: str, language: Language, confidence: float, text: str, claim: Language | None
    ) -> tuple[Language, float]:
        if not script or not confidence:
            return UNDETERMINED, 0.0
        if plain := self._plain(script, language, claim):
            return plain, confidence
        if _usual_language(script) not in self._known:  # nothing to compare with, except perhaps a neighbour
            language, confidence = _usual_language(script), _LONE_SCRIPT
        if claim is not None and script in _parts(claim) and self._is_beyond(claim, script):
            few = self._rivals[script] <= _FEW or (
                self._is_unasked(language) and any(same_language(claim, absent) for absent in self._missing)
            )
            language, confidence = _weigh_unknown(claim, language, confidence, few=few)
        elif (missing := self._missing_in(script, language, claim)) and (
            confidence < _DOUBTFUL or self._rivals[script] <= _FEW
        ):
            confidence = min(confidence, _DOUBTFUL)
            language, confidence = missing, _MOST_UNKNOWN * (1 - confidence)
        if language == UNDETERMINED:
            return UNDETERMINED, 0.0
        return self._in_its_script(language, script, text, claim), confidence

    @lru_cache(maxsize=1024)  # noqa: B019 an identifier lives as long as its process
    def _plain(self, script: str, language: Language, claim: Language | None) -> Language | None:
        """The verdict, if neither the confidence nor the text can change it: nearly always."""
        beyond = claim is not None and script in _parts(claim) and self._is_beyond(claim, script)
        if beyond or language in (UNDETERMINED, "zh") or _usual_language(script) not in self._known:
            return None
        if self._missing_in(script, language, claim):
            return None
        return self._in_its_script(language, script, "", claim)

    def _missing_in(self, script: str, language: Language, claim: Language | None) -> Language | None:
        """The one requested language that a text of that script may be in though the model says `language`."""
        if not self._missing or not self._is_unasked(language) or (claim and same_language(language, claim)):
            return None
        missing = [wanted for wanted in self._missing if script in _parts(wanted)]
        return base_language(missing[0]) if len(missing) == 1 else None

    def _is_unasked(self, language: Language) -> bool:
        return not any(same_language(language, wanted) for wanted in self._asked)

    def _is_beyond(self, claim: Language, script: str) -> bool:
        """Whether the model cannot judge that claim: it lacks the language, or the usual language of its script."""
        return base_language(claim) not in self._known or _usual_language(script) not in self._known

    def _in_its_script(self, language: Language, script: str, text: str, claim: Language | None) -> Language:
        """The tag names the script only if it is not the usual one.

        Characters common to both scripts decide nothing.
        """
        if language == "zh":
            claimed = script_of(claim) if claim is not None and claim.startswith("zh") else "Hans"
            return in_script(language, chinese_script(text[: 2 * WINDOW]) or claimed)
        written_so = language in self._in_two_scripts or f"{language}-{script}" in data_dicts.LIKELY_SUBTAGS
        return in_script(language, script) if written_so and script not in _parts(language) else language


def _labels(trained: Sequence[str]) -> tuple[Language, ...]:
    """Southern Kurdish (sdh) stands for Central Kurdish (ckb) where the model lacks that: it takes its texts, and is far rarer."""
    if "ckb" not in trained:
        trained = ["ckb" if label == "sdh" else label for label in trained]
    return tuple(map(Language, trained))


def sample(text: str) -> bytes:
    """The part of a text that is judged: without URLs, and a few windows of a long text."""
    if len(text) > LONG:
        starts = [len(text) * number // WINDOWS_OF_LONG for number in range(WINDOWS_OF_LONG)]
        text = " \x01 ".join(text[start : start + WINDOW] for start in starts)
    if "://" in text or "www." in text or "@" in text:
        text = _ADDRESS.sub(" ", text)
    if text.isupper():
        text = text.lower()
    # Words as they are inside a text. This is worth 10 points on single words, 3 on three words, nothing on sentences.
    text = f" {text[:1].lower()}{text[1:]} "
    data = text.encode("utf-8", "replace").replace(_END, b" ")
    if len(data) <= 2 * WINDOW or _GAP in data:
        return data
    return data[:WINDOW] + _GAP + data[len(data) // 2 :][:WINDOW]


def _beginning(data: bytes) -> bytes:
    """What is scored first of a sample; all of it, if the text is so long that its windows may differ."""
    return data[:BEGINNING] if len(data) <= 2 * WINDOW + len(_GAP) else data


def _enough(script: str, letters: int) -> bool:
    return letters >= (_MIN_IDEOGRAPHS if script in _IDEOGRAPHIC else _MIN_LETTERS)


@lru_cache(maxsize=256)
def _usual_language(script: str) -> Language:
    """The usual language of a script, after CLDR's likely subtags: for Thaana, Maldivian."""
    return Language(langcodes.Language.make(script=script).maximize().language or UNDETERMINED)


def _weigh_unknown(claim: Language, language: Language, confidence: float, *, few: bool) -> tuple[Language, float]:
    """A claim of a language that the model does not know: a closer name for what was found, or a better guess.

    If few languages of the model share the script, n-grams say no more than the script does: Yiddish, Tigrinya.
    """
    bare = base_language(claim)
    if data_dicts.MACROLANGUAGES.get(language) == bare:
        return language, confidence
    if same_language(language, bare) or (bare == "cnr" and language in STANDARDS):
        return bare, confidence
    other = _UNKNOWN_ODDS * (1 - confidence)
    if few or other > confidence:
        return bare, _MOST_UNKNOWN * (1.0 if few else other / (other + confidence))
    return language, confidence


def _parts(language: Language) -> tuple[str, ...]:
    script = script_of(language)
    return _COMPOSITE.get(script, (script,))


def is_in_another_script(text: str, language: Language) -> bool:
    """Whether a text has letters, and none of them is of a script that the language is written in."""
    own, foreign = _letters_of(language)
    return own.search(text) is None and foreign.search(text) is not None


@lru_cache(maxsize=64)
def _letters_of(language: Language) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Letters of its scripts, and letters of others. What the table lacks is neither."""
    with np.load(model_file("language.npz")) as data:
        names, table = str(data["scripts"]).split(), data["script_table"]
    parts = {part for script in scripts_of(language) for part in _COMPOSITE.get(script, (script,))}
    own = np.isin(table, [number for number, name in enumerate(names) if name in parts])
    foreign = (table > 0) & ~own & (script_of(language) in _COMPOSITE or script_of(language) in names)
    beyond = _RARE_IDEOGRAPHS if "Hani" in parts else ""
    return re.compile(f"[{_ranges(own)}{beyond}]"), re.compile(f"[{_ranges(foreign)}]")


def _ranges(wanted: NDArray[np.bool_]) -> str:
    """The characters by their codes, for a pattern; NUL if there are none, which no text has."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], wanted, [False])).astype(np.int8))).reshape(-1, 2)
    return "".join(f"\\U{first:08x}-\\U{end - 1:08x}" for first, end in edges.tolist()) or "\0"


STANDARDS = ("bs", "hr", "sr")
# Log-odds of one marker. Swept 0–3 on the tuning half of lab/bench/language.py (2026-11): flat from 1.5.
_WEIGHT = 2.0
# The old vowel "jat" is je or ije in Bosnian, Croatian and Montenegrin, and e in most of Serbian: mjesto, vrijeme;
# mesto, vreme. Loan words with -jekt- and sovjet are not evidence.
_JAT = re.compile(r"ije[bcčćdđfghklmnprsštvzž]|(?<!so)[bdmpstv]je(?!k[cta])[bcčćdđghklmnprsštvzž]")
# The share of words that show it, on the same data.
_JAT_RATE, _NO_JAT_RATE = 0.047, 0.004

# Words and beginnings of words (with *) that one or two of the standards prefer, from common descriptions of their
# differences, not learned from data. None is proof, but several are. Montenegrin shares its words with Bosnian and
# Serbian and has no row.
_MARKERS = {
    ("hr",): """
        te kako jest tko nitko itko svatko tisuć* tjed* siječ* veljač* ožujk* ožujak travnj* travanj svibnj* svibanj lipnj* lipanj
        srpnj* srpanj kolovoz* rujn* rujan listopad* studen* prosinc* prosinac zrakoplov* vlak vlaka vlakov* kolodvor*
        glazb* sveučiliš* nogomet* znanost* znanstv* zemljopis* sukladno izvješć* gospodarst* ljekarn* tvornic* točk*
        točn* uporab* rabi kruh* uvjet* tijekom glede unatoč europ* kemij* povij* redatelj* skladatelj* čimbenik*
        sustav* stajališ* promidžb* nazočn* suradnj* suradnik* nadomjest* kazališ* zaklad* tipkovnic*
        računal* mirovin* proračun* pučanst* mrkv* rajčic* kolodvor* vijeć*
        županij* domovnic* putovnic* odvjetni* zemljovid* brzojav* tjelovježb* pozornost* udruga udruge udrugu udrug
        udrugama dvojb* središ* veleposlan* ravnatelj* časnik* postrojb* rabljen* otok* cijepiv*
        organizira* kontrolira* financij* financir* uljudb* ozračj* primjeric* priopć* ljestvic* desetljeć*
    """,
    (
        "bs",
    ): "historij* lahk* mehk* kahv* polahk* hudožest* halal* sevdah* rahat* sabah* uvehn* duhan* sahat* hlje* sehar*",
    ("sr",): """
        gde negde nigde svugde ovde onde uvek pre posle vreme mesto mesta mestu mesec* dete deca dece deci reka
        reke reči reč čovek* svetu sveta svetsk* mleko mleka lep lepa lepo lepe ceo cela celo cele dve obe dvema
        hteo htela hteti videti videla voleo volela želeo želela živeo živela devojk* devojč* primer primera
        primeri* rešenj* rešava* nedelj* ponedelj* sreda sredu leto letos sneg* belo bela beli vera veri veruj* sled*
        posled* poslednj* delo dela delu deo delov* deluj* uspeh* uspeš* smer* izveštaj* savet* opštin* opšt* sveštenik*
        vazduh* hleb* supa šargarep* bezbedn* bekstv* pobed* menja* promen* umetn* razume* upotreb* sopstven* zahtev*
        istorij* oficir* srećan hemij* muzik* štamp* hrišćan* demokratij* vaspitan* snabdeva*
        biće moraće imaće uradiću dobiće postaće
    """,
    ("bs", "sr"): """
        šta ko niko neko svako hiljad* avgust* januar* februar* mart martu marta april* juni juna junu juli jula julu
        septembar* septembr* oktobar* oktobr* novembar* novembr* decembar* decembr* fudbal* univerzitet* saobraćaj*
        uslov* tačk* tačn* evrop* voz vozom vozov* apotek* fabrik* privred* štampa* takođe tokom nauk* nauč* sistem*
        muzik* hemij* pozorišt* odbran* aerodrom* kafa kafu kafe porodic* sarad* sopstven* upotreb* komand*
        kompozitor* reditelj* advokat* ambasador* ostrv* vijek* vek veka veku vekov* pasoš* budžet* penzij* organizova*
    """,
    ("bs", "hr"): """
        gdje negdje nigdje svugdje ovdje uvijek prije poslije vrijeme mjesto mjesta mjestu mjesec* dijete djeca djece
        djeci rijeka rijeke rijeci riječ* čovjek* svijet* mlijek* lijep* cijel* dvije obje htio htjela htjeti vidjeti
        vidio vidjela volio voljela živio živjela djevojk* djevojč* primjer* rješ* nedjelj* ponedjelj* srijed* ljet*
        snijeg* bijel* vjer* slijed* sljed* posljed* djel* dio uspjeh* uspješ* smjer* savjet* općin* opć* također
        pobjed* mijenja* promjen* umjetn* razumije* zahtjev* izvjest* izvješt* porijekl* stijen* lijev* rijetk* vijest*
    """,
}
_WORD = re.compile(r"[a-zčćžšđ]+")


def standard_odds(text: str) -> dict[str, float]:
    """Log-odds of each of `STANDARDS`, by the words of a text in Latin Serbo-Croatian."""
    exact, stems = _markers()
    odds = dict.fromkeys(STANDARDS, 0.0)
    lower = text.lower()
    words = _WORD.findall(lower)
    for word in set(words):
        favoured = exact.get(word) or next((stems[word[:n]] for n in range(len(word), 2, -1) if word[:n] in stems), ())
        for standard in favoured:
            odds[standard] += _WEIGHT
    # Two Poisson rates: a long text without a single jat is Serbian, even without a marker.
    jats = len(_JAT.findall(lower))
    odds["sr"] += len(words) * (_JAT_RATE - _NO_JAT_RATE) - jats * math.log(_JAT_RATE / _NO_JAT_RATE)
    return odds


@lru_cache(maxsize=1)
def _markers() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    exact: dict[str, tuple[str, ...]] = {}
    stems: dict[str, tuple[str, ...]] = {}
    for favoured, words in _MARKERS.items():
        for word in words.split():
            target = stems if word.endswith("*") else exact
            others = target.get(word.rstrip("*"), ())
            target[word.rstrip("*")] = tuple(sorted({*others, *favoured}))
    return exact, stems


def chinese_script(text: str) -> str:
    """Either "Hans" or "Hant". Empty if every character is common to both, or if the evidence is equal."""
    simplified, traditional = _chinese_characters()
    balance = sum((character in simplified) - (character in traditional) for character in text)
    return "Hans" if balance > 0 else "Hant" if balance < 0 else ""


@lru_cache(maxsize=1)
def _chinese_characters() -> tuple[frozenset[str], frozenset[str]]:
    """The characters that only the mainland's GB 2312 or only Taiwan's Big5 has, from Python's own codecs."""
    ideographs = [chr(code) for code in range(0x4E00, 0xA000)]
    mainland = {character for character in ideographs if character.encode("gb2312", "ignore")}
    taiwan = {character for character in ideographs if character.encode("big5", "ignore")}
    return frozenset(mainland - taiwan), frozenset(taiwan - mainland)
