"""Translations that a page declares: in links, headers, switchers, options, data attributes and JSON-LD.

They are evidence, not yet pairs: hreflang is wrong on a third of the sites that have it, and what looks like a switcher
may lead to a course in French. Other modules check whether the declaration is returned and which language the text is
in.
"""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from selectolax.lexbor import LexborNode

from bitrawl.languages import asked_language, base_language, claimed_language
from bitrawl.model import UNDETERMINED, Alternate, AlternateSource, Language
from bitrawl.page.head import Attributes, Head, written
from bitrawl.page.links import Anchor
from bitrawl.text.language_names import NamedLanguage, language_code, language_table, spaced
from bitrawl.url import Url
from bitrawl.urls import address_languages, mark_language

MAX_ALTERNATES = 1000  # Per page: more than there are locales.
MAX_RUN = 400  # Wikipedia's longest lists of languages have 350.

_TAG = re.compile(r"x-default|[a-z]{2,3}(?:-[a-z0-9]{1,8})*")
_FEEDS = re.compile(r"rss|atom|xml|json|calendar", re.IGNORECASE)
# Words in the class, id or role of the element around a language switcher: those that plug-ins and frameworks write
# (WPML, Polylang, TranslatePress, qTranslate, Drupal, TYPO3, Joomla, MediaWiki, Shopify), and those that authors write.
_SWITCHER = re.compile(
    r"(?:^|[\s_\-])(?:"
    r"wpml-ls|wpml-language|pll-|lang-item|qtranxs|trp-language|trp_language|language-link|links-inline-languages|"
    r"mod-?_?languages|interlanguage|interwiki|localization-form|disclosure__list|weglot|gtranslate|"
    r"(?:languages?|langs?|locales?|i18n|translations?)"
    r"(?:[\s_\-]?(?:switch\w*|select\w*|picker|menu|nav\w*|list\w*|choos\w*|bar|toggle|dropdown|links?|options?|box|"
    r"block|flags?|wrap\w*|container|versions?)(?=$|[\s_\-])|(?=$|[\s_]))"
    r"|langswitch\w*|languageswitch\w*|langselect\w*|languageselect\w*|langmenu|languagemenu|langnav|sprach(?:wahl|auswahl|umschalt|navi)\w*|idiomas?|langues?"
    r")",
    re.IGNORECASE,
)
_CODE_IN_CLASS = re.compile(
    r"(?:^|\s)(?:lang|language|locale|flag|flag-icon|fi|wpml-ls-item|lang-item)-([a-z]{2}(?:-[a-z]{2})?)(?=$|\s)"
)
_FLAG = re.compile(r"(?:^|[/_\-.])([a-z]{2,3}(?:[-_][a-z]{2})?)\.(?:png|gif|svg|jpe?g|webp)(?:\?|$)", re.IGNORECASE)
_TAG_ATTRIBUTES = dict.fromkeys("hreflang data-hreflang data-lang data-language data-locale lang xml:lang".split())
_URL_ATTRIBUTES = ("data-href", "data-url", "data-link", "data-target-url")
_LANGUAGE_DATA = frozenset(("data-lang", "data-hreflang", "data-language", "data-locale"))
_NO_LANGUAGE = frozenset(("und", "mul", "zxx", "mis"))
_PLAIN = frozenset((AlternateSource.LINK, AlternateSource.HEADER, AlternateSource.JSON_LD))
_TOO_FAR = frozenset(("body", "html", "main", "article"))
_MAX_WORDS = 500  # Characters of class, id and role that are read.
_LEVELS = 6  # Elements around a link that are searched for the words of a switcher.
_JSON_KEYS = ("workTranslation", "translationOfWork")


def read_alternates(head: Head, anchors: Sequence[Anchor], names: "LanguageNames") -> tuple[Alternate, ...]:
    """All declarations, including self references and regional variants. The same one from two sources counts twice."""
    alternates = list(dict.fromkeys(islice(_all(head, anchors, names), MAX_ALTERNATES)))
    # One URL for several languages is a script that asks the visitor. Only a head may mean it (fr, fr-CA).
    languages: dict[Url, set[str]] = {}
    for alternate in alternates:
        if alternate.source not in _PLAIN:
            languages.setdefault(alternate.url, set()).add(base_language(alternate.language))
    return tuple(a for a in alternates if a.source in _PLAIN or len(languages[a.url]) == 1)


