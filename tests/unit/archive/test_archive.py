import hashlib
import json
import os
import resource
import subprocess
import sys
from base64 import b32encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator

from bitrawl.archive.writing import ArchivingFetcher, WarcArchive, archive_files
from bitrawl.errors import DiskFullError, StoreError
from bitrawl.model import Answer, Capture, Link, LinkKind, Skip, WarcPosition
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url

REQUEST = b"GET /page HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: bitrawl\r\n\r\n"


class StoppedClock:
    def now(self) -> float:
        return 0.0

    def date(self) -> float:
        return 1_800_000_000.25

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(seconds)


def capture(name: str = "page", body: bytes = b"<p>Bonjour", **changes) -> Capture:
    fields = {
        "url": Url.parse(f"https://www.example.org/{name}"),
        "status": 200,
        "headers": (("Content-Type", "text/html"),),
        "body": body,
        "at": 1_700_000_000.5,
        "request": REQUEST,
        "payload": body,
        "ip": "192.0.2.7",
        **changes,
    }
    return Capture(**fields)


def archive(folder: Path, **options) -> WarcArchive:
    return WarcArchive(folder, clock=StoppedClock(), **options)


def written(folder: Path, *captures: Capture) -> list[WarcPosition]:
    with archive(folder) as kept:
        return [kept.write(each) for each in captures]


def records(path: Path, **options) -> Iterator[tuple[dict[str, str], bytes]]:
    with path.open("rb") as file:
        for record in ArchiveIterator(file, parse_http=False, **options):
            yield dict(record.headers.items()), record.reader.read()


def block_at(folder: Path, place: WarcPosition) -> bytes:
    with (folder / place.file).open("rb") as file:
        file.seek(place.offset)
        return next(ArchiveIterator(file, parse_http=False)).reader.read()


def digest(data: bytes) -> str:
    return "sha1:" + b32encode(hashlib.sha1(data).digest()).decode()


def test_another_reader_finds_warcinfo_answer_and_request(tmp_path):
    with archive(tmp_path, info={"operator": "Zoë"}) as kept:
        place = kept.write(capture())

    (info, fields), (answer, response), (asked, request) = records(tmp_path / place.file, verify_digests=True)
    assert [each["WARC-Type"] for each in (info, answer, asked)] == ["warcinfo", "response", "request"]
    assert (info["WARC-Filename"], info["WARC-Date"]) == (place.file, "2027-01-15T08:00:00.250000Z")
    assert b"software: bitrawl/" in fields
    assert "operator: Zoë\r\n".encode() in fields
    assert response == b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10\r\n\r\n<p>Bonjour"
    assert request == REQUEST
    assert answer["WARC-Target-URI"] == asked["WARC-Target-URI"] == "https://www.example.org/page"
    assert answer["WARC-Date"] == asked["WARC-Date"] == "2023-11-14T22:13:20.500000Z"
    assert answer["WARC-IP-Address"] == "192.0.2.7"
    assert answer["WARC-Payload-Digest"] == digest(b"<p>Bonjour")
    assert answer["WARC-Block-Digest"] == digest(response)
    assert answer["WARC-Warcinfo-ID"] == info["WARC-Record-ID"]
    assert asked["WARC-Concurrent-To"] == answer["WARC-Record-ID"]


