"""One visit to one link: ask for it, and understand the answer. All that reads pages from the web does it so."""

from bitrawl.crawl.fetch import redirect_target
from bitrawl.errors import UrlError
from bitrawl.model import MAX_REDIRECTS, Capture, Link, LinkKind, Page, Reason, Sitemap, Skip, Stage
from bitrawl.protocols import Analyser, Fetcher


async def visit(link: Link, fetcher: Fetcher, analyser: Analyser) -> Page | Sitemap | Skip:
    """One request. A redirect is not followed: it is a skip that names its target (`Skip.target`)."""
    answer = await fetcher.fetch(link)
    return answer if isinstance(answer, Skip) else await understand(link, answer, analyser)


async def understand(link: Link, answer: Capture, analyser: Analyser) -> Page | Sitemap | Skip:
    """What the answer to that link is."""
    if 300 <= answer.status < 400:
        return _redirect(link, answer)
    return await analyser.analyse(answer, index=link.kind is LinkKind.INDEX)


def _redirect(link: Link, answer: Capture) -> Skip:
    """The end of a link that redirects; the detail is where it leads, or why that is no page."""
    try:
        target = redirect_target(answer)
    except UrlError as error:
        return Skip(link.url, Stage.FETCH, Reason.REDIRECT, str(error), answer.status)
    reason = Reason.TOO_MANY_REDIRECTS if link.redirects >= MAX_REDIRECTS else Reason.REDIRECT
    return Skip(link.url, Stage.FETCH, reason, target, answer.status)
