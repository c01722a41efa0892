"""The HTTP frontend's limits: sizes, deadlines, connections, memory."""
import json
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import threading
import time

from harness import TIMEOUT, Skip, allow_files, check, equal, run, test, wait_until

from http_wire import Echo, fields, request

CHUNKED = "Transfer-Encoding: chunked\r\n"


def is_sanitized():
    with open(os.environ.get("HTTP_ECHO", os.devnull), "rb") as file:
        return b"__asan_init" in file.read()


# --- sizes ------------------------------------------------------------------------------------------


@test
def a_body_that_is_too_large_is_refused_before_it_is_read():
    with Echo(body_bytes=1000) as echo:
        with echo.wire() as wire:
            equal(fields(wire.ask("/echo", "", "POST", b"x" * 1000))["body_bytes"], "1000")
            reply = wire.send(request("/echo", "Content-Length: 1001\r\n", "POST")).reply()
            equal((reply.status, wire.ending()), (413, "fin"))
        with echo.wire() as wire:
            wire.send(request("/echo", "Expect: 100-continue\r\nContent-Length: 1001\r\n", "POST"))
            equal((wire.reply().status, wire.ending()), (413, "fin"))
        with echo.wire() as wire:
            wire.send(request("/echo", CHUNKED, "POST") + b"3e8\r\n" + b"x" * 1000 + b"\r\n")
            check(wire.is_silent(0.05))
            equal((wire.send(b"1\r\n").reply().status, wire.ending()), (413, "fin"))
        with echo.wire() as wire:
            body = b"".join(b"1\r\n%c\r\n" % byte for byte in range(250)) * 4
            equal(fields(wire.send(request("/echo", CHUNKED, "POST") + body + b"0\r\n\r\n").reply())["body_bytes"], "1000")
        stats = echo.stats()
        equal((stats["seen"], stats["refused"]), (3, 3))


@test
def a_url_that_is_too_long_is_refused():
    with Echo(url_bytes=100) as echo:
        with echo.wire() as wire:
            equal(wire.ask("/" + "x" * 99).status, 404)
            equal((wire.ask("/" + "x" * 100).status, wire.ending()), (414, "fin"))
        with echo.wire() as wire:  # before its end is there
            equal((wire.send(b"GET /" + b"x" * 200).reply().status, wire.ending()), (414, "fin"))


@test
def a_header_that_is_too_large_is_refused():
    line = "X: " + "y" * 95 + "\r\n"  # 100 bytes
    with Echo(header_bytes=1050) as echo:
        with echo.wire() as wire:
            equal(wire.ask("/plain", line * 10).status, 200)
            equal((wire.ask("/plain", line * 11).status, wire.ending()), (431, "fin"))
        for data in (b"GET / HTTP/1.1\r\nX: " + b"y" * 2000,  # without an end
                     b"GET / HTTP/1.1\r\n" + b"y" * 2000,
                     b"GET / HTTP/1.1\r\nHost: x\r\nX:" + b" " * 20000 + b"\r\n\r\n",  # white space counts
                     b"GET / HTTP/1.1\r\nX:" + b" " * 20000):
            for size in (700, len(data)):
                with echo.wire() as wire:
                    wire.send_slowly(data, [size])
                    equal((wire.reply().status, wire.ending()), (431, "fin"), data[:30])


@test
def too_many_header_fields_are_refused():
    with Echo() as echo, echo.wire() as wire:
        equal(wire.ask("/plain", "X: y\r\n" * 63).status, 200)  # and Host
        equal((wire.ask("/plain", "X: y\r\n" * 64).status, wire.ending()), (431, "fin"))


# --- deadlines --------------------------------------------------------------------------------------


@test
def a_slow_header_is_refused_in_time_however_it_drips():
    with Echo(header_ms=300) as echo:
        for drip in (False, True):
            with echo.wire() as wire:
                started = time.monotonic()
                wire.send(b"GET /plain HTTP/1.1\r\nHost: x\r\n")
                # One that grows with each drop would never end; a busy machine is some seconds late.
                while drip and wire.is_silent(0.02):
                    check(time.monotonic() - started < TIMEOUT, "it drips on")
                    wire.send(b"X: y\r\n")
                reply = wire.reply()
                took = time.monotonic() - started
                equal((reply.status, reply.headers["connection"]), (408, "close"))
                check(0.25 < took, f"after {took:.2f} s")
                equal(wire.ending(), "fin")
        equal(echo.stats()["timeouts"], 2)


