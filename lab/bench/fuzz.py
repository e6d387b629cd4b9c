"""Broken inputs: files that users bring, and documents from the web, mutated in thousands of ways, through their readers.

    python -m lab.bench.fuzz                       # 20,000 of each kind: about fifteen minutes
    python -m lab.bench.fuzz tmx wat --count 500
    python -m lab.bench.fuzz tmx --only 1234       # one case again, kept as a file

Each case must be read, or be refused with a sentence (`BitrawlError`, `UnreadableError`), in less than a second of CPU time. What the memory
grows by, over all cases of a kind, is bounded too.
"""

import argparse
import gzip
import io
import logging
import random
import resource
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl import config
from bitrawl.archive.archived_web import Archives, home_pages
from bitrawl.archive.writing import WarcArchive
from bitrawl.demo import bundled
from bitrawl.discover.backlinks import is_wat, read_table, read_wat
from bitrawl.discover.graph_build import build_graph
from bitrawl.discover.graph_index import GraphIndex
from bitrawl.errors import BitrawlError
from bitrawl.job import check
from bitrawl.job.topics import segment_texts
from bitrawl.model import Capture, Language
from bitrawl.page.document import UnreadableError, document_reader
from bitrawl.testing import FakeClock
from bitrawl.topic.term_list import read_terms
from bitrawl.url import Url

MOST_SECONDS = 1.0
MOST_MEGABYTES = 300  # that the memory may grow by, over all cases of a kind; their inputs have some kB
LANGUAGES = (Language("en"), Language("fr"))


class Kind(NamedTuple):
    """Valid files, by name, and what reads a folder of them."""

    files: dict[str, bytes]
    read: Callable[[Path], None]
    words: tuple[bytes, ...] = ()  # that mean something in this format


def drained(items: Iterable[object]) -> None:
    for _ in items:
        pass


def kinds() -> dict[str, Kind]:
    return {
        "tmx": Kind({"a.tmx": TMX}, read_tmx, (b"<tu>", b"</tu>", b'<tuv xml:lang="fr">', b"<seg>", b"&#0;", b"&x;")),
        "tmx.gz": Kind({"a.tmx.gz": gzip.compress(TMX, mtime=0)}, lambda path: read_tmx(path, "a.tmx.gz")),
        "job": Kind({"job.toml": job_file()}, read_job, (b"[", b"]", b"=", b'"', b"nan", b"-1", b"9" * 30, b"[[x]]")),
        "terms": Kind({"terms.txt": TERMS}, lambda path: terms(path / "terms.txt"), (b":", b"=", b">", b";", b"nan:")),
        "tbx": Kind({"terms.tbx": TBX}, lambda path: terms(path / "terms.tbx"), (b"<term>", b"</termEntry>", b"&lt;")),
        "csv": Kind({"terms.csv": CSV}, lambda path: terms(path / "terms.csv"), (b'"', b",", b"\r", b"1e999", b"\0")),
        "graph": Kind(
            {"vertices.txt": VERTICES, "edges.txt": EDGES}, read_graph, (b"\t", b"\n", b"9" * 25, b"-1", b".")
        ),
        "table": Kind({"links.tsv": TABLE}, lambda path: drained(read_table(path / "links.tsv")), (b"\t", b"http://")),
        "warc": Kind({"a.warc.gz": warc()}, lambda path: read_warc(path / "a.warc.gz")),
        "plain": Kind({"a.warc": gzip.decompress(warc())}, lambda path: read_warc(path / "a.warc"), WARC_WORDS),
        "wat": Kind(
            {"a.wat": wat()}, lambda path: wat_links(path / "a.wat"), (b"{", b"[", b'"', b"Content-Length: 9", b"1e9")
        ),
        "wat.gz": Kind({"a.wat.gz": gzip.compress(wat(), mtime=0)}, lambda path: wat_links(path / "a.wat.gz")),
        "pdf": Kind({"a.pdf": pdf()}, lambda path: read_document(path / "a.pdf"), PDF_WORDS),
        "rtf": Kind({"a.rtf": RTF}, lambda path: read_document(path / "a.rtf"), RTF_WORDS),
        "docx": Kind(DOCX, lambda path: read_zipped(path, DOCX, "docx"), DOCX_WORDS),
        "odt": Kind(ODT, lambda path: read_zipped(path, ODT, "odt"), ODT_WORDS),
        "epub": Kind(EPUB, lambda path: read_zipped(path, EPUB, "epub"), EPUB_WORDS),
        "zip": Kind({"a.docx": zipped(DOCX)}, lambda path: read_document(path / "a.docx")),
    }


