"""The text of an RTF file as a reader sees it: without what is hidden, deleted, or only meant for programs."""

import re
from typing import NamedTuple

_TOKEN = re.compile(
    rb"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<byte>[0-9A-Fa-f]{2})|\\(?P<sign>[^A-Za-z])"
    rb"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)
_HIDING = frozenset((b"v", b"deleted", b"mvf"))  # hidden, deleted, moved to another place
# Destinations that are not the text of the document. Newer ones have a mark before their name, which tells so.
_UNREAD = frozenset(
    b"annotation colortbl dptxbxtext fldinst fonttbl footer footerf footerl footerr footnote header headerf headerl headerr"
    b" info nonesttables nonshppict objdata pict pntext pntxta pntxtb private revtbl rxe shprslt stylesheet tc txe upr"
    b" xe".split()
)
_SIGNS = {b"~": "\xa0", b"-": "\xad", b"_": "\u2011", b"\n": "\n", b"\r": "\n", b"{": "{", b"}": "}", b"\\": "\\"}
# fmt: off
_WORDS = {
    **dict.fromkeys((b"par", b"sect", b"page", b"column", b"line", b"cell", b"row", b"nestcell", b"nestrow"), "\n"),
    b"tab": "\t", b"emspace": "\u2003", b"enspace": "\u2002", b"qmspace": "\u2005",
    b"emdash": "—", b"endash": "–", b"bullet": "•", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”",
    b"zwj": "\u200d", b"zwnj": "\u200c", b"zwbo": "\u200b", b"ltrmark": "\u200e", b"rtlmark": "\u200f",
}
_ENCODINGS = {  # of a font, by the number of its character set; those of the Macintosh that Python lacks have a near one
    0: "cp1252", 77: "mac_roman", 78: "shift_jis", 79: "big5", 80: "euc_kr", 81: "mac_arabic", 82: "cp1255",
    83: "mac_greek", 84: "mac_cyrillic", 85: "gbk", 86: "mac_romanian", 87: "mac_cyrillic", 88: "cp874",
    89: "mac_latin2", 128: "cp932", 129: "cp949", 130: "johab", 134: "cp936", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 254: "cp437", 255: "cp850",
}
# fmt: on


def rtf_text(body: bytes) -> str:
    """Lines are paragraphs and cells."""
    reader, end = _Reader(), 0
    while reader.groups and (token := _TOKEN.match(body, end)):
        end = token.end() + reader.take(token)
    reader.decode()
    # Word writes a character beyond U+FFFF as two halves. A half that stands alone is none.
    return "".join(reader.parts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


class _Group(NamedTuple):
    """What holds until a group ends."""

    fallback: int = 1  # characters after one in Unicode, for readers that do not know it
    font: int = -1
    hidden_by: frozenset[bytes] = frozenset()
    is_unread: bool = False


class _Reader:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.groups = [_Group()]  # the innermost is the last; empty after the end of the document
        self._bytes = bytearray()  # of the text, not decoded yet
        self._left = 0  # characters of a fallback that are still to come
        self._encoding = "cp1252"
        self._encodings: dict[int, str] = {}  # by font

    def take(self, token: re.Match[bytes]) -> int:
        """Read one token, and return how many bytes after it are no RTF."""
        if token.lastgroup == "text":
            self._add(token["text"])
        elif token.lastgroup == "byte":
            self._add(bytes.fromhex(token["byte"].decode()))
        elif token["brace"]:
            self._brace(token["brace"])
        elif token["sign"] == b"*":
            self._set(self.groups[-1]._replace(is_unread=True))
        elif token["sign"]:
            self._write(_SIGNS.get(token["sign"], ""))
        elif token["word"]:
            number = int(token["number"]) if token["number"] else None
            if token["word"] == b"bin":
                return max(0, number or 0)
            self._word(token["word"], number)
        return 0

    def decode(self) -> None:
        if self._bytes:
            encoding = self._encodings.get(self.groups[-1].font if self.groups else -1, self._encoding)
            try:
                self.parts.append(self._bytes.decode(encoding, "ignore"))
            except LookupError:  # it names an encoding that does not exist
                self.parts.append(self._bytes.decode("cp1252", "ignore"))
            self._bytes.clear()

    def _is_seen(self) -> bool:
        return not self.groups[-1].is_unread and not self.groups[-1].hidden_by

    def _add(self, text: bytes) -> None:
        skipped = min(self._left, len(text))
        self._left -= skipped
        if self._is_seen():
            self._bytes += text[skipped:]

    def _write(self, text: str) -> None:
        """Add a character that was written as a sign or a word, unless it belongs to a fallback. No fallback has lines."""
        self._left = 0 if text == "\n" else self._left
        if text and self._left:
            self._left -= 1
        elif text and self._is_seen():
            self.decode()
            self.parts.append(text)

    def _set(self, group: _Group) -> None:
        self.decode()
        self.groups[-1] = group

    def _brace(self, brace: bytes) -> None:
        self.decode()
        self._left = 0
        if brace == b"{":
            self.groups.append(self.groups[-1])
            return
        self.groups.pop()
        if len(self.groups) == 1:  # what follows the document is none of it
            self.groups.clear()

    def _word(self, word: bytes, number: int | None) -> None:
        group = self.groups[-1]
        if word in _HIDING:
            hidden_by = group.hidden_by - {word} if number == 0 else group.hidden_by | {word}
            self._set(group._replace(hidden_by=hidden_by))
        elif word == b"plain":
            self._set(group._replace(hidden_by=frozenset()))
        elif word in _UNREAD:
            self._set(group._replace(is_unread=True))
        elif word == b"f":
            self._set(group._replace(font=-1 if number is None else number))
        elif word == b"uc":
            self._set(group._replace(fallback=1 if number is None else max(0, number)))
        elif word == b"fcharset" and number in _ENCODINGS:
            self._encodings[group.font] = _ENCODINGS[number]
        elif word == b"ansicpg":
            self._encoding = f"cp{number}"
        elif word in (b"mac", b"pc", b"pca"):
            self._encoding = {b"mac": "mac_roman", b"pc": "cp437", b"pca": "cp850"}[word]
        elif word == b"u" and number is not None:
            self._left = 0
            code = number + 0x10000 if number < 0 else number
            self._write(chr(code) if 0 <= code <= 0x10FFFF else "")
            self._left = group.fallback
        else:
            self._write(_WORDS.get(word, ""))
