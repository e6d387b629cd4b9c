import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from bitrawl import config
from bitrawl.config import Job
from bitrawl.endings import CrawlEnd, Doing, EndKind, Fault, FaultSentence, MiningStep, State
from bitrawl.errors import BitrawlError, ChildError, ConfigError, DiskFullError, RefusedError, TopicError
from bitrawl.store.database import locked
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.web.job_list import Command, JobList, JobVerb, Prepared, Process, ServedJob, Wish
from bitrawl.web.job_state import FAULT, LOG, last_lines
from bitrawl.web.operator_settings import LimitsSection, Settings, User
from bitrawl.web.supervisor import PAUSE_SECONDS, STOP_SECONDS, Supervisor

ANNA, BEN, ADMIN = User("anna"), User("ben"), User("root", admin=True)

DONE = CrawlEnd(kind=EndKind.DONE)


class FakeProcesses:
    """Processes that end when the test says so."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.signals: list[tuple[int, signal.Signals]] = []
        self.codes: dict[int, int | None] = {}  # of those that have ended
        self.started: dict[int, Process] = {}
        self.broken = False

    def start(self, arguments: Sequence[str], folder: Path) -> Process:
        if self.broken:
            raise ChildError("no memory")
        self.commands.append(list(arguments))
        pid = len(self.commands)
        self.started[pid] = Process(pid, 100 + pid, "boot")
        return self.started[pid]

    def is_alive(self, process: Process) -> bool:
        return self.started.get(process.pid) == process and process.pid not in self.codes

    def signal(self, process: Process, number: signal.Signals) -> None:
        if self.is_alive(process):
            self.signals.append((process.pid, number))

    def exit_code(self, process: Process) -> int | None:
        return self.codes.get(process.pid)


class Server:
    """A supervisor that can be killed and started again, on a clock of the test."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path, self.settings = path, settings
        self.processes = FakeProcesses()
        self.now, self.date = 1000.0, 1.8e9
        self.restart()

    def restart(self) -> None:
        self.jobs = JobList(self.path)
        self.supervisor = Supervisor(
            self.jobs,
            self.settings,
            self.processes,
            now=lambda: self.date + self.now,
            passed=lambda: self.now,
            in_background=lambda work: work(),
        )
        self.supervisor.recover()

    def tick(self, seconds: float = 1.0) -> None:
        self.now += seconds
        self.supervisor.tick()

    def add(self, site: str = "a.example", user: User = ANNA, verb: JobVerb = JobVerb.MINE) -> str:
        def prepare(folder: Path) -> Prepared:
            config.write(Job(langs=["en", "fr"], seeds=[f"https://{site}/"]), folder / "job.toml")
            return Prepared(Command(verb), (site,))

        self.now += 0.1
        return self.supervisor.create(user, prepare)

    def job(self, job_id: str) -> ServedJob:
        job = self.jobs.find(job_id, ADMIN)
        assert job is not None
        return job

    def state(self, job_id: str) -> State:
        return self.supervisor.state(self.job(job_id)).state

    def message(self, job_id: str) -> str:
        return " ".join(map(str, self.supervisor.state(self.job(job_id)).messages()))

    def pid(self, job_id: str) -> int:
        return self.job(job_id).intent.process.pid

    def end(
        self,
        job_id: str,
        code: int | None = 0,
        *,
        ended: CrawlEnd | None = DONE,
        mining: Doing | None = None,
        pages: int = 1,
    ) -> None:
        """Its process ends, with these last words."""
        tell(self.job(job_id).folder, ended=ended, mining=mining, pages=pages)
        self.processes.codes[self.pid(job_id)] = code


