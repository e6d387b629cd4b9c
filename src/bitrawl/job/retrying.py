"""Which links a resumed job visits after all: new seeds, those that failed, and what a setting refused that has changed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b

import msgspec

from bitrawl.config import Job
from bitrawl.endings import skip_chain
from bitrawl.model import Link
from bitrawl.reasons import Reason
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.store.rounds import is_verdict
from bitrawl.url import Url

_KEY, _ADDED = "settings", "added"  # facts of the job
_BATCH = 500  # links that are judged together
_SITE = (Reason.OFF_SITE, Reason.OFF_HOST)
_BUSY = (Reason.RATE_LIMITED, Reason.SERVER_ERROR, Reason.TIMEOUT)
_ROUTE = (Reason.DNS, Reason.CONNECTION, Reason.PROXY, Reason.TLS, Reason.TIMEOUT, Reason.PRIVATE_ADDRESS)

FETCHED_AGAIN: Mapping[str, Collection[Reason]] = {
    "fetch.allow_private": (Reason.PRIVATE_ADDRESS,),
    "fetch.proxy": _ROUTE,
    "fetch.connect_to": _ROUTE,
    "fetch.timeout": (Reason.TIMEOUT,),
    "fetch.megabytes": (Reason.TOO_LARGE, Reason.BOMB),
    "fetch.contact": (Reason.HTTP_STATUS,),
    "fetch.cookies": (Reason.HTTP_STATUS, Reason.TOO_MANY_REDIRECTS),
    "politeness.delay": _BUSY,
    "politeness.per_host": _BUSY,
    "politeness.attempts": (*_BUSY, Reason.ROBOTS_UNREACHABLE, Reason.CONNECTION),
    "politeness.opt_outs": (Reason.OPT_OUT,),
    "scope.probe": (Reason.SOFT_404,),
    "scope.types": (Reason.CONTENT_TYPE,),
    "render.mode": (Reason.SCRIPTED, Reason.UNDRAWN),
    "render.seconds": (Reason.UNDRAWN,),
    "render.megabytes": (Reason.UNDRAWN,),
    "analysis.seconds": (Reason.ANALYSIS_TIMEOUT,),
    "analysis.megabytes": (Reason.ANALYSIS_CRASH,),
}
"""What may end otherwise when a setting has changed, and is asked for again."""

JUDGED_AGAIN: Mapping[str, Collection[Reason]] = {
    "seeds": (*_SITE, Reason.TOO_MANY_HOSTS),
    "scope": (*_SITE, Reason.NOT_UNDER, Reason.EXCLUDED, Reason.NOT_INCLUDED, Reason.DEPTH, Reason.CONTENT_TYPE),
    "budget.site_hosts": (Reason.TOO_MANY_HOSTS,),
    "topic.max_perplexity": (Reason.STRATEGY,),
}
"""What was never asked for, and may belong to the job when a setting has changed."""

_NO_FAILURE = frozenset((Reason.SITEMAP, Reason.NOINDEX))  # their links were followed


def changed_settings(job: Job, ledger: Ledger) -> frozenset[str]:
    """The settings that refuse links and are not those of the last run; none in a new job."""
    earlier = msgspec.json.decode(str(ledger.recall(_KEY) or "{}"), type=dict[str, str])
    now = _digests(job)
    return frozenset(key for key, digest in earlier.items() if now.get(key, digest) != digest)


def note_settings(job: Job, ledger: Ledger) -> None:
    ledger.remember(_KEY, msgspec.json.encode(_digests(job)).decode())


def reasons_of(table: Mapping[str, Collection[Reason]], changed: Collection[str]) -> list[Reason]:
    """The reasons that these settings decide about."""
    return list(dict.fromkeys(reason for key, reasons in table.items() if key in changed for reason in reasons))


def retry_seeds(queue: LedgerQueue, ledger: Ledger, seeds: Sequence[Url]) -> None:
    """Queue the seeds that brought no page, what they redirect to, and what a host that brought none was asked first.

    In a round that goes on, what has been answered is not asked again.
    """
    is_finished = ledger.is_finished()
    for seed in seeds:
        chain = skip_chain(seed, ledger.skip_of)
        failed = chain and chain[-1].target is None and chain[-1].reason not in _NO_FAILURE
        if failed and (is_finished or not is_verdict(chain[-1])):
            queue.retry({skip.url for skip in chain}, {skip.url.host for skip in chain})


def added_seeds(queue: LedgerQueue, ledger: Ledger, seeds: Sequence[Url]) -> list[Url]:
    """The seeds that the job did not begin with, as long as they have not been visited."""
    if ledger.is_new():
        return []
    earlier = msgspec.json.decode(str(ledger.recall(_ADDED) or "[]"), type=set[str])
    added = [seed for seed in dict.fromkeys(seeds) if queue.is_unread(seed, earlier)]
    ledger.remember(_ADDED, msgspec.json.encode([*map(str, added)]).decode())
    return added


def refused_links(queue: LedgerQueue, reasons: Sequence[Reason]) -> Iterator[list[Link]]:
    """The links that were never visited for one of these reasons, some at a time: they may be queued meanwhile."""
    last = 0
    while reasons and (rows := queue.refused(reasons, last, _BATCH)):
        last = rows[-1][0]
        yield [link for _, link in rows]


def _digests(job: Job) -> dict[str, str]:
    """Digests and not the settings: a proxy may have a password."""
    values: dict[str, object] = {key: _value(job, key) for key in (*FETCHED_AGAIN, *JUDGED_AGAIN)}
    return {key: blake2b(msgspec.json.encode(value), digest_size=8).hexdigest() for key, value in values.items()}


def _value(job: Job, key: str) -> object:
    value: object = job
    for name in key.split("."):
        value = getattr(value, name)
    return value
