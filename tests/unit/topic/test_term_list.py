"""Term lists as people have them."""

from pathlib import Path

import pytest

from bitrawl.errors import ConfigError
from bitrawl.model import UNDETERMINED, Language
from bitrawl.topic.term_list import FULL_WEIGHT, Term, TermList, line, read_terms

EN, FR, DE = Language("en"), Language("fr"), Language("de")
REAL = Path(__file__).parents[4] / "shared" / "data" / "topics"
TBX_2019 = """<?xml version="1.0" encoding="UTF-8"?>
<tbx type="TBX-Basic" style="dca" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2"><text><body>
<conceptEntry id="c1"><langSec xml:lang="en"><termSec><term>acid rain</term></termSec></langSec>
<langSec xml:lang="fr"><termSec><term>pluie <hi>acide</hi></term></termSec></langSec>
<descrip type="subjectField">pollution; weather</descrip></conceptEntry>
</body></text></tbx>"""
TBX_2008 = """<?xml version="1.0"?><!DOCTYPE martif SYSTEM "http://www.example.org/TBXcoreStructV02.dtd">
<martif type="TBX"><text><body><termEntry><descripGrp><descrip type="subjectField">pollution</descrip></descripGrp>
<langSet xml:lang="en-GB"><ntig><termGrp><term>acid rain</term></termGrp></ntig></langSet></termEntry></body></text></martif>"""


def read(tmp_path: Path, text: str | bytes, *languages: Language, name: str = "topic.txt") -> tuple[Term, ...]:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_terms(path, languages or None).terms


@pytest.mark.parametrize(
    ("written", "term"),
    [
        ("50:acid rain=pollution;weather>en", Term("acid rain", 50.0, ("pollution", "weather"), EN)),
        ("50:acid rain>en", Term("acid rain", 50.0, (), EN)),
        ("-20:acid jazz=music", Term("acid jazz", -20.0, ("music",))),
        ("12,5 : acid  rain = pollution > eng", Term("acid rain", 12.5, ("pollution",), EN)),
        ("acid rain", Term("acid rain", FULL_WEIGHT)),
        ("7:E=mc2=physics", Term("E=mc2", 7.0, ("physics",))),
        ('70:"green" belt=', Term('"green" belt', 70.0)),
    ],
)
def test_a_line_of_ilsp_fc_is_a_term(tmp_path: Path, written: str, term: Term):
    assert read(tmp_path, written) == (term,)


@pytest.mark.parametrize("text", ["\ufeff# comment\r\n\r\n50:rain>en\r\n", "50:rain>en", "  50:rain>en\n\n#"])
def test_marks_comments_and_empty_lines_are_passed_over(tmp_path: Path, text: str):
    assert read(tmp_path, text) == (Term("rain", 50.0, (), EN),)


def test_a_list_in_utf_16_is_read(tmp_path: Path):
    assert read(tmp_path, "50:pluie=météo".encode("utf-16"))[0].classes == ("météo",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "Language,extra,term,weight,class\nen,x,acid rain,50,pollution;weather\n"),
        ("t.csv", "term;weight;lang;class\nacid rain;50;en;pollution\n"),
        ("t.tsv", "weight\tterm\tclass\tlanguage\n50\tacid rain\tpollution;weather\ten\n\n"),
    ],
)
def test_a_table_has_its_columns_in_any_order(tmp_path: Path, name: str, text: str):
    (term,) = read(tmp_path, text, name=name)
    assert (term.text, term.weight, term.language, term.classes[0]) == ("acid rain", 50.0, EN, "pollution")


@pytest.mark.parametrize("text", [TBX_2019, TBX_2008])
def test_a_term_base_is_read_whatever_its_year(tmp_path: Path, text: str):
    first = read(tmp_path, text, EN, name="base.tbx")[0]
    assert (first.text, first.weight, first.classes[0]) == ("acid rain", FULL_WEIGHT, "pollution")


