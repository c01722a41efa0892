#!/usr/bin/env python3
"""The vendor's callbacks: genuine, early, late, repeated, lost and forged ones. (TAP)"""
import collections
import hashlib
import json
import selectors
import socket
import struct
import threading
import time

from gateway import PAGE, World, rewrite, together
from harness import Raw, allow_files, check, equal, get, http_request, multipart, post_form, run, test, wait_until
from store_world import StoreWorld, WallClock

# So patient that a poll in these tests proves that something went wrong, unless a test asks for it.
PATIENT = {"poll": {"fallback_after": "60s"}}


def pingback(world, number=0):
    """The callback address that a submit carried."""
    return world.sim.submits()[number]["pingback"]


@test
def a_healthy_solve_takes_one_submit_one_callback_and_no_poll():
    with World(PATIENT, callbacks=True) as world:
        equal(world.solved()["source"], "api")
        wait_until(lambda: world.sim.totals()["callbacks_ok"] == 1, "the simulator to hear our OK")
        totals = world.sim.totals()
        equal((totals["accepted"], totals["callbacks_ok"], totals["polls"]), (1, 1, 0))
        equal(world.counter("callbacks_ok"), 1)
        check(pingback(world).startswith(world.url + "/pingback/"), pingback(world))


@test
def callbacks_are_understood_however_the_vendor_sends_them():
    with World(PATIENT, sim=("--solve-time", "60s"), callbacks=True) as world:
        def deliver(number, send):
            ask = world.solve(sitekey=str(number), wait=None).json()["id"]
            submit = wait_until(lambda: next((s for s in world.sim.submits() if s["params"]["sitekey"] == str(number)),
                                             None), "the submit")
            token = f"TOKEN_{number}_" + "x" * 4000
            reply = send(submit["pingback"], {"id": str(submit["id"]), "code": token})
            equal((reply.status, reply.text), (200, "OK"), f"callback {number}")
            equal(world.call("GET", f"/v1/solves/{ask}").json()["solution"], token)

        def as_multipart(url, params):
            body, kind = multipart(list(params.items()))
            return http_request(url, "POST", body, {"Content-Type": kind})

        deliver(1, lambda url, params: get(url, **params))
        deliver(2, post_form)
        deliver(3, as_multipart)
        deliver(4, lambda url, params: http_request(url, "POST", params))
        deliver(5, lambda url, params: get(url, captcha_id=params["id"], code=params["code"]))


@test
def a_callback_before_the_submits_reply_is_as_good():
    with World(PATIENT, callbacks=True) as world:
        world.sim.set_faults(script=["callback-early"])
        check(world.solved()["solution"].startswith("SIM_"), "solved")
        equal(world.paid(), 1)


@test
def a_lost_reply_is_recovered_by_the_callback_and_paid_once():
    with World({**PATIENT, "ambiguity_window": "20s"}, callbacks=True) as world:
        for fault in ("submit-lost", "submit-lost-reset"):
            before = world.paid()
            world.sim.set_faults(script=[fault])
            check(world.solved(sitekey=fault)["solution"].startswith("SIM_"), fault)
            equal(world.paid() - before, 1, f"paid after {fault}")
        equal(world.counter("resends"), 0)


@test
def a_lost_callback_is_found_by_polling():
    config = {"poll": {"fallback_after": "1s", "interval": "200ms"}}
    with World(config, callbacks=True) as world:
        world.sim.set_faults(script=["callback-drop"])
        check(world.solved()["solution"].startswith("SIM_"), "found")
        check(world.sim.totals()["polls"] >= 1, "by a poll")


@test
def unhealthy_callbacks_make_it_poll_as_if_there_were_none():
    config = {"poll": {"fallback_after": "1s", "first": "100ms", "interval": "100ms"}}
    with World(config, callbacks=True) as world:
        world.sim.set_faults(faults={"callback-drop": 1})
        together(12, lambda i: world.solved(sitekey=str(i)))
        rewrite(world, lambda config: config["poll"].update(fallback_after="10m"))("reloaded")
        check(world.solved(sitekey="quick")["solution"].startswith("SIM_"), "polled long before fallback_after")


@test
def repeats_are_absorbed():
    with World(PATIENT, callbacks=True) as world:
        first = world.solved()
        submit = world.sim.submits()[0]
        for _ in range(20):
            equal(get(submit["pingback"], id=submit["id"], code=first["solution"]).text, "OK")
        equal(world.counter("callbacks_duplicate"), 20)
        equal(world.stats()["now"]["solutions"], 1)
        equal(world.counter("solves"), 1)


