"""Peers of `lab.bench.crawl`: Scrapy that only follows links, and Scrapy that keeps what bitrawl keeps."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor


class LinkSpider(Spider):
    """With `-a keep=FOLDER` it keeps the pages, and its rows go to the feed that `-O` names."""

    name = "links"
    allowed_domains = ("127.0.0.1",)
    # What `scrapy startproject` sets, without its delay; all else is Scrapy's default.
    custom_settings = {"ROBOTSTXT_OBEY": True}  # noqa: RUF012 (Scrapy's own idiom)

    def __init__(self, start: str, keep: str = "", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = [start]
        self._links = LinkExtractor()
        self._keeper = None
        if keep:
            from lab.bench.keeping import Keeper  # noqa: PLC0415 (not what the bare one has to pay for)

            self._keeper = Keeper(Path(keep))

    def parse(self, response: Response) -> Iterator[Request | dict[str, str]]:
        if self._keeper is not None:
            headers = [(name.decode(), value.decode()) for name, values in response.headers.items() for value in values]
            yield self._keeper.keep(response.url, response.status, headers, response.body)
        yield from (Request(link.url) for link in self._links.extract_links(response))

    def closed(self, _reason: str) -> None:
        if self._keeper is not None:
            self._keeper.__exit__(None, None, None)
