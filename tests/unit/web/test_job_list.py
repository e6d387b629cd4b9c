from pathlib import Path

import pytest

from bitrawl.errors import ConfigError, StoreError
from bitrawl.web import operator_settings
from bitrawl.web.job_list import INTENT, Command, Intent, JobList, JobVerb, Process, Wish, read_intent, write_intent
from bitrawl.web.operator_settings import SINGLE_USER, Settings, User

ANNA, BEN, ADMIN = User("anna"), User("ben"), User("root", admin=True)
ANNAS = Intent(owner="anna", created=1.0, command=Command(JobVerb.MINE), wish=Wish.WAITING)


def added(job_list: JobList, intent: Intent = ANNAS) -> str:
    job_id, _ = job_list.add()
    job_list.write(job_id, intent)
    return job_id


def test_an_intent_is_read_as_it_was_written(tmp_path: Path):
    intent = Intent(
        owner="anna",
        created=2.5,
        command=Command(JobVerb.BOOTSTRAP, ("--langs=de", "--", "Œuvre")),
        wish=Wish.RUNNING,
        process=Process(7, 8, "boot"),
        again=Command(JobVerb.PAIR),
    )
    write_intent(tmp_path, intent)
    assert read_intent(tmp_path) == intent
    assert [path.name for path in tmp_path.iterdir()] == [INTENT]


@pytest.mark.parametrize("content", ["", "{", '{"version": 2, "owner": "a"}', "[1]", '{"owner": 3}'])
def test_an_intent_that_the_app_did_not_write_is_a_fault_of_one_job(tmp_path: Path, content: str):
    job_list = JobList(tmp_path)
    good = added(job_list)
    job_id, folder = job_list.add()
    (folder / INTENT).write_text(content)
    with pytest.raises(StoreError, match=r"intent\.json"):
        read_intent(folder)
    jobs = {job.id: job for job in job_list}
    assert jobs[good].intent == ANNAS
    assert jobs[job_id].fault
    assert job_list.find(job_id, ANNA) is None


def test_ids_are_128_bits_in_lower_case_and_folders_are_private(tmp_path: Path):
    job_id, folder = JobList(tmp_path).add()
    assert len(bytes.fromhex(job_id)) == 16
    assert job_id == job_id.lower()
    assert folder.stat().st_mode & 0o77 == 0


def test_a_job_belongs_to_its_owner_and_to_admins(tmp_path: Path):
    job_list = JobList(tmp_path)
    job_id = added(job_list)
    assert job_list.find(job_id, ANNA).folder.path == tmp_path / job_id
    assert job_list.find(job_id, ADMIN) is not None
    assert job_list.find(job_id, BEN) is None
    assert [job.id for job in job_list.of(ANNA)] == [job_id]
    assert job_list.of(BEN) == []


def test_a_job_of_the_command_line_belongs_to_the_single_user_and_to_admins(tmp_path: Path):
    (tmp_path / "example").mkdir()
    (tmp_path / "example/job.toml").write_text("")
    job_list = JobList(tmp_path)
    assert job_list.find("example", User(SINGLE_USER, admin=True)) is not None
    assert job_list.find("example", ADMIN) is not None
    assert job_list.find("example", ANNA) is None


@pytest.mark.parametrize(
    "asked", ["", ".", "..", "../other", "/etc", "x/../{id}", "{id}/", "{id}/given", "./{id}", "{id}\0"]
)
def test_nothing_but_the_name_of_a_job_folder_finds_a_job(tmp_path: Path, asked: str):
    job_list = JobList(tmp_path / "jobs")
    job_id = added(job_list)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/job.toml").write_text("")
    assert job_list.find(asked.format(id=job_id), ADMIN) is None


def test_links_hidden_folders_and_folders_without_a_job_are_no_jobs(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "job.toml").write_text("")
    job_list = JobList(tmp_path / "jobs")
    (job_list.path / "link").symlink_to(outside)
    _copy(outside).rename(job_list.path / ".hidden")
    (job_list.path / "empty").mkdir()
    (job_list.path / "job.toml").write_text("")
    assert list(job_list) == []
    for name in ("link", ".hidden", "empty", "job.toml"):
        with pytest.raises(StoreError):
            job_list.take_down(name)
    assert (outside / "job.toml").exists()


def _copy(folder: Path) -> Path:
    copy = folder.with_name("copy")
    copy.mkdir()
    (copy / "job.toml").write_text("")
    return copy


def test_taking_down_removes_one_job_and_nothing_else(tmp_path: Path):
    job_list = JobList(tmp_path)
    gone, kept = added(job_list), added(job_list)
    hidden = job_list.take_down(gone)
    assert job_list.find(gone, ADMIN) is None
    assert hidden.exists()
    job_list.sweep()
    assert [path.name for path in tmp_path.iterdir()] == [kept]


