import random
import time

import pytest
from typer.testing import CliRunner

from bitrawl.cli.urls import urls
from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.url import Url
from bitrawl.urls import RuleUrlPairModel, match_urls, rule_pairs
from bitrawl.urls.site_pairs import MatchingModels

EN, FR, DE, ZH = map(Language, ("en", "fr", "de", "zh"))
WORDS = [
    "about",
    "contact",
    "history",
    "museum",
    "garden",
    "water",
    "report",
    "energy",
    "school",
    "health",
    "travel",
    "music",
    "letter",
    "market",
]


def site(form_a, form_b, count=12, host="www.s.test"):
    names = [f"{WORDS[n % len(WORDS)]}{n}" for n in range(count)]
    return [
        (Url.parse(f"http://{host}/{form_a.format(name, n)}"), Url.parse(f"http://{host}/{form_b.format(name, n)}"))
        for n, name in enumerate(names)
    ]


def listed(pairs, seed=1):
    urls = [url for pair in pairs for url in pair]
    random.Random(seed).shuffle(urls)
    return urls


def found(urls, a=EN, b=FR):
    return {(one.url_a, one.url_b) for one in match_urls(urls, a, b)}


@pytest.mark.parametrize(
    ("form_a", "form_b"),
    [
        ("en/{0}.html", "fr/{0}.html"),
        ("{0}.html", "{0}_fr.html"),
        ("{0}", "fr/{0}"),
        ("{0}_e.htm", "{0}_f.htm"),
        ("eng/d{1}/{0}-eng.asp", "fra/d{1}/{0}-fra.asp"),
        ("english/{0}.php", "francais/{0}.php"),
        ("page.php?id={0}&lang=en", "page.php?id={0}&lang=fr"),
        ("view?id={0}", "view?id={0}&lang=fr"),
        ("English/e{0}.htm", "Francais/f{0}.htm"),
        ("en-gb/{0}/", "fr-fr/{0}/"),
        ("en/events/{0}", "fr/evenements/{0}"),
    ],
)
def test_a_sites_habit_is_found_in_its_bare_list_and_the_languages_are_told_apart(form_a, form_b):
    pairs = site(form_a, form_b)
    assert found(listed(pairs)) == set(pairs)


@pytest.mark.parametrize(
    ("form_a", "form_b"),
    [
        ("index.php?article={0}&clang=1", "index.php?article={0}&clang=2"),
        ("media/news?id=0{1}9", "presse/nouvelles?id=0{1}9"),
    ],
)
def test_a_habit_without_any_language_code_is_found(form_a, form_b):
    pairs = site(form_a, form_b, 20)
    unordered = {frozenset(pair) for pair in found(listed(pairs))}
    assert len(unordered & {frozenset(pair) for pair in pairs}) >= 18


@pytest.mark.parametrize(
    ("form_a", "form_b"),
    [
        ("{0}.php", "{0}.php?sel=2"),  # a parameter added
        ("{0}.php?id=7{1}", "{0}.php?kq=4&id=7{1}"),
        ("{0}.php?v=north", "{0}.php?v=kite"),  # a parameter's value
        ("gb{0}.htm", "{0}.htm"),  # glued before a name
        ("{0}.htm", "{0}zwd.htm"),  # glued after it
        ("{0}en.htm", "{0}fr.htm"),
        ("{0}_AN.htm", "{0}_FR.htm"),
        ("{0}0600te.htm", "{0}0600.htm"),
        ("{0}", "abroad/{0}"),  # a directory added
        ("uk/{0}", "{0}"),
        ("docs/{0}", "docs/kolb/{0}"),
        ("English/{0}", "main/{0}"),  # a directory replaced
        ("zone/{0}.html", "portal/{0}.html"),
        ("zone/{0}_w.html", "portal/{0}_kp.html"),  # two at once
    ],
)
@pytest.mark.parametrize("count", [8, 30])
def test_a_difference_that_many_urls_share_is_a_habit_whatever_it_reads(form_a, form_b, count):
    pairs = lettered(form_a, form_b, count)
    alone = [pair[n % 2] for n, pair in enumerate(pairs) if n % 4 == 0]
    whole = [pair for n, pair in enumerate(pairs) if n % 4]
    assert unordered(found(listed(pairs))) == unordered(pairs)
    assert unordered(found(listed(whole) + alone)) == unordered(whole)


def test_a_host_without_any_mark_is_a_habit_too():
    pairs = [(a, Url.parse(a.replace("www.", "tamek."))) for a, _ in lettered("{0}", "", 20)]
    assert unordered(found(listed(pairs))) == unordered(pairs)


