"""`bitrawl mine` and its stages: from a site to a corpus."""

import asyncio
import inspect
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from bitrawl import config, report
from bitrawl.assemble import export as write_again
from bitrawl.assemble import mine as run_mine
from bitrawl.assemble import mine_again
from bitrawl.cli.console import out as console
from bitrawl.cli.crawl import crawl, follow, leave, prepared
from bitrawl.cli.progress import Progress
from bitrawl.config import Job
from bitrawl.corpus.export import Format
from bitrawl.errors import ConfigError
from bitrawl.report import brief, gather
from bitrawl.store.ledger import Ledger

PAIRS, CORPUS = "Pairs", "Corpus"

Folder = Annotated[Path, typer.Argument(help="The job's folder, as given to --out.", metavar="DIR")]
Methods = Annotated[
    str | None,
    typer.Option(
        help="Detectors by their letters: a declared, u URL, p d i images and digits, h m l structure, c content,"
        " t parents, r mutual links, b bridge by a third language.",
        show_default="all",
        rich_help_panel=PAIRS,
    ),
]
UrlPairs = Annotated[
    list[str] | None,
    typer.Option("--url-pair", help="Texts in URLs that stand for each other: en=fr", rich_help_panel=PAIRS),
]
Dictionary = Annotated[Path | None, typer.Option(help="Word pairs: TSV, or hunalign's format.", rich_help_panel=PAIRS)]
Encoder = Annotated[
    str | None,
    typer.Option(
        help="A sentence-transformers model for pairs and sentences, as sentence-transformers/LaBSE (extra neural).",
        metavar="NAME_OR_PATH",
        show_default=False,
        rich_help_panel=PAIRS,
    ),
]
Translated = Annotated[
    bool | None,
    typer.Option(
        "--machine-translated",
        help="Keep pages that bear marks of machine translation.",
        show_default=False,
        rich_help_panel=PAIRS,
    ),
]
Formats = Annotated[
    str | None,
    typer.Option(
        help="jsonl, tmx, tsv, moses, parquet, xces, text; several with commas.",
        show_default="jsonl,tmx,tsv",
        rich_help_panel=CORPUS,
    ),
]
Compress = Annotated[
    bool | None, typer.Option("--compress", help="gzip what is written.", show_default=False, rich_help_panel=CORPUS)
]
MinScore = Annotated[
    float | None,
    typer.Option(help="Of an alignment, to get into the corpus.", show_default="0.5", rich_help_panel=CORPUS),
]


def _stage_flags(  # noqa: PLR0913 (each flag is a key of the job file)
    *,
    methods: Methods = None,
    url_pair: UrlPairs = None,
    dictionary: Dictionary = None,
    encoder: Encoder = None,
    machine_translated: Translated = None,
    formats: Formats = None,
    compress: Compress = None,
    min_score: MinScore = None,
) -> dict[str, Any]:
    return {
        "encoder": encoder,
        "pair": {
            "methods": methods,
            "url_pairs": url_pair,
            "dictionary": str(dictionary) if dictionary else None,
            "machine_translated": machine_translated,
        },
        "judge": {"score": min_score},
        "export": {"formats": _formats(formats) if formats else None, "compress": compress},
    }


def _formats(given: str) -> list[str]:
    names = [name.lower() for name in config.listed(given)]
    unknown = [name for name in names if name not in list(Format)]
    if unknown or not names:
        raise ConfigError(f"there is no format {', '.join(unknown) or given!r}; the formats are {', '.join(Format)}")
    return names


def mine(**given: Any) -> None:
    """Crawl sites and write a corpus of what is translated on them; it grows while the crawl runs.

    Example: [bold]bitrawl mine https://www.example.org/ --langs en,fr --out jobs/example[/]

    One language makes a monolingual corpus. The same command resumes.
    """
    stages = {name: given.pop(name) for name in inspect.signature(_stage_flags).parameters}
    job, progress = prepared(given, _stage_flags(**stages)), Progress(quiet=given["quiet"])
    runner = partial(run_mine, fresh=given["fresh"], doing=progress.mining)
    ending = follow(job, given["out"], runner, progress)
    if not progress.quiet:
        tell(given["out"])
    leave(ending)


# Typer reads the flags from the signature: those of `crawl`, and those of the stages after it.
_parameters = [*inspect.signature(crawl).parameters.values()]
_parameters += [p.replace(kind=p.KEYWORD_ONLY) for p in inspect.signature(_stage_flags).parameters.values()]
mine.__signature__ = inspect.Signature(_parameters)  # type: ignore[attr-defined]
mine.__annotations__ = {parameter.name: parameter.annotation for parameter in _parameters}


def pair(
    folder: Folder,
    *,
    methods: Methods = None,
    url_pair: UrlPairs = None,
    dictionary: Dictionary = None,
    encoder: Encoder = None,
    machine_translated: Translated = None,
) -> None:
    """Pair and align the pages of a job again, with other settings; nothing is fetched.

    Example: [bold]bitrawl pair jobs/example --methods au[/]
    """
    flags = _stage_flags(
        methods=methods,
        url_pair=url_pair,
        dictionary=dictionary,
        encoder=encoder,
        machine_translated=machine_translated,
    )
    asyncio.run(mine_again(changed(folder, flags), folder, doing=Progress().mining))
    tell(folder)


def export(
    folder: Folder,
    *,
    formats: Formats = None,
    compress: Compress = None,
    min_score: MinScore = None,
) -> None:
    """Write the corpus of a job again, in other formats or with other thresholds; nothing is aligned.

    Example: [bold]bitrawl export jobs/example --formats tmx,moses --min-score 0.4[/]
    """
    write_again(changed(folder, _stage_flags(formats=formats, compress=compress, min_score=min_score)), folder)
    tell(folder)


def report_(folder: Folder) -> None:
    """Draw the report of a job: one HTML file that opens offline.

    Example: [bold]bitrawl report jobs/example[/]
    """
    _job(folder)
    console.print(str(report.write(folder)), markup=False)


def changed(folder: Path, flags: dict[str, Any]) -> Job:
    """The folder's job with those flags, not yet written: a command that fails changes nothing."""
    _job(folder)
    return config.resolve(config.merged(config.read(folder / "job.toml"), flags), where="the command")


def _job(folder: Path) -> None:
    if not (folder / "job.toml").exists():
        Ledger(folder / "job.sqlite", read_only=True).close()
        raise ConfigError(f"{folder} has no job.toml")


def tell(folder: Path) -> None:
    """In short, at the end."""
    for line in brief(gather(folder)):
        console.print(line, markup=False)
    for name, path in (("corpus", folder / "corpus"), ("report", folder / "report.html")):
        if path.exists():
            console.print(f"{name:<11}{path}", markup=False)