def _all(head: Head, anchors: Sequence[Anchor], names: "LanguageNames") -> Iterator[Alternate]:
    yield from header_alternates(head)
    yield from _Switchers(head, names).read(anchors)
    for node, _ in head.marked:
        if node.tag == "select":
            yield from _options(head, node, names)
    yield from _data(head)
    yield from _json_ld(head)


def header_alternates(head: Head) -> Iterator[Alternate]:
    """Link elements and the HTTP Link header.

    A feed, or another rendering of this page, has no language and is left out.
    """
    for link in head.related("alternate"):
        language = link.get("hreflang") or link.get("lang")
        is_feed = _FEEDS.search(link.get("type", "").replace("xhtml+xml", ""))
        if language and not is_feed and (url := head.resolve(link["href"])):
            yield Alternate(url, _tag(language), AlternateSource.HEADER if "header" in link else AlternateSource.LINK)


def _tag(language: str) -> str:
    """The tag as declared, in lower case and with hyphens."""
    return language.strip().lower().replace("_", "-")[:40]


def _declared_tag(attributes: Attributes) -> str:
    """The first language tag that the attributes of an element declare; empty if there is none."""
    return next((tag for key in _TAG_ATTRIBUTES if _TAG.fullmatch(tag := _tag(attributes.get(key, "")))), "")


