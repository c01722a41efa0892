#!/usr/bin/env python3
"""Two gateways on one store that loses their rows while they run: they enter it again, and nothing is paid twice. (TAP)"""
import concurrent.futures
import signal
import subprocess
import time

from cluster_world import Cluster, on_each_adopter, on_servers
from gateway import free_port
from harness import binary, check, contains, equal, get, run, wait_until

LEASE = {"cluster": {"lease": "5s", "heartbeat": "250ms"}}


def forget(store):
    """All rows of all gateways, under their hands; of PostgreSQL's tables only the one that tells their version keeps a row."""
    if store.kind == "Redis":
        store.empty()
        return
    names = store.sql("SELECT string_agg(format('DELETE FROM solvegate.%I', tablename), ';') FROM pg_tables"
                      " WHERE schemaname = 'solvegate' AND tablename <> 'meta'")
    store.sql(f"BEGIN; {names}; DELETE FROM solvegate.meta WHERE name NOT IN ('program', 'schema', 'version'); COMMIT")


def await_entered(cluster):
    """Both have noticed, and are gateways as before."""
    for node in cluster.nodes:
        node.wait_line("event=store_lost_rows", 40)
        wait_until(lambda node=node: get(node.url + "/readyz").text == "ready\n", "ready", 40)
    wait_until(lambda: all(node.states() == {"a": "alive", "b": "alive"} for node in cluster.nodes), "each other", 40)
    for node in cluster.nodes:
        check("event=node_fenced" not in node.stderr(), "it starts over")


@on_each_adopter
def what_is_under_way_and_what_is_known_goes_on(store):
    """A task and its followers, a solution, an idempotency key; also at the other one, and after the death of the one that had them."""
    with Cluster(store, config=LEASE, sim=("--solve-time", "10m")) as cluster:
        a, b = cluster.nodes
        solved = a.submit_id(sitekey="solved")
        wait_until(lambda: cluster.paid() == 1, "the first submit")
        cluster.sim.solve()
        text = wait_until(lambda: a.text_of(solved), "the first answer")
        keyed = {"Idempotency-Key": "one"}
        task = a.submit_id(sitekey="k", headers=keyed)
        a.await_accepted(2)
        follower = b.submit_id(sitekey="k")
        wait_until(lambda: b.waiting() == 1, "the follower")
        time.sleep(0.5)
        forget(store)
        # Both are asked at once for what the other one has, and for something new.
        b.submit_id(sitekey="new")
        await_entered(cluster)
        equal(b.solve(sitekey="solved").json()["solution"], text, "the solution at the other one")
        again = b.submit_id(sitekey="k", headers=keyed)
        wait_until(lambda: cluster.paid() == 3, "what is new", 40)
        time.sleep(1)
        equal(cluster.paid(), 3, "paid")
        cluster.sim.solve()
        answer = wait_until(lambda: a.text_of(task), "the answer", 40)
        for name, request in (("follower", follower), ("idempotency key", again)):
            equal(wait_until(lambda request=request: b.text_of(request), name, 40), answer, name)
        # The rows are there again: whoever adopts them knows the ids.
        time.sleep(1)
        a.kill()
        b.wait_line("event=node_adopted", 40)
        for request, expected in ((solved, text), (task, answer)):
            equal(wait_until(lambda request=request: b.text_of(request), "the id", 40), expected, "the answer at the adopter")
        equal(b.solve(sitekey="k").json()["solution"], answer)
        equal(cluster.paid(), 3, "paid at the end")


@on_each_adopter
def a_key_that_the_other_one_solves_is_not_claimed_at_once(store):
    """Whoever notices first waits until everybody had time to ask for what is theirs."""
    with Cluster(store, config=LEASE, sim=("--solve-time", "10m")) as cluster:
        a, b = cluster.nodes
        keys = [f"key {i}" for i in range(20)]
        tasks = {key: a.submit_id(sitekey=key) for key in keys}
        a.await_accepted(len(keys))
        forget(store)
        followers = {key: b.submit_id(sitekey=key) for key in keys}
        await_entered(cluster)
        wait_until(lambda: b.waiting() == len(keys), "the followers", 40)
        time.sleep(6)
        equal(cluster.paid(), len(keys), "paid")
        cluster.sim.solve()
        for key in keys:
            text = wait_until(lambda key=key: a.text_of(tasks[key]), "the answer", 40)
            equal(wait_until(lambda key=key: b.text_of(followers[key]), "the follower's answer", 40), text)
        equal(cluster.paid(), len(keys), "paid")