@test
def a_slow_body_is_refused_in_time_however_it_drips():
    with Echo(body_ms=300) as echo:
        for lines, piece in (("Content-Length: 1000\r\n", b"x"), (CHUNKED, b"1\r\nx\r\n"), (CHUNKED, b"0")):
            with echo.wire() as wire:
                started = time.monotonic()
                wire.send(request("/echo", lines, "POST"))
                while wire.is_silent(0.02):
                    check(time.monotonic() - started < TIMEOUT, "it drips on")
                    wire.send(piece)
                equal(wire.reply().status, 408)
                took = time.monotonic() - started
                check(0.25 < took, f"after {took:.2f} s")
        equal(echo.stats()["seen"], 1)


@test
def the_deadline_of_a_request_does_not_count_for_the_next():
    with Echo(header_ms=4000) as echo, echo.wire() as wire:
        data = request("/plain")
        wire.send(data[:10])
        for _ in range(10):  # always half a request on the wire, for longer than the deadline
            time.sleep(0.5)
            equal(wire.send(data[10:] + data[:10]).reply().text, "ok")


@test
def an_idle_connection_is_closed_without_a_word():
    with Echo(idle_ms=3000) as echo:
        with echo.wire() as fresh, echo.wire() as used, echo.wire() as lead:
            lead.send(b"\r\n")
            started = time.monotonic()
            equal(used.ask("/plain").text, "ok")
            equal(used.ending(), "fin")
            check(2.9 < time.monotonic() - started, "too early")
            equal([fresh.ending(), lead.ending()], ["fin", "fin"])
        equal(echo.stats()["timeouts"], 0)


@test
def a_busy_connection_is_not_idle():
    with Echo(idle_ms=3000) as echo, echo.wire() as wire:
        for _ in range(8):
            time.sleep(0.5)
            equal(wire.ask("/plain").text, "ok")
        wire.send(request("/later/4000"))  # held requests have no deadline of ours
        equal(wire.reply().text, "later")


@test
def a_reader_that_does_not_read_is_closed():
    with Echo(write_ms=300) as echo:
        wire = echo.wire().send(request("/big/30000000"))
        echo.until(lambda stats: stats["open"] == 1 and stats["timeouts"] == 1, "closed")
        try:
            equal(len(wire.rest()) < 30000000, True)
        except ConnectionResetError:
            pass


@test
def a_reader_that_reads_slowly_but_steadily_is_served():
    with Echo(write_ms=3000) as echo, echo.wire() as wire:
        wire.send(request("/big/30000000"))
        started = time.monotonic()
        got = 0
        while got < 30000000:
            data = wire.socket.recv(1 << 19)
            check(data, f"closed after {got} bytes")
            got += len(data)
            time.sleep(0.1 if time.monotonic() - started < 6 else 0)
        check(time.monotonic() - started > 4, "too fast to show anything")


@test
def requests_behind_a_held_one_wait_when_their_replies_pile_up():
    with Echo(pipeline=100) as echo, echo.wire() as wire:
        wire.send(request("/hold/a") + request("/big/100000") * 50)
        check(wire.is_silent(0.2))
        check(echo.stats()["requests"] < 10, "it worked ahead")
        equal(echo.ask("/release/a"), "1")
        equal(wire.reply().text, "released")
        equal([len(wire.reply().body) for _ in range(50)], [100000] * 50)


@test
def held_replies_that_pile_up_behind_a_held_one_close_the_connection():
    with Echo(pipeline=100) as echo, echo.wire() as wire:
        wire.send(request("/hold/a") + request("/hold/big") * 50)
        echo.until_held(51)
        equal(echo.ask("/release/big"), "50")
        check(wire.ending() in ("fin", "reset"))
        equal(echo.until_held(0)["gone"], 1)


@test
def unread_replies_together_are_bounded_and_who_holds_most_is_closed_first():
    # The kernel takes a little of each reply; the rest of them stays in the server.
    limit = 48 << 20
    with Echo(unsent_bytes=limit) as echo, echo.wire() as modest:
        modest.send(request("/big/3000000"))
        idlers = []
        for count in range(1, 13):
            idlers.append(echo.wire().send(request("/big/24000000")))
            stats = echo.until(lambda stats, count=count: stats["requests"] > count + 1, "taken")
            check(stats["unsent_bytes"] <= limit, f"{stats} after {count}")
        check(6 <= stats["unread"] <= 11, f"{stats}")
        equal(idlers[0].ending(), "reset")
        equal(len(modest.reply().body), 3000000)
        for wire in idlers:
            wire.close()
        echo.until(lambda stats: stats["open"] == 2 and stats["unsent_bytes"] == 0, "all closed and nothing unsent")


