#!/usr/bin/env python3
"""HTTP/2 to the vendor: what a refused stream proves, what it does not, and a real terminator in front. (TAP)"""
import json
import os
import select
import shutil
import signal
import struct
import tempfile
import threading
import time

from gateway import QUICK, World, merge
from harness import KEY, TIMEOUT, Gate, check, equal, get, http_request, run, test, wait_until
from proxy_world import NginxOf, TlsListener, certificate
from store_world import openings, traced_gate

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, ACK, END_HEADERS = 1, 1, 4
NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM, CANCEL, HTTP_1_1_REQUIRED = 0, 2, 7, 8, 13
MAX_CONCURRENT_STREAMS = 3
STATUS_200 = b"\x88"  # RFC 7541: ":status 200" in the static table


class Vendor(TlsListener):
    """Speaks just enough HTTP/2 to take a request and to say anything about it; a submit gets the next of `script`."""

    PROTOCOLS = ["h2"]

    def __init__(self, script):
        self.script = list(script)
        self.submits = 0
        self.streams = []  # of each submit: the connection's number and the stream's
        self.polls = 0
        self.refuse_polls = 0  # so many that are not the first of their connection
        self.connections = 0
        self.held = []  # answers that wait until `hold` submits are there
        self.hold = 0
        self.flooded = 0  # bytes that the gateway took of a flood
        self.flood_is_over = threading.Event()
        self._lock = threading.Lock()

    def serve(self, raw, number):
        try:
            with self.context.wrap_socket(raw, server_side=True) as wire:
                wire.settimeout(TIMEOUT)
                check(exactly(wire, len(PREFACE)) == PREFACE, "no HTTP/2 preface")
                wire.sendall(frame(SETTINGS, 0, 0, b""))
                self._serve_streams(wire, number)
        except (OSError, EOFError):
            pass

    def _serve_streams(self, wire, number):
        bodies = {}
        while True:
            self._answer_held(wire)
            if self.hold > 0 and wire.pending() == 0 and not select.select([wire], [], [], 0.05)[0]:
                continue
            kind, flags, stream, payload = read_frame(wire)
            if kind == SETTINGS and not flags & ACK:
                wire.sendall(frame(SETTINGS, ACK, 0, b""))
            elif kind == PING and not flags & ACK:
                wire.sendall(frame(PING, ACK, 0, payload))
            elif kind == DATA:
                bodies[stream] = bodies.get(stream, b"") + payload
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                with self._lock:
                    ends = self._answer(wire, number, stream, bodies.pop(stream, b""))
                if ends:
                    return

    def _answer_held(self, wire):
        """Each connection's by its own thread: two must not use one at the same time."""
        with self._lock:
            mine = [held for held in self.held if held[0] is wire] if self.submits >= self.hold else []
            self.held = [held for held in self.held if held not in mine]
        for _, stream, task in mine:
            reply(wire, stream, {"status": 1, "request": task})

    def _answer(self, wire, number, stream, body):
        """True when the connection is over."""
        if b"action=get&" in body and self.refuse_polls > 0 and stream > 1:
            self.refuse_polls -= 1
            wire.sendall(frame(RST_STREAM, 0, stream, struct.pack(">I", REFUSED_STREAM)))
            return False
        if b"action=" in body:
            self.polls += 1
            reply(wire, stream, {"status": 1, "request": "7.50" if b"action=getbalance" in body else "TOKEN"})
            return False
        self.submits += 1
        self.streams.append((number, stream))
        what = self.script.pop(0) if self.script else "accept"
        if self.submits <= self.hold:
            self.held.append((wire, stream, str(7000 + self.submits)))
            return False
        if what == "accept":
            reply(wire, stream, {"status": 1, "request": str(7000 + self.submits)})
        elif what == "accept, and no further stream":
            wire.sendall(frame(SETTINGS, 0, 0, struct.pack(">HI", MAX_CONCURRENT_STREAMS, 0)))
            reply(wire, stream, {"status": 1, "request": str(7000 + self.submits)})
        elif what in FLOODS:
            self.flooded = 0
            try:
                begin, again = FLOODS[what](stream)
                wire.sendall(begin)
                while self.flooded < FLOOD_MAX_BYTES:
                    wire.sendall(again)
                    self.flooded += len(again)
            finally:
                self.flood_is_over.set()
        elif what == "goaway below":
            wire.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", stream - 2 if stream > 2 else 0, NO_ERROR)))
        elif what == "goaway at":
            wire.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", stream, NO_ERROR)))
            return True
        elif what == "end":
            return True
        elif what == "garbage":
            wire.sendall(b"HTTP/1.1 400 Bad\r\n\r\n")
            return True
        else:
            wire.sendall(frame(RST_STREAM, 0, stream, struct.pack(">I", what)))
        return False


