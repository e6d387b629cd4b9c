"""What a report says of the topic: which pages are about it, what says so and, if hardly any is, the evidence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from bitrawl.config import Job
from bitrawl.errors import ConfigError
from bitrawl.facts import (
    LITTLE_RELEVANT,
    Border,
    Histogram,
    ListFacts,
    Points,
    SiteShare,
    TermPages,
    TermsRead,
    TopicExample,
    TopicFacts,
    TopicShare,
    TopicSource,
)
from bitrawl.languages import asked_language, same_language
from bitrawl.model import UNDETERMINED, Language, Page, Relevance
from bitrawl.reasons import Reason
from bitrawl.store import ledger_facts as tables
from bitrawl.store.ledger import Ledger
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.topic.settings import TopicModel
from bitrawl.topic.term_list import TermList, read_terms
from bitrawl.topic.term_relevance import TermMatcher
from bitrawl.url import Url

PAGES_READ = 3000  # for the terms on them: 0.7 s of CPU where a page has 40 paragraphs and 150 links (2026-11)
TERMS = 20
EXAMPLES = 5  # of each kind
SITES = 10
TERMS_OF_EXAMPLE = 8
HALF = 0.5  # the score of a page that just reaches the weight of terms, or the highest perplexity
_BOILERPLATE_PAGES = 200  # in which terms are looked for again
_EXAMPLES_CHECKED = 50  # of the pages that the user named
_SURE = 0.8  # of the language of a term list; judgement
_LIST_CHARACTERS = 3000  # from which that language is told
_MOST_FILES = 10_000  # of texts that are counted


def topic_facts(ledger: Ledger, job: Job, fetches: int, pages_read: int) -> TopicFacts | None:
    """None in a job without a topic."""
    languages = tables.relevant_by_language(ledger)
    if not languages and not job.topic.is_set:
        return None
    model = job.topic_model() or TopicModel.LEARNED
    threshold = job.topic.threshold if model is TopicModel.LEARNED else HALF
    growth, scores = _over_fetches(ledger, fetches)
    read = _read_terms(ledger.some_pages(pages_read), job, sum(share.pages for share in languages.values()))
    return TopicFacts(
        asked=job.topic,
        model=model,
        threshold=threshold,
        languages=languages,
        growth=growth,
        scores=scores,
        lowest_perplexity=min(tables.perplexities(ledger), default=None),
        read=read,
        examples=_examples(ledger, threshold),
        refused=tuple(_example(ledger, page) for page in tables.refused_relevant_pages(ledger, EXAMPLES)),
        paid=_sites(ledger, LITTLE_RELEVANT, 2.0),
        unpaid=_sites(ledger, 0.0, LITTLE_RELEVANT),
        given=_given(ledger, job),
        listed=_listed(ledger, job, read) if read.pages and not _is_complete(job, languages) else None,
    )


def _over_fetches(ledger: Ledger, fetches: int) -> tuple[tuple[Points, Points], Histogram]:
    pages, relevant_pages, scores = tables.Steps(fetches), tables.Steps(fetches), tables.Bins()
    for seq, score, relevant in tables.judged_in_order(ledger):
        pages.add("", seq)
        scores.add(score)
        if relevant:
            relevant_pages.add("", seq)
    return (pages.points(""), relevant_pages.points("")), scores.histogram()


def _read_terms(pages_read: Iterable[Page], job: Job, judged: int) -> TermsRead:
    pages, relevant, classes, missed = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    read = with_terms = refused = 0
    for page in pages_read:
        if page.relevance is None:
            continue
        read += 1
        terms = _terms_of(page)
        with_terms += bool(terms or page.relevance.weight)  # A term may stand in the title only.
        pages.update(terms)
        classes.update(page.relevance.classes)
        if page.relevance.relevant:
            relevant.update(terms)
        elif (terms or page.relevance.weight) and asked_language(page.language, job.languages()):
            refused += 1
            missed.update(_thresholds_missed(page.relevance, job))
    return TermsRead(
        pages=read,
        whole=read >= judged,
        with_terms=with_terms,
        terms=tuple(TermPages(term, count, relevant[term]) for term, count in _most(pages, TERMS)),
        different=len(pages),
        classes=dict(_most(classes, TERMS)),
        refused=refused,
        missed=dict(_most(missed, TERMS)),
    )


def _most(counts: Counter[str], most: int) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]


def _terms_of(page: Page) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for paragraph in page.paragraphs for term in paragraph.terms))


def _thresholds_missed(relevance: Relevance, job: Job) -> list[str]:
    """The names of the thresholds in the job file that keep the page out."""
    if job.topic_model() in (None, TopicModel.LEARNED):
        return ["threshold"]
    if job.topic_model() is TopicModel.PERPLEXITY:
        return ["max_perplexity"]
    missed = ["content_terms"] if relevance.score < HALF else []
    if relevance.terms < job.topic.distinct_terms:
        missed.append("distinct_terms")
    return missed or ["density"]


def _examples(ledger: Ledger, threshold: float) -> dict[Border, tuple[TopicExample, ...]]:
    shown: set[str] = set()
    examples = {}
    for border in (Border.BEST, Border.JUST_RELEVANT, Border.JUST_NOT, Border.DESPITE_SCORE):
        least = 0.0 if border in (Border.BEST, Border.JUST_RELEVANT) else threshold
        pages = [page for page in tables.judged_pages(ledger, border, least, 2 * EXAMPLES) if page.url not in shown]
        examples[border] = tuple(_example(ledger, page) for page in pages[:EXAMPLES])
        shown.update(page.url for page in examples[border])
    return examples


def _example(ledger: Ledger, judged: tables.JudgedPage) -> TopicExample:
    why, other = judged.reason, judged.other
    page = ledger.page(Url.known(judged.url))
    relevance = (page.relevance if page else None) or Relevance(judged.score, relevant=False)
    if page is None:
        return TopicExample(judged.url, "", UNDETERMINED, relevance, (), why, other)
    terms = _terms_of(page)[:TERMS_OF_EXAMPLE]
    return TopicExample(judged.url, page.title, page.language, relevance, terms, why, other)


def _sites(ledger: Ledger, at_least: float, below: float) -> tuple[SiteShare, ...]:
    shares = tables.relevant_by_site(ledger, SITES, from_share=at_least, below_share=below)
    return tuple(SiteShare(site, share, ledger.knowledge(site).left) for site, share in shares.items())


def _given(ledger: Ledger, job: Job) -> TopicSource:
    sizes = [path.stat().st_size for path in islice(_text_files(job.topic.texts), _MOST_FILES)]
    named = tuple(dict.fromkeys([*job.topic.like, *(() if job.topic.hub else job.seeds)]))
    if job.topic_model() not in (None, TopicModel.LEARNED):
        named = ()  # the other models do not learn from pages
    unread = {url: why for url in named[:_EXAMPLES_CHECKED] if (why := _why_unread(ledger, job, Url.known(url)))}
    return TopicSource(len(sizes), sum(sizes), len(named), unread)


def _text_files(names: Sequence[str]) -> Iterator[Path]:
    """Those that are still there."""
    for path in map(Path, names):
        yield from filter(Path.is_file, path.rglob("*") if path.is_dir() else [path])


def _why_unread(ledger: Ledger, job: Job, url: Url) -> str:
    """Why a page taught nothing; empty if it did, or if it has not been visited yet."""
    if (page := ledger.page(url)) is not None:
        return "" if asked_language(page.language, job.languages()) else f"in {page.language}"
    skip = ledger.skip_of(url)
    return "" if skip is None or skip.reason is Reason.REDIRECT else str(skip.reason)


def _is_complete(job: Job, shares: Mapping[str, TopicShare]) -> bool:
    """Whether each language of the job has relevant pages."""
    relevant = [Language(code) for code, share in shares.items() if share.relevant]
    return all(any(same_language(code, Language(wanted)) for code in relevant) for wanted in job.langs)


def _listed(ledger: Ledger, job: Job, read: TermsRead) -> ListFacts | None:
    """None without a list, or if it cannot be read any more."""
    if not job.topic.terms:
        return None
    try:
        listed = read_terms(Path(job.topic.terms))
    except ConfigError:
        return None
    only = Language(job.langs[0]) if len(job.langs) == 1 else UNDETERMINED
    terms = TermList(
        tuple(
            msgspec.structs.replace(term, language=only) if term.language == UNDETERMINED else term
            for term in listed.terms
        )
    )
    searched, found = (0, 0) if read.with_terms else _search_boilerplate(ledger, terms)
    languages = Counter(str(term.language) for term in terms.terms)
    return ListFacts(dict(_most(languages, TERMS)), _looks_like(terms), searched, found)


def _search_boilerplate(ledger: Ledger, terms: TermList) -> tuple[int, int]:
    """How many pages were searched, and how many have terms in their boilerplate."""
    matchers: dict[Language, TermMatcher] = {}
    searched = with_terms = 0
    for page in ledger.some_pages(_BOILERPLATE_PAGES):
        searched += 1
        if page.language not in matchers:
            matchers[page.language] = TermMatcher(terms.of(page.language), page.language)
        find = matchers[page.language].find
        with_terms += any(find(paragraph.text).numbers for paragraph in page.paragraphs if paragraph.boilerplate)
    return searched, with_terms


def _looks_like(terms: TermList) -> dict[str, str]:
    """Terms are short, so only a language that is beyond doubt is named."""
    codes = [code for code in terms.languages if code != UNDETERMINED]
    texts = [". ".join(term.text for term in terms.terms if term.language == code)[:_LIST_CHARACTERS] for code in codes]
    guesses = NgramLanguageIdentifier().identify(texts)
    return {
        str(code): str(seems)
        for code, (seems, confidence) in zip(codes, guesses, strict=True)
        if confidence >= _SURE and seems != UNDETERMINED and not same_language(seems, code)
    }