def test_a_term_base_keeps_its_languages_apart(tmp_path: Path):
    assert [(term.text, term.language) for term in read(tmp_path, TBX_2019, EN, FR, name="a.xml")] == [
        ("acid rain", EN),
        ("pluie acide", FR),
    ]


def test_a_term_without_language_takes_the_only_one_of_the_job(tmp_path: Path):
    assert read(tmp_path, "5:rain", FR)[0].language == FR
    assert read(tmp_path, "5:rain")[0].language == UNDETERMINED


def test_a_term_without_language_belongs_to_all_languages_of_the_job(tmp_path: Path):
    terms = TermList(tuple(read(tmp_path, "100:climate change\n50:pluie acide>fr", EN, FR)))
    assert [term.text for term in terms.of(EN)] == ["climate change"]
    assert [term.text for term in terms.of(FR)] == ["climate change", "pluie acide"]


def test_terms_of_other_languages_are_left_out(tmp_path: Path):
    assert [term.text for term in read(tmp_path, "5:rain>en\n5:pluie>fr\n5:Regen>de", EN, FR)] == ["rain", "pluie"]


@pytest.mark.parametrize(
    ("name", "text", "languages", "says"),
    [
        ("t.txt", "50:rain\n5o:acid rain=x", (EN,), ["line 2", "weight:term=class>language"]),
        ("t.txt", "# none", (EN,), ["no terms", "weight:term"]),
        ("t.txt", "50:rain>xx", (EN,), ["line 1", "'xx' is not a known language"]),
        ("t.txt", "50:=pollution", (EN,), ["line 1", "no term"]),
        ("t.txt", "https://www.example.org/", (EN,), ["line 1", "--seeds-file"]),
        ("t.txt", "50:Regen>de", (EN, FR), ["de only", "en, fr", "topic translate"]),
        ("t.txt", b"50:m\xe9t\xe9o", (FR,), ["UTF-8"]),
        ("t.csv", "word_,weight\nrain,5", (EN,), ["line 1", "term, weight, class, language"]),
        ("t.csv", "term,weight\nrain,5\nsnow,much", (EN,), ["line 3", "'much'"]),
        ("t.csv", "term,weight\nrain,nan", (EN,), ["line 2", "'nan'"]),
        ("t.tbx", "<martif>\n<term>", (EN,), ["line 2", "export the TBX again"]),
        ("t.tbx", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', (EN,), ["entities"]),
        ("t.tbx", TBX_2008.replace("en-GB", "xx"), (EN,), ["line 3", "xx"]),
    ],
)
def test_a_mistake_names_file_line_and_fix(tmp_path: Path, name: str, text, languages, says: list[str]):
    with pytest.raises(ConfigError) as fault:
        read(tmp_path, text, *languages, name=name)
    assert all(part in str(fault.value) for part in [name, *says]), fault.value


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"none\.txt cannot be read"):
        read_terms(tmp_path / "none.txt", [EN])


def test_what_is_written_is_read_again(tmp_path: Path):
    terms = TermList(
        (Term("acid rain", 50.0, ("pollution", "weather"), EN), Term("a=b", -2.5, (), FR), Term("x", 100.0, ("y",)))
    )
    terms.write(tmp_path / "out.txt")
    assert read_terms(tmp_path / "out.txt") == terms


def test_what_a_class_cannot_have_in_the_format_becomes_a_space():
    assert line(Term("rain", 5.0, ("a=b;c>d",), EN)) == "5:rain=a b c d>en"


@pytest.mark.skipif(not REAL.exists(), reason="needs ../shared/data")
@pytest.mark.parametrize(
    "path",
    [path for path in sorted(REAL.glob("*/*")) if "seed" not in path.name and "europa" not in path.name],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_the_lists_of_ilsp_fc_load(path: Path):
    only = [Language(path.name.split("_")[1].lower())] if path.parent.name == "monolingual" else None
    terms = read_terms(path, only).terms
    lines = [one for one in path.read_text("utf-8-sig").splitlines() if one.strip() and not one.startswith("#")]
    assert len(terms) == len(lines) > 200
    assert all(term.text and (not only or term.language == only[0]) for term in terms)