def exactly(wire, count):
    data = b""
    while len(data) < count:
        more = wire.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def read_frame(wire):
    head = exactly(wire, 9)
    return head[3], head[4], struct.unpack(">I", head[5:])[0] & 0x7fffffff, exactly(wire, int.from_bytes(head[:3], "big"))


def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def reply(wire, stream, document):
    wire.sendall(frame(HEADERS, END_HEADERS, stream, STATUS_200) + frame(DATA, END_STREAM, stream, json.dumps(document).encode()))


# Up to a thousand answers to PING and SETTINGS may wait; more are an error to libcurl.
FLOODS = {
    "pings": lambda stream: (b"", 500 * frame(PING, 0, 0, b"12345678")),
    "settings": lambda stream: (b"", 500 * frame(SETTINGS, 0, 0, struct.pack(">HI", MAX_CONCURRENT_STREAMS, 100))),
    "empty data": lambda stream: (frame(HEADERS, END_HEADERS, stream, STATUS_200), 500 * frame(DATA, 0, stream, b"")),
}
FLOOD_MAX_BYTES = 64 * 1024 * 1024  # more than the buffers of both sockets


class Place:
    """A gateway whose vendor speaks HTTP/2 by this script."""

    def __init__(self, *script, **config):
        self.vendor = Vendor(script)
        self.config = merge({**QUICK, "ambiguity_window": "30s"}, config)

    def __enter__(self):
        self.vendor.__enter__()
        upstream = {"url": self.vendor.url, "key": KEY, "slots": 10, "ca_file": self.vendor.certificate}
        self.gate = Gate(merge({"upstream": upstream}, self.config))
        self.gate.__enter__()
        return self

    def __exit__(self, *error):
        try:
            self.gate.__exit__(*error)
        finally:
            self.vendor.__exit__(*error)

    def solve(self, sitekey="x", wait=10):
        return http_request(self.gate.url + "/v1/solves", body={
            "method": "turnstile", "sitekey": sitekey, "pageurl": "https://example.com/", "wait": wait})

    def counters(self):
        total = http_request(self.gate.url + "/v1/stats").json()["total"]
        return tuple(total[name] for name in ("submits_accepted", "submits_not_sent", "submits_ambiguous"))


@test
def a_refused_stream_was_not_sent_and_is_tried_again():
    with Place(REFUSED_STREAM) as place:
        equal(place.solve().json()["solution"], "TOKEN")
        equal((place.vendor.submits, place.counters()), (2, (1, 1, 0)), "one refused, one accepted")


@test
def a_stream_beyond_the_last_of_a_goaway_was_not_sent():
    with Place("goaway below") as place:
        equal(place.solve().json()["solution"], "TOKEN")
        equal((place.vendor.submits, place.counters()), (2, (1, 1, 0)), "one refused, one accepted")


@test
def a_goaway_says_the_same_on_a_connection_that_has_served_before():
    with Place("accept", "goaway below") as place:
        place.solve("first")
        equal(place.solve("second").json()["solution"], "TOKEN")
        equal((place.vendor.submits, place.counters()), (3, (2, 1, 0)), "one refused, two accepted")
        check(place.vendor.streams[1][1] > 1, "the refused stream was not the first of its connection")


@test
def what_libcurl_cannot_tell_from_a_dead_connection_is_ambiguous():
    # Of a connection that has served before it says only that it would send the request again.
    with Place("accept", REFUSED_STREAM) as place:
        place.solve("first")
        place.solve("second", wait=None)
        wait_until(lambda: place.counters()[2] == 1, "the second submit to be ambiguous")
        equal(place.vendor.submits, 2, "submits")
        equal(place.counters(), (1, 0, 1), "accepted, not sent, ambiguous")


@test
def any_other_end_of_a_stream_is_ambiguous_and_not_sent_again():
    for end in (INTERNAL_ERROR, CANCEL, NO_ERROR, "goaway at", "end"):
        for before in ([], ["accept"]):
            with Place(*before, end) as place:
                if before:
                    place.solve("first")
                place.solve("second", wait=None)
                wait_until(lambda: place.counters()[2] == 1, f"the submit that ended with {end} to be ambiguous")
                equal(place.vendor.submits, len(before) + 1, f"after {end}; submits")
                equal(place.counters(), (len(before), 0, 1), f"after {end}; counters")


