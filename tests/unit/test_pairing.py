import numpy as np
import pytest
from small_site import EN, FR, alternate, articles, page

from bitrawl.pair.evidence import ALL, Method
from bitrawl.pair.features import COLUMN, NAMES, Candidates
from bitrawl.pair.grouping import by_site
from bitrawl.pair.pairing import Pairing, PairingSettings, by_itself
from bitrawl.pair.scoring import ScoreModel

CONVENTIONS = {
    "folders": ("http://s.test/en/{}.html", "http://s.test/fr/{}.html"),
    "English unmarked": ("http://s.test/{}.html", "http://s.test/{}.fr.html"),
    "ids off by a constant": ("http://s.test/article1{:02}", "http://s.test/article3{:02}"),
    "query": ("http://s.test/?id={}&lang=en", "http://s.test/?id={}&lang=fr"),
    "opaque": ("http://s.test/{}a9", "http://s.test/b{}x"),
    "two domains": ("http://one.test/{}", "http://deux.test/p{}"),
}


def found(pages, **settings):
    result = Pairing(PairingSettings(**settings)).pairs(pages, [EN, FR])
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
    for pair in Pairing(PairingSettings(methods=methods)).pairs(pages, [EN, FR]).pairs:
        assert set(pair.evidence) <= {"u", "c"}


def test_the_order_of_the_pages_changes_nothing():
    pages, pairs = articles(15, *CONVENTIONS["opaque"])
    assert found(pages) == found(pages[::-1]) == pairs


def test_what_is_learned_of_the_sites_addresses_is_told():
    pages, _ = articles(20, *CONVENTIONS["ids off by a constant"])
    patterns = Pairing().pairs(pages, [EN, FR]).patterns
    assert "{+200}" in [str(pattern) for pattern in patterns[EN, FR]]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_pages_are_no_fault(count):
    pages, _ = articles(1, *CONVENTIONS["folders"])
    assert len(found(pages[:count])) <= 1


def test_pages_in_other_languages_are_ignored():
    pages, _ = articles(5, *CONVENTIONS["folders"])
    assert Pairing().pairs(pages, [FR]).pairs == []


def test_two_domains_are_one_site_when_they_declare_each_other():
    a = page("http://one.test/", EN, ["a"], alternates=(alternate("http://deux.test/", "fr"),))
    b = page("http://deux.test/", FR, ["b"], alternates=(alternate("http://one.test/", "en"),))
    c = page("http://three.test/", FR, ["c"], alternates=(alternate("http://one.test/", "en"),))
    assert sorted(len(pages) for pages in by_site([a, b, c]).values()) == [1, 2]


def test_a_model_reads_back_what_it_wrote(tmp_path):
    model = ScoreModel.load()
    model.save(tmp_path / "model.json")
    again = ScoreModel.load(tmp_path / "model.json")
    assert again.later.bias == model.later.bias
    assert (again.first.weights == model.first.weights).all()


def test_a_method_alone_scores_by_what_it_says_itself():
    score = by_itself(frozenset({Method.DECLARED}))
    rows = np.zeros((2, len(NAMES)))
    rows[0, COLUMN["declared"]], rows[1, COLUMN["url"]] = 0.9, 0.9
    values = score(Candidates([(0, 1), (0, 2)], rows))
    assert values[0] > 0.85
    assert values[1] == 0
