"""Languages of a page: of each paragraph, and of the whole. What markup and URL claim is a prior, never a verdict."""

from collections.abc import Sequence
from typing import NamedTuple

from bitrawl.languages import claimed_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.page.head import Head
from bitrawl.protocols import LanguageIdentifier
from bitrawl.text.weight import weight
from bitrawl.urls.marks import address_languages

Verdict = tuple[Language, float]

# Judgements, except where a line names its evidence.
MIN_LETTERS = 24  # Fewer letters identify no language; about six words, or eight characters of Chinese.
MAX_PAGE_TEXT = 6000  # Characters of the main text that the page's language is identified from.
CLEAR = 0.8  # A language with this share of the paragraphs needs no second opinion.
CACHED = 10_000  # Texts whose language is remembered, for each claim.
CACHED_CLAIMS = 20  # Claims for which texts are remembered; a site has a few.
CACHED_LENGTH = 120  # Characters; texts that recur from page to page are menus and notices.


class Languages(NamedTuple):
    """The verdicts for one page, in the order of its paragraphs."""

    page: Verdict
    paragraphs: list[Verdict]


class LanguageReader:
    """Calls the identifier once per page. Recurring texts are identified once."""

    def __init__(self, identifier: LanguageIdentifier) -> None:
        self._identifier = identifier
        self._known: dict[Language | None, dict[str, Verdict]] = {}  # by claim

    def read(self, texts: Sequence[str], main: Sequence[bool], claim: Language | None) -> Languages:
        """`main` says which of the texts are main text. If none is, all of them count for the page."""
        counted = main if any(main) else [True] * len(texts)
        verdicts = self._identified(texts, claim)
        votes: dict[Language, float] = {}
        total = 0.0
        for text, (language, confidence), counts in zip(texts, verdicts, counted, strict=True):
            if counts:
                size = weight(text)
                total += size
                votes[language] = votes.get(language, 0.0) + size * confidence
        shares = {language: vote / total for language, vote in votes.items()} if total else {}
        chosen = [text for text, counts in zip(texts, counted, strict=True) if counts]
        return Languages(self._page(shares, "\n".join(chosen)[:MAX_PAGE_TEXT], claim), verdicts)

    def _page(self, shares: dict[Language, float], text: str, claim: Language | None) -> Verdict:
        """The paragraphs vote, weighted by length and confidence. If they disagree, the whole main text decides.

        Paragraphs show that a page is in two languages, where the whole shows only one of them. The whole shows the
        language of a page of short lines, where each line alone says little.
        """
        if weight("".join(filter(str.isalpha, text[:500]))) < MIN_LETTERS:
            return UNDETERMINED, 0.0
        scores = {language: share for language, share in shares.items() if language != UNDETERMINED}
        if max(scores.values(), default=0.0) < CLEAR:
            language, confidence = self._identifier.identify([text], prior=claim)[0]
            scores[language] = scores.get(language, 0.0) + max(0.0, 1.0 - sum(shares.values())) * confidence
            scores.pop(UNDETERMINED, None)
        best = max(scores, key=lambda code: scores[code], default=UNDETERMINED)
        return best, min(1.0, scores.get(best, 0.0))

    def _identified(self, texts: Sequence[str], claim: Language | None) -> list[Verdict]:
        if len(self._known) > CACHED_CLAIMS:
            self._known.clear()
        known = self._known.setdefault(claim, {})
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if not missing:
            return [known[text] for text in texts]
        fresh = dict(zip(missing, self._identifier.identify(missing, prior=claim), strict=True))
        verdicts = [fresh[text] if text in fresh else known[text] for text in texts]
        if len(known) > CACHED:
            known.clear()
        known.update({text: verdict for text, verdict in fresh.items() if len(text) <= CACHED_LENGTH})
        return verdicts


def claimed(head: Head, content_language: str, locale: str) -> Language | None:
    """The language that the page claims, if its claims agree; None if there is none, or if they contradict each other."""
    said = [head.language, "" if "," in content_language else content_language, locale, *address_languages(head.url)]
    said += [text for record in head.records if isinstance(text := record.get("inLanguage"), str)][:1]
    claims = {claim for text in said if text and (claim := claimed_language(text)) != UNDETERMINED}
    if len({claim.partition("-")[0] for claim in claims}) != 1:
        return None
    return max(claims, key=len)
