"""The HTTP frontend as good clients see it, and as clients come and go."""
import os
import socket
import stat
import tempfile

from harness import TIMEOUT, check, contains, equal, run, test, wait_until

from http_wire import Echo, Wire, fields, fnv, request, seeded

CHUNKED = "Transfer-Encoding: chunked\r\n"


# --- one request ------------------------------------------------------------------------------------


@test
def a_request_reaches_the_handler_whole():
    lines = ("Content-Type: text/x\r\nAuthorization: Bearer  k \r\nIDEMPOTENCY-KEY: i\r\nx-request-id: r\r\n"
             "Prefer: wait=3\r\nAccept: a/b\r\nOrigin: https://o\r\nX-Unknown: u\r\nPrefer: wait=5\r\n")
    with Echo() as echo, echo.wire() as wire:
        equal(fields(wire.ask("/echo?a=b&c=%20", lines, "POST", b"the body")), {
            "method": "POST", "path": "/echo", "query": "a=b&c=%20", "content_type": "text/x",
            "authorization": "Bearer  k", "idempotency_key": "i", "x_request_id": "r", "prefer": "wait=5",
            "origin": "https://o", "peer": "127.0.0.1",
            "body_bytes": "8", "body_hash": fnv(b"the body")})


@test
def a_reply_has_status_date_type_and_length():
    with Echo() as echo, echo.wire() as wire:
        wire.send(request("/plain"))
        head = wire.head_reply().split("\r\n")
        equal(head[0], "HTTP/1.1 200 OK")
        check(head[1].startswith("Date: ") and head[1].endswith(" GMT"), head[1])
        equal(head[2:], ["Content-Type: text/plain", "Content-Length: 2"])
        wire.send(request("/odd"))
        wire.buffer = wire.buffer[2:]
        contains(wire.head_reply(), "HTTP/1.1 299 ")


@test
def requests_that_arrive_byte_by_byte_are_the_same_requests():
    body = bytes(range(256)) * 3
    plain = request("/echo?q", "Content-Type: t/t\r\n", "POST", body)
    chunked = request("/echo?q", "Content-Type: t/t\r\n" + CHUNKED, "POST") + b"".join(
        b"%x;ext=1\r\n%s\r\n" % (len(part), part) for part in (body[:1], body[1:300], body[300:])
    ) + b"0\r\nX-Trailer: t\r\n\r\n"
    with Echo() as echo, echo.wire() as wire:
        want = wire.send(plain).reply().text
        equal(fields(wire.send(chunked).reply()), dict(line.split("=", 1) for line in want.splitlines()))
        for data in (plain, chunked):
            equal(wire.send_slowly(data, [1]).reply().text, want)


@test
def requests_in_random_pieces_are_the_same_requests():
    chance = seeded()
    with Echo() as echo, echo.wire() as wire:
        sent, expected = b"", []
        for _ in range(300):
            body = chance.randbytes(chance.choice([0, 1, 50, 3000]))
            if chance.random() < 0.5:
                cuts = sorted(chance.randrange(len(body) + 1) for _ in range(3))
                parts = [part for part in (body[:cuts[0]], body[cuts[0]:cuts[1]], body[cuts[1]:cuts[2]], body[cuts[2]:])
                         if part]
                sent += request("/echo", CHUNKED, "POST")
                sent += b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
            else:
                sent += request("/echo", "", "POST", body)
            expected.append((str(len(body)), fnv(body)))
        at = 0
        while at < len(sent):
            step = chance.choice([1, 20, 500, 5000, 100000])
            wire.send(sent[at:at + step])
            at += step
        for length, digest in expected:
            seen = fields(wire.reply())
            equal((seen["body_bytes"], seen["body_hash"]), (length, digest))


@test
def a_large_body_arrives_whole():
    body = os.urandom(1) * 1500000
    with Echo() as echo, echo.wire() as wire:
        equal(fields(wire.ask("/echo", "", "POST", body))["body_hash"], fnv(body))
        equal(len(wire.ask("/big/3000000").body), 3000000)