@test
def a_different_second_solution_changes_nothing_and_is_reported():
    with World(PATIENT, callbacks=True) as world:
        first = world.solved()
        submit = world.sim.submits()[0]
        equal(get(submit["pingback"], id=submit["id"], code="SOMETHING_ELSE").text, "OK")
        equal(world.solved()["solution"], first["solution"])
        world.gate.wait_line("event=second_solution_differs")


@test
def two_tasks_on_one_submit_are_proven_and_both_solutions_kept():
    with World(PATIENT, callbacks=True) as world:
        world.sim.set_faults(script=["submit-twice"])
        world.solved(reuse="single")
        wait_until(lambda: world.counter("duplicates_proven") == 1, "the proof")
        world.gate.wait_line("event=duplicate_submit_proven")
        wait_until(lambda: world.stats()["now"]["solutions"] == 1, "the other solution in the bank")
        equal(world.solved(reuse="single")["source"], "dedup_cache")
        equal(world.paid(), 2)


@test
def an_error_called_back_drives_the_failure_path():
    with World({**PATIENT, "retry": {"unsolvable": 1}}, callbacks=True) as world:
        reply = world.solve(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE")
        equal((reply.status, reply.json()["upstream_code"]), (502, "ERROR_CAPTCHA_UNSOLVABLE"))
        equal((world.paid(), world.sim.totals()["polls"]), (2, 0))


@test
def a_late_solution_is_banked_for_the_next():
    config = {**PATIENT, "solve_timeout": "1s", "ambiguity_window": "500ms"}
    with World(config, sim=("--solve-time", "10m"), callbacks=True) as world:
        equal(world.solve().status, 504)
        world.sim.solve()
        wait_until(lambda: world.counter("callbacks_late") == 1, "the late callback")
        equal(world.solved()["source"], "dedup_cache")
        equal(world.paid(), 1)


@test
def forged_callbacks_find_nothing_and_change_nothing():
    with World(PATIENT, sim=("--solve-time", "60s"), callbacks=True) as world:
        ask = world.solve(wait=None).json()["id"]
        genuine = wait_until(lambda: world.sim.submits() and pingback(world), "the submit")
        world.await_accepted(1)
        nonce = genuine.rsplit("/", 1)[1]
        last = "0" if nonce[-1] != "0" else "1"
        forged = [nonce[:-1] + last, nonce.upper(), nonce + "0", nonce[:-1], "0" * 48, "", "..%2f" + nonce, "x" * 3000,
                  nonce[:16] + "0" * 32, "%00" + nonce[3:]]
        replies = [get(f"{world.url}/pingback/{text}", id="1", code="EVIL") for text in forged]
        equal({(reply.status, reply.text) for reply in replies}, {(404, "not found\n")})
        equal(world.counter("callbacks_forged"), len(forged))
        equal(world.call("GET", f"/v1/solves/{ask}").json()["status"], "solving")
        equal(get(genuine).status, 400, "genuine, but empty-handed; status")
        equal(get(genuine, id="1", code="GOOD").text, "OK")
        equal(world.call("GET", f"/v1/solves/{ask}").json()["solution"], "GOOD")


@test
def a_callback_without_a_code_proves_that_the_task_exists():
    with World({**PATIENT, "ambiguity_window": "3s"}, sim=("--solve-time", "5s"), callbacks=True) as world:
        world.sim.set_faults(script=["submit-lost"])
        ask = world.solve(wait=None).json()["id"]
        submit = wait_until(lambda: (world.sim.submits() or [None])[0], "the submit")
        for params in ({"id": str(submit["id"])}, {"id": str(submit["id"]), "code": ""}):
            reply = get(submit["pingback"], **params)
            equal((reply.status, reply.text), (200, "OK"))
        equal(world.call("GET", f"/v1/solves/{ask}?wait=20").json()["status"], "solved")
        equal(world.paid(), 1)


def nonce_by_hand(world, attempt, told_s=None):
    """As the gateway spells it; without a moment as an older version did."""
    secret = world.rows("SELECT bytes FROM secret WHERE name = 'nonce'")[0][0]
    name = struct.pack(">Q", attempt) + (b"" if told_s is None else struct.pack(">I", told_s))
    domain = b"solvegate pingback nonce v%d\0" % (1 if told_s is None else 2)
    return name.hex() + hashlib.blake2b(domain + name, digest_size=16, key=secret).hexdigest()


def call_by_hand(world, attempt, told_s=None, code="TOKEN"):
    return get(f"{world.url}/pingback/{nonce_by_hand(world, attempt, told_s)}", id="77", code=code).status


@test
def one_nonce_makes_a_few_letters_and_no_more():
    with World(PATIENT, callbacks=True) as world:
        world.solved()
        submit = world.sim.submits()[0]
        for number in range(30):
            equal(get(submit["pingback"], id=submit["id"], code=f"SOMETHING_ELSE_{number}").text, "OK")
        equal(world.counter("callbacks_duplicate"), 30)
        equal(world.counter("letters"), 3)


@test
def a_nonce_of_an_attempt_no_longer_known_is_good_for_an_hour():
    with StoreWorld({**PATIENT, "letters": {"alert_above": 100}}, sim=("--solve-time", "10m"), callbacks=True) as world:
        now = int(time.time())
        for attempt, told_s, status in ((1, now, 200), (2, now - 3500, 200), (3, now - 3700, 404), (4, now + 7200, 200),
                                        (5, 0, 200), (6, None, 200)):
            equal(call_by_hand(world, attempt, told_s), status, f"attempt {attempt}")
        equal((world.counter("callbacks_unknown"), world.counter("callbacks_forged"), world.counter("letters")), (5, 1, 5))
        # Whom the engine still listens for may call whenever it wants, so that a clock that was set loses nothing.
        ask = world.solve(wait=None).json()["id"]
        attempt = wait_until(lambda: world.rows("SELECT name FROM attempt WHERE task != ''"), "the task")[0][0]
        equal(call_by_hand(world, attempt, now - 86400, "GOOD"), 200)
        # It names another task than the submit's reply did, which is a second one for all we know, and as good.
        equal(world.call("GET", f"/v1/solves/{ask}").json()["solution"], "GOOD")


@test
def a_nonce_of_the_version_before_is_good_for_an_hour_after_the_upgrade():
    clock = WallClock()
    env = {name: value for name, value in clock.env.items() if name != "FAKETIME_DONT_FAKE_MONOTONIC"}
    with StoreWorld(PATIENT, sim=("--solve-time", "10m"), env=env, callbacks=True) as world:
        equal(call_by_hand(world, 1), 200)
        clock.jump(3700)
        wait_until(lambda: call_by_hand(world, 2) == 404, "an hour later")


@test
def without_a_public_url_no_callback_is_asked_for():
    with World() as world:
        world.solved()
        check(not world.sim.submits()[0].get("pingback"), "no pingback")
        equal(get(world.url + "/pingback/" + "0" * 48, code="x").status, 404)


# --- when workers have taken all connections ------------------------------------------------------

CROWDED = {**PATIENT, "limits": {"connections": 4}}


def fill(world, count=4):
    """So many workers that are held; nobody but callbacks gets in any more."""
    body = json.dumps({"method": "turnstile", "sitekey": "0xSITE", "pageurl": PAGE, "wait": 50}).encode()
    head = f"POST /v1/solves HTTP/1.1\r\nHost: {world.url[7:]}\r\nContent-Type: application/json\r\n"
    workers = [Raw(world.port).send(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body) for _ in range(count)]
    wait_until(lambda: world.sim.totals()["accepted"] == 1, "the submit")
    # The last of them was read when this one finds no room.
    wait_until(lambda: get(world.url + "/v1/stats").status == 503, "all connections to be taken")
    return workers


@test
def a_callback_gets_in_when_workers_have_taken_all_connections():
    with World(CROWDED, sim=("--solve-time", "10m"), callbacks=True) as world:
        workers = fill(world)
        world.sim.solve()
        for worker in workers:
            equal(worker.reply().status, 200, "a worker's answer")
            worker.close()
        wait_until(lambda: world.sim.totals()["callbacks_ok"] == 1, "the simulator to hear our OK")


@test
def probes_are_answered_when_workers_have_taken_all_connections():
    """Else the gateway would be started anew for being busy."""
    with World(CROWDED, sim=("--solve-time", "10m"), callbacks=True) as world:
        workers = fill(world)
        for path in ("/livez", "/readyz", "/readyz?verbose"):
            equal(get(world.url + path).status, 200, path)
        equal(get(world.url + "/v1/stats").status, 503, "everybody else")
        for worker in workers:
            worker.close()


@test
def beyond_the_cap_everybody_else_is_told_so_at_once():
    with World(CROWDED, sim=("--solve-time", "10m"), callbacks=True) as world:
        workers = fill(world)
        for path in ("/v1/stats", "/pingbackx/", "/pingbac", "/in.php", "/live", "/rlivez"):
            reply = get(world.url + path)
            equal((reply.status, reply.headers["retry-after"], reply.headers["connection"]), (503, "1", "close"), path)
        equal(get(world.url + "/pingback/forged").status, 404, "a forged callback")
        equal(post_form(world.url + "/pingback/forged", {"code": "x"}).status, 404, "a forged callback by POST")
        # Byte by byte, too.
        with Raw(world.port) as slow:
            for byte in f"GET /pingback/forged HTTP/1.1\r\nHost: {world.url[7:]}\r\n\r\n":
                slow.send(byte)
            equal(slow.reply().status, 404, "a forged callback byte by byte")
        # Those who say nothing take the whole reserve, but not for long.
        silent = [Raw(world.port) for _ in range(100)]
        equal(get(world.url + "/pingback/forged").status, 404, "a callback behind a hundred silent connections")
        world.sim.solve()
        for connection in (*silent, *workers):
            connection.close()


class Strangers(threading.Thread):
    """So many connections that go no further than their opening, each opened again as soon as it is closed."""

    def __init__(self, port, count, opening):
        super().__init__(daemon=True)
        self.address = ("127.0.0.1", port)
        self.count, self.opening = count, opening
        self.selector = selectors.DefaultSelector()
        self.half_closed = collections.deque()  # they do not hang up when they are asked to
        self.opened = 0
        self.is_over = False

    def open(self):
        one = socket.create_connection(self.address)
        one.sendall(self.opening)
        self.selector.register(one, selectors.EVENT_READ)
        self.opened += 1

    def hear(self, one):
        try:
            if one.recv(4096):
                return
        except OSError:
            pass
        self.selector.unregister(one)
        self.half_closed.append(one)
        if len(self.half_closed) > 300:
            self.half_closed.popleft().close()
        self.open()

    def run(self):
        for _ in range(self.count):
            self.open()
        while not self.is_over:
            for key, _ in self.selector.select(0.02):
                self.hear(key.fileobj)
        for one in [key.fileobj for key in self.selector.get_map().values()] + list(self.half_closed):
            one.close()

    def __enter__(self):
        self.start()
        wait_until(lambda: self.opened >= self.count, "the strangers")
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.join()


@test
def a_callback_gets_in_while_a_thousand_strangers_take_its_places():
    allow_files(2500)
    host = "Host: localhost\r\n"
    for opening in ("", "GET /pingback/x HTTP/1.1\r\n", f"POST /pingback/x HTTP/1.1\r\n{host}Content-Length: 100\r\n\r\n",
                    f"GET /other HTTP/1.1\r\n{host}\r\n"):
        # So many that the reserve is as large as it gets: it is a quarter of all at most.
        limits = {**PATIENT, "limits": {"connections": 200}}
        with World(limits, sim=("--solve-time", "10m"), callbacks=True) as world:
            workers = fill(world, 200)
            with Strangers(world.port, 1000, opening.encode()):
                times = []
                for _ in range(3):
                    started = time.monotonic()
                    equal(get(world.url + "/pingback/forged").status, 404)
                    times.append(time.monotonic() - started)
                print(f"# {opening[:20]!r}: {' '.join(f'{each:.2f}' for each in times)} s")
                check(sorted(times)[1] < 1.2, f"callbacks took {times} s among strangers who say {opening!r}")
                world.sim.solve()
                for worker in workers:
                    equal(worker.reply().status, 200, "a worker's answer")
                    worker.close()


@test
def idle_connections_give_way_to_new_ones():
    with World(CROWDED, callbacks=True) as world:
        idle = [Raw(world.port) for _ in range(4)]
        for connection in idle:
            connection.send(f"GET /livez HTTP/1.1\r\nHost: {world.url[7:]}\r\n\r\n")
            equal(connection.reply().status, 200)
        wait_until(lambda: get(world.url + "/v1/stats").status == 200, "an idle connection to give way")
        equal(idle[0].ending(), "fin", "the one that has been idle for longest")
        for connection in idle:
            connection.close()


@test
def a_token_of_4000_percent_encoded_characters_fits_into_a_callback():
    with World(PATIENT, sim=("--solve-time", "10m"), callbacks=True) as world:
        ask = world.solve(wait=None).json()["id"]
        submit = wait_until(world.sim.submits, "the submit")[0]
        token = "x" * 4000
        query = f"id={submit['id']}&code=" + "".join(f"%{ord(c):02X}" for c in token)
        reply = http_request(submit["pingback"] + "?" + query)
        equal((reply.status, reply.text), (200, "OK"), "callback")
        equal(world.call("GET", f"/v1/solves/{ask}").json()["solution"], token)


run()
