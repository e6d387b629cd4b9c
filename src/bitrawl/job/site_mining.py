"""Mine one site: pair its pages, align the pairs in batches on all workers, and survive whatever one of them breaks.

What a worker is killed at from outside is no verdict: it is recorded, and nothing is kept in its place. So the next run tries
again.
"""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bitrawl.endings import Doing, MiningStep
from bitrawl.job.workers import MANY, Languages, Workers
from bitrawl.mining import SiteFindings
from bitrawl.mining.stages import PairedSite
from bitrawl.model import PagePair, Skip, pack
from bitrawl.page import Rejects
from bitrawl.process import Failure, FailureKind
from bitrawl.protocols import Clock
from bitrawl.reasons import Reason, Stage
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import NOTHING_ALIGNED, AlignmentKey, Findings, Lesson, PackedAlignment, made_from
from bitrawl.text.template import Template
from bitrawl.url import Url

STILL_TAUGHT = 0.5  # of the sample that taught an earlier round: with less, words are learned anew; judgement
LAST = 4  # batches that are halved

Watch = Callable[[Doing | None], None]
"""Is told what is being done; None when nothing is."""

_Keep = Callable[[PagePair, PackedAlignment, Sequence[Skip]], None]
"""Takes what was found in a pair, and what was lost of it."""

_REASONS = {
    FailureKind.TIMEOUT: Reason.MINING_TIMEOUT,
    FailureKind.CRASH: Reason.MINING_CRASH,
    FailureKind.KILLED: Reason.KILLED,
    FailureKind.ERROR: Reason.MINING_ERROR,
}

_log = logging.getLogger(__name__)


