"""A site that publishes its translations as documents, and its news in feeds, by the real command."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from pdf_files import Words, paragraph, pdf
from small_site import articles
from topic_web import Served, serve
from unit.page.test_office import docx

from bitrawl.model import Page

Command = Callable[..., tuple[int, str, str]]
SITE = "http://www.papers.test"
REPORTS = 4


def as_pdf(page: Page) -> bytes:
    """Its paragraphs on two sheets, with a running head."""
    texts = [paragraph.text for paragraph in page.paragraphs]
    half = len(texts) // 2
    return pdf([sheet(texts[:half], 1), sheet(texts[half:], 2)])


def sheet(texts: list[str], number: int) -> list[Words]:
    words, y = [Words(f"{number}", x=290, y=25)], 760.0
    for text in texts:
        lines = in_lines(text, 90)
        words += paragraph(lines, y=y)
        y -= 12 * len(lines) + 14
    return words


def in_lines(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        lines = [*lines, word] if len(lines[-1]) + len(word) > width else [*lines[:-1], f"{lines[-1]} {word}".strip()]
    return lines


def as_docx(page: Page) -> bytes:
    return docx("".join(f"<w:p><w:r><w:t>{each.text}</w:t></w:r></w:p>" for each in page.paragraphs))


def as_html(page: Page, links: str = "") -> str:
    texts = "".join(f"<p>{each.text}</p>" for each in page.paragraphs)
    return f'<html lang="{page.language}"><body>{texts}{links}</body></html>'


def web() -> Mapping[str, str | bytes]:
    pages, _ = articles(REPORTS + 3, SITE + "/en/{}", SITE + "/fr/{}")
    answers: dict[str, str | bytes] = {}
    for language, own in (("en", pages[::2]), ("fr", pages[1::2])):
        other = "fr" if language == "en" else "en"
        reports, (letter, news, home) = own[:REPORTS], own[REPORTS:]
        answers |= {f"{SITE}/{language}/report-{n}.pdf": as_pdf(page) for n, page in enumerate(reports)}
        answers[f"{SITE}/{language}/letter.docx"] = as_docx(letter)
        answers[f"{SITE}/{language}/news/1"] = as_html(news)
        answers[f"{SITE}/{language}/feed"] = (
            f"<rss><channel><language>{language}</language><item><link>{SITE}/{language}/news/1</link></item></channel></rss>"
        )
        files = [*(f"report-{n}.pdf" for n in range(REPORTS)), "letter.docx"]
        links = "".join(f'<p><a href="/{language}/{name}">{name}</a></p>' for name in files)
        feed = f'<link rel="alternate" type="application/rss+xml" href="/{language}/feed">'
        switch = f'<a href="/{other}/" hreflang="{other}">{other}</a>'
        answers[f"{SITE}/{language}/"] = feed + as_html(home, links + switch)
    return answers


@pytest.fixture
def served() -> Iterator[Served]:
    with serve(web()) as server:
        yield server


def paired(folder: Path) -> set[tuple[str, str]]:
    rows = [json.loads(line) for line in (folder / "corpus/en-fr.documents.jsonl").read_text().splitlines()]
    return {(row["url_a"].removeprefix(SITE), row["url_b"].removeprefix(SITE)) for row in rows}


@pytest.mark.usefixtures("no_children")
def test_documents_and_what_feeds_list_are_paired_like_pages(bitrawl: Command, served: Served, tmp_path: Path):
    command = ("mine", f"{SITE}/en/", "--langs", "en,fr", "--exhaustive", *served.flags, "--out", tmp_path)
    assert bitrawl(*command, "--types", "html")[0] == 0
    assert paired(tmp_path) == {("/en/", "/fr/")}
    code, output, _ = bitrawl(*command, "--types", "html,pdf,office,feed")  # What was refused before is visited now.
    names = ["", *(f"report-{n}.pdf" for n in range(REPORTS)), "letter.docx", "news/1"]
    assert (code, paired(tmp_path)) == (0, {(f"/en/{name}", f"/fr/{name}") for name in names}), output
    status = json.loads(bitrawl("status", tmp_path, "--format", "json")[1])
    assert status["types"] == {"html": 4, "office": 2, "pdf": 8}


@pytest.mark.usefixtures("no_children")
def test_a_type_that_there_is_not_is_named(bitrawl: Command, tmp_path: Path):
    code, _, errors = bitrawl("mine", f"{SITE}/en/", "--langs", "en,fr", "--types", "html,doc", "--out", tmp_path)
    assert code == 2
    assert "'doc'" in errors
    assert "html, pdf, office, feed" in errors
