import json
import re
from itertools import product
from math import isfinite
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitrawl.corpus.merger import DUPLICATE, NEAR_DUPLICATE
from bitrawl.languages import parse_language
from bitrawl.mining import MEASURES, Flag, Rejection, ThresholdFilter, Thresholds, rejection
from bitrawl.mining.aligned_pages import align_sentences, placed
from bitrawl.mining.judging import Judge, length_ratio
from bitrawl.mining.segment_score import DIRECTIONS, table
from bitrawl.model import UNDETERMINED, Language, Segment, SegmentPair
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.lexicon import Lexicon
from bitrawl.text.words import words
from bitrawl.url import Url
from lab.bench.merge import merged

EN, FR = Language("en"), Language("fr")
URLS = (Url.parse("https://a.org/en"), Url.parse("https://a.org/fr"))
SENTENCES = ("The museum is open every day.", "Le musée est ouvert tous les jours.")


class Fixed:
    """An identifier that knows the texts beforehand, and says "und" of all others."""

    def __init__(self, **known: tuple[str, float]) -> None:
        self.known = {word: (Language(code), sure) for word, (code, sure) in known.items()}

    def identify(self, texts, *, prior=None):
        return [self.known.get(text.split()[0] if text else "", (UNDETERMINED, 0.0)) for text in texts]


class Halves:
    prior = None

    def __len__(self):
        return 1000

    def explained(self, tokens_a, tokens_b):
        return dict.fromkeys(tokens_a, 0.5), dict.fromkeys(tokens_b, 1.0)


def pair(a: str, b: str, score: float = 0.9, kind: str = "1:1") -> SegmentPair:
    return SegmentPair(*URLS, Segment(a), Segment(b), score, kind)


def judged(a: str, b: str, identifier=None, lexicon=None, languages=(EN, FR)) -> SegmentPair:
    (result,) = Judge(languages, identifier or Fixed(), lexicon).judge([pair(a, b)])
    return result


@pytest.mark.parametrize(
    ("a", "b", "flags"),
    [
        (*SENTENCES, []),
        ("12 34 56 -- 78 no", "12 34 56 — 78 non", [Flag.NON_LETTERS]),
        ("**** ----", "**** ----", [Flag.NON_LETTERS, Flag.EQUAL, Flag.SHORT]),
        ("The Eiffel Tower, Paris", "the Eiffel tower: PARIS", [Flag.EQUAL]),
        ("Read more", "En savoir plus", [Flag.SHORT]),
        ("Yes, that is so.", "Oui, et nous en parlerons encore longuement demain soir.", [Flag.LENGTH]),
        ("In 1957 it was built here.", "Il fut bâti ici en 1958 ou après.", [Flag.NUMBERS]),
        ("It cost 1,234,567 euros then.", "Cela coûtait 1 234 567 euros alors.", []),
        ("It was 3.5 degrees on 05/12.", "Il faisait 3,5 degrés le 12.5 alors.", []),
        ("In 2020 300 people came here.", "En 2020, 300 personnes sont venues.", []),
        ("Write to info@example.org today.", "Écrivez à info@example.org alors.", [Flag.MAIL]),
        ("See www.example.org for the rest.", "Voir https://example.org pour le reste.", [Flag.ADDRESS]),
    ],
)
def test_flags_are_what_ilsp_fc_would_note(a, b, flags):
    assert list(judged(a, b).flags) == flags


PROSE = """
Avoid <h5> to <h6> headings.
Edit /etc/network/interfaces (or /etc/apt/sources.list.d/*.list) and restart the service; then log in again.
See https://example.org/a_b?c={d}&e="f" and ftp://example.org/x=='y' for more.
Let x = 3 and y = 4; then x < y, x != y and 2x >= y + 1.
Entry costs $5/£4 (children: $3); groups of 10+ pay €2 each – see § 4.
Il a dit : « Le prix est de 5 € ; c'est trop ! » ; puis il est parti.
Home | News | Sport | Weather
File -> Save as -> PDF
The syntax is similar in IPv6: 2001:db8:13bb:2::/64.
The max_connections directive of httpd.conf(5) sets the limit #1.
If R&D costs rise (as in Q&A no. 5), the AT&T share falls [3].
请使用<ul>元素来创建列表。
सूची बनाने के लिए <ul> का प्रयोग करें।
Games ; movies ( and music ) are there -- :-) <3
""".strip().splitlines()
CODE = """
<li>Item 8</li> </ul>
<p>Some text here <span class="label label-default">(Label info)</span></p>
</div> // Large button group: <div class="btn-group btn-group-lg">...
<li> <a href="http://canada.ca/sample.atom">Sample Atom Feed</a> </li>
if (a && b) { return c == d || e != f; } else { x += 1; }
$( "#elem" ).on( "click", function( event ) { });
.well { color: red; } .note { margin: 0; }
Opening &laquo;&nbsp;quote&nbsp;&raquo;
{"type": "ajax", "size": {"a": 1}}
<li>项目八</li> <li>项目九</li>
""".strip().splitlines()


@pytest.mark.parametrize(("text", "is_code"), [*((t, False) for t in PROSE), *((t, True) for t in CODE)])
def test_prose_with_symbols_is_told_from_markup_and_programs(text, is_code):
    found = judged(text, "Une phrase qui n'a rien de cela.")
    assert (Flag.CODE in found.flags) is is_code
    assert (rejection(found, Thresholds(score=0, language=0, length_ratio=0, refuse=("code",))) is not None) is is_code


@pytest.mark.parametrize(
    ("a", "b", "languages"),
    [
        ("$ fakeroot tar -xzf notes.tar", "$ fakeroot tar -xzf メモ.tar", ("en", "ja")),
        ("# the second host # is never asked first", "# المضيف الثاني # لا يُسأل أولا", ("en", "ar")),
        (
            "-rw-r--r-- 1 anna staff 4096 May 2 12:00 notes",
            "-rw-r--r-- 1 anna staff 4096 5月 2 12:00 メモ",
            ("en", "ja"),
        ),
        ("d-i harbour/pilot string anna # Whom to call", "d-i harbour/pilot string anna # من يُتصل به", ("en", "ar")),
        ("Ships +-----+-----+ | name | age |", "船 +-----+-----+ | 名前 | 年齢 |", ("en", "ja")),
        ("anna@quay:~$ date", "anna@quay:~$ date # التاريخ", ("en", "ar")),
        ("--without=crew/* \\", "--without=équipage/* \\", ("en", "fr")),
    ],
)
def test_screens_listings_and_configuration_are_code_by_what_they_are(a, b, languages):
    found = judged(a, b, languages=languages)
    assert Flag.CODE in found.flags
    assert rejection(found, Thresholds(score=0, language=0, length_ratio=0)) is Rejection.CODE
    assert rejection(found, Thresholds(score=0, language=0, length_ratio=0, refuse=())) is None


@pytest.mark.parametrize(
    "text", ["# of employees", "$ million or less", "[1] As before, x = y.", "It is in /etc/hosts."]
)
def test_a_mark_or_a_path_alone_is_no_listing(text):
    assert Flag.CODE not in judged(text, "Une phrase qui n'a rien de cela.").flags


@pytest.mark.parametrize(
    ("a", "b", "languages"),
    [
        ("The quiet harbour", "Le port tranquille", ("en", "fr")),
        ("The quiet harbour", "静かな港", ("en", "ja")),
        ("The quiet harbour", "الميناء الهادئ", ("en", "ar")),
    ],
)
def test_the_number_of_a_section_is_no_content(a, b, languages):
    plain, same, apart = (
        judged(f"{number}{a}", f"{other}{b}", languages=languages)
        for number, other in (("", ""), ("7.5. ", "7.5. "), ("7.5. ", "7.6. "))
    )
    assert apart.score == plain.score
    assert Flag.NUMBERS not in apart.flags
    assert apart.a.text == f"7.5. {a}"
    assert Flag.NUMBERS in judged(f"7.5 million for {a}", f"7.6 million for {b}", languages=languages).flags
    assert Flag.NUMBERS not in same.flags


