"""Expanding a body never costs more than its limits."""

import asyncio
import gzip
import tracemalloc
import zlib

import brotli
import pytest

from bitrawl.bodies import MIB, SLICE, Expansion, content_codings, expand, expand_in_slices, prefix, slices
from bitrawl.files import zstd
from bitrawl.reasons import Reason

PAGE = "<!doctype html><p>Æther, ünïcode, 漢字 and the rest of an ordinary page.</p>".encode() * 200
# A running number is all that changes: the most compressible thing that is still a page.
ROWS = b"".join(
    b'<tr class="row"><td class="num">%d</td><td><a href="/item/%d">Buy</a></td></tr>\n' % (n, n) for n in range(32000)
)

CODERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=5),
    "zstd": zstd.compress,
}
coded = pytest.mark.parametrize("coding", CODERS)


@coded
@pytest.mark.parametrize("data", [b"", b"x", PAGE], ids=["empty", "one", "page"])
def test_what_was_compressed_comes_back(coding, data):
    assert expand(CODERS[coding](data), [coding], Expansion(20 * MIB)) == data


@coded
def test_an_ordinary_page_that_compresses_very_well_is_no_bomb(coding):
    assert len(ROWS) > 2 * Expansion(20 * MIB).ratio_from
    assert expand(CODERS[coding](ROWS), [coding], Expansion(20 * MIB)) == ROWS


@coded
def test_a_bomb_is_named_and_costs_little_memory(coding):
    bomb = CODERS[coding](bytes(64 * MIB))
    tracemalloc.start()
    try:
        assert expand(bomb, [coding], Expansion(20 * MIB)) is Reason.BOMB
        assert tracemalloc.get_traced_memory()[1] < 40 * MIB
    finally:
        tracemalloc.stop()


def test_a_bomb_within_a_bomb_is_named():
    assert expand(gzip.compress(gzip.compress(bytes(64 * MIB))), ["gzip", "gzip"], Expansion(20 * MIB)) is Reason.BOMB


@coded
def test_a_body_that_grows_beyond_its_size_is_too_large(coding):
    noise = b"".join(zlib.compress(str(n).encode()) for n in range(20000))
    limits = Expansion(size=len(noise) - 1)
    assert expand(CODERS[coding](noise), [coding], limits) is Reason.TOO_LARGE
    assert expand(CODERS[coding](noise), [coding], Expansion(size=len(noise))) == noise


@coded
@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_a_body_that_is_cut_short_is_refused(coding, share):
    whole = CODERS[coding](PAGE)
    assert expand(whole[: int(len(whole) * share)], [coding], Expansion(20 * MIB)) is Reason.CONTENT_ENCODING


@coded
def test_a_body_that_is_not_what_it_says_is_refused(coding):
    assert expand(PAGE, [coding], Expansion(20 * MIB)) is Reason.CONTENT_ENCODING


def test_deflate_comes_with_and_without_its_wrapper():
    assert expand(zlib.compress(PAGE), ["deflate"], Expansion(20 * MIB)) == PAGE
    assert expand(zlib.compress(PAGE, wbits=-15), ["deflate"], Expansion(20 * MIB)) == PAGE


def test_all_members_of_a_gzip_body_are_read_and_rubbish_after_them_is_not():
    members = gzip.compress(PAGE) + gzip.compress(b"more")
    assert expand(members + b"\0\0rubbish", ["gzip"], Expansion(20 * MIB)) == PAGE + b"more"


def test_half_a_million_empty_members_are_not_a_way_to_keep_us_busy():
    # Each member copies the input at hand: without a limit this took minutes.
    assert expand(gzip.compress(b"") * 500_000, ["gzip"], Expansion(20 * MIB)) == b""


def test_frames_of_zstd_follow_each_other():
    assert expand(zstd.compress(PAGE) + zstd.compress(b"more"), ["zstd"], Expansion(20 * MIB)) == PAGE + b"more"


def test_a_million_empty_frames_are_not_a_way_to_keep_us_busy():
    # Each frame takes a decoder of its own: within gzip, 100 kB held millions of them.
    frames = zstd.compress(PAGE) + zstd.compress(b"") * 1_000_000
    work = slices(gzip.compress(frames, 1), ["zstd", "gzip"], Expansion(20 * MIB, ratio=10_000))
    assert len(list(work)) < 2 * len(frames) // SLICE  # the second layer ends with its thousandth frame
    assert expand(gzip.compress(frames, 1), ["zstd", "gzip"], Expansion(20 * MIB, ratio=10_000)) == PAGE


@pytest.mark.parametrize("codings", [["gzip"], ["deflate"], ["br"], ["zstd"], ["zstd", "gzip"], ["gzip", "br", "zstd"]])
@pytest.mark.parametrize("data", [ROWS * 5, zlib.compress(ROWS) * 50, bytes(15 * MIB)], ids=["rows", "noise", "zeros"])
def test_no_slice_is_large(codings, data):
    payload = data
    for coding in codings:
        payload = CODERS[coding](payload)
    sizes = list(slices(payload, codings, Expansion(20 * MIB, ratio=10**9)))
    # One step of a decoder more than a slice: 1 MiB, with zstd 8.
    assert max(sizes) <= SLICE + (8 * MIB if "zstd" in codings else MIB) + MIB
    assert sum(sizes) >= len(data)


async def test_other_tasks_have_their_turn_while_a_body_is_expanded():
    payload = gzip.compress(zstd.compress(ROWS * 5))
    turns, done = 0, False

    async def heart():
        nonlocal turns
        while not done:
            turns += 1
            await asyncio.sleep(0)

    beating = asyncio.create_task(heart())
    body = await expand_in_slices(payload, ["zstd", "gzip"], Expansion(20 * MIB))
    done = True
    await beating
    assert body == ROWS * 5
    assert turns >= len(list(slices(payload, ["zstd", "gzip"], Expansion(20 * MIB)))) >= 10


@coded
def test_the_start_of_a_body_is_read_from_a_part_of_it(coding):
    whole = CODERS[coding](ROWS + PAGE * 50)
    part = whole if coding in ("br", "zstd") else whole[: len(whole) // 2]
    assert prefix(part, [coding], 1000) == ROWS[:1000]
    assert len(prefix(b"rubbish", [coding], 1000)) < 10  # a raw deflate stream has no mark to fail on


@pytest.mark.parametrize(
    ("header", "codings"),
    [
        ("", ()),
        ("identity", ()),
        ("gzip", ("gzip",)),
        ("X-GZIP", ("gzip",)),
        ("gzip, br", ("gzip", "br")),
        ("gzip,,identity", ("gzip",)),
        ("utf-8", None),
        ("gzip, compress", None),
    ],
)
def test_codings_are_read_from_the_header(header, codings):
    assert content_codings(header) == codings


def test_a_tower_of_codings_is_refused():
    assert expand(b"", ["gzip"] * 4, Expansion(20 * MIB)) is Reason.CONTENT_ENCODING
