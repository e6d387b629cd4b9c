"""The languages of the web app: its catalogues are whole, others can be added, and each page speaks one of them."""

import ast
import re
import runpy
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from starlette.testclient import TestClient

from bitrawl.discover import site_check
from bitrawl.discover.site_lists import SiteAnswer
from bitrawl.discover.suggestions import SuggestionMethod as Suggestion
from bitrawl.endings import Doing, HostRest, MiningStep, State
from bitrawl.errors import ConfigError
from bitrawl.facts import Live
from bitrawl.mining import Flag
from bitrawl.model import Method
from bitrawl.reasons import Reason
from bitrawl.show import bars
from bitrawl.show.plots import Bar
from bitrawl.store.folder import JobFolder
from bitrawl.topic.wiki_topic import Exclusion
from bitrawl.web import messages
from bitrawl.web.app import Serving, application, new_server
from bitrawl.web.job_list import ServedJob
from bitrawl.web.job_state import JobState
from bitrawl.web.messages import (
    SOURCE,
    Words,
    catalogues,
    message,
    message_of,
    names_in,
    preferred,
    quoted,
    typed_languages,
)
from bitrawl.web.operator_settings import LimitsSection
from bitrawl.web.pages.job_page import EXCLUSIONS
from bitrawl.web.pages.outcome import STEPS, JobWords, Standing
from bitrawl.web.pages.rendering import written

ROOT = Path(__file__).parents[3]
WEB = ROOT / "src/bitrawl/web"
TOOL = runpy.run_path(str(ROOT / "lab/tools/messages.py"))
OURS = catalogues()
TRANSLATIONS = sorted(set(OURS) - {SOURCE})
BASQUE = """
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"

msgid "Your corpora"
msgstr "Zure corpusak"
"""


@pytest.fixture(scope="module")
def template():
    return TOOL["gathered"]()


@pytest.fixture
def client(tmp_path: Path):
    return TestClient(application(new_server(Serving(tmp_path / "jobs")), ["testserver"]))


def test_the_interface_speaks_french_spanish_and_chinese():
    assert TRANSLATIONS == ["es", "fr", "zh"]


def test_the_list_of_messages_is_what_templates_and_code_say(template):
    assert (WEB / "catalogues/messages.pot").read_bytes() == TOOL["written"](template), (
        "run: python -m lab.tools.messages"
    )


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_a_catalogue_translates_every_message(code: str, template):
    path = WEB / "catalogues" / f"{code}.po"
    catalogue = TOOL["translated"](path, template)
    assert path.read_bytes() == TOOL["written"](catalogue), "run: python -m lab.tools.messages"
    assert not TOOL["missing"](catalogue)


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_a_translation_has_the_names_of_its_message(code: str):
    with (WEB / "catalogues" / f"{code}.po").open("rb") as file:
        for message in read_po(file, locale=code):
            sources, texts = ([one] if isinstance(one, str) else one for one in (message.id, message.string))
            for text in texts:
                assert set(names_in(text)) == set(names_in(sources[-1])), message.id


def test_every_message_in_the_code_is_found_by_the_tool(template):
    """Babel does not see a call inside the call of another keyword."""
    known = {message.id[0] if isinstance(message.id, tuple) else message.id for message in template}
    for path in WEB.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and _called(call) in TOOL["KEYWORDS"] and call.args:
                first = call.args[0]
                assert not isinstance(first, ast.Constant) or first.value in known, f"{path.name}: {first.value}"


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


TEXT = re.compile(
    r">([^<>{}=]*[A-Za-z]{3}[^<>{}=]*)<"
    r"|\b(?:title|placeholder|aria-label|alt)=\"[^\"{]*[A-Za-z]{3}[^\"{]*\""
)
SAME = {"bitrawl", "openapi.json"}
"""Names, which are the same in every language."""


@pytest.mark.parametrize("path", sorted((WEB / "templates").glob("*.html")), ids=lambda path: path.stem)
def test_a_template_has_no_text_of_its_own(path: Path):
    markup = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", "", path.read_text("utf-8"), flags=re.DOTALL)
    found = {(match.group(1) or match.group()).strip() for match in TEXT.finditer(markup)}
    assert not {text for text in found if text.strip(" .") not in SAME}


@pytest.mark.parametrize(
    ("table", "codes"),
    [
        (messages.METHODS, Method),
        (messages.REASONS, Reason),
        (messages.FLAGS, Flag),
        (messages.ANSWERS, SiteAnswer),
        (STEPS, MiningStep),
        (messages.SITE_EVIDENCE, {*Suggestion, site_check.TRANSLATIONS}),
        (EXCLUSIONS, Exclusion),
    ],
)
def test_every_code_that_pages_show_has_a_name(table, codes):
    assert set(table) == set(codes)
    assert len(set(table.values())) == len(table)


