"""A random sample is drawn once, judged by each person on their own, and tells precision and agreement."""

import io
import re
import sys
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from kept_findings import Aligned, keep_findings

from bitrawl.errors import ConfigError
from bitrawl.job import drawing
from bitrawl.job.drawing import draw, give_sample
from bitrawl.job.exporting import write_corpus
from bitrawl.model import Language, PagePair, Segment, SegmentPair, Verdict, segment_key
from bitrawl.review.queue import review_progress
from bitrawl.review.results import SampleResults, human_reviews, results
from bitrawl.review.reviewing import Reading
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import PairFilter
from bitrawl.store.ledger import Ledger
from bitrawl.store.samples import Sample, SampleRequest, Samples, band_of
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import SubjectKind, VerdictCounts, VerdictHistory
from bitrawl.url import Url

ACCEPT, REJECT = Verdict.ACCEPT, Verdict.REJECT
EN, FR = Language("en"), Language("fr")
PER_BAND = {3: 10, 4: 10, 5: 20, 6: 20, 7: 40, 8: 60, 9: 140}  # units of the corpus by score band
UNITS = sum(PER_BAND.values())


def texts(band: int, number: int) -> tuple[str, str]:
    return f"Sentence {number} of those like {band}.", f"Phrase {number} de celles comme {band}."


def mine(folder: JobFolder, *, also: str = "") -> None:
    """Two page pairs with the same segments, so that each text occurs twice."""
    with Ledger(folder.ledger) as ledger:
        aligned = []
        for page in (1, 2):
            urls = Url.parse(f"http://s.test/en/{page}"), Url.parse(f"http://s.test/fr/{page}")
            segments = [
                SegmentPair(*urls, *map(Segment, texts(band, number)), band / 10 + 0.05)
                for band, count in PER_BAND.items()
                for number in range(count)
            ]
            segments += [SegmentPair(*urls, Segment(also), Segment(also + "x"), 0.99)] if also else []
            aligned.append(Aligned(PagePair(*urls, EN, FR, 0.9, {"u": 0.5}), tuple(segments)))
        keep_findings(Findings(ledger), "s.test", 4, aligned)


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    folder = JobFolder(tmp_path / "job")
    folder.path.mkdir()
    folder.description.write_text('langs = ["en", "fr"]\nseeds = ["http://s.test/"]\n')
    mine(folder)
    return folder


def wanted(**more: object) -> SampleRequest:
    asked = {"languages": (EN, FR), "size": 60, "people": ("anna", "ben"), "by": "anna", **more}
    return SampleRequest(**asked)  # type: ignore[arg-type]


def given(folder: JobFolder, **more: object) -> tuple[Samples, Sample]:
    samples = Samples(folder.verdicts)
    sample = samples.find(give_sample(folder, wanted(**more), 1.0))
    assert sample is not None
    return samples, sample


def judge_all(samples: Samples, sample: Sample, person: str, rejected: Collection[int] = ()) -> None:
    """All units; those at these places are rejected."""
    verdicts = {unit: REJECT if unit.place in rejected else ACCEPT for unit in samples.units(sample)}
    assert samples.judge(sample, verdicts, person, 10.0)
    samples.finish(sample, 100.0, person=person)


def found(folder: JobFolder, sample: Sample) -> SampleResults:
    samples = Samples(folder.verdicts)
    now = samples.find(sample.id)
    assert now is not None
    return results(samples, VerdictHistory(folder.verdicts), now)


def test_each_unit_is_drawn_once_and_with_the_same_chance(folder: JobFolder):
    bands: Counter[int] = Counter()
    for seed in range(10):
        drawn = draw(folder, wanted(seed=seed))
        assert len({unit.key for unit in drawn.units}) == len(drawn.units) == 60
        assert drawn.sizes == (0, 0, 0, *PER_BAND.values())
        assert [unit.place for unit in drawn.units] == list(range(1, 61))
        bands.update(unit.band for unit in drawn.units)
    for band, count in PER_BAND.items():  # 600 draws: three standard deviations are at most 6 %
        assert bands[band] / 600 == pytest.approx(count / UNITS, abs=0.07)


def test_a_seed_draws_the_same_units_and_another_seed_others(folder: JobFolder):
    first, again, other = (draw(folder, wanted(seed=seed)) for seed in (1, 1, 2))
    assert first == again
    assert {unit.key for unit in first.units} != {unit.key for unit in other.units}