def tell(folder: JobFolder, pages: int = 0, **facts: CrawlEnd | Doing | None) -> None:
    ledger = Ledger(folder.ledger)
    rows = [(number, f"http://a.example/{number}", "a.example", "en", "", "", 0, b"") for number in range(pages)]
    with ledger.transaction():
        ledger.database.query_many("INSERT OR IGNORE INTO stored_pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    for key, value in facts.items():
        ledger.remember(key, value)
    ledger.close()


@contextmanager
def working(folder: JobFolder) -> Iterator[None]:
    """Somebody holds the folder's lock."""
    with locked(folder.ledger):
        yield


@pytest.fixture
def server(tmp_path: Path) -> Server:
    limits = LimitsSection(running=3, user_running=2, user_jobs=4, free_megabytes=1e-6)
    return Server(tmp_path / "jobs", Settings(limits=limits))


def test_a_job_waits_runs_and_ends(server: Server):
    job_id = server.add()
    assert server.state(job_id) is State.WAITING
    server.tick()
    assert server.state(job_id) is State.RUNNING
    assert server.processes.commands == [["mine", "--out", str(server.path / job_id), "--quiet"]]
    server.tick()
    assert len(server.processes.commands) == 1
    server.end(job_id)
    server.tick()
    assert server.state(job_id) is State.ENDED
    assert server.message(job_id) == "Nothing is left to visit."
    server.restart()
    server.tick()
    assert server.state(job_id) is State.ENDED
    assert len(server.processes.commands) == 1


def test_a_pause_finishes_what_is_in_flight_and_ends_the_process_before_it_mines(server: Server):
    job_id = server.add()
    server.tick()
    with working(server.job(job_id).folder):
        server.supervisor.pause(server.job(job_id))
        assert server.processes.signals == [(1, signal.SIGINT)]
        server.tick()
        assert server.state(job_id) is State.PAUSING
        assert len(server.processes.signals) == 1, "a second SIGINT would end it at once"
    tell(
        server.job(job_id).folder,
        ended=CrawlEnd(kind=EndKind.STOPPED, queued=3),
        mining=Doing(MiningStep.PAIRING, "a.example"),
    )
    server.tick()
    server.tick()
    assert server.processes.signals == [(1, signal.SIGINT), (1, signal.SIGTERM)]
    server.processes.codes[1] = 143
    server.tick()
    assert server.state(job_id) is State.PAUSED
    server.restart()
    server.tick()
    assert server.state(job_id) is State.PAUSED, "a paused job goes on only when asked"
    server.supervisor.resume(server.job(job_id))
    server.tick()
    assert server.state(job_id) is State.RUNNING


def test_a_pause_that_comes_too_late_finds_a_job_that_has_ended(server: Server):
    job_id = server.add()
    server.tick()
    with working(server.job(job_id).folder):
        server.supervisor.pause(server.job(job_id))
    server.end(job_id, 0, ended=CrawlEnd(kind=EndKind.DONE))
    server.tick()
    assert server.state(job_id) is State.ENDED


def test_a_process_that_has_not_opened_its_ledger_is_ended_at_once(server: Server):
    job_id = server.add()
    server.tick()
    server.supervisor.pause(server.job(job_id))
    assert server.processes.signals == [(1, signal.SIGTERM)]
    server.tick(PAUSE_SECONDS - 2)
    assert len(server.processes.signals) == 1
    server.tick(2)
    assert server.processes.signals[-1] == (1, signal.SIGKILL)


def test_a_stop_lets_the_job_mine_what_is_there(server: Server):
    job_id = server.add()
    server.tick()
    with working(server.job(job_id).folder):
        server.supervisor.stop(server.job(job_id))
        assert server.state(job_id) is State.STOPPING
    tell(server.job(job_id).folder, ended=CrawlEnd(kind=EndKind.STOPPED), mining=Doing(MiningStep.PAIRING, "a.example"))
    server.tick()
    assert server.processes.signals == [(1, signal.SIGINT)]
    server.end(job_id, 130, ended=CrawlEnd(kind=EndKind.STOPPED))
    server.tick()
    assert server.state(job_id) is State.ENDED
    server.restart()
    server.tick()
    assert len(server.processes.commands) == 1


def test_stop_now_terminates_and_kills_after_five_seconds(server: Server):
    job_id = server.add()
    server.tick()
    server.supervisor.stop_now(server.job(job_id))
    assert server.processes.signals == [(1, signal.SIGTERM)]
    server.tick(STOP_SECONDS - 0.5)
    assert len(server.processes.signals) == 1
    server.date -= 86400  # Somebody sets the date back. Who hangs is killed all the same.
    server.tick(1)
    assert server.processes.signals[-1] == (1, signal.SIGKILL)
    server.processes.codes[1] = -9
    server.tick()
    assert server.state(job_id) is State.NOTHING_FOUND
    assert server.message(job_id) == "You stopped the job."


def test_stopping_a_paused_job_mines_it(server: Server):
    job_id = server.add()
    server.tick()
    server.supervisor.pause(server.job(job_id))
    server.end(job_id, 143, ended=CrawlEnd(kind=EndKind.STOPPED), mining=Doing(MiningStep.PAIRING))
    server.tick()
    server.supervisor.stop(server.job(job_id))
    server.tick()
    assert server.processes.commands[-1] == ["pair", str(server.path / job_id)]
    server.end(job_id, 0, ended=CrawlEnd(kind=EndKind.STOPPED))
    server.tick()
    assert server.state(job_id) is State.ENDED
    assert server.job(job_id).intent.again is None


def test_what_waits_can_be_paused_and_stopped_before_it_starts(server: Server):
    first, second = server.add(), server.add("b.example")
    server.supervisor.pause(server.job(first))
    server.supervisor.stop_now(server.job(second))
    server.tick()
    assert server.processes.commands == []
    assert (server.state(first), server.state(second)) == (State.PAUSED, State.NOTHING_FOUND)


def test_a_killed_job_is_interrupted_while_the_server_lives_and_resumes_only_when_asked(server: Server):
    job_id = server.add()
    server.tick()
    server.end(job_id, -9, ended="")
    assert server.state(job_id) is State.INTERRUPTED, "before the next tick too"
    server.tick()
    server.restart()
    server.tick()
    assert server.state(job_id) is State.INTERRUPTED
    server.supervisor.resume(server.job(job_id))
    server.tick()
    assert server.state(job_id) is State.RUNNING


def test_a_job_that_died_while_no_server_watched_goes_on(server: Server):
    job_id = server.add()
    server.tick()
    server.end(job_id, None, ended=None)
    server.restart()
    assert server.state(job_id) is State.WAITING
    server.tick()
    assert len(server.processes.commands) == 2


def test_a_job_that_ended_while_no_server_watched_has_ended(server: Server):
    job_id = server.add()
    server.tick()
    server.end(job_id, None)
    server.restart()
    server.tick()
    assert server.state(job_id) is State.ENDED
    assert len(server.processes.commands) == 1


def test_a_new_server_takes_over_what_runs(server: Server):
    job_id = server.add()
    server.tick()
    server.restart()
    server.tick()
    assert server.state(job_id) is State.RUNNING
    with working(server.job(job_id).folder):
        server.supervisor.pause(server.job(job_id))
    assert server.processes.signals == [(1, signal.SIGINT)]


def test_a_process_with_a_reused_number_gets_no_signal(server: Server):
    job_id = server.add()
    server.tick()
    server.processes.started[1] = Process(1, 999, "boot")  # another process now
    assert server.state(job_id) is State.INTERRUPTED
    with pytest.raises(RefusedError):
        server.supervisor.pause(server.job(job_id))
    server.supervisor.resume(server.job(job_id))
    assert server.processes.signals == []


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (TopicError("--texts: no text"), str(FaultSentence.TOPIC.message())),
        (DiskFullError("/srv/jobs/1: no space left"), str(FaultSentence.DISK_FULL.message())),
        (None, str(FaultSentence.OTHER.message())),  # a bug
    ],
)
def test_a_job_that_cannot_be_run_says_why_without_our_paths(server: Server, error: BitrawlError | None, says: str):
    job_id = server.add()
    server.tick()
    if error is not None:
        (server.path / job_id / FAULT).write_bytes(msgspec.json.encode(Fault.of(error)))
    server.processes.codes[1] = 2
    server.tick()
    assert server.state(job_id) is State.FAILED
    assert server.message(job_id) == says
    server.supervisor.resume(server.job(job_id))
    assert server.state(job_id) is State.WAITING


