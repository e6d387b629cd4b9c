"""Corpora as files: formats (each a context manager that returns a `write`), judging, merging, the datasheet.

Here is what clients and the rooms beside see. `job`, `store` and `review`, which write corpora and choose what gets into
them, still use the room's modules.
"""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.corpus.anonymising import Anonymiser
    from bitrawl.corpus.card import card_of, review_sentence
    from bitrawl.corpus.export import CARD, CorpusHeader, corpus_headers, paired_pages, without_files
    from bitrawl.corpus.figures import MergedCounts, MergedSite, MergeFacts, SiteLack
    from bitrawl.corpus.formats import (
        FORMATS,
        TERM_PAIR_SCORE,
        TERM_PAIRS,
        Anonymise,
        ExportSection,
        TermFormat,
        fitting,
        ready_formats,
        unfit,
        usual,
    )
    from bitrawl.corpus.jsonl import PLAIN, plain
    from bitrawl.corpus.sampling import HumanReview
    from bitrawl.corpus.selection import Rule, RuleFacts
    from bitrawl.corpus.term_pairs import TermPair, write_terms
    from bitrawl.corpus.tmx import tmx_text
    from bitrawl.corpus.units import CorpusEntry, CorpusPage, CorpusParagraph, CorpusUnit
else:
    __getattr__ = door(__name__)
