#!/usr/bin/env python3
"""What a cluster shows of itself at any of its gateways: configurations that differ, the books of all, letters of the dead. (TAP)"""
import json
import signal
import threading

from cli_world import EX_DATAERR, EX_USAGE, expect, solvegate
from cluster_world import Cluster, on_each_adopter, on_each_server
from gateway import World, free_port, merge
from harness import binary, check, contains, equal, get, http_request, run, wait_until
from harness import test as add_test
from vendor_world import strike

SOURCES = ("api", "dedup_wait", "dedup_cache", "idempotent", "pool")
# Not so short that a busy machine takes one for dead that lives: then the figures would be others.
LEASE = {"cluster": {"lease": "6s", "heartbeat": "500ms"}, "upstream": {"price": 0.002}}
FAST = {"cluster": {"heartbeat": "200ms"}}


def differing(node, name):
    return node.node(name)["config_differs"]


def gauge(node):
    lines = get(node.url + "/metrics").text.splitlines()
    return [line.split()[1] for line in lines if line.startswith("solvegate_cluster_config_differs ")][0]


@on_each_server
def says_what_differs_when_one_joins_and_after_a_reload(store):
    with Cluster(store, count=1, config=FAST) as cluster:
        left = cluster[0]
        right = cluster.make("b", {"cache": {"min_ttl": "3s"}, "dedup": {"include_proxy": True}})
        with right:
            wait_until(lambda: left.states() == {"a": "alive", "b": "alive"}, "both")
            wait_until(lambda: differing(left, "b") == ["dedup", "lifetimes"], "what differs, at the one that was there")
            wait_until(lambda: differing(right, "a") == ["dedup", "lifetimes"], "and at the one that came")
            equal(differing(left, "a"), [], "with itself")
            equal((gauge(left), gauge(right)), ("1", "1"), "the gauges")
            left.wait_line(r'config_differs.*node=b.*what="?dedup, lifetimes')
            right.wait_line(r'config_differs.*node=a.*what="?dedup, lifetimes')
            contains(expect(solvegate("nodes", "--url", left.url), 0).stderr, "b has another configuration than *: dedup lifetimes\n")
            right.config = {**left.config, "cluster": {**left.config["cluster"], "node": "b"}}
            right.command()  # writes the file
            right.send_signal(signal.SIGHUP)
            left.wait_line("config_agrees.*node=b")
            wait_until(lambda: (differing(left, "b"), differing(right, "a")) == ([], []), "that they agree")
            equal((gauge(left), gauge(right)), ("0", "0"), "the gauges")


def books(node):
    """None before it has joined."""
    reply = get(node.url + "/v1/stats", scope="cluster")
    check(reply.status in (200, 503), reply.text)
    return reply.json() if reply.status == 200 else None


def settled(page):
    return sum(page[f"answered_{source}"] for source in SOURCES) + page["failed"] + page["rejected"] + page["detached"]


def balances(stats):
    """All that were asked were answered, refused, given up or wait; by client and type, too."""
    total = stats["total"]
    return total["requests"] == settled(total) + stats["now"]["waiting"] and all(
        sum(part[name] for part in total[by].values()) == total[name]
        for by in ("by_client", "by_type") for name in ("requests", "failed", "rejected", "detached"))


def until_all(nodes, condition, what):
    """The books, once all of these gateways show the same and the condition holds: they are written every second."""
    def same():
        seen = [books(node) for node in nodes]
        return seen[0] if all(seen) and all(one["total"] == seen[0]["total"] for one in seen) and condition(seen[0]) else None
    return wait_until(same, what, 40)


@on_each_server
def sums_the_books_of_all_gateways_at_each(store):
    with Cluster(store, config=merge(FAST, {"upstream": {"price": 0.002}})) as cluster:
        for node in cluster.nodes:
            equal(node.solve(sitekey="k").status, 200)
            equal(node.solve(sitekey=f"only at {node.port}").status, 200)
        stats = until_all(cluster.nodes, lambda one: one["total"]["requests"] >= 4, "the books")
        check(balances(stats), stats)
        equal((stats["scope"], stats["now"]["waiting"]), ("cluster", 0))
        equal((stats["total"]["answered_api"], stats["total"]["deduplicated"]), (3, 1))
        equal(stats["total"]["submits_accepted"], cluster.paid(), "what was paid for")
        equal(stats["today"]["requests"], stats["total"]["requests"])
        equal(round(stats["today"]["money_spent"], 6), 0.006, "the money of all")
        equal([(node["name"], node["adopted"]) for node in stats["nodes"]], [("a", False), ("b", False)])
        equal(sum(node["requests"] for node in stats["nodes"]), stats["total"]["requests"])
        shown = expect(solvegate("stats", "--scope", "cluster", "--url", cluster[0].url), 0).stdout
        contains(shown, "GATEWAY")
        contains(shown, "now: 0 requests waiting")
        check("SINCE START" not in shown, shown)
        expect(solvegate("stats", "--scope", "cluster", "--shadow", "--url", cluster[0].url), EX_USAGE)
        equal(get(cluster[0].url + "/v1/stats", scope="clustre").status, 422)


