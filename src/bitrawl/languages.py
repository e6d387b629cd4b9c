"""Codes and names of languages: reads any standard spelling, returns the shortest standard form."""

import difflib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import langcodes
from langcodes import data_dicts
from langcodes.tag_parser import LanguageTagError

from bitrawl.errors import ConfigError
from bitrawl.model import UNDETERMINED, Language

# CLDR replaces these with a regional variety or a script of another language. BCP 47 does not deprecate them, and
# people who write them mean them: Serbo-Croatian, Montenegrin, Tagalog.
_KEPT = {"sh": "sh", "hbs": "sh", "cnr": "cnr", "tl": "tl", "tgl": "tl"}
# Codes for "undetermined", "multiple", "none" and "uncoded", and codes for private use. None of them names a language.
_NO_LANGUAGE = re.compile(r"und|mul|zxx|mis|q[a-t][a-z]|x")
_LANGUAGE_ENTRY = re.compile(r"^Type: language\nSubtag: (.+)\nDescription: (.+)$", re.MULTILINE)
_MICROSOFT = {"zh-chs": "zh-Hans", "zh-cht": "zh-Hant"}  # Older versions of .NET wrote these, and they still occur.
_WRITTEN_AS_CODE = re.compile(r"(?:[A-Za-z]{2,3}|i)(?:[-_][A-Za-z0-9]{1,8})*")
_LONGEST_CODE = 3
_MAX_LENGTH = 40  # Longer than any tag in use. Markup can contain anything.


@lru_cache(maxsize=4096)
def parse_language(code: str) -> Language:
    """Read an ISO 639-1, -2 or -3 code, a BCP 47 tag in any case and with underscores, or an English name.

    Raises `ConfigError`. A deprecated code becomes its successor (iw → he), three letters become two where two exist
    (fra → fr), the standard member of a macrolanguage gets the macrolanguage's code (cmn → zh), and a script that is
    the default is dropped (en-Latn → en).
    """
    text = code.strip()
    tag = _standard_tag(text)
    if tag is None:
        tag = _codes_by_name().get(text.casefold())
    if tag is None:
        message = f"{code[:_MAX_LENGTH]!r} is not a known language{_suggestion(text)}"
        raise ConfigError(message)
    return Language(tag)


@lru_cache(maxsize=4096)
def claimed_language(tag: str) -> Language:
    """The language that markup or a URL claims, read leniently ("en_US.UTF-8", "fr, en").

    "und" if it is not a language.
    """
    first = re.split(r"[,;.@\s]", tag.strip()[: 2 * _MAX_LENGTH], maxsplit=1)[0]
    return Language(_standard_tag(first) or _standard_tag(re.split("[-_]", first)[0]) or UNDETERMINED)


@lru_cache(maxsize=4096)
def same_language(found: Language, wanted: Language) -> bool:
    """Whether a text identified as `found` is what someone who asked for `wanted` wants.

    Regions are ignored, except for the script that they imply (zh-TW). A bare code accepts any script (sr accepts
    sr-Latn); a code with a script accepts only that script. Norwegian accepts Bokmål and Nynorsk, Serbo-Croatian
    accepts its four standards, and each of these accepts a text that is only known to be Norwegian or Serbo-Croatian.
    But Nynorsk does not accept Bokmål, and Croatian does not accept Serbian. Montenegrin and Serbian accept each other,
    as in CLDR, because their texts cannot be told apart.
    """
    if UNDETERMINED in (found, wanted):
        return False
    if found == wanted:
        return True
    if _primary(found) != _primary(wanted) and not _is_macro_of(found, wanted) and not _is_macro_of(wanted, found):
        return False
    return wanted in (base_language(wanted), "sh") or script_of(found) == script_of(wanted)


def asked_language(found: Language, asked: Sequence[Language]) -> Language | None:
    """Which of the requested languages a text identified as `found` counts for; None if none accepts it.

    The one with exactly that code goes first: if sr and sr-Latn are both requested, a Latin text is not for sr.
    """
    if found in asked:
        return None if found == UNDETERMINED else found
    return next((wanted for wanted in asked if same_language(found, wanted)), None)


def two_languages(code: str) -> tuple[str, str] | None:
    """The two languages that a user may have meant by one language with a region: en and fr for "en-fr".

    None if the code can only mean one language: it is written as the standard requires (en-FR), or the region speaks
    the language (pt-br).
    """
    first, mark, region = code.strip().replace("_", "-").partition("-")
    tag, other = _standard_tag(code.strip()), _standard_tag(region.lower())
    written_as_region = first.islower() and region.isupper()
    if not mark or tag is None or len(region) != 2 or other != region.lower() or written_as_region:
        return None
    spoken = langcodes.Language.make(territory=region.upper()).maximize().language
    return None if spoken == base_language(tag) else (base_language(tag), other)


@lru_cache(maxsize=4096)
def language_name(code: str) -> str:
    """The English name: "French", "Chinese (Hant)". The code itself if the registry has no name."""
    if code == UNDETERMINED:
        return "unknown language"
    base, _, rest = code.partition("-")
    name = _names_by_code().get(base, base)
    return f"{name} ({rest})" if rest else name


@lru_cache(maxsize=4096)
def script_of(language: Language) -> str:
    """The ISO 15924 code of its script, stated or likely: "Latn"; for "zh-TW", "Hant"."""
    return langcodes.Language.get(language).maximize().script or "Zyyy"


