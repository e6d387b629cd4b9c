"""The baseline of WMT16's shared task: URLs that are the same without their language identifiers.

Buck and Koehn 2016, extended to any language as García-Romero et al. 2024 describe: name in English, endonym, codes of
two and three letters, code with country.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import UNDETERMINED, Language
from bitrawl.url import Url
from bitrawl.urls.marks import language_spellings, mark_language

# The tokens of the published rule: a locale counts anywhere, not only if it stands alone as in `tokens.locales`.
_TOKEN = re.compile(r"[a-z]{2,3}[-_][a-z]{2}(?![a-z])|[^\W\d_]+", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\W_]+")


class RuleUrlPairModel:
    """1 for two URLs that are the same without identifiers of any languages, 0 for others."""

    def parallel(self, pairs: Sequence[tuple[Url, Url]]) -> NDArray[np.float32]:
        return np.array([float(a != b and _stripped(a, None) == _stripped(b, None)) for a, b in pairs], np.float32)


def rule_pairs(urls: Iterable[Url], lang_a: Language, lang_b: Language) -> list[tuple[Url, Url]]:
    """URLs of one site that are the same without the first language's identifiers in one and the second's in the other."""
    first: defaultdict[str, list[Url]] = defaultdict(list)
    second: defaultdict[str, list[Url]] = defaultdict(list)
    unique = list(dict.fromkeys(urls))
    for url in unique:
        first[_stripped(url, lang_a)].append(url)
        second[_stripped(url, lang_b)].append(url)
    taken: set[Url] = set()
    found = []
    for key, ones in first.items():
        for a in ones:
            b = next((b for b in second.get(key, ()) if b != a and b not in taken), None)
            if a not in taken and b is not None:
                taken.update((a, b))
                found.append((a, b))
    return found


def _stripped(url: Url, language: Language | None) -> str:
    """Separators are removed too: /en/x and /x are the same."""
    text = url.partition("://")[2].lower()
    return _SEPARATORS.sub(
        "/", _TOKEN.sub(lambda match: "" if _identifies(match[0], language) else match[0], text)
    ).strip("/")


def _identifies(token: str, language: Language | None) -> bool:
    if language is None:
        return mark_language(token) != UNDETERMINED
    return token.partition("-")[0].partition("_")[0] in language_spellings(language)
