"""What the API takes and gives."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from bitrawl.endings import CrawlEnd, State
from bitrawl.facts import Live
from bitrawl.model import Verdict
from bitrawl.reasons import Action
from bitrawl.review import CorpusSelection, Sample, SampleResults
from bitrawl.strategies import Strategy
from bitrawl.web.allowed import BOOTSTRAP, DISCOVERY, LIMITS, MINING, THRESHOLDS, Field, Share, Texts
from bitrawl.web.fields import text

MOST_CHARACTERS = 1_000_000  # of one text
MOST_ADDRESSES = 10_000  # of one request
MOST_KEYS = 10_000  # of one request

Short = Annotated[str, msgspec.Meta(max_length=2000)]
LongText = Annotated[str, msgspec.Meta(max_length=MOST_CHARACTERS)]
Whole = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]


def _body(name: str, about: str, fields: Mapping[str, Field], *required: str) -> type[msgspec.Struct]:
    """The body of a request that has the fields of a form. `allowed` reads it, so that each mistake is told as there."""
    rows = [
        (name, field.kind)
        if name in required
        else (name, field.kind, _DEFAULTS[field.kind])
        if field.kind in _DEFAULTS
        else (name, field.kind | None, None)
        for name, field in fields.items()
    ]
    namespace = {"__doc__": about}
    return msgspec.defstruct(name, rows, namespace=namespace, frozen=True, kw_only=True, omit_defaults=True)


_DEFAULTS: dict[Any, Any] = {Texts: [], str: "", bool: False}
_SWITCH = MINING["duplicates"]._replace(kind=bool | None)  # as it is, if nothing is said
_STRATEGY = MINING["strategy"]._replace(kind=Strategy)

NewJob = _body("NewJob", "A corpus to be mined.", {**MINING, "strategy": _STRATEGY}, "languages")
NewSearch = _body("NewSearch", "A search for bilingual sites.", DISCOVERY, "languages")
NewTopic = _body(
    "NewTopic",
    "Terms and sites from a category of Wikipedia, or of the wiki that the operator has named.",
    BOOTSTRAP,
    "languages",
    "category",
)
LargerLimit = _body("LargerLimit", "How much a job that goes on may take, at most.", LIMITS)
ThresholdChoice = _body(
    "ThresholdChoice",
    "Thresholds that the job shall have; what is not named stays as it is.",
    {
        "version": Field("", text),
        **THRESHOLDS,
        "duplicates": _SWITCH,
    },  # 409 if the job has other thresholds than those of that version
)


class ApiTip(msgspec.Struct, frozen=True):
    """Something to try."""

    kind: str
    said: str
    action: Action | None  # POST /jobs/{id}/… does it; repeat is a new job


class ApiJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job as the API shows it. What it says is in the language that the request accepts."""

    id: str
    name: str
    kind: str  # mine, discover, topic or align
    state: State
    said: str  # about the state
    ended: CrawlEnd | None = None  # how its crawl ended
    tips: tuple[ApiTip, ...] = ()
    created: float = 0.0  # seconds since the epoch; 0 for a job of the command line
    doing: str = ""  # what is being mined now
    next_visit: float | None = None  # the date after which the server visits the sites again; null if it never will


class ApiJobFigures(ApiJob, frozen=True, kw_only=True):
    """A job with its figures now."""

    figures: Live


class ApiVerdict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person says about a pair of pages, or about a segment."""

    kind: Short  # pair or segment
    key: Short
    verdict: Short  # accept, reject or undo
    within: Short = ""  # the key of the pair that has the segment


class NewSample(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A random sample of a corpus, for people to judge."""

    languages: Short  # two, as in en-fr
    size: int = 100
    people: Annotated[list[Short], msgspec.Meta(max_length=100)] = []  # users of this server; none is you
    name: Short = ""
    min_score: Share | None = None  # None is the threshold of the job
    by_band: bool = False  # as many from each score band
    seed: int | None = None  # None is another one each time


