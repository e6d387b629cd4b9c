"""Floors of the segment score on the bundled web; they are raised with it, and never lowered without saying so."""

import pytest

from bitrawl.demo.sites import sites
from bitrawl.mining.align_evidence import Document, Text
from bitrawl.mining.judging import Judge
from bitrawl.mining.lexical_aligner import LexicalAligner
from bitrawl.model import Language, Segment, SegmentPair
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.sentences import sentences
from bitrawl.url import Url

URL = Url.parse("https://example.org/")


def texts(language_a, language_b):
    """The articles of the bundled web in both languages, paragraph by paragraph; only those that have as many."""
    for site in sites().values():
        for article in {article.key: article for article, _ in site.each()}.values():
            if {language_a, language_b} <= set(site.languages_of(article)):
                sides = [site.version(article, code).text.strip().split("\n\n") for code in (language_a, language_b)]
                if len(sides[0]) == len(sides[1]):
                    yield sides


def judged(language_a, language_b, shift):
    """The scores of paragraphs that correspond, or that are `shift` apart; the lexicon is the aligner's."""
    languages = Language(language_a), Language(language_b)
    aligner = LexicalAligner()
    found = list(texts(language_a, language_b))
    split = [[[s for p in side for s in sentences(p, languages[n])] for n, side in enumerate(sides)] for sides in found]
    aligner.align_documents([Document(Text.plain(a, languages[0]), Text.plain(b, languages[1])) for a, b in split])
    judge = Judge(languages, NgramLanguageIdentifier(), aligner.lexicon)
    scores = []
    for a, b in found:
        pairs = [
            SegmentPair(URL, URL, Segment(x, n, n), Segment(b[(n + shift) % len(b)], n, n), 0.99)
            for n, x in enumerate(a)
        ]
        scores += [pair.score for pair in judge.judge(pairs)]
    return scores


@pytest.mark.parametrize(("language_b", "kept", "passed"), [("fr", 0.97, 0.45), ("es", 0.97, 0.45), ("zh", 0.95, 0.1)])
def test_translations_pass_and_their_neighbours_do_not(language_b, kept, passed):
    right, wrong = judged("en", language_b, 0), judged("en", language_b, 1)
    assert sum(score >= 0.5 for score in right) >= kept * len(right)
    assert sum(score >= 0.5 for score in wrong) <= passed * len(wrong)
