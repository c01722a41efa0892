#!/usr/bin/env python3
"""Two gateways on one store: a key is paid for once by both, and whoever waits at the other one is told. (TAP)"""
import statistics
import subprocess
import time

from cluster_world import ADOPTERS, Cluster, at_once, on_each_server, on_servers
from gateway import free_port
from harness import binary, check, contains, equal, get, run, wait_until

EX_CANTCREAT = 73
EX_IOERR = 74


def refused(node, timeout=60):
    """Exit code and words of a gateway that is not to start."""
    done = subprocess.run(node.command(), capture_output=True, text=True, timeout=timeout, check=False)
    return done.returncode, done.stderr


@on_each_server
def pays_once_for_a_key_that_is_asked_at_both_at_the_same_time(store):
    """200 keys, each at both gateways at once: one submit per key, the same token for both, each told how it came by it."""
    delays = []
    with Cluster(store) as cluster:
        for first in range(0, 200, 20):
            keys = [f"key{i}" for i in range(first, first + 20)]
            calls = [lambda node=node, key=key: node.solve(sitekey=key) for key in keys for node in cluster.nodes]
            results = at_once(calls)
            for i, key in enumerate(keys):
                (left, left_at), (right, right_at) = results[2 * i:2 * i + 2]
                equal((left.status, right.status), (200, 200), f"{key}: {left.text} {right.text}")
                left, right = left.json(), right.json()
                equal(left["solution"], right["solution"], key)
                sources = sorted((left["source"], right["source"]))
                check(sources[0] == "api" and sources[1].startswith("dedup_"), f"{key}: {sources}")
                delays.append((right_at - left_at) * (1 if left["source"] == "api" else -1))
        equal(cluster.paid(), 200, "paid")
        submits = cluster.sim.submits()
        equal(len({submit["params"]["sitekey"] for submit in submits}), 200, "keys in the ledger")
        balance = [node.counter("submits_accepted") for node in cluster.nodes]
        equal(sum(balance), 200, "in the books of both")
        check(min(balance) > 0, f"both took part: {balance}")
    delays.sort()
    print(f"# {store.kind}: a follower was told {1000 * statistics.median(delays):.1f} ms (median), "
          f"{1000 * delays[int(len(delays) * 0.99) - 1]:.1f} ms (99 %) after the owner's caller")
    check(statistics.median(delays) < 0.5, f"followers are woken: {statistics.median(delays):.3f} s")


@on_servers(["postgres"])
def reads_no_whole_table_for_a_claim(store):
    """Claims look for ends of the last minute, of which there may be a hundred thousand."""
    with Cluster(store, sim=("--solve-time", "1ms")) as cluster:
        for number in range(40):
            equal(cluster[number % 2].solve(sitekey=f"key {number}").status, 200)
    # Those of joining and tidying are few, whatever is solved; the servers of these sessions have counted by their end.
    scans = wait_until(lambda: store.sql("SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'ended'"), "the server's statistics")
    check(int(scans) < 20, f"{scans} scans of all ends for 40 solves")


@on_each_server
def hands_what_one_has_solved_to_who_asks_at_the_other(store):
    with Cluster(store) as cluster:
        first = cluster[0].solve(sitekey="k").json()
        equal(first["source"], "api")
        second = cluster[1].solve(sitekey="k").json()
        equal((second["source"], second["solution"]), ("dedup_cache", first["solution"]))
        # From memory now.
        equal(cluster[1].solve(sitekey="k").json()["solution"], first["solution"])
        equal(cluster.paid(), 1, "paid")


@on_each_server
def knows_an_idempotency_key_everywhere(store):
    with Cluster(store) as cluster:
        header = {"Idempotency-Key": "one"}
        results = at_once([lambda node=node: node.solve(headers=header, sitekey="k", reuse="single") for node in cluster.nodes])
        answers = [reply.json() for reply, _ in results]
        equal(answers[0]["solution"], answers[1]["solution"])
        again = cluster[1].solve(headers=header, sitekey="k", reuse="single").json()
        equal(again["solution"], answers[0]["solution"])
        other = cluster[0].solve(headers=header, sitekey="other", reuse="single")
        equal(other.status, 422, other.text)
        equal(cluster.paid(), 1, "paid")


