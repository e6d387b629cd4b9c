"""A job's description: typed, closed, and the same whether it comes from flags or from a TOML file."""

import difflib
import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import Annotated, Any

import msgspec
import tomli_w

from bitrawl.errors import ConfigError, UrlError
from bitrawl.files import write as write_file
from bitrawl.languages import language_name, parse_language, same_language, two_languages
from bitrawl.model import Language
from bitrawl.url import Url, has_credentials

Seconds = Annotated[float, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class Strategy(StrEnum):
    """What orders the frontier."""

    BREADTH_FIRST = "breadth-first"
    LANGUAGE_FILTER = "language-filter"
    URL_MODELS = "url-models"
    URL_PATTERNS = "url-patterns"
    TERMS = "terms"
    PERPLEXITY = "perplexity"
    ADAPTIVE = "adaptive"


FOCUSED = (Strategy.TERMS, Strategy.PERPLEXITY)
"""Strategies that need a topic."""
UNFOCUSED = tuple(name for name in Strategy if name not in FOCUSED)
"""Strategies that work without one."""


class Walk(StrEnum):
    """How the search for bilingual sites is ordered. All but the first are Barbosa et al., section 3.1."""

    COCITATION = "cocitation"
    COBFC = "cobfc"
    OBFC = "obfc"
    FC = "fc"
    FOCUSED = "focused"


class Reach(StrEnum):
    """How far from the seeds a job may go."""

    SITE = "site"
    WEB = "web"


class TopicModel(StrEnum):
    """What says whether a page is about the topic."""

    LEARNED = "learned"
    TERMS = "terms"
    PERPLEXITY = "perplexity"


class Format(StrEnum):
    """What a corpus can be written as."""

    TMX = "tmx"
    JSONL = "jsonl"
    TSV = "tsv"
    MOSES = "moses"
    PARQUET = "parquet"
    XCES = "xces"
    TEXT = "text"


def fitting(languages: int) -> tuple[Format, ...]:
    """The formats for a corpus of one language, or for the corpora of several."""
    if languages == 1:
        return Format.TEXT, Format.JSONL, Format.XCES
    return Format.TMX, Format.JSONL, Format.TSV, Format.MOSES, Format.PARQUET, Format.XCES


def usual(languages: int) -> list[Format]:
    """What is written when nobody says otherwise."""
    return [Format.TEXT, Format.JSONL] if languages == 1 else [Format.JSONL, Format.TMX, Format.TSV]


class TopicSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the pages should be about."""

    terms: str = ""  # a term list: ILSP-FC's format, CSV, TSV or TBX
    texts: list[str] = []  # files, or folders of them, that are about it: plain text or HTML
    like: list[str] = []  # pages that are about it; the crawl begins with them
    against: list[str] = []  # files, or folders of them, that are not about it
    hub: bool = False  # the seeds only link to what is about it; otherwise they are examples
    model: TopicModel | None = None  # terms and perplexity for the strategies of these names, otherwise learned
    threshold: Share = 0.5  # of the relevance, with the model learned
    # Papavassiliou, section 3.5, with the defaults of ILSP-FC; for the model terms
    content_terms: Annotated[float, msgspec.Meta(ge=0)] = 2.0  # times the median weight: what a page must weigh
    distinct_terms: Annotated[int, msgspec.Meta(ge=0)] = 2
    density: Annotated[float, msgspec.Meta(ge=0)] = 0.2  # weight for each word of the main text
    # Remus, section 3.3, with the defaults of topicrawler; for the model perplexity
    language_models: list[str] = []  # ARPA files instead of texts, as in "en=domain.arpa.gz"
    buckets: tuple[float, float] = (500.0, 5000.0)  # perplexities at which a link is less urgent
    max_perplexity: Annotated[float, msgspec.Meta(gt=1)] | None = None  # links of pages beyond it are dropped

    def files(self) -> list[str]:
        """What is read before the crawl begins: files, and folders of them."""
        models = [named.partition("=")[2] for named in self.language_models]
        return [*([self.terms] if self.terms else []), *self.texts, *self.against, *models]

    @property
    def is_set(self) -> bool:
        """Whether the job has a topic."""
        return bool(self.terms or self.texts or self.like or self.language_models)


class DiscoverySection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The search for bilingual sites (`bitrawl discover`)."""

    walk: Walk | None = None  # which site is visited next; without it the job searches for no sites
    backlinks: list[str] = []  # link graphs: who cites whom
    host_languages: str = (
        ""  # Common Crawl's columnar index, a Parquet file or a folder of them: which languages hosts have
    )
    downloads: Count | None = None  # where to stop: requests, whatever they bring

    @property
    def is_set(self) -> bool:
        """Whether the job searches for sites."""
        return self.walk is not None


class ScopeSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which links belong to the job."""

    reach: Reach = Reach.SITE  # the sites of the seeds, or the whole web
    include: list[str] = []  # regular expressions; a link must match one
    exclude: list[str] = []  # regular expressions; a link must match none
    same_host: bool = False  # stay on the hosts of the seeds
    under: list[str] = []  # paths, as in "/docs/"; a link must be below one
    one_site: list[list[str]] = []  # hosts that are one site: [["example.org", "exemple.org"]]
    depth: Annotated[int, msgspec.Meta(ge=0)] | None = None  # links away from the seeds
    sitemaps: bool = True
    probe: bool = True  # ask each host for a page that cannot exist, to know its soft 404s


class PolitenessSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How hard a host may be hit. robots.txt is not optional."""

    delay: Seconds = 1.0  # between two visits to a host; Crawl-delay and Retry-After are honoured on top
    parallel: Count = 16  # visits at once, over all hosts
    per_host: Count = 1  # connections at once to one host
    attempts: Count = 3
    backoff: Seconds = 5.0  # before the second attempt, doubled for each failure in a row
    opt_outs: bool = True  # honour noai and TDM reservations


class BudgetSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to stop; what is not set has no limit. Queued links stay queued for a run with a larger budget."""

    pages: Count | None = None
    megabytes: Annotated[float, msgspec.Meta(gt=0)] | None = None
    minutes: Annotated[float, msgspec.Meta(gt=0)] | None = None
    site_pages: Count | None = None
    site_megabytes: Annotated[float, msgspec.Meta(gt=0)] | None = None
    site_minutes: Annotated[float, msgspec.Meta(gt=0)] | None = None
    site_hosts: Count = 100  # hosts of one site that are visited; those of the seeds always are


class FetchSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to ask for a page."""

    contact: str = ""  # an address or a URL for webmasters, in the User-Agent
    proxy: str = ""  # the usual environment variables are read as well
    allow_private: bool = False  # visit addresses that are not on the public internet
    connect_to: dict[str, str] = {}  # "*.test" = "127.0.0.1:8000"
    cookies: bool = False
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 60.0  # seconds for one page, all in all
    megabytes: Annotated[float, msgspec.Meta(gt=0)] = 10.0  # of one page as sent; twice as much unpacked


class AnalysisSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The processes that read pages."""

    workers: Annotated[int, msgspec.Meta(ge=0)] = 0  # 0: one per core, four at most
    seconds: Annotated[float, msgspec.Meta(gt=0)] = 20.0  # for one page
    megabytes: Annotated[int, msgspec.Meta(ge=256)] = 1024  # of memory, each


class MiningSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The processes that pair and align."""

    workers: Annotated[int, msgspec.Meta(ge=0)] = 0  # 0: one per core, two at most
    seconds: Annotated[float, msgspec.Meta(gt=0)] = 3600.0  # for pairing one site, or for aligning one batch of pairs
    megabytes: Annotated[int, msgspec.Meta(ge=256)] = 1024  # of memory, each, beyond its models


class PairSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which pages are held to be translations of each other."""

    methods: str = ""  # letters of the detectors, as in "aupdih"; all of them when empty
    threshold: Share = 0.5  # of the pair's score
    url_pairs: list[str] = []  # texts in URLs that stand for each other: "en=fr"
    machine_translated: bool = False  # keep pages that bear marks of machine translation
    dictionary: str = ""  # a file of word pairs: TSV, or hunalign's format


class Thresholds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a segment pair must reach to get into the corpus; each is applied to what was measured, so may change.

    The defaults but the score's keep 8,028 of the 8,080 beads with two sides in the gold alignments of `shared/data`
    (zh-en, en-ro, de-fr; 2026-11): they are there to keep out what cannot be a translation, not to rank what may be
    one. The score's default is below a half, because errors are rarer on a mined site than in what the score was trained
    on: at 0.5 it keeps 99.1 % of the right beads of site packs and 85.7 % of those of the gold alignments, and loses
    9 of 151 right segments of the bundled web in English and Chinese; at 0.3 it loses 3 (docs/decisions/segment-score.md).
    """

    score: Share = 0.3  # how probably they are translations
    coverage: Share = 0.0  # by the lexicon, the mean of both ways; pairs that were not measured pass
    length_ratio: Share = 0.2  # the shorter text over the longer
    language: Share = 0.2  # how far either text is believed to be in its language; 0.5 where it says nothing
    words: Annotated[int, msgspec.Meta(ge=0)] = 1  # on either side
    types: tuple[str, ...] = ()  # "1:1", "1:2"; none given takes all
    refuse: tuple[str, ...] = ("non-letters", "equal TUVs", "code")  # flags that keep a pair out, by how they begin
    duplicates: bool = False  # keep each occurrence, flagged, and do not merge


class ExportSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is written into corpus/."""

    formats: list[Format] = []  # jsonl, tmx and tsv when none is given; for one language text and jsonl
    compress: bool = False
    accepted_only: bool = False  # only what a person accepted: segments, and the good segments of page pairs


class Job(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was asked."""

    langs: list[str] = []
    seeds: list[str] = []
    strategy: Strategy = Strategy.ADAPTIVE
    exhaustive: bool = False  # go on where the strategy expects nothing more of a site
    replay: list[str] = []  # WARC files, or folders of them, that stand for the web
    warc: list[str] = []  # WARC files, or folders of them, to take whole, without crawling
    encoder: str = ""  # a sentence-transformers model, by name or path, for pairs and sentences; needs the extra neural
    url_language_model: str = ""  # a transformer, by name or path, instead of the bundled model; needs the extra neural
    url_pair_model: str = ""  # the same for two URLs, where the strategy asks about two
    topic: TopicSection = TopicSection()
    discovery: DiscoverySection = DiscoverySection()
    scope: ScopeSection = ScopeSection()
    politeness: PolitenessSection = PolitenessSection()
    budget: BudgetSection = BudgetSection()
    fetch: FetchSection = FetchSection()
    analysis: AnalysisSection = AnalysisSection()
    mining: MiningSection = MiningSection()
    pair: PairSection = PairSection()
    judge: Thresholds = Thresholds()
    export: ExportSection = ExportSection()

    def languages(self) -> list[Language]:
        """The codes in their standard form."""
        return list(dict.fromkeys(parse_language(code) for code in self.langs))

    def seed_urls(self) -> list[Url]:
        """Canonical, in the order given; the pages that the topic is like come last."""
        return list(dict.fromkeys(_seed(raw) for raw in (*self.seeds, *self.topic.like)))

    def topic_model(self) -> TopicModel | None:
        """What judges pages; None without a topic."""
        if not self.topic.is_set:
            return None
        return self.topic.model or (TopicModel(self.strategy) if self.strategy in FOCUSED else TopicModel.LEARNED)


def resolve(described: Mapping[str, Any], *, where: str = "") -> Job:
    """A job that can be run, in standard form; raises `ConfigError` before anything is done, and says where it erred."""
    try:
        return _resolved(described)
    except ConfigError as error:
        if not where:
            raise
        raise ConfigError(f"{where}: {error}") from error


def typed(described: Mapping[str, Any]) -> Job:
    """Known keys with values of the right types, and nothing checked beyond that; raises `ConfigError`."""
    try:
        return msgspec.convert(described, Job)
    except msgspec.ValidationError as error:
        raise ConfigError(_explain(str(error))) from error


def _resolved(described: Mapping[str, Any]) -> Job:
    job = typed(described)
    for pattern in (*job.scope.include, *job.scope.exclude):
        _check_pattern(pattern)
    if not job.langs:
        raise ConfigError("no languages are named; say which, as in --langs en,fr")
    _check_languages(job)
    _check_topic(job)
    _check_discovery(job)
    if not job.seeds and not job.warc and not job.replay and not job.topic.like:
        raise ConfigError("nowhere to start; name a site, as in https://www.example.org/")
    if job.warc and (job.replay or job.seeds):
        raise ConfigError("--warc takes files whole, without seeds; to crawl them as a web use --replay")
    for name in (*job.replay, *job.warc):
        if not Path(name).exists():
            raise ConfigError(f"there is no file or folder {name}")
    formats = job.export.formats or usual(len(job.languages()))
    unfit = [name for name in formats if name not in fitting(len(job.languages()))]
    if unfit:
        raise ConfigError(
            f"{', '.join(unfit)} is not for {'one language' if len(job.languages()) == 1 else 'pairs of languages'};"
            f" there are {', '.join(fitting(len(job.languages())))}"
        )
    return msgspec.structs.replace(
        job,
        export=msgspec.structs.replace(job.export, formats=formats),
        langs=[str(language) for language in job.languages()],
        seeds=list(dict.fromkeys(str(_seed(raw)) for raw in job.seeds)),
        replay=[str(Path(name).resolve()) for name in job.replay],
        warc=[str(Path(name).resolve()) for name in job.warc],
        encoder=_model(job.encoder),
        url_language_model=_model(job.url_language_model),
        url_pair_model=_model(job.url_pair_model),
        topic=_resolved_topic(job),
        discovery=msgspec.structs.replace(
            job.discovery,
            backlinks=[_place(raw) for raw in job.discovery.backlinks],
            host_languages=str(Path(job.discovery.host_languages).resolve()) if job.discovery.host_languages else "",
        ),
        pair=msgspec.structs.replace(
            job.pair, dictionary=str(Path(job.pair.dictionary).resolve()) if job.pair.dictionary else ""
        ),
    )


def read(path: Path, *, what: str = "job file") -> dict[str, Any]:
    """A job file's content, not yet checked."""
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError as error:
        raise ConfigError(f"there is no {what} {path}") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not a text file in UTF-8; a {what} is TOML") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is no TOML: {error}") from error


