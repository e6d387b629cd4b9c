"""WARC files split by site: MB per second of CPU, and memory, on a frozen web of 551 sites, repeated.

Compared with: reading the same records with fastwarc and doing nothing. `--times` reads the web more often.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

from fastwarc.warc import ArchiveIterator

from bitrawl.job import partition

WEB = Path(__file__).parents[3] / "shared" / "discovery" / "web.warc.gz"


def cpu() -> float:
    return time.process_time()


def read(path: Path) -> float:
    began = cpu()
    with path.open("rb") as file:
        for _ in ArchiveIterator(file, parse_http=False):
            pass
    return cpu() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=4)
    times = parser.parse_args().times
    if not WEB.exists():
        print(f"partition: {WEB} is not here; any WARC file with many sites does")
        return
    mb = WEB.stat().st_size / 1e6
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = [folder / f"{number}.warc.gz" for number in range(times)]
        for path in inputs:
            path.symlink_to(WEB)
        floor = min(read(WEB) for _ in range(2))
        for groups in (0, 200):
            began = cpu()
            shares = partition(inputs, folder / f"out-{groups}", groups=groups).done
            took = cpu() - began
            files = len(list((folder / f"out-{groups}").glob("*.warc.gz")))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"partition: {times} × {mb:.0f} MB, {sum(one.answers for one in shares):,} answers into {files} files:"
                f" {mb * times / took:.0f} MB per CPU s, {took / times / floor:.2f} of reading alone, peak {peak:.0f} MB"
            )


if __name__ == "__main__":
    main()
