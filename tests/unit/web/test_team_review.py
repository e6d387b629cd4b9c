"""Several people review one job: who may, where they differ, and samples that each judges on their own."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from kept_findings import Aligned, keep_findings
from starlette.testclient import TestClient

from bitrawl.errors import BitrawlError
from bitrawl.job.drawing import give_sample
from bitrawl.model import Language, PagePair, Segment, SegmentPair, Verdict, pair_key, segment_key
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.samples import Sample, SampleRequest, Samples
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import Subject, SubjectKind, VerdictHistory
from bitrawl.url import Url
from bitrawl.web.app import Serving, application, new_server
from bitrawl.web.commands import CommandError, CommandRunner
from bitrawl.web.job_list import REVIEWERS, Command, Intent, JobVerb, Wish, write_intent
from bitrawl.web.messages import quoted
from bitrawl.web.operator_settings import hashed

JOB = "0" * 32
PEOPLE = ("anna", "ben", "carla", "dora")  # anna owns the job, dora is an admin
UNITS = 12


def urls(number: int) -> tuple[Url, Url]:
    return Url.parse(f"http://s.test/en/{number}"), Url.parse(f"http://s.test/fr/{number}")


KEYS = [pair_key(*urls(number)) for number in (1, 2)]


def mined(folder: JobFolder) -> None:
    folder.path.mkdir(parents=True)
    folder.description.write_text('langs = ["en", "fr"]\nseeds = ["http://s.test/"]\n')
    with Ledger(folder.ledger) as ledger:
        aligned = [
            Aligned(
                PagePair(*urls(page), Language("en"), Language("fr"), page / 10 + 0.5, {"u": 0.5}),
                tuple(
                    SegmentPair(*urls(page), Segment(f"Text {page} {n}."), Segment(f"Texte {page} {n}."), 0.4 + n / 10)
                    for n in range(UNITS // 2)
                ),
            )
            for page in (1, 2)
        ]
        keep_findings(Findings(ledger), "s.test", 4, aligned)
    reading_index.refresh(folder.path)
    mine = Intent(owner="anna", created=1.0, command=Command(JobVerb.MINE), wish=Wish.RUNNING, name="Ours", exit=0)
    write_intent(folder.path, mine)


async def drawn(_runner: CommandRunner, arguments: list[str], given: bytes = b"", **_limits: object) -> str:
    """In place of a process."""
    try:
        request = msgspec.json.decode(given, type=SampleRequest)
        return f"{give_sample(JobFolder(Path(arguments[-1])), request, 5.0)}\n"
    except BitrawlError as error:
        raise CommandError(quoted(str(error))) from error


class People:
    """Each with their own browser."""

    def __init__(self, client: TestClient, folder: JobFolder) -> None:
        self.client = client
        self.folder = folder
        self.samples = Samples(folder.verdicts)
        self.history = VerdictHistory(folder.verdicts)

    def get(self, who: str, path: str = "", status: int = 200) -> str:
        answer = self.client.get(f"/jobs/{JOB}{path}", headers=_token(who))
        assert answer.status_code == status, answer.text
        return answer.text

    def post(self, who: str, path: str, status: int = 200, **fields: str | list[str]) -> str:
        answer = self.client.post(f"/jobs/{JOB}{path}", data=fields, headers=_token(who))
        assert answer.status_code == status, answer.text
        return answer.text

    def api(self, who: str, path: str, body: object = None, status: int = 200) -> Any:
        there, headers = f"/api/v1/jobs/{JOB}{path}", _token(who)
        answer = (
            self.client.get(there, headers=headers)
            if body is None
            else self.client.post(there, json=body, headers=headers)
        )
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def sample(self, *people: str, size: int = UNITS, **more: str) -> Sample:
        """Anna gives one to these people."""
        self.post("anna", "/samples", languages="en-fr", size=str(size), people=list(people), **more)
        return self.samples.listed()[0]

    def judge_all(self, who: str, sample: Sample, *rejected: int) -> None:
        verdicts = {
            unit: Verdict.REJECT if unit.place in rejected else Verdict.ACCEPT for unit in self.samples.units(sample)
        }
        assert self.samples.judge(sample, verdicts, who, 10.0)
        self.post(who, f"/samples/{sample.id}/finish")

    def verdict(self, who: str, key: str, verdict: str, **more: str) -> str:
        return self.post(who, "/verdicts", kind="pair", key=key, within=key, verdict=verdict, **more)


def _token(who: str) -> dict[str, str]:
    return {"Authorization": f"Bearer token of {who}"}


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[People]:
    folder = JobFolder(tmp_path / "jobs" / JOB)
    mined(folder)
    settings = tmp_path / "serve.toml"
    users = [
        f'[users.{name}]\ntoken_sha256 = "{hashed(f"token of {name}")}"\nadmin = {str(name == "dora").lower()}\n'
        for name in PEOPLE
    ]
    settings.write_text("".join(users) + "[limits]\nrequests = 100000\n")
    monkeypatch.setattr(CommandRunner, "run", drawn)
    with TestClient(application(new_server(Serving(tmp_path / "jobs", settings=settings)), ["testserver"])) as client:
        yield People(client, folder)


def shown(page: str) -> str:
    """Its text, without tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", page[page.index("<main") :]).split())


