"""Why no answer came: foreign errors as a `Skip`, with the cause in words and the proxy told apart from the host."""

import errno
import socket
import ssl

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from bitrawl.crawl.addresses import PrivateAddressError
from bitrawl.crawl.proxies import proxy_name
from bitrawl.model import Reason, Skip, Stage
from bitrawl.url import Url, without_credentials

FOREIGN = (aiohttp.ClientError, HttpProcessingError, OSError, ValueError, EOFError)
"""What aiohttp and the socket raise for what the web does."""

MAX_DETAIL = 200  # characters; judgement: a line or two of a terminal


def failure(url: Url, error: Exception, proxy: URL | None) -> Skip:
    """What that error means for that URL, asked for through that proxy."""
    if proxy is not None and (said := _of_the_proxy(error, proxy)):
        return _skip(url, Reason.PROXY, f"the proxy {proxy_name(proxy)} {said}")
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, PrivateAddressError):
        return _skip(url, Reason.PRIVATE_ADDRESS, str(cause))
    reason = next((reason for kinds, reason in _REASONS if isinstance(error, kinds)), Reason.HTTP_ERROR)
    return _skip(url, reason, _in_words(url, reason, error, cause))


def proxy_refusal(url: Url, proxy: URL) -> Skip:
    """The proxy answered 407 in place of the host."""
    return _skip(url, Reason.PROXY, f"the proxy {proxy_name(proxy)} {_WANTS_A_PASSWORD}")


_WANTS_A_PASSWORD = "wants a user name and a password, or others than those given (407)"  # noqa: S105

# The first that fits.
_REASONS: tuple[tuple[tuple[type[Exception], ...], Reason], ...] = (
    ((TimeoutError,), Reason.TIMEOUT),
    ((aiohttp.ClientSSLError, ssl.SSLError), Reason.TLS),
    ((aiohttp.ClientConnectorDNSError,), Reason.DNS),
    ((aiohttp.ClientResponseError, HttpProcessingError, aiohttp.InvalidURL), Reason.HTTP_ERROR),
    ((aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, OSError, EOFError), Reason.CONNECTION),
)
_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})


def _of_the_proxy(error: Exception, proxy: URL) -> str:
    """What the proxy did; empty where the error is not about it."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        said = f"{error.status} {error.message}".strip()
        return _WANTS_A_PASSWORD if error.status == 407 else f"could not connect to the host ({said})"
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return "did not answer in time"
    if not isinstance(error, aiohttp.ClientConnectorError) or error.host != proxy.host:
        return ""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"cannot be reached: {_unresolved(proxy.host or '', error.os_error)}"
    return f"cannot be reached: {_plain(error.os_error)}"


def _in_words(url: Url, reason: Reason, error: Exception, cause: Exception) -> str:
    host = url.host
    if reason is Reason.DNS:
        return _unresolved(host.partition(":")[0], cause)
    if reason is Reason.TLS:
        return f"no secure connection to {host} (TLS): {_tls(error)}"
    if reason is Reason.TIMEOUT:
        got_through = not isinstance(error, aiohttp.ConnectionTimeoutError)
        return f"no complete answer from {host} in time" if got_through else f"no connection to {host} in time"
    if reason is Reason.HTTP_ERROR:
        return f"the answer of {host} is not valid HTTP{_said(getattr(cause, 'message', '') or cause)}"
    return _unconnected(host, cause)


def _unconnected(host: str, cause: Exception) -> str:
    if isinstance(cause, OSError) and (cause.errno in _NO_ROUTE or isinstance(cause, ConnectionRefusedError)):
        return f"no connection to {host}: {_plain(cause)}"
    before_the_end = isinstance(cause, aiohttp.ClientPayloadError)
    return f"the connection to {host} broke off{' before the end of the answer' if before_the_end else _said(cause)}"


def _unresolved(name: str, cause: Exception) -> str:
    if isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_AGAIN:
        return f"the address of {name} could not be looked up: no name server answered (DNS)"
    if isinstance(cause, OSError) and cause.errno is None:  # of our own resolver, in words
        return f"{cause.strerror} (DNS)"
    return f"{name} has no address (DNS)"


def _plain(cause: OSError) -> str:
    if isinstance(cause, ConnectionRefusedError):
        return "connection refused"
    if cause.errno in _NO_ROUTE:
        return "the network is unreachable"
    return (cause.strerror or str(cause) or type(cause).__name__).lower()


def _tls(error: Exception) -> str:
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"the certificate is not valid: {cause.verify_message}"
    return str(getattr(cause, "reason", "") or cause).replace("_", " ").lower()


def _said(error: object) -> str:
    text = str(error).partition("\n")[0].strip(" :")
    return f" ({text})" if text else ""


def _skip(url: Url, reason: Reason, detail: str) -> Skip:
    return Skip(url, Stage.FETCH, reason, without_credentials(" ".join(detail.split()))[:MAX_DETAIL])
