"""The methods that look at two pages alone: declarations, links, images, digits, structure, URLs and paragraph lengths.

By letter: a, pages that declare each other translations, and r, pages that link to each other like ones; p, i, d, pages
with the same rare images and the same digit sequences, and h, m, l, pages built alike (Papavassiliou et al., section 3.9;
Liu et al., section 4); u, pages whose URLs are versions of each other.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from rapidfuzz.distance import Indel, Levenshtein

from bitrawl.languages import same_language
from bitrawl.mining.evidence import Evidence, KnownPairs, PageNumbers, best_few, both_ends, page_numbers, pair_keys
from bitrawl.mining.site import LENGTH_STEPS, MAX_TEXT, SOURCES, Site, claim_of, source_of
from bitrawl.model import UNDETERMINED, Method
from bitrawl.text.arrays import Bools, Ints, distinct, places_in
from bitrawl.url import Url
from bitrawl.urls import LIKELY, Versions

# What one side alone declares is worth half; each further place that says so halves what is missing, and a
# declaration that is returned is believed. Google ignores those that are not; about 31 % of the sites that have
# hreflang have wrong ones.
# The two numbers are judgements: the score weighs them against the rest.
ONE_WAY = 0.5
RECIPROCAL = 0.9
MAX_RIVALS = 5  # A page that exchanges links with more pages of a language has them in a menu.

_COUNTS = np.array([bits.bit_count() for bits in range(1 << len(SOURCES))])


class DeclaredDetector:
    """Alternates of pages and of sitemaps. A page that many others declare their translation is nobody's."""

    def propose(self, site: Site, known_pairs: KnownPairs) -> Evidence:  # noqa: ARG002
        """Reciprocal ones above one-way ones, several sources above one."""
        directed, bits = _without_hubs(site, *declarations(site))
        back = places_in(directed, _reversed(directed))
        sources = bits | np.where(back >= 0, bits[back] if len(back) else 0, 0)
        floor = np.where(back >= 0, RECIPROCAL, ONE_WAY)
        values = 1 - (1 - floor) * 0.5 ** (_COUNTS[sources] - 1)
        keys, first = np.unique(pair_keys(*both_ends(directed)), return_index=True)
        return Evidence(keys, values[first])


def declarations(site: Site) -> tuple[Ints, Ints]:
    """Who declares whom, in ascending order: a key whose first page is the one that declares, and a bit for each source.

    Only of pages in another language, and only as what they are.
    """
    by, to, labels = _declared(site)
    fits = _fits(site)[claim_of(labels), site.spoken[to]] & (site.spoken[by] != site.spoken[to])
    keys, bits = _directed(by, to)[fits], (1 << source_of(labels))[fits]
    order = np.argsort(keys, kind="stable")
    distinct, starts = np.unique(keys[order], return_index=True)
    return distinct, np.bitwise_or.reduceat(bits[order], starts) if len(starts) else bits


def claims(site: Site) -> set[PageNumbers]:
    """Pages that one declares a translation of the other, though both are in one language."""
    by, to, labels = _declared(site, groups=False)
    wrong = ~_fits(site)[claim_of(labels), site.spoken[to]] & (site.spoken[by] == site.spoken[to])
    a, b = both_ends(distinct(pair_keys(by[wrong], to[wrong])))
    return set(zip(a.tolist(), b.tolist(), strict=True))


def _declared(site: Site, *, groups: bool = True) -> tuple[Ints, Ints, Ints]:
    """Each declaration: by which page, of which, and its label."""
    rows = site.alternates
    columns = [[rows.owners(), rows.flat, rows.values]]
    for pages, labels in site.groups if groups else ():
        everyone, place = np.meshgrid(pages, np.arange(len(pages)), indexing="ij")
        others = everyone != pages[place]
        columns.append([everyone[others], pages[place][others], labels[place][others]])
    by, to, all_labels = (np.concatenate(parts).astype(np.int64) for parts in zip(*columns, strict=True))
    return by, to, all_labels


