"""What the URL language model knows before it is trained: n-grams of words, speakers, and the languages of countries."""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from langcodes import data_dicts
from numpy.typing import NDArray

from bitrawl.model import UNDETERMINED, Language
from bitrawl.text.language import LONGEST_NGRAM, LanguageNgrams, ngram_keys
from bitrawl.urls.language_evidence import KINDS
from bitrawl.urls.language_model import ENGLISH, LEAST_SHARE, STEP, Dense, UrlLanguageData, UrlNgrams
from lab.train.url_language_words import base_language, supplemental, words_of_languages

NGRAMS = 32000  # that are kept; judgement: they make 3.4 MB
CONSIDERED = 45000  # n-grams of each length, by how usual they are in some language; judgement
LEVELS = 16  # of an n-gram's weight: four bits
LOWEST = -9  # steps: -3.6 nats; the highest is then +2.4; judgement
# A language is taken with so many speakers or words, and never with fewer words than the third. Judgement.
MANY_SPEAKERS = 1_000_000
MANY_WORDS = 1500
FEWEST_WORDS = 40
FEWEST_SPEAKERS = 20_000  # as many are taken for where CLDR has fewer or none; judgement
POOREST = 1000  # the domestic product that these have, each, in dollars; judgement
WORDLIKE, PARTICLES = (
    250,
    60,
)  # frequent words of English, and of every other language, that may look like a code; judgement
UNSEEN_BYTE = 1 / 200  # the probability of any byte before one was seen; judgement
MULTIPLIER = 0x9E3779B1  # 2**32 divided by the golden ratio, as in Fibonacci hashing

_CONSONANTS = re.compile("[\u0590-\u05ff\u0600-\u077f\u0700-\u074f\u08a0-\u08ff\ufb1d-\ufdff]")

_log = logging.getLogger(__name__)


def tables(folder: Path) -> UrlLanguageData:
    """All but the weights."""
    words = words_of_languages(folder)
    speakers, earnings, countries = _populations(supplemental(folder, "territoryInfo"))
    languages = _languages(words, speakers)
    shares, official = (np.zeros((len(countries), len(languages)), np.float32) for _ in range(2))
    for row, table in enumerate(countries.values()):
        for language, (share, status) in table.items():
            if language in languages and share >= LEAST_SHARE:
                shares[row, languages.index(language)] = share
                official[row, languages.index(language)] = status
    return UrlLanguageData(
        languages=tuple(map(Language, languages)),
        ngrams=_ngrams([words.get(language, Counter()) for language in languages], languages),
        prior=_logs(speakers, languages, FEWEST_SPEAKERS),
        wealth=_logs(earnings, languages, FEWEST_SPEAKERS * POOREST),
        countries=tuple(country.lower() for country in countries),
        shares=shares,
        official=official,
        stopped=frozenset(),
        wordlike=_short_words(words["en"], WORDLIKE),
        particles=frozenset().union(
            *(_short_words(counts, PARTICLES) for counts in words.values() if len(counts) > MANY_WORDS)
        ),
        dense=np.zeros(len(Dense), np.float32),
        marks=np.zeros(KINDS, np.float32),
    )


def _short_words(counts: Counter[str], most: int) -> frozenset[str]:
    """Frequent words that are written like a code."""
    return frozenset(word for word, _ in counts.most_common(most) if re.fullmatch("[a-z]{2,3}", word))


def _logs(amounts: dict[str, float], languages: Sequence[str], least: float) -> NDArray[np.float32]:
    logs = np.log(np.array([max(amounts.get(language, 0), least) for language in languages], np.float32))
    logs -= logs.mean()
    return logs


class _Populations(NamedTuple):
    speakers: dict[str, float]
    earnings: dict[str, float]
    countries: dict[str, dict[str, tuple[float, float]]]


def _populations(info: dict[str, Any]) -> _Populations:
    """Speakers and their part of the domestic product by language; for each country the share and status (official 1, regional 0.5) of its languages."""
    speakers: dict[str, float] = defaultdict(float)
    earnings: dict[str, float] = defaultdict(float)
    countries: dict[str, dict[str, tuple[float, float]]] = {}
    for country, entry in info.items():
        table: dict[str, tuple[float, float]] = {}
        named = entry.get("languagePopulation", {})
        by_law = any(facts.get("_officialStatus") == "official" for facts in named.values())
        # Beside a language of the law, one of fact is the second: Russian in Ukraine.
        statuses = {"official": 1.0, "de_facto_official": 0.5 if by_law else 1.0, "official_regional": 0.5}
        for code, facts in named.items():
            language = base_language(code)
            share = float(facts["_populationPercent"]) / 100
            status = statuses.get(facts.get("_officialStatus"), 0.0)
            speakers[language] += share * float(entry["_population"])
            earnings[language] += share * float(entry["_gdp"])
            before = table.get(language, (0.0, 0.0))
            table[language] = (min(before[0] + share, 1.0), max(before[1], status))
        if table and len(country) == 2:
            countries[country] = table
    return _Populations(speakers, earnings, countries)