@pytest.mark.parametrize(
    ("kind", "state"), [(EndKind.SEED_SILENT, State.FAILED), (EndKind.NO_PAGE, State.NOTHING_FOUND)]
)
@pytest.mark.parametrize("code", [1, None])
def test_a_job_that_found_nothing_is_not_done(server: Server, kind: EndKind, state: State, code: int | None):
    end = CrawlEnd(kind=kind, seed="https://a.org/", why="no address")
    job_id = server.add()
    server.tick()
    server.end(job_id, code, ended=end, pages=0)
    server.tick()
    assert server.state(job_id) is state
    assert server.message(job_id) == " ".join(map(str, end.messages()))
    server.supervisor.resume(server.job(job_id))
    assert server.state(job_id) is State.WAITING


@pytest.mark.parametrize(
    ("listed", "state"),
    [
        ("# a.example\nhttps://a.example/\n", State.ENDED),
        ("# none\n", State.NOTHING_FOUND),
        (None, State.NOTHING_FOUND),
    ],
)
def test_a_search_without_a_bilingual_site_has_found_nothing(server: Server, listed: str | None, state: State):
    job_id = server.add(verb=JobVerb.DISCOVER)
    server.tick()
    if listed is not None:
        (server.path / job_id / "sites.txt").write_text(listed)
    server.end(job_id, ended=CrawlEnd(kind=EndKind.DONE))
    server.tick()
    assert server.state(job_id) is state