@test
def a_stream_that_was_refused_before_proves_nothing_about_a_later_one():
    # libcurl forgets to forget it if the connection had served before, and says the same of the handle's next request.
    for end in (HTTP_1_1_REQUIRED, "garbage"):
        for refused in ("poll", "submit"):
            script = ["accept", *[REFUSED_STREAM] * (refused == "submit"), *[end] * 3]
            with Place(*script) as place:
                place.vendor.refuse_polls = int(refused == "poll")
                for i in range(len(script)):
                    place.solve(f"target-{i}", wait=None if i else 10)
                    wait_until(lambda: sum(place.counters()) > i, f"submit {i + 1}")
                equal(place.vendor.refuse_polls, 0, "polls that were not refused")
                equal(place.counters(), (1, 0, len(script) - 1), f"a {refused} was refused, later ones ended with {end}; accepted, not sent, ambiguous")
                equal(place.vendor.submits, len(script), f"a {refused} was refused, later ones ended with {end}; submits")


@test
def a_vendor_that_always_refuses_is_tried_as_often_as_one_that_is_away():
    with Place(*[REFUSED_STREAM] * 50, retry={"cap": "100ms"}) as place:
        answer = place.solve()
        equal((answer.status, answer.json()["code"]), (502, "vendor_unreachable"))
        equal((place.vendor.submits, place.counters()), (4, (0, 4, 0)))


# --- a vendor that allows no stream, and one that talks without end ---------------------------------

