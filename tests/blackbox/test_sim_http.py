"""The stand-in as a server: its ledger and control door, and HTTP from well-meaning and other clients."""
import base64
import concurrent.futures
import json
import random
import sys
import time

from harness import (KEY, Raw, Receiver, Sim, check, contains, equal, get, http_request, multipart, raw, run, test,
                     wait_until)
from sim_world import IMAGE, TURNSTILE, form, request_bytes, submit_bytes


# --- the ledger and the control door --------------------------------------------------------------


@test
def the_ledger_never_shows_the_key_and_shows_bodies_as_hashes():
    with Sim() as sim:
        sim.submit_id(method="base64", body=base64.b64encode(IMAGE).decode())
        sim.submit_id(cookies="c" * 600)
        text = get(sim.url + "/sim/ledger").text
        check(KEY not in text, "the key is in the ledger")
        entries = sim.submits()
        encoded = base64.b64encode(IMAGE)
        value = 0xcbf29ce484222325
        for byte in encoded:
            value = (value ^ byte) * 0x100000001b3 % 2**64
        equal(entries[0]["params"]["body"], {"bytes": len(encoded), "fnv1a": f"{value:016x}"}, "body")
        equal(entries[0]["params"]["key"], "redacted", "key")
        equal(entries[1]["params"]["cookies"]["bytes"], 600, "long value")


@test
def the_ledger_can_be_asked_for_parts():
    with Sim() as sim:
        ids = [sim.submit_id() for _ in range(5)]
        check("submits" not in sim.ledger(summary=1), "summary has submits")
        equal([entry["id"] for entry in sim.submits(limit=2)], ids[:2], "limit")
        equal([entry["id"] for entry in sim.submits(after=ids[2])], ids[3:], "after")
        equal([entry["id"] for entry in sim.submits(id=ids[1])], ids[1:2], "id")


@test
def the_ledger_is_bounded_and_tasks_outlive_their_entry():
    with Sim("--ledger-max", "3", "--solve-time", "0") as sim:
        ids = [sim.submit_id() for _ in range(10)]
        equal([entry["id"] for entry in sim.submits()], ids[-3:], "entries")
        equal(sim.totals()["forgotten"], 7, "forgotten")
        equal(sim.poll(ids[0]).json()["status"], 1, "poll of a forgotten one")
        equal(sim.totals()["accepted"], 10, "accepted")


@test
def when_memory_is_full_the_oldest_finished_task_goes_and_running_ones_stay():
    with Sim("--tasks-max", "3", "--solve-time", "0") as sim:
        never = sim.submit_id(sitekey="SIM-NEVER")
        finished = [sim.submit_id() for _ in range(3)]
        for task in finished:
            sim.poll(task)
        equal(sim.poll(never).json()["request"], "CAPCHA_NOT_READY", "the running one")
        equal(sim.poll(finished[0]).json()["request"], "ERROR_WRONG_CAPTCHA_ID", "the oldest finished")
        equal(sim.poll(finished[2]).json()["status"], 1, "the newest")
        for _ in range(2):
            sim.submit_id(sitekey="SIM-NEVER")
        equal(sim.submit(sitekey="SIM-NEVER").json()["request"], "ERROR_NO_SLOT_AVAILABLE", "full")


@test
def reset_goes_back_to_the_start_but_never_reuses_an_id():
    with Receiver() as receiver, Sim("--solve-time", "3s", "--fault", "poll-error=0.5", "--balance", "5", "--price", "1") as sim:
        old = sim.submit_id(pingback=receiver.url)
        sim.set_faults(faults={"submit-lost": 1}, script=["poll-hang"])
        sim.reset()
        ledger = sim.ledger()
        equal((ledger["submits"], ledger["totals"]["accepted"], ledger["balance"]), ([], 0, 5.0), "ledger")
        equal([rule["fault"] for rule in sim.faults()["faults"]], ["poll-error"], "faults")
        equal(sim.faults()["script"], [], "script")
        check(int(sim.submit_id()) > int(old), "an id was reused")
        sim.submit_id(sitekey="SIM-FAST+CALLBACK-LATE-4s", pingback=receiver.url)
        wait_until(lambda: sim.totals()["solved"] >= 1, "a solved task whose callback is still to come")
        sim.reset()
        last = sim.submit_id(sitekey="SIM-FAST+CALLBACK-LATE-5s", pingback=receiver.url)
        equal([call["params"]["id"] for call in receiver.wait(1)], [last], "callbacks of forgotten tasks")


@test
def tasks_can_be_ended_on_command():
    with Receiver() as receiver, Sim("--solve-time", "60s") as sim:
        first, never = sim.submit_id(), sim.submit_id(sitekey="SIM-NEVER", pingback=receiver.url)
        third = sim.submit_id()
        equal(sim.solve(first), 1, "settled")
        equal(sim.poll(first).json()["status"], 1, "first")
        equal(sim.poll(never).json()["request"], "CAPCHA_NOT_READY", "second")
        equal(sim.solve(third, error="ERROR_BAD_DUPLICATES"), 1, "settled")
        equal(sim.poll(third).json()["request"], "ERROR_BAD_DUPLICATES", "third")
        equal(sim.solve(), 1, "settled")
        equal(receiver.wait(1)[0]["params"]["code"], sim.poll(never).json()["request"], "callback")
        equal(sim.solve(), 0, "settled")
        equal(http_request(sim.url + "/sim/solve?id=x", "POST").status, 422, "bad id")


