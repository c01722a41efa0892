"""The HTTP frontend against requests made to be misunderstood."""
from harness import check, equal, run, test

import http_hostile
from http_wire import Echo, request, seeded


def refusal(wire, status, name):
    reply = wire.reply()
    equal(reply.status, status, f"{name} {reply.body!r}")
    equal(reply.headers.get("connection"), "close", name)
    equal(reply.json()["status"], status, name)
    equal(wire.ending(), "fin", name)


def check_all(deliver):
    """Each request with a hidden one behind it: exactly one refusal, and nothing seen by the handler."""
    with Echo() as echo:
        for index, (name, status, data) in enumerate(http_hostile.ALL):
            with echo.wire() as wire:
                deliver(wire, data + http_hostile.HIDDEN)
                refusal(wire, status, name)
            equal(echo.stats()["seen"], index + 1, f"seen after {name}")
        stats = echo.stats()
    refused = sum(status != 400 for _, status, _ in http_hostile.ALL)
    equal((stats["bad_requests"], stats["refused"]), (len(http_hostile.ALL) - refused, refused))
    print(f"# {len(http_hostile.ALL)} requests")


@test
def every_hostile_request_in_one_piece_is_refused_and_reaches_nobody():
    check_all(lambda wire, data: wire.send(data))


@test
def every_hostile_request_byte_by_byte_is_refused_and_reaches_nobody():
    check_all(lambda wire, data: wire.send_slowly(data, [1] * 400 + [4096]))


@test
def every_hostile_request_in_random_pieces_is_refused_and_reaches_nobody():
    chance = seeded()
    check_all(lambda wire, data: wire.send_slowly(
        data, [chance.choice([1, 2, 3, 7, 30, 5000]) for _ in range(50)]))


@test
def a_good_request_before_a_hostile_one_is_answered_and_the_hidden_one_is_not():
    with Echo() as echo:
        for name, status, data in http_hostile.ALL:
            with echo.wire() as wire:
                before = echo.stats()["seen"]
                wire.send(request("/plain") + data + http_hostile.HIDDEN)
                equal(wire.reply().status, 200, name)
                refusal(wire, status, name)
            equal(echo.stats()["seen"], before + 2, f"seen after {name}")


@test
def a_refusal_waits_for_the_replies_before_it():
    with Echo() as echo, echo.wire() as wire:
        wire.send(request("/hold/a") + b"GET /plain HTTP/1.1\r\n\r\n" + http_hostile.HIDDEN)
        echo.until_held(1)
        check(wire.is_silent(0.1))
        equal(echo.ask("/release/a"), "1")
        equal(wire.reply().text, "released")
        refusal(wire, 400, "the second")


@test
def a_refused_peer_that_keeps_sending_still_gets_its_refusal():
    # Closing with unread bytes would reset the connection and could destroy the reply on its way.
    with Echo() as echo:
        for _ in range(20):
            with echo.wire() as wire:
                wire.send(request("/plain", "Content-Length: 999999999\r\n", "POST") + b"x" * 300000)
                refusal(wire, 413, "a large body")


@test
def a_peer_that_hangs_up_after_its_refusal_is_not_waited_for():
    with Echo() as echo:
        for _ in range(50):
            with echo.wire() as wire:
                wire.send(b"GARBAGE\r\n\r\n")
                equal(wire.reply().status, 400)
        echo.until(lambda stats: stats["open"] == 1, "all others closed")


@test
def random_garbage_never_stops_the_server():
    chance = seeded()
    with Echo(header_ms=300) as echo:
        for _ in range(500):
            _, _, data = chance.choice(http_hostile.ALL)
            garbled = bytearray(data)
            for _ in range(chance.randrange(1, 4)):
                garbled[chance.randrange(len(garbled))] = chance.randrange(256)
            with echo.wire() as wire:
                wire.send(bytes(garbled) + http_hostile.HIDDEN)
        equal(echo.ask("/plain"), "ok")


if __name__ == "__main__":
    run()
