import gzip
import json
import logging
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import pytest

from bitrawl.archive.archived_web import Archives, ReplayFetcher, home_pages
from bitrawl.archive.writing import WarcArchive
from bitrawl.errors import ArchiveError
from bitrawl.files import zstd
from bitrawl.folder_files import warc_files
from bitrawl.model import Capture, Link, LinkKind, Skip
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url

SHARED = Path(__file__).parents[3].parent / "shared"
SAMPLES = SHARED / "data" / "formats" / "warc"
needs_shared = pytest.mark.skipif(not SHARED.exists(), reason="the site packs and samples are not in the repository")

PAGE = b"<html><title>Bonjour</title><p>Le texte."
LONG = b"<p>" + random.Random(1).randbytes(2000).hex().encode()
HTML = "Content-Type: text/html\r\n"


def http(body: bytes = PAGE, head: str = HTML, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def record(
    url: str, block: bytes, kind: str = "response", date: str = "2024-05-01T00:00:00Z", extra: str = ""
) -> bytes:
    content = "text/html" if kind == "resource" else f"application/http; msgtype={kind}"
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n"
        f"Content-Type: {content}\r\n{extra}Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def by_record(*records: bytes) -> bytes:
    return b"".join(gzip.compress(each, mtime=0) for each in records)


def as_a_whole(*records: bytes) -> bytes:
    return gzip.compress(b"".join(records), mtime=0)


def plain(*records: bytes) -> bytes:
    return b"".join(records)


@pytest.fixture
def opened(tmp_path):
    """Makes archives of records; closes them."""
    made: list[Archives] = []

    def make(*records: bytes, pack: Callable[..., bytes] = by_record) -> Archives:
        path = tmp_path / f"{len(made)}.warc.gz"
        path.write_bytes(pack(*records))
        made.append(Archives([path]))
        return made[-1]

    yield make
    for archives in made:
        archives.close()


async def fetched(archives: Archives, url: str, kind: LinkKind = LinkKind.PAGE) -> Capture | Skip:
    return await ReplayFetcher(archives).fetch(Link(Url.parse(url), kind))


async def test_what_was_archived_comes_back_as_it_was_fetched(tmp_path, stopped_clock):
    headers = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("X-Name", "\xc3\xa9"))
    payload = gzip.compress(PAGE, mtime=0)
    sent = Capture(
        Url.parse("https://e.org/é?a=1"), 200, headers, PAGE, 1_700_000_000.5, payload=payload, request=b"GET"
    )
    with WarcArchive(tmp_path, clock=stopped_clock) as archive:
        place = archive.write(sent)
    with Archives([tmp_path / place.file]) as archives:
        answer = await fetched(archives, sent.url)
        assert list(archives.urls()) == [sent.url]
    assert isinstance(answer, Capture)
    assert (answer.url, answer.status, answer.body, answer.at) == (sent.url, 200, PAGE, sent.at)
    assert (answer.media_type, answer.payload) == ("text/html", b"")
    assert answer.headers == (*headers, ("Content-Length", str(len(payload))))
    assert answer.place is not None


@pytest.fixture
def stopped_clock():
    class Stopped:
        def now(self) -> float:
            return 0.0

        def date(self) -> float:
            return 1_800_000_000.0

        async def sleep(self, seconds: float) -> None:
            raise AssertionError(seconds)

    return Stopped()


STATUSES = [
    ("200 OK", HTML, None),
    ("301 Moved", "Location: /new\r\n", None),
    ("301 Moved", "", Reason.HTTP_STATUS),
    ("304 Not Modified", "", Reason.HTTP_STATUS),
    ("206 Partial Content", HTML, Reason.HTTP_STATUS),
    ("404 Not Found", HTML, Reason.HTTP_STATUS),
    ("429 Too Many Requests", "Retry-After: 9\r\n", Reason.HTTP_STATUS),
    ("503 Unavailable", HTML, Reason.HTTP_STATUS),
]


@pytest.mark.parametrize(("status", "head", "reason"), STATUSES)
async def test_a_status_means_what_it_means_on_the_web_but_never_try_again(opened, status, head, reason):
    answer = await fetched(opened(record("https://e.org/", http(head=head, status=status))), "https://e.org/")
    if reason is None:
        assert isinstance(answer, Capture)
        assert answer.status == int(status[:3])
    else:
        assert answer == Skip(Url.parse("https://e.org/"), Stage.FETCH, reason, status=int(status[:3]))


@pytest.mark.parametrize("url", ["https://e.org/other", "http://e.org/", "https://www.e.org/", "https://e.org/?a=1"])
async def test_what_is_not_archived_does_not_exist(opened, url):
    archives = opened(record("https://e.org/", http()))
    assert await fetched(archives, url) == Skip(Url.parse(url), Stage.FETCH, Reason.NOT_ARCHIVED)


