"""Sentences and words with their English translations, from public collections: what the shipped words are learned from.

Each reader yields all that a collection has, by language. Which collections, at which version and under which licence,
says `words.toml`; the folder of the data has a git repository for each, `OWNER+NAME`, and Debian's packages in `debian/`.
"""

import gzip
import io
import re
import struct
import subprocess
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from babel import Locale, UnknownLocaleError, localedata

from bitrawl.languages import claimed_language
from bitrawl.model import UNDETERMINED, Language


class Example(NamedTuple):
    """A text of some language, and the English of it."""

    language: Language
    text: str
    english: str


class Repository:
    """The newest commit of a git repository, which may lack some of its files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        listed = self._git("ls-tree", "-r", "-z", "HEAD").decode().split("\0")
        entries = (line.split("\t", 1) for line in listed if line)
        self.objects = {path: head.split()[2] for head, path in entries}

    def read(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Those of the files that are there, in order."""
        paths = [path for path in paths if path in self.objects]
        command = ["git", "-C", str(self._folder), "cat-file", "--batch"]
        asked = "".join(f"{self.objects[path]}\n" for path in paths).encode()
        out = io.BytesIO(subprocess.run(command, input=asked, stdout=subprocess.PIPE, check=True).stdout)  # noqa: S603
        for path in paths:
            head = out.readline().split()
            if head[-1] != b"missing":
                yield path, out.read(int(head[-1]))
                out.read(1)

    def _git(self, *arguments: str) -> bytes:
        return subprocess.run(["git", "-C", str(self._folder), *arguments], stdout=subprocess.PIPE, check=True).stdout  # noqa: S603,S607


def tatoeba(data: Path) -> Iterator[Example]:
    """The development sets of the Tatoeba translation challenge; what has no English, by way of a third language.

    Its test sets stay closed, so that they can test.
    """
    repository = Repository(data / "Helsinki-NLP+Tatoeba-Challenge")
    wanted = re.compile(r"data/dev/.*/dev\.txt|data/release/dev/v2023.*\.txt\.gz|data/devtest/.*/dev-v2020-11-09\.txt")
    english: dict[tuple[Language, str], str] = {}
    others: list[tuple[Language, str, Language, str]] = []
    for path, content in repository.read(sorted(filter(wanted.fullmatch, repository.objects))):
        text = gzip.decompress(content) if path.endswith(".gz") else content
        for row in text.decode().splitlines():
            cells = [cell.strip() for cell in row.split("\t")]
            if len(cells) != 4:
                continue
            a, b = map(_language, cells[:2])
            if a == b:
                continue
            if "en" in (a, b):
                other, foreign, own = (a, cells[2], cells[3]) if b == "en" else (b, cells[3], cells[2])
                english.setdefault((other, foreign), own)
                yield Example(other, foreign, own)
            else:
                others.append((a, cells[2], b, cells[3]))
    for first, text_of_first, second, text_of_second in others:
        sides = (first, text_of_first), (second, text_of_second)
        for (language, foreign), known in (sides, sides[::-1]):
            if (language, foreign) not in english and known in english:
                yield Example(language, foreign, english[known])


_ENGLISH_BIBLE = "eng-engwebp"
_FREE = ("Public Domain", "by")


