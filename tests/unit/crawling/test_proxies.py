"""Which proxy, if any."""

import pytest
from yarl import URL

from bitrawl.crawling.connections import Proxies
from bitrawl.errors import ConfigError

ENVIRONMENT = {
    "http_proxy": "http://a:1",
    "HTTPS_PROXY": "b:2",
    "no_proxy": "example.com, .example.net,10.0.0.1 *.star.org,port.org:8080",
}


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://example.org/", "http://a:1"),
        ("https://example.org/", "http://b:2"),
        ("http://example.com/", None),
        ("http://www.example.com/", None),
        ("http://notexample.com/", "http://a:1"),
        ("http://www.example.net/", None),
        ("http://10.0.0.1/", None),
        ("http://www.star.org/", None),
        ("http://port.org:8080/", None),
        ("http://port.org/", "http://a:1"),
    ],
)
def test_the_environment_is_read_as_everywhere(url, proxy):
    found = Proxies.of_environment(ENVIRONMENT).find(URL(url))
    assert found == (URL(proxy) if proxy else None)


def test_one_proxy_may_stand_for_all():
    assert Proxies.of_environment({"ALL_PROXY": "http://x:1"}) == Proxies("http://x:1", "http://x:1")
    assert Proxies.of_environment({}).find(URL("http://example.org/")) is None
    assert Proxies.of_environment({"http_proxy": "http://a:1", "no_proxy": "*"}).find(URL("http://x.org/")) is None


@pytest.mark.parametrize(
    "proxy", ["socks5://me:secret@x:1080", "http://me:secret@:1", "http://me:secret@x:port", "ftp://me:secret@x"]
)
def test_a_proxy_that_we_cannot_use_is_refused_without_showing_its_password(proxy):
    with pytest.raises(ConfigError, match="not an HTTP proxy") as caught:
        Proxies.for_all(proxy)
    assert "secret" not in str(caught.value)


def test_endpoints_are_those_of_the_proxies():
    assert Proxies("http://me:x@a:1", "b").endpoints() == {("a", 1), ("b", 80)}
