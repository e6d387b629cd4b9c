"""Judges each page of a crawl, and lets the model learn from the pages that are known to be about the topic."""

from collections.abc import Callable, Iterable

import msgspec

from bitrawl.model import Link, Page
from bitrawl.protocols import RelevanceModel
from bitrawl.url import Url


class TopicJudge:
    """Is called with each page before its links are scored, also with the pages of earlier runs."""

    def __init__(
        self,
        model: RelevanceModel,
        annotate: Callable[[Page], Page] = lambda page: page,
        examples: Iterable[Url] = (),  # pages that the user named as being about the topic
        agrees: Callable[[Page], bool] = lambda _page: True,  # whether a page may be an example after all
        lacks: Callable[[Page], str] = lambda _page: "",  # why nothing can be learned from an example
        terms: RelevanceModel | None = None,  # a list out of the texts that the model was made from
    ) -> None:
        self.model = model
        self.terms = terms
        self._annotate = annotate
        self._examples = set(examples)
        self._agrees = agrees
        self._lacks = lacks
        self.learned = 0  # examples that the model has learned from
        self.lacking: dict[Url, str] = {}  # examples that say nothing of the topic, and why

    def __call__(self, link: Link, page: Page) -> Page:
        """With its relevance, and with the terms that stand in each paragraph."""
        if link.url in self._examples and self._agrees(page):
            self._learn(page)
        relevance = self.model.judge([page])[0]
        return msgspec.structs.replace(self._annotate(page), relevance=relevance)

    def _learn(self, page: Page) -> None:
        if why := self._lacks(page):
            self.lacking[page.url] = why
            return
        self.model.learn(page, relevant=True)
        self.learned += 1

    def redirected(self, source: Url, target: Url) -> None:
        """Where an example redirects to is the example: http to https to www is usual."""
        if source in self._examples:
            self._examples.add(target)
