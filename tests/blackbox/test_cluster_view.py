#!/usr/bin/env python3
"""What a cluster shows of itself at any of its gateways: configurations that differ. (TAP)"""
import signal

from cli_world import expect, solvegate
from cluster_world import Cluster, on_each_server
from harness import binary, contains, equal, get, run, wait_until

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


if __name__ == "__main__":
    binary("SOLVEGATE")
    run(beside=3)
