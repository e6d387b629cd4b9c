"""TMX 1.4. A unit has properties under the names of our columns, a side those of ILSP-FC and Bitextor for its places."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

from bitrawl.corpus.export import CorpusHeader, paragraph_id
from bitrawl.corpus.jsonl import PROPERTIES, Languages, TextPair, plain
from bitrawl.errors import ConfigError
from bitrawl.files import replacing, xml_parser
from bitrawl.languages import claimed_language
from bitrawl.model import UNDETERMINED, Language, TranslationUnit
from bitrawl.text.words import escaped, xml
from bitrawl.version import __version__

_END = "</body>\n</tmx>\n"
_CHUNK = 1 << 16
_MOST_VARIANTS = 200  # of a unit: more than there are languages in any corpus; each is paired with each


@contextmanager
def tmx(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[TranslationUnit], None]]:
    """`en-fr.tmx`, unit by unit: nothing of the corpus is kept in memory."""
    count = 0
    with replacing(folder / header.file_name("tmx", compress=compress), compress=compress) as file:
        file.write(_head(header).encode())

        def write(unit: TranslationUnit) -> None:
            nonlocal count
            count += 1
            file.write(_unit(count, unit, header).encode())

        yield write
        file.write(_END.encode())


def tmx_text(units: Iterable[tuple[CorpusHeader, TranslationUnit]], header: CorpusHeader) -> Iterator[str]:
    """The same of units of several corpora, piece by piece; the languages of `header` are those of all, or none."""
    yield _head(header)
    for number, (its, unit) in enumerate(units, 1):
        yield _unit(number, unit, its)
    yield _END


# No DOCTYPE, because some readers would fetch tmx14.dtd from the network, and none needs it.
def _head(header: CorpusHeader) -> str:
    """Of two languages, or of all that the units have if the header has none."""
    created = datetime.fromtimestamp(header.at, UTC).strftime("%Y%m%dT%H%M%SZ")
    source = xml(header.languages[0]) if header.languages else "*all*"
    sides = [f'<prop type="l{n}">{xml(language)}</prop>\n' for n, language in enumerate(header.languages, 1)]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
        f'<header adminlang="en" srclang="{source}" creationtool="bitrawl"'
        f' creationtoolversion="{xml(__version__)}" segtype="sentence" datatype="plaintext" o-tmf="bitrawl"'
        f' o-encoding="UTF-8" creationdate="{created}">\n'
        f"{''.join(sides)}</header>\n<body>\n"
    )


def _unit(number: int, unit: TranslationUnit, header: CorpusHeader) -> str:
    values, sources = plain(unit, header), unit.sources
    return "".join(
        (
            f'<tu tuid="{number}" datatype="plaintext">\n',
            *(_property(name, values[name]) for name in PROPERTIES if values[name]),
            _variant(header.languages[0], values["text_a"], [(s.url_a, s.paragraph_a) for s in sources]),
            _variant(header.languages[1], values["text_b"], [(s.url_b, s.paragraph_b) for s in sources]),
            "</tu>\n",
        )
    )


def _variant(language: str, line: str, places: list[tuple[str, int]]) -> str:
    """Each URL once, followed by the paragraphs of that page in which the text begins."""
    paragraphs: dict[str, dict[str, None]] = {}
    for url, number in places:
        ids = paragraphs.setdefault(url, {})
        if number >= 0:
            ids[paragraph_id(number)] = None
    properties = "".join(
        _property("source-document", url) + (f'<prop type="paragraph-id">{" ".join(ids)}</prop>\n' if ids else "")
        for url, ids in paragraphs.items()
    )
    return f'<tuv xml:lang="{xml(language)}">\n{properties}<seg>{escaped(line)}</seg>\n</tuv>\n'


def _property(kind: str, value: str) -> str:
    return f'<prop type="{kind}">{xml(value)}</prop>\n'


def read_tmx(file: BinaryIO, source: Path) -> Iterator[tuple[Languages, TextPair]]:
    """The texts of each unit with their languages, each variant with each other. Raises `ConfigError`."""
    reader = _TmxReader(source)
    try:
        while chunk := file.read(_CHUNK):
            reader.parser.Parse(chunk, False)
            yield from reader.taken()
        reader.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ConfigError(f"{source}, line {error.lineno}: this is not TMX ({error}); export it again") from error
    except (ValueError, LookupError) as error:
        raise ConfigError(f"{source} is in an encoding that cannot be read ({error}); save it as UTF-8") from error
    yield from reader.taken()


class _TmxReader:
    """Unit by unit. A file that declares entities is refused, and nothing is loaded from elsewhere."""

    def __init__(self, source: Path) -> None:
        self.parser = xml_parser(self._start, self._end, self._characters, refuse=self._refuse)
        self._source = source
        self._variants: list[tuple[Language, str]] = []
        self._language = UNDETERMINED
        self._text: list[str] | None = None
        self._units: list[tuple[Languages, TextPair]] = []

    def taken(self) -> list[tuple[Languages, TextPair]]:
        """What was read since the last time."""
        units, self._units = self._units, []
        return units

    def _refuse(self) -> None:
        raise ConfigError(f"{self._source} declares XML entities; export it without a DTD")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "tuv":
            self._language = claimed_language(attributes.get("xml:lang") or attributes.get("lang", ""))
        elif tag == "seg":
            self._text = []

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        if tag == "seg" and self._text is not None:
            self._variants.append((self._language, "".join(self._text)))
            self._text = None
            if len(self._variants) > _MOST_VARIANTS:
                raise ConfigError(
                    f"{self._source} has a unit with more than {_MOST_VARIANTS} variants; export it again"
                )
        elif tag == "tu":
            for number, (language, text) in enumerate(self._variants):
                for other, translation in self._variants[number + 1 :]:
                    self._units.append(((language, other), (text, translation)))
            self._variants = []
