#!/usr/bin/env python3
"""What gateways that share a store do with their connections to it: how many there are, who waits for whom, and what is told of them. (TAP)"""
import contextlib
import signal
import subprocess
import threading
import time

import stores
from cluster_world import Cluster, on_each_adopter, on_servers
from harness import TIMEOUT, binary, check, get, run, wait_until
from stores import listen

OTHER = "another-word"


def sessions(store):
    """Connections of gateways."""
    if store.kind == "Redis":
        reply = store.ask("EVAL", "return tonumber(redis.call('INFO', 'clients'):match('connected_clients:(%d+)'))", "0")
        return int(reply[1:]) - 1
    return int(store.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'solvegate'"))


def cut(store):
    """All connections of gateways end."""
    if store.kind == "Redis":
        store.ask("CLIENT", "KILL", "TYPE", "pubsub")
        store.ask("CLIENT", "KILL", "TYPE", "normal")
    else:
        store.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'solvegate'")


def set_password(store, password):
    if store.kind == "Redis":
        store.ask("CONFIG", "SET", "requirepass", password)
    else:
        store.sql(f"ALTER ROLE gate PASSWORD '{password}'")


@contextlib.contextmanager
def other_password(store):
    """New connections of the gateways are refused, ours are not."""
    known = stores.PASSWORD
    set_password(store, OTHER)
    stores.PASSWORD = OTHER
    try:
        yield
    finally:
        set_password(store, known)
        stores.PASSWORD = known


def texts_of(cluster):
    """Everything that people look at who are not meant to know the store's password."""
    for node in cluster.nodes:
        for path in ("/metrics", "/v1/stats", "/v1/stats?scope=cluster", "/v1/nodes", "/v1/letters", "/readyz", "/"):
            reply = get(node.url + path)
            yield path, str(reply.headers) + reply.text
        yield "the log", node.stderr()


@on_each_adopter
def they_are_three_or_four_for_each_gateway(store):
    """The writer's, the pulse's (in Redis two) and the finder's; whoever has adopted has no more than before."""
    each = 4 if store.kind == "Redis" else 3
    with Cluster(store, config={"cluster": {"lease": "2s", "heartbeat": "250ms"}}, sim=("--solve-time", "10m")) as cluster:
        a, b = cluster.nodes
        tasks = [node.submit_id(sitekey=f"key of {node.port}") for node in cluster.nodes]
        for node in cluster.nodes:
            node.await_accepted(1)
        # Each looks for what the other one has.
        a.text_of(tasks[1])
        b.text_of(tasks[0])
        wait_until(lambda: sessions(store) == 2 * each, f"{2 * each} connections", 20)
        time.sleep(1)
        check(sessions(store) == 2 * each, f"{sessions(store)} connections")
        a.kill()
        b.wait_line("event=node_adopted", 40)
        wait_until(lambda: sessions(store) == each, f"{each} connections", 20)


@on_each_adopter
def nobody_is_told_their_password(store):
    """Neither when the pulse, the finder and the adopter come and go, nor when who was adopted is not let in again."""
    with Cluster(store, config={"cluster": {"lease": "2s", "heartbeat": "250ms"}, "log": {"level": "debug"}}, sim=("--solve-time", "10m")) as cluster:
        a, b = cluster.nodes
        task = a.submit_id(sitekey="k")
        a.await_accepted(1)
        b.text_of(task)
        a.process.send_signal(signal.SIGSTOP)
        try:
            b.wait_line("event=node_adopted", 40)
            change = other_password(store)
            change.__enter__()
        finally:
            a.process.send_signal(signal.SIGCONT)
        try:
            a.wait_line("event=node_not_joined", 40)
            cut(store)
            # It waits for its claim.
            late = threading.Thread(target=b.solve, kwargs={"sitekey": "late", "wait": 0}, daemon=True)
            late.start()
            b.wait_line("event=store_away", 40)
            listen(texts_of(cluster))
        finally:
            change.__exit__(None, None, None)
        b.wait_line("event=store_writable", 40)
        late.join(TIMEOUT)
        wait_until(lambda: get(a.url + "/readyz").text == "ready\n", "both again", 40)
        listen(texts_of(cluster))


@on_servers(["postgres"])
def no_beat_waits_behind_a_batch(store):
    """A table that is locked for two leases holds up everything that is written, and nobody's life."""
    with Cluster(store, config={"cluster": {"lease": "5s", "heartbeat": "250ms"}}) as cluster:
        wait_until(lambda: all(node.states() == {"a": "alive", "b": "alive"} for node in cluster.nodes), "each other")
        start = time.monotonic()
        with subprocess.Popen(store.psql("BEGIN; LOCK TABLE solvegate.flight IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(11); COMMIT"),
                              env=store.psql_env(), stdout=subprocess.DEVNULL) as locker:
            time.sleep(1)
            replies = [node.solve(sitekey=f"key of {node.port}") for node in cluster.nodes]
            took = time.monotonic() - start
            locker.wait()
        check(all(reply.status == 200 for reply in replies), [reply.text for reply in replies])
        check(took > 10, f"the batches waited for {took:.1f} s only")
        for node in cluster.nodes:
            for word in ("lease_lost", "node_dead", "node_adopted", "node_fenced"):
                check(f"event={word}" not in node.stderr(), f"{word}: {node.stderr()}")


if __name__ == "__main__":
    binary("SOLVEGATE")
    run()
