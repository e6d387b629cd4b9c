"""Lists of weighted terms that describe a topic: as files in ILSP-FC's own format, CSV, TSV or TBX, or learned from texts."""

import codecs
import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.parsers import expat

import msgspec
import numpy as np

from bitrawl.errors import ConfigError
from bitrawl.files import from_cell, xml_parser
from bitrawl.files import write as write_file
from bitrawl.languages import parse_language, same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.text.frequencies import Keyness, Phrases, Rates, Texts, unnested
from bitrawl.topic.settings import TOPIC_TERMS

FULL_WEIGHT = 100.0
"""Of a term whose file gives no weight. ILSP-FC's own lists go from 1 to 100."""

_LINE = re.compile(r"(?P<weight>[+-]?\d+(?:[.,]\d+)?)\s*:\s*(?P<rest>.*)")
_LANGUAGE = re.compile(r"(?P<rest>.*)>\s*(?P<language>[^\s>=;]*)\s*")
_SHAPE = "weight:term=class>language, as in 50:acid rain=pollution>en"
_URL = re.compile(r"\w+://|www\.", re.IGNORECASE)
_BYTE_ORDER_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# What the columns of a table may be called. The first name of each is ours.
_COLUMNS = {
    "term": ("term", "terms", "text", "word"),
    "weight": ("weight", "score"),
    "classes": ("class", "classes", "domain", "subdomain", "topic"),
    "language": ("language", "lang"),
}
_XML_START = re.compile(r"\s*<(?:\?xml|!DOCTYPE|martif|tbx)", re.IGNORECASE)
_RESERVED = re.compile(r"[=;>\s]+")  # what a class cannot have in ILSP-FC's format, which has no escapes


MIN_WORDS = 300  # in less text than a page, chance decides what is frequent.


