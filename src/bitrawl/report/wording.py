"""The sentences of the report: what a reason, a method, a language or a figure is called, and what to try."""

from collections.abc import Iterable

from bitrawl.languages import language_name
from bitrawl.model import Method, Reason

METHODS: dict[str, tuple[str, str]] = {
    Method.DECLARED: ("declared", "the pages name each other as translations (hreflang, language switchers, sitemaps)"),
    Method.URL: ("addresses", "the two URLs differ only in what names a language, or by a pattern learned on the site"),
    Method.IMAGES_AND_DIGITS: ("images and digits", "the same rare images and the same sequence of numbers"),
    Method.IMAGES: ("images", "the same rare images"),
    Method.DIGITS: ("digits", "the same sequence of numbers"),
    Method.HIGH: ("structure (high)", "built alike, paragraph by paragraph: very similar"),
    Method.MEDIUM: ("structure (medium)", "built alike: similar"),
    Method.LOW: ("structure (low)", "built alike: somewhat similar"),
    Method.CONTENT: (
        "content",
        "the words of one are translations of the other's, by the lexicon that the job has learned",
    ),
    Method.PARENTS: ("paired parents", "linked from the same place of two pages that are a pair themselves"),
    Method.MUTUAL: ("mutual links", "the pages link to each other"),
    Method.BRIDGE: ("bridge", "both are translations of the same page in a third language"),
}
"""By the letter of the evidence: its name, and what it says of two pages."""

SKIPS: dict[str, str] = {
    Reason.OFF_SITE: "The link leads to a site that is not one of the seeds'.",
    Reason.OFF_HOST: "The link leads to another host of the site, and --same-host was given.",
    Reason.NOT_UNDER: "The address is not below a path given with --under.",
    Reason.EXCLUDED: "An --exclude pattern matches.",
    Reason.NOT_INCLUDED: "There are --include patterns, and none matches.",
    Reason.DEPTH: "Further from the seeds than --max-depth.",
    Reason.NOFOLLOW: "The link says rel=nofollow.",
    Reason.STRATEGY: "The strategy does not follow links from the page where it was found.",
    Reason.TRAP: "The address looks like one of endlessly many, or pages of its kind brought nothing new.",
    Reason.ROBOTS: "robots.txt forbids it.",
    Reason.ROBOTS_UNREACHABLE: "robots.txt could not be had: then one has to stay away.",
    Reason.NOINDEX: "The page asks not to be indexed. Its links are followed.",
    Reason.OPT_OUT: "The page or its host reserves text and data mining.",
    Reason.REDIRECT: "It moved. The new address is a link of its own.",
    Reason.TOO_MANY_REDIRECTS: "One redirect led to the next, too often.",
    Reason.NOT_ARCHIVED: "The archives given to --replay do not hold it.",
    Reason.PRIVATE_ADDRESS: "Its host is not on the public internet.",
    Reason.DNS: "The host's name cannot be resolved.",
    Reason.CONNECTION: "No connection, or it broke off.",
    Reason.TLS: "The certificate is not valid, or no encrypted connection came about.",
    Reason.PROXY: "The proxy could not be reached, or refused the request. The host was not asked.",
    Reason.TIMEOUT: "The answer took too long.",
    Reason.HTTP_ERROR: "What came is no HTTP.",
    Reason.HTTP_STATUS: "The server answered with an error, mostly “not found”.",
    Reason.SERVER_ERROR: "The server said “not now”, at each attempt.",
    Reason.RATE_LIMITED: "The server asked for fewer requests.",
    Reason.TOO_LARGE: "Larger than fetch.megabytes.",
    Reason.BOMB: "The compressed body expands beyond all measure.",
    Reason.CONTENT_ENCODING: "A compression that is not known, or broken.",
    Reason.CONTENT_TYPE: "Not a page: an image, a program, a document of another kind.",
    Reason.SITEMAP: "A sitemap: read for its links.",
    Reason.PROBE: "An address that we made up, to see how the host answers when there is nothing.",
    Reason.SOFT_404: "It has the text that the host shows for addresses that do not exist.",
    Reason.EMPTY: "Neither text nor links.",
    Reason.ANALYSIS_TIMEOUT: "Reading it took too long; it is kept in rejected/.",
    Reason.ANALYSIS_CRASH: "The process that read it died; it is kept in rejected/.",
    Reason.ANALYSIS_ERROR: "The page reader failed on it; it is kept in rejected/.",
    Reason.INTERNAL: "A bug of ours. Please report it.",
}
"""Why a link is no page; docs/reference/skips.md says more of each."""

