"""Why something was skipped, and where, and why a strategy left a site: rows and values with all that people are told of it."""

from enum import StrEnum
from typing import Self, TypeAlias

import msgspec


class Action(StrEnum):
    """What a button of the web app does about it, by its name in addresses."""

    RESUME = "resume"  # go on, or try again
    VISIT_REST = "exhaustive"
    LARGER_LIMIT = "larger"
    REPEAT = "repeat"  # a form that is filled in as for this job


class Stage(StrEnum):
    """Where in the pipeline something was skipped."""

    SCOPE = "scope"
    FRONTIER = "frontier"
    ROBOTS = "robots"
    FETCH = "fetch"
    ANALYSE = "analyse"
    PAIR = "pair"
    ALIGN = "align"
    JUDGE = "judge"
    STRATEGY = "strategy"


class Reason(StrEnum):
    """Why something was skipped. A row has all that people are told of it; docs/reference/skips.md says more."""

    label: str  # in the web app: a key of its catalogues
    meaning: str  # one sentence, for the report
    advice: str  # what to try when many links were skipped for it; empty where there is nothing to try
    text: str  # the same in the web app, where nobody types commands: a key of its catalogues
    action: Action | None  # the button for that

    def __new__(
        cls,
        name: str,
        label: str = "",
        meaning: str = "",
        advice: str = "",
        text: str = "",
        action: Action | None = None,
    ) -> Self:
        """The name is what is stored."""
        row = str.__new__(cls, name)
        row._value_, row.label, row.meaning = name, label, meaning
        row.advice, row.text, row.action = advice, text, action
        return row

    # fmt: off
    # scope
    OFF_SITE = ("off-site", "on another site", "The link leads to a site that has no seed.",
        "Add the other site as a seed. If it is the same site under another name, join the hosts with --one-site.",
        "Start again with the address of the other site.", Action.REPEAT)
    OFF_HOST = ("off-host", "on another host",
        "The link leads to another host of the domain, and no page declares a translation there, or you gave --same-host.",
        "Follow links to all hosts of the domain with --scope domain, or add a page of the other host as a seed.",
        "Start again with the address of a page on the other host.", Action.REPEAT)
    NOT_UNDER = ("not-under", "not below the given paths", "The URL is not below a path that you gave with --under.",
        "Add --under for the path of the other language too.",
        "Start again, and name the folders of both languages.", Action.REPEAT)
    EXCLUDED = ("excluded", "excluded", "The URL matches an --exclude pattern.", "Loosen --exclude.",
        "Start again, and exclude less.", Action.REPEAT)
    NOT_INCLUDED = ("not-included", "not among the given addresses", "The URL matches none of the --include patterns.",
        "Loosen --include. It must match the pages of both languages.",
        "Start again, and include the addresses of both languages.", Action.REPEAT)
    DEPTH = ("depth", "too many links away", "The link is further from the seeds than --max-depth.",
        "Raise --max-depth.",
        "Start again, and allow more links between a page and the start.", Action.REPEAT)
    NOFOLLOW = ("nofollow", "link marked nofollow", "The link, or the page that has it, says nofollow.")
    STRATEGY = ("strategy", "left out by the strategy",
        "The strategy does not follow links of the page where this one was found.", "Try --strategy breadth-first.",
        "Start again with another strategy.", Action.REPEAT)
    TRAP = ("trap", "endless series of addresses",
        "The URL looks like one of an endless series, or similar URLs and links brought nothing new.",
        "Look at these URLs. If they are real pages, add some of them as seeds.",
        "Look at these addresses. If they are real pages, start again with some of them.", Action.REPEAT)
    TOO_MANY_HOSTS = ("too-many-hosts", "too many hosts",
        "The site has more hosts than --site-hosts, or its hosts all answer alike.",
        "Raise --site-hosts, or add a page of each host that you want as a seed.",
        "Start again with a page of each host that you want.", Action.REPEAT)
    # robots and opt-outs
    ROBOTS = ("robots", "forbidden by robots.txt", "robots.txt forbids it.",
        "Ask the site's owner for permission. bitrawl always obeys robots.txt.",
        "Only the owner of the site can give permission.")
    ROBOTS_UNREACHABLE = ("robots-unreachable", "robots.txt not available",
        "robots.txt could not be fetched, so nothing on this host may be crawled.",
        "Try again later. The same command resumes the job.",
        "Try again later.", Action.RESUME)
    NOINDEX = ("noindex", "page marked noindex", "The page asks not to be indexed. Its links were followed.")
    OPT_OUT = ("opt-out", "mining not allowed", "The page or its host does not allow text and data mining.",
        "If the law allows it where you are, keep them with --ignore-opt-outs.",
        "Only the owner of the site can give permission.")
    # fetch
    REDIRECT = ("redirect", "moved", "The page has moved. Its new URL is counted as a link of its own.")
    TOO_MANY_REDIRECTS = ("too-many-redirects", "moved too often", "There were too many redirects in a row.")
    NOT_ARCHIVED = ("not-archived", "not in the archive", "The archives given to --replay do not hold it.",
        "Add archives that hold these pages.",
        "Start again with archives that hold these pages.", Action.REPEAT)
    PRIVATE_ADDRESS = ("private-address", "private network", "The host is not on the public internet.",
        "If these are your own machines, allow them with --allow-private.",
        "Only the operator of this server can allow visits to private networks.")
    DNS = ("dns", "unknown host name", "The name of the host could not be resolved.",
        "Check the spelling of the seeds and your network connection.",
        "Check the spelling of the address.", Action.REPEAT)
    CONNECTION = ("connection", "no connection", "The host refused the connection, or broke it off.",
        "Check your network connection, then run the same command again.",
        "Try again later.", Action.RESUME)
    TLS = ("tls", "no secure connection", "The certificate is not valid, or no encrypted connection was possible.",
        "Open the URL in a browser. The http:// URL may work instead.",
        "Open the address in a browser. With http:// in place of https:// it may work.", Action.REPEAT)
    PROXY = ("proxy", "proxy not available",
        "The proxy could not be reached, or refused the request. The host was not contacted.",
        "Check --proxy, or HTTP_PROXY and HTTPS_PROXY in your environment, and its user name and password.",
        "Tell the operator of this server.")
    TIMEOUT = ("timeout", "answer too slow", "The answer took too long.",
        "Raise fetch.timeout in the job file, or try again later.",
        "Try again later.", Action.RESUME)
    HTTP_ERROR = ("http-error", "invalid answer", "The answer is not valid HTTP.")
    HTTP_STATUS = ("http-status", "answered with an error", "The server answered with an error.",
        "Open the seeds in a browser. Some sites refuse all crawlers; a --contact in the User-Agent may help.",
        "Open the address in a browser, and check its spelling. Some sites refuse all crawlers.", Action.REPEAT)
    SERVER_ERROR = ("server-error", "temporary server error",
        "The server answered with a temporary error, at each attempt.", "Try again later, with a longer --delay.",
        "Try again later.", Action.RESUME)
    RATE_LIMITED = ("rate-limited", "server asks for fewer visits", "The server asked for fewer requests.",
        "Try again later, with a longer --delay.",
        "Try again later.", Action.RESUME)
    TOO_LARGE = ("too-large", "too large",
        "The answer is larger than fetch.megabytes, or only a part of it was read.",
        "Raise fetch.megabytes in the job file.",
        "Tell the operator of this server.")
    BOMB = ("bomb", "too large when unpacked", "The compressed answer would expand to an unreasonable size.")
    CONTENT_ENCODING = ("content-encoding", "cannot be unpacked", "The compression is unknown or broken.")
    CONTENT_TYPE = ("content-type", "not a web page", "Not a web page: an image, an archive or another kind of file.",
        "Start from a page of the site, not from a file.",
        "Start again from a page of the site, not from a file.", Action.REPEAT)
    UNCHANGED = ("unchanged", "unchanged", "It is as it was at the last visit, so what is known of it stays.")
    # analysis
    SITEMAP = ("sitemap", "sitemap", "A sitemap. Its links were followed.")
    PROBE = ("probe", "test for missing pages", "A URL that we made up, to see how the host answers for missing pages.")
    SOFT_404 = ("soft-404", "text of a missing page", "The page has the same text that the host shows for missing pages.",
        "If these are real pages, keep them with --no-probe.",
        "If these are real pages, tell the operator of this server.")
    EMPTY = ("empty", "empty page", "The page has neither text nor links.")
    SCRIPTED = ("scripted", "drawn by scripts", "The page has neither text nor links before its scripts run.",
        "Draw such pages with --render auto, which needs the extra browser.",
        "Only the operator of this server can install the browser that runs scripts.")
    UNDRAWN = ("undrawn", "could not be drawn",
        "The page has neither text nor links before its scripts run, and in the browser they hung, crashed or took too much memory.",
        "Raise render.seconds or render.megabytes in the job file.",
        "Tell the operator of this server.")
    NO_TEXT_LAYER = ("no-text-layer", "document without text",
        "The document has pictures of its text only, or fonts that do not say which letters they draw.")
    UNREADABLE = ("unreadable", "document cannot be read", "The document is damaged, or protected by a password.")
    ANALYSIS_TIMEOUT = ("analysis-timeout", "analysis took too long",
        "Analysing the page took too long. It is kept in rejected/.", "Raise analysis.seconds in the job file.",
        "Tell the operator of this server.")
    ANALYSIS_CRASH = ("analysis-crash", "analysis crashed",
        "The process that analysed the page died. The page is kept in rejected/.",
        "Please report it, and attach a file from rejected/.",
        "Tell the operator of this server.")
    ANALYSIS_ERROR = ("analysis-error", "analysis failed", "Analysing the page failed. It is kept in rejected/.",
        "Please report it, and attach a file from rejected/.",
        "Tell the operator of this server.")
    # mining
    MINING_TIMEOUT = ("mining-timeout", "mining took too long", "Mining took longer than mining.seconds.",
        "Raise mining.seconds in job.toml, then run: bitrawl pair",
        "Tell the operator of this server.")
    MINING_CRASH = ("mining-crash", "mining crashed", "Mining crashed, or needed more memory than mining.megabytes.",
        "Raise mining.megabytes in job.toml, then run: bitrawl pair",
        "Tell the operator of this server.")
    MINING_ERROR = ("mining-error", "mining failed", "Mining failed. The pages are kept in rejected/.",
        "Please report it, and attach a file from rejected/.",
        "Tell the operator of this server.")
    SEGMENT_TOO_LONG = ("segment-too-long", "text too long for a segment",
        "A text without marks to split it at is too long for a segment.",
        "Raise align.characters to keep such texts whole: bitrawl pair DIR --max-characters 5000",
        "Start again, and allow longer segments.", Action.REPEAT)
    # analysis and mining
    KILLED = ("killed", "process killed",
        "The process that read, drew or mined it was killed three times, or there was too little memory for it.",
        "Run the same command again: it is tried again. If that does not help, use --workers 1, or give the machine more memory.",
        "Try again later.", Action.RESUME)
    INTERNAL = ("internal", "bug in bitrawl", "This is a bug in bitrawl. Please report it.", "Please report it.",
        "Tell the operator of this server.")
    # fmt: on


