#!/usr/bin/env python3
"""Gateways on one store divide the plan's slots: all together use as many as there are, and no more. (TAP)"""
from cluster_world import Cluster, at_once, on_each_server
from harness import equal, get, run, wait_until


def plan_of(slots):
    return {"upstream": {"slots": slots}, "cluster": {"lease": "2s", "heartbeat": "200ms"}}


def used(node):
    return get(node.url + "/v1/stats").json()["now"]["slots_used"]


@on_each_server
def who_is_idle_leaves_its_slots_to_the_others(store):
    """One of three has something to do, and gets the whole plan; when another one has, too, both get their half."""
    with Cluster(store, count=3, config=plan_of(4), sim=("--solve-time", "3s", "--slots", "4")) as cluster:
        for i in range(12):
            cluster[1].submit_id(sitekey=f"b{i}")
        wait_until(lambda: used(cluster[1]) == 4, "all slots at b")
        for i in range(12):
            cluster[2].submit_id(sitekey=f"c{i}")
        wait_until(lambda: (used(cluster[1]), used(cluster[2])) == (2, 2), "the half of each")
        equal(cluster[1].counter("submits_rejected") + cluster[2].counter("submits_rejected"), 0, "submits beyond the plan")


@on_each_server
def one_slot_goes_round(store):
    """Two gateways with one slot: all are solved, and the vendor is never asked for two at a time."""
    with Cluster(store, config=plan_of(1), sim=("--solve-time", "200ms", "--slots", "1")) as cluster:
        calls = [lambda node=node, i=i: node.solve(sitekey=f"k{i}-{node.url}") for i in range(3) for node in cluster.nodes]
        for reply, _ in at_once(calls):
            equal(reply.json()["status"], "solved", reply.text)
        equal(cluster[0].counter("submits_rejected") + cluster[1].counter("submits_rejected"), 0, "submits beyond the plan")


run()
