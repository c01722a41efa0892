#!/usr/bin/env python3
"""Two gateways on one store: a client's budget is the cluster's, whichever of them is asked. (TAP)"""
import concurrent.futures
import re

from cli_world import expect, solvegate
from cluster_world import Cluster, on_each_server
from harness import binary, check, equal, http_request, run, wait_until

KEY = "c" * 32
ADMIN_KEY = "d" * 32


def limited(budget):
    return {"clients": [{"name": "crawler", "key": KEY, "budget_per_day": budget}, {"name": "looker", "key": ADMIN_KEY, "scopes": ["admin"]}]}


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


def budget(node, **scope):
    """None while the store's books cannot be had, as before it has joined."""
    reply = http_request(node.url + "/v1/stats", headers={"Authorization": f"Bearer {ADMIN_KEY}"}, query=scope)
    return reply.json()["budgets"] if reply.status == 200 else None


@on_each_server
def shows_what_is_used_and_left_at_each_gateway_and_of_all(store):
    with Cluster(store, config=limited(10)) as cluster:
        for i, node in enumerate((cluster[0], cluster[0], cluster[0], cluster[1])):
            equal(ask(node, f"shown-{i}"), 200)
        whole = {"crawler": {"limit": 10, "used": 4, "reserved": 0, "left": 6}}
        for node in cluster.nodes:
            wait_until(lambda: budget(node, scope="cluster") == whole, "what is left of all", 20)
        equal(budget(cluster[0])["crawler"], {"limit": 10, "used": 3, "reserved": 0, "left": 7}, "before the other drew")
        equal(budget(cluster[1])["crawler"], {"limit": 10, "used": 1, "reserved": 0, "left": 6}, "as the store told it")
        shown = expect(solvegate("stats", "--scope", "cluster", "--url", cluster[0].url, "--key", ADMIN_KEY), 0).stdout
        check(re.search(r"budgets, today:\nCLIENT +USED +RESERVED +LEFT +LIMIT\ncrawler +4 +0 +6 +10\n", shown), shown)
        cluster[0].kill()
        wait_until(lambda: budget(cluster[1], scope="cluster") == whole, "the same without it", 20)


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
    binary("SOLVEGATE")
    run()
