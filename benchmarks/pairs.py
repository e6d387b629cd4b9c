"""Page pairs on frozen sites with known pairs: precision and recall by site and method, leave-one-site-out.

    python -m benchmarks.pairs                      # all sites below ../shared/sites, then the bundled demo web
    python -m benchmarks.pairs apisix gimp-help     # these, with the package's own model, which has seen them

How it is counted. A site's truth.tsv covers every pair of its languages, so every pair that we report counts: right
when it is there, left out when doubtful.tsv has it as `language`, `partial` or `short`, wrong otherwise; a `same-text`
pair of doubtful.tsv is wrong. Recall is over all of truth.tsv, pages that we fail to read included. Pages are taken
from the archive whole, and kept in BITRAWL_BENCH_CACHE once they are analysed. `bitrawl train pairs` makes the model that
the package ships.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.strategies import CACHE, SITES
from bitrawl import demo
from bitrawl.model import Language, Method
from bitrawl.pair.evidence import ALL, METHODS_OF
from bitrawl.pair.pairing import Pairing, PairingSettings
from bitrawl.pair.scoring import MODEL, ScoreModel
from bitrawl.simulation.truth import in_order
from bitrawl.store.ledger import Ledger
from bitrawl.store.schema import VERSION
from bitrawl.text.template import without_template
from bitrawl.training.pairs import CONTENT_ONLY, LabelledSite, fit_without_each, labelled_site, lessons
from bitrawl.training.site_packs import SitePack, open_packs
from bitrawl.url import Url

VIEWS = {
    "all": ALL,
    "not a,u": CONTENT_ONLY,
    "a": METHODS_OF["declared"],
    "u": METHODS_OF["url"],
    "pid": METHODS_OF["images"] | METHODS_OF["digits"],
    "hml": METHODS_OF["structure"],
    "c": METHODS_OF["kept"],
}


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


def report(site: LabelledSite, model: ScoreModel, methods: frozenset[Method]) -> tuple[Count, float]:
    began = time.perf_counter()
    result = Pairing(PairingSettings(methods=methods), model=model).pairs(site.pages, site.languages, site.sitemaps)
    return counted(site, {(p.url_a, p.url_b) for p in result.pairs}), time.perf_counter() - began


def table(packs: Sequence[SitePack], models: dict[str, ScoreModel]) -> None:
    counts: dict[tuple[str, str], Count] = {}
    print(f"{'precision/recall':<22}" + "".join(f"{view:>12}" for view in VIEWS) + f"{'pages':>8}{'s, all':>8}")
    for pack in packs:
        site, name, seconds = labelled_site(pack, CACHE), pack.name, 0.0
        print(f"{name:<22}", end="", flush=True)
        for view, methods in VIEWS.items():
            counts[name, view], took = report(site, models[name], methods)
            seconds = seconds or took
            print(f"{_shown(counts[name, view]):>12}", end="", flush=True)
        print(f"{len(site.pages):>8}{seconds:>8.0f}", flush=True)
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
            result = Pairing(PairingSettings(methods=methods)).pairs(pages, languages, view.sitemaps())
            found |= {tuple(sorted((pair.url_a, pair.url_b))) for pair in result.pairs}
        count = Count(len(found & true), len(found - true), len(true))
        print(f"bundled web, {name}: {_shown(count)} of {len(true)} pairs; wrong: {sorted(found - true)[:5]}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs")
    parser.add_argument("sites", nargs="*")
    asked = parser.parse_args()
    if not SITES.exists():
        print(f"pairs: {SITES} is not here (frozen copies of the sites that src/bitrawl/pair/models/pairs.md names)")
        demo_web()
        return
    if asked.sites:
        table([SitePack.open(SITES / name) for name in asked.sites], dict.fromkeys(asked.sites, ScoreModel.load(MODEL)))
        return
    packs = open_packs(SITES)
    table(packs, fit_without_each(lessons(labelled_site(pack, CACHE) for pack in packs)))
    demo_web()


if __name__ == "__main__":
    main()
