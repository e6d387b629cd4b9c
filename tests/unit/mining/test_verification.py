import pytest
from small_site import EN, FR, alternate, articles, page

from bitrawl.mining import PairSection
from bitrawl.mining.evidence import Evidence, UntranslatedText, same_text
from bitrawl.mining.findings import RefusalReason
from bitrawl.mining.pairing import Pairing, copies, match, misplaced
from bitrawl.mining.site import SplitText, condense, language_of
from bitrawl.model import Language, Link, LinkKind
from bitrawl.url import Url

NOWHERE = Url.parse("http://s.test/")
TEXT = ["The harbour opens before the winter and the boat sees the storm.", "A second paragraph of running text."]
OTHER = ["Le port ouvre avant l'hiver et le bateau voit la tempête.", "Un deuxième paragraphe de texte courant."]


def reasons(*pages, **settings):
    result = Pairing(PairSection(**settings)).pairs(pages, [EN, FR])
    return [refused.reason for refused in result.refusals], result.pairs


def declared(a, b):
    return {"alternates": (alternate(b, a),)}


def test_a_page_in_the_wrong_language_is_refused():
    one = page("http://s.test/en/x", EN, TEXT, **declared("fr", "http://s.test/fr/x"))
    other = page("http://s.test/fr/x", EN, ["Another text in English, not the same at all.", "It goes on and on."])
    assert reasons(one, other) == ([RefusalReason.WRONG_LANGUAGE], [])


def test_an_untranslated_copy_is_refused():
    one = page("http://s.test/en/x", EN, TEXT, **declared("fr", "http://s.test/fr/x"))
    assert reasons(one, page("http://s.test/fr/x", EN, TEXT)) == ([RefusalReason.UNTRANSLATED], [])
    mostly = page("http://s.test/fr/x", FR, [*TEXT, "Et un peu de français."])
    assert reasons(one, mostly) == ([RefusalReason.UNTRANSLATED], [])


ENGLISH_REST = ["In the evening the fishermen come home and sell.", "The market closes when the night begins."]


def half_translated(count):
    """A site of pairs, and two pages in two languages that have half of their text in common."""
    pages, pairs = articles(count, "http://s.test/en/{}", "http://s.test/fr/{}")
    one = page("http://s.test/en/half", EN, [*TEXT, *ENGLISH_REST])
    two = page("http://s.test/fr/half", FR, [*TEXT, *OTHER])
    return pages, pairs, one, two


def test_half_translated_pages_are_no_pair_and_still_a_source_of_segments():
    pages, pairs, one, two = half_translated(6)
    result = Pairing().pairs([*pages, one, two], [EN, FR])
    assert len(result.pairs) == len(pairs)
    assert not any(pair.partial for pair in result.pairs)
    [half] = result.partial
    assert (half.url_a, half.url_b, half.partial) == (one.url, two.url, True)
    assert [(no.url_a, no.url_b, no.reason) for no in result.refusals] == [(one.url, two.url, RefusalReason.PARTIAL)]


@pytest.mark.parametrize(
    "french",
    [[*TEXT, *ENGLISH_REST, "Le port ouvre."], [TEXT[1], *OTHER, "Le soir, les pêcheurs rentrent et vendent."]],
    ids=["hardly translated", "nearly all translated"],
)
def test_how_much_of_a_page_is_translated_does_not_matter_for_its_segments(french):
    pages, pairs, one, _ = half_translated(6)
    result = Pairing().pairs([*pages, one, page("http://s.test/fr/half", FR, french)], [EN, FR])
    found = [(pair.url_a, pair.url_b) for pair in [*result.pairs, *result.partial]]
    assert (one.url, "http://s.test/fr/half") in found
    assert len(found) == len(pairs) + 1


def test_an_untranslated_page_gives_no_segments():
    pages, pairs, one, _ = half_translated(6)
    copy = page("http://s.test/fr/half", EN, [*TEXT, *ENGLISH_REST])
    result = Pairing().pairs([*pages, one, copy], [EN, FR])
    assert (len(result.pairs), result.partial) == (len(pairs), [])
    assert [no.reason for no in result.refusals] == [RefusalReason.UNTRANSLATED]


def test_half_translated_pages_need_declarations_or_urls_that_pair_them():
    pages, _, one, _ = half_translated(6)
    elsewhere = page("http://s.test/fr/autre", FR, [*TEXT, *OTHER])
    assert Pairing().pairs([*pages, one, elsewhere], [EN, FR]).partial == []