GZIPPED = gzip.compress(PAGE, mtime=0)
BODIES = [
    (PAGE, ""),
    (GZIPPED, "Content-Encoding: gzip\r\n"),
    (zlib.compress(PAGE), "Content-Encoding: deflate\r\n"),
    (brotli.compress(PAGE), "Content-Encoding: br\r\n"),
    (PAGE, "Content-Encoding: utf-8\r\n"),
    (zstd.compress(PAGE), "Content-Encoding: zstd\r\n"),
    (PAGE, "Content-Encoding: gzip\r\n"),  # decoded by the crawler, which kept the header
    (PAGE, "Transfer-Encoding: chunked\r\n"),  # the same with the chunks
    (b"28\r\n" + PAGE + b"\r\n0\r\n\r\n", "Transfer-Encoding: chunked\r\n"),
    (
        b"00000a;x=y\r\n" + PAGE[:10] + b"\r\n1E\r\n" + PAGE[10:] + b"\r\n0\r\nTrailer: x\r\n\r\n",
        "transfer-encoding: CHUNKED\r\n",
    ),
    (b"a\n" + PAGE[:10] + b"\n1e\n" + PAGE[10:], "Transfer-Encoding: chunked\r\n"),  # no end
    (
        b"%x\r\n%s\r\n0\r\n\r\n" % (len(GZIPPED), GZIPPED),
        "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
    ),
]


@pytest.mark.parametrize(("body", "head"), BODIES)
async def test_a_body_is_decoded_however_it_was_stored(opened, body, head):
    answer = await fetched(opened(record("https://e.org/", http(body, HTML + head))), "https://e.org/")
    assert isinstance(answer, Capture)
    assert (answer.body, answer.media_type) == (PAGE, "text/html")


@pytest.mark.parametrize(
    ("body", "reason"),
    [(gzip.compress(bytes(50 << 20), mtime=0), Reason.BOMB), (GZIPPED[:-9], Reason.CONTENT_ENCODING)],
)
async def test_a_body_that_cannot_be_decoded_is_a_skip(opened, body, reason):
    archives = opened(record("https://e.org/", http(body, HTML + "Content-Encoding: gzip\r\n")))
    answer = await fetched(archives, "https://e.org/")
    assert isinstance(answer, Skip)
    assert answer.reason is reason


@pytest.mark.parametrize("pack", [plain, by_record, as_a_whole])
async def test_every_way_of_packing_is_read(opened, pack):
    pages = [record(f"https://e.org/{number}", http(b"<p>%d" % number)) for number in range(300)]
    archives = opened(*pages, pack=pack)
    assert len(archives) == 300
    assert list(archives.urls()) == [f"https://e.org/{number}" for number in range(300)]
    answer = await fetched(archives, "https://e.org/217")
    assert isinstance(answer, Capture)
    assert answer.body == b"<p>217"


OLD, NEW = "2020-01-01T00:00:00Z", "2024-01-01T00:00:00Z"


def dated(date: str, status: str, body: bytes = b"<p>") -> bytes:
    head = "Location: /x\r\n" if status.startswith("3") else HTML
    return record("https://e.org/", http(body, head, status), date=date)


@pytest.mark.parametrize(
    ("captures", "status", "body"),
    [
        ([dated(OLD, "200 OK", b"<p>old"), dated(NEW, "200 OK", b"<p>new")], 200, b"<p>new"),
        ([dated(NEW, "200 OK", b"<p>new"), dated(OLD, "200 OK", b"<p>old")], 200, b"<p>new"),
        ([dated(OLD, "200 OK", b"<p>1"), dated(OLD, "200 OK", b"<p>2")], 200, b"<p>2"),
        ([dated(OLD, "200 OK"), dated(NEW, "503 Unavailable")], 200, b"<p>"),
        ([dated(OLD, "200 OK"), dated(NEW, "304 Not Modified")], 200, b"<p>"),
        ([dated(OLD, "200 OK"), dated(NEW, "301 Moved")], 200, b"<p>"),
        ([dated(OLD, "301 Moved"), dated(NEW, "404 Not Found")], 301, b"<p>"),
        ([dated("no date", "200 OK"), dated(OLD, "404 Not Found")], 200, b"<p>"),
    ],
)
async def test_of_several_captures_the_latest_good_one_answers(opened, captures, status, body):
    archives = opened(*captures)
    answer = await fetched(archives, "https://e.org/")
    assert isinstance(answer, Capture)
    assert (answer.status, answer.body) == (status, body)
    assert len(archives) == 1


def revisit(url: str, of: str, date: str = NEW) -> bytes:
    extra = f"WARC-Refers-To-Target-URI: {of}\r\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n"
    return record(url, http(b""), "revisit", date, extra)


