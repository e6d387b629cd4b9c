"""Errors made up: what a corpus has that is no translation, put into pages that are."""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from lab.train.segment_sources import Group, LabelledPage

# Of the beads of a page, about so many are spoiled. Far more than aligners get wrong: the score should be honest also of
# sites that are worse than documentation. Judgement.
SHARE = 0.2
# Of the short segments of a page so many are out of order, as in a list that one language sorts otherwise. Judgement: a
# short segment that nothing speaks for should not pass for more than a guess.
REORDERED = 0.5
# Of the segments with digits so many have another one.
RENUMBERED = 0.15
# So many pages have no more than a few segments, and so no neighbours that could tell.
FRAGMENTS = 0.15
_LONGEST_RUN = 6
_SHORT_WORDS = 5
_HALF_LEAST = 6  # words of a text that can be halved


class Pool(NamedTuple):
    """Where other texts come from: of the same site, and in other languages."""

    same: Sequence[str]  # second sides of the group itself
    foreign: Sequence[str]


class _Draft:
    """A page in the making."""

    def __init__(self, page: LabelledPage, pool: Pool, chance: random.Random) -> None:
        self.pairs, self.right = list(page.pairs), list(page.right)
        self.original = page.pairs
        self.pool, self.chance = pool, chance
        self.spoiled: set[int] = set()

    def spoil(self, number: int, text: str, *, side: str = "b") -> None:
        pair = self.pairs[number]
        whole = getattr(pair, side)
        if number in self.spoiled or not text.strip() or text == whole.text:
            return
        segment = msgspec.structs.replace(whole, text=text)
        # An aligner is as sure of its errors as of anything else, or less.
        score = pair.score if self.chance.random() < 0.5 else self.chance.uniform(0.3, 1.0) * pair.score
        self.pairs[number] = msgspec.structs.replace(pair, **{side: segment}, score=score)
        # Of what nobody knows to be right, nobody knows that it was spoiled; it stays a neighbour.
        self.right[number] = None if self.right[number] is None else False
        self.spoiled.add(number)

    def run(self, least: int = 2) -> range:
        size = self.chance.randint(least, _LONGEST_RUN)
        start = self.chance.randrange(len(self.pairs))
        return range(start, min(start + size, len(self.pairs)))


def spoiled(group: Group, pool: Pool, *, wrong_pages: float) -> Group:
    """The group with errors in it; such a share of its pairs of pages is none, but in the lengths of their sentences."""
    chance = random.Random(f"{group.source}{group.languages}{wrong_pages}")  # noqa: S311 (nothing is kept secret by it)
    pages = (_fragment(_spoiled_page(page, pool, wrong_pages, chance), chance) for page in group.pages)
    return group._replace(pages=tuple(pages))


def _spoiled_page(page: LabelledPage, pool: Pool, wrong_pages: float, chance: random.Random) -> LabelledPage:
    draft = _Draft(page, pool, chance)
    if chance.random() < wrong_pages:
        for number in range(len(page.pairs)):
            _replace(draft, number)
    else:
        _spoil_some(draft)
    return LabelledPage(
        tuple(draft.pairs), tuple(draft.right), tuple(n in draft.spoiled for n in range(len(draft.pairs)))
    )


def _spoil_some(draft: _Draft) -> None:
    short = [n for n, pair in enumerate(draft.original) if len(pair.a.text.split()) <= _SHORT_WORDS]
    for _ in range(len(short)):
        if sum(number in draft.spoiled for number in short) >= REORDERED * len(short):
            break
        _reorder(draft, short)
    for number in range(len(draft.pairs)):
        if draft.chance.random() < RENUMBERED:
            _renumber(draft, number)
    wanted = len(draft.spoiled) + round(SHARE * (len(draft.pairs) - len(short)) + draft.chance.random() - 0.5)
    for _ in range(4 * len(draft.pairs)):
        if len(draft.spoiled) >= wanted:
            break
        draft.chance.choices(list(_KINDS), list(_KINDS.values()))[0](draft)


