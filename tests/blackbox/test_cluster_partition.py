#!/usr/bin/env python3
"""Two gateways on one store, and one of them is cut off from it while the server keeps its sessions. (TAP)"""
import contextlib
import signal
import threading
import time

from cable import Cable
from cluster_world import Caller, Cluster, on_each_adopter, on_servers
from harness import binary, check, contains, equal, get, run, wait_until
from stores import metric

# Shorter than the server's own patience with a session, and than the lock on a gateway's name.
LEASE = {"cluster": {"lease": "2s", "heartbeat": "250ms"}, "drain_timeout": "1s"}
# Nothing is written while nothing happens.
QUIET = {"poll": {"first": "10m", "interval": "10m"}}
EX_CANTCREAT = 73
STALL_MAX = 3  # seconds, on a busy machine


class Loop(threading.Thread):
    """Asks a gateway all the time whether it lives, and keeps the longest time that it took to say so."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.url = node.url
        self.longest = 0
        self.asked = 0
        self.is_over = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.join()

    def run(self):
        while not self.is_over.wait(0.05):
            began = time.monotonic()
            equal(get(self.url + "/livez").status, 200, "/livez")
            self.longest = max(self.longest, time.monotonic() - began)
            self.asked += 1


@contextlib.contextmanager
def divided(store, config=None):
    """A cluster with gateway a behind a cable, and b directly on the store, with an open task of a: its request's id."""
    with Cable(store.port) as cable, Cluster(store, count=0, config={**LEASE, **(config or {})}, sim=("--solve-time", "10m")) as cluster:
        for name, more in (("a", {"store": cable.url(store.url)}), ("b", {})):
            cluster.add(name, more)
        task = cluster[0].submit_id(sitekey="k")
        cluster[0].await_accepted(1)
        yield cable, cluster, task


@on_each_adopter
def one_that_was_cut_off_joins_again_though_the_server_keeps_its_session(store):
    """The lock on its name is its own still, held by a session that nobody can end but the server. Nobody waits for it meanwhile."""
    with divided(store) as (cable, cluster, task), Loop(cluster[0]) as loop:
        cable.cut()
        cluster[1].wait_line("event=node_adopted", 40)
        cable.mend()
        cluster[0].wait_line("event=node_fenced", 40)
        wait_until(lambda: get(cluster[0].url + "/readyz").text == "ready\n", f"ready again: {cluster[0].stderr()}", 40)
        cluster.sim.solve()
        answer = wait_until(lambda: cluster[1].text_of(task), "the answer at the adopter", 40)
        equal(cluster[0].solve(sitekey="k").json()["solution"], answer)
        equal(cluster.paid(), 1, "paid")
        # Its name is as well kept as before: another one under it is refused, and it is not disturbed.
        other = cluster.make("a")
        other.expect_exit = EX_CANTCREAT
        with contextlib.suppress(AssertionError):
            other.start()
        equal(other.process.wait(40), EX_CANTCREAT, "exit code of another one under its name")
        other.stop()
        equal(cluster[0].solve(sitekey="k").json()["solution"], answer)
        check(loop.asked > 20, f"asked {loop.asked} times")
        check(loop.longest < STALL_MAX, f"the loop stood still for {loop.longest:.1f} s")


def fence(store):
    """As if another gateway had taken a's rows."""
    if store.kind == "Redis":
        store.ask("EVAL", "return redis.call('HSET', '{solvegate}:member:' .. redis.call('HGET', '{solvegate}:nodes', 'a'), 'state', 'gone')", "0")
    else:
        store.sql("UPDATE solvegate.node SET state = 'gone', incarnation = -incarnation WHERE name = 'a'")


