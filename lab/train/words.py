"""Makes models/words/: for each language, which of its words translate which English ones.

`python -m lab.train words --data FOLDER --out words/`: the folder has the collections that `words.toml` lists, as
`word_sources.py` reads them. `Lexicon.learn` learns of each language from all of them together.
"""

import lzma
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from bitrawl.files import replacing
from bitrawl.model import Language
from bitrawl.text.arrays import Floats, bounds
from bitrawl.text.known_words import ENGLISH, FILTERS, FOLDER, HEADER, LEVELS, STEP, SUFFIX, WordTable
from bitrawl.text.lexicon import Lexicon
from bitrawl.text.words import words
from lab.train import Tell, silent
from lab.train.word_sources import READERS, clean

MANIFEST = Path(__file__).with_name("words.toml")
# Judgements: a language needs so many examples, of more than one collection if they are few.
FEWEST, FEWEST_OF_ONE = 3_000, 12_000
# A link needs so much either way, a word has at most so many, and of the words of a language the rarest are left out until it
# has no more than so many links. Finnish on FLORES dev (2026-11): .943 with 15,000 links, .954 with 24,000, .958 with all 40,000.
LEAST, MOST_OF_WORD, MOST_LINKS = 0.08, 6, 32_000
MOST_ENGLISH = 1 << 16  # numbers of two bytes
# Languages whose examples teach another, too.
POOLED = {"no": ("nb",), "zh": ("wuu",), "hr": ("bs", "sh", "sr-Latn"), "sr": ("sr-Latn", "sh")}
# Left out: those that have the words of another, and those that no page on the web is written in.
_NOT = {"und", "en", "nb", "wuu", "bs", "sh", "sr-Latn", "tlh", "jbo", "cop"}
_PROCESSES = 2


class Learned(NamedTuple):
    """A language's links with English, by words."""

    language: Language
    examples: int
    links: list[tuple[str, list[tuple[str, float, float]]]]  # of each word, English, forward, backward


def train(data: Path, out: Path, *, cache: Path | None = None, only: str = "", tell: Tell = silent) -> None:
    """Write a file for each language, and one of the English words that they name, into that folder.

    Of `only` some languages (fi,th), the English words are those of the package: the files are what they are among all.
    """
    with TemporaryDirectory() as folder:
        texts = cache or Path(folder)
        collect(data, texts, tell)
        with ProcessPoolExecutor(_PROCESSES) as processes:
            wanted = list(map(Language, only.split(","))) if only else _languages(texts)
            learned = list(processes.map(partial(learn, texts), wanted))
    write(learned, out, _english_of_package() if only else _english(learned))
    for language, examples, links in learned:
        tell(f"{language}: {examples} examples, {len(links)} words, {sum(len(of_word) for _, of_word in links)} links")


def collect(data: Path, texts: Path, tell: Tell = silent) -> None:
    """The examples of each source and language into a table of their own, LANGUAGE.SOURCE.tsv."""
    for source in _manifest():
        done = texts / f"{source}.done"
        if done.exists():
            continue
        counts: Counter[Language] = Counter()
        with ExitStack() as stack:
            files: dict[Language, TextIO] = {}
            for language, *both in READERS[source](data):
                text, english = map(clean, both)
                if text and english and text != english:
                    if language not in files:
                        path = texts / f"{language}.{source}.tsv"
                        files[language] = stack.enter_context(path.open("w", encoding="utf-8"))
                    files[language].write(f"{text}\t{english}\n")
                    counts[language] += 1
        done.touch()
        tell(f"{source}: {counts.total()} examples of {len(counts)} languages")


def _manifest() -> dict[str, dict[str, Any]]:
    return tomllib.loads(MANIFEST.read_text("utf-8"))


def _languages(texts: Path) -> list[Language]:
    """Those that have enough."""
    counts: Counter[Language] = Counter()
    sources: Counter[Language] = Counter()
    for path in sorted(texts.glob("*.tsv")):
        language = Language(path.name.split(".")[0])
        with path.open(encoding="utf-8") as file:
            counts[language] += sum(1 for _ in file)
        sources[language] += 1
    enough = {n for n, count in counts.items() if count >= (FEWEST if sources[n] > 1 else FEWEST_OF_ONE)}
    return sorted(enough - _NOT)


def examples(texts: Path, language: Language) -> Iterator[tuple[str, str, float]]:
    """Of a language and those that are pooled with it, what each counts."""
    for source, described in _manifest().items():
        paths = [texts / f"{code}.{source}.tsv" for code in (language, *POOLED.get(language, ()))]
        rows = dict.fromkeys(row for path in paths if path.exists() for row in path.read_text("utf-8").splitlines())
        step = max(1.0, len(rows) / described["most"])
        chosen = {int(step * place) for place in range(min(len(rows), described["most"]))}
        for number, row in enumerate(rows):
            if number in chosen:
                text, _, english = row.partition("\t")
                yield text, english, described["weight"]


