"""The page on which people see what thresholds let in and leave out, and choose them for the job."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec
from markupsafe import Markup
from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import FieldError, OutdatedError, RefusedError
from bitrawl.mining import Flag, Thresholds
from bitrawl.review import CorpusSelection, JobReview, Rule, RuleFacts
from bitrawl.show import histogram
from bitrawl.web import allowed, threshold_choice
from bitrawl.web.actions import server_of, words_of
from bitrawl.web.fields import whole_number
from bitrawl.web.messages import FLAGS, Message, Words, marked, message_of
from bitrawl.web.pages.rendering import corpus_choices, fragment, rendered, written
from bitrawl.web.review_actions import PAGE_PATIENCE, OpenReview, open_review
from bitrawl.web.security import posted

EACH = 5  # examples above the score, and below it
OF_RULE = 3  # examples of a rule
MOST_CHARTS = 12  # a job with many languages shows those of its first pairs, or of the one that is chosen

Values = FormData | QueryParams


class Control(NamedTuple):
    """How a rule is called, and changed."""

    field: str
    label: str
    hint: str
    most: str = "1"  # of a number; empty for a text
    step: str = "0.05"


CONTROLS = {
    "coverage": Control(
        "min_coverage", marked("Words with a translation"), marked("smallest share, as the mean of both sides")
    ),
    "length_ratio": Control(
        "min_length_ratio", marked("Lengths"), marked("shorter text divided by the longer, at least")
    ),
    "language": Control("min_language", marked("Language"), marked("how certain the language of each text must be")),
    "words": Control("min_words", marked("Number of words"), marked("at least, on each side"), "1000", "1"),
    "types": Control("types", marked("Sentences on both sides"), marked("as in 1:1, 1:2; leave it empty for all"), ""),
}
"""By key of the table [judge]. The score has the slider, and a flag has a box to tick."""


class RuleRow(NamedTuple):
    """A rule as the page shows it, for all corpora together."""

    rule: Rule
    label: str
    takes_out: int
    alone: int
    is_set: bool

    @property
    def name(self) -> str:
        return ":".join(filter(None, (self.rule.key, self.rule.flag)))

    @property
    def id(self) -> str:
        return re.sub(r"\W+", "-", self.name)


class Chart(NamedTuple):
    """One corpus: its histogram, and the figures that follow the slider."""

    corpus: CorpusSelection
    drawing: Markup

    @property
    def words(self) -> Iterator[tuple[str, int, list[int]]]:
        """The number of words of each language: now, and with each minimum score."""
        facts = self.corpus.facts
        for side, language in enumerate(self.corpus.languages):
            yield language, facts.words[side], [words[side] for words in facts.words_by_score]


async def show(request: Request) -> Response:
    return await _page(request, await open_review(request, PAGE_PATIENCE), request.query_params)


async def choose(request: Request) -> Response:
    """Keep what was chosen, or show what it would change."""
    form, opened = await posted(request), await open_review(request, PAGE_PATIENCE)
    if not form.get("keep"):
        values = [(name, str(value)) for name, value in form.multi_items() if name != "csrf"]
        return RedirectResponse(f"/jobs/{opened.job.id}/thresholds?{urlencode(values)}", 303)
    try:
        changed = threshold_choice.changes(_typed(form), server_of(request).settings)
        kept = await threshold_choice.keep(request, changed, str(form.get("version", "")))
    except FieldError:
        return await _page(request, opened, form, 422)
    except (RefusedError, OutdatedError) as error:
        return await _page(request, opened, form, 409, message_of(error))
    return RedirectResponse(f"/jobs/{opened.job.id}/thresholds?was={kept.before}", 303)


def _typed(values: Values) -> dict[str, object]:
    """The fields of the form as `threshold_choice` names them. A box that is not ticked sends only its hidden twin."""
    typed: dict[str, object] = {name: values[name] for name in allowed.THRESHOLDS if name in values}
    if "refuse" in typed:
        typed["refuse"] = [str(flag) for flag in values.getlist("refuse")]
    if "types" in typed:
        typed["types"] = typed["types"] or [""]
    return typed


async def _page(
    request: Request, opened: OpenReview, values: Values, status: int = 200, problem: Message | None = None
) -> Response:
    server, words, typed, (job, review, _) = server_of(request), words_of(request), _typed(values), opened
    changed, errors = dict[str, Any](), dict[str, Any]()
    try:
        changed = threshold_choice.changes(typed, server.settings)
    except FieldError as error:
        errors = error.fields
    languages, rule = str(values.get("languages", "")), Rule(*str(values.get("rule", "")).partition(":")[::2])
    seen = await asyncio.to_thread(_seen, review, changed, languages, rule)
    kept, corpora, chosen = seen["kept"], seen["corpora"], seen["thresholds"]
    version, choices = review.version_of(kept), await corpus_choices(words, review)
    if values.get("version", version) != version:
        problem = problem or threshold_choice.outdated(kept)
    shown: dict[str, Any] = {
        "is_busy": await server.supervised(threshold_choice.is_busy, server, job),
        "is_writing": server.writing.is_busy(job.folder),
        "problem": problem,
        "errors": errors,
        "seen": seen,
        "version": version,
        "was": (whole_number(str(values["was"])) or 0) if "was" in values else None,
        "values": {**_values(chosen), "languages": languages, **{name: typed[name] for name in errors}},
        "language_choices": choices if len(choices) > 1 else [],
        "charts": [_chart(words, corpus, chosen.score) for corpus in corpora[:MOST_CHARTS]],
        "more_corpora": corpora[MOST_CHARTS:],
        "rules": _rule_rows(words, corpora),
        "controls": CONTROLS,
        "fixed": threshold_choice.fixed(server.settings),
    }
    if request.query_params.get("part"):
        part = {"job": job, "tab": "/download", "index_ready": opened.is_fresh}
        return HTMLResponse(fragment(request, "threshold_form.html", **part, **shown), status)
    return rendered(request, "thresholds.html", status, of=opened, tab="/download", **shown)


def _seen(review: JobReview, changed: Mapping[str, Any], languages: str, rule: Rule) -> dict[str, Any]:
    """What the page shows of a job: figures of all corpora together, and examples."""
    sight = review.sight(threshold_choice.chosen(review, changed), languages)
    above, below = sight.around(EACH)
    facts = [corpus.facts for corpus in sight.corpora]
    return {
        "kept": sight.kept,
        "kept_units": sight.units(sight.kept),
        "thresholds": sight.thresholds,
        "accepted_only": sight.accepted_only,
        "corpora": sight.corpora,
        **{name: sum(getattr(one, name) for one in facts) for name in ("found", "units", "accepted", "rejected")},
        "by_score": [sum(counts) for counts in zip(*(one.by_score for one in facts), strict=True)],
        "above": above,
        "below": below,
        "wanted": rule,  # of which there are examples
        "of_rule": sight.examples(rule, OF_RULE),
    }


def _values(thresholds: Thresholds) -> dict[str, object]:
    """By field, as the form writes them."""
    values = msgspec.structs.asdict(threshold_choice.as_fields(thresholds))
    numbers = {name: f"{value:g}" for name, value in values.items() if isinstance(value, float)}
    return {**values, **numbers, "types": ", ".join(thresholds.types)}


def _chart(words: Words, corpus: CorpusSelection, score: float) -> Chart:
    facts, title = corpus.facts, " – ".join(map(words.language, corpus.languages))
    columns = [more - fewer for more, fewer in pairwise(facts.by_score)]
    columns[-1] += facts.by_score[-1] - facts.let_in  # those that score 1
    labels = {"x": words.say("score"), "y": words.say("units")}
    return Chart(corpus, histogram(title, columns, **labels, mark=score, written=written(words)))


def _rule_rows(words: Words, corpora: Sequence[CorpusSelection]) -> list[RuleRow]:
    """In an order that stays the same while flags are ticked."""
    together: dict[Rule, list[RuleFacts]] = {}
    for facts in (rule for corpus in corpora for rule in corpus.facts.rules):
        together.setdefault(facts.rule, []).append(facts)
    order = list[str](Flag)
    rows = [
        RuleRow(
            rule,
            _label(words, rule),
            sum(one.takes_out for one in facts),
            sum(one.alone for one in facts),
            facts[0].is_set,
        )
        for rule, facts in together.items()
    ]
    return sorted(rows, key=lambda row: order.index(row.rule.flag) if row.rule.flag in order else -1)


def _label(words: Words, rule: Rule) -> str:
    if rule.flag:
        names = [name for flag, name in FLAGS.items() if flag.startswith(rule.flag)]
        return ", ".join(map(words.say, names)) or rule.flag
    return words.say(CONTROLS[rule.key].label) if rule.key in CONTROLS else words.say("Score")


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/thresholds", show),
    Route("/jobs/{id}/thresholds", choose, methods=["POST"]),
]
