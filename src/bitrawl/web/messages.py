"""The messages of the app, their catalogues, the names of codes, and languages as people type them."""

import difflib
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib import resources
from io import BytesIO
from pathlib import Path
from string import Formatter

import msgspec
from babel import Locale, UnknownLocaleError
from babel.lists import format_list
from babel.messages.catalog import Message as CatalogueEntry
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po
from babel.numbers import format_decimal, format_percent
from babel.support import NullTranslations, Translations
from babel.units import format_unit
from starlette.exceptions import HTTPException

from bitrawl.discover.site_check import TRANSLATIONS
from bitrawl.discover.site_lists import SiteAnswer
from bitrawl.discover.suggestions import SuggestionMethod as Suggestion
from bitrawl.errors import ConfigError, FieldError
from bitrawl.languages import language_name, parse_language
from bitrawl.message import QUOTED, Amount, Cause, Code, Share, Value
from bitrawl.message import Message as Message  # noqa: PLC0414 - public here
from bitrawl.mining import Flag
from bitrawl.model import Language, Method, Verdict
from bitrawl.reasons import Reason
from bitrawl.review import LengthUnit, ReviewOrder, Saved, SegmentOrder, SegmentState
from bitrawl.text.language_names import language_table, spaced
from bitrawl.web.differences import DifferenceKind

SOURCE = "en"  # the language in which the messages are written in templates and code
MOST_QUOTED = 200  # characters of what somebody sent that an error repeats
_MOST_SAID = 600  # characters of a sentence of the program
LEAST_SHARE = 0.01  # smaller ones are shown as less than this


def message(text: str, **values: object) -> Message:
    """The sentence with these values. A catalogue's tool finds the text in calls of this function."""
    return Message(text, {name: shortened(str(value)) for name, value in values.items()})


def quoted(text: str) -> Message:
    """A sentence of somebody else, as it is: the ending of a job, the message of an error. It may have braces.

    A very long one has lost its middle, which repeats what somebody sent: only its beginning and its end tell something.
    """
    if len(text) > _MOST_SAID:
        text = f"{text[: MOST_QUOTED - 1]}… {text[-MOST_QUOTED + 1 :]}"
    return Message(QUOTED, {"quoted": text}) if text else Message("")


def shortened(text: str) -> str:
    return text if len(text) <= MOST_QUOTED else f"{text[: MOST_QUOTED - 1]}…"