UNITS = "".join(
    f'<tu tuid="{n}"><prop type="score">0.{n}</prop><tuv xml:lang="en"><seg>The harbour {n} &amp; more</seg></tuv>'
    f'<tuv xml:lang="fr"><seg>Le port {n} <ph x="1">é</ph></seg></tuv></tu>\n'
    for n in range(20)
)
TMX = f'<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header srclang="en"/><body>\n{UNITS}</body></tmx>\n'.encode()
TERMS = b"# terms\n50:acid rain=pollution;weather>en\n100:pluie acide=pollution>fr\nsoil>en\n-10:weather=x>en\n" * 4
CSV = b"term,weight,language,class\n" + b'acid rain,50,en,pollution\n"pluie, acide",100,fr,pollution\n' * 3
TBX = (
    '<?xml version="1.0"?><martif type="TBX"><text><body>'
    + "".join(
        f'<termEntry id="{n}"><langSet xml:lang="en"><tig><term>acid rain {n}</term></tig></langSet>'
        f'<langSet xml:lang="fr"><tig><term>pluie acide {n}</term></tig></langSet></termEntry>'
        for n in range(8)
    )
    + "</body></text></martif>"
).encode()
VERTICES = "".join(f"{n}\t{name}\n" for n, name in enumerate(sorted(f"org.site{n}.www" for n in range(30)))).encode()
EDGES = "".join(f"{n}\t{m}\n" for n in range(30) for m in range(n % 5, 30, 7)).encode()
TABLE = b"source\ttarget\tanchor\tcontext\n" + b"".join(
    b"http://a%d.org/x\thttp://b%d.org/y?z=%d\tThe harbour\tsee the harbour\n" % (n, n + 1, n) for n in range(20)
)
WARC_WORDS = (b"WARC/1.1\r\n", b"\r\n\r\n", b"Content-Length: 99999999999", b"Content-Length: -1", b"chunked", b"gzip")


def job_file() -> bytes:
    job = config.resolve({"seeds": ["https://www.example.org/"], "langs": ["en", "fr"]})
    return config.text_of(job).encode()


def warc() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        with WarcArchive(Path(folder), clock=FakeClock()) as archive:
            for url, document in list(bundled().documents.items())[:8]:
                headers = (("Content-Type", document.type), ("Content-Length", str(len(document.body))))
                archive.write(
                    Capture(url, document.status, headers, document.body, 1e9, request=b"GET / HTTP/1.1\r\n\r\n")
                )
        return next(Path(folder).iterdir()).read_bytes()


def wat() -> bytes:
    records = []
    for number in range(6):
        links = [{"path": "A@/href", "url": f"/page/{n}?a={n}", "text": f"The harbour {n}"} for n in range(6)]
        html = {"Head": {"Base": "http://a.org/"}, "Links": links}
        payload = {"HTTP-Response-Metadata": {"HTML-Metadata": html}}
        header = {"WARC-Target-URI": f"http://a.org/{number}"}
        content = msgspec.json.encode({"Envelope": {"Payload-Metadata": payload, "WARC-Header-Metadata": header}})
        head = f"WARC/1.0\r\nWARC-Type: metadata\r\nWARC-Target-URI: http://a.org/{number}\r\nContent-Type: application/json\r\n"
        records.append(head.encode() + b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (len(content), content))
    return b"".join(records)