def test_braces_in_what_a_job_says_are_no_fields(server: Server):
    job_id = server.add()
    server.tick()
    server.end(job_id, 1, ended=CrawlEnd(kind=EndKind.LEFT, name="a.example", why="{x} is gone", queued=1))
    server.tick()
    assert "{x} is gone" in server.message(job_id)


def test_limits_of_all_and_of_one_user(server: Server):
    annas = [server.add(f"a{n}.example") for n in range(3)]
    bens = [server.add(f"b{n}.example", BEN) for n in range(2)]
    server.tick()
    assert [server.state(one) for one in annas] == [State.RUNNING, State.RUNNING, State.WAITING]
    assert server.message(annas[2]) == "waits for your other jobs; running jobs: 2"
    assert [server.state(one) for one in bens] == [State.RUNNING, State.WAITING]
    assert server.message(bens[1]) == "waits for a free place; running jobs: 3"
    server.end(annas[0])
    server.tick()
    assert server.state(annas[2]) is State.RUNNING
    assert server.state(bens[1]) is State.WAITING


def test_one_job_per_site_server_wide_and_the_others_pass(server: Server):
    first, second, third = server.add("a.example"), server.add("a.example", BEN), server.add("c.example", BEN)
    server.tick()
    assert [server.state(one) for one in (first, second, third)] == [State.RUNNING, State.WAITING, State.RUNNING]
    assert server.message(second) == "waits for another job on a.example to end"
    server.end(first)
    server.tick()
    assert server.state(second) is State.RUNNING


def test_a_job_of_the_command_line_on_the_same_site_counts(server: Server):
    folder = JobFolder(server.path / "by-hand")
    folder.path.mkdir()
    config.write(Job(langs=["en"], seeds=["https://www.bbc.co.uk/x"]), folder.description)
    job_id = server.add("bbc.co.uk")
    with working(folder):
        server.tick()
        assert server.message(job_id) == "waits for another job on bbc.co.uk to end"
        assert server.supervisor.state(server.job("by-hand")).state is State.RUNNING
    server.tick()
    assert server.state(job_id) is State.RUNNING


@pytest.mark.parametrize("name", ["pause", "stop", "stop_now", "resume", "delete"])
def test_jobs_of_the_command_line_are_only_read(server: Server, name: str):
    folder = server.path / "by-hand"
    folder.mkdir()
    (folder / "job.toml").write_text("")
    action: Callable[[ServedJob], None] = getattr(server.supervisor, name)
    with pytest.raises(RefusedError, match="command line"):
        action(server.job("by-hand"))
    assert folder.exists()


def test_a_job_of_ours_that_somebody_runs_by_hand_is_left_alone(server: Server):
    job_id = server.add()
    server.supervisor.pause(server.job(job_id))
    with working(server.job(job_id).folder):
        assert server.state(job_id) is State.RUNNING
        with pytest.raises(RefusedError):
            server.supervisor.resume(server.job(job_id))
        with pytest.raises(RefusedError):
            server.supervisor.delete(server.job(job_id))
    assert server.processes.signals == []


