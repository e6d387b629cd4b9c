"""Segment pairs of which it is known whether they are translations: from gold alignments, and from sites.

On a site nobody has marked them. But two pages that were made from one source have the same outline: there the n-th
paragraph of one is the translation of the n-th of the other, whatever the aligner says. What it says is right or wrong
by that, without a look at any word.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from bitrawl.archive.archived_web import Archives
from bitrawl.mining.align_evidence import Document, Text
from bitrawl.mining.aligned_pages import SiteAligner, page_sentences
from bitrawl.mining.lexical_aligner import LexicalAligner
from bitrawl.model import Bead, Capture, Language, Page, Segment, SegmentPair
from bitrawl.page.analyser import page_reader
from bitrawl.text.known_words import known_words
from bitrawl.text.template import without_template
from bitrawl.url import Url

PAIRS_OF_GROUP = 30  # page pairs of a site and two languages: enough for a lexicon, few enough for an evening
LONGEST = 250  # sentences of a page
# Of the ten site packs those that differ in script, family and kind of site.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "apache-httpd": ("en-fr", "en-ko", "en-tr", "en-ja"),
    "apisix": ("en-zh",),
    "debian-handbook": ("en-es", "en-fr"),
    "debian-manuals": ("en-it", "en-zh", "en-ja", "de-pt", "en-ru"),
    "gimp-help": ("en-fr", "en-de"),
    "installation-guide": ("en-el", "en-ja", "en-ru", "de-fr"),
    "lilypond": ("en-fr", "en-es"),
    "openbsd-2009": ("en-nl", "en-pl", "en-hu", "en-pt", "en-lt"),
    "webgl-fundamentals": ("en-ko", "en-zh", "en-ru"),
    "wet-styleguide": ("en-fr",),
}
_CONTEXT = 3  # tags before a paragraph that tell its place
_LEAST_BLOCK, _LEAST_KINDS = 8, 3  # paragraphs in a row that are alike, and kinds of place among them; judgement
_SORTED = 5  # list items in a row that are in alphabetical order on both sides: sorted, so not in the same order
_UNSPACED = frozenset(("zh", "ja", "th"))

Pages = tuple[Page, Page]
Span = tuple[int, int]


class LabelledPage(NamedTuple):
    """The beads of two pages in order, and whether each is right; None where nobody can say."""

    pairs: tuple[SegmentPair, ...]
    right: tuple[bool | None, ...]
    made_up: tuple[bool, ...] = ()  # which were made wrong; none where nothing was

    def part(self, numbers: slice) -> "LabelledPage":
        return LabelledPage(self.pairs[numbers], self.right[numbers], self.made_up[numbers])


class Group(NamedTuple):
    """Pages of one site, or documents of one gold alignment, in two languages."""

    source: str
    languages: tuple[Language, Language]
    pages: tuple[LabelledPage, ...]


def site_group(folder: Path, languages: tuple[Language, Language]) -> Group:
    """Aligned as a job does it; `folder` is a site pack with its site.warc.gz and truth.tsv."""
    pages = chosen_pages(folder, languages)
    aligned = SiteAligner(languages).align(pages)
    labelled = [
        LabelledPage(tuple(pairs), tuple(by_outline(*both, pairs, languages)))
        for both, pairs in zip(pages, aligned, strict=True)
    ]
    return Group(folder.name, languages, tuple(labelled))


def chosen_pages(folder: Path, languages: tuple[Language, Language]) -> list[Pages]:
    """Known pairs, spread over the site."""
    with (folder / "truth.tsv").open() as lines:
        rows = [row for row in csv.DictReader(lines, delimiter="\t") if (row["lang_a"], row["lang_b"]) == languages]
    reader = page_reader()
    with Archives([folder / "site.warc.gz"]) as archives:
        step = max(1, len(rows) // (2 * PAIRS_OF_GROUP))
        urls = [(Url.parse(row["url_a"]), Url.parse(row["url_b"])) for row in rows[::step]]
        read = [
            reader.read(capture)
            for url in {url for both in urls for url in both}
            if (capture := _capture(archives, url))
        ]
    pages = [page for page in read if isinstance(page, Page)]
    clean = {page.url: page for page in without_template(lambda: pages)}
    found = [(clean[a], clean[b]) for a, b in urls if a in clean and b in clean]
    return [both for both in found if _is_usable(both, languages)][:PAIRS_OF_GROUP]


def gold_groups(folder: Path) -> Iterator[Group]:
    """Of each corpus below it; a bead is right when it is one of the gold, or several of them together."""
    by_corpus: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*/meta.json")):
        by_corpus.setdefault(json.loads(path.read_text("utf-8"))["corpus"], []).append(path.parent)
    for corpus, folders in by_corpus.items():
        meta = json.loads((folders[0] / "meta.json").read_text("utf-8"))
        languages = Language(meta["src"]), Language(meta["trg"])
        sides = [(_lines(path / "src.txt"), _lines(path / "trg.txt")) for path in folders]
        documents = [Document(Text.plain(a, languages[0]), Text.plain(b, languages[1])) for a, b in sides]
        found = LexicalAligner(prior=known_words(*languages)).align_documents(documents)
        pages = [
            gold_page(beads, texts, _gold(path / "gold.tsv"), languages)
            for beads, texts, path in zip(found, sides, folders, strict=True)
        ]
        yield Group(corpus, languages, tuple(pages))


def by_outline(
    a: Page, b: Page, pairs: Sequence[SegmentPair], languages: tuple[Language, Language]
) -> Iterator[bool | None]:
    """Whether each bead is right, by the paragraphs that correspond in the outline and by their sentences in order.

    Where aligner and outline agree, the bead is right; where they do not, it is wrong only if the outlines are the same
    from the first paragraph to the last. (Of beads that part of an outline contradicts, most are right: read, 2026-11.)
    """
    partner = _partners(a, b)
    whole = _places(a) == _places(b)
    sentences = [_spans(page, language) for page, language in zip((a, b), languages, strict=True)]
    for pair in pairs:
        expected = partner.get(pair.a.paragraph)
        if expected is None or pair.b.paragraph not in partner.values():
            yield None
        elif pair.b.paragraph != expected:
            yield False if whole else None
        else:
            yield _is_right(pair, sentences[0][pair.a.paragraph], sentences[1][expected])


def _is_right(pair: SegmentPair, span_a: Span, span_b: Span) -> bool | None:
    """Within two paragraphs that correspond: both whole, or as many sentences on either side and the same one of them."""
    sizes = tuple(map(int, pair.type.split(":")))
    offsets = pair.a.sentence - span_a[0], pair.b.sentence - span_b[0]
    if offsets == (0, 0) and sizes == (span_a[1], span_b[1]):
        return True
    if span_a[1] != span_b[1]:
        return None
    return True if offsets[0] == offsets[1] and sizes[0] == sizes[1] else None


def _partners(a: Page, b: Page) -> dict[int, int]:
    """Paragraphs that correspond, by their numbers: in stretches in which the outlines are the same."""
    places_a, places_b = _places(a), _places(b)
    found: dict[int, int] = {}
    for start_a, start_b, size in SequenceMatcher(None, places_a, places_b, autojunk=False).get_matching_blocks():
        if size >= _LEAST_BLOCK and len(set(places_a[start_a : start_a + size])) >= _LEAST_KINDS:
            found.update(zip(range(start_a, start_a + size), range(start_b, start_b + size), strict=True))
    for number in _sorted_lists(a, b, found):
        del found[number]
    return found


def _places(page: Page) -> list[tuple[str, ...]]:
    return [
        (paragraph.kind, *page.tags[max(paragraph.position - _CONTEXT, 0) : max(paragraph.position, 0)])
        for paragraph in page.paragraphs
    ]


def _sorted_lists(a: Page, b: Page, partner: Mapping[int, int]) -> set[int]:
    """Items of lists that are in alphabetical order on both sides."""
    found: set[int] = set()
    run: list[int] = []
    for number in (*sorted(partner), None):
        if run and number is not None and number == run[-1] + 1 and _in_order(a, b, partner, (run[-1], number)):
            run.append(number)
            continue
        if len(run) >= _SORTED:
            found.update(run)
        run = [] if number is None else [number]
    return found


def _in_order(a: Page, b: Page, partner: Mapping[int, int], two: Span) -> bool:
    texts_a = [a.paragraphs[number].text.casefold() for number in two]
    texts_b = [b.paragraphs[partner[number]].text.casefold() for number in two]
    return texts_a[0] <= texts_a[1] and texts_b[0] <= texts_b[1]


def _spans(page: Page, language: Language) -> dict[int, Span]:
    """For each paragraph its first sentence, and how many it has."""
    found: dict[int, Span] = {}
    for number, sentence in enumerate(page_sentences(page, language)):
        first, size = found.get(sentence.paragraph, (number, 0))
        found[sentence.paragraph] = first, size + 1
    return found


def _is_usable(both: Pages, languages: tuple[Language, Language]) -> bool:
    sizes = [len(page_sentences(page, language)) for page, language in zip(both, languages, strict=True)]
    return min(sizes) >= 3 and max(sizes) <= LONGEST


def _capture(archives: Archives, url: Url) -> Capture | None:
    answer = archives.answer(url)
    return answer if isinstance(answer, Capture) else None


def gold_page(
    beads: Sequence[Bead],
    texts: tuple[Sequence[str], Sequence[str]],
    gold: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    languages: tuple[Language, Language],
) -> LabelledPage:
    """The beads of both sides; right is what is one bead of `gold`, or several of them together."""
    of_a = {n: i for i, (a, _) in enumerate(gold) for n in a}
    of_b = {n: i for i, (_, b) in enumerate(gold) for n in b}
    pairs, right = [], []
    for bead in beads:
        if not bead.a or not bead.b:
            continue
        whole = {of_a.get(n, -1) for n in bead.a} | {of_b.get(n, -1) for n in bead.b}
        right.append(
            -1 not in whole
            and all(gold[i][0] and gold[i][1] for i in whole)
            and {n for i in whole for n in gold[i][0]} == set(bead.a)
            and {n for i in whole for n in gold[i][1]} == set(bead.b)
        )
        a, b = (
            Segment(("" if language in _UNSPACED else " ").join(side[n] for n in numbers), -1, numbers[0])
            for side, numbers, language in zip(texts, (bead.a, bead.b), languages, strict=True)
        )
        pairs.append(SegmentPair(_NOWHERE, _NOWHERE, a, b, bead.score, f"{len(bead.a)}:{len(bead.b)}"))
    return LabelledPage(tuple(pairs), tuple(right))


_NOWHERE = Url.parse("https://example.org/")


def _gold(path: Path) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    rows = (line.split("\t") for line in _lines(path)[1:])
    beads = [tuple(tuple(int(n) for n in side.split(",") if n) for side in row) for row in rows]
    return [(a, b) for a, b in beads if a or b]


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").removesuffix("\n").split("\n")
