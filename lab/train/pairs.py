"""Makes models/pairs.npz: how strongly each kind of evidence indicates that two pages are translations.

It is learned from site packs (`site_packs`): `python -m lab.train pairs --data SITES --out pairs.npz`. The same packs give
the same model.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bitrawl.files import replacing
from bitrawl.mining import PairSection
from bitrawl.mining.evidence import ALL, METHODS_OF, PageNumbers, both_ends, page_numbers
from bitrawl.mining.page_score import COLUMN, NAMES, Candidates, ScoreModel, probabilities
from bitrawl.mining.pairing import PairingRounds
from bitrawl.mining.site import Site, condense
from bitrawl.model import Language, Method, Page, Sitemap
from bitrawl.papers.replay import opened_replay
from bitrawl.papers.trial import UrlPair
from bitrawl.text.arrays import Trees
from bitrawl.text.template import without_template
from bitrawl.url import Url
from lab.train import Tell, silent
from lab.train.folds import without
from lab.train.site_packs import SitePack, open_packs
from lab.train.trees import grow, named_arrays

Floats = NDArray[np.float64]
Sample = tuple[Floats, Floats, Floats]
"""Features, labels and weights of the candidates of one lesson."""

CONTENT_ONLY = ALL - {Method.DECLARED, Method.URL, Method.MUTUAL}
"""What is left if nothing says which pages are translations: neither markup, nor URLs, nor switchers."""
WORDS_ONLY = CONTENT_ONLY - METHODS_OF["structure"] - METHODS_OF["images"] - METHODS_OF["digits"]
VIEWS = (ALL, CONTENT_ONLY, ALL - {Method.CONTENT}, WORDS_ONLY)
"""What URLs and structure say has to be enough where names, numbers and words say little, and the other way round."""
SPARED = 5  # Most candidates are plainly wrong: one in this many represents all of them. Judgement.
TREES = 150  # Judgement.
HIDDEN = 0.3  # Share of the pages whose URLs, or whose declarations, are hidden in one view. Judgement.
SMALL = ((15, 3), (60, 2))  # True pairs of small parts of a site, and how many such parts. Judgement.
# What the parts of one size count for together, beside the site itself. With 1, mean precision of sites that were left out is
# .984 instead of .985, at the same recall.
SMALL_WORTH = 0.2


@dataclass(frozen=True, slots=True)
class LabelledSite:
    """The pages of a site, its true pairs, and the pairs that nobody can judge."""

    name: str
    pages: Sequence[Page]
    languages: Sequence[Language]
    true: frozenset[UrlPair]
    doubtful: frozenset[UrlPair] = frozenset()
    sitemaps: tuple[Sitemap, ...] = ()

    def part(self, share: int, first: int = 0) -> "LabelledSite":
        """One in so many of its pages, each with its translations: the first such part, or another.

        One in 2n is within one in n.
        """
        group = {page.url: page.url for page in self.pages}

        def root(url: Url) -> Url:
            while group.get(url, url) != url:
                url = group[url]
            return url

        for a, b in sorted(self.true | self.doubtful):
            one, other = sorted((root(a), root(b)))
            group[other] = one
        low, high = first / share, (first + 1) / share
        pages = [page for page in self.pages if low <= crc32(root(page.url).encode()) / (1 << 32) < high]
        kept = {page.url for page in pages}
        return replace(self, pages=pages, true=frozenset(pair for pair in self.true if kept.issuperset(pair)))


@dataclass
class Lesson:
    """One site seen with some of the methods: its rounds, and what is true."""

    rounds: PairingRounds
    first: Candidates
    true: set[PageNumbers]
    doubtful: set[PageNumbers]
    hides: bool = False  # what URLs and declarations say of some of the pages
    worth: float = 1.0

    @classmethod
    def of(cls, labelled: LabelledSite, site: Site, methods: frozenset[Method], worth: float = 1.0) -> "Lesson":
        """A lesson whose first round is surveyed."""
        rounds = PairingRounds(site, PairSection(methods="".join(methods)))
        true, doubtful = numbered(site, labelled.true), numbered(site, labelled.doubtful)
        return cls(rounds, rounds.survey(), true, doubtful, hides=methods == ALL, worth=worth)

    def samples(self, candidates: Candidates) -> list[Sample]:
        """Features, labels, and weights that make every site count the same."""
        labels = np.array([pair in self.true for pair in candidates.pairs], float)
        taken = np.array([pair not in self.doubtful for pair in candidates.pairs])
        taken &= (labels == 1) | (np.arange(len(labels)) % SPARED == 0)
        weights = self.worth * np.where(labels == 1, 1.0, SPARED) / max(len(self.true), 1)
        views = [candidates, self._hidden(candidates)] if self.hides else [candidates]
        return [(view.rows[taken], labels[taken], weights[taken]) for view in views]

    def _hidden(self, candidates: Candidates) -> Candidates:
        """As if the URLs of some pages were opaque, and others declared nothing.

        On the sites that we have, all pages follow one convention. Elsewhere some have translated slugs.
        """
        rows = candidates.rows.copy()
        a, b = both_ends(candidates.keys)
        chances = np.random.default_rng(0).random((2, len(self.rounds.site.summaries)))
        for chance, names in zip(chances, (("url",), ("declared", "mutual")), strict=True):
            silent = (chance[a] < HIDDEN) | (chance[b] < HIDDEN)
            for name in names:
                rows[silent, COLUMN[name]] = 0.0
        self.rounds.surveyor.fill_context(candidates.keys, rows, self.rounds.known)
        return Candidates(candidates.keys, rows)

    def later(self, first: Trees) -> Candidates:
        """The candidates of the second round, after a first round with those trees."""
        self.rounds.settle(self.first, probabilities(first, self.first))
        return self.rounds.survey()


def train(data: Path, out: Path, *, cache: Path | None = None, tell: Tell = silent) -> None:
    """Write the model that the site packs below `data` give. A `cache` keeps their analysed pages for the next time."""
    taught = lessons(_labelled_sites(open_packs(data), cache, tell))
    tell(f"fitting the trees to {len(taught)} sites")
    write_model(fit([lesson for views in taught.values() for lesson in views]), out)


def write_model(model: ScoreModel, path: Path) -> None:
    """Write what `ScoreModel.load` reads. The same trees give the same bytes."""
    arrays = named_arrays(first=model.first, later=model.later)
    with replacing(path) as stream:
        np.savez_compressed(stream, names=np.array(NAMES), **arrays)  # type: ignore[arg-type]


def _labelled_sites(packs: Sequence[SitePack], cache: Path | None, tell: Tell) -> Iterator[LabelledSite]:
    for number, pack in enumerate(packs, 1):
        tell(f"{pack.name}, site {number} of {len(packs)}: reading its pages")
        site = labelled_site(pack, cache)
        tell(f"{pack.name}: {len(site.pages)} pages, {len(site.true)} true pairs; comparing the pages")
        yield site


def labelled_site(pack: SitePack, cache: Path | None = None) -> LabelledSite:
    """The pages of a pack, prepared for pairing. They are read from the archive, or from the cache if it has them."""

    async def read() -> LabelledSite:
        async with opened_replay([pack.archive], cache=cache) as replay:
            pages = await replay.pages()
            sitemaps = tuple(await replay.sitemaps(pages))
        clean = list(without_template(partial(iter, pages)))
        return LabelledSite(pack.name, clean, pack.languages, pack.true_pairs(), pack.uncounted_pairs(), sitemaps)

    return asyncio.run(read())


def numbered(site: Site, pairs: Iterable[tuple[Url, Url]]) -> set[PageNumbers]:
    """The pairs with both pages on the site."""
    known = [(site.by_url.get(a), site.by_url.get(b)) for a, b in pairs]
    return {page_numbers(a, b) for a, b in known if a is not None and b is not None and a != b}


def lessons(labelled: Iterable[LabelledSite]) -> dict[str, list[Lesson]]:
    """For each site, one lesson per set of methods, and some of small parts of it: most sites are small."""
    made: dict[str, list[Lesson]] = {}
    for one in labelled:
        made[one.name] = [Lesson.of(one, _condensed(one), view) for view in VIEWS]
        for pairs, count in SMALL:
            share = max(2, len(one.true) // pairs)
            for number in range(min(count, share)):
                part = one.part(share, number)
                if part.true:
                    made[one.name] += [
                        Lesson.of(part, _condensed(part), view, worth=SMALL_WORTH / count)
                        for view in (ALL, CONTENT_ONLY)
                    ]
    return made


def _condensed(labelled: LabelledSite) -> Site:
    return condense(sorted(labelled.pages, key=lambda page: page.url), labelled.languages, labelled.sitemaps)


def fit(taught: Sequence[Lesson]) -> ScoreModel:
    """Fit the trees of the first round, then with the pairs that they find those of the later rounds."""
    first = _fitted([sample for lesson in taught for sample in lesson.samples(lesson.first)])
    return ScoreModel(first, _fitted([sample for lesson in taught for sample in lesson.samples(lesson.later(first))]))


def fit_without_each(taught: Mapping[str, Sequence[Lesson]]) -> dict[str, ScoreModel]:
    """For each site, a model that was fitted to the other sites.

    A site's later rounds are surveyed once, after a first round with trees that have not seen the site.
    """
    seen = {name: _flat(lesson.samples(lesson.first) for lesson in made) for name, made in taught.items()}
    firsts = {name: _fitted(_flat(without(name, seen))) for name in taught}
    later = {
        name: _flat(lesson.samples(lesson.later(firsts[name])) for lesson in made) for name, made in taught.items()
    }
    return {name: ScoreModel(firsts[name], _fitted(_flat(without(name, later)))) for name in taught}


def _flat(samples: Iterable[Sequence[Sample]]) -> list[Sample]:
    return [sample for made in samples for sample in made]


def _fitted(samples: Sequence[Sample]) -> Trees:
    """Trees in which evidence can only count for a pair, and missing evidence only against it.

    Ten sites are few: without directions, a peculiarity of one site (such as declared placeholders) turns evidence into
    its opposite.
    """
    rows, labels, weights = (np.concatenate(columns).astype(np.float32) for columns in zip(*samples, strict=True))
    return grow(
        rows, labels, weights=weights * len(weights) / weights.sum(), directions=[*map(direction, NAMES)], trees=TREES
    )


def direction(name: str) -> int:
    """Whether a feature may only count for a pair, 1, only against it, -1, or either way."""
    if name.endswith(("_differ", "_absent")) or name in ("shared", "same", "small"):
        return -1
    return 0 if name.endswith("_unknown") else 1