async def together(work: Iterable[Awaitable[Any]]) -> list[Any]:
    """What each of them gives, in their order. If one fails, the others are cancelled."""
    tasks = [asyncio.ensure_future(part) for part in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


class MiningPlan(NamedTuple):
    """When a growing site is mined, what is done anew, and in what portions."""

    known_pairs: bool = False  # the pairs of an earlier run are aligned, and none is looked for
    learns_anew: bool = False  # what an earlier round has learned of words is left out
    first: int = 8  # pages of a site before it is mined for the first time; judgement
    # Seconds of a run before anything is mined: an archive of a thousand pages is read in that time, and then mined once.
    soon: float = 10.0
    # Of a site since it was mined last, and of what it has to be yet: all rounds together then cost at most 1.3 times the last one.
    growth: float = 4.5
    # Pairs that words are learned from: judgement; alignment on the development sets gains nothing from more than some
    # hundred pages.
    sample: int = 200
    batch: int = 32  # pairs: a batch of pages of 50 kB needs some 100 MB


USUAL = MiningPlan()


class MinedSite(NamedTuple):
    """What was found, with the key of each pair's segments, and what was lost on the way; None if pairing failed."""

    found: SiteFindings | None
    alignments: list[AlignmentKey]
    faults: list[Skip]


class SiteMiner:
    """Sites may be mined side by side: each call has its own state."""

    def __init__(  # noqa: PLR0913 - collaborators
        self,
        ledger: Ledger,
        workers: Workers,
        clock: Clock,
        *,
        settings: str,
        rejected: Path,
        watch: Watch,
        plan: MiningPlan,
    ) -> None:
        self._plan = plan
        self._ledger = ledger
        self._findings = Findings(ledger)
        self._workers = workers
        self._clock = clock
        self._settings = settings
        self._rejects = Rejects(rejected)
        self._watch = watch

    async def mine(self, site: str) -> MinedSite:
        """Everything from pages to judged segments; the segments are in the ledger when this returns."""
        pages = self._ledger.knowledge(site).pages
        self._watch(Doing(MiningStep.PAIRING, site, "pages", total=pages))
        if pages >= MANY:
            self._workers.get_ready(2)
        paired = await self._workers.pair(site, known_pairs=self._plan.known_pairs)
        if isinstance(paired, Failure):
            _log.warning("pairing %s failed: %s %s", site, paired.kind, paired.detail)
            return MinedSite(None, [], [self._fault(_home(site), Stage.PAIR, paired)])
        faults: list[Skip] = []
        for url, left_out in paired.too_long.items():
            faults.append(Skip(Url.known(url), Stage.ALIGN, Reason.SEGMENT_TOO_LONG, left_out))
        groups = [list(group) for _, group in groupby(paired.findings.pairs, key=_languages)]
        lost: list[list[Skip]] = [[] for _ in groups]  # of each by itself: whichever is aligned first
        work = (self._aligned(_languages(some[0]), some, paired, of) for some, of in zip(groups, lost, strict=True))
        keys = [key for some in await together(work) for key in some]
        faults += chain.from_iterable(lost)
        findings = msgspec.structs.replace(paired.findings, made_from=self._made_from(paired, faults))
        return MinedSite(findings, keys, faults)

    def _made_from(self, paired: PairedSite, faults: Sequence[Skip]) -> str:
        """That of a site of which something was lost by a kill equals no other: it is mined again by the next run."""
        whole = made_from(self._settings, paired.extent)
        lost = [f"{fault.url} {fault.detail}".encode() for fault in faults if fault.reason is Reason.KILLED]
        return f"{whole} without {_hash(*lost).hex()}" if lost else whole

    async def _aligned(
        self, languages: Languages, pairs: Sequence[PagePair], paired: PairedSite, faults: list[Skip]
    ) -> list[AlignmentKey]:
        """The keys of the pairs' segments, in their order.

        All are aligned with what one sample of them teaches, which their URLs choose. So it does not matter which batch a
        pair is in, whether that was halved, and what was aligned before the job was interrupted. If a part of the sample
        cannot be learned from, the keys are those of the rest: other segments have other keys. A further round goes on
        with what was learned before it, so that what has not changed need not be aligned again.
        """
        site = paired.findings.site
        sample = sorted(pairs, key=lambda pair: _hash(f"{pair.url_a} {pair.url_b}".encode()))[: self._plan.sample]
        work = self._lesson_before(languages, pairs, paired) or _Work(languages, paired)
        if not work.learned:
            work = work._replace(context=self._context(work, sample))
        keys, aligned_before, missing = self._earlier(pairs, work)
        if missing and not work.learned:
            self._watch(Doing(MiningStep.LEARNING, site, f"{'-'.join(languages)} pairs", total=len(sample)))
            if len(missing) > self._plan.batch:
                self._workers.get_ready(2)
            learned, taught = await self._learned(site, sample, work, faults)
            work = work._replace(learned=learned, context=self._context(work, taught))
            self._findings.learned(site, languages, self._lesson(work, taught))
            keys, aligned_before, missing = self._earlier(pairs, work)
        faults += self._findings.faults_of(site, aligned_before)
        progress = _Progress(site, languages, len(pairs), len(aligned_before), self._clock, self._watch)
        progress.tell()

        def keep(pair: PagePair, aligned: PackedAlignment, lost: Sequence[Skip]) -> None:
            faults.extend(lost)
            if not any(fault.reason is Reason.KILLED for fault in lost):  # Else nothing is known of it.
                self._findings.aligned(site, keys[pair.url_a, pair.url_b], aligned, lost)

        async def batch(some: Sequence[PagePair]) -> None:
            await self._align(some, work, keep)
            progress.add(len(some))

        batches = _batches(missing, self._plan.batch) if work.learned else ([pair] for pair in missing)
        await together(map(batch, batches))
        return list(keys.values())

    def _earlier(self, pairs: Sequence[PagePair], work: "_Work") -> "_Earlier":
        keys = {(pair.url_a, pair.url_b): self._key(pair, work) for pair in pairs}
        earlier = _Earlier(keys, [], [])
        for pair in pairs:
            is_aligned = self._findings.is_aligned(keys[pair.url_a, pair.url_b])
            (earlier.aligned if is_aligned else earlier.missing).append(pair)
        return earlier

    async def _learned(
        self, site: str, sample: Sequence[PagePair], work: "_Work", faults: list[Skip]
    ) -> tuple[bytes, Sequence[PagePair]]:
        """What the sample teaches without the pairs of it that break a worker, and the others; nothing if all of them do."""
        answer = await self._workers.learn(work.languages, sample, work.template)
        if not isinstance(answer, Failure):
            return answer, sample
        _log.warning("learning from %d pairs failed: %s %s", len(sample), answer.kind, answer.detail)
        half = len(sample) // 2
        good = [*await self._teaching(sample[:half], work, faults), *await self._teaching(sample[half:], work, faults)]
        if len(good) == len(sample):  # None breaks it, but all are too much.
            good = good[:half]
            about = f"words were learned from {half} page pairs instead of {len(sample)}: "
            faults.append(self._fault(_home(site), Stage.ALIGN, answer, about))
        return await self._learned(site, good, work, faults) if good else (b"", ())

    async def _teaching(self, pairs: Sequence[PagePair], work: "_Work", faults: list[Skip]) -> list[PagePair]:
        """Those that a worker can learn from."""
        answer = await self._workers.learn(work.languages, pairs, work.template) if pairs else b""
        if not isinstance(answer, Failure):
            return list(pairs)
        if len(pairs) == 1:
            about = f"no words were learned from it and {pairs[0].url_b}: "
            faults.append(self._fault(pairs[0].url_a, Stage.ALIGN, answer, about))
            return []
        half = len(pairs) // 2
        return [*await self._teaching(pairs[:half], work, faults), *await self._teaching(pairs[half:], work, faults)]

    async def _align(self, pairs: Sequence[PagePair], work: "_Work", keep: "_Keep") -> None:
        """A batch that fails is halved until the pair is found that breaks it: that one is lost, and no other."""
        answer = await self._workers.align(work.languages, pairs, work.template, work.learned)
        if not isinstance(answer, Failure):
            for pair, aligned in zip(pairs, answer, strict=True):
                keep(pair, aligned, _lost(pair, aligned))
        elif len(pairs) > 1:
            half = len(pairs) // 2
            await self._align(pairs[:half], work, keep)
            await self._align(pairs[half:], work, keep)
        else:
            [pair] = pairs
            self._keep_input(pair, answer)
            keep(pair, NOTHING_ALIGNED, [self._fault(pair.url_a, Stage.ALIGN, answer, f"with {pair.url_b}: ")])

    def _fault(self, url: Url, stage: Stage, failure: Failure, about: str = "") -> Skip:
        return Skip(url, stage, _REASONS[failure.kind], f"{about}{failure.detail}"[:500])

    def _keep_input(self, pair: PagePair, failure: Failure) -> None:
        about = {"url_a": pair.url_a, "url_b": pair.url_b, "detail": failure.detail, "trace": failure.trace}
        pages = (self._ledger.page(pair.url_a), self._ledger.page(pair.url_b))
        body = pack(tuple(page for page in pages if page is not None))
        self._rejects.keep(f"{_hash(f'{pair.url_a} {pair.url_b}'.encode()).hex()}.pages", body, about)

    def _lesson_before(self, languages: Languages, pairs: Sequence[PagePair], paired: PairedSite) -> "_Work | None":
        """What was learned in an earlier round, if it was with these settings and most that taught it is as it was."""
        lesson = None if self._plan.learns_anew else self._findings.lesson(paired.findings.site, languages)
        work = _Work(languages, paired)
        if lesson is None or lesson.context != self._context_of(work, lesson.sample):
            return None
        now = {self._key(pair, work) for pair in pairs}
        if len(now.intersection(lesson.sample)) < STILL_TAUGHT * len(lesson.sample):
            return None
        return work._replace(context=lesson.context, learned=lesson.learned)

    def _lesson(self, work: "_Work", taught: Sequence[PagePair]) -> Lesson:
        bare = work._replace(context=b"")
        return Lesson(work.context, tuple(self._key(pair, bare) for pair in taught), work.learned)

    def _context(self, work: "_Work", sample: Sequence[PagePair]) -> bytes:
        """Of all that the segments of a pair depend on but the pair."""
        return self._context_of(work, self._lesson(work, sample).sample)

    def _context_of(self, work: "_Work", sample: Sequence[AlignmentKey]) -> bytes:
        return _hash(self._settings.encode(), "-".join(work.languages).encode(), *sample)

    def _key(self, pair: PagePair, work: "_Work") -> AlignmentKey:
        urls = (pair.url_a, pair.url_b)
        texts = [self._ledger.digest(url).encode() + work.paired.texts.get(url, b"") for url in urls]
        partial = b"partial" if pair.partial else b""
        return _hash(*(url.encode() for url in urls), *texts, partial, work.context)


def _batches(pairs: Sequence[PagePair], most: int) -> Iterator[Sequence[PagePair]]:
    """The last ones are smaller, so that all workers end at about the same time."""
    first = 0
    while rest := pairs[first:]:
        size = most if len(rest) > LAST * most else most // 2
        yield rest[:size]
        first += size


class _Earlier(NamedTuple):
    """The key of each pair's segments by its URLs, the pairs whose segments are in the ledger under it, and the others."""

    keys: dict[tuple[Url, Url], AlignmentKey]
    aligned: list[PagePair]
    missing: list[PagePair]


def _languages(pair: PagePair) -> Languages:
    return pair.lang_a, pair.lang_b


def _home(site: str) -> Url:
    return Url.known(f"http://{site}/")


def _lost(pair: PagePair, aligned: PackedAlignment) -> list[Skip]:
    about = f"with {pair.url_b}: "
    lost = [Skip(pair.url_a, Stage.JUDGE, Reason.MINING_ERROR, f"{about}{fault}") for fault in aligned.faults]
    if aligned.too_long:
        lost.append(Skip(pair.url_a, Stage.ALIGN, Reason.SEGMENT_TOO_LONG, f"{about}{aligned.too_long}"))
    return lost


class _Work(NamedTuple):
    """What all batches of a site and two languages share."""

    languages: Languages
    paired: PairedSite
    context: bytes = b""  # see `SiteMiner._context`
    learned: bytes = b""

    @property
    def template(self) -> Template:
        return self.paired.template


class _Progress:
    """How many pairs of a site are aligned, and how long the rest will take."""

    def __init__(self, site: str, languages: Languages, total: int, done: int, clock: Clock, watch: Watch) -> None:
        self._site = site
        self._what = f"{'-'.join(languages)} pairs"
        self._total = total
        self._done = self._before = done
        self._clock = clock
        self._began = clock.now()
        self._watch = watch

    def add(self, count: int) -> None:
        self._done += count
        self.tell()

    def tell(self) -> None:
        made = self._done - self._before
        rate = (self._clock.now() - self._began) / made if made else 0.0
        left = rate * (self._total - self._done)
        self._watch(Doing(MiningStep.ALIGNING, self._site, self._what, self._done, self._total, left))


def _hash(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
