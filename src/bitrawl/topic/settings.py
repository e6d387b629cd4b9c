"""How a topic is described, and what says whether a page is about it."""

from enum import StrEnum
from typing import Annotated

import msgspec

from bitrawl.choices import FileOfLanguage, FilePath, Share

# As many as a person will read. On the Ebola pages (2026-11), 60 and 300 tell them apart about as well.
TOPIC_TERMS = 150


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