def test_only_those_whom_the_owner_lets_in_can_review(people: People):
    people.get("ben", "/progress", 404)
    assert "ben" in people.get("anna", "/progress")
    people.post("anna", "/reviewers", people=["ben"])
    assert "Only the owner" not in people.get("ben", "/progress")
    people.get("carla", "/progress", 404)
    assert f"/jobs/{JOB}" in people.client.get("/", headers=_token("ben")).text
    people.post("anna", "/reviewers")
    people.get("ben", "/progress", 404)


def test_a_reviewer_judges_and_does_nothing_else(people: People):
    people.post("anna", "/reviewers", people=["ben"])
    people.verdict("ben", KEYS[0], "reject")
    assert people.history.standing().pairs == {KEYS[0]: Verdict.REJECT}
    for action in ("delete", "stop", "resume", "exhaustive", "compare"):
        people.post("ben", f"/{action}", 403)
    people.api("ben", "/pause", {}, 403)
    people.post("ben", "/thresholds", 403, keep="1", score="0.9")
    refused = people.client.put(f"/api/v1/jobs/{JOB}/thresholds", json={"min_score": 0.9}, headers=_token("ben"))
    assert refused.status_code == 403
    people.post("ben", "/reviewers", 422, people=["ben", "carla"])
    assert (people.folder.path / REVIEWERS).read_bytes() == b'["ben"]'
    overview = people.get("ben")
    assert 'action="/jobs' not in overview.partition("<main")[2]
    assert "/compare" not in overview
    assert "/compare" in people.get("anna")


def test_who_is_contradicted_meanwhile_is_told_before_they_say_theirs(people: People):
    people.post("anna", "/reviewers", people=["ben"])
    seen = re.search(r'name="seen" value="([^"]*)"', people.get("ben", f"/pairs/{KEYS[0]}?order=uncertain"))
    assert seen is not None
    people.verdict("anna", KEYS[0], "reject")
    page = people.verdict("ben", KEYS[0], "accept", seen=seen[1], review="order=uncertain")
    assert "anna : rejected Said meanwhile" in shown(page)
    assert people.history.standing().pairs == {KEYS[0]: Verdict.REJECT}
    again = re.search(r'name="seen" value="([^"]*)"', page)
    assert again is not None
    assert again[1] != seen[1]
    people.verdict("ben", KEYS[0], "accept", seen=again[1], review="order=uncertain")
    assert people.history.conflict_count() == 1


def test_who_agrees_with_what_was_said_meanwhile_is_not_held_up(people: People):
    people.verdict("anna", KEYS[0], "reject")
    people.verdict("dora", KEYS[0], "reject", seen="0.0", review="order=uncertain")
    assert len(people.history.history(9)) == 2
    assert people.history.conflict_count() == 0


