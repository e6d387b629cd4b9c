"""A peer of `lab.bench.crawl`: crawlee's Parsel crawler that keeps what bitrawl keeps, in the folder where it runs.

`python -m lab.bench.crawlee_peer URL`
"""

import asyncio
import sys
from pathlib import Path

from crawlee.crawlers import ParselCrawler, ParselCrawlingContext

from lab.bench.keeping import Keeper


async def crawl(start: str, folder: Path) -> None:
    # robots.txt is obeyed and nothing is printed; all else is crawlee's default.
    crawler = ParselCrawler(respect_robots_txt_file=True, configure_logging=False)
    with Keeper(folder) as keeper:

        @crawler.router.default_handler
        async def keep(context: ParselCrawlingContext) -> None:
            answer = context.http_response
            headers = list(answer.headers.items())
            row = keeper.keep(context.request.url, answer.status_code, headers, await answer.read())
            await context.push_data(row)
            await context.enqueue_links()

        await crawler.run([start])


if __name__ == "__main__":
    asyncio.run(crawl(sys.argv[1], Path.cwd()))
