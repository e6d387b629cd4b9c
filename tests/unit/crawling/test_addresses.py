"""Only the public internet is visited, unless the user says otherwise."""

import socket
import threading

import pytest

from bitrawl.crawling import Routes, is_private_host
from bitrawl.crawling.connections import GuardedResolver, PrivateAddressError, is_public

PRIVATE = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.0.1",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::808:808",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:a9fe:a9fe",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::808:808",
    "100::1",
    "2001::1",
    "2001:0:7f00:1::1",
    "2001:db8::1",
    "2001:10::1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "3fff::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "4000::1",
    "5f00::1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "168.63.129.17",
    "223.255.255.255",
    "2001:4860:4860::8888",
    "2606:4700::1111",
    "2a00:1450:4001::1",
    "2620:4f:8000::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_of_the_public_internet_is_told(address):
    assert not is_public(address)
    assert is_private_host(address)
    assert is_private_host(f"[{address}]")


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_let_through(address):
    assert is_public(address)
    assert not is_private_host(address)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST.", "a.localhost", "metadata.google.internal", "printer.local", "nas.home.arpa"]
)
def test_a_name_that_can_only_be_private_is_told_without_a_resolver(host):
    assert is_private_host(host)


@pytest.mark.parametrize("host", ["example.org", "internal.example.org", "localhost.example.org", "xn--p1ai"])
def test_any_other_name_is_the_resolvers_business(host):
    assert not is_private_host(host)


def names(**known):
    """A name server that knows these."""

    def lookup(host, port, family):
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        kind = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(kind[":" in each], socket.SOCK_STREAM, 6, "", (each, port)) for each in known[host].split()]

    return lookup


async def resolved(resolver, host, port=80):
    try:
        return [(each["host"], each["port"]) for each in await resolver.resolve(host, port)]
    finally:
        await resolver.close()


async def test_a_public_name_that_resolves_to_a_private_address_is_refused():
    resolver = GuardedResolver(Routes({}), lookup=names(rebind="127.0.0.1 10.0.0.1 ::1"))
    with pytest.raises(PrivateAddressError, match="rebind is 127"):
        await resolved(resolver, "rebind")


async def test_of_several_addresses_only_the_public_ones_are_connected_to():
    resolver = GuardedResolver(Routes({}), lookup=names(mixed="10.0.0.1 8.8.8.8 fe80::1 2606:4700::1111"))
    assert await resolved(resolver, "mixed") == [("8.8.8.8", 80), ("2606:4700::1111", 80)]


async def test_private_addresses_are_opened_by_asking_for_it():
    resolver = GuardedResolver(Routes({}), allow_private=True, lookup=names(intranet="10.0.0.1"))
    assert await resolved(resolver, "intranet") == [("10.0.0.1", 80)]


async def test_the_users_own_proxy_may_be_private_at_its_port_only():
    def resolver():
        return GuardedResolver(Routes({}), trusted=[("proxy", 3128)], lookup=names(proxy="10.0.0.9"))

    assert await resolved(resolver(), "proxy", 3128) == [("10.0.0.9", 3128)]
    with pytest.raises(PrivateAddressError):
        await resolved(resolver(), "proxy", 80)


async def test_a_route_overrides_dns_and_is_not_judged():
    routes = Routes({"*.test": "127.0.0.1:8081", "same.port": "127.0.0.1:0"})
    assert await resolved(GuardedResolver(routes), "www.x.test") == [("127.0.0.1", 8081)]
    assert await resolved(GuardedResolver(routes), "same.port", 99) == [("127.0.0.1", 99)]


@pytest.mark.parametrize("host", ["unknown", "a..b", "x" * 64 + ".org"])
async def test_a_name_that_cannot_be_resolved_is_an_os_error(host):
    with pytest.raises(OSError, match=r".") as caught:
        await resolved(GuardedResolver(Routes({}), lookup=names() if host == "unknown" else None), host)
    assert not isinstance(caught.value, PrivateAddressError)


async def test_a_name_server_that_does_not_answer_is_not_waited_for():
    answer = threading.Event()

    def dead(host, port, family):
        answer.wait(10)
        return []

    with pytest.raises(OSError, match="no answer for slow"):
        await resolved(GuardedResolver(Routes({}), seconds=0.01, lookup=dead), "slow")
    answer.set()


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("a.test", 1),
        ("b.a.test", 2),
        ("c.b.a.test", 2),
        ("A.Test", 1),
        ("b.test", 3),
        ("test", 4),
        ("127.0.0.1", None),
        ("::1", None),
    ],
)
def test_the_longest_pattern_counts_and_an_address_is_never_routed(host, port):
    routes = Routes({"a.test": "x:1", "*.a.test": "x:2", "*.test": "x:3", "*": "x:4"})
    assert routes.find(host) == (("x", port) if port else None)
