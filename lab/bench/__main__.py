"""All benchmarks, or those that are named: `python -m lab.bench crawl memory`, `python -m lab.bench papers barbosa`.

Each runs in a process of its own, so that the memory of one is not counted for the next. lab/notes/benchmarks.md says what
each measures; a benchmark whose data is not here names its source.
"""

import os
import pkgutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

# Modules here that measure nothing: what others are measured on, or against.
SERVING = frozenset(
    (
        "__main__",
        "changed_urls",
        "changing_site",
        "crawlee_peer",
        "crawlee_crawl",
        "document_reference",
        "document_sites",
        "focused",
        "homes",
        "in_flight",
        "keeping",
        "large_site",
        "libreoffice",
        "panels",
        "paper_check",
        "scrapy_peer",
        "scripted_web",
        "servers",
        "small_sites",
        "translator",
        "web",
    )
)
PAPERS = "papers"  # the folder with a module for each paper
# As our analysis runs in a crawl: a matrix of a page is too small for the threads of BLAS, which wait by spinning.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def names() -> list[str]:
    """Those of the papers have the form `papers.barbosa`."""
    folder = Path(__file__).parent
    found = [*pkgutil.iter_modules([str(folder)]), *pkgutil.iter_modules([str(folder / PAPERS)], f"{PAPERS}.")]
    return [module.name for module in found if not module.ispkg and module.name.split(".")[-1] not in SERVING]


def measure(name: str) -> bool:
    """False where it failed."""
    began = time.perf_counter()
    command = [sys.executable, "-c", f"from lab.bench.{name} import main; main()"]
    done = subprocess.run(command, env={**os.environ, **ONE_THREAD}, cwd=Path(__file__).parents[2], check=False)
    failed = f"{name} failed with status {done.returncode}; " if done.returncode else ""
    print(f"({failed}{time.perf_counter() - began:.0f} s)\n", flush=True)
    return not failed


def main(arguments: Sequence[str]) -> None:
    known = names()
    if arguments[:1] == [PAPERS]:
        known = [name for name in known if name.startswith(f"{PAPERS}.")]
        arguments = [f"{PAPERS}.{name}" for name in arguments[1:]]
    asked = arguments or known
    if unknown := [name for name in asked if name not in known]:
        sys.exit(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(known)}")
    sys.exit(sum(not measure(name) for name in asked))


if __name__ == "__main__":
    main(sys.argv[1:])
