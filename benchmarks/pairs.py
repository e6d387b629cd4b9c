"""Page pairs on frozen sites with known pairs: precision and recall by site and method, leave-one-site-out.

    python -m benchmarks.pairs                      # all sites below ../shared/sites, then the bundled demo web
    python -m benchmarks.pairs apisix gimp-help     # these, with the package's own model, which has seen them
    python -m benchmarks.pairs --train OUT.json     # train the model that the package ships, on all sites
    python -m benchmarks.pairs --scale 10000        # time and memory for a synthetic site of so many pages

How it is counted. A site's truth.tsv covers every pair of its languages, so every pair that we report counts: right
when it is there, left out when doubtful.tsv has it as `language`, `partial` or `short`, wrong otherwise; a `same-text`
pair of doubtful.tsv is wrong. Recall is over all of truth.tsv, pages that we fail to read included. Pages are taken
from the archive whole; jobs are made with `bitrawl crawl --warc` when they are not in the cache (BITRAWL_BENCH_CACHE).
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl import demo
from bitrawl.model import Language, Method, Page, Sitemap, Unpacker
from bitrawl.pair.evidence import ALL, METHODS_OF
from bitrawl.pair.pairing import Pairing, PairingSettings
from bitrawl.pair.scoring import MODEL, ScoreModel
from bitrawl.store.ledger import Ledger
from bitrawl.store.schema import VERSION
from bitrawl.training.pairs import CONTENT_ONLY, LabelledSite, fit, fit_without_each, lessons
from bitrawl.url import Url

SITES = Path(__file__).parents[2] / "shared" / "sites"
CACHE = Path(os.environ.get("BITRAWL_BENCH_CACHE", Path(tempfile.gettempdir()) / f"sitejobs-{VERSION}"))
UNCOUNTED = frozenset(("language", "partial", "short"))


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


class Judge:
    """The known pairs of a site."""

    def __init__(self, folder: Path) -> None:
        self.true = frozenset(pair for pair, _ in _rows(folder / "truth.tsv"))
        self.uncounted = frozenset(pair for pair, reason in _rows(folder / "doubtful.tsv") if reason in UNCOUNTED)

    def count(self, reported: set[tuple[Url, Url]]) -> Count:
        counted = {tuple(sorted(pair)) for pair in reported} - self.uncounted
        right = len(counted & self.true)
        return Count(right, len(counted) - right, len(self.true))


def _rows(path: Path) -> list[tuple[tuple[Url, Url], str]]:
    with path.open() as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return [
        (tuple(sorted((Url.parse(row["url_a"]), Url.parse(row["url_b"])))), row.get("reason") or "") for row in rows
    ]  # type: ignore[misc]


def job(folder: Path) -> Path:
    """The job folder of a site pack, made when it is not there."""
    made = CACHE / folder.name
    if not (made / "done").exists():
        languages = json.loads((folder / "site.json").read_text())["languages"]
        command = [sys.executable, "-m", "bitrawl", "crawl", "--langs", ",".join(languages), "--out", str(made)]
        subprocess.run([*command, "--warc", str(folder / "site.warc.gz")], check=True, stdout=subprocess.DEVNULL)
        (made / "done").touch()
    return made


def labelled(folder: Path) -> LabelledSite:
    ledger = Ledger(job(folder) / "job.sqlite", read_only=True)
    judge = Judge(folder)
    languages = [Language(code) for code in json.loads((folder / "site.json").read_text())["languages"]]
    return LabelledSite(folder.name, list(ledger.pages()), languages, judge.true, judge.uncounted, _sitemaps(ledger))


def _sitemaps(ledger: Ledger) -> tuple[Sitemap, ...]:
    unpack: Unpacker[Sitemap] = Unpacker(Sitemap)
    rows = ledger.database.query("SELECT sitemap FROM sitemaps")
    return tuple(unpack(ledger._decompress(blob)) for (blob,) in rows)  # noqa: SLF001


def report(site: LabelledSite, model: ScoreModel, methods: frozenset[Method], judge: Judge) -> tuple[Count, float]:
    began = time.perf_counter()
    result = Pairing(PairingSettings(methods=methods), model=model).pairs(site.pages, site.languages, site.sitemaps)
    return judge.count({(p.url_a, p.url_b) for p in result.pairs}), time.perf_counter() - began


def table(names: Sequence[str], models: dict[str, ScoreModel]) -> None:
    counts: dict[tuple[str, str], Count] = {}
    print(f"{'precision/recall':<22}" + "".join(f"{view:>12}" for view in VIEWS) + f"{'pages':>8}{'s, all':>8}")
    for name in names:
        site, judge = labelled(SITES / name), Judge(SITES / name)
        seconds = 0.0
        print(f"{name:<22}", end="", flush=True)
        for view, methods in VIEWS.items():
            counts[name, view], took = report(site, models[name], methods, judge)
            seconds = seconds or took
            print(f"{_shown(counts[name, view]):>12}", end="", flush=True)
        print(f"{len(site.pages):>8}{seconds:>8.0f}", flush=True)
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
    folder = CACHE / "demo-web"
    if not (folder / "done").exists():
        command = [sys.executable, "-m", "bitrawl", "demo", "--langs", "en,fr,es,zh", "--out", str(folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (folder / "done").touch()
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    true = {tuple(sorted((pair.url_a, pair.url_b))) for pair in demo.truth()}
    languages = sorted({Language(pair.lang_a) for pair in demo.truth()} | {Language(p.lang_b) for p in demo.truth()})
    for view, methods in (("all", ALL), ("not a,u", CONTENT_ONLY)):
        found = set()
        for known in ledger.sites():
            result = Pairing(PairingSettings(methods=methods)).pairs(
                ledger.pages(site=known.site), languages, ledger.sitemaps(known.site)
            )
            found |= {tuple(sorted((pair.url_a, pair.url_b))) for pair in result.pairs}
        count = Count(len(found & true), len(found - true), len(true))
        print(f"bundled web, {view}: {_shown(count)} of {len(true)} pairs; wrong: {sorted(found - true)[:5]}")


def synthetic(size: int) -> list[Page]:
    """So many pages of one site: those of a real one, again and again with other words, numbers and addresses."""
    real = labelled(SITES / "gimp-help").pages
    return [_variant(real[number % len(real)], number // len(real)) for number in range(size)]


def _variant(page: Page, turn: int) -> Page:
    if not turn:
        return page

    def moved(url: Url) -> Url:
        return Url.known(url.replace("/2.10/", f"/2.10/part{turn}/"))

    swap = str.maketrans(
        "aeioubcdfg", "".join("aeioubcdfg"[(i + turn) % 5 if i < 5 else 5 + (i + turn) % 5] for i in range(10))
    )
    paragraphs = tuple(msgspec.structs.replace(p, text=p.text.translate(swap)) for p in page.paragraphs)
    links = tuple(msgspec.structs.replace(link, url=moved(link.url)) for link in page.links)
    images = tuple(msgspec.structs.replace(image, src=Url.known(f"{image.src}{turn}")) for image in page.images)
    return msgspec.structs.replace(
        page, url=moved(page.url), paragraphs=paragraphs, links=links, images=images, digest=f"{page.digest}{turn}"
    )


def scale(size: int) -> None:
    pages = synthetic(size)
    began, cpu = time.perf_counter(), time.process_time()
    languages = [Language("en"), Language("fr"), Language("de")]
    result = Pairing().pairs(pages, languages)
    took, busy = time.perf_counter() - began, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{size} pages: {len(result.pairs)} pairs, {took:.0f} s ({busy:.0f} s CPU), {memory:.2f} GB")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs")
    parser.add_argument("sites", nargs="*")
    parser.add_argument("--train", type=Path)
    parser.add_argument("--scale", type=int)
    asked = parser.parse_args()
    if asked.scale:
        scale(asked.scale)
        return
    if not SITES.exists():
        print(f"pairs: {SITES} is not here (frozen copies of the sites that src/bitrawl/pair/models/pairs.md names)")
        demo_web()
        return
    names = sorted(path.name for path in SITES.iterdir() if path.is_dir())
    if asked.sites:
        table(asked.sites, dict.fromkeys(asked.sites, ScoreModel.load(MODEL)))
        return
    taught = lessons(labelled(SITES / name) for name in names)
    if asked.train:
        fit([lesson for made in taught.values() for lesson in made]).save(asked.train)
        return
    models = fit_without_each(taught)
    del taught
    table(names, models)
    demo_web()


if __name__ == "__main__":
    main()