def _languages(words: dict[str, Counter[str]], speakers: dict[str, float]) -> list[str]:
    """With two letters or in the text identifier, with many speakers or with many words; and words of them are known."""
    identified = {base_language(label) for label in LanguageNgrams.load().labels if label != UNDETERMINED}
    return sorted(
        language
        for language, counts in words.items()
        if len(counts) >= FEWEST_WORDS
        and (
            language in data_dicts.LANGUAGE_ALPHA3
            or language in identified
            or speakers.get(language, 0) >= MANY_SPEAKERS
            or len(counts) >= MANY_WORDS
        )
    )


# --- n-grams


def _ngrams(words: Sequence[Counter[str]], languages: Sequence[str]) -> UrlNgrams:
    """Witten–Bell estimates of a byte after up to four others, of the n-grams where they tell languages apart most."""
    counts = [_counts(_spelt(counter, language)) for counter, language in zip(words, languages, strict=True)]
    probabilities: list[NDArray[np.float64]] = []
    chosen: list[NDArray[np.uint64]] = []
    gains: list[NDArray[np.float64]] = []
    for order in range(1, LONGEST_NGRAM + 1):
        candidates = _candidates([count[order - 1] for count in counts], chosen[-1] if chosen else None, order)
        estimates = np.empty((len(candidates), len(languages)))
        lower = probabilities[-1] if probabilities else None
        suffixes = np.searchsorted(chosen[-1], candidates & _mask(order - 1)) if chosen else None
        for column, count in enumerate(counts):
            below = lower[suffixes, column] if lower is not None else np.full(len(candidates), UNSEEN_BYTE)
            estimates[:, column] = _estimate(count[order - 1], candidates, below)
        gains.append(_gains([count[order - 1] for count in counts], candidates, estimates, lower, suffixes))
        probabilities.append(estimates)
        chosen.append(candidates)
    bar = np.sort(np.concatenate(gains[1:]))[-NGRAMS]
    rows, keys = [], []
    for order in range(2, LONGEST_NGRAM + 1):
        kept = gains[order - 1] >= bar
        logs = np.log(probabilities[order - 1][kept])
        rows.append(logs - np.log(probabilities[order - 1][kept].mean(axis=1, keepdims=True)))
        keys.append(_hashed(chosen[order - 1][kept], order))
    without_latin = [number for number, counter in enumerate(words) if not _has_latin(counter)]
    english = list(languages).index(ENGLISH)
    for row, order in zip(rows, range(2, LONGEST_NGRAM + 1), strict=True):
        packed = chosen[order - 1][gains[order - 1] >= bar]
        latin = np.flatnonzero(~((packed & _HIGH_BITS) > 0))
        # Their pages have slugs in English, if they have Latin letters at all.
        row[latin[:, None], without_latin] = row[latin, english, None] - STEP
    weights = np.clip(np.round(np.concatenate(rows) / STEP), LOWEST, LOWEST + LEVELS - 1).astype(np.int8)
    hashed, first = np.unique(np.concatenate(keys), return_index=True)
    return UrlNgrams(hashed, np.ascontiguousarray(weights[first]), MULTIPLIER)


_HIGH_BITS = np.uint64(0x8080808080808080)


def _has_latin(words: Counter[str]) -> bool:
    """Whether most words are in Latin letters, or can be written in them."""
    return sum(_CONSONANTS.search(word) is not None for word in words) < len(words) / 2


def _spelt(words: Counter[str], language: str) -> Iterator[tuple[str, float]]:
    """Each word as it is written, and as URLs have it: without accents, in Latin letters."""
    from anyascii import anyascii  # noqa: PLC0415 (the extra's)

    for word, weight in words.items():
        yield word, weight
        latin = re.sub("[^a-z]", "", anyascii(word).lower())
        # Of Chinese characters it knows the Chinese reading only, of Arabic and Hebrew words only the consonants.
        foreign = language in ("ja", "ko") and re.search("[\u4e00-\u9fff]", word)
        if latin and latin != word and not foreign and not _CONSONANTS.search(word):
            yield latin, weight
        if language in ("de", "sv", "da", "no", "fi", "et") and re.search("[äöüåøæ]", word):
            for letter, spelt in (
                ("ä", "ae"),
                ("ö", "oe"),
                ("ü", "ue"),
                ("å", "aa"),
                ("ø", "oe"),
                ("æ", "ae"),
                ("ß", "ss"),
            ):
                word = word.replace(letter, spelt)  # noqa: PLW2901
            yield word, weight


