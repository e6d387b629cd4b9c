"""Language codes as Wikimedia's editions use them: most are ISO 639, some are older than it."""

from bitrawl.languages import claimed_language
from bitrawl.model import Language

# https://meta.wikimedia.org/wiki/Special_language_codes
_EDITIONS = {
    "nb": "no", "gsw": "als", "nan": "zh-min-nan", "yue": "zh-yue", "lzh": "zh-classical", "rup": "roa-rup",
    "sgs": "bat-smg", "vro": "fiu-vro", "fil": "tl", "cnr": "sh",
}  # fmt: skip
_LANGUAGES = {edition: language for language, edition in _EDITIONS.items() if language not in ("fil", "cnr")}


def edition_code(language: Language) -> str:
    """The code of a language in the addresses and the language links of Wikipedia."""
    base = language.partition("-")[0]
    return _EDITIONS.get(base, base)


def edition_language(code: str) -> Language:
    """The language of an edition; "und" if the code is not known. Simple English is English."""
    if code.startswith("simple"):
        return Language("en")
    return Language(_LANGUAGES.get(code) or claimed_language(code))
