"""A site of plain prose: its translations have no name, number, address or layout of their own in common."""

import hashlib
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from small_site import EN, FR, WORDS, page

from bitrawl.model import Lease, Link, LinkKind, Page, Sitemap, Skip, Visit
from bitrawl.reasons import Reason, Stage
from bitrawl.store.ledger import Ledger


def prose(count: int, *, seed: int = 1) -> tuple[list[Page], set[tuple[str, str]]]:
    """So many articles in two languages at addresses that say nothing, and which are translations."""
    made, pairs = [], set()
    for number in range(count):
        chance = random.Random(seed * 1000 + number)
        blocks = [[chance.choices(list(WORDS), k=9) for _ in range(3)] for _ in range(6)]
        english = page(f"http://s.test/{chance.getrandbits(32):x}", EN, [_text(block) for block in blocks])
        french = page(f"http://s.test/{chance.getrandbits(32):x}", FR, [_text(_translated(block)) for block in blocks])
        made += [english, french]
        pairs.add((str(english.url), str(french.url)))
    return made, pairs


def job_folder(folder: Path, count: int) -> set[tuple[str, str]]:
    """That site as a job has it that was crawled and not mined; which pages are translations."""
    pages, pairs = prose(count)
    keep(folder, pages)
    return pairs


def keep(folder: Path, pages: list[Page]) -> None:
    """A job that was crawled and not mined: these are its pages."""
    (folder / "job.toml").write_text('langs = ["en", "fr"]\nseeds = ["http://s.test/"]\n', "utf-8")
    ledger = Ledger(folder / "job.sqlite")
    visit(ledger, pages)
    ledger.close()


def visit(ledger: Ledger, pages: Sequence[Page | Sitemap]) -> None:
    """They were visited in this order."""
    for number, made in enumerate(pages):
        link = Link(made.url, LinkKind.PAGE)
        with ledger.transaction():
            ledger.refuse([(link, Skip(made.url, Stage.SCOPE, Reason.OFF_SITE))])
            ledger.record(Visit(Lease(link, 1.0), made, 200, 1000, at=1e9 + number))


def _text(block: list[list[str]]) -> str:
    return " ".join(f"{' '.join(words)}.".capitalize() for words in block)


def _translated(block: list[list[str]]) -> list[list[str]]:
    return [[WORDS[word] for word in words] for words in block]


class WordEncoder:
    """Stands in for a model that knows both languages: the mean of its words' directions, one for each concept."""

    def __init__(self, bias: float = 0.0) -> None:
        self.bias = bias  # what all texts have in common: encoders differ in it
        self.asked: list[str] = []
        self._english = {french: english for english, french in WORDS.items()}

    def encode(self, texts):
        self.asked += texts
        rows = np.array([self._row(text) for text in texts], np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    def _row(self, text):
        row = np.zeros(65)
        for word in text.lower().replace(".", " ").split():
            row[:64] += direction(self._english.get(word, word))
        row[64] = self.bias * np.linalg.norm(row)
        return row


def direction(word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
    return np.random.default_rng(seed).normal(size=64)
