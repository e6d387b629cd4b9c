"""`bitrawl align`: which sentences are translations of each other, in two texts or in the pairs of a job."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from bitrawl.align.documents import Document, Text
from bitrawl.align.embeddings import EmbeddingAligner
from bitrawl.align.lexical import LexicalAligner
from bitrawl.cli.console import err
from bitrawl.cli.foreground import Foreground
from bitrawl.cli.progress import Progress
from bitrawl.cli.status import tell
from bitrawl.errors import ConfigError
from bitrawl.files import write as write_file
from bitrawl.jobs.folder import JobFolder
from bitrawl.jobs.mining import mine_again
from bitrawl.jobs.settings import described, listed
from bitrawl.languages import parse_language
from bitrawl.model import Bead, Language
from bitrawl.text.encoder import load_encoder
from bitrawl.text.lexicon import read_dictionary

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


@app.command()
def align(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Two texts, one sentence a line; or a job's folder.", metavar="A.TXT B.TXT | DIR"),
    ] = None,
    *,
    langs: Annotated[
        str | None, typer.Option("--langs", help="The languages of the two, by codes or names: de,fr.")
    ] = None,
    listed: Annotated[
        Path | None,
        typer.Option(
            "--list",
            help="Many pairs: two paths a line, a tab between; a path is taken from the folder that you are in, and a"
            " blank line has no ladder.",
            metavar="PAIRS.TSV",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where the ladders of a list go: N.tsv for its line N.", metavar="DIR")
    ] = None,
    dictionary: Annotated[
        Path | None,
        typer.Option("--dictionary", help="word<TAB>translation a line, or hunalign's translation @ word."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Align by a sentence-transformers model, as sentence-transformers/LaBSE (extra neural).",
            metavar="NAME_OR_PATH",
        ),
    ] = None,
) -> None:
    """Align the sentences of two texts, or of many pairs with one lexicon over all of them.

    Example: [bold]bitrawl align --langs de,fr a.txt b.txt[/], or [bold]bitrawl align --langs de,fr --list pairs.tsv --out ladders[/]

    A line of the ladder has the numbers of lines on either side, from 0, and a score of 0 to 1: 0,1<TAB>0<TAB>0.98. An
    empty cell stands for no counterpart. No dictionary is needed: words are learned from the texts themselves.

    [bold]bitrawl align jobs/example[/] aligns the pairs of a job again and writes its corpus; nothing is fetched or paired.
    """
    if files and len(files) == 1 and (files[0].is_dir() or not (langs or files[0].exists())):
        _align_job(files[0], langs, listed, out, dictionary, encoder)
        return
    languages = _languages(langs or "")
    pairs = _pairs(files or [], listed, out)  # by the number of their line
    aligner = _aligner(languages, dictionary, encoder)
    documents = [
        Document(*(Text.plain(_lines(path), language) for path, language in zip(pair, languages, strict=True)))
        for pair in pairs.values()
    ]
    ladders = aligner.align_documents(documents)
    if listed is None or out is None:
        typer.echo(ladder(ladders[0]), nl=False)
    else:
        _write(dict(zip(pairs, ladders, strict=True)), out)


def _align_job(
    folder: Path, langs: str | None, listed: Path | None, out: Path | None, dictionary: Path | None, encoder: str | None
) -> None:
    if langs or listed or out or dictionary:
        raise ConfigError("a job has its own languages, dictionary and folder: bitrawl align DIR takes only --encoder")
    where = JobFolder(folder)
    job = where.changed(described({"encoder": encoder}))
    foreground = Foreground(Progress())
    foreground.run(lambda: mine_again(job, where, known_pairs=True, watch=foreground.progress.mining))
    tell(where)


def ladder(beads: Sequence[Bead]) -> str:
    """A line a bead."""
    return "".join(f"{_cell(bead.a)}\t{_cell(bead.b)}\t{bead.score:.4f}\n" for bead in beads)


def _aligner(
    languages: tuple[Language, Language], dictionary: Path | None, encoder: str | None
) -> LexicalAligner | EmbeddingAligner:
    if not encoder:
        return LexicalAligner(dictionary=read_dictionary(dictionary, languages) if dictionary else ())
    if dictionary:
        raise ConfigError("an encoder takes no dictionary; leave out --dictionary or --encoder")
    return EmbeddingAligner(load_encoder(encoder))


def _cell(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _languages(langs: str) -> tuple[Language, Language]:
    if not langs:
        raise ConfigError("--langs is missing: the languages of the two texts, as in --langs de,fr")
    codes = [parse_language(code) for code in listed(langs)]
    if len(codes) != 2:
        raise ConfigError(f"--langs takes two languages, as in de,fr; {langs!r} has {len(codes)}")
    return codes[0], codes[1]


def _pairs(files: Sequence[Path], listed: Path | None, out: Path | None) -> dict[int, tuple[Path, Path]]:
    if listed is None:
        if len(files) != 2:
            raise ConfigError(f"align takes two files, or --list PAIRS.TSV; {len(files)} files were given")
        if out is not None:
            raise ConfigError("--out goes with --list; of two files the ladder is printed")
        return {1: (files[0], files[1])}
    if files:
        raise ConfigError("either two files or --list, not both")
    if out is None:
        raise ConfigError("--list needs --out DIR, where the ladders go")
    pairs = {}
    for number, line in enumerate(_lines(listed), 1):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) < 2 or not cells[0].strip() or not cells[1].strip():
            raise ConfigError(f"{listed}, line {number}: two paths with a tab between are wanted")
        pairs[number] = (Path(cells[0].strip()), Path(cells[1].strip()))
    return pairs


def _lines(path: Path) -> list[str]:
    """Ended by a newline and nothing else: what else Unicode calls a line break may be within a sentence."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    return text.removesuffix("\n").split("\n") if text else []


def _write(ladders: Mapping[int, Sequence[Bead]], out: Path) -> None:
    for number, beads in ladders.items():
        write_file(out / f"{number}.tsv", ladder(beads))
    err.print(f"{len(ladders)} ladders in {out}", markup=False)
