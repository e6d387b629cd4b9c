"""Everything that is measured for two pages, as one row of numbers. The score is computed from it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Method
from bitrawl.pair import structure
from bitrawl.pair.content import KeptSpace, Lexicons, LexiconSpace, WordIndex
from bitrawl.pair.declared import DeclaredDetector, MutualDetector
from bitrawl.pair.embeddings import EmbeddingSpace
from bitrawl.pair.evidence import METHODS_OF, Detector, Evidence, Known, PageNumbers
from bitrawl.pair.images import DigitDetector, ImageDetector, digits, jaccard, rare_images
from bitrawl.pair.parents import BridgeDetector, ParentDetector, Relatives
from bitrawl.pair.site import Site
from bitrawl.pair.structure import StructureDetector
from bitrawl.pair.url_pairs import UrlDetector
from bitrawl.pair.verification import shared_text
from bitrawl.protocols import Encoder

Floats = NDArray[np.float64]

# Judgements.
MANY_NUMBERS = 5  # If a page has this many digit sequences, their absence from the other page counts ...
FEW_SHARED = 0.3  # ... when less than this share of them is on both.
SMALL = 300  # Weight of a page that offers little to measure.
STRONG = 0.8  # Evidence from this value on counts for how many pages of a site have some.

# Evidence that is compared with that of the rivals: other candidates of each page in the other's language.
RIVALLED = ("declared", "url", "kept", "lexicon", "parents", "structure")
NAMES = (
    "declared",
    "url",
    "images",
    "images_differ",
    "digits",
    "digits_differ",
    "blocks",
    "lengths",
    "prints",
    "tags",
    "structure",
    "kept",
    "lexicon",
    "lexicon_unknown",
    "parents",
    "relatives",
    "relatives_unknown",
    "mutual",
    "bridge",
    "bridge_absent",
    "shared",
    "small",
    "url_absent",
    "declared_absent",
    *(f"{name}_margin" for name in RIVALLED),
)
COLUMN = {name: place for place, name in enumerate(NAMES)}


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs that some method suggests, one row of features for each."""

    pairs: list[PageNumbers]
    rows: Floats

    def column(self, name: str) -> Floats:
        return self.rows[:, COLUMN[name]]


