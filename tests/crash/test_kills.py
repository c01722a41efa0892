#!/usr/bin/env python3
"""kill -9 at random moments under mixed load: nothing paid is lost, nothing is paid twice without an excuse. (TAP)

    test_kills.py [--full] [--store sqlite|redis|postgres] [--seed N] [--kills N] [--only TEXT]
"""
import concurrent.futures
import contextlib
import random
import sqlite3
import statistics
import sys
import time

from crash_world import CrashWorld  # first: it knows where the harness is
from callers import Caller, Crowd
from harness import Skip, check, get, run, test, wait_until
from judge import Judge
from stores import KINDS, need_driver

IS_FULL = "--full" in sys.argv


def option(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


SEED = option("--seed", random.SystemRandom().randrange(2**32))
CALLERS = 32
STORE = sys.argv[sys.argv.index("--store") + 1] if "--store" in sys.argv else "sqlite"


@contextlib.contextmanager
def server():
    """The store of this run; None if it is a directory."""
    if STORE == "sqlite":
        yield None
        return
    store = KINDS[STORE]()
    need_driver(store.url)
    with store:
        yield store


def need_directory():
    if STORE != "sqlite":
        raise Skip("rows are put into the file by hand")


def kill_both_again_and_again(world, draw, kills):
    """Never the gateway while the store is dead: what it handed out meanwhile is in its memory alone, as docs/storage.md says."""
    for _ in range(kills):
        time.sleep(draw.uniform(0, 1))
        if draw.random() < 0.5:
            world.kill_server(draw.choice([0, draw.uniform(0, 1.5)]))
        else:
            world.kill()
            world.start()


def kill_again_and_again(world, draw, kills):
    for _ in range(kills):
        if draw.random() < 0.2:
            world.kill()
            world.kill_while_starting(draw.uniform(0.01, 0.4))
        else:
            time.sleep(draw.choice([draw.uniform(0, 0.3), draw.uniform(0, 1), draw.uniform(1.6, 2.6)]))
            world.kill()
        world.start()


def ask_again(world, needs):
    """After one more death everything comes from the disk: told ids, idempotency keys and what was abandoned."""
    world.kill()
    world.start()
    # Under single reuse whoever asks while the abandoned solve is still under way gets one of its own.
    wait_until(lambda: get(world.url + "/v1/flights").json()["total"] == 0, "what is under way to end", 60)
    caller = Caller(world.url)

    def ask(need):
        for task in need.ids:
            caller.poll(need, task)
        if need.idempotency and not need.problems:
            caller.hold(need)
        if need.is_abandoned:
            caller.hold(need)

    # A few at a time: some take a solve of two seconds.
    with concurrent.futures.ThreadPoolExecutor(CALLERS // 2) as callers:
        for _ in callers.map(ask, needs):
            pass


def campaign(name, kills, sim=(), faults=None, callbacks=True, kill_them=kill_again_and_again):
    """kills is (short run, full run)."""
    seed = f"{SEED} {name}"
    draw = random.Random(seed)
    options = ("--solve-time", "uniform:100ms-700ms", "--seed", str(SEED), "--result-ttl", "1h", *sim)
    with server() as store, CrashWorld(options, callbacks=callbacks, store=store) as world:
        if faults:
            world.sim.set_faults(faults)
        crowd = Crowd(world.url, seed, CALLERS).start()
        try:
            kill_them(world, draw, option("--kills", kills[IS_FULL]))
            world.sim.set_faults({})
        finally:
            crowd.stop()
        before = world.sim.totals()["accepted"]
        ask_again(world, crowd.needs)
        again = world.sim.totals()["accepted"] - before
        print(f"# {Judge(world, crowd.needs).judge()}; {len(world.outages)} deaths of the server; {again} submits when all asked again")


@test
def nothing_is_lost_or_paid_twice_with_callbacks():
    campaign("callbacks", (10, 80))


@test
def nothing_is_lost_or_paid_twice_without_callbacks():
    campaign("polls", (8, 60), callbacks=False)


@test
def lost_replies_and_lost_callbacks_cost_again_only_together():
    campaign("losses", (7, 60), faults={
        "submit-lost": 0.02, "submit-lost-reset": 0.02, "callback-drop": 0.15, "callback-twice": 0.1,
        "callback-early": 0.1, "poll-close": 0.05, "poll-5xx": 0.03})


@test
def nothing_is_lost_or_paid_twice_when_the_server_is_killed():
    if STORE == "sqlite":
        raise Skip("a directory has no server")
    campaign("server", (8, 60), kill_them=kill_both_again_and_again)


def pad(world, count):
    """So many solutions that a start takes long; each is another target's."""
    world.solved(sitekey="padding")
    world.kill()
    database = sqlite3.connect(world.database)
    names = [row[1] for row in database.execute("PRAGMA table_info(solution)")]
    values = {name: name for name in names}
    values.update(id="n * 1000003", flight="0", attempt="0", key="CAST(printf('%032d', n) AS BLOB)",
                  text="CAST(hex(randomblob(600)) AS BLOB)", task="CAST(n AS TEXT)")
    with database:
        database.execute(
            f"WITH RECURSIVE numbers(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count}) "
            f"INSERT INTO solution SELECT {', '.join(values[name] for name in names)} FROM solution, numbers")
    database.close()
    world.sim.reset()
    world.deaths.clear()
    world.start()


def start_times(world):
    """Medians of the seconds until somebody listens and until it answers."""
    bounds = [bound for bound, _ in world.watch.spans()]
    pairs = [(next(bound for bound in bounds if bound > since) - since, ready - since) for since, ready in world.starts]
    return (statistics.median(column) for column in zip(*pairs))


def kill_while_many_rows_start(name, rows, kills, faults=None):
    """A vendor that solves in 250 ms, so that callbacks come while a gateway is dead or starts."""
    need_directory()
    seed = f"{SEED} {name}"
    draw = random.Random(seed)
    options = ("--solve-time", "250ms", "--seed", str(SEED), "--result-ttl", "1h")
    with CrashWorld(options) as world:
        pad(world, rows)
        world.sim.set_faults(faults or {})
        crowd = Crowd(world.url, seed, CALLERS).start()
        try:
            for _ in range(option("--kills", kills[IS_FULL])):
                time.sleep(draw.uniform(0.2, 0.8))
                world.kill()
                world.start()
            world.sim.set_faults({})
        finally:
            crowd.stop()
        ask_again(world, crowd.needs)
        judge = Judge(world, crowd.needs)
        missed = judge.callbacks_are_missed_only_without_a_port()
        line = judge.judge()
        bound, ready = start_times(world)
        print(f"# {line}; {missed} callbacks missed; listening after {bound * 1000:.0f} ms, ready after {ready * 1000:.0f} ms")
        check(bound < 0.8 * ready, f"listening after {bound:.3f} s, ready after {ready:.3f} s")


@test
def callbacks_wait_while_a_gateway_with_many_rows_starts():
    kill_while_many_rows_start("rows", 20_000, (6, 40))


@test
def lost_replies_are_paid_again_only_where_the_callback_met_a_closed_port():
    kill_while_many_rows_start("rows and losses", 30_000, (6, 100), {"submit-lost": 0.05, "submit-lost-reset": 0.05})


print(f"# seed {SEED}")
run(beside=1 if IS_FULL else 3)