@on_each_adopter
def a_callback_after_the_loss_is_understood(store):
    """The secrets that the vendor's calls are signed with are in the store, too."""
    ports = [free_port(), free_port()]
    with Cluster(store, count=0, config={**LEASE, "poll": {"first": "10m", "interval": "10m", "fallback_after": "10m"}},
                 sim=("--solve-time", "10m")) as cluster:
        for name, own, called in (("a", 0, 1), ("b", 1, 0)):
            node = cluster.make(name, {"listen": [f"127.0.0.1:{ports[own]}"],
                                       "public_url": f"http://127.0.0.1:{ports[called]}"})
            node.__enter__()
            cluster.nodes.append(node)
        task = cluster[0].submit_id(sitekey="k")
        cluster[0].await_accepted(1)
        forget(store)
        await_entered(cluster)
        cluster.sim.solve()
        wait_until(lambda: cluster[0].text_of(task), "the answer by way of the other one", 40)
        # One that is started later verifies what was signed before.
        cluster[1].stop()
        cluster[1].start()
        equal(sum(node.counter("callbacks_unknown") for node in cluster.nodes), 0, "callbacks that nobody understood")
        equal(cluster.paid(), 1, "paid")


def say_rewriting(store):
    """As if gateway a had said with its latest beat that it still writes again what the store has lost."""
    if store.kind == "Redis":
        script = ("local member = '{solvegate}:member:' .. redis.call('HGET', '{solvegate}:nodes', 'a')\n"
                  "return redis.call('HSET', member, 'parts', redis.call('HGET', member, 'parts') .. ' rewriting:1')")
        equal(store.ask("EVAL", script, "0"), b":0", "fields that are new")
    else:
        store.sql("UPDATE solvegate.meta SET value = value || ' rewriting:1' WHERE name = 'parts/' || (SELECT id FROM solvegate.node WHERE name = 'a')")


@on_each_adopter
def nothing_new_is_claimed_while_another_one_still_writes_its_rows(store):
    """However long that takes: a stands still, so that its beat says so until it goes on."""
    with Cluster(store, config={"cluster": {"lease": "1m", "heartbeat": "250ms"}}, sim=("--solve-time", "1s")) as cluster:
        a, b = cluster.nodes
        wait_until(lambda: b.states() == {"a": "alive", "b": "alive"}, "each other")
        a.process.send_signal(signal.SIGSTOP)
        with concurrent.futures.ThreadPoolExecutor(1) as caller:
            try:
                say_rewriting(store)
                time.sleep(1)
                reply = caller.submit(b.solve, sitekey="new")
                time.sleep(2)
                equal(cluster.paid(), 0, "paid while a writes")
                check("event=config_differs" not in b.stderr(), "it is no part of the configuration")
            finally:
                a.process.send_signal(signal.SIGCONT)
            equal(reply.result().status, 200)
        equal(cluster.paid(), 1, "paid")


@on_servers(["postgres"])
def tables_that_are_gone_are_made_again_under_the_gateways(store):
    """By the statements that init prints: init itself wants the schema for itself, which those who run do not give it."""
    with Cluster(store, config=LEASE, sim=("--solve-time", "10m")) as cluster:
        a, b = cluster.nodes
        task = a.submit_id(sitekey="k")
        a.await_accepted(1)
        store.empty()
        for node in cluster.nodes:
            contains(node.wait_line("event=store_away", 40), "--print-sql")
        store.sql(subprocess.run([binary("SOLVEGATE"), "store", "init", "--print-sql", store.url],
                                 capture_output=True, check=True, text=True).stdout)
        await_entered(cluster)
        cluster.sim.solve()
        text = wait_until(lambda: b.text_of(task), "the answer at the other one", 40)
        equal(b.solve(sitekey="k").json()["solution"], text)
        equal(cluster.paid(), 1, "paid")


if __name__ == "__main__":
    binary("SOLVEGATE")
    run()
