"""The interface's languages: message catalogues, and names and numbers as each language writes them."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path

import msgspec
from babel import Locale, UnknownLocaleError
from babel.messages.pofile import PoFileError, read_po
from babel.numbers import format_decimal, format_percent

from bitrawl.errors import ConfigError

SOURCE = "en"
"""The language in which the messages are written in templates and code."""


def marked(message: str) -> str:
    """A message that is translated where it is shown; this marks it for the catalogues."""
    return message


class Words(msgspec.Struct, frozen=True):
    """One language of the interface."""

    code: str
    messages: Mapping[str, str] = {}
    plurals: Mapping[str, tuple[str, ...]] = {}
    plural_form: Callable[[int], int] = lambda n: int(n != 1)

    def say(self, message: str, **values: object) -> str:
        """Translated, with its {names} filled in."""
        text = self.messages.get(message) or message
        return text.format(**values) if values else text

    def count(self, singular: str, plural: str, n: int, **values: object) -> str:
        """By number: "{n} page", "{n} pages"."""
        forms = self.plurals.get(singular) or (singular, plural)
        form = forms[min(self.plural_form(n), len(forms) - 1)]
        return form.format(n=self.number(n), **values)

    def number(self, n: float) -> str:
        return str(format_decimal(n, locale=self.code.replace("-", "_")))

    def percent(self, share: float) -> str:
        return str(format_percent(share, locale=self.code.replace("-", "_")))

    def language(self, code: str) -> str:
        """The name of a language, in this one; the code itself if it has none."""
        name = _names(self.code).get(code.replace("-", "_")) or _names(self.code).get(code.partition("-")[0], code)
        return name[0].upper() + name[1:]

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
    """Languages by their own names, from CLDR (tools/endonyms.py)."""
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
    found = {SOURCE: Words(SOURCE)}
    inside = [
        entry for entry in (resources.files("bitrawl.web") / "catalogues").iterdir() if entry.name.endswith(".po")
    ]
    for entry in inside:
        with resources.as_file(entry) as path:
            words = _read(path)
        found[words.code] = words
    for path in sorted(folder.glob("*.po")) if folder else ():
        words = _read(path)
        found[words.code] = words
    return found


def _read(path: Path) -> Words:
    code = path.stem.replace("_", "-")
    try:
        Locale.parse(code.replace("-", "_"))
        with path.open("rb") as file:
            catalogue = read_po(file, locale=code.replace("-", "_"), abort_invalid=True)
    except (OSError, ValueError, UnknownLocaleError, PoFileError) as error:
        raise ConfigError(f"{path} is no message catalogue: {error}") from error
    messages, plurals = {}, {}
    for message in catalogue:
        if not message.id or message.fuzzy:
            continue
        if isinstance(message.id, tuple | list):
            if message.string and all(message.string):
                plurals[message.id[0]] = tuple(map(str, message.string))
        elif message.string:
            messages[message.id] = str(message.string)
    plural_form = _plural_form(code)
    return Words(code, messages, plurals, plural_form)


def _plural_form(code: str) -> Callable[[int], int]:
    """The number of the form, as gettext counts them."""
    from gettext import c2py  # noqa: PLC0415

    from babel.messages.plurals import get_plural  # noqa: PLC0415 - loads a large table

    form: Callable[[int], int] = c2py(get_plural(code.replace("-", "_")).plural_expr)
    return form


def preferred(accepted: str, known: Iterable[str]) -> str:
    """The language of the interface that a browser asks for by its Accept-Language."""
    known = list(known)
    for part in accepted.split(","):
        code = part.partition(";")[0].strip().lower()
        for one in known:
            if code == one.lower() or code.partition("-")[0] == one.lower().partition("-")[0]:
                return one
    return SOURCE
