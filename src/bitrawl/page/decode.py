"""From bytes to text that is safe to parse: the charset, checked against what the page claims, and a limit on nesting."""

import codecs
import re
from functools import lru_cache
from typing import NamedTuple

# Bytes: HTML requires the meta element within 1024 bytes, but authors do not always comply.
PRESCAN = 4096
DETECT = 65536  # Bytes that a detector sees. More would change no verdict and cost time.

# Labels of the Encoding standard that Python's codecs do not know, after a leading "x-" is removed and "iso88592" gets
# its hyphens. Python knows its other aliases. tests/unit/page/test_decode.py has the whole list.
_LABELS = {
    label: name
    for name, labels in {
        "cp932": "sjis windows-31j",
        "gb18030": "gb_2312 gb_2312-80 csgb2312 csiso58gb231280",
        "big5hkscs": "x-big5 cn-big5",
        "cp949": "windows-949 korean cseuckr csksc56011987 iso-ir-149 ks_c_5601-1989 ksc_5601",
        "euc_jp": "cseucpkdfmtjapanese",
        "koi8-u": "koi koi8 koi8-ru",
        "mac-cyrillic": "mac-ukrainian",
        "mac-roman": "mac csmacintosh",
        "cp874": "windows-874 dos-874",
        "iso8859-15": "csisolatin9",
        "iso8859-7": "sun_eu_greek",
        "iso8859-6": "csiso88596e csiso88596i",
        "iso8859-8": "csiso88598e csiso88598i logical visual",
        "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8",
        "utf-16-le": "unicode unicodefeff csunicode iso-10646-ucs-2 ucs-2",
        "utf-16-be": "unicodefffe",
        "cp1252": "user-defined",
    }.items()
    for label in labels.split()
}
_ISO_8859 = re.compile(r"iso-?8859-?(\d{1,2})(?:-[ei])?")
# What the Encoding standard decodes a label with, if that is a superset of what the label says.
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "johab": "cp949",
    "big5": "big5hkscs",
    "koi8-r": "koi8-u",  # differs in box drawing, and in nothing that Russian uses
    "utf-16": "utf-16-le",
}
# The codecs that are used for text on the web. Python knows others that no page may choose (utf-7, rot13, idna).
_ALLOWED = frozenset(
    "utf-8 utf-16-le utf-16-be cp932 euc_jp iso2022_jp gb18030 hz big5hkscs cp949 iso2022_kr koi8-u cp866 cp874 "
    "mac-roman mac-cyrillic iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 "
    "iso8859-13 iso8859-14 iso8859-15 iso8859-16 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258".split()
)
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_STATEFUL = frozenset(("iso2022_jp", "iso2022_kr", "hz"))  # All of their bytes are ASCII.
_UNICODE = frozenset(("utf-8", "utf-16-le", "utf-16-be"))
# Charsets of languages in Latin script, in which no word has five consecutive letters that are not ASCII.
_LATIN = frozenset("cp1250 cp1252 cp1254 cp1257 cp1258 iso8859-2 iso8859-3 iso8859-4 iso8859-15 mac-roman".split())
# Charsets of two bytes a character. Each decodes most bytes of the others without an error, but to rare characters.
_CJK = frozenset(("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"))
# The share of common characters among those beyond ASCII, below which a text is in another of these charsets. Swept on
# texts of 60 to 5000 bytes in the right charset, at least .93, and Big5 read as GBK and the reverse, at most .87
# (docs/decisions/charsets.md).
_COMMON_SHARE = 0.9
# The lead bytes of punctuation, kana, Hangul and the common half of the characters, in the standard that has them.
_COMMON_ROWS = (
    ("gb2312", (*range(0xA1, 0xA4), *range(0xB0, 0xD8))),
    ("big5", tuple(range(0xA1, 0xC7))),
    ("euc_jp", (0xA1, 0xA3, 0xA4, 0xA5, *range(0xB0, 0xD0))),
    ("euc_kr", (0xA1, 0xA3, *range(0xB0, 0xC9))),
)
_BEYOND_ASCII = re.compile("[^\0-\x7f]")
_FOREIGN_WORD = re.compile(rb"[\x80-\xff]{5}")
_KANA = re.compile("[\u3041-\u30fe]")
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,512}?charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([^\"']+)", re.IGNORECASE)
_NO_TEXT = re.compile(rb"<[^<>]*>|[\x00-\x08\x0e-\x1f\x7f]+")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)


