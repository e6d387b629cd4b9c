"""Puts what a page keeps apart into its place, as a browser does: segments that React streams, and shadow roots.

Only nodes are moved, and nothing is removed: what is not shown in the end is put into a `template`, which nobody reads.
"""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

# Of one page, of all segments together, and of what is shown instead of one (judgement).
MAX_SEGMENTS, MAX_NODES, MAX_FALLBACK = 1000, 100_000, 200

# React's calls: complete a boundary, complete it after style sheets, and fill a placeholder in a segment.
_CALL = re.compile(r"""\$R([CRS])\(\s*["']([^"'\\]{1,200})["']\s*,\s*["']([^"'\\]{1,200})["']""")
_PENDING, _OPENS, _ENDS = ("$?", "$~"), ("$", "$?", "$~", "$!", "&"), ("/$", "/&")  # the comments around a boundary
_WRAPPERS = 3  # <table hidden><tbody><tr id="S:0">
_HOSTS = frozenset("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span".split())


def assemble(tree: LexborHTMLParser, body: bytes) -> None:
    """Change the tree where `body`, what it was made from, has the marks of such parts. Most pages have none."""
    if b"$R" in body:
        _place_segments(tree)
    if b"shadowrootmode" in body:
        _attach_shadow_roots(tree)


def _place_segments(tree: LexborHTMLParser) -> None:
    """What the scripts in the page would do: a text that is hidden for another reason stays where it is."""
    calls = [call for script in tree.css("script:not([src])") for call in _CALL.findall(script.text())]
    nodes: dict[str, LexborNode] = {}
    for node in tree.css("[id]") if calls else ():
        nodes.setdefault(node.attributes["id"] or "", node)
    moved = 0
    for kind, first, second in calls[:MAX_SEGMENTS]:
        segment, place = (first, second) if kind == "S" else (second, first)
        source, template = nodes.pop(segment, None), nodes.pop(place, None)
        if source is None or template is None or template.tag != "template" or not _is_set_aside(source, template):
            continue
        fallback = [] if kind == "S" else _fallback(template)
        content = _children(source)
        moved += len(content)
        if fallback is not None and moved <= MAX_NODES:
            for node in content:
                template.insert_before(node, move=True)
            for node in fallback:
                template.insert_child(node, move=True)


def _is_set_aside(source: LexborNode, template: LexborNode) -> bool:
    """Whether an element is hidden as React hides a segment, and its place is not within itself."""
    around = (node for node, _ in zip(_up(source), range(_WRAPPERS), strict=False))
    return any("hidden" in node.attributes for node in around) and source.mem_id not in (
        node.mem_id for node in _up(template)
    )


def _fallback(template: LexborNode) -> list[LexborNode] | None:
    """The nodes from the template to the end of its boundary. None if it is in no boundary that waits for a segment."""
    before, node = template.prev, template.next
    if before is None or not before.is_comment_node or before.comment_content not in _PENDING:
        return None
    nodes: list[LexborNode] = []
    depth = 0
    while node is not None and len(nodes) < MAX_FALLBACK:
        mark = node.comment_content if node.is_comment_node else None
        if mark in _ENDS and depth == 0:
            return nodes
        depth += (mark in _OPENS) - (mark in _ENDS)
        nodes.append(node)
        node = node.next
    return None


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


def _up(node: LexborNode) -> Iterator[LexborNode]:
    """The element and those around it."""
    around: LexborNode | None = node
    while around is not None and around.is_element_node:
        yield around
        around = around.parent