def test_no_job_starts_on_a_full_disk(tmp_path: Path):
    full = Server(tmp_path / "full", Settings(limits=LimitsSection(free_megabytes=1e12)))
    job_id = full.add()
    full.tick()
    assert full.state(job_id) is State.WAITING
    assert "MB are free" in full.message(job_id)
    used = Server(tmp_path / "used", Settings(limits=LimitsSection(disk_megabytes=1e-6, free_megabytes=1e-6)))
    job_id = used.add()
    used.tick()
    assert "the jobs take" in used.message(job_id)


def test_more_jobs_than_allowed_are_refused_and_a_refused_job_leaves_nothing(server: Server):
    ids = [server.add(f"a{n}.example") for n in range(4)]
    with pytest.raises(RefusedError, match=r"limit on jobs \(4\)"):
        server.add("more.example")

    def prepare(folder: Path) -> Prepared:
        (folder / "given").mkdir()
        raise ConfigError("no")

    with pytest.raises(ConfigError):
        server.supervisor.create(BEN, prepare)
    assert sorted(path.name for path in server.path.iterdir()) == sorted(ids)


def test_deleting_removes_an_idle_job(server: Server):
    job_id, kept = server.add(), server.add("b.example")
    server.supervisor.delete(server.job(job_id))
    assert [path.name for path in server.path.iterdir()] == [kept]


def test_a_running_job_is_deleted_once_it_has_ended(server: Server):
    job_id = server.add()
    server.tick()
    server.supervisor.delete(server.job(job_id))
    assert server.jobs.find(job_id, ADMIN) is None
    assert (server.path / job_id).exists()
    assert server.processes.signals == [(1, signal.SIGTERM)]
    server.processes.codes[1] = 143
    server.tick()
    assert list(server.path.iterdir()) == []


def test_what_was_to_be_deleted_when_the_server_died_is_deleted(server: Server):
    job_id = server.add()
    server.tick()
    server.supervisor.delete(server.job(job_id))
    server.processes.codes[1] = 143
    server.restart()
    assert list(server.path.iterdir()) == []


def test_going_on_changes_the_job_and_starts_it_again(server: Server):
    job_id = server.add()
    server.tick()
    with pytest.raises(RefusedError):
        server.supervisor.go_on(server.job(job_id), {"exhaustive": True})
    server.end(job_id)
    server.tick()
    server.supervisor.go_on(server.job(job_id), {"exhaustive": True, "budget": {"pages": 99}})
    job = server.job(job_id).folder.job()
    assert (job.exhaustive, job.budget.pages) == (True, 99)
    server.tick()
    assert server.state(job_id) is State.RUNNING


def finished(server: Server, site: str = "a.example", verb: JobVerb = JobVerb.MINE) -> str:
    """A job that has come to its end by itself."""
    job_id = server.add(site, verb=verb)
    server.tick()
    server.end(job_id, ended=CrawlEnd(kind=EndKind.DONE))
    server.tick()
    return job_id


def test_a_finished_job_is_visited_again_and_is_then_as_it_was(server: Server):
    job_id = finished(server)
    server.supervisor.visit_again(server.job(job_id))
    assert server.state(job_id) is State.WAITING
    with pytest.raises(RefusedError):
        server.supervisor.visit_again(server.job(job_id))
    server.tick()
    assert server.processes.commands[-1] == ["mine", "--out", str(server.path / job_id), "--quiet", "--refresh"]
    server.processes.codes[server.pid(job_id)] = 0
    server.tick()
    assert server.state(job_id) is State.ENDED
    assert server.job(job_id).intent.current == Command(JobVerb.MINE)


def test_a_further_visit_that_was_paused_goes_on_as_one(server: Server):
    job_id = finished(server)
    server.supervisor.visit_again(server.job(job_id))
    server.tick()
    server.supervisor.pause(server.job(job_id))
    server.end(job_id, 143, ended=CrawlEnd(kind=EndKind.STOPPED))
    server.tick()
    server.supervisor.resume(server.job(job_id))
    server.tick()
    assert server.processes.commands[-1][-1] == "--refresh"