class Decoded(NamedTuple):
    """A body as text, and the codec that decoded it."""

    text: str
    charset: str


def decode(body: bytes, content_type: str = "") -> Decoded:
    """Never raises. What no codec can decode becomes U+FFFD."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return Decoded(body[len(mark) :].decode(name, "replace"), name)
    claims = _claims(body, content_type)
    # A search for one byte takes a fiftieth of the time, and few pages have it.
    is_escaped = b"\x1b" in body and b"\x1b$B" in body
    if is_escaped or not _STATEFUL.isdisjoint(claims) or b"\0" in body[:64]:
        shifted = _shifted(body, claims)
        if shifted is not None:
            return shifted
    # A text in any other charset with more than a few letters beyond ASCII is not valid UTF-8. So this decides,
    # whatever was claimed.
    try:
        return Decoded(body.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(body) - 3 and error.start and not body[: error.start].isascii():
            return Decoded(body.decode("utf-8", "replace"), "utf-8")
    return _legacy(body, claims)


def codec(label: str) -> str | None:
    """The Python codec for a label as the Encoding standard reads it; None if it is not a charset of the web."""
    return _codec(label.strip().lower()[:40])


@lru_cache(maxsize=1024)
def _codec(label: str) -> str | None:
    label = _ISO_8859.sub(r"iso8859-\1", label.removeprefix("x-"))
    name = _LABELS.get(label)
    if name is None:
        try:
            name = codecs.lookup(label).name
        except (LookupError, ValueError):
            return None
        name = _SUPERSETS.get(name, name)
    return name if name in _ALLOWED else None


def _claims(body: bytes, content_type: str) -> list[str]:
    """The codecs that header and markup name, the header's first."""
    head = body[:PRESCAN]
    if b"<!--" in head:
        head = _COMMENT.sub(b"", head)
    markup = (match[1].decode("ascii", "replace") for match in (_META.search(head), _XML.search(head)) if match)
    header = _HEADER.search(content_type)
    return [name for label in (header[1] if header else "", *markup) if (name := codec(label))]


def _shifted(body: bytes, claims: list[str]) -> Decoded | None:
    """Charsets whose bytes are valid ASCII: UTF-16 without its mark, and charsets that shift by escapes."""
    even, odd = body[:512:2].count(0), body[1:512:2].count(0)
    if len(body) >= 8 and even + odd > len(body[:512]) // 4 and max(even, odd) > 8 * min(even, odd):
        name = "utf-16-le" if odd > even else "utf-16-be"
        return Decoded(body.decode(name, "replace"), name)
    for name in claims:
        if name in _STATEFUL and (b"\x1b" in body or b"~{" in body):
            return Decoded(body.decode(name, "replace"), name)
    # Its escapes occur in no other text. Browsers believe the header, but the page was written by somebody who could read it.
    if b"\x1b$B" in body:
        text = body.decode("iso2022_jp", "ignore")
        return Decoded(text, "iso2022_jp") if _KANA.search(text) else None
    return None


def _legacy(body: bytes, claims: list[str]) -> Decoded:
    """Bytes that are not valid UTF-8 throughout."""
    loose = body.decode("utf-8", "replace")
    if _reads_well(loose):
        return Decoded(loose, "utf-8")
    # Servers say "iso-8859-1" by default. If the author names another charset, that goes first.
    foreign = len(_FOREIGN_WORD.findall(body[:DETECT])) > 4
    for name in sorted(dict.fromkeys(claims), key=lambda name: name == "cp1252"):
        if name in _UNICODE or (foreign and name in _LATIN):
            continue
        text = body.decode(name, "replace")
        if _reads_well(text):
            other = None if name not in _CJK or _is_common(text) else _other_cjk(body, name)
            return other or Decoded(text, name)
    name = _detected(body)
    return Decoded(body.decode(name, "replace"), name)


def _detected(body: bytes) -> str:
    """By the text alone: chardet believes a charset that markup names, and takes control characters for a binary file."""
    import chardet  # noqa: PLC0415 (0.1 s, and few pages need it)

    label = chardet.detect(_NO_TEXT.sub(b" ", body[:DETECT]), prefer_superset=False)["encoding"]
    return codec(label or "") or "cp1252"


def _other_cjk(body: bytes, claim: str) -> Decoded | None:
    """The charset of these that the bytes are in, if that is not the one that the page claims."""
    name = _detected(body)
    if name == claim or name not in _CJK:
        return None
    text = body.decode(name, "replace")
    return Decoded(text, name) if _reads_well(text) and _is_common(text) else None


