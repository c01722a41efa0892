#!/usr/bin/env python3
"""The HTTP frontend's memory for half-sent requests: its limit, who is refused and who gives way. (TAP)"""
import time

from harness import check, equal, run, test
from http_wire import Echo, request

CHUNKED = "Transfer-Encoding: chunked\r\n"


@test
def half_sent_requests_together_never_take_more_than_their_limit():
    limit = 6 << 20
    head = request("/echo", f"Content-Length: {2 << 20}\r\n", "POST")
    with Echo(body_bytes=2 << 20, partial_bytes=limit) as echo:
        wires = [echo.wire().send(head) for _ in range(8)]
        # In small pieces, since it is while a buffer grows that the memory of all might grow past the limit.
        for _ in range(15):
            for wire in wires:
                wire.send(b"x" * (128 << 10))
            stats = echo.stats()
            check(stats["partial_bytes"] <= limit, f"{stats}")
        stats = echo.until(lambda stats: stats["open"] - 1 <= 3, "the others refused")
        check(5 <= stats["partial_refusals"] < 8, f"{stats}")
        check(stats["partial_bytes"] >= 2 << 20, f"{stats}")
        refused = [wire for wire in wires if not wire.is_silent(0.1)]
        equal(len(refused), stats["partial_refusals"])
        equal(echo.ask("/plain"), "ok")
        for wire in wires:
            wire.close()
        equal(echo.until(lambda stats: stats["open"] == 1, "all closed")["partial_bytes"], 0)


@test
def a_half_sent_request_that_is_refused_is_told_to_come_again():
    with Echo(body_bytes=1 << 20, partial_bytes=2 << 20) as echo:
        head = request("/echo", f"Content-Length: {1 << 20}\r\n", "POST")
        first = echo.wire().send(head + b"x" * 1000000)
        echo.until(lambda stats: stats["partial_bytes"] > 1000000, "there")
        second = echo.wire().send(head)
        second.send(b"x" * 1000000)
        reply = second.reply()
        equal((reply.status, reply.headers.get("retry-after")), (503, "1"))
        equal(second.ending(), "fin")
        equal(first.send(b"x" * ((1 << 20) - 1000000)).reply().status, 200)
        first.close()


