"""How a request reaches a server: over which connection, to which address, and through which proxy.

A connection is used again only while the server has sent nothing that nobody asked for. An address must be one of the
public internet, which is judged after resolution and pinned for the connection.
"""

import asyncio
import os
import resource
import select
import socket
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from itertools import islice
from types import SimpleNamespace
from typing import Any, Self
from weakref import WeakSet

import aiohttp
import msgspec
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ClientRequest, ConnectionKey
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from yarl import URL

from bitrawl.errors import ConfigError

WAITING = 30  # visits that only wait, for each that works; see docs/decisions/frontier-and-queue.md
MOST_CONNECTIONS = 1024  # at once, however many are asked for and allowed


def most_waiting(parallel: int) -> int:
    """How many visits may only wait for an answer, beside those that work. With `--parallel 1` one follows the other."""
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    half = MOST_CONNECTIONS if descriptors == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, descriptors // 2)
    return max(0, min(WAITING * (parallel - 1), half - parallel))


class CleanConnector(aiohttp.TCPConnector):
    """Bytes that came before a request can never be its answer.

    aiohttp asks whether a pooled connection is open, and not whether something lies unread on it: an answer that the
    server sent unasked would be taken for that of the next request. Here such a connection is closed, and the request
    goes over a new one. A host that did so gets one request per connection from then on, so that nothing it sends late
    can be mistaken either.

    aiohttp limits the connections in use, and not those that are kept open for a next request. Here at most half as many
    more are open as may be in use, so that thousands of hosts cannot use up the file descriptors of the process: before
    another is opened, the one that has been kept longest is closed.
    """

    def __init__(self, *, limit: int, **options: object) -> None:
        super().__init__(limit=limit, **options)  # type: ignore[arg-type]
        self._most_open = limit * 3 // 2
        self._used: WeakSet[ResponseHandler] = WeakSet()
        self._once: set[str] = set()  # hosts that get one request per connection

    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 (it is the parent class that says so)
    ) -> Connection:
        while True:
            self._make_room(req.connection_key)
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol is None or protocol not in self._used:
                break
            leftover = _leftover(protocol)
            if leftover is Leftover.NOTHING:
                break
            if leftover is Leftover.BYTES:
                self.distrust(req.host)
            connection.close()
        if protocol is not None:
            self._used.add(protocol)
            if req.host in self._once:
                protocol.force_close()
        return connection

    def _make_room(self, wanted: ConnectionKey) -> None:
        if wanted in self._conns:
            return
        too_many = 1 + len(self._acquired) + sum(map(len, self._conns.values())) - self._most_open
        for key in islice([*self._conns], max(0, too_many)):
            idle = self._conns[key]
            idle.popleft()[0].close()
            if not idle:
                del self._conns[key]

    def distrust(self, host: str) -> bool:
        """From now on one request per connection; False when that was so before."""
        is_new = host not in self._once
        self._once.add(host)
        return is_new


class Leftover(Enum):
    """What lies on a connection between an answer and the next request."""

    NOTHING = "nothing"
    BYTES = "bytes"  # that nobody asked for
    UNKNOWN = "unknown"  # its end, or bytes of TLS that may be no more than its own


def _leftover(protocol: ResponseHandler) -> Leftover:
    if protocol.should_close:
        return Leftover.BYTES
    transport = protocol.transport
    if transport is None:
        return Leftover.UNKNOWN
    # The event loop may not have read yet what has arrived.
    handle = transport.get_extra_info("socket").fileno()
    arrived = select.poll()
    arrived.register(handle, select.POLLIN)
    if not arrived.poll(0):
        return Leftover.NOTHING
    with socket.socket(fileno=os.dup(handle)) as peeked:
        try:
            waiting = peeked.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return Leftover.NOTHING
        except OSError:
            return Leftover.UNKNOWN
    plain = transport.get_extra_info("ssl_object") is None
    return Leftover.BYTES if waiting and plain else Leftover.UNKNOWN


@dataclass
class Attempt:
    """One request, and whether its connection had been used before."""

    reused: bool = False


def noting_reuse() -> aiohttp.TraceConfig:
    """For a session whose requests carry an `Attempt` as their `trace_request_ctx`."""

    async def reused(_session: aiohttp.ClientSession, context: SimpleNamespace, _: object) -> None:
        context.trace_request_ctx.reused = True

    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(reused)
    return trace


Endpoint = tuple[str, int]
"""A host and a port; as the target of a route, port 0 keeps the port that was asked for."""

Lookup = Callable[[str, int, int], list[tuple[Any, ...]]]
"""Host, port and family to what `socket.getaddrinfo` returns."""


class PrivateAddressError(OSError):
    """A name with no public address. An OSError because it has to travel through aiohttp."""


