"""A run over many sites in bundles is visited again: each part is a job, and ends as that of a fresh run."""

import json
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from forked_command import start_forked
from one_process import bundle_here

from bitrawl.cluster import bundle_process
from bitrawl.cluster.bundles import done
from bitrawl.cluster.places import place
from bitrawl.store.ledger import Ledger
from lab.bench.changing_site import HOST, RULES, ChangingSite

HOSTS = (HOST, "http://www.haven.test")

Bitrawl = Callable[..., tuple[int, str, str]]


class Web(NamedTuple):
    sites: list[ChangingSite]
    folder: Path
    at: str  # the address below which all runs are

    def advance(self) -> None:
        for site in self.sites:
            site.advance()

    def command(self, out: str, *more: str) -> list[str]:
        listed = self.folder / "sites.txt"
        listed.write_text("".join(f"{site.host}/\n" for site in self.sites))
        routes = [f"--connect-to={site.host.removeprefix('http://')}=127.0.0.1:{site.port}" for site in self.sites]
        where = ["--sites", str(listed), "--out", f"{self.at}/{out}", "--scratch", str(self.folder / "scratch")]
        how = ["--langs", "en,fr", "--delay", "0", "--exhaustive", "--allow-private", "--bundle-sites", "1"]
        return ["mine", *where, *how, *routes, *more]

    def found(self, out: str) -> dict[str, object]:
        """Pages with their texts by part, and all lines of the merged corpus without their scores."""
        run, found = place(f"{self.at}/{out}"), dict[str, object]()
        for name in (run / "parts").names():
            with TemporaryDirectory(dir=self.folder) as copy:
                (run / "parts" / name).download(Path(copy))
                with Ledger(Path(copy, "job.sqlite"), read_only=True) as ledger:
                    found[name] = {str(page.url): page.digest for page in ledger.pages()}
        lines = ((run / "merged/corpus/en-fr.sentences.jsonl").read() or b"").splitlines()
        found["texts"] = {(line["text_a"], line["text_b"]) for line in map(json.loads, lines)}
        return found


@pytest.fixture
def web(tmp_path: Path, anywhere: str) -> Iterator[Web]:
    sites = [ChangingSite(5, host=host, seed=seed, sentences=9) for seed, host in enumerate(HOSTS)]
    with ExitStack() as stack:
        for site in sites:
            stack.enter_context(site.served())
        yield Web(sites, tmp_path, anywhere)


@pytest.fixture
def run(web: Web, bitrawl: Bitrawl, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Runs the command here, and its bundles too: all that it said."""
    monkeypatch.setattr(bundle_process, "_run", bundle_here)

    def command(out: str, *more: str) -> str:
        status, said, told = bitrawl(*web.command(out, *more))
        assert status == 0, told
        return said + told

    return command


@pytest.mark.usefixtures("no_children")
def test_every_site_is_visited_again_and_the_merged_corpus_is_that_of_a_fresh_run(
    web: Web, run: Callable[..., str], bitrawl: Bitrawl
):
    run("out")
    out = f"{web.at}/out"
    assert "has been visited once" in bitrawl("diff", out)[2]
    said = place(out) / "parts/00001/reviewers.json"
    said.write(b'{"what people say": "stays"}')
    earlier = [{article.number: article for article in site.articles} for site in web.sites]
    web.advance()
    assert "Round 2: 2 of 2 sites done" in run("out", "--refresh")
    run("fresh")
    assert web.found("out") == web.found("fresh")
    assert said.read() == b'{"what people say": "stays"}'
    told = json.loads(bitrawl("diff", out, "--format", "json")[1])
    assert (told["since"], told["round"]) == (1, 2)
    for site, before in zip(web.sites, earlier, strict=True):
        now = {article.number: article for article in site.articles}
        expected = {"new": now.keys() - before.keys(), "gone": before.keys() - now.keys()}
        for name, numbers in expected.items():
            urls = {url for url in told["pages"][name] if url.startswith(site.host)}
            assert {int(url.rpartition("-")[2]) for url in urls} == numbers, name
    assert told["units"]["new"]
    assert told["units"]["gone"]


@pytest.mark.parametrize("anywhere", ["folder"], indirect=True)
@pytest.mark.usefixtures("no_children")
def test_the_merged_corpus_does_not_depend_on_what_was_tried_again_or_on_how_sites_were_divided(
    web: Web, run: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setattr(web.sites[0], "answer", lambda _path: None)
        assert "add --retry-failed" in run("out", "--bundle-sites", "2")
    run("out", "--bundle-sites", "2", "--retry-failed")
    run("apart")
    again, apart = place(f"{web.at}/out"), place(f"{web.at}/apart")
    assert ((again / "parts").names(), (apart / "parts").names()) == (["00000", "00000-again"], ["00000", "00001"])
    for kind in ("documents", "sentences"):
        lines = f"merged/corpus/en-fr.{kind}.jsonl"
        assert (again / lines).read() == (apart / lines).read() != b""


@pytest.mark.parametrize("anywhere", ["folder"], indirect=True)
@pytest.mark.usefixtures("no_children")
def test_a_killed_round_of_a_run_goes_on_with_the_same_command(web: Web, run: Callable[..., str]):
    run("out")
    web.advance()
    for site in web.sites:
        site.asked()
    process = start_forked(*web.command("out", "--refresh", "--quiet"))
    second = web.sites[1]
    second.after_request = lambda count: process.kill() if count == 6 else None
    process.join()
    assert process.exitcode == -signal.SIGKILL
    second.after_request = lambda _count: None
    done_before, begun = web.sites[0].asked(), second.asked()
    assert "1 bundle to do, 1 site done before" in run("out")  # without --refresh
    assert done_before
    assert not web.sites[0].asked(), "a site that was visited again is visited once more"
    paths = Counter(request.path for request in (*begun, *second.asked()))
    twice = {path for path, count in paths.items() if count > 1} - set(RULES)
    assert twice <= {request.path for request in begun[-len(twice) :]}, (
        "only what was in flight, the last ones, is asked again"
    )
    run("fresh")
    assert web.found("out") == web.found("fresh")
    assert not list((web.folder / "scratch").rglob("job.sqlite"))
    out = place(f"{web.at}/out")
    assert [how.round for name in ("00000", "00001") if (how := done(out, name))] == [2, 2]
    with Ledger(Path(f"{web.at}/out/parts/00001/job.sqlite"), read_only=True) as ledger:
        assert ledger.rounds.number == 2
