"""Files that users bring, broken in many ways. `python -m lab.bench.fuzz` tries a hundred times as many."""

import pytest

from lab.bench.fuzz import kinds, tried

KINDS = kinds()


@pytest.mark.parametrize("name", KINDS)
def test_a_broken_input_is_read_or_refused_with_a_sentence_soon_and_in_little_memory(name: str):
    outcome = tried(KINDS[name], range(200))
    assert outcome.failures == []
    assert outcome.counts["read"]
    assert outcome.counts["refused"]