def test_a_page_with_a_partner_is_in_no_partial_pair():
    site = condense([page(f"http://s.test/{n}", language, TEXT) for n, language in enumerate((EN, FR, FR))], [EN, FR])
    half = Evidence.of({(0, 2): 0.9})
    assert match(site, half, 0.5) == {(0, 2): 0.9}
    assert match(site, half, 0.5, before=[(0, 1)]) == {}


def test_a_page_declared_the_translation_of_two_others_is_paired_once_at_most():
    target = "http://s.test/fr/x"
    pages, _ = articles(6, "http://s.test/en/{}", "http://s.test/fr/{}")
    two = [
        page(f"http://s.test/en/x{n}", EN, [*TEXT, f"And a line of its own, number {n}."], **declared("fr", target))
        for n in range(2)
    ]
    back = (alternate(two[0].url, "en"), alternate(two[1].url, "en"))
    result = Pairing().pairs([*pages, *two, page(target, FR, OTHER, alternates=back)], [EN, FR])
    assert sum(str(pair.url_b) == target for pair in result.pairs) <= 1
    assert any(str(refused.url_b) == target for refused in result.refusals)


def test_a_machines_translation_is_left_out_unless_asked_for():
    pages, pairs = articles(8, "http://s.test/en/{}", "http://s.test/fr/{}")
    marked = [page(str(p.url), p.language, [q.text for q in p.paragraphs], machine_translation=("gtranslate",)) if "fr" in p.url else p for p in pages]  # fmt: skip
    refused, kept = reasons(*marked)
    assert kept == []
    assert set(refused) == {RefusalReason.MACHINE}
    assert len(reasons(*marked, machine_translated=True)[1]) == len(pairs)


def test_same_text_is_a_share_of_the_longer_page():
    site = condense([page("http://s.test/1", EN, TEXT), page("http://s.test/2", FR, [TEXT[0], *OTHER])], [EN, FR])
    assert 0.2 < same_text(site, (0, 1)) < 0.6
    assert UntranslatedText(site).shared((0, 1)) == same_text(site, (0, 1))
    assert same_text(site, (0, 0)) == 1.0


def test_the_original_of_a_copy_is_the_one_whose_address_names_its_language():
    pages = [page(url, EN, TEXT) for url in ("http://s.test/fr/x", "http://s.test/x", "http://s.test/en/x")]
    assert copies(condense(pages, [EN, FR])) == {0: 2, 1: 2}


@pytest.mark.parametrize(
    ("texts", "language"),
    [([("en", 400), ("fr", 300)], "fr"), ([("en", 400), ("fr", 20)], "en"), ([("fr", 10)], "fr")],
)
def test_a_page_is_in_the_language_that_it_claims_when_enough_of_its_text_is(texts, language):
    made = page("http://s.test/fr/x", EN, ["-"])
    paragraphs = tuple(
        made.paragraphs[0].__class__("x" * length, language=code, confidence=1.0) for code, length in texts
    )
    assert language_of(page("http://s.test/fr/x", EN, ["-"], paragraphs=paragraphs), [EN, FR]) == language


def test_a_page_with_hardly_any_text_of_its_own_is_refused():
    one = page("http://s.test/en/x", EN, TEXT, **declared("fr", "http://s.test/fr/x"))
    assert reasons(one, page("http://s.test/fr/x", FR, ["Bientôt"])) == ([RefusalReason.SHORT], [])


CODE = ["services: - name: httpbin routes: - uris: - /get plugins: limit-req: rate: 1 burst: 1", "kubectl apply -f limit-req.yaml"]  # fmt: skip
NAMES = ["Tools Options Language Settings", "Anna Kowalska, Jean Dupont, Wei Chen"]


@pytest.mark.parametrize("kept", [CODE, NAMES], ids=["code", "names"])
def test_code_and_names_that_both_versions_have_do_not_make_a_page_partly_translated(kept):
    one, other = page("http://s.test/1", EN, [*TEXT, *kept * 5]), page("http://s.test/2", FR, [*OTHER, *kept * 5])
    assert UntranslatedText(condense([one, other], [EN, FR])).shared((0, 1)) == 0.0


def test_of_a_page_of_code_the_sentences_are_looked_at():
    one, other = (
        page("http://s.test/1", EN, [*TEXT, *CODE * 5]),
        page("http://s.test/2", FR, [*TEXT, *CODE * 5, "Et ça."]),
    )
    assert UntranslatedText(condense([one, other], [EN, FR])).shared((0, 1)) > 0.9