class Term(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A word or several that speak for the topic, or against it where the weight is negative."""

    text: str
    weight: float = FULL_WEIGHT
    classes: tuple[str, ...] = ()
    language: Language = UNDETERMINED


class TermList(msgspec.Struct, frozen=True):
    """The terms of a topic, in any number of languages."""

    terms: tuple[Term, ...]

    @property
    def languages(self) -> tuple[Language, ...]:
        """The languages of its terms, each once. "und" if a term has none."""
        return tuple(dict.fromkeys(term.language for term in self.terms))

    def of(self, language: Language) -> tuple[Term, ...]:
        """The terms of that language, and those whose language is not known."""
        return tuple(
            term
            for term in self.terms
            if term.language == UNDETERMINED
            or same_language(language, term.language)
            or same_language(term.language, language)
        )

    def write(self, path: Path) -> None:
        """In ILSP-FC's format, one term per line."""
        write_file(path, "".join(f"{line(term)}\n" for term in self.terms))


def line(term: Term) -> str:
    """A term as ILSP-FC writes it: `50:acid rain=pollution;weather>en`. Raises `ConfigError` for a term with no text."""
    text = " ".join(term.text.split())
    if not text:
        raise ConfigError("a term has no text; remove it")
    classes = ";".join(_RESERVED.sub(" ", name).strip() for name in term.classes)
    mark = f"={classes}" if classes or "=" in text else ""
    language = f">{term.language}" if term.language != UNDETERMINED else ""
    return f"{term.weight:g}:{text}{mark}{language}"


def read_terms(path: Path, languages: Sequence[Language] | None = None) -> TermList:
    """Read a list for a job in those languages. Raises `ConfigError`, which names the file, the line and the fix.

    A term without a language belongs to every language of the job. Terms of other languages are left out; a list that
    has none of the job's is refused. Without `languages`, all terms are kept as they are.
    """
    text = _text(path)
    if path.suffix.lower() in (".tbx", ".xml") or _XML_START.match(text):
        entries: Iterable[Term] = _TbxReader(path).read(text)
    elif path.suffix.lower() in (".csv", ".tsv", ".tab"):
        entries = _table(text, path)
    else:
        entries = _lines(text, path)
    terms = [_completed(term, languages) for term in entries]
    if not terms:
        raise ConfigError(f"{path} has no terms; write one per line: {_SHAPE}")
    return TermList(tuple(terms)) if languages is None else _wanted(TermList(tuple(terms)), path, languages)


def learn_terms(
    texts: Sequence[str],
    language: Language,
    *,
    background: Rates | None = None,
    against: Sequence[str] = (),
    size: int = TOPIC_TERMS,
) -> TermList:
    """The terms that tell these texts from the language in general, the most telling first, with weights from 1 to 100.

    A term is chosen by its log-likelihood (Dunning 1993) against what `background` and the texts of `against` lead to
    expect. Without a background, words that all texts have, beside any other word, are taken for those of every subject.
    Raises `ConfigError` if there is too little text.
    """
    phrases = Phrases(Texts(language, texts))
    if phrases.words < MIN_WORDS:
        raise ConfigError(
            f"the texts have {phrases.words} words in all, too few to learn terms from; give at least {MIN_WORDS}, preferably 5,000"
        )
    keyness = Keyness(phrases, background, against)
    spread = phrases.spread(keyness.key)
    key = keyness.key & (spread >= (2 if len(texts) > 2 else 1))
    chosen = np.flatnonzero(unnested(phrases, key))
    chosen = chosen[np.argsort(-keyness.likelihoods[chosen], kind="stable")][:size]
    if not len(chosen):
        raise ConfigError("no word is more frequent in the texts than expected; give more texts, all on one subject")
    # A term that few texts have is weaker.
    strength = np.sqrt(keyness.likelihoods[chosen] * spread[chosen] / len(texts))
    # One more is expected than there is, lest a word that the background lacks be infinitely special.
    odds = np.log2(1 + phrases.count[chosen] / (keyness.expected[chosen] + 0.5))
    # Between what is certain and what is special: a rare phrase tells more about a page than its count does.
    weights = np.maximum(1.0, np.round(100 * np.sqrt(strength / strength.max() * odds / odds.max())))
    written = phrases.forms(phrases.numbered(chosen.tolist()))
    terms = [
        Term(written[phrase], weight, (), language)
        for phrase, weight in zip(chosen.tolist(), weights.tolist(), strict=True)
    ]
    return TermList(tuple(sorted(terms, key=lambda term: -term.weight)))


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
        return content.decode(_BYTE_ORDER_MARKS.get(content[:2], "utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not a text file in UTF-8; save it as UTF-8") from error
    except OSError as error:
        raise ConfigError(f"the term list {path} cannot be read: {error.strerror}; check the name") from error


def _lines(text: str, path: Path) -> Iterator[Term]:
    """ILSP-FC's format. A line that is only a term, without its weight, is one of full weight."""
    for number, raw in enumerate(text.splitlines(), 1):
        written = raw.strip().removeprefix("\ufeff")  # a byte order mark in the middle: files that were joined
        if written and not written.startswith("#"):
            yield _parsed_line(written, f"{path}, line {number}")


def _parsed_line(written: str, place: str) -> Term:
    if _URL.match(written):
        raise ConfigError(f"{place}: {written[:60]} is a URL, not a term; a list of seeds goes to --seeds-file")
    if match := _LINE.fullmatch(written):
        weight, rest = _weight(match["weight"], place), match["rest"]
    elif ":" in written:
        raise ConfigError(f"{place}: the weight of {written[:60]!r} is not a number; write {_SHAPE}")
    else:
        weight, rest = FULL_WEIGHT, written
    language = UNDETERMINED
    if match := _LANGUAGE.fullmatch(rest):
        language, rest = _language(match["language"], place), match["rest"]
    text, mark, classes = rest.rpartition("=")
    return _term(text if mark else rest, weight, classes if mark else "", language, place)


def _table(text: str, path: Path) -> Iterator[Term]:
    """Columns in any order, named in the first line; others are ignored. A table of `bitrawl terms` has two terms a row."""
    first = text.partition("\n")[0]
    delimiter = "\t" if path.suffix.lower() != ".csv" else max(",;\t", key=first.count)
    reader = csv.reader(text.splitlines(), delimiter=delimiter)
    try:
        names = [name.strip().lower() for name in next(reader, [])]
        columns = [_columns(names, side) for side in (("_a", "_b") if "term_a" in names else ("",))]
        if any(column["term"] < 0 for column in columns):
            raise ConfigError(
                f"{path}, line 1: no column is called term; name the columns: term, weight, class, language"
            )
        for row in reader:
            if any(cell.strip() for cell in row) and not row[0].startswith("#"):
                for column in columns:
                    cells = {
                        key: from_cell(row[at].strip()) if 0 <= at < len(row) else "" for key, at in column.items()
                    }
                    yield _parsed_row(cells, f"{path}, line {reader.line_num}")
    except csv.Error as error:
        raise ConfigError(f"{path}, line {reader.line_num}: {error}; save the table as plain CSV in UTF-8") from error


def _columns(names: Sequence[str], side: str) -> dict[str, int]:
    """Where each column is, or -1; those of one language, `term_a` and `lang_a`, or of all."""
    return {
        key: next((names.index(name) for alias in aliases for name in (f"{alias}{side}", alias) if name in names), -1)
        for key, aliases in _COLUMNS.items()
    }


def _parsed_row(cells: dict[str, str], place: str) -> Term:
    weight = _weight(cells["weight"], place) if cells["weight"] else FULL_WEIGHT
    language = _language(cells["language"], place) if cells["language"] else UNDETERMINED
    return _term(cells["term"], weight, cells["classes"], language, place)


def _term(text: str, weight: float, classes: str, language: Language, place: str) -> Term:
    text = " ".join(text.split())
    if not text:
        raise ConfigError(f"{place}: there is no term; write {_SHAPE}, or delete the line")
    named = tuple(dict.fromkeys(filter(None, (" ".join(name.split()) for name in classes.split(";")))))
    return Term(text, weight, named, language)


def _weight(written: str, place: str) -> float:
    try:
        weight = float(written.replace(",", "."))
        if abs(weight) <= 1e9:  # not infinite, no NaN
            return weight
    except ValueError:
        pass
    raise ConfigError(f"{place}: the weight {written[:20]!r} is not a number; write one as 50 or -20")


def _language(written: str, place: str) -> Language:
    try:
        return parse_language(written)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from error


class _TbxReader:
    """TBX of 2008 (termEntry, langSet) and of 2019 (conceptEntry, langSec); the subject field is the class."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parser = xml_parser(self._start, self._end, self._characters, refuse=self._refuse)
        self._entries: list[Term] = []
        self._language = UNDETERMINED
        self._waiting: list[Term] = []  # of the concept, whose subject may follow
        self._subjects: list[str] = []
        self._text: list[str] | None = None

    def read(self, text: str) -> list[Term]:
        # The text is decoded already, whatever its declaration says.
        body = re.sub(r"^\s*<\?xml[^>]*\?>", "", text, count=1)
        try:
            self._parser.Parse(body, True)
        except expat.ExpatError as error:
            raise ConfigError(
                f"{self._path}, line {error.lineno}: this is not XML ({error}); export the TBX again"
            ) from error
        return self._entries

    def _place(self) -> str:
        return f"{self._path}, line {self._parser.CurrentLineNumber}"

    def _refuse(self) -> None:
        raise ConfigError(f"{self._place()}: the file declares XML entities; export it without a DTD")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if name in ("langSet", "langSec"):
            code = attributes.get("xml:lang") or attributes.get("lang", "")
            self._language = _language(code, self._place()) if code else UNDETERMINED
        elif name == "term" or (name == "descrip" and attributes.get("type") == "subjectField"):
            self._text = []

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        if name in ("term", "descrip") and self._text is not None:
            text = " ".join("".join(self._text).split())
            self._text = None
            if text and name == "term":
                self._waiting.append(Term(text, language=self._language))
            elif text:
                self._subjects += filter(None, (subject.strip() for subject in text.split(";")))
        elif name in ("termEntry", "conceptEntry"):
            classes = tuple(dict.fromkeys(self._subjects))
            self._entries += [msgspec.structs.replace(term, classes=classes) for term in self._waiting]
            self._waiting, self._subjects, self._language = [], [], UNDETERMINED


def _completed(term: Term, languages: Sequence[Language] | None) -> Term:
    """With the job's language, if it has only one. In a job of several, `TermList.of` gives it to each of them."""
    if languages is None or len(languages) != 1 or term.language != UNDETERMINED:
        return term
    return msgspec.structs.replace(term, language=languages[0])


def _wanted(terms: TermList, path: Path, languages: Sequence[Language]) -> TermList:
    wanted = {term for language in languages for term in terms.of(language)}
    if not wanted:
        raise ConfigError(
            f"{path} has terms in {_listed(terms.languages)} only, and the job is in {_listed(languages)};"
            " give a list in a language of the job, or translate it: bitrawl topic translate"
        )
    return TermList(tuple(term for term in terms.terms if term in wanted))


def _listed(languages: Iterable[Language]) -> str:
    return ", ".join(languages) or "none"
