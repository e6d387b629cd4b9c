import pytest

from bitrawl.model import Language
from bitrawl.url import Url
from bitrawl.urls.site_candidates import aligned
from bitrawl.urls.tokens import abbreviates
from lab.train.made_up_urls import MADE_UP_KINDS, made_up, made_up_kind
from lab.train.url_examples import Example
from lab.train.url_kinds import Kind, kind_of, kinds_of, shows

EN, FR, DE = map(Language, ("en", "fr", "de"))


def pairs_of(form_a, form_b, names=("garden", "water", "letter", "market", "music", "school")):
    return [
        (Url.parse(f"http://s.test/{form_a.format(name, n)}"), Url.parse(f"http://s.test/{form_b.format(name, n)}"))
        for n, name in enumerate(names)
    ]


@pytest.mark.parametrize(
    ("form_a", "form_b", "kind"),
    [
        ("en/{0}", "fr/{0}", Kind.MARK),
        ("{0}", "{0}?sel=2", Kind.PARAMETER),
        ("{0}?v=north", "{0}?v=kite", Kind.VALUE),
        ("{0}?v=1", "{0}?v=2", Kind.VALUE),
        ("gb{0}", "{0}", Kind.GLUED),
        ("{0}_uxk.html", "{0}.html", Kind.GLUED),
        ("{0}", "abroad/{0}", Kind.DIRECTORY),
        ("zone/{0}", "portal/{0}", Kind.SUBSTITUTED),
        ("node/41{1}", "node/51{1}", Kind.STEP),
        ("en/node/41{1}", "fr/node/51{1}", Kind.STEP),
        ("zone/{0}", "portal/{0}?sel=2", Kind.MIXED),
    ],
)
def test_the_kind_of_a_difference_is_told(form_a, form_b, kind):
    assert {kind_of(kinds) for kinds in kinds_of(pairs_of(form_a, form_b))} == {kind}


def test_steps_that_change_are_another_kind():
    numbers = [(412, 413), (418, 420), (431, 434), (440, 444), (450, 455), (460, 466), (470, 477)]
    pairs = [(Url.parse(f"http://s.test/en/{a}"), Url.parse(f"http://s.test/fr/{b}")) for a, b in numbers]
    assert {kind_of(kinds) for kinds in kinds_of(pairs)} == {Kind.STEPS}


def test_made_up_sites_are_of_their_kind_and_the_same_again():
    names = [f"{a}{b}" for a in ("garden", "water", "letter") for b in ("", "house", "music", "report")]
    example = Example("www.s.test", "wmt16", (EN, FR), tuple(pairs_of("en/{0}", "fr/{0}", names)))
    sites = made_up([example])
    assert sites == made_up([example])
    assert {made_up_kind(site) for site in sites} == set(MADE_UP_KINDS)
    assert all(len({url for pair in site.pairs for url in pair}) == 2 * len(site.pairs) for site in sites)
    by_kind = {made_up_kind(site): site for site in sites}
    assert shows(by_kind[Kind.DIRECTORY], Kind.DIRECTORY)
    assert not shows(by_kind[Kind.DIRECTORY], Kind.PARAMETER)


def test_small_steps_that_change_are_followed():
    pairs = [(412, 413), (418, 420), (431, 432), (440, 443), (447, 448), (455, 457), (470, 471)]
    assert set(aligned([a for a, _ in pairs], [b for _, b in pairs])) == set(pairs)


def test_a_code_that_begins_anothers_name_may_stand_for_it_unless_it_is_a_countrys_own():
    assert abbreviates(Language("an"), EN)
    assert not abbreviates(Language("de"), EN)
    assert not abbreviates(Language("is"), Language("es"))
