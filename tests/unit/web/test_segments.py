"""Segments in the web app and in the API: filtered, judged all at once, edited, split, joined and commented."""

import html
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from kept_findings import Aligned, keep_findings
from starlette.testclient import TestClient

from bitrawl.mining import Flag
from bitrawl.model import Language, PagePair, Segment, SegmentPair, Verdict, pair_key, segment_key
from bitrawl.review import JobReview, ReadSegment, Saved
from bitrawl.review.reviewing import Reading
from bitrawl.review.segment_review import MOST_CHARACTERS, subject_of
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.samples import DrawnSample, SampleDesign, Samples, SampleUnit
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import VerdictHistory
from bitrawl.url import Url
from bitrawl.web.api.operations import ROOT
from bitrawl.web.app import Serving, application, new_server

JOB = "0" * 32
URLS = Url.parse("http://s.test/en"), Url.parse("http://s.test/fr")
PAIR = pair_key(*URLS)
TEXTS = [
    ("The old port (1899", "Le vieux port (1898)"),
    ("Each layer is thin.", "Chaque couche est fine."),
    ("A page of GitHub", "Une page"),
    ("Home", "Accueil"),
    ("The end?", "La fin"),
    ("Home", "Accueil"),
]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = JobFolder(tmp_path_factory.mktemp("jobs") / JOB)
    folder.path.mkdir()
    folder.description.write_text('langs = ["en", "fr"]\nseeds = ["http://s.test/"]\n')
    segments = tuple(
        SegmentPair(
            *(*URLS, Segment(a), Segment(b), 0.9 - n / 10),
            scores={"words_a": float(len(a.split())), "words_b": float(len(b.split()))},
            flags=(str(Flag.NUMBERS),) if not n else (),
        )
        for n, (a, b) in enumerate(TEXTS)
    )
    pair = PagePair(*URLS, Language("en"), Language("fr"), 0.9, {"u": 0.5})
    with Ledger(folder.ledger) as ledger:
        keep_findings(Findings(ledger), "s.test", 2, [Aligned(pair, segments)])
    reading_index.refresh(folder.path)
    return folder.path.parent


@pytest.fixture
def folder(jobs: Path, tmp_path: Path) -> JobFolder:
    shutil.copytree(jobs, tmp_path / "jobs")
    return JobFolder(tmp_path / "jobs" / JOB)


@pytest.fixture
def client(folder: JobFolder) -> Iterator[TestClient]:
    server = new_server(Serving(folder.path.parent))
    with TestClient(application(server, ["testserver"]), raise_server_exceptions=False) as client:
        yield client


def rows_of(folder: JobFolder) -> tuple[ReadSegment, ...]:
    pair = Reading(folder).pair(PAIR)
    assert pair is not None
    return pair.segments


def ben(folder: JobFolder, act: str, row: ReadSegment, **given: str) -> Saved:
    """What somebody else does to a segment."""
    return JobReview(folder, "ben", lambda: 2.0).change(act, PAIR, (row.key, row.start, row.part), given)


def texts_of(folder: JobFolder) -> list[tuple[str, str]]:
    return [(row.text_a, row.text_b) for row in rows_of(folder)]


def numbers(page: str) -> list[str]:
    """Of the rows that a page shows."""
    return re.findall(r'aria-label="Segment ([^,]+),', page)


def forms(page: str, mark: str = "<form") -> list[dict[str, str]]:
    """The hidden fields of the forms after each mark."""
    parts = [part.split("</form>")[0] for part in page.split(mark)[1:]]
    hidden = r'<input type="hidden" name="(\w+)" value="([^"]*)">'
    return [{name: html.unescape(value) for name, value in re.findall(hidden, part)} for part in parts]


def row_form(client: TestClient, place: int) -> dict[str, str]:
    return forms(client.get(f"/jobs/{JOB}/pairs/{PAIR}").text, '<form class="act"')[place]


