"""`bitrawl bootstrap`: a topic, seeds and bilingual sites from a category of Wikipedia."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from bitrawl.cli.console import complain, print_err, print_out
from bitrawl.cli.flags import PRIVATE_HELP, Quiet, confirm, job_option, starting_over
from bitrawl.config import Group, listed
from bitrawl.languages import language_name
from bitrawl.show import counted

if TYPE_CHECKING:
    from bitrawl.job import BootstrapSummary

_wiki = partial(Option, rich_help_panel="Wiki")
_titles = partial(Option, rich_help_panel="Terms")
_sites = partial(Option, rich_help_panel="Sites")
_polite = partial(Option, rich_help_panel=Group.POLITENESS)
_WIKI_HELP = "Ask this wiki: the URL of its api.php, or the language of a Wikipedia."
_DUMP_HELP = "Read the SQL files of a dump in this folder instead of asking a wiki."
_EDITIONS_HELP = "Read the same category and articles in the editions of the other languages too."
_CHECK_HELP = "Visit the cited sites and look for links to translations."
_CONTACT_HELP = "Tell webmasters this e-mail address or page, in the User-Agent. Wikipedia asks for it."
_DELAY_HELP = "Wait this many seconds between two visits to a cited site."
_PRIVATE_WIKI_HELP = (
    "Ask the wiki at this URL even if its address is private, but visit no private sites. May be given several times."
)


def bootstrap(  # noqa: PLR0913 - flags
    category: Annotated[
        str, Argument(help="The subject: the name of a category of the wiki.", metavar="NAME", show_default=False)
    ],
    *,
    langs: Annotated[str, job_option(help="Languages, as ISO 639 or BCP 47 codes: de,it", metavar="CODES")],
    folder: Annotated[
        Path, job_option("--out", help="Write into this folder. The same folder resumes.", metavar="DIR")
    ],
    fresh: Annotated[bool, job_option("--fresh", help="Delete the topic in the folder and start over.")] = False,
    quiet: Quiet = False,
    wiki: Annotated[str, _wiki(help=_WIKI_HELP, metavar="URL|CODE")] = "en",
    dump: Annotated[Path | None, _wiki(help=_DUMP_HELP, metavar="DIR")] = None,
    depth: Annotated[int, _wiki(min=0, help="Read this many levels of subcategories.", metavar="N")] = 2,
    max_articles: Annotated[int, _wiki(min=1, help="Read at most this many articles.", metavar="N")] = 5000,
    editions: Annotated[bool, _wiki("--editions/--no-editions", help=_EDITIONS_HELP, show_default="on")] = True,
    keep_names: Annotated[bool, _titles("--keep-names", help="Keep titles that are names.")] = False,
    keep_abbreviations: Annotated[bool, _titles("--keep-abbreviations", help="Keep titles in capitals.")] = False,
    keep_lists: Annotated[bool, _titles("--keep-lists", help='Keep titles of lists ("List of …").')] = False,
    keep_redirects: Annotated[bool, _titles("--keep-redirects", help="Keep titles that redirect.")] = False,
    keep_disambiguations: Annotated[
        bool, _titles("--keep-disambiguations", help="Keep titles of disambiguation pages.")
    ] = False,
    check_sites: Annotated[bool, _sites("--check-sites/--no-check-sites", help=_CHECK_HELP, show_default="on")] = True,
    max_sites: Annotated[
        int, _sites(min=1, help="Check at most this many sites, the most cited first.", metavar="N")
    ] = 100,
    site_seeds: Annotated[int, _sites(min=1, help="Write at most this many seeds of each site.", metavar="N")] = 3,
    contact: Annotated[str, _polite(help=_CONTACT_HELP, metavar="TEXT")] = "",
    delay: Annotated[float, _polite(min=0, help=_DELAY_HELP, metavar="SECONDS")] = 1.0,
    allow_private: Annotated[bool, _polite("--allow-private", help=PRIVATE_HELP)] = False,
    private_wiki: Annotated[list[str] | None, _polite(help=_PRIVATE_WIKI_HELP, metavar="URL")] = None,
) -> None:
    """Make a topic, seeds and a list of bilingual sites from a category of Wikipedia.

    Example: [bold]bitrawl bootstrap "Health and safety at work" --langs de,it --out topics/safety[/]

    The titles of the articles become terms, and the sites that they cite become seeds. Edit terms.tsv, then run
    [bold]bitrawl mine --bootstrap topics/safety --out jobs/safety[/]. The same command resumes and asks nothing twice.
    """
    from bitrawl.job import BootstrapFolder, BootstrapRequest, FetchPolicy, endpoint
    from bitrawl.job import bootstrap as run_bootstrap
    from bitrawl.topic.wiki_topic import Exclusion

    switches = {
        Exclusion.NAME: keep_names,
        Exclusion.ABBREVIATION: keep_abbreviations,
        Exclusion.LIST: keep_lists,
        Exclusion.REDIRECT: keep_redirects,
        Exclusion.DISAMBIGUATION: keep_disambiguations,
    }
    request = BootstrapRequest(
        category=category,
        langs=tuple(listed(langs)),
        wiki=wiki,
        dump=str(dump or ""),
        depth=depth,
        max_articles=max_articles,
        keep=tuple(titles for titles, keep in switches.items() if keep),
        editions=editions,
        check_sites=check_sites,
        max_sites=max_sites,
        site_seeds=site_seeds,
    )

    def tell(line: str) -> None:
        if not quiet:
            print_err(line)

    policy = FetchPolicy(contact, delay, allow_private, tuple(map(endpoint, private_wiki or ())))
    if BootstrapFolder(folder).has_begun:
        confirm(folder, starting_over(fresh=fresh), "its terms, seeds and sites")
    summary = asyncio.run(run_bootstrap(request, folder, policy=policy, fresh=fresh, tell=tell))
    if not quiet:
        _show(summary, folder)
    for line in summary.advice:
        complain(line)
    if not any(summary.terms.values()):
        raise typer.Exit(1)


def _show(summary: BootstrapSummary, folder: Path) -> None:
    categories = counted(summary.categories, "category", "categories")
    lines = [f"{summary.category}: {counted(summary.articles, 'article')} in {categories}"]
    terms = ", ".join(f"{count} {language_name(language)}" for language, count in summary.terms.items())
    lines.append(
        f"Terms: {terms}{f', from {summary.terms_file} as you edited it' if summary.edited else ''} ({folder / summary.topic_file})"
    )
    if summary.excluded:
        reasons = ", ".join(f"{count} {reason}" for reason, count in summary.excluded.items())
        lines.append(f"Titles left out: {reasons} ({folder / summary.terms_file} lists them)")
    lines.append(f"Seeds: {counted(summary.seeds, 'page')} of {counted(summary.cited, 'site')}")
    if summary.checked:
        checked = f"{summary.candidates} of the {summary.checked} that were checked"
        lines.append(f"Bilingual sites: {checked} ({folder / summary.sites_file})")
    print_out("\n".join(lines))
