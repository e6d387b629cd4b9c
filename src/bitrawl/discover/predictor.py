"""Which links lead to a translation, by what they say (Barbosa et al. 2011, section 2.1: the Link Predictor).

Five contexts, as in the paper: the URL, the anchor, the text around it, and the alternative text and the source of an
image. Any pair of languages: a token that names the wanted language, the page's own or a third one, by CLDR's names and
codes, counts as such, whichever language it is. The other tokens are hashed.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import unquote
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bitrawl.languages import same_language
from bitrawl.model import UNDETERMINED, Language, Link, Page
from bitrawl.model_files import model_file
from bitrawl.text.language_names import folded
from bitrawl.urls.marks import mark_language
from bitrawl.urls.tokens import readable_words, runs

Floats = NDArray[np.float32]

BITS = 14  # 16,384 weights in 64 kB; judgement: the training data has some 10,000 distinct tokens
PLACES = 1 << BITS
MOST_TOKENS = 24  # of one context that are read; judgement
_SHORT = 3  # letters: a code where it stands alone, a word within a sentence
_IS_CODE = re.compile(r"[a-z]{2,3}(?:[-_][a-z]{2,4})?")


class Asked(NamedTuple):
    """The languages that decide what a token means."""

    own: Language  # of the page that has the link
    wanted: Language


class LinkPredictor:
    """A logistic regression over hashed tokens, calibrated on sites that it was not trained on."""

    def __init__(self, weights: Floats, bias: float) -> None:
        self.weights = weights
        self.bias = bias

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """The package's model, or one that `python -m lab.train link-predictor` made."""
        with np.load(path or model_file("link-predictor.npz")) as stored:
            return cls(stored["weights"].astype(np.float32), float(stored["bias"]))

    def likelihoods(self, links: Sequence[Link], page: Page, wanted: Language) -> list[float]:
        """For each link of the page, the probability that it leads to a translated page in that language."""
        asked = Asked(page.language, wanted)
        logits = [self.bias + float(self.weights[places(link, asked)].sum()) for link in links]
        return [float(1 / (1 + np.exp(-np.clip(logit, -30, 30)))) for logit in logits]


def places(link: Link, asked: Asked) -> NDArray[np.int64]:
    """Of the link's features in the table of weights, each once."""
    return np.unique([crc32(feature.encode()) & (PLACES - 1) for feature in features(link, asked)])


def features(link: Link, asked: Asked) -> Iterator[str]:
    """What the five contexts say, each feature with the name of its context."""
    where = link.source if link.source is not None and link.source.host == link.url.host else None
    named = set()
    for context, tokens in _contexts(link):
        sentence = context in ("anchor", "around") and len(tokens) > 2
        for token in tokens[:MOST_TOKENS]:
            meaning = _meaning(token, asked, sentence=sentence)
            if meaning:
                named.add((context, meaning.partition(":")[0]))
            yield f"{context} {meaning or token}"
        yield f"{context} length {min(len(tokens), 5)}"
    # Whether the URL says more than the page's own: a page below /fr/ links to others below /fr/.
    if where is not None and ("url", "wanted") in named:
        mine = {_meaning(token, asked, sentence=False).partition(":")[0] for token in _url_tokens(where)}
        yield "url wanted too" if "wanted" in mine else "url wanted new"
    for context, meaning in sorted(named):
        yield f"{context} says {meaning}"
    yield f"says wanted {sum(meaning == 'wanted' for _, meaning in named)}"


def _contexts(link: Link) -> Iterator[tuple[str, list[str]]]:
    yield "url", _url_tokens(link.url)
    yield "anchor", [folded(word) for word in readable_words(link.anchor)]
    around = link.context.replace(link.anchor, " ", 1) if link.anchor else link.context
    yield "around", [folded(word) for word in readable_words(around)]
    yield "alt", [folded(word) for word in readable_words(link.image_alt)]
    yield "src", [token for token in runs(folded(link.image_src)) if token.isalnum()]


def _url_tokens(url: str) -> list[str]:
    """Of path and query, and the first label of the host, which may name a language."""
    _, _, host, rest = url.split("/", 3)
    label = host.partition(".")[0]
    return [label, *(token for token in runs(folded(unquote(rest))) if token.isalnum())]


def _meaning(token: str, asked: Asked, *, sentence: bool) -> str:
    """Whether it names the language "wanted", the page's "own" or an "other", and in which form; empty if none.

    "de", "es" and "it" are words within a sentence.
    """
    if len(token) <= _SHORT and (sentence or not token.isascii()):
        return ""
    named = _named(token)
    if named == UNDETERMINED:
        return ""
    form = "code" if _IS_CODE.fullmatch(token) and len(token) <= _SHORT else "name"
    if same_language(named, asked.wanted):
        return f"wanted:{form}"
    return f"own:{form}" if same_language(named, asked.own) else f"other:{form}"


@lru_cache(maxsize=16384)
def _named(token: str) -> Language:
    return mark_language(token)