def _fits(site: Site) -> Bools:
    """For each language that is claimed and each of the site, whether a page in the second may be called so."""
    table = [
        [claim == UNDETERMINED or same_language(claim, language) for language in site.languages]
        for claim in site.claims
    ]
    return np.array(table, bool).reshape(len(site.claims), len(site.languages))


def _directed(by: Ints, to: Ints) -> Ints:
    return (by << 32) | to


def _reversed(keys: Ints) -> Ints:
    by, to = both_ends(keys)
    return _directed(to, by)


def _without_hubs(site: Site, keys: Ints, sources: Ints) -> tuple[Ints, Ints]:
    """Without those that lead where many others of the same language lead: a switcher to the home page."""
    by, to = both_ends(keys)
    _, group, counts = np.unique(to * len(site.languages) + site.spoken[by], return_inverse=True, return_counts=True)
    own = (counts[group] == 1) | (places_in(keys, _reversed(keys)) >= 0)
    return keys[own], sources[own]


class MutualDetector:
    """Pages in two languages that link to each other, when few others do: most language switchers are undeclared."""

    def propose(self, site: Site, known_pairs: KnownPairs) -> Evidence:  # noqa: ARG002
        """1 for the only page of that language that a page exchanges links with, less for one of several."""
        by, to = site.links.owners(), site.links.flat
        across = site.spoken[by] != site.spoken[to]
        keys = distinct(_directed(by[across].astype(np.int64), to[across].astype(np.int64)))
        mutual = keys[places_in(keys, _reversed(keys)) >= 0]
        a, b = both_ends(mutual[mutual < _reversed(mutual)])
        ends = np.concatenate([a, b]) * len(site.languages) + site.spoken[np.concatenate([b, a])]
        _, group, counts = np.unique(ends, return_inverse=True, return_counts=True)
        rivals = np.maximum(counts[group][: len(a)], counts[group][len(a) :])
        few = rivals <= MAX_RIVALS
        return Evidence(pair_keys(a[few], b[few]), 1 / rivals[few])


# Judgements, except where a line names its evidence.
COMMON_SHARE = 0.1  # Papavassiliou: an image on more than 10 % of the pages is common, whatever the density says.
MAX_HOLDERS = 100  # Pages that have an image which candidates are looked up by: it bounds the time.
FEW = 10  # Candidates that share images with a page, in a language.
RARE = 3  # Pages of each language that have a number which is looked up.
MIN_NUMBERS = 3  # Fewer digit sequences are alike by chance.
_GRID = 512  # Points at which a density is estimated.


class ImageDetector:
    """Pages that share rare images: Jaccard's coefficient of their lists, each image weighted by its rarity."""

    def propose(self, site: Site, known_pairs: KnownPairs) -> Evidence:  # noqa: ARG002
        """The best of the pairs that share a rare image."""
        rare = RareImages(site)
        holders: dict[int, list[int]] = defaultdict(list)
        for number, images in rare.of_page.items():
            for image in images:
                holders[image].append(number)
        pairs = across(site, holders.values(), MAX_HOLDERS)
        return best_few(site, Evidence.of({pair: rare.jaccard(pair) for pair in pairs}), FEW)


class RareImages:
    """The images below the threshold, with what each is worth: one that two pages have says more than one of ten."""

    def __init__(self, site: Site) -> None:
        images, counts = np.unique(site.images.flat, return_counts=True)
        most = max(COMMON_SHARE * len(site.summaries), len(site.languages))
        limit = min(density_threshold(np.sort(counts).tolist()), most)
        few = (counts > 1) & (counts <= limit)
        worth = [1 / math.log2(1 + count) for count in counts[few].tolist()]
        self.worth = dict(zip(images[few].tolist(), worth, strict=True))
        rows = site.images.where(np.isin(site.images.flat, images[few]))
        self.of_page = {number: frozenset(rows[number].tolist()) for number in np.flatnonzero(rows.lengths()).tolist()}

    def jaccard(self, pair: PageNumbers) -> float:
        """Of the rare images of two pages, by weight; 0 where one has none."""
        a, b = (self.of_page.get(number, frozenset()) for number in pair)
        if not a or not b:
            return 0.0
        return math.fsum(self.worth[image] for image in a & b) / math.fsum(self.worth[image] for image in a | b)


