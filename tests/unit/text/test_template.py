from bitrawl.model import Language, Page, Paragraph, ParagraphKind
from bitrawl.text.template import TemplateCounter, relabel, template_of, without_template
from bitrawl.url import Url

ENGLISH, FRENCH = Language("en"), Language("fr")


def page(number: int, *texts: str, language: Language = ENGLISH, kind: ParagraphKind = ParagraphKind.TEXT) -> Page:
    paragraphs = (Paragraph(f"Paragraph {number} is only here."), *(Paragraph(text, kind) for text in texts))
    return Page(Url.parse(f"https://example.org/{number}"), language, paragraphs=paragraphs)


def kept(found: Page) -> list[str]:
    return [paragraph.text for paragraph in found.paragraphs if not paragraph.boilerplate]


def test_a_text_on_most_pages_is_template_and_the_rest_is_not():
    pages = [page(i, "Subscribe to our letter") for i in range(20)]
    assert kept(relabel(pages[3], template_of(pages))) == ["Paragraph 3 is only here."]


def test_case_and_repetition_on_one_page_do_not_count():
    pages = [page(i) for i in range(19)] + [page(19, *["Again and again"] * 50)]
    assert "Again and again" in kept(relabel(pages[-1], template_of(pages)))


def test_a_site_of_three_pages_has_no_template():
    pages = [page(i, "The Moss Garden", kind=ParagraphKind.HEADING) for i in range(3)]
    assert kept(relabel(pages[0], template_of(pages))) == ["Paragraph 0 is only here.", "The Moss Garden"]


def test_a_heading_that_many_pages_share_is_content_and_one_that_all_share_is_not():
    pages = [page(i, "See also", kind=ParagraphKind.HEADING) for i in range(8)] + [page(i) for i in range(8, 20)]
    assert "See also" in kept(relabel(pages[0], template_of(pages)))
    everywhere = [page(i, "Menu", kind=ParagraphKind.HEADING) for i in range(20)]
    assert "Menu" not in kept(relabel(everywhere[0], template_of(everywhere)))


def test_a_long_notice_is_template_even_on_few_pages():
    notice = "This page is provided as is, without any warranty, by its authors and their institutions. " * 3
    pages = [page(i, notice) for i in range(6)] + [page(i) for i in range(6, 40)]
    assert notice not in kept(relabel(pages[0], template_of(pages)))


def test_languages_are_counted_apart():
    pages = [page(i, "Imprimer", language=FRENCH) for i in range(12)] + [page(i) for i in range(12, 400)]
    template = template_of(pages)
    assert "Imprimer" not in kept(relabel(pages[0], template))
    english = [page(i, "Imprimer") for i in range(12)] + [page(i) for i in range(12, 400)]
    assert "Imprimer" in kept(relabel(english[0], template_of(english)))


def test_template_of_one_language_is_template_on_a_page_that_nobody_translated():
    french = [page(i, "Imprimer", language=FRENCH) for i in range(12)]
    untranslated = page(999, "Imprimer")
    assert "Imprimer" not in kept(relabel(untranslated, template_of([*french, untranslated])))


def test_boilerplate_stays_boilerplate():
    pages = [page(i) for i in range(20)]
    labelled = Page(pages[0].url, ENGLISH, paragraphs=(Paragraph("© us", boilerplate=True),))
    assert kept(relabel(labelled, template_of(pages))) == []


def test_memory_is_bounded_and_what_recurs_survives_forgetting():
    counter = TemplateCounter(max_texts=100)
    for i in range(1_000):
        counter.add(page(i, "On every page", f"and this one only on {i}"))
        assert len(counter) <= 100
    assert kept(relabel(page(1_001, "On every page"), counter.template())) == ["Paragraph 1001 is only here."]


def test_a_language_with_few_pages_has_its_template_once_the_site_has_enough():
    english = [page(i, "Print this page") for i in range(12)]
    french = [page(i, "Imprimer cette page", language=FRENCH) for i in range(12, 16)]
    template = template_of([*english, *french])
    assert kept(relabel(french[0], template)) == ["Paragraph 12 is only here."]


def test_what_only_some_of_a_few_pages_have_is_no_template():
    english = [page(i) for i in range(12)]
    french = [page(i, *["Imprimer"] * (i < 15), language=FRENCH) for i in range(12, 16)]
    assert "Imprimer" in kept(relabel(french[0], template_of([*english, *french])))


def test_two_pages_of_a_language_have_no_template():
    english = [page(i) for i in range(12)]
    french = [page(i, "Imprimer", language=FRENCH) for i in range(12, 14)]
    assert "Imprimer" in kept(relabel(french[0], template_of([*english, *french])))


def test_without_template_labels_the_pages_of_a_site():
    pages = [page(i, "Subscribe to our letter") for i in range(20)]
    assert [kept(found) for found in without_template(lambda: iter(pages))][3] == ["Paragraph 3 is only here."]


def test_the_order_of_the_pages_changes_no_template():
    pages = [page(i, "Subscribe to our letter", *["Now and then"] * (i % 3 == 0)) for i in range(300)]
    assert template_of(pages).shares == template_of(pages[::-1]).shares


def test_a_broken_character_is_no_fault():
    pages = [page(i, "\ud800 broken") for i in range(20)]
    assert kept(relabel(pages[0], template_of(pages))) == ["Paragraph 0 is only here."]


def in_folder(folder: str, number: int, *texts: str, language: Language = ENGLISH) -> Page:
    paragraphs = (Paragraph(f"Paragraph {number} of {folder} is only here."), *map(Paragraph, texts))
    return Page(Url.parse(f"https://example.org/{folder}/{number}"), language, paragraphs=paragraphs)


def test_the_frame_of_a_section_is_template_however_small_the_section_is_beside_the_site():
    manual = [in_folder("manual", i, "Chapter 7: Voices") for i in range(12)]
    template = template_of([*manual, *(in_folder("news", i) for i in range(400))])
    assert kept(relabel(manual[0], template)) == ["Paragraph 0 of manual is only here."]


def test_what_some_pages_of_a_section_share_is_content():
    manual = [in_folder("manual", i, *["See the index."] * (i % 2)) for i in range(40)]
    template = template_of([*manual, *(in_folder("news", i) for i in range(400))])
    assert "See the index." in kept(relabel(manual[1], template))


def test_a_heading_that_a_section_lists_on_each_page_stays_the_heading_of_its_chapter():
    manual = [in_folder("manual", i, "Voices") for i in range(12)]
    template = template_of([*manual, *(in_folder("news", i) for i in range(400))])
    chapter = Page(manual[0].url, ENGLISH, paragraphs=(Paragraph("Voices", ParagraphKind.HEADING),))
    assert kept(relabel(chapter, template)) == ["Voices"]


def test_a_section_in_one_language_says_nothing_of_the_same_folder_in_another():
    pages = [in_folder("manual", i, "Stimmen", language=Language("de")) for i in range(3)]
    pages += [in_folder("manual", i) for i in range(100, 140)]
    assert template_of(pages).frames == {}
