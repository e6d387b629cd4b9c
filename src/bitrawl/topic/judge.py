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
        terms: RelevanceModel | None = None,  # a list out of the texts that the model was made from
    ) -> None:
        self.model = model
        self.terms = terms
        self._annotate = annotate
        self._examples = set(examples)
        self._agrees = agrees

    def __call__(self, link: Link, page: Page) -> Page:
        """With its relevance, and with the terms that stand in each paragraph."""
        if link.url in self._examples and self._agrees(page):
            self.model.learn(page, relevant=True)
        relevance = self.model.judge([page])[0]
        return msgspec.structs.replace(self._annotate(page), relevance=relevance)

    def redirected(self, source: Url, target: Url) -> None:
        """Where an example redirects to is the example: http to https to www is usual."""
        if source in self._examples:
            self._examples.add(target)
