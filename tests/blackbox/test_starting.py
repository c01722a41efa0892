#!/usr/bin/env python3
"""A start that takes long: the port is open from its beginning, and whoever comes meanwhile is heard first. (TAP)"""
import contextlib
import socket
import sqlite3
import threading
import time
import urllib.parse

from harness import Raw, check, equal, run, test, wait_until
from store_world import StoreWorld

# No poll is due within a test, and nothing but the window makes a submit go out again.
PATIENT = {"poll": {"first": "60s", "interval": "60s", "fallback_after": "60s"}, "upstream": {"submit_timeout": "60s"}}
WINDOW = 2


@contextlib.contextmanager
def held_up(world):
    """A start that waits for whoever has the database to itself, as it does for two seconds."""
    holder = sqlite3.connect(world.database, isolation_level=None, check_same_thread=False)
    # A writer alone would not do: a start that has nothing to write does not wait for it.
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN IMMEDIATE")
    world.before = world.gate.process
    starter = threading.Thread(target=world.start)
    starter.start()
    try:
        yield
    finally:
        holder.execute("ROLLBACK")
        holder.close()
        starter.join()


def connect(world):
    """As soon as anybody listens."""
    before = world.before
    def opened():
        check(world.gate.process is before or world.gate.process.poll() is None, "the gateway ended")
        with contextlib.suppress(OSError):
            return Raw(world.port)
        return None

    return wait_until(opened, "somebody to listen")


def is_ready(world):
    return any("ready on" in line for line in world.gate.output())


@test
def who_connects_while_it_starts_is_answered_when_it_is_ready():
    with StoreWorld() as world:
        world.solved()
        world.kill()
        with held_up(world):
            connection = connect(world)
            connection.send("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            check(connection.is_silent(0.2), "an answer before its rows are there")
            check(not is_ready(world), "ready before its rows are there")
        with connection:
            equal(connection.reply().status, 200, "the answer")


@test
def a_callback_that_comes_while_it_starts_spares_the_second_payment():
    config = {**PATIENT, "ambiguity_window": f"{WINDOW}s"}
    with StoreWorld(config, sim=("--solve-time", "1h"), callbacks=True) as world:
        world.sim.set_faults(script=["submit-hang"])
        told = world.submit_id(sitekey="unheard")
        wait_until(lambda: world.paid() == 1, "the submit")
        world.kill()
        time.sleep(WINDOW)
        [submit] = world.sim.submits()
        path = urllib.parse.urlsplit(submit["pingback"]).path
        with held_up(world):
            connection = connect(world)
            connection.send(f"GET {path}?id={submit['id']}&code=SIM_called HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with connection:
            equal(connection.reply().text, "OK", "the callback")
        equal(world.result_text(told), "OK|SIM_called")
        equal(world.paid(), 1, "accepted")


@test
def a_second_instance_on_the_same_data_dir_leaves_the_port_alone():
    with StoreWorld() as world:
        code, words = world.fail_to_start({"listen": world.config["listen"]})
        equal(code, 73, f"exit code ({words})")
        check("listen_failed" not in words, f"it tried to listen: {words}")
        check(world.solved()["solution"].startswith("SIM_"), "the first goes on")


@test
def a_port_that_is_taken_is_found_before_the_database_is_touched():
    with StoreWorld() as world, socket.create_server(("127.0.0.1", 0)) as taken:
        world.gate.stop()
        with open(world.database, "wb") as file:
            file.write(b"not a database")
        port = taken.getsockname()[1]
        code, words = world.fail_to_start({"listen": [f"127.0.0.1:{port}"]})
        equal(code, 69, f"exit code ({words})")
        check("listen_failed" in words, words)


run()