def _counts(words: Iterator[tuple[str, float]]) -> list[tuple[NDArray[np.uint64], NDArray[np.float64]]]:
    """For each order the n-grams, packed into a number, and their counts."""
    data, weights = bytearray(b" "), [0.0]
    for word, weight in words:
        encoded = word.encode() + b" "
        data += encoded
        weights += [weight] * len(encoded)
    values = np.frombuffer(bytes(data), np.uint8).astype(np.uint64)
    every = np.array(weights)
    tables = []
    packed = values.copy()
    for order in range(1, LONGEST_NGRAM + 1):
        if order > 1:
            packed = packed[:-1] << np.uint64(8) | values[order - 1 :]
        # No n-gram goes over a word's beginning: a space may be its first or last byte only.
        inside = np.ones(len(packed), bool)
        for place in range(1, order - 1):
            inside &= (packed >> np.uint64(8 * place)) & np.uint64(255) != np.uint64(32)
        keys, where = np.unique(packed[inside], return_inverse=True)
        tables.append((keys, _summed(where, every[order - 1 :][inside])))
    return tables


def _summed(where: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    sums: NDArray[np.float64] = np.bincount(where, values).astype(np.float64)
    return sums


def _candidates(
    counts: Sequence[tuple[NDArray[np.uint64], NDArray[np.float64]]], shorter: NDArray[np.uint64] | None, order: int
) -> NDArray[np.uint64]:
    """The n-grams that are most usual on average over the languages, if the one without its first byte is too."""
    keys = np.concatenate([keys for keys, _ in counts])
    shares = np.concatenate([count / max(count.sum(), 1) for _, count in counts])
    every, where = np.unique(keys, return_inverse=True)
    total = np.bincount(where, shares)
    if shorter is not None:
        known = np.isin(every & _mask(order - 1), shorter)
        every, total = every[known], total[known]
    return np.sort(every[np.argsort(-total, kind="stable")[:CONSIDERED]])


def _mask(order: int) -> np.uint64:
    return np.uint64((1 << 8 * order) - 1)


def _estimate(
    count: tuple[NDArray[np.uint64], NDArray[np.float64]], candidates: NDArray[np.uint64], below: NDArray[np.float64]
) -> NDArray[np.float64]:
    keys, counts = count
    contexts, where = np.unique(keys >> np.uint64(8), return_inverse=True)
    totals, kinds = _summed(where, counts), _summed(where, np.ones(len(where)))
    own = _looked_up(keys, counts, candidates)
    total = _looked_up(contexts, totals, candidates >> np.uint64(8))
    kind = _looked_up(contexts, kinds, candidates >> np.uint64(8)) + 1
    estimate: NDArray[np.float64] = (own + kind * below) / (total + kind)
    return estimate


def _looked_up(
    keys: NDArray[np.uint64], values: NDArray[np.float64], wanted: NDArray[np.uint64]
) -> NDArray[np.float64]:
    if not len(keys):
        return np.zeros(len(wanted))
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0.0)


def _gains(
    counts: Sequence[tuple[NDArray[np.uint64], NDArray[np.float64]]],
    candidates: NDArray[np.uint64],
    estimates: NDArray[np.float64],
    lower: NDArray[np.float64] | None,
    suffixes: NDArray[np.int64] | None,
) -> NDArray[np.float64]:
    """How much an n-gram changes what the shorter one says, weighted by how usual it is in each language."""
    if lower is None or suffixes is None:
        return np.zeros(len(candidates))
    gain = np.zeros(len(candidates))
    mean, mean_below = np.log(estimates.mean(axis=1)), np.log(lower.mean(axis=1))[suffixes]
    for column, (keys, count) in enumerate(counts):
        usual = _looked_up(keys, count / max(count.sum(), 1), candidates)
        change = np.log(estimates[:, column]) - mean - np.log(lower[suffixes, column]) + mean_below
        gain += usual * np.abs(change)
    return gain


def _hashed(packed: NDArray[np.uint64], order: int) -> NDArray[np.uint32]:
    """As `ngram_keys` finds them in a text."""
    data = packed.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - LONGEST_NGRAM :].copy()
    data[:, : LONGEST_NGRAM - order] = 0
    return ngram_keys(data.ravel(), MULTIPLIER)[-1, LONGEST_NGRAM - 1 :: LONGEST_NGRAM]
