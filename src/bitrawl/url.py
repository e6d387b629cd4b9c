"""The canonical http(s) URL. Two equal URLs name the same page."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Self

import ada_url
from publicsuffixlist import PSLFILE, PublicSuffixList

from bitrawl.errors import ConfigError, UrlError

MAX_LENGTH = 2083  # The limit of browsers and sitemaps. Longer URLs are traps.

# Parameters that say where the visitor comes from, not which page it is.
_TRACKING = re.compile(
    r"(?:utm_\w+|utm|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|"
    r"mc_[ce]id|_ga|_gl|_hs(?:enc|mi)|hsctatracking|mkt_tok|oly_(?:anon|enc)_id|vero_id|wickedid|"
    r"_openstat|ml_subscriber(?:_hash)?|srsltid|at_(?:campaign|medium|custom\d)|piwik_\w+|pk_\w+|mtm_\w+)",
    re.IGNORECASE,
)
# Session parameters found on the web. The short names count only if the value looks like a token.
_SESSION = re.compile(
    r"(?:phpsessid|jsessionid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|sessionid|session_id|"
    r"sessid|zenid|oscsid|xtc?sid|sid|s)",
    re.IGNORECASE,
)
_CERTAIN_SESSION = re.compile(r"(?:phpsessid|jsessionid|aspsessionid\w*|asp\.net_sessionid|cftoken)", re.IGNORECASE)
_TOKEN = re.compile(r"(?=[^&]*\d)[0-9a-zA-Z_\-]{16,}")
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?;]*", re.IGNORECASE)
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
# The user name and password in a URL: everything up to the last @ before the path.
# Only the last letter of the scheme is matched: with the whole scheme, the search in a text of n letters takes n² steps.
_CREDENTIALS = re.compile(r"([a-z0-9+.-]:[/\\]{2,})[^/?#\\\s]*@", re.IGNORECASE)
_LEADING_CREDENTIALS = re.compile(r"^(\s*(?:[a-z][a-z0-9+.-]*:[/\\]+|[/\\]{2,})?)[^/?#\\]*@", re.IGNORECASE)
# What `parse` would give back as it is: most absolute links. Three times as quick as to parse them.
_SEGMENT = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]*"
_CANONICAL = re.compile(
    rf"https?://(?!\S*xn--)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{{2,63}}(?:/{_SEGMENT})+",
    re.ASCII,
)
# What can be appended to the origin or to the folder of a canonical URL as it is: most relative links.
_RELATIVE = re.compile(rf"/?(?=[A-Za-z0-9._~-]){_SEGMENT}(?:/{_SEGMENT})*", re.ASCII)
# A host as people type it into a browser: a name with a dot in it, or any name with a port, and perhaps a path.
_TYPED = re.compile(
    r"(?P<host>\[[0-9a-f:.]+\]|(?=[^.-])[^\s/?#@:\\]+)(?::(?P<port>\d{1,5}))?(?:[/?#]\S*)?", re.IGNORECASE
)
_SECURE_PORTS = (None, "443", "8443")
_SPECIAL = ("example", "internal", "invalid", "local", "test")  # names without a registry (RFC 6761 and 6762, ICANN)
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Url(str):
    """An absolute, normalised URL without fragment, credentials, tracking and session parameters.

    Use `Url.parse` for text from outside, and `Url.known` for text that `parse` has already made canonical.
    """

    __slots__ = ()

    @classmethod
    def parse(cls, raw: str, *, base: "Url | None" = None) -> Self:
        """WHATWG parsing, then the equivalences of RFC 3986 section 6.2.2; raises `UrlError`."""
        plain = raw.partition("#")[0]
        if base is not None and _RELATIVE.fullmatch(plain):
            plain = base.origin + plain if plain[0] == "/" else base.folder + plain
            if len(plain) <= MAX_LENGTH:
                return cls(plain)
        elif len(plain) <= MAX_LENGTH and _CANONICAL.fullmatch(plain):
            return cls(plain)
        try:
            href = ada_url.join_url(base, raw) if base is not None else ada_url.normalize_url(raw)
        except ValueError as error:
            message = f"{_shown(raw)} is not a URL; write it in full, for example https://www.example.org/"
            raise UrlError(message) from error
        scheme, _, rest = href.partition("://")
        if scheme not in ("http", "https"):
            message = f"{_shown(raw)} is not a web URL; only http and https are supported"
            raise UrlError(message)
        rest = rest.partition("#")[0]
        if len(rest) > MAX_LENGTH:
            message = f"{_shown(raw)}… is longer than {MAX_LENGTH} characters"
            raise UrlError(message)
        canonical = f"{scheme}://{_canonical(rest)}"
        # The removal may have exposed a dot segment or another escape. Repeat until nothing changes.
        return cls(canonical) if canonical == href else cls.parse(canonical)

    @classmethod
    def known(cls, text: str) -> Self:
        """A URL that `parse` made earlier, read back from a ledger or another process."""
        return cls(text)

    @property
    def host(self) -> str:
        """The host name, with the port if it is not the scheme's default. Politeness is per host."""
        return self.split("/", 3)[2]

    @property
    def origin(self) -> str:
        """Scheme and host. robots.txt is per origin."""
        return "/".join(self.split("/", 3)[:3])

    @property
    def folder(self) -> str:
        """Up to the last slash of the path: what a relative URL is appended to."""
        bare = self.partition("?")[0]
        return bare[: bare.rindex("/") + 1]

    @property
    def path(self) -> str:
        """From the first slash to the query; never empty."""
        return "/" + self.split("/", 3)[3].partition("?")[0]

    @property
    def query(self) -> str:
        """The query without its question mark; empty if there is none."""
        return self.partition("?")[2]

    @property
    def site(self) -> str:
        """The registrable domain. An IP address or a bare name is a site of its own, with its port."""
        return _site(self.host)


