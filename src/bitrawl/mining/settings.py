"""How mining is set up: its processes, which pages are paired, how texts are cut, and what a segment must reach."""

from typing import Annotated

import msgspec

from bitrawl.choices import FilePath, Share
from bitrawl.errors import ConfigError
from bitrawl.model import Method


class MiningSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The processes that pair and align."""

    workers: Annotated[int, msgspec.Meta(ge=0)] = 0  # 0: one per core, two at most
    seconds: Annotated[float, msgspec.Meta(gt=0)] = 3600.0  # of CPU for pairing one site, or for aligning a batch
    megabytes: Annotated[int, msgspec.Meta(ge=256)] = 1024  # of memory, each, beyond its models


class PairSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which pages are held to be translations of each other."""

    methods: str = ""  # letters of the detectors, as in "aupdih"; all of them when empty
    threshold: Share = 0.5  # of the pair's score
    url_pairs: list[str] = []  # texts in URLs that stand for each other: "en=fr"
    machine_translated: bool = False  # keep pages that bear marks of machine translation
    dictionary: FilePath = ""  # a file of word pairs: TSV, or hunalign's format

    def method_set(self) -> frozenset[Method]:
        """Raises `ConfigError` for a letter of no method."""
        unknown = sorted(set(self.methods) - set(Method))
        if unknown:
            raise ConfigError(
                f"pair.methods: there is no method {', '.join(unknown)}; the methods are {''.join(sorted(Method))}"
            )
        return frozenset(map(Method, self.methods)) or frozenset(Method)

    def url_counterparts(self) -> tuple[tuple[str, str], ...]:
        """Raises `ConfigError` for what is no pair."""
        return tuple(map(_url_pair, self.url_pairs))


def _url_pair(raw: str) -> tuple[str, str]:
    a, mark, b = raw.partition("=")
    if not (a and mark and b):
        raise ConfigError(f"{raw!r} is not a URL pair; write it like this: en=fr")
    return a, b


class AlignSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How texts are cut into segments."""

    # of a segment, half as many in scripts without spaces between words; what is longer is split, or left out
    characters: Annotated[int, msgspec.Meta(ge=50)] = 1000


class Thresholds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a segment pair must reach to get into the corpus; each is applied to what was measured, so may change.

    The defaults but the score's keep 8,028 of the 8,080 beads with two sides in the gold alignments of `shared/data`
    (zh-en, en-ro, de-fr; 2026-11): they are there to keep out what cannot be a translation, not to rank what may be
    one. The score's default is below a half, because errors are rarer on a mined site than in what the score was trained
    on: at 0.5 it keeps 99.2 % of the right beads of site packs and 85.6 % of those of the gold alignments, and loses
    9 of 151 right segments of the bundled web in English and Chinese; at 0.3 it loses 3 (docs/decisions/segment-score.md).
    """

    score: Share = 0.3  # how probably they are translations
    coverage: Share = 0.0  # by the lexicon, the mean of both ways; pairs that were not measured pass
    length_ratio: Share = 0.2  # the shorter text over the longer
    language: Share = 0.2  # how far either text is believed to be in its language; 0.5 where it says nothing
    words: Annotated[int, msgspec.Meta(ge=0)] = 1  # on either side
    types: tuple[str, ...] = ()  # "1:1", "1:2"; none given takes all
    # flags that keep a pair out, by how they begin
    refuse: tuple[str, ...] = ("non-letters", "equal TUVs", "code", "wrong script")
    duplicates: bool = False  # keep each occurrence, flagged, and do not merge
