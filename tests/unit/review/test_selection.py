"""What thresholds would let in is what an export with them writes, unit by unit."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitrawl.corpus import Anonymise, Anonymiser
from bitrawl.mining import Flag, SegmentKind, ThresholdFilter, Thresholds
from bitrawl.model import Language, Segment, SegmentPair, TranslationUnit, Verdict, Verdicts, pair_key, segment_key
from bitrawl.review.selection import FoundSegments, Rule, Selection, said_number
from bitrawl.store.reading_index import rows_of
from bitrawl.url import Url
from lab.bench.merge import merged

PAGES = [(Url.parse(f"http://s.test/en/{n}"), Url.parse(f"http://s.test/fr/{n}")) for n in range(2)]
TEXTS = ["Tea", "tea!", "Tea time", "Bread\x01", " ", "Water", "Ask x@s.test", "ask y@s.test!"]
LANGUAGES = (Language("en"), Language("fr"))
REFUSE = Thresholds().refuse


def segment(
    text: str = "Tea",
    score: float = 0.9,
    page: int = 0,
    flags: tuple[str, ...] = (),
    type_: str = "1:1",
    **scores: float,
) -> SegmentPair:
    return SegmentPair(*PAGES[page], Segment(text), Segment(f"{text}, fr"), score, type_, scores, flags)


hundredths = st.integers(0, 100).map(lambda n: n / 100)
measured = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("coverage_a", "coverage_b", "length_ratio", "language_a", "language_b"), hundredths),
        **dict.fromkeys(("words_a", "words_b"), st.integers(0, 4).map(float)),
    },
)
segments = st.lists(
    st.builds(
        lambda text, score, page, flags, type_, scores: segment(text, score, page, tuple(flags), type_, **scores),
        st.sampled_from(TEXTS),
        hundredths,
        st.integers(0, 1),
        st.sets(st.sampled_from(sorted(Flag)), max_size=3).map(sorted),
        st.sampled_from(["1:1", "1:2"]),
        measured,
    ),
    max_size=12,
)
thresholds = st.builds(
    Thresholds,
    score=hundredths,
    coverage=hundredths,
    length_ratio=hundredths,
    language=hundredths,
    words=st.integers(0, 4),
    types=st.sampled_from([(), ("1:1",)]),
    refuse=st.sampled_from([(), REFUSE, ("code", "co", "url"), ("very short",)]),
    duplicates=st.booleans(),
)
said = st.sampled_from(sorted(Verdict))
few = settings(max_examples=30, deadline=None)  # each is exported several times
verdicts = st.builds(
    Verdicts,
    st.dictionaries(st.sampled_from([pair_key(*page) for page in PAGES]), said),
    st.dictionaries(st.sampled_from([segment_key(text, f"{text}, fr") for text in TEXTS]), said),
)


def exported(
    pairs: Sequence[SegmentPair],
    by: Thresholds,
    said: Verdicts,
    *,
    only: bool = False,
    how: Anonymise = Anonymise.OFF,
) -> list[TranslationUnit]:
    good, hide = ThresholdFilter(by, said, accepted_only=only).accepted(pairs), Anonymiser(how)
    public = (public for pair in good if (public := hide.public(pair, LANGUAGES)) is not None)
    return list(merged(public, keep_duplicates=by.duplicates))


def selected(
    pairs: Sequence[SegmentPair],
    by: Thresholds,
    said: Verdicts | None = None,
    *,
    only: bool = False,
    how: Anonymise = Anonymise.OFF,
) -> Selection:
    numbers: dict[SegmentKind, int] = {}
    said = said or Verdicts()
    rows = rows_of(pairs, lambda kind: numbers.setdefault(kind, len(numbers)), LANGUAGES)
    kinds = {number: kind for kind, number in numbers.items()}
    of_pages = [said_number(said.of_pair(pair)) for pair in pairs]
    return Selection(FoundSegments(rows, kinds, of_pages, said.segments, how), by, accepted_only=only)


@few
@given(pairs=segments, by=thresholds, said=verdicts, only=st.booleans(), how=st.sampled_from(Anonymise))
def test_units_and_words_at_each_score_are_those_of_an_export(
    pairs: list[SegmentPair], by: Thresholds, said: Verdicts, *, only: bool, how: Anonymise
):
    facts = selected(pairs, by, said, only=only, how=how).facts()
    assert facts.units == len(exported(pairs, by, said, only=only, how=how))
    assert facts.found == len(exported(pairs, Thresholds(**NOTHING, duplicates=by.duplicates), Verdicts(), how=how))
    for step in {0, 1, 29, 50, 99, 100, *(round(100 * pair.score) for pair in pairs)}:
        units = exported(pairs, msgspec.structs.replace(by, score=step / 100), said, only=only, how=how)
        assert facts.by_score[step] == len(units)
        if not said.segments:  # which mark what represents the others, here only in the ledger's order
            words = [sum(int(unit.pair.scores.get(f"words_{side}", 0)) for unit in units) for side in "ab"]
            assert facts.words_by_score[step] == tuple(words)


NOTHING = {"score": 0.0, "coverage": 0.0, "length_ratio": 0.0, "language": 0.0, "words": 0, "types": (), "refuse": ()}


@few
@given(pairs=segments, by=thresholds, said=verdicts, only=st.booleans())
def test_what_a_rule_takes_out_alone_gets_in_without_it(
    pairs: list[SegmentPair], by: Thresholds, said: Verdicts, *, only: bool
):
    units = len(exported(pairs, by, said, only=only))
    rules = selected(pairs, by, said, only=only).facts().rules
    for facts in rules:
        key, flag, alone, is_set = facts.rule.key, facts.rule.flag, facts.alone, facts.is_set
        others = tuple(one for one in by.refuse if one != flag) if is_set else (*by.refuse, flag)
        without = msgspec.structs.replace(by, **{key: others if flag else NOTHING[key]})
        changed = len(exported(pairs, without, said, only=only))
        assert (changed - units if is_set else units - changed) == alone <= facts.takes_out
    assert {facts.rule.flag for facts in rules} >= {flag for flag in Flag if not flag.startswith(by.refuse)}


@few
@given(pairs=segments, by=thresholds, said=verdicts, only=st.booleans())
def test_units_that_verdicts_let_in_and_keep_out_add_up(
    pairs: list[SegmentPair], by: Thresholds, said: Verdicts, *, only: bool
):
    facts = selected(pairs, by, said, only=only).facts()
    assert facts.units - facts.accepted + facts.rejected == len(exported(pairs, by, Verdicts()))


def test_examples_are_the_nearest_units_that_the_score_alone_decides():
    pairs = [segment(f"Text {n}", n / 10) for n in range(10)]
    pairs += [segment("Refused", 0.5, flags=("code",)), segment("Accepted", 0.45), segment("text 4.", 0.1)]
    said = Verdicts(segments={segment_key("Accepted", "Accepted, fr"): Verdict.ACCEPT})
    above, below = selected(pairs, Thresholds(score=0.5), said).around(3)
    assert above == [(0.5, 5), (0.6, 6), (0.7, 7)]
    assert below == [(0.4, 4), (0.3, 3), (0.2, 2)]


def test_examples_of_a_rule_begin_with_what_it_takes_out_alone():
    pairs = [
        segment("One", 0.1, flags=("code",)),
        segment("Two", 0.9, flags=("code",)),
        segment("Three", 0.9),
        segment("Four", 0.9, flags=("code",)),
        segment("four", 0.9),
        segment("Five", 0.9, flags=("url",)),
        segment("three!", 0.9, flags=("url",)),
    ]
    selection = selected(pairs, Thresholds(score=0.5))
    assert selection.examples(Rule("refuse", "code"), 3) == [1, 0]
    assert selection.examples(Rule("score"), 3) == [0]
    assert selection.examples(Rule("refuse", "url"), 3) == [5]
    assert selection.examples(Rule("words"), 3) == []


@pytest.mark.parametrize("pairs", [[], [segment(" ")]])
def test_nothing_is_selected_from_nothing(pairs: list[SegmentPair]):
    selection = selected(pairs, Thresholds())
    facts = selection.facts()
    assert (facts.found, facts.units, set(facts.by_score), facts.words) == (0, 0, {0}, (0, 0))
    assert selection.around(5) == ([], [])
    assert selection.examples(Rule("score"), 3) == []