class SampleVerdicts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person says about units of a sample: accept, reject or undo, by their places."""

    verdicts: Annotated[dict[int, Short], msgspec.Meta(min_length=1, max_length=MOST_ADDRESSES)]


class BlindUnit(msgspec.Struct, frozen=True):
    """A unit of a sample, as somebody sees it who has to judge it: without its score."""

    place: int
    key: str
    url_a: str
    url_b: str
    text_a: str
    text_b: str


class NextUnit(msgspec.Struct, frozen=True):
    """What comes next in a sample."""

    unit: BlindUnit | None  # None if this person has judged all
    left: int


class ShownSample(msgspec.Struct, frozen=True):
    """A sample, and what follows from it once all have finished."""

    sample: Sample
    results: SampleResults | None = None  # None while somebody is judging


class Resolution(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What shall stand where people differ."""

    kind: Short  # pair or segment
    key: Short
    verdict: Short  # accept or reject


class Queued(msgspec.Struct, frozen=True):
    """Page pairs that nobody has judged, in the order of a review."""

    keys: tuple[str, ...]
    judged: int
    left: int
    seed: int  # of a random order


class ApiThresholds(msgspec.Struct, frozen=True, kw_only=True):
    """What a segment must reach to get into the corpus."""

    min_score: float
    min_coverage: float
    min_length_ratio: float
    min_language: float
    min_words: int
    types: list[str]  # of alignments; none takes all
    refuse: list[str]  # flags, or their beginnings
    duplicates: bool  # keep each occurrence


class ApiSelection(msgspec.Struct, frozen=True, kw_only=True):
    """What thresholds let in, in units."""

    kept: ApiThresholds  # the job's own
    version: str  # of these
    chosen: ApiThresholds  # those that the figures are about
    corpora: list[CorpusSelection]


class KeptThresholds(msgspec.Struct, frozen=True, kw_only=True):
    """What a choice has changed. The files of the corpus follow soon."""

    kept: ApiThresholds
    version: str
    before: int  # units in all corpora
    units: int  # the same now


class SegmentQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which segments: as in the list of segments."""

    languages: Short = ""
    least: Share = 0.0  # of the score
    most: Share = 1.0
    flag: Short = ""
    state: Short = ""
    unit: Short = ""
    shortest: Whole | None = None
    longest: Whole | None = None
    words_a: Short = ""
    words_b: Short = ""


class BulkVerdict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same verdict on many segments: those with these keys, or all that a filter shows."""

    verdict: Short  # accept or reject
    keys: Annotated[list[Short], msgspec.Meta(max_length=MOST_KEYS)] | None = None
    filter: SegmentQuery | None = None
    count: Whole | None = None  # refuse if the filter shows another number


class Judged(msgspec.Struct, frozen=True):
    """What became of a verdict on many segments."""

    segments: int  # how many there are
    changed: int  # different texts whose verdict is new


class Undone(msgspec.Struct, frozen=True):
    """What was taken back."""

    undone: int  # verdicts
    verdict: Verdict | None  # None if there was nothing to take back


class SegmentName(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A segment of a page pair, as it was read: its key says that its texts are still the same."""

    key: Short
    start: int = -1  # where, if the same texts stand there several times
    part: int = 0


class Edit(SegmentName, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Other texts for a segment."""

    text_a: LongText
    text_b: LongText
    accept: bool = False  # also accept them


class NewComment(SegmentName, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A note on a segment."""

    text: LongText


class Comparison(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which strategies to compare on the job's own archive."""

    strategies: Annotated[list[Short], msgspec.Meta(max_length=100)] = []


class Compared(msgspec.Struct, frozen=True):
    """How soon each strategy completes the pairs, by site."""

    running: bool
    rows: list[dict[str, str]]


class TwoTexts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two texts that translate each other."""

    language_a: Short
    language_b: Short
    text_a: LongText
    text_b: LongText


class PageToClean(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The address of a page, or its HTML."""

    url: Short = ""
    html: LongText = ""


class Addresses(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Addresses whose languages are asked for."""

    urls: Annotated[list[Short], msgspec.Meta(max_length=MOST_ADDRESSES)]
    langs: Short = ""  # choose among these only: "en,fr"


class ToolResult(msgspec.Struct, frozen=True):
    """Rows of a table, or a text; for long texts the id of a job, whose rows are at /jobs/{id}/aligned."""

    rows: list[tuple[str, ...]] = []
    text: str = ""
    job: str = ""


class ApiError(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to a request that went wrong."""

    error: str
    fields: dict[str, str] = {}  # mistakes by key
