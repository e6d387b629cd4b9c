"""`bitrawl topic`: term lists that describe a subject, and what they say of a page."""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from bitrawl.cli.console import complain, err, out
from bitrawl.cli.help import HelpfulCommand, HelpfulGroup
from bitrawl.errors import ConfigError
from bitrawl.files import write as write_file
from bitrawl.job.fetching import FetchPolicy
from bitrawl.job.topics import main_text, segment_texts, topic_pages
from bitrawl.languages import language_name, parse_language, same_language
from bitrawl.model import UNDETERMINED, Language, Page, Skip
from bitrawl.protocols import RelevanceModel
from bitrawl.text.frequencies import general_rates
from bitrawl.text.ngram_estimation import train
from bitrawl.text.ngram_models import sequences
from bitrawl.topic.judge import PerplexityRelevance
from bitrawl.topic.learned import LearnedRelevance
from bitrawl.topic.term_list import MOST_TERMS, TermList, learn_terms, line, read_terms
from bitrawl.topic.term_relevance import PLACE_WEIGHTS, TermRelevance, TermsOfPage, TermThresholds
from bitrawl.topic.translate import propose, proposed_list

app = typer.Typer(
    name="topic",
    cls=HelpfulGroup,
    rich_markup_mode="rich",
    add_completion=False,
    no_args_is_help=True,
    help="Make a term list from texts, explain what it says about a page, or translate it.\n\n"
    "Example: [bold]bitrawl topic learn texts/ -o topic.txt --lang en[/]",
)

Out = Annotated[Path | None, typer.Option("-o", "--out", help="Write to this file.", metavar="FILE")]
Private = Annotated[bool, typer.Option("--allow-private", help="Visit private and loopback addresses.")]


def _models_of_texts(texts: Sequence[str], language: Language) -> dict[str, RelevanceModel]:
    """Further models that are learned from texts, by name, for `show`."""
    model = train(one for text in texts for one in sequences(text))
    return {
        "perplexity": PerplexityRelevance({language: model}),
        "learned": LearnedRelevance({language: texts}, [language]),
    }


@app.command(cls=HelpfulCommand)
def learn(
    texts: Annotated[
        list[str],
        typer.Argument(help="Text files, HTML files, folders of them, job folders or URLs.", metavar="FILE|DIR|URL"),
    ],
    *,
    target: Out = None,
    lang: Annotated[
        str,
        typer.Option("--lang", help="The language of the texts.", metavar="CODE", show_default="that of most texts"),
    ] = "",
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave out words that are as frequent in these texts on other subjects. May be given several times.",
            metavar="FILE|DIR|URL",
        ),
    ] = None,
    size: Annotated[int, typer.Option(min=1, help="Keep at most this many terms.", metavar="N")] = MOST_TERMS,
    allow_private: Private = False,
) -> None:
    """Make a term list from sample texts, for you to edit.

    Example: [bold]bitrawl topic learn texts/ -o topic.txt --lang en[/]

    Ten texts on one subject are enough to begin with. Each line has a weight from 1 to 100, a term and its language. Delete
    what does not belong, add classes as in 50:acid rain=pollution>en, and give terms that count against the subject a negative weight.
    """
    named, policy = (parse_language(lang),) if lang else (), FetchPolicy(allow_private=allow_private)
    pages = _pages(texts, policy, asked=named)
    language = named[0] if named else _usual_language(pages)
    others = _pages(against, policy, asked=named) if against else []
    terms = learn_terms(
        _texts_in(language, pages),
        language,
        background=general_rates(language),
        against=[main_text(page) for page in others if same_language(page.language, language)],
        size=size,
    )
    _write(terms, target)


@app.command(cls=HelpfulCommand)
def show(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="HTML or text files, folders of them, job folders or URLs; - reads standard input.",
            metavar="FILE|DIR|URL",
        ),
    ],
    *,
    topic: Annotated[
        Path | None, typer.Option(help="The term list: ILSP-FC's format, CSV, TSV or TBX.", metavar="FILE")
    ] = None,
    texts: Annotated[
        list[str] | None,
        typer.Option(
            help="Texts on the subject, instead of a list or with it. May be given several times.",
            metavar="FILE|DIR|URL",
        ),
    ] = None,
    lang: Annotated[
        str,
        typer.Option(
            "--lang", help="The language of terms that have none.", metavar="CODE", show_default="that of the page"
        ),
    ] = "",
    allow_private: Private = False,
) -> None:
    """Explain whether pages are about a topic: terms, places, weights, thresholds and score.

    Example: [bold]bitrawl topic show https://www.example.org/ --topic topic.txt[/]
    """
    if topic is None and not texts:
        raise ConfigError("there is no topic; give a term list with --topic topic.txt, or texts with --texts DIR")
    asked, policy = [parse_language(lang)] if lang else [], FetchPolicy(allow_private=allow_private)
    samples = _pages(texts, policy, asked=asked) if texts else []
    models: dict[str, RelevanceModel] = {}
    if samples:
        language = asked[0] if asked else _usual_language(samples)
        sample_texts = _texts_in(language, samples)
        models = _models_of_texts(sample_texts, language)
    if topic is not None:
        terms = read_terms(topic, asked or None)
    else:
        terms = learn_terms(sample_texts, language, background=general_rates(language))
    if asyncio.run(_show(sources, terms, models, policy)):
        raise typer.Exit(1)


