"""`bitrawl bootstrap`: a topic, seeds and bilingual sites from the name of a subject."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bitrawl.cli.console import complain, err, out
from bitrawl.cli.help import HelpfulCommand
from bitrawl.config.settings import Group, listed
from bitrawl.job.bootstrapping import SITES, TERMS, TOPIC, BootstrapRequest, BootstrapSummary, endpoint
from bitrawl.job.bootstrapping import bootstrap as run_bootstrap
from bitrawl.job.fetching import FetchPolicy
from bitrawl.languages import language_name
from bitrawl.topic.wiki_topic import Exclusion

app = typer.Typer(rich_markup_mode="rich", add_completion=False)

WIKI, TITLES, CITED = "Wiki", "Terms", "Sites"


@app.command(cls=HelpfulCommand)
def bootstrap(  # noqa: PLR0913 - flags
    category: Annotated[
        str, typer.Argument(help="The subject, as a category of the wiki is named.", metavar="NAME", show_default=False)
    ],
    *,
    langs: Annotated[
        str,
        typer.Option(help="Languages, as ISO 639 or BCP 47 codes: de,it", metavar="CODES", rich_help_panel=Group.JOB),
    ],
    folder: Annotated[
        Path,
        typer.Option(
            "--out", help="Write into this folder. The same folder resumes.", metavar="DIR", rich_help_panel=Group.JOB
        ),
    ],
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Delete what the folder holds and start over.", rich_help_panel=Group.JOB)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.", rich_help_panel=Group.JOB)] = False,
    wiki: Annotated[
        str,
        typer.Option(
            help="Ask this wiki: the URL of its api.php, or the language of a Wikipedia.",
            metavar="URL|CODE",
            rich_help_panel=WIKI,
        ),
    ] = "en",
    dump: Annotated[
        Path | None,
        typer.Option(
            help="Read the SQL files of a dump in this folder, and ask no wiki.", metavar="DIR", rich_help_panel=WIKI
        ),
    ] = None,
    depth: Annotated[
        int, typer.Option(min=0, help="Read this many levels of subcategories.", metavar="N", rich_help_panel=WIKI)
    ] = 2,
    max_articles: Annotated[
        int, typer.Option(min=1, help="Read at most this many articles.", metavar="N", rich_help_panel=WIKI)
    ] = 5000,
    editions: Annotated[
        bool,
        typer.Option(
            "--editions/--no-editions",
            help="Read the same category and articles in the editions of the other languages too.",
            show_default="on",
            rich_help_panel=WIKI,
        ),
    ] = True,
    keep_names: Annotated[
        bool, typer.Option("--keep-names", help="Keep titles that are names.", rich_help_panel=TITLES)
    ] = False,
    keep_abbreviations: Annotated[
        bool, typer.Option("--keep-abbreviations", help="Keep titles in capitals.", rich_help_panel=TITLES)
    ] = False,
    keep_lists: Annotated[
        bool, typer.Option("--keep-lists", help='Keep titles of lists ("List of …").', rich_help_panel=TITLES)
    ] = False,
    keep_redirects: Annotated[
        bool, typer.Option("--keep-redirects", help="Keep titles that redirect.", rich_help_panel=TITLES)
    ] = False,
    keep_disambiguations: Annotated[
        bool,
        typer.Option("--keep-disambiguations", help="Keep titles of disambiguation pages.", rich_help_panel=TITLES),
    ] = False,
    check_sites: Annotated[
        bool,
        typer.Option(
            "--check-sites/--no-check-sites",
            help="Visit the cited sites and look for links to translations.",
            show_default="on",
            rich_help_panel=CITED,
        ),
    ] = True,
    max_sites: Annotated[
        int,
        typer.Option(
            min=1, help="Check at most this many sites, the most cited first.", metavar="N", rich_help_panel=CITED
        ),
    ] = 100,
    site_seeds: Annotated[
        int, typer.Option(min=1, help="Write at most this many seeds of each site.", metavar="N", rich_help_panel=CITED)
    ] = 3,
    contact: Annotated[
        str,
        typer.Option(
            help="Tell webmasters this e-mail address or page, in the User-Agent. Wikipedia asks for it.",
            metavar="TEXT",
            rich_help_panel=Group.POLITENESS,
        ),
    ] = "",
    delay: Annotated[
        float,
        typer.Option(
            min=0,
            help="Wait this many seconds between two visits to a cited site.",
            metavar="SECONDS",
            rich_help_panel=Group.POLITENESS,
        ),
    ] = 1.0,
    allow_private: Annotated[
        bool,
        typer.Option("--allow-private", help="Visit private and loopback addresses.", rich_help_panel=Group.POLITENESS),
    ] = False,
    private_wiki: Annotated[
        list[str] | None,
        typer.Option(
            help="Ask the wiki at this URL even if its address is private, but visit no private sites. May be given several times.",
            metavar="URL",
            rich_help_panel=Group.POLITENESS,
        ),
    ] = None,
) -> None:
    """Make a topic, seeds and a list of bilingual sites from a category of Wikipedia.

    Example: [bold]bitrawl bootstrap "Health and safety at work" --langs de,it --out topics/safety[/]

    The titles of the articles become terms, and the sites that they cite become seeds. Edit terms.tsv, then run
    [bold]bitrawl mine --bootstrap topics/safety[/]. The same command resumes and asks nothing twice.
    """
    switches = {
        Exclusion.NAME: keep_names,
        Exclusion.ABBREVIATION: keep_abbreviations,
        Exclusion.LIST: keep_lists,
        Exclusion.REDIRECT: keep_redirects,
        Exclusion.DISAMBIGUATION: keep_disambiguations,
    }
    asked = BootstrapRequest(
        category=category,
        langs=tuple(listed(langs)),
        wiki=wiki,
        dump=str(dump or ""),
        depth=depth,
        max_articles=max_articles,
        keep=tuple(each for each, kept in switches.items() if kept),
        editions=editions,
        check_sites=check_sites,
        max_sites=max_sites,
        site_seeds=site_seeds,
    )

    def tell(line: str) -> None:
        if not quiet:
            err.print(line, markup=False)

    policy = FetchPolicy(contact, delay, allow_private, tuple(map(endpoint, private_wiki or ())))
    summary = asyncio.run(run_bootstrap(asked, folder, policy=policy, fresh=fresh, tell=tell))
    if not quiet:
        _show(summary, folder)
    for line in summary.advice:
        complain(line)
    if not any(summary.terms.values()):
        raise typer.Exit(1)


def _show(summary: BootstrapSummary, folder: Path) -> None:
    categories = "1 category" if summary.categories == 1 else f"{summary.categories} categories"
    lines = [f"{summary.category}: {summary.articles} articles in {categories}"]
    terms = ", ".join(f"{count} {language_name(language)}" for language, count in summary.terms.items())
    lines.append(f"Terms: {terms}{f', from {TERMS} as you edited it' if summary.edited else ''} ({folder / TOPIC})")
    if summary.excluded:
        reasons = ", ".join(f"{count} {reason}" for reason, count in summary.excluded.items())
        lines.append(f"Titles left out: {reasons} ({folder / TERMS} lists them)")
    lines.append(f"Seeds: {summary.seeds} pages of {summary.cited} sites")
    if summary.checked:
        lines.append(
            f"Bilingual sites: {summary.candidates} of the {summary.checked} that were checked ({folder / SITES})"
        )
    out.print("\n".join(lines), markup=False)