PDF_WORDS = (b" -12 Tf", b"1e38 ", b"<FEFFD83D>", b"/Kids", b"9 0 R", b" Tm", b"/MediaBox [0 0 1e9 -1]", b"/Rotate 90")
RTF_WORDS = (rb"\u-10179", rb"\v", rb"\bin9", rb"\'ff", b"{", b"}", rb"\fcharset81", rb"\ansicpg9", rb"\uc99", rb"{\*")
DOCX_WORDS = (b"<w:p>", b"<w:vanish/>", b"<w:del>", b"<w:txbxContent>", b"<mc:Choice>", b"<w:t>", b"&#55357;", b"&x;")
ODT_WORDS = (b"<text:p>", b"<text:span>", b"<text:note>", b'text:display="none"', b"<text:section>", b"&#x0;", b"&x;")
EPUB_WORDS = (b"<itemref", b"idref=", b"<p>", b"../", b"%00", b"&x;", b"<title>")
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
MARKUP = "http://schemas.openxmlformats.org/markup-compatibility/2006"
ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "style", "table")
)
ABOUT = (
    b'<about xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The harbour</dc:title><dc:creator>Ann</dc:creator>'
    b"<dc:language>en</dc:language><dc:date>2024-01-31</dc:date></about>"
)
PROSE = [f"The boats of day {n} come in with the tide, and 港 is a harbour {n} times." for n in range(12)]
DOCX = {
    "word/document.xml": f'<w:document xmlns:w="{WORD}" xmlns:mc="{MARKUP}"><w:body>'.encode()
    + "".join(
        f'<w:p><w:pPr><w:pStyle w:val="S{n % 4}"/><w:numPr/></w:pPr><w:r><w:t>{text}</w:t></w:r><w:del><w:r><w:t>x</w:t></w:r>'
        "</w:del><w:r><w:rPr><w:vanish/></w:rPr><w:t>x</w:t></w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p/>"
        "</w:txbxContent></mc:Choice><mc:Fallback><w:t>y</w:t></mc:Fallback></mc:AlternateContent></w:p>"
        for n, text in enumerate(PROSE)
    ).encode()
    + b"</w:body></w:document>",
    "word/styles.xml": f'<w:styles xmlns:w="{WORD}">'.encode()
    + b"".join(
        b'<w:style w:styleId="S%d"><w:name w:val="heading %d"/><w:basedOn w:val="S%d"/></w:style>' % (n, n, n + 1)
        for n in range(4)
    )
    + b"</w:styles>",
    "docProps/core.xml": ABOUT,
}
ODT = {
    "content.xml": f'<office:document {ODF}><office:automatic-styles><style:style style:name="T" style:family="text">'
    '<style:text-properties text:display="none"/></style:style></office:automatic-styles><office:body><office:text>'.encode()
    + "".join(
        f'<text:p text:style-name="P">{text}<text:s/><text:span text:style-name="T">x</text:span><text:note><text:note-body>'
        f"<text:p>Note {n}</text:p></text:note-body></text:note></text:p><text:list><text:list-item><text:h>{n}</text:h>"
        "</text:list-item></text:list>"
        for n, text in enumerate(PROSE)
    ).encode()
    + b"</office:text></office:body></office:document>",
    "styles.xml": f'<office:styles {ODF}><style:style style:name="P" style:family="paragraph"/></office:styles>'.encode(),
    "meta.xml": ABOUT,
}
EPUB = {
    "META-INF/container.xml": b'<c><rootfiles><rootfile full-path="O/p.opf"/></rootfiles></c>',
    "O/p.opf": b'<package xmlns="http://www.idpf.org/2007/opf"><metadata>%b</metadata><manifest><item id="a" href="a.xhtml"/>'
    b'<item id="b" href="b.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    % ABOUT,
    "O/a.xhtml": "<html><body><h1>The harbour</h1>{}</body></html>".format(
        "".join(f"<p>{text}</p>" for text in PROSE)
    ).encode(),
    "O/b.xhtml": b"<html><body><p>The end.</p></body></html>",
}
RTF = (
    rb"{\rtf1\ansi\ansicpg1251\deff0{\fonttbl{\f0\fcharset204 Arial;}{\f1\fcharset134 SimSun;}}{\info{\title x}}\f0 "
    + b"".join(
        rb"\pard Day %d \'ec\'ee\'f0\'e5 {\f1 \'b8\'db}\u-10179?\u-8694? {\v x}{\deleted x}"
        rb'{\field{\*\fldinst{HYPERLINK "http://a.org/"}}{\fldrslt{here}}}{\pict\bin3 }{\}\cell\row\par ' % n
        for n in range(12)
    )
    + b"}"
)
MEDIA_TYPES = {
    "pdf": "application/pdf",
    "rtf": "application/rtf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "odt": "application/vnd.oasis.opendocument.text",
    "epub": "application/epub+zip",
}