@test
def control_paths_insist_on_their_methods():
    with Sim() as sim:
        for method, path, allow in (("POST", "/sim/faults", "GET, PUT"), ("DELETE", "/sim/ledger", "GET"),
                                    ("GET", "/sim/reset", "POST"), ("PUT", "/in.php", "GET, POST")):
            reply = http_request(sim.url + path, method)
            equal((reply.status, reply.headers.get("allow")), (405, allow), f"{method} {path}")
        equal(get(sim.url + "/sim/nothing").status, 404, "unknown control path")
        equal(get(sim.url + "/nothing.php").status, 404, "unknown path")
        contains(get(sim.url + "/").text, "solvegate-sim", "welcome")


# --- HTTP -----------------------------------------------------------------------------------------


@test
def pipelined_requests_are_answered_in_order():
    with Sim("--solve-time", "0") as sim, Raw(sim.port) as connection:
        connection.send(submit_bytes() * 500)
        ids = [connection.reply().text[3:] for _ in range(500)]
        equal(ids, sorted(ids, key=int), "ids")
        polls = [request_bytes("GET", "/res.php?" + form({"key": KEY, "action": "get", "id": task})) for task in ids]
        connection.send(b"".join(polls))
        for task in ids:
            check(connection.reply().text.startswith(f"OK|SIM_{task}_"), "out of order")


@test
def a_held_reply_holds_back_the_pipelined_ones_behind_it():
    with Sim("--solve-time", "0") as sim, Raw(sim.port) as connection:
        sim.set_faults(script=["submit-ok", {"fault": "submit-delay", "value": "200ms"}, {"fault": "submit-drip", "value": "1ms"}])
        started = time.monotonic()
        connection.send(submit_bytes() * 6)
        ids = [int(connection.reply().text[3:]) for _ in range(6)]
        equal(ids, sorted(ids), "ids")
        check(time.monotonic() - started > 0.29, "the delay was skipped")


@test
def connection_close_and_http_1_0_are_honoured():
    with Sim() as sim:
        data = raw(sim.port, submit_bytes(headers=["Connection: close"]))
        contains(data, b"Connection: close\r\n", "reply")
        data = raw(sim.port, "GET /in.php?" + form(TURNSTILE) + " HTTP/1.0\r\n\r\n")
        check(data.startswith(b"HTTP/1.1 200") and b"OK|" in data, repr(data))
        with Raw(sim.port) as connection:
            request = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
            for _ in range(2):
                equal(connection.send(request).reply().headers.get("connection"), "keep-alive", "connection")


@test
def nothing_behind_connection_close_is_answered():
    with Sim() as sim:
        data = raw(sim.port, submit_bytes(headers=["Connection: close"]) + submit_bytes())
        equal(data.count(b"HTTP/1.1"), 1, "replies")
        equal(sim.totals()["accepted"], 1, "accepted")


