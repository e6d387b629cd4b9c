"""Findings of a site as mining leaves them in the ledger."""

from collections.abc import Sequence
from typing import NamedTuple

from bitrawl.mining import SiteFindings
from bitrawl.model import PagePair, SegmentPair
from bitrawl.store.stored_findings import Findings, PackedAlignment


class Aligned(NamedTuple):
    """A pair of pages with its segments."""

    pair: PagePair
    segments: tuple[SegmentPair, ...] = ()


def keep_findings(findings: Findings, site: str, pages: int, aligned: Sequence[Aligned], **more: object) -> None:
    keys = [f"{site} {number}".encode() for number in range(len(aligned))]
    for key, one in zip(keys, aligned, strict=True):
        findings.aligned(site, key, PackedAlignment.of(one.segments))
    found = SiteFindings(site, pages, tuple(one.pair for one in aligned), **more)  # type: ignore[arg-type]
    findings.replace(found, keys)
