"""Sites that begin in another language, or with a list of languages: what the command finds of the ones asked for."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from example_web import ARTICLES

from lab.loopback import Reply, answering

pytestmark = pytest.mark.usefixtures("no_children")
Bitrawl = Callable[..., tuple[int, str, str]]
LOCALES = {"en": "en-US", "fr": "fr-FR", "de": "de-DE", "it": "it-IT"}
HOST = "http://handbook.test"
SPLASHES = {
    "endonyms": "English|Français|Deutsch|Italiano|Español|Português",
    "japanese": "英語|フランス語|ドイツ語|イタリア語|スペイン語|ポルトガル語",
    "arabic": "الإنجليزية|الفرنسية|الألمانية|الإيطالية|الإسبانية|البرتغالية",
    "korean": "영어|프랑스어|독일어|이탈리아어|스페인어|포르투갈어",
}


def path_of(article: str, language: str) -> str:
    return f"/{LOCALES[language]}/{article}"


def html(language: str, title: str, body: str) -> str:
    return f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>{title}</title><h1>{title}</h1>{body}'


def article(name: str, language: str) -> str:
    title, *sentences = ARTICLES[name][language]
    switcher = "".join(f'<a href="{path_of(name, code)}" hreflang="{code}">{code}</a> ' for code in LOCALES)
    menu = "".join(f'<li><a href="{path_of(key, language)}">{ARTICLES[key][language][0]}</a>' for key in ARTICLES)
    return html(language, title, f"{''.join(f'<p>{text}</p>' for text in sentences)}<ul>{menu}</ul><p>{switcher}")


def english_home() -> str:
    """As a handbook has it: its other languages are declared in the switcher alone."""
    title, *sentences = ARTICLES[""]["en"]
    links = "".join(f'<a href="{tag}/" hreflang="{code}">{code}</a>' for code, tag in LOCALES.items())
    return html("en", title, "".join(f"<p>{text}</p>" for text in sentences) + links)


def splash(names: str) -> str:
    """A list of languages and nothing else; some of its links are broken."""
    targets = [*(path_of("", code) for code in LOCALES), "/es-ES/", "/pt-PT/"]
    items = (f'<li><a href="{path}">{name}</a>' for path, name in zip(targets, names.split("|"), strict=True))
    return f'<!doctype html><meta charset="utf-8"><title>Ostmark</title><ul>{"".join(items)}</ul>'


PAGES = {path_of(name, code): article(name, code) for name in ARTICLES for code in LOCALES}
PAGES |= {"/": english_home(), **{f"/{name}": splash(names) for name, names in SPLASHES.items()}}


@pytest.fixture
def port() -> Iterator[int]:
    def answer(address: str) -> Reply:
        page = PAGES.get(address.removeprefix(HOST))
        return Reply(404, "text/html", b"<p>Nothing here") if page is None else Reply(200, "text/html", page.encode())

    with answering(answer) as port:
        yield port


def mined(bitrawl: Bitrawl, folder: Path, port: int, seed: str, langs: str) -> tuple[list[str], dict[str, int]]:
    """The paths of the pages that were visited, in their order, and how many there are by language."""
    reach = ["--connect-to", f"*.test=127.0.0.1:{port}", "--allow-private", "--delay", "0", "--parallel", "1"]
    status, _, err = bitrawl("mine", HOST + seed, "--langs", langs, "--out", folder, "--quiet", *reach)
    assert status == 0, err
    pages = re.findall(rf"\b200 .* {HOST}(\S+)", bitrawl("log", folder)[1])
    return pages, json.loads(bitrawl("status", folder, "--format", "json")[1])["languages"]


def articles_in(*languages: str) -> set[str]:
    return {path_of(name, code) for name in ARTICLES for code in languages}


@pytest.mark.parametrize("seed", ["/", *(f"/{name}" for name in SPLASHES)])
def test_a_job_of_one_language_is_led_by_a_switcher(bitrawl: Bitrawl, tmp_path: Path, port: int, seed: str):
    pages, languages = mined(bitrawl, tmp_path / "job", port, seed, "de")
    assert articles_in("de") <= set(pages)
    assert languages["de"] == len(ARTICLES)
    others = [pages.index(path) for path in pages if path in articles_in("en", "fr", "it")]
    assert min(others, default=len(pages)) > max(pages.index(path) for path in articles_in("de"))


@pytest.mark.parametrize("seed", [f"/{name}" for name in SPLASHES])
def test_a_job_of_two_languages_is_led_by_a_list_of_languages(bitrawl: Bitrawl, tmp_path: Path, port: int, seed: str):
    pages, languages = mined(bitrawl, tmp_path / "job", port, seed, "de,fr")
    assert articles_in("de", "fr") <= set(pages)
    assert set(languages) <= {"de", "fr", "en", "it", "und"}, "a list of names was taken for a language"
    others = [pages.index(path) for path in pages if path in articles_in("en", "it")]
    assert min(others, default=len(pages)) > max(pages.index(path) for path in articles_in("de", "fr"))


def test_of_a_list_of_languages_without_the_one_asked_for_no_language_is_advised(
    bitrawl: Bitrawl, tmp_path: Path, port: int
):
    bitrawl(
        *(
            "mine",
            f"{HOST}/endonyms",
            "--langs",
            "cs",
            "--out",
            tmp_path,
            "--quiet",
            "--max-pages",
            "1",
            "--delay",
            "0",
        ),
        *("--connect-to", f"*.test=127.0.0.1:{port}", "--allow-private"),
    )
    said = bitrawl("status", tmp_path)[1]
    assert "und 1" in said
    assert "--langs cs," not in said
