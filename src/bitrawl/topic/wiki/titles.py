"""Which titles are terms: the exclusions of Papavassiliou, section 4, each of which can be switched off."""

import re
from collections.abc import Callable, Collection
from enum import StrEnum

from bitrawl.model import Language
from bitrawl.topic.wiki.articles import Article


class Exclusion(StrEnum):
    """Titles that are no terms."""

    DISAMBIGUATION = "disambiguation"
    REDIRECT = "redirect"
    LIST = "list"
    ABBREVIATION = "abbreviation"
    NAME = "name"


# Languages that capitalise every noun: there a capital tells nothing.
CAPITALISED_NOUNS = frozenset({"de", "lb", "gsw", "nds", "bar", "ksh", "frr", "stq", "pfl", "pdc"})

_QUALIFIER = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
# What editions write behind the title of a disambiguation page, where a wiki does not mark it otherwise.
_DISAMBIGUATION = re.compile(
    r"[(（](?:disambiguation|begriffsklärung|homonymie|disambigua|desambiguaci[oó]n?|desambiguação|doorverwijspagina|"
    r"ujednoznacznienie|значения|значення|αποσαφήνιση|rozcestník|dezambiguizare|förgrening\w*|olika betydelser|flertydig|"
    r"peker|egyértelműsítő lap|täsmennyssivu|razvrstavanje|anlam ayrımı|曖昧さ回避|消歧义|消歧義|동음이의|توضيح|פירושונים)[)）]$",
    re.IGNORECASE,
)
# How the titles of lists begin in the larger editions.
_LIST = re.compile(
    r"(?:lists?|index|outline|timeline|glossary|bibliography|chronology|comparison) (?:of|for|on)\b|"
    r"(?:lijst|elenco|zeittafel|chronologie|cronologia|cronología|zoznam|seznam|lista|liste|popis|sąraš\w*|saraksts|"
    r"luettelo|loend|список|списък|списак|κατάλογος|danh sách|daftar|senarai|قائمة|فهرست|רשימת)\s|"
    r"anexo:|.*(?:一覧|列表|목록)$|.*(?:luettelo|listája|listesi)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_YEAR = re.compile(r"\d{4}\b")
# The start of a sentence, also before its subject's article: old articles write "The Peanut is".
_BEFORE_A_SENTENCE = re.compile(
    r"(?:^|[.!?:;\n])[\s\"'“”«»„(]*(?:(?:the|an?|les?|la|une?|el|los|las|il|lo|gli|os?|as?|de|het|en|ett?)\s+|l['’])?$",
    re.IGNORECASE,
)


def without_qualifier(title: str) -> str:
    """The term of "Front (weather)" is "Front"."""
    return _QUALIFIER.sub("", title.replace("_", " ")).strip() or title


def as_term(title: str, language: Language) -> str:
    """The title as it stands in running text: without a qualifier, and without the capital that every title has."""
    term = without_qualifier(title)
    first = term.split(" ")[0].split("-")[0]
    capital = first[:1].isupper() and first[1:].islower()
    if not capital or _base(language) in CAPITALISED_NOUNS or _has_later_capital(term):
        return term
    return term[0].lower() + term[1:]


def exclusion(article: Article, language: Language, kept: Collection[Exclusion] = ()) -> Exclusion | None:
    """Why the title is no term; None if it is one. `kept` are the exclusions that are switched off."""
    tests: dict[Exclusion, Callable[[], bool]] = {
        Exclusion.REDIRECT: lambda: article.redirect,
        Exclusion.DISAMBIGUATION: lambda: article.disambiguation or bool(_DISAMBIGUATION.search(article.title)),
        Exclusion.LIST: lambda: bool(_LIST.match(article.title)),
        Exclusion.ABBREVIATION: lambda: is_abbreviation(article.title),
        Exclusion.NAME: lambda: is_name(article.title, article.lead, language),
    }
    return next((each for each, applies in tests.items() if each not in kept and applies()), None)


def is_abbreviation(title: str) -> bool:
    """More capitals than small letters: "NIOSH", "ISO 45001", "PhD". Scripts without case have no abbreviations here."""
    term = without_qualifier(title)
    capitals = sum(letter.isupper() for letter in term)
    return capitals > sum(letter.islower() for letter in term)


def is_name(title: str, lead: str, language: Language) -> bool:
    """A name keeps its capital wherever it stands; other titles stand in lower case somewhere in the lead.

    Where the lead does not tell, a title of several words is a name if at least half of its later words have a capital,
    and a title of one word is none.
    """
    term = without_qualifier(title)
    words = _WORD.findall(term)
    if _YEAR.match(term):  # "2013 Savar building collapse"
        return True
    if not words or _base(language) in CAPITALISED_NOUNS or not words[0][0].isupper():
        return False
    if term[0].lower() + term[1:] in lead or term.lower() in lead:
        return False
    # Function words are small in names as well, single letters and abbreviations have a capital anywhere.
    later = [word for word in words[1:] if len(word) > 3 or (word[0].isupper() and word[1:].islower())]
    if later:
        return len([word for word in later if word[0].isupper() and not word.isupper()]) * 2 >= len(later)
    return len(words) == 1 and any(
        not _BEFORE_A_SENTENCE.search(lead[: found.start()]) for found in re.finditer(rf"\b{re.escape(term)}\b", lead)
    )


def needs_lead(title: str, language: Language) -> bool:
    """Whether `is_name` can depend on the lead: a title of one word, or one that looks like a name."""
    words = _WORD.findall(without_qualifier(title))
    return _base(language) not in CAPITALISED_NOUNS and (len(words) == 1 or is_name(title, "", language))


def _has_later_capital(term: str) -> bool:
    return any(word[0].isupper() and not word.isupper() for word in _WORD.findall(term)[1:])


def _base(language: Language) -> str:
    return language.partition("-")[0]
