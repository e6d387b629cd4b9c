"""Corpora as files: formats (each a context manager that returns a `write`), the merger, terms, the datasheet."""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.corpus.anonymising import Anonymiser
    from bitrawl.corpus.export import CorpusFolder, CorpusHeader, without_files
    from bitrawl.corpus.figures import HumanReview, MergedCounts, MergedSite, MergeFacts, SiteLack, paired_pages
    from bitrawl.corpus.formats import FORMATS, Anonymise, ExportSection, TermFormat
    from bitrawl.corpus.jsonl import PLAIN, plain
    from bitrawl.corpus.shards import keyed
    from bitrawl.corpus.term_pairs import TermPair, bilingual_terms
    from bitrawl.corpus.tmx import tmx_text
    from bitrawl.corpus.units import Corpora, CorpusPage, CorpusParagraph, CorpusUnit, EntryTable
else:
    __getattr__ = door(__name__)
