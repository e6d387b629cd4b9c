"""Every link of a page, once, with what is known about its target before a visit."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from selectolax.lexbor import LexborNode

from bitrawl.model import FEED, Alternate, AlternateSource, Image, Link, LinkKind
from bitrawl.page.head import Attributes, Head, resolve, written
from bitrawl.page.outline import Block, Outline, normalise
from bitrawl.url import Url

# They limit what one page may cost.
MAX_LINKS = 20_000  # anchors of a page that are examined
FEED_TYPES = frozenset(("application/rss+xml", "application/atom+xml", "application/feed+json"))
MAX_IMAGES = 1000  # per page
ANCHOR_LENGTH = 200  # Characters of an anchor's text that are kept.
FARTHEST = 10_000  # Characters of a block that are searched for an anchor's text, from the end of the previous anchor.
_FRAMES = frozenset(("iframe", "frame"))
CONTEXT = 80  # Characters of the text on each side of an anchor that are kept.


class Anchor(msgspec.Struct, frozen=True, gc=False):
    """An a or area element with its URL resolved."""

    node: LexborNode
    attributes: Attributes
    url: Url
    text: str
    context: str
    image_alt: str
    image_src: str
    position: int


def read_anchors(outline: Outline, head: Head) -> list[Anchor]:
    """Anchors with an http(s) URL, in document order, with the text of their block and the image inside, if any."""
    pictures = _pictures(outline)
    anchors, base = [], head.base
    reach: dict[int, int] = {}  # by block: where in its text the last anchor ended
    for place in outline.anchors[:MAX_LINKS]:
        attributes, block = written(place.attributes), place.block
        url = resolve(attributes["href"], base)
        if url is None:
            continue
        node = place.node
        text, context = node.text(), ""
        if block < 0 or text != outline.blocks[block].text:  # else the anchor is the block, which is normalised
            text = normalise(text)
            context = _context(outline.blocks[block], text, reach, block) if block >= 0 else ""
        image_alt = image_src = ""
        if pictures and (picture := pictures.get(node.mem_id)):
            image_alt, image_src = normalise(picture.get("alt", "")), picture.get("src") or picture.get("data-src", "")
        anchors.append(
            Anchor(
                node,
                attributes,
                url,
                (text or normalise(attributes.get("alt", "")))[:ANCHOR_LENGTH],
                context,
                image_alt[:ANCHOR_LENGTH],
                "" if image_src.startswith("data:") else image_src[:ANCHOR_LENGTH],
                place.position,
            )
        )
    return anchors


def read_links(head: Head, anchors: Sequence[Anchor], alternates: Iterable[Alternate]) -> tuple[Link, ...]:
    """One link per URL. The first occurrence wins, and takes over what only later ones say.

    A declared alternate is of that kind however else it is linked. URLs that do not look like pages are listed too:
    scope recognises them by their extension and skips them.
    """
    links: dict[Url, Link] = {}
    for link in _all(head, anchors, alternates):
        links[link.url] = _merged(links[link.url], link) if link.url in links else link
    links.pop(head.url, None)
    return tuple(links.values())


def read_images(outline: Outline, head: Head) -> tuple[Image, ...]:
    """Images with a URL, including lazily loaded ones. Images that are embedded in the page are left out."""
    images = []
    for node, position in outline.images[:MAX_IMAGES]:
        attributes = node.attributes
        source = attributes.get("src") or ""
        if not source or source.startswith("data:"):
            source = next(filter(None, map(attributes.get, ("data-src", "data-lazy-src", "data-original"))), "")
        url = head.resolve(source)
        if url is not None:
            images.append(Image(url, normalise(attributes.get("alt") or "")[:ANCHOR_LENGTH], position))
    return tuple(images)


def _all(head: Head, anchors: Sequence[Anchor], alternates: Iterable[Alternate]) -> Iterator[Link]:
    source = head.url
    for link in head.related("canonical"):
        if url := head.resolve(link["href"]):
            yield Link(url, LinkKind.PAGE, source, rel="canonical")
    declared: dict[Url, str] = {}
    for alternate in alternates:
        if alternate.source in (AlternateSource.LINK, AlternateSource.HEADER, AlternateSource.JSON_LD):
            yield Link(alternate.url, LinkKind.ALTERNATE, source, rel="alternate", hreflang=alternate.language)
        declared[alternate.url] = declared.get(alternate.url) or alternate.language
    for anchor in anchors:
        language = declared.pop(anchor.url, None)
        rel, hreflang = anchor.attributes.get("rel"), anchor.attributes.get("hreflang")
        yield Link(
            anchor.url,
            LinkKind.PAGE if language is None else LinkKind.ALTERNATE,
            source,
            anchor=anchor.text,
            context=anchor.context,
            rel=" ".join(rel.lower().split())[:ANCHOR_LENGTH] if rel else "",
            hreflang=(hreflang.strip().lower()[:40] if hreflang else "") or language or "",
            image_alt=anchor.image_alt,
            image_src=anchor.image_src,
            position=anchor.position,
        )
    for url, language in declared.items():  # declared in an option or an attribute
        yield Link(url, LinkKind.ALTERNATE, source, hreflang=language)
    yield from _unclicked(head)


def _unclicked(head: Head) -> Iterator[Link]:
    """Where the page leads by itself (refreshes and frames), and the neighbours that its head names."""
    for content in head.all("refresh"):
        _, mark, target = content.partition("=")
        if mark and (url := head.resolve(target.strip(" '\""))):
            yield Link(url, LinkKind.PAGE, head.url, rel="refresh")
    for node, attributes in head.marked:
        if node.tag in _FRAMES and (url := head.resolve(attributes.get("src", ""))):
            yield Link(url, LinkKind.PAGE, head.url, anchor=attributes.get("title", ""), rel="frame")
    for link in head.related("alternate"):
        if link.get("type", "").strip().lower() in FEED_TYPES and (url := head.resolve(link["href"])):
            yield Link(url, LinkKind.INDEX, head.url, rel=FEED)
    for relation in ("next", "prev"):
        for link in head.related(relation):
            if url := head.resolve(link["href"]):
                yield Link(url, LinkKind.PAGE, head.url, rel=relation)


def _merged(first: Link, later: Link) -> Link:
    """All relations of both. nofollow only if both have it, because one link that may be followed is enough."""
    return msgspec.structs.replace(
        first,
        kind=LinkKind.ALTERNATE if LinkKind.ALTERNATE in (first.kind, later.kind) else first.kind,
        anchor=first.anchor or later.anchor,
        context=first.context if first.anchor else first.context or later.context,
        rel=_relations(first.rel, later.rel),
        hreflang=first.hreflang or later.hreflang,
        image_alt=first.image_alt or later.image_alt,
        image_src=first.image_src or later.image_src,
        position=first.position if first.position >= 0 else later.position,
    )


def _relations(first: str, later: str) -> str:
    if first == later:
        return first
    words = dict.fromkeys([*first.split(), *later.split()])
    if not ("nofollow" in first.split() and "nofollow" in later.split()):
        words.pop("nofollow", None)
    return " ".join(words)


def _pictures(outline: Outline) -> dict[int, Attributes]:
    """The attributes of the first image inside each anchor, at most four elements down."""
    pictures: dict[int, Attributes] = {}
    for image, _ in outline.images[:MAX_IMAGES]:
        node = image.parent
        for _ in range(4):
            if node is None:
                break
            if node.tag == "a":
                pictures.setdefault(node.mem_id, written(image.attributes))
                break
            node = node.parent
    return pictures


def _context(block: Block, text: str, reach: dict[int, int], index: int) -> str:
    """The text before and after the anchor in its block, without the anchor."""
    if len(block.text) <= len(text):
        return ""
    last = reach.get(index, 0)
    start = block.text.find(text, last, last + FARTHEST + len(text)) if text else -1
    if start < 0:
        return ""
    end = reach[index] = start + len(text)
    return f"{block.text[max(0, start - CONTEXT) : start].strip()} {block.text[end : end + CONTEXT].strip()}".strip()