def test_the_order_tells_nothing_about_the_score(folder: JobFolder):
    places = [unit.place for unit in draw(folder, wanted(by_band=True)).units if unit.band < 6]
    assert min(places) < 15
    assert max(places) > 45


def test_a_sample_by_band_has_the_same_number_from_each(folder: JobFolder):
    drawn = draw(folder, wanted(size=70, by_band=True))
    assert Counter(unit.band for unit in drawn.units) == dict.fromkeys(PER_BAND, 10)
    drawn = draw(folder, wanted(size=77, by_band=True))  # the lowest two have ten each
    assert [Counter(unit.band for unit in drawn.units)[band] for band in (3, 4)] == [10, 10]


def test_a_floor_leaves_out_what_scores_less_also_if_people_accepted_it(folder: JobFolder):
    reading_index.refresh(folder.path)
    reading = Reading(folder)
    pages = reading.pairs(PairFilter()).pairs[0].row.key
    assert reading.judge_segment(pages, segment_key(*texts(3, 0)), ACCEPT, "anna", 1.0)
    drawn = draw(folder, wanted(size=1000, floor=0.6))
    assert {unit.band for unit in drawn.units} == {6, 7, 8, 9}
    assert drawn.design.floor == 0.6


def test_a_corpus_without_such_units_has_no_sample(folder: JobFolder):
    with pytest.raises(ConfigError, match="no units"):
        give_sample(folder, wanted(floor=0.999), 1.0)
    with pytest.raises(ConfigError, match="no corpus in en and zh"):
        give_sample(folder, wanted(languages=(EN, Language("zh"))), 1.0)
    assert Samples(folder.verdicts).listed() == []


def test_mining_again_does_not_change_a_sample(folder: JobFolder):
    samples, sample = given(folder)
    before = samples.units(sample)
    mine(folder, also="Something new.")
    assert samples.units(sample) == before
    assert samples.find(sample.id) == sample
    assert sample.sizes == (0, 0, 0, *PER_BAND.values())


def test_languages_may_be_named_in_either_order(folder: JobFolder):
    _, sample = given(folder, languages=(FR, EN), name=" First look ")
    assert (sample.lang_a, sample.lang_b, sample.name) == (EN, FR, "First look")


def test_people_judge_on_their_own_and_go_on_where_they_were(folder: JobFolder):
    samples, sample = given(folder, size=3)
    first, second, third = samples.units(sample)
    assert samples.left(sample, "anna") == (1, 2, 3)
    assert samples.judge(sample, {first: ACCEPT}, "anna", 2.0)
    assert samples.judge(sample, {third: REJECT}, "anna", 3.0)
    assert samples.judge(sample, {third: None}, "anna", 4.0)
    assert samples.left(sample, "anna") == (2, 3)
    assert samples.left(sample, "ben") == (1, 2, 3)
    assert samples.verdicts(sample) == {"anna": {first.key: ACCEPT}, "ben": {}}
    assert not samples.judge(sample, {second: ACCEPT}, "carla", 5.0)
    now = samples.find(sample.id)
    assert now is not None
    assert [(person.name, person.judged) for person in now.people] == [("anna", 1), ("ben", 0)]
    assert samples.blind_to("ben") == {sample.id}
    assert samples.blind_to("carla") == frozenset()


def test_a_verdict_in_a_sample_counts_like_any_other(folder: JobFolder):
    samples, sample = given(folder, size=2)
    one, other = samples.units(sample)
    samples.judge(sample, {one: REJECT}, "anna", 2.0)
    samples.judge(sample, {other: REJECT}, "anna", 2.0)
    samples.judge(sample, {other: ACCEPT}, "ben", 3.0)
    history = VerdictHistory(folder.verdicts)
    assert history.standing().segments == {one.key: REJECT}
    assert [conflict.opinions[0].subject.key for conflict in history.conflicts(9)] == [other.key]
    assert history.conflict_count() == 1
    history.check()


def test_who_judged_a_unit_elsewhere_judges_it_again_in_the_sample(folder: JobFolder):
    samples, sample = given(folder, size=1)
    [unit] = samples.units(sample)
    reading_index.refresh(folder.path)
    assert Reading(folder).judge_segment(unit.pair_key, unit.key, ACCEPT, "anna", 0.5)
    assert samples.left(sample, "anna") == (1,)
    samples.judge(sample, {unit: ACCEPT}, "anna", 2.0)
    assert samples.left(sample, "anna") == ()
    assert len(VerdictHistory(folder.verdicts).history(9)) == 2