def test_a_language_is_added_by_a_file_in_a_folder(tmp_path: Path):
    (tmp_path / "eu.po").write_text(BASQUE, "utf-8")
    server = new_server(Serving(tmp_path / "jobs", messages=tmp_path))
    page = TestClient(application(server, ["testserver"])).get("/", headers={"accept-language": "eu"}).text
    assert '<html lang="eu" dir="ltr">' in page
    assert re.search(r'<option value="eu" lang="eu" selected>euskara<', page, re.IGNORECASE)
    assert "Zure corpusak" in page
    assert "Find sites" in page, "what is not translated is English"


def test_a_file_in_the_folder_wins_over_ours(tmp_path: Path):
    (tmp_path / "fr.po").write_text(BASQUE.replace("Zure corpusak", "Mes corpus"), "utf-8")
    assert catalogues(tmp_path)["fr"].say("Your corpora") == "Mes corpus"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("eu.po", "Zure corpusak\n"),
        ("eu.po", 'msgid "{n} places"\nmsgstr "{m} leku"\n'),
        ("eu.po", 'msgid "{n} places"\nmsgstr "{n leku"\n'),
        ("nowhere.po", BASQUE),
    ],
)
def test_a_broken_catalogue_is_named(tmp_path: Path, name: str, text: str):
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=re.escape(str(tmp_path / name))):
        catalogues(tmp_path)


@pytest.mark.parametrize(
    ("accepted", "code"),
    [
        ("fr", "fr"),
        ("fr-CA,en;q=0.5", "fr"),
        ("de,es;q=0.8,en;q=0.5", "es"),
        ("en;q=0.5,zh-TW;q=0.9", "zh"),
        ("ZH-hans-cn", "zh"),
        ("fr;q=0,es", "es"),
        ("de", "en"),
        ("", "en"),
        ("*", "en"),
        (";;q=x,,", "en"),
    ],
)
def test_a_browser_gets_the_language_that_it_asks_for(accepted: str, code: str):
    assert preferred(accepted, OURS) == code


def test_a_variety_is_preferred_where_it_is_known():
    assert preferred("pt-BR", ["en", "pt", "pt-BR"]) == "pt-BR"
    assert preferred("pt-PT", ["en", "pt-BR", "pt"]) == "pt"


def test_the_choice_of_a_reader_wins_over_the_browser(client: TestClient):
    answer = client.get("/language", params={"code": "es", "next": "/"}, headers={"accept-language": "fr"})
    assert '<html lang="es" dir="ltr">' in answer.text
    assert client.get("/language", params={"code": "xx"}).status_code == 200
    assert "Sus corpus" in client.get("/", headers={"accept-language": "fr"}).text


def test_a_page_says_its_direction(tmp_path: Path):
    (tmp_path / "ar.po").write_text(BASQUE, "utf-8")
    server = new_server(Serving(tmp_path / "jobs", messages=tmp_path))
    client = TestClient(application(server, ["testserver"]))
    assert '<html lang="ar" dir="rtl">' in client.get("/", headers={"accept-language": "ar"}).text


@pytest.mark.parametrize(
    "path", ["/", "/discover", "/topic", "/tools/align", "/tools/clean", "/tools/urls", "/nowhere"]
)
def test_a_page_in_another_language_shares_no_sentence_with_the_english_one(client: TestClient, path: str):
    english, french = (_sentences(client.get(path, headers={"accept-language": code}).text) for code in ("en", "fr"))
    assert len(english) > 2
    assert not english & french


def _sentences(page: str) -> set[str]:
    body = re.sub(r"<datalist.*?</datalist>|<footer.*?</footer>", "", page, flags=re.DOTALL)
    return {text.strip() for text in re.findall(r">([^<>]+)<", body) if len(text.split()) > 2}


def test_mistakes_are_translated_and_not_called_english(client: TestClient):
    spanish = {"accept-language": "es"}
    csrf = re.search(r'name="csrf" value="([^"]+)"', client.get("/", headers=spanish).text).group(1)
    form = {"csrf": csrf, "seeds": "https://a.test/", "language_a": "Frensh", "pages": "-1"}
    answer = client.post("/jobs", data=form, headers=spanish)
    assert answer.status_code == 422
    assert 'id="pages-problem">indique un número mayor que 0<' in answer.text
    assert re.search(
        r'id="languages-problem">Frensh no es un idioma conocido; ¿quería decir French \(fr\)\?<', answer.text
    )


