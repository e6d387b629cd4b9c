"""Pages that scripts draw: what shows that a page is one, and the texts that wait for its scripts as JSON.

Only a page with almost no text of its own is looked at, so that an ordinary page pays nothing for it.
"""

import html
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from bitrawl.files import NO_JSON
from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, DrawnBy, Language, ParagraphKind
from bitrawl.page.decode import shallow
from bitrawl.page.document import DocumentBlock
from bitrawl.page.outline import normalise, outline
from bitrawl.text.words import weight

LITTLE = 300  # letters: a heading and a sentence or two; judgement

# What one page may cost.
MAX_SCRIPTS = 100
MAX_JSON = 2 << 20  # characters of all scripts together
MAX_VALUES = 100_000
MAX_LETTERS = 200_000  # of the texts found
MAX_NESTED = 3  # JSON in a text in JSON
_MAX_STEPS = 64  # into objects and lists

# Where the frameworks draw: the element is empty, or says only that something is being loaded.
_ROOTS = (
    "#root,#app,#__next,#__nuxt,#___gatsby,#svelte,#main-app,#app-root,#react-root,#q-app,#application,#mount,"
    "app-root,my-app,[ng-app],[data-reactroot],[data-server-rendered],[ng-version]"
)
_NEEDS_SCRIPTS = re.compile("java[ -]?script", re.IGNORECASE)  # the name is the same in all languages
_DATA_TYPE = re.compile(r"application/(?:[\w.-]+\+)?json\b", re.IGNORECASE)
# window.__INITIAL_STATE__ = {, self["__data"] = JSON.parse("
_STATE = re.compile(
    r"""(?:window|self|globalThis)\s{0,9}(?:\.\s{0,9}|\[\s{0,9}["'])[\w$]{1,60}(?:["']\s{0,9}\])?\s{0,9}=\s{0,9}"""
    r"""(?:JSON\.parse\(\s{0,9}(?=")|(?=[\[{]))"""
)
_TAG = re.compile(r"</?[a-z][a-z0-9]{0,9}(?:\s[^<>]{0,500})?/?>", re.IGNORECASE)
_LETTER_RUNS = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"[{}<>=|\\^_~`$]|://|;\s|\w\.\w+\(")
_WORDS, _LABEL_WORDS = 5, 2  # that make a text, elsewhere and under a name that says so
_PASSAGE = 20  # letters in a row that two texts do not have by chance (judgement)
_UNSPACED_WEIGHT = 24  # of a text without spaces; about eight characters of Chinese
_LABELS = frozenset(("title", "headline", "heading", "name", "subtitle", "caption", "subheading", "question"))
_TEXTS = frozenset(
    ("text", "body", "content", "description", "articlebody", "summary", "excerpt", "html", "paragraph", "value")
)
_HEADINGS = _LABELS - {"caption"}


class Scripted(NamedTuple):
    """What a page with almost no text says about the scripts that draw it."""

    sign: DrawnBy | None = None  # what shows it; None if nothing does
    texts: tuple[DocumentBlock, ...] = ()  # that wait for the scripts; none without a sign


