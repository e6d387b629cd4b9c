"""The words of the report: names and sentences for reasons, methods, languages and figures, and what to try."""

from collections.abc import Iterable, Mapping

from bitrawl.facts import CrawlSummary
from bitrawl.languages import language_name
from bitrawl.model import Method, Reason

METHODS: dict[str, tuple[str, str]] = {
    Method.DECLARED: ("declared", "the pages or a sitemap declare it: hreflang, language switchers"),
    Method.URL: ("URLs", "the URLs differ only in a language mark, or by a pattern learned on the site"),
    Method.IMAGES_AND_DIGITS: (
        "images and digits",
        "both pages have the same rare images and the same sequence of numbers",
    ),
    Method.IMAGES: ("images", "both pages have the same rare images"),
    Method.DIGITS: ("digits", "both pages have the same sequence of numbers"),
    Method.HIGH: ("structure (high)", "the paragraphs and their order are nearly the same"),
    Method.MEDIUM: ("structure (medium)", "the paragraphs and their order are similar"),
    Method.LOW: ("structure (low)", "the paragraphs and their order are somewhat similar"),
    Method.CONTENT: (
        "content",
        "the words of one page translate those of the other, by the lexicon that this job has learned",
    ),
    Method.PARENTS: ("paired parents", "two pages that are a pair link to them from the same place"),
    Method.MUTUAL: ("mutual links", "the pages link to each other"),
    Method.BRIDGE: ("third language", "both are translations of the same page in a third language"),
}
"""The name of each kind of evidence, by letter, and what it says about two pages."""

SKIPS: dict[str, str] = {
    Reason.OFF_SITE: "The link leads to a site that has no seed.",
    Reason.OFF_HOST: "The link leads to another host of the site, and you gave --same-host.",
    Reason.NOT_UNDER: "The URL is not below a path that you gave with --under.",
    Reason.EXCLUDED: "The URL matches an --exclude pattern.",
    Reason.NOT_INCLUDED: "The URL matches none of the --include patterns.",
    Reason.DEPTH: "The link is further from the seeds than --max-depth.",
    Reason.NOFOLLOW: "The link, or the page that has it, says nofollow.",
    Reason.STRATEGY: "The strategy does not follow links of the page where this one was found.",
    Reason.TRAP: "The URL looks like one of an endless series, or similar URLs and links brought nothing new.",
    Reason.TOO_MANY_HOSTS: "The site has more hosts than --site-hosts, or its hosts all answer alike.",
    Reason.ROBOTS: "robots.txt forbids it.",
    Reason.ROBOTS_UNREACHABLE: "robots.txt could not be fetched, so nothing on this host may be crawled.",
    Reason.NOINDEX: "The page asks not to be indexed. Its links were followed.",
    Reason.OPT_OUT: "The page or its host does not allow text and data mining.",
    Reason.REDIRECT: "The page has moved. Its new URL is counted as a link of its own.",
    Reason.TOO_MANY_REDIRECTS: "There were too many redirects in a row.",
    Reason.NOT_ARCHIVED: "The archives given to --replay do not hold it.",
    Reason.PRIVATE_ADDRESS: "The host is not on the public internet.",
    Reason.DNS: "The name of the host could not be resolved.",
    Reason.CONNECTION: "The host refused the connection, or broke it off.",
    Reason.TLS: "The certificate is not valid, or no encrypted connection was possible.",
    Reason.PROXY: "The proxy could not be reached, or refused the request. The host was not asked.",
    Reason.TIMEOUT: "The answer took too long.",
    Reason.HTTP_ERROR: "The answer is not valid HTTP.",
    Reason.HTTP_STATUS: "The server answered with an error.",
    Reason.SERVER_ERROR: "The server answered with a temporary error, at each attempt.",
    Reason.RATE_LIMITED: "The server asked for fewer requests.",
    Reason.TOO_LARGE: "The answer is larger than fetch.megabytes, or only the first part of it was read.",
    Reason.BOMB: "The compressed answer would expand to an unreasonable size.",
    Reason.CONTENT_ENCODING: "The compression is unknown or broken.",
    Reason.CONTENT_TYPE: "Not a web page: an image, an archive or another kind of file.",
    Reason.SITEMAP: "A sitemap. Its links were followed.",
    Reason.PROBE: "A URL that we made up, to see how the host answers for missing pages.",
    Reason.SOFT_404: "The page has the same text that the host shows for missing pages.",
    Reason.EMPTY: "The page has neither text nor links.",
    Reason.ANALYSIS_TIMEOUT: "Analysing the page took too long. It is kept in rejected/.",
    Reason.ANALYSIS_CRASH: "The process that analysed the page died. The page is kept in rejected/.",
    Reason.ANALYSIS_ERROR: "Analysing the page failed. It is kept in rejected/.",
    Reason.MINING_TIMEOUT: "Mining took longer than mining.seconds.",
    Reason.MINING_CRASH: "Mining crashed, or needed more memory than mining.megabytes.",
    Reason.MINING_ERROR: "Mining failed. The pages are kept in rejected/.",
    Reason.SEGMENT_TOO_LONG: "A text without marks to split it at is too long for a segment.",
    Reason.KILLED: "The process that read or mined it was killed three times, or there was too little memory for it.",
    Reason.INTERNAL: "This is a bug in bitrawl. Please report it.",
}
"""Why a link did not become a page. docs/reference/skips.md says more about each reason."""

HARMLESS: frozenset[str] = frozenset({Reason.SITEMAP, Reason.PROBE, Reason.REDIRECT})
"""Skips that lose nothing."""

