"""A category from the SQL files that Wikimedia publishes, in both schemas."""

import gzip
import tracemalloc
from pathlib import Path

import pytest

from bitrawl.errors import ConfigError, WikiError
from bitrawl.job.bootstrapping import BootstrapFolder, BootstrapRequest, bootstrap
from bitrawl.model import Language
from bitrawl.topic import wiki_dump
from bitrawl.topic.wiki_articles import Article, Extent
from bitrawl.topic.wiki_dump import DumpWiki, address_of

DE = Language("de")
HEAD = """-- MySQL dump 10.19  Distrib 10.3.38-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: db1106    Database: enwiki
-- ------------------------------------------------------
DROP TABLE IF EXISTS `{table}`;
CREATE TABLE `{table}` (
{columns}
  PRIMARY KEY (`{first}`),
  KEY `name` (`{first}`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

/*!40000 ALTER TABLE `{table}` DISABLE KEYS */;
"""
TAIL = "/*!40000 ALTER TABLE `x` ENABLE KEYS */;\n-- Dump completed on 2026-11-01  1:02:03\n"

PAGES = [
    (1, 14, "Weather", 0), (2, 14, "Clouds_and_\\'rain\\'", 0), (3, 14, "Storms", 0), (4, 14, "Birds", 0),
    (10, 0, "Weather", 0), (11, 0, "Front_(weather)", 0), (12, 0, "Cirrus,_cloud_(high)", 0), (13, 0, "Rain;_and_snow", 0),
    (14, 0, "Hail", 1), (15, 0, "Mercury", 0), (16, 0, "Sparrow", 0), (17, 4, "Weather", 0), (18, 0, "Tornado", 0),
]  # fmt: skip
# Storms holds Weather again: a cycle. Cirrus is in two categories.
WITHIN = [
    (10, "Weather", "page"), (11, "Weather", "page"), (15, "Weather", "page"), (17, "Weather", "page"), (2, "Weather", "subcat"),
    (12, "Clouds_and_\\'rain\\'", "page"), (13, "Clouds_and_\\'rain\\'", "page"), (14, "Clouds_and_\\'rain\\'", "page"),
    (3, "Clouds_and_\\'rain\\'", "subcat"), (99, "Weather", "file"), (12, "Storms", "page"), (18, "Storms", "page"),
    (1, "Storms", "subcat"), (16, "Birds", "page"),
]  # fmt: skip
TRANSLATIONS = [
    (10, "de", "Wetter"), (10, "fr", "Météo"), (11, "de", "Front_(Meteorologie)"), (16, "de", "Sperling"),
    (12, "de", "Cirrus"), (18, "de", ""),
]  # fmt: skip
LINKS = [
    (10, "https://www.weather.test/a?b=1&c=\\'2\\'", "https://test.weather.www.", "/a?b=1&c=\\'2\\'"),
    (10, "mailto:joe@weather.test", "mailto:test.weather.@", "joe"),
    (12, "http://127.0.0.1:8080/x", "http://V4.127.0.0.1.:8080", "/x"),
    (16, "https://birds.test/", "https://test.birds.", "/"),
]
OLD, NEW = "old", "new"


def write(
    folder: Path, table: str, columns: list[str], values: list[str], *, packed: bool = True, each: int = 3
) -> None:
    """Several INSERTs, as mysqldump writes them."""
    described = "\n".join(f"  `{column}` varbinary(255) NOT NULL DEFAULT ''," for column in columns)
    content = HEAD.format(table=table, columns=described, first=columns[0])
    for start in range(0, len(values), each):
        content += f"INSERT INTO `{table}` VALUES {','.join(values[start : start + each])};\n"
    name = f"enwiki-20261101-{table}.sql"
    data = (content + TAIL).encode()
    folder.mkdir(exist_ok=True)
    if packed:
        (folder / f"{name}.gz").write_bytes(gzip.compress(data))
    else:
        (folder / name).write_bytes(data)


