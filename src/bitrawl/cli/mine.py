"""`bitrawl mine` and its stages: from a site to a corpus."""

import asyncio
import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from bitrawl import config, report
from bitrawl.assemble import Ending, mine_again, pairing, write_corpus
from bitrawl.assemble import mine as run_mine
from bitrawl.cli.console import out as console
from bitrawl.cli.crawl import crawl, follow, prepared
from bitrawl.config import Job
from bitrawl.errors import ConfigError
from bitrawl.report import brief, gather
from bitrawl.store.ledger import Ledger

PAIRS, CORPUS = "Pairs", "Corpus"

Folder = Annotated[Path, typer.Argument(help="The job's folder, as given to --out.", metavar="DIR")]
Methods = Annotated[
    str | None,
    typer.Option(
        help="Detectors by their letters: a declared, u URL, p d i images and digits, h m l structure, c content, t parents.",
        show_default="all",
        rich_help_panel=PAIRS,
    ),
]
UrlPairs = Annotated[
    list[str] | None,
    typer.Option("--url-pair", help="Texts in URLs that stand for each other: en=fr", rich_help_panel=PAIRS),
]
Dictionary = Annotated[Path | None, typer.Option(help="Word pairs: TSV, or hunalign's format.", rich_help_panel=PAIRS)]
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
    typer.Option(help="Of an alignment, to get into the corpus.", show_default="0", rich_help_panel=CORPUS),
]


def _stage_flags(  # noqa: PLR0913 (each flag is a key of the job file)
    *,
    methods: Methods = None,
    url_pair: UrlPairs = None,
    dictionary: Dictionary = None,
    machine_translated: Translated = None,
    formats: Formats = None,
    compress: Compress = None,
    min_score: MinScore = None,
) -> dict[str, Any]:
    return {
        "pair": {
            "methods": methods,
            "url_pairs": url_pair,
            "dictionary": str(dictionary) if dictionary else None,
            "machine_translated": machine_translated,
        },
        "judge": {"score": min_score},
        "export": {"formats": formats.split(",") if formats else None, "compress": compress},
    }


def mine(**given: Any) -> None:
    """Crawl sites and write a corpus of what is translated on them; it grows while the crawl runs.

    Example: [bold]bitrawl mine https://www.example.org/ --langs en,fr --out jobs/example[/]

    One language makes a monolingual corpus. The same command resumes.
    """
    stages = {name: given.pop(name) for name in inspect.signature(_stage_flags).parameters}
    job = prepared(given, _stage_flags(**stages))
    pairing(job)
    ending = follow(job, given["out"], run_mine, quiet=given["quiet"])
    if not given["quiet"]:
        tell(given["out"])
    if ending is not Ending.DONE:
        raise typer.Exit(130)


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
    machine_translated: Translated = None,
) -> None:
    """Pair and align the pages of a job again, with other settings; nothing is fetched.

    Example: [bold]bitrawl pair jobs/example --methods au[/]
    """
    flags = _stage_flags(
        methods=methods, url_pair=url_pair, dictionary=dictionary, machine_translated=machine_translated
    )
    job = _changed(folder, flags)
    pairing(job)
    asyncio.run(mine_again(job, folder))
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
    job = _changed(folder, _stage_flags(formats=formats, compress=compress, min_score=min_score))
    write_corpus(job, folder)
    tell(folder)


def report_(folder: Folder) -> None:
    """Draw the report of a job: one HTML file that opens offline.

    Example: [bold]bitrawl report jobs/example[/]
    """
    _job(folder)
    console.print(str(report.write(folder)), markup=False)


def _changed(folder: Path, flags: dict[str, Any]) -> Job:
    """The folder's job with those flags, which it has from now on."""
    held = folder / "job.toml"
    _job(folder)
    job = config.resolve(config.merged(config.read(held), flags), where="the command")
    config.write(job, held)
    return job


def _job(folder: Path) -> None:
    if not (folder / "job.toml").exists():
        Ledger(folder / "job.sqlite", read_only=True).close()
        raise ConfigError(f"{folder} has no job.toml")


def tell(folder: Path) -> None:
    """In short, at the end."""
    for line in brief(gather(folder)):
        console.print(line, markup=False)
    console.print(f"corpus     {folder / 'corpus'}\nreport     {folder / 'report.html'}", markup=False)
