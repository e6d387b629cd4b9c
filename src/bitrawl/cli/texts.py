"""Texts and pages apart from any job: `bitrawl clean`, and `topic` for term lists and what they say of a page."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from bitrawl.cli import HelpfulCommand, group
from bitrawl.cli.console import complain, out, print_err, skip_text
from bitrawl.cli.flags import AllowPrivate
from bitrawl.errors import ConfigError
from bitrawl.files import write as write_file
from bitrawl.languages import language_name, parse_language, same_language
from bitrawl.model import UNDETERMINED, Language, Page, Skip
from bitrawl.show import counted
from bitrawl.topic.settings import TOPIC_TERMS

if TYPE_CHECKING:
    from bitrawl.job import FetchPolicy
    from bitrawl.protocols import RelevanceModel
    from bitrawl.topic.term_list import TermList
    from bitrawl.topic.term_relevance import TermsOfPage

PageFormat = StrEnum("PageFormat", ["TEXT", "MARKDOWN", "JSONL"])

_SOURCES_HELP = "Files, folders of HTML files, job folders or URLs; - reads standard input."
_FORMAT_HELP = "Print the main text, plain or as Markdown, or every paragraph with its label as JSON lines."


def clean(
    sources: Annotated[list[str], Argument(help=_SOURCES_HELP, metavar="FILE|DIR|URL")],
    *,
    style: Annotated[PageFormat, Option("--format", help=_FORMAT_HELP)] = PageFormat.TEXT,
    allow_private: AllowPrivate = False,
) -> None:
    """Print the main text of pages, or every paragraph with its label.

    Example: [bold]bitrawl clean page.html[/], or [bold]bitrawl clean --format jsonl https://www.example.org/[/]

    The pages of a folder are treated as one site: what recurs on them is template. A job's folder gives the pages of the job.
    """
    from bitrawl.job import FetchPolicy

    if asyncio.run(_clean(sources, style, FetchPolicy(allow_private=allow_private))):
        raise typer.Exit(1)


async def _clean(sources: list[str], style: PageFormat, policy: FetchPolicy) -> int:
    """How many could not be read."""
    from bitrawl.job import loose_pages
    from bitrawl.page import as_markdown

    failed = 0
    several = len(sources) > 1 or Path(sources[0]).is_dir()
    pages = loose_pages(sources, sys.stdin.buffer, policy=policy, markdown=style is PageFormat.MARKDOWN)
    async for source, page in pages:
        if isinstance(page, Skip):
            complain(f"{source}: {skip_text(page)}")
            failed += 1
        elif style is PageFormat.JSONL:
            _print_paragraphs(source, page)
        else:
            if several:
                typer.echo(f"==> {source}")
            typer.echo(as_markdown(page).rstrip("\n") if style is PageFormat.MARKDOWN else page.text)
    return failed


def _print_paragraphs(source: str, page: Page) -> None:
    for paragraph in page.paragraphs:
        line = {"source": source, **msgspec.to_builtins(paragraph)}
        # Defaults are left out of our own files; whoever reads these lines wants each key on each of them.
        line |= {"kind": paragraph.kind, "boilerplate": paragraph.boilerplate, "content": paragraph.content}
        line |= {"language": paragraph.language, "confidence": paragraph.confidence}
        typer.echo(msgspec.json.encode(line, enc_hook=str).decode())  # of the web and of a job, the source is a Url


topic = group(
    "topic",
    "Make a term list from texts, explain what it says about a page, or translate it.\n\n"
    "Example: [bold]bitrawl topic learn texts/ -o topic.txt --lang en[/]",
)

_AGAINST_HELP = "Leave out words that are as frequent in these texts on other subjects. May be given several times."
_PAGES_HELP = "HTML or text files, folders of them, job folders or URLs; - reads standard input."
_TEXTS_HELP = "Texts on the subject, instead of a list or with it. May be given several times."
Target = Annotated[Path | None, Option("-o", "--out", help="Write to this file.", metavar="FILE")]


@topic.command(cls=HelpfulCommand)
def learn(
    texts: Annotated[
        list[str],
        Argument(help="Text files, HTML files, folders of them, job folders or URLs.", metavar="FILE|DIR|URL"),
    ],
    *,
    target: Target = None,
    lang: Annotated[
        str, Option(help="The language of the texts.", metavar="CODE", show_default="that of most texts")
    ] = "",
    against: Annotated[list[str] | None, Option(help=_AGAINST_HELP, metavar="FILE|DIR|URL")] = None,
    size: Annotated[int, Option(min=1, help="Keep at most this many terms.", metavar="N")] = TOPIC_TERMS,
    allow_private: AllowPrivate = False,
) -> None:
    """Make a term list from sample texts, for you to edit.

    Example: [bold]bitrawl topic learn texts/ -o topic.txt --lang en[/]

    Ten texts on one subject are enough to begin with. Each line has a weight from 1 to 100, a term and its language. Delete
    what does not belong, add classes as in 50:acid rain=pollution>en, and give terms that count against the subject a negative weight.
    """
    from bitrawl.job import FetchPolicy
    from bitrawl.text.frequencies import general_rates
    from bitrawl.topic.term_list import learn_terms, line

    languages, policy = [parse_language(lang)] if lang else [], FetchPolicy(allow_private=allow_private)
    pages = _pages(texts, policy, languages)
    language = languages[0] if languages else _usual_language(pages)
    others = _pages(against, policy, languages) if against else []
    terms = learn_terms(
        _texts_in(language, pages),
        language,
        background=general_rates(language),
        against=[page.titled_text for page in others if same_language(page.language, language)],
        size=size,
    )
    if target is None:
        for term in terms.terms:
            typer.echo(line(term))
        return
    terms.write(target)
    print_err(f"{counted(len(terms.terms), 'term')}: {target}")


@topic.command(cls=HelpfulCommand)
def show(
    sources: Annotated[list[str], Argument(help=_PAGES_HELP, metavar="FILE|DIR|URL")],
    *,
    topic: Annotated[
        Path | None, Option(help="The term list: ILSP-FC's format, CSV, TSV or TBX.", metavar="FILE")
    ] = None,
    texts: Annotated[list[str] | None, Option(help=_TEXTS_HELP, metavar="FILE|DIR|URL")] = None,
    lang: Annotated[
        str, Option(help="The language of terms that have none.", metavar="CODE", show_default="that of the page")
    ] = "",
    allow_private: AllowPrivate = False,
) -> None:
    """Explain whether pages are about a topic: terms, places, weights, thresholds and score.

    Example: [bold]bitrawl topic show https://www.example.org/ --topic topic.txt[/]
    """
    from bitrawl.job import FetchPolicy
    from bitrawl.text.frequencies import general_rates
    from bitrawl.text.ngram_models import sequences, train
    from bitrawl.topic.judge import PerplexityRelevance
    from bitrawl.topic.learned import LearnedRelevance
    from bitrawl.topic.term_list import learn_terms, read_terms

    if topic is None and not texts:
        raise ConfigError("there is no topic; give a term list with --topic topic.txt, or texts with --texts DIR")
    languages, policy = [parse_language(lang)] if lang else [], FetchPolicy(allow_private=allow_private)
    samples = _pages(texts, policy, languages) if texts else []
    models: dict[str, RelevanceModel] = {}
    if samples:
        language = languages[0] if languages else _usual_language(samples)
        sample_texts = _texts_in(language, samples)
        perplexity = PerplexityRelevance({language: train(words for text in sample_texts for words in sequences(text))})
        models = {"perplexity": perplexity, "learned": LearnedRelevance({language: sample_texts}, [language])}
    if topic is not None:
        terms = read_terms(topic, languages or None)
    else:
        terms = learn_terms(sample_texts, language, background=general_rates(language))
    if asyncio.run(_explain(sources, terms, models, policy)):
        raise typer.Exit(1)


async def _explain(
    sources: Sequence[str], terms: TermList, models: dict[str, RelevanceModel], policy: FetchPolicy
) -> int:
    """How many could not be read."""
    from bitrawl.job import topic_pages
    from bitrawl.topic.term_relevance import TermRelevance

    failed = 0
    term_languages = [language for language in terms.languages if language != UNDETERMINED]
    async for name, page in topic_pages(sources, sys.stdin.buffer, policy=policy, asked=term_languages):
        if isinstance(page, Skip):
            complain(f"{name}: {skip_text(page)}")
            failed += 1
            continue
        languages = term_languages or [page.language]
        out.print(Text(name, style="bold"))
        _print_page(page, TermRelevance(terms, languages).explained(page), languages)
        for title, model in models.items():
            (relevance,) = model.judge([page])
            perplexity = f", perplexity {relevance.perplexity:.0f}" if relevance.perplexity else ""
            out.print(f"{title}: score {relevance.score:.2f}{perplexity}")
    return failed


def _print_page(page: Page, explained: TermsOfPage, languages: Sequence[Language]) -> None:
    from bitrawl.topic.term_relevance import TermThresholds

    if not any(same_language(page.language, language) for language in languages):
        wanted = " or ".join(map(language_name, languages))
        out.print(f"not relevant: the page is in {language_name(page.language)}, and the list is in {wanted}")
        return
    verdict, needed = explained.relevance, TermThresholds()
    out.print(f"{'relevant' if verdict.relevant else 'not relevant'}, score {verdict.score:.2f}")
    enough_weight = verdict.weight >= explained.threshold > 0
    least_terms, least_density = needed.min_unique_content_terms, needed.relative_relevance
    rows = (
        ("weight of the terms", f"{verdict.weight:g}", f"{explained.threshold:g}", enough_weight),
        ("different terms in the text", f"{verdict.terms}", f"{least_terms}", verdict.terms >= least_terms),
        (
            f"weight for each of {explained.words} words",
            f"{explained.density:.2f}",
            f"{least_density:g}",
            explained.density >= least_density,
        ),
    )
    for what, value, least, enough in rows:
        out.print(f"  {what}: {value}, needs {least}: {'yes' if enough else 'no'}")
    if verdict.classes:
        out.print(Text(f"  classes: {', '.join(verdict.classes)}"))
    if explained.counts:
        out.print(_term_table(explained))


def _term_table(explained: TermsOfPage) -> Table:
    from bitrawl.topic.term_relevance import PLACE_WEIGHTS

    table = Table(box=None, pad_edge=False)
    table.add_column("term")
    table.add_column("place")
    for name in ("count", "weight", "of place", "adds"):
        table.add_column(name, justify="right")
    for count in explained.counts:
        weights = (f"{weight:g}" for weight in (count.term.weight, PLACE_WEIGHTS[count.place], count.weight))
        table.add_row(Text(count.term.text), count.place, str(count.count), *weights)
    return table


@topic.command(cls=HelpfulCommand)
def translate(
    corpus: Annotated[
        Path, Argument(help="A job folder, a sentences.jsonl or a .tmx file.", metavar="CORPUS|DIR", show_default=False)
    ],
    *,
    topic: Annotated[Path, Option(help="The term list.", metavar="FILE")],
    langs: Annotated[
        str, Option(help="The language of the list, then that of the translation: en,fr", metavar="CODES")
    ],
    target: Target = None,
) -> None:
    """Propose terms of another language, from a corpus that you have mined.

    Example: [bold]bitrawl topic translate jobs/example --topic topic.txt --langs en,fr -o topic-fr.txt[/]

    Each term comes with its probability, other candidates and an example in comments, for you to check.
    """
    from bitrawl.job import segment_texts
    from bitrawl.topic.term_list import read_terms
    from bitrawl.topic.translate import propose, proposed_list

    codes = [parse_language(code) for code in langs.replace(",", " ").split()]
    if len(codes) != 2 or codes[0] == codes[1]:
        raise ConfigError(f"--langs {langs}: give the list's language and the other one, as in en,fr")
    languages = (codes[0], codes[1])
    proposals = propose(segment_texts(corpus, languages), read_terms(topic, codes[:1]), languages)
    content = proposed_list(proposals, codes[1])
    if target is None:
        typer.echo(content, nl=False)
    else:
        write_file(target, content)
    translated = sum(bool(proposal.candidates) for proposal in proposals)
    print_err(f"translated {translated} of {len(proposals)} terms{f': {target}' if target else ''}")


def _pages(sources: Sequence[str], policy: FetchPolicy, languages: Sequence[Language]) -> list[Page]:
    """Those that can be read; the others are named."""
    from bitrawl.job import topic_pages

    async def read() -> list[Page]:
        pages = []
        async for name, page in topic_pages(sources, sys.stdin.buffer, policy=policy, asked=languages):
            if isinstance(page, Page):
                pages.append(page)
            else:
                complain(f"{name}: {skip_text(page)}")
        return pages

    return asyncio.run(read())


def _usual_language(pages: Sequence[Page]) -> Language:
    languages = Counter(page.language for page in pages if page.language != UNDETERMINED)
    if not languages:
        raise ConfigError("the language of the texts cannot be identified; name it with --lang, as in --lang en")
    return languages.most_common(1)[0][0]


def _texts_in(language: Language, pages: Sequence[Page]) -> list[str]:
    """Without texts of other languages, whose words would all be special."""
    name = language_name(language)
    texts = [
        page.titled_text for page in pages if page.language == UNDETERMINED or same_language(page.language, language)
    ]
    if not texts:
        others = ", ".join(sorted({language_name(page.language) for page in pages})) or "nothing"
        raise ConfigError(f"there is no text in {name} (found: {others}); name the language with --lang")
    if len(texts) < len(pages):
        complain(f"left out {len(pages) - len(texts)} of {len(pages)} texts: not in {name}")
    return texts