def test_a_part_of_a_page_tells_it_too(people: People):
    people.verdict("anna", KEYS[0], "reject")
    fields = {"kind": "pair", "key": KEYS[0], "within": KEYS[0], "verdict": "accept", "seen": "0.0"}
    headers = _token("dora") | {"X-Part": "1"}
    part = people.client.post(f"/jobs/{JOB}/verdicts", data=fields, headers=headers).text
    assert "Said meanwhile" in part
    assert "Said meanwhile" in people.post("dora", "/verdicts", **fields)
    assert people.history.conflict_count() == 0


def test_a_conflict_is_listed_with_both_opinions_and_somebody_resolves_it(people: People):
    people.post("anna", "/reviewers", people=["ben", "carla"])
    assert "People differ on 0 things." in shown(people.get("carla", "/conflicts"))
    people.verdict("anna", KEYS[0], "reject")
    people.verdict("ben", KEYS[0], "accept")
    for path in ("", "/download"):
        assert "People differ on 1 thing. No verdict stands there, so its score decides." in shown(
            people.get("anna", path)
        )
    page = shown(people.get("carla", "/conflicts"))
    assert "People differ on 1 thing. Until somebody resolves that" in page
    assert page.index("anna : rejected") < page.index("ben : accepted")
    assert "http://s.test/en/1" in page
    pair = people.get("anna", f"/pairs/{KEYS[0]}")
    assert "ben : accepted Conflict" in shown(pair)
    assert re.search(r'value="reject"[^>]*aria-pressed="true"', pair)
    people.post("carla", "/conflicts", kind="pair", key=KEYS[0], verdict="accept")
    assert people.history.standing().pairs == {KEYS[0]: Verdict.ACCEPT}
    assert "Conflicts (" not in people.get("carla", "/conflicts")
    people.post("carla", "/conflicts", 409, kind="pair", key=KEYS[0], verdict="accept")
    people.post("carla", "/conflicts", 422, kind="page", key=KEYS[0], verdict="accept")
    said = shown(people.get("carla", "/history"))
    assert "carla : accepted" in said
    assert "resolved a conflict" in said


def test_the_history_says_who_judged_what_and_takes_back_ones_own(people: People):
    people.verdict("anna", KEYS[0], "reject")
    people.verdict("dora", KEYS[1], "accept")
    everything = people.get("anna", "/history")
    assert everything.count("Take back") == 1
    own = shown(people.get("anna", "/history?by=dora"))
    assert "dora : accepted" in own
    assert "anna : rejected" not in own
    people.post("anna", "/history", kind="pair", key=KEYS[1])
    assert len(people.history.standing().pairs) == 2
    page = people.post("anna", "/history", kind="pair", key=KEYS[0], by="anna")
    assert "taken back" in page
    assert "dora" not in shown(page).partition("Show")[2]
    assert people.history.standing().pairs == {KEYS[1]: Verdict.ACCEPT}
    people.post("anna", "/history", 422, kind="x", key="y")


def test_a_long_history_has_several_pages(people: People):
    texts = [(f"Text {number}", f"Texte {number}") for number in range(60)]
    subjects = [Subject(SubjectKind.SEGMENT, segment_key(*both), *map(str, urls(1)), *both) for both in texts]
    people.history.say_all(subjects, Verdict.ACCEPT, "anna", 1.0)
    first, second = people.get("anna", "/history"), people.get("anna", "/history?offset=50")
    assert (first.count('class="card said'), second.count('class="card said')) == (50, 10)
    assert "offset=50" in first
    assert "offset=0" in second
    assert (first.count("Take back"), second.count("Take back")) == (50, 10)


def test_progress_is_told_by_person(people: People):
    people.verdict("anna", KEYS[0], "reject")
    people.post(
        "anna",
        "/verdicts",
        kind="segment",
        key=segment_key("Text 2 0.", "Texte 2 0."),
        within=KEYS[1],
        verdict="accept",
    )
    page = shown(people.get("anna", "/progress"))
    assert "1 page pairs judged, 1 left" in page
    assert "anna accepted 0 rejected 1 accepted 1 rejected 0" in page
    assert "1 segments accepted, 0 rejected, 0 in conflict, apart from samples." in page