def _is_common(text: str) -> bool:
    """Whether its characters beyond ASCII are mostly such as are common in Chinese, Japanese or Korean."""
    characters = _BEYOND_ASCII.findall(text[:DETECT])
    return sum(map(_common_characters().__contains__, characters)) >= _COMMON_SHARE * len(characters)


@lru_cache(maxsize=1)
def _common_characters() -> frozenset[str]:
    trails = (*range(0x40, 0x7F), *range(0xA1, 0xFF))
    return frozenset(
        bytes((lead, trail)).decode(name, "ignore")
        for name, leads in _COMMON_ROWS
        for lead in leads
        for trail in trails
    )


def _reads_well(text: str) -> bool:
    """Whether hardly any character beyond ASCII is a replacement: a few invalid bytes do not make a page unreadable."""
    gaps = text.count("\ufffd")
    return gaps == 0 or gaps * 20 <= len(text) - len(text.encode("ascii", "ignore"))


MAX_DEPTH = 512  # of elements that bound paragraphs; the limit of Blink and WebKit
MAX_INLINE_DEPTH = 4000  # of other elements, which old pages often leave open
FEW_TAGS = 8000  # A page with fewer tags cannot nest deep enough to matter.

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9\-]*)")
# Void elements, and elements whose end tag is optional. They are not counted.
_FLAT = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd option optgroup tr td th tbody "
    "thead tfoot colgroup caption rb rt rp rtc html head body".split()
)
_INLINE = frozenset(
    "a abbr b bdi bdo big cite code em font i kbd mark nobr q s small span strike strong sub sup tt u".split()
)


def shallow(html: str) -> str:
    """Markup as it is, unless it nests absurdly deep: then the innermost tags become tags that cannot nest.

    Browsers do so too. The time of parsing is quadratic in the depth: 20,000 nested div take lexbor 1.2 s, 100,000 take
    50 s (selectolax 1.0.2). 20,000 end tags without a start tag, inside 20,000 nested span, take 4 s.
    """
    if html.count("<") < FEW_TAGS:
        return html
    depths = [0, 0]

    def bounded(match: re.Match[str]) -> str:
        name = match[2].lower()
        if name in _FLAT:
            return match[0]
        group = name in _INLINE
        depth = depths[group] + (not match[1])
        depths[group] = max(0, depth - bool(match[1]))
        return match[0] if depth <= (MAX_INLINE_DEPTH if group else MAX_DEPTH) else f"<{match[1]}wbr"

    return _TAG.sub(bounded, html)


def whole_notices(html: str) -> str:
    """Markup without the contents of each `noscript` that has a start tag without its end tag, or half a tag.

    To a browser that runs scripts, no markup is in there. To a parser that runs none, `<noscript><div></noscript>` has no
    end, and nobody sees the rest of the page.
    """
    parts, done, end = [], 0, 0
    for opening in _NOTICE.finditer(html):
        if opening.start() < end:
            continue
        ending = _NOTICE_END.search(html, opening.end())
        if ending is None:
            break
        end = ending.start()
        if not _is_whole(html[opening.end() : end]):
            parts.append(html[done : opening.end()])
            done = end
    return "".join((*parts, html[done:])) if parts else html


def _is_whole(markup: str) -> bool:
    """Whether all its elements end in it. An end tag also ends those inside its element, as that of a list its items."""
    stack: list[str] = []
    for match in _ELEMENT.finditer(markup):
        name = (match[2] or "").lower()
        if not name and match[0] == "<":
            return False
        if name and not match[1] and name not in _VOID:
            stack.append(name)
            if len(stack) > MAX_DEPTH:
                return False
        elif match[1]:
            if name not in stack:
                return False
            del stack[len(stack) - 1 - stack[::-1].index(name) :]
    return not stack


_NOTICE = re.compile(r"<[nN][oO][sS][cC][rR][iI][pP][tT]\b[^<>]*+>")
_NOTICE_END = re.compile(r"</[nN][oO][sS][cC][rR][iI][pP][tT]\b")
# A comment, a tag, or what is left of one.
_ELEMENT = re.compile(
    r"""<!--.*?-->|<(/?)([A-Za-z][^\s/>]*)(?:[^"'>]++|"[^"]*"|'[^']*')*+>|<(?=[A-Za-z/!])""", re.DOTALL
)
_VOID = frozenset("area base br col embed frame hr img input link meta param source track wbr".split())
