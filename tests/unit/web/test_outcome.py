"""How a job ended, why it found little and what to try: every kind of it, in every language of the interface."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from bitrawl import config
from bitrawl.config import Job
from bitrawl.corpus import SiteLack
from bitrawl.endings import (
    CrawlEnd,
    EndKind,
    EndSentence,
    Failing,
    Fault,
    FaultSentence,
    Limit,
    LimitUnit,
    SiteBudget,
    State,
)
from bitrawl.errors import CategoryError
from bitrawl.facts import Live, SiteFacts
from bitrawl.message import Code, Message, Value, Wording
from bitrawl.reasons import Action, FewPairs, FewRelevant, NoHomes, NoPattern, OneLanguage, Reason
from bitrawl.remedies import Remedy, Tip
from bitrawl.show import Diagnosis, Point, Symptom
from bitrawl.show.wording import REFUSALS
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.web.app import Serving, application, new_server
from bitrawl.web.job_list import Command, Intent, JobVerb, ServedJob, Wish, write_intent
from bitrawl.web.job_state import JobState
from bitrawl.web.messages import SOURCE, Words, catalogues, names_in
from bitrawl.web.operator_settings import LimitsSection
from bitrawl.web.pages.outcome import JobWords

OURS = catalogues()
TRANSLATIONS = [OURS[code] for code in sorted(set(OURS) - {SOURCE})]
SEED, OTHER = "https://www.example.org/", "https://www.example.net/"
LIMITS = [Limit(unit, most) for unit in LimitUnit for most in (1, 20)]
LEFT = (
    *(FewPairs(42, 170, 80, brought, 340, 50, 0.4) for brought in (0, 1, 2)),
    FewRelevant(1.5, 170, 80, 0.2, 340, 50, 0.4),
    *(OneLanguage(pages, language) for pages in (1, 8) for language in ("", "de")),
    NoHomes(),
    NoPattern(1, 5),
    NoPattern(60, 5),
    "enough, says a strategy from elsewhere",
)
PARKED = (Failing(Reason.DNS, 1, "a.org has no address"), Failing(Reason.TIMEOUT, 3), SiteBudget(LIMITS[0]))


def ends() -> Iterator[CrawlEnd]:
    """Every kind, with every number for which a language may have a form."""
    yield CrawlEnd(kind=EndKind.DONE)
    yield CrawlEnd(kind=EndKind.STOPPED, queued=1)
    yield from (CrawlEnd(kind=EndKind.BUDGET, budget=limit, queued=2) for limit in LIMITS)
    yield from (CrawlEnd(kind=EndKind.OFF_TOPIC, pages=pages) for pages in (1, 7))
    yield CrawlEnd(kind=EndKind.DONE, languages=("fr",))
    yield CrawlEnd(kind=EndKind.NO_PAGE, queued=3)
    for kind, why, others in itertools.product((EndKind.LEFT, EndKind.ONLY_LEFT), LEFT, (0, 1, 2)):
        yield CrawlEnd(kind=kind, name="a.org", why=why, others=others, queued=5)
    for kind, parked, others in itertools.product((EndKind.GAVE_UP, EndKind.NO_ANSWER), PARKED, (0, 1, 2)):
        yield CrawlEnd(kind=kind, name="a.org", why=parked, others=others)
    for reason, target in itertools.product(Reason, ("", OTHER)):
        for kind, status in ((EndKind.SEED_SILENT, 0), (EndKind.SEED_SKIPPED, 0), (EndKind.SEED_SKIPPED, 404)):
            yield CrawlEnd(kind=kind, seed=SEED, target=target, reason=reason, status=status, others=1)


def faults() -> Iterator[Fault]:
    yield from (Fault(FaultSentence(name)) for name in set(FaultSentence) - {"near", "empty", "empty-near"})
    for near, empty in itertools.product(((), ("Safety", "Health")), (False, True)):
        yield Fault.of(CategoryError("no such category", category="Saftey", near=near, empty=empty))


ENDS, FAULTS = list(ends()), list(faults())


def parts(message: Message) -> Iterator[Message]:
    """The message, and those within it."""
    yield message
    for value in message.values.values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Message):
                yield from parts(part)


def has(words: Words, message: Message) -> bool:
    """Whether the catalogue has it; `test_messages.py` looks at its forms."""
    return (message.text, 0) in words.translations._catalog if message.plural else is_in(words, message.text)


def is_in(words: Words, text: str) -> bool:
    return text in words.translations._catalog


@pytest.mark.parametrize("words", TRANSLATIONS, ids=lambda words: words.code)
def test_every_catalogue_has_every_ending_and_what_to_try_after_it(words: Words):
    told = [
        message for end in ENDS for message in (*end.messages(2), *(tip.message for tip in end.tips)) if message.text
    ]
    told += [message for fault in FAULTS for message in (fault.message, fault.tip.message)]
    assert not {str(part) for message in told for part in parts(message) if not has(words, part)}


@pytest.mark.parametrize("table", [EndSentence, FaultSentence, Symptom, SiteLack])
@pytest.mark.parametrize("words", TRANSLATIONS, ids=lambda words: words.code)
def test_every_catalogue_has_every_sentence_of_the_tables(words: Words, table: type[Wording]):
    assert not [row for row in table if not has(words, row.message())]


@pytest.mark.parametrize("words", TRANSLATIONS, ids=lambda words: words.code)
def test_every_catalogue_has_every_advice_and_every_reason_for_which_a_pair_is_refused(words: Words):
    texts = [
        *(remedy.text for remedy in Remedy),
        *(reason.text for reason in Reason if reason.text),
        *REFUSALS.values(),
    ]
    assert not [text for text in texts if not is_in(words, text)]


def test_the_kinds_of_this_test_say_every_sentence_about_an_end():
    told = {part.text for end in ENDS for message in end.messages(2) for part in parts(message)}
    assert told == {row.text for row in EndSentence}
    assert {fault.message.text for fault in FAULTS} == {row.text for row in FaultSentence}
    assert {end.kind for end in ENDS} == set(EndKind)


@pytest.mark.parametrize("reason", Reason)
def test_where_the_command_line_has_advice_the_app_has_some_without_commands(reason: Reason):
    assert bool(reason.advice) == bool(reason.text)
    assert not re.search(r"--\w|job\.toml|job file|\bbitrawl\b|command", reason.text)


@pytest.mark.parametrize("remedy", Remedy)
def test_advice_in_the_app_names_no_commands(remedy: Remedy):
    assert remedy.text
    assert not re.search(r"--\w|job\.toml|\bbitrawl\b|command", remedy.text)
    assert set(names_in(remedy.text)) <= set(names_in(remedy.advice)) or not remedy.advice


@pytest.mark.parametrize(
    ("end", "shown"),
    [
        (
            CrawlEnd(kind=EndKind.LEFT, name="a.org", why=LEFT[1], queued=1),
            {
                "en": "Found 1 page pair. The last 80 visits to a.org brought only 1 page pair, so the rest of the site was"
                " left out. 1 link was not visited.",
                "fr": "1 paire de pages trouvée. Les 80 dernières visites de a.org n’ont donné que 1 paire de pages ; le reste"
                " du site a donc été laissé de côté. 1 lien n’a pas été visité.",
                "es": "Se ha encontrado 1 par de páginas. Las últimas 80 visitas a a.org solo han dado 1 par de páginas, así"
                " que se ha omitido el resto del sitio. No se ha visitado 1 enlace.",
                "zh": "找到 1 个网页对。最近对 a.org 的 80 次访问只带来 1 个网页对，因此略过了网站的其余部分。有 1 个链接未访问。",
            },
        ),
        (
            CrawlEnd(kind=EndKind.BUDGET, budget=Limit(LimitUnit.PAGES, 2000), queued=3400),
            {
                "en": "Found 1 page pair. The limit of 2,000 pages was reached. 3,400 links were not visited.",
                "fr": "1 paire de pages trouvée. La limite de 2 000 pages est atteinte. 3 400 liens n’ont pas été visités.",
                "es": "Se ha encontrado 1 par de páginas. Se ha alcanzado el límite de 2.000 páginas. No se han visitado 3.400"
                " enlaces.",
                "zh": "找到 1 个网页对。已达到上限：2,000 个网页。有 3,400 个链接未访问。",
            },
        ),
    ],
)
def test_numbers_have_the_form_of_the_language(end: CrawlEnd, shown: dict[str, str]):
    said = {code: re.sub(r"\s", " ", words.tell_all(end.messages(1))) for code, words in OURS.items()}
    assert said == shown


def served(folder: Path = Path("x"), kind: JobVerb | None = JobVerb.MINE) -> ServedJob:
    intent = Intent(owner="you", created=1e9, command=Command(kind), wish=Wish.RUNNING, exit=0) if kind else None
    return ServedJob("x", JobFolder(folder), intent)


def said_of(end: CrawlEnd, kind: JobVerb | None = JobVerb.MINE, limits: LimitsSection | None = None):
    told = JobWords(OURS["en"], served(kind=kind), limits or LimitsSection())
    return told.standing(JobState(end.state, ended=end), Live())


def test_a_site_that_was_left_has_a_button_that_visits_the_rest():
    standing = said_of(CrawlEnd(kind=EndKind.LEFT, name="a.org", why=LEFT[0], queued=5))
    button, delete = standing.buttons
    assert (button.name, button.label, button.kind) == (Action.VISIT_REST, "Visit the rest of the site", "main")
    assert delete.name == "delete"
    assert [tip.text for tip in standing.tips] == ["The rest of the site can still be visited."]


@pytest.mark.parametrize(
    ("kind", "sites", "names"),
    [
        (EndKind.DONE, ("a.org",), ["refresh", "delete"]),
        (EndKind.DONE, (), ["delete"]),  # archives
        (EndKind.STOPPED, ("a.org",), ["resume", "delete"]),
    ],
)
def test_a_finished_job_that_has_a_web_to_ask_can_be_visited_again(
    kind: EndKind, sites: tuple[str, ...], names: list[str]
):
    job = served()
    job = job._replace(intent=replace(job.intent, sites=sites))
    state = JobState(State.ENDED, ended=CrawlEnd(kind=kind))
    standing = JobWords(OURS["en"], job, LimitsSection()).standing(state, Live())
    assert [button.name for button in standing.buttons] == names


@pytest.mark.parametrize(
    ("limit", "most", "value"),
    [
        (Limit(LimitUnit.PAGES, 200), 20_000, "400"),
        (Limit(LimitUnit.PAGES, 15_000), 20_000, "20000"),
        (Limit(LimitUnit.MINUTES, 1.5), 720, "3"),
        (Limit(LimitUnit.DOWNLOADS, 500), 1_000_000, "1000"),
    ],
)
def test_a_limit_that_was_reached_is_doubled_as_far_as_the_server_allows(limit: Limit, most: float, value: str):
    standing = said_of(CrawlEnd(kind=EndKind.BUDGET, budget=limit, queued=5))
    field = standing.buttons[0].field
    assert field is not None
    assert (field.name, field.value, float(field.most)) == (limit.unit, value, most)


def test_the_largest_limit_of_the_server_has_no_button():
    end = CrawlEnd(kind=EndKind.BUDGET, budget=Limit(LimitUnit.PAGES, 300), queued=5)
    standing = said_of(end, limits=LimitsSection(pages=300))
    assert [button.name for button in standing.buttons] == ["delete"]
    assert [tip.text for tip in standing.tips] == ["Only the operator of this server can raise this limit."]


def test_an_address_that_leads_elsewhere_opens_the_form_with_the_other_address():
    end = CrawlEnd(kind=EndKind.SEED_SKIPPED, seed=SEED, target=OTHER, reason=Reason.OFF_SITE)
    standing = said_of(end)
    assert standing.code is State.FAILED
    assert [button.name for button in standing.buttons] == [Action.REPEAT, Action.RESUME, "delete"]
    assert parse_qs(urlsplit(standing.buttons[0].href).query) == {"repeat": ["x"], "add": [OTHER]}


def test_a_job_of_the_command_line_has_no_button_that_would_change_it():
    for end in ENDS:
        assert {button.name for button in said_of(end, kind=None).buttons} <= {Action.REPEAT}


def test_languages_that_were_not_asked_for_go_into_the_form():
    tip = Tip(Remedy.ADD_LANGUAGES, {"command": "bitrawl mine", "languages": (Code("de"), Code("it"))})
    why = Diagnosis((Symptom.NO_PAIR.message(),), (Point((Symptom.UNCONNECTED.message(),), tip),))
    assert OURS["fr"].tell_all(why.headline) == "Aucune paire de traductions n’a été trouvée."
    [point] = JobWords(OURS["fr"], served(), LimitsSection()).explained(why, JobState(State.ENDED))
    assert point.tip is not None
    assert point.tip.button is not None
    assert parse_qs(urlsplit(point.tip.button.href).query)["further"] == ["de,it"]


def test_every_site_of_several_says_why_it_brought_no_more():
    sites = [
        SiteFacts("a.org", 9, 4, LEFT[1]),
        SiteFacts("b.org", 9, 4),
        SiteFacts("c.org", 9, 0),
        SiteFacts("d.org", 0, 0),
    ]
    first, *others = map(JobWords(OURS["es"], served(), LimitsSection()).remark, sites)
    assert others == ["", "ningún par de páginas", "ninguna página"]
    assert first.startswith("Las últimas 80 visitas a a.org solo han dado 1 par de páginas")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(application(new_server(Serving(tmp_path / "jobs")), ["testserver"])) as client:
        yield client


def ended(jobs: Path, name: str, end: CrawlEnd, pages: int = 0) -> Path:
    folder = JobFolder(jobs / name)
    folder.path.mkdir(parents=True)
    config.write(Job(langs=["en", "fr"], seeds=[SEED]), folder.description)
    ledger = Ledger(folder.ledger)
    ledger.remember("ended", end)
    rows = [(number, f"{SEED}{number}", "example.org", "en", "", "", 0, b"") for number in range(pages)]
    with ledger.transaction():
        ledger.database.query_many("INSERT INTO stored_pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    ledger.close()
    write_intent(folder.path, served().intent)
    return folder.path


SHOWN = [
    CrawlEnd(kind=EndKind.LEFT, name="a.org", why=LEFT[1], queued=5),
    CrawlEnd(kind=EndKind.BUDGET, budget=Limit(LimitUnit.PAGES, 200), queued=5),
    CrawlEnd(kind=EndKind.GAVE_UP, name="a.org", why=PARKED[0]),
    CrawlEnd(kind=EndKind.SEED_SKIPPED, seed=SEED, reason=Reason.HTTP_STATUS, status=404, why="Not Found"),
    CrawlEnd(kind=EndKind.SEED_SKIPPED, seed=SEED, target=OTHER, reason=Reason.OFF_SITE),
    CrawlEnd(kind=EndKind.STOPPED, queued=2),
]


@pytest.mark.parametrize("end", SHOWN, ids=lambda end: end.kind)
@pytest.mark.parametrize("code", ["fr", "es", "zh"])
def test_a_page_in_another_language_has_no_english_sentence_about_the_end(
    client: TestClient, tmp_path: Path, end: CrawlEnd, code: str
):
    ended(tmp_path / "jobs", "job", end, pages=3 * (end.state is State.ENDED))
    page = client.get("/jobs/job", headers={"accept-language": code}).text
    for message in (*end.messages(), *(tip.message for tip in end.tips)):
        assert str(message) not in page
        assert OURS[code].tell(message) in page
    assert 'role="status">' in page, "nothing is called English"
    assert "Not Found" not in page


@pytest.mark.parametrize(
    ("end", "pages", "state", "label"),
    [
        (SHOWN[3], 0, State.FAILED, "échec"),
        (CrawlEnd(kind=EndKind.NO_PAGE), 0, State.NOTHING_FOUND, "rien trouvé"),
        (CrawlEnd(kind=EndKind.STOPPED, queued=2), 0, State.NOTHING_FOUND, "rien trouvé"),
        (CrawlEnd(kind=EndKind.DONE), 0, State.NOTHING_FOUND, "rien trouvé"),
        (CrawlEnd(kind=EndKind.DONE), 3, State.ENDED, "terminé"),
    ],
)
def test_list_page_tab_and_api_agree_that_a_job_without_pages_is_not_done(
    client: TestClient, tmp_path: Path, end: CrawlEnd, pages: int, state: State, label: str
):
    ended(tmp_path / "jobs", "job", end, pages)
    french = {"accept-language": "fr"}
    mark = f'<span class="state {state}">{label}</span>'
    page = client.get("/jobs/job", headers=french).text
    assert mark in client.get("/", headers=french).text
    assert mark in page
    assert f"<title>{label} · job · bitrawl</title>" in page
    assert f'data-title="{label} · job"' in page
    (job,) = client.get("/api/v1/jobs", headers=french).json()
    assert job["state"] == state


def test_the_api_tells_an_end_as_a_value_and_in_the_language_that_is_asked_for(client: TestClient, tmp_path: Path):
    ended(tmp_path / "jobs", "job", SHOWN[0], 3)
    (job,) = client.get("/api/v1/jobs", headers={"accept-language": "es"}).json()
    assert (job["ended"]["kind"], job["ended"]["why"]["kind"], job["ended"]["why"]["last"]) == ("left", "few-pairs", 80)
    assert job["said"] == OURS["es"].tell_all(SHOWN[0].messages())
    assert job["tips"] == [
        {"kind": "visit-rest", "said": "El resto del sitio todavía se puede visitar.", "action": "exhaustive"}
    ]


def test_the_page_of_a_finished_job_and_the_api_say_when_it_will_be_visited_again(tmp_path: Path):
    job = ended(tmp_path / "jobs", "job", CrawlEnd(kind=EndKind.DONE), 3)
    write_intent(job, replace(served().intent, sites=("example.org",), gone=4e9))
    for every, says in (("7d", True), ("", False)):
        server = new_server(Serving(tmp_path / "jobs", every=every))
        client = TestClient(application(server, ["testserver"]))
        page = client.get("/jobs/job").text
        assert ("The sites will be visited again after 2096-10-09 07:06 UTC." in page) is says
        for told in (client.get("/api/v1/jobs/job").json(), *client.get("/api/v1/jobs").json()):
            assert told["next_visit"] == (4e9 + 7 * 86400 if says else None)
        assert 'action="/jobs/job/refresh"' in page


@pytest.mark.parametrize(("sites", "status"), [(("example.org",), 200), ((), 409)])
def test_the_api_visits_a_finished_job_again_if_it_has_a_web_to_ask(
    tmp_path: Path, sites: tuple[str, ...], status: int
):
    job = ended(tmp_path / "jobs", "job", CrawlEnd(kind=EndKind.DONE), 3)
    write_intent(job, replace(served().intent, sites=sites, gone=1e9))
    client = TestClient(application(new_server(Serving(tmp_path / "jobs")), ["testserver"]))  # starts no process
    answer = client.post("/api/v1/jobs/job/refresh", json={})
    assert answer.status_code == status
    state = client.get("/api/v1/jobs/job").json()["state"]
    assert state == (State.WAITING if status == 200 else State.ENDED)


def test_the_form_has_what_the_job_had_and_what_advice_adds(client: TestClient, tmp_path: Path):
    ended(tmp_path / "jobs", "job", SHOWN[4])
    page = client.get("/", params={"repeat": "job", "add": OTHER, "further": "de,it"}).text
    assert f"{SEED}\n{OTHER}</textarea>" in page
    assert re.search(r'name="further"[^>]* value="de, it"', page)


@pytest.mark.parametrize(
    ("value", "shown"), [(1200, "1.200"), (0.5, "0,5"), ((Code("en"), Code("fr")), "inglés y francés")]
)
def test_what_fills_a_sentence_is_written_as_the_language_writes_it(value: Value, shown: str):
    words = OURS["es"]
    assert words.written(value) == shown.replace("1.200", words.number(1200))
