"""Page pairs on frozen sites with known pairs: precision and recall by site and method, leave-one-site-out.

    python -m lab.bench.pairs                      # all sites below ../shared/sites, then the bundled demo web
    python -m lab.bench.pairs apisix gimp-help     # these, with the package's own model, which has seen them
    python -m lab.bench.pairs apisix --urls folder # as it would be with other URLs (lab/bench/changed_urls.py)
    python -m lab.bench.pairs --sizes              # the same pairs on a tenth, a third and all of a site's pages
    python -m lab.bench.pairs --orphans            # pages of a site of which none has its translation
    python -m lab.bench.pairs --packs DIR          # with further packs, such as those of lab.bench.libreoffice

Below each site stand the true pairs that were refused, by reason.

How it is counted. A site's truth.tsv covers every pair of its languages, so every pair that we report counts: right
when it is there, left out when doubtful.tsv has it as `language`, `partial` or `short`, wrong otherwise; a `same-text`
pair of doubtful.tsv is wrong. Recall is over all of truth.tsv, pages that we fail to read included. Pages are taken
from the archive whole, and kept in BITRAWL_BENCH_CACHE once they are analysed. `python -m lab.train pairs` makes the model that
the package ships.
"""

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from bitrawl import demo
from bitrawl.mining import PairSection
from bitrawl.mining.evidence import ALL, METHODS_OF
from bitrawl.mining.page_score import ScoreModel
from bitrawl.mining.pairing import Pairing, PairingResult
from bitrawl.mining.site import language_of
from bitrawl.model import Language, Method, Page
from bitrawl.papers.trial import UrlPair, in_order
from bitrawl.store.database import VERSION
from bitrawl.store.ledger import Ledger
from bitrawl.text.template import without_template
from bitrawl.url import Url
from lab.bench.changed_urls import ChangedUrls, with_changed_urls
from lab.bench.strategies import CACHE, SITES
from lab.train.pairs import CONTENT_ONLY, LabelledSite, fit_without_each, labelled_site, lessons
from lab.train.site_packs import SitePack, open_packs

VIEWS = {
    "all": ALL,
    "not a,u": CONTENT_ONLY,
    "a": METHODS_OF["declared"],
    "u": METHODS_OF["url"],
    "pid": METHODS_OF["images"] | METHODS_OF["digits"],
    "hml": METHODS_OF["structure"],
    "c": METHODS_OF["kept"],
}


SHARES = (10, 3, 1)  # One in so many pages of a site.
LARGEST = 4  # Packs whose parts are compared, each alone and all as one host.


class Count(NamedTuple):
    """What was reported of what is true."""

    right: int
    wrong: int
    true: int

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.true if self.true else 1.0


def counted(site: LabelledSite, reported: set[tuple[Url, Url]]) -> Count:
    judged = {in_order(pair) for pair in reported} - site.doubtful
    right = len(judged & site.true)
    return Count(right, len(judged) - right, len(site.true))


def paired(site: LabelledSite, model: ScoreModel, methods: frozenset[Method] = ALL) -> PairingResult:
    return Pairing(PairSection(methods="".join(methods)), model=model).pairs(site.pages, site.languages, site.sitemaps)


def found_by(result: PairingResult) -> set[UrlPair]:
    return {in_order((pair.url_a, pair.url_b)) for pair in result.pairs}


def refused(result: PairingResult, missed: Collection[UrlPair]) -> str:
    """Why true pairs were not found, as in "unlike 12, partial 3"."""
    reasons = {in_order((one.url_a, one.url_b)): str(one.reason) for one in result.refusals}
    counts = Counter(reasons.get(pair, "not proposed") for pair in missed)
    return ", ".join(f"{reason} {count}" for reason, count in counts.most_common()) or "none"


def table(packs: Sequence[SitePack], models: dict[str, ScoreModel], urls: ChangedUrls | None = None) -> None:
    counts: dict[tuple[str, str], Count] = {}
    print(f"{'precision/recall':<22}" + "".join(f"{view:>12}" for view in VIEWS) + f"{'pages':>8}{'CPU s':>8}")
    for pack in packs:
        site, name, seconds = labelled_site(pack, CACHE), pack.name, 0.0
        site = with_changed_urls(site, urls) if urls else site
        print(f"{name:<22}", end="", flush=True)
        for view, methods in VIEWS.items():
            began = time.process_time()
            result = paired(site, models[name], methods)
            counts[name, view] = counted(site, found_by(result))
            if view == "all":
                seconds = time.process_time() - began
                reasons = refused(result, site.true - found_by(result))
            print(f"{_shown(counts[name, view]):>12}", end="", flush=True)
        print(f"{len(site.pages):>8}{seconds:>8.0f}\n    refused: {reasons}", flush=True)
    names = [pack.name for pack in packs]
    means = [
        f"{sum(counts[n, v].precision for n in names) / len(names):.3f}/"
        f"{sum(counts[n, v].recall for n in names) / len(names):.3f}"
        for v in VIEWS
    ]
    print(f"{'mean':<22}" + "".join(f"{mean:>12}" for mean in means))


def _shown(count: Count) -> str:
    return f"{count.precision:.3f}/{count.recall:.3f}"


