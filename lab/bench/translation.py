"""What a mined corpus teaches a translator, against the corpus of the site's known page pairs and of URL rules.

    python -m lab.bench.translation                       # the sites and languages of RUNS
    python -m lab.bench.translation apisix:zh --splits 3  # this one, with other pages held out each time
    python -m lab.bench.translation --hide-urls           # as if the URLs of the sites said nothing

It needs the site packs of ../shared/sites and the group `lab` (sil-thot, sacrebleu). Of each site a fifth of the known
page pairs is held out, chosen by a hash of their URLs before anything is mined; their pages are taken out of the site.
From what is left three corpora are made, alike in everything but the page pairs:

    known   the pairs of truth.tsv
    ours    the pairs that bitrawl finds, and the pages of which it finds a part translated
    rules   pages whose URLs are the same without their language identifiers (WMT16's rule)

The same aligner, the same judge with its default thresholds and the same merging make segments of each; of a page that
bitrawl knows to be translated in part it aligns only what differs. `rules, all` is
what the aligner makes of the pages by URL rules when nobody judges it: a script of a rule and an aligner. The same small
translator (translator.py) learns from each, English into the other language, and translates the test segments: those of
the held-out pairs with a high score, the same for all. A test segment of which one side stands in any of the corpora is
dropped for all. BLEU and chrF by sacrebleu, on lower-cased tokens. The weights of the evidence for page pairs have seen
these sites; `lab.bench.pairs` measures page pairs on sites left out of training.
"""

import argparse
import asyncio
import hashlib
import importlib.util
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from statistics import mean
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from bitrawl.job.site_mining import USUAL
from bitrawl.mining import PairSection, ThresholdFilter, Thresholds
from bitrawl.mining.aligned_pages import translated_part
from bitrawl.mining.pairing import Pairing
from bitrawl.mining.stages import Miner
from bitrawl.model import Language, Page, PagePair, SegmentPair, Sitemap
from bitrawl.papers.replay import opened_replay
from bitrawl.papers.trial import UrlPair
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.template import without_template
from bitrawl.text.words import bare_texts
from bitrawl.url import Url
from bitrawl.urls import rule_pairs
from lab.bench.merge import merged
from lab.bench.strategies import CACHE, SITES
from lab.bench.translator import tokens, trained
from lab.train.site_packs import SitePack, known_pairs

ENGLISH = Language("en")
# Six ways to write a language into a URL, and three target languages: a mixture of suffixes and directories; a directory
# against nothing; a locale; a directory; a directory with a suffix; a suffix.
RUNS = (
    "debian-manuals:it",
    "webgl-fundamentals:zh",
    "debian-handbook:fr",
    "gimp-help:fr",
    "installation-guide:fr",
    "wet-styleguide:fr",
)
HELD_OUT = 0.2  # of the known pairs
TEST_SCORE = 0.9  # of a test segment: above 0.9, 98.7 in 100 are right (docs/decisions/segment-score.md)
TEST_WORDS = range(4, 41)  # of either side: shorter ones are headings and names, longer ones mostly two sentences
MOST_TESTED = 400  # segments of a split, so that a run stays within minutes
SAMPLES, SEED = 1000, 12345  # of the bootstrap; sacrebleu's own
ALL_SEGMENTS = Thresholds(score=0.0, length_ratio=0.0, language=0.0, words=0, refuse=())

Texts = tuple[str, str]


class SiteCopy(NamedTuple):
    """The pages of a pack, the pairs that are known of them, and what two languages are asked for."""

    name: str
    languages: tuple[Language, Language]
    pages: Mapping[Url, Page]
    sitemaps: tuple[Sitemap, ...]
    known: tuple[UrlPair, ...]  # English first

    def without(self, urls: frozenset[Url]) -> "SiteCopy":
        """The site as it would be if these pages did not exist."""
        pages = {url: page for url, page in self.pages.items() if url not in urls}
        return self._replace(pages=pages, known=tuple(pair for pair in self.known if urls.isdisjoint(pair)))