def message_of(error: Exception) -> Message:
    """A sentence of the app, or one of the program."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Message) else quoted(str(error))


def field_messages(error: FieldError) -> dict[str, Message]:
    """What is wrong, by field."""
    return {name: why if isinstance(why, Message) else message(str(why)) for name, why in error.fields.items()}


class RequestError(HTTPException):
    """A request that is refused, with a sentence that can be translated."""

    def __init__(self, status: int, why: Message) -> None:
        super().__init__(status, str(why))
        self.message = why


def marked(message: str) -> str:
    """A message that is translated where it is shown; this marks it for the catalogues."""
    return message


METHODS: Mapping[str, str] = {method: method.key for method in Method}
"""Evidence that two pages are a pair, by letter."""

SITE_EVIDENCE: Mapping[str, str] = {
    Suggestion.HREFLANG: marked("declared"),
    Suggestion.SWITCHER: marked("language menu"),
    Suggestion.SITEMAP: marked("sitemap"),
    Suggestion.SPLASH: marked("choice of languages at the entrance"),
    Suggestion.LINK: marked("links to translations"),
    Suggestion.URL: marked("addresses"),
    Suggestion.ADDRESS: marked("same address in the other language"),
    Suggestion.HABIT: marked("same addresses as other pages"),
    Suggestion.FOLDER: marked("folder of the language"),
    TRANSLATIONS: marked("words that translate each other"),
}
"""Evidence that a site is bilingual."""

REASONS: Mapping[str, str] = {reason: reason.label for reason in Reason}
"""Why an address brought no page."""

FLAGS: Mapping[str, str] = {
    Flag.NON_LETTERS: marked("few letters"),
    Flag.EQUAL: marked("same text"),
    Flag.SHORT: marked("very short"),
    Flag.LENGTH: marked("very different lengths"),
    Flag.NUMBERS: marked("different numbers"),
    Flag.MAIL: marked("e-mail address"),
    Flag.ADDRESS: marked("web address"),
    Flag.CODE: marked("program code"),
    Flag.SCRIPT: marked("written in another script"),
    Flag.PARTIAL: marked("page translated in part"),
    Flag.EDITED: marked("edited"),
    Flag.ANONYMISED: marked("without personal data"),
}
"""What is noted of a segment."""

DIFFERENCES: Mapping[str, str] = {
    DifferenceKind.NUMBER: marked("The other text does not have this number."),
    DifferenceKind.NAME: marked("The other text does not have this name."),
    DifferenceKind.ENDING: marked("The two texts end differently."),
    DifferenceKind.UNPAIRED: marked("This has no partner, and the other text has none of that kind."),
}
"""Why a part of a text is marked."""

SEGMENT_STATES: Mapping[str, str] = {
    SegmentState.NONE: marked("none yet"),
    SegmentState.ACCEPTED: marked("accepted"),
    SegmentState.REJECTED: marked("rejected"),
    SegmentState.CONFLICT: marked("people differ"),
    SegmentState.EDITED: marked("edited"),
    SegmentState.COMMENTED: marked("commented"),
}
"""What people did with a segment."""

SEGMENT_ORDERS: Mapping[str, str] = {
    SegmentOrder.WORST: marked("the worst score first"),
    SegmentOrder.BEST: marked("the best score first"),
    SegmentOrder.PAGE: marked("page by page"),
}

REVIEW_ORDERS: Mapping[str, str] = {
    ReviewOrder.UNCERTAIN: marked("most doubtful first"),
    ReviewOrder.SITE: marked("site by site"),
    ReviewOrder.PAGE: marked("by address"),
    ReviewOrder.RANDOM: marked("at random"),
}

LENGTH_UNITS: Mapping[str, str] = {LengthUnit.WORDS: marked("words"), LengthUnit.CHARACTERS: marked("characters")}

VERDICTS: Mapping[Verdict, str] = {Verdict.ACCEPT: marked("accepted"), Verdict.REJECT: marked("rejected")}
"""What a person said."""

NOT_SAVED: Mapping[Saved, str] = {
    Saved.GONE: marked(
        "This segment is not there any more: the site was mined again. Copy what you wrote, and open the page pair again."
    ),
    Saved.CHANGED: marked(
        "Somebody has changed this segment meanwhile. Compare what it says now with what you wrote. To replace it, save again."
    ),
    Saved.UNEVEN: marked(
        "The two sides have different numbers of lines. To split a segment, break both in the same way."
    ),
    Saved.EMPTY: marked("There is no text. To leave a segment out of the corpus, reject it."),
    Saved.LONG: marked("A text has at most 20,000 characters."),
    Saved.LAST: marked("This is the last segment, so it cannot be joined with a next one."),
}
"""Why something that a person wrote was not saved."""

ANSWERS: Mapping[str, str] = {
    SiteAnswer.BILINGUAL: marked("bilingual"),
    SiteAnswer.THIN: marked("a page or two"),
    SiteAnswer.NO: marked("not bilingual"),
    SiteAnswer.UNKNOWN: marked("unknown"),
}
"""Whether a site is bilingual."""


class Words(msgspec.Struct, frozen=True):
    """One language of the interface."""

    code: str
    translations: NullTranslations = NullTranslations()

    def say(self, message: str, **values: object) -> str:
        """Translated, with its {names} filled in."""
        text = self.translations.gettext(message) if message else ""  # of nothing, it is the head of the catalogue
        return text.format(**values) if values else text

    def choices(self, labels: Mapping[str, str]) -> list[tuple[str, str]]:
        """For a list to choose from: each value with its translated label."""
        return [(str(value), self.say(label)) for value, label in labels.items()]

    def count(self, singular: str, plural: str, n: int, **values: object) -> str:
        """A sentence by its number: "{n} page", "{n} pages"."""
        return self.translations.ngettext(singular, plural, n).format(n=self.number(n), **values)

    def tell(self, message: Message) -> str:
        """A sentence of the app is translated; one of the program is left as it is."""
        values = {name: self.written(value) for name, value in message.values.items()}
        if message.plural and isinstance(n := message.values["n"], int):
            return self.count(message.text, message.plural, n, **{name: values[name] for name in values if name != "n"})
        return self.say(message.text, **values) if message.text else ""

    def tell_all(self, messages: Iterable[Message]) -> str:
        """One after the other. After a full stop of Chinese or Japanese there is no space."""
        return " ".join(map(self.tell, messages)).replace("。 ", "。")

    def written(self, value: Value) -> str:  # noqa: PLR0911 - one for each kind
        """What fills a sentence."""
        match value:
            case int() | float():
                return self.number(value)
            case Code():
                return self._language(value.code)
            case Amount():
                return str(format_unit(value.number, value.unit, length="short", locale=self._locale))
            case Cause():
                return self.say(value.label)
            case Share():
                return self.share(value.part, value.whole)
            case Message():
                return self.tell(value)
            case tuple():
                return str(format_list([self.written(part) for part in value], locale=self._locale))
            case str():
                return value

    def number(self, n: float) -> str:
        return str(format_decimal(n, locale=self._locale))

    def score(self, n: float, form: str = "0.00") -> str:
        """From 0 to 1."""
        return str(format_decimal(n, form, locale=self._locale))

    def share(self, part: float, whole: float) -> str:
        """In per cent. Only nothing is shown as 0 %, and only everything as 100 %."""
        share = part / whole if whole else 0.0
        if 0 < share < LEAST_SHARE:
            return f"< {format_percent(LEAST_SHARE, locale=self._locale)}"
        return str(format_percent(1 - LEAST_SHARE if 1 - LEAST_SHARE < share < 1 else share, locale=self._locale))

    def size(self, n: float) -> str:
        """Bytes in a readable unit."""
        unit, form = "byte", "0"
        for larger in ("kilobyte", "megabyte", "gigabyte"):
            if n < 1000:
                break
            n, unit, form = n / 1000, larger, "0.0"
        return str(format_unit(n, f"digital-{unit}", length="short", format=form, locale=self._locale))

    def language(self, code: str) -> str:
        """The name of a language, in this one, as a title; the code itself if it has none."""
        name = self._language(code)
        return name[0].upper() + name[1:]

    def _language(self, code: str) -> str:
        """The same within a sentence."""
        return _names(self.code).get(code.replace("-", "_")) or _names(self.code).get(code.partition("-")[0], code)

    @property
    def _locale(self) -> str:
        return self.code.replace("-", "_")

    @property
    def endonym(self) -> str:
        return endonyms().get(self.code, self.code)

    @property
    def direction(self) -> str:
        return direction(self.code)


@lru_cache(maxsize=16)
def _names(code: str) -> Mapping[str, str]:
    names: Mapping[str, str] = Locale.parse(code.replace("-", "_")).languages
    return names


@lru_cache(maxsize=1)
def endonyms() -> dict[str, str]:
    """Languages by their own names, from CLDR (lab/tools/endonyms.py)."""
    table = (resources.files("bitrawl.web") / "endonyms.tsv").read_text("utf-8")
    return dict(line.split("\t", 1) for line in table.splitlines())


@lru_cache(maxsize=512)
def direction(code: str) -> str:
    """From right to left ("rtl") or from left to right."""
    try:
        locale = Locale.parse(code.replace("-", "_"))
    except (ValueError, UnknownLocaleError):
        return "auto"
    return "rtl" if locale.character_order == "right-to-left" else "ltr"


def catalogues(folder: Path | None = None) -> dict[str, Words]:
    """Those of the package, and those of a folder of .po files; a file there wins over one of ours."""
    with resources.as_file(resources.files("bitrawl.web") / "catalogues") as ours:
        folders = [ours, folder] if folder else [ours]
        files = [path for each in folders for path in sorted(each.glob("*.po"))]
        languages = [Words(SOURCE), *map(_read, files)]
    return {words.code: words for words in languages}


@lru_cache(maxsize=64)  # tests make hundreds of servers
def _read(path: Path) -> Words:
    code = path.stem.replace("_", "-")
    try:
        Locale.parse(code.replace("-", "_"))
        with path.open("rb") as file:
            catalogue = read_po(file, locale=code.replace("-", "_"), abort_invalid=True)
    except (OSError, ValueError, UnknownLocaleError, PoFileError) as error:
        raise ConfigError(f"{path} is not a message catalogue: {error}") from error
    packed = BytesIO()
    for entry in catalogue:
        if entry.id and not entry.fuzzy:
            _check_names(path, entry)
    write_mo(packed, catalogue)
    packed.seek(0)
    return Words(code, Translations(packed))


def _check_names(path: Path, entry: CatalogueEntry) -> None:
    """A translation with a name that its message does not have could not be filled in."""
    sources = entry.id if isinstance(entry.id, tuple | list) else (entry.id,)
    texts = entry.string if isinstance(entry.string, tuple | list) else (entry.string,)
    names = {name for source in sources for name in names_in(source)}
    for text in texts:
        try:
            strange = set(names_in(str(text or ""))) - names
        except ValueError as error:
            raise ConfigError(f"{path}: the translation of {sources[0]!r} is wrong: {error}") from error
        if strange:
            raise ConfigError(
                f"{path}: the translation of {sources[0]!r} has {{{min(strange)}}}, which the message does not have"
            )


def names_in(text: str) -> list[str]:
    """The names in braces. Raises `ValueError` for a brace that is not closed."""
    return [name for _, name, _, _ in Formatter().parse(text) if name is not None]


def preferred(accepted: str, codes: Iterable[str]) -> str:
    """The language of the interface that a browser asks for by its Accept-Language."""
    exact = {code.lower(): code for code in codes}
    near = {code.partition("-")[0]: exact[code] for code in sorted(exact, reverse=True)}  # "pt" before "pt-br"
    weighted = []
    for part in accepted.split(","):
        code, _, share = part.lower().partition(";")
        with suppress(ValueError):
            weighted.append((float(share.strip().removeprefix("q=") or 1), code.strip()))
    for weight, code in sorted(weighted, key=lambda item: -item[0]):
        choice = exact.get(code) or near.get(code.partition("-")[0])
        if choice and weight > 0:  # 0 means not wanted at all
            return choice
    return SOURCE


_BETWEEN = re.compile(r"[,;/+&|\n]+|\s+(?:and|et|y|und)\s+")
_SHORTEST_NAME, _LONGEST_NAME = 3, 40  # characters that a name has more than, and at most


def typed_languages(text: str) -> list[Language]:
    """Each once, in the order in which they were typed. Raises `ConfigError` for what is no language."""
    languages: list[Language] = []
    for part in filter(None, (part.strip() for part in _BETWEEN.split(text))):
        try:
            languages.append(_typed_language(part))
        except ConfigError:
            words = part.split()
            if len(words) < 2:
                raise
            languages += [_typed_language(word) for word in words]
    return list(dict.fromkeys(languages))


def _typed_language(text: str) -> Language:
    try:
        return parse_language(text)
    except ConfigError:
        code = _codes().get(spaced(text))
        if code is None:
            raise ConfigError(_unknown_language(text[:_LONGEST_NAME])) from None
        return parse_language(code)


def _unknown_language(text: str) -> Message:
    """Names that most people use come first: with those of all languages, almost any word is near one."""
    usual = _usual_names()
    near = difflib.get_close_matches(spaced(text), usual, 1) if len(text) > _SHORTEST_NAME else []
    if near:
        return message("{typed} is not a known language; did you mean {near}?", typed=text, near=usual[near[0]])
    return message("{typed} is not a known language; type its name, or its code", typed=text)


@lru_cache(maxsize=1)
def _codes() -> dict[str, str]:
    """By name, as `spaced` writes it. An endonym wins over a name in another language."""
    table = language_table()
    codes = {name: row.code for row in reversed(table) for name in row.others}
    codes.update({name: row.code for row in reversed(table) for name in row.endonyms})
    return codes


@lru_cache(maxsize=1)
def _usual_names() -> dict[str, str]:
    """English names and endonyms, as `spaced` writes them, and how each language is named to people."""
    names: dict[str, str] = {}
    for row in language_table():
        with suppress(ConfigError):
            code = parse_language(row.code)
            spellings = (spaced(language_name(code)), *row.endonyms[:1])
            names |= {name: f"{language_name(code)} ({code})" for name in spellings if name}
    return names
