"""What can be learned from URLs alone: the language of a page, whether two are translations, the pairs of a whole site."""

from typing import TYPE_CHECKING

from bitrawl.doors import door

if TYPE_CHECKING:
    from bitrawl.urls.language_model import LinearUrlLanguageModel, RuleUrlLanguageModel, language_by_rules
    from bitrawl.urls.pair_model import RuleUrlPairModel, TreeUrlPairModel, rule_pairs
    from bitrawl.urls.patterns import PatternCounts, learn_patterns
    from bitrawl.urls.site_pairs import LIKELY, Versions, match_urls
    from bitrawl.urls.tokens import (
        address_languages,
        host_name,
        language_spellings,
        mark_language,
        named_languages,
        page_extension,
        readable_words,
        renamed,
        runs,
        skeleton,
        versions,
    )
    from bitrawl.urls.transformers import load_pair_transformer, url_language_model
else:
    __getattr__ = door(__name__)

# Here, because help shows it. Swept 0.07–0.60 on halves of the hosts and on kinds of difference left out (2026-11,
# lab/notes/url-pairs.md): against 0.07, 0.12 gains one to two points of F1 where pages have no partner, and loses at most 1.2
# where all have one.
URL_PAIR_SCORE = 0.12