@on_each_adopter
def the_loop_does_not_wait_when_a_fenced_one_hangs_up(store):
    """The connection that has the lock is silent, though it looks as good as ever: whoever says goodbye there gets no answer."""
    with divided(store, QUIET) as (cable, cluster, _), Loop(cluster[0]) as loop:
        time.sleep(2)  # the books of the submit are written
        cable.cut_first()  # the writer has just been there, and looks again in two seconds
        fence(store)
        cluster[0].wait_line("event=node_fenced", 40)
        wait_until(lambda: get(cluster[0].url + "/readyz").text == "ready\n", "ready again", 40)
        check(loop.asked > 20, f"asked {loop.asked} times")
        check(loop.longest < STALL_MAX, f"the loop stood still for {loop.longest:.1f} s")


def refused(reply):
    """Come again, soon: by then it is a gateway as before, or another one answers."""
    equal((reply.status, reply.json()["code"], reply.json()["retryable"]), (503, "store_away", True), reply.text)
    equal(reply.headers["retry-after"], "1", "Retry-After")


@on_each_adopter
def a_fenced_one_sends_away_who_waits_there_and_is_not_ready_until_it_has_joined(store):
    """It cannot connect again for a while. Nobody is left without an answer meanwhile, and balancers go to the other one."""
    with divided(store) as (cable, cluster, task):
        a, b = cluster.nodes
        caller = Caller(a, sitekey="k")
        wait_until(lambda: a.waiting() == 2, "the caller")
        cable.cut_new()
        fence(store)
        refused(caller.answer())
        for _ in range(2):
            ready = get(a.url + "/readyz")
            equal((ready.status, ready.text.split(":")[0]), (503, "joining"), ready.text)
            refused(a.solve(sitekey="k"))
            refused(get(a.url + "/v1/solves/" + task))
            a.wait_line("event=node_not_joined", 60)
        equal(get(b.url + "/readyz").text, "ready\n", "the other one")
        equal(metric(a, "cluster_fenced_total"), 1, "times that it was fenced")
        cable.mend()
        wait_until(lambda: get(a.url + "/readyz").text == "ready\n", "ready again", 60)
        wait_until(lambda: a.states() == {"a": "alive", "b": "alive"}, "both", 40)
        equal(cluster.paid(), 1, "paid")


@on_each_adopter
def one_whose_name_another_took_meanwhile_ends(store):
    """Its session is gone, somebody else was started under its name: that one is no ghost of its own."""
    with divided(store) as (cable, cluster, _):
        cable.cut()
        cluster[1].wait_line("event=node_adopted", 40)
        cable.sever()
        with cluster.make("a") as other:
            cable.mend()
            cluster[0].expect_exit = EX_CANTCREAT
            equal(cluster[0].process.wait(60), EX_CANTCREAT, "exit code")
            contains(cluster[0].stderr(), "event=node_name_taken")
            equal(get(other.url + "/readyz").text, "ready\n", "the other one")


@on_servers(["redis"])
def one_that_stood_still_while_another_took_its_name_ends(store):
    """Its lock has run out by then. With its next look at it, or its next batch, it finds that it has no place any more."""
    with Cluster(store, config=LEASE, sim=("--solve-time", "10m")) as cluster:
        a, b = cluster.nodes
        a.submit_id(sitekey="k")
        a.await_accepted(1)
        a.process.send_signal(signal.SIGSTOP)
        try:
            b.wait_line("event=node_adopted", 40)
            store.ask("DEL", "{solvegate}:lock:a")
            with cluster.make("a") as other:
                a.process.send_signal(signal.SIGCONT)
                a.expect_exit = EX_CANTCREAT
                equal(a.process.wait(60), EX_CANTCREAT, f"exit code: {a.stderr()}")
                contains(a.stderr(), "event=node_name_taken")
                check("event=store_broken" not in a.stderr(), "the store is not broken")
                equal(get(other.url + "/readyz").text, "ready\n", "the other one")
        finally:
            if a.process.poll() is None:
                a.process.send_signal(signal.SIGCONT)


if __name__ == "__main__":
    binary("SOLVEGATE")
    run()
