"""The link graph: edges read per second of CPU, peak memory and the time of a look-up, on a made-up graph of 10⁷ edges.

Hosts are cited by a power law, as on the web, and ids have nine digits, as most of Common Crawl's. Each build runs in a
process of its own, so that its memory is its own. Compared with: unpacking the files and doing nothing, and pyarrow's
reader of tables, where it is installed. `--edges` makes another size.
"""

import argparse
import importlib.util
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from isal import igzip

from bitrawl.discover.graph_build import build_graph
from bitrawl.discover.graph_files import reversed_host
from bitrawl.discover.graph_index import Caps, GraphIndex

EDGES = 10_000_000
HOSTS = 500_000
FIRST_ID = 100_000_000  # nine digits
GIVEN = 100
LOOK_UPS = 2000
PARTS = 4
CHUNK = 500_000


def name(number: int) -> str:
    """In alphabetical order, reversed, as Common Crawl's are."""
    return f"host-{number:07}.example{number * 40 // HOSTS:02}.org"


def make(folder: Path, edges: int) -> None:
    generator = np.random.default_rng(7)
    numbers = sorted(range(HOSTS), key=lambda number: reversed_host(name(number)))
    with igzip.open(folder / "bench-host-vertices.txt.gz", "wt", compresslevel=1) as file:
        file.writelines(f"{FIRST_ID + at}\t{reversed_host(name(number))}\n" for at, number in enumerate(numbers))
    sources = np.sort((generator.random(edges) ** 1.5 * HOSTS).astype(np.int64))
    targets = generator.permutation(HOSTS)[(generator.random(edges) ** 3 * HOSTS).astype(np.int64)]
    order = np.lexsort((targets, sources))
    pairs = np.stack((sources[order], targets[order]), axis=1) + FIRST_ID
    for part, rows in enumerate(np.array_split(pairs, PARTS)):
        with igzip.open(folder / f"bench-host-edges-{part}.txt.gz", "wt", compresslevel=1) as file:
            for start in range(0, len(rows), CHUNK):
                file.writelines(f"{a}\t{b}\n" for a, b in rows[start : start + CHUNK].tolist())


def measured(folder: Path, given: int) -> Iterator[str]:
    """In a child: what a build costs."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    around = [name(number) for number in np.random.default_rng(3).integers(0, HOSTS, given).tolist()]
    began = time.process_time()
    meta = build_graph(folder, folder / f"index-{given}", around=around, caps=Caps())
    took = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    what = f"around {given} hosts" if given else "the whole graph"
    size = sum(path.stat().st_size for path in (folder / f"index-{given}").iterdir())
    yield (
        f"{what}: {meta.edges_read / took / 1e6:.1f} M edges a CPU second, peak {peak / 1024:.0f} MB "
        f"({before / 1024:.0f} MB before), kept {meta.edges:,} edges of {meta.hosts:,} hosts in {size / 1e6:.0f} MB"
    )
    index = GraphIndex(folder / f"index-{given}")
    asked = around or [name(number) for number in np.random.default_rng(5).integers(0, HOSTS, LOOK_UPS).tolist()]
    for label, look_up in (("referrers", index.referrers), ("cites", index.cites)):
        times = []
        for host in asked:
            began = time.process_time()
            look_up(host, 50)
            times.append(time.process_time() - began)
        quick, slow = np.percentile(times, [50, 99])
        yield f"  {label}, at most 50: median {quick * 1000:.2f} ms, 99 in 100 within {slow * 1000:.2f} ms"


def unpacked(folder: Path) -> float:
    began = time.process_time()
    for path in folder.glob("*edges*"):
        with igzip.open(path, "rb") as file:
            while file.read(1 << 20):
                pass
    return time.process_time() - began


def read_by_arrow(folder: Path) -> float:
    """The same columns, and nothing made of them."""
    from pyarrow import csv  # noqa: PLC0415 (a peer, where it is installed)

    began = time.process_time()
    for path in folder.glob("*edges*"):
        options = csv.ReadOptions(column_names=["source", "target"], use_threads=False)
        for batch in csv.open_csv(path, options, csv.ParseOptions(delimiter="\t")):
            batch.column(0)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.make:
        make(asked.make, asked.edges)
    elif asked.measure:
        print("\n".join(measured(Path(asked.measure[0]), int(asked.measure[1]))))
    else:
        compare(asked.edges)


def child(*arguments: str) -> None:
    """A process of its own, whose memory is not that of the others."""
    subprocess.run([sys.executable, "-m", "lab.bench.graph", *arguments], cwd=Path(__file__).parents[2], check=True)


def compare(edges: int) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        child("--make", made, "--edges", str(edges))
        print(f"link graph: {edges:,} edges, {HOSTS:,} hosts, one process, CPU time", flush=True)
        for given in (GIVEN, 0):
            child("--measure", made, str(given))
        print(f"unpacking alone: {edges / unpacked(folder) / 1e6:.1f} M edges a CPU second")
        if importlib.util.find_spec("pyarrow"):
            print(f"pyarrow's reader: {edges / read_by_arrow(folder) / 1e6:.1f} M edges a CPU second")


if __name__ == "__main__":
    main()