@test
def who_goes_on_reading_is_not_closed_for_those_who_do_not():
    with Echo(unsent_bytes=48 << 20) as echo, echo.wire() as reader:
        reader.send(request("/big/24000000"))
        idlers, got = [], 0
        while got < 24000000:
            data = reader.socket.recv(1 << 20)
            check(data, f"closed after {got} bytes")
            got += len(data)
            if len(idlers) < 12:
                idlers.append(echo.wire().send(request("/big/24000000")))
                echo.until(lambda stats: stats["requests"] > len(idlers), "taken")
        check(echo.stats()["unread"] >= 6, "nobody was closed, which shows nothing")
        for wire in idlers:
            wire.close()


@test
def replies_that_wait_behind_a_held_one_count_as_unsent():
    with Echo(unsent_bytes=1 << 20) as echo:
        wires = [echo.wire().send(request("/hold/a") + request("/big/100000") * 2) for _ in range(20)]
        stats = echo.until(lambda stats: stats["gone"] >= 15, "closed")
        check(stats["gone"] == stats["unread"] and stats["unsent_bytes"] <= 1 << 20, f"{stats}")
        equal(echo.ask("/release/a"), str(20 - stats["gone"]))
        equal(wires[-1].reply().text, "released")
        for wire in wires:
            wire.close()
        echo.until(lambda stats: stats["unsent_bytes"] == 0, "nothing unsent")


@test
def input_that_waited_during_a_stall_is_read_before_anybody_is_late():
    with Echo(header_ms=3000, idle_ms=3000) as echo, echo.wire() as half, echo.wire() as idle:
        half.send(b"GET /plain HTTP/1.1\r\n")
        equal(idle.ask("/plain").text, "ok")
        echo.process.send_signal(signal.SIGSTOP)
        half.send(b"Host: x\r\n\r\n")
        idle.send(request("/plain"))
        time.sleep(4)
        echo.process.send_signal(signal.SIGCONT)
        equal([half.reply().status, idle.reply().status], [200, 200])


# --- turns ------------------------------------------------------------------------------------------


def crowd(echo, count, opening=b""):
    """So many connections, accepted and their bytes read."""
    sockets = []
    for _ in range(count):
        one = socket.create_connection(("127.0.0.1", echo.port))
        one.sendall(opening)
        sockets.append(one)
    echo.until(lambda stats: stats["accepted"] >= count and stats["bytes_in"] >= count * len(opening), "all accepted")
    echo.stats()  # the longest turn counts from here
    return sockets


def stop_for(echo, seconds, action=lambda: None):
    echo.process.send_signal(signal.SIGSTOP)
    action()
    time.sleep(seconds)
    echo.process.send_signal(signal.SIGCONT)


@test
def connections_that_expire_together_are_closed_over_several_turns():
    count = 700
    for opening, options in ((b"", {"idle_ms": 3000}), (b"GET / HTTP/1.1\r\n", {"header_ms": 3000}),
                             (request("/", "Content-Length: 9\r\n", "POST"), {"body_ms": 3000})):
        with Echo(**options) as echo:
            sockets = crowd(echo, count, opening)
            stop_for(echo, 3.2)
            stats = echo.stats()
            longest = stats["turn_closed"]
            while stats["open"] > 1:
                stats = echo.stats()
                longest = max(longest, stats["turn_closed"])
            check(1 <= longest <= 65, f"{longest} of {count} were closed in one turn after {opening}")
            for one in sockets:
                one.close()


@test
def connections_that_hang_up_together_are_closed_over_several_turns():
    count = 3000
    allow_files(count + 200)
    with Echo() as echo:
        sockets = crowd(echo, count)
        stop_for(echo, 0.2, lambda: [one.close() for one in sockets])
        stats = echo.stats()
        longest = stats["turn_closed"]
        while stats["open"] > 1:
            stats = echo.stats()
            longest = max(longest, stats["turn_closed"])
        check(1 <= longest < count / 3, f"{longest} of {count} were closed in one turn")


@test
def requests_that_come_together_are_all_answered():
    count = 3000
    allow_files(count + 200)
    with Echo() as echo:
        sockets = crowd(echo, count)
        stop_for(echo, 0, lambda: [one.sendall(request("/plain")) for one in sockets])
        for one in sockets:
            one.settimeout(TIMEOUT)
            check(b"200 OK" in one.recv(4096))
            one.close()