TRANSIENT = frozenset(map(Reason, "robots-unreachable dns connection proxy timeout server-error rate-limited".split()))
"""Reasons that may no longer hold at the next attempt."""

NO_ANSWER = frozenset(map(Reason, "robots-unreachable dns connection tls proxy timeout".split()))
"""Reasons which mean that the host gave no usable answer."""

STANDING = frozenset(map(Reason, "robots off-site off-host content-type".split()))
"""Reasons that will hardly have changed when the same command is run again."""

HARMLESS = frozenset({Reason.SITEMAP, Reason.PROBE, Reason.REDIRECT})
"""Reasons that lose nothing."""


class FewPairs(msgspec.Struct, frozen=True, tag="few-pairs", tag_field="kind"):
    """The last visits completed hardly any pair, and those that would be next promise none either."""

    pairs: int  # likely ones, of the site so far
    visits: int
    last: int  # so many of these visits were looked at
    brought: int  # pairs that they completed
    queued: int  # links
    best: int  # so many of these links were looked at
    promised: float  # pairs that they can be expected to complete


class FewRelevant(msgspec.Struct, frozen=True, tag="few-relevant", tag_field="kind"):
    """The last visits brought hardly any page about the topic, each page counted as far as it is about it."""

    relevant: float
    visits: int
    last: int
    brought: float
    queued: int
    best: int
    promised: float


class OneLanguage(msgspec.Struct, frozen=True, tag="one-language", tag_field="kind"):
    """Texts, declarations and addresses show no sign of a second language that was asked for."""

    pages: int
    language: str  # that they show; empty for none


class NoHomes(msgspec.Struct, frozen=True, tag="no-homes", tag_field="kind"):
    """There are no home pages in two of the languages to begin with."""


class NoPattern(msgspec.Struct, frozen=True, tag="no-pattern", tag_field="kind"):
    """No candidate pair fits a pattern of addresses that is trusted or frequent."""

    candidates: int
    times: int  # in a row


LeaveReason: TypeAlias = FewPairs | FewRelevant | OneLanguage | NoHomes | NoPattern | str
"""Why a strategy left a site. A text is a sentence of a strategy from elsewhere; empty: it did not."""