def _fragment(page: LabelledPage, chance: random.Random) -> LabelledPage:
    """Now and then only a few segments of it."""
    if not page.pairs or chance.random() >= FRAGMENTS:
        return page
    start = chance.randrange(len(page.pairs))
    return page.part(slice(start, start + chance.randint(1, 3)))


def _shift(draft: _Draft) -> None:
    """Each gets the text that is its neighbour's."""
    step = draft.chance.choice((-1, 1))
    for number in draft.run():
        if 0 <= number + step < len(draft.pairs):
            draft.spoil(number, draft.original[number + step].b.text)


def _reorder(draft: _Draft, short: Sequence[int]) -> None:
    start = draft.chance.randrange(len(short))
    chosen = short[start : start + draft.chance.randint(2, _LONGEST_RUN)]
    mixed = draft.chance.sample(chosen, len(chosen))
    for number, other in zip(chosen, mixed, strict=True):
        draft.spoil(number, draft.original[other].b.text)


def _renumber(draft: _Draft, number: int) -> None:
    text = draft.pairs[number].b.text
    places = [place for place, letter in enumerate(text) if letter.isascii() and letter.isdecimal()]
    if places:
        place = draft.chance.choice(places)
        digit = str((int(text[place]) + draft.chance.randint(1, 8)) % 10)
        draft.spoil(number, text[:place] + digit + text[place + 1 :])


def _halve(draft: _Draft) -> None:
    """Half of one side is missing."""
    number = draft.chance.randrange(len(draft.pairs))
    side = draft.chance.choice("ab")
    text = getattr(draft.pairs[number], side).text
    if len(text.split()) >= _HALF_LEAST:
        words = text.split()
        draft.spoil(number, " ".join(words[: int(len(words) * draft.chance.uniform(0.25, 0.6))]), side=side)
    elif len(text) >= 3 * _HALF_LEAST and not text.isascii():
        draft.spoil(number, text[: int(len(text) * draft.chance.uniform(0.25, 0.6))], side=side)


def _lengthen(draft: _Draft) -> None:
    """One side has the next sentence as well."""
    number = draft.chance.randrange(len(draft.pairs))
    side = draft.chance.choice("ab")
    if number + 1 < len(draft.pairs):
        joined = getattr(draft.original[number], side).text + " " + getattr(draft.original[number + 1], side).text
        if len(joined) > 1.3 * len(getattr(draft.original[number], side).text):
            draft.spoil(number, joined, side=side)


def _replace(draft: _Draft, number: int = -1) -> None:
    """A text of the same site that is about as long."""
    number = number if number >= 0 else draft.chance.randrange(len(draft.pairs))
    length = len(draft.pairs[number].b.text)
    some = draft.chance.choices(draft.pool.same, k=30)
    draft.spoil(number, min(some, key=lambda text: abs(len(text) - length)))


def _salad(draft: _Draft) -> None:
    number = draft.chance.randrange(len(draft.pairs))
    text = draft.pairs[number].b.text
    some = draft.chance.choices(draft.pool.same, k=8)
    if " " in text:
        words = [word for one in some for word in one.split()]
        draft.spoil(number, " ".join(draft.chance.choices(words, k=len(text.split()))))
    else:
        letters = [one[place : place + 2] for one in some for place in range(0, len(one), 2)]
        draft.spoil(number, "".join(draft.chance.choices(letters, k=max(1, len(text) // 2))))


def _foreign(draft: _Draft) -> None:
    number = draft.chance.randrange(len(draft.pairs))
    length = len(draft.pairs[number].b.text)
    some = draft.chance.choices(draft.pool.foreign, k=10)
    draft.spoil(number, min(some, key=lambda text: abs(len(text) - length)))


def _copy(draft: _Draft) -> None:
    """Not translated."""
    number = draft.chance.randrange(len(draft.pairs))
    draft.spoil(number, draft.pairs[number].a.text)


_KINDS: dict[Callable[[_Draft], None], int] = {
    _shift: 5, _halve: 8, _lengthen: 3, _replace: 8, _salad: 2, _foreign: 2, _copy: 2,
}  # fmt: skip
