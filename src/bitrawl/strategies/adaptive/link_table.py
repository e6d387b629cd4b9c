"""What is known about the links of one site: one row per link, in arrays that one matrix product scores."""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.strategies.adaptive.link_state import LinkState
from bitrawl.url import Url

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

FIRST_ROWS = 256  # judgement: rows of a new table; it doubles when it is full


class Column(IntEnum):
    """The features of the model. `LinkState` explains the fields with the same names."""

    BIAS = 0
    DECLARED = 1
    UNWANTED = 2
    WANTED = 3  # log-odds that it is in a requested language, by its URL
    PARTNER_VISITED = 4
    PARTNER_QUEUED = 5
    PARTNER_FAILED = 6
    SAME_ANCHOR = 7
    OTHER_ANCHOR = 8
    FROM_WANTED = 9  # found on a page in a requested language
    FROM_PAIRED = 10
    LISTED = 11  # listed in a sitemap
    DEPTH = 12
    TWIN_VISITED = 13
    TWIN_QUEUED = 14
    BESIDE = 15
    SILENT = 16
    # The columns above are facts. The columns below are log-odds: how often links of the same group have led to pairs.
    BY_MARKS = 17  # links with the same language marks
    BY_PLACE = 18  # links in the same directory, ignoring languages
    BY_BOTH = 19
    BY_SOURCE = 20  # links from the same page
    BY_STATE = 21  # links in the same state: declared, partner, link texts


FACTS = tuple(column for column in Column if column < Column.BY_MARKS)
GROUPS = tuple(column for column in Column if column >= Column.BY_MARKS)
_STATE_COLUMNS = np.array([Column[field.upper()] for field in LinkState.__struct_fields__])
_BY_STATE = GROUPS.index(Column.BY_STATE)


class LinkTable:
    """The arrays grow together. A row stands for a URL and never moves."""

    def __init__(self) -> None:
        self.urls: list[Url] = []  # by row
        self.rows: dict[Url, int] = {}  # by URL
        self._facts = np.zeros((FIRST_ROWS, len(FACTS)), np.float32)
        self._groups = np.zeros((FIRST_ROWS, len(GROUPS)), np.int64)
        self._queued = np.zeros(FIRST_ROWS, bool)
        self._written = np.zeros(FIRST_ROWS, np.float32)  # the score that the queue has
        self._gains = np.full(FIRST_ROWS, np.nan, np.float32)  # what a visit brought; nan until it is counted
        self._changed: set[int] = set()

    def add(self, url: Url, facts: Mapping[Column, float], groups: Mapping[Column, int], *, queued: bool) -> int:
        """Add a row and mark it as changed. Columns that are not given are 0."""
        row = self.rows[url] = len(self.urls)
        self.urls.append(url)
        if row == len(self._queued):
            self._grow()
        for column, value in facts.items():
            self._facts[row, column] = value
        for column, group in groups.items():
            self._groups[row, GROUPS.index(column)] = group
        self._queued[row] = queued
        self._changed.add(row)
        return row

    def _grow(self) -> None:
        self._facts = np.concatenate([self._facts, np.zeros_like(self._facts)])
        self._groups = np.concatenate([self._groups, np.zeros_like(self._groups)])
        self._queued = np.concatenate([self._queued, np.zeros_like(self._queued)])
        self._written = np.concatenate([self._written, np.zeros_like(self._written)])
        self._gains = np.concatenate([self._gains, np.full_like(self._gains, np.nan)])

    # columns

    def facts(self, rows: Rows) -> Floats:
        """One row for each, in the order of `FACTS`."""
        found: Floats = self._facts[rows]
        return found

    def fact(self, rows: Rows, column: Column) -> Floats:
        found: Floats = self._facts[rows, column]
        return found

    def set_fact(self, rows: Rows, column: Column, value: float) -> None:
        self._facts[rows, column] = value

    def groups(self, rows: Rows) -> NDArray[np.int64]:
        """One row for each, in the order of `GROUPS`."""
        found: NDArray[np.int64] = self._groups[rows]
        return found

    def group_numbers(self, row: int) -> list[int]:
        numbers: list[int] = self._groups[row].tolist()
        return numbers

    def set_states(self, rows: Rows, states: Sequence[LinkState], groups: Sequence[int]) -> None:
        """Set the columns of each state, and the group of links that share the state."""
        if len(rows):
            self._facts[rows[:, None], _STATE_COLUMNS] = [msgspec.structs.astuple(state) for state in states]
            self._groups[rows, _BY_STATE] = groups

    # visits

    def queued(self) -> Rows:
        """The rows of all links that have not been visited yet."""
        return np.flatnonzero(self._queued)

    def only_queued(self, rows: Rows) -> Rows:
        found: Rows = rows[self._queued[rows]]
        return found

    def visit(self, row: int) -> None:
        self._queued[row] = False

    def gain(self, row: int) -> float | None:
        """What the visit brought so far; None before it is counted."""
        gain = float(self._gains[row])
        return None if np.isnan(gain) else gain

    def set_gain(self, row: int, gain: float) -> None:
        self._gains[row] = gain

    # scores

    def written(self, rows: Rows) -> Floats:
        found: Floats = self._written[rows]
        return found

    def write(self, rows: Rows, scores: Floats) -> None:
        self._written[rows] = scores

    # changes

    def mark(self, rows: Iterable[int]) -> None:
        """Note that the state of these rows may have changed."""
        self._changed.update(rows)

    def mark_queued(self, urls: Iterable[Url]) -> None:
        """Like `mark`, for those of the URLs that are queued."""
        for url in urls:
            row = self.rows.get(url)
            if row is not None and self._queued[row]:
                self._changed.add(row)

    def take_changed(self) -> Rows:
        """The rows that were marked since the last call, in order."""
        rows = np.array(sorted(self._changed), np.int64)
        self._changed.clear()
        return rows
