"""Ten thousand hosts at once, with the 1,024 descriptors that most systems allow: is any page lost, and what is open?

    python -m lab.bench.hosts                          # 8,000 hosts that answer at once, 2,000 after five seconds
    python -m lab.bench.hosts --good 800 --slow 200

All hosts are on loopback, in a process of their own (`lab.bench.no_answer`), and each is asked for one page.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from bitrawl.store.ledger import Ledger
from lab.bench.no_answer import Crawl, served


class Watch(threading.Thread):
    """The most descriptors and memory that a process has had."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self.descriptors = self.kilobytes = 0

    def run(self) -> None:
        """Until the process has ended."""
        while True:
            try:
                self.descriptors = max(self.descriptors, len([*Path(f"/proc/{self._pid}/fd").iterdir()]))
                status = Path(f"/proc/{self._pid}/status").read_text(encoding="ascii")
                self.kilobytes = max(self.kilobytes, int(status.partition("VmHWM:")[2].split()[0]))
            except (OSError, IndexError):
                return
            time.sleep(0.05)


def measure(counts: dict[str, int], ports: dict[str, str], flags: list[str]) -> int:
    """How many hosts brought no page."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "job"
        crawl = Crawl(folder, counts, ports, [*flags, "--max-depth", "0", "--no-probe", "--no-sitemaps"])
        watch = Watch(crawl.pid)
        watch.start()
        run = crawl.ended()
        ledger = Ledger(folder / "job.sqlite")
        reasons = Counter(dict(ledger.database.query("SELECT coalesce(reason, state), count(*) FROM links GROUP BY 1")))
        retries = ledger.database.one("SELECT count(*) FROM fetches WHERE attempt > 1")[0]
        ledger.close()
    print(f"{run.pages.total():,} pages of {sum(counts.values()):,} hosts in {run.wall:.0f} s, {run.cpu:.0f} s of CPU")
    print(f"at most {watch.descriptors} descriptors and {watch.kilobytes // 1000} MB; {retries} retries")
    print("links by outcome:", dict(reasons))
    return sum(counts.values()) - run.pages.total()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--good", type=int, default=8000, help="hosts that answer at once; default: 8000")
    parser.add_argument("--slow", type=int, default=2000, help="hosts that answer after five seconds; default: 2000")
    parser.add_argument("--descriptors", type=int, default=1024)
    asked, flags = parser.parse_known_args()
    with served(asked.descriptors) as ports:
        lost = measure({"good": asked.good, "slow": asked.slow}, ports, flags)
    sys.exit(min(lost, 1))


if __name__ == "__main__":
    main()