class Article(NamedTuple):
    """The text of a page as its metadata has it."""

    letters: str  # without spaces and punctuation
    blocks: tuple[DocumentBlock, ...]

    def has(self, text: str) -> bool:
        letters = _letters(text)
        return len(letters) >= _PASSAGE and letters in self.letters

    def is_in(self, text: str) -> bool:
        """Whether half of its passages are in a text. A hundred are looked up."""
        letters, last = _letters(text), len(self.letters) - _PASSAGE
        starts = range(0, last + 1, max(1, last // 100, _PASSAGE))
        return sum(self.letters[start : start + _PASSAGE] in letters for start in starts) * 2 >= len(starts)


ORDINARY = Scripted()
RENDERED = Scripted(DrawnBy.BROWSER)


def scripted(tree: LexborHTMLParser, main: int, everything: int, language: Language | None) -> Scripted:
    """`main` and `everything` are the letters of the page's main text and of all its texts. `language` is its claim.

    Texts are taken only where the page hardly has other ones. Of an object with a value for each of several languages,
    only that of the page's own language is read: the others are texts that its reader does not see.
    """
    if main > LITTLE or not tree.css_matches("script"):
        return ORDINARY
    texts = _waiting_texts(tree, language) if everything <= 2 * LITTLE else []
    waiting = sum(len(block.text) for block in texts)
    sign = _sign(tree, waiting > max(main, LITTLE), not everything)
    return Scripted(sign, tuple(texts)) if sign is not None else ORDINARY


def article(tree: LexborHTMLParser) -> Article | None:
    """The `articleBody` of the one article of JSON-LD, with which a page also tells search engines what it is about.

    None of an article that not everybody may read: the page shows what it wants to show.
    """
    stack = [value for node in tree.css("script[type*='ld+json']")[:MAX_SCRIPTS] for value in _with_articles(node)]
    bodies: list[str] = []
    for _ in range(MAX_VALUES):
        if not stack:
            break
        value = stack.pop()
        if isinstance(value, dict):
            body = value.get("articleBody")
            bodies += [body] if isinstance(body, str) and body.strip() and _is_free(value) else []
        stack += list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if len(set(bodies)) != 1 or len(bodies[0]) > MAX_LETTERS:  # a list of articles has several
        return None
    lines = html.unescape(bodies[0]).split("\n")
    blocks = [DocumentBlock(line, ParagraphKind.TEXT) for raw in lines if (line := normalise(raw))]
    if _TAG.search(bodies[0]):
        outlined = outline(LexborHTMLParser(shallow(bodies[0]))).blocks
        blocks = [DocumentBlock(block.text, block.kind) for block in outlined]
    return Article(_letters("".join(block.text for block in blocks)), tuple(blocks))


def _with_articles(script: LexborNode) -> list[Any]:
    code = script.text()
    return [_decoded(code)] if "articleBody" in code and len(code) <= MAX_JSON else []


def _is_free(thing: dict[str, Any]) -> bool:
    """Whether schema.org's `isAccessibleForFree` is not false for it, nor for a part of it."""
    parts = thing.get("hasPart")
    things = [thing, *(parts if isinstance(parts, list) else [parts])]
    claims = [str(each.get("isAccessibleForFree", "")) for each in things if isinstance(each, dict)]
    return not any(value.lower().endswith("false") for value in claims)


def _letters(text: str) -> str:
    return "".join(_LETTER_RUNS.findall(text.casefold()))


def _sign(tree: LexborHTMLParser, has_state: bool, is_blank: bool) -> DrawnBy | None:  # noqa: FBT001
    if any(_is_empty(root) for root in tree.css(_ROOTS)):
        return DrawnBy.ROOT
    if any(_NEEDS_SCRIPTS.search(notice.text()[:2000]) for notice in tree.css("noscript")):
        return DrawnBy.NOTICE
    if has_state:
        return DrawnBy.STATE
    return DrawnBy.NOTHING_ELSE if is_blank and not tree.css_matches("a[href],iframe,frame,form") else None


def _waiting_texts(tree: LexborHTMLParser, language: Language | None) -> list[DocumentBlock]:
    """The texts for readers in the page's JSON, in their order, each once."""
    texts: dict[str, DocumentBlock] = {}
    budget = _Budget(language)
    for value in _state_values(tree):
        for block in budget.texts(value):
            if len(block.text) > budget.letters:
                return list(texts.values())
            if block.text not in texts:
                budget.letters -= len(block.text)
                texts[block.text] = block
    return list(texts.values())


def _is_empty(root: LexborNode) -> bool:
    return len(root.text().strip()) < 40 and not root.css_matches("a[href]")


def _state_values(tree: LexborHTMLParser) -> Iterator[Any]:
    """What the scripts of a page hold as JSON: JSON-LD and other data, and state objects in code."""
    left = MAX_JSON
    for node in tree.css("script:not([src])")[:MAX_SCRIPTS]:
        kind = (node.attributes.get("type") or "").strip()
        is_data = bool(_DATA_TYPE.match(kind))
        if kind and not is_data and "javascript" not in kind.lower() and kind.lower() != "module":
            continue
        code = node.text()
        left -= len(code)
        if left < 0:
            return
        value = _decoded(code) if is_data else _assigned(code)
        if isinstance(value, dict | list) and value:
            yield value


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except NO_JSON:
        return None


def _assigned(code: str) -> Any:
    """The first large object that is assigned to a name of the window."""
    for match in _STATE.finditer(code):
        try:
            value, _ = json.JSONDecoder().raw_decode(code, match.end())
            value = _decoded(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict | list) and len(value) > 0:
            return value
    return None


class _Budget:
    """What may still be read of one page."""

    def __init__(self, language: Language | None) -> None:
        self._language = language
        self.values = MAX_VALUES
        self.letters = MAX_LETTERS

    def texts(self, value: Any, nested: int = 0) -> Iterator[DocumentBlock]:
        stack = [(value, "", 0)]
        while stack and self.values > 0:
            value, name, depth = stack.pop()
            self.values -= 1
            if isinstance(value, str):
                yield from self._read(value, name, nested)
            elif isinstance(value, dict) and depth < _MAX_STEPS:
                seen = self._seen(value if _is_free(value) else {**value, "articleBody": ""})
                stack.extend((inner, key, depth + 1) for key, inner in reversed(seen))
            elif isinstance(value, list) and depth < _MAX_STEPS:
                stack.extend((inner, name, depth + 1) for inner in reversed(value))

    def _seen(self, value: dict[str, Any]) -> list[tuple[str, Any]]:
        """All of an object; of one with a value for each language, the one that a reader of this page sees."""
        kinds = {type(inner) for inner in value.values()}
        if len(value) < 2 or kinds not in ({dict}, {str}, {list}):
            return list(value.items())
        codes = {key: claimed_language(key) for key in value if len(key) <= 12}
        if len(codes) < len(value) or UNDETERMINED in codes.values():
            return list(value.items())
        own = self._language
        return [(key, value[key]) for key, code in codes.items() if own is not None and same_language(code, own)][:1]

    def _read(self, raw: str, name: str, nested: int) -> Iterator[DocumentBlock]:
        start = raw[:200].lstrip()
        if len(raw) > self.letters or not start:
            return
        if start[0] in "{[" and nested < MAX_NESTED:
            value = _decoded(raw)
            if isinstance(value, dict | list):
                yield from self.texts(value, nested + 1)
            return
        if _TAG.search(raw):
            for block in outline(LexborHTMLParser(shallow(raw))).blocks:
                if _is_text(block.text, _LABEL_WORDS):
                    yield DocumentBlock(block.text, block.kind)
            return
        name = name.lower()
        text = normalise(raw)
        if _is_text(text, _LABEL_WORDS if name in _LABELS or name in _TEXTS else _WORDS):
            kind = ParagraphKind.HEADING if name in _HEADINGS else ParagraphKind.TEXT
            yield DocumentBlock(text, kind)


def _is_text(text: str, words: int) -> bool:
    """Whether people read it: words in a row, most of it letters, and no code, style or address."""
    runs = _LETTER_RUNS.findall(text[:2000])
    letters = sum(map(len, runs))
    if letters < 0.6 * len(text[:2000].replace(" ", "")) or _CODE.search(text[:2000]):
        return False
    if " " not in text:
        return not text.isascii() and weight(text) >= _UNSPACED_WEIGHT
    return len(runs) >= words
