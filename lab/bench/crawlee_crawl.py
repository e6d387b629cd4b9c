"""crawlee's adaptive crawler on the same seeds: PYTHON lab/bench/crawlee_crawl.py PROXY CHROMIUM SEED...

`PYTHON` is that of an environment with crawlee[adaptive-crawler,playwright,parsel]. The selector that it waits for is one that
all pages of `scripted_web` have, so that it knows more of them than we do. It prints JSON.
"""

import asyncio
import json
import sys
import tempfile
from datetime import timedelta
from typing import Any

from crawlee import ConcurrencySettings  # type: ignore[import-not-found]
from crawlee.configuration import Configuration  # type: ignore[import-not-found]
from crawlee.crawlers import AdaptivePlaywrightCrawler  # type: ignore[import-not-found]
from crawlee.proxy_configuration import ProxyConfiguration  # type: ignore[import-not-found]


async def crawl(proxy: str, chromium: str, seeds: list[str]) -> dict[str, Any]:
    crawler = AdaptivePlaywrightCrawler.with_parsel_static_parser(
        proxy_configuration=ProxyConfiguration(proxy_urls=[proxy]),
        max_request_retries=0,
        concurrency_settings=ConcurrencySettings(max_concurrency=4, desired_concurrency=4),
        request_handler_timeout=timedelta(seconds=30),
        configuration=Configuration(storage_dir=tempfile.mkdtemp(), purge_on_start=True),
        playwright_crawler_specific_kwargs={
            "headless": True,
            "browser_launch_options": {"executable_path": chromium, "args": ["--no-sandbox"]},
        },
    )
    texts: dict[str, int] = {}

    @crawler.router.default_handler  # type: ignore[untyped-decorator]
    async def handle(context: Any) -> None:
        await context.wait_for_selector("main", timedelta(seconds=5))
        selector = await context.parse_with_static_parser()
        text = " ".join(selector.css("main ::text").getall())
        await context.push_data({"url": context.request.url, "letters": len(text)})
        await context.enqueue_links()

    await crawler.run(seeds)
    for item in (await crawler.get_data(limit=10_000)).items:
        texts[item["url"]] = item["letters"]
    state = crawler.statistics.state
    return {
        "pages": texts,
        "browser": state.browser_request_handler_runs,
        "http": state.http_only_request_handler_runs,
        "mispredicted": state.rendering_type_mispredictions,
    }


if __name__ == "__main__":
    told = asyncio.run(crawl(sys.argv[1], sys.argv[2], sys.argv[3:]))
    print(json.dumps(told))