def pdf() -> bytes:
    """Three pages with a running head, and a link."""
    link = b"<< /Type /Annot /Subtype /Link /Rect [72 690 200 710] /A << /S /URI /URI (http://a.org/) >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /Lang (en) >>",
        b"<< /Type /Pages /Kids [5 0 R 7 0 R 9 0 R] /Count 3 >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title (The harbour) /Author <FEFF0041006E006E> /ModDate (D:20240131120000) >>",
    ]
    for number in range(3):
        lines = [b"BT /F1 8 Tf 72 815 Td (Report %d) Tj ET" % number]
        lines += [b"BT /F1 10 Tf 72 %d Td (Line %d of the boats.) Tj ET" % (700 - 12 * n, n) for n in range(12)]
        content = b"\n".join(lines)
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >>"
            b" /Annots [%b] >>" % (len(objects) + 2, link),
            b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content),
        ]
    body = b"%PDF-1.7\n" + b"".join(b"%d 0 obj\n%b\nendobj\n" % each for each in enumerate(objects, 1))
    return body + b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\n%%%%EOF\n" % (len(objects) + 1)


def read_document(path: Path) -> None:
    read_body(path.read_bytes(), path.suffix[1:])


def read_zipped(folder: Path, names: Iterable[str], ending: str) -> None:
    read_body(zipped({name: (folder / name).read_bytes() for name in names}), ending)


def read_body(body: bytes, ending: str) -> None:
    """What is read must be text that can be stored."""
    msgspec.msgpack.encode(document_reader(MEDIA_TYPES[ending])(body))


def zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def read_tmx(folder: Path, name: str = "a.tmx") -> None:
    drained(segment_texts(folder / name, LANGUAGES))


def read_job(folder: Path) -> None:
    check(config.resolve(config.read(folder / "job.toml"), where="job.toml"))


def terms(path: Path) -> None:
    read_terms(path, LANGUAGES)


def read_graph(folder: Path) -> None:
    for around in ((), ("www.site1.org",)):
        out = folder / "index"
        build_graph(folder, out, around=around)
        index = GraphIndex(out)
        for host in ("www.site1.org", "www.site7.org"):
            drained(index.referrers(Url.parse(f"http://{host}/"), 10))


def read_warc(path: Path) -> None:
    with Archives([path]) as archives:
        for url in list(archives.urls()):
            archives.answer(url)
        home_pages(archives)


def wat_links(path: Path) -> None:
    if is_wat(path):
        drained(read_wat(path))


def mutated(data: bytes, chance: random.Random, words: tuple[bytes, ...]) -> bytes:
    """One to eight changes, small ones more often than large ones."""
    for _ in range(1 + min(int(chance.expovariate(0.7)), 7)):
        data = _changed(data, chance, words)
    return data


