"""Fingerprints that tell whether two pages are the same: structure, exact text, nearly the same text."""

import hashlib
import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Paragraph, ParagraphKind
from bitrawl.text.weight import weight

SHINGLE = 8
"""Characters of one SimHash feature: about a word and a half, or four words of Chinese. A judgement."""

_LONGEST = 20_000  # Characters that a signature reads; judgement: it limits the time.
_KINDS = {kind: i for i, kind in enumerate(ParagraphKind)}
_LETTERS = "abcdefghijklmABCDEFGHIJKLMnopqrstuvwxyzNOPQRSTUVWXYZ"
_LENGTHS = len(_LETTERS) // len(_KINDS)
_TOPICAL = str.maketrans({letter: chr(0x100 + number) for number, letter in enumerate(_LETTERS)})
_DIGITS = re.compile(r"\d+")


def structure(paragraphs: Iterable[Paragraph]) -> str:
    """One letter for each paragraph of the main text: its kind, and its length in thirteen steps.

    After Papavassiliou et al., section 3.9, where it is a sequence of integers: a mark for title, heading or list item,
    then the length in characters. Translations never have equal lengths, so lengths are quantised (each step is twice
    the previous one), and an edit distance over the letters compares kinds and lengths at once. A paragraph with terms
    of the topic, marked -5 in the paper, has a letter of another alphabet.
    """
    return "".join(_letter(p) for p in paragraphs if not p.boilerplate and p.text)


def _letter(paragraph: Paragraph) -> str:
    steps = min(weight(paragraph.text).bit_length() - 1, _LENGTHS - 1)
    letter = _LETTERS[_KINDS[paragraph.kind] * _LENGTHS + steps]
    return letter.translate(_TOPICAL) if paragraph.terms else letter


def digest(text: str) -> str:
    """Equal digests mean the same text. Empty if there is none."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() if text else ""


def signature(text: str) -> int:
    """SimHash (Charikar 2002) over character shingles, 64 bits; 0 for a text that is too short.

    Case, digits and spaces are ignored: pages that differ in a date, a price or a counter have near signatures.
    """
    masked = _DIGITS.sub("0", "".join(text[:_LONGEST].casefold().split()))
    if len(masked) < SHINGLE:
        return 0
    codes = np.frombuffer(masked.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    hashes = _mixed(_polynomial(codes)).astype("<u8", copy=False)
    majority = _count_bits(hashes) * 2 > len(hashes)
    return int(np.packbits(majority, bitorder="little").view("<u8")[0])


def _count_bits(hashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """How often each of the 64 bits is set. A byte counts one bit, eight of them are added at once, at most 255 times."""
    bits = np.unpackbits(hashes.view(np.uint8), bitorder="little").view(np.uint64).reshape(-1, 8)
    counts = np.add.reduceat(bits, np.arange(0, len(bits), 255), axis=0)
    total: NDArray[np.uint32] = counts.view(np.uint8).sum(axis=0, dtype=np.uint32)
    return total


def _polynomial(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    count = len(codes) - SHINGLE + 1
    total = np.zeros(count, dtype=np.uint64)
    for i in range(SHINGLE):
        total = total * np.uint64(0x100000001B3) + codes[i : i + count]
    return total


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64: every bit of the input affects every bit of the output."""
    mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed
