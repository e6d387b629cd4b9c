import os
import random
import subprocess
import sys

import numpy as np
import pytest
from small_site import EN, FR, WORDS, alternate, articles, page

from bitrawl.mining import PairSection
from bitrawl.mining.evidence import ALL, pair_key
from bitrawl.mining.page_score import COLUMN, NAMES, Candidates, ScoreModel, best_rivals
from bitrawl.mining.pairing import Pairing, by_itself
from bitrawl.mining.site import condense
from bitrawl.model import Language, Method
from bitrawl.urls import learn_patterns

CONVENTIONS = {
    "folders": ("http://s.test/en/{}.html", "http://s.test/fr/{}.html"),
    "English unmarked": ("http://s.test/{}.html", "http://s.test/{}.fr.html"),
    "ids off by a constant": ("http://s.test/article1{:02}", "http://s.test/article3{:02}"),
    "query": ("http://s.test/?id={}&lang=en", "http://s.test/?id={}&lang=fr"),
    "opaque": ("http://s.test/{}a9", "http://s.test/b{}x"),
    "two domains": ("http://one.test/{}", "http://deux.test/p{}"),
}


def found(pages, **settings):
    result = Pairing(PairSection(**settings)).pairs(pages, [EN, FR])
    return {(str(pair.url_a), str(pair.url_b)) for pair in result.pairs}


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_translations_are_found_under_any_convention(convention):
    pages, pairs = articles(20, *CONVENTIONS[convention])
    assert found(pages) == pairs


def test_content_alone_finds_them_too():
    pages, pairs = articles(20, *CONVENTIONS["folders"])
    assert found(pages, methods=ALL - {Method.DECLARED, Method.URL}) == pairs


def test_pages_without_a_translation_stay_alone():
    pages, pairs = articles(20, *CONVENTIONS["folders"])
    strangers, _ = articles(6, "http://s.test/en/x{}.html", "http://s.test/fr/y{}.html", seed=7)
    others, _ = articles(6, "http://s.test/en/z{}.html", "http://s.test/fr/w{}.html", seed=8)
    alone = [p for p in strangers if p.language == EN] + [p for p in others if p.language == FR]
    assert found([*pages, *alone]) == pairs


def test_a_pair_tells_its_evidence_by_letter():
    pages, _ = articles(20, *CONVENTIONS["folders"])
    result = Pairing().pairs(pages, [FR, EN])
    for pair in result.pairs:
        assert pair.lang_a == FR
        assert 0.5 <= pair.score <= 1
        assert set(pair.evidence) <= set(map(str, Method))
        assert all(0 < value <= 1 for value in pair.evidence.values())
        assert "u" in pair.evidence


def test_a_method_that_was_not_asked_for_leaves_no_evidence():
    pages, _ = articles(20, *CONVENTIONS["folders"])
    methods = frozenset({Method.URL, Method.CONTENT})
    for pair in Pairing(PairSection(methods="".join(methods))).pairs(pages, [EN, FR]).pairs:
        assert set(pair.evidence) <= {"u", "c"}


def test_the_order_of_the_pages_changes_nothing():
    pages, pairs = articles(15, *CONVENTIONS["opaque"])
    assert found(pages) == found(pages[::-1]) == pairs


def test_the_pairs_show_the_url_patterns_of_the_site():
    pages, _ = articles(20, *CONVENTIONS["ids off by a constant"])
    pairs = Pairing().pairs(pages, [EN, FR]).pairs
    assert "{+200}" in [str(pattern) for pattern in learn_patterns([(pair.url_a, pair.url_b) for pair in pairs])]


LETTERS = {
    "en": "abcdefghilmnoprstuv",
    "ja": "あいうえおかきくけこさしすせそたちつてと山川海空雨雪",
    "ar": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
}


def unknown_words(language, chance, count):
    """Words that no lexicon has; in Japanese as long as two letters, and without spaces."""
    spaced = language != "ja"
    lengths = [chance.randint(2, 7) if spaced else chance.randint(1, 2) for _ in range(count)]
    return ("" if not spaced else " ").join("".join(chance.choices(LETTERS[language], k=size)) for size in lengths)


