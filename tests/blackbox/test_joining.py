#!/usr/bin/env python3
"""Ten thousand workers, one solve: joining, callers who come and go, reuse, freshness, limits. (TAP)"""
import json
import selectors
import socket
import time

from gateway import PAGE, World, together, with_defaults
from harness import KEY, TIMEOUT, Raw, check, equal, run, test, wait_until

SLOW = "SIM-SLOW-30s"


def post(path, body):
    text = json.dumps(body)
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()


def ask(**more):
    return post("/v1/solves", {"method": "turnstile", "sitekey": "0xSITE", "pageurl": PAGE, "wait": 50, **more})


def all_join(world, count, paid, error=None):
    """For together(): ends the solves once all requests wait for them, however late the last of them comes."""
    def end():
        world.await_waiting(count)
        wait_until(lambda: world.paid() == paid, "the submits")
        world.sim.solve(error=error)

    return end


class Crowd:
    """Many connections at once, each with one request under way; replies are counted as they come."""

    def __init__(self, port, requests):
        self.selector = selectors.DefaultSelector()
        self.replies = {}
        self.arrived = []  # when each reply was complete
        for number, request in enumerate(requests):
            connection = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
            connection.sendall(request)
            connection.setblocking(False)
            self.selector.register(connection, selectors.EVENT_READ, [number, b""])
        self.size = len(requests)

    def gather(self, timeout=60):
        deadline = time.monotonic() + timeout
        while len(self.replies) < self.size and time.monotonic() < deadline:
            for key, _ in self.selector.select(1):
                self._read(key)
        check(len(self.replies) == self.size, f"{len(self.replies)} of {self.size} were answered")
        return [self.replies[number] for number in range(self.size)]

    def _read(self, key):
        data = key.fileobj.recv(65536)
        check(data, "closed without an answer")
        number, buffer = key.data
        buffer += data
        key.data[1] = buffer
        head, end, body = buffer.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) if end else None
        if end and len(body) >= length:
            check(number not in self.replies, "answered twice")
            self.replies[number] = body[:length]
            self.arrived.append(time.monotonic())

    def close(self):
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()