@test
def targets_in_all_their_forms_are_understood():
    with Echo() as echo, echo.wire() as wire:
        for target, path, query in (("http://other:80/echo?a=b", "/echo", "a=b"), ("https://other/echo", "/echo", None),
                                    ("/echo#fragment", "/echo", None), ("/echo?a=b#c?d", "/echo", "a=b"),
                                    ("/echo?", "/echo", ""), ("/echo?a?b", "/echo", "a?b")):
            seen = fields(wire.ask(target))
            equal((seen["path"], seen.get("query")), (path, query), target)
        equal(wire.ask("http://other").status, 404)
        equal(wire.ask("http://other?a").status, 404)
        equal(wire.ask("*", method="OPTIONS").status, 404)
        equal(wire.ask("/echo", method="PATCH").text.splitlines()[0], "method=OTHER")


@test
def one_empty_line_before_a_request_is_forgiven():
    with Echo() as echo, echo.wire() as wire:
        wire.send(request("/echo", "", "POST", b"ab") + b"\r\n" + request("/plain"))
        equal([wire.reply().status, wire.reply().text], [200, "ok"])
        wire.send_slowly(b"\r\n" + request("/plain"), [1])
        equal(wire.reply().text, "ok")


@test
def an_upgrade_is_ignored_and_what_follows_is_a_request():
    lines = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"
    with Echo() as echo, echo.wire() as wire:
        wire.send(request("/plain", lines) + request("/echo", lines, "POST", b"body") +
                  request("/echo", lines + CHUNKED, "POST") + b"2\r\nab\r\n0\r\n\r\n" + request("/plain"))
        equal([wire.reply().status for _ in range(4)], [200] * 4)
        equal(echo.stats()["bad_requests"], 0)


@test
def head_has_the_length_and_no_body_and_204_has_neither():
    with Echo() as echo, echo.wire() as wire:
        wire.send(request("/big/70000", method="HEAD") + request("/none") + request("/plain"))
        contains(wire.head_reply(), "\r\nContent-Length: 70000")
        none = wire.reply()
        equal((none.status, none.headers.get("content-length")), (204, None))
        equal(wire.reply().text, "ok")


@test
def expectations_are_answered_before_the_body_comes():
    with Echo() as echo, echo.wire() as wire:
        wire.send(request("/echo", "Expect: 100-continue\r\nContent-Length: 2\r\n", "POST"))
        equal(wire.reply().status, 100)
        equal(fields(wire.send(b"ab").reply())["body_bytes"], "2")
        wire.send(request("/echo", "Expect: 100-Continue\r\n" + CHUNKED, "POST"))
        equal(wire.reply().status, 100)
        equal(fields(wire.send(b"2\r\nab\r\n0\r\n\r\n").reply())["body_bytes"], "2")
        # With the body already there, or from an HTTP/1.0 client, there is nothing to answer.
        equal(wire.ask("/echo", "Expect: 100-continue\r\n", "POST", b"ab").status, 200)
        wire.send(request("/echo", "Expect: 100-continue\r\nConnection: keep-alive\r\nContent-Length: 2\r\n",
                          "POST", version="1.0"))
        check(wire.is_silent(0.1))
        equal(wire.send(b"ab").reply().status, 200)


@test
def an_expectation_behind_a_held_request_is_answered_in_its_turn():
    with Echo() as echo, echo.wire() as wire:
        wire.send(request("/hold/a") + request("/echo", "Expect: 100-continue\r\nContent-Length: 2\r\n", "POST"))
        echo.until_held(1)
        check(wire.is_silent(0.1))
        echo.ask("/release/a")
        equal([wire.reply().text, wire.reply().status], ["released", 100])
        equal(wire.send(b"ab").reply().status, 200)


# --- several requests -------------------------------------------------------------------------------