def test_giving_a_sample_lets_people_review_the_job(people: People):
    page = people.get("anna", "/samples")
    assert page.count('name="people"') == 4
    sample = people.sample("anna", "ben", name="First look")
    assert [person.name for person in sample.people] == ["anna", "ben"]
    assert (sample.name, sample.units, sample.by) == ("First look", UNITS, "anna")
    page = people.get("ben", "/samples")
    assert "Samples (1)" in page
    assert "Judge it" in page
    people.post("ben", "/samples", 422, languages="en-fr", size="5", people=["ben", "carla"])
    people.post("ben", "/samples", languages="en-fr", size="5", people=["ben"])
    assert len(people.samples.listed()) == 2


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"size": "0"}, "give a number between 1 and 5000"),
        ({"size": "many"}, "give a whole number"),
        ({"min_score": "2"}, "give a number between 0 and 1"),
        ({"min_score": "x"}, "give a number"),
        ({"languages": "en"}, "Name two languages"),
        ({"people": ["eve"]}, "There is no user eve."),
        ({"people": []}, "Choose at least one person."),
    ],
)
def test_a_wrong_field_is_named_beside_it(people: People, fields: dict[str, str | list[str]], said: str):
    asked: dict[str, str | list[str]] = {"languages": "en-fr", "size": "5", "people": ["anna"], **fields}
    assert said in people.post("anna", "/samples", 422, **asked)


def test_a_sample_that_cannot_be_drawn_says_why(people: People):
    page = people.post("anna", "/samples", languages="en-fr", size="5", people=["anna"], min_score="1")
    assert "no units in these languages" in page


def test_a_unit_is_judged_without_its_score_and_without_others(people: People):
    sample = people.sample("anna", "ben")
    people.judge_all("anna", sample, 1)
    first = people.samples.units(sample)[0]
    page = people.get("ben", f"/samples/{sample.id}/next")
    assert first.text_a in page
    assert "1 of 12" in shown(page)
    assert "12 left" in shown(page)
    for hidden in (f"{first.score:.2f}", "anna", "rejected", 'aria-pressed="true"'):
        assert hidden not in page.partition("<main")[2]
    status = people.get("ben", f"/samples/{sample.id}")
    assert "What follows from it is shown when all have finished" in status
    assert "Precision" not in status
    assert first.text_a not in people.get("ben", "/history")
    assert first.text_a in people.get("anna", "/history")
    people.samples.judge(sample, {first: Verdict.ACCEPT}, "ben", 12.0)
    assert first.text_a not in people.get("ben", "/conflicts")
    assert first.text_a in people.get("dora", "/conflicts")


def test_a_verdict_leads_to_the_next_unit_and_the_last_to_the_end(people: People):
    sample = people.sample("anna", "ben", size=3)
    there = f"/samples/{sample.id}/units"
    assert "2 of 3" in shown(people.post("ben", f"{there}/1", verdict="accept"))
    assert "3 of 3" in shown(people.post("ben", f"{there}/2", verdict="reject"))
    page = people.get("ben", f"{there}/2")
    assert re.search(r'value="reject"[^>]*aria-pressed="true"', page)
    assert "2 of 3" in shown(people.post("ben", f"{there}/2", verdict="undo"))
    assert "2 of 3" in shown(people.post("ben", f"{there}/3", verdict="accept"))
    assert "2 of 3" in shown(people.get("ben", f"/samples/{sample.id}/next"))
    page = shown(people.post("ben", f"{there}/2", verdict="accept"))
    assert "You have judged all units." in page
    assert "ben : 3 of 3 judged" in page
    people.post("ben", f"/samples/{sample.id}/finish")
    people.post("ben", f"{there}/2", 409, verdict="reject")
    assert "finished" in people.get("ben", f"{there}/2")
    people.get("dora", f"{there}/2", 404)
    people.post("dora", f"{there}/2", 409, verdict="reject")
    people.post("dora", f"/samples/{sample.id}/finish", 409)
    people.get("ben", f"{there}/4", 404)
    people.post("anna", f"{there}/4", 404, verdict="reject")
    people.get("ben", "/samples/99", 404)