class _Switchers:
    """Anchors that offer the page in another language.

    An anchor with hreflang needs nothing else. Any other anchor must name a language, and something must show that it
    is a switcher: the words around it, a neighbour that names another language, or a URL with that language's mark. For
    an endonym it is enough to be on the same site, because nobody else writes "Français" alone on an English page.
    """

    def __init__(self, head: Head, names: "LanguageNames") -> None:
        self._head = head
        self._names = names
        self._own = language_code(re.split(r"[-_]", head.language)[0]) if head.language else ""
        self._own_marks = {base_language(code) for code in address_languages(head.url)}
        self._distances: dict[int, int] = {}  # by element, as in `_distance`
        self._named: dict[str, bool] = {}  # by the words on an element

    def read(self, anchors: Sequence[Anchor]) -> Iterator[Alternate]:
        run: list[tuple[Anchor, LanguageReading]] = []
        for anchor in anchors:
            if (hreflang := anchor.attributes.get("hreflang")) and (tag := _tag(hreflang)):
                # Drupal writes the page's own language on every link.
                own = base_language(tag) == self._own
                if tag not in _NO_LANGUAGE and (not own or anchor.url == self._head.url):
                    yield Alternate(anchor.url, tag, _source(anchor))
            reading = self._reading(anchor)
            if reading is not None:
                run.append((anchor, reading))
            elif run:
                yield from self._accepted(run)
                run = []
        yield from self._accepted(run)

    def _reading(self, anchor: Anchor) -> "LanguageReading | None":
        """The language that the anchor names, by attribute, text, picture, class or URL; None for most anchors."""
        if len(anchor.text) > MAX_LENGTH:
            return None
        attributes = anchor.attributes
        if not _TAG_ATTRIBUTES.keys().isdisjoint(attributes):
            for key in _TAG_ATTRIBUTES:
                if _TAG.fullmatch(tag := _tag(attributes.get(key, ""))) and tag not in _NO_LANGUAGE:
                    return LanguageReading(tag, Naming.CODE)
        for text in (anchor.text, anchor.image_alt, attributes.get("title"), attributes.get("aria-label")):
            if text and (reading := self._names.read(text)):
                return reading
        code = self._code_beside(anchor)
        return LanguageReading(code, Naming.PHRASE) if code else None

    def _code_beside(self, anchor: Anchor) -> str:
        """If no text names a language: a flag, a class or, within a switcher, the URL."""
        if not anchor.text and (flag := _FLAG.search(anchor.image_src)) and (code := language_code(flag[1])):
            return code
        words = anchor.attributes.get("class")
        if words and (word := _CODE_IN_CLASS.search(words.lower())) and (code := language_code(word[1])):
            return code
        marks = address_languages(anchor.url, self._head.url) - self._own_marks
        return next(iter(marks)) if len(marks) == 1 and self._in_switcher(anchor.node) else ""

    def _accepted(self, run: "list[tuple[Anchor, LanguageReading]]") -> Iterator[Alternate]:
        together = len({reading.code for _, reading in run}) > 1 and self._is_switcher(run)
        for anchor, reading in run[:MAX_RUN]:
            code = self._language_of(anchor.url, reading)
            if self._in_switcher(anchor.node):
                yield Alternate(anchor.url, code, AlternateSource.SWITCHER)
            elif (together and reading.naming > Naming.PHRASE) or self._speaks_for_itself(anchor, reading):
                yield Alternate(anchor.url, code, _source(anchor))

    def _language_of(self, url: Url, reading: "LanguageReading") -> str:
        """Where "Ireland" leads to /en-ie/, the URL is more exact than the anchor."""
        marks = address_languages(url, self._head.url)
        if reading.naming is Naming.ENDONYM or len(marks) != 1 or marks <= address_languages(self._head.url):
            return reading.code
        (mark,) = marks
        return reading.code if base_language(mark) == base_language(reading.code) else mark

    def _is_switcher(self, run: "list[tuple[Anchor, LanguageReading]]") -> bool:
        """Whether a list of languages is a switcher.

        If the names are foreign to their languages, it might be a list of courses. So it must contain the page's own
        language, an endonym, or a URL with a mark.
        """
        return any(
            reading.naming is Naming.ENDONYM
            or (reading.naming is not Naming.PHRASE and base_language(reading.code) == self._own)
            or self._is_marked(anchor.url, reading.code)
            for anchor, reading in run
        )

    def _speaks_for_itself(self, anchor: Anchor, reading: "LanguageReading") -> bool:
        """Whether a lone anchor is enough.

        It must name another language on the same site, by its endonym or with its mark in the URL. The code of a
        country is not enough, unless it stands for the country's language: "PF" with the URL /pf/ is a packet filter.
        """
        if base_language(reading.code) == self._own or anchor.url.site != self._head.url.site:
            return False
        if reading.naming is Naming.ENDONYM:
            return True
        return self._is_marked(anchor.url, reading.code) and not _is_only_a_country(anchor.text)

    def _is_marked(self, url: Url, code: str) -> bool:
        """Whether the URL names that language and the page's own URL does not."""
        base = base_language(code)
        if base in self._own_marks:
            return False
        return any(base_language(mark) == base for mark in address_languages(url, self._head.url))

    def _in_switcher(self, node: LexborNode) -> bool:
        """Whether the words of a switcher are on the anchor or on one of the elements around it."""
        return self._distance(node) < _LEVELS

    def _distance(self, node: LexborNode) -> int:
        """How many elements up the words of a switcher are; `_LEVELS` or more if they are nowhere."""
        path: list[LexborNode] = []
        around: LexborNode | None = node
        distance = _LEVELS
        while around is not None:
            before = self._distances.get(around.mem_id)
            if before is not None:
                distance = before
                break
            if around.tag in _TOO_FAR:
                break
            path.append(around)
            around = around.parent
        for element in reversed(path):
            distance = 0 if self._is_named(element) else distance + 1
            self._distances[element.mem_id] = distance
        return distance

    def _is_named(self, element: LexborNode) -> bool:
        attributes = element.attributes
        if not attributes:
            return False
        words = " ".join([attributes.get(key) or "" for key in ("class", "id", "role")])[:_MAX_WORDS]
        if words not in self._named:
            self._named[words] = bool(_SWITCHER.search(words))
        return self._named[words]


def _is_only_a_country(text: str) -> bool:
    """Whether its code names a country that is not the home of a language, such as "AI", "PF" and "PM"."""
    return bool(language_code(text)) and mark_language(text.strip()) == UNDETERMINED


def _source(anchor: Anchor) -> AlternateSource:
    return AlternateSource.AREA if anchor.node.tag == "area" else AlternateSource.ANCHOR


def _options(head: Head, select: LexborNode, names: "LanguageNames") -> Iterator[Alternate]:
    """A select element in which most options name a language, and whose values are URLs."""
    options = select.css("option")
    if not 2 <= len(options) <= MAX_RUN:
        return
    alternates = []
    named = 0
    for option in options:
        attributes = written(option.attributes)
        reading = names.read(" ".join(option.text().split()))
        code = _declared_tag(attributes) or (reading.code if reading else "")
        named += bool(code)
        address = next((attributes[key] for key in (*_URL_ATTRIBUTES, "value") if _is_url(attributes.get(key, ""))), "")
        if code and address and (url := head.resolve(address)):
            alternates.append(Alternate(url, code, AlternateSource.OPTION))
    if named * 2 >= len(options):
        yield from alternates