@test
def connections_stay_open_or_close_as_the_versions_say():
    with Echo() as echo:
        for version, lines, stays, says in (("1.1", "", True, None), ("1.1", "Connection: close\r\n", False, "close"),
                                            ("1.1", "Connection: x, Close\r\n", False, "close"),
                                            ("1.0", "", False, "close"),
                                            ("1.0", "Connection: keep-alive\r\n", True, "keep-alive"),
                                            ("1.0", "Connection: close, keep-alive\r\n", False, "close")):
            with echo.wire() as wire:
                reply = wire.send(request("/plain", lines, version=version)).reply()
                equal(reply.headers.get("connection"), says, f"{version} {lines!r}")
                if stays:
                    equal(wire.ask("/plain").text, "ok")
                else:
                    equal(wire.ending(), "fin")
        with echo.wire() as wire:
            equal(wire.ask("/close").headers["connection"], "close")
            equal(wire.ending(), "fin")
        with echo.wire() as wire:
            equal(wire.send(b"GET /plain HTTP/1.0\r\n\r\n").reply().status, 200)


@test
def nothing_is_served_after_a_request_that_closes():
    with Echo() as echo, echo.wire() as wire:
        wire.send(request("/plain", "Connection: close\r\n") + request("/plain") * 3)
        equal(wire.reply().text, "ok")
        equal(wire.ending(), "fin")
        equal(echo.stats()["requests"], 2)


@test
def a_thousand_pipelined_requests_are_answered_in_order():
    with Echo() as echo, echo.wire() as wire:
        wire.send(b"".join(request(f"/echo?{i}") for i in range(1000)))
        equal([fields(wire.reply())["query"] for _ in range(1000)], [str(i) for i in range(1000)])


@test
def pipelined_requests_with_large_replies_wait_for_a_slow_reader():
    with Echo() as echo, echo.wire() as wire:
        wire.send(request("/big/500000") * 100)
        check(len(wire.reply().body) == 500000)
        # It must not work ahead of what the peer takes.
        check(echo.stats()["requests"] < 60, "it answered all")
        for _ in range(99):
            equal(len(wire.reply().body), 500000)
        equal(echo.stats()["requests"], 102)


@test
def replies_given_out_of_order_leave_in_order():
    with Echo() as echo, echo.wire() as wire:
        wire.send(request("/hold/a") + request("/plain") + request("/hold/b") + request("/echo?4") + request("/later/1"))
        echo.until_held(2)
        check(wire.is_silent(0.1))
        equal(echo.ask("/release/b"), "1")
        check(wire.is_silent(0.1))
        equal(echo.ask("/release/a"), "1")
        equal([wire.reply().text for _ in range(3)], ["released", "ok", "released"])
        equal(fields(wire.reply())["query"], "4")
        equal(wire.reply().text, "later")


@test
def no_more_requests_are_taken_than_may_wait():
    with Echo(pipeline=3) as echo, echo.wire() as wire:
        wire.send(request("/hold/a") * 10)
        stats = echo.until_held(3)
        equal(stats["requests"] - stats["seen"], 0)
        check(wire.is_silent(0.1))
        for _ in range(3):
            equal(echo.ask("/release/a"), "3")
            echo.until(lambda stats: stats["waiting"] > 0, "the next")
        equal(echo.ask("/release/a"), "1")
        equal([wire.reply().text for _ in range(10)], ["released"] * 10)


@test
def a_closing_reply_ends_what_was_asked_after_it():
    with Echo() as echo, echo.wire() as wire:
        wire.send(request("/hold/a") + request("/close") + request("/hold/b"))
        echo.until_held(1)
        equal(echo.ask("/release/a"), "1")
        equal([wire.reply().text, wire.reply().text], ["released", "bye"])
        equal(wire.ending(), "fin")


@test
def a_storm_of_answers_reaches_everybody():
    with Echo() as echo:
        wires = [echo.wire().send(request("/hold/a") + request("/hold/a")) for _ in range(400)]
        echo.until_held(800)
        equal(echo.ask("/release/a"), "800")
        for wire in wires:
            equal([wire.reply().text, wire.reply().text], ["released", "released"])
            wire.close()


@test
def an_answer_given_just_before_the_loop_sleeps_is_sent_at_once():
    with Echo() as echo, echo.wire() as wire:
        for _ in range(3):
            equal(wire.ask("/prepared").text, "prepared")


