"""The tables and keys of a job, with their types and defaults."""

import re
from enum import StrEnum
from importlib.util import find_spec
from typing import Annotated

import msgspec

from bitrawl.config.choices import FOCUSED, DocumentType, Render, Strategy, format_names, strategy_names
from bitrawl.errors import ConfigError, UrlError
from bitrawl.languages import parse_language
from bitrawl.model import Language
from bitrawl.url import Url, has_credentials, with_scheme

Seconds = Annotated[float, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]
StrategyName = Annotated[str, msgspec.Meta(extra={"names": strategy_names})]
FormatName = Annotated[str, msgspec.Meta(extra={"names": format_names})]
# What names a file: it is kept as a whole path, and published as a bare name.
FilePath = Annotated[str, msgspec.Meta(extra={"path": "file"})]
FileOrUrl = Annotated[str, msgspec.Meta(extra={"path": "file or URL"})]
FolderOrModel = Annotated[str, msgspec.Meta(extra={"path": "folder or model"})]
FileOfLanguage = Annotated[str, msgspec.Meta(extra={"path": "file of a language"})]


class Walk(StrEnum):
    """How the search for bilingual sites is ordered. All but the first are Barbosa et al., section 3.1."""

    COCITATION = "cocitation"
    COBFC = "cobfc"
    OBFC = "obfc"
    FC = "fc"
    FOCUSED = "focused"


class Reach(StrEnum):
    """How far from the seeds a job may go."""

    SITE = "site"  # the hosts of the seeds, and those of their translations
    DOMAIN = "domain"  # all hosts of the seeds' domains
    WEB = "web"


class Gone(StrEnum):
    """What becomes of the segments of a page that a further round finds missing."""

    DROP = "drop"  # as if the page had never been there: the corpus is that of the site as it is
    KEEP = "keep"


class Anonymise(StrEnum):
    """What becomes of personal data when a corpus is written."""

    OFF = "off"
    REPLACE = "replace"  # by a placeholder, the same on both sides
    DROP = "drop"  # the segment is left out, or the paragraph of a corpus in one language


class TopicModel(StrEnum):
    """What says whether a page is about the topic."""

    LEARNED = "learned"
    TERMS = "terms"
    PERPLEXITY = "perplexity"


class TopicSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the pages should be about."""

    terms: FilePath = ""  # a term list: ILSP-FC's format, CSV, TSV or TBX
    texts: list[FilePath] = []  # files, or folders of them, that are about it: plain text or HTML
    like: list[str] = []  # pages that are about it; the crawl begins with them
    against: list[FilePath] = []  # files, or folders of them, that are not about it
    hub: bool = False  # the seeds only link to what is about it; otherwise they are examples
    model: TopicModel | None = None  # terms and perplexity for the strategies of these names, otherwise learned
    threshold: Share = 0.5  # of the relevance, with the model learned
    # Papavassiliou, section 3.5, with the defaults of ILSP-FC; for the model terms
    content_terms: Annotated[float, msgspec.Meta(ge=0)] = 2.0  # times the median weight: what a page must weigh
    distinct_terms: Annotated[int, msgspec.Meta(ge=0)] = 2
    density: Annotated[float, msgspec.Meta(ge=0)] = 0.2  # weight for each word of the main text
    # Remus, section 3.3, with the defaults of topicrawler; for the model perplexity
    language_models: list[FileOfLanguage] = []  # ARPA files instead of texts, as in "en=domain.arpa.gz"
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

    @property
    def is_only_like(self) -> bool:
        """Whether nothing but pages, which are fetched first, says what the topic is."""
        return bool(self.like) and not (self.terms or self.texts or self.language_models)


class DiscoverySection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The search for bilingual sites (`bitrawl discover`)."""

    walk: Walk | None = None  # which site is visited next; without it the job searches for no sites
    backlinks: list[FileOrUrl] = []  # link graphs: who cites whom
    host_languages: FilePath = (
        ""  # Common Crawl's columnar index, a Parquet file or a folder: which languages hosts have
    )
    downloads: Count | None = None  # where to stop: requests, whatever they bring

    @property
    def is_set(self) -> bool:
        """Whether the job searches for sites."""
        return self.walk is not None


class ScopeSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which links belong to the job."""

    reach: Reach = Reach.SITE
    include: list[str] = []  # regular expressions; a link must match one
    exclude: list[str] = []  # regular expressions; a link must match none
    same_host: bool = False  # stay on the hosts of the seeds
    under: list[str] = []  # paths, as in "/docs/"; a link must be below one
    one_site: list[list[str]] = []  # hosts that are one site: [["example.org", "exemple.org"]]
    depth: Annotated[int, msgspec.Meta(ge=0)] | None = None  # links away from the seeds
    types: list[DocumentType] = msgspec.field(default_factory=lambda: list(DocumentType))  # besides sitemaps
    sitemaps: bool = True
    probe: bool = True  # ask each host for a page that cannot exist, to know its soft 404s
    gone: Gone = Gone.DROP  # what was found on pages that are gone when the job is visited again


class PolitenessSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How hard a host may be hit. robots.txt is not optional."""

    delay: Seconds = 1.0  # between two visits to a host; Crawl-delay and Retry-After are honoured on top
    parallel: Count = 16  # visits at once, over all hosts; those that wait for a slow host are not counted
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


class RenderSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The browser that draws pages by running their scripts."""

    when: Render | None = None  # without it: auto if the extra browser is installed, otherwise never
    browser: str = ""  # a Chromium: its path, or the ws:// or http:// address of one that runs
    tabs: Annotated[int, msgspec.Meta(ge=1, le=64)] = 4  # pages at once
    seconds: Annotated[float, msgspec.Meta(gt=0)] = 20.0  # for one page
    megabytes: Annotated[int, msgspec.Meta(ge=128)] = 512  # of memory for one page

    @property
    def mode(self) -> Render:
        """What holds on this machine."""
        return self.when or (Render.AUTO if find_spec("playwright") is not None else Render.NEVER)

    @property
    def is_asked_for(self) -> bool:
        """Whether the user wants a browser, and not only has one."""
        return self.when not in (None, Render.NEVER) or (bool(self.browser) and self.runs_scripts)

    @property
    def runs_scripts(self) -> bool:
        return self.mode is not Render.NEVER


class AnalysisSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The processes that read pages."""

    workers: Annotated[int, msgspec.Meta(ge=0)] = 0  # 0: one per core, four at most
    seconds: Annotated[float, msgspec.Meta(gt=0)] = 20.0  # of CPU for one page
    megabytes: Annotated[int, msgspec.Meta(ge=256)] = 1024  # of memory, each


class MiningSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The processes that pair and align."""

    workers: Annotated[int, msgspec.Meta(ge=0)] = 0  # 0: one per core, two at most
    seconds: Annotated[float, msgspec.Meta(gt=0)] = 3600.0  # of CPU for pairing one site, or for aligning a batch
    megabytes: Annotated[int, msgspec.Meta(ge=256)] = 1024  # of memory, each, beyond its models


class PairSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which pages are held to be translations of each other."""

    methods: str = ""  # letters of the detectors, as in "aupdih"; all of them when empty
    threshold: Share = 0.5  # of the pair's score
    url_pairs: list[str] = []  # texts in URLs that stand for each other: "en=fr"
    machine_translated: bool = False  # keep pages that bear marks of machine translation
    dictionary: FilePath = ""  # a file of word pairs: TSV, or hunalign's format


class AlignSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How texts are cut into segments."""

    # of a segment, half as many in scripts without spaces between words; what is longer is split, or left out
    characters: Annotated[int, msgspec.Meta(ge=50)] = 1000


class Thresholds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a segment pair must reach to get into the corpus; each is applied to what was measured, so may change.

    The defaults but the score's keep 8,028 of the 8,080 beads with two sides in the gold alignments of `shared/data`
    (zh-en, en-ro, de-fr; 2026-11): they are there to keep out what cannot be a translation, not to rank what may be
    one. The score's default is below a half, because errors are rarer on a mined site than in what the score was trained
    on: at 0.5 it keeps 99.2 % of the right beads of site packs and 85.6 % of those of the gold alignments, and loses
    9 of 151 right segments of the bundled web in English and Chinese; at 0.3 it loses 3 (docs/decisions/segment-score.md).
    """

    score: Share = 0.3  # how probably they are translations
    coverage: Share = 0.0  # by the lexicon, the mean of both ways; pairs that were not measured pass
    length_ratio: Share = 0.2  # the shorter text over the longer
    language: Share = 0.2  # how far either text is believed to be in its language; 0.5 where it says nothing
    words: Annotated[int, msgspec.Meta(ge=0)] = 1  # on either side
    types: tuple[str, ...] = ()  # "1:1", "1:2"; none given takes all
    # flags that keep a pair out, by how they begin
    refuse: tuple[str, ...] = ("non-letters", "equal TUVs", "code", "wrong script")
    duplicates: bool = False  # keep each occurrence, flagged, and do not merge


class ExportSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is written into corpus/."""

    formats: list[FormatName] = []  # jsonl, tmx and tsv when none is given; for one language text and jsonl
    compress: bool = False
    accepted_only: bool = False  # only what a person accepted: segments, and the good segments of page pairs
    anonymise: Anonymise = Anonymise.OFF  # off, replace or drop personal data; needs the extra privacy


class Job(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a user asked for: the whole of a job file."""

    langs: list[str] = []
    seeds: list[str] = []
    strategy: StrategyName = Strategy.ADAPTIVE
    exhaustive: bool = False  # go on where the strategy expects nothing more of a site
    replay: list[FilePath] = []  # WARC files, or folders of them, that stand for the web
    warc: list[FilePath] = []  # WARC files, or folders of them, to take whole, without crawling
    encoder: FolderOrModel = (
        ""  # a sentence-transformers model, by name or path, for pairs and sentences; needs the extra neural
    )
    url_language_model: FolderOrModel = (
        ""  # a transformer, by name or path, instead of the bundled model; needs the extra neural
    )
    url_pair_model: FolderOrModel = ""  # the same for two URLs, where the strategy asks about two
    models: FilePath = (
        ""  # a folder of models that replace the bundled ones of their names; python -m lab.train makes them
    )
    topic: TopicSection = TopicSection()
    discovery: DiscoverySection = DiscoverySection()
    scope: ScopeSection = ScopeSection()
    politeness: PolitenessSection = PolitenessSection()
    budget: BudgetSection = BudgetSection()
    fetch: FetchSection = FetchSection()
    render: RenderSection = RenderSection()
    analysis: AnalysisSection = AnalysisSection()
    mining: MiningSection = MiningSection()
    pair: PairSection = PairSection()
    align: AlignSection = AlignSection()
    judge: Thresholds = Thresholds()
    export: ExportSection = ExportSection()

    def languages(self) -> list[Language]:
        """The codes in their standard form."""
        return list(dict.fromkeys(parse_language(code) for code in self.langs))

    def seed_urls(self) -> list[Url]:
        """Canonical, in the order given; the pages that the topic is like come last."""
        return list(dict.fromkeys(seed_url(raw) for raw in (*self.seeds, *self.topic.like)))

    def topic_model(self) -> TopicModel | None:
        """What judges pages; None without a topic."""
        if not self.topic.is_set:
            return None
        return self.topic.model or (TopicModel(self.strategy) if self.strategy in FOCUSED else TopicModel.LEARNED)


def seed_url(raw: str) -> Url:
    """Canonical, also of a host without a scheme; raises `ConfigError` with what was probably meant."""
    try:
        url = Url.parse(with_scheme(raw.strip()))
    except UrlError as error:
        guess = "https://" + re.sub(r"^(?:https?)?[:/]+", "", raw.strip())
        near = "." in raw or re.match(r"https?[:/]", raw.strip())
        hint = f"; did you mean {guess} ?" if near and "://" not in raw and "@" not in raw else ""
        raise ConfigError(f"the seed {error}{hint}") from error
    if has_credentials(with_scheme(raw.strip())):
        raise ConfigError(
            f"the seed {url} has a user name or a password, and bitrawl visits only public pages; write it without them"
        )
    return url
