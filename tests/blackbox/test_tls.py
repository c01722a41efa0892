#!/usr/bin/env python3
"""TLS to the vendor: how many connections a burst opens, and which of them take up an older session. (TAP)"""
import json
import signal
import tempfile
import threading
import time

from gateway import QUICK, merge
from harness import KEY, TIMEOUT, Gate, check, equal, get, http_request, run, test, wait_until
from proxy_world import TlsListener
from store_world import openings, traced_gate

# Of one lane, before a connection of it is open, and after that (src/upstream/upstream.c).
FIRST_OPENING = 2
MOST_OPENING = 12
LANE_ROOM = 100


class Vendor(TlsListener):
    """Answers every call on a connection of its own, unless it is told not to shake hands."""

    def __init__(self):
        self.sessions = []  # of each connection: was it resumed?
        self.connections = 0  # connections that were accepted
        self.may_shake = threading.Event()
        self.may_shake.set()
        self._submits = 0

    def __exit__(self, *_):
        self.may_shake.set()
        super().__exit__()

    def serve(self, raw, _number):
        self.may_shake.wait()
        try:
            with self.context.wrap_socket(raw, server_side=True) as wire:
                wire.settimeout(TIMEOUT)
                self.sessions.append(wire.session_reused)
                head, _, body = wire.recv(65536).partition(b"\r\n\r\n")
                wire.sendall(self._answer(head, body))
        except OSError:
            pass

    def _answer(self, head, body):
        if b"/in.php" in head.split(b"\r\n")[0]:
            self._submits += 1
            word = str(self._submits)
        else:
            word = "TOKEN" if b"action=get&" in body or b"action=get" in head else "100"
        text = json.dumps({"status": 1, "request": word}).encode()
        return b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)

    def config(self, **upstream):
        return {"upstream": {"url": self.url, "key": KEY, "slots": 400, "ca_file": self.certificate, **upstream}}

    def gate(self, **upstream):
        return Gate(merge(QUICK, self.config(**upstream)))


def submit(gate, sitekey):
    equal(get(gate.url + "/in.php", key=KEY, method="turnstile", sitekey=sitekey, pageurl="https://a.example/").text[:3], "OK|")


def solve(gate, sitekey):
    answer = http_request(gate.url + "/v1/solves", body={"method": "turnstile", "sitekey": sitekey, "pageurl": "https://example.com/", "wait": 15})
    equal(answer.status, 200, answer.text)


@test
def a_new_connection_resumes_a_session_until_the_certificates_are_read_again():
    """A resumed session is not compared with the certificates, so what SIGHUP took away must not live on in it."""
    with Vendor() as vendor, vendor.gate() as gate:
        for i in range(4):
            solve(gate, f"before-{i}")
        before = list(vendor.sessions)
        equal((before[0], before[-1]), (False, True), f"the first and the last of {before}; resumed")
        gate.process.send_signal(signal.SIGHUP)
        gate.wait_line("event=reloaded")
        known = len(vendor.sessions)
        for i in range(3):
            solve(gate, f"after-{i}")
        after = vendor.sessions[known:]
        equal((after[0], after[-1]), (False, True), f"the first and the last of {after}; resumed")


@test
def a_burst_opens_few_connections_at_a_time():
    """Each handshake takes the loop half a millisecond, and libcurl does all that are ready in one go."""
    with Vendor() as vendor, vendor.gate(connections=100) as gate:
        vendor.may_shake.clear()
        for i in range(60):
            submit(gate, f"first-{i}")
        wait_until(lambda: vendor.connections >= 1, "a connection")
        time.sleep(0.5)
        check(vendor.connections <= FIRST_OPENING, f"{vendor.connections} connections before it is known whether they can be shared")
        vendor.may_shake.set()
        wait_until(lambda: get(gate.url + "/v1/stats").json()["total"]["submits_accepted"] == 60, "all submits")
        vendor.may_shake.clear()
        time.sleep(0.2)
        known = vendor.connections
        for i in range(60):
            submit(gate, f"second-{i}")
        wait_until(lambda: vendor.connections > known, "another connection")
        time.sleep(0.5)
        check(vendor.connections - known <= 2 * MOST_OPENING, f"{vendor.connections - known} connections at a time")
        vendor.may_shake.set()
        wait_until(lambda: get(gate.url + "/v1/stats").json()["total"]["submits_accepted"] == 120, "all submits")


@test
def a_bundle_is_opened_once_at_the_start_for_all_connections_of_all_lanes():
    lanes, submits = 3, 2 * LANE_ROOM + 50
    with Vendor() as vendor, tempfile.NamedTemporaryFile() as trace, \
            traced_gate(trace, vendor.config(connections=submits)) as gate:
        equal(openings(trace, vendor.certificate), 1, "openings at the start")
        vendor.may_shake.clear()
        for i in range(submits):
            submit(gate, f"{i}")
        wait_until(lambda: vendor.connections == lanes * FIRST_OPENING, "the first connections of each lane")
        vendor.may_shake.set()
        wait_until(lambda: get(gate.url + "/v1/stats").json()["total"]["submits_accepted"] == submits, "all submits", 3 * TIMEOUT)
        check(len(vendor.sessions) >= submits, f"{len(vendor.sessions)} handshakes")
        check(vendor.sessions.count(False) >= lanes, "a handshake in full on each lane, which looks at the certificates")
        equal(openings(trace, vendor.certificate), 1, "openings after all connections")
        gate.signal_it(signal.SIGTERM)
        gate.process.wait(TIMEOUT)


run()