@lru_cache(maxsize=4096)
def scripts_of(language: Language) -> frozenset[str]:
    """The scripts that texts in the language are written in: the one that the code states, or all that CLDR knows of.

    Serbian has Cyrl and Latn; CLDR's likely subtags have the second for Montenegro.
    """
    if language != base_language(language):
        return frozenset((script_of(language),))
    bare = {language, _primary(language)}
    likely = (full.split("-")[1] for tag, full in data_dicts.LIKELY_SUBTAGS.items() if base_language(tag) in bare)
    return frozenset((script_of(language), *likely))


@lru_cache(maxsize=4096)
def in_script(language: Language, script: str) -> Language:
    """The language written in that script: sr in Latn is sr-Latn; in Cyrl it is sr, because Cyrl is the default."""
    bare = base_language(language)
    return bare if script_of(bare) == script else Language(f"{bare}-{script}")


def base_language(tag: str) -> Language:
    """The language of a tag without its script and country."""
    return Language(tag.partition("-")[0])


def _standard_tag(text: str) -> str | None:
    """None if the text is not a tag, or if it names no language."""
    if len(text) > _MAX_LENGTH or not _WRITTEN_AS_CODE.fullmatch(text):
        return None
    first, *rest = re.split(r"[-_]", text.lower())
    if _NO_LANGUAGE.fullmatch(first):
        return None
    if first in _KEPT:
        return "-".join([_KEPT[first], *langcodes.standardize_tag("-".join(["sr", *rest])).split("-")[1:]])
    try:
        parsed = langcodes.Language.get(_MICROSOFT.get(text.lower(), text).replace("_", "-"))
        if not parsed.is_valid() or parsed.language is None:
            return None
        if parsed.extlangs:  # the language itself, where it belongs to what stands before it
            member, macro = parsed.extlangs[0], parsed.language
            belongs = macro in ("sgn", data_dicts.MACROLANGUAGES.get(member))
            parsed = parsed.update_dict({"language": member if belongs else macro, "extlangs": None})
        return parsed.prefer_macrolanguage().simplify_script().to_tag()
    except LanguageTagError:
        return None


def _primary(language: str) -> str:
    """The primary code by CLDR, where Tagalog is Filipino and Montenegrin is Serbian."""
    return langcodes.Language.get(base_language(language)).language or language


def _is_macro_of(macro: str, member: str) -> bool:
    """True only if the macrolanguage's code is not also the name of its standard member.

    "zh" means Mandarin and "ms" means Malaysian, so they accept neither Cantonese nor Indonesian. "no" and "sh" mean
    any member.
    """
    macro = base_language(macro)
    if macro in data_dicts.NORMALIZED_MACROLANGUAGES.values():
        return False
    return data_dicts.MACROLANGUAGES.get(base_language(member)) == macro


@lru_cache(maxsize=1)
def _codes_by_name() -> dict[str, str]:
    """English names from the IANA registry, which langcodes includes. A name that two languages share is left out."""
    names: dict[str, str] = {}
    shared = set()
    for name, subtag in _registered_names():
        tag = _standard_tag(subtag)
        if tag is not None and names.setdefault(name, tag) != tag:
            shared.add(name)
    return {name: tag for name, tag in names.items() if name not in shared}


@lru_cache(maxsize=1)
def _names_by_code() -> dict[str, str]:
    """The first name that the registry gives for each code. "Modern Greek (1453-)" is shortened to Greek."""
    from langcodes.util import data_filename  # noqa: PLC0415 - as below

    registry = Path(data_filename("language-subtag-registry.txt")).read_text("utf-8")  # type: ignore[no-untyped-call]
    entries = _LANGUAGE_ENTRY.findall(registry)  # a fifth of the parser's time
    return {code: name.partition(" (")[0].removeprefix("Modern ") for code, name in entries}


def _registry() -> Iterator[dict[str, Any]]:
    from langcodes import registry_parser  # noqa: PLC0415 - few processes read the registry, and it loads much

    yield from registry_parser.parse_registry()  # type: ignore[no-untyped-call]


def _registered_names() -> Iterator[tuple[str, str]]:
    for entry in _registry():
        if entry.get("Type") == "language" and "Preferred-Value" not in entry and ".." not in entry["Subtag"]:
            for name in entry["Description"]:
                yield name.casefold(), entry["Subtag"]
                # "Modern Greek (1453-)" is shortened to Greek.
                short = re.sub(r"^modern | \(\d*-\)$| \(macrolanguage\)$", "", name.casefold())
                if short != name.casefold():
                    yield short, entry["Subtag"]


def _suggestion(text: str) -> str:
    """Likely corrections: the language of a country whose code was written (cz), or a misspelt name (Frensh)."""
    near = []
    if f"und-{text.upper()}" in data_dicts.LIKELY_SUBTAGS:
        near.append(str(langcodes.Language.make(territory=text.upper()).maximize().language))
    elif len(text) > _LONGEST_CODE:
        names = _codes_by_name()
        near = [f"{names[name]} ({name.title()})" for name in difflib.get_close_matches(text.casefold(), names, n=3)]
    hint = f": did you mean {' or '.join(near)}?" if near else "."
    return f"{hint} Write an ISO 639 or BCP 47 code (fr, gsw, zh-Hant) or the English name"