def density_threshold(frequencies: Sequence[int]) -> float:
    """The minimum just after the main lobe of the estimated density of image frequencies.

    A Gaussian kernel with the normal-optimal bandwidth of Bowman and Azzalini (1997), the spread being the median
    absolute deviation; infinity where the density has one lobe only.
    """
    if len(frequencies) < 3:
        return math.inf
    sample = np.asarray(frequencies, float)
    deviation = float(np.median(np.abs(sample - np.median(sample)))) / 0.6745
    bandwidth = max((deviation or float(sample.std()) or 1.0) * (4 / (3 * len(sample))) ** 0.2, 0.5)
    values, counts = np.unique(sample, return_counts=True)
    grid = np.linspace(values[0] - bandwidth, values[-1] + bandwidth, _GRID)
    density = np.exp(-0.5 * ((grid[:, None] - values) / bandwidth) ** 2) @ counts
    lobe = int(np.argmax(density))
    rising = np.diff(density[lobe:]) > 0
    return float(grid[lobe + int(np.argmax(rising))]) if rising.any() else math.inf


class DigitDetector:
    """Pages whose digit sequences are alike: candidates share a rare number, then the order counts too."""

    def propose(self, site: Site, known_pairs: KnownPairs) -> Evidence:  # noqa: ARG002
        """Pairs that share two numbers which few pages have."""
        keys, counts = np.unique(_sharing_rare_numbers(site), return_counts=True)
        keys = keys[counts > 1]
        a, b = both_ends(keys)
        values = np.array([digits(site, pair) for pair in zip(a.tolist(), b.tolist(), strict=True)], float)
        return Evidence(keys[values > 0], values[values > 0])


def _sharing_rare_numbers(site: Site) -> Ints:
    """The pairs of pages in two languages that have a number which few pages have, as often as they share one."""
    owners = site.numbers.owners().astype(np.int64)
    held = distinct(site.numbers.flat.astype(np.int64) << 32 | owners)  # by number, each page once
    numbers, pages = both_ends(held)
    _, group, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
    rare = sizes[group] <= RARE * len(site.languages)
    numbers, pages = numbers[rare], pages[rare]
    keys = [np.zeros(0, np.int64)]
    for step in range(1, RARE * len(site.languages)):
        a, b = pages[:-step], pages[step:]
        both = (numbers[:-step] == numbers[step:]) & (site.spoken[a] != site.spoken[b])
        if not len(both):
            break
        keys.append(pair_keys(a[both], b[both]))
    return np.concatenate(keys)


def digits(site: Site, pair: PageNumbers) -> float:
    """What share of the digit sequences of two pages stands in the same order on both; 0 for too few."""
    a, b = (site.numbers[number] for number in pair)
    if min(len(a), len(b)) < MIN_NUMBERS or 3 * min(len(a), len(b)) < max(len(a), len(b)):
        return 0.0
    return float(Indel.normalized_similarity(a.tolist(), b.tolist()))


def across(site: Site, groups: Iterable[Sequence[int]], most: int) -> set[PageNumbers]:
    """The pairs of pages in two languages that share a group, among groups of at most so many; their numbers ascend."""
    spoken = site.spoken.tolist()
    small = (numbers for numbers in groups if len(numbers) <= most)
    return {(a, b) for numbers in small for a, b in combinations(numbers, 2) if spoken[a] != spoken[b]}


# Judgements, except where a line names its evidence.
MAX_BUCKET = 40  # Pages of one form: more than that are a form letter, and say nothing of each other.
MIN_BLOCKS = 4  # A fingerprint of fewer paragraphs is anybody's.
HIGH, MEDIUM, LOW = 0.85, 0.7, 0.5  # Similarity from which on a pair is h, m, l.
COMPARABLE = 0.2  # Ratio of lengths below which a page is a placeholder of the other.
LENGTH_LIMIT = 0.4  # ILSP-FC: ratio of paragraphs and of lengths below which two pages are not compared.


