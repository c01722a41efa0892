#!/usr/bin/env python3
"""SIGHUP: a good configuration is taken while solves run, a bad one is refused and named. (TAP)"""
import json
import os
import signal
import time

from gateway import ADMIN, ALICE, BOB, World, clients, rewrite
from harness import check, equal, run, test, wait_until

CAROL = "carol-carol-carol-carol-carol-32"


@test
def clients_come_and_go_and_keep_what_they_started():
    with World(clients(), sim=("--solve-time", "1s")) as world:
        task = world.submit_id(key=ALICE)
        equal(world.solve(key=CAROL).status, 401, "carol before")

        def change(config):
            config["clients"] = [{"name": "carol", "key": CAROL}] + [c for c in config["clients"] if c["name"] != "bob"]

        rewrite(world, change)("reloaded")
        check(world.result_text(task, key=ALICE).startswith("OK|"), "alice's solve goes on")
        equal(world.solve(key=BOB).status, 401, "bob is gone")
        equal(world.solve(key=CAROL).status, 200, "carol may come")
        equal(world.call("GET", "/v1/stats", key=ADMIN).status, 200, "admin is still admin")


@test
def a_key_can_be_changed_without_a_restart():
    with World(clients()) as world:
        equal(world.solve(key=ALICE).status, 200, "the old key")

        def change(config):
            config["clients"][0]["key"] = CAROL

        rewrite(world, change)("reloaded")
        check("restart_needed" not in world.gate.stderr(), "nothing else changed")
        equal(world.solve(key=ALICE).status, 401, "the old key afterwards")
        equal(world.solve(key=CAROL).json()["source"], "dedup_cache", "the new key is the same client")


@test
def a_bad_file_is_refused_and_everything_stays():
    with World() as world:
        said = rewrite(world, '{"upstream": {"slots": "many"}, "nonsense": 1}')
        check("upstream.slots" in said("reload_refused"), "the mistake is named")
        equal(world.solve().status, 200, "it still serves")
        check("event=reloaded" not in world.gate.stderr(), "reloaded")


@test
def what_takes_a_restart_is_named_and_stays():
    with World() as world:
        def change(config):
            config["listen"] = ["127.0.0.1:1"]
            config["upstream"]["key"] = "another"
            config["limits"] = {"requests": 5, "partial_bytes": "3MiB"}
            config["log"] = {"level": "debug"}

        said = rewrite(world, change)("restart_needed")
        check(all(word in said for word in ("listen", "upstream.key", "limits.requests", "limits.partial_bytes")), said)
        check("log.level" not in said, said)
        check("another" not in world.gate.stderr(), "the key is in the log")
        equal(world.solve().status, 200, "it still serves, with the old key")


@test
def a_budget_and_a_lifetime_change_from_now_on():
    with World({**clients(alice={"budget_per_day": 1})}) as world:
        equal(world.solve(key=ALICE, sitekey="a").status, 200, "the first")
        equal(world.solve(key=ALICE, sitekey="b").status, 429, "the second")

        def change(config):
            config["clients"][0]["budget_per_day"] = 5
            config["cache"] = {"ttl": {"turnstile": "11s"}}

        rewrite(world, change)("reloaded")
        reply = world.solve(key=ALICE, sitekey="b")
        equal(reply.status, 200, "the second, with more budget")
        check(reply.json()["expires_in"] <= 11, f"lives {reply.json()['expires_in']} s")


@test
def everybody_is_answered_while_a_configuration_is_read():
    with World(clients()) as world:
        path = os.path.join(world.gate.folder.name, "config.json")
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
        config["clients"].append({"name": "carol", "key": CAROL})
        # Reading it takes until somebody writes.
        os.remove(path)
        os.mkfifo(path)
        world.gate.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        equal(world.solve(key=ALICE).status, 200, "alice meanwhile")
        # Told once more while the file is read: it is read once more.
        world.gate.send_signal(signal.SIGHUP)
        equal(world.solve(key=CAROL).status, 401, "carol meanwhile")
        for _ in range(2):
            with open(path, "w", encoding="utf-8") as file:
                file.write(json.dumps(config))
            wait_until(lambda: world.solve(key=CAROL).status == 200, "carol afterwards")
        wait_until(lambda: world.gate.stderr().count("event=reloaded") == 2, "both reloads")


run()
