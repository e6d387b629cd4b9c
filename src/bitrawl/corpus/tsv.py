"""Tab-separated text with the columns of Bitextor's `.sent` files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bitrawl.corpus.naming import CorpusHeader, paragraph_id
from bitrawl.files import cell, replacing
from bitrawl.model import TranslationUnit
from bitrawl.text.words import one_line, words

# Bitextor's columns in its order, including its `elrc` columns; then ours, which its readers ignore.
COLUMNS = (
    *("src_url", "trg_url", "src_text", "trg_text", "aligner_score", "src_paragraph_id", "trg_paragraph_id"),
    *("length_ratio", "num_tokens_src", "num_tokens_trg"),
    *("alignment_type", "flags", "occurrences"),
)


@contextmanager
def tsv(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[TranslationUnit], None]]:
    """`en-fr.tsv`: a header, then one line per unit.

    Nothing is quoted, because no value contains a tab or a line break. A text that a spreadsheet would take for a formula
    has an apostrophe in front, which `text.cells.from_cell` removes.
    """
    with replacing(folder / header.file_name("tsv", compress=compress), compress=compress) as file:
        file.write("\t".join(COLUMNS).encode() + b"\n")

        def write(unit: TranslationUnit) -> None:
            file.write("\t".join(_values(unit, header)).encode() + b"\n")

        yield write


def _values(unit: TranslationUnit, header: CorpusHeader) -> tuple[str, ...]:
    pair, source = unit.pair, unit.sources[0]
    counted = pair.scores  # by the judge
    tokens_a = int(counted["words_a"]) if "words_a" in counted else len(words(pair.a.text, header.languages[0]))
    tokens_b = int(counted["words_b"]) if "words_b" in counted else len(words(pair.b.text, header.languages[1]))
    return (
        *(cell(one_line(text)) for text in (pair.url_a, pair.url_b, pair.a.text, pair.b.text)),
        f"{pair.score:.4f}",
        *(paragraph_id(source.paragraph_a), paragraph_id(source.paragraph_b)),
        # token counts, as in Bitextor
        *(f"{tokens_a / tokens_b if tokens_b else 0.0:.4f}", str(tokens_a), str(tokens_b)),
        *(one_line(pair.type), one_line(" | ".join(pair.flags)), str(len(unit.sources))),
    )