def dump(folder: Path, schema: str, *, packed: bool = True) -> Path:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(name for _, name, _ in WITHIN), 500)}
    page = ["page_id", "page_namespace", "page_title", *(["page_restrictions"] if schema == OLD else []), "page_is_redirect", "page_random", "page_touched"]  # fmt: skip
    empty = "''," if schema == OLD else ""
    rows = [
        f"({i},{ns},'{title}',{empty}{redirect},0.33167112649574004,'20261101000000')"
        for i, ns, title, redirect in PAGES
    ]
    write(folder, "page", page, rows, packed=packed)
    sortkey = r"'\0*B\\\')(,Q\n\Z'"  # binary, with all that can deceive a reader
    if schema == OLD:
        columns = ["cl_from", "cl_to", "cl_sortkey", "cl_timestamp", "cl_sortkey_prefix", "cl_collation", "cl_type"]
        rows = [
            f"({i},'{name}',{sortkey},'2026-01-01 00:00:00','','uca-default-u-kn','{kind}')" for i, name, kind in WITHIN
        ]
    else:
        columns = [
            "cl_from",
            "cl_sortkey",
            "cl_timestamp",
            "cl_sortkey_prefix",
            "cl_type",
            "cl_collation_id",
            "cl_target_id",
        ]
        rows = [f"({i},{sortkey},'2026-01-01 00:00:00','','{kind}',2,{numbers[name]})" for i, name, kind in WITHIN]
        targets = [f"({number},14,'{name}')" for name, number in numbers.items()] + ["(900,0,'Weather')"]
        write(folder, "linktarget", ["lt_id", "lt_namespace", "lt_title"], targets, packed=packed)
    write(folder, "categorylinks", columns, rows, packed=packed)
    rows = [f"({i},'{language}','{title}')" for i, language, title in TRANSLATIONS]
    write(folder, "langlinks", ["ll_from", "ll_lang", "ll_title"], rows, packed=packed)
    if schema == OLD:
        columns = ["el_id", "el_from", "el_to", "el_index", "el_index_60"]
        rows = [f"({n},{i},'{url}','{index}','')" for n, (i, url, index, _) in enumerate(LINKS)]
    else:
        columns = ["el_id", "el_from", "el_to_domain_index", "el_to_path"]
        rows = [f"({n},{i},'{index}','{path}')" for n, (i, _, index, path) in enumerate(LINKS)]
    write(folder, "externallinks", columns, rows, packed=packed)
    rows = ["(15,'disambiguation','',NULL)", "(10,'wikibase_item','Q11663',NULL)"]
    write(folder, "page_props", ["pp_page", "pp_propname", "pp_value", "pp_sortkey"], rows, packed=packed)
    return folder


@pytest.mark.parametrize("packing", ["gzip", "plain"])
@pytest.mark.parametrize("schema", [OLD, NEW])
async def test_both_schemas_give_the_same_category(tmp_path: Path, schema: str, packing: str):
    wiki = DumpWiki(dump(tmp_path / "d", schema, packed=packing == "gzip"))
    assert wiki.language == "en"
    gathered = await wiki.articles("Weather", Extent(5, 100, (DE,)))
    found = {article.title: article for article in gathered.articles}
    cirrus = "Cirrus, cloud (high)"
    assert set(found) == {"Weather", "Front (weather)", "Mercury", cirrus, "Rain; and snow", "Hail", "Tornado"}
    assert [found[title].depth for title in ("Weather", cirrus, "Tornado")] == [0, 1, 2]
    assert found["Tornado"].category == "Storms"
    assert found["Tornado"].branch == found[cirrus].branch == "Clouds and 'rain'"
    assert found["Weather"].translations == {DE: "Wetter"}
    assert found["Front (weather)"].translations == {DE: "Front (Meteorologie)"}
    assert found["Weather"].links[0] == "https://www.weather.test/a?b=1&c='2'"
    assert found["Weather"].links[1].startswith("mailto:")
    assert found[cirrus].links == ("http://127.0.0.1:8080/x",)
    assert found["Hail"].redirect
    assert [title for title, article in found.items() if article.disambiguation] == ["Mercury"]
    assert (gathered.categories, gathered.complete) == (3, True)