@pytest.mark.parametrize("verb", [JobVerb.DEMO, JobVerb.DISCOVER])
def test_what_mines_no_site_of_the_web_is_not_visited_again(server: Server, verb: JobVerb):
    job_id = finished(server, verb=verb)
    with pytest.raises(RefusedError):
        server.supervisor.visit_again(server.job(job_id))


def test_a_job_of_archives_is_not_visited_again(server: Server):
    job_id = server.supervisor.create(ANNA, lambda _folder: Prepared(Command(JobVerb.MINE)))
    server.tick()
    server.end(job_id, ended=CrawlEnd(kind=EndKind.DONE))
    server.tick()
    with pytest.raises(RefusedError):
        server.supervisor.visit_again(server.job(job_id))


@pytest.mark.parametrize("kind", [EndKind.STOPPED, EndKind.NO_ANSWER, EndKind.NO_PAGE])
def test_a_job_that_was_stopped_or_failed_is_not_visited_again(server: Server, kind: EndKind):
    job_id = server.add()
    server.tick()
    server.end(job_id, ended=CrawlEnd(kind=kind))
    server.tick()
    with pytest.raises(RefusedError):
        server.supervisor.visit_again(server.job(job_id))


@pytest.fixture
def weekly(tmp_path: Path) -> Server:
    limits = LimitsSection(running=3, user_running=2, user_jobs=4, free_megabytes=1e-6)
    return Server(tmp_path / "jobs", Settings(limits=limits, every="1w"))


WEEK = 7 * 86400.0


def visited_again(server: Server) -> list[str]:
    """The jobs that were, in that order."""
    return [Path(command[2]).name for command in server.processes.commands if command[-1] == "--refresh"]


def test_a_finished_job_is_visited_again_when_its_time_has_come_also_by_a_new_server(weekly: Server):
    job_id = finished(weekly)
    ended = weekly.date + weekly.now
    assert weekly.supervisor.next_visit(weekly.job(job_id)) == ended + WEEK
    weekly.tick(WEEK - 10)
    weekly.restart()
    weekly.tick()
    assert weekly.state(job_id) is State.ENDED
    weekly.tick(10)
    assert weekly.state(job_id) is State.WAITING
    assert weekly.supervisor.next_visit(weekly.job(job_id)) is None
    weekly.tick()
    assert visited_again(weekly) == [job_id]
    weekly.end(job_id, ended=CrawlEnd(kind=EndKind.DONE))
    weekly.tick()
    weekly.tick(WEEK - 10)
    assert visited_again(weekly) == [job_id]
    weekly.tick(10)
    weekly.tick()
    assert visited_again(weekly) == [job_id, job_id]


def test_jobs_that_are_due_are_visited_one_after_the_other(weekly: Server):
    first, second = finished(weekly), finished(weekly, "b.example")
    weekly.tick(2 * WEEK)
    weekly.tick()
    weekly.tick()
    assert (weekly.state(first), weekly.state(second)) == (State.RUNNING, State.ENDED)
    weekly.end(first, ended=CrawlEnd(kind=EndKind.DONE))
    weekly.tick()
    weekly.tick()
    assert visited_again(weekly) == [first, second]


def test_a_visit_that_is_due_waits_for_a_free_place(weekly: Server):
    due = finished(weekly)
    others = [weekly.add(site) for site in ("b.example", "c.example")]
    weekly.tick(WEEK)
    weekly.tick()
    assert weekly.state(due) is State.WAITING
    weekly.end(others[0])
    weekly.tick()
    assert weekly.state(due) is State.RUNNING


@pytest.mark.parametrize("kind", [EndKind.STOPPED, EndKind.NO_ANSWER])
def test_a_job_that_failed_or_was_stopped_is_left_alone_and_holds_up_no_other(weekly: Server, kind: EndKind):
    job_id = weekly.add()
    weekly.tick()
    weekly.end(job_id, ended=CrawlEnd(kind=kind))
    weekly.tick()
    other = finished(weekly, "b.example")
    assert weekly.supervisor.next_visit(weekly.job(job_id)) is None
    weekly.tick(WEEK)
    weekly.tick()
    assert visited_again(weekly) == [other]