@pytest.mark.parametrize("language", ["ja", "ar"])
@pytest.mark.parametrize("words", [(50, 70), (150, 250)])
def test_short_pages_that_declare_each_other_are_refused_only_for_more_than_unknown_words(language, words):
    pages = []
    for number in range(12):
        chance = random.Random(number)
        addresses = [f"http://s.test/{spoken}/news/{7000 + number}" for spoken in ("en", language)]
        declared = tuple(map(alternate, addresses, ("en", language)))
        count = chance.randint(*words)
        for address, spoken in zip(addresses, ("en", language), strict=True):
            sizes = [count] if chance.random() < 0.5 else [count // 2, count - count // 2]
            texts = [unknown_words(spoken, chance, size) for size in (4, *sizes)]
            pages.append(page(address, Language(spoken), texts, alternates=declared))
    result = Pairing().pairs(pages, [EN, Language(language)])
    assert len(result.pairs) == 12
    assert all(pair.url_a.rpartition("/")[2] == pair.url_b.rpartition("/")[2] for pair in result.pairs)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_site_with_few_pages_raises_nothing(count):
    pages, _ = articles(1, *CONVENTIONS["folders"])
    assert len(found(pages[:count])) <= 1


def test_pages_in_other_languages_are_ignored():
    pages, _ = articles(5, *CONVENTIONS["folders"])
    assert Pairing().pairs(pages, [FR]).pairs == []


def test_a_model_of_other_features_is_refused_with_the_command_that_makes_it(tmp_path):
    np.savez(tmp_path / "model.npz", names=np.array(["url"]))
    with pytest.raises(ValueError, match="make it again"):
        ScoreModel.load(tmp_path / "model.npz")


def test_a_method_alone_scores_by_what_it_says_itself():
    score = by_itself(frozenset({Method.DECLARED}))
    rows = np.zeros((2, len(NAMES)))
    rows[0, COLUMN["declared"]], rows[1, COLUMN["url"]] = 0.9, 0.9
    values = score(Candidates(np.array([pair_key((0, 1)), pair_key((0, 2))]), rows))
    assert values[0] > 0.85
    assert values[1] == 0


def test_the_menu_is_left_out_on_both_sides_though_one_language_has_few_pages():
    made, pairs = articles(12, "http://s.test/en/a{}.html", "http://s.test/fr/b{}.html", seed=3)
    menus = {
        EN: [f"The {word} page of our site and all that belongs to it" for word in list(WORDS)[:12]],
        FR: [f"Tout ce que ce site dit de {word}, et encore bien plus" for word in list(WORDS.values())[:12]],
    }
    few = {url for _, url in sorted(pairs)[:5]}
    pages = [
        page(p.url, p.language, [p.paragraphs[0].text, *menus[p.language], p.paragraphs[1].text])
        for p in made
        if p.language == EN or p.url in few
    ]
    summaries = condense(pages, [EN, FR]).summaries
    assert len(summaries) == 17
    assert all(summary.blocks == 2 for summary in summaries)


def test_rivals_are_the_other_candidates_of_either_page_whichever_is_numbered_first():
    """Page 1 has the candidates (0, 1) and (1, 2): it is the second page of one and the first of the other."""
    of_page = {(0, "fr"): 0, (1, "en"): 1, (2, "en"): 2}
    groups = np.array([[of_page[0, "fr"], of_page[1, "en"]], [of_page[1, "en"], of_page[2, "en"]]])
    assert best_rivals(groups, np.array([0.9, 0.4]), np.ones((2, 2), bool), np.array([[1, 2], [0, 1]])).tolist() == [
        0.4,
        0.9,
    ]
    assert best_rivals(np.array([[0], [1]]), np.array([0.9]), np.ones((2, 1), bool), np.array([[1], [0]])).tolist() == [
        0.0
    ]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_order_of_the_pages_changes_no_score(convention):
    pages, _ = articles(12, *CONVENTIONS[convention])
    shuffled = random.Random(4).sample(pages, len(pages))
    result, other = (Pairing().pairs(order, [EN, FR]) for order in (pages, shuffled))
    assert result.pairs == other.pairs
    assert result.refusals == other.refusals


SCRIPT = """
import sys
from small_site import EN, FR, articles, images
import msgspec
from bitrawl.mining.pairing import Pairing

pages, _ = articles(14, "http://s.test/en/a{}.html", "http://s.test/fr/b{}.html", seed=5)
pages = [
    msgspec.structs.replace(page, images=images(*(f"{(n // 2 * k) % 23}.png" for k in range(1, 9))))
    for n, page in enumerate(pages)
]
result = Pairing().pairs(pages, [EN, FR])
print(result.pairs, result.refusals)
"""


def test_the_same_pages_give_the_same_pairs_whatever_the_seed_of_hashes():
    def said(seed: str) -> str:
        path = os.pathsep.join(entry for entry in sys.path if entry)
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": path}
        command = [sys.executable, "-c", SCRIPT]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    assert said("1") == said("2")
    assert "PagePair" in said("3")