@test
def ten_thousand_identical_requests_over_both_doors_cost_one_submit():
    count = 10_000
    with World({"limits": {"connections": count + 100}}, sim=("--solve-time", "10m")) as world:
        form = "&".join(f"{name}={value}" for name, value in with_defaults({}).items())
        submit = (f"POST /in.php HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(form)}\r\n\r\n{form}").encode()
        crowd = Crowd(world.port, [ask() if i % 2 else submit for i in range(count)])
        world.await_waiting(count)
        world.sim.solve()
        replies = crowd.gather()
        ids = {reply[3:].decode() for reply in replies[::2]}
        equal(len(ids), count // 2, "each in.php call has its own id; ids")
        solutions = {json.loads(reply)["solution"] for reply in replies[1::2]}
        equal(len(solutions), 1, "solutions")
        text = world.result_text(next(iter(ids)))
        equal(text, "OK|" + solutions.pop())
        crowd.close()
        equal(world.paid(), 1, "paid")
        stats = world.stats()["total"]
        equal((stats["requests"], stats["answered_api"] + stats["answered_dedup_wait"]), (count, count))


@test
def the_same_thing_asked_together_is_paid_once_and_other_things_apart():
    with World(sim=("--solve-time", "10m")) as world:
        answers = together(40, lambda i: world.solved(sitekey=f"k{i % 4}"), all_join(world, 40, 4))
        equal(len({answer["solution"] for answer in answers}), 4, "solutions")
        equal(world.paid(), 4)
        equal(sorted({answer["source"] for answer in answers}), ["api", "dedup_wait"])


@test
def single_requests_never_share_even_when_they_come_together():
    with World() as world:
        answers = together(10, lambda _: world.solved(reuse="single"))
        equal(len({answer["solution"] for answer in answers}), 10)
        equal(world.paid(), 10)


@test
def reuse_none_bypasses_joining_and_cache():
    with World() as world:
        first = world.solved()
        check(world.solved(reuse="none")["solution"] != first["solution"], "not from the cache")
        equal(world.solved()["solution"], first["solution"], "and what others get stays")
        equal(world.paid(), 2)


@test
def the_failure_of_a_flight_is_told_to_everybody_and_submitted_once():
    with World({"retry": {"unsolvable": 0}}, sim=("--solve-time", "10m")) as world:
        replies = together(20, lambda _: world.solve(), all_join(world, 20, 1, error="ERROR_CAPTCHA_UNSOLVABLE"))
        equal({reply.status for reply in replies}, {502})
        equal(world.paid(), 1)


@test
def a_caller_who_leaves_before_the_submit_costs_nothing():
    with World({"upstream": {"slots": 1}}) as world:
        with Raw(world.port) as first, Raw(world.port) as second:
            first.send(ask(sitekey="SIM-NEVER"))
            wait_until(lambda: world.paid() == 1, "the first submit")
            second.send(ask(sitekey="other"))
            wait_until(lambda: world.stats()["now"]["queued"] == 1, "the second to queue")
            second.close()
            wait_until(lambda: world.stats()["now"]["queued"] == 0, "the second to be cancelled")
            world.sim.solve()
            equal(first.reply().status, 200)
        equal(world.paid(), 1)
        equal(world.counter("detached"), 1)


@test
def a_caller_who_leaves_after_the_submit_leaves_a_solution_for_the_next():
    with World(sim=("--solve-time", "10m")) as world:
        with Raw(world.port) as caller:
            caller.send(ask())
            wait_until(lambda: world.paid() == 1, "the submit")
        wait_until(lambda: world.counter("detached") == 1, "the caller to be missed")
        world.sim.solve()
        wait_until(lambda: world.counter("solutions_banked") == 1, "the solution to be banked")
        equal(world.solved()["source"], "dedup_cache")
        equal(world.paid(), 1)


@test
def one_of_two_joined_callers_may_leave():
    with World(sim=("--solve-time", "10m")) as world:
        with Raw(world.port) as leaver, Raw(world.port) as stayer:
            leaver.send(ask())
            stayer.send(ask())
            wait_until(lambda: world.stats()["now"]["waiting"] == 2, "both to wait")
            leaver.reset()
            wait_until(lambda: world.stats()["now"]["waiting"] == 1, "one to be missed")
            wait_until(lambda: world.sim.solve() == 1, "the submit, which is solved now")
            equal(stayer.reply().json()["status"], "solved")
        equal(world.paid(), 1)


@test
def freshness_is_per_solution_and_per_request():
    with World({"cache": {"ttl": {"turnstile": "12s"}, "min_ttl": "6s"}}) as world:
        first = world.solved()
        equal(world.solved()["solution"], first["solution"], "still fresh")
        equal(world.solved(max_age=60)["solution"], first["solution"])
        check(world.solved(max_age=0.001)["solution"] != first["solution"], "too old for this one")
        check(world.solved(min_ttl=11.99)["solution"] != first["solution"], "not long enough for this one")
        equal(world.paid(), 3)
        time.sleep(6.2)
        world.solved()
        equal(world.paid(), 4, "less than min_ttl is left of all of them; paid")


@test
def one_time_inputs_join_but_are_never_cached():
    with World(sim=("--solve-time", "10m")) as world:
        once = {"method": "userrecaptcha", "googlekey": "6Le", "sitekey": None, "data-s": "one-time"}
        answers = together(5, lambda _: world.solved(once), all_join(world, 5, 1))
        equal(len({answer["solution"] for answer in answers}), 1)
        equal(world.paid(), 1)
        together(1, lambda _: world.solved(once), all_join(world, 1, 2))
        equal(world.paid(), 2)


@test
def a_mistake_that_the_vendor_found_is_remembered_for_a_while():
    with World() as world:
        for _ in range(3):
            reply = world.solve(sitekey="SIM-ERROR_BAD_TOKEN_OR_PAGEURL")
            equal((reply.status, reply.json()["code"]), (502, "refused_by_vendor"))
        equal(world.sim.totals()["submits"], 1)


@test
def full_is_an_answer():
    with World({"limits": {"requests": 4, "flights": 3, "per_flight": 2}}) as world:
        def code(**more):
            reply = world.solve(wait=None, sitekey=SLOW, **more)
            return "accepted" if reply.status == 202 else reply.json()["code"]

        equal([code(pageurl=f"{PAGE}/{i}") for i in range(4)], ["accepted"] * 3 + ["too_many_flights"])
        equal(code(pageurl=f"{PAGE}/0"), "accepted", "joined")
        equal(code(pageurl=f"{PAGE}/1"), "too_many_requests")
        equal(world.submit(sitekey=SLOW).text, "ERROR_NO_SLOT_AVAILABLE")
    with World({"limits": {"per_flight": 2}}) as world:
        replies = [world.solve(wait=None, sitekey=SLOW) for _ in range(3)]
        equal([reply.status for reply in replies], [202, 202, 429])
        equal(replies[2].json()["code"], "too_many_joined")
        check(int(replies[2].headers["retry-after"]) > 0, "Retry-After")


@test
def the_cache_is_bounded_and_the_oldest_goes_first():
    with World({"cache": {"solutions": 3}}) as world:
        for i in range(4):
            world.solved(sitekey=str(i))
        equal(world.stats()["now"]["solutions"], 3)
        equal(world.solved(sitekey="3")["source"], "dedup_cache")
        equal(world.solved(sitekey="0")["source"], "api")
        equal(world.counter("solutions_evicted"), 2)


@test
def finished_requests_are_readable_until_their_solution_expires():
    with World({"cache": {"ttl": {"turnstile": "5s"}, "min_ttl": "0s"}}) as world:
        task = world.submit_id()
        check(world.result_text(task).startswith("OK|"), "solved")
        wait_until(lambda: world.result(task).text == "ERROR_WRONG_CAPTCHA_ID", "its end")


@test
def reuse_is_set_per_type_and_per_client_and_the_most_specific_wins():
    alice = "alice-alice-alice-alice-alice-32"
    config = {"reuse": {"default": "single", "turnstile": "shared"},
              "clients": [{"name": "alice", "key": alice, "reuse": "single"}, {"name": "bob", "key": KEY}]}
    with World(config) as world:
        def paid_twice(key, **more):
            before = world.paid()
            world.solved(key=key, **more)
            world.solved(key=key, **more)
            return world.paid() - before == 2

        check(not paid_twice(KEY), "type: shared")
        check(paid_twice(alice), "client: single")
        check(not paid_twice(alice, sitekey="z", reuse="shared"), "request: shared")
        check(paid_twice(KEY, method="hcaptcha"), "default: single")
        image = {"method": "base64", "sitekey": None, "pageurl": None, "body": "iVBORw0KGgo" + "A" * 400}
        check(not paid_twice(alice, params=image), "images are shared by default")


run()