def test_a_sample_is_through_when_all_have_finished_and_fixed_from_then_on(folder: JobFolder):
    samples, sample = given(folder, size=4)
    judge_all(samples, sample, "anna")
    now = samples.find(sample.id)
    assert now is not None
    assert not now.is_through
    assert not samples.judge(now, {samples.units(now)[0]: REJECT}, "anna", 101.0)
    judge_all(samples, now, "ben", {2})
    now = samples.find(sample.id)
    assert now is not None
    assert now.is_through
    said = samples.verdicts(now)
    history = VerdictHistory(folder.verdicts)
    for unit in samples.units(now):
        history.undo(SubjectKind.SEGMENT, unit.key, "ben", 200.0)
    assert samples.verdicts(now) == said


def test_who_does_not_finish_can_be_left_out(folder: JobFolder):
    samples, sample = given(folder, size=4, people=("anna", "ben", "carla"))
    judge_all(samples, sample, "anna")
    samples.finish(sample, 50.0)
    now = samples.find(sample.id)
    assert now is not None
    assert now.is_through
    assert [(person.name, person.done_at) for person in now.people] == [("anna", 100.0), ("ben", 50.0), ("carla", 50.0)]
    outcome = found(folder, sample)
    assert outcome.agreements == ()
    assert outcome.precision is not None
    assert outcome.precision.judged == 4


def test_a_sample_that_was_removed_leaves_its_verdicts(folder: JobFolder):
    samples, sample = given(folder, size=2)
    judge_all(samples, sample, "anna")
    samples.remove(sample, "anna", 9.0)
    assert samples.find(sample.id) is None
    assert samples.listed() == []
    assert len(VerdictHistory(folder.verdicts).standing().segments) == 2


def test_a_repair_that_loses_a_sample_gives_its_verdicts_to_no_other(folder: JobFolder):
    samples, sample = given(folder, size=2)
    judge_all(samples, sample, "anna")
    history = VerdictHistory(folder.verdicts)
    readable = history.readable()
    folder.verdicts.unlink()
    history.repeat(readable)
    assert len(history.standing().segments) == 2
    _, again = given(folder, size=2)
    assert again.id == sample.id + 1
    assert samples.left(again, "anna") == (1, 2)


def test_agreement_is_what_people_said_before_they_saw_each_other(folder: JobFolder):
    samples, sample = given(folder, size=50)
    judge_all(samples, sample, "anna", set(range(1, 26)))
    judge_all(samples, sample, "ben", set(range(11, 26)) | set(range(26, 31)))
    before = found(folder, sample)
    [both] = before.agreements
    assert (both.first, both.second, both.units, both.same) == ("anna", "ben", 50, 35)
    assert both.kappa == pytest.approx(0.4)
    assert before.undecided == 15
    history = VerdictHistory(folder.verdicts)
    for conflict in history.conflicts(99):
        assert history.resolve(SubjectKind.SEGMENT, conflict.opinions[0].subject.key, ACCEPT, "carla", 300.0)
    after = found(folder, sample)
    assert after.agreements == before.agreements
    assert after.undecided == 0
    assert before.precision is not None
    assert after.precision is not None
    assert after.precision.share > before.precision.share


def test_precision_weighs_each_band_by_its_share_of_the_corpus(folder: JobFolder):
    samples, sample = given(folder, size=70, by_band=True, people=("anna",))
    judge_all(samples, sample, "anna", {unit.place for unit in samples.units(sample) if unit.band == 9})
    outcome = found(folder, sample)
    assert outcome.precision is not None
    assert outcome.precision.share == pytest.approx(1 - PER_BAND[9] / UNITS)
    assert outcome.precision.low < outcome.precision.share < outcome.precision.high
    assert [(band.least, band.judged, band.accepted) for band in outcome.bands] == [
        *((tenth / 10, 10, 10) for tenth in range(3, 9)),
        (0.9, 10, 0),
    ]
    assert [(row.least, row.size) for row in outcome.thresholds] == [
        (tenth / 10, sum(count for band, count in PER_BAND.items() if band >= tenth)) for tenth in range(3, 10)
    ]
    last = outcome.thresholds[-1].precision
    assert last is not None
    assert last.share == 0