def _is_url(value: str) -> bool:
    """Whether it is a URL, not a value for a script: "/fr/", "?lang=fr" and "index_fr.html" are URLs, "fr" is not."""
    return value.startswith(("/", "http://", "https://", "./", "../", "?")) or bool(
        re.search(r"\.\w{2,5}(?:$|\?)|/", value)
    )


def _data(head: Head) -> Iterator[Alternate]:
    """Elements with a URL and its language in attributes, which a script follows."""
    for node, attributes in head.marked:
        if node.tag == "option" or not _has_data(attributes):
            continue
        tag = _declared_tag(attributes)
        address = next((attributes[key] for key in (*_URL_ATTRIBUTES, "href") if attributes.get(key)), "")
        url = head.resolve(address) if tag and language_code(base_language(tag)) else None
        # A button that shares this page also has its URL and a language.
        if url is not None and url != head.url and url.site == head.url.site:
            yield Alternate(url, tag, AlternateSource.DATA)


def _has_data(attributes: Attributes) -> bool:
    if not _LANGUAGE_DATA.isdisjoint(attributes):
        return True
    return "lang" in attributes and ("data-href" in attributes or "data-url" in attributes)


def _json_ld(head: Head) -> Iterator[Alternate]:
    """schema.org's workTranslation and translationOfWork: a URL, or an object with one."""
    for record in head.records:
        for key in _JSON_KEYS:
            values = record.get(key)
            for value in values if isinstance(values, list) else [values]:
                if (address := _url_in(value)) and (url := head.resolve(address)):
                    language = value.get("inLanguage") if isinstance(value, dict) else ""
                    yield Alternate(url, _tag(_language(language)), AlternateSource.JSON_LD)