def text_of(job: Job) -> str:
    """As a job file, without the password of a proxy: it is given again on the command line or in the environment."""
    fetch = msgspec.structs.replace(job.fetch, proxy=_without_password(job.fetch.proxy))
    return tomli_w.dumps(_without_none(msgspec.to_builtins(msgspec.structs.replace(job, fetch=fetch))))


def public_text_of(job: Job) -> str:
    """As a job file that may be published: no credentials, no contact, and nothing of this machine but file names."""
    replace = msgspec.structs.replace
    return text_of(
        replace(
            job,
            replay=[Path(name).name for name in job.replay],
            warc=[Path(name).name for name in job.warc],
            encoder=_public_model(job.encoder),
            url_language_model=_public_model(job.url_language_model),
            url_pair_model=_public_model(job.url_pair_model),
            fetch=replace(job.fetch, contact="", proxy="", connect_to={}),
            pair=replace(job.pair, dictionary=Path(job.pair.dictionary).name),
            topic=_public_topic(job.topic),
            discovery=replace(
                job.discovery,
                backlinks=[Path(name).name for name in job.discovery.backlinks],
                host_languages=Path(job.discovery.host_languages).name,
            ),
        )
    )


def _public_topic(topic: TopicSection) -> TopicSection:
    names = [f"{one.partition('=')[0]}={Path(one.partition('=')[2]).name}" for one in topic.language_models]
    return msgspec.structs.replace(
        topic,
        terms=Path(topic.terms).name,
        texts=[Path(name).name for name in topic.texts],
        against=[Path(name).name for name in topic.against],
        language_models=names,
    )


