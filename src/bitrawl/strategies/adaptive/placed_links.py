"""Where the links of a page stand among its tags, in as few bytes as that takes: every page without a partner has it."""

import zlib
from array import array

import msgspec

from bitrawl.model import Page
from bitrawl.strategies.adaptive.addresses import Addresses

MAX_LETTERS = 4000  # judgement: tags of one site that have a letter of their own; HTML has about 140
_FIRST_LETTER = 32
_FASTEST = 1  # of zlib: 1,500 tags take 20 µs, and a fifth of their bytes


class TagLetters(dict[str, str]):
    """A letter for each tag of one site."""

    def __missing__(self, tag: str) -> str:
        found = chr(_FIRST_LETTER + min(len(self), MAX_LETTERS))
        if len(self) < MAX_LETTERS:
            self[tag] = found
        return found


class PlacedLinks(msgspec.Struct, frozen=True, gc=False):
    """The tags of a page as letters, and the targets of its links by their places."""

    tags: bytes  # compressed
    places: bytes
    targets: bytes

    @classmethod
    def of(cls, page: Page, letters: TagLetters, addresses: Addresses, *, max_tags: int) -> "PlacedLinks":
        """Without links to other sites, of which no page is asked for."""
        tags = "".join(map(letters.__getitem__, page.tags[:max_tags]))
        site = page.url.site
        targets: dict[int, int] = {}
        for link in page.links:
            if 0 <= link.position < max_tags:
                number = addresses.known(link.url)
                if number is None and link.url.site == site:
                    number = addresses.number(link.url)
                if number is not None:
                    targets[link.position] = number
        return cls(
            zlib.compress(tags.encode(), _FASTEST),
            array("H", targets).tobytes(),
            array("I", targets.values()).tobytes(),
        )

    def read(self) -> tuple[str, dict[int, int]]:
        """The letters, and the addresses of the targets by place."""
        places, targets = array("H", self.places), array("I", self.targets)
        return zlib.decompress(self.tags).decode(), dict(zip(places, targets, strict=True))
