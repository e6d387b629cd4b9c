"""Record the answers of a real MediaWiki for the tests that have none: `make wiki-answers` after a change of the questions."""

import asyncio
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from wiki.mediawiki import wikis

from bitrawl.errors import BitrawlError
from bitrawl.job import fetching
from bitrawl.model import Capture, Language, Link, Skip
from bitrawl.protocols import Fetcher
from bitrawl.topic.wiki_api import AnswerCache, ApiWiki, WikiClient
from bitrawl.topic.wiki_articles import Extent
from bitrawl.topic.wiki_topic import Wanted, gather
from bitrawl.url import Url

RECORDED = Path(__file__).parents[1] / "unit" / "topic" / "wiki_answers.json"
# Addresses in the record, each replaced by that of the server which stands for it.
SITES = {name: f"http://{name}.test/" for name in ("bilingual", "single", "home")}

GERMAN, ITALIAN = Language("de"), Language("it")
QUESTIONS: list[tuple[str, int, Sequence[Language]]] = [
    ("Health and safety at work", 2, [GERMAN]),
    ("occupational safety & health", 0, [GERMAN]),
    ("Occupational safety and health", 2, [ITALIAN]),
    ("Occupational safety and health", 2, [GERMAN, ITALIAN]),
    ("Occupational deseases", 2, [GERMAN]),
    ("Empty shelf", 2, [GERMAN]),
    ("Xylophone", 2, [GERMAN]),
]


class Recording:
    """Keeps what another fetcher answers, by the wiki and the question."""

    def __init__(self, inner: Fetcher, languages: dict[str, str]) -> None:
        self._inner = inner
        self._languages = languages  # by host
        self.answers: dict[str, dict[str, str]] = {}

    async def fetch(self, link: Link) -> Capture | Skip:
        answer = await self._inner.fetch(link)
        if isinstance(answer, Capture):
            body = answer.body.decode()
            for host, language in self._languages.items():
                body = body.replace(f"http://{host}/", f"http://{language}.test/")
            self.answers.setdefault(self._languages[link.url.host], {})[link.url.query] = body
        return answer


async def record(apis: dict[str, str]) -> dict[str, dict[str, str]]:
    async with fetching.api_web(fetching.FetchPolicy(allow_private=True)) as web:
        recording = Recording(web, {Url.parse(api).host: language for language, api in apis.items()})
        for name, depth, languages in QUESTIONS:
            with tempfile.TemporaryDirectory() as folder:
                answers = AnswerCache(Path(folder))
                client = WikiClient(Url.parse(apis["en"]), recording, answers, fetching.SystemClock())
                try:
                    wiki = await ApiWiki.found(client)
                    wanted = Wanted(Extent(depth, 1000, tuple(languages)))
                    await gather(wiki, await wiki.category(name), wanted)
                except BitrawlError as error:
                    print(error)  # noqa: T201
        return recording.answers


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, wikis(Path(os.environ["MEDIAWIKI"]), Path(place), SITES) as running:
        found = asyncio.run(record(running))
    RECORDED.write_text(json.dumps(found, indent=0, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
