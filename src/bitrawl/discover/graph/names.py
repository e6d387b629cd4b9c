"""Names of hosts as people write them and as Common Crawl's graphs do: reversed, with or without `www.`."""

from bitrawl.url import Url

# The largest top-level domains: the first label of most names that are reversed, and the last label of most that are not.
# Those of countries say nothing in the first place: fr.example.org is the French part of a site.
_GENERIC = frozenset(("com", "org", "net", "edu", "gov"))
_TOP_LEVEL = _GENERIC | {"de", "uk", "cn", "nl", "ru", "br", "fr", "eu", "it", "au", "jp"}
_WWW = "www."


def reversed_host(host: str) -> str:
    """`org.example.www` for `www.example.org`, and the other way round."""
    return ".".join(reversed(host.split(".")))


def host_of(target: Url | str) -> str:
    """The host of a URL, or the name as given, in lower case and without port."""
    name = target.partition("://")[2] or target
    return name.partition("/")[0].partition(":")[0].strip().rstrip(".").lower()


def without_www(host: str) -> str:
    """Two hosts that differ only in `www.` are one here: releases of a graph treat it differently, and so do links."""
    return host.removeprefix(_WWW) if host.count(".") > 1 else host


def spellings(host: str) -> tuple[str, str]:
    """The names that a graph may have for a host. Older releases strip `www.`, newer ones keep it."""
    bare = without_www(host)
    return bare, _WWW + bare


def home_page(host: str) -> Url:
    return Url.parse(f"https://{host}/")


def look_reversed(names: list[str]) -> bool | None:
    """Whether most of these hosts are written as Common Crawl writes them; None if they do not say."""
    first = sum(name.partition(".")[0] in _GENERIC for name in names)
    last = sum(name.rpartition(".")[2] in _TOP_LEVEL for name in names)
    return None if first == last else first > last
