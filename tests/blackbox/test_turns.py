#!/usr/bin/env python3
"""No request keeps the loop for long, however large the world is: shares of processor time, not times. (TAP)"""
import json
import os
import struct
import tempfile
import threading

from gateway import PAGE, QUICK, World
from harness import KEY, Gate, Raw, Receiver, binary, check, equal, http_request, run, test

CLIENTS = 960
ADMIN = "a" * 32


class Turns:
    """Measures the turns of a gateway's loop that is started with .env."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "turns")
        self.reset()
        self.env = {
            "LD_PRELOAD": binary("TURNS_LIBRARY"),
            "TURNS_FILE": self.file,
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0",
        }

    def reset(self):
        mode = "r+b" if os.path.exists(self.file) else "wb"
        with open(self.file, mode) as file:
            file.write(bytes(16))

    def read(self):
        """Milliseconds of the longest turn, and of all."""
        with open(self.file, "rb") as file:
            return [number / 1e6 for number in struct.unpack("=QQ", file.read(16))]


def key_of(number):
    return f"{number:032d}"


def ask_all(world):
    """One request of every client, so that it stands in the books."""
    with Raw(world.port) as raw:
        for number in range(CLIENTS):
            body = json.dumps({"key": key_of(number), "method": "turnstile", "sitekey": "0xSITE", "pageurl": PAGE})
            raw.send(f"POST /v1/solves HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     f"Content-Length: {len(body)}\r\n\r\n{body}")
            equal(raw.reply().status, 202)


@test
def a_text_about_all_clients_is_written_over_several_turns():
    turns = Turns()
    clients = [{"name": f"client{i}", "key": key_of(i)} for i in range(CLIENTS)]
    config = {"clients": clients + [{"name": "admin", "key": ADMIN, "scopes": ["admin"]}],
              "upstream": {"price": {"default": 0.001}}, "dedup": {"scope": "global"}}
    with World(config, sim=("--solve-time", "1h"), env=turns.env) as world:
        ask_all(world)
        for path in ("/metrics", "/v1/stats"):
            shares = []
            for _ in range(3):
                turns.reset()
                reply = http_request(world.url + path, headers={"Authorization": f"Bearer {ADMIN}"})
                equal((reply.status, http_request(world.url + "/livez").status), (200, 200))  # that turn is over
                longest, whole = turns.read()
                shares.append(longest / whole)
                print(f"# {path}: {longest:.2f} of {whole:.2f} ms, {len(reply.text)} bytes")
            check(min(shares) < 0.5, f"one turn did {min(shares):.0%} of {path}")
        # One picture, however long it took: whoever asked stands there once, and the sums are right.
        total = reply.json()["total"]
        equal(len(total["by_client"]), CLIENTS, "clients in the books")
        equal(sum(each["requests"] for each in total["by_client"].values()), total["requests"])


@test
def who_asks_while_a_text_is_written_is_answered_as_well():
    clients = [{"name": f"client{i}", "key": key_of(i)} for i in range(CLIENTS)]
    with World({"clients": clients + [{"name": "admin", "key": ADMIN, "scopes": ["admin"]}]}) as world:
        ask = "GET {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + ADMIN + "\r\n\r\n"
        crowd = [Raw(world.port).send(ask.format(("/metrics", "/v1/stats")[i % 2]) * 3) for i in range(30)]
        crowd.pop().close()  # and who left is not missed
        for raw in crowd:
            check([raw.reply().status for _ in range(3)] == [200] * 3, "all three")
            raw.close()


TOGETHER = 16
LARGE_ANSWERS = {  # some 500 KB each, and how a caller is answered
    "deep": (b'{"status":1,"request":' + b"[" * 250000 + b"]" * 250000 + b"}", 502),
    "wide": (b'{"status":1,"request":[' + b"{}," * 170000 + b"{}]}", 502),
    "members": (b'{"status":1,"request":"a"' + b"".join(b',"k%d":1' % i for i in range(40000)) + b"}", 502),
}


class LargeVendor(Receiver):
    """Accepts everything, and answers the polls of one crowd at the same moment."""

    def __init__(self, body):
        super().__init__(self.say)
        self.body = body
        self.together = threading.Barrier(TOGETHER)
        self.tasks = 0

    def say(self, call):
        if call["path"].startswith("/in.php"):
            self.tasks += 1
            return 200, b'{"status":1,"request":"%d"}' % self.tasks
        if call["params"]["action"] != "get":
            return 200, b'{"status":1,"request":{"threads":100,"working_threads":0}}'
        self.together.wait(20)
        return 200, self.body


def solve_in_background(gate, statuses, number):
    ask = json.dumps({"method": "turnstile", "sitekey": f"0x{number}", "pageurl": PAGE, "wait": 30})
    reply = http_request(gate.url + "/v1/solves", method="POST", body=ask.encode(), timeout=60,
                         headers={"Content-Type": "application/json"})
    statuses.append(reply.status)


@test
def large_answers_of_the_vendor_that_come_together_are_read_over_several_turns():
    for name, (body, status) in LARGE_ANSWERS.items():
        turns = Turns()
        with LargeVendor(body) as vendor:
            upstream = {"url": vendor.url, "key": KEY, "slots": 100}
            slow = {"poll": {"first": "300ms", "interval": "10s"}}
            with Gate({**QUICK, **slow, "upstream": upstream}, env=turns.env) as gate:
                statuses = []
                equal(http_request(gate.url + "/livez").status, 200)  # the start is over
                turns.reset()
                crowd = [threading.Thread(target=solve_in_background, args=(gate, statuses, i)) for i in range(TOGETHER)]
                for each in crowd:
                    each.start()
                for each in crowd:
                    each.join()
                equal(http_request(gate.url + "/livez").status, 200)  # that turn is over
                longest, whole = turns.read()
                print(f"# {name}: {longest:.2f} of {whole:.2f} ms")
                equal(statuses, [status] * TOGETHER, name)
                check(longest / whole < 0.3, f"one turn did {longest / whole:.0%} of reading {name}")


run()
