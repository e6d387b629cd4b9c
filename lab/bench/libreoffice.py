"""Makes a large site pack out of LibreOffice's help, which Debian ships in many languages: 2,560 pages in each.

    python -m lab.bench.libreoffice packs/libreoffice en-US de fr     # apt-get downloads, nothing is installed
    python -m lab.bench.pairs --packs packs

Pages with the same path are translations. As in the other packs, a pair is doubtful where a page has too little text, where 30 %
of the running text is the same on both, or where a page is not in its language (py3langid).
"""

import argparse
import gzip
import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from py3langid.langid import MODEL_FILE, LanguageIdentifier
from selectolax.lexbor import LexborHTMLParser

HOST = "https://help.example/7.4/"
SHORT, RUNNING = 150, 20  # characters of a page that can be judged, of a paragraph that is running text
PARTIAL, SAME = 0.3, 0.5
# The help asks readers without scripts to leave for a page that is not in the packages.
REFRESH = re.compile(rb'<noscript><meta http-equiv="refresh"[^>]*></noscript>')


class Document(NamedTuple):
    language: str
    path: str
    html: bytes
    paragraphs: list[str]

    @property
    def url(self) -> str:
        return f"{HOST}{self.language}/{self.path}"


def documents(languages: Sequence[str]) -> Iterator[Document]:
    with tempfile.TemporaryDirectory() as scratch:
        names = [f"libreoffice-help-{language.lower()}" for language in languages]
        subprocess.run(["apt-get", "download", *names], check=True, cwd=scratch)
        for package in Path(scratch).glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, scratch], check=True)
        for language in languages:
            root = Path(scratch) / "usr/share/libreoffice/help" / language
            for path in sorted((root / "text").rglob("*.html")):
                html = REFRESH.sub(b"", path.read_bytes())
                yield Document(language, str(path.relative_to(root)), html, paragraphs(html))


def paragraphs(html: bytes) -> list[str]:
    nodes = LexborHTMLParser(html).css("#DisplayArea :is(p, h1, h2, h3, h4, h5, h6)")
    return [text for node in nodes if (text := " ".join(node.text().split()))]


def doubt(a: Document, b: Document, identifier: LanguageIdentifier) -> str:
    """Why two documents of one path may be no translations; empty if they are."""
    if min(sum(map(len, each.paragraphs)) for each in (a, b)) < SHORT:
        return "short"
    running = [[text for text in each.paragraphs if len(text) >= RUNNING] for each in (a, b)]
    most = max(1, *(sum(map(len, texts)) for texts in running))
    share = sum(len(text) for text in running[1] if text in set(running[0])) / most
    if share >= PARTIAL:
        return "same-text" if share >= SAME else "partial"
    spoken = [identifier.classify(" ".join(each.paragraphs))[0] for each in (a, b)]
    return "" if spoken == [code(a.language), code(b.language)] else "language"


def code(language: str) -> str:
    return language.partition("-")[0]


def record(document: Document) -> bytes:
    """One gzip member."""
    length = len(document.html)
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n" % length
    body = answer + document.html
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <{document.url}>\r\nWARC-Date: 2026-11-17T00:00:00Z\r\n"
        f"WARC-Target-URI: {document.url}\r\nContent-Type: application/http;msgtype=response\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + body + b"\r\n\r\n", 5)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.libreoffice")
    parser.add_argument("out", type=Path)
    parser.add_argument("languages", nargs="+", help="as in the names of the packages: en-US, de, pt-BR")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages([code(language) for language in asked.languages])
    by_path: dict[str, list[Document]] = {}
    with (asked.out / "site.warc.gz").open("wb") as archive:
        for document in documents(asked.languages):
            archive.write(record(document))
            by_path.setdefault(document.path, []).append(document)
    rows = [
        (a.url, b.url, code(a.language), code(b.language), doubt(a, b, identifier))
        for versions in by_path.values()
        for a, b in combinations(versions, 2)
    ]
    columns = "url_a\turl_b\tlang_a\tlang_b"
    truth = ["\t".join(row[:4]) for row in rows if not row[4]]
    (asked.out / "truth.tsv").write_text("\n".join([columns, *truth, ""]))
    doubtful = ["\t".join(row) for row in rows if row[4]]
    (asked.out / "doubtful.tsv").write_text("\n".join([f"{columns}\treason", *doubtful, ""]))
    about = {
        "seeds": [f"{HOST}{asked.languages[0]}/text/shared/05/new_help.html"],
        "languages": [code(language) for language in asked.languages],
        "pairs_by_languages": Counter(f"{row[2]}-{row[3]}" for row in rows if not row[4]),
    }
    (asked.out / "site.json").write_text(json.dumps(about))
    print(
        f"{asked.out}: {sum(map(len, by_path.values()))} pages, {about['pairs_by_languages']}, {len(doubtful)} doubtful"
    )


if __name__ == "__main__":
    main()
