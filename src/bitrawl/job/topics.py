"""What judges the pages of a job with a topic, and what the topic is learned from: texts, pages, segments of a corpus."""

import gzip
import io
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote

import msgspec

from bitrawl.config import Job
from bitrawl.corpus.jsonl import Languages, TextPair, read_sentences
from bitrawl.corpus.tmx import read_tmx
from bitrawl.errors import ConfigError, TopicError
from bitrawl.job.fetching import POLITE, FetchPolicy
from bitrawl.job.opened import open_folder
from bitrawl.job.pages import SUFFIXES, loose_pages
from bitrawl.languages import language_name, same_language
from bitrawl.model import Language, Page, Paragraph, Skip
from bitrawl.protocols import RelevanceModel
from bitrawl.store.folder import JobFolder
from bitrawl.text.frequencies import general_rates
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.ngram_models import NgramModel, read_arpa, sequences, train
from bitrawl.topic.judge import PerplexityRelevance, TopicJudge
from bitrawl.topic.learned import LearnedRelevance
from bitrawl.topic.settings import TopicModel
from bitrawl.topic.term_list import Term, TermList, learn_terms, read_terms
from bitrawl.topic.term_relevance import TermRelevance, TermThresholds
from bitrawl.url import Url


class Examples(NamedTuple):
    """What the user showed, by language."""

    texts: Mapping[Language, Sequence[str]] = {}
    against: Mapping[Language, Sequence[str]] = {}


def topic_judge(job: Job, shown: Examples) -> TopicJudge:
    """What judges the pages of a job with a topic. Raises `ConfigError` if the topic cannot be learned from that."""
    topic, languages = job.topic, job.languages()
    terms = _terms(job, shown)
    model: RelevanceModel
    match job.topic_model():
        case TopicModel.TERMS if terms is not None:
            model = terms
        case TopicModel.PERPLEXITY:
            model = PerplexityRelevance(_language_models(job, shown), maximum=topic.max_perplexity)
        case _:
            given = terms if topic.terms else None
            model = LearnedRelevance(
                shown.texts, languages, against=shown.against, terms=given, threshold=topic.threshold
            )
    # The other models learn from no page.
    lacks = model.lacks if isinstance(model, LearnedRelevance) else lambda _page: ""
    return TopicJudge(
        model,
        annotate=_annotation(terms, languages),
        examples=map(Url.parse, topic.like),
        seeds=() if topic.hub else job.seed_urls(),
        agrees=_agreement(model, terms if topic.terms else None, shown),
        lacks=lacks,
        terms=None if topic.terms else terms,
    )


def _agreement(model: RelevanceModel, terms: TermRelevance | None, shown: Examples) -> Callable[[Page], bool]:
    """Whether a seed may be an example. It is mostly the home page of a site, or a directory: where the user says in other
    ways what the topic is, it must not outvote that.
    """
    if shown.texts and isinstance(model, LearnedRelevance):
        return lambda page: not model.contradicts(page)
    if terms is not None:
        return lambda page: terms.judge([page])[0].relevant
    return lambda _page: True


def _annotation(terms: TermRelevance | None, languages: Sequence[Language]) -> Callable[[Page], Page]:
    """Notes the terms on each paragraph, and marks these paragraphs in the structure: -5 in Papavassiliou, section 3.9.

    Without terms in each of the languages the structure stays as it was: translations would no longer look alike.
    """
    if terms is None:
        return lambda page: page
    if not all(terms.terms.of(language) for language in languages):
        return terms.annotated
    from bitrawl.page import structure  # noqa: PLC0415 - 25 ms, which most jobs need in their children only

    def annotated(page: Page) -> Page:
        noted = terms.annotated(page)
        return noted if noted is page else msgspec.structs.replace(noted, fingerprint=structure(noted.paragraphs))

    return annotated


def _terms(job: Job, shown: Examples) -> TermRelevance | None:
    """The user's list, or one out of the texts, which only explains."""
    topic, languages = job.topic, job.languages()
    thresholds = TermThresholds(topic.content_terms, topic.distinct_terms, topic.density)
    if topic.terms:
        return TermRelevance(read_terms(Path(topic.terms), languages), languages, thresholds)
    learned: list[Term] = []
    for language, texts in shown.texts.items():
        with suppress(ConfigError):  # too short to tell its terms, and long enough for the model
            learned += learned_terms(texts, language).terms
    return TermRelevance(TermList(tuple(learned)), languages, thresholds) if learned else None


def learned_terms(texts: Sequence[str], language: Language, against: Sequence[str] = ()) -> TermList:
    """What tells the texts from general language, where its frequencies are known."""
    return learn_terms(texts, language, background=general_rates(language), against=against)


def _language_models(job: Job, shown: Examples) -> dict[Language, NgramModel]:
    models = {
        language: train(sequence for text in texts for sequence in sequences(text))
        for language, texts in shown.texts.items()
    } | dict(_named_model(raw) for raw in job.topic.language_models)
    for language in job.languages():
        if language not in models:
            name = language_name(language)
            raise TopicError(
                f"nothing says what the topic is in {name}; add texts in {name}, or a model to language_models"
            )
    return models