def ebible(data: Path) -> Iterator[Example]:
    """Verses of translations in the public domain or under CC BY: of each language the two largest."""
    repository = Repository(data / "BibleNLP+ebible")
    files = dict(repository.read(["metadata/licences.tsv", f"corpus/{_ENGLISH_BIBLE}.txt"]))
    licences = [row.split("\t") for row in files["metadata/licences.tsv"].decode("utf-8-sig").splitlines()]
    free = {row[0] for row in licences if len(row) > 5 and row[5] in _FREE}
    english = files[f"corpus/{_ENGLISH_BIBLE}.txt"].decode().splitlines()
    by_language: dict[Language, list[tuple[int, str, list[str]]]] = defaultdict(list)
    for path, content in repository.read(sorted(repository.objects)):
        code, _, translation = Path(path).stem.partition("-")
        language = _language(code) if path.startswith("corpus/") else UNDETERMINED
        if language in (UNDETERMINED, "en") or translation not in free:
            continue
        verses = content.decode().splitlines()
        by_language[language].append((-sum(map(bool, verses)), path, verses))
    for language, bibles in sorted(by_language.items()):
        for _, _, verses in sorted(bibles)[:2]:
            yield from (
                Example(language, verse, other)
                for verse, following, other, next_other in zip(
                    verses, [*verses[1:], ""], english, [*english[1:], ""], strict=False
                )
                if "<range>" not in (verse, following, other, next_other)
            )


def tico(data: Path) -> Iterator[Example]:
    """The sentences of TICO-19."""
    repository = Repository(data / "tico-19+tico-19.github.io")
    memories = re.compile(r"data/TM/all\.en-[A-Za-z_0-9-]+\.tmx\.zip")
    for _, content in repository.read(sorted(filter(memories.fullmatch, repository.objects))):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                if name.endswith(".tmx") and not name.startswith("__"):
                    yield from _tmx(archive.read(name))


_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def _tmx(content: bytes) -> Iterator[Example]:
    for unit in ET.fromstring(content).iter("tu"):  # noqa: S314 - a file of a version that is named
        texts = {_language(str(tuv.get(_LANG))): "".join(tuv.itertext()).strip() for tuv in unit.iter("tuv")}
        english = texts.pop(Language("en"), "")
        yield from (Example(language, text, english) for language, text in texts.items())


def firefox(data: Path) -> Iterator[Example]:
    """The messages of Firefox."""
    yield from _messages(data / "mozilla-l10n+firefox-l10n-source", "", data / "mozilla-l10n+firefox-l10n")


def mozilla_org(data: Path) -> Iterator[Example]:
    """The texts of the site mozilla.org."""
    yield from _messages(data / "mozilla-l10n+www-l10n", "en/", data / "mozilla-l10n+www-l10n")


def _messages(source: Path, prefix: str, translated: Path) -> Iterator[Example]:
    original = Repository(source)
    names = [path for path in sorted(original.objects) if path.startswith(prefix) and _is_message_file(path)]
    english = {path.removeprefix(prefix): _read_messages(path, content) for path, content in original.read(names)}
    repository = Repository(translated)
    for path, content in repository.read(filter(_is_message_file, sorted(repository.objects))):
        locale, _, name = path.partition("/")
        language = _language(locale)
        if language not in (UNDETERMINED, "en"):
            of_english = english.get(name, {})
            for key, text in _read_messages(path, content).items():
                if of_english.get(key, text) != text:
                    yield Example(language, text, of_english[key])


def _is_message_file(path: str) -> bool:
    return path.endswith((".ftl", ".properties"))


_FLUENT = re.compile(r"^([\w-]+)\s*=\s?(.*)$")
_ATTRIBUTE = re.compile(r"^\s+\.([\w-]+)\s*=\s?(.*)$")
_NO_PROSE = re.compile(r"(key|style|mode|\.src)$", re.IGNORECASE)


def _read_messages(path: str, content: bytes) -> dict[str, str]:
    """The texts of a file in Fluent's format, or of one of Java's properties."""
    messages: dict[str, str] = {}
    key = message = ""
    for line in content.decode("utf-8", "replace").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if found := _FLUENT.match(line):
            key = message = found[1]
        elif path.endswith(".properties"):
            name, _, text = line.partition("=")
            messages[name.strip()] = text.strip()
            continue
        elif found := _ATTRIBUTE.match(line):
            key = f"{message}.{found[1]}"
        else:
            messages[key] = f"{messages.get(key, '')} {line.strip()}"
            continue
        messages[key] = found[2]
    return {key: text for key, text in messages.items() if text and not _NO_PROSE.search(key)}


