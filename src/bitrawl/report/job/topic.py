"""The section of the report on the topic: what was asked, which pages are about it, what says so, and examples."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from bitrawl.config import TopicModel
from bitrawl.languages import language_name
from bitrawl.report.job.facts import Facts
from bitrawl.report.job.topic_facts import SiteShare, TermsRead, TopicExample, TopicFacts
from bitrawl.report.markup import Html, fill, joined, link, shortened
from bitrawl.report.plots import Bar, Series, bars, histogram, lines
from bitrawl.report.wording import REFUSALS, counted, enumerated, number, share, size
from bitrawl.store.statistics import Border

_MODELS = {
    TopicModel.LEARNED: "learned: a classifier that learns from your texts, terms and examples, and while it crawls",
    TopicModel.TERMS: "terms: the weight of the listed terms on a page",
    TopicModel.PERPLEXITY: "perplexity: how well a language model of your texts predicts a page",
}
_BORDERS = {
    Border.BEST: ("The most relevant pages", ""),
    Border.JUST_RELEVANT: ("Just relevant", "These pages are the first to go if you raise the threshold."),
    Border.JUST_NOT: ("Just not relevant", "These pages are the first to come in if you lower the threshold."),
    Border.DESPITE_SCORE: (
        "Refused in spite of their score",
        "The terms on these pages weigh enough. But distinct_terms or density keeps the page out.",
    ),
}


def topic(facts: Facts) -> Html:
    """Nothing in a job without a topic."""
    found = facts.topic
    if found is None:
        return Html()
    if not found.judged:
        return joined([_asked(found), fill("<p>{text}</p>", text="No page has been compared with the topic yet.")])
    return joined(
        [
            fill("<p>{text}</p>", text=_said(found)),
            _asked(found),
            fill('<h3>Relevant pages</h3><div class="two">{charts}</div>', charts=joined(_charts(found))),
            fill('<div class="card space">{bars}</div>', bars=_languages(facts, found)),
            _terms(found.read),
            _examples(found),
            _sites(found),
        ]
    )


def _said(found: TopicFacts) -> str:
    part = share(found.relevant, found.judged)
    relevant = counted(found.relevant, "page is", "pages are")
    return (
        f"{relevant} about the topic, of {number(found.judged)} ({part}). Only they get into the corpus: of a pair, both"
        " pages must be about it."
    )


def _asked(found: TopicFacts) -> Html:
    asked, given = found.asked, found.given
    files = f"{counted(given.files, 'file')}, {size(given.bytes)}" if given.files else "cannot be read any more"
    rows: list[tuple[str, object]] = [
        ("term list", Path(asked.terms).name),
        ("texts", f"{_names(asked.texts)} ({files})" if asked.texts else ""),
        ("pages like", Html("<br>".join(link(url) for url in asked.like))),
        ("seeds", "They only link to the topic (--hub)." if asked.hub else ""),
        ("texts against it", _names(asked.against)),
        ("language models", _names(one.partition("=")[2] for one in asked.language_models)),
        ("model", _MODELS[found.model]),
        ("relevant from", _thresholds(found)),
    ]
    shown = (fill('<tr><th scope="row">{name}</th><td>{value}</td></tr>', name=n, value=v) for n, v in rows if v)
    return fill('<div class="card"><table class="facts">{rows}</table></div>', rows=joined(shown))


def _names(paths: Iterable[str]) -> str:
    return ", ".join(Path(path).name for path in paths)


def _thresholds(found: TopicFacts) -> str:
    asked = found.asked
    if found.model is TopicModel.TERMS:
        return (
            f"{asked.content_terms:g} times the median weight of a term (content_terms),"
            f" {counted(asked.distinct_terms, 'different term')} (distinct_terms), a weight of {asked.density:g} for each"
            " word (density)"
        )
    if found.model is TopicModel.PERPLEXITY:
        highest = f"{asked.max_perplexity:g}" if asked.max_perplexity else "the usual limit for a model of that size"
        return f"a perplexity up to {highest} (max_perplexity)"
    return f"a relevance of {asked.threshold:g} (threshold)"


def _charts(found: TopicFacts) -> list[Html]:
    pages, relevant = found.growth
    series = [Series("all pages", pages), Series("relevant pages", relevant or tuple((x, 0) for x, _ in pages))]
    return [
        lines("Relevant pages over the crawl", series, x="answers fetched", y="pages"),
        histogram("Pages by relevance", found.scores, x="relevance", y="pages", mark=found.threshold),
    ]


def _languages(facts: Facts, found: TopicFacts) -> Html:
    rows = []
    for code, one in found.languages.items():
        note = f"{number(one.relevant)} relevant ({share(one.relevant, one.pages)})"
        if facts.asked.langs and not facts.asked_as(code):
            note = "you did not ask for it, so no page is relevant"
        rows.append(Bar(f"{language_name(code)} ({code})", one.pages, note, one.relevant))
    text = "By language. The solid part of each bar shows the relevant pages."
    return joined([fill('<p class="quiet">{text}</p>', text=text), bars(rows, total=found.judged)])


def _terms(read: TermsRead) -> Html:
    which = counted(read.pages, "page") if read.whole else f"{number(read.pages)} pages, spread evenly over the crawl,"
    text = f"{which} {'was' if read.pages == 1 else 'were'} read for terms. "
    if not read.terms:
        where = "Some have terms in titles, descriptions and keywords only." if read.with_terms else "None was found."
        return fill("<h3>Terms found</h3><p>{text}</p>", text=text + where)
    text += (
        f"{counted(read.with_terms, 'page has', 'pages have')} any, also in title, description or keywords. There are"
        f" {counted(read.different, 'different term')} in the main text. The table shows those on the most pages. The solid"
        " part of each bar shows the relevant pages."
    )
    rows = [Bar(shortened(one.term, 60), one.pages, part=one.relevant) for one in read.terms]
    drawn = fill('<div class="card">{bars}</div>', bars=bars(rows, total=read.pages, most=len(rows)))
    classes = Html()
    if read.classes:
        by_class = [Bar(shortened(name, 60), pages) for name, pages in read.classes.items()]
        classes = fill(
            '<h3>Classes</h3><p>{text}</p><div class="card">{bars}</div>',
            text="The classes of the terms on a page. A page can have several.",
            bars=bars(by_class, total=read.pages, most=len(by_class)),
        )
    return joined([fill("<h3>Terms found</h3><p>{text}</p>", text=text), drawn, classes])


def _examples(found: TopicFacts) -> Html:
    parts = [_table(*_BORDERS[border], found.examples.get(border, ())) for border in Border]
    refused = (
        "Relevant pages that were refused",
        "Their pair was refused, or they repeat another page. A page can still be in the corpus with another partner.",
    )
    return joined([*parts, _table(*refused, found.refused)])


def _table(title: str, text: str, examples: Sequence[TopicExample]) -> Html:
    if not examples:
        return Html()
    return fill(
        '<h3>{title}</h3>{text}<div class="card"><table><thead><tr><th class="n">relevance</th><th>page</th>'
        "<th>what says so</th></tr></thead><tbody>{rows}</tbody></table></div>",
        title=title,
        text=fill("<p>{text}</p>", text=text) if text else "",
        rows=joined(map(_row, examples)),
    )


def _row(example: TopicExample) -> Html:
    refused = Html()
    if example.why:
        refused = fill(
            "<small>{reason}: {why}<br>The other page: {other}</small>",
            reason=example.why,
            why=REFUSALS.get(example.why, "It has nearly the same text as another page."),
            other=link(example.other, width=70),
        )
    return fill(
        '<tr><td class="n">{score}</td><td><span lang="{lang}" dir="auto">{title}</span><small><bdi>{url}</bdi></small>'
        "</td><td>{terms}<small>{measured}</small>{refused}</td></tr>",
        score=f"{example.relevance.score:.3f}",
        lang=example.language,
        title=link(example.url, example.title),
        url=shortened(example.url, 90),
        terms=joined(fill('<span class="tag">{term}</span>', term=shortened(term, 40)) for term in example.terms),
        measured=_measured(example),
        refused=refused,
    )


def _measured(example: TopicExample) -> str:
    found = example.relevance
    said = [
        counted(found.terms, "different term") if found.terms else "",
        f"weight {found.weight:,.0f}" if found.weight else "",
        f"perplexity {perplexity(found.perplexity)}" if found.perplexity else "",
        f"class {enumerated(found.classes)}" if found.classes else "",
    ]
    return ", ".join(filter(None, said))


def perplexity(value: float) -> str:
    """A page without a sequence of words has no end of it."""
    return number(value) if value < 1e9 else "without limit"


def _sites(found: TopicFacts) -> Html:
    tables = [
        ("Sites that paid", "Those with the most relevant pages.", found.paid),
        ("Sites that did not pay", "Fewer than one page in twenty is relevant.", found.unpaid),
    ]
    return joined(_site_table(*table) for table in tables if table[2])


def _site_table(title: str, text: str, sites: Sequence[SiteShare]) -> Html:
    rows = joined(
        fill(
            '<tr><th scope="row"><bdi>{site}</bdi></th><td class="n">{relevant}</td><td class="n">{pages}</td>'
            '<td class="n">{share}</td><td>{left}</td></tr>',
            site=one.site,
            relevant=number(one.share.relevant),
            pages=number(one.share.pages),
            share=share(one.share.relevant, one.share.pages),
            left=one.left or "all links were visited, or a budget was spent",
        )
        for one in sites
    )
    return fill(
        '<h3>{title}</h3><p>{text}</p><div class="card"><table><thead><tr><th>site</th><th class="n">relevant</th>'
        '<th class="n">pages</th><th class="n">share</th><th>why the crawl left it</th></tr></thead><tbody>{rows}</tbody>'
        "</table></div>",
        title=title,
        text=text,
        rows=rows,
    )
