"""What a run shows while it goes on."""

import pytest
from rich.console import Console

from bitrawl.cli.foreground import ProgressDisplay, scope_text
from bitrawl.crawling import Reach, ScopeRules
from bitrawl.endings import Doing, MiningStep
from bitrawl.url import Url


@pytest.mark.parametrize(
    ("doing", "what"),
    [
        (Doing(MiningStep.PAIRING, "example.org", "pages", total=635), "pairing example.org (635 pages)"),
        (Doing(MiningStep.ALIGNING, "example.org", "en-de pairs", 3, 12), "aligning example.org (3 of 12 en-de pairs)"),
        (Doing(MiningStep.WRITING), "writing the corpus"),
    ],
)
def test_the_live_display_says_what_is_being_mined(doing: Doing, what: str):
    progress, console = ProgressDisplay(), Console(width=120)
    progress.mining(doing)
    with console.capture() as shown:
        console.print(progress._table())
    assert what in shown.get()
    progress.mining(None)
    with console.capture() as shown:
        console.print(progress._table())
    assert what not in shown.get()


def test_without_a_terminal_many_sites_do_not_flood_the_log(capsys: pytest.CaptureFixture[str]):
    progress = ProgressDisplay()
    for number in range(100):
        progress.mining(Doing(MiningStep.PAIRING, f"site{number}.test", "pages", total=8))
    assert capsys.readouterr().err.count("pairing") < 10


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]):
    ProgressDisplay(quiet=True).mining(Doing(MiningStep.WRITING))
    assert not any(capsys.readouterr())


def test_a_line_before_the_first_page_has_no_empty_parts():
    line = ProgressDisplay()._line()
    assert "; ;" not in line
    assert "brought no page" not in line
    assert line.endswith("0 pages, 0.0/s, 0 queued, 0 B")


@pytest.mark.parametrize(
    ("rules", "hosts", "sentence"),
    [
        (
            ScopeRules(),
            "a",
            "a.b.org and the hosts of its translations within b.org. For all of b.org: --scope domain.",
        ),
        (
            ScopeRules(),
            "ac",
            "a.b.org and c.b.org and the hosts of their translations within b.org. For all of b.org: --scope domain.",
        ),
        (ScopeRules(reach=Reach.DOMAIN), "acd", "every host of b.org."),
        (ScopeRules(same_host=True), "acde", "a.b.org, c.b.org and 2 others only (--same-host)."),
        (ScopeRules(reach=Reach.WEB), "a", "the whole web, beginning at a.b.org."),
        (ScopeRules(same_host=True, under=["/docs/"]), "a", "a.b.org only (--same-host), only below /docs/."),
    ],
)
def test_the_first_line_of_a_crawl_says_its_scope(rules: ScopeRules, hosts: str, sentence: str):
    assert scope_text(rules, [Url.parse(f"http://{host}.b.org/") for host in hosts]) == f"Scope: {sentence}"


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000"])
def test_the_wider_scope_is_offered_only_where_a_domain_has_other_hosts(host: str):
    assert (
        scope_text(ScopeRules(), [Url.parse(f"http://{host}/")]) == f"Scope: {host} and the hosts of its translations."
    )


def test_the_scope_of_many_domains_is_short():
    seeds = [Url.parse(f"http://www.{name}.org/") for name in "abcde"]
    told = scope_text(ScopeRules(), seeds)
    assert told.startswith(
        "Scope: www.a.org, www.b.org and 3 others, and the hosts of their translations within their domains."
    )
