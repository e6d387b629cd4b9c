import numpy as np
import pytest

from bitrawl.mining.evidence import Evidence, best_few
from bitrawl.mining.site import RowWriter
from bitrawl.text.arrays import places_in, ranges


@pytest.mark.parametrize("order", [[0, 1, 3], [3, 0, 1], [1, 3, 0]])
def test_rows_stand_where_they_belong_in_whatever_order_they_are_written(order):
    written = {0: [5, 6], 1: [], 3: [7]}
    writer = RowWriter("I", "H")
    for number in order:
        writer.write(number, written[number], [10 * value for value in written[number]])
    rows = writer.rows(5)
    assert [row.tolist() for row in map(rows.__getitem__, range(5))] == [[5, 6], [], [], [7], []]
    assert rows.values_of(3).tolist() == [70]
    assert rows.owners().tolist() == [0, 0, 3]
    some = rows.where(np.array([False, True, True]))
    assert [some[number].tolist() for number in range(5)] == [[6], [], [], [7], []]
    assert some.values_of(0).tolist() == [60]


def test_no_rows_are_no_fault():
    rows = RowWriter("I").rows(0)
    assert len(rows) == 0
    assert len(rows.where(np.zeros(0, bool))) == 0


def test_ranges_follow_each_other():
    assert ranges(np.array([3, 9, 0]), np.array([5, 9, 2])).tolist() == [3, 4, 0, 1]
    assert ranges(np.array([], int), np.array([], int)).tolist() == []


def test_what_is_not_there_has_no_place():
    assert places_in(np.array([2, 4]), np.array([4, 3, 2, 9])).tolist() == [1, -1, 0, -1]
    assert places_in(np.array([], int), np.array([1])).tolist() == [-1]


def test_evidence_reads_as_a_mapping():
    found = Evidence.of({(4, 9): 0.5, (0, 3): 1.0})
    assert found == {(0, 3): 1.0, (4, 9): 0.5}
    assert found.get((1, 2)) is None
    assert list(found) == [(0, 3), (4, 9)]


class Bilingual:
    languages = ("en", "fr")
    spoken = np.array([0, 0, 1, 1, 1])


def test_only_the_best_few_of_a_page_are_kept_unless_the_other_page_has_no_better():
    found = Evidence.of({(0, 2): 0.9, (0, 3): 0.8, (0, 4): 0.7, (1, 3): 0.85})
    assert best_few(Bilingual(), found, 1) == {(0, 2): 0.9, (0, 4): 0.7, (1, 3): 0.85}
    assert best_few(Bilingual(), Evidence.of({}), 1) == {}