class StructureDetector:
    """Candidates are pages with the same tag sequence, or the same fingerprint up to lengths."""

    def propose(self, site: Site, known_pairs: KnownPairs) -> Evidence:  # noqa: ARG002
        """The best of what is at least of low similarity."""
        buckets: dict[bytes | int, list[int]] = defaultdict(list)
        for summary in site.summaries:
            if summary.blocks >= MIN_BLOCKS:
                buckets[summary.tags].append(summary.number)
                buckets[summary.form].append(summary.number)
        pairs = across(site, buckets.values(), MAX_BUCKET)
        likeness = ((pair, combined(measures(site, pair))) for pair in pairs)
        return best_few(site, Evidence.of({pair: value for pair, value in likeness if value >= LOW}), FEW)


def measures(site: Site, pair: PageNumbers) -> tuple[float, float, float, float]:
    """Ratio of fingerprint lengths, of text weights, similarity of fingerprints, and of tag sequences."""
    a, b = site.summaries[pair[0]], site.summaries[pair[1]]
    blocks = _ratio(a.blocks, b.blocks)
    lengths = _ratio(a.weight, b.weight)
    prints = float(Levenshtein.normalized_similarity(a.fingerprint, b.fingerprint))
    tags = float(Indel.normalized_similarity(a.tags, b.tags))
    return blocks, lengths, prints, tags


def combined(measured: tuple[float, float, float, float]) -> float:
    """One number for the four measures; 0 where lengths differ too much to compare.

    It is the mean of the similarities of fingerprints and tag sequences, held down by the ratio of lengths.
    """
    blocks, lengths, prints, tags = measured
    if min(blocks, lengths) < LENGTH_LIMIT:
        return 0.0
    return (prints + tags) / 2 * min(1.0, 0.5 + lengths / 1.2)  # held down below a ratio of 0.6: judgement


def _ratio(a: int, b: int) -> float:
    return min(a, b) / max(a, b) if a and b else 0.0


def selected(value: float, methods: frozenset[Method]) -> float:
    """The similarity, where it is of a class that was asked for; 0 elsewhere."""
    letter = letter_of(value)
    return value if letter is not None and letter in methods else 0.0


def letter_of(value: float) -> Method | None:
    """The letter of the class that a similarity is of; None below all."""
    if value >= HIGH:
        return Method.HIGH
    if value >= MEDIUM:
        return Method.MEDIUM
    return Method.LOW if value >= LOW else None


class UrlDetector:
    """What the URLs of one site say, read once; known pairs teach more of them."""

    def __init__(self, replacements: Sequence[tuple[str, str]] = ()) -> None:
        self._replacements = replacements
        self._site: Site | None = None
        self._versions = Versions((), ())
        self._proposed = Evidence.of({})

    def propose(self, site: Site, known_pairs: KnownPairs) -> Evidence:
        """Each two languages by themselves; the user's replacements are certain."""
        evidence = self._of(site).scores(known_pairs.pairs)
        evidence.update(by_replacements(site, self._replacements))
        self._proposed = Evidence.of(evidence)
        return self._proposed

    def versions(self, site: Site) -> set[PageNumbers]:
        """Pages that are versions of each other as far as URLs told when they were last asked, translated or not."""
        likely = {pair for pair, score in self._proposed.items() if score >= LIKELY}
        return likely | self._of(site).copies()

    def _of(self, site: Site) -> Versions:
        if self._site is not site:
            self._site = site
            self._versions = Versions(
                [summary.url for summary in site.summaries], [summary.language for summary in site.summaries]
            )
        return self._versions


def by_replacements(site: Site, replacements: Sequence[tuple[str, str]]) -> dict[PageNumbers, float]:
    """The user's, both ways, as ILSP-FC's -u_r: any text for any other, at each place where it stands."""
    evidence: dict[PageNumbers, float] = {}
    for old, new in [*replacements, *((new, old) for old, new in replacements)]:
        for summary in site.summaries if old else ():
            parts = summary.url.split(old)
            for cut in range(1, len(parts)):
                changed = Url.known(old.join(parts[:cut]) + new + old.join(parts[cut:]))
                number = site.by_url.get(changed)
                if number is not None and site.summaries[number].language != summary.language:
                    evidence[page_numbers(summary.number, number)] = 1.0
    return evidence


