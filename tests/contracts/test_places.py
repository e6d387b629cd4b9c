"""What every place keeps, whether it is a folder or a prefix of a bucket."""

import pickle

import pytest

from bitrawl.cluster.places import place


@pytest.fixture
def there(anywhere):
    return place(anywhere)


def test_what_was_written_is_read(there):
    file = there / "parts" / "00001" / "done.json"

    file.write(b"{}")

    assert file.read() == b"{}"
    assert (there / "parts/00001/done.json").read() == b"{}"


def test_a_file_is_replaced_as_a_whole(there):
    (there / "done.json").write(b"a long first version")
    (there / "done.json").write(b"second")

    assert (there / "done.json").read() == b"second"
    assert there.names() == ["done.json"]


def test_a_new_file_is_written_once(there):
    file = there / "bundles.jsonl"

    assert file.write_new(b"first")
    assert not file.write_new(b"second")

    assert file.read() == b"first"
    assert there.names() == ["bundles.jsonl"]


def test_what_is_not_there_reads_as_none_and_has_no_entries(there):
    (there / "file").write(b"1")

    assert (there / "nothing").read() is None
    assert (there / "file" / "below").read() is None
    assert there.read() is None
    assert (there / "nothing").names() == []
    assert (there / "file").names() == []


def test_a_folder_has_its_files_and_folders_in_order(there):
    for name in ("b.json", "parts/00002/done.json", "parts/00001/done.json", "parts/00001/corpus/x"):
        (there / name).write(b"1")

    assert there.names() == ["b.json", "parts"]
    assert (there / "parts").names() == ["00001", "00002"]
    assert (there / "parts" / "00001").names() == ["corpus", "done.json"]


def test_a_folder_comes_back_as_it_was_uploaded(there, tmp_path):
    (tmp_path / "here" / "corpus").mkdir(parents=True)
    (tmp_path / "here" / "corpus" / "en-fr.tsv").write_bytes(b"a\tb\n" * 5_000_000)  # larger than one part of an upload
    (tmp_path / "here" / "empty").write_bytes(b"")
    (tmp_path / "here" / "Πρώτο +%.txt").write_bytes(b"name")
    (tmp_path / "here" / "half.json.new").write_bytes(b"left by a killed process")

    (there / "part").upload(tmp_path / "here")
    (there / "part").download(tmp_path / "back")

    found = {path.relative_to(tmp_path / "back").as_posix(): path for path in (tmp_path / "back").rglob("*")}
    assert sorted(found) == ["corpus", "corpus/en-fr.tsv", "empty", "Πρώτο +%.txt"]
    assert found["corpus/en-fr.tsv"].read_bytes() == b"a\tb\n" * 5_000_000
    assert found["Πρώτο +%.txt"].read_bytes() == b"name"


def test_names_that_begin_alike_are_not_mixed(there, tmp_path):
    (there / "part").write(b"1")
    (there / "part1" / "a").write(b"2")
    (there / "part10" / "b").write(b"3")

    (there / "part1").download(tmp_path / "back")
    (there / "part1").delete()

    assert [path.name for path in (tmp_path / "back").iterdir()] == ["a"]
    assert there.names() == ["part", "part10"]


def test_a_folder_is_deleted_with_all_that_is_in_it(there):
    (there / "a" / "b" / "c").write(b"1")
    (there / "d").write(b"2")

    (there / "a").delete()
    (there / "a").delete()
    (there / "d").delete()

    assert there.names() == []


def test_nothing_to_download_is_no_error(there, tmp_path):
    (there / "nothing").download(tmp_path / "back")

    assert not (tmp_path / "back").exists()


def test_a_place_travels_to_another_process(there):
    (there / "a").write(b"1")

    assert pickle.loads(pickle.dumps(there / "a")).read() == b"1"
    assert str(there / "a") == f"{there}/a"
