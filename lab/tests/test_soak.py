import re

from lab.bench.soak import Weather
from lab.bench.web import ManyHosts, Place

HOST = "h1.bench"


def test_a_host_of_so_many_articles_has_them_all_and_links_to_nothing_else():
    web, pages, queue = ManyHosts(3, articles=12), dict[str, bytes](), ["/"]
    for path in queue:
        body = web.find(HOST, path)
        assert body is not None, path
        pages[path] = body
        queue += [link for link in re.findall(r'href="([^"]+)"', body.decode()) if link not in {*queue, *pages}]
    assert len(pages) == 2 * 12 - 1  # one in ten is not translated
    next_one = web._path(HOST, Place("en", 12))
    assert web.find(HOST, next_one) is None
    assert ManyHosts(3).find(HOST, next_one) is not None


def test_the_weather_strikes_the_same_hosts_until_the_salt_changes():
    hosts = [f"h{number}.bench" for number in range(2000)]
    struck = [{host for host in hosts if Weather(salt).strikes(0.1, host)} for salt in ("a", "a", "b")]
    assert struck[0] == struck[1] != struck[2]
    assert all(150 < len(each) < 250 for each in struck)
    assert not any(Weather("a").strikes(0.0, host) for host in hosts)