def test_a_changed_intent_is_read_again(tmp_path: Path):
    job_list = JobList(tmp_path)
    job_id = added(job_list)
    assert job_list.find(job_id, ANNA).intent.wish is Wish.WAITING
    write_intent(tmp_path / job_id, Intent(owner="anna", created=1.0, command=Command(JobVerb.MINE), wish=Wish.PAUSED))
    assert job_list.find(job_id, ANNA).intent.wish is Wish.PAUSED


def test_what_a_killed_server_left_before_it_became_a_job_is_swept(tmp_path: Path):
    job_list = JobList(tmp_path)
    kept = added(job_list)
    _, draft = job_list.add()
    job_list.upload_path().write_bytes(b"x")
    (tmp_path / "my-notes").mkdir()
    job_list.sweep_drafts()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([kept, "my-notes"])
    assert not draft.exists()


def test_the_size_counts_all_files_and_follows_no_link(tmp_path: Path):
    job_list = JobList(tmp_path / "jobs")
    (tmp_path / "large").write_bytes(b"x" * 10_000)
    _, folder = job_list.add()
    (folder / "a").write_bytes(b"x" * 100)
    (folder / "link").symlink_to(tmp_path / "large")
    assert 100 <= job_list.size() < 1000


def settings_of(tmp_path: Path, text: str) -> Settings:
    path = tmp_path / "serve.toml"
    path.write_text(text)
    return operator_settings.read(path)


def test_settings_are_read_with_their_defaults(tmp_path: Path):
    read = settings_of(
        tmp_path, f'[users.anna]\ntoken_sha256 = "{"a" * 64}"\n[limits]\nrunning = 9\n[job.fetch]\ncontact = "x@y.z"\n'
    )
    assert read.limits.running == 9
    assert read.limits.user_running == 2
    assert not read.users["anna"].admin
    assert read.job == {"fetch": {"contact": "x@y.z"}}


def test_a_wiki_of_the_operator_has_the_name_that_users_see(tmp_path: Path):
    editions = "[wiki.editions]\nde = 'http://10.0.0.7:8080/w/api.php'\nen = 'http://wiki.intra/w/api.php'\n"
    wiki = settings_of(tmp_path, f"[wiki]\nallow_private = true\n{editions}").wiki
    assert wiki is not None
    assert (list(wiki.editions), wiki.title) == (["de", "en"], "10.0.0.7:8080")
    named = settings_of(tmp_path, f"[wiki]\nname = 'Staff wiki'\nallow_private = true\n{editions}").wiki
    assert named is not None
    assert named.title == "Staff wiki"
    assert settings_of(tmp_path, f"[job.fetch]\nallow_private = true\n{editions}").wiki is not None
    assert settings_of(tmp_path, "").wiki is None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[limit]\n", "limit"),
        ("[limits]\nrunnin = 1", "did you mean 'running'"),
        ("[limits]\nrunning = 0", "running in [limits]"),
        ("[wiki]\n", "editions"),
        ("[wiki]\neditons = {}", "did you mean 'editions'"),
        ("[wiki]\neditions = {}", "is empty; name a wiki by its language"),
        ("[wiki.editions]\nen = 'wiki.example.org'", "write it in full"),
        ("[wiki.editions]\nen = 'https://wiki.example.org/'", "Special:Version"),
        ("[wiki.editions]\nen = 'https://me:secret@wiki.example.org/api.php'", "is not the address of an api.php"),
        ("[wiki.editions]\nEN = 'https://wiki.example.org/api.php'", "write the language as 'en'"),
        ("[wiki.editions]\nenglisch = 'https://wiki.example.org/api.php'", "englisch"),
        ("[wiki.editions]\nen = 'http://10.0.0.7:8080/api.php'", "add to [wiki]: allow_private = true"),
        ("[wiki.editions]\nen = 'http://wiki.internal/api.php'", "add to [wiki]: allow_private = true"),
        ("[limits]\npages = 'many'", "pages in [limits]"),
        ("[users.anna]\nadmin = true", "token_sha256"),
        ("[users.anna]\ntoken_sha256 = 'secret'", "64 digits"),
        (f"[users.anna]\ntoken_sha256 = '{'a' * 64}'\nadmn = true", "did you mean 'admin'"),
        (f"[users.'a b']\ntoken_sha256 = '{'a' * 64}'", "a b"),
        (f"[users.a]\ntoken_sha256 = '{'a' * 64}'\n[users.b]\ntoken_sha256 = '{'a' * 64}'", "same token"),
        ("[job.fetch]\ncontakt = 'x'", "contakt"),
        ("[job]\nstrategy = 'none'", "strategy"),
        ("job = [", "TOML"),
    ],
)
def test_a_mistake_in_the_settings_names_the_key(tmp_path: Path, text: str, named: str):
    with pytest.raises(ConfigError, match=r"serve\.toml") as error:
        settings_of(tmp_path, text)
    assert named in str(error.value)
