"""The corpus is a function of what the servers answer: of no order of visits, no round of mining and no batch."""

import asyncio
import random
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from prose_site import keep
from small_site import articles
from topic_web import Served, serve

from bitrawl import config
from bitrawl.config import Job
from bitrawl.endings import Ending
from bitrawl.job.running import mine, mine_again
from bitrawl.job.site_mining import MiningPlan
from bitrawl.model import Page
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.url import Url

HOSTS = ("harbour.test", "valley.test")
PAIRS = 12  # of each host


def html(title: str, paragraphs: list[str], links: list[str]) -> str:
    listed = "".join(f'<li><a href="{link}">{link.rpartition("/")[2]}</a>' for link in links)
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<html><head><title>{title}</title></head><body><main>{text}</main><ul>{listed}</ul></body></html>"


def web() -> dict[str, str]:
    """Sites of articles in two languages. Some stand at two addresses, and all have a notice in common."""
    made = {}
    for number, host in enumerate(HOSTS):
        pages, _ = articles(PAIRS, f"http://{host}/en/a{{}}", f"http://{host}/fr/a{{}}", seed=number + 1)
        texts = {str(page.url): [paragraph.text for paragraph in page.paragraphs] for page in pages}
        texts |= {f"{url}-again": text for url, text in list(texts.items())[::7]}
        made |= {
            url: html(f"{text[0][:40]}", [*text, "Open from May to October."], list(texts))
            for url, text in texts.items()
        }
        made[f"http://{host}/"] = html(host, [], list(texts))
    return made


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(web()) as running:
        yield running


def job(served: Served, langs: str = "en,fr") -> Job:
    several = "," in langs
    asked = {
        "langs": langs.split(","),
        "seeds": [f"http://{host}/" for host in HOSTS],
        "politeness": {"delay": 0},
        "analysis": {"workers": 1},
        "export": {"formats": ["jsonl", "tmx", "tsv", "moses", "xces"] if several else ["jsonl", "text"]},
        "fetch": {"connect_to": {"*.test": f"127.0.0.1:{served.port}"}, "allow_private": True},
    }
    return config.resolve(asked)


def mined(asked: Job, folder: Path, plan: MiningPlan) -> dict[str, bytes]:
    folder.mkdir()
    config.write(asked, folder / "job.toml")
    assert asyncio.run(mine(asked, JobFolder(folder), plan=plan)) is Ending.DONE
    return corpus(folder)


def corpus(folder: Path) -> dict[str, bytes]:
    """The files of a corpus without the dates in them; the card has the hashes of the others."""
    paths = [path for path in (folder / "corpus").rglob("*") if path.is_file() and path.name != "README.md"]
    return {
        str(path.relative_to(folder)): re.sub(rb'creationdate="\d{8}T\d{6}Z"', b"", path.read_bytes()) for path in paths
    }


def test_a_site_that_is_mined_without_a_pause_while_it_grows_has_the_corpus_of_the_finished_job(
    served: Served, tmp_path: Path
):
    asked = job(served)
    found = mined(asked, tmp_path / "job", MiningPlan(growth=1.0001, soon=0.0))
    asyncio.run(mine_again(asked, JobFolder(tmp_path / "job")))
    assert found == corpus(tmp_path / "job")
    assert len(found["corpus/en-fr.documents.jsonl"].splitlines()) == PAIRS * len(HOSTS)


def test_answers_that_come_in_another_order_give_the_same_bytes(served: Served, tmp_path: Path):
    found, visited = [], []
    for host in HOSTS:
        served.before[:] = [first(host)]
        found.append(mined(job(served), tmp_path / host, MiningPlan(sample=12, batch=5)))
        ledger = Ledger(tmp_path / host / "job.sqlite", read_only=True)
        visited.append([page.url for page in ledger.pages()])
        ledger.close()
    served.before.clear()
    assert visited[0] != visited[1]
    assert sorted(visited[0]) == sorted(visited[1])
    assert found[0] == found[1]


def first(host: str) -> Callable[[str], None]:
    """That host gives a few articles before the others give any."""
    begun, asked = threading.Event(), set()

    def wait(url: str) -> None:
        if Url.parse(url).host != host:
            if "/a" in url:
                begun.wait(10)
            return
        asked.add(url)
        if len(asked) > 10:
            begun.set()

    return wait


@pytest.mark.usefixtures("no_children")
@pytest.mark.parametrize("langs", ["en,fr", "fr"])
def test_pages_that_were_visited_in_another_order_give_the_same_bytes(served: Served, tmp_path: Path, langs: str):
    pages = copied(articles(30, "http://s.test/en/p{}", "http://s.test/fr/p{}")[0])
    found = []
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        random.Random(seed).shuffle(pages)
        keep(folder, pages)
        asyncio.run(mine_again(job(served, langs), JobFolder(folder)))
        found.append(corpus(folder))
    assert found[0] == found[1]


def copied(pages: list[Page]) -> list[Page]:
    """Some of them stand at two addresses, equally good."""
    again = [msgspec.structs.replace(page, url=Url.parse(f"{page.url}x")) for page in pages[::5]]
    return [*pages, *again]
