"""What the shipped words bring: `python -m lab.bench.words --data FOLDER [LANGUAGE ...]`.

FOLDER is a clone of github.com/mozilla/firefox-translations-models, which has the development sentences of FLORES.
Retrieval: the partner of each sentence among 997, by words that are carried over. Documents: four sentences each, aligned
alone, with the right ones and with those of another document; and one sentence with each of ten. With `--learned`, the folder
that `python -m lab.train words --cache` keeps: how many of these sentences, or of their English, stand among the examples.
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bitrawl.mining.aligned_pages import align_sentences, listed_sentences
from bitrawl.mining.lexical_aligner import LexicalAligner
from bitrawl.model import Language
from bitrawl.text.arrays import Floats
from bitrawl.text.known_words import ENGLISH, known_words
from bitrawl.text.lexicon import Lexicon
from bitrawl.text.words import words
from lab.train.word_sources import Repository

DOCUMENTS, SENTENCES, CANDIDATES = 40, 4, 10
KEPT, PASSED = 0.7, 0.3
SHORTEST = 12  # characters: what is shorter is no sentence


def flores(data: Path) -> dict[Language, list[str]]:
    """The development sentences of each language."""
    repository = Repository(data)
    paths = [path for path in repository.objects if path.startswith("evaluation/en-") and "/flores-dev." in path]
    plain = [path for path in sorted(paths) if path.endswith(f".{path.split('/')[1].removeprefix('en-')}")]
    texts = {Language(path.rpartition(".")[2]): content for path, content in repository.read(plain)}
    [(_, english)] = repository.read([plain[0].rpartition(".")[0] + ".en"])
    return {language: text.decode().splitlines() for language, text in {ENGLISH: english, **texts}.items()}


def retrieval(a: Sequence[str], b: Sequence[str], languages: tuple[Language, Language], lexicon: Lexicon) -> float:
    """In which share the partner is the nearest, in the mean of both directions."""
    texts = [[words(text, language) for text in side] for side, language in zip((a, b), languages, strict=True)]
    forward = cosines(texts[0], texts[1], {w: forward_of(lexicon, w) for text in texts[0] for w in text})
    turned = lexicon.back
    backward = cosines(texts[1], texts[0], {w: forward_of(turned, w) for text in texts[1] for w in text})
    likeness = forward + backward.T
    own = np.arange(len(likeness))
    return float((likeness.argmax(1) == own).mean() + (likeness.argmax(0) == own).mean()) / 2


def forward_of(lexicon: Lexicon, word: str) -> dict[str, float]:
    """A word that nothing is known of, and a number, stays as it is."""
    known = dict(lexicon.translations(word))
    return known if known and not word.isdecimal() else {word: 1.0}


def cosines(
    texts: Sequence[Sequence[str]], others: Sequence[Sequence[str]], carried: dict[str, dict[str, float]]
) -> Floats:
    """Of texts, carried over, with those of the other language."""
    places = {word: n for n, word in enumerate(dict.fromkeys(word for text in others for word in text))}
    first, second = np.zeros((len(texts), len(places))), np.zeros((len(others), len(places)))
    for row, text in enumerate(texts):
        for word in set(text):
            for other, probability in carried[word].items():
                if (place := places.get(other)) is not None:
                    first[row, place] += probability
    for row, text in enumerate(others):
        second[row, [places[word] for word in set(text)]] = 1.0
    rarity = np.log(1 + len(others) / np.maximum(second.sum(0), 1))
    first, second = np.minimum(first, 1.0) * rarity, second * rarity
    first, second = (
        table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9) for table in (first, second)
    )
    product: Floats = first @ second.T
    return product


def documents(
    a: Sequence[str], b: Sequence[str], languages: tuple[Language, Language], prior: Lexicon | None
) -> tuple[float, float, float]:
    """How many right pairs score enough; how many of another document's; how often the right one of ten scores best."""
    sides = [listed_sentences(side, language) for side, language in zip((a, b), languages, strict=True)]

    def beads(first: slice, second: slice) -> list[tuple[tuple[int, ...], tuple[int, ...], float]]:
        texts = sides[0][first], sides[1][second]
        found = align_sentences([texts], languages, LexicalAligner(prior=prior))[0]
        return [(bead.a, bead.b, pair.score) for bead, pair in found if pair.score is not None]

    right = wrong = best = proposed = 0
    for number in range(DOCUMENTS):
        here = slice(SENTENCES * number, SENTENCES * (number + 1))
        other = slice(here.start + SENTENCES * DOCUMENTS, here.stop + SENTENCES * DOCUMENTS)
        right += sum(first == second and score >= KEPT for first, second, score in beads(here, here))
        strangers = beads(here, other)
        wrong += sum(score >= PASSED for *_, score in strangers)
        proposed += len(strangers)
        scores = [
            max((score for *_, score in beads(slice(here.start, here.start + 1), slice(n, n + 1))), default=0.0)
            for n in (here.start, *range(here.start + 20, here.start + 20 + CANDIDATES - 1))
        ]
        best += int(np.argmax(scores) == 0 and scores[0] > max(scores[1:]))
    return right / (DOCUMENTS * SENTENCES), wrong / max(proposed, 1), best / DOCUMENTS


def held_out(texts: dict[Language, list[str]], learned: Path) -> None:
    """How many sentences are known, whatever their case, spaces and signs are."""
    keys = {language: set(map(_key, sentences)) - {""} for language, sentences in texts.items()}
    known: dict[Language, set[str]] = {language: set() for language in texts}
    rows = 0
    for path in sorted(learned.glob("*.tsv")):
        language = Language(path.name.split(".")[0])
        for row in path.read_text("utf-8").splitlines():
            rows += 1
            for code, text in zip((language, ENGLISH), row.split("\t"), strict=True):
                if len(text) > SHORTEST and (key := _key(text)) in keys.get(code, ()):
                    known[code].add(key)
    print(f"{rows:,} examples; sentences of FLORES dev among them:")
    print(", ".join(f"{language} {len(found)}" for language, found in sorted(known.items()) if found) or "none")


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.words")
    parser.add_argument("languages", nargs="*")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", action="store_true")
    parser.add_argument("--learned", type=Path)
    asked = parser.parse_args()
    texts = flores(asked.data)
    if asked.learned:
        held_out(texts, asked.learned)
        return
    english = texts.pop(ENGLISH)
    means = []
    for language in map(Language, asked.languages or texts):
        both, known = (language, ENGLISH), known_words(language, ENGLISH)
        if known is None:
            print(f"{language}: no words", flush=True)
        elif asked.documents:
            rows = [documents(texts[language], english, both, prior) for prior in (None, known)]
            print(f"{language}  " + "   ".join(" ".join(f"{value:.3f}" for value in row) for row in rows), flush=True)
        else:
            lexicons = Lexicon.learn([]), known
            row = [retrieval(texts[language], english, both, lexicon) for lexicon in lexicons]
            means.append(row)
            print(f"{language}  without {row[0]:.3f}  with {row[1]:.3f}", flush=True)
    if means:
        print("mean  without {:.3f}  with {:.3f}".format(*np.mean(means, axis=0)))


if __name__ == "__main__":
    main()