def act(client: TestClient, fields: dict[str, str], act: str, part: str = "1", **more: str) -> str:
    """Send a form of a row; the rows that the script gets."""
    there = f"/jobs/{JOB}/pairs/{PAIR}/segments/{fields['anchor']}"
    answer = client.post(there, data=fields | {"act": act} | more, headers={"X-Part": part} if part else {})
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", ["1", "2", "3", "4", "5", "6"]),
        ("least=0.65", ["1", "2", "3"]),
        ("most=0.5", ["5", "6"]),
        (f"flag={quote(Flag.NUMBERS)}", ["1"]),
        ("flag=none&shortest=2", ["2", "3", "5"]),
        ("unit=characters&longest=7", ["4", "6"]),
        ("words_a=pag*", ["3"]),
        ("words_b=couche", ["2"]),
        ("words_a=old&words_b=vieux", ["1"]),
        ("words_a=old&words_b=page", []),
        ("state=accepted", []),
        ("state=none", ["1", "2", "3", "4", "5", "6"]),
    ],
)
def test_a_filter_shows_the_same_on_two_pages_in_the_list_and_in_the_api(
    client: TestClient, query: str, shown: list[str]
):
    assert numbers(client.get(f"/jobs/{JOB}/pairs/{PAIR}?{query}").text) == shown
    page = client.get(f"/jobs/{JOB}/segments?{query}&sort=page").text
    assert numbers(page) == shown
    answer = client.get(f"{ROOT}/jobs/{JOB}/segments?{query}&sort=page").json()
    assert [str(one["segment"]["start"] + 1) for one in answer["segments"]] == shown
    assert answer["total"] == len(shown)
    for number, row in zip(shown, re.findall(r'<p class="where"><a href="([^"]+)"', page), strict=True):
        assert f'aria-label="Segment {number},' in client.get(html.unescape(row)).text


def test_the_list_is_sorted_and_comes_in_parts(client: TestClient):
    there = f"{ROOT}/jobs/{JOB}/segments"
    for order, scores in (("worst", [0.4, 0.5]), ("best", [0.9, 0.8]), ("page", [0.9, 0.8])):
        answer = client.get(f"{there}?sort={order}&limit=2").json()
        assert [round(one["segment"]["score"], 2) for one in answer["segments"]] == scores
        assert answer["total"] == 6
    last = client.get(f"{there}?sort=worst&offset=5").json()
    assert [one["segment"]["text_a"] for one in last["segments"]] == ["The old port (1899"]
    assert numbers(client.get(f"/jobs/{JOB}/segments").text)[0] == "6"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("least=much", "least"),
        ("most=2", "most"),
        ("most=nan", "most"),
        ("shortest=-1", "shortest"),
        ("longest=1.5", "longest"),
        ("state=odd", "state"),
        ("flag=odd", "flag"),
        ("unit=odd", "unit"),
        ("words_a=p*t", "words_a"),
        ("words_b=!", "words_b"),
    ],
)
def test_a_filter_that_cannot_be_read_is_told_beside_its_field(client: TestClient, query: str, field: str):
    for there in (f"/jobs/{JOB}/segments", f"/jobs/{JOB}/pairs/{PAIR}"):
        page = client.get(f"{there}?{query}")
        assert page.status_code == 200
        assert f'id="{field}-problem"' in page.text
        assert numbers(page.text) == []
    answer = client.get(f"{ROOT}/jobs/{JOB}/segments?{query}")
    assert (answer.status_code, list(answer.json()["fields"])) == (422, [field])


@pytest.mark.parametrize("there", [f"/jobs/{JOB}/segments?most=0.7", f"/jobs/{JOB}/pairs/{PAIR}?most=0.7"])
def test_all_that_a_filter_shows_is_judged_with_one_button_and_undone_with_another(
    client: TestClient, folder: JobFolder, there: str
):
    page = client.get(there).text
    assert "Reject all 4" in page
    assert "Reject all 4 segments that this filter shows?" in page
    [form] = forms(page, f'<form action="/jobs/{JOB}/segments/verdicts"')
    page = client.post(f"/jobs/{JOB}/segments/verdicts", data=form | {"verdict": "reject"}).text
    assert [row.verdict for row in rows_of(folder)] == [None, None, *[Verdict.REJECT] * 4]
    assert "You rejected 3 segments." in page  # two of the four have the same texts
    [form] = forms(page, f'<form action="/jobs/{JOB}/segments/undo"')
    page = client.post(f"/jobs/{JOB}/segments/undo", data=form).text
    assert [row.verdict for row in rows_of(folder)] == [None] * 6
    assert "You rejected" not in page
    client.post(f"/jobs/{JOB}/segments/undo", data=form)  # by another tab
    assert len(numbers(page)) == 4  # the same filter


