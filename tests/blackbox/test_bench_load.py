#!/usr/bin/env python3
"""solvegate bench: what it sends, and when, by method, dialect, ramp and trace. (TAP)"""
import json
import os
import signal
import subprocess
import tempfile
import time

from bench_world import Gateway, say
from cli_world import clean_environment, expect, solvegate
from gateway import World
from harness import TIMEOUT, binary, check, equal, run, test, wait_until

METHODS = ("turnstile", "userrecaptcha", "hcaptcha", "geetest", "geetest_v4", "base64")


@test
def every_method_is_solved_in_every_dialect():
    with World(sim=("--solve-time", "50ms")) as world:
        for dialect in ("v1", "vendor", "createtask"):
            for method in METHODS:
                before = world.paid()
                told = json.loads(expect(solvegate("bench", "--url", world.url, "--json", "-n", "3", "-m", method, "--dialect", dialect), 0).stdout)
                equal((told["method"], told["solved"], told["errors"]), (method, 3, {}), f"{method} by {dialect}")
                equal(world.paid() - before, 3, f"targets of their own, {method} by {dialect}")
                equal({submit["params"]["method"] for submit in world.sim.submits()[before:]}, {method}, f"{method} by {dialect}")


@test
def a_ramp_lets_a_closed_loop_grow():
    """A thousand at once after ten minutes, so in the beginning there are hardly any; and more from second to second."""
    with Gateway(lambda _number, _is_look: (202, b'{"id":"1","status":"queued"}')) as gateway:
        command = [binary("SOLVEGATE"), "bench", "--url", gateway.url, "-c", "1000", "-d", "10m", "--ramp", "10m", "--poll", "10m", "--json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=clean_environment())
        wait_until(lambda: gateway.calls >= 4, "four requests")
        process.send_signal(signal.SIGINT)
        told = json.loads(process.communicate(timeout=TIMEOUT)[0])
        check(4 <= told["sent"] <= told["seconds"] * 1000 / 600 + 1, f"{told['sent']} were sent in {told['seconds']} s")
        course = [interval["in_flight"] for interval in told["intervals"]]
        check(course == sorted(course) and 0 < course[0] and course[-1] == told["unfinished"], f"in flight: {course}")


@test
def a_stall_at_the_start_makes_no_rate_higher():
    """All answers come in one moment, long after the first request was due."""
    for load in (("--rate", "100/s", "-d", "1s"), ("--rate", "100/s", "-n", "100"), ("--rate", "50/s,150/s", "-d", "1s"),
                 ("--rate", "100/s", "-d", "1s", "--ramp", "500ms"), ("-c", "10", "-d", "1s")):
        begun = []

        def answer(_number, _is_look):
            begun.append(time.monotonic())
            time.sleep(max(0, begun[0] + 1 - time.monotonic()))
            return say({"id": "1", "status": "solved", "source": "api"})
        with Gateway(answer) as gateway:
            told = json.loads(expect(solvegate("bench", "--url", gateway.url, "--json", *load), 0).stdout)
        most = min(told["solved"], 100) if load[0] == "--rate" else told["solved"]
        check(0 < told["solves_per_second"] <= most + 0.01, f"{told['solves_per_second']}/s of {told['solved']} by {load}")


@test
def an_answer_that_never_comes_does_not_lower_the_rate():
    """The others were there in time; only the benchmark waited for it."""
    def answer(number, _is_look):
        if number == 1:
            time.sleep(4)
        return say({"id": "1", "status": "solved", "source": "api"})
    with Gateway(answer) as gateway:
        told = json.loads(expect(solvegate("bench", "--url", gateway.url, "--rate", "50/s", "-d", "1s", "--wait", "3s", "--json"), 0).stdout)
    equal((told["solved"], told["failed"]), (49, 1))
    check(told["seconds"] >= 3, told["seconds"])
    check(told["solves_per_second"] > 49 / 2.9, told["solves_per_second"])


@test
def a_trace_is_sent_again_faster_at_its_own_times():
    """Thirty seconds in three: no line before its time, and none by the clock of the recording."""
    times = []

    def solved(_number, _is_look):
        times.append(time.monotonic())
        return say({"id": "1", "status": "solved", "source": "api"})
    with Gateway(solved) as gateway, tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        with open(path, "w", encoding="utf-8") as file:
            for at in (0, 10, 10, 25, 30):
                file.write(json.dumps({"at": at, "target": str(at), "method": "turnstile"}) + "\n")
        begin = time.monotonic()
        told = json.loads(expect(solvegate("bench", "--url", gateway.url, "--replay", path, "--speed", "10", "--json"), 0).stdout)
    equal((told["sent"], told["solved"], told["load"]), (5, 5, "replay, 10 times as fast, 5 requests, 20 % repeats"))
    for at, due in zip(times, (0, 1, 1, 2.5, 3)):
        check(at - begin >= due, f"{at - begin:.2f} s after the start, and due after {due} s")
    check(3 <= told["seconds"] < 20, f"took {told['seconds']} s")


run()
