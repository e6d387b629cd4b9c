"""External links of articles as seeds."""

from bitrawl.topic.wiki_topic import cited_sites
from bitrawl.url import Url

OWN = [Url.parse("https://wiki.example.org/w/api.php")]


def test_sites_are_ranked_by_the_articles_that_cite_them_not_by_the_links():
    links = [("A", f"https://www.often.test/{number}") for number in range(9)]
    links += [("A", "https://www.widely.test/"), ("B", "https://de.widely.test/x"), ("C", "https://www.widely.test/")]
    sites = cited_sites(links, OWN).sites
    assert [(site.site, site.articles) for site in sites] == [("widely.test", 3), ("often.test", 1)]
    assert sites[0].urls == ("https://www.widely.test/", "https://de.widely.test/x")


def test_only_the_web_outside_the_wiki_is_cited():
    links = [
        ("A", "mailto:info@example.org"),
        ("A", "news:alt.test"),
        ("A", "//proto.test/relative"),
        ("A", "https://en.wikipedia.org/wiki/B"),
        ("A", "https://commons.wikimedia.org/wiki/C"),
        ("A", "https://other.example.org/"),
        ("A", "http://"),
    ]
    assert [site.urls for site in cited_sites(links, OWN).sites] == [("https://proto.test/relative",)]


def test_what_articles_on_any_subject_cite_is_left_out_and_counted():
    found = cited_sites([("A", "https://doi.org/10.1/2"), ("A", "https://viaf.org/viaf/1")], OWN)
    assert found.sites == ()
    assert found.any_subject == 2


def test_an_archived_page_counts_as_the_page_itself():
    links = [
        ("A", "https://web.archive.org/web/20110101000000/http://www.agency.test/report.html"),
        ("B", "http://www.agency.test/report.html"),
        ("C", "http://web.archive.org/web/2011*/www.other.test/"),
    ]
    sites = cited_sites(links, OWN).sites
    assert [(site.site, site.articles) for site in sites] == [("agency.test", 2), ("other.test", 1)]