HARMLESS: frozenset[str] = frozenset({Reason.SITEMAP, Reason.PROBE, Reason.REDIRECT})
"""Skips by which nothing is lost."""

ADVICE: dict[str, str] = {
    Reason.OFF_SITE: "Add the other site as a seed; or, where it is the same site under another name, join the hosts"
    " with --one-site.",
    Reason.OFF_HOST: "Leave out --same-host, or add a page of the other host as a seed.",
    Reason.NOT_UNDER: "Add --under for the path of the other language too.",
    Reason.EXCLUDED: "Loosen --exclude.",
    Reason.NOT_INCLUDED: "Loosen --include: it must match the pages of both languages.",
    Reason.DEPTH: "Raise --max-depth.",
    Reason.STRATEGY: "Try --strategy breadth-first.",
    Reason.TRAP: "Look at these addresses in the ledger: if they are real pages, give some of them as seeds.",
    Reason.ROBOTS: "Ask the site's owner; robots.txt is not optional.",
    Reason.ROBOTS_UNREACHABLE: "Try again later: the same command goes on.",
    Reason.OPT_OUT: "Where your law allows it, --ignore-opt-outs keeps them.",
    Reason.NOT_ARCHIVED: "Bring archives that hold these pages.",
    Reason.PRIVATE_ADDRESS: "If these are your own machines, --allow-private opens them.",
    Reason.DNS: "Check the spelling of the seeds, and your connection.",
    Reason.CONNECTION: "Check your network connection; then run the same command again.",
    Reason.TLS: "Check the address in a browser; the plain http:// one may work.",
    Reason.PROXY: "Check --proxy, or HTTP_PROXY and HTTPS_PROXY in your environment, and its user name and password;"
    " then run the same command again.",
    Reason.TIMEOUT: "Raise fetch.timeout in the job file, or try again later.",
    Reason.HTTP_STATUS: "Check the seeds in a browser; some sites refuse all robots: a --contact in the User-Agent"
    " may help.",
    Reason.SERVER_ERROR: "Try again later, with a longer --delay.",
    Reason.RATE_LIMITED: "Try again later, with a longer --delay.",
    Reason.TOO_LARGE: "Raise fetch.megabytes in the job file.",
    Reason.CONTENT_TYPE: "Begin at a page of the site, not at a file.",
    Reason.SOFT_404: "If these are real pages, --no-probe keeps them.",
    Reason.EMPTY: "A site that is drawn by scripts alone has no text to read.",
    Reason.ANALYSIS_TIMEOUT: "Raise analysis.seconds in the job file.",
    Reason.ANALYSIS_CRASH: "Please report it, with a file from rejected/.",
    Reason.ANALYSIS_ERROR: "Please report it, with a file from rejected/.",
    Reason.INTERNAL: "Please report it.",
}
"""What to try when many links were lost to a reason; one that needs no advice has none."""

REFUSALS = {
    "wrong-language": "Both are in the same language: one is not in the language that it claims.",
    "untranslated": "Mostly the same text on both: the original under another address.",
    "short": "One has hardly any text of its own.",
    "length": "One has too little text to be a translation of the other.",
    "conflict": "One of them is the translation of another page, with more evidence.",
    "unlike": "All evidence together is too weak.",
    "machine-translated": "One says of itself that a machine translated it.",
}
"""Why two pages that something held to be a pair are none."""


def method_name(letter: str) -> str:
    """The letter itself where it is none of ours."""
    return METHODS.get(letter, (letter, ""))[0]


def language_pair(a: str, b: str) -> str:
    """English–French."""
    return f"{language_name(a)}–{language_name(b)}"


def number(count: float) -> str:
    """12,345."""
    return f"{count:,.0f}"


def counted(count: int, one: str, many: str = "") -> str:
    """1 page, 2 pages."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def share(part: float, whole: float) -> str:
    """In per cent; what is not nothing is not shown as 0, nor what is not all as 100."""
    percent = 100 * part / whole if whole else 0.0
    if 0 < percent < 1:
        return "under 1 %"
    return f"{99 if 99 < percent < 100 else percent:.0f} %"


def size(count: float) -> str:
    """Bytes as a person reads them."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def duration(seconds: float) -> str:
    """Seconds as a person says them: 12 s, 3 min 5 s, 2 h 10 min."""
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