def test_a_refusal_is_translated(client: TestClient):
    page = client.get("/jobs/0123456789abcdef", headers={"accept-language": "zh"}).text
    assert '<p class="lead">没有此任务，或它不属于您。</p>' in page


def test_a_language_is_typed_in_any_language_or_a_near_one_is_named():
    assert typed_languages("Anglais, español, 中文") == ["en", "es", "zh"]
    with pytest.raises(ConfigError) as caught:
        typed_languages("xq")
    assert str(caught.value) == "xq is not a known language; type its name, or its code"
    assert OURS["fr"].tell(message_of(caught.value)).startswith("xq n’est pas une langue connue")


def test_what_the_program_says_is_not_taken_for_a_message():
    told = quoted("left {site}: accepted")
    assert OURS["fr"].tell(told) == str(told) == "left {site}: accepted"
    assert told.is_quoted
    assert not message("accepted").is_quoted


@pytest.mark.parametrize(
    ("code", "number", "score", "size", "share"),
    [
        ("en", "1,234,567", "0.50", "1.2 MB", "< 1%"),
        ("fr", "1\u202f234\u202f567", "0,50", "1,2\u202fMo", "< 1\u202f%"),
        ("es", "1.234.567", "0,50", "1,2 MB", "< 1\xa0%"),
        ("zh", "1,234,567", "0.50", "1.2 MB", "< 1%"),
    ],
)
def test_numbers_are_written_as_the_language_writes_them(code: str, number: str, score: str, size: str, share: str):
    words = OURS[code]
    shown = (words.number(1234567), words.score(0.5), words.size(1_234_567), words.share(1, 1000))
    assert _plain(shown) == _plain((number, score, size, share))


def _plain(texts: tuple[str, ...]) -> list[str]:
    """Versions of CLDR differ in the kind of space."""
    return [re.sub(r"\s", " ", text) for text in texts]


@pytest.mark.parametrize(("part", "shown"), [(0, "0%"), (999, "99%"), (1000, "100%"), (120, "12%")])
def test_only_everything_is_100_per_cent(part: int, shown: str):
    assert Words("en").share(part, 1000) == shown


def test_numbers_of_charts_are_in_the_language_of_the_page():
    rows = [Bar(str(n), 12_345) for n in range(5)]
    drawn = _plain((bars(rows, total=100_000, most=3, written=written(OURS["fr"])),))[0]
    assert "12 345" in drawn
    assert "3 autres" in drawn
    assert "12 %" in drawn


@pytest.mark.parametrize(("n", "shown"), [(0, "0 paire de pages"), (1, "1 paire de pages"), (2, "2 paires de pages")])
def test_a_language_has_its_own_plural(n: int, shown: str):
    assert OURS["fr"].count("{n} page pair", "{n} page pairs", n) == shown


def standing(code: str, state: JobState, figures: Live | None = None) -> Standing:
    job = ServedJob("x", JobFolder(Path("x")), None)
    return JobWords(OURS[code], job, LimitsSection()).standing(state, figures or Live())


@pytest.mark.parametrize(
    ("doing", "shown"),
    [
        (Doing(MiningStep.ALIGNING, "www.a.org", "en-fr pairs", 3, 1200, 40.0), "alineando · www.a.org · 3 de 1.200"),
        (Doing(MiningStep.PAIRING, "www.a.org", "pages", total=7), "emparejando páginas · www.a.org"),
        (Doing(MiningStep.PAIRING, what="sites", total=2), "emparejando páginas"),
        (Doing(MiningStep.LEARNING, "a.org", "en-fr pairs", total=9), "aprendiendo vocabulario · a.org"),
        (Doing(MiningStep.WRITING), "escribiendo el corpus"),
    ],
)
def test_what_is_being_mined_is_told_in_the_language_of_the_page(doing: Doing, shown: str):
    assert standing("es", JobState(State.RUNNING, doing=doing)).detail == shown


@pytest.mark.parametrize(
    ("at", "doing", "shown"),
    [
        (950.5, None, "a.org rests for 50 seconds"),
        (999.5, None, "a.org rests for 1 second"),
        (1001.0, None, "visiting pages, 0 a minute"),  # it is over
        (950.5, Doing(MiningStep.ALIGNING, "b.org", "en-fr pairs", 3, 74), "aligning · b.org · 3 of 74"),
    ],
)
def test_a_host_that_is_waited_for_is_shown_as_resting(at: float, doing: Doing | None, shown: str):
    state = JobState(State.RUNNING, doing=doing, resting=HostRest("a.org", 1000.0))
    assert standing("en", state, Live(at=at)).detail == shown
