"""a, r: pages that declare each other translations, and pages that link to each other like ones."""

import numpy as np
from numpy.typing import NDArray

from bitrawl.languages import same_language
from bitrawl.model import UNDETERMINED
from bitrawl.pair.evidence import Evidence, Known, PageNumbers, both_ends, pair_keys
from bitrawl.pair.rows import Ints, places_in
from bitrawl.pair.site import SOURCES, Site, claim_of, source_of

# What one side alone declares is worth half; each further place that says so halves what is missing, and a
# declaration that is returned is believed. Google ignores those that are not; about 31 % of the sites that have
# hreflang have wrong ones.
# The two numbers are judgements: the score weighs them against the rest.
ONE_WAY = 0.5
RECIPROCAL = 0.9
MAX_RIVALS = 5  # Judgement: a page that exchanges links with more pages of a language has them in a menu.

_COUNTS = np.array([bits.bit_count() for bits in range(1 << len(SOURCES))])


class DeclaredDetector:
    """Alternates of pages and of sitemaps. A page that many others declare their translation is nobody's."""

    def propose(self, site: Site, known: Known) -> Evidence:  # noqa: ARG002
        """Reciprocal ones above one-way ones, several sources above one."""
        said = _without_hubs(site, declarations(site))
        back = places_in(said.keys, _reversed(said.keys))
        sources = said.sources | np.where(back >= 0, said.sources[back] if len(back) else 0, 0)
        floor = np.where(back >= 0, RECIPROCAL, ONE_WAY)
        values = 1 - (1 - floor) * 0.5 ** (_COUNTS[sources] - 1)
        keys, first = np.unique(pair_keys(*both_ends(said.keys)), return_index=True)
        return Evidence(keys, values[first])


class Declarations:
    """Who declares whom, in ascending order: a key whose first page is the one that declares, and a bit a source."""

    def __init__(self, keys: Ints, sources: Ints) -> None:
        self.keys, self.sources = keys, sources


def declarations(site: Site) -> Declarations:
    """Only of pages in another language, and only as what they are."""
    by, to, said = _declared(site)
    fits = _fits(site, unsaid=True)[claim_of(said), site.spoken[to]] & (site.spoken[by] != site.spoken[to])
    keys, bits = _directed(by, to)[fits], (1 << source_of(said))[fits]
    order = np.argsort(keys, kind="stable")
    distinct, starts = np.unique(keys[order], return_index=True)
    return Declarations(distinct, np.bitwise_or.reduceat(bits[order], starts) if len(starts) else bits)


def claims(site: Site) -> set[PageNumbers]:
    """Pages that one declares a translation of the other, though both are in one language."""
    by, to, said = _declared(site, groups=False)
    named = np.array([claim != UNDETERMINED for claim in site.claims], bool)[claim_of(said)]
    wrong = named & ~_fits(site, unsaid=True)[claim_of(said), site.spoken[to]] & (site.spoken[by] == site.spoken[to])
    a, b = both_ends(np.unique(pair_keys(by[wrong], to[wrong])))
    return set(zip(a.tolist(), b.tolist(), strict=True))


def _declared(site: Site, *, groups: bool = True) -> tuple[Ints, Ints, Ints]:
    """Each declaration: by which page, of which, and how."""
    rows = site.alternates
    by, to, said = [rows.owners().astype(np.int64)], [rows.flat.astype(np.int64)], [rows.values.astype(np.int64)]
    for pages, words in site.groups if groups else ():
        everyone, place = np.meshgrid(pages, np.arange(len(pages)), indexing="ij")
        others = everyone != pages[place]
        by.append(everyone[others])
        to.append(pages[place][others])
        said.append(words[place][others])
    return np.concatenate(by), np.concatenate(to), np.concatenate(said)


def _fits(site: Site, *, unsaid: bool) -> NDArray[np.bool_]:
    """For each language that is claimed and each of the site, whether a page in the second may be called so."""
    table = [
        [unsaid if claim == UNDETERMINED else same_language(claim, language) for language in site.languages]
        for claim in site.claims
    ]
    return np.array(table, bool).reshape(len(site.claims), len(site.languages))


def _directed(by: Ints, to: Ints) -> Ints:
    result: Ints = (by << 32) | to
    return result


def _reversed(keys: Ints) -> Ints:
    by, to = both_ends(keys)
    return _directed(to, by)


def _without_hubs(site: Site, said: Declarations) -> Declarations:
    """Without those that lead where many others of the same language lead: a switcher to the home page."""
    by, to = both_ends(said.keys)
    _, group, counts = np.unique(to * len(site.languages) + site.spoken[by], return_inverse=True, return_counts=True)
    kept = (counts[group] == 1) | (places_in(said.keys, _reversed(said.keys)) >= 0)
    return Declarations(said.keys[kept], said.sources[kept])


class MutualDetector:
    """Pages in two languages that link to each other, when few others do: most language switchers are undeclared."""

    def propose(self, site: Site, known: Known) -> Evidence:  # noqa: ARG002
        """1 for the only page of that language that a page exchanges links with, less for one of several."""
        by, to = site.links.owners(), site.links.flat
        across = site.spoken[by] != site.spoken[to]
        keys = np.unique(_directed(by[across].astype(np.int64), to[across].astype(np.int64)))
        mutual = keys[places_in(keys, _reversed(keys)) >= 0]
        a, b = both_ends(mutual[mutual < _reversed(mutual)])
        ends = np.concatenate([a, b]) * len(site.languages) + site.spoken[np.concatenate([b, a])]
        _, group, counts = np.unique(ends, return_inverse=True, return_counts=True)
        rivals = np.maximum(counts[group][: len(a)], counts[group][len(a) :])
        few = rivals <= MAX_RIVALS
        return Evidence(pair_keys(a[few], b[few]), 1 / rivals[few])
