"""Runs over many sites, as the web app shows them."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from bitrawl import config
from bitrawl.cluster.bundles import (
    Bundle,
    BundledSite,
    Done,
    Figures,
    PartState,
    SiteOutcome,
    mark_done,
    progress_file,
    written_bundles,
)
from bitrawl.cluster.places import place
from bitrawl.config import Job
from bitrawl.endings import State
from bitrawl.store.folder import JobFolder
from bitrawl.web.app import Serving, application, new_server
from bitrawl.web.job_list import ServedJob
from bitrawl.web.job_state import SILENT, figures_of_run, state_of_run

JOB = Job(langs=["en", "fr"], seeds=["https://a.org/", "https://b.org/"])


@pytest.fixture
def run(tmp_path: Path) -> JobFolder:
    """Two bundles, of which the first is done."""
    folder = tmp_path / "jobs" / "many"
    folder.mkdir(parents=True)
    config.write(JOB, folder / "job.toml")
    out = place(str(folder))
    sites = [BundledSite(f"{name}.org", [f"https://{name}.org/"]) for name in "ab"]
    written_bundles(out, lambda: [Bundle(f"0000{number}", [site]) for number, site in enumerate(sites)], JOB)
    done = Done("00000", PartState.MINED, [SiteOutcome("a.org", 7, 3)], Figures(1, 7, 9, 1000, 3, 20, 18))
    mark_done(out, done)
    return JobFolder(folder)


def test_figures_are_sums_over_bundles(run: JobFolder):
    assert ServedJob("many", run, None).kind == "run"
    progress_file(place(str(run.path)), "00001").write(b'{"pages": 5, "fetches": 6, "units": 2}')
    live = figures_of_run(run, now=1.0)
    assert (live.pages, live.fetches, live.sites, live.units) == (12, 15, 1, {"": 20})


def test_the_state_is_read_from_files(run: JobFolder):
    assert state_of_run(run).state is State.INTERRUPTED
    progress_file(place(str(run.path)), "00001").write(b"{}")
    told = (run.path / "progress" / "00001.json").stat().st_mtime
    assert state_of_run(run, told + SILENT / 2).state is State.RUNNING
    assert state_of_run(run, told + SILENT * 2).state is State.INTERRUPTED
    failed = Done("00001", PartState.FAILED, [SiteOutcome("b.org", failed="killed by SIGKILL")], Figures(sites=1))
    mark_done(place(str(run.path)), failed)
    assert state_of_run(run).state is State.ENDED
    assert figures_of_run(run, now=1.0).skips == {"killed by SIGKILL": 1}


def test_the_app_lists_and_shows_it_and_gives_what_was_merged(run: JobFolder):
    merged = run.path / "merged" / "corpus"
    merged.mkdir(parents=True)
    (merged / "en-fr.tmx").write_text("<tmx/>")
    client = TestClient(application(new_server(Serving(run.path.parent)), ["testserver"]))
    assert [one["kind"] for one in client.get("/api/v1/jobs").json()] == ["run"]
    page = client.get("/jobs/many").text
    assert "sites left: 1" in page
    assert client.get("/jobs/many/found/merged/corpus/en-fr.tmx").text == "<tmx/>"
    assert client.get("/jobs/many/found/merged/../job.toml").status_code == 404
    assert client.get("/jobs/many/pairs").status_code == 404