# --- callers come and go ----------------------------------------------------------------------------


@test
def a_caller_that_hangs_up_is_gone():
    with Echo() as echo:
        for leave in (Wire.close, Wire.reset):
            wires = [echo.wire().send(request("/hold/a") + request("/hold/a")) for _ in range(20)]
            before = echo.until_held(40)["gone"]
            for wire in wires:
                leave(wire)
            equal(echo.until_held(0)["gone"] - before, 40)
        echo.until(lambda stats: stats["open"] == 1, "all others closed")


@test
def a_caller_that_hangs_up_with_requests_ahead_is_gone():
    with Echo(pipeline=2) as echo:
        wire = echo.wire().send(request("/hold/a") * 5 + b"GET /half")
        echo.until_held(2)
        wire.close()
        equal(echo.until_held(0)["gone"], 2)


@test
def a_caller_that_shuts_its_sending_side_still_gets_a_quick_answer():
    with Echo() as echo:
        with echo.wire() as wire:
            wire.send(request("/plain") + request("/echo?b")).end()
            equal([wire.reply().text, fields(wire.reply())["query"]], ["ok", "b"])
            equal(wire.ending(), "fin")
        with echo.wire() as wire:
            wire.send(request("/later/30")).end()
            equal(wire.reply().text, "later")
            equal(wire.ending(), "fin")
        with echo.wire() as wire:
            wire.send(request("/hold/a")).end()
            equal(wire.ending(), "fin")
        equal(echo.stats()["gone"], 1)


@test
def a_request_that_is_cut_off_is_refused():
    with Echo() as echo:
        for data in (b"GET /pl", request("/echo", "Content-Length: 5\r\n", "POST") + b"ab"):
            with echo.wire() as wire:
                equal(wire.send(data).end().reply().status, 400)
                equal(wire.ending(), "fin")
        equal(echo.stats()["seen"], 1)


# --- who is asking ----------------------------------------------------------------------------------


def peer(wire, lines):
    return fields(wire.ask("/echo", lines))["peer"]


@test
def a_forwarded_address_from_anybody_is_not_believed():
    with Echo(trust="10.0.0.0/8") as echo, echo.wire() as wire:
        equal(peer(wire, "X-Forwarded-For: 1.2.3.4\r\n"), "127.0.0.1")


@test
def a_trusted_proxy_names_the_client():
    with Echo(trust="127.0.0.0/8") as echo, echo.wire() as wire:
        for forwarded, expected in (("1.2.3.4", "1.2.3.4"), ("6.6.6.6, 1.2.3.4", "1.2.3.4"),
                                    ("6.6.6.6, 1.2.3.4, 127.0.0.9", "1.2.3.4"), ("127.0.0.9", "127.0.0.9"),
                                    ("junk, 1.2.3.4,127.0.0.9", "1.2.3.4"), ("1.2.3.4, junk", "127.0.0.1"),
                                    ("1.2.3.4, junk, 127.0.0.9", "127.0.0.9"), ("", "127.0.0.1"),
                                    ("2001:DB8::1", "2001:db8::1"), ("[2001:db8::1]:80", "2001:db8::1"),
                                    ("1.2.3.4:80", "1.2.3.4"), ("::ffff:1.2.3.4", "1.2.3.4"), (",", "127.0.0.1"),
                                    ("1.2.3.4,", "127.0.0.1"), ("1" * 60, "127.0.0.1"), ("[::1", "127.0.0.1")):
            equal(peer(wire, f"X-Forwarded-For: {forwarded}\r\n"), expected, forwarded)
        # Of several lines the last counts: the proxy next to us wrote it.
        equal(peer(wire, "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 1.2.3.4\r\n"), "1.2.3.4")
        equal(peer(wire, ""), "127.0.0.1")


@test
def ipv6_is_served():
    with Echo("[::1]:0") as echo:
        line = echo.wait_line(r"ready http://\[::1\]:(\d+)")
        with Wire(("::1", int(line.rsplit(":", 1)[1])), socket.AF_INET6) as wire:
            equal(peer(wire, ""), "::1")


# --- listeners --------------------------------------------------------------------------------------