def with_hidden_urls(site: SiteCopy) -> SiteCopy:
    """The same site with a number in place of each path: as where a content management system names pages by ids.

    All else stays, such as links and declarations, and the hosts. The numbers are in no order.
    """

    def hidden(url: Url) -> Url:
        name = hashlib.blake2b(url.encode(), digest_size=5).digest()
        return Url.known(f"https://{url.host}/{int.from_bytes(name, 'big')}")

    def moved(page: Page) -> Page:
        source = hidden(page.url)
        links = (replace(link, url=hidden(link.url), source=source) for link in page.links)
        alternates = (replace(one, url=hidden(one.url)) for one in page.alternates)
        canonical = page.canonical and hidden(page.canonical)
        return replace(page, url=source, links=tuple(links), alternates=tuple(alternates), canonical=canonical)

    pages = {hidden(url): moved(page) for url, page in site.pages.items()}
    known = tuple((hidden(a), hidden(b)) for a, b in site.known)
    return site._replace(pages=pages, sitemaps=(), known=known)


def held_out(pairs: Iterable[UrlPair], split: int) -> list[UrlPair]:
    """About a fifth of the pairs, by a hash of each: a pair's fate does not depend on what else there is."""
    return [pair for pair in pairs if _hashed(f"{split} {pair[0]} {pair[1]}") < HELD_OUT]