@test
def the_largest_request_fits_the_smallest_limit_when_it_is_alone():
    with Echo(body_bytes=2 << 20, header_bytes=16384, partial_bytes=(2 << 20) + 16384 + (512 << 10)) as echo:
        fields = f"X: {'y' * 7000}\r\n" * 2
        body = b"x" * (2 << 20)
        whole = request("/echo", f"{fields}Content-Length: {len(body)}\r\n", "POST") + body
        chunked = request("/echo", fields + CHUNKED, "POST") + b"".join(
            b"10000\r\n" + body[:1 << 16] + b"\r\n" for _ in range(32)) + b"0\r\n\r\n"
        for data in (whole, chunked):
            for sizes in ([len(data)], [1000, 70000, len(data)], [30000] * (len(data) // 30000 + 1)):
                with echo.wire() as wire:
                    wire.send_slowly(data, sizes)
                    equal(wire.reply().status, 200, f"{sizes[:3]}")
        equal(echo.stats()["partial_refusals"], 0)


def send_until_refused(echo, size):
    """Half-sent requests of this size, one after the other, until one is refused; returns those that are kept."""
    head = request("/echo", f"Content-Length: {2 * size}\r\n", "POST")
    before, kept = echo.stats()["partial_refusals"], []
    while echo.stats()["partial_refusals"] == before:
        check(len(kept) < 1000, f"a thousand requests of {size} bytes are kept")
        there = echo.stats()["partial_bytes"]
        kept.append(echo.wire().send(head + b"x" * size))
        echo.until(lambda stats: stats["partial_bytes"] >= there + size or stats["partial_refusals"] > before, "it arrived")
    kept.pop().close()
    return kept


@test
def small_requests_in_pieces_are_served_while_large_ones_take_all_the_memory_that_they_may():
    with Echo(body_bytes=2 << 20, partial_bytes=8 << 20) as echo:
        large = send_until_refused(echo, 1 << 20) + send_until_refused(echo, 20 << 10)
        small = [echo.wire().send(request("/echo", "Content-Length: 12000\r\n", "POST") + b"x" * 6000) for _ in range(40)]
        echo.stats()  # answered after the halves were read
        for wire in small:
            equal(wire.send(b"x" * 6000).reply().status, 200)
        for wire in small + large:
            wire.close()


def fill_with_halves(echo, *sizes):
    """Strangers that begin bodies of these sizes and stall, until there is room for none."""
    strangers = [wire for size in sizes for wire in send_until_refused(echo, size)]
    time.sleep(0.7)
    return strangers


@test
def who_has_stalled_gives_way_to_who_sends():
    with Echo(body_bytes=2 << 20, partial_bytes=8 << 20) as echo:
        strangers = fill_with_halves(echo, 200000, 15000)
        image = request("/echo", "Content-Length: 40000\r\n", "POST") + b"x" * 40000
        for _ in range(20):
            with echo.wire() as wire:
                wire.send_slowly(image, [500, 20000])
                equal(wire.reply().status, 200, "an image in pieces")
        # Dripping is stalling, too.
        for _ in range(8):
            for wire in strangers:
                if wire.is_silent(0.001):
                    wire.send(b"x")
            time.sleep(0.1)
        with echo.wire() as wire:
            body = b"x" * (1 << 20)
            wire.send_slowly(request("/echo", f"Content-Length: {len(body)}\r\n", "POST") + body, [100000] * 11)
            equal(wire.reply().status, 200, "a large one")
        pushed = [wire for wire in strangers if not wire.is_silent(0.001)]
        check(pushed, "somebody gave way")
        check(len(pushed) < len(strangers), "not more than needed")
        reply = pushed[0].reply()
        equal((reply.status, reply.headers.get("retry-after")), (503, "1"))
        equal(echo.stats()["partial_bytes"] <= 8 << 20, True)
        for wire in strangers:
            wire.close()
        equal(echo.until(lambda stats: stats["open"] == 1, "all closed")["partial_bytes"], 0)


@test
def who_goes_on_sending_does_not_give_way():
    with Echo(body_bytes=2 << 20, partial_bytes=8 << 20) as echo:
        slow = echo.wire().send(request("/echo", "Content-Length: 300000\r\n", "POST") + b"x" * 200000)
        strangers = fill_with_halves(echo, 200000)
        for _ in range(10):
            slow.send(b"x" * 10000)
            with echo.wire() as wire:
                wire.send_slowly(request("/echo", "Content-Length: 300000\r\n", "POST") + b"x" * 300000, [150000, 150000])
                equal(wire.reply().status, 200, "another")
            time.sleep(0.1)
        equal(slow.reply().status, 200, "who began first and sends slowly")
        for wire in strangers + [slow]:
            wire.close()


@test
def half_sent_requests_together_are_bounded():
    with Echo(body_bytes=8 << 20) as echo:
        wires = [echo.wire().send(request("/echo", f"Content-Length: {8 << 20}\r\n", "POST")) for _ in range(12)]
        for wire in wires:
            wire.send(b"x" * (7 << 20))
        echo.until(lambda stats: stats["refused"] >= 4, "four of 12 times 7 MiB to be refused")
        refused = sum(not wire.is_silent(0.2) and wire.reply().status == 503 for wire in wires)
        check(refused >= 4, f"only {refused} of 12 times 7 MiB were refused")
        for wire in wires:
            wire.close()
        echo.until(lambda stats: stats["open"] == 1, "all others closed")
        with echo.wire() as wire:
            equal(wire.ask("/echo", "", "POST", b"x" * (7 << 20)).status, 200)


run()
