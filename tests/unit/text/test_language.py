import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitrawl.languages import parse_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.text.language import (
    LONG,
    WINDOW,
    LanguageNgrams,
    NgramLanguageIdentifier,
    chinese_script,
    language_ngrams,
    sample,
)

ENGLISH = "The committee will publish its report on the state of the rivers before the end of the year."
FRENCH = "Le comité publiera son rapport sur l'état des rivières avant la fin de l'année."


@pytest.fixture(scope="module", params=["whole", "brief"])
def identifier(request: pytest.FixtureRequest) -> NgramLanguageIdentifier:
    return NgramLanguageIdentifier(brief=request.param == "brief")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "OK",
        "42",
        "3,14 € – 100 %",
        "https://www.example.org/the/weather/today",
        "me@example.org",
        "→ … !?",
        "한",
    ],
)
def test_a_text_without_language_is_undetermined_whatever_is_claimed(identifier: NgramLanguageIdentifier, text: str):
    assert identifier.identify([text]) == [(UNDETERMINED, 0.0)]
    assert identifier.identify([text], prior=Language("fr")) == [(UNDETERMINED, 0.0)]


def test_an_empty_batch_gives_an_empty_answer(identifier: NgramLanguageIdentifier):
    assert identifier.identify([]) == []


def test_a_batch_answers_as_its_texts_one_by_one(identifier: NgramLanguageIdentifier):
    texts = [ENGLISH, "", FRENCH, "Menu", "Он пришёл домой поздно вечером.", "OK", FRENCH * 50] * 30
    together = identifier.identify(texts)
    alone = [identifier.identify([text])[0] for text in texts[:7]] * 30
    assert together == alone


def test_the_end_of_one_text_says_nothing_about_the_next(identifier: NgramLanguageIdentifier):
    # Endings that have the hash of a known n-gram, with the space and the zero byte after them.
    model = language_ngrams()
    ascii_bytes = np.arange(33, 127, dtype=np.uint32)
    powers = [np.uint32(pow(int(model.multipliers[0]), power, 1 << 32)) for power in range(1, 5)]
    hashes = ascii_bytes[:, None, None] * powers[3] + ascii_bytes[:, None] * powers[2] + ascii_bytes * powers[1]
    hashes += np.array([ord(" ")], np.uint32) * powers[0]
    found = np.argwhere(np.isin(hashes, model.keys))
    endings = [bytes(ascii_bytes[place].tolist()).decode() for place in found]
    usual = [ending for ending in endings if sample(f"some {ending}").endswith(f"{ending} ".encode())]
    assert usual
    for ending in usual:
        assert identifier.identify([f"some {ending}", "Pick"])[1] == identifier.identify(["Pick"])[0], ending


def test_a_text_is_read_further_where_its_beginning_contradicts_the_claim(identifier: NgramLanguageIdentifier):
    quoted = "Ich wurde heute auf dem Bahnhof ausgeraubt, und das"
    explained = " is what a German would say to the police after somebody had taken their bag at the station."
    assert identifier.identify([quoted], prior=Language("en"))[0][0] == "de"
    assert identifier.identify([quoted + explained * 2], prior=Language("en"))[0][0] == "en"


@pytest.mark.parametrize("claim", ["fr", "de", "zh", "gsw", "cnr", "ceb"])
def test_a_claim_does_not_decide_against_clear_evidence(identifier: NgramLanguageIdentifier, claim: str):
    ((language, sure),) = identifier.identify([ENGLISH], prior=Language(claim))
    assert language == "en"
    assert sure > 0.8


def test_a_claim_tips_the_balance_of_a_short_text(identifier: NgramLanguageIdentifier):
    for claim in ("fr", "en", "ro"):
        ((language, sure),) = identifier.identify(["Contact"], prior=Language(claim))
        assert language == claim
        assert sure < 0.9


def test_a_claim_names_a_language_beyond_the_model_where_nothing_else_fits(identifier: NgramLanguageIdentifier):
    asturian = "El conceyu va espublizar un informe tocante al estáu de los ríos enantes del final del añu."
    assert "ast" not in identifier.languages
    ((language, sure),) = identifier.identify([asturian], prior=Language("ast"))
    assert language == "ast"
    assert sure <= 0.5


