"""Which sites are mined together."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bitrawl import config
from bitrawl.cluster.bundles import (
    Bundle,
    BundledSite,
    bundled,
    machines_of,
    read_bundles,
    sites_of,
    usual_size,
    written_bundles,
)
from bitrawl.cluster.places import place
from bitrawl.errors import ConfigError


def sites(*hosts: str) -> list[BundledSite]:
    return [BundledSite(host, [f"http://{host}/"]) for host in hosts]


def names(bundles: Sequence[Bundle]) -> list[list[str]]:
    return [[site.site for site in bundle.sites] for bundle in bundles]


def job(*seeds: str, **settings: object) -> config.Job:
    return config.resolve({"langs": ["en", "fr"], "seeds": list(seeds), **settings})


def test_bundles_have_about_the_size_asked_for_and_keep_the_order():
    bundles = bundled(sites("a.org", "b.org", "c.org", "d.org", "e.org"), 2, list)
    assert names(bundles) == [["a.org", "b.org"], ["c.org", "d.org"], ["e.org"]]
    assert [bundle.name for bundle in bundles] == ["00000", "00001", "00002"]


def test_sites_that_share_an_address_directly_or_through_others_are_never_apart():
    where = {"a.org": ["1"], "b.org": ["2"], "c.org": ["1", "3"], "d.org": ["4"], "e.org": ["3"]}
    bundles = bundled(sites(*where), 2, lambda hosts: [machine for host in hosts for machine in where[host]])
    assert names(bundles) == [["a.org", "c.org", "e.org"], ["b.org", "d.org"]]


def test_hosts_of_one_site_and_hosts_that_the_user_calls_one_site_stay_together():
    asked = job(
        "http://www.a.org/", "http://b.org/", "http://fr.a.org/", "http://c.org/",
        scope={"one_site": [["b.org", "c.org"]]},
    )  # fmt: skip
    assert sites_of(asked) == [
        BundledSite("a.org", ["http://www.a.org/", "http://fr.a.org/"]),
        BundledSite("b.org", ["http://b.org/", "http://c.org/"]),
    ]


def test_archives_of_the_same_name_stay_together(tmp_path: Path):
    for name in ("one/a.warc.gz", "one/b.warc.gz", "two/a.warc.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    asked = config.resolve({"langs": ["en", "fr"], "warc": [str(tmp_path / "one"), str(tmp_path / "two")]})
    found = sites_of(asked)
    assert [[Path(path).parent.name for path in site.archives] for site in found] == [["one", "two"], ["one"]]
    assert names(bundled(found, 1, list)) == [["a.warc.gz"], ["b.warc.gz"]]


def test_a_route_or_a_proxy_hides_the_address_so_no_name_is_resolved(monkeypatch: pytest.MonkeyPatch):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    resolved: list[str] = []

    def resolve(host: str) -> list[str]:
        resolved.append(host)
        return ["192.0.2.1"]

    routed = job("http://a.org/", fetch={"connect_to": {"*.test": "127.0.0.1:1"}})
    assert sorted(machines_of(routed, resolve)(["x.test", "a.org"])) == ["192.0.2.1", "x.test"]
    assert machines_of(job("http://a.org/", fetch={"proxy": "http://p.org:1"}), resolve)(["a.org"]) == ["a.org"]
    assert resolved == ["a.org"]


@pytest.mark.parametrize(("count", "at_once", "size"), [(10_000, 20, 50), (15, 2, 4), (1, 8, 1), (3, 1, 2)])
def test_few_sites_make_small_bundles_so_that_no_worker_is_idle(count: int, at_once: int, size: int):
    assert usual_size(count, at_once) == size


def test_halves_hold_all_sites_and_a_name_each():
    one, other = Bundle("00003", sites("a.org", "b.org", "c.org")).halves()
    assert (one.name, other.name) == ("00003-1", "00003-2")
    assert names([one, other]) == [["a.org"], ["b.org", "c.org"]]


def test_parts_share_out_every_bundle_once(tmp_path: Path):
    asked = job(*(f"http://s{number}.org/" for number in range(7)))
    bundles = written_bundles(place(str(tmp_path)), lambda: bundled(sites_of(asked), 1, list), asked)
    shared = [bundle.name for number in range(3) for bundle in bundles.of_part(number, 3)]
    assert sorted(shared) == [bundle.name for bundle in bundles.bundles]


def test_bundles_are_made_once_whatever_is_asked_later(tmp_path: Path):
    asked, out = job("http://a.org/", "http://b.org/"), place(str(tmp_path))
    first = written_bundles(out, lambda: bundled(sites_of(asked), 1, list), asked)
    assert written_bundles(out, lambda: bundled(sites_of(asked), 2, list), asked) == first == read_bundles(out)
    with pytest.raises(ConfigError, match="another list of sites"):
        written_bundles(out, list, job("http://c.org/"))


def test_of_two_machines_that_begin_at_once_both_take_the_bundles_of_one(tmp_path: Path):
    asked, out = job("http://a.org/", "http://b.org/"), place(str(tmp_path))

    def late() -> list[Bundle]:
        written_bundles(out, lambda: bundled(sites_of(asked), 1, list), asked)
        return bundled(sites_of(asked), 2, list)

    assert len(written_bundles(out, late, asked).bundles) == 2
