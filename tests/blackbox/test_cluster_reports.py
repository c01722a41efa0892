#!/usr/bin/env python3
"""Gateways on one store: reports and withdrawals work at any of them, and a bad solution is handed out nowhere. (TAP)"""
from cluster_world import Cluster, on_each_adopter
from gateway import PAGE
from harness import check, equal, get, http_request, run, wait_until

SLOW = ("--solve-time", "10m")


def report(node, request, good):
    return http_request(f"{node.url}/v1/solves/{request}/report", "POST", {"good": good}, {}, {})


def told(node, request, action="reportbad", key="k"):
    return get(node.url + "/res.php", key=key, action=action, id=request).text


@on_each_adopter
def takes_a_report_about_anothers_request(store):
    """Also of an id that its caller learned together with the solution, of which no row tells."""
    with Cluster(store, count=3) as cluster:
        first = cluster[0].solve(sitekey="r").json()
        equal(cluster[2].solve(sitekey="r").json()["solution"], first["solution"])
        reply = report(cluster[1], first["id"], False)
        equal((reply.status, reply.json()), (200, {"recorded": True}))
        # Nowhere, by wake-up: neither from the store nor from a memory.
        for node in (cluster[1], cluster[2]):
            wait_until(lambda node=node: node.solve(sitekey="r").json()["solution"] != first["solution"], "another solution")
        equal([node.counter("reports_bad") for node in cluster.nodes], [1, 0, 0], "the books of the one that has it")
        equal(cluster.paid(), 2, "paid")
        # The vendor is told once.
        request = cluster[0].solve(sitekey="v").json()["id"]
        equal([told(cluster[1], request) for _ in range(2)], ["OK_REPORT_RECORDED"] * 2)
        other = cluster[0].submit_id(sitekey="w")
        wait_until(lambda: cluster[1].text_of(other), "the solution")
        equal(told(cluster[1], other, "reportgood"), "OK_REPORT_RECORDED")
        wait_until(lambda: cluster.sim.totals()["reports_good"] == 1, "the report")
        equal(cluster[0].counter("reports_bad"), 3)
        equal(cluster.sim.totals()["reports_bad"], 2, "each task once")


@on_each_adopter
def refuses_what_a_single_gateway_refuses_and_withdraws(store):
    clients = [{"name": "left", "key": "a" * 32}, {"name": "right", "key": "b" * 32}]
    with Cluster(store, sim=SLOW, config={"clients": clients}) as cluster:
        mine, other = "a" * 32, "b" * 32
        owner = {"Authorization": "Bearer " + mine}
        request = get(cluster[0].url + "/in.php", key=mine, method="turnstile", sitekey="s", pageurl=PAGE).text[3:]
        equal(told(cluster[1], request, key=mine), "REPORT_NOT_RECORDED", "not solved")
        wrong = told(cluster[0], "4503599627370497", key=mine)
        equal(told(cluster[1], "4503599627370497", key=mine), wrong, "nobody's")
        equal(http_request(f"{cluster[1].url}/v1/solves/{request}", "DELETE", None, {"Authorization": "Bearer " + other}, {}).status, 404)
        wait_until(lambda: cluster.paid() == 1, "the submit")
        cluster.sim.solve()
        wait_until(lambda: get(cluster[1].url + "/res.php", key=mine, action="get", id=request).text.startswith("OK|"), "the solution")
        equal(told(cluster[1], request, key=other), wrong, "another client's")
        equal(told(cluster[1], request, key=mine), "OK_REPORT_RECORDED")
        request = cluster[0].submit_id(sitekey="d", headers=owner)
        equal(http_request(f"{cluster[1].url}/v1/solves/{request}", "DELETE", None, owner, {}).status, 204)
        for node in cluster.nodes:
            equal(http_request(f"{node.url}/v1/solves/{request}", "GET", None, owner, {}).status, 404)


@on_each_adopter
def keeps_a_report_for_whoever_adopts_the_owner(store):
    with Cluster(store, config={"cluster": {"lease": "2s", "heartbeat": "250ms"}}) as cluster:
        request = cluster[0].submit_id(sitekey="k")
        text = wait_until(lambda: cluster[1].text_of(request), "the solution")
        equal(cluster[1].solve(sitekey="k").json()["solution"], text)
        cluster[0].kill()
        # It waits in the inbox: the adopter may be in time for the caller, or the caller is told to come again.
        check(report(cluster[1], request, False).status in (200, 503), "recorded, or come again")
        wait_until(lambda: cluster[1].counter("reports_bad") == 1, "the adoption", 60)
        check(cluster[1].solve(sitekey="k").json()["solution"] != text, "it is handed out no more")


if __name__ == "__main__":
    run()
