#!/usr/bin/env python3
"""Pools: filled at start, each solution once, also after kill -9; an empty pool is no obstacle. (TAP)"""
import os
import sqlite3
import subprocess

from gateway import ADMIN, ALICE, BOB, PAGE, World, clients
from harness import KEY, Gate, check, equal, run, test, wait_until

TARGET = {"method": "turnstile", "sitekey": "0xSITE", "pageurl": PAGE}


def pool(**more):
    return {"pools": [{**TARGET, "size": 2, **more}]}


def first(world, key=None):
    return world.call("GET", "/v1/pools", key=key).json()["pools"][0]


def full(world, key=None):
    wait_until(lambda: first(world, key)["ready"] == 2, "the pool to be full")


def flights_on_disk(world):
    database = sqlite3.connect(os.path.join(world.gate.folder.name, "data", "solvegate.db"))
    try:
        return database.execute("SELECT count(*) FROM flight").fetchone()[0]
    finally:
        database.close()


@test
def it_is_filled_at_start_and_hands_out_each_solution_once():
    with World(pool()) as world:
        full(world)
        equal(world.paid(), 2, "paid before anybody asked")
        equal(first(world)["state"], "full", "state")
        equal(first(world)["name"], "turnstile example.com", "name")
        tokens = [world.solved() for _ in range(2)]
        equal([token["source"] for token in tokens], ["pool", "pool"], "sources")
        check(tokens[0]["solution"] != tokens[1]["solution"], "the same solution twice")
        full(world)
        equal(first(world)["served"], 2, "served")
        equal(world.counter("answered_pool"), 2, "answered_pool")


@test
def an_empty_pool_is_an_ordinary_flight():
    with World(pool(), sim=("--solve-time", "10m")) as world:
        task = world.solve(wait=None).json()["id"]
        wait_until(lambda: world.paid() == 3, "two submits for the pool and one for us")
        world.sim.solve()
        equal(world.call("GET", f"/v1/solves/{task}", wait=15).json()["source"], "api", "source")


@test
def other_targets_do_not_take_from_it():
    with World(pool()) as world:
        full(world)
        equal(world.solved(sitekey="0xOTHER")["source"], "api", "source")
        equal(first(world)["ready"], 2, "ready")


@test
def the_dialect_takes_from_it_too():
    with World(pool()) as world:
        full(world)
        task = world.submit_id()
        check(world.result_text(task).startswith("OK|"), "the solution")
        equal(first(world)["served"], 1, "served")


@test
def a_client_of_its_own_shares_it_with_nobody():
    with World({**pool(client="alice"), **clients()}) as world:
        full(world, ADMIN)
        equal(world.solved(key=BOB)["source"], "api", "bob's source")
        equal(world.solved(key=ALICE)["source"], "pool", "alice's source")


@test
def after_kill_9_the_rest_is_handed_out_once():
    with World({**pool(), "data_dir": "data"}) as world:
        full(world)
        one = world.solved()["solution"]
        full(world)
        paid = world.paid()
        wait_until(lambda: flights_on_disk(world) == 0, "the solutions on disk")
        world.gate.kill()
        world.gate.start()
        world.url = world.gate.url
        equal(first(world)["ready"], 2, "ready at once")
        two, three = world.solved()["solution"], world.solved()["solution"]
        equal(len({one, two, three}), 3, "different solutions")
        equal(paid, 3, "paid before the crash")


@test
def a_target_that_nobody_could_ask_for_stops_the_start():
    config = {"upstream": {"key": KEY}, "pools": [{"method": "turnstile", "sitekey": "x"}]}
    gate = Gate(config, expect_exit=78)
    done = subprocess.run(gate.command(), capture_output=True, text=True, timeout=30)
    equal(done.returncode, 78, "exit code")
    check("pools[0]: pageurl is required" in done.stderr, f"said {done.stderr}")


run()
