#!/usr/bin/env python3
"""How a gateway ends whose store is silent, away or another's: in time, with a code that tells, and nobody is left without a word. (TAP)"""
import signal
import socket
import subprocess
import threading
import time

from gateway import World
from harness import Gate, Skip, check, contains, equal, run, test, wait_until
from stores import EX_IOERR, RedisStore, metric, need_driver, on_each_store, world_on

LEEWAY = 4  # seconds: the store's last two, and a busy machine


class Waiting:
    """Somebody who asks and waits, in a thread."""

    def __init__(self, ask):
        self.reply = None
        self.thread = threading.Thread(target=self._ask, args=(ask,), daemon=True)
        self.thread.start()

    def _ask(self, ask):
        try:
            self.reply = ask()
        except OSError as error:
            self.reply = error

    def join(self):
        self.thread.join(30)
        return self.reply


def is_shutting_down(reply, what):
    check(not isinstance(reply, OSError) and reply is not None, f"{what} got no reply: {reply!r}")
    equal((reply.status, reply.json()["code"], reply.json()["retryable"]), (503, "shutting_down", True), what)
    check("retry-after" in reply.headers, "a Retry-After")


@on_each_store
def that_is_silent_does_not_keep_the_gateway(store):
    if store.kind == "SQLite":
        raise Skip("it is never silent")
    with world_on(store, {"drain_timeout": "1s"}) as world:
        world.solved(sitekey="kept")
        wait_until(lambda: metric(world, "store_records_waiting") == 0, "the journal")
        store.freeze()
        late = Waiting(lambda: world.solve(sitekey="late"))
        world.await_waiting(1)
        began = time.monotonic()
        world.gate.send_signal(signal.SIGTERM)
        equal(world.await_exit(), EX_IOERR, "exit code")
        took = time.monotonic() - began
        check(took < 1 + LEEWAY, f"it took {took:.1f} s to end")
        contains(world.gate.wait_line("event=store_unwritten"), "records=")
        is_shutting_down(late.join(), "who waited for the store")
        store.thaw()
        world.start()
        check(world.solved(sitekey="kept")["source"] == "dedup_cache", "what was there before")


@test
def who_still_waits_when_the_time_is_over_is_told_so():
    with World({"drain_timeout": "300ms"}, sim=("--solve-time", "10m")) as world:
        held = [Waiting(lambda: world.solve(sitekey="slow")) for _ in range(3)]
        world.await_waiting(3)
        world.gate.stop()
        for one in held:
            is_shutting_down(one.join(), "POST /v1/solves")


@test
def a_lock_that_another_gateway_took_ends_it_with_a_word_to_everybody():
    store = RedisStore()
    need_driver(store.url)
    with store, world_on(store, sim=("--solve-time", "10m")) as world:
        held = Waiting(lambda: world.solve(sitekey="slow"))
        world.await_accepted(1)
        store.ask("SET", "{solvegate}:lock", "elsewhere/1/abc/1")
        equal(world.await_exit(), EX_IOERR, "exit code")
        contains(world.gate.stderr(), "event=store_broken")
        is_shutting_down(held.join(), "POST /v1/solves")


@test
def a_connection_that_is_lost_while_a_lock_is_waited_for_tells_nothing_of_it():
    """Who has the lock is unknown then: 74, with which a service manager starts it again, and not 73, with which it may not."""
    store = RedisStore()
    need_driver(store.url)
    with store:
        store.ask("SET", "{solvegate}:lock", "elsewhere/1/abc/1", "PX", "9000")
        gate = Gate({"store": store.url, "upstream": {"key": "x"}})
        process = subprocess.Popen(gate.command(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=gate.env)
        try:
            time.sleep(2)
            equal(process.poll(), None, "it waits")
            store.ask("CLIENT", "KILL", "TYPE", "normal")
            words = process.communicate(timeout=30)[1]
        finally:
            process.kill()
            process.wait()
        equal(process.returncode, EX_IOERR, f"how it ended ({words})")
        contains(words, "event=store_unusable")


@test
def a_start_that_waits_for_its_store_ends_at_once():
    for scheme in ("redis", "postgresql"):
        for number in (signal.SIGTERM, signal.SIGINT):
            with socket.create_server(("127.0.0.1", 0)) as silent:
                url = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/0"
                need_driver(url)
                gate = Gate({"store": url, "upstream": {"key": "x"}})
                process = subprocess.Popen(gate.command(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=gate.env)
                try:
                    connection, _ = silent.accept()
                    began = time.monotonic()
                    process.send_signal(number)
                    words = process.communicate(timeout=30)[1]
                    took = time.monotonic() - began
                    connection.close()
                finally:
                    process.kill()
                    process.wait()
                equal(process.returncode, -number, f"how it ended ({words})")
                check(took < 1, f"{scheme}: it took {took:.1f} s to end")


run()