def demo_web() -> None:
    """The package's own model on the bundled web, which no model was trained on."""
    folder = CACHE / f"demo-web-{VERSION}"
    if not (folder / "done").exists():
        command = [sys.executable, "-m", "bitrawl", "demo", "--langs", "en,fr,es,zh", "--out", str(folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (folder / "done").touch()
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    true = {tuple(sorted((pair.url_a, pair.url_b))) for pair in demo.truth()}
    languages = sorted({Language(pair.lang_a) for pair in demo.truth()} | {Language(p.lang_b) for p in demo.truth()})
    for name, methods in (("all", ALL), ("not a,u", CONTENT_ONLY)):
        found = set()
        for known in ledger.sites():
            view = ledger.view(known.site)
            pages = without_template(view.pages)
            result = Pairing(PairSection(methods="".join(methods))).pairs(pages, languages, view.sitemaps())
            found |= {tuple(sorted((pair.url_a, pair.url_b))) for pair in result.pairs}
        count = Count(len(found & true), len(found - true), len(true))
        print(f"bundled web, {name}: {_shown(count)} of {len(true)} pairs; wrong: {sorted(found - true)[:5]}")


def sizes(sites: Sequence[LabelledSite], models: Mapping[str, ScoreModel]) -> None:
    """Recall of the pairs of a tenth of a site, when that tenth, a third and all of the site is mined."""
    for site in sites:
        few: frozenset[UrlPair] = frozenset()
        for share in SHARES:
            part = site.part(share)
            few = few or part.true
            result = paired(part, models[site.name])
            found = found_by(result)
            wrong = counted(part, found).wrong
            print(
                f"{site.name:<28}{len(part.pages):>7} pages: {len(few & found) / len(few):.4f} of {len(few)} pairs, "
                f"{wrong} wrong of {len(found)}; refused: {refused(result, few - found)}",
                flush=True,
            )


def orphans(sites: Sequence[LabelledSite], model: ScoreModel) -> None:
    """Pages in one language of one half of a site, and in another language of the other half: all pairs are wrong."""
    total = 0
    for site in sites:
        first, second = site.languages[:2]
        pages = [
            page
            for half, language in ((site.part(2, 0), first), (site.part(2, 1), second))
            for page in half.pages
            if language_of(page, site.languages) == language
        ]
        found = counted(replace(site, true=frozenset()), found_by(paired(replace(site, pages=pages), model))).wrong
        total += found
        print(f"{site.name:<28}{len(pages):>7} pages in {first} and {second}: {found} wrong pairs", flush=True)
    print(f"orphans: {total} wrong pairs")


def one_host(sites: Sequence[LabelledSite]) -> LabelledSite:
    """Several sites as folders of one host. Their sitemaps stay behind."""

    def moved(url: Url) -> Url:
        return Url.parse(f"https://large.example/{url.partition('://')[2]}")

    def page(old: Page) -> Page:
        links = tuple(structs.replace(link, url=moved(link.url)) for link in old.links)
        alternates = tuple(structs.replace(alternate, url=moved(alternate.url)) for alternate in old.alternates)
        canonical = old.canonical and moved(old.canonical)
        return structs.replace(old, url=moved(old.url), links=links, alternates=alternates, canonical=canonical)

    def pairs(old: Collection[UrlPair]) -> frozenset[UrlPair]:
        return frozenset(in_order((moved(a), moved(b))) for a, b in old)

    return LabelledSite(
        " + ".join(site.name for site in sites),
        [page(old) for site in sites for old in site.pages],
        sorted({language for site in sites for language in site.languages}),
        frozenset[UrlPair]().union(*(pairs(site.true) for site in sites)),
        frozenset[UrlPair]().union(*(pairs(site.doubtful) for site in sites)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.pairs")
    parser.add_argument("sites", nargs="*")
    parser.add_argument("--packs", type=Path, action="append", default=[], help="a folder with further packs")
    parser.add_argument("--sizes", action="store_true", help="the same pairs on sites of three sizes")
    parser.add_argument("--orphans", action="store_true", help="sites without translations")
    parser.add_argument("--urls", type=ChangedUrls, choices=list(ChangedUrls), help="measure the sites with other URLs")
    asked = parser.parse_args()
    if asked.urls and not asked.sites:
        parser.error("name the sites that are to have other URLs")
    if not SITES.exists():
        print(f"pairs: {SITES} is not here (frozen copies of the sites that src/bitrawl/models/pairs.md names)")
        demo_web()
        return
    packs = [pack for folder in (SITES, *asked.packs) for pack in open_packs(folder)]
    if asked.sites:
        packs = [pack for pack in packs if pack.name in asked.sites]
    elif asked.sizes:
        packs = sorted(packs, key=lambda pack: sum(pack.pair_counts.values()))[-LARGEST:]
    if asked.sizes:
        sites = [labelled_site(pack, CACHE) for pack in packs]
        sites.append(one_host(sites))
        sizes(sites, dict.fromkeys((site.name for site in sites), ScoreModel.load()))
    elif asked.orphans:
        orphans([labelled_site(pack, CACHE) for pack in packs], ScoreModel.load())
    elif asked.sites:
        table(packs, dict.fromkeys(asked.sites, ScoreModel.load()), asked.urls)
    else:
        table(packs, fit_without_each(lessons(labelled_site(pack, CACHE) for pack in packs)))
        demo_web()


if __name__ == "__main__":
    main()
