#!/usr/bin/env python3
"""No request keeps the loop for long, however large the world is: shares of processor time, not times. (TAP)"""
import json
import os
import struct
import tempfile

from gateway import PAGE, World
from harness import Raw, binary, check, equal, http_request, run, test

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


run()