def is_over(stats):
    total = stats["total"]
    return (total["requests"], total["answered_api"], total["detached"], stats["now"]["waiting"]) == (3, 1, 2, 0)


@on_each_adopter
def balances_also_after_one_of_them_died_and_when_it_is_back(store):
    """One request of the dead one is adopted, the callers of two others are gone with their connections."""
    with Cluster(store, config=LEASE, sim=("--solve-time", "10m")) as cluster:
        cluster[0].submit_id(sitekey="told")
        callers = [threading.Thread(target=hold, args=(cluster[0], f"held {i}")) for i in range(2)]
        for caller in callers:
            caller.start()
        wait_until(lambda: cluster.paid() == 3, "the submits")
        until_all(cluster.nodes, lambda one: one["now"]["waiting"] == 3 and one["total"]["submits_accepted"] == 3, "all three wait")
        cluster[0].await_accepted(3)
        cluster[0].kill()
        for caller in callers:
            caller.join()
        cluster[1].wait_line("event=node_adopted", 40)
        stats = until_all(cluster.nodes[1:], lambda one: one["total"]["requests_adopted"] == 1, "the adoption in the books")
        check(balances(stats), stats)
        equal((stats["total"]["requests"], stats["total"]["detached"], stats["now"]["waiting"]), (3, 2, 1))
        equal([node["adopted"] for node in stats["nodes"]], [True, False])
        cluster.sim.solve()
        stats = until_all(cluster.nodes[1:], is_over, "its answer")
        check(balances(stats), stats)
        equal(stats["total"]["submits_accepted"], 3, "what was paid for")
        cluster[0].start()
        stats = until_all(cluster.nodes, is_over, "the same with the dead one back")
        check(balances(stats), stats)
        equal([node["adopted"] for node in stats["nodes"]], [False, False])


@on_each_adopter
def has_the_letters_of_a_dead_one_at_once(store):
    """Listed, replayed and settled at the survivor; the replay is paid for once."""
    config = merge(LEASE, {"retry": {"unsolvable": 0}})
    with Cluster(store, config=config) as cluster:
        cluster.sim.set_faults(script=[strike("submit-error", "lost", 1, "ERROR_CAPTCHA_UNSOLVABLE")])
        check(cluster[0].solve(sitekey="lost").status >= 500, "it fails")
        letter = get(cluster[0].url + "/v1/letters").json()["letters"][0]["id"]
        cluster[0].kill()
        cluster[1].wait_line("event=node_adopted", 40)
        found = wait_until(lambda: get(cluster[1].url + "/v1/letters").json()["letters"], "the letter at the survivor")
        equal([one["id"] for one in found], [letter])
        reply = http_request(f"{cluster[1].url}/v1/letters/{letter}/replay", "POST", {}, {}, {})
        equal((reply.status, reply.json()), (202, {"queued": 1}), reply.text)
        wait_until(lambda: get(cluster[1].url + "/v1/letters").json()["total"] == 0, "its end")
        equal(cluster.paid(), 1, "paid")
        cluster[0].start()
        # Until it has joined it says that it cannot know.
        wait_until(lambda: get(cluster[0].url + "/v1/letters").json().get("total") == 0, "and it is gone for all")


def hold(node, sitekey):
    """A caller that waits, and whose connection ends with the gateway."""
    try:
        node.solve(sitekey=sitekey)
    except OSError:
        pass


@add_test
def a_gateway_alone_has_no_cluster_to_sum_up():
    with World() as world:
        reply = get(world.gate.url + "/v1/stats", scope="cluster")
        equal((reply.status, reply.json()["code"]), (404, "no_cluster"), reply.text)
        contains(reply.json()["detail"], "cluster.enabled")
        equal(get(world.gate.url + "/v1/stats", scope="node").json()["total"]["requests"], 0)
        contains(expect(solvegate("stats", "--scope", "cluster", "--url", world.gate.url), EX_DATAERR).stderr, "cluster.enabled")


@on_each_server
def a_benchmark_counts_what_all_of_them_paid(store):
    """Behind one address, where each look at the statistics may be at another gateway."""
    port = free_port()
    with Cluster(store, config={"listen": [f"127.0.0.1:{port}"], "listen_shared": True}) as cluster:
        told = json.loads(expect(solvegate("bench", "--url", f"http://127.0.0.1:{port}", "-n", "60", "-c", "10", "--json"), 0).stdout)
        equal((told["gateway"]["requests"], told["gateway"]["submits_paid"]), (60, cluster.paid()))


if __name__ == "__main__":
    binary("SOLVEGATE")
    run(beside=3)
