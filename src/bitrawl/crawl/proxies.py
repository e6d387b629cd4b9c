"""Which proxy a request goes through: the one that the user named, or those of the environment."""

from collections.abc import Mapping
from typing import Self

import msgspec
from yarl import URL

from bitrawl.errors import ConfigError


class Proxies(msgspec.Struct, frozen=True):
    """Proxy URLs by the scheme of what is asked for; empty for none. `bypass` is written as NO_PROXY is."""

    http: str = ""
    https: str = ""
    bypass: str = ""

    def __post_init__(self) -> None:
        for scheme, proxy in (("http", self.http), ("https", self.https)):
            if proxy and not _is_http(proxy):
                # Without the text itself: it may hold a password.
                message = f"the proxy for {scheme} is no http proxy; write it as http://user:password@host:port"
                raise ConfigError(message)

    def __repr__(self) -> str:
        """Without passwords: it may stand in a traceback."""
        names = (proxy_name(_parsed(proxy)) if proxy else "" for proxy in (self.http, self.https))
        return "Proxies(http={!r}, https={!r}, bypass={!r})".format(*names, self.bypass)

    @classmethod
    def for_all(cls, proxy: str) -> Self:
        """The one that the user named; the environment has no say."""
        return cls(http=proxy, https=proxy)

    @classmethod
    def of_environment(cls, environ: Mapping[str, str]) -> Self:
        """http_proxy, https_proxy, all_proxy and no_proxy, in lower or upper case, lower first."""

        def read(name: str) -> str:
            return environ.get(name) or environ.get(name.upper(), "")

        every = read("all_proxy")
        return cls(read("http_proxy") or every, read("https_proxy") or every, read("no_proxy"))

    def find(self, url: URL) -> URL | None:
        """The proxy for that URL, None where the way is direct."""
        proxy = self.https if url.scheme == "https" else self.http
        if not proxy or self._bypasses(url.host or "", url.port or 0):
            return None
        return _parsed(proxy)

    def endpoints(self) -> frozenset[tuple[str, int]]:
        """Host and port of the proxies themselves."""
        urls = (_parsed(proxy) for proxy in (self.http, self.https) if proxy)
        return frozenset((url.host or "", url.port or 0) for url in urls)

    def _bypasses(self, host: str, port: int) -> bool:
        for entry in self.bypass.lower().replace(",", " ").split():
            name = entry.removeprefix("*").removeprefix(".").removesuffix(f":{port}")
            if entry == "*" or host == name or host.endswith(f".{name}"):
                return True
        return False


def proxy_name(proxy: URL) -> str:
    """Its URL without user name and password, to be shown."""
    return str(proxy.with_user(None)).rstrip("/")


def _parsed(proxy: str) -> URL:
    return URL(proxy if "://" in proxy else f"http://{proxy}")


def _is_http(proxy: str) -> bool:
    try:
        url = _parsed(proxy)
    except ValueError:
        return False
    return url.scheme in ("http", "https") and bool(url.host)
