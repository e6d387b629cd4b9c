"""Tab-separated text with the columns of Bitextor's `.sent` files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bitrawl.corpus.characters import one_line
from bitrawl.corpus.naming import CorpusHeader, paragraph_id
from bitrawl.files import replacing
from bitrawl.model import TranslationUnit
from bitrawl.text.words import words

# Bitextor's own, in its order and with its `elrc` columns; after them ours, which its readers pass over.
COLUMNS = (
    *("src_url", "trg_url", "src_text", "trg_text", "aligner_score", "src_paragraph_id", "trg_paragraph_id"),
    *("length_ratio", "num_tokens_src", "num_tokens_trg"),
    *("alignment_type", "flags", "occurrences"),
)


@contextmanager
def tsv(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[TranslationUnit], None]]:
    """`en-fr.tsv`, a header and a line a unit; no quoting, for no value holds a tab or a line break."""
    with replacing(folder / header.file_name("tsv", compress=compress), compress=compress) as file:
        file.write("\t".join(COLUMNS).encode() + b"\n")

        def write(unit: TranslationUnit) -> None:
            file.write("\t".join(map(one_line, _values(unit, header))).encode() + b"\n")

        yield write


def _values(unit: TranslationUnit, header: CorpusHeader) -> tuple[str, ...]:
    pair, source = unit.pair, unit.sources[0]
    counted = pair.scores  # by the judge
    tokens_a = int(counted["words_a"]) if "words_a" in counted else len(words(pair.a.text, header.languages[0]))
    tokens_b = int(counted["words_b"]) if "words_b" in counted else len(words(pair.b.text, header.languages[1]))
    return (
        *(pair.url_a, pair.url_b, pair.a.text, pair.b.text, f"{pair.score:.4f}"),
        *(paragraph_id(source.paragraph_a), paragraph_id(source.paragraph_b)),
        *(f"{tokens_a / tokens_b if tokens_b else 0.0:.4f}", str(tokens_a), str(tokens_b)),  # as Bitextor: of tokens
        *(pair.type, " | ".join(pair.flags), str(len(unit.sources))),
    )
