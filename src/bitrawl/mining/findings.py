"""What mining finds on one site, and why it refuses what it refuses."""

from enum import StrEnum

import msgspec

from bitrawl.model import PagePair
from bitrawl.url import Url


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


class RefusedPair(msgspec.Struct, frozen=True):
    """Two pages that some evidence suggested as a pair, and why they were refused."""

    url_a: Url
    url_b: Url
    reason: str


class SiteFindings(msgspec.Struct, frozen=True):
    """Everything that mining found on one site."""

    site: str
    pages: int  # how many pages it was mined from
    pairs: tuple[PagePair, ...] = ()  # partial ones too: these are among the refusals as well
    refusals: tuple[RefusedPair, ...] = ()
    duplicates: dict[str, str] = {}  # from the copy to the page that it repeats
    patterns: dict[str, int] = {}  # how the URLs of pairs differ, and how many pairs show it
    made_from: str = ""  # a fingerprint of the settings, models and pages: other ones are a reason to mine again