async def test_depth_and_number_of_articles_are_limits(tmp_path: Path):
    wiki = DumpWiki(dump(tmp_path / "d", OLD))
    assert len((await wiki.articles("Weather", Extent(0, 100))).articles) == 3
    cut = await wiki.articles("Weather", Extent(5, 2))
    assert (len(cut.articles), cut.complete) == (2, False)


async def test_a_category_is_found_in_another_spelling_or_its_neighbours_are_named(tmp_path: Path):
    wiki = DumpWiki(dump(tmp_path / "d", NEW))
    assert await wiki.category("clouds & rain") == "Clouds and 'rain'"
    assert await wiki.category("Category:storm") == "Storms"
    with pytest.raises(ConfigError, match=r'no category "Wether"\. Similar names: "Weather"'):
        await wiki.category("Wether")


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_rows_do_not_depend_on_where_the_file_is_cut(tmp_path: Path, size: int):
    folder = dump(tmp_path / "d", OLD, packed=False)
    path = folder / "enwiki-20261101-categorylinks.sql"
    whole = list(wiki_dump.rows(path, ("cl_from", "cl_to", "cl_type")))
    assert len(whole) == len(WITHIN)
    assert list(wiki_dump.rows(path, ("cl_from", "cl_to", "cl_type"), chunk=size)) == whole


def test_escapes_are_read_as_mysql_writes_them(tmp_path: Path):
    values = [r"(1,'a\'b')", "(2,'a''b')", r"(3,'a\\b\n\"c\0')", "(4,NULL)", "(5,_binary 'x)')", "(6,'')", "(-7,'),(')"]
    write(tmp_path / "d", "page", ["page_id", "page_title"], values, packed=False, each=99)
    found = list(wiki_dump.rows(tmp_path / "d" / "enwiki-20261101-page.sql", ("page_title", "page_id")))
    assert [wiki_dump.text(title) for title, _ in found] == ["a'b", "a'b", 'a\\b\n"c\0', "", "x)", "", "),("]
    assert [wiki_dump.number(number) for _, number in found] == [1, 2, 3, 4, 5, 6, -7]


def test_rows_on_lines_of_their_own_are_read_too(tmp_path: Path):
    path = tmp_path / "page.sql"
    path.write_text(
        HEAD.format(table="page", columns="  `a` int,\n  `b` int,", first="a")
        + "INSERT INTO `page` VALUES\n(1,2),\n(3,4);\n"
    )
    assert list(wiki_dump.rows(path, ("a", "b"))) == [(b"1", b"2"), (b"3", b"4")]


def test_an_empty_table_has_no_rows(tmp_path: Path):
    write(tmp_path / "d", "page", ["page_id", "page_title"], [])
    assert list(wiki_dump.rows(tmp_path / "d" / "enwiki-20261101-page.sql.gz", ("page_id", "page_title"))) == []


def test_a_table_of_any_size_takes_little_memory(tmp_path: Path):
    rows = [f"({number},0,'A_title_of_some_length_{number}',0)" for number in range(60_000)]
    columns = ["page_id", "page_namespace", "page_title", "page_is_redirect"]
    write(tmp_path / "d", "page", columns, rows, each=20_000)
    tracemalloc.start()
    count = sum(1 for _ in wiki_dump.rows(tmp_path / "d" / "enwiki-20261101-page.sql.gz", ("page_id", "page_title")))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 60_000
    assert peak < 8 * wiki_dump.CHUNK


