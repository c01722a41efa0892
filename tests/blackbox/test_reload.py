#!/usr/bin/env python3
"""SIGHUP: a good configuration is taken while solves run, a bad one is refused and named. (TAP)"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

from gateway import ADMIN, ALICE, BOB, World, clients, rewrite
from harness import binary, check, contains, equal, run, test, wait_until
from proxy_world import certificate

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
def a_client_that_is_removed_pays_for_no_pool():
    pool = {"name": "ahead", "method": "turnstile", "sitekey": "pooled", "pageurl": "https://example.com/", "size": 1}
    with World({**clients(), "pools": [pool], "upstream": {"slots": 1}}) as world:
        wait_until(lambda: world.call("GET", "/v1/pools", key=ADMIN).json()["pools"][0]["ready"] == 1, "the pool is filled")

        def change(config):
            config["clients"] = [c for c in config["clients"] if c["name"] != "alice"]

        contains(rewrite(world, change)("pool_unpaid"), "pool=ahead", "the pool that she paid for")
        equal(world.solve(key=BOB, sitekey="pooled", pageurl="https://example.com/").json()["source"], "pool", "what is there")
        equal(world.solve(key=BOB, sitekey="other").status, 200, "one more, behind any refill")
        equal(world.paid(), 2, "paid for")


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


class Stall:
    """A file system that can stand still for the gateway that is started with .env, except for its loop."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.hold = os.path.join(self.folder.name, "hold")
        self.env = {"LD_PRELOAD": binary("SLOW_FILES_LIBRARY"), "HOLD_FILE": self.hold,
                    "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

    def begin(self):
        with open(self.hold, "wb"):
            pass

    def end(self):
        os.remove(self.hold)


@test
def everybody_is_answered_while_a_configuration_is_read():
    stall = Stall()
    with World(clients(), env=stall.env) as world:
        stall.begin()

        def change(config):
            config["clients"].append({"name": "carol", "key": CAROL})

        rewrite(world, change)
        time.sleep(0.3)
        equal(world.solve(key=ALICE).status, 200, "alice meanwhile")
        # Told once more while the file is read: it is read once more.
        world.gate.send_signal(signal.SIGHUP)
        wait_until(lambda: "event=reload_waits" in world.gate.stderr(), "the second is noticed")
        equal(world.solve(key=CAROL).status, 401, "carol meanwhile")
        stall.end()
        wait_until(lambda: world.solve(key=CAROL).status == 200, "carol afterwards")
        wait_until(lambda: world.gate.stderr().count("event=reloaded") == 2, "both reloads")


@test
def the_end_does_not_wait_for_a_configuration_that_is_being_read():
    stall = Stall()
    with World(clients(), env=stall.env) as world:
        stall.begin()
        rewrite(world, lambda config: None)
        time.sleep(0.3)
        equal(world.solve(key=ALICE).status, 200, "it serves")
        world.gate.stop()
        contains(world.gate.stderr(), "event=stopped", "the log")


def swap_for_pipe(path):
    """A pipe that nobody writes to takes the place of the file; returns what the file held."""
    with open(path, "rb") as file:
        held = file.read()
    os.remove(path)
    os.mkfifo(path)
    return held


@test
def a_pipe_in_the_place_of_a_file_is_refused_and_stops_nothing():
    with tempfile.TemporaryDirectory() as folder:
        authorities = [os.path.join(folder, name) for name in ("vendor.pem", "callers.pem")]
        for path in authorities:
            shutil.copy(certificate(folder), path)
        with World({"upstream": {"ca_file": authorities[0]}, "callbacks": {"ca_file": authorities[1]}}) as world:
            config = os.path.join(world.gate.folder.name, "config.json")
            for path, word in ((config, "reload_refused"), *((each, "certificates_unreadable") for each in authorities)):
                before = len(world.gate.stderr())
                held = swap_for_pipe(path)
                world.gate.send_signal(signal.SIGHUP)
                wait_until(lambda: f"event={word}" in world.gate.stderr()[before:], f"{word} of {path}")
                told = next(line for line in world.gate.stderr()[before:].splitlines() if f"event={word}" in line)
                contains(told, os.path.basename(path), "the file")
                contains(told, "no regular file", "why")
                os.remove(path)
                with open(path, "wb") as file:
                    file.write(held)
            before = len(world.gate.stderr())
            world.gate.send_signal(signal.SIGHUP)
            wait_until(lambda: "event=reloaded" in world.gate.stderr()[before:], "a good file afterwards")
            check("unreadable" not in world.gate.stderr()[before:], "the certificates are good again")


@test
def a_pipe_is_no_configuration_to_begin_with():
    with tempfile.TemporaryDirectory() as folder:
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        for command in (["serve", "-c", pipe], ["check", "-c", pipe], ["check", "--json", "-c", pipe]):
            done = subprocess.run([binary("SOLVEGATE"), *command], capture_output=True, text=True, timeout=20)
            equal(done.returncode, 78, f"exit code of {command[0]}")
            contains(done.stdout + done.stderr, f"{pipe}: cannot be read: it is no regular file", "the mistake")
        good = os.path.join(folder, "config.json")
        for option in ("upstream", "callbacks"):
            with open(good, "w", encoding="utf-8") as file:
                json.dump({"listen": ["127.0.0.1:0"], "upstream": {"key": "k" * 32}}, file)
            with open(good, encoding="utf-8") as file:
                config = json.load(file)
            config.setdefault(option, {})["ca_file"] = pipe
            with open(good, "w", encoding="utf-8") as file:
                json.dump(config, file)
            done = subprocess.run([binary("SOLVEGATE"), "serve", "-c", good], capture_output=True, text=True, timeout=20)
            equal(done.returncode, 78, f"exit code with {option}.ca_file")
            contains(done.stderr, pipe, "the file")


run()