def test_who_stops_a_visit_before_it_starts_ends_the_schedule_of_the_job(weekly: Server):
    job_id = finished(weekly)
    weekly.tick(WEEK)
    weekly.supervisor.stop(weekly.job(job_id))
    weekly.tick(WEEK)
    weekly.tick()
    assert visited_again(weekly) == []
    assert weekly.supervisor.next_visit(weekly.job(job_id)) is None


def test_without_an_interval_no_job_is_visited_again_by_itself(server: Server):
    job_id = finished(server)
    server.tick(10 * WEEK)
    server.tick()
    assert visited_again(server) == []
    assert server.supervisor.next_visit(server.job(job_id)) is None


def test_pairing_again_needs_no_site_and_leaves_the_job_as_it_was(server: Server):
    job_id = server.add()
    with pytest.raises(RefusedError):
        server.supervisor.run_again(server.job(job_id), Command(JobVerb.PAIR))
    server.tick()
    server.end(job_id)
    server.tick()
    other = server.add("a.example", BEN)
    server.tick()
    server.supervisor.run_again(server.job(job_id), Command(JobVerb.PAIR))
    server.tick()
    assert server.state(other) is State.RUNNING
    assert server.processes.commands[-1] == ["pair", str(server.path / job_id)]
    server.processes.codes[server.pid(job_id)] = 0
    server.tick()
    assert server.state(job_id) is State.ENDED
    assert server.job(job_id).intent.current == Command(JobVerb.MINE)


def test_comparing_strategies_replays_the_jobs_own_archive(server: Server):
    job_id = server.add()
    server.tick()
    server.end(job_id)
    server.tick()
    server.supervisor.run_again(server.job(job_id), Command(JobVerb.SIMULATE))
    server.tick()
    folder = server.path / job_id
    assert server.processes.commands[-1] == [
        *("simulate", f"{folder}/warc", "--langs", "en,fr", "--out", f"{folder}/simulated", "--quiet")
    ]


def test_a_process_that_cannot_be_started_leaves_the_job_waiting(server: Server):
    job_id = server.add()
    server.processes.broken = True
    server.tick()
    assert server.state(job_id) is State.WAITING
    assert "cannot be started" in server.message(job_id)
    server.processes.broken = False
    server.tick()
    assert server.state(job_id) is State.RUNNING


def test_one_broken_job_does_not_hold_up_the_others(server: Server):
    broken = server.path / ("f" * 32)
    broken.mkdir()
    (broken / "intent.json").write_text("{")
    job_id = server.add()
    server.tick()
    assert server.state(job_id) is State.RUNNING
    assert server.supervisor.state(server.job(broken.name)).state is State.FAILED


def test_a_search_and_a_bootstrap_are_called_as_the_command_line_has_them(server: Server):
    search, topic = server.add("a.example", verb=JobVerb.DISCOVER), server.add("b.example", verb=JobVerb.BOOTSTRAP)
    server.tick()
    assert server.processes.commands == [
        ["discover", "sites", "--out", str(server.path / search), "--quiet"],
        ["bootstrap", "--out", str(server.path / topic)],
    ]
    server.processes.codes[server.pid(topic)] = None
    (server.path / topic / "bootstrap.toml").write_text("")
    server.restart()
    assert server.state(topic) is State.ENDED
    assert server.job(topic).intent.wish is Wish.RUNNING


def test_a_job_that_fails_never_seems_to_be_interrupted(server: Server):
    job_id = server.add(verb=JobVerb.BOOTSTRAP)
    server.tick()
    server.processes.codes[server.pid(job_id)] = 2
    assert server.state(job_id) is State.FAILED, "before the next tick too"
    server.tick()
    assert server.state(job_id) is State.FAILED


def test_a_bootstrap_that_found_no_terms_has_found_nothing(server: Server):
    job_id = server.add(verb=JobVerb.BOOTSTRAP)
    server.tick()
    server.processes.codes[server.pid(job_id)] = 1
    (server.path / job_id / "bootstrap.toml").write_text("")
    assert server.state(job_id) is State.NOTHING_FOUND


def test_the_end_of_a_long_log_is_read(tmp_path: Path):
    assert last_lines(tmp_path) == []
    (tmp_path / LOG).write_text("x" * 20_000 + "\none\n\ntwo é\n")
    assert last_lines(tmp_path, 2) == ["one", "two é"]