@pytest.mark.parametrize("steps", [(1,), (1000,), (1, 2, 1, 1, 3, 2)])
@pytest.mark.parametrize(
    ("form_a", "form_b"), [("en/node/{0}", "fr/node/{0}"), ("east/v.php?id={0}", "west/v.php?id={0}")]
)
def test_numbers_that_run_side_by_side_are_pairs(form_a, form_b, steps):
    rng = random.Random(3)
    number, pairs = 412, []
    for n in range(30):
        step = steps[n % len(steps)]
        ends = (form_a.format(number), form_b.format(number + step))
        pairs.append((Url.parse(f"http://s.test/{ends[0]}"), Url.parse(f"http://s.test/{ends[1]}")))
        number += (step if step < 10 else 0) + rng.choice((2, 4, 7, 9))
    answers = unordered(found(listed(pairs)))
    assert len(answers & unordered(pairs)) >= 27
    assert len(answers - unordered(pairs)) <= 3


def test_pairs_that_differ_in_one_way_are_told_apart_in_one_way():
    pairs = lettered("{0}.htm", "{0}zwd.htm", 20)
    assert len({b.endswith("zwd.htm") for _, b in found(listed(pairs))}) == 1


def lettered(form_a, form_b, count):
    """As `site`, names without numbers."""
    names = [WORDS[n % len(WORDS)] + ("" if n < len(WORDS) else WORDS[n * 5 % 11]) for n in range(count)]
    return [
        (
            Url.parse(f"http://www.s.test/{form_a.format(name, n)}"),
            Url.parse(f"http://www.s.test/{form_b.format(name, n)}"),
        )
        for n, name in enumerate(names)
    ]


def unordered(pairs):
    return {frozenset(pair) for pair in pairs}


@pytest.mark.parametrize(("code_a", "code_b"), [("de", "zh"), ("sw", "am"), ("pt-BR", "uk")])
def test_any_two_languages_will_do(code_a, code_b):
    pairs = site(f"{code_a}/{{0}}", f"{code_b}/{{0}}")
    assert found(listed(pairs), Language(code_a.partition("-")[0]), Language(code_b)) == set(pairs)


def test_a_url_without_partner_stays_single():
    pairs = site("en/{0}.html", "fr/{0}.html", 20)
    alone = [pair[n % 2] for n, pair in enumerate(pairs[:6])]
    assert found(listed(pairs[6:]) + alone) == set(pairs[6:])


def test_versions_in_other_languages_are_not_taken_for_those_asked_for():
    pairs = site("en/{0}.html", "fr/{0}.html", 20)
    others = [Url.parse(a.replace("/en/", f"/{code}/")) for a, _ in pairs for code in ("de", "es")]
    alone = [a for a, _ in pairs[:4]]
    assert found(listed(pairs[4:]) + alone + others) == set(pairs[4:])


@pytest.mark.parametrize(
    ("form_a", "form_b", "asked"),
    [
        ("http://s.test/en/{0}.html", "http://s.test/de/{0}.html", (EN, FR)),
        ("http://s.test/{0}.html", "http://s.test/de/{0}.html", (EN, FR)),
        ("http://s.test/es/{0}.html", "http://s.test/pt/{0}.html", (EN, FR)),
        ("http://en.s.test/{0}", "http://fr.s.test/{0}", (DE, Language("cs"))),
        ("http://www.s.de/{0}", "http://www.s.cz/{0}", (EN, FR)),
        ("http://s.test/english/{0}", "http://s.test/deutsch/{0}", (EN, FR)),
        ("http://s.test/english/news.asp?id=1{1}0", "http://s.test/deutsch/news.asp?id=1{1}7", (EN, FR)),
        ("http://s.test/{0}_en.html", "http://s.test/{0}_de.html", (EN, FR)),
        ("http://s.test/v?id={0}&lang=en", "http://s.test/v?id={0}&lang=de", (EN, FR)),
        ("http://s.test/en-gb/{0}", "http://s.test/de-at/{0}", (EN, FR)),
        ("http://s.test/ja/{0}", "http://s.test/ar/{0}", (Language("sw"), ZH)),
    ],
)
@pytest.mark.parametrize("count", [1, 30])
def test_a_site_that_lacks_a_language_asked_for_has_no_pairs(form_a, form_b, asked, count):
    names = [f"{WORDS[n % len(WORDS)]}-{WORDS[n * n % 11]}{n}" for n in range(count)]
    urls = [Url.parse(form.format(name, n)) for n, name in enumerate(names) for form in (form_a, form_b)]
    assert found(urls, *asked) == set()


@pytest.mark.parametrize(
    ("form_a", "form_b"),
    [
        ("it/{0}", "fr/it/{0}"),  # a department
        ("de/{0}.html", "de/{0}_fr.html"),  # documents
        ("uk/{0}", "fr/{0}"),  # a country where English is spoken
        ("en/no/{0}", "fr/no/{0}"),
    ],
)
def test_a_word_that_could_name_a_third_language_costs_no_pair(form_a, form_b):
    pairs = site(form_a, form_b, 20)
    assert found(listed(pairs)) == set(pairs)


