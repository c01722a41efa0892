#!/usr/bin/env python3
"""Two thousand connections against a gateway with 256 descriptors: who was there first goes on, others wait. (TAP)"""
import http.client
import json
import os
import selectors
import socket
import time

from chaos_world import SECONDS, ChaosWorld, allow_files, test, wait_open  # first: it knows where the harness is
from gateway import PAGE
from harness import check, equal, get, run, wait_until

LIMIT = 256
CROWD = 2000
REQUEST = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Crowd:
    """Connections that each ask once and then stay."""

    def __init__(self, port, count):
        self.selector = selectors.DefaultSelector()
        self.sockets = []
        for _ in range(count):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
            self.sockets.append(one)
        self.answered = set()
        self.unsent = set(self.sockets)
        for one in self.sockets:
            self.selector.register(one, selectors.EVENT_READ | selectors.EVENT_WRITE)

    def step(self, one, events):
        if events & selectors.EVENT_WRITE and one in self.unsent:
            one.send(REQUEST)
            self.unsent.discard(one)
            self.selector.modify(one, selectors.EVENT_READ)
        if events & selectors.EVENT_READ:
            data = one.recv(4096)
            check(b"200 OK" in data, f"somebody of the crowd was told {data[:100]!r}")
            self.answered.add(one)
            self.selector.unregister(one)

    def watch(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for key, events in self.selector.select(0.1):
                self.step(key.fileobj, events)

    def watch_until_quiet(self, seconds):
        """Until nobody was answered for so long."""
        before = -1
        while before != len(self.answered):
            before = len(self.answered)
            self.watch(seconds)

    def leave(self, some):
        for one in some:
            if one in self.selector.get_map():
                self.selector.unregister(one)
            one.close()
            self.sockets.remove(one)


def open_files(world):
    try:
        return len(os.listdir(f"/proc/{world.gate.process.pid}/fd"))
    except PermissionError:
        return 0  # the gateway keeps its affairs to itself


def solve_over(connection, sitekey):
    body = json.dumps({"method": "turnstile", "sitekey": sitekey, "pageurl": PAGE, "wait": 30})
    connection.request("POST", "/v1/solves", body, {"Content-Type": "application/json"})
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read()).get("status")


def hold_out(world, connection):
    """What works while the crowd holds every connection there is."""
    equal(solve_over(connection, "during"), (200, "solved"), "a new solve over a connection that was there before")
    connection.request("GET", "/pingback/nobody-knows-this?id=1&code=x")
    reply = connection.getresponse()
    equal((reply.status, bool(reply.read())), (404, True), "a callback over a connection that was there before")
    files = open_files(world)
    check(files < LIMIT, f"{files} files are open")
    return files


@test
def connections_from_before_go_on_and_the_crowd_waits():
    allow_files(CROWD + 500)
    with ChaosWorld(files=LIMIT) as world:
        connection = http.client.HTTPConnection("127.0.0.1", world.port, timeout=60)
        equal(solve_over(connection, "before"), (200, "solved"))
        with world.attack(64):
            crowd = Crowd(world.port, CROWD)
            crowd.watch_until_quiet(SECONDS / 2)
            first = set(crowd.answered)
            check(10 <= len(first) < LIMIT, f"{len(first)} of the crowd were answered at once")
            used, started = world.cpu_seconds(), time.monotonic()
            files = hold_out(world, connection)
            crowd.watch(SECONDS / 2)
            busy = (world.cpu_seconds() - used) / (time.monotonic() - started)
            equal(len(crowd.answered), len(first), "while nobody leaves; answered")
            crowd.leave(first)
            wait_until(lambda: crowd.watch(0.5) or len(crowd.answered) >= len(first) + 10, "others when those left")
            later = len(crowd.answered) - len(first)
            print(f"# {len(first)} were answered at once, {later} more when those left; {files} open files, "
                  f"{busy:.0%} of a core while the others waited")
            check(busy < 0.5, f"{busy:.0%} of a core")
            crowd.leave(list(crowd.sockets))
            equal(get(world.url + "/livez").status, 200, "a new connection afterwards")
            equal(hold_out(world, connection) < LIMIT, True)
        connection.close()
        wait_open(world, 1)
        equal(world.paid(), 3, "accepted submits")


if __name__ == "__main__":
    run()