def learn(texts: Path, language: Language) -> Learned:
    """The links of a language that are worth their bytes."""
    rows = list(examples(texts, language))
    pairs = [(words(text, language), words(english, ENGLISH)) for text, english, _ in rows]
    lexicon = Lexicon.learn(pairs, weights=[weight for *_, weight in rows])
    counts: Counter[str] = Counter()
    for tokens, _ in pairs:
        counts.update(set(tokens))
    return Learned(language, len(rows), list(_chosen(lexicon, counts)))


def _chosen(lexicon: Lexicon, counts: Counter[str]) -> Iterator[tuple[str, list[tuple[str, float, float]]]]:
    by_word: dict[str, list[tuple[str, float, float]]] = {}
    for a, b, forward, backward in zip(*(column.tolist() for column in lexicon.links), strict=True):
        if max(forward, backward) >= LEAST:
            by_word.setdefault(lexicon.names_a[a], []).append((lexicon.names_b[b], forward, backward))
    room = MOST_LINKS
    for word in sorted(by_word, key=lambda word: (-counts[word], word)):
        links = sorted(by_word[word], key=lambda link: (-max(link[1:]), link))[:MOST_OF_WORD]
        if [link[0] for link in links] == [word]:
            continue  # an identical word is its own translation without being told
        room -= len(links)
        if room < 0:
            break
        yield word, links


def _english(learned: Sequence[Learned]) -> list[str]:
    """The English words that most links name come first: small numbers take little room."""
    counts = Counter(english for _, _, links in learned for _, of_word in links for english, *_ in of_word)
    return [word for word, _ in islice(sorted(counts.items(), key=lambda item: (-item[1], item[0])), MOST_ENGLISH)]


def _english_of_package() -> list[str]:
    return WordTable.unpacked((FOLDER / f"{ENGLISH}{SUFFIX}").read_bytes()).words


def write(learned: Sequence[Learned], out: Path, ordered: Sequence[str]) -> None:
    """A file for each, and one of the English words in that order."""
    numbers = {word: number for number, word in enumerate(ordered)}
    out.mkdir(parents=True, exist_ok=True)
    _write(out, ENGLISH, _table([(word, []) for word in ordered], {}))
    for language, _, links in learned:
        _write(out, language, _table(sorted(links), numbers))


def _table(links: Sequence[tuple[str, Sequence[tuple[str, float, float]]]], numbers: dict[str, int]) -> WordTable:
    rows = [sorted((numbers[name], *both) for name, *both in of_word if name in numbers) for _, of_word in links]
    flat = np.array([link for row in rows for link in row], np.float64).reshape(-1, 3)
    return WordTable(
        [word for word, _ in links],
        np.array([len(row) for row in rows], np.uint8),
        flat[:, 0].astype(np.uint16),
        levels(flat[:, 1]),
        levels(flat[:, 2]),
    )


def _write(out: Path, language: Language, table: WordTable) -> None:
    with replacing(out / f"{language}{SUFFIX}") as file:
        file.write(packed(table))


def packed(table: WordTable) -> bytes:
    """As a file, which `WordTable.unpacked` reads: the same table is the same bytes."""
    shared = bytes(map(_shared, ["", *table.words[:-1]], table.words))
    ends = "\n".join(word[count:] for word, count in zip(table.words, shared, strict=True)).encode()
    steps = np.diff(table.english.astype(np.int32), prepend=0).astype(np.uint16)
    starts = bounds(table.counts.astype(np.int64))[:-1][table.counts > 0]
    steps[starts] = table.english[starts]
    planes = (steps >> 8).astype(np.uint8).tobytes() + (steps & 255).astype(np.uint8).tobytes()
    scores = (table.forward << 4 | table.backward).astype(np.uint8).tobytes()
    body = b"".join((shared, table.counts.astype(np.uint8).tobytes(), planes, scores, ends))
    return lzma.compress(
        HEADER.pack(len(table.words), len(table.english)) + body, format=lzma.FORMAT_RAW, filters=FILTERS
    )


def levels(probabilities: Floats) -> NDArray[np.uint8]:
    """The nearest level of each; 0 is next to nothing."""
    rounded = np.rint(LEVELS - 1 + np.log(np.maximum(probabilities, 1e-9)) / STEP)
    return np.clip(rounded, 0, LEVELS - 1).astype(np.uint8)


def _shared(before: str, word: str) -> int:
    """With how many letters of the word before it begins."""
    count = 0
    while count < min(len(before), len(word), 255) and before[count] == word[count]:
        count += 1
    return count