@on_each_server
def pays_for_every_request_in_shadow_mode(store):
    """As if there were no gateways, asked at the same moment or later. What each of them would have spared is in its own books."""
    with Cluster(store, config={"mode": "shadow"}) as cluster:
        calls = [lambda node=node: node.solve(sitekey="k", headers={"Idempotency-Key": "one"}) for node in cluster.nodes for _ in range(2)]
        answers = [reply.json() for reply, _ in at_once(calls)]
        answers += [node.solve(sitekey="k").json() for node in cluster.nodes]
        equal(len({answer["solution"] for answer in answers}), 6, "solutions")
        equal({answer["source"] for answer in answers}, {"api"}, "sources")
        equal(cluster.paid(), 6, "paid")
        for node in cluster.nodes:
            shadow = get(node.url + "/v1/stats").json()["total"]["shadow"]
            equal((shadow["paid"], shadow["duplicates"]), (3, 2), "paid, and what serving would have spared")


@on_each_server
def goes_on_for_its_followers_when_it_comes_back_after_a_crash(store):
    with Cluster(store, sim=("--solve-time", "10m")) as cluster:
        task = cluster[0].submit_id(sitekey="k")
        wait_until(lambda: cluster.paid() == 1, "the submit")
        cluster[0].await_accepted(1)
        follower = cluster[1].submit_id(sitekey="k")
        wait_until(lambda: cluster[1].waiting() == 1, "the follower")
        cluster[0].kill()
        cluster[0].start()
        contains(cluster[0].wait_line("event=restored"), "flights=1")
        cluster.sim.solve()
        answers = [wait_until(lambda node=node, id_=id_: node.text_of(id_), "the answer")
                   for node, id_ in ((cluster[0], task), (cluster[1], follower))]
        equal(answers[0], answers[1])
        equal(cluster.paid(), 1, "paid")


@on_each_server
def submits_nothing_while_the_store_does_not_confirm_that_it_lives(store):
    with Cluster(store, config={"cluster": {"lease": "1500ms", "heartbeat": "300ms"}}) as cluster:
        equal(cluster[0].solve(sitekey="before").status, 200)
        store.away()
        for node in cluster.nodes:
            node.wait_line("event=lease_lost", 40)
        equal((cluster[0].nodes()["leased"], cluster[0].nodes()["leases_lost"]), (False, 1), "leased, losses")
        late = cluster[0].solve(sitekey="late", wait=1)
        equal((late.status, late.json()["code"]), (503, "store_away"))
        equal(cluster.paid(), 1, "paid")
        store.back()
        for node in cluster.nodes:
            node.wait_line("event=lease_renewed", 40)
        for node in cluster.nodes:
            wait_until(lambda node=node: get(node.url + "/readyz").text == "ready\n", "ready again", 40)
        results = at_once([lambda node=node: node.solve(sitekey="after") for node in cluster.nodes])
        equal([reply.status for reply, _ in results], [200, 200])
        equal(cluster.paid(), 2, "paid")


@on_each_server
def divides_the_slots_of_the_plan(store):
    """Ten threads, two gateways with more to do than that: once each knows of the other's demand, they keep within the plan together."""
    config = {"upstream": {"slots": 10}, "cluster": {"lease": "3s", "heartbeat": "200ms"}}
    with Cluster(store, config=config, sim=("--solve-time", "1s")) as cluster:
        for i in range(40):
            for node in cluster.nodes:
                node.submit_id(sitekey=f"{node.port}-{i}")
        wait_until(lambda: cluster.paid() >= 30, "the first of them", 40)
        seen = []
        while cluster.paid() < 70:
            seen.append(cluster.sim.totals()["in_flight"])
            time.sleep(0.05)
        print(f"# {store.kind}: {max(seen)} at most and {statistics.mean(seen):.1f} on average of 10 slots in use")
        check(max(seen) <= 12, f"the plan's slots, and no more: {seen}")
        check(statistics.mean(seen) > 6, f"most of the plan's slots are in use: {seen}")


