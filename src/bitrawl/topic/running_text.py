"""Whether a page has running text to judge it by, or only leads on: splash pages, menus, directories."""

from bisect import bisect_right

from bitrawl.model import Page
from bitrawl.text.weight import weight

# Of 1,880 pages about some subject of shared/domain (2026-11), 7 have less than 100: lists of links.
LEAST_TEXT = 100  # characters that are not the text of links, on a page with links in its main text
# A list of links has a sentence or two around it: judgement.
LEAST_SHARE, ENOUGH = 0.2, 500  # of the main text that is not links; characters that are enough whatever the share


def has_running_text(page: Page) -> bool:
    """In its main text, or in its description. False: it says nothing of a topic, whatever its links are called."""
    main, linked = _lengths(page)
    running = main - linked + weight(page.metadata.description)
    if not running or running >= ENOUGH:
        return running > 0
    return running >= LEAST_SHARE * main and (running >= LEAST_TEXT or not linked)


def _lengths(page: Page) -> tuple[int, int]:
    """Of the main text, and of the links in it."""
    paragraphs = sorted(page.paragraphs, key=lambda one: one.position)
    places = [one.position for one in paragraphs]
    linked = [0] * len(paragraphs)
    for link in page.links:
        if link.anchor and link.position >= 0 and (place := bisect_right(places, link.position)):
            linked[place - 1] += weight(link.anchor)
    main = [(weight(one.text), links) for one, links in zip(paragraphs, linked, strict=True) if not one.boilerplate]
    return sum(size for size, _ in main), sum(min(size, links) for size, links in main)
