"""Says at the end of a run what was left out, since a silent skip looks like a pass; and which tests come first."""

import gc
import importlib.util
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from app.program import what_is_missing
from inline_children import inline_children
from s3_server import s3_server

from bitrawl.cluster import places

BROWSER_TESTS = Path(__file__).parent / "app"
SLOW_TESTS = {BROWSER_TESTS, Path(__file__).parent / "end_to_end"}
LONG = 10.0  # seconds on an idle machine; a test that takes longer says why: `@pytest.mark.long("…")`


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"long(why): the test takes more than {LONG:g} seconds, and why")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    return True if BROWSER_TESTS in (collection_path, *collection_path.parents) and what_is_missing() else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each worker of xdist begins with its share of the slow files: quick tests are left to even out the end.

    `--dist worksteal` gives each worker as many tests, which follow each other; who is done takes over the last ones of another.
    """
    for item in items:
        item.user_properties += [("why", mark.args[0]) for mark in item.iter_markers("long")]
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    slow_files = dict.fromkeys(item.path for item in items if item.path.parent in SLOW_TESTS)
    worker_of = {path: number % workers for number, path in enumerate(slow_files)}
    quick = [item for item in items if item.path not in worker_of]
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        ordered += [item for item in items if worker_of.get(item.path) == worker]
        room = max(0, len(items) * (worker + 1) // workers - len(ordered))
        ordered += quick[:room]
        del quick[:room]
    items[:] = ordered + quick


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing is garbage until the tests have been collected: to look for it took a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    _show_long(terminalreporter)
    asked = [Path(config.invocation_params.dir, one.partition("::")[0]).resolve() for one in config.args]
    concerned = any(one in (BROWSER_TESTS, *BROWSER_TESTS.parents) or BROWSER_TESTS in one.parents for one in asked)
    if concerned and (missing := what_is_missing()):
        terminalreporter.section("not everything was tested", sep="!", red=True, bold=True)
        terminalreporter.line(f"browser tests were NOT run: {missing}; make test-web installs it", red=True, bold=True)


def _show_long(terminalreporter: pytest.TerminalReporter) -> None:
    seconds: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for report in (one for reports in terminalreporter.stats.values() for one in reports):
        if isinstance(report, pytest.TestReport):
            seconds[report.nodeid] += report.duration  # type: ignore[assignment]
            reasons[report.nodeid] = str(dict(report.user_properties).get("why", "it has yet to say why"))
    longest = [(name, took) for name, took in seconds.most_common() if took > LONG]
    if longest:
        terminalreporter.section(f"tests that took more than {LONG:g} s")
    for name, took in longest:
        terminalreporter.line(f"{took:5.1f} s {name}: {reasons[name]}")


@pytest.fixture
def no_children() -> Iterator[None]:
    """For tests of jobs that are not about processes."""
    with inline_children():
        yield


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    """A real S3 server."""
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("obstore") is None:
        pytest.skip("moto is not installed; run: make test-cluster")
    with s3_server("corpora") as endpoint:
        yield endpoint


@pytest.fixture(params=["folder", "s3 in memory", "s3"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty place: a folder, or a prefix of a bucket."""
    if request.param == "folder":
        return str(tmp_path / "there")
    stores = pytest.importorskip("obstore.store")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    if request.param == "s3":
        monkeypatch.setenv("AWS_ENDPOINT_URL", request.getfixturevalue("moto"))
        places._store.cache_clear()
    else:
        store = stores.MemoryStore()
        monkeypatch.setattr(places, "_store", lambda *_: store)
    return f"s3://corpora/jobs/{tmp_path.name}"