def test_a_verdict_on_all_is_refused_if_they_are_not_those_that_were_seen(client: TestClient, folder: JobFolder):
    [form] = forms(client.get(f"/jobs/{JOB}/segments?state=none").text, f'<form action="/jobs/{JOB}/segments/verdicts"')
    VerdictHistory(folder.verdicts).say(subject_of(rows_of(folder)[0]), Verdict.ACCEPT, "ben", 1.0)
    answer = client.post(f"/jobs/{JOB}/segments/verdicts", data=form | {"verdict": "reject"})
    assert answer.status_code == 409
    assert "There are 5 segments now." in answer.text
    assert rows_of(folder)[1].verdict is None


def test_texts_are_edited_and_accepted_and_the_original_stays_in_sight(client: TestClient, folder: JobFolder):
    page = act(
        client, row_form(client, 1), "accept", text_a="Each layer is very thin.", text_b="Chaque couche est fine."
    )
    assert texts_of(folder)[1] == ("Each layer is very thin.", "Chaque couche est fine.")
    assert rows_of(folder)[1].verdict is Verdict.ACCEPT
    assert numbers(page) == ["2"]
    assert "Each layer is <ins>very </ins>thin." in page
    assert '<div class="original" lang="en" dir="ltr">' in page
    page = act(client, row_form(client, 1), "restore")
    assert texts_of(folder) == TEXTS
    assert "<ins>" not in page


def test_a_line_break_splits_and_joining_makes_one_of_two(client: TestClient, folder: JobFolder):
    page = act(
        client, row_form(client, 1), "accept", text_a="Each layer\r\nis thin.", text_b="Chaque couche\nest fine."
    )
    assert numbers(page) == ["2.1", "2.2"]
    assert [row.verdict for row in rows_of(folder)[1:3]] == [Verdict.ACCEPT] * 2
    page = act(client, row_form(client, 1), "join")
    assert numbers(page) == ["2"]
    assert texts_of(folder) == TEXTS
    page = act(client, row_form(client, 1), "join")
    assert numbers(page) == ["2–3"]
    assert texts_of(folder)[1] == ("Each layer is thin. A page of GitHub", "Chaque couche est fine. Une page")
    assert "It gets into the corpus once somebody accepts it." in page
    assert numbers(act(client, row_form(client, 1), "restore")) == ["2", "3"]


def test_an_edit_changes_the_same_texts_wherever_they_stand(client: TestClient):
    assert numbers(act(client, row_form(client, 3), "save", text_a="Home page", text_b="Accueil")) == ["4", "6"]


def test_everything_works_without_a_script(client: TestClient, folder: JobFolder):
    form = row_form(client, 4)
    there = f"/jobs/{JOB}/pairs/{PAIR}/segments/{form['anchor']}"
    page = client.get(there).text
    text, comment = forms(page, '<form class="writing"')
    assert "A line break at the same place on both sides splits the segment." in page
    page = client.post(there, data=text | {"act": "accept", "text_a": "The end.", "text_b": "La fin."}).text
    assert numbers(page) == ["1", "2", "3", "4", "5", "6"]
    assert texts_of(folder)[4] == ("The end.", "La fin.")
    answer = client.post(there, data=text | {"act": "save", "text_a": "", "text_b": "La fin"})
    assert answer.status_code == 409
    anchor = rows_of(folder)[4].anchor
    there = f"/jobs/{JOB}/pairs/{PAIR}/segments/{anchor}"
    [_, comment] = forms(client.get(there).text, '<form class="writing"')
    page = client.post(there, data=comment | {"act": "comment", "text": "<b>Why?</b>"}).text
    assert "&lt;b&gt;Why?&lt;/b&gt;" in page
    assert client.get(f"/jobs/{JOB}/pairs/{PAIR}/segments/gone").status_code == 404


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (("One\ntwo", "Un"), "different numbers of lines"),
        (("  ", "Un"), "There is no text."),
        (("x" * (MOST_CHARACTERS + 1), "Un"), "at most 20,000 characters"),
    ],
)
def test_what_cannot_be_saved_stays_on_the_screen_with_the_reason(
    client: TestClient, folder: JobFolder, texts: tuple[str, str], why: str
):
    page = act(client, row_form(client, 1), "save", text_a=texts[0], text_b=texts[1])
    assert why in page
    assert f">{texts[0]}</textarea>" in page
    assert texts_of(folder) == TEXTS


