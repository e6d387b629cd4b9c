"""Manuals as two sites, one of PDF files and one of HTML pages: which pairs of pages and of segments are found in them."""

import gzip
import json
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import bitrawl
from bitrawl.text.words import bare_texts

ROOT = "http://docs.test"
TextPair = tuple[str, str]
_PRINTED_LINK = re.compile(r"\s*\((?:https?|ftp|mailto):[^)\s]*\)")


class SiteFile(NamedTuple):
    """A file of one manual in one language, and where it stands below the folder of the language."""

    manual: str
    language: str
    path: str
    media_type: str
    body: bytes

    @property
    def url(self) -> str:
        return f"{ROOT}/{self.language}/{self.path}"


def archived(files: Sequence[SiteFile], to: Path) -> Path:
    """A site as WARC: a first page, an index for each language, and the files that it links to."""
    languages = list(dict.fromkeys(file.language for file in files))
    with to.open("wb") as warc:
        warc.write(
            warc_record(f"{ROOT}/", "text/html", _index("en", [(f"{ROOT}/{code}/", code) for code in languages]))
        )
        for code in languages:
            links = [(file.url, file.path) for file in files if file.language == code]
            warc.write(warc_record(f"{ROOT}/{code}/", "text/html", _index(code, links)))
        for file in files:
            warc.write(warc_record(file.url, file.media_type, file.body))
    return to


def _index(language: str, links: Iterable[tuple[str, str]]) -> bytes:
    items = "".join(f'<li><a href="{escape(url)}">{escape(text)}</a></li>' for url, text in links)
    return f'<html lang="{language}"><head><title>Debian</title></head><body><ul>{items}</ul></body></html>'.encode()


def warc_record(url: str, media_type: str, body: bytes) -> bytes:
    answer = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    header = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-11-18T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(answer)}\r\n\r\n"
    )
    return gzip.compress(header.encode() + answer + b"\r\n\r\n", 1)


class MinedSite:
    """What a crawl of one of the two sites has found."""

    def __init__(self, files: Sequence[SiteFile], folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._files = {file.url: file for file in files}
        self._corpus = folder / "job/corpus"
        codes = sorted({file.language for file in files}, key=lambda code: (code != "en", code))
        archive = archived(files, folder / "site.warc.gz")
        bitrawl.mine(
            f"{ROOT}/", langs=",".join(codes), replay=[archive], out=folder / "job", exhaustive=True, formats="jsonl"
        )

    def page_pairs(self) -> set[frozenset[str]]:
        """Without the index pages."""
        pairs = (frozenset((row["url_a"], row["url_b"])) for _, row in self._rows("documents"))
        return {pair for pair in pairs if all(url in self._files for url in pair)}

    def true_pairs(self) -> set[frozenset[str]]:
        return {
            frozenset((a.url, b.url))
            for a, b in combinations(self._files.values(), 2)
            if a.path == b.path and a.language != b.language
        }

    def segments(self) -> dict[tuple[str, str], set[TextPair]]:
        """By manual and languages, without case, punctuation and spaces."""
        found: dict[tuple[str, str], set[TextPair]] = {}
        for name, row in self._rows("sentences"):
            bare_a, bare_b = bare_texts([_PRINTED_LINK.sub("", row[side]) for side in ("text_a", "text_b")])
            for place in row.get("sources") or [row]:
                manuals = {self._files[url].manual for url in (place["url_a"], place["url_b"]) if url in self._files}
                if len(manuals) == 1:
                    found.setdefault((manuals.pop(), name), set()).add((bare_a, bare_b))
        return found

    def _rows(self, what: str) -> Iterator[tuple[str, dict[str, str]]]:
        for path in sorted(self._corpus.glob(f"*.{what}.jsonl")):
            for line in path.read_text().splitlines():
                yield path.name.partition(".")[0], json.loads(line)


def print_sites(pdf: Sequence[SiteFile], html: Sequence[SiteFile], scratch: Path) -> None:
    from lab.bench.document_reference import HtmlReference  # noqa: PLC0415  # it knows the files of a site

    site = MinedSite(pdf, scratch / "pdf")
    pairs, truth = site.page_pairs(), site.true_pairs()
    right = len(pairs & truth)
    print(
        f"\npage pairs of PDF files as a site: {len(truth)}, recall {right / len(truth):.3f}, precision {right / len(pairs):.3f}"
    )
    found, wanted = site.segments(), MinedSite(html, scratch / "html").segments()
    reference = HtmlReference(html)
    print(
        f"\n{'segments as in the HTML pairs':33} {'HTML':>7} {'PDF':>7} {'recall':>7} {'prec.':>7} {'as in the HTML':>15}"
    )
    sums = [0] * 4
    for manual, name in sorted(wanted):
        a, b = wanted[manual, name], found.get((manual, name), set())
        same = a & b
        counts = [len(a), len(b), len(same), len(same | reference.right(manual, name, b))]
        sums = [total + count for total, count in zip(sums, counts, strict=True)]
        _print_counts(manual, name, counts)
    _print_counts("all", "", sums)


def _print_counts(manual: str, name: str, counts: Sequence[int]) -> None:
    wanted, found, same, right = counts
    shares = f"{same / max(wanted, 1):7.3f} {same / max(found, 1):7.3f} {right / max(found, 1):15.3f}"
    print(f"{manual:26} {name:6} {wanted:7} {found:7} {shares}", flush=True)
