"""The tables and keys of a job file. Each table is a value of the room that it sets up, with its types and defaults."""

import re

import msgspec

from bitrawl.choices import FilePath, FolderOrModel
from bitrawl.corpus import ExportSection
from bitrawl.crawling import Budget, FetchSection, Politeness, RenderSection, ScopeRules
from bitrawl.discover.settings import DiscoverySection
from bitrawl.errors import ConfigError, UrlError
from bitrawl.languages import claimed_language, parse_language
from bitrawl.mining import AlignSection, MiningSection, PairSection, Thresholds
from bitrawl.model import UNDETERMINED, Language
from bitrawl.page import AnalysisSection
from bitrawl.strategies import FOCUSED, Strategy, StrategyName
from bitrawl.topic.settings import TopicModel, TopicSection
from bitrawl.url import Url, has_credentials, with_scheme


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
    scope: ScopeRules = ScopeRules()
    politeness: Politeness = Politeness()
    budget: Budget = Budget()
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
        if claimed_language(raw) != UNDETERMINED:
            hint = "; if it is a language, write --langs with commas: --langs en,fr"
        raise ConfigError(f"the seed {error}{hint}") from error
    if has_credentials(with_scheme(raw.strip())):
        raise ConfigError(
            f"the seed {url} has a user name or a password, and bitrawl visits only public pages; write it without them"
        )
    return url