@pytest.mark.parametrize("cut", ["gzip", "row"])
def test_a_download_that_broke_off_is_said(tmp_path: Path, cut: str):
    folder = dump(tmp_path / "d", OLD, packed=cut == "gzip")
    path = next(folder.glob("*page.sql*"))
    content = path.read_bytes()
    path.write_bytes(content[:-60] if cut == "gzip" else content[: content.rindex(b"Tornado")])
    with pytest.raises(WikiError, match="download the file again"):
        list(wiki_dump.rows(path, ("page_id", "page_title")))


def test_what_is_no_dump_is_said(tmp_path: Path):
    with pytest.raises(ConfigError, match="is not a folder"):
        DumpWiki(tmp_path / "none")
    with pytest.raises(ConfigError, match=r"has no page\.sql\.gz and no categorylinks\.sql\.gz; download them"):
        DumpWiki(tmp_path)
    folder = dump(tmp_path / "d", OLD)
    (folder / "dewiki-20261101-page.sql.gz").write_bytes(b"")
    with pytest.raises(ConfigError, match="a folder of its own"):
        DumpWiki(folder)


async def test_a_newer_dump_without_its_linktarget_is_said(tmp_path: Path):
    folder = dump(tmp_path / "d", NEW)
    (folder / "enwiki-20261101-linktarget.sql.gz").unlink()
    with pytest.raises(WikiError, match="linktarget"):
        await DumpWiki(folder).articles("Weather", Extent(1, 10))


def test_the_language_is_that_of_the_database(tmp_path: Path):
    folder = dump(tmp_path / "d", OLD, packed=False)
    for path in folder.iterdir():
        path.rename(path.with_name(path.name.replace("enwiki-20261101-", "")))
    assert DumpWiki(folder).language == "en"
    for path in folder.iterdir():
        path.rename(path.with_name(f"zh_yuewiki-latest-{path.name}"))
    assert DumpWiki(folder).language == "yue"


@pytest.mark.parametrize(
    ("index", "path", "address"),
    [
        ("https://org.example.www.", "/a", "https://www.example.org/a"),
        ("http://org.example.:8080", "/", "http://example.org:8080/"),
        ("http://V4.192.0.2.1.", "/", "http://192.0.2.1/"),
        ("http://V6.2001.db8.0.0.0.0.0.1.", "/", "http://[2001:db8:0:0:0:0:0:1]/"),
    ],
)
def test_addresses_of_the_newer_schema_are_turned_round(index: str, path: str, address: str):
    assert address_of(index, path) == address


def test_an_article_without_anything_is_one():
    assert Article(title="A").translations == {}


async def test_a_dump_becomes_a_topic_and_seeds_without_a_request(tmp_path: Path):
    question = BootstrapRequest(
        category="weather", langs=("de", "en"), dump=str(dump(tmp_path / "d", NEW)), check_sites=False
    )
    summary = await bootstrap(question, tmp_path / "out")
    topic = (tmp_path / "out" / "topic.txt").read_text("utf-8").splitlines()[1:]
    assert topic == [
        "100:Front=Weather>de", "100:Wetter=Weather>de", "50:Cirrus=Clouds and 'rain'>de",
        "100:front=Weather>en", "100:weather=Weather>en", "50:cirrus, cloud=Clouds and 'rain'>en",
        "50:rain and snow=Clouds and 'rain'>en", "33:tornado=Clouds and 'rain'>en",
    ]  # fmt: skip
    assert summary.excluded == {"disambiguation": 1, "redirect": 1}
    assert BootstrapFolder(tmp_path / "out").read().seeds == [
        "http://127.0.0.1:8080/x",
        "https://www.weather.test/a?b=1&c=%272%27",
    ]


async def test_a_dump_without_the_language_says_what_to_try(tmp_path: Path):
    question = BootstrapRequest(
        category="Weather", langs=("el",), dump=str(dump(tmp_path / "d", OLD)), check_sites=False
    )
    summary = await bootstrap(question, tmp_path / "out")
    assert summary.terms == {"el": 0}
    assert "langlinks.sql.gz" in summary.advice[0]