def test_who_saves_second_sees_both_texts_and_may_save_again(client: TestClient, folder: JobFolder):
    form, mined = row_form(client, 1), rows_of(folder)[1]
    assert ben(folder, "save", mined, text_a="Ben's", text_b="De Ben") is Saved.DONE
    page = act(client, form, "accept", text_a="Mine", text_b="À moi")
    assert "Somebody has changed this segment meanwhile" in page
    assert ">Mine</textarea>" in page
    assert "Ben&#39;s" in page
    assert texts_of(folder)[1] == ("Ben's", "De Ben")
    [again] = forms(page, '<form class="writing"')
    act(client, again | {"anchor": "x"}, "accept", text_a="Mine", text_b="À moi")
    assert texts_of(folder)[1] == ("Mine", "À moi")


def test_a_join_with_another_segment_than_the_one_that_was_seen_is_refused(client: TestClient, folder: JobFolder):
    form, following = row_form(client, 1), rows_of(folder)[2]
    ben(folder, "save", following, text_a="Another", text_b="Une autre")
    answer = client.post(f"/jobs/{JOB}/pairs/{PAIR}/segments/x", data=form | {"act": "join"}, headers={"X-Part": "1"})
    assert answer.status_code == 409
    assert "Somebody has changed this segment meanwhile" in answer.text


def test_comments_are_shown_with_their_writer_who_alone_takes_them_back(client: TestClient, folder: JobFolder):
    mined = rows_of(folder)[0]
    ben(folder, "comment", mined, text="Check the year.")
    page = act(client, row_form(client, 0), "comment", text="1899 is right.\nSee the page.")
    comments = re.findall(r'<bdi>(\w+)</bdi></b> <span class="quiet">([^<]+)</span> <span[^>]*>([^<]+)<', page)
    assert [(by, text) for by, _, text in comments] == [
        ("ben", "Check the year."),
        ("you", "1899 is right.\nSee the page."),
    ]
    of_ben, of_you = forms(page, '<form class="comment"')
    assert page.count('value="uncomment"') == 1
    there = f"/jobs/{JOB}/pairs/{PAIR}/segments/{of_ben['anchor']}"
    assert client.post(there, data=of_ben | {"act": "uncomment"}).status_code == 404
    assert len(rows_of(folder)[0].comments) == 2
    act(client, of_you, "uncomment")
    assert [comment.by for comment in rows_of(folder)[0].comments] == ["ben"]


def test_opinions_of_others_are_told_apart_from_ones_own_and_a_conflict_can_be_decided(
    client: TestClient, folder: JobFolder
):
    history, subject = VerdictHistory(folder.verdicts), subject_of(rows_of(folder)[1])
    history.say(subject, Verdict.REJECT, "ben", 0.0)
    page = client.get(f"/jobs/{JOB}/pairs/{PAIR}").text
    row = page.split('aria-label="Segment 2,')[1].split("</article>")[0]
    assert "segment judged reject theirs" in page
    assert row.count('aria-pressed="true"') == 0
    assert "<bdi>ben</bdi>: rejected" in row
    assert "(r) · ben, 1970-01-01 00:00 UTC" in row
    fields = row_form(client, 1)

    def judge(verdict: str) -> str:
        answer = client.post(f"/jobs/{JOB}/verdicts", data=fields | {"verdict": verdict}, headers={"X-Part": "1"})
        assert answer.status_code == 200
        return answer.text

    row = judge("accept")
    assert "People differ:" in row
    assert rows_of(folder)[1].verdict is None
    assert "People differ:" not in judge("decide-reject")
    assert rows_of(folder)[1].verdict is Verdict.REJECT