def libreoffice(data: Path) -> Iterator[Example]:
    """The catalogues of LibreOffice, from Debian's packages."""
    for package in sorted((data / "debian").glob("libreoffice-l10n-*.deb")):
        for name, content in _package(package):
            if name.endswith(".mo"):
                language = _language(name.split("/LC_MESSAGES")[0].rpartition("/")[2])
                yield from (Example(language, text, english) for english, text in _compiled_catalogue(content))


def _package(path: Path) -> Iterator[tuple[str, bytes]]:
    """The files of one of Debian's packages."""
    command = ["dpkg-deb", "--fsys-tarfile", str(path)]
    content = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout  # noqa: S603
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file:
                yield member.name, file.read()


def _compiled_catalogue(content: bytes) -> Iterator[tuple[str, str]]:
    """English and translation of each message of a .mo file."""
    count, originals, translations = struct.unpack_from("<3I", content, 8)
    for number in range(count):
        both = []
        for table in (originals, translations):
            length, offset = struct.unpack_from("<2I", content, table + 8 * number)
            both.append(content[offset : offset + length].decode().split("\0")[0])
        yield both[0].rpartition("\x04")[2], both[1]


def django(data: Path) -> Iterator[Example]:
    """The catalogues of Django."""
    yield from _catalogues(data / "django+django", re.compile(r"django/.*/locale/([\w@]+)/LC_MESSAGES/.*\.po"))


def godot(data: Path) -> Iterator[Example]:
    """The manual of Godot."""
    yield from _catalogues(data / "godotengine+godot-docs-l10n", re.compile(r"sphinx/po/(\w+)/LC_MESSAGES/.*\.po"))


def _catalogues(folder: Path, pattern: re.Pattern[str]) -> Iterator[Example]:
    repository = Repository(folder)
    for path, content in repository.read(filter(pattern.fullmatch, sorted(repository.objects))):
        found = pattern.fullmatch(path)
        language = _language(found[1] if found else "")
        if language not in (UNDETERMINED, "en"):
            yield from (Example(language, text, english) for english, text in _catalogue(content.decode()))


_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def _catalogue(content: str) -> Iterator[tuple[str, str]]:
    """English and translation of each message of a .po file that is not marked as doubtful."""
    for entry in re.split(r"\n\s*\n", content):
        if "#, fuzzy" in entry:
            continue
        texts: dict[str, str] = {}
        key = ""
        for line in entry.splitlines():
            if line.startswith("msg"):
                key = line.split(maxsplit=1)[0].removesuffix("[0]")
            if key and line.startswith(("msg", '"')):
                texts[key] = texts.get(key, "") + "".join(_STRING.findall(line))
        if texts.get("msgid") and texts.get("msgstr"):
            yield texts["msgid"].replace('\\"', '"'), texts["msgstr"].replace('\\"', '"')


_NAMES = ("territories", "languages", "scripts", "currencies")
_CALENDAR = ("months", "days")


def cldr(_: Path) -> Iterator[Example]:
    """The names of countries, languages, currencies, months and days, from Babel."""
    english = Locale("en")
    for identifier in sorted(localedata.locale_identifiers()):
        if "_" in identifier or identifier in ("en", "root"):
            continue
        try:
            locale = Locale.parse(identifier)
        except (UnknownLocaleError, ValueError):
            continue
        language = _language(identifier)
        for table in _NAMES:
            of_english: Mapping[str, str] = getattr(english, table)
            for code, name in getattr(locale, table).items():
                if code in of_english and of_english[code] != name:
                    yield Example(language, name, of_english[code])
        for table in _CALENDAR:
            for number, name in getattr(locale, table)["stand-alone"]["wide"].items():
                yield Example(language, name, getattr(english, table)["stand-alone"]["wide"][number])


