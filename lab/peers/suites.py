"""What others test, as cases with a name: what they want, and what bitrawl finds."""

import codecs
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import langcodes

from bitrawl.errors import UrlError
from bitrawl.languages import claimed_language
from bitrawl.model import UNDETERMINED
from bitrawl.page.decode import codec, decode
from bitrawl.url import Url


class Case(NamedTuple):
    name: str
    wanted: str
    found: str


class Suite(NamedTuple):
    name: str
    marker: str  # a file of its data, by the end of its path
    source: str  # where the data is to be had
    fewest: int  # cases; with fewer, this is not the suite
    cases: Callable[[Path], Iterator[Case]]  # of what the marker is


REFUSED = "refused"
# What a charset has beyond ASCII, for tests whose documents are all ASCII: without it they would pass in any charset.
_PROBES = {
    "iso8859-2": "Łódź jest pięknym miastem, a żółta gęś śpi nad rzeką. Můj kůň běží přes široké pole.",
    "cp1252": "L'été dernier, le garçon a mangé à la crêperie près du château, où rêvait sa mère âgée.",
    "utf-8": "桟橋の端の灯りだけが、夜明けの海を照らしている。",
    "euc_jp": "桟橋の端の灯りだけが、夜明けの海を照らしている。",
}
_ENCODING_CASE = re.compile(rb"^#data\n(.*?)\n?#encoding\n(.*?)(?=\n\n#data|\n*\Z)", re.DOTALL | re.MULTILINE)
_SUFFIX_CASE = re.compile(r"^checkPublicSuffix\('(.*?)', (?:'(.*?)'|null)\)", re.MULTILINE)
_NAME = 100  # characters of a document that tell it from others
_ENDS_A_HOST = ":/?#\\"


def urls(data: Path) -> Iterator[Case]:
    """What is no web URL, or is relative to one that is none, does not apply."""
    for case in json.loads(data.read_text("utf-8")):
        if not isinstance(case, dict):
            continue
        base = _url(case["base"]) if case.get("base") not in (None, "about:blank") else ""
        if base == REFUSED:
            continue
        href = case.get("href") or ""
        wanted = href.partition("#")[0] if href.startswith(("http://", "https://")) else REFUSED
        found = _url(case["input"], base)
        # Credentials are dropped and escapes normalised (RFC 3986): the two ways in which we differ on purpose.
        if found != REFUSED and ("@" in wanted or "%" in wanted):
            wanted = _url(wanted)
        yield Case(f"{case['input']!r} at {base}" if base else repr(case["input"]), wanted, found)


def host_names(data: Path) -> Iterator[Case]:
    """As IdnaTestV2.window.js of web-platform-tests asks."""
    for case in json.loads(data.read_text("utf-8")):
        if isinstance(case, dict) and case["input"]:
            typed = "".join(f"%{ord(letter):02X}" if letter in _ENDS_A_HOST else letter for letter in case["input"])
            wanted = f"https://{case['output']}/x" if case["output"] else REFUSED
            yield Case(ascii(case["input"]), wanted, _url(f"https://{typed}/x"))


def public_suffixes(data: Path) -> Iterator[Case]:
    """A public suffix alone has no registrable domain: to us, it is a site of its own."""
    for host, domain in _SUFFIX_CASE.findall(data.read_text("utf-8")):
        url = Url.parse(f"http://{host}/")
        yield Case(host, Url.parse(f"http://{domain}/").host if domain else url.host, url.site)


def declared_charsets(data: Path) -> Iterator[Case]:
    for path in sorted(data.parent.rglob("*.dat")):
        for body, label in _ENCODING_CASE.findall(path.read_bytes()):
            charset = codec(label.decode()) or ""
            ending = f"\n<p>{_PROBES[charset]}</p>".encode(charset) if body.isascii() else b""
            wanted, found = (body + ending).decode(charset, "replace"), decode(body + ending).text
            name = body.removeprefix(b"<!DOCTYPE HTML>\n").decode("ascii", "replace")[:_NAME]
            yield Case(f"{path.name} {name!r}", _plain(wanted), _plain(found))


def found_charsets(data: Path) -> Iterator[Case]:
    """A folder has the name of a charset, perhaps with a language. Those that no page may declare do not apply."""
    for path in sorted(data.parent.parent.glob("*/*")):
        charset = _charset(path.parent.name.lower())
        if path.suffix in (".html", ".txt", ".xml", ".srt") and charset:
            body = path.read_bytes()
            yield Case(
                f"{path.parent.name}/{path.name}", _plain(body.decode(charset, "replace")), _plain(decode(body).text)
            )


def _charset(folder: str) -> str | None:
    if folder in ("utf-16", "utf-8-sig"):  # with a mark, as Python reads it and no page declares it
        return folder
    try:
        codecs.lookup(folder)
    except LookupError:
        folder = folder.rpartition("-")[0]
    return None if folder == "johab" else codec(folder)  # browsers know no such label


def _plain(text: str) -> str:
    return normalize("NFKC", text).removeprefix("\ufeff")


def language_tags(data: Path) -> Iterator[Case]:
    """Language, script and region, whatever else is in a tag. A tag that is registered as a whole names some language."""
    for path in sorted(data.parent.glob("*.json")):
        tag, parts = path.stem, json.loads(path.read_text("utf-8"))
        found = _without_variants(claimed_language(tag))
        if parts["irregular"] or parts["regular"]:
            yield Case(tag, "a language", "a language" if found != UNDETERMINED else UNDETERMINED)
        else:
            yield Case(tag, _wanted_language(parts), found)


def _wanted_language(parts: dict[str, Any]) -> str:
    named = [*parts["extendedLanguageSubtags"][:1], parts["language"]][0]
    kept = (named, parts["script"], parts["region"])
    return _without_variants(claimed_language("-".join(part for part in kept if part)))


def _without_variants(tag: str) -> str:
    language = langcodes.Language.get(tag)
    return "-".join(part for part in (language.language or UNDETERMINED, language.script, language.territory) if part)


def _url(text: str, base: str = "") -> str:
    try:
        return str(Url.parse(text, base=Url.known(base) if base else None))
    except UrlError:
        return REFUSED


SUITES = (
    Suite(
        "urls",
        "urltestdata.json",
        "https://github.com/web-platform-tests/wpt: url/resources/urltestdata.json (a copy in ada-url/ada: tests/wpt)",
        700,
        urls,
    ),
    Suite(
        "host-names",
        "IdnaTestV2.json",
        "https://github.com/web-platform-tests/wpt: url/resources/IdnaTestV2.json (a copy in ada-url/ada: tests/wpt)",
        2600,
        host_names,
    ),
    Suite(
        "public-suffixes",
        "tests/test_psl.txt",
        "https://github.com/publicsuffix/list: tests/test_psl.txt",
        77,
        public_suffixes,
    ),
    Suite(
        "declared-charsets",
        "encoding/tests1.dat",
        "https://github.com/html5lib/html5lib-tests: encoding/",
        80,
        declared_charsets,
    ),
    Suite(
        "found-charsets",
        "iso-8859-9-turkish/subtitle.srt",
        "https://github.com/chardet/chardet: tests/; or: pip download chardet==5.2.0 --no-deps --no-binary :all:",
        390,
        found_charsets,
    ),
    Suite(
        "language-tags",
        "fixtures/i-klingon.json",
        "https://github.com/wooorm/bcp-47: test/fixtures/ (the examples of RFC 5646, and others)",
        90,
        language_tags,
    ),
)