@test
def a_unix_socket_is_served_private_and_removed():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "gate.sock")
        with Echo("unix:" + path, trust="127.0.0.1/32") as echo:
            equal(echo.wait_line("unix:"), "ready unix:" + path)
            equal(stat.S_IMODE(os.stat(path).st_mode), 0o660)
            with Wire(path, socket.AF_UNIX) as wire:
                equal([peer(wire, ""), peer(wire, "X-Forwarded-For: 1.2.3.4\r\n")], ["unix", "1.2.3.4"])
        check(not os.path.exists(path), "the socket file stayed")


@test
def a_stale_unix_socket_is_replaced_and_a_live_one_is_not():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "gate.sock")
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(path)
        with Echo("unix:" + path) as echo:
            equal(echo.wait_line("unix:"), "ready unix:" + path)
            with Echo("unix:" + path) as second:
                contains(second.wait_line("unix:"), "address already in use")
            check(os.path.exists(path), "the loser removed the winner's socket")
            # A successor's socket under the same name is not ours to remove.
            os.unlink(path)
            with socket.socket(socket.AF_UNIX) as successor:
                successor.bind(path)
                echo.stop()
                check(os.path.exists(path), "the successor's socket was removed")


@test
def what_cannot_be_listened_on_is_named():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        with open(path, "w", encoding="ascii") as file:
            file.write("precious")
        wrong = ["127.0.0.1", "127.0.0.1:70000", "127.0.0.1:x", "localhost:1", "[::1]", "::1:80", "[::1:80", "", "unix:",
                 "unix:" + "x" * 200, "unix:" + path, "unix:/no/such/folder/x", "192.0.2.1:1"]
        with Echo(*wrong) as echo:
            wait_until(lambda: sum("failed" in line for line in echo.output()) == len(wrong), "all to fail")
            contains(echo.wait_line("70000"), "cannot listen on 127.0.0.1:70000: invalid argument")
            equal(echo.ask("/plain"), "ok")
        with open(path, encoding="ascii") as file:
            equal(file.read(), "precious")


@test
def draining_answers_what_is_open_and_ends_the_rest():
    with Echo() as echo:
        idle, held, two, half = [echo.wire() for _ in range(4)]
        idle.ask("/plain")
        held.send(request("/hold/a"))
        two.send(request("/hold/a") + request("/hold/a"))
        half.send(request("/plain") + b"GET /release/a HT")
        equal(half.reply().text, "ok")  # it has read what came with it, too
        echo.until_held(3)
        equal(echo.ask("/drain"), "draining")
        equal(idle.ending(), "fin")
        reply = half.send(b"TP/1.1\r\nHost: x\r\n\r\n").reply()
        equal((reply.text, reply.headers.get("connection")), ("3", "close"))
        equal(half.ending(), "fin")
        reply = held.reply()
        equal((reply.text, reply.headers.get("connection")), ("released", "close"))
        equal(held.ending(), "fin")
        equal([two.reply().headers.get("connection"), two.reply().headers.get("connection")], [None, "close"])
        try:
            echo.wire()
            check(False, "it still accepts")
        except ConnectionRefusedError:
            pass


@test
def draining_waits_a_moment_for_the_first_request_of_a_new_connection():
    with Echo() as echo:
        new, silent, used = [echo.wire() for _ in range(3)]
        used.ask("/plain")
        equal(echo.ask("/drain"), "draining")
        equal(used.ending(), "fin")
        reply = new.send(request("/plain")).reply()
        equal((reply.text, reply.headers.get("connection")), ("ok", "close"))
        equal((new.ending(), silent.ending()), ("fin", "fin"))


@test
def closing_the_server_inside_a_handler_is_clean():
    with Echo() as echo:
        wires = [echo.wire().send(request("/hold/a")) for _ in range(5)]
        echo.until_held(5)
        with echo.wire() as wire:
            wire.send(request("/plain") + request("/abort") + request("/plain"))
            wires[0].rest()
        equal(echo.process.wait(TIMEOUT), 0)


if __name__ == "__main__":
    run()
