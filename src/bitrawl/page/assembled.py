"""Puts what a page keeps apart into its place, as a browser does: segments that frameworks stream, and shadow roots.

Only nodes are moved, and nothing is removed: what is not shown in the end is put into a `template`, which nobody reads.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

# Of one page, of all segments together, and of what is shown instead of one.
MAX_SEGMENTS, MAX_NODES, MAX_FALLBACK = 1000, 100_000, 200

# React's calls: complete a boundary, complete it after style sheets, and fill a placeholder in a segment.
_CALL = re.compile(r"""\$R([CRS])\(\s*["']([^"'\\]{1,200})["']\s*,\s*["']([^"'\\]{1,200})["']""")
_PENDING, _OPENS, _ENDS = ("$?", "$~"), ("$", "$?", "$~", "$!", "&"), ("/$", "/&")  # the comments around a boundary
_WRAPPERS = 3  # <table hidden><tbody><tr id="S:0">
_SOLID_CALL = re.compile(r"""\$df\(\s*["']([^"'\\]{1,200})["']\s*\)""")
_MARKO_CALL = re.compile(r"""\$af\(\s*["']?(\w{1,40})["']?\s*[,)]""")  # of Marko 5
_HOSTS = frozenset("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span".split())


class _Segment(NamedTuple):
    """What a script of the page puts into its place."""

    container: LexborNode  # of what is put there
    place: LexborNode  # before it
    fallback: list[LexborNode]  # what is shown until then


def assemble(tree: LexborHTMLParser, body: bytes) -> None:
    """Change the tree where `body`, what it was made from, has the marks of such parts. Most pages have none."""
    for mark, segments in _STREAMS.items():
        if mark in body:
            _place(tree, segments(tree))
    if b"shadowrootmode" in body:
        _attach_shadow_roots(tree)


def _place(tree: LexborHTMLParser, segments: Iterator[_Segment]) -> None:
    """What the scripts in the page would do: a text that is hidden for another reason stays where it is."""
    moved = 0
    for container, place, fallback in segments:
        content = _children(container)
        moved += len(content)
        if moved > MAX_NODES:
            return
        if any(node.mem_id == container.mem_id for node in _around(place)):
            continue
        for node in content:
            place.insert_before(node, move=True)
        if fallback and (aside := tree.create_node("template")) is not None:
            place.insert_before(aside, move=True)
            for node in fallback:
                aside.insert_child(node, move=True)


def _react_segments(tree: LexborHTMLParser) -> Iterator[_Segment]:
    calls = _calls(tree, _CALL)
    nodes = _by_id(tree) if calls else {}
    for call in calls:
        kind, first, second = call[1], call[2], call[3]
        segment, place = (first, second) if kind == "S" else (second, first)
        source, template = nodes.pop(segment, None), nodes.pop(place, None)
        if source is not None and template is not None and template.tag == "template" and _is_set_aside(source):
            fallback = [] if kind == "S" else _fallback(template)
            if fallback is not None:
                yield _Segment(source, template, fallback)


def _is_set_aside(source: LexborNode) -> bool:
    """Whether an element is hidden as React hides a segment."""
    around = zip((source, *_around(source)), range(_WRAPPERS), strict=False)
    return any("hidden" in node.attributes for node, _ in around if node.is_element_node)


def _fallback(template: LexborNode) -> list[LexborNode] | None:
    """The nodes from the template to the end of its boundary. None if it is in no boundary that waits for a segment."""
    if template.prev is None or _mark(template.prev) not in _PENDING:
        return None
    nodes: list[LexborNode] = []
    depth = 0
    for node in _after(template):
        mark = _mark(node)
        if mark in _ENDS and depth == 0:
            return nodes
        depth += (mark in _OPENS) - (mark in _ENDS)
        nodes.append(node)
    return None


def _solid_segments(tree: LexborHTMLParser) -> Iterator[_Segment]:
    """`<template id="1">`, put in the place of what stands from `<template id="pl-1">` to `<!--pl-1-->`."""
    calls = _calls(tree, _SOLID_CALL)
    nodes = _by_id(tree) if calls else {}
    for call in calls:
        source, place = nodes.pop(call[1], None), nodes.pop(f"pl-{call[1]}", None)
        contents = source.template_fragments() if source is not None and source.tag == "template" else []
        if contents and place is not None and place.tag == "template":
            fallback = _until(place, f"pl-{call[1]}")
            if fallback is not None:
                yield _Segment(contents[0], place, fallback)


def _marko_segments(tree: LexborHTMLParser) -> Iterator[_Segment]:
    """Segments of Marko 6: `<t M_=1>`, put where `<!--M_#1-->` stands, or what stands from `<!--M_!^1-->` to `<!--M_!1-->`."""
    sources = {source.attributes["m_"] or "": source for source in tree.css("t[m_]")[:MAX_SEGMENTS]}
    comments = (node for node in tree.root.traverse(include_text=True) if node.is_comment_node) if tree.root else ()
    marks = {_mark(node): node for node in comments} if sources else {}
    for key, source in sources.items():
        awaited = [mark[3:] for node in _children(source) if (mark := _mark(node) or "").startswith("M_#")]
        if not sources.keys() >= set(awaited):
            continue  # the answer ended before
        here, start = marks.get(f"M_#{key}"), marks.get(f"M_!^{key}")
        fallback = _until(start, f"M_!{key}") if start is not None else None
        if here is not None:
            yield _Segment(source, here, [])
        elif start is not None and fallback is not None:
            yield _Segment(source, start, fallback)


def _marko_5_segments(tree: LexborHTMLParser) -> Iterator[_Segment]:
    """`<div id=af1>`, put in the place of `<span id=afph1>`."""
    calls = _calls(tree, _MARKO_CALL)
    nodes = _by_id(tree) if calls else {}
    for call in calls:
        source, place = nodes.pop(f"af{call[1]}", None), nodes.pop(f"afph{call[1]}", None)
        if source is not None and place is not None:
            yield _Segment(source, place, [place])


_STREAMS: dict[bytes, Callable[[LexborHTMLParser], Iterator[_Segment]]] = {
    b"$R": _react_segments,
    b"$df(": _solid_segments,
    b"<!--M_": _marko_segments,
    b"$af(": _marko_5_segments,
}


def _calls(tree: LexborHTMLParser, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """The calls in the page's scripts, in order."""
    calls = (call for script in tree.css("script:not([src])") for call in pattern.finditer(script.text()))
    return list(islice(calls, MAX_SEGMENTS))


def _by_id(tree: LexborHTMLParser) -> dict[str, LexborNode]:
    """The elements that have an id, also those in templates: the first of each."""
    nodes: dict[str, LexborNode] = {}
    found, waiting = tree.css("[id]"), tree.template_fragments()[::-1]
    while waiting:
        part = waiting.pop()
        found += part.css("[id]")
        waiting += part.template_fragments()[::-1]
    for node in found:
        nodes.setdefault(node.attributes["id"] or "", node)
    return nodes


def _until(start: LexborNode, mark: str) -> list[LexborNode] | None:
    """The nodes between a node and the comment with that text. None if it is not there."""
    nodes: list[LexborNode] = []
    for node in _after(start):
        if _mark(node) == mark:
            return nodes
        nodes.append(node)
    return None


def _after(node: LexborNode) -> Iterator[LexborNode]:
    for _ in range(MAX_FALLBACK):
        following = node.next
        if following is None:
            return
        yield following
        node = following


def _mark(node: LexborNode) -> str | None:
    return node.comment_content if node.is_comment_node else None


def _attach_shadow_roots(tree: LexborHTMLParser) -> None:
    """Show shadow roots that are written in the page: in the place of their host's children, which go to the slots."""
    hosts: set[int] = set()
    waiting = tree.template_fragments()[::-1]
    while waiting:
        shadow = waiting.pop()
        template = shadow.parent
        host = template.parent if template is not None else None
        if template is None or host is None or not host.is_element_node or host.mem_id in hosts:
            continue
        mode, tag = (template.attributes.get("shadowrootmode") or "").lower(), host.tag or ""
        if mode in ("open", "closed") and (tag in _HOSTS or "-" in tag):
            hosts.add(host.mem_id)
            waiting += shadow.template_fragments()[::-1]
            _fill_slots(shadow, template, [child for child in _children(host) if child.mem_id != template.mem_id])
            for node in _children(shadow):
                template.insert_before(node, move=True)


def _fill_slots(shadow: LexborNode, template: LexborNode, children: list[LexborNode]) -> None:
    slots: dict[str, LexborNode] = {}
    for slot in shadow.css("slot"):
        slots.setdefault(slot.attributes.get("name") or "", slot)
    filled: set[int] = set()
    for child in children:
        name = (child.attributes.get("slot") or "") if child.is_element_node else ""
        target = slots.get(name) if child.is_element_node or child.is_text_node else None
        if target is not None and target.mem_id not in filled:
            filled.add(target.mem_id)
            for default in _children(target):
                template.insert_child(default, move=True)
        (target or template).insert_child(child, move=True)


def _children(node: LexborNode) -> list[LexborNode]:
    children, child = [], node.first_child
    while child is not None:
        children.append(child)
        child = child.next
    return children


def _around(node: LexborNode) -> Iterator[LexborNode]:
    """What the node is in, from inside to outside."""
    around = node.parent
    while around is not None:
        yield around
        around = around.parent