def write(job: Job, path: Path) -> None:
    """The resolved job, complete under its name or not there at all; without the password of a proxy."""
    said = "# What was asked. The same command resumes.\n"
    if _without_password(job.fetch.proxy) != job.fetch.proxy:
        said += "# The proxy's password is not kept: give it again with --proxy, or set HTTP_PROXY and HTTPS_PROXY.\n"
    write_file(path, said + text_of(job))


def merged(described: Mapping[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    """Flags over file: a flag that was given wins; tables are merged key by key."""
    result = dict(described)
    for key, value in flags.items():
        if isinstance(value, Mapping) and isinstance(result.get(key, {}), Mapping):
            result[key] = merged(result.get(key, {}), value)
        elif value is not None:
            result[key] = value
    return {key: value for key, value in result.items() if value != {}}


def continues(job: Job, earlier: Job) -> None:
    """Refuse to mix two jobs in one folder; more seeds, other budgets and other politeness are the same job."""
    for name in ("langs", "replay", "warc", "strategy"):
        before, now = getattr(earlier, name), getattr(job, name)
        if before != now:
            raise ConfigError(
                f"this folder holds a job with {name} = {_listed(before)}, and this one asks for {_listed(now)};"
                " choose another --out, or start over with --fresh"
            )
    if earlier.discovery.walk != job.discovery.walk:
        before, now = earlier.discovery.walk or "no search for sites", job.discovery.walk or "no search for sites"
        raise ConfigError(
            f"this folder holds a job with {before}, and this one asks for {now}; choose another --out, or start over"
            " with --fresh"
        )
    for name in ("terms", "texts", "like", "against", "hub", "model", "language_models"):
        before, now = getattr(earlier.topic, name), getattr(job.topic, name)
        if before != now:
            raise ConfigError(
                f"this folder holds a job with topic.{name} = {_listed(before) or 'none'}, and this one asks for"
                f" {_listed(now) or 'none'}; choose another --out, or start over with --fresh"
            )


def _check_topic(job: Job) -> None:
    """What the strategy and the scope need of a topic."""
    topic = job.topic
    if not topic.is_set:
        if job.strategy in FOCUSED:
            raise ConfigError(
                f"the strategy {job.strategy} needs a topic; name one with --topic FILE or --texts FOLDER"
            )
        if job.scope.reach is Reach.WEB and not job.discovery.is_set:
            raise ConfigError("--scope web needs a topic, or the crawl never ends; name one with --topic or --texts")
        if topic.against:
            raise ConfigError("--against says only what a topic is not; say what it is with --topic, --texts or --like")
    model = job.topic_model()
    if TopicModel.TERMS in (model, job.strategy) and topic.is_set and not topic.terms:
        raise ConfigError(
            f"the {'strategy' if job.strategy is Strategy.TERMS else 'topic model'} terms needs a term list"
            " (--topic FILE); bitrawl topic learn makes one"
        )
    if model is TopicModel.PERPLEXITY and not (topic.texts or topic.language_models):
        raise ConfigError("the topic model perplexity needs texts (--texts FOLDER) or language_models in [topic]")
    if job.strategy is Strategy.PERPLEXITY and model is not TopicModel.PERPLEXITY:
        raise ConfigError(f"the strategy perplexity needs the topic model perplexity; remove model = {str(model)!r}")
    if not 1 <= topic.buckets[0] <= topic.buckets[1] < inf:
        raise ConfigError(
            "topic.buckets are two perplexities of at least 1, the lower one first, as in --buckets 100,5000"
        )


def _check_discovery(job: Job) -> None:
    """What a search for bilingual sites needs."""
    if not job.discovery.is_set:
        if job.discovery.backlinks or job.discovery.host_languages or job.discovery.downloads:
            raise ConfigError('[discovery] has no walk; name one, as in walk = "cocitation", or run bitrawl discover')
        return
    if len(job.languages()) < 2:
        raise ConfigError("a bilingual site has two languages; name both, as in --langs en,fr")
    if job.discovery.walk is Walk.FOCUSED and not job.topic.is_set:
        raise ConfigError("the strategy focused needs a topic; name one with --topic FILE or --texts FOLDER")
    if job.warc:
        raise ConfigError("sites are searched on the web, or on archives that stand for it: use --replay, not --warc")
    for name in job.discovery.backlinks:
        if "://" not in name and not Path(name).exists():
            raise ConfigError(f"--backlinks: there is no file or folder {name}")
    index = job.discovery.host_languages
    if index and not Path(index).exists():
        raise ConfigError(f"--host-languages: there is no file or folder {index}")


def _place(raw: str) -> str:
    """The whole path of a file; an address as it is."""
    return raw if "://" in raw else str(Path(raw).resolve())


def _resolved_topic(job: Job) -> TopicSection:
    """With whole paths."""
    topic = job.topic
    return msgspec.structs.replace(
        topic,
        terms=str(Path(topic.terms).resolve()) if topic.terms else "",
        texts=[str(Path(name).resolve()) for name in topic.texts],
        against=[str(Path(name).resolve()) for name in topic.against],
        language_models=[_whole_path(one) for one in topic.language_models],
        like=list(dict.fromkeys(str(_seed(raw)) for raw in topic.like)),
    )


def _whole_path(model: str) -> str:
    code, mark, path = model.partition("=")
    if not mark or not path:
        raise ConfigError(f'topic.language_models: {model!r} is not LANGUAGE=FILE; write it like this: "en=topic.arpa"')
    return f"{parse_language(code)}={Path(path).resolve()}"


def _check_languages(job: Job) -> None:
    """One language where two were meant: `en-fr`, which is English as in France, or `en,en`."""
    languages = job.languages()
    if len(job.langs) == 1 and (two := two_languages(job.langs[0])):
        one = language_name(languages[0].partition("-")[0])
        raise ConfigError(
            f"{job.langs[0]!r} is one language, {one} as in the region {two[1].upper()}; for two write"
            f" --langs {two[0]},{two[1]}, and for the one --langs {two[0]}"
        )
    first = languages[0]
    if len(job.langs) > 1 and all(same_language(a, first) and same_language(first, a) for a in languages):
        raise ConfigError(
            f"{', '.join(job.langs)} are one language, {language_name(first)}; name it once, or another with it"
        )


def _model(name: str) -> str:
    """The whole path of a folder that is here; what is none is the name of a public model."""
    return str(Path(name).resolve()) if name and Path(name).is_dir() else name


def _public_model(name: str) -> str:
    """The name of a public model as it is, of a folder only its own name."""
    return Path(name).name if Path(name).is_absolute() or name.startswith((".", "~")) else name


def _without_password(proxy: str) -> str:
    scheme, mark, rest = proxy.rpartition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"


def _listed(value: object) -> str:
    return ",".join(value) or "none" if isinstance(value, list) else str(value)


def _seed(raw: str) -> Url:
    try:
        url = Url.parse(raw.strip())
    except UrlError as error:
        guess = "https://" + re.sub(r"^(?:https?)?[:/]+", "", raw.strip())
        near = "." in raw or re.match(r"https?[:/]", raw.strip())
        hint = f"; did you mean {guess} ?" if near and "://" not in raw and "@" not in raw else ""
        raise ConfigError(f"the seed {error}{hint}") from error
    if has_credentials(raw.strip()):
        raise ConfigError(
            f"the seed {url} was given with a user name or a password; bitrawl visits public pages only: write it without"
        )
    return url


def _check_pattern(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        message = f"the pattern {pattern!r} is no regular expression: {error}; write a dot as \\. and a star as .*"
        raise ConfigError(message) from error


def _explain(error: str) -> str:
    """The message of msgspec with the nearest known key, which is mostly what was meant."""
    if "Invalid enum value" in error:
        wrong = error.split("'")[1] if "'" in error else error
        known: tuple[tuple[str, str, type[StrEnum]], ...] = (
            (".strategy", "strategy {!r}; the strategies", Strategy),
            (".scope.reach", "scope {!r}; the scopes", Reach),
            (".topic.model", "topic model {!r}; the topic models", TopicModel),
        )
        for key, said, names in known:
            if key in error:
                return f"there is no {said.format(wrong)} are {', '.join(kind.value for kind in names)}"
        return f"there is no format {wrong!r}; the formats are {', '.join(Format)}"
    parts = error.split("`")
    if "unknown field" not in error or len(parts) < 2:
        return error.replace(" - at `$.", " at `")
    key = parts[1]
    table = parts[3].removeprefix("$").removeprefix(".") if len(parts) > 3 else ""
    section: type = Job
    if table:
        section = next((f.type for f in msgspec.structs.fields(Job) if f.name == table), Job)
    keys = [f.name for f in msgspec.structs.fields(section)]
    near = difflib.get_close_matches(key, keys, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(keys)}"
    return f"unknown key {key!r}{f' in [{table}]' if table else ''}; {hint}"


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return value


def seeds_from(content: bytes, name: str) -> list[str]:
    """A seed list: one URL per line; blank lines and lines that begin with # are left out."""
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not a text file in UTF-8; write one URL per line") from error
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