@test
def a_pipeline_does_not_keep_others_waiting():
    with Echo() as echo, echo.wire() as greedy, echo.wire() as modest:
        equal((greedy.ask("/plain").status, modest.ask("/plain").status), (200, 200))
        before = echo.stats()["seen"]
        echo.process.send_signal(signal.SIGSTOP)
        greedy.send(request("/plain") * 300)
        modest.send(request("/stats"))
        echo.process.send_signal(signal.SIGCONT)
        seen = json.loads(modest.reply().text)["seen"] - before
        check(seen <= 100, f"{seen} requests of one connection before one of another")
        for _ in range(300):
            equal(greedy.reply().status, 200, "of the pipeline")


@test
def a_pipeline_is_worked_off_also_when_its_sender_will_send_no_more():
    with Echo() as echo, echo.wire() as wire:
        wire.send(request("/plain") * 300).end()
        for _ in range(300):
            equal(wire.reply().status, 200, "of the pipeline")


@test
def bodies_that_end_together_are_all_taken():
    body = b"x" * 300000
    with Echo(body_bytes=1 << 20) as echo:
        wires = [echo.wire() for _ in range(25)]
        for wire in wires:
            wire.send(request("/echo", f"Content-Length: {len(body)}\r\n", "POST") + body[:-1])
        echo.process.send_signal(signal.SIGSTOP)
        for wire in wires:
            wire.send(body[-1:])
        echo.process.send_signal(signal.SIGCONT)
        for wire in wires:
            equal(fields(wire.reply())["body_bytes"], str(len(body)), "bytes")
            wire.close()


@test
def large_bodies_that_end_together_are_taken_one_in_a_turn():
    body = b"x" * (1 << 20)
    with Echo() as echo:
        wires = [echo.wire() for _ in range(20)]
        for wire in wires:
            wire.send(request("/echo", f"Content-Length: {len(body)}\r\n", "POST") + body[:-1])
        echo.until(lambda stats: stats["bytes_in"] > len(wires) * (len(body) - 1), "all but the ends")
        stop_for(echo, 0.1, lambda: [wire.send(body[-1:]) for wire in wires])
        for wire in wires:
            equal(fields(wire.reply())["body_bytes"], str(len(body)), "bytes")
            wire.close()
        equal(echo.stats()["turn_heavy"], 1, "large bodies in one turn")