@pytest.mark.parametrize(
    ("a", "b", "languages"),
    [
        ("The room number is 25 on floor 3.", "رقم الغرفة هو ٢٥ في الطابق ٣ من المبنى.", ("en", "ar")),
        ("The museum is open every day.", "博物馆每天开放。", ("en", "zh")),
        ("The museum is open every day.", "संग्रहालय हर दिन खुला रहता है।", ("en", "hi")),
        ("The museum is open every day.", "พิพิธภัณฑ์เปิดทุกวัน", ("en", "th")),
    ],
)
def test_a_good_pair_in_any_script_has_no_flag(a, b, languages):
    assert judged(a, b, languages=tuple(map(Language, languages))).flags == ()


@pytest.mark.parametrize(
    ("text", "language", "is_wrong"),
    [
        ("apiVersion: v1 kind: Service", "zh", True),
        ("使用 Nginx 1.25", "zh", False),
        ("使用 Nginx 1.25", "zh-Hant", False),
        ("カタカナ", "ja", False),
        ("漢字", "ja", False),
        ("Debian GNU/Linux", "ko", True),
        ("데비안 GNU/Linux", "ko", False),
        ("Dobar dan svima", "sr", False),
        ("Добар дан свима", "sr", False),
        ("Dobar dan svima", "sr-Cyrl", True),
        ("Добар дан свима", "sr-Latn", True),
        ("Dobryi den vsem", "ru", True),
        ("Русский язык", "de", True),
        ("2009 – 2011", "ru", False),
        ("Œuvre ﬁnale", "fr", False),
    ],
)
def test_a_segment_without_a_letter_of_its_languages_script_is_left_out(text, language, is_wrong):
    languages = Language("el"), parse_language(language)
    found = judged("Καλημέρα σε όλους", text, languages=languages)
    assert (Flag.SCRIPT in found.flags) is is_wrong
    thresholds = Thresholds(score=0, length_ratio=0, refuse=("wrong script",))
    assert rejection(found, thresholds) is (Rejection.SCRIPT if is_wrong else None)


@pytest.mark.parametrize(
    ("identified", "expected"),
    [(("en", 0.9), 0.9), (("de", 0.9), 0.1), (("en-Latn", 0.7), 0.7), ((UNDETERMINED, 0.0), 0.5)],
)
def test_a_side_is_believed_as_far_as_it_is_in_its_language(identified, expected):
    scores = judged(*SENTENCES, Fixed(The=identified, Le=("fr", 1.0))).scores
    assert (scores["language_a"], scores["language_b"]) == (pytest.approx(expected), 1.0)


def test_coverage_is_measured_where_there_is_a_lexicon():
    assert "coverage_a" not in judged(*SENTENCES).scores
    scores = judged(*SENTENCES, lexicon=Halves()).scores
    assert (scores["coverage_a"], scores["coverage_b"]) == (0.5, 1.0)


def test_what_is_measured_has_the_names_that_the_columns_of_a_corpus_have():
    assert set(judged(*SENTENCES, lexicon=Halves()).scores) == set(MEASURES)


EXAMPLES = [("Footnotes", "Formulaire de rétroaction"), ("am", "Étaient"), ("v4.0.12", "v4.0.13")]
VISIT = [
    ("The museum is open every day.", "Le musée est ouvert tous les jours."),
    ("Admission is free on Sunday.", "L'entrée est gratuite le dimanche."),
    ("Children under twelve do not pay.", "Les enfants de moins de douze ans ne paient pas."),
    ("The shop sells books and postcards.", "La boutique vend des livres et des cartes postales."),
    ("Please leave your bags at the entrance.", "Merci de laisser vos sacs à l'entrée."),
]


