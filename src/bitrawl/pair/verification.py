"""Whether two pages can be each other's translation at all, and why not."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from bitrawl.model import Language
from bitrawl.pair.condensing import shared_terms
from bitrawl.pair.evidence import PageNumbers
from bitrawl.pair.site import Site
from bitrawl.url import Url

# Share of the running text that is the same on both. Chosen on the ten site packs (2026-11), none held out: 0.4
# refuses 0-4 % of a site's true pairs (0.3: 0-14 %), and 50-100 % of its untranslated pages that pass for another
# language, least where they are short or mostly tables (openbsd-2009 50 %, lilypond 60 %).
MAX_SHARED = 0.4
# Characters that a page must have beside the site's template. Chosen because of one site pack, whose placeholders (a
# title, and the list of contents that every page has) were a seventh of what was reported there; of the 12,743 true
# pairs of all ten, one has less.
MIN_WEIGHT = 100


class RefusalReason(StrEnum):
    """Why two pages that some evidence calls translations are not a pair."""

    WRONG_LANGUAGE = "wrong-language"  # both are in one language: one of them is not in the one it claims
    UNTRANSLATED = "untranslated"  # mostly the same text on both
    PARTIAL = "partial"  # some of the text is the same on both, the rest may be translated: a source of segments only
    SHORT = "short"  # one has hardly any text of its own
    LENGTH = "length"  # one has too little text to be a translation of the other: a placeholder
    CONFLICT = "conflict"  # one of them is the translation of another page, with more evidence
    UNLIKE = "unlike"  # the evidence together is too weak
    MACHINE = "machine-translated"
    OFF_TOPIC = "off-topic"  # one of them is not about the job's topic


@dataclass(frozen=True, slots=True)
class Refusal:
    """Two pages that are declared translations, or have the URLs of such, and are not taken for a pair."""

    url_a: Url
    url_b: Url
    lang_a: Language
    lang_b: Language
    reason: RefusalReason
    score: float = 0.0


def same_text(site: Site, pair: PageNumbers) -> float:
    """What share of the text of the longer page stands on the other word for word, whatever kind of text it is."""
    (a, weights), (b, others) = ((site.prose[number], site.prose.values_of(number)) for number in pair)
    most = max(int(weights.sum()), int(others.sum()))
    return float(weights[np.isin(a, b)].sum() / most) if most else 0.0


class UntranslatedText:
    """The running text that stands on pages of two languages: on most pages there is none."""

    def __init__(self, site: Site) -> None:
        self._sizes = np.bincount(site.prose.owners(), site.prose.values, len(site.summaries))
        self._rows, texts = shared_terms(site.prose, site.spoken)
        self._running, self._code = np.isin(texts, site.sentences), np.isin(texts, site.code)

    def shared(self, pair: PageNumbers) -> float:
        """What share of the text of the longer page stands on the other word for word, and should not.

        What is no running text and on both is left out: of a page of commands, the sentences around them are looked at.
        """
        return self.measures(pair)[0]

    def measures(self, pair: PageNumbers) -> tuple[float, float]:
        """The share of running text, as `shared`, and that of any text but code."""
        a, b = pair
        first, second = self._rows[a], self._rows[b]
        if not len(first) or not len(second):
            return 0.0, 0.0
        both = np.isin(first, second)
        weights, texts = self._rows.values_of(a)[both], first[both]
        running, code = (float(weights[kind[texts]].sum()) for kind in (self._running, self._code))
        whole, size = float(weights.sum()), float(max(self._sizes[a], self._sizes[b]))
        return running / max(size - (whole - running), 1.0), (whole - code) / max(size - code, 1.0)