def test_the_context_shows_the_neighbours_without_scores(people: People):
    sample = people.sample("anna")
    unit = next(unit for unit in people.samples.units(sample) if unit.text_a == "Text 1 3.")
    there = f"/samples/{sample.id}/units/{unit.place}"
    assert "Text 1 2." not in people.get("anna", there)
    page = people.get("anna", f"{there}?context=1")
    for neighbour in ("Text 1 0.", "Texte 1 2.", "Text 1 4."):
        assert neighbour in page
    assert "0.7" not in shown(page)


def test_the_context_of_what_was_mined_away_says_so(people: People):
    sample = people.sample("anna")
    with Ledger(people.folder.ledger) as ledger:
        keep_findings(Findings(ledger), "s.test", 4, [])
    reading_index.refresh(people.folder.path)
    assert "no longer on these pages" in people.get("anna", f"/samples/{sample.id}/units/1?context=1")


def test_when_all_have_finished_precision_and_kappa_are_told(people: People):
    sample = people.sample("anna", "ben")
    people.judge_all("anna", sample, 1, 2, 3)
    people.judge_all("ben", sample, 1, 2, 4)
    page = shown(people.get("ben", f"/samples/{sample.id}"))
    assert "0.67 (" in page  # 8 of 12 stand, 2 are in conflict
    assert "from 12 judged units" in page
    assert "2 units on which people differ count as wrong" in page
    assert "10 of 12 units the same (83%) · kappa 0.56" in page
    assert "12 units are few" in page
    assert "What a higher threshold would give" in page
    for unit in people.samples.units(sample):
        assert (unit.text_a in page) == (unit.place in (3, 4))


def test_those_who_always_agree_and_always_accept_have_no_kappa(people: People):
    sample = people.sample("anna", "ben")
    people.judge_all("anna", sample)
    people.judge_all("ben", sample)
    page = shown(people.get("anna", f"/samples/{sample.id}"))
    assert "(100%) · no kappa" in page
    assert "Both gave the same verdict on every unit" in page
    assert "1.00 (0.76–1.00)" in page


def test_one_sided_verdicts_warn_about_kappa(people: People):
    sample = people.sample("anna", "ben")
    people.judge_all("anna", sample, 1)
    people.judge_all("ben", sample, 2)
    assert "Nearly all verdicts are the same" in people.get("anna", f"/samples/{sample.id}")


def test_who_had_it_drawn_or_the_owner_ends_or_removes_a_sample(people: People):
    sample = people.sample("anna", "ben", "carla")
    people.judge_all("anna", sample)
    people.post("ben", f"/samples/{sample.id}/end", 403)
    people.post("ben", f"/samples/{sample.id}/remove", 403)
    people.post("ben", f"/samples/{sample.id}/nonsense", 404)
    assert "End it for all" not in people.get("ben", f"/samples/{sample.id}")
    page = people.post("anna", f"/samples/{sample.id}/end")
    assert "1.00 (" in page
    assert "kappa" not in shown(page).lower()
    people.post("dora", f"/samples/{sample.id}/remove")
    assert people.samples.listed() == []


def test_while_a_sample_is_drawn_the_page_waits_for_it(people: People):
    assert people.client.get(f"/jobs/{JOB}/samples?part=1", headers=_token("anna")).status_code == 205


