#!/usr/bin/env python3
"""The bars of `solvegate top`: requests by source, seconds and the last day, and the key that switches between them. (TAP)"""
import array
import fcntl
import json
import re
import termios
import threading

from cli_world import EX_USAGE, Terminal, expect, solvegate
from harness import TIMEOUT, Receiver, check, contains, equal, run, test, wait_until

ARRAYS = ("requests", "answered_api", "answered_dedup_wait", "answered_dedup_cache", "answered_idempotent", "answered_pool", "failed",
          "rejected", "flights", "queued", "slots_used", "solve_p50_ms", "solve_p95_ms")
BLANK = {"now": {"breaker": "closed"}, "total": {}, "today": {}, "days": []}


class Lines:
    """A gateway whose lines over time have so many points of each step; values(step, line, point) says what they are."""

    def __init__(self, values, run="a", **points):
        self.values, self.run, self.points = values, run, points
        self.fetched = []  # (step, page), None for the newest
        self.receiver = Receiver(self.answer)

    def answer(self, call):
        if call["path"] == "/v1/stats":
            return 200, json.dumps(BLANK).encode()
        if call["path"] != "/v1/series":
            return 404, b"{}"
        step = call["params"].get("step", "second")
        asked = call["params"].get("page")
        self.fetched.append((step, asked))
        points = self.points[step]
        page = max(0, points - 1) // 60 if asked is None else int(asked)
        numbers = range(60 * page, min(60 * page + 60, points))
        marks = [{"point": 0, "what": "started"}] if page == 0 else []
        return 200, json.dumps({"run": self.run, "step": step, "page": page, "first_page": max(0, (points - 1) // 60 - 24), "points": len(numbers),
                                "complete": len(numbers) == 60, "marks": marks,
                                **{line: [self.values(step, line, point) for point in numbers] for line in ARRAYS}}).encode()

    def __enter__(self):
        self.receiver.__enter__()
        self.url = self.receiver.url
        return self

    def __exit__(self, *error):
        self.receiver.__exit__(*error)


def bars(text):
    """The bars of each line and its figures, by title."""
    lines = re.split(r"\n(?:by the |the highest )", text)[1]
    found = re.findall(r"^(.{13})(.*?) ([^ ]+(?:, most [^ ]+)?)$", lines.split("\n", 1)[1], re.M)
    return {title.strip(): (drawn, figures) for title, drawn, figures in found}


def top(gateway, *args, **env):
    return expect(solvegate("top", "-n", "1", *args, "--url", gateway.url, env={"LC_ALL": "C", **env}), 0).stdout


@test
def requests_are_shown_by_source_and_what_did_not_occur_is_left_out():
    some = {"requests": 8, "answered_api": 1, "answered_dedup_wait": 2, "answered_dedup_cache": 4, "rejected": 1}
    with Lines(lambda step, line, point: some.get(line, 0), second=100, minute=1) as gateway:
        text = top(gateway)
        contains(text, "\nby the second, the last 48 s\n", "the title")
        shown = bars(text)
        for title, figure in (("requests", 8), ("own solve", 1), ("joined", 2), ("from memory", 4), ("refused", 1)):
            equal(shown[title], (48 * "#", f"{figure}, most {figure}"), title)
        equal(shown["saved"], (48 * "*", "86%"), "saved")
        check(not {"idempotent", "from a pool", "failed"} & set(shown), f"lines of zeros: {list(shown)}")
        equal(list(shown)[:7], ["requests", "own solve", "joined", "from memory", "refused", "in flight", "solve p95"], "the order")
        check("(m:" not in text, "a key, where there are none")


@test
def the_last_day_is_shown_by_the_minute():
    def values(step, line, point):
        if line != "requests" or step == "second":
            return 0
        return None if point < 125 else 90 if point == 1505 else 30 if point % 30 == 7 else 1
    with Lines(values, second=5, minute=1510) as gateway:
        text = top(gateway, "--step", "minute")
        contains(text, "\nthe highest minute of each 30, the last 24 h\n", "the title")
        # A column that is not known, then each with a minute of 30 requests, a third of the highest one in the newest column.
        equal(bars(text)["requests"], (" " + 46 * "-" + "#", "90, most 90"), "requests")
        equal(len(gateway.fetched), 25, "pages that were fetched")
        check(all(step == "minute" for step, _ in gateway.fetched), gateway.fetched)
        check("started" not in text, "a mark that is older than a day")
        gateway.points["minute"] = 45
        gateway.run = "b"
        text = top(gateway, "--step=minute")
        contains(text, "\nby the minute, the last 45 min\n", "the title of a young gateway")
        contains(text, "marks        S", "the mark of the start")
        gateway.points["minute"] = 130
        contains(top(gateway, "--step=minute"), "\nthe highest minute of each 5, the last 2 h\n", "the title after two hours")
        gateway.points["minute"] = 0
        contains(top(gateway, "--step=minute"), "\nby the minute, none is over yet\n", "the title in the first minute")
    contains(expect(solvegate("top", "--step", "minutes"), EX_USAGE, stdout="").stderr, 'unknown step "minutes", did you mean "minute"?')


@test
def a_key_switches_between_seconds_and_the_day():
    with Lines(lambda step, line, point: 1, second=70, minute=125) as gateway:
        with Terminal("top", "--interval", "100ms", env={"SOLVEGATE_URL": gateway.url}, lines=40) as terminal:
            terminal.wait_for(r"by the second, the last 48 s +\(m: the last 24 hours\)")
            terminal.type("m")
            terminal.wait_for(r"the highest minute of each 5, the last 2 h +\(m: the last seconds\)")
            # Complete pages are fetched once, and the newest one at each look.
            wait_until(lambda: (terminal.read(0.05), gateway.fetched.count(("minute", None)) > 3)[1], "more looks")
            equal(sorted(page for step, page in gateway.fetched if step == "minute" and page), ["0", "1"], "older pages")
            shown = len(terminal.shown)
            terminal.type("M")
            terminal.wait_for(r"by the second", since=shown)
            terminal.type("q")
            equal(terminal.ended(), 0, "exit code")


@test
def a_key_that_comes_while_the_gateway_is_slow_is_obeyed_after_it():
    slow = threading.Event()
    may_answer = threading.Event()

    def values(step, line, point):
        if slow.is_set() and step == "second":
            may_answer.wait(3 * TIMEOUT)
        return 1
    with Lines(values, second=70, minute=5) as gateway:
        with Terminal("top", "--interval", "100ms", env={"SOLVEGATE_URL": gateway.url}, lines=40) as terminal:
            terminal.wait_for("by the second")
            slow.set()
            before = len(gateway.fetched)
            wait_until(lambda: (terminal.read(0.05), len(gateway.fetched) > before)[1], "a call that hangs")
            terminal.type("m")
            wait_until(lambda: (terminal.read(0.2), termios_queue(terminal) == 0)[1], "the key to be read")
            may_answer.set()
            terminal.wait_for("by the minute, the last 5 min")
            terminal.type("q")
            equal(terminal.ended(), 0, "exit code")


def termios_queue(terminal):
    """Bytes that were typed and not read yet."""
    waiting = array.array("i", [0])
    fcntl.ioctl(terminal.terminal, termios.FIONREAD, waiting)
    return waiting[0]


@test
def a_small_screen_shows_sources_beside_errors_and_flights():
    some = {"requests": 8, "answered_api": 1, "answered_dedup_wait": 2, "answered_dedup_cache": 4}
    letter = {"created": "2026-01-31T23:59:59.123Z", "id": "1", "client": "x", "type": "turnstile", "class": "unsolvable", "error": "ERROR_X"}
    flight = {"key": "a" * 64, "type": "turnstile", "client": "x", "state": "solving", "age": 1, "requests": 1}
    with Lines(lambda step, line, point: some.get(line, 0), second=100, minute=100) as gateway:
        answer = gateway.answer

        def with_more(call):
            more = {"/v1/letters": {"letters": [letter] * 5, "total": 5, "next": None}, "/v1/flights": {"flights": [flight] * 9, "total": 9, "next": None}}
            return (200, json.dumps(more[call["path"]]).encode()) if call["path"] in more else answer(call)
        gateway.receiver.answer = with_more
        with Terminal("top", env={"SOLVEGATE_URL": gateway.url}) as terminal:
            screen = terminal.wait_screen(lambda shown: any("by the second" in line for line in shown), "the bars")
            equal(len(screen), 24, f"lines of {screen}")
            for words in ("requests  ", "own solve  ", "joined  ", "from memory  ", "RECENT ERRORS", "solving"):
                check(any(words in line for line in screen), f"{words!r} is not on the screen: {screen}")
            terminal.type("q")
            equal(terminal.ended(), 0, "exit code")


run()
