#!/usr/bin/env python3
"""What a gateway does with what its predecessor left, and how fast: 100 000 open flights in under two seconds. (TAP)

    test_recovery.py [--full] [--only TEXT]
"""
import json
import os
import signal
import socket
import sqlite3
import sys
import time

from crash_world import CrashWorld  # first: it knows where the harness is
from callers import Caller, Need
from harness import KEY, Receiver, Skip, check, equal, get, run, test, wait_until
from store_world import StoreWorld, WallClock, is_sanitized

FLIGHTS = 100_000
MOST_SECONDS = 2.0
# With sanitizers everything takes so much longer; then only a disaster is found.
MOST_SECONDS_SANITIZED = 40.0

# How often the writer deletes what nobody needs any more.
TIDY_SECONDS = 300

PATIENT = {"poll": {"first": "60s", "interval": "60s", "fallback_after": "60s"}}


def multiply(data, count):
    """The only open flight of a database, its attempt and its request, so many times more."""
    database = sqlite3.connect(os.path.join(data, "solvegate.db"))
    with database:
        for table, key in (("flight", "id"), ("attempt", "name"), ("request", "id")):
            equal(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0], 1, f"rows in {table}")
            names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            # Ids are spread as random ones are, and the flight is the same in all three.
            spread = "n * 2654435761 % 4294967296"
            values = {name: name for name in names}
            values["id" if table == "flight" else "flight"] = f"({spread}) * 1073741824 + n"
            if table != "flight":
                values[key] = f"({spread}) * 1048576 + n"
            if "key" in names:
                values["key"] = "CAST(printf('%032d', n) AS BLOB)"
            if table == "attempt":
                values["task"] = "CAST(7000000000 + n AS TEXT)"
            database.execute(
                f"WITH RECURSIVE numbers(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count}) "
                f"INSERT INTO {table} SELECT {', '.join(values[name] for name in names)} FROM {table}, numbers")
            equal(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0], count, f"rows in {table}")
    database.close()


@test
def a_hundred_thousand_open_flights_are_recovered_in_under_two_seconds():
    config = {"limits": {"flights": 2 * FLIGHTS, "requests": 4 * FLIGHTS}}
    with CrashWorld(("--solve-time", "1h"), config) as world:
        need = Need("first", "shared")
        task = Caller(world.url).submit(need)
        wait_until(lambda: world.sim.totals()["accepted"] == 1, "the submit")
        world.await_journaled_task()
        world.kill()
        multiply(world.data, FLIGHTS)
        # A vendor that is slow to answer, so that nothing but the start is measured.
        with Receiver(lambda call: time.sleep(30)) as vendor:
            world.gate.config["upstream"]["url"] = vendor.url
            most = MOST_SECONDS_SANITIZED if is_sanitized() else MOST_SECONDS
            took = start_anew(world)
            for _ in range(5):
                took = min(took, start_anew(world)) if took >= most else took
            stats = get(world.url + "/v1/stats").json()
            equal(get(world.url + "/v1/flights", limit=1).json()["total"], FLIGHTS, f"flights in {stats}")
            equal(get(world.url + "/res.php", key=KEY, action="get", id=task).text, "CAPCHA_NOT_READY")
            print(f"# {world.gate.wait_line('restored')}")
            print(f"# start to ready with {FLIGHTS} flights, attempts and requests: {took:.2f} s")
            check(took < most, f"took {took:.2f} s, more than {most:g}")
            world.gate.kill()


def start_anew(world):
    """Seconds from start to ready; others may need the machine, so the best of some tries counts."""
    world.gate.kill()
    world.gate.stop()
    started = time.monotonic()
    world.start()
    return time.monotonic() - started


@test
def paid_tasks_are_asked_for_at_once_with_the_same_ids():
    with CrashWorld(("--solve-time", "500ms"), PATIENT, callbacks=False) as world:
        needs = [Need(f"paid-{i}", "shared") for i in range(20)]
        caller = Caller(world.url)
        for need in needs:
            caller.submit(need)
        wait_until(lambda: world.sim.totals()["accepted"] == 20, "the submits")
        world.await_journaled_task(20)
        wait_until(lambda: world.sim.totals()["solved"] == 20, "the solves")
        equal(world.sim.totals()["polls"], 0, "polls before the death")
        world.kill()
        world.start()
        ready = time.monotonic()
        for need in needs:
            caller.poll(need, need.ids[0])
            equal(len(need.tokens), 1, f"tokens of {need}")
        check(time.monotonic() - ready < 45, "not only at the next poll")
        totals = world.sim.totals()
        equal((totals["accepted"], totals["polls"]), (20, 20), "submits and polls")


@test
def an_intent_without_an_outcome_waits_out_its_window_and_no_longer():
    config = {**PATIENT, "ambiguity_window": "4s", "upstream": {"submit_timeout": "60s"}}
    with CrashWorld(("--solve-time", "100ms"), config) as world:
        world.sim.set_faults({"submit-hang": 1, "callback-drop": 1})
        need = Need("unheard", "shared")
        caller = Caller(world.url)
        asked = time.time()
        caller.submit(need)
        wait_until(lambda: world.sim.totals()["accepted"] == 1, "the submit")
        world.kill()
        world.sim.set_faults({})
        world.start()
        caller.poll(need, need.ids[0])
        equal(len(need.tokens), 1, f"tokens of {need}")
        submits = world.sim.submits()
        equal(len(submits), 2, "submits")
        gap = submits[1]["at"] - asked
        check(3.9 < gap < 30, f"resent after {gap:.1f} s instead of about 4")