def test_what_others_say_in_a_sample_is_not_shown_before_all_have_finished(client: TestClient, folder: JobFolder):
    subject, samples = subject_of(rows_of(folder)[1]), Samples(folder.verdicts)
    unit = SampleUnit(1, subject.key, 0.8, *map(str, URLS), *TEXTS[1])
    design = SampleDesign(size=1)
    drawn = DrawnSample("", Language("en"), Language("fr"), design, (0,) * 10, (unit,))
    sample = samples.find(samples.add(drawn, ("you", "ben"), "ben", 1.0))
    assert sample is not None
    assert samples.judge(sample, {unit: Verdict.REJECT}, "ben", 2.0)
    views = (f"/jobs/{JOB}/pairs/{PAIR}", f"/jobs/{JOB}/segments", f"{ROOT}/jobs/{JOB}/pairs/{PAIR}")
    assert not any("ben" in client.get(there).text for there in views)
    samples.finish(sample, 3.0)
    assert all("ben" in client.get(there).text for there in views)


def test_a_verdict_answers_with_all_rows_of_the_same_texts(client: TestClient):
    fields = row_form(client, 3)
    answer = client.post(f"/jobs/{JOB}/verdicts", data=fields | {"verdict": "reject"}, headers={"X-Part": "1"})
    assert numbers(answer.text) == ["4", "6"]
    page = client.post(f"/jobs/{JOB}/verdicts", data=fields | {"verdict": "undo"})
    assert str(page.url).endswith(f"/pairs/{PAIR}?segment={fields['anchor']}#s-{fields['anchor']}")


def test_differences_are_marked_where_they_stand(client: TestClient):
    page = client.get(f"/jobs/{JOB}/pairs/{PAIR}").text
    marks = re.findall(r'<mark class="differs" title="([^"]+)">([^<]+)</mark>', page)
    assert marks == [
        ("This has no partner, and the other text has none of that kind.", "("),
        ("The other text does not have this number.", "1899"),
        ("The other text does not have this number.", "1898"),
        ("The other text does not have this name.", "GitHub"),
        ("The two texts end differently.", "?"),
    ]


def test_a_search_shows_the_accepted_edit_of_a_hit_and_says_so(client: TestClient, folder: JobFolder):
    mined = rows_of(folder)[1]
    there = f"/jobs/{JOB}/search?q=layer"
    ben(folder, "save", mined, text_a="Each layer is slim.", text_b="Chaque couche est mince.")
    assert "mince" not in client.get(there).text  # not accepted, so not in the corpus
    Reading(folder).judge_segment(PAIR, rows_of(folder)[1].key, Verdict.ACCEPT, "ben", 3.0)
    page = client.get(there).text
    assert "Chaque couche est mince." in page
    assert '<span class="tag">edited</span>' in page
    assert "mince" in client.get(f"/jobs/{JOB}/hits?q=layer&format=tmx").text


def api(client: TestClient, path: str, body: dict[str, object] | None = None, status: int = 200) -> object:
    answer = client.post(f"{ROOT}/jobs/{JOB}{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_the_api_judges_many_at_once_and_takes_them_back(client: TestClient, folder: JobFolder):
    keys = [segment_key(*texts) for texts in TEXTS]
    chosen = {"verdict": "accept", "keys": [keys[0], keys[3], "0" * 16]}
    assert api(client, "/verdicts/bulk", chosen) == {"segments": 3, "changed": 2}
    assert [row.verdict for row in rows_of(folder)][:4] == [Verdict.ACCEPT, None, None, Verdict.ACCEPT]
    few = {"verdict": "reject", "filter": {"state": "none", "most": 0.75}, "count": 2}
    assert api(client, "/verdicts/bulk", few) == {"segments": 2, "changed": 2}
    assert "There are 0 segments now." in str(api(client, "/verdicts/bulk", few, 409))
    history = client.get(f"{ROOT}/jobs/{JOB}/verdicts?limit=3").json()
    assert [(said["verdict"], said["by"], said["undone_at"]) for said in history] == [
        ("reject", "you", None),
        ("reject", "you", None),
        ("accept", "you", None),
    ]
    assert api(client, "/verdicts/undo") == {"undone": 2, "verdict": "reject"}
    of_one = client.get(f"{ROOT}/jobs/{JOB}/verdicts?key={keys[2]}&kind=segment&by=you").json()
    assert [(said["undone_by"], said["subject"]["text_a"]) for said in of_one] == [("you", "A page of GitHub")]
    assert api(client, "/verdicts/undo") == {"undone": 2, "verdict": "accept"}
    assert api(client, "/verdicts/undo") == {"undone": 0, "verdict": None}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"verdict": "perhaps", "keys": []}, "verdict"),
        ({"verdict": "accept"}, "keys"),
        ({"verdict": "accept", "keys": [], "filter": {}}, "keys"),
        ({"verdict": "accept", "keys": ["x"] * 10_001}, "keys"),
        ({"verdict": "accept", "filter": {"least": 2}}, "filter"),
        ({"verdict": "accept", "filter": {"state": "odd"}}, "state"),
        ({"verdict": "accept", "filter": {"languages": "odd!"}}, "languages"),
        ({"verdict": "accept", "filter": {}, "count": -1}, "count"),
    ],
)
def test_a_verdict_on_many_that_cannot_be_read_names_its_key(client: TestClient, body: dict[str, object], field: str):
    answer = client.post(f"{ROOT}/jobs/{JOB}/verdicts/bulk", json=body)
    assert (answer.status_code, list(answer.json()["fields"])) == (422, [field])