def who_answers(node):
    return next(node["name"] for node in node.nodes()["nodes"] if node["self"])


@on_each_server
def shares_one_port_with_a_gateway_that_ends(store):
    """The kernel divides the connections among both; all go to the one that is left."""
    port = free_port()
    with Cluster(store, config={"listen": [f"127.0.0.1:{port}"], "listen_shared": True}) as cluster:
        left, right = cluster.nodes
        equal(left.url, right.url, "where they listen")
        solved = [left.solve(sitekey=f"key{i % 8}").json()["status"] for i in range(24)]
        equal(set(solved), {"solved"})
        equal(cluster.paid(), 8, "paid")
        equal({who_answers(left) for _ in range(60)}, {"a", "b"})
        right.stop()
        equal({who_answers(left) for _ in range(20)}, {"a"})
        equal({left.solve(sitekey=f"key{i}").json()["status"] for i in range(8)}, {"solved"})
        equal(cluster.paid(), 8, "paid")


@on_each_server
def shows_who_shares_the_store(store):
    """/v1/nodes, `solvegate nodes`, /readyz, the metrics and the log, while one joins, dies and another leaves."""
    config = {"upstream": {"slots": 10}, "cluster": {"lease": "2s", "heartbeat": "200ms"}}
    dead, left = ("adopted", "adopted") if store.kind in ADOPTERS else ("dead", "left")
    with Cluster(store, count=3, config=config, sim=("--solve-time", "10m")) as cluster:
        first = cluster[0]
        wait_until(lambda: first.states() == {"a": "alive", "b": "alive", "c": "alive"}, "all three")
        equal(get(first.url + "/readyz").text, "ready\n")
        for i in range(8):
            cluster[1].submit_id(sitekey=f"k{i}")
        of_b = wait_until(lambda: first.node("b") if first.node("b")["demand"] == 8 else None, "the demand of b")
        equal((of_b["share"], first.node("a")["share"], first.node("a")["self"], of_b["self"]), (9, 1, True, False))
        about = first.nodes()
        equal((about["enabled"], about["joined"], about["leased"], about["lease"], about["total"]), (True, True, True, 2, 3))
        check(0 < about["lease_left"] <= 1.6, f"a fifth is not trusted: {about['lease_left']}")
        cluster[1].kill()
        cluster[2].stop()
        wait_until(lambda: first.states() == {"a": "alive", "b": dead, "c": left}, "one died, one left")
        if dead == "adopted":
            equal(first.node("b")["demand"], 0, "what it wanted is its adopter's")
        for event in ("node_joined node=b", "node_dead node=b", "node_left node=c"):
            first.wait_line(f"event={event}")
        text = get(first.url + "/metrics").text
        for line in ("cluster_enabled 1", 'cluster_nodes{state="alive"} 1', "cluster_leased 1"):
            contains(text, f"solvegate_{line}\n")
        for state in (dead, left):
            contains(text, f'solvegate_cluster_nodes{{state="{state}"}} {(dead, left).count(state)}\n')
        shown = subprocess.run([binary("SOLVEGATE"), "nodes", "--url", first.url], capture_output=True, text=True, timeout=30, check=True)
        equal([line.split()[:3] for line in shown.stdout.splitlines()[1:2]], [["*", "a", "alive"]])
        contains(shown.stdout, dead)


@on_each_server
def lets_nobody_in_who_does_not_belong(store):
    """A second one of the same name, one that wants the store for itself, one with another lease."""
    with Cluster(store) as cluster:
        code, words = refused(cluster.make("a"))
        equal(code, EX_CANTCREAT, words)
        contains(words, "cluster.node")
        code, words = refused(cluster.make("c", {"cluster": {"enabled": False}}))
        equal(code, EX_CANTCREAT, words)
        code, words = refused(cluster.make("c", {"cluster": {"lease": "20s"}}))
        equal(code, EX_IOERR, words)
        contains(words, "cluster.lease")
        with cluster.make("c") as third:
            equal(third.solve(sitekey="k").status, 200)
            cluster[0].wait_line("event=cluster_members gateways=3")


if __name__ == "__main__":
    binary("SOLVEGATE")
    run(beside=3)
