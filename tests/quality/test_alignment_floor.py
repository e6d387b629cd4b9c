"""Floors of the aligner; they are raised with it, and never lowered without saying so."""

from pathlib import Path

import pytest

from bitrawl.demo.sites import sites
from bitrawl.mining.align_evidence import Document, Text
from bitrawl.mining.lexical_aligner import LexicalAligner
from bitrawl.model import Language
from bitrawl.text.sentences import sentences

SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "alignment"
LEAVE_OUT, JOIN = 11, 7  # Of the bundled web, every so many-th sentence is dropped on one side, or two of them joined.


def bundled(language_a, language_b):
    """The articles of the bundled web in two languages as plain sentences, made harder, and their true beads."""
    documents, golds = [], []
    for site in sites().values():
        for article in {article.key: article for article, _ in site.each()}.values():
            if {language_a, language_b} <= set(site.languages_of(article)):
                a, b, gold = harder(*(paragraphs(site, article, language) for language in (language_a, language_b)))
                documents.append(Document(Text.plain(a, Language(language_a)), Text.plain(b, Language(language_b))))
                golds.append(gold)
    return documents, golds


def paragraphs(site, article, language):
    text = site.version(article, language).text.strip()
    return [sentences(paragraph, Language(language)) for paragraph in text.split("\n\n")]


def harder(paragraphs_a, paragraphs_b):
    a, b, gold, count = [], [], [], 0
    for one, other in zip(paragraphs_a, paragraphs_b, strict=True):
        pairs = list(zip(one, other, strict=False))
        if len(one) != len(other):  # Which of its sentences correspond is not written down.
            pairs = [(" ".join(one), " ".join(other))]
        for left, right in pairs:
            count += 1
            a.append(left)
            if count % LEAVE_OUT == 0:
                gold.append(((len(a) - 1,), ()))
            elif count % JOIN == 0 and gold and gold[-1][1]:
                b[-1] += f" {right}"
                gold[-1] = ((*gold[-1][0], len(a) - 1), gold[-1][1])
            else:
                b.append(right)
                gold.append(((len(a) - 1,), (len(b) - 1,)))
    return a, b, gold


def strict_f1(found, golds):
    right = proposed = recalled = wanted = 0
    for beads, gold in zip(found, golds, strict=True):
        mine, true = {(bead.a, bead.b) for bead in beads}, set(gold)
        right, proposed = right + len(mine & true), proposed + len(mine)
        recalled += sum(1 for a, b in mine & true if a and b)
        wanted += sum(1 for a, b in true if a and b)
    precision, recall = right / proposed, recalled / wanted
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(("language_b", "floor"), [("fr", 0.98), ("es", 0.98), ("zh", 0.97)])
def test_the_bundled_web_is_aligned_as_well_as_it_was(language_b, floor):
    documents, golds = bundled("en", language_b)
    found = LexicalAligner().align_documents(documents)
    assert strict_f1(found, golds) >= floor


def test_scores_mean_what_they_say():
    documents, golds = bundled("en", "fr")
    judged = [
        (bead.score, (bead.a, bead.b) in gold)
        for beads, gold in zip(LexicalAligner().align_documents(documents), map(set, golds), strict=True)
        for bead in beads
    ]
    sure = [right for score, right in judged if score >= 0.9]
    unsure = [right for score, right in judged if score < 0.7]
    assert sum(sure) / len(sure) >= 0.95
    assert not unsure or sum(unsure) / len(unsure) < 0.8


@pytest.mark.skipif(not SHARED.exists(), reason="the alignment sets are not in the repository")
def test_alpine_german_and_french_are_aligned_as_well_as_they_were():
    folder = SHARED / "textberg1957-dev"
    a, b, gold = (
        (folder / name).read_text("utf-8").removesuffix("\n").split("\n") for name in ("src.txt", "trg.txt", "gold.tsv")
    )
    true = [tuple(tuple(map(int, filter(None, side.split(",")))) for side in line.split("\t")) for line in gold[1:]]
    beads = LexicalAligner().align_documents([Document.plain(a, b, (Language("de"), Language("fr")))])[0]
    assert strict_f1([beads], [[bead for bead in true if bead[0] or bead[1]]]) >= 0.85