def lexicon_of(texts, languages=(EN, FR)):
    return Lexicon.learn([(words(a, languages[0]), words(b, languages[1])) for a, b in texts])


def scores_of(texts, lexicon=None, languages=(EN, FR)):
    """Of texts that stand on two pages in that order, and of which the aligner is sure."""
    pairs = [
        SegmentPair(*URLS, Segment(a, number, number), Segment(b, number, number), 0.99)
        for number, (a, b) in enumerate(texts)
    ]
    return [found.score for found in Judge(languages, NgramLanguageIdentifier(), lexicon).judge(pairs)]


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_short_pair_that_nothing_supports_is_not_believed_however_sure_the_aligner_is(example):
    assert scores_of([example])[0] < 0.5
    assert scores_of([example], lexicon_of([*VISIT, example]))[0] < 0.5
    assert scores_of([*EXAMPLES, *EXAMPLES[::-1]], lexicon_of(VISIT))[EXAMPLES.index(example)] < 0.5


def test_a_short_pair_is_believed_when_the_lexicon_knows_its_words():
    known = [("Home", "Accueil"), ("News", "Actualités"), ("Opening hours", "Heures d'ouverture")]
    assert min(scores_of(known, lexicon_of(VISIT * 3 + known * 10))) > 0.5


@pytest.mark.parametrize("lexicon", [None, Lexicon.learn([])])
@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("fr", [french for _, french in VISIT[:3]]),
        ("zh", ["博物馆每天开放。", "星期日免费入场。", "十二岁以下儿童免费。"]),
        ("ar", ["المتحف مفتوح كل يوم.", "الدخول مجاني يوم الأحد.", "الأطفال دون الثانية عشرة لا يدفعون."]),
        (
            "el",
            [
                "Το μουσείο είναι ανοιχτό κάθε μέρα.",
                "Η είσοδος είναι δωρεάν την Κυριακή.",
                "Τα παιδιά κάτω των δώδεκα δεν πληρώνουν.",
            ],
        ),
    ],
)
def test_without_a_lexicon_a_run_of_good_pairs_is_probable_and_not_certain(language, texts, lexicon):
    pairs = [(english, text) for (english, _), text in zip(VISIT, texts, strict=False)]
    found = scores_of(pairs, lexicon, (EN, Language(language)))
    assert all(0.5 < score < 0.9 for score in found)


def test_a_single_sentence_is_told_from_strangers_by_the_words_that_ship():
    right, wrong = [], []
    for (number, (english, _)), (other, (_, french)) in product(enumerate(VISIT), repeat=2):
        ((_, found), *rest) = align_sentences(
            [(placed(english, paragraph=0, language=EN), placed(french, paragraph=0, language=FR))], (EN, FR)
        )[0]
        (right if number == other else wrong).append(0.0 if rest else found.score)
    assert min(right) > 0.9
    assert sum(wrong) / len(wrong) < 0.5


def test_neighbours_support_a_pair():
    lexicon = lexicon_of(VISIT * 5)
    alone, among = scores_of([VISIT[2]], lexicon)[0], scores_of(VISIT, lexicon)[2]
    assert alone < among


def test_the_aligners_own_score_is_kept():
    judge = Judge((EN, FR), Fixed())
    (once,) = judge.judge([pair(*SENTENCES, score=0.77)])
    assert once.scores["alignment"] == 0.77
    assert judge.judge([once]) == [once]


