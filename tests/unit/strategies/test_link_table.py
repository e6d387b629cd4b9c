"""The table of links: rows that grow, named columns, states as columns, and which rows have changed."""

import numpy as np
from table_site import url

from bitrawl.strategies.adaptive.addresses import FIRST_ROWS, NumberedUrls
from bitrawl.strategies.adaptive.link_table import FACTS, GROUPS, LinkColumn, LinkState, LinkTable


def table(count: int = 3, **queued: bool) -> LinkTable:
    addresses = NumberedUrls()
    made = LinkTable(addresses)
    for number in range(count):
        facts, groups = {LinkColumn.DEPTH: float(number)}, {LinkColumn.BY_PLACE: number + 1}
        made.add(addresses.number(url(f"/{number}")), facts, groups, queued=queued.get(f"n{number}", True))
    return made


def state(**known: bool) -> LinkState:
    return LinkState(**{field: known.get(field, False) for field in LinkState.__struct_fields__})


def test_facts_and_groups_together_are_all_columns_in_their_order():
    assert (*FACTS, *GROUPS) == tuple(LinkColumn)


def test_what_was_written_survives_growth():
    count = 2 * FIRST_ROWS + 1
    made = table(count)
    rows = np.arange(count)
    assert made.facts(rows)[:, LinkColumn.DEPTH].tolist() == list(range(count))
    assert made.groups(rows)[:, GROUPS.index(LinkColumn.BY_PLACE)].tolist() == list(range(1, count + 1))
    assert made.queued().tolist() == list(range(count))
    assert [made.gain(row) for row in (0, FIRST_ROWS, count - 1)] == [None] * 3
    assert [made.row(made.url(number)) for number in range(count)] == list(range(count))
    assert made.row(url("/never")) is None
    assert 0 in made


def test_a_state_sets_its_own_columns_and_no_others():
    made = table()
    made.set(np.array([1]), LinkColumn.FROM_WANTED)
    made.set_states(np.array([1, 2]), [state(beside=True, declared=True), state(silent=True)], [7, 8])
    known = made.facts(np.arange(3))
    assert {column for column in FACTS if known[1, column]} == {
        LinkColumn.BESIDE,
        LinkColumn.DECLARED,
        LinkColumn.DEPTH,
        LinkColumn.FROM_WANTED,
    }
    assert known[2, LinkColumn.SILENT] == 1.0
    assert made.are(np.arange(3), LinkColumn.SILENT).tolist() == [False, False, True]
    assert known[0].any() == 0
    assert [made.group_numbers(row)[-1] for row in range(3)] == [0, 7, 8]
    made.set_states(np.array([1]), [state()], [9])
    assert made.facts(np.array([1]))[0, LinkColumn.BESIDE] == 0.0


def test_groups_that_need_more_than_two_bytes_get_them():
    made = table()
    made.set_states(np.array([1]), [state()], [70_000])
    made.add(2, {}, {LinkColumn.BY_PLACE: 80_000}, queued=True)
    assert [made.group_numbers(row)[1] for row in range(3)] == [1, 2, 80_000]
    assert made.groups(np.arange(3))[:, -1].tolist() == [0, 70_000, 0]


def test_rows_are_changed_when_they_are_new_or_marked_and_visited_ones_only_by_row():
    made = table(n2=False)
    assert made.take_changed().tolist() == [0, 1, 2]
    assert made.take_changed().tolist() == []
    made.visit(0)
    made.mark_queued([0, 1, 2])
    assert made.take_changed().tolist() == [1]
    made.mark([2, 0])
    assert made.take_changed().tolist() == [0, 2]
    assert made.are_queued(np.arange(3)).tolist() == [False, True, False]


def test_links_with_the_same_partners_link_texts_and_declarations_share_a_rate():
    assert state(partner_visited=True).group == state(partner_visited=True, twin_queued=True).group
    different = [
        state(),
        state(partner_visited=True),
        state(partner_failed=True),
        state(partner_queued=True),
        state(partner_queued=True, beside=True),
        state(partner_queued=True, silent=True),
        state(partner_queued=True, same_anchor=True),
        state(partner_queued=True, other_anchor=True),
        state(partner_queued=True, declared=True),
    ]
    assert len({one.group for one in different}) == len(different)
    assert state(partner_failed=True, partner_queued=True).group == state(partner_failed=True).group
