#!/usr/bin/env python3
"""Two gateways on one store: a client's budget is the cluster's, whichever of them is asked. (TAP)"""
import concurrent.futures

from cluster_world import Cluster, on_each_server
from harness import check, equal, run

KEY = "c" * 32


def limited(budget):
    return {"clients": [{"name": "crawler", "key": KEY, "budget_per_day": budget}]}


def ask(node, name):
    """The status of a solve of a key that nobody else asks for."""
    reply = node.solve(headers={"Authorization": f"Bearer {KEY}"}, sitekey=name)
    check(reply.status == 200 or (reply.status == 429 and reply.json().get("code") == "budget_used_up"), reply.text)
    return reply.status


def ask_all(nodes, count, name):
    """How many of so many keys were solved, asked in turn at these gateways."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        statuses = list(pool.map(lambda i: ask(nodes[i % len(nodes)], f"{name}-{i}"), range(count)))
    return statuses.count(200)


@on_each_server
def spends_a_budget_to_the_last_unit_and_not_beyond(store):
    with Cluster(store, config=limited(10)) as cluster:
        equal(ask_all(cluster.nodes, 30, "first"), 10, "solved")
        equal(cluster.paid(), 10, "paid")
        equal(ask_all(cluster.nodes, 4, "second"), 0, "solved later")


@on_each_server
def loses_nothing_when_gateways_are_restarted_in_turn(store):
    with Cluster(store, config=limited(40)) as cluster:
        for turn in range(2):
            for node in cluster.nodes:
                equal(ask(node, f"turn-{turn}-{node.config['cluster']['node']}"), 200)
                node.stop()
                node.start()
        equal(ask_all(cluster.nodes, 60, "rest"), 36, "solved")
        equal(cluster.paid(), 40, "paid")


@on_each_server
def a_gateway_that_is_killed_takes_a_block_with_it(store):
    with Cluster(store, config=limited(50)) as cluster:
        equal(ask(cluster[0], "first"), 200)
        cluster[0].kill()
        solved = ask_all([cluster[1]], 60, "rest")
        check(46 <= solved <= 49, f"{solved} solved: a block is a sixteenth of what is left")
        equal(cluster.paid(), 1 + solved, "paid")
        # Under its own name it comes back without them.
        cluster[0].start()
        equal(ask(cluster[0], "last"), 429)


if __name__ == "__main__":
    run()