@pytest.mark.parametrize(
    ("text", "claim", "language"),
    [
        ("די ביבליאטעק עפנט זיך ניין אַזייגער אין דער פרי", "yi", "yi"),
        ("ቤተ መጻሕፍቲ ሰዓት ትሽዓተ ንግሆ ይኽፈት", "ti", "ti"),
        ("དཔེ་མཛོད་ཁང་ཞོགས་པའི་ཆུ་ཚོད", "dz", "dz"),
        ("הספרייה נפתחת בתשע בבוקר ונסגרת מאוחר", "en", "he"),
        ("הספרייה נפתחת בתשע בבוקר ונסגרת מאוחר", "gsw", "he"),
    ],
)
def test_a_claim_decides_where_the_model_has_nothing_to_compare_but_never_against_the_script(
    identifier: NgramLanguageIdentifier, text: str, claim: str, language: str
):
    assert identifier.identify([text], prior=Language(claim))[0][0] == language


RELATIVES = {
    "ceb": "Ang mga bata ug mga estudyante mobayad lamang ug katunga sa presyo sa museyo kada adlaw.",
    "gsw": "Chind und Studänte zahle nume d Helfti vom Priis, und s Museum isch jede Tag offe.",
    "sd": "ڊاڪٽر صاف پاڻي پيئڻ ۽ هٿ بار بار ڌوئڻ جي صلاح ڏين ٿا.",
    "mai": "नेना आ छात्र आधा दाम दैत छथि। संग्रहालय सभ दिन भोर नओ बजे सँ खुजल रहैत अछि।",
    "cv": "Тухтӑрсем таса шыв ӗҫме тата алла час-часах ҫума сӗнеҫҫӗ, музей кашни кун уҫӑ.",
}


@pytest.mark.parametrize("code", RELATIVES)
def test_a_relative_of_the_model_does_not_take_the_texts_of_a_language_that_was_asked_for(code: str):
    asked = NgramLanguageIdentifier(asked=(Language("en"), Language(code)))
    assert asked.identify([RELATIVES[code]], prior=Language(code)) == [(code, 0.5)]
    ((language, _),) = asked.identify([ENGLISH], prior=Language(code))
    assert language == "en"  # an untranslated page under the address of a translation


def test_what_the_model_doubts_is_in_the_missing_language_that_was_asked_for(identifier: NgramLanguageIdentifier):
    maori = "He maha ngā kura e whakaako ana i te reo Māori ki ngā tamariki o Aotearoa."
    asked = NgramLanguageIdentifier(asked=(Language("en"), Language("mi")))
    assert identifier.identify([maori])[0][0] != "mi"
    assert asked.identify([maori])[0][0] == "mi"
    assert asked.identify([maori], prior=Language("en"))[0][0] == "mi"  # the default of a theme
    german = "Der Ausschuss veröffentlicht seinen Bericht über den Zustand der Flüsse noch in diesem Jahr."
    assert asked.identify([ENGLISH, german]) == NgramLanguageIdentifier().identify([ENGLISH, german])


def test_a_script_of_few_languages_belongs_to_the_one_that_was_asked_for():
    yiddish = "די ביבליאטעק עפנט זיך ניין אַזייגער אין דער פרי"
    asked = NgramLanguageIdentifier(asked=(Language("en"), Language("yi")))
    assert asked.identify([yiddish])[0][0] == "yi"
    assert asked.identify(["הספרייה נפתחת בתשע בבוקר ונסגרת מאוחר"], prior=Language("he"))[0][0] == "he"
    both = NgramLanguageIdentifier(asked=(Language("he"), Language("yi")))
    assert both.identify(["הספרייה נפתחת בתשע בבוקר ונסגרת מאוחר"])[0][0] == "he"


def test_kurdish_in_arabic_script_is_central_kurdish(identifier: NgramLanguageIdentifier):
    text = "هەموو بەهارێک جووتیاران هەنگوین و پەنیر و میوە دەهێننە بازاڕی شارەکە."
    for claim in (None, Language("ckb")):
        assert identifier.identify([text], prior=claim)[0][0] == "ckb"