@pytest.mark.parametrize(
    ("form", "count"), [("blog/2024/{month:02}/{slug}.html", 60), ("{slug}", 300), ("{month}/{slug}-{slug}", 300)]
)
@pytest.mark.parametrize("asked", [(EN, FR), (DE, ZH)])
def test_a_list_in_one_language_has_no_pairs(form, count, asked):
    rng = random.Random(count)
    texts = {form.format(month=n % 12, slug="-".join(rng.sample(WORDS, 3))) for n in range(count)}
    assert match_urls([Url.parse(f"http://s.test/{text}") for text in sorted(texts)], *asked) == []


def test_known_languages_decide_who_can_be_a_partner():
    pairs = site("item{0}", "element{0}")
    language_of = {a: EN for a, _ in pairs} | {b: FR for _, b in pairs}
    answers = match_urls(listed(pairs), EN, FR, language_of=language_of)
    assert {(one.url_a, one.url_b) for one in answers} == set(pairs)


def test_translated_slugs_are_found_by_what_their_words_have_in_common():
    slugs = [
        ("promotion-of-health", "promotion-de-la-sante"),
        ("national-history-museum", "musee-national-histoire"),
        ("climate-change-kenya", "changement-climatique-kenya"),
        ("contact", "contact"),
        ("restaurant-menu-saturday", "restaurant-menu-samedi"),
        ("port-au-prince-report", "port-au-prince-temoignage"),
    ]
    pairs = [(Url.parse(f"http://s.test/en/{a}"), Url.parse(f"http://s.test/fr/{b}")) for a, b in slugs]
    assert len(found(listed(pairs)) & set(pairs)) >= 4


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["http://s.test/en/a"],
        ["http://s.test/en/a"] * 50,
        [f"http://s.test/de/{word}" for word in WORDS],
        ["http://s.test/", "https://s.test/"],
        ["http://s.test/" + "en/" * 300, "http://s.test/" + "fr/" * 300],
        ["http://s.test/?" + "&".join(f"a{n}={n}" for n in range(200)), "http://s.test/%FF%FE%00"],
    ],
)
def test_odd_lists_give_few_pairs_and_no_error(lines):
    answers = match_urls([Url.parse(text) for text in lines], EN, FR)
    assert len(answers) <= 1
    assert all(one.url_a != one.url_b for one in answers)


def test_each_url_is_in_one_pair_at_most_and_order_does_not_matter():
    pairs = site("en/{0}.html", "fr/{0}.html", 9) + site("{0}.html", "{0}_fr.html", 9)
    answers = match_urls(listed(pairs), EN, FR)
    ends = [url for one in answers for url in (one.url_a, one.url_b)]
    assert len(ends) == len(set(ends))
    assert {one[:2] for one in answers} == found(listed(pairs, seed=9))


def test_two_thousand_opaque_addresses_are_quick_and_make_hardly_any_pairs():
    rng = random.Random(5)
    urls = [Url.parse(f"http://s.test/p/{rng.randrange(10**9)}") for _ in range(2000)]
    started = time.process_time()
    answers = match_urls(urls, EN, FR)
    assert time.process_time() - started < 10
    assert len(answers) <= 20


def test_time_does_not_grow_with_the_square():
    def seconds(count):
        urls = listed(site("en/{0}/{1}", "fr/{0}/{1}", count, host=f"n{count}.test"))
        started = time.process_time()
        match_urls(urls, EN, FR)
        return time.process_time() - started

    seconds(50)
    assert seconds(2400) < 10 * seconds(600)


def test_the_rule_pairs_what_differs_in_a_code_and_nothing_else():
    marked, unmarked = site("en/{0}.html", "fr/{0}.html"), site("news/{0}", "nouvelles/{0}")
    assert {pair[:2] for pair in rule_pairs(listed(marked), EN, FR)} == set(marked)
    assert rule_pairs(listed(unmarked), EN, FR) == []
    assert RuleUrlPairModel().parallel([marked[0], unmarked[0]]).tolist() == [1.0, 0.0]


def test_the_judges_load_quickly():
    started = time.process_time()
    MatchingModels.load()
    assert time.process_time() - started < 0.1


@pytest.mark.parametrize("flags", [[], ["--rules"]])
def test_the_command_pairs_site_by_site_and_counts_what_is_no_url(flags):
    lines = ["http://a.test/en/x.html", "nonsense", "http://b.test/fr/x.html", "http://a.test/fr/x.html", ""]
    answer = CliRunner().invoke(urls, ["pairs", "--langs", "en,fr", *flags], input="\n".join(lines))
    assert answer.exit_code == 0
    assert [line.split("\t")[:2] for line in answer.stdout.splitlines()] == [[lines[0], lines[3]]]
    assert "1 line is not a URL" in answer.stderr


def test_the_command_wants_two_languages():
    answer = CliRunner().invoke(urls, ["pairs", "--langs", "en"], input="")
    assert isinstance(answer.exception, ConfigError)