def test_a_program_draws_judges_and_reads_a_sample(people: People):
    asked = {"languages": "en-fr", "size": 6, "people": ["anna", "ben"], "seed": 3, "by_band": True}
    made = people.api("anna", "/samples", asked, 201)
    assert made["sample"]["design"] == {"size": 6, "seed": 3, "floor": 0.3, "by_band": True}
    number = made["sample"]["id"]
    assert [sample["id"] for sample in people.api("ben", "/samples")] == [number]
    first = people.api("ben", f"/samples/{number}/next")
    assert (first["unit"]["place"], first["left"]) == (1, 6)
    assert "score" not in first["unit"]
    for who, verdicts in (("ben", ["accept"] * 6), ("anna", ["reject"] + ["accept"] * 5)):
        said = {str(place): verdict for place, verdict in enumerate(verdicts, 1)}
        people.api(who, f"/samples/{number}/verdicts", {"verdicts": said}, 204)
        assert people.api(who, f"/samples/{number}/next") == {"unit": None, "left": 0}
        assert people.api(who, f"/samples/{number}")["results"] is None
        done = people.api(who, f"/samples/{number}/finish", {})
    outcome = done["results"]
    assert outcome["undecided"] == 1
    assert outcome["precision"]["judged"] == 6
    assert outcome["precision"]["low"] < outcome["precision"]["share"] < outcome["precision"]["high"]
    [both] = outcome["agreements"]
    assert (both["first"], both["second"], both["units"], both["same"], both["is_few"]) == ("anna", "ben", 6, 5, True)
    assert people.api("ben", f"/samples/{number}/verdicts", {"verdicts": {"1": "accept"}}, 409)["error"]
    people.client.delete(f"/api/v1/jobs/{JOB}/samples/{number}", headers=_token("anna")).raise_for_status()
    assert people.api("anna", "/samples") == []


def test_a_program_is_told_what_is_wrong_with_a_sample(people: People):
    wrong = people.api("anna", "/samples", {"languages": "en", "size": 0, "people": ["eve"]}, 422)
    assert set(wrong["fields"]) == {"languages", "size", "people"}
    people.api("anna", "/samples", {"languages": "en-zh"}, 422)
    people.api("anna", "/samples/1", status=404)
    people.api("anna", "/samples/x", status=404)
    number = people.api("anna", "/samples", {"languages": "en-fr"}, 201)["sample"]["id"]
    assert people.api("anna", f"/samples/{number}/verdicts", {"verdicts": {"1": "maybe"}}, 422)["fields"]
    people.api("anna", f"/samples/{number}/verdicts", {"verdicts": {"99": "accept"}}, 404)
    people.api("dora", f"/samples/{number}/finish", {}, 409)
    assert people.api("dora", f"/samples/{number}/end", {})["results"]["precision"] is None


def test_a_program_sees_conflicts_and_resolves_them(people: People):
    people.verdict("anna", KEYS[0], "reject")
    people.verdict("dora", KEYS[0], "accept")
    [conflict] = people.api("anna", "/conflicts")
    assert [(said["by"], said["verdict"]) for said in conflict["opinions"]] == [("anna", "reject"), ("dora", "accept")]
    people.api("anna", "/conflicts", {"kind": "pair", "key": KEYS[0], "verdict": "undo"}, 422)
    people.api("anna", "/conflicts", {"kind": "pair", "key": KEYS[0], "verdict": "accept"}, 204)
    people.api("anna", "/conflicts", {"kind": "pair", "key": KEYS[0], "verdict": "accept"}, 409)
    assert people.api("anna", "/conflicts") == []
    assert people.history.standing().pairs == {KEYS[0]: Verdict.ACCEPT}


def test_a_program_asks_for_the_queue_and_for_progress(people: People):
    assert people.api("anna", "/verdicts") == []
    assert people.api("anna", "/queue") == {"keys": KEYS, "judged": 0, "left": 2, "seed": 0}
    people.verdict("anna", KEYS[0], "reject")
    left = {"keys": [KEYS[1]], "judged": 1, "left": 1, "seed": 0}
    assert people.api("anna", "/queue?order=site&languages=en-fr&limit=1") == left
    assert people.api("anna", "/queue?order=random&seed=7")["seed"] == 7
    wrong = people.api("anna", "/queue?order=best&seed=x&limit=9999&languages=en", status=422)
    assert set(wrong["fields"]) == {"order", "seed", "limit", "languages"}
    [said] = people.api("anna", "/verdicts?by=anna&limit=5")
    assert (said["by"], said["verdict"], said["subject"]["key"], said["undone_at"]) == ("anna", "reject", KEYS[0], None)
    assert people.api("anna", "/verdicts?by=dora") == []
    progress = people.api("anna", "/progress")
    assert (progress["total_pairs"], progress["pairs"]["rejected"]) == (2, 1)
    assert [person["name"] for person in progress["people"]] == ["anna"]
