"""What the pages call the values that the program has codes for: evidence, reasons, flags, verdicts, strategies.

The names here are messages of the catalogues. A code without a name is shown as it is.
"""

from collections.abc import Mapping

from bitrawl.config import Strategy
from bitrawl.corpus.judging import Flag
from bitrawl.discover.site_check import TRANSLATIONS
from bitrawl.discover.suggestions import Method as Suggestion
from bitrawl.discover.verdict import Answer
from bitrawl.model import Method, Reason
from bitrawl.web.words import marked

METHODS: Mapping[str, str] = {method: method.key for method in Method}
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

REASONS: Mapping[str, str] = {reason: reason.label for reason in Reason}
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