async def test_a_revisit_answers_with_what_it_repeats(opened):
    archives = opened(
        record("https://e.org/a", http()),
        revisit("https://e.org/a", "https://e.org/a"),
        revisit("https://e.org/b", "https://e.org/a"),
    )
    for url in ("https://e.org/a", "https://e.org/b"):
        answer = await fetched(archives, url)
        assert isinstance(answer, Capture)
        assert (answer.url, answer.body) == (url, PAGE)


async def test_revisits_of_each_other_end(opened):
    archives = opened(revisit("https://e.org/a", "https://e.org/b"), revisit("https://e.org/b", "https://e.org/a"))
    answer = await fetched(archives, "https://e.org/a")
    assert isinstance(answer, Skip)
    assert answer.reason is Reason.NOT_ARCHIVED


async def test_a_bare_resource_is_a_page(opened):
    archives = opened(record("https://e.org/", PAGE, "resource"))
    answer = await fetched(archives, "https://e.org/")
    assert isinstance(answer, Capture)
    assert (answer.status, answer.body, answer.header("content-type")) == (200, PAGE, "text/html")
    assert list(archives.urls()) == ["https://e.org/"]


@pytest.mark.parametrize(
    "written", ["<https://e.org/a>", "https://E.org:443/x/../a", "https://e.org/a#top", " https://e.org/a"]
)
async def test_a_target_is_known_by_its_canonical_url(opened, written):
    assert isinstance(await fetched(opened(record(written, http())), "https://e.org/a"), Capture)


def test_only_pages_are_listed(opened):
    archives = opened(
        record("https://e.org/a", http()),
        record("https://e.org/untyped", http(head="")),
        record("https://e.org/xhtml", http(head="Content-Type: application/xhtml+xml; charset=utf-8\r\n")),
        record(
            "https://e.org/lying",
            http(head="Content-Type: text/plain\r\n"),
            extra="WARC-Identified-Payload-Type: text/html\r\n",
        ),
        record("https://e.org/robots.txt", http(head="Content-Type: text/plain\r\n")),
        record("https://e.org/logo", http(head="Content-Type: image/png\r\n")),
        record("https://e.org/moved", http(head="Location: /a\r\n" + HTML, status="301 Moved")),
        record("https://e.org/gone", http(status="404 Not Found")),
        record("https://e.org/asked", b"GET / HTTP/1.1\r\n\r\n", "request"),
        record("dns:e.org", b"1.2.3.4", "resource"),
        record("file:///with space.html", PAGE, "resource"),
    )
    assert list(archives.urls()) == [f"https://e.org/{name}" for name in ("a", "untyped", "xhtml", "lying")]


@pytest.mark.parametrize("lost", [1, 9, 60])
async def test_a_file_that_is_cut_off_gives_what_is_whole(opened, lost):
    whole, cut = record("https://e.org/whole", http()), record("https://e.org/cut", http(LONG))
    for pack in (by_record, plain, as_a_whole):
        archives = opened(whole, cut, pack=lambda *records, pack=pack: pack(*records)[:-lost])
        assert isinstance(await fetched(archives, "https://e.org/whole"), Capture)
        answer = await fetched(archives, "https://e.org/cut")
        assert isinstance(answer, Skip) or answer.body == LONG


@pytest.mark.parametrize("pack", [by_record, plain])
async def test_a_damaged_record_costs_one_record_and_is_told_once(tmp_path, caplog, pack):
    records = [record(f"https://e.org/{number}", http(LONG)) for number in range(5)]
    start = len(pack(*records[:2]))
    data = bytearray(pack(*records))
    data[start : start + 60] = bytes(60)
    path = tmp_path / "damaged"
    path.write_bytes(data)
    with caplog.at_level(logging.WARNING), Archives([path]) as archives:
        assert list(archives.urls()) == [f"https://e.org/{number}" for number in (0, 1, 3, 4)]
        assert isinstance(await fetched(archives, "https://e.org/4"), Capture)
    assert caplog.text.count("is damaged, first after byte") == 1


ARC = b"filedesc://x.arc 127.0.0.1 20140216050221 text/plain 75\n1 0 LiveWeb Capture\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a WARC file"),
        (b"<html>", "not a WARC file"),
        (gzip.compress(b"<html>", mtime=0), "not a WARC file"),
        (b"\x1f\x8b", "not a WARC file"),
        (ARC, "is an ARC file.*warcio recompress"),
        (gzip.compress(ARC, mtime=0), "is an ARC file.*warcio recompress"),
    ],
)
def test_what_is_no_warc_file_is_refused_with_its_name(tmp_path, data, message):
    path = tmp_path / "given"
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match=f"given.*{message}"):
        Archives([path])


