"""The sequences of words that a model of n-grams learns from and judges: sentences without numbers and punctuation."""

import re

from bitrawl.text.words import plain_words

SHORTEST = 5  # words; Remus, section 3.1
# Judgement: a cut after an abbreviation costs one n-gram, and a splitter that knows abbreviations as much time as all
# the rest of the judgement of a page.
_END = re.compile(r"[.!?\u0589\u061f\u06d4\u0964\u0965\u104b\u1362\u17d4\u2026]+[\"'”’»)\]]*\s|[。！？｡]|\n")


def sequences(text: str) -> list[list[str]]:
    """Of five words and more. Words are casefolded; in scripts without spaces, pairs of characters."""
    found = map(plain_words, _END.split(text))
    return [words for words in found if len(words) >= SHORTEST]