def _hashed(text: str) -> float:
    """0–1."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") / 2**64


def without_leaks(tests: Iterable[Texts], corpora: Iterable[Sequence[Texts]]) -> list[Texts]:
    """Test segments once each, of which neither side stands in a corpus; case, punctuation and spaces do not count."""
    taught = [set(), set()]
    for corpus in corpora:
        for side in (0, 1):
            taught[side].update(bare_texts([texts[side] for texts in corpus]))
    kept = []
    for texts in tests:
        keys = bare_texts(texts)
        if all(key not in seen for key, seen in zip(keys, taught, strict=True)):
            taught[0].add(keys[0])
            kept.append(texts)
    return kept


def opened(pack: SitePack, languages: tuple[Language, Language]) -> SiteCopy:
    async def read() -> SiteCopy:
        async with opened_replay([pack.archive], cache=CACHE) as replay:
            pages = {page.url: page for page in await replay.pages()}
            sitemaps = tuple(await replay.sitemaps(list(pages.values())))
        rows = known_pairs(pack.folder / "truth.tsv")
        known = ((row.url_a, row.url_b) for row in rows if (row.lang_a, row.lang_b) == languages)
        there = tuple(sorted(pair for pair in known if pages.keys() >= set(pair)))
        return SiteCopy(pack.name, languages, pages, sitemaps, there)

    return asyncio.run(read())


def miner(site: SiteCopy) -> Miner:
    return Miner(site.languages, Pairing(PairSection()), NgramLanguageIdentifier())


def mined_pairs(site: SiteCopy) -> tuple[PagePair, ...]:
    """With the pages that are translated in part, which count for their segments only."""
    pages = partial(iter, list(site.pages.values()))
    return miner(site).pair(site.name, pages, site.sitemaps, page_of=site.pages.get).found.pairs


def segments(site: SiteCopy, pairs: Sequence[UrlPair], halves: frozenset[UrlPair] = frozenset()) -> list[SegmentPair]:
    """Aligned and judged as a job does it: with what a sample has taught.

    `halves` are the pairs of which only a part is translated.
    """
    clean = {page.url: page for page in without_template(partial(iter, list(site.pages.values())))}
    pages = {(a, b): (clean[a], clean[b]) for a, b in sorted(pairs)}
    both = [translated_part(two) if urls in halves else two for urls, two in pages.items()]
    mine = miner(site)
    sample = sorted(both, key=lambda pair: _hashed(f"{pair[0].url} {pair[1].url}"))[: USUAL.sample]
    learned = mine.learn(site.languages, sample)
    batches = [both[first : first + USUAL.batch] for first in range(0, len(both), USUAL.batch)]
    return [pair for some in batches for one in mine.align(site.languages, some, learned) for pair in one.segments]


def corpus(found: Iterable[SegmentPair], thresholds: Thresholds) -> list[Texts]:
    """As a job exports it."""
    units = merged(ThresholdFilter(thresholds).accepted(found))
    return [(unit.pair.a.text, unit.pair.b.text) for unit in units]


def certain_segments(found: Iterable[SegmentPair]) -> list[Texts]:
    texts = corpus(found, Thresholds(score=TEST_SCORE))
    return [two for two in texts if all(len(tokens(text)) in TEST_WORDS for text in two)]


class Split(NamedTuple):
    """One test: the corpora by name, what each system made of the sources, and the references."""

    corpora: dict[str, list[Texts]]
    page_pairs: dict[str, int]
    sources: list[str]
    references: list[str]
    translations: dict[str, list[str]]


def measured(site: SiteCopy, split: int, *, hide_urls: bool = False) -> Split:
    held = held_out(site.known, split)
    rest = site.without(frozenset(url for pair in held for url in pair))
    if hide_urls:
        rest = with_hidden_urls(rest)
    mined = mined_pairs(rest)
    halves = frozenset((pair.url_a, pair.url_b) for pair in mined if pair.partial)
    pairs = {
        "known": list(rest.known),
        "ours": [(pair.url_a, pair.url_b) for pair in mined],
        "rules": [(pair.url_a, pair.url_b) for pair in rule_pairs(sorted(rest.pages), *rest.languages)],
    }
    aligned = {"ours": segments(rest, pairs["ours"], halves)}
    for name in ("known", "rules"):
        same = not halves and sorted(pairs[name]) == sorted(pairs["ours"])
        aligned[name] = aligned["ours"] if same else segments(rest, pairs[name])
    corpora = {name: corpus(aligned[name], Thresholds()) for name in pairs}
    pairs["rules, all"] = pairs["rules"]
    corpora["rules, all"] = corpus(aligned["rules"], ALL_SEGMENTS)
    certain = certain_segments(segments(site, held))
    tests = sorted(without_leaks(certain, corpora.values()), key=lambda two: _hashed(two[0]))[:MOST_TESTED]
    sources, references = [" ".join(tokens(a)) for a, _ in tests], [" ".join(tokens(b)) for _, b in tests]
    translations: dict[str, list[str]] = {}
    for name, some in corpora.items():
        same = next((other for other in translations if corpora[other] == some), None)
        translations[name] = translations[same] if same else translated(some, sources)
    return Split(corpora, {name: len(some) for name, some in pairs.items()}, sources, references, translations)


def translated(some: Sequence[Texts], sources: Sequence[str]) -> list[str]:
    """Who has learned nothing leaves every word as it is."""
    if not some:
        return list(sources)
    translator = trained(some)
    return [" ".join(translator.translate(tuple(source.split()))) for source in sources]


class Figures(NamedTuple):
    """Of one system, over all splits."""

    bleu: float
    spread: float  # half of the 95 % interval, by bootstrap
    chrf: float
    p: str  # that ours differs from it by chance, by paired bootstrap


def figures(splits: Sequence[Split]) -> dict[str, Figures]:
    from sacrebleu.metrics import BLEU, CHRF  # noqa: PLC0415 (the group "bench")
    from sacrebleu.significance import PairedTest  # noqa: PLC0415

    systems = sorted(
        splits[0].corpora, key=lambda system: system != "ours"
    )  # the first is what others are compared with
    lines = {system: [line for one in splits for line in one.translations[system]] for system in systems}
    references = [[line for one in splits for line in one.references]]
    bleu = {"BLEU": BLEU(tokenize="none", force=True)}
    _, tested = PairedTest(list(lines.items()), bleu, references, test_type="bs", n_samples=1000)()
    found = {}
    for system, result in zip(systems, tested["BLEU"], strict=True):
        p = "" if system == "ours" else "same" if lines[system] == lines["ours"] else f"{result.p_value:.3f}"
        chrf = CHRF().corpus_score(lines[system], references).score
        found[system] = Figures(result.score, result.ci, chrf, p)
    return found


def report(name: str, splits: Sequence[Split]) -> None:
    found = figures(splits)
    tests = sum(len(one.sources) for one in splits)
    print(f"\n{name}: {tests} test segments of {len(splits)} split{'s' * (len(splits) > 1)}")
    print(f"{'':<12}{'page pairs':>11}{'segments':>10}{'BLEU':>8}{'±':>6}{'chrF':>8}{'of known':>10}{'p, ours':>9}")
    for system in splits[0].corpora:
        one = found[system]
        print(
            f"{system:<12}{mean(split.page_pairs[system] for split in splits):>11.0f}"
            f"{mean(len(split.corpora[system]) for split in splits):>10.0f}{one.bleu:>8.2f}{one.spread:>6.2f}"
            f"{one.chrf:>8.2f}{one.bleu / found['known'].bleu:>10.3f}{one.p:>9}"
        )


class Difference(NamedTuple):
    """Of ours and another system, in BLEU."""

    bleu: float  # ours minus the other; the mean over the sites
    low: float  # 95 % of the bootstrap's samples lie between these
    high: float


def differences(sites: Sequence[Sequence[Split]]) -> dict[str, Difference]:
    """Over all sites, each of which counts the same. Test segments are drawn anew within their site."""
    from sacrebleu.metrics import BLEU  # noqa: PLC0415 (the group "bench")

    metric = BLEU(tokenize="none", force=True)
    generator = np.random.default_rng(SEED)
    systems = list(sites[0][0].corpora)
    scores = np.zeros((SAMPLES + 1, len(systems)))  # the first row: of all segments as they are
    for splits in sites:
        references = [[line for one in splits for line in one.references]]
        counts = [
            np.array(
                metric._extract_corpus_statistics(  # noqa: SLF001 - as sacrebleu's own paired test counts
                    [line for one in splits for line in one.translations[system]], references
                )
            )
            for system in systems
        ]
        size = len(references[0])
        draws = [np.arange(size), *(generator.integers(size, size=size) for _ in range(SAMPLES))]
        for place, of_system in enumerate(counts):
            bleus = [metric._compute_score_from_stats(of_system[draw].sum(axis=0).tolist()).score for draw in draws]  # noqa: SLF001
            scores[:, place] += np.array(bleus) / len(sites)
    ours = scores[:, systems.index("ours")]
    found = {}
    for place, system in enumerate(systems):
        gap = ours - scores[:, place]
        if system != "ours":
            found[system] = Difference(gap[0], *np.percentile(gap[1:], (2.5, 97.5)).tolist())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.translation")
    parser.add_argument("runs", nargs="*", default=RUNS, help="site:language")
    parser.add_argument("--splits", type=int, default=1, help="how many times to choose the held-out pairs anew")
    parser.add_argument("--hide-urls", action="store_true", help="mine the sites with numbers for URLs")
    asked, _ = parser.parse_known_args()
    if not SITES.exists():
        print(f"translation: {SITES} is not here (frozen copies of the sites that src/bitrawl/models/pairs.md names)")
        return
    if missing := [name for name in ("thot", "sacrebleu") if importlib.util.find_spec(name) is None]:
        print(f"translation: {' and '.join(missing)} not installed: pip install sil-thot sacrebleu")
        return
    sites = []
    for run in asked.runs:
        name, _, language = run.partition(":")
        site = opened(SitePack.open(SITES / name), (ENGLISH, Language(language)))
        began = time.process_time()
        sites.append([measured(site, split, hide_urls=asked.hide_urls) for split in range(asked.splits)])
        report(f"{name}, en-{language}", sites[-1])
        print(f"({(time.process_time() - began) / asked.splits:.0f} CPU s a split)", flush=True)
    report_differences(sites)


def report_differences(sites: Sequence[Sequence[Split]]) -> None:
    print(f"\nours minus the other, BLEU, mean over {len(sites)} site{'s' * (len(sites) > 1)} (95 % by bootstrap)")
    for system, gap in differences(sites).items():
        print(f"{system:<12}{gap.bleu:>+7.2f} ({gap.low:+.2f} to {gap.high:+.2f})")


if __name__ == "__main__":
    main()