def test_an_answer_that_has_not_changed_refers_to_the_earlier_one_and_holds_nothing(tmp_path):
    first = capture()
    again = capture(status=304, headers=(("ETag", '"a"'),), body=b"", payload=b"", at=first.at + 86400, unchanged=True)
    earlier = Answer('"a"', "", digest(first.body), first.at)
    with archive(tmp_path) as kept:
        kept.write(first)
        place = kept.write(again, earlier)
    _, (answer, _), _, (revisit, block), (asked, _) = records(tmp_path / place.file)
    assert revisit["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert revisit["WARC-Refers-To-Target-URI"] == answer["WARC-Target-URI"]
    assert revisit["WARC-Refers-To-Date"] == answer["WARC-Date"]
    assert revisit["WARC-Payload-Digest"] == answer["WARC-Payload-Digest"]
    assert (revisit["Content-Length"], block) == ("0", b"")
    assert asked["WARC-Concurrent-To"] == revisit["WARC-Record-ID"]


HEADS = [
    # received, payload as sent, decoded body, kept
    ((("Content-Length", "3"),), b"abc", b"abc", b"Content-Length: 3\r\n"),
    (
        (("Transfer-Encoding", "chunked"),),
        b"abc",
        b"abc",
        b"X-Archive-Orig-Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
    ),
    ((("Content-Length", "9"),), b"abc", b"abc", b"X-Archive-Orig-Content-Length: 9\r\nContent-Length: 3\r\n"),
    (
        (("Content-Encoding", "gzip"), ("content-length", "4")),
        b"gzip",
        b"decoded",
        b"Content-Encoding: gzip\r\ncontent-length: 4\r\n",
    ),
    ((("Content-Encoding", "br"),), b"", b"abc", b"X-Archive-Orig-Content-Encoding: br\r\nContent-Length: 3\r\n"),
    ((("X", "é".encode().decode("latin-1")),), b"", b"", "X: é\r\nContent-Length: 0\r\n".encode()),
    ((("X", "a\r\nWARC/1.1"),), b"", b"", b"X: a WARC/1.1\r\nContent-Length: 0\r\n"),
    ((("X", "中"),), b"", b"", "X: 中\r\nContent-Length: 0\r\n".encode()),
]


@pytest.mark.parametrize(("headers", "payload", "body", "kept"), HEADS)
def test_the_head_is_as_received_and_true_for_the_payload(tmp_path, headers, payload, body, kept):
    (place,) = written(tmp_path, capture(headers=headers, payload=payload, body=body))
    assert block_at(tmp_path, place) == b"HTTP/1.1 200 OK\r\n" + kept + b"\r\n" + (payload or body)


def test_a_file_that_is_full_is_followed_by_the_next(tmp_path):
    body = os.urandom(3000)
    with archive(tmp_path, max_bytes=8000) as kept:
        places = [kept.write(capture(str(number), body)) for number in range(10)]
    files = archive_files(tmp_path)

    assert [path.name for path in files] == sorted({place.file for place in places})
    assert len(files) == 5  # two captures fill one
    assert all(path.stat().st_size < 8000 + 4000 for path in files)
    assert all(next(records(path))[0]["WARC-Type"] == "warcinfo" for path in files)
    assert all(block_at(tmp_path, place).endswith(body) for place in places)


def test_a_run_goes_on_in_the_file_of_the_last(tmp_path):
    places = [*written(tmp_path, capture("1")), *written(tmp_path, capture("2"))]
    assert len(archive_files(tmp_path)) == 1
    kinds = [headers["WARC-Type"] for headers, _ in records(tmp_path / places[0].file)]
    assert kinds == ["warcinfo", "response", "request"] * 2


def test_a_record_that_was_cut_anywhere_is_removed_and_nothing_else(tmp_path):
    whole, cut = written(tmp_path / "job", capture("whole"), capture("cut"))
    path = tmp_path / "job" / whole.file
    data = path.read_bytes()
    ends = [
        cut.offset,
        *(offset for offset in range(cut.offset + 1, len(data)) if data[offset:].startswith(b"\x1f\x8b\x08")),
    ]
    for size in range(cut.offset, len(data), 3):
        path.write_bytes(data[:size])
        with archive(tmp_path / "job"):
            assert path.stat().st_size == max(end for end in ends if end <= size)
    (after,) = written(tmp_path / "job", capture("after"))
    assert b"Bonjour" in block_at(tmp_path / "job", whole)
    assert b"Bonjour" in block_at(tmp_path / "job", after)


def test_a_file_cut_in_its_first_record_is_begun_again(tmp_path):
    (place,) = written(tmp_path, capture())
    os.truncate(tmp_path / place.file, 5)
    (again,) = written(tmp_path, capture())
    assert again.file == place.file
    assert [headers["WARC-Type"] for headers, _ in records(tmp_path / place.file)] == [
        "warcinfo",
        "response",
        "request",
    ]


def test_what_stands_before_a_known_record_is_not_read_again(tmp_path):
    first, second = written(tmp_path, capture("1"), capture("2"))
    path = tmp_path / first.file
    data = bytearray(path.read_bytes())
    data[first.offset : first.offset + 20] = bytes(20)  # Who reads this stumbles.
    path.write_bytes(data[:-1])
    with archive(tmp_path, known=[second, first, WarcPosition("gone.warc.gz", 7)]) as kept:
        assert kept.write(capture("3")).file == first.file


def test_a_place_beyond_the_end_is_not_believed(tmp_path):
    (place,) = written(tmp_path, capture("1"))
    with archive(tmp_path, known=[WarcPosition(place.file, 1 << 40)]) as kept:
        assert kept.write(capture("2")).file == place.file


def test_a_file_damaged_in_its_middle_is_left_alone_and_followed_by_another(tmp_path, caplog):
    first, _ = written(tmp_path, capture("1"), capture("2"))
    path = tmp_path / first.file
    data = bytearray(path.read_bytes())
    data[first.offset + 15 : first.offset + 60] = bytes(45)
    path.write_bytes(data)

    (place,) = written(tmp_path, capture("3"))
    assert place.file > first.file
    assert path.read_bytes() == data
    assert "is damaged" in caplog.text


def test_foreign_files_in_the_folder_are_no_concern(tmp_path):
    (tmp_path / "bitrawl-99999.warc.gz").write_bytes(b"not ours")
    (place,) = written(tmp_path, capture())
    assert place.file.startswith("bitrawl-00001-")


def test_a_full_disk_says_so_and_names_the_file(tmp_path):
    with archive(tmp_path) as kept:
        kept.write(capture("1"))
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, kept._file)
        os.close(full)
        with pytest.raises(DiskFullError, match=r"bitrawl-00001.*free some"):
            kept.write(capture("2"))
        assert kept.write(capture("3")).file.startswith("bitrawl-00002")  # after what could not be taken back


