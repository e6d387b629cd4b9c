"""The examples of the API's two pages run as they stand, on a server with its default settings."""

import html
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import msgspec
import pytest
import uvicorn
from kept_findings import Aligned, keep_findings
from prose_site import keep
from small_site import articles

from bitrawl.endings import CrawlEnd, EndKind
from bitrawl.job.drawing import give_sample
from bitrawl.model import PagePair, Segment, SegmentPair
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.samples import SampleRequest
from bitrawl.store.stored_findings import Findings
from bitrawl.web.app import Serving, application, new_server
from bitrawl.web.commands import CommandRunner
from bitrawl.web.job_list import Command, Intent, JobVerb, Wish, write_intent
from bitrawl.web.open_connections import patient_protocol
from bitrawl.web.security import host_names

DOCUMENTED = Path(__file__).parents[3] / "docs/reference/http-api.md"
JOB = "0" * 32
OTHER_KINDS = ("/aligned", "/sites", "/topic", "/next")  # 404 for a job that mines
STATUS = "curl() { command curl -sS -o /dev/stdout -w '\\nstatus %{http_code}\\n' \"$@\"; }\n"


def mined(folder: Path) -> None:
    folder.mkdir(parents=True)
    pages, _ = articles(2, "http://s.test/en/{}", "http://s.test/fr/{}")
    keep(folder, pages)
    ledger = Ledger(folder / "job.sqlite")
    english, french = pages[:2]
    texts = zip(english.paragraphs, french.paragraphs, strict=True)
    segments = tuple(SegmentPair(english.url, french.url, Segment(a.text), Segment(b.text), 0.9) for a, b in texts)
    pair = PagePair(english.url, french.url, english.language, french.language, 0.9, {"u": 0.9})
    keep_findings(Findings(ledger), "s.test", len(pages), [Aligned(pair, segments)])
    ledger.remember("ended", CrawlEnd(kind=EndKind.DONE))
    ledger.close()
    (folder / "corpus").mkdir(exist_ok=True)
    (folder / "corpus/en-fr.tmx").write_text("<tmx/>")
    (folder / "report.html").write_text("<p>")
    reading_index.refresh(folder)
    ours = Intent(owner="you", created=1.0, command=Command(JobVerb.MINE), wish=Wish.RUNNING, name="Ours", exit=0)
    write_intent(folder, ours)


async def answer(_runner: CommandRunner, arguments: list[str], given: bytes = b"", **limits: object) -> str:
    """In place of a process: what it would write."""
    if limits.get("module") == "bitrawl.job.drawing":
        return str(give_sample(JobFolder(Path(arguments[0])), msgspec.json.decode(given, type=SampleRequest), 1.0))
    for flag in arguments:
        if flag.startswith("--output="):
            Path(flag.removeprefix("--output=")).write_text("")
    if arguments[0] == "export" and "--to" in arguments:
        (Path(arguments[arguments.index("--to") + 1]) / "en-fr.tmx").write_text("<tmx/>")
    return ""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a server on loopback that starts no jobs."""
    jobs = tmp_path_factory.mktemp("served") / "jobs"
    mined(jobs / JOB)
    app = application(new_server(Serving(jobs)), host_names("127.0.0.1", ()))
    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_level="error", http=patient_protocol()))
    listening = server.config.bind_socket()
    thread = threading.Thread(target=server.run, args=([listening],))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(CommandRunner, "run", answer)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()
    listening.close()


def ran(script: str, folder: Path) -> str:
    done = subprocess.run(["bash", "-eu", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_examples_of_the_app_run(base: str, tmp_path: Path):
    page = httpx.get(f"{base}/api").text
    first, *examples = [html.unescape(block) for block in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)]
    # What deletes the job comes last.
    examples.sort(key=lambda example: ("-X DELETE" in example, -example.count("/") if "-X DELETE" in example else 0))
    script = "\n".join([first, STATUS, *(f"echo 'example {n}'\n{example}" for n, example in enumerate(examples))])
    answers = re.split(r"^example \d+$", ran(script, tmp_path), flags=re.MULTILINE)[1:]
    assert len(answers) == len(examples) > 20
    for example, text in zip(examples, answers, strict=True):
        status = int(text.rpartition("status ")[2])
        allowed = (
            (409,)
            if re.search(
                r"-X (POST|PUT)|strategies|/conflicts|/larger|\$SEGMENT", example
            )  # nobody differs; edited by now
            else (404,)
            if re.search(f'({"|".join(OTHER_KINDS)})"', example)
            else ()
        )
        assert status in (200, 201, 202, 204, *allowed), f"{example}\n{text}"


def test_the_examples_of_the_documentation_run(base: str, tmp_path: Path):
    block = re.search(r"```console\n(.*?)```", DOCUMENTED.read_text("utf-8"), re.DOTALL)
    assert block is not None
    commands = re.findall(r"^\$ ((?:.*\\\n)*.*)", block[1], re.MULTILINE)
    script = "\n".join(commands).replace("http://127.0.0.1:8000", base)
    assert '"state":"waiting"' in ran(script, tmp_path)
    assert (tmp_path / "corpus.tmx").read_text() == "<tmx/>"