class Surveyor:
    """Measures the candidates of one site, again whenever more pairs are known. What cannot change is kept."""

    def __init__(
        self,
        site: Site,
        methods: frozenset[Method],
        *,
        url: UrlDetector,
        lexicons: Lexicons | None = None,
        encoder: Encoder | None = None,
        left_out: Collection[int] = (),
    ) -> None:
        self._site = site
        self._left_out = frozenset(left_out)
        self._methods = methods
        self.url = url
        self._lexicons = lexicons or Lexicons()
        self._kept = KeptSpace(site)
        self._embedded = EmbeddingSpace(site, encoder) if encoder and Method.CONTENT in methods else None
        self._words = WordIndex(site)
        self._rare = rare_images(site.summaries)
        self._fixed: dict[PageNumbers, list[float]] = {}
        self._first = self._static_evidence()

    def survey(self, known: Known) -> Candidates:
        """All features of all candidates, given the known pairs."""
        site = self._site
        found = dict(self._first)
        found["url"] = self._of("url", self.url, known)
        found["parents"] = self._of("parents", ParentDetector(), known)
        found["bridge"] = self._of("bridge", BridgeDetector(), known)
        lexicon = LexiconSpace(self._words, known, self._lexicons) if self._asked("kept") else None
        proposed = set().union(*(found[name] for name in found), lexicon.candidates() if lexicon else ())
        pairs = sorted(p for p in proposed if self._left_out.isdisjoint(p) and structure.comparable(site, p))
        rows = np.zeros((len(pairs), len(NAMES)))
        for name in ("declared", "url", "parents", "bridge", "mutual"):
            evidence = found[name]
            rows[:, COLUMN[name]] = [evidence.get(pair, 0.0) for pair in pairs]
        self._fill_fixed(pairs, rows)
        self._fill_lexicon(pairs, rows, lexicon)
        self._fill_relatives(pairs, rows, known)
        self._fill_context(pairs, rows)
        return Candidates(pairs, rows)

    def _static_evidence(self) -> dict[str, Evidence]:
        nothing = Known()
        kept = dict.fromkeys(self._kept.candidates(), 1.0) if self._asked("kept") else {}
        return {
            "declared": self._of("declared", DeclaredDetector(), nothing),
            "mutual": self._of("mutual", MutualDetector(), nothing),
            "images": self._of("images", ImageDetector(), nothing),
            "digits": self._of("digits", DigitDetector(), nothing),
            "structure": self._of("structure", StructureDetector(), nothing),
            "kept": kept,
            "embedded": dict.fromkeys(self._embedded.candidates(), 1.0) if self._embedded else {},
        }

    def _of(self, name: str, detector: Detector, known: Known) -> Evidence:
        return detector.propose(self._site, known) if self._asked(name) else {}

    def _asked(self, name: str) -> bool:
        """Whether a selected method needs this measure."""
        return not self._methods.isdisjoint(METHODS_OF[name])

    def _fill_fixed(self, pairs: Sequence[PageNumbers], rows: Floats) -> None:
        """What two pages alone tell, whatever else is known."""
        names = ("images", "images_differ", "digits", "digits_differ", "blocks", "lengths", "prints", "tags")
        columns = [COLUMN[name] for name in (*names, "structure", "kept", "shared", "small")]
        for place, pair in enumerate(pairs):
            fixed = self._fixed.get(pair)
            if fixed is None:
                fixed = self._fixed[pair] = self._measure(pair)
            rows[place, columns] = fixed

    def _measure(self, pair: PageNumbers) -> list[float]:
        site, methods = self._site, self._methods
        a, b = site.summaries[pair[0]], site.summaries[pair[1]]
        images = jaccard(site, pair, self._rare) if self._asked("images") else 0.0
        both = bool(a.images & self._rare.keys()) and bool(b.images & self._rare.keys())
        digit = digits(site, pair) if self._asked("digits") else 0.0
        many = max(len(a.numbers), len(b.numbers)) >= MANY_NUMBERS
        measured = structure.measures(site, pair)
        combined = structure.selected(structure.combined(measured), methods)
        kept = self._kept.cosine(pair) if self._asked("kept") else 0.0
        if self._embedded:  # on the same scale, so that the score needs no other weights
            kept = max(kept, self._embedded.similarity(pair))
        return [
            images,
            float(both and not images and self._asked("images")),
            digit,
            float(many and digit < FEW_SHARED and self._asked("digits")),
            *measured,
            combined,
            kept,
            shared_text(a, b),
            float(min(a.weight, b.weight) < SMALL),
        ]

    def _fill_lexicon(self, pairs: Sequence[PageNumbers], rows: Floats, lexicon: LexiconSpace | None) -> None:
        values = lexicon.similarities(pairs) if lexicon else np.full(len(pairs), -1.0)
        rows[:, COLUMN["lexicon"]] = np.maximum(values, 0)
        rows[:, COLUMN["lexicon_unknown"]] = values < 0

    def _fill_relatives(self, pairs: Sequence[PageNumbers], rows: Floats, known: Known) -> None:
        relatives = Relatives(self._site, known) if known and self._asked("parents") else None
        values = np.array([relatives.similarity(pair) if relatives else -1.0 for pair in pairs])
        rows[:, COLUMN["relatives"]] = np.maximum(values, 0)
        rows[:, COLUMN["relatives_unknown"]] = values < 0

    def _fill_context(self, pairs: Sequence[PageNumbers], rows: Floats) -> None:
        """The evidence of the rivals, and evidence that is missing although the rest of the site has it."""
        if not pairs:
            return
        groups = self._groups(pairs)
        for name in RIVALLED:
            values = rows[:, COLUMN[name]]
            rows[:, COLUMN[f"{name}_margin"]] = values - best_rivals(groups, values)
        languages = self._language_pairs(pairs)
        for name in ("url", "declared"):
            values = rows[:, COLUMN[name]]
            rows[:, COLUMN[f"{name}_absent"]] = (values == 0) * self._coverage(languages, values)
        bridged = rows[:, COLUMN["bridge"]]
        rows[:, COLUMN["bridge_absent"]] = (bridged == 0) * best_rivals(groups, bridged)

    def _groups(self, pairs: Sequence[PageNumbers]) -> NDArray[np.int64]:
        """Two rows: for each candidate, a number for its first page with the other's language, and for its second."""
        ids: dict[tuple[int, str], int] = {}
        summaries = self._site.summaries
        first = [ids.setdefault((a, summaries[b].language), len(ids)) for a, b in pairs]
        second = [ids.setdefault((b, summaries[a].language), len(ids)) for a, b in pairs]
        return np.array([first, second])

    def _language_pairs(self, pairs: Sequence[PageNumbers]) -> list[tuple[str, ...]]:
        summaries = self._site.summaries
        return [tuple(sorted((summaries[a].language, summaries[b].language))) for a, b in pairs]

    def _coverage(self, languages: Sequence[tuple[str, ...]], values: Floats) -> Floats:
        """For each candidate, how many of the pages of its rarer language have such evidence with a high value."""
        sizes: dict[str, int] = {}
        for summary in self._site.summaries:
            sizes[summary.language] = sizes.get(summary.language, 0) + 1
        counts: dict[tuple[str, ...], int] = {}
        for both, value in zip(languages, values, strict=True):
            if value >= STRONG:
                counts[both] = counts.get(both, 0) + 1
        return np.array([min(1.0, counts.get(both, 0) / min(sizes[x] for x in both)) for both in languages])


def best_rivals(groups: NDArray[np.int64], values: Floats) -> Floats:
    """For each candidate, the highest value of the other candidates of each page in the other's language.

    Both rows are processed at once, because a page is the first of some of its candidates and the second of others,
    depending on the page numbers.
    """
    rivals = _best_rival(groups.ravel(), np.tile(values, 2))
    return np.maximum(rivals[: len(values)], rivals[len(values) :])


def _best_rival(groups: NDArray[np.int64], values: Floats) -> Floats:
    """For each element, the highest value of the others in its group; 0 if it is alone."""
    order = np.lexsort((values, groups))
    sorted_groups, sorted_values = groups[order], values[order]
    last = np.append(sorted_groups[1:] != sorted_groups[:-1], True)
    top = np.zeros(int(groups.max()) + 1)
    second = np.zeros_like(top)
    top[sorted_groups[last]] = sorted_values[last]
    places = np.flatnonzero(last)
    has_second = (places > 0) & (sorted_groups[places - 1] == sorted_groups[places])
    second[sorted_groups[places[has_second]]] = sorted_values[places[has_second] - 1]
    is_top = np.zeros(len(groups), bool)
    is_top[order[places]] = True
    return np.where(is_top, second[groups], top[groups])
