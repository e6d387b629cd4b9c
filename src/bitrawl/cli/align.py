"""`bitrawl align`: which sentences are translations of each other, in two texts or in the pairs of a job."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import StrEnum
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import msgspec
import typer
from typer import Argument, Option

from bitrawl.cli.console import print_err
from bitrawl.config import described, listed
from bitrawl.corpus import CorpusHeader
from bitrawl.errors import ConfigError
from bitrawl.files import write as write_file
from bitrawl.languages import parse_language
from bitrawl.model import Bead, Language, Segment, SegmentPair, TranslationUnit
from bitrawl.show import counted

if TYPE_CHECKING:
    from bitrawl.mining import TextPair
    from bitrawl.mining.embedding_aligner import EmbeddingAligner
    from bitrawl.mining.lexical_aligner import LexicalAligner

Aligner: TypeAlias = "LexicalAligner | EmbeddingAligner"
Languages = tuple[Language, Language]


AlignFormat = StrEnum("AlignFormat", ["LADDER", "TSV", "TMX", "JSONL"])  # a ladder has numbers of lines

_FORMAT_HELP = (
    "Print the texts as TSV, TMX or JSON lines, split into sentences by bitrawl; or a ladder of line numbers, for texts that"
    " have one sentence per line."
)
_LIST_HELP = "Align many pairs with one lexicon: a file with two paths per line, separated by a tab."
_DICTIONARY_HELP = "Use these word pairs: TSV, or hunalign's translation @ word."
_ENCODER_HELP = "Align with this sentence-transformers model: sentence-transformers/LaBSE (extra neural)."


def align(  # noqa: PLR0913 - flags
    files: Annotated[
        list[Path] | None,
        Argument(help="Two texts, or a job folder.", metavar="A.TXT B.TXT | DIR", show_default=False),
    ] = None,
    *,
    langs: Annotated[str | None, Option(help="The languages of the two texts: de,fr", metavar="CODES")] = None,
    style: Annotated[AlignFormat, Option("--format", help=_FORMAT_HELP)] = AlignFormat.LADDER,
    pair_list: Annotated[Path | None, Option("--list", help=_LIST_HELP, metavar="PAIRS.TSV")] = None,
    out: Annotated[
        Path | None, Option(help="Write the results of --list here: N.tsv for line N.", metavar="DIR")
    ] = None,
    dictionary: Annotated[Path | None, Option(help=_DICTIONARY_HELP, metavar="FILE")] = None,
    encoder: Annotated[str | None, Option(help=_ENCODER_HELP, metavar="NAME_OR_PATH")] = None,
) -> None:
    """Align the sentences of two texts, or those of a job again.

    Example: [bold]bitrawl align a.txt b.txt --langs de,fr --format tsv[/], or [bold]bitrawl align --langs de,fr --list pairs.tsv --out ladders[/]

    Without --format, each line of the texts is one sentence, and bitrawl prints a ladder. Each line of a ladder has the
    numbers of lines on either side, counted from 0, and a score, as in a corpus: 0,1<TAB>0<TAB>0.98. A line without a
    counterpart has an empty cell and no score. You need no dictionary: words of 144 languages come with bitrawl, and more are
    learned from the texts. In other languages, a score of about 0.5 for one or two sentences means that nothing is known.

    [bold]bitrawl align jobs/example[/] aligns the pairs of a job again and writes its corpus. Nothing is fetched or paired.
    """
    if files and len(files) == 1 and (files[0].is_dir() or not (langs or files[0].exists())):
        _align_job(
            files[0], encoder, refused=bool(langs or pair_list or out or dictionary or style is not AlignFormat.LADDER)
        )
        return
    languages = _languages(langs or "")
    pairs = _pairs(files or [], pair_list, out)  # by the number of their line
    aligner = _aligner(languages, dictionary, encoder)
    if style is AlignFormat.LADDER:
        results = _ladders(list(pairs.values()), languages, aligner)
    else:
        results = [_texts(a, b, languages, aligner, style) for a, b in pairs.values()]
    if out is None:
        typer.echo(results[0], nl=False)
        return
    ending = "tsv" if style is AlignFormat.LADDER else style
    for number, result in zip(pairs, results, strict=True):
        write_file(out / f"{number}.{ending}", result)
    print_err(f"{counted(len(results), 'file')} in {out}")


def _align_job(folder: Path, encoder: str | None, *, refused: bool) -> None:
    from bitrawl.cli.foreground import mine_in_foreground
    from bitrawl.job import OpenedJob

    if refused:
        raise ConfigError("a job has its own languages, dictionary and folder: bitrawl align DIR takes only --encoder")
    mine_in_foreground(OpenedJob(folder), described({"encoder": encoder}), known_pairs=True)


def _ladders(pairs: Sequence[tuple[Path, Path]], languages: Languages, aligner: Aligner) -> list[str]:
    from bitrawl.mining import align_sentences, listed_sentences

    texts = [(listed_sentences(_lines(a), languages[0]), listed_sentences(_lines(b), languages[1])) for a, b in pairs]
    return ["".join(starmap(_rung, rungs)) for rungs in align_sentences(texts, languages, aligner)]


def _rung(bead: Bead, pair: TextPair) -> str:
    a, b = (",".join(map(str, numbers)) for numbers in (bead.a, bead.b))
    return f"{a}\t{b}\t{_shown(pair.score)}\n"


def _shown(score: float | None) -> str:
    return "" if score is None else f"{score:.4f}"


def _texts(a: Path, b: Path, languages: Languages, aligner: Aligner, style: AlignFormat) -> str:
    """What has no counterpart is left out of TMX, and has an empty side and no score elsewhere."""
    from bitrawl.mining.aligned_pages import align_texts
    from bitrawl.text.words import one_line

    pairs = align_texts(_read(a), _read(b), languages, aligner)
    if style is AlignFormat.TMX:
        return _tmx(pairs, languages)
    if style is AlignFormat.JSONL:
        return "".join(msgspec.json.encode(pair._asdict()).decode() + "\n" for pair in pairs)
    return "".join(f"{one_line(pair.text_a)}\t{one_line(pair.text_b)}\t{_shown(pair.score)}\n" for pair in pairs)


def _tmx(pairs: Sequence[TextPair], languages: Languages) -> str:
    from bitrawl.corpus import tmx_text
    from bitrawl.mining.aligned_pages import NOWHERE

    header = CorpusHeader(languages, time.time())
    units = (
        TranslationUnit(
            SegmentPair(NOWHERE, NOWHERE, Segment(pair.text_a), Segment(pair.text_b), pair.score, pair.type), ()
        )
        for pair in pairs
        if pair.score is not None
    )
    return "".join(tmx_text(((header, unit) for unit in units), header))


def _aligner(languages: Languages, dictionary: Path | None, encoder: str | None) -> Aligner:
    from bitrawl.mining.embedding_aligner import EmbeddingAligner
    from bitrawl.mining.lexical_aligner import LexicalAligner
    from bitrawl.text.encoder import load_encoder
    from bitrawl.text.known_words import Dictionary, known_words

    if not encoder:
        words = Dictionary.of(str(dictionary or ""), languages)
        return LexicalAligner(prior=known_words(*languages, words))
    if dictionary:
        raise ConfigError("an encoder takes no dictionary; leave out --dictionary or --encoder")
    return EmbeddingAligner(load_encoder(encoder))


def _languages(langs: str) -> Languages:
    if not langs:
        raise ConfigError("--langs is missing: the languages of the two texts, as in --langs de,fr")
    codes = [parse_language(code) for code in listed(langs)]
    if len(codes) != 2:
        raise ConfigError(f"--langs takes two languages, as in de,fr; {langs!r} has {len(codes)}")
    return codes[0], codes[1]


def _pairs(files: Sequence[Path], pair_list: Path | None, out: Path | None) -> dict[int, tuple[Path, Path]]:
    if pair_list is None:
        if len(files) != 2:
            raise ConfigError(f"align takes two files, or --list PAIRS.TSV; you gave {counted(len(files), 'file')}")
        if out is not None:
            raise ConfigError("--out goes with --list; the result of two files is printed")
        return {1: (files[0], files[1])}
    if files:
        raise ConfigError("give either two files or --list, not both")
    if out is None:
        raise ConfigError("--list needs --out DIR, where the results go")
    pairs = {}
    for number, line in enumerate(_lines(pair_list), 1):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) < 2 or not cells[0].strip() or not cells[1].strip():
            raise ConfigError(f"{pair_list}, line {number}: write two paths with a tab between them")
        pairs[number] = (Path(cells[0].strip()), Path(cells[1].strip()))
    return pairs


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} cannot be read: it is not a text file in UTF-8") from error


def _lines(path: Path) -> list[str]:
    """Ended by a newline and nothing else: what else Unicode calls a line break may be within a sentence."""
    text = _read(path)
    return text.removesuffix("\n").split("\n") if text else []