@test
def a_large_body_that_waits_for_its_turn_is_not_read_beyond_its_limit():
    """Many bodies without an end, so that each waits for its turn while its sender goes on."""
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    opening = request("/echo", "Transfer-Encoding: chunked\r\n", "POST")

    def flood(port, ends):
        with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as one:
            try:
                one.sendall(opening)
                for _ in range(200):
                    one.sendall(chunk)
            except OSError:
                pass  # it was told, and did not stop
            ends.append(1)

    with Echo(body_bytes=1 << 20, partial_bytes=256 << 20) as echo:
        ends = []
        threads = [threading.Thread(target=flood, args=(echo.port, ends)) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(len(ends), len(threads), "senders")
        equal(echo.process.poll(), None, "the server's end")
        echo.until(lambda stats: stats["open"] == 1, "all closed")


@test
def senders_of_endless_chunks_do_not_keep_large_bodies_from_their_turn():
    """Each chunk may be the last, so that each of them asks for the turn of a large body."""
    opening = request("/echo", "Transfer-Encoding: chunked\r\n", "POST") + b"22000\r\n" + b"x" * 0x22000 + b"\r\n"
    drip = (b"1;" + b"e" * 4000 + b"\r\nx\r\n") * 64
    is_over = threading.Event()

    def flood(port):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as one:
                one.sendall(opening)
                while not is_over.is_set():
                    one.sendall(drip)
        except OSError:
            pass  # its body was too large, or the server ended

    with Echo(body_bytes=1 << 20, partial_bytes=256 << 20) as echo:
        threads = [threading.Thread(target=flood, args=(echo.port,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            waits = []
            for _ in range(8):
                started = time.monotonic()
                wire = echo.wire()
                wire.send(request("/echo", "Content-Length: 300000\r\n", "POST") + b"y" * 300000)
                equal(fields(wire.reply())["body_bytes"], "300000", "bytes")
                wire.close()
                waits.append(time.monotonic() - started)
        finally:
            is_over.set()
            for thread in threads:
                thread.join()
        check(sorted(waits)[5] < 1, f"large bodies wait {waits} s")


# --- connections ------------------------------------------------------------------------------------


@test
def connections_beyond_the_limit_of_files_wait_and_are_served_later():
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        wrapper = ["prlimit", "--nofile=256"]
        has_strace = subprocess.call(["sh", "-c", "strace -o /dev/null true 2>/dev/null"]) == 0
        if has_strace:
            wrapper = ["strace", "-f", "-o", trace, "-e", "trace=accept4,accept", *wrapper]
        with Echo(wrapper=wrapper) as echo:
            wires = [echo.wire() for _ in range(2000)]
            for wire in wires:
                wire.send(request("/plain"))
            open_files = len(os.listdir(f"/proc/{pid_of(echo)}/fd"))
            check(open_files < 160, f"{open_files} files are open")
            for wire in wires:
                equal(wire.reply().text, "ok")
                wire.close()
            stats = wait_until(lambda: echo.stats(), "the listener to recover")
            equal(stats["accepted"], 2001)
        if not has_strace:
            print("# no strace: EMFILE was not looked for")
            return
        with open(trace, encoding="ascii") as file:
            text = file.read()
        check("EMFILE" not in text and "ENFILE" not in text, "descriptors ran out")
        check(text.count("accept4(") < 5000, "it tried to accept in vain")


def pid_of(echo):
    """Of the server itself below strace."""
    children = f"/proc/{echo.process.pid}/task/{echo.process.pid}/children"
    with open(children, encoding="ascii") as file:
        text = file.read().split()
    return int(text[0]) if text else echo.process.pid


@test
def a_waiting_listener_costs_no_time():
    with Echo(connections=10) as echo:
        wires = [echo.wire().send(request("/plain")) for _ in range(50)]
        equal([wire.reply().text for wire in wires[:10]], ["ok"] * 10)
        with open(f"/proc/{echo.process.pid}/stat", encoding="ascii") as file:
            before = sum(int(ticks) for ticks in file.read().split()[13:15])
        time.sleep(0.5)
        with open(f"/proc/{echo.process.pid}/stat", encoding="ascii") as file:
            after = sum(int(ticks) for ticks in file.read().split()[13:15])
        check(after - before <= 5, f"{after - before} ticks while everybody waited")
        for wire in wires:
            equal(wire.reply().text if wire in wires[10:] else "ok", "ok")
            wire.close()


@test
def ten_thousand_idle_connections_fit_into_ten_megabytes():
    if is_sanitized():
        raise Skip("a sanitizer's memory says nothing")
    count = 10000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count + 200:
        raise Skip(f"this process may open only {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    sources = [f"127.0.0.{i}" for i in range(2, 6)]
    with Echo() as echo:
        equal(echo.ask("/plain"), "ok")
        before = echo.rss_kib()
        sockets = []
        for i in range(count):
            one = socket.create_connection(("127.0.0.1", echo.port), source_address=(sources[i % 4], 0))
            one.sendall(request("/plain"))
            sockets.append(one)
        for one in sockets:
            check(b"ok" in one.recv(1000))
        stats = echo.stats()
        equal(stats["idle"] >= count, True, stats)
        grown = echo.rss_kib() - before
        print(f"# {grown * 1024 / count:.0f} bytes each")
        check(grown < 10 * 1024, f"grew by {grown} KiB")
        for one in sockets:
            one.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@test
def a_request_costs_one_read_and_one_write():
    if subprocess.call(["sh", "-c", "strace -o /dev/null true 2>/dev/null"]) != 0:
        raise Skip("no strace")
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        with Echo(wrapper=["strace", "-f", "-o", trace]) as echo, echo.wire() as wire:
            equal(wire.ask("/plain").text, "ok")  # and what a new connection costs
            equal(wire.ask("/echo").status, 200)
            mark = os.path.getsize(trace)
            for _ in range(50):
                wire.ask("/plain")
            time.sleep(0.1)
            with open(trace, encoding="ascii", errors="replace") as file:
                file.seek(mark)
                calls = re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)[( ]", file.read(), re.MULTILINE)
            batch = request("/plain") * 16
            mark = os.path.getsize(trace)
            for _ in range(20):
                wire.send(batch)
                for _ in range(16):
                    wire.reply()
            time.sleep(0.1)
            with open(trace, encoding="ascii", errors="replace") as file:
                file.seek(mark)
                writes = len(re.findall(r" sendto\(", file.read()))
    counted = {name: calls.count(name) for name in set(calls)}
    print(f"# {counted}, {writes} writes for 20 batches of 16")
    check(counted.get("read", 0) <= 52 and counted.get("sendto", 0) <= 52, counted)
    check(set(counted) <= {"read", "sendto", "epoll_wait", "epoll_pwait"}, counted)
    check(writes <= 22, f"{writes} writes for 20 batches")


if __name__ == "__main__":
    run(beside=3)
