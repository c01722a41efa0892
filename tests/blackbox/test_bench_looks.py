#!/usr/bin/env python3
"""solvegate bench: how often it looks for results, and how long it waits for them. (TAP)"""
import json
import time

from bench_world import Gateway, Vendor, enter_own_network, own_address, say
from cli_world import expect, solvegate
from gateway import World
from harness import KEY, check, equal, run, test


def report(url, *args, code=0):
    return json.loads(expect(solvegate("bench", "--url", url, "--json", *args), code).stdout)


def pending(_number, _is_look):
    return 202, b'{"id":"1","status":"queued"}'


@test
def a_gateway_that_does_not_hold_is_not_asked_without_pause():
    """The ask, and looks after 1 s and 2 s more; the third would be after the end."""
    with Gateway(pending) as gateway:
        told = report(gateway.url, "-n", "3", "-c", "3", "--wait", "5s", code=1)
        equal(told["errors"], {"bench_not_in_time": 3})
        check(gateway.calls <= 9, f"{gateway.calls} calls")


@test
def looks_count_among_the_requests_to_another_machine():
    with Gateway(pending, own_address()) as gateway:
        begin = time.monotonic()
        report(gateway.url, "--rate", "40/s", "-d", "3s", "--poll", "100ms", "--wait", "3s", code=1)
        rate = len(gateway.times) / (time.monotonic() - begin)
        check(20 < rate <= 105, f"{rate} calls a second")
    with Vendor(solve_s=60, host=own_address()) as vendor:
        begin = time.monotonic()
        done = solvegate("bench", "vendor", "--url", vendor.url, "--yes", "--budget", "1", "--price", "0.01", "-c", "30", "-n", "30",
                         "--poll", "100ms", "--wait", "3s", env={"CAPTCHAAI_API_KEY": KEY})
        expect(done, 1)
        rate = len(vendor.times) / (time.monotonic() - begin)
        check(20 < rate <= 105, f"{rate} calls a second")


@test
def a_look_that_was_held_is_followed_by_the_next_at_once():
    def held(number, is_look):
        time.sleep(0.7)
        return say({"id": "1", "status": "solved", "source": "api"}) if number == 3 else pending(number, is_look)
    with Gateway(held) as gateway:
        told = report(gateway.url, "-n", "1")
        check(2100 <= told["latency_ms"]["max"] < 2900, told["latency_ms"])


@test
def an_answer_after_wait_is_not_in_time():
    def slow(_number, _is_look):
        time.sleep(2.5)
        return say({"id": "1", "status": "solved", "source": "api"})
    with Gateway(slow) as gateway:
        told = report(gateway.url, "-n", "4", "-c", "2", "--wait", "1s", code=1)
        equal((told["solved"], told["errors"]), (0, {"bench_not_in_time": 4}))
        check(told["seconds"] < 2.5, f"took {told['seconds']} s")
    with World(sim=("--solve-time", "2500ms")) as world:
        for dialect in ("v1", "vendor", "createtask"):
            told = report(world.url, "-n", "4", "-c", "2", "--wait", "1s", "--dialect", dialect, code=1)
            equal((told["solved"], told["errors"]), (0, {"bench_not_in_time": 4}), dialect)
            check(told["seconds"] < 3.5, f"{dialect}: took {told['seconds']} s")


@test
def a_vendor_that_never_answers_is_given_up():
    silent = Vendor()
    answer = silent.reply
    silent.reply = lambda path, body, calls: time.sleep(20) if path.startswith("/in.php") else answer(path, body, calls)
    with silent as vendor:
        begin = time.monotonic()
        done = solvegate("bench", "vendor", "--url", vendor.url, "--yes", "--budget", "1", "--json", "-n", "1", "--wait", "1s",
                         env={"CAPTCHAAI_API_KEY": KEY})
        equal(json.loads(expect(done, 1).stdout)["rows"][0]["errors"], {"bench_not_in_time": 1})
        check(time.monotonic() - begin < 8, "it hung on")


enter_own_network()
run()