def check_resend(world):
    """As many submits as the vendor got, whether or not the machine was too slow for one window."""
    line = world.gate.wait_line("event=paid")
    words = dict(word.split("=", 1) for word in line.split() if "=" in word)
    submits = world.sim.totals()["accepted"]
    check(submits >= 2, f"{submits} submits")
    equal((words["attempt"], words["cause"]), (str(submits), "resend"), line)
    equal((words["class"], words["error"]), ("ambiguous", "ERROR_AMBIGUOUS_SUBMIT"), line)


def die_with_a_lost_reply(world, ask, submits=1):
    """Several times within the window of a submit that nobody hears of, and of those that follow it."""
    world.sim.set_faults({"submit-hang": 1, "callback-drop": 1})
    ask()
    wait_until(lambda: world.sim.totals()["accepted"] == 1, "the submit")
    for _ in range(3):
        world.kill()
        world.start()
    wait_until(lambda: world.sim.totals()["accepted"] >= submits, "the resends")
    world.kill()
    world.sim.set_faults({})
    world.start()


UNHEARD = {"poll": {"first": "100ms", "interval": "1s"}, "ambiguity_window": "12s", "upstream": {"submit_timeout": "60s"}}


def a_resend_says_so(callbacks):
    long_ones_only("half a minute")
    with CrashWorld(("--solve-time", "100ms"), UNHEARD, callbacks=callbacks) as world:
        need = Need("again", "shared")
        caller = Caller(world.url)
        die_with_a_lost_reply(world, lambda: caller.submit(need), submits=2)
        caller.poll(need, need.ids[0])
        equal(len(need.tokens), 1, f"tokens of {need}")
        check_resend(world)


@test
def a_resend_says_so_however_often_we_died_within_the_window():
    a_resend_says_so(callbacks=True)


@test
def a_resend_says_so_also_without_callbacks():
    a_resend_says_so(callbacks=False)


@test
def who_asks_anew_for_what_stayed_unheard_of_sends_it_again():
    with CrashWorld(("--solve-time", "100ms"), UNHEARD, callbacks=False) as world:
        target = {"method": "turnstile", "sitekey": "anew", "pageurl": "https://example.com/"}

        def ask_and_hang_up():
            with socket.create_connection(("127.0.0.1", world.port)) as caller:
                body = json.dumps({**target, "wait": 50})
                caller.sendall(f"POST /v1/solves HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                               f"X-Api-Key: {KEY}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
                wait_until(lambda: world.sim.totals()["accepted"] == 1, "the submit")

        die_with_a_lost_reply(world, ask_and_hang_up)
        wait_until(lambda: get(world.url + "/v1/flights").json()["total"] == 0, "the end of the window")
        world.kill()
        world.start()
        equal(get(world.url + "/in.php", key=KEY, **target).text[:3], "OK|")
        check_resend(world)


def long_ones_only(what):
    if "--full" not in sys.argv:
        raise Skip(f"takes {what}: ./dev test crash")


@test
def tidying_after_the_clock_was_set_leaves_what_is_fresh():
    long_ones_only("five minutes")
    leaps = (-3600, 3600)
    clocks = [WallClock() for _ in leaps]
    config = {"cache": {"ttl": {"turnstile": "30m"}}}
    with StoreWorld(config, env=clocks[0].env) as back, StoreWorld(config, env=clocks[1].env) as forth:
        for world, clock, leap in zip((back, forth), clocks, leaps):
            world.solved(sitekey="before the leap")
            clock.jump(leap)
            world.solved(sitekey="after the leap")
        time.sleep(TIDY_SECONDS + 5)
        for world, clock in zip((back, forth), clocks):
            world.kill()
            world.start(env=clock.env)
            for sitekey in ("before the leap", "after the leap"):
                equal(world.solved(sitekey=sitekey)["source"], "dedup_cache", f"source of what was solved {sitekey}")
            equal(world.paid(), 2, "accepted")


@test
def a_minute_of_standing_still_loses_nothing_and_pays_nothing_again():
    """With the timeouts that everybody has, with callbacks and without; the vendor solves while nobody listens."""
    long_ones_only("two minutes")
    sim = ("--solve-time", "uniform:5s-40s")
    with StoreWorld(sim=sim, callbacks=True) as called, StoreWorld(sim=sim) as asking:
        worlds = (called, asking)
        tasks = [(world, world.submit_id(sitekey=f"still-{i}")) for world in worlds for i in range(30)]
        for world in worlds:
            world.await_accepted(30)
            world.gate.send_signal(signal.SIGSTOP)
        time.sleep(60)
        for world in worlds:
            world.gate.send_signal(signal.SIGCONT)
        for world, task in tasks:
            wait_until(lambda: world.result(task).text != "CAPCHA_NOT_READY", f"task {task}", timeout=100)
            check(world.result(task).text.startswith("OK|SIM_"), f"{task}: {world.result(task).text}")
        for world in worlds:
            equal((world.paid(), world.counter("resends"), world.counter("letters")), (30, 0, 0), "paid, resent, letters")


run()
