"""`bitrawl discover check`: whether sites are bilingual, one verdict for each."""

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from bitrawl.cli.console import complain, out
from bitrawl.cli.help import HelpfulCommand
from bitrawl.config.settings import listed
from bitrawl.discover.site_lists import SiteAnswer, SiteVerdict
from bitrawl.errors import ConfigError, UrlError
from bitrawl.job.fetching import FetchPolicy
from bitrawl.job.site_checks import SiteQuestion, check_sites
from bitrawl.languages import parse_language, two_languages
from bitrawl.model import Language
from bitrawl.url import Url

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


class Format(StrEnum):
    """How verdicts are printed."""

    TABLE = "table"
    JSONL = "jsonl"


@app.command(cls=HelpfulCommand)
def check(  # noqa: PLR0913 - flags
    urls: Annotated[
        list[str] | None,
        typer.Argument(
            help="The entry page of each site, usually its home page. With --replay, none means all home pages.",
            metavar="URL",
            show_default=False,
        ),
    ] = None,
    *,
    langs: Annotated[
        str, typer.Option(help="Two languages or more, as ISO 639 or BCP 47 codes: en,fr", metavar="CODES")
    ],
    replay: Annotated[
        list[Path] | None,
        typer.Option(help="Read these WARC files, or folders of them, in place of the web.", metavar="PATH"),
    ] = None,
    output: Annotated[
        Format, typer.Option("--format", help="Print a table, or one JSON object per line.")
    ] = Format.TABLE,
    max_downloads: Annotated[
        int, typer.Option(min=1, max=20, help="Fetch at most this many pages of a site.", metavar="N")
    ] = 5,
    delay: Annotated[
        float, typer.Option(min=0, help="Wait this many seconds between two requests to a host.", metavar="SECONDS")
    ] = 1.0,
    contact: Annotated[
        str,
        typer.Option(help="Tell webmasters this e-mail address or page, in the User-Agent.", metavar="TEXT"),
    ] = "",
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Visit private and loopback addresses.")
    ] = False,
) -> None:
    """Tell whether sites are bilingual, from a handful of pages of each.

    Example: [bold]bitrawl discover check https://www.example.org/ --langs en,fr[/]

    A site is bilingual if two of its pages are translations of each other. The verdicts are bilingual, thin (only a
    page or two are translated), no, and unknown (the site did not answer, or asks to be left alone).
    """
    asked = SiteQuestion(
        _parsed(urls or [], replay=bool(replay)),
        _languages(langs),
        tuple(replay or ()),
        max_downloads,
        FetchPolicy(contact, delay, allow_private),
    )
    found = asyncio.run(_print_all(asked, output))
    if not found:
        complain("no site was checked: the archives have no home page. Name the entry pages")
        raise typer.Exit(1)


async def _print_all(asked: SiteQuestion, output: Format) -> int:
    count = 0
    async for verdict in check_sites(asked):
        count += 1
        text = msgspec.json.encode(verdict, enc_hook=str).decode() if output is Format.JSONL else row(verdict)
        out.print(text, markup=False)
    return count


def row(verdict: SiteVerdict) -> str:
    """Site, verdict, probability, languages, downloads, estimated pages, and why."""
    evidence = ", ".join(f"{name} {value:.2f}" for name, value in verdict.evidence.items())
    told = [
        f"{verdict.site:32}",
        f"{verdict.verdict:10}",
        f"{verdict.probability:.2f}" if verdict.verdict is not SiteAnswer.UNKNOWN else "   -",
        f"{','.join(verdict.languages) or '-':8}",
        f"{verdict.downloads} fetched",
        f"about {verdict.pages} pages" if verdict.pages else "size unknown",
        f"{verdict.detail}{f' ({evidence})' if evidence else ''}",
    ]
    pages = f"\n    {verdict.url_a}\n    {verdict.url_b}" if verdict.url_a and verdict.url_b else ""
    return "  ".join(told) + pages


def _parsed(raw: list[str], *, replay: bool) -> tuple[Url, ...]:
    if not raw and not replay:
        raise ConfigError("name at least one site: bitrawl discover check https://www.example.org/ --langs en,fr")
    urls = []
    for text in raw:
        try:
            urls.append(Url.parse(text if "://" in text else f"https://{text}"))
        except UrlError as error:
            raise ConfigError(str(error)) from error
    return tuple(urls)


def _languages(raw: str) -> tuple[Language, ...]:
    languages = tuple(dict.fromkeys(parse_language(code) for code in listed(raw)))
    if len(languages) < 2:
        both = two_languages(raw)
        hint = f"{both[0]},{both[1]}" if both else "en,fr"
        raise ConfigError(f"a site is bilingual in two languages; name both, with a comma: --langs {hint}")
    return languages