def test_half_a_record_is_taken_back_when_the_rest_does_not_fit(tmp_path):
    (before,) = written(tmp_path, capture("1"))
    path = tmp_path / before.file
    size = path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with archive(tmp_path) as kept:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5000, hard))  # a write that stops half-way, as on a full disk
        try:
            with pytest.raises(StoreError, match=r"bitrawl-00001.*no space left"):
                kept.write(capture("2", os.urandom(10_000)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        place = kept.write(capture("3"))
    assert b"Bonjour" in block_at(tmp_path, place)
    assert sum(1 for _ in records(path)) == 6


def test_a_folder_that_cannot_be_made_is_a_fault_with_its_path(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file/warc"):
        archive(tmp_path / "file" / "warc")


WRITER = """
import json, sys
from pathlib import Path
from bitrawl.model import Capture
from bitrawl.archive.writing import WarcArchive
from bitrawl.url import Url

class Clock:
    def date(self): return 1.8e9

archive = WarcArchive(Path(sys.argv[1]), clock=Clock())
body = bytes(range(256)) * 400
number = 0
while True:
    number += 1
    capture = Capture(Url.known(f"https://e.org/{number}"), 200, (), body, 1.0, payload=body, request=b"GET")
    place = archive.write(capture)
    print(json.dumps([place.file, place.offset]), flush=True)
"""


def test_whatever_was_reported_before_a_kill_is_there_after_it(tmp_path):
    reported = []
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            reported += [WarcPosition(*json.loads(process.stdout.readline())) for _ in range(40)]
            process.kill()
    written(tmp_path, capture())  # repairs
    assert all(block_at(tmp_path, place).endswith(bytes(range(256))) for place in reported)
    (path,) = archive_files(tmp_path)
    assert sum(headers["WARC-Type"] == "response" for headers, _ in records(path, verify_digests=True)) > 120


class FakeFetcher:
    def __init__(self, answer: Capture | Skip) -> None:
        self._answer = answer

    async def fetch(self, link: Link) -> Capture | Skip:
        return self._answer


LINK = Link(capture().url, LinkKind.PAGE)


@pytest.mark.parametrize("status", [200, 301])
async def test_what_is_fetched_is_archived_and_sheds_what_only_the_archive_needs(tmp_path, status):
    fetched = capture(status=status)
    with archive(tmp_path) as kept:
        answer = await ArchivingFetcher(FakeFetcher(fetched), kept).fetch(LINK)
    assert isinstance(answer, Capture)
    assert (answer.body, answer.payload, answer.request) == (fetched.body, b"", b"")
    assert answer.place is not None
    assert block_at(tmp_path, answer.place).startswith(f"HTTP/1.1 {status} ".encode())


async def test_what_was_not_fetched_is_not_archived(tmp_path):
    skip = Skip(LINK.url, Stage.FETCH, Reason.TIMEOUT)
    with archive(tmp_path) as kept:
        assert await ArchivingFetcher(FakeFetcher(skip), kept).fetch(LINK) is skip
    assert not archive_files(tmp_path)