ANY_TEXT = st.one_of(
    st.text(),
    st.text(st.characters(categories=["Nd", "Nl", "No"])),
    st.text(st.characters(categories=["So", "Sk", "Mn", "Me"])),
    st.text(st.characters(categories=["Cs", "Cc", "Cf", "Ll"])),
    st.sampled_from(["", " ", "one", "όταν", "😀" * 50, "1" * 200, "ー", "ّ", "“", "<>", "\ud800", "ſ", "ß", "İ"]),
)
SOME_LANGUAGES = st.sampled_from(
    [Language(code) for code in ("en", "el", "ar", "zh", "ja", "ko", "th", "hi", "tr", "tlh")]
)
IDENTIFIER = NgramLanguageIdentifier()


@settings(deadline=None)  # no test depends on a quiet machine
@given(
    st.lists(st.tuples(ANY_TEXT, ANY_TEXT, st.floats(0, 1), st.sampled_from(["1:1", "2:1", "1:5", "odd"])), max_size=6),
    SOME_LANGUAGES,
    SOME_LANGUAGES,
    st.booleans(),
)
def test_any_text_is_judged_and_scores_are_between_0_and_1(texts, first, second, with_lexicon):
    lexicon = lexicon_of([(a, b) for a, b, _, _ in texts], (first, second)) if with_lexicon else None
    pairs = [
        SegmentPair(*URLS, Segment(a, number // 2, number), Segment(b, number, number), score, kind)
        for number, (a, b, score, kind) in enumerate(texts)
    ]
    found = Judge((first, second), IDENTIFIER, lexicon).judge(pairs)
    assert len(found) == len(pairs)
    for one in found:
        assert 0 <= one.score <= 1
        assert all(isfinite(measure) and measure >= 0 for measure in one.scores.values())


@pytest.mark.parametrize("text", ["7" * 1_000_000, "😀" * 1_000_000, "漢" * 1_000_000, "a" * 1_000_000])
def test_a_million_characters_are_judged(text):
    (found,) = Judge((EN, FR), Fixed()).judge([pair(text, "court")])
    assert 0 <= found.score <= 1


def test_judging_again_changes_nothing():
    judge = Judge((EN, FR), Fixed())
    once = judge.judge([pair("Read more", "En savoir plus"), pair(*SENTENCES)])
    assert judge.judge(once) == once
    assert judge.judge([]) == []


def test_the_length_of_a_script_without_an_alphabet_counts_three():
    assert length_ratio("博物馆每天开放", "x" * 21) == 1.0
    assert length_ratio("", "") == length_ratio("", "abc") == 0.0


@pytest.mark.parametrize(
    ("change", "thresholds", "reason"),
    [
        ({}, {}, None),
        ({"a": Segment(" \x00 ")}, {}, Rejection.EMPTY),
        ({"score": 0.2}, {"score": 0.3}, Rejection.SCORE),
        ({"scores": {"coverage_a": 0.2, "coverage_b": 0.4}}, {"coverage": 0.35}, Rejection.COVERAGE),
        ({"scores": {"coverage_a": 0.2, "coverage_b": 0.6}}, {"coverage": 0.35}, None),
        ({"scores": {}}, {"coverage": 0.9, "language": 0.9, "length_ratio": 0.9, "words": 9}, None),
        ({"scores": {"length_ratio": 0.1}}, {}, Rejection.LENGTH_RATIO),
        ({"scores": {"language_a": 0.9, "language_b": 0.05}}, {}, Rejection.LANGUAGE),
        ({"scores": {"words_a": 4, "words_b": 2}}, {"words": 3}, Rejection.WORDS),
        ({"type": "2:2"}, {"types": ["1:1", "1:2"]}, Rejection.TYPE),
        ({"flags": ("equal TUVs",)}, {}, Rejection.FLAG),
        ({"flags": ("equal TUVs",)}, {"refuse": []}, None),
        ({"flags": (str(Flag.SHORT),)}, {"refuse": ["very short segments"]}, Rejection.FLAG),
        ({"flags": ("url",)}, {}, None),
        ({"flags": ("wrong script",)}, {}, Rejection.SCRIPT),
        ({"flags": ("equal TUVs", "wrong script")}, {}, Rejection.FLAG),
        ({"flags": ("wrong script",)}, {"refuse": ["code"]}, None),
    ],
)
def test_a_threshold_refuses_by_what_was_measured(change, thresholds, reason):
    assert rejection(msgspec.structs.replace(pair(*SENTENCES), **change), Thresholds(**thresholds)) == reason


def test_what_is_rejected_is_counted_by_reason():
    good_enough = ThresholdFilter(Thresholds(score=0.5))
    pairs = [pair(*SENTENCES), pair(*SENTENCES, score=0.1), pair("", "x")]
    assert list(good_enough.accepted(pairs)) == pairs[:1]
    assert good_enough.rejections == {Rejection.SCORE: 1, Rejection.EMPTY: 1}


def test_what_is_accepted_is_as_it_stands_in_the_corpus():
    (found,) = ThresholdFilter(Thresholds()).accepted([pair(" a\ud800\tb ", "c\x85d")])
    assert (found.a.text, found.b.text) == ("a\ufffd b", "c d")


def test_lone_surrogates_do_not_end_the_merge():
    assert len(list(merged(ThresholdFilter(Thresholds()).accepted([pair("a\ud800", "b")])))) == 1


@pytest.mark.parametrize("table", [{"scor": 0.5}, {"score": 1.5}, {"words": -1}])
def test_a_table_of_thresholds_is_closed_and_bounded(table):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(table, Thresholds)


def test_the_reference_explains_thresholds_with_their_defaults_flags_and_refusals():
    text = (Path(__file__).parents[3] / "docs/reference/corpus.md").read_text()
    explained = dict(re.findall(r"^\| `(\w+)` \| `?(.*?)`? \|", text.partition("## Thresholds")[2], re.MULTILINE))
    for field in msgspec.structs.fields(Thresholds):
        default = field.default if field.default != () else "—"
        written = json.dumps(default) if not isinstance(default, str) else default
        assert explained[field.name] == written
    assert all(f"`{word}`" in text for word in (*Flag, *Rejection, DUPLICATE, NEAR_DUPLICATE))


def features(pairs: list[SegmentPair], elsewhere: tuple[tuple[str, str], ...] = ()) -> dict[str, list[float]]:
    """Of the pairs of one page, with a lexicon that has learned from them and from texts of other pages."""
    texts = [*((one.a.text, one.b.text) for one in pairs), *elsewhere]
    lexicon = Lexicon.learn([(words(a, EN), words(b, FR)) for a, b in texts])
    rows = table(Judge((EN, FR), Fixed(), lexicon).measured(pairs))
    return dict(zip(DIRECTIONS, rows.T.tolist(), strict=True))


def test_the_word_that_nothing_translates_shows_in_a_short_pair():
    known = (
        ("red wine", "vin rouge"),
        ("red bread", "pain rouge"),
        ("old wine", "vieux vin"),
        ("old bread", "vieux pain"),
    )
    right, wrong = (
        features([pair("red wine", "vin rouge")], known * 3),
        features([pair("red wine", "pain rouge")], known * 3),
    )
    assert right["weakest_least"][0] > 0.5 > wrong["weakest_least"][0]
    assert wrong["weakest_least"][0] < wrong["coverage_least"][0]


@pytest.mark.parametrize(
    ("a", "b"),
    [("Home", "Accueil"), ("Footnotes", "notes annexes"), ("Opening hours", "Horaire"), ("Jar", "un pot neuf")],
)
def test_what_a_pair_has_taught_the_lexicon_itself_does_not_count(a, b):
    elsewhere = (("The museum closes early", "Le musée ferme tôt"), ("early", "tôt"))
    once, twice = features([pair(a, b)], elsewhere), features([pair(a, b)], (*elsewhere, *[(a, b)] * 2))
    assert once["coverage_most"] == once["weakest_most"] == [0]
    assert twice["coverage_least"][0] > 0.1
