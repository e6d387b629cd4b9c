"""Judges each page of a crawl, and lets the model learn from the pages that are known to be about the topic."""

from collections.abc import Callable, Container

import msgspec

from bitrawl.model import Link, LinkKind, Page
from bitrawl.protocols import RelevanceModel
from bitrawl.url import Url


class TopicJudge:
    """Is called with each page before its links are scored, also with the pages of earlier runs."""

    def __init__(
        self,
        model: RelevanceModel,
        annotate: Callable[[Page], Page] = lambda page: page,
        examples: Container[Url] = (),  # pages that the user named as being about the topic
    ) -> None:
        self.model = model
        self._annotate = annotate
        self._examples = examples

    def __call__(self, link: Link, page: Page) -> Page:
        """With its relevance, and with the terms that stand in each paragraph."""
        named = link.url in self._examples
        if named or (link.kind is LinkKind.REDIRECT and link.source in self._examples):
            self.model.learn(page, relevant=True)
        relevance = self.model.judge([page])[0]
        return msgspec.structs.replace(self._annotate(page), relevance=relevance)