@test
def a_client_that_is_still_sending_can_read_the_refusal():
    with Sim("--body-max", "64KiB") as sim, Raw(sim.port) as connection:
        connection.send("POST /in.php HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(60):
            connection.send(b"8000\r\n" + bytes(0x8000) + b"\r\n")
            time.sleep(0.002)
        equal(connection.reply().status, 413, "status")
        equal(connection.ending(), "fin", "ending")


@test
def expect_100_continue_is_answered():
    with Sim() as sim, Raw(sim.port) as connection:
        body = form(TURNSTILE).encode()
        connection.send(f"POST /in.php HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n")
        equal(connection.reply().status, 100, "interim status")
        check(connection.send(body).reply().text.startswith("OK|"))


@test
def hostile_requests_get_4xx_and_a_close():
    cases = [
        (b"GET / HTTP/1.1\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505), (b"GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505),
        (b"nonsense\r\n\r\n", 400), (b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        (b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400), (b"GET / HTTP/1.1\nHost: a\n\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 40000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 9000 + b"\r\n", 431),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b"a" * 65536 + b"\r\n") * 80, 413),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    ]
    with Sim() as sim:
        for data, status in cases:
            try:
                reply = raw(sim.port, data)
            except ConnectionError:
                raise AssertionError(f"reset instead of {status} for {data[:60]!r}") from None
            check(reply.startswith(b"HTTP/1.1 %d " % status), f"{data[:60]!r}: {reply[:60]!r}")
        check(sim.submit_id(), "it still works")


@test
def idle_connections_are_closed_and_busy_ones_are_not():
    with Sim("--keep-alive", "3s") as sim, Raw(sim.port) as idle, Raw(sim.port) as busy:
        for _ in range(8):
            busy.send(request_bytes("GET", "/"))
            busy.reply()
            time.sleep(0.5)
        equal(idle.ending(), "fin", "the idle one")
        equal(busy.send(request_bytes("GET", "/")).reply().status, 200, "the busy one")


@test
def connections_past_the_limit_are_dropped_and_others_live_on():
    with Sim("--connections-max", "3") as sim:
        held = [Raw(sim.port) for _ in range(3)]
        for connection in held:
            equal(connection.send(request_bytes("GET", "/")).reply().status, 200, "status")
        with Raw(sim.port) as extra:
            check(extra.ending() in ("fin", "reset"))
        held.pop().close()
        wait_until(lambda: _answers(sim.port), "a free place")
        for connection in held:
            connection.close()


def _answers(port):
    try:
        with Raw(port) as connection:
            return connection.send(request_bytes("GET", "/")).reply().status == 200
    except (EOFError, ConnectionError):
        return False


@test
def a_slow_reader_of_a_large_ledger_gets_all_of_it():
    with Sim("--solve-time", "0") as sim:
        with Raw(sim.port) as connection:
            data = submit_bytes({**TURNSTILE, "data": "d" * 500})
            for _ in range(10):
                connection.send(data * 500)
                for _ in range(500):
                    connection.reply()
        with Raw(sim.port) as slow:
            slow.send(request_bytes("GET", "/sim/ledger") * 2 + request_bytes("GET", "/"))
            time.sleep(0.2)
            for _ in range(2):
                equal(len(slow.reply().json()["submits"]), 5000, "entries")
            equal(slow.reply().status, 200, "the one behind")


@test
def a_last_reply_to_a_slow_reader_is_not_cut_off():
    with Sim("--solve-time", "0") as sim:
        data = submit_bytes({**TURNSTILE, "data": "d" * 500})
        with Raw(sim.port) as connection:
            for _ in range(10):
                connection.send(data * 500)
                for _ in range(500):
                    connection.reply()
        with Raw(sim.port) as slow:
            slow.send(request_bytes("GET", "/sim/ledger", headers=["Connection: close"]))
            time.sleep(1.3)
            equal(len(slow.reply().json()["submits"]), 5000, "entries")
            equal(slow.ending(), "fin", "ending")


def _mutate(dice, data):
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 4, 16))):
        at = dice.randrange(len(data))
        action = dice.randrange(4)
        if action == 0:
            data[at] = dice.randrange(256)
        elif action == 1:
            del data[at:at + dice.randrange(1, 9)]
        elif action == 2:
            data[at:at] = dice.choice((b"\r\n", b"%", b"&", b"=", b"--b", b"\0", b"{", b'"', b"\xff", b"0" * 20))
        else:
            data[at:at] = data[:dice.randrange(len(data))]
    return bytes(data)


@test
def mutated_requests_never_bring_it_down():
    seed = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else random.randrange(2**32)
    print(f"# seed {seed}")
    dice = random.Random(seed)
    kinds = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "application/json"]
    bodies = [form(TURNSTILE).encode(), multipart(list(TURNSTILE.items()) + [("file", "a.png", IMAGE)], "b")[0],
              json.dumps({**TURNSTILE, "data": {"x": [1, 2, {"y": None}]}}).encode()]
    with Sim("--solve-time", "0", "--keep-alive", "500ms") as sim:
        for number in range(600):
            choice = dice.randrange(4)
            if choice == 3:
                data = request_bytes("GET", "/res.php?" + form({"key": KEY, "action": "get", "ids": "1,2", "json": "1"}))
            else:
                body = bodies[choice] if number % 2 else _mutate(dice, bodies[choice])
                data = request_bytes("POST", "/in.php?json=1", body, [f"Content-Type: {kinds[choice]}"])
            with Raw(sim.port) as connection:
                try:
                    connection.send(data if number % 2 == 0 else _mutate(dice, data))
                    connection.socket.settimeout(0.02)
                    connection.fill()
                except (OSError, TimeoutError):
                    pass
        sim.submit_id()


@test
def many_clients_at_once_are_all_served():
    with Sim("--solve-time", "uniform:1ms-50ms") as sim:
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            ids = list(pool.map(lambda _: sim.submit_id(), range(200)))
            answers = list(pool.map(lambda task: sim.poll_until_ready(task).json()["request"], ids))
        equal(len(set(ids)), 200, "ids")
        for task, answer in zip(ids, answers):
            check(answer.startswith(f"SIM_{task}_"), "an answer went to the wrong task")
        totals = sim.totals()
        equal((totals["accepted"], totals["solved"], totals["in_flight"]), (200, 200, 0), "totals")


@test
def clients_that_vanish_at_any_moment_do_no_harm():
    with Sim("--solve-time", "20ms") as sim:
        data = submit_bytes()
        for cut in range(0, len(data), 9):
            with Raw(sim.port) as connection:
                connection.send(data[:cut])
                if cut % 2:
                    connection.reset()
        encoded = base64.b64encode(IMAGE).decode()
        body = form({"key": KEY, "method": "base64", "body": encoded}).encode()
        for _ in range(5):
            connection = Raw(sim.port)
            connection.send(request_bytes("POST", "/solve.php", body)).reset()
        wait_until(lambda: sim.totals()["in_flight"] == 0, "the abandoned tasks")
        sim.submit_id()


if __name__ == "__main__":
    run()
