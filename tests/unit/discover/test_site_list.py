"""The sites that were judged, as files and in a report."""

from bitrawl.discover.site_lists import SiteAnswer, SiteVerdict, from_json_lines, json_lines, ranked, seed_list, table
from bitrawl.discover.walk import HubFacts, WalkFacts
from bitrawl.model import Language
from bitrawl.show import report_of_search
from bitrawl.url import Url

SURE = SiteVerdict(
    "a.org", SiteAnswer.BILINGUAL, 0.9, (Language("en"), Language("fr")), {"hreflang": 0.8},
    Url.parse("http://a.org/en"), Url.parse("http://a.org/fr"), 2, (Url.parse("http://hub.org/"),), 40, "two\tpages",
)  # fmt: skip
LESS = SiteVerdict("b.org", SiteAnswer.BILINGUAL, 0.6)
NO = SiteVerdict("c.org", SiteAnswer.NO)


def test_the_surest_bilingual_sites_come_first():
    assert ranked([NO, LESS, SURE]) == [SURE, LESS, NO]


def test_verdicts_are_read_back_as_they_were_written():
    assert from_json_lines(json_lines([SURE, LESS, NO])) == [SURE, LESS, NO]


def test_a_row_of_the_table_has_a_cell_for_each_column_whatever_a_page_says():
    rows = table([SURE, LESS]).splitlines()
    assert {row.count("\t") for row in rows} == {len(SiteVerdict.__struct_fields__) - 1}


def test_mining_begins_in_both_languages():
    lines = [line for line in seed_list([SURE, LESS, NO]).splitlines() if not line.startswith("#")]
    assert lines == ["http://a.org/en", "http://a.org/fr", "https://b.org/"]


def test_what_the_web_says_is_escaped_in_the_report():
    hostile = SiteVerdict("<b>.org", SiteAnswer.BILINGUAL, 0.9)
    facts = WalkFacts(
        strategy="cocitation", languages=("en", "fr"), downloads=3, candidates=2, seeds=1, bilingual_seeds=1,
        answers={"bilingual": 1}, found=1, curve=((0, 0), (3, 1)), hubs=(HubFacts("<i>hub", 2, 1, ("<b>.org",)),),
        learned={}, refused={"<u>.org": "<opt-out>"}, notes=("<note>",),
    )  # fmt: skip
    page = report_of_search(facts, [hostile])
    assert not any(mark in page for mark in ("<b>.org", "<i>hub", "<u>.org", "<opt-out>", "<note>"))
    assert "Who cites the bilingual sites" in page