def cpu_seconds(gate):
    with open(f"/proc/{gate.process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@test
def a_connection_that_allows_no_further_stream_is_replaced_and_what_it_held_was_not_sent():
    with Place("accept, and no further stream", upstream={"submit_timeout": "1s", "poll_timeout": "1s"}, poll={"first": "5m"}) as place:
        place.solve("first", wait=None)
        wait_until(lambda: place.counters() == (1, 0, 0), "the first submit")
        before = cpu_seconds(place.gate)
        place.solve("second", wait=None)
        wait_until(lambda: sum(place.counters()) == 3, "the second submit to be sent again")
        equal(place.counters(), (2, 1, 0), "accepted, not sent, ambiguous")
        equal((place.vendor.submits, place.vendor.connections), (2, 2), "submits, and connections")
        used = cpu_seconds(place.gate) - before
        check(used < 0.5, f"it used the processor for {used} s while it waited for one second")


@test
def a_paid_task_is_polled_although_its_connection_allows_no_further_stream():
    with Place("accept, and no further stream", upstream={"poll_timeout": "1s"}) as place:
        equal(place.solve().json()["solution"], "TOKEN")
        equal(place.counters(), (1, 0, 0), "accepted, not sent, ambiguous")


@test
def a_flood_of_frames_is_cut_and_holds_up_nobody():
    for flood in FLOODS:
        with Place(flood) as place:
            before = cpu_seconds(place.gate)
            place.solve(wait=None)
            wait_until(place.vendor.flood_is_over.is_set, f"the end of {flood}")
            place.gate.wait_line("event=vendor_flood")
            check(place.vendor.flooded < FLOOD_MAX_BYTES, f"the gateway took all of {flood}")
            wait_until(lambda: place.counters() == (0, 0, 1), f"the submit to be ambiguous after {flood}")
            equal(place.vendor.submits, 1, "submits")
            used = cpu_seconds(place.gate) - before
            check(used < 1, f"{flood} took the processor for {used} s")


# --- the system's certificates --------------------------------------------------------------------


@test
def a_file_of_certificates_is_read_once_for_all_lanes_and_again_on_sighup():
    submits = 250  # a lane has room for a hundred
    trace = tempfile.NamedTemporaryFile()
    with Vendor([]) as vendor:
        vendor.hold = submits
        trusted = {"ca_file": vendor.certificate}
        with traced_gate(trace, {"upstream": {"url": vendor.url, "key": KEY, "slots": submits, "connections": submits, **trusted},
                                 "callbacks": trusted}) as gate:
            for i in range(submits):
                equal(get(gate.url + "/in.php", key=KEY, method="turnstile", sitekey=f"{i}", pageurl="https://a.example/").text[:3], "OK|")
            wait_until(lambda: http_request(gate.url + "/v1/stats").json()["total"]["submits_accepted"] == submits, "the submits")
            check(vendor.connections >= 3, f"{vendor.connections} connections")
            equal(openings(trace, vendor.certificate), 1, "openings of the file by all lanes")
            gate.signal_it(signal.SIGHUP)
            gate.wait_line("event=reloaded")
            equal(openings(trace, vendor.certificate), 2, "openings of the file after SIGHUP")
            gate.signal_it(signal.SIGTERM)
            gate.process.wait(TIMEOUT)


@test
def a_new_file_of_certificates_is_believed_after_sighup_and_a_broken_one_is_not_taken():
    with Vendor([]) as vendor, tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ca.pem")
        shutil.copy(certificate(folder), path)
        upstream = {"url": vendor.url, "key": KEY, "ca_file": path}
        with Gate(merge(QUICK, {"upstream": upstream, "retry": {"cap": "100ms"}, "breaker": {"probe": "300ms", "probe_max": "1s"}})) as gate:
            def solve(sitekey):
                return http_request(gate.url + "/v1/solves", body={
                    "method": "turnstile", "sitekey": sitekey, "pageurl": "https://example.com/", "wait": 15})

            equal(solve("before").status, 502, "of a vendor that the file does not vouch for")
            equal(vendor.submits, 0, "submits to it")
            shutil.copy(vendor.certificate, path)
            gate.process.send_signal(signal.SIGHUP)
            gate.wait_line("event=reloaded")
            wait_until(lambda: solve("after").status == 200, "the new file to be believed")
            with open(path, "w", encoding="ascii") as file:
                file.write("no certificate")
            gate.process.send_signal(signal.SIGHUP)
            gate.wait_line("event=certificates_unreadable")
            equal(solve("still").status, 200, "with what was read before")


@test
def the_systems_certificates_are_not_read_for_each_connection():
    trace = tempfile.NamedTemporaryFile()
    with Vendor([]) as vendor:
        with traced_gate(trace, {"upstream": {"url": vendor.url, "key": KEY}, "retry": {"cap": "100ms"}}) as gate:
            answer = http_request(gate.url + "/v1/solves", body={
                "method": "turnstile", "sitekey": "x", "pageurl": "https://example.com/", "wait": 15})
            equal((answer.status, answer.json()["code"]), (502, "vendor_unreachable"), "nobody vouches for this vendor")
            check(vendor.connections >= 4, f"{vendor.connections} connections")
            gate.signal_it(signal.SIGTERM)
            gate.process.wait(TIMEOUT)
    # Once to see whether the directory has as many, and once for all connections if it does not.
    count = openings(trace, "/etc/ssl/certs/ca-certificates.crt")
    check(1 <= count <= 2, f"the bundle was opened {count} times")


# --- a real terminator ----------------------------------------------------------------------------

class Terminator(NginxOf):
    host = "localhost"
    sites = """
    server {{
        listen 127.0.0.1:{port} ssl http2;
        location / {{ proxy_pass http://{upstream}; }}
    }}
"""


def solves_through_a_terminator(word, **upstream):
    """All calls to the vendor have this word in the terminator's log."""
    with World() as plain, Terminator(plain.sim.port) as nginx:
        config = merge(QUICK, {"upstream": {"url": f"https://127.0.0.1:{nginx.port}", "key": KEY, "slots": 20,
                                            "ca_file": nginx.certificate, **upstream}})
        with Gate(config) as gate:
            for i in range(20):
                answer = http_request(gate.url + "/v1/solves", body={
                    "method": "turnstile", "sitekey": f"h2-{i}", "pageurl": "https://example.com/", "wait": 15})
                equal(answer.status, 200, answer.text)
            total = http_request(gate.url + "/v1/stats").json()["total"]
        equal((total["submits_accepted"], plain.paid()), (20, 20), "paid once each")
        nginx.stop()
        lines = nginx.access_log()
        equal([line for line in lines if word not in line], [], f"calls that were not {word}")
        check(len(lines) >= 40, f"{len(lines)} calls")


@test
def solves_go_through_a_real_http2_terminator():
    solves_through_a_terminator("HTTP/2.0")


@test
def who_switches_http2_off_gets_http_1_1_from_a_vendor_that_speaks_both():
    solves_through_a_terminator("HTTP/1.1", http2=False)


run()
