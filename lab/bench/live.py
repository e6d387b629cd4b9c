"""CPU time and memory of one look at a running job with a million links: python -m lab.bench.live"""

import argparse
import resource
import sqlite3
import tempfile
import time
from pathlib import Path

from bitrawl.job.live_facts import Sampler
from bitrawl.job.reporting import status
from bitrawl.model import SiteKnowledge, pack
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger

LANGUAGES = ("en", "fr", "de", "und")


def made(folder: Path, links: int, fetches: int, sites: int) -> JobFolder:
    """A ledger of that size, with rows as long as real ones."""
    job = JobFolder(folder)
    Ledger(job.ledger).close()
    rows = sqlite3.connect(job.ledger)
    url = "https://www.site{}.example/some/section/of/it/page-number-{}.html"
    rows.executemany(
        "INSERT INTO links (url, host, site, kind, state, score, link) VALUES (?, ?, ?, 'page', ?, 0.5, ?)",
        (
            (
                url.format(n % sites, n),
                f"www.site{n % sites}.example",
                f"site{n % sites}.example",
                2 * (n < fetches),
                b"x" * 150,
            )
            for n in range(links)
        ),
    )
    rows.executemany(
        "INSERT INTO fetches VALUES (NULL, ?, 'page', 0.5, 1, 200, 20000, ?, 0.2, ?, ?, 'a.warc.gz', 1, NULL, NULL, NULL)",
        (
            (url.format(n % sites, n), 1e9 + n, LANGUAGES[n % 4] if n % 5 else None, "page" if n % 5 else "redirect")
            for n in range(fetches)
        ),
    )
    known = dict.fromkeys(LANGUAGES, fetches // sites // 5)
    rows.executemany(
        "INSERT INTO sites VALUES (?, ?)",
        (
            (
                f"site{n}.example",
                pack(SiteKnowledge(f"site{n}.example", fetches // sites, fetches // sites, 10**6, known)),
            )
            for n in range(sites)
        ),
    )
    rows.executemany(
        "INSERT INTO pairs VALUES (NULL, 'site0.example', ?, ?, 'en', 'fr', 0.9, '{}', 0, ?)",
        ((url.format(n % sites, n), url.format(n % sites, n + 1), n.to_bytes(16)) for n in range(fetches // 4)),
    )
    rows.executemany(
        "INSERT INTO alignments VALUES (NULL, ?, 'site0.example', 20, ?)",
        ((n.to_bytes(16), b"x" * 3000) for n in range(fetches // 4)),
    )
    rows.commit()
    rows.close()
    return job


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--fetches", type=int, default=200_000)
    parser.add_argument("--sites", type=int, default=1000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = made(Path(place), asked.links, asked.fetches, asked.sites)
        print(f"{asked.links:,} links, {asked.fetches:,} fetches, {asked.sites:,} sites")
        clock = [0.0]
        sampler = Sampler(lambda: clock[0])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for look in range(1, 9):
            clock[0] += 2
            began = time.process_time()
            live = sampler.sample(folder)
            print(f"look {look}: {1000 * (time.process_time() - began):5.1f} ms, {live.counted:,} fetches counted")
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        began = time.process_time()
        status(folder)
        print(f"full status: {1000 * (time.process_time() - began):.0f} ms; memory of the looks: {grown / 1000:.1f} MB")


if __name__ == "__main__":
    main()