@pytest.mark.parametrize(
    ("text", "sentence", "code"),
    [
        ("The harbour opens before the winter and closes after it.", True, False),
        ("Der Hafen öffnet vor dem Winter und schließt im Sommer.", True, False),
        ("港は冬の前に開き、船は嵐を見て、夏の終わりまで海に出ます。", True, False),
        ("बंदरगाह सर्दियों से पहले खुलता है और गर्मियों के बाद बंद होता है।", True, False),
        ("Tools - Options - Language Settings - Writing Aids", False, False),
        ("Anna Kowalska, Jean Dupont, Wei Chen", False, False),
        ("apiVersion: v1 kind: Service metadata: namespace: aic", False, True),
        ("# cp pki/ca.crt /usr/local/share/ca-certificates/falcot.crt", False, True),
        ("", False, True),
    ],
)
def test_running_text_is_told_from_names_and_code_in_any_script(text, sentence, code):
    split = SplitText(text)
    assert (split.is_sentence, split.is_code) == (sentence, code)


def test_pages_that_differ_by_little_are_paired_by_their_addresses():
    shared = [f"The harbour opens before the winter number {n} and the boat sees the storm again." for n in range(12)]
    french = [f"Le port ouvre avant l'hiver numéro {n} et le bateau voit encore la tempête." for n in range(12)]
    pages, _ = articles(12, "http://s.test/en/{}", "http://s.test/fr/{}")
    for name in ("sum", "difference", "product"):
        pages.append(
            page(f"http://s.test/en/{name}", EN, [*shared, f"It gives the {name} of all the numbers that it is given."])
        )
        pages.append(
            page(
                f"http://s.test/fr/{name}",
                FR,
                [*french, f"Voici la chose ({name}) pour tous les nombres qu'on lui donne."],
            )
        )
    found = {(str(pair.url_a), str(pair.url_b)) for pair in Pairing().pairs(pages, [EN, FR]).pairs}
    for name in ("sum", "difference", "product"):
        assert (f"http://s.test/en/{name}", f"http://s.test/fr/{name}") in found


def test_an_untranslated_page_below_another_languages_folder_is_no_page_in_its_own_right():
    pages = [page(url, EN, TEXT) for url in ("http://s.test/fr/x", "http://s.test/x", "http://s.test/en/x")]
    site = condense(pages, [EN, FR])
    assert misplaced(site, copies(site)) == {0, 1}
    twins = condense([page(f"http://s.test/en/{n}", EN, TEXT) for n in range(2)], [EN, FR])
    assert copies(twins) == {1: 0}
    assert misplaced(twins, copies(twins)) == set()


@pytest.mark.parametrize(
    ("language", "sentence", "translated"),
    [
        ("en", "The {} boats of the harbour see a storm.", "Le port a {} bateaux."),
        (
            "ja",
            "北の港にある{}隻の古い船は、冬が来る前に大きな嵐を見ている。",
            "The northern harbour has {} boats, and each of them has seen a storm before winter.",
        ),
        ("ar", "ترى القوارب {} العاصفة في الميناء.", "Le port a {} bateaux."),
    ],
)
def test_a_page_in_part_untranslated_below_another_folder_is_no_rival_of_the_original(language, sentence, translated):
    texts = [sentence.format(n) for n in range(10)]
    half = [*texts[:6], *(translated.format(n) for n in range(6, 9))]
    spoken = Language(language)
    pages = [page("http://s.test/fi/x", spoken, half), page(f"http://s.test/{language}/x", spoken, texts)]
    site = condense(sorted(pages, key=lambda each: each.url), [spoken, FR])
    foreign = site.by_url[pages[0].url]
    assert misplaced(site, copies(site)) == {foreign}
    unmarked = [page("http://s.test/b/x", spoken, half), pages[1]]
    site = condense(sorted(unmarked, key=lambda each: each.url), [spoken, FR])
    assert misplaced(site, copies(site)) == set()


def test_a_page_to_print_is_no_page_in_its_own_right():
    links = tuple(Link(Url.parse(f"http://s.test/en/{n}"), LinkKind.PAGE, NOWHERE) for n in range(9))
    original = page("http://s.test/en/x", EN, TEXT, links=links)
    for other in (
        page("http://s.test/en/x?print=1", EN, TEXT),
        page("http://s.test/en/x?print=1", EN, TEXT, links=links),
        page("http://s.test/en/a", EN, TEXT, links=links, canonical=original.url),
    ):
        site = condense([other, original], [EN, FR])
        assert misplaced(site, copies(site)) == {0}
    version = condense([page("http://s.test/en/2/x", EN, TEXT, links=links), original], [EN, FR])
    assert misplaced(version, copies(version)) == set()
