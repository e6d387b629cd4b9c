"""The links that the pages of a job have to other hosts, for jobs that ask who links where."""

from collections.abc import Iterator

import msgspec

from bitrawl.model import Link
from bitrawl.store.database import Blobs
from bitrawl.store.ledger import Ledger
from bitrawl.url import Url


class _Outlinks(msgspec.Struct, frozen=True):
    """What is read of a stored page; its texts are skipped."""

    url: Url
    links: tuple[Link, ...] = ()


def outlinks(ledger: Ledger) -> Iterator[Link]:
    """Each with the page that it stands on as its source, in the order of the visits; one page in memory at a time."""
    unpack: Blobs[_Outlinks] = Blobs(_Outlinks, ledger.path, compressed=True)
    for (blob,) in ledger.database.query("SELECT page FROM pages ORDER BY id"):
        page = unpack(blob)
        for link in page.links:
            if link.url.host != page.url.host:
                yield msgspec.structs.replace(link, source=page.url)