def test_a_claim_of_norwegian_leaves_its_two_standards_apart(identifier: NgramLanguageIdentifier):
    nynorsk = "Eg veit ikkje kva dei seier om dette, men me kjem heim til dykk i morgon."
    assert identifier.identify([nynorsk], prior=Language("no"))[0][0] == "nn"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Где је био човек који је увек долазио овде пре подне?", "sr"),
        ("Gde je bio čovek koji je uvek dolazio ovde pre podne? Deca su celo vreme čekala reč.", "sr-Latn"),
        ("Gdje je bio čovjek koji je uvijek dolazio ovamo? Tko zna, tijekom tjedna vlak kasni tisuću puta.", "hr"),
        ("Юртимиз мустақиллигининг ўттиз йиллиги кенг нишонланмоқда, бу ҳақда хабар берилди.", "uz-Cyrl"),
        ("圖書館早上九點開門，這個國家的學生會來讀書。", "zh-Hant"),
        ("图书馆早上九点开门，这个国家的学生会来读书。", "zh"),
    ],
)
def test_scripts_and_standards_are_told_apart(identifier: NgramLanguageIdentifier, text: str, language: str):
    assert identifier.identify([text])[0][0] == language


def test_serbo_croatian_claimed_as_montenegrin_is_montenegrin(identifier: NgramLanguageIdentifier):
    text = "Gdje je bio čovjek koji je uvijek dolazio ovdje prije podne? Djeca su čekala riječ."
    assert identifier.identify([text], prior=Language("cnr"))[0][0] == "cnr"


def test_characters_common_to_both_chinese_scripts_do_not_contradict_a_claim(identifier: NgramLanguageIdentifier):
    text = "中文大字典"
    assert chinese_script(text) == ""
    assert identifier.identify([text], prior=Language("zh-TW"))[0][0] == "zh-Hant"
    assert identifier.identify([text], prior=Language("zh"))[0][0] == "zh"


@pytest.mark.parametrize(
    ("text", "language"), [("ދިވެހި ބަހުން ލިޔެފައި", "dv"), ("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "chr"), ("དཔེ་མཛོད་ཁང་ཞོགས་པའི་", "bo")]
)
def test_a_script_that_the_model_does_not_know_names_its_usual_language(
    identifier: NgramLanguageIdentifier, text: str, language: str
):
    assert identifier.identify([text])[0][0] == language


def test_a_forgotten_language_gets_less_confidence_than_a_known_one():
    model = LanguageNgrams.load()
    forgetful = model._replace(prior=np.where(np.array(model.labels) == "fi", np.float32(-1e6), model.prior))
    finnish = ["Kirjasto avataan aamulla yhdeksältä ja suljetaan torstaisin vasta myöhään."]
    ((found, less),) = NgramLanguageIdentifier(forgetful).identify(finnish)
    ((known, more),) = NgramLanguageIdentifier(model).identify(finnish)
    assert (known, found != "fi") == ("fi", True)
    assert less < 0.8
    assert more > 0.95


def test_capitals_do_not_hide_a_language(identifier: NgramLanguageIdentifier):
    assert identifier.identify([FRENCH.upper()])[0][0] == "fr"


def test_a_long_text_is_judged_by_windows_of_all_of_it(identifier: NgramLanguageIdentifier):
    assert len(sample("é" * 10_000_000)) < 20 * WINDOW
    mixed = "Menu OK 123 " * 30 + FRENCH * 200
    assert len(mixed) > LONG
    assert identifier.identify([mixed])[0][0] == "fr"


def test_every_language_of_the_model_is_a_standard_code(identifier: NgramLanguageIdentifier):
    assert all(parse_language(code) == code for code in identifier.languages if code != UNDETERMINED)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(), max_size=8), st.sampled_from([None, "fr", "zh-TW", "gsw", "cnr"]))
def test_no_text_makes_it_raise_or_leave_the_range(
    identifier: NgramLanguageIdentifier, texts: list[str], claim: str | None
):
    answers = identifier.identify(texts, prior=None if claim is None else Language(claim))
    assert len(answers) == len(texts)
    assert all(0 <= sure <= 1 and (sure > 0) == (language != UNDETERMINED) for language, sure in answers)


@pytest.mark.parametrize("text", ["\ud800 lone surrogate in a text", "a\x00b\x01c", "@" * 5000, "x" * 5000, "a@" * 900])
def test_hostile_texts_cost_little_and_break_nothing(identifier: NgramLanguageIdentifier, text: str):
    assert len(identifier.identify([text, ENGLISH])) == 2
    assert identifier.identify([text, ENGLISH])[1][0] == "en"