def _named_model(raw: str) -> tuple[Language, NgramModel]:
    code, _, path = raw.partition("=")
    return Language(code), read_arpa(Path(path))


PLAIN_SUFFIXES = frozenset((".txt", ".text", ".md"))


async def read_examples(job: Job) -> Examples:
    """The texts that a job's topic names, by the job's languages. Raises `ConfigError` if none is in one of them."""
    return Examples(await _texts(job, job.topic.texts, "--texts"), await _texts(job, job.topic.against, "--against"))


async def _texts(job: Job, sources: Sequence[str], flag: str) -> dict[Language, list[str]]:
    texts: dict[Language, list[str]] = {}
    seen: Counter[str] = Counter()
    async for _, page in topic_pages(sources, io.BytesIO(), asked=job.languages()):
        if isinstance(page, Skip):
            continue
        seen[page.language] += 1
        for language in job.languages():
            if same_language(page.language, language):
                texts.setdefault(language, []).append(page.titled_text)
    if sources and not texts:
        what = ", ".join(f"{count} in {language_name(code)}" for code, count in seen.most_common(3)) or "no text"
        raise TopicError(f"{flag}: {what}, and none in {', '.join(job.langs)}; check the folder and --langs")
    return texts


async def topic_pages(
    sources: Sequence[str], stdin: BinaryIO, *, policy: FetchPolicy = POLITE, asked: Sequence[Language] = ()
) -> AsyncIterator[tuple[str, Page | Skip]]:
    """Pages of HTML files, folders, jobs and URLs as `loose_pages` gives them; a plain text file is a page too."""
    identifier: NgramLanguageIdentifier | None = None
    for source in sources:
        path = Path(source)
        plain = _plain_files(path)
        for file in plain:
            identifier = identifier or NgramLanguageIdentifier(asked=asked)
            yield str(file), _plain_page(file, identifier)
        html = path.is_dir() and any(file.suffix.lower() in SUFFIXES for file in path.rglob("*"))
        if path.is_dir() and not (plain or html or JobFolder(path).ledger.exists()):
            raise TopicError(f"{path} holds no texts; put .txt or .html files about the topic there")
        if not plain or html:
            async for named in loose_pages([source], stdin, policy=policy, asked=asked):
                yield named


def segment_texts(source: Path, languages: Languages) -> Iterator[TextPair]:
    """The aligned segments of a job, or of its `sentences.jsonl` or `.tmx`, the first of the languages first.

    Raises `ConfigError` if there are none in these languages.
    """
    any_found = False
    for pair in _segment_texts(source, languages):
        any_found = True
        yield pair
    if not any_found:
        raise ConfigError(f"{source} has no segments in {languages[0]} and {languages[1]}; check --langs")


def _plain_files(path: Path) -> list[Path]:
    if path.is_dir() and not JobFolder(path).ledger.exists():
        return sorted(file for file in path.rglob("*") if file.suffix.lower() in PLAIN_SUFFIXES)
    return [path] if path.suffix.lower() in PLAIN_SUFFIXES and "://" not in str(path) else []


def _plain_page(path: Path, identifier: NgramLanguageIdentifier) -> Page:
    try:
        text = path.read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    lines = [" ".join(line.split()) for line in text.splitlines()]
    ((language, confidence),) = identifier.identify([text])
    paragraphs = tuple(Paragraph(line) for line in lines if line)
    return Page(Url.parse(f"http://localhost/{quote(str(path))}"), language, confidence, paragraphs=paragraphs)


def _segment_texts(source: Path, languages: Languages) -> Iterator[TextPair]:
    if source.is_dir():
        for unit in open_folder(source).corpora().units():
            written = Language(unit.lang_a), Language(unit.lang_b)
            yield from _ordered(written, (unit.text_a, unit.text_b), languages)
        return
    name = source.name.removesuffix(".gz")
    if not name.endswith((".jsonl", ".tmx")):
        raise ConfigError(
            f"{source} is not a corpus that can be read; give a job folder, a sentences.jsonl or a .tmx file"
        )
    with _unpacked(source) as file:
        reader = read_tmx if name.endswith(".tmx") else read_sentences
        for written, texts in reader(file, source):
            yield from _ordered(written, texts, languages)


def _ordered(written: Languages, texts: TextPair, languages: Languages) -> Iterator[TextPair]:
    if same_language(written[0], languages[0]) and same_language(written[1], languages[1]):
        yield texts
    elif same_language(written[0], languages[1]) and same_language(written[1], languages[0]):
        yield texts[1], texts[0]


@contextmanager
def _unpacked(path: Path) -> Iterator[BinaryIO]:
    """A file of a corpus, compressed or not. What is wrong with it is a `ConfigError`."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            yield file  # type: ignore[misc]
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise ConfigError(f"{path} is damaged: {error}; export it again") from error