def _changed(data: bytes, chance: random.Random, words: tuple[bytes, ...]) -> bytes:  # noqa: PLR0911 - one for each way
    place = chance.randrange(len(data) + 1)
    end = min(len(data), place + 1 + int(chance.expovariate(0.02)))
    match chance.randrange(10):
        case 0 if place < len(data):
            return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]
        case 1:
            return data[:place] + chance.randbytes(1 + chance.randrange(8)) + data[place:]
        case 2:
            return data[:place] + data[end:]
        case 3:
            return data[:place] + data[place:end] * (2 + chance.randrange(30)) + data[end:]
        case 4:
            return data[:place]
        case 5:
            other = chance.randrange(len(data) + 1)
            return data[:place] + data[other : other + end - place] + data[place:]
        case 6:
            odd = (b"\0", b"\xff\xfe", b"\xf0\x9f\x92", "\u202e\ud7ff\ufeff".encode(), b"\r", b"9" * 400, b"-", b"NaN")
            return data[:place] + chance.choice(odd) + data[place:]
        case 7:
            opening = chance.choice((b"[", b"{", b'{"a":', b"<a>", b"(", b'["'))
            return data[:place] + opening * chance.choice((3, 50, 5000)) + data[place:]
        case 8 if words:
            return data[:place] + chance.choice(words) * chance.choice((1, 1, 1, 2, 300)) + data[place:]
        case _:
            lines = data.splitlines(keepends=True)
            chance.shuffle(lines)
            return (
                b"".join(lines)
                if chance.random() < 0.3
                else b"".join(sorted(lines, key=lambda _: chance.random())[:-1])
            )


@contextmanager
def quiet() -> Iterator[None]:
    """What readers log about damaged records would be most of the output."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


class Outcome(NamedTuple):
    counts: Counter[str]
    failures: list[str]
    slowest: float
    grown: float  # MB


def case(kind: Kind, number: int, folder: Path) -> None:
    """Write the files of that case: one of them is mutated."""
    chance = random.Random(number)
    chosen = chance.choice(sorted(kind.files))
    for name, content in kind.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(mutated(content, chance, kind.words) if name == chosen else content)


def tried(kind: Kind, numbers: Iterable[int]) -> Outcome:
    counts, failures, slowest = Counter[str](), list[str](), 0.0
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base)
        case(kind, 0, folder)
        with quiet():
            before = _megabytes()
            for number in numbers:
                case(kind, number, folder)
                began = time.process_time()
                counts[_read(kind, folder, number, failures)] += 1
                took = time.process_time() - began
                slowest = max(slowest, took)
                if took > MOST_SECONDS:
                    failures.append(f"case {number} took {took:.1f} s of CPU time")
            grown = _megabytes() - before
    if grown > MOST_MEGABYTES:
        failures.append(f"the memory grew by {grown:.0f} MB")
    return Outcome(counts, failures, slowest, grown)


def _read(kind: Kind, folder: Path, number: int, failures: list[str]) -> str:
    try:
        kind.read(folder)
    except (BitrawlError, UnreadableError) as error:
        if not str(error).strip():
            failures.append(f"case {number}: an error that says nothing")
        return "refused"
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        shown = io.StringIO()
        traceback.print_exc(limit=-3, file=shown)
        failures.append(f"case {number}: {type(error).__name__}: {error}\n{shown.getvalue()}"[:1500])
        return "errors"
    return "read"


def _sort(failure: str) -> str:
    """The same for failures of one sort, of which the first is shown."""
    lines = [line for line in failure.splitlines() if line.startswith("  File")]
    return failure.partition(": ")[2].partition(":")[0] + (lines[-1] if lines else "")


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.fuzz", description="Read broken inputs.")
    known = kinds()
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(known))
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--only", type=int, help="write the files of this case into the current folder, and read them")
    asked = parser.parse_args()
    failed = 0
    sys.stdout.write(f"{'kind':<8}{'read':>8}{'refused':>9}{'errors':>8}{'slowest':>10}{'grown':>9}\n")
    for name in asked.kinds or known:
        if asked.only is not None:
            case(known[name], asked.only, Path())
        outcome = tried(known[name], range(asked.count) if asked.only is None else [asked.only])
        counts = [outcome.counts[what] for what in ("read", "refused", "errors")]
        sys.stdout.write("{:<8}{:>8}{:>9}{:>8}".format(name, *counts))
        sys.stdout.write(f"{outcome.slowest:>8.2f} s{outcome.grown:>6.0f} MB\n")
        seen = dict.fromkeys(one.partition(": ")[2][:60] for one in outcome.failures)
        for start in seen:
            sys.stdout.write(
                "  " + next(one for one in outcome.failures if one.partition(": ")[2][:60] == start) + "\n"
            )
        sys.stdout.flush()
        failed += len(outcome.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