@lru_cache(maxsize=4096)
def is_public(address: str) -> bool:
    """Whether that literal IP address is one of the public internet; false for what is no address."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address):
        if parsed not in _MAPPED and parsed not in _NAT64:
            return parsed in _UNICAST and not any(parsed in network for network in _RESERVED_6)
        parsed = IPv4Address(int(parsed) & 0xFFFFFFFF)
    return not any(parsed in network for network in _RESERVED_4)


def is_private_host(host: str) -> bool:
    """Whether the host says by itself, without a resolver, that it is not of the public internet."""
    bare = host.strip("[]")
    if _is_literal(bare):
        return not is_public(bare)
    return bare.rstrip(".").lower().rpartition(".")[2] in _SPECIAL_NAMES or bare.endswith(".home.arpa")


class Routes:
    """Hosts that are reached elsewhere than DNS says, as with curl's --connect-to.

    "www.x.test" is that host, "*.x.test" any below it, "*" any; the longest pattern that fits counts.
    A literal address is never one of them.
    """

    def __init__(self, targets: Mapping[str, str]) -> None:
        """Raises `ConfigError` for a target that is not HOST:PORT."""
        self._targets = {pattern.lower(): _endpoint(target) for pattern, target in targets.items()}

    def find(self, host: str) -> Endpoint | None:
        """Where that host is reached, None where DNS is asked."""
        if not self._targets or _is_literal(host):
            return None
        labels = host.lower().split(".")
        patterns = [host.lower(), *(f"*.{'.'.join(labels[at:])}" for at in range(1, len(labels))), "*"]
        return next((self._targets[pattern] for pattern in patterns if pattern in self._targets), None)


def _endpoint(raw: str) -> Endpoint:
    address, mark, port = raw.rpartition(":")
    if not mark or not port.isdigit():
        raise ConfigError(f"connect_to: {raw!r} is not HOST:PORT; write it like this: 127.0.0.1:8000")
    return address.strip("[]"), int(port)


class GuardedResolver(AbstractResolver):
    """Resolves a name and answers with its public addresses only: aiohttp connects to those and asks nobody again.

    A literal address never comes here: aiohttp connects to it directly, so `is_private_host` is asked before.
    What `routes` names and `trusted` (the user's own proxy, an operator's wiki) is not judged.
    """

    def __init__(
        self,
        routes: Routes,
        *,
        allow_private: bool = False,
        trusted: Collection[Endpoint] = (),
        seconds: float = 15.0,  # as long as a connection may take
        at_once: int = 16,
        lookup: Lookup | None = None,
    ) -> None:
        self._routes = routes
        self._allow_private = allow_private
        self._trusted = frozenset(trusted)
        self._seconds = seconds
        self._lookup = lookup or _getaddrinfo
        # Its own threads, as many as visits can be under way: the loop's default pool has six on two cores, and a dead
        # name server holds each for 10 s. They are started when they are needed.
        self._threads = ThreadPoolExecutor(max_workers=at_once, thread_name_prefix="dns")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Raises `PrivateAddressError` when there are addresses and none is public, OSError when there are none."""
        route = self._routes.find(host)
        target, target_port = route or (host, port)
        addresses = await self._addresses(target, target_port or port, family)
        if not (self._allow_private or route or (host, port) in self._trusted):
            public = [address for address in addresses if is_public(address["host"])]
            if addresses and not public:
                raise PrivateAddressError(f"{host} is {addresses[0]['host']}")
            addresses = public
        if not addresses:
            raise OSError(None, f"{host} has no address")
        return [{**address, "hostname": host} for address in addresses]

    async def close(self) -> None:
        """Without waiting for a lookup that hangs."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _addresses(self, host: str, port: int, family: int) -> list[ResolveResult]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._seconds):
                infos = await loop.run_in_executor(self._threads, partial(self._lookup, host, port, family))
        except TimeoutError as error:
            raise OSError(None, f"no answer for {host} in {self._seconds:g} s") from error
        except UnicodeError as error:  # a label that is empty or longer than 63: getaddrinfo's IDNA refuses it
            raise OSError(None, f"{host[:80]} is not a host name: {error}") from error
        numeric = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        return [
            ResolveResult(hostname=host, host=address[0], port=address[1], family=kind, proto=proto, flags=numeric)
            for kind, _, proto, _, address in infos
            if kind in (socket.AF_INET, socket.AF_INET6)
        ]


def _is_literal(host: str) -> bool:
    return ":" in host or host.rpartition(".")[2].isdigit()


def _getaddrinfo(host: str, port: int, family: int) -> list[tuple[Any, ...]]:
    return list(socket.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM))


# The IANA special-purpose registries, as of 2025; written out because `ipaddress.is_global` differs between Python
# 3.11, 3.12 and 3.13.
_RESERVED_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # CGNAT; 100.100.100.200 is Alibaba's metadata
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's host, reachable from each of its machines
        "169.254.0.0/16",  # link-local; 169.254.169.254 is nearly everybody's metadata
        "172.16.0.0/12",
        "192.0.0.0/24",  # 192.0.0.192 is Oracle's metadata
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
# Outside of it are loopback, unspecified, IPv4-compatible, ULA (fd00:ec2::254 is Amazon's metadata), link- and
# site-local, multicast, and the local-use NAT64 prefix 64:ff9b:1::/48.
_UNICAST = IPv6Network("2000::/3")
_RESERVED_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",
        "2002::/16",  # 6to4: nothing answers there any more (RFC 7526), and it wraps any IPv4 address
        "3fff::/20",
    )
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")  # how a network without IPv4 reaches every IPv4 site: as good as what it wraps
_SPECIAL_NAMES = frozenset({"localhost", "local", "internal"})  # RFC 6761, RFC 6762, ICANN 2024


class Proxies(msgspec.Struct, frozen=True):
    """Proxy URLs by the scheme of what is asked for; empty for none. `bypass` is written as NO_PROXY is."""

    http: str = ""
    https: str = ""
    bypass: str = ""

    def __post_init__(self) -> None:
        for scheme, proxy in (("http", self.http), ("https", self.https)):
            if proxy and not _is_http(proxy):
                # Without the text itself: it may hold a password.
                message = f"the proxy for {scheme} is not an HTTP proxy; write it as http://user:password@host:port"
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