_WORDNETS = {
    "sq": "als/wn-data-als", "bg": "bul/wn-data-bul", "ca": "mcr/wn-data-cat", "zh": "cow/wn-data-cmn",
    "da": "dan/wn-data-dan", "el": "ell/wn-data-ell", "eu": "mcr/wn-data-eus", "fi": "fin/wn-data-fin",
    "gl": "mcr/wn-data-glg", "he": "heb/wn-data-heb", "hr": "hrv/wn-data-hrv", "id": "msa/wn-data-ind",
    "it": "ita/wn-data-ita", "is": "isl/wn-data-isl", "ja": "jpn/wn-data-jpn", "nn": "nor/wn-data-nno",
    "nb": "nor/wn-data-nob", "pl": "pol/wn-data-pol", "es": "mcr/wn-data-spa", "sv": "swe/wn-data-swe",
    "th": "tha/wn-data-tha", "ms": "msa/wn-data-zsm",
}  # fmt: skip
"""Those of the Open Multilingual Wordnet under CC BY, MIT, Apache or the licence of WordNet."""


def wordnets(data: Path) -> Iterator[Example]:
    """The words of a synset of WordNet 3.0, each with each."""
    english: dict[str, list[str]] = {}
    for name, content in _package(next((data / "debian").glob("wordnet-base_*.deb"))):
        if (part := Path(name).name) in ("data.noun", "data.verb", "data.adj", "data.adv"):
            for line in content.decode().splitlines():
                if not line.startswith(" "):
                    offset, _, _, count, *rest = line.split()
                    kind = {"data.noun": "n", "data.verb": "v", "data.adj": "a", "data.adv": "r"}[part]
                    lemmas = rest[: 2 * int(count, 16) : 2]
                    english[f"{offset}-{kind}"] = [re.sub(r"\(\w+\)", "", lemma).replace("_", " ") for lemma in lemmas]
    repository = Repository(data / "omwn+omw-data")
    paths = {f"wns/{path}.tab": language for language, path in _WORDNETS.items()}
    for path, content in repository.read(paths):
        for line in content.decode().splitlines():
            synset, *kind_and_lemma = line.split("\t")
            if len(kind_and_lemma) > 1 and kind_and_lemma[0].endswith("lemma"):
                lemma = kind_and_lemma[1].replace("_", " ").replace("+", " ")
                for other in english.get(synset.replace("-s", "-a"), ()):
                    yield Example(Language(paths[path]), lemma, other)


READERS: Mapping[str, Callable[[Path], Iterator[Example]]] = {
    "tatoeba": tatoeba, "ebible": ebible, "tico-19": tico, "firefox": firefox,
    "mozilla-org": mozilla_org, "libreoffice": libreoffice, "django": django, "godot": godot, "cldr": cldr,
    "wordnets": wordnets,
}  # fmt: skip

_OWN_CODES = {
    "nb": "no", "fil": "tl", "prs": "fa", "cmn": "zh", "yue": "yue", "zsm": "ms", "zlm": "ms", "toki": "tok",
    "hbs": "sh", "bos": "bs", "arb": "ar", "kmr": "ku",
}  # fmt: skip


def _language(code: str) -> Language:
    bare = re.split(r"[-_@]", code.strip())[0].lower()
    standard = claimed_language(_OWN_CODES.get(bare, bare)).split("-")[0]
    if standard == "sr" and re.search("latn|latin", code, re.IGNORECASE):
        return Language("sr-Latn")
    return Language(_OWN_CODES.get(standard, standard))


_PLACEHOLDER = re.compile(r"\{[^{}]*\}|%\d*\$?[\w@]|%\([^)]*\)s|\$\w+\$?|<[^<>]*>|`[^`]*`|\*\*|\\[nrt]|https?://\S+")
_ACCELERATOR = re.compile(r"[~&_](?=\w)")


def clean(text: str) -> str:
    """Without placeholders, markup and the marks of keys."""
    return " ".join(_ACCELERATOR.sub("", _PLACEHOLDER.sub(" ", text)).split())