def with_scheme(typed: str) -> str:
    """A host as people type it, with the scheme that they mean; any other text as it is.

    A name without a port must end as names on the internet do. The scheme is https; http for localhost, an IP address,
    and a port that is not usual for https: servers of one's own machine or network have no certificate.
    """
    match = _TYPED.fullmatch(typed)
    if match is None:
        return typed
    host, port = match["host"].lower().rstrip("."), match["port"]
    is_local = host.rpartition(".")[2] == "localhost"
    is_number = host.startswith("[") or (host.count(".") == 3 and host.replace(".", "").isdecimal())
    if not (is_local or is_number or port or ("." in host and has_registry(host))):
        return typed
    return f"http{'' if is_local or is_number or port not in _SECURE_PORTS else 's'}://{typed}"


@lru_cache(maxsize=10_000)
def has_registry(host: str) -> bool:
    """Whether the name ends as names on the internet do: `sites.txt` and `page.html` do not."""
    try:
        top = ada_url.URL(f"http://{host}").hostname.rpartition(".")[2]
    except ValueError:
        return False
    return top in _SPECIAL or top in _top_levels()


def has_credentials(raw: str) -> bool:
    """Whether a URL that `Url.parse` accepts holds a user name or a password."""
    url = ada_url.URL(raw)
    return bool(url.username or url.password)


def without_credentials(text: str) -> str:
    """The text with "…" in place of the user name and password of each URL, for messages and logs."""
    return _CREDENTIALS.sub(r"\1…@", text)


@lru_cache(maxsize=65536)
def _site(host: str) -> str:
    name = host.partition(":")[0]
    if host.startswith("[") or name.rpartition(".")[2].isdigit() or "." not in name:
        return host
    return public_suffixes().privatesuffix(name.rstrip(".")) or name


@lru_cache(maxsize=1)
def public_suffixes() -> PublicSuffixList:
    """As the library reads them, in 14 ms instead of 24: it would encode all 10,000, and 500 need it."""
    return PublicSuffixList(_suffix_rules(), accept_encoded_idn=False)


@lru_cache(maxsize=1)
def _suffix_rules() -> list[str]:
    lines = [line for line in Path(PSLFILE).read_text("utf-8").splitlines() if not line.startswith("//")]
    return [*lines, *(line.split()[0].encode("idna").decode() for line in lines if not line.isascii())]


@lru_cache(maxsize=1)
def _top_levels() -> frozenset[str]:
    """Also those that have only names below others: `co.za`, `*.bd`."""
    return frozenset(rule.strip().rpartition(".")[2] for rule in _suffix_rules())


def _shown(raw: str) -> str:
    return repr(without_credentials(_LEADING_CREDENTIALS.sub(r"\1…@", raw))[:80])


def _canonical(rest: str) -> str:
    """The part after the scheme. The early return spares most URLs the regular expressions."""
    host, _, tail = rest.partition("/")
    if "@" in host:
        host = host.rpartition("@")[2]
    if "%" in tail:
        tail = _ESCAPE.sub(_normal_escape, tail)
    path, mark, query = tail.partition("?")
    if ";" in path:
        path = _PATH_SESSION.sub("", path)
    if not query:
        return f"{host}/{path}{mark}"
    kept = "&".join(item for item in query.split("&") if not _names_the_visit(item))
    return f"{host}/{path}?{kept}" if kept else f"{host}/{path}"


def _normal_escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _names_the_visit(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    if _TRACKING.fullmatch(name) or _CERTAIN_SESSION.fullmatch(name):
        return True
    return bool(_SESSION.fullmatch(name) and _TOKEN.fullmatch(value))


def seeds_from(content: bytes, name: str) -> list[str]:
    """A seed list: one URL per line; blank lines and lines that begin with # are left out."""
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not a text file in UTF-8; write one URL per line") from error
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def folder_path(raw: str) -> str:
    """A path that the user named, as URLs have it and with a slash at its end; raises `ConfigError`."""
    if not raw.startswith("/") or raw.startswith("//") or set(raw) & set("?#"):
        raise ConfigError(f"--under {raw!r} is not a path; write it from the root of the host, as in --under /docs/")
    return Url.parse(f"http://host{raw}").path.rstrip("/") + "/"
