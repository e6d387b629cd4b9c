"""Whether two pages can be translations of each other at all, and why not."""

from dataclasses import dataclass
from enum import StrEnum

from bitrawl.model import Language
from bitrawl.pair.site import PageSummary
from bitrawl.url import Url

# Share of the running text that is the same on both. Chosen on the ten site packs (2026-11), none held out: 0.4 refuses
# 0-4 % of a site's true pairs (0.3: 0-14 %), and 50-100 % of its untranslated pages that pass for another language; the
# fewest where they are short or mostly tables (openbsd-2009 50 %, lilypond 60 %).
MAX_SHARED = 0.4
# Characters that a page must have besides the site's template. Chosen because of one site pack, whose placeholders (a
# title, and the table of contents that every page has) were a seventh of the reported pairs. Of the 12,743 true pairs
# of all ten packs, one has less.
MIN_WEIGHT = 100


class RefusalReason(StrEnum):
    """Why two pages that some evidence calls translations are not a pair."""

    WRONG_LANGUAGE = "wrong-language"  # both are in one language: one of them is not in the language that it claims
    UNTRANSLATED = "untranslated"  # mostly the same text on both
    SHORT = "short"  # one has hardly any text of its own
    LENGTH = "length"  # one has too little text to be a translation of the other: a placeholder
    CONFLICT = "conflict"  # one of them is the translation of another page, with more evidence
    UNLIKE = "unlike"  # all evidence together is too weak
    MACHINE = "machine-translated"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Two pages that are declared translations, or whose URLs indicate it, but that were not accepted as a pair."""

    url_a: Url
    url_b: Url
    lang_a: Language
    lang_b: Language
    reason: RefusalReason
    score: float = 0.0


def shared_text(a: PageSummary, b: PageSummary) -> float:
    """Which share of the running text is the same on both pages, measured on the page with more of it."""
    most = max(sum(a.prose.values()), sum(b.prose.values()))
    if not most:
        return 0.0
    if len(a.prose) > len(b.prose):
        a, b = b, a
    return sum(weight for text, weight in a.prose.items() if text in b.prose) / most
