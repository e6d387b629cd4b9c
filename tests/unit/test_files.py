"""What `bitrawl.files` promises beyond what the contract suite of the exporters holds."""

import errno
import gzip
from pathlib import Path

import pytest

from bitrawl import files
from bitrawl.errors import DiskFullError, StoreError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("content", ["Thé, 茶\n", b"\x00\xff"])
def test_a_file_is_written_whole_with_the_folder_that_it_needs(tmp_path, content):
    path = tmp_path / "deep" / "er" / "a.txt"
    files.write(path, "before")
    files.write(path, content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert names(path.parent) == ["a.txt"]


def test_a_file_keeps_its_content_until_the_block_has_ended_well(tmp_path):
    path = tmp_path / "a.txt"
    files.write(path, "before")

    def interrupted() -> None:
        with files.replacing(path) as file:
            file.write(b"half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "before"
    assert names(tmp_path) == ["a.txt"]


def test_compressed_files_of_the_same_content_are_the_same(tmp_path):
    for name in ("a.gz", "b.gz"):
        with files.replacing(tmp_path / name, compress=True) as file:
            file.write(b"content " * 1000)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"content " * 1000


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_no_space_is_a_fault_of_its_own_and_says_what_to_do(number):
    fault = files.write_fault(Path("a.txt"), OSError(number, "No space"))
    assert isinstance(fault, DiskFullError)
    assert str(fault) == "a.txt: no space left on the disk; free some and run the same command again"


def test_a_folder_that_cannot_be_written_is_named_with_the_reason(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"file/a\.txt cannot be written: File exists; check its permissions"):
        files.write(tmp_path / "file" / "a.txt", "")


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    for name in ("one", "two"):
        with files.replacing_folder(tmp_path / "folder") as draft:
            (draft / name).write_text(name)
    assert names(tmp_path / "folder") == ["two"]
    assert names(tmp_path) == ["folder"]