def test_a_file_that_is_not_there_is_refused_with_its_name(tmp_path):
    with pytest.raises(ArchiveError, match="absent"):
        Archives([tmp_path / "absent.warc"])


SAMPLE_PAGES = [
    ("example.warc.gz", {"http://example.com/": 1270}),
    ("example-bad-non-chunked.warc.gz", {"http://example.com/": 1270}),
    ("example-iana.org-chunked.warc", {"http://www.iana.org/": 7223}),
    ("example-space-in-target-uri.warc.gz", {}),
    ("example-trunc.warc", {"http://example.com/": Reason.CONTENT_ENCODING}),  # the gzip body lost its last two bytes
    ("whirlwind.warc.gz", {"https://an.wikipedia.org/wiki/Escopete": 72848}),
]


@needs_shared
@pytest.mark.parametrize(("name", "pages"), SAMPLE_PAGES)
async def test_the_samples_of_other_tools_are_read(name, pages):
    with Archives([SAMPLES / name]) as archives:
        answers = {url: await fetched(archives, url) for url in archives.urls()}
    found = {url: len(answer.body) if isinstance(answer, Capture) else answer.reason for url, answer in answers.items()}
    assert found == pages


@needs_shared
@pytest.mark.parametrize("name", ["apisix", "wet-styleguide"])
async def test_a_site_pack_is_a_web(name):
    folder = SHARED / "sites" / name
    site = json.loads((folder / "site.json").read_text())
    with Archives([folder / "site.warc.gz"]) as archives:
        pages = [await fetched(archives, url) for url in archives.urls()]
        seeds = [await fetched(archives, seed) for seed in site["seeds"]]
        absent = await fetched(archives, f"{Url.parse(site['seeds'][0]).origin}/no-such-page")
    assert len(pages) == site["pages"]
    assert all(isinstance(page, Capture) and page.media_type == "text/html" for page in pages)
    assert all(isinstance(seed, Capture) for seed in seeds)
    assert isinstance(absent, Skip)
    assert absent.reason is Reason.NOT_ARCHIVED


@pytest.mark.parametrize(("asked", "there"), [("http", "https"), ("https", "http")])
async def test_a_seed_is_found_under_the_other_scheme_and_other_links_are_not(opened, asked: str, there: str):
    archives = opened(record(f"{there}://a.test/x", http()))
    url, archived = Url.parse(f"{asked}://a.test/x"), Url.parse(f"{there}://a.test/x")
    assert archives.archived_as(url) == archives.archived_as(archived) == archived
    assert archives.archived_as(Url.parse(f"{asked}://a.test/y")) is None
    fetcher = ReplayFetcher(archives)
    moved = await fetcher.fetch(Link(url, LinkKind.SEED))
    assert isinstance(moved, Capture)
    assert (moved.status, moved.header("Location")) == (301, archived)
    followed = await fetcher.fetch(Link(archived, LinkKind.REDIRECT))
    assert isinstance(followed, Capture)
    assert followed.body == PAGE
    other = await fetcher.fetch(Link(url, LinkKind.PAGE))
    assert isinstance(other, Skip)
    assert other.reason is Reason.NOT_ARCHIVED


def test_a_seed_that_is_archived_as_it_stands_stays(opened):
    archives = opened(record("http://a.test/", http()), record("https://a.test/", http()))
    for scheme in ("http", "https"):
        assert archives.archived_as(Url.parse(f"{scheme}://a.test/")) == f"{scheme}://a.test/"


def test_a_folder_stands_for_the_archives_in_it(tmp_path: Path):
    for name in ("b.warc.gz", "a.warc", "c.WARC.GZ", "notes.txt", "d.warc.gz.new"):
        (tmp_path / name).touch()
    single = tmp_path / "notes.txt"
    assert [path.name for path in warc_files([single, tmp_path, tmp_path])] == [
        "notes.txt",
        "a.warc",
        "b.warc.gz",
        "c.WARC.GZ",
    ]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArchiveError, match="empty contains no WARC files"):
        warc_files([tmp_path / "empty"])


@pytest.mark.parametrize(
    ("archived", "homes"),
    [
        (["http://a.test/", "http://a.test/en/"], ["http://a.test/"]),
        (
            ["http://a.test/en/x", "http://a.test/en/index.html", "http://a.test/fr/index.html"],
            ["http://a.test/en/index.html", "http://a.test/fr/index.html"],
        ),
        (["http://a.test/en/xyz", "http://a.test/en/x"], ["http://a.test/en/x"]),
        (["http://a.test/", "http://b.test/"], ["http://a.test/", "http://b.test/"]),
    ],
)
def test_the_home_pages_of_an_archive_are_its_roots_or_what_comes_next(opened, archived: list[str], homes: list[str]):
    assert home_pages(opened(*(record(url, http()) for url in archived))) == homes