# On 1,000 true pairs of six site packs whose pages have equally many paragraphs (2026-11), half of the paragraphs differ
# by at most one step once the mean is taken off, 80 % by two or three, whatever their length: nearly a Laplace
# distribution of this scale, in steps.
SCALE = 1.7
FREE = 0.1  # Share of the paragraphs that are as long as any other: split, cut or not translated. Judgement.
GAP = 1.5  # What a paragraph without a counterpart costs. Judgement.
CONVINCING = 30.0  # Logarithm of the likelihood ratio that is worth 1. Judgement: an odd of 10^13 needs no more.
LEAST_LIKE = 0.4  # Ratio of the numbers of paragraphs below which two pages are not compared.
PRIOR = 5  # Paragraphs that the mean difference of two pages is held against. Judgement.

_STEPS = LENGTH_STEPS * math.ceil(math.log2(1 + MAX_TEXT)) + 1


class ParagraphLengths:
    """Compares the lengths of paragraphs with what is common in each language of the site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        counts = np.ones((len(site.languages), _STEPS))
        for summary in site.summaries:
            lengths = np.frombuffer(summary.lengths, np.uint8)
            counts[site.spoken[summary.number]] += np.bincount(lengths, minlength=_STEPS)
        self._common = counts / counts.sum(axis=1, keepdims=True)
        differences = np.arange(-_STEPS, _STEPS + 1)
        kernel = np.exp(-np.abs(differences) / SCALE)
        # Two lengths and the mean of all differ by twice as much at the most.
        self._kernel = np.pad((1 - FREE) * kernel / kernel.sum(), _STEPS, "edge")

    def evidence(self, pair: PageNumbers) -> float:
        """Between 0 and 1; 0 where chance explains the lengths as well."""
        a, b = (self._site.summaries[number] for number in pair)
        if not min(a.blocks, b.blocks) >= LEAST_LIKE * max(a.blocks, b.blocks) > 0:
            return 0.0
        first, second = _matched(a.fingerprint, b.fingerprint)
        lengths_a = np.frombuffer(a.lengths, np.uint8)[first].astype(np.int64)
        lengths_b = np.frombuffer(b.lengths, np.uint8)[second].astype(np.int64)
        matched = len(lengths_a)
        if not matched:
            return 0.0
        difference = lengths_b - lengths_a
        shift = round(_median(difference) * matched / (matched + PRIOR))
        likely = self._kernel[difference + (2 * _STEPS - shift)]
        # Either length may be the common one: the larger of the two chances is believed.
        common_a, common_b = (self._common[self._site.spoken[number]] for number in pair)
        chance = np.maximum(common_a[lengths_a], common_b[lengths_b])
        unmatched = len(a.lengths) + len(b.lengths) - 2 * matched
        ratio = float(np.log(likely / chance + FREE).sum()) - GAP * unmatched
        return min(1.0, max(0.0, ratio / CONVINCING))


def _median(values: Ints) -> float:
    """As `np.median`, which takes ten times as long for so few."""
    ordered = np.sort(values)
    return (int(ordered[(len(values) - 1) // 2]) + int(ordered[len(values) // 2])) / 2


def _matched(a: bytes, b: bytes) -> tuple[Bools, Bools]:
    """Which paragraphs of the one and of the other stand for each other, in their order."""
    first, second = bytearray(b"\1" * len(a)), bytearray(b"\1" * len(b))
    for edit, place_a, place_b in Levenshtein.editops(a, b).as_list() if len(a) != len(b) else ():
        if edit == "delete":
            first[int(place_a)] = False
        elif edit == "insert":
            second[int(place_b)] = False
    return np.frombuffer(first, bool), np.frombuffer(second, bool)
