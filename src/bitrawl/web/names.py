"""What the pages call the values that the program has codes for: evidence, reasons, flags, verdicts, strategies.

The names here are messages of the catalogues. A code without a name is shown as it is.
"""

from collections.abc import Mapping

from bitrawl.config import Strategy
from bitrawl.discover.site_check import TRANSLATIONS
from bitrawl.discover.suggestions import SuggestionMethod as Suggestion
from bitrawl.discover.verdict import Answer
from bitrawl.mine.judging import Flag
from bitrawl.model import Method, Reason
from bitrawl.web.words import marked

METHODS: Mapping[str, str] = {
    Method.DECLARED: marked("declared"),
    Method.URL: marked("addresses"),
    Method.IMAGES_AND_DIGITS: marked("images and digits"),
    Method.IMAGES: marked("images"),
    Method.DIGITS: marked("digits"),
    Method.HIGH: marked("structure (high)"),
    Method.MEDIUM: marked("structure (medium)"),
    Method.LOW: marked("structure (low)"),
    Method.CONTENT: marked("content"),
    Method.PARENTS: marked("paired parents"),
    Method.MUTUAL: marked("mutual links"),
    Method.BRIDGE: marked("third language"),
}
"""Evidence that two pages are a pair, by letter."""

SITE_EVIDENCE: Mapping[str, str] = {
    Suggestion.HREFLANG: marked("declared"),
    Suggestion.SWITCHER: marked("language menu"),
    Suggestion.SITEMAP: marked("sitemap"),
    Suggestion.SPLASH: marked("choice of languages at the entrance"),
    Suggestion.LINK: marked("links to translations"),
    Suggestion.URL: marked("addresses"),
    Suggestion.ADDRESS: marked("same address in the other language"),
    Suggestion.HABIT: marked("same addresses as other pages"),
    Suggestion.FOLDER: marked("folder of the language"),
    TRANSLATIONS: marked("words that translate each other"),
}
"""Evidence that a site is bilingual."""

REASONS: Mapping[str, str] = {
    Reason.OFF_SITE: marked("on another site"),
    Reason.OFF_HOST: marked("on another host"),
    Reason.NOT_UNDER: marked("not below the given paths"),
    Reason.EXCLUDED: marked("excluded"),
    Reason.NOT_INCLUDED: marked("not among the given addresses"),
    Reason.DEPTH: marked("too many links away"),
    Reason.NOFOLLOW: marked("link marked nofollow"),
    Reason.STRATEGY: marked("left out by the strategy"),
    Reason.TRAP: marked("endless series of addresses"),
    Reason.TOO_MANY_HOSTS: marked("too many hosts"),
    Reason.ROBOTS: marked("forbidden by robots.txt"),
    Reason.ROBOTS_UNREACHABLE: marked("robots.txt not available"),
    Reason.NOINDEX: marked("page marked noindex"),
    Reason.OPT_OUT: marked("mining not allowed"),
    Reason.REDIRECT: marked("moved"),
    Reason.TOO_MANY_REDIRECTS: marked("moved too often"),
    Reason.NOT_ARCHIVED: marked("not in the archive"),
    Reason.PRIVATE_ADDRESS: marked("private network"),
    Reason.DNS: marked("unknown host name"),
    Reason.CONNECTION: marked("no connection"),
    Reason.TLS: marked("no secure connection"),
    Reason.PROXY: marked("proxy not available"),
    Reason.TIMEOUT: marked("answer too slow"),
    Reason.HTTP_ERROR: marked("answer not valid"),
    Reason.HTTP_STATUS: marked("answered with an error"),
    Reason.SERVER_ERROR: marked("temporary error of the server"),
    Reason.RATE_LIMITED: marked("server asks for fewer visits"),
    Reason.TOO_LARGE: marked("too large"),
    Reason.BOMB: marked("too large when unpacked"),
    Reason.CONTENT_ENCODING: marked("cannot be unpacked"),
    Reason.CONTENT_TYPE: marked("not a web page"),
    Reason.SITEMAP: marked("sitemap"),
    Reason.PROBE: marked("test for missing pages"),
    Reason.SOFT_404: marked("text of a missing page"),
    Reason.EMPTY: marked("empty page"),
    Reason.ANALYSIS_TIMEOUT: marked("analysis took too long"),
    Reason.ANALYSIS_CRASH: marked("analysis crashed"),
    Reason.ANALYSIS_ERROR: marked("analysis failed"),
    Reason.MINING_TIMEOUT: marked("mining took too long"),
    Reason.MINING_CRASH: marked("mining crashed"),
    Reason.MINING_ERROR: marked("mining failed"),
    Reason.SEGMENT_TOO_LONG: marked("text too long for a segment"),
    Reason.KILLED: marked("process killed"),
    Reason.INTERNAL: marked("bug in bitrawl"),
}
"""Why an address brought no page."""

FLAGS: Mapping[str, str] = {
    Flag.NON_LETTERS: marked("few letters"),
    Flag.EQUAL: marked("same text"),
    Flag.SHORT: marked("very short"),
    Flag.LENGTH: marked("very different lengths"),
    Flag.NUMBERS: marked("different numbers"),
    Flag.MAIL: marked("e-mail address"),
    Flag.ADDRESS: marked("web address"),
    Flag.CODE: marked("program code"),
    Flag.PARTIAL: marked("page translated in part"),
}
"""What is noted of a segment."""

ANSWERS: Mapping[str, str] = {
    Answer.BILINGUAL: marked("bilingual"),
    Answer.THIN: marked("a page or two"),
    Answer.NO: marked("not bilingual"),
    Answer.UNKNOWN: marked("unknown"),
}
"""Whether a site is bilingual."""

STRATEGIES: Mapping[str, str] = {
    Strategy.BREADTH_FIRST: marked("breadth-first"),
    Strategy.LANGUAGE_FILTER: marked("language-filter"),
    Strategy.URL_MODELS: marked("url-models"),
    Strategy.URL_PATTERNS: marked("url-patterns"),
    Strategy.TERMS: marked("terms"),
    Strategy.PERPLEXITY: marked("perplexity"),
    Strategy.ADAPTIVE: marked("adaptive"),
}