def test_the_api_edits_splits_joins_restores_and_comments(client: TestClient, folder: JobFolder):
    there, key = f"/pairs/{PAIR}", segment_key(*TEXTS[1])
    split = {"key": key, "text_a": "Each layer\nis thin.", "text_b": "Chaque couche\nest fine.", "accept": True}
    rows = api(client, f"{there}/edit", split)
    assert [(row["text_a"], row["part"], row["verdict"]) for row in rows] == [  # type: ignore[attr-defined]
        ("Each layer", 0, "accept"),
        ("is thin.", 1, "accept"),
    ]
    assert api(client, f"{there}/edit", split, 409)["error"].startswith("Somebody has changed")  # type: ignore[index]
    first = segment_key("Each layer", "Chaque couche")
    assert [row["text_a"] for row in api(client, f"{there}/join", {"key": first})] == [TEXTS[1][0]]  # type: ignore[attr-defined]
    joined = api(client, f"{there}/join", {"key": key, "start": 1})
    assert [row["keys"] for row in joined] == [[key, segment_key(*TEXTS[2])]]  # type: ignore[attr-defined]
    api(client, f"{there}/restore", {"key": joined[0]["key"]})  # type: ignore[index]
    assert texts_of(folder) == TEXTS
    commented = api(client, f"{there}/comments", {"key": key, "text": "Why?"})
    [comment] = commented[0]["comments"]  # type: ignore[index]
    assert (comment["by"], comment["text"]) == ("you", "Why?")
    number = comment["id"]
    assert client.delete(f"{ROOT}/jobs/{JOB}/comments/{number}").status_code == 204
    assert client.delete(f"{ROOT}/jobs/{JOB}/comments/{number}").status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "status", "error"),
    [
        ("edit", {"key": "0" * 16, "text_a": "a", "text_b": "b"}, 404, "not there any more"),
        ("edit", {"key": segment_key(*TEXTS[0]), "text_a": "a\nb", "text_b": "b"}, 422, "different numbers of lines"),
        ("edit", {"key": segment_key(*TEXTS[0]), "text_a": "a"}, 422, "text_b: this is missing"),
        ("edit", {"key": segment_key(*TEXTS[0]), "text_a": "a" * 2_000_000, "text_b": "b"}, 422, "at most 1,000,000"),
        ("join", {"key": segment_key(*TEXTS[5]), "start": 5}, 422, "the last segment"),
        ("restore", {"key": segment_key(*TEXTS[0])}, 409, "changed this segment meanwhile"),
        ("comments", {"key": segment_key(*TEXTS[0]), "text": " "}, 422, "There is no text."),
        ("comments", {"key": segment_key(*TEXTS[0]), "text": "x" * 30_000}, 422, "at most 20,000"),
    ],
)
def test_what_the_api_does_not_save_is_told_in_a_sentence(
    client: TestClient, path: str, body: dict[str, object], status: int, error: str
):
    answer = client.post(f"{ROOT}/jobs/{JOB}/pairs/{PAIR}/{path}", json=body)
    assert (answer.status_code, error in answer.json()["error"]) == (status, True), answer.text
    assert client.post(f"{ROOT}/jobs/{JOB}/pairs/gone/{path}", json=body).status_code in (404, 422)
