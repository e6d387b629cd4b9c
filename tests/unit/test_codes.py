import pytest

from bitrawl.errors import ConfigError
from bitrawl.languages import asked_language, claimed_language, in_script, parse_language, same_language, script_of
from bitrawl.model import UNDETERMINED, Language


@pytest.mark.parametrize(
    ("written", "standard"),
    [
        ("en", "en"),
        ("EN", "en"),
        (" fr ", "fr"),
        ("fra", "fr"),
        ("fre", "fr"),  # ISO 639-2/B
        ("iw", "he"),
        ("in", "id"),
        ("mo", "ro"),
        ("cmn", "zh"),
        ("zh-cmn-Hans", "zh-Hans"),
        ("zh_hans", "zh-Hans"),
        ("zh-CHT", "zh-Hant"),
        ("pt_BR", "pt-BR"),
        ("en-Latn", "en"),
        ("sr-latn", "sr-Latn"),
        ("sh", "sh"),
        ("hbs", "sh"),
        ("cnr", "cnr"),
        ("tgl", "tl"),
        ("gsw", "gsw"),
        ("nob", "nb"),
        ("zsm", "ms"),
        ("i-klingon", "tlh"),
        ("zh-yue-HK", "yue-HK"),
        ("ar-afb", "afb"),  # an extended language is the language itself (RFC 5646, 4.5)
        ("ar-arb-EG", "ar-EG"),
        ("sgn-ase", "ase"),
        ("French", "fr"),
        ("greek", "el"),
        ("upper sorbian", "hsb"),
        ("Swahili", "sw"),
    ],
)
def test_any_standard_spelling_gives_the_shortest_form(written: str, standard: str):
    assert parse_language(written) == standard


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("frensh", "fr (French)"),
        ("cz", "did you mean cs"),
        ("jp", "did you mean ja"),
        ("Ukranian", "uk (Ukrainian)"),
        ("xx", "ISO 639"),
        ("x-default", "ISO 639"),
        ("und", "ISO 639"),
        ("mul", "ISO 639"),
        ("i-enochian", "ISO 639"),  # registered as a whole, and no code stands for it
        ("fr-XYZQ", "ISO 639"),
        ("", "ISO 639"),
        ("日" * 1000, "ISO 639"),
    ],
)
def test_what_is_no_language_is_refused_with_the_fix(written: str, hint: str):
    with pytest.raises(ConfigError, match="is not a known language") as caught:
        parse_language(written)
    assert hint in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("claim", "language"),
    [
        ("en_US.UTF-8", "en-US"),
        ("fr, en", "fr"),
        ("no-NB", "no"),
        ("IW", "he"),
        ("x-default", UNDETERMINED),
        ("i-enochian", UNDETERMINED),
        ("aa-bbb-ET", "aa-ET"),  # "bbb" is another language, and none of those that belong to "aa"
        ("", UNDETERMINED),
        ("{{ lang }}", UNDETERMINED),
    ],
)
def test_a_claim_is_read_leniently_and_never_raises(claim: str, language: str):
    assert claimed_language(claim) == language


@pytest.mark.parametrize(
    ("found", "wanted", "serves"),
    [
        ("fr", "fr", True),
        ("fr", "en", False),
        ("und", "und", False),
        ("pt", "pt-BR", True),
        ("zh", "zh-Hans", True),
        ("zh-Hant", "zh", True),
        ("zh-Hant", "zh-TW", True),
        ("zh", "zh-Hant", False),
        ("yue", "zh", False),
        ("id", "ms", False),
        ("nb", "no", True),
        ("no", "nn", True),
        ("nb", "nn", False),
        ("sr-Latn", "sr", True),
        ("sr", "sr-Latn", False),
        ("sr", "sr-Cyrl", True),
        ("hr", "sr", False),
        ("bs", "hr", False),
        ("hr", "sh", True),
        ("sr", "sh", True),
        ("sh", "bs", True),
        ("sr-Latn", "cnr", True),
        ("hr", "cnr", False),
        ("tl", "fil", True),
        ("uz-Cyrl", "uz", True),
        ("uz", "uz-Cyrl", False),
    ],
)
def test_which_found_language_a_requested_language_accepts(found: str, wanted: str, *, serves: bool):
    assert same_language(Language(found), Language(wanted)) is serves


def test_a_script_is_said_only_where_it_is_not_the_usual_one():
    assert script_of(Language("zh-TW")) == "Hant"
    assert in_script(Language("sr"), "Latn") == "sr-Latn"
    assert in_script(Language("sr-Latn"), "Cyrl") == "sr"


@pytest.mark.parametrize(
    ("found", "asked", "language"),
    [
        ("sr-Latn", ("sr", "sr-Latn"), "sr-Latn"),
        ("sr", ("sr-Latn", "sr"), "sr"),
        ("zh-Hant", ("zh", "zh-Hant"), "zh-Hant"),
        ("sr-Latn", ("en", "sr"), "sr"),
        ("nb", ("en", "no"), "no"),
        ("de", ("en", "sr"), None),
        ("und", ("en", "und"), None),
    ],
)
def test_a_text_counts_for_the_requested_language_that_fits_it_best(found: str, asked: tuple[str, ...], language: str):
    assert asked_language(Language(found), [Language(code) for code in asked]) == language
