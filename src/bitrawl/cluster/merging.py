"""One corpus from all parts of a run. It needs their shards only, and no ledger, which a shared folder must not open."""

import csv
import io
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bitrawl import files
from bitrawl.cluster.bundles import BUNDLES
from bitrawl.cluster.parts import PARTS, PartState, SiteOutcome, done, finished_jobs
from bitrawl.cluster.places import LocalPlace, Place, place
from bitrawl.corpus.facts import MergeFacts
from bitrawl.errors import ConfigError
from bitrawl.job.exporting import SHARD
from bitrawl.job.job_merge import merge

MERGED = "merged"
"""The folder of the merged corpus, in the run's own place."""
FAILED = "failed.tsv"

Tell = Callable[[str], None]


def is_run(address: str) -> bool:
    """Whether a place holds sites in bundles."""
    return (place(address) / BUNDLES).read() is not None


def shards_of(address: str, scratch: Path) -> list[Path]:
    """The shards of all finished parts of a run, on this disk: those of a store are copied into `scratch`."""
    out = place(address)
    found = [_here(out / PARTS / name / SHARD, scratch / name) for name in finished_jobs(out)]
    if not found:
        raise ConfigError(f"no part of {address} is finished yet")
    return found


def _here(shard: Place, copy: Path) -> Path:
    if isinstance(shard, LocalPlace):
        return Path(str(shard))
    shard.download(copy)
    return copy


def merge_run(address: str, settings: Mapping[str, Any], tell: Tell) -> MergeFacts:
    """Write the merged corpus of a run, and the list of sites that failed, into its own place."""
    out = place(address)
    with tempfile.TemporaryDirectory(prefix="bitrawl-merge-") as scratch:
        shards = shards_of(address, Path(scratch, "shards"))
        merged = out / MERGED
        target = Path(str(merged)) if isinstance(merged, LocalPlace) else Path(scratch, MERGED)
        facts = merge(shards, target, settings, tell=tell)
        files.write(target / FAILED, _table(failed_sites(out)))
        if not isinstance(merged, LocalPlace):
            merged.upload(target)
    return facts


def failed_sites(out: Place) -> list[SiteOutcome]:
    """Sites that brought nothing, and why."""
    parts = [done(out, name) for name in (out / PARTS).names()]
    return [site for how in parts if how is not None and how.state is not PartState.HALVED for site in how.failed]


def _table(sites: Sequence[SiteOutcome]) -> str:
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t", lineterminator="\n")
    table.writerow(("site", "why"))
    table.writerows((one.site, " ".join(one.failed.split())) for one in sites)
    return text.getvalue()