def test_what_nobody_judged_tells_nothing(folder: JobFolder):
    samples, sample = given(folder, size=5)
    samples.finish(sample, 9.0)
    outcome = found(folder, sample)
    assert outcome.precision is None
    assert all(band.precision is None for band in outcome.bands)


def test_the_card_and_the_report_say_what_people_found(folder: JobFolder):
    samples, sample = given(folder, size=50)
    judge_all(samples, sample, "anna", set(range(1, 26)))
    assert human_reviews(folder.verdicts) == {}  # ben has not finished
    judge_all(samples, sample, "ben", set(range(11, 26)) | set(range(26, 31)))
    given(folder, size=2)  # a later one, that nobody has judged
    write_corpus(folder.job(), folder.path)
    said = re.compile(
        r"Precision by human review: 0\.\d\d \(0\.\d\d–0\.\d\d with 95 % confidence\)\. 50 units, drawn at random on 1970-01-01"
        r" from those that scored at least 0\.30, were judged by 2 people, who agree with a kappa of 0\.40\."
    )
    assert said.search((folder.corpus / "README.md").read_text("utf-8"))
    assert said.search(folder.report.read_text("utf-8"))


def test_one_person_has_nobody_to_agree_with(folder: JobFolder):
    samples, sample = given(folder, size=1, people=("anna",))
    judge_all(samples, sample, "anna")
    review = human_reviews(folder.verdicts)["en-fr"]
    assert (review.precision, review.people, review.kappa) == (1.0, 1, None)
    assert review.sentence.endswith(
        "1 unit, drawn at random on 1970-01-01 from those that scored at least 0.30, was judged by one person."
    )


def test_progress_counts_each_thing_once_and_by_person(folder: JobFolder):
    empty = review_progress(folder)
    assert (empty.total_pairs, empty.people, empty.days) == (0, (), {})
    reading_index.refresh(folder.path)
    samples, sample = given(folder, size=2)
    one, other = samples.units(sample)
    samples.judge(sample, {one: ACCEPT}, "anna", 10.0)
    samples.judge(sample, {other: ACCEPT}, "anna", 86400.0)
    samples.judge(sample, {other: REJECT}, "ben", 86401.0)
    reading = Reading(folder)
    apart = segment_key(*texts(3, 0))
    assert reading.judge_segment(one.pair_key, apart, REJECT, "ben", 86402.0)
    assert reading.judge_pair(one.pair_key, ACCEPT, "ben", 86403.0)
    assert reading.judge_pair(one.pair_key, REJECT, "ben", 86404.0)
    now = review_progress(folder)
    assert (now.total_pairs, now.total_segments) == (2, 2 * UNITS)
    assert now.pairs == VerdictCounts(rejected=1)
    is_sampled = apart in {one.key, other.key}
    assert now.segments.judged == 3 - is_sampled
    assert now.segments.conflicts == 1
    assert now.not_sampled == (VerdictCounts() if is_sampled else VerdictCounts(rejected=1))
    ben, anna = now.people
    assert (anna.name, anna.segments, anna.last_at) == ("anna", VerdictCounts(accepted=2), 86400.0)
    assert (ben.name, ben.pairs, ben.segments.judged) == ("ben", VerdictCounts(rejected=1), 2)
    assert now.days == {"1970-01-01": 1, "1970-01-02": 5}


def test_a_process_draws_a_sample_and_says_its_number(
    folder: JobFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def run(request: bytes, *arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["drawing", *arguments])
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(request)))
        return drawing.main()

    assert run(msgspec.json.encode(wanted(size=5)), str(folder.path)) == 0
    assert capsys.readouterr().out == "1\n"
    [sample] = Samples(folder.verdicts).listed()
    assert (sample.units, sample.by, sample.design.size) == (5, "anna", 5)
    assert run(msgspec.json.encode(wanted(floor=1.0)), str(folder.path)) == 1
    assert "no units" in capsys.readouterr().err
    assert run(b"{", str(folder.path)) == 2
    assert run(msgspec.json.encode(wanted())) == 2


@pytest.mark.parametrize(("score", "band"), [(0.0, 0), (0.099, 0), (0.1, 1), (0.95, 9), (1.0, 9), (-0.1, 0)])
def test_bands_are_tenths_and_the_last_includes_1(score: float, band: int):
    assert band_of(score) == band
