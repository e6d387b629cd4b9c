"""Which pages and which sentences are translations: pairing, alignment, judging. `stages.py` is the straight line."""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.mining.aligned_pages import TextPair, align_sentences, joined_text, listed_sentences, text_sentences
    from bitrawl.mining.findings import RefusedPair, SiteFindings
    from bitrawl.mining.judging import (
        MEASURES,
        Flag,
        Measures,
        Rejection,
        SegmentKind,
        ThresholdFilter,
        Truth,
        as_written,
        decided_by_people,
        rejection,
    )
    from bitrawl.mining.revising import RevisionPlace, RevisionPlaces, revised, rewritten
    from bitrawl.mining.settings import AlignSection, MiningSection, PairSection, Thresholds
else:
    __getattr__ = door(__name__)
