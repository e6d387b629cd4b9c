"""The peer of `lab.bench.crawl`: Scrapy as it comes, following links and doing nothing else."""

from collections.abc import Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor


class LinkSpider(Spider):
    name = "links"
    allowed_domains = ("127.0.0.1",)
    # What `scrapy startproject` sets, without its delay; all else is Scrapy's default.
    custom_settings = {"ROBOTSTXT_OBEY": True}  # noqa: RUF012 (Scrapy's own idiom)

    def __init__(self, start: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = [start]
        self._links = LinkExtractor()

    def parse(self, response: Response) -> Iterator[Request]:
        return (Request(link.url) for link in self._links.extract_links(response))
