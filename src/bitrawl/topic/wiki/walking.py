"""From a category to those below it, level by level: each category once, so that cycles end."""

from collections.abc import AsyncIterator, Callable, Sequence

import msgspec

from bitrawl.topic.wiki.articles import Article, Extent, Gathered


class Member(msgspec.Struct, frozen=True):
    """What is in a category: an article, or a category below it."""

    article: Article | None = None
    subcategory: str = ""


Members = Callable[[Sequence[str]], AsyncIterator[tuple[str, Member]]]
"""What is in each of these categories, with the category's name."""


async def walked(root: str, extent: Extent, members: Members) -> Gathered:
    """Breadth first, so that an article in several categories is found at its least depth."""
    branches = {root: root}  # of all categories met
    found: dict[str, Article] = {}
    level, read = [root], 0
    for depth in range(extent.depth + 1):
        below: list[str] = []
        read += len(level)
        async for name, member in members(level):
            if member.article is None:
                if member.subcategory not in branches:
                    branches[member.subcategory] = branches[name] if depth else member.subcategory
                    below.append(member.subcategory)
            elif member.article.title not in found:
                if len(found) >= extent.most:
                    return Gathered(tuple(found.values()), read, complete=False)
                placed = msgspec.structs.replace(member.article, category=name, branch=branches[name], depth=depth)
                found[placed.title] = placed
        level = below
        if not level:
            break
    return Gathered(tuple(found.values()), read)