async def _show(sources: Sequence[str], terms: TermList, models: dict[str, RelevanceModel], policy: FetchPolicy) -> int:
    """How many could not be read."""
    failed = 0
    asked = [language for language in terms.languages if language != UNDETERMINED]
    async for name, page in topic_pages(sources, sys.stdin.buffer, policy=policy, asked=asked):
        if isinstance(page, Skip):
            complain(f"{name}: {page.reason}{f' ({page.detail})' if page.detail else ''}")
            failed += 1
            continue
        languages = asked or [page.language]
        out.print(Text(name, style="bold"))
        _print_page(page, TermRelevance(terms, languages).explained(page), languages)
        for title, model in models.items():
            (relevance,) = model.judge([page])
            perplexity = f", perplexity {relevance.perplexity:.0f}" if relevance.perplexity else ""
            out.print(f"{title}: score {relevance.score:.2f}{perplexity}")
    return failed


def _print_page(page: Page, found: TermsOfPage, languages: Sequence[Language]) -> None:
    if not any(same_language(page.language, language) for language in languages):
        wanted = " or ".join(map(language_name, languages))
        out.print(f"not relevant: the page is in {language_name(page.language)}, and the list is in {wanted}")
        return
    verdict, needed = found.relevance, TermThresholds()
    out.print(f"{'relevant' if verdict.relevant else 'not relevant'}, score {verdict.score:.2f}")
    rows = (
        ("weight of the terms", f"{verdict.weight:g}", f"{found.threshold:g}", verdict.weight >= found.threshold > 0),
        (
            "different terms in the text",
            f"{verdict.terms}",
            f"{needed.min_unique_content_terms}",
            verdict.terms >= needed.min_unique_content_terms,
        ),
        (
            f"weight for each of {found.words} words",
            f"{found.density:.2f}",
            f"{needed.relative_relevance:g}",
            found.density >= needed.relative_relevance,
        ),
    )
    for what, value, least, enough in rows:
        out.print(f"  {what}: {value}, needs {least}: {'yes' if enough else 'no'}")
    if verdict.classes:
        out.print(Text(f"  classes: {', '.join(verdict.classes)}"))
    if found.counts:
        out.print(_table(found))


def _table(found: TermsOfPage) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("term")
    table.add_column("place")
    for name in ("count", "weight", "of place", "adds"):
        table.add_column(name, justify="right")
    for one in found.counts:
        place = PLACE_WEIGHTS[one.place]
        table.add_row(
            Text(one.term.text), one.place, str(one.count), f"{one.term.weight:g}", f"{place:g}", f"{one.weight:g}"
        )
    return table


@app.command(cls=HelpfulCommand)
def translate(
    corpus: Annotated[
        Path,
        typer.Argument(
            help="A job folder, a sentences.jsonl or a .tmx file.", metavar="CORPUS|DIR", show_default=False
        ),
    ],
    *,
    topic: Annotated[Path, typer.Option(help="The term list.", metavar="FILE")],
    langs: Annotated[
        str, typer.Option(help="The language of the list, then that of the translation: en,fr", metavar="CODES")
    ],
    target: Out = None,
) -> None:
    """Propose terms of another language, from a corpus that you have mined.

    Example: [bold]bitrawl topic translate jobs/example --topic topic.txt --langs en,fr -o topic-fr.txt[/]

    Each term comes with its probability, other candidates and an example in comments, for you to check.
    """
    codes = [parse_language(code) for code in langs.replace(",", " ").split()]
    if len(codes) != 2 or codes[0] == codes[1]:
        raise ConfigError(f"--langs {langs}: give the list's language and the other one, as in en,fr")
    languages = (codes[0], codes[1])
    proposals = propose(segment_texts(corpus, languages), read_terms(topic, codes[:1]), languages)
    written = proposed_list(proposals, codes[1])
    if target is None:
        typer.echo(written, nl=False)
    else:
        write_file(target, written)
    found = sum(bool(one.candidates) for one in proposals)
    err.print(f"{found} of {len(proposals)} terms have a translation{f': {target}' if target else ''}", markup=False)


def _pages(sources: Sequence[str], policy: FetchPolicy, asked: Sequence[Language] = ()) -> list[Page]:
    """Those that can be read; the others are named."""

    async def read() -> list[Page]:
        pages = []
        async for name, page in topic_pages(sources, sys.stdin.buffer, policy=policy, asked=asked):
            if isinstance(page, Page):
                pages.append(page)
            else:
                complain(f"{name}: {page.reason}{f' ({page.detail})' if page.detail else ''}")
        return pages

    return asyncio.run(read())


def _usual_language(pages: Sequence[Page]) -> Language:
    known = Counter(page.language for page in pages if page.language != UNDETERMINED)
    if not known:
        raise ConfigError("the language of the texts cannot be told; name it with --lang, as in --lang en")
    return known.most_common(1)[0][0]


def _texts_in(language: Language, pages: Sequence[Page]) -> list[str]:
    """Without texts of other languages, whose words would all be special."""
    texts = [
        main_text(page) for page in pages if page.language == UNDETERMINED or same_language(page.language, language)
    ]
    if not texts:
        found = ", ".join(sorted({language_name(page.language) for page in pages})) or "nothing"
        raise ConfigError(
            f"there is no text in {language_name(language)}: {found} was found; name the language with --lang"
        )
    if len(texts) < len(pages):
        complain(
            f"{len(pages) - len(texts)} of {len(pages)} texts are not in {language_name(language)} and were left out"
        )
    return texts


def _write(terms: TermList, target: Path | None) -> None:
    if target is None:
        for term in terms.terms:
            typer.echo(line(term))
        return
    terms.write(target)
    err.print(f"{len(terms.terms)} terms: {target}", markup=False)
