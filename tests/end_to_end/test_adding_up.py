"""A site with pages that are translated, translated in part, and copied: wherever a job is described, the figures are the same."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import msgspec
import pytest
from pyarrow import parquet
from small_site import articles
from starlette.testclient import TestClient
from topic_web import serve
from typer.testing import CliRunner

import bitrawl
from bitrawl.cli import app
from bitrawl.job.job_merge import merge
from bitrawl.mining import Flag
from bitrawl.web.api.operations import ROOT
from bitrawl.web.app import Serving, application, new_server

TRANSLATED, IN_PART, COPIED = 24, 5, 3
PAGES = 2 * (TRANSLATED + IN_PART)  # of the corpus
LICENSED = 7  # pairs of them, one of which is translated in part
BY = "https://creativecommons.org/licenses/by/4.0/"
UNTRANSLATED = (
    "In the evening of day {} the fishermen come home from the sea and sell what they have caught to those who wait.",
    "The market of quarter {} closes when the night begins, and nobody may stay in the hall after the doors are locked.",
    "Visitors of house {} are asked to leave their coats and bags at the entrance, where somebody will look after them.",
    "Nobody knows who built wall {} or why it was built, but most of the people who live there would like to keep it.",
    "You can write to office {} at any time, and you will have an answer within a week unless there is a holiday.",
    "Ship {} leaves the island every morning when the weather is good, and it comes back before the sun has set.",
    "What was found below church {} has been in the museum of the town since then, where everybody may look at it.",
)
QUESTION = """
SELECT (SELECT count(*) FROM units) AS units, sum(NOT partial) AS pairs, sum(partial) AS partial,
    (SELECT count(*) FROM (SELECT url_a FROM page_pairs UNION SELECT url_b FROM page_pairs)) AS pages