ADVICE: dict[str, str] = {
    Reason.OFF_SITE: "Add the other site as a seed. If it is the same site under another name, join the hosts"
    " with --one-site.",
    Reason.OFF_HOST: "Leave out --same-host, or add a page of the other host as a seed.",
    Reason.NOT_UNDER: "Add --under for the path of the other language too.",
    Reason.EXCLUDED: "Loosen --exclude.",
    Reason.NOT_INCLUDED: "Loosen --include. It must match the pages of both languages.",
    Reason.DEPTH: "Raise --max-depth.",
    Reason.STRATEGY: "Try --strategy breadth-first.",
    Reason.TRAP: "Look at these URLs. If they are real pages, add some of them as seeds.",
    Reason.TOO_MANY_HOSTS: "Raise --site-hosts, or add a page of each host that you want as a seed.",
    Reason.ROBOTS: "Ask the site's owner for permission. bitrawl always obeys robots.txt.",
    Reason.ROBOTS_UNREACHABLE: "Try again later. The same command resumes the job.",
    Reason.OPT_OUT: "If the law allows it where you are, keep them with --ignore-opt-outs.",
    Reason.NOT_ARCHIVED: "Add archives that hold these pages.",
    Reason.PRIVATE_ADDRESS: "If these are your own machines, allow them with --allow-private.",
    Reason.DNS: "Check the spelling of the seeds and your network connection.",
    Reason.CONNECTION: "Check your network connection, then run the same command again.",
    Reason.TLS: "Open the URL in a browser. The http:// URL may work instead.",
    Reason.PROXY: "Check --proxy, or HTTP_PROXY and HTTPS_PROXY in your environment, and its user name and password."
    " Then run the same command again.",
    Reason.TIMEOUT: "Raise fetch.timeout in the job file, or try again later.",
    Reason.HTTP_STATUS: "Open the seeds in a browser. Some sites refuse all crawlers; a --contact in the User-Agent"
    " may help.",
    Reason.SERVER_ERROR: "Try again later, with a longer --delay.",
    Reason.RATE_LIMITED: "Try again later, with a longer --delay.",
    Reason.TOO_LARGE: "Raise fetch.megabytes in the job file.",
    Reason.CONTENT_TYPE: "Start from a page of the site, not from a file.",
    Reason.SOFT_404: "If these are real pages, keep them with --no-probe.",
    Reason.EMPTY: "The site may draw its pages with scripts. bitrawl does not run scripts.",
    Reason.ANALYSIS_TIMEOUT: "Raise analysis.seconds in the job file.",
    Reason.ANALYSIS_CRASH: "Please report it, and attach a file from rejected/.",
    Reason.ANALYSIS_ERROR: "Please report it, and attach a file from rejected/.",
    Reason.MINING_TIMEOUT: "Raise mining.seconds in job.toml, then run: bitrawl pair",
    Reason.MINING_CRASH: "Raise mining.megabytes in job.toml, then run: bitrawl pair",
    Reason.MINING_ERROR: "Please report it, and attach a file from rejected/.",
    Reason.SEGMENT_TOO_LONG: "Raise align.characters to keep such texts whole: bitrawl pair DIR --max-characters 5000",
    Reason.KILLED: "Run the same command again: it is tried again. If that does not help, use --workers 1, or give the"
    " machine more memory.",
    Reason.INTERNAL: "Please report it.",
}
"""What to try when many links were skipped for a reason. Reasons that need no advice are absent."""

REFUSALS = {
    "wrong-language": "Both pages are in the same language. One claims to be in another.",
    "untranslated": "Both pages have mostly the same text: the original, not translated.",
    "partial": "Only a part of one page is translated. Its translated segments are in the corpus.",
    "short": "One page has hardly any text of its own.",
    "length": "One page has too little text to be a translation of the other.",
    "conflict": "One of the pages has a better partner.",
    "unlike": "All of the evidence together is too weak.",
    "machine-translated": "One page says that it was translated by a machine.",
    "off-topic": "One page, or both, is not about the topic.",
}
"""Why two pages that some evidence suggested as a pair were refused."""


def method_name(letter: str) -> str:
    """The letter itself if it is unknown."""
    return METHODS.get(letter, (letter, ""))[0]


def with_code(language: str) -> str:
    """French (fr)."""
    return f"{language_name(language)} ({language})"


def language_pair(a: str, b: str) -> str:
    """English–French."""
    return f"{language_name(a)}–{language_name(b)}"


def fetched(summary: CrawlSummary) -> str:
    """How many requests were answered, and how many were not, if any."""
    answers, silent = counted(summary.answers, "answer"), sum(summary.unanswered.values())
    return f"{answers} to {counted(summary.answers + silent, 'request')}" if silent else answers


def answered(statuses: Mapping[int, int], most: int = 3) -> str:
    """404 × 12, 403 × 2."""
    shown = [f"{status} × {number(count)}" for status, count in list(statuses.items())[:most]]
    return ", ".join([*shown, "…"] if len(statuses) > most else shown)


def number(count: float) -> str:
    """12,345."""
    return f"{count:,.0f}"


def counted(count: int, one: str, many: str = "") -> str:
    """1 page, 2 pages."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def share(part: float, whole: float) -> str:
    """In per cent. Only nothing is shown as 0 %, and only everything as 100 %."""
    percent = 100 * part / whole if whole else 0.0
    if 0 < percent < 1:
        return "under 1 %"
    return f"{99 if 99 < percent < 100 else percent:.0f} %"


def size(count: float) -> str:
    """Bytes in a readable unit."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def duration(seconds: float) -> str:
    """Seconds in readable units: 12 s, 3 min 5 s, 2 h 10 min."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def enumerated(parts: Iterable[str]) -> str:
    """A, b and c."""
    *most, last = list(parts) or ["none"]
    return f"{', '.join(most)} and {last}" if most else last


def shortened(text: str, width: int) -> str:
    """The beginning of the text, with a mark if there is more."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"