def _url_in(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("url") or value.get("@id") or value.get("sameAs")
    return value if isinstance(value, str) and "/" in value else ""


def _language(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("alternateName") or value.get("name")
    return value if isinstance(value, str) else ""


MAX_WORDS = 4  # "Switch to English", "Version en français", "Lue lisää suomeksi". More words make a sentence.
MAX_LENGTH = 40  # Characters: four long words.

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_ASIDE = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]")  # "Español (Latinoamérica)"
_LIST = 200  # Characters of a text that show whether it is a list of names.
_MOST_WORDS = 3  # of a name in such a list
_LONGEST_CODE = 8  # Letters: "zh-hant".
_STEM = 4  # An inflected form must begin with at least this many letters of the endonym.


class Naming(IntEnum):
    """How a text names a language, from the least to the most certain."""

    PHRASE = 1  # a name or an inflected endonym among a few other words
    CODE = 2
    NAME = 3  # in another language
    ENDONYM = 4


class LanguageReading(NamedTuple):
    """A language that a text names, as a lower-case BCP 47 code."""

    code: str
    naming: Naming


class LanguageNames:
    """Recognises texts that name a language: endonyms, names in other languages, codes, short phrases around them."""

    def __init__(self, languages: list[NamedLanguage]) -> None:
        self._names: dict[str, LanguageReading] = {}
        self._stems: dict[str, str] = {}
        for code, endonyms, others in languages:
            self._names.update(dict.fromkeys(others, LanguageReading(code, Naming.NAME)))
            for name in endonyms:
                self._names[name] = LanguageReading(code, Naming.ENDONYM)
                self._add_stem(name, code)
        self._words = set(" ".join(self._names).split(" "))
        self._starts = {name[: _start(name)] for name in self._names}
        self._beginnings = {stem[:_STEM] for stem in self._stems}
        self.read = lru_cache(maxsize=8192)(self._read)

    @classmethod
    def load(cls) -> "LanguageNames":
        return cls(language_table())

    def fill(self, text: str) -> bool:
        """Whether a text is a list of languages: most of its letters are those of names, or it has nothing but codes.

        Such a text is in no language itself.
        """
        words = spaced(_ASIDE.sub(" ", text[:_LIST])).split(" ")
        letters, named, place, are_codes = sum(map(len, words)), 0, 0, True
        while place < len(words):
            count = self._words_of_name(words[place : place + _MOST_WORDS])
            if not count:
                named += self._letters_of_names(words[place])
                are_codes = are_codes and bool(language_code(words[place]))
            named += sum(map(len, words[place : place + count]))
            place += count or 1
        return letters > 0 and (2 * named > letters or are_codes)

    def _words_of_name(self, words: list[str]) -> int:
        """How many of them, from the first on, are a name."""
        if words[0] not in self._words:
            return 0
        names = ((count, " ".join(words[:count])) for count in range(len(words), 0, -1))
        return next((count for count, name in names if name in self._names and _tells(name)), 0)

    def _letters_of_names(self, word: str) -> int:
        """The language of an inflected endonym, or of names with no space between them, which are all of a word in most scripts."""
        if self._inflected(word):
            return len(word)
        least, named, place = _start(word), 0, 0
        while place < len(word):
            longest = min(MAX_LENGTH // 2, len(word) - place) if word[place : place + least] in self._starts else 0
            lengths = range(longest, least - 1, -1)
            length = next((length for length in lengths if word[place : place + length] in self._names), 0)
            if not length and least == _STEM:
                return 0
            named += length
            place += length or 1
        return named

    def one_of(self, asked: Sequence[Language], label: str) -> str:
        """Which of the languages asked for the label of a button names; empty if none."""
        reading = self.read(label)
        if reading is None or reading.naming is Naming.PHRASE:
            return ""
        return asked_language(claimed_language(reading.code), asked) or ""

    def _add_stem(self, name: str, code: str) -> None:
        """Add the part of an endonym that inflection leaves, to find "po polsku" and "по-русски"; "" if two languages
        share it.
        """
        stem = name[:-2] if len(name) > _STEM + 2 else name[:-1]
        if len(stem) >= _STEM and name.isalpha():
            base = base_language(code)
            self._stems[stem] = base if self._stems.get(stem, base) == base else ""

    def _read(self, text: str) -> LanguageReading | None:
        """None if the text names no language, or says too much else."""
        if len(text) > MAX_LENGTH:
            return None
        key = spaced(text)
        words = key.split(" ")
        whole = self._names.get(key)
        if whole is not None and _tells(key):
            return whole
        bare = key if len(words) == 1 else text.strip(" ()[]|/")
        if len(bare.strip()) <= _LONGEST_CODE and (code := language_code(bare)):
            return LanguageReading(code, Naming.CODE)
        return self._phrase(words) if len(words) <= MAX_WORDS else None

    def _phrase(self, words: list[str]) -> LanguageReading | None:
        if self._words.isdisjoint(words):
            return self._altered(words)
        for length in range(len(words), 0, -1):  # the longest name first: "norsk nynorsk" before "norsk"
            for start in range(len(words) - length + 1):
                reading = self._names.get(" ".join(words[start : start + length]))
                if reading and (length > 1 or _tells(words[start], 4)):
                    return LanguageReading(reading.code, Naming.PHRASE)
        return self._altered(words)

    def _altered(self, words: list[str]) -> LanguageReading | None:
        for word in words:
            if code := self._inflected(word) or self._prefixed(word):
                return LanguageReading(code, Naming.PHRASE)
        return None

    def _inflected(self, word: str) -> str:
        """Finds an endonym's stem with up to five more letters: "magyarul", "française", "українською"."""
        if word[:_STEM] not in self._beginnings:
            return ""
        stems = (word[:length] for length in range(len(word), max(_STEM, len(word) - 5) - 1, -1))
        return next((code for stem in stems if (code := self._stems.get(stem))), "")

    def _prefixed(self, word: str) -> str:
        """Finds a name with a few characters around it in scripts without spaces: "英文版", "한국어판"."""
        if word.isascii() or not _UNSPACED.fullmatch(word) or len(word) > 2 * MAX_WORDS:
            return ""
        spans = ((start, length) for length in range(len(word) - 1, 1, -1) for start in range(len(word) - length + 1))
        readings = (self._names.get(word[start : start + length]) for start, length in spans)
        return next((reading.code for reading in readings if reading), "")


def _start(name: str) -> int:
    """Letters that show whether a name can begin there; names with fewer are only words of their own."""
    return _STEM if name.isascii() or not _UNSPACED.match(name) else 2


def _tells(word: str, letters: int = 3) -> bool:
    """Whether the word is long enough.

    Two Latin letters are a code or chance, even if some language calls Ga by them.
    """
    return len(word) >= letters or not word.isascii()