FROM page_pairs
"""
FORMATS = ("jsonl", "tmx", "tsv", "moses", "parquet", "xces", "documents", "documents-parquet")


class Figures(NamedTuple):
    """What a place says. None for what it does not say."""

    units: int | None = None
    pairs: int | None = None
    partial: int | None = None
    pages: int | None = None


class Described(NamedTuple):
    """A job that was mined, and all that was said about it."""

    folder: Path
    end: str
    status: str
    status_json: dict[str, Any]
    check: str
    sql: dict[str, int]
    app: dict[str, Any]
    app_page: str
    app_list: dict[str, Any]

    @property
    def corpus(self) -> Path:
        return self.folder / "corpus"

    @property
    def card(self) -> str:
        return (self.corpus / "README.md").read_text("utf-8")

    @property
    def report(self) -> str:
        return plain((self.folder / "report.html").read_text("utf-8"))

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads((self.corpus / "summary.json").read_text())["en-fr"]

    def rows(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.corpus / f"en-fr.{name}.jsonl").read_text("utf-8").splitlines()]


def html(language: str, number: int, paragraphs: list[str], *, to: str, licence: str) -> str:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f'<html lang="{language}"><head><title>{paragraphs[0][:40]}</title>'
        f'<link rel="alternate" hreflang="{"fr" if language == "en" else "en"}" href="{to}">'
        f"</head><body><main><h1>{number}</h1>{text}</main>"
        f"{f'<a rel=license href={licence}>Licence</a>' if licence else ''}</body></html>"
    )


def web() -> dict[str, str]:
    """Pages that are translated, then those translated in part, then those that only claim it."""
    host, pages = "http://harbour.test", {}
    made, _ = articles(TRANSLATED + IN_PART + COPIED, f"{host}/en/{{}}", f"{host}/fr/{{}}")
    for number, (english, french) in enumerate(zip(made[::2], made[1::2], strict=True)):
        texts = [[paragraph.text for paragraph in page.paragraphs] for page in (english, french)]
        if number >= TRANSLATED + IN_PART:
            texts[1] = texts[0]
        elif number >= TRANSLATED:
            lines = sum(map(len, texts[0])) // len(UNTRANSLATED[0])  # so that half of the page is the same on both
            same = [UNTRANSLATED[line % len(UNTRANSLATED)].format(number + line) for line in range(lines)]
            texts = [[*text, *same] for text in texts]
        licence = BY if number < LICENSED - 1 or number == TRANSLATED else ""
        urls = str(english.url), str(french.url)
        for language, url, to, text in zip(("en", "fr"), urls, reversed(urls), texts, strict=True):
            pages[url] = html(language, number, text, to=to, licence=licence)
    links = "".join(f'<a href="{url}">{url.rpartition("/")[2]}</a> ' for url in pages)
    return pages | {f"{host}/": f"<html><title>Harbour</title><body>{links}</body></html>"}


def plain(markup: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", markup))


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Described]:
    jobs = tmp_path_factory.mktemp("jobs")
    folder, run = jobs / "harbour", CliRunner().invoke
    with serve(web()) as served:
        asked = ["mine", "http://harbour.test/", "--langs", "en,fr", "--out", str(folder), *served.flags]
        mined = run(app, [*asked, "--formats", ",".join(FORMATS)])
    assert mined.exit_code == 0, mined.output
    with TestClient(application(new_server(Serving(jobs)), ["testserver"])) as client:
        yield Described(
            folder,
            mined.output,
            run(app, ["status", str(folder)]).output,
            json.loads(run(app, ["status", str(folder), "--format", "json"]).output),
            run(app, ["check", str(folder)]).output,
            json.loads(run(app, ["sql", str(folder), QUESTION, "--format", "jsonl"]).output),
            client.get(f"{ROOT}/jobs/harbour").json()["figures"],
            plain(client.get("/jobs/harbour").text),
            client.get(f"{ROOT}/jobs/harbour/pairs").json(),
        )


def told(pattern: str, text: str) -> Figures:
    """The one place of a text that the pattern fits, whose groups have the names of figures."""
    (match,) = re.finditer(pattern, text)
    return Figures(**{name: int(number.replace(",", "")) for name, number in match.groupdict().items()})


def of_pairs(pairs: list[dict[str, Any]]) -> Figures:
    """Of a list that has both kinds."""
    partial = sum(pair["partial"] for pair in pairs)
    return Figures(
        None, len(pairs) - partial, partial, len({pair[url] for pair in pairs for url in ("url_a", "url_b")})
    )


def of_documents(pairs: list[dict[str, Any]]) -> Figures:
    """Each unit stands somewhere."""
    units = set()
    for both in pairs:
        units.update(unit for link in both["links"] for unit in link["units"])
    assert units == set(range(1, len(units) + 1))
    return of_pairs(pairs)._replace(units=len(units))


def of_units(units: list[dict[str, Any]]) -> Figures:
    places = [place for unit in units for place in unit.get("sources") or [unit]]
    return Figures(len(units), pages=len({place[url] for place in places for url in ("url_a", "url_b")}))


def of_tmx(path: Path) -> Figures:
    units = ET.parse(path).findall(".//tu")
    return Figures(
        len(units),
        pages=len({prop.text for unit in units for prop in unit.findall(".//prop[@type='source-document']")}),
    )


def of_xces(folder: Path) -> Figures:
    names = [path.stem for path in folder.iterdir()]
    aligned = [name for name in names if "_" in name]
    partial = sum(name.endswith("-partial") for name in aligned)
    return Figures(None, len(aligned) - partial, partial, len(names) - len(aligned))


def lines(path: Path) -> Figures:
    return Figures(len(path.read_text("utf-8").splitlines()))


BOTH = r"(?P<pairs>\d+) page pairs and (?P<partial>\d+) partly translated pairs"
PLACES: dict[str, Callable[[Described], Figures]] = {
    "the head of the card": lambda d: told(
        rf"(?P<units>\d+) translation units in {BOTH} from (?P<pages>\d+) pages", d.card
    ),
    "the contents in the card": lambda d: told(rf"(?P<units>\d+) translation units in {BOTH}\.", d.card),
    "the sources in the card": lambda d: told(r"\| harbour\.test \| (?P<pages>\d+) \|", d.card),
    "summary.json": lambda d: Figures(*(d.summary[key] for key in ("units", "pairs", "partial"))),
    "the end of mine": lambda d: told(
        r"(?P<pairs>\d+) page pairs: .*; (?P<partial>\d+) partly translated pairs;", d.end
    ),
    "the end of mine, units": lambda d: told(r"en-fr: (?P<units>\d+) units written", d.end),
    "the lead of the report": lambda d: told(rf"It found {BOTH} with", d.report),
    "the tiles of the report": lambda d: told(
        r"(?P<pairs>\d+) page pairs \d+ segment pairs (?P<units>\d+) units", d.report
    ),
    "status": lambda d: told(rf"{BOTH}, \d+ segment pairs, (?P<units>\d+) units in the corpus", d.status),
    "status --format json": lambda d: Figures(
        *(d.status_json["corpora"]["en-fr"][key] for key in ("units", "pairs", "partial"))
    ),
    "check": lambda d: told(BOTH, d.check),
    "sql": lambda d: Figures(**d.sql),
    "Python": lambda d: of_pairs([msgspec.structs.asdict(pair) for pair in bitrawl.open(d.folder).pairs()]),
    "the API": lambda d: Figures(d.app["units"]["en-fr"], d.app["pairs"]["en-fr"], d.app["partial"]),
    "the list of the API": lambda d: Figures(None, d.app_list["total"] - d.app_list["partial"], d.app_list["partial"]),
    "the app": lambda d: told(
        r"(?P<pairs>\d+) page pairs (?P<partial>\d+) partly translated \d+ segment pairs (?P<units>\d+) in the corpus",
        d.app_page,
    ),
    "documents.jsonl": lambda d: of_pairs(d.rows("documents")),
    "sentences.jsonl": lambda d: of_units(d.rows("sentences")),
    "TMX": lambda d: of_tmx(d.corpus / "en-fr.tmx"),
    "TSV": lambda d: Figures(lines(d.corpus / "en-fr.tsv").units - 1),
    "Moses": lambda d: lines(d.corpus / "en-fr.ids"),
    "Parquet": lambda d: of_units(parquet.read_table(d.corpus / "en-fr.parquet").to_pylist()),
    "documents": lambda d: of_documents(d.rows("texts")),
    "documents in Parquet": lambda d: of_documents(parquet.read_table(d.corpus / "en-fr.texts.parquet").to_pylist()),
    "XCES": lambda d: of_xces(d.corpus / "xces/en-fr"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_place_gives_the_figures_of_all_others(described: Described, place: str):
    figures = Figures(described.summary["units"], TRANSLATED, IN_PART, PAGES)
    said = PLACES[place](described)
    assert any(said)
    assert said == Figures(*(mine and right for mine, right in zip(said, figures, strict=True)))


def test_licences_are_counted_of_the_same_pages(described: Described):
    card = described.card
    (stated,), (silent,) = (
        re.findall(rf"\| {BY} \| (\d+) \|", card),
        re.findall(r"Without a licence statement: (\d+) page", card),
    )
    assert (int(stated), int(silent)) == (2 * LICENSED, PAGES - 2 * LICENSED)


def test_what_partly_translated_pairs_bring_is_marked_and_counted(described: Described):
    partial = {(pair["url_a"], pair["url_b"]) for pair in described.rows("documents") if pair["partial"]}
    flagged = [unit for unit in described.rows("sentences") if Flag.PARTIAL in unit["flags"]]
    assert {(unit["url_a"], unit["url_b"]) for unit in flagged} == partial
    assert f"| {Flag.PARTIAL} | {len(flagged)} |" in described.card


def test_a_document_has_the_units_that_its_links_name_where_they_say(described: Described):
    units, pairs = described.rows("sentences"), described.rows("texts")
    for pair in pairs:
        for side in ("a", "b"):
            texts = {paragraph["id"]: paragraph["text"] for paragraph in pair[f"paragraphs_{side}"]}
            for link in pair["links"]:
                text = texts[link[f"paragraph_{side}"]]
                assert all(units[unit - 1][f"text_{side}"][:20] in text for unit in link["units"])


def test_a_merge_with_a_copy_counts_no_page_twice(described: Described, tmp_path: Path):
    shutil.copytree(described.folder, tmp_path / "copy")
    merge([described.folder, tmp_path / "copy"], tmp_path / "merged", {}, tell=lambda _: None)
    merged = described._replace(folder=tmp_path / "merged")
    figures = Figures(described.summary["units"], TRANSLATED, IN_PART, PAGES)
    assert PLACES["the head of the card"](merged) == figures
    assert PLACES["documents.jsonl"](merged) == figures._replace(units=None)
    test_licences_are_counted_of_the_same_pages(merged)
