"""Lists of sites that `mine --sites` reads."""

from pathlib import Path

import pytest

from bitrawl.discover.site_lists import SiteAnswer, SiteVerdict, json_lines, read_sites, seed_list, table
from bitrawl.errors import ConfigError
from bitrawl.url import Url

COMPARED = SiteVerdict(
    "a.org", SiteAnswer.BILINGUAL, 0.9, url_a=Url.parse("http://a.org/en"), url_b=Url.parse("http://a.org/fr")
)
THIN = SiteVerdict("b.org", SiteAnswer.THIN, 0.2)
OTHERS = [SiteVerdict("c.org", SiteAnswer.NO), SiteVerdict("d.org", SiteAnswer.UNKNOWN)]
JUDGED = [COMPARED, THIN, *OTHERS]
SEEDS = ["http://a.org/en", "http://a.org/fr", "https://b.org"]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("name", ["sites.tsv", "sites.jsonl", "renamed"])
def test_rows_of_a_search_that_are_neither_bilingual_nor_thin_are_left_out(tmp_path: Path, name: str):
    content = json_lines(JUDGED) if name == "sites.jsonl" else table(JUDGED)
    assert read_sites(written(tmp_path, name, content)) == (SEEDS, 2, 2)


def test_parquet_is_read_by_its_column_site(tmp_path: Path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "sites.parquet"
    pq.write_table(pa.table({"site": ["a.org", "b.org", "c.org"], "verdict": ["bilingual", None, "no"]}), path)
    assert read_sites(path) == (["https://a.org", "https://b.org"], 2, 1)
    pq.write_table(pa.table({"host": ["a.org"]}), path)
    with pytest.raises(ConfigError, match="no column site; it has host"):
        read_sites(path)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(ConfigError, match="cannot be read as Parquet"):
        read_sites(path)


def test_the_list_that_a_search_writes_for_mining_begins_in_both_languages(tmp_path: Path):
    assert read_sites(written(tmp_path, "sites.txt", seed_list(JUDGED))) == (SEEDS[:2], 1, 0)


def test_a_line_may_be_a_host_or_an_address(tmp_path: Path):
    lines = "# ours\n\nwww.a.org\nhttp://b.org/fr/\r\nwww.a.org\n"
    assert read_sites(written(tmp_path, "sites.txt", lines)) == (["https://www.a.org", "http://b.org/fr/"], 2, 0)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("sites.txt", "# none\n", "lists no sites"),
        ("sites.txt", "a.org\nnot a site\n", "not a site"),
        ("sites.txt", b"\xff\xfe\x00", "is not a text file"),
        ("sites.tsv", "site\n", "lists no sites"),
        ("sites.tsv", "", "no column site; it has no columns"),
        ("sites.tsv", "host\tverdict\na.org\tbilingual\n", "no column site; it has host, verdict"),
        ("sites.tsv", "site\tverdict\na.org\tno\n", "only rows with another verdict \\(1\\)"),
        ("sites.tsv", "site\tverdict\na.org\tbilingual\n\tbilingual\n", "line 3 names no site"),
        ("sites.tsv", b"site\tverdict\n\xff\t\n", "is not a text file"),
        ("sites.jsonl", '{"site": "a.org"}\n{"site":\n', "line 2 is not a JSON object"),
        ("sites.jsonl", '{"site": "a.org"}\n\n{"site": 3}\n', "names no site"),
        ("sites.jsonl", '{"host": "a.org"}\n', "no column site"),
    ],
)
def test_a_list_that_is_none_says_what_is_wrong_and_where(tmp_path: Path, name: str, content: str | bytes, says: str):
    path = written(tmp_path, name, content)
    with pytest.raises(ConfigError, match=says) as error:
        read_sites(path)
    assert name in str(error.value)


def test_a_list_that_does_not_exist_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"none\.tsv: No such file"):
        read_sites(tmp_path / "none.tsv")
