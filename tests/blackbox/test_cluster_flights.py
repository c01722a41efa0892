#!/usr/bin/env python3
"""Gateways on one store: where is my captcha, asked at any of them. (TAP)"""
from cli_world import expect, solvegate
from cluster_world import Cluster, on_each_adopter
from gateway import ADMIN, ALICE, BOB, clients
from harness import check, contains, equal, http_request, run, wait_until

SLOW = ("--solve-time", "60s")


def call(node, path, key=None):
    headers = {"Authorization": "Bearer " + key} if key else {}
    return http_request(node.url + path, "GET", None, headers, {})


def look(node, flight, key=None):
    return call(node, "/v1/flights/" + flight, key)


def meet(cluster, key=None):
    for node in cluster.nodes:
        wait_until(lambda node=node: [one["state"] for one in call(node, "/v1/nodes", key).json()["nodes"]] == ["alive"] * len(cluster.nodes),
                   "the others' beats")


def key_at(node, key=None):
    """The key of the only flight there, once its task has a name."""
    def found():
        flights = call(node, "/v1/flights", key).json()["flights"]
        seen = look(node, flights[0]["key"], key).json() if flights else None
        return seen and seen["flights"] and [one for one in seen["flights"][0]["attempts"] if "upstream_id" in one] and seen["key"]
    return wait_until(found, "a flight with a task")


def known(seen):
    """What does not change from one look to the next; times do, by a few milliseconds, as the clock is corrected."""
    return seen["key"], seen["node"], [(one["state"], one["requests"], one["attempts"][0]["upstream_id"]) for one in seen["flights"]]


@on_each_adopter
def a_flight_is_found_at_any_gateway(store):
    with Cluster(store, 3, sim=SLOW) as cluster:
        a, b, c = cluster.nodes
        meet(cluster)
        ids = [a.submit_id(sitekey="one") for _ in range(2)]
        flight = key_at(a)
        seen = known(look(a, flight).json())
        equal((seen[1], [one["id"] for one in seen[2][0][1]]), ("a", ids), "at the one that solves it")
        for node in (b, c):
            equal(known(look(node, flight).json()), seen, "elsewhere")
            equal(known(look(node, flight[:9]).json()), seen, "by its first digits")
        equal([call(node, "/v1/flights").json()["node"] for node in cluster.nodes], ["a", "b", "c"], "whose list it is")
        # One that waits for the end of another's flight tells of that one, too.
        c.submit_id(sitekey="one")
        wait_until(lambda: call(c, "/v1/flights").json()["total"] == 1, "a flight that follows")
        equal(known(look(c, flight).json()), seen, "at a follower")
        equal(known(look(b, flight).json()), seen, "where there is nothing of it")
        text = expect(solvegate("flights", "show", flight, env={"SOLVEGATE_URL": b.url}), 0).stdout
        contains(text, "at gateway a")
        contains(text, ids[0])


@on_each_adopter
def a_key_that_nobody_knows_is_unknown(store):
    with Cluster(store) as cluster:
        meet(cluster)
        for digits in ("ab" * 32, "abcdef01"):
            reply = look(cluster[1], digits)
            equal((reply.status, reply.json()["code"]), (404, "unknown_flight"), digits)


@on_each_adopter
def nobody_sees_more_than_at_the_other_gateway(store):
    with Cluster(store, config=clients(), sim=SLOW) as cluster:
        a, b = cluster.nodes
        meet(cluster, ADMIN)
        a.solve({"Authorization": "Bearer " + ALICE}, sitekey="one", wait=0)
        flight = key_at(a, ADMIN)
        equal(look(b, flight, ADMIN).json()["flights"][0]["client"], "alice", "an admin sees everything")
        equal(look(b, flight, ALICE).json()["flights"][0]["request_count"], 1, "who asked for it sees it")
        equal(look(b, flight, BOB).json()["code"], "unknown_flight", "anybody else does not")


@on_each_adopter
def whoever_cannot_be_asked_is_not_taken_for_one_who_knows_nothing(store):
    with Cluster(store, config={"cluster": {"lease": "3s", "heartbeat": "500ms"}}, sim=SLOW) as cluster:
        a, b = cluster.nodes
        meet(cluster)
        a.submit_id(sitekey="one")
        flight = key_at(a)
        a.kill()
        reply = look(b, flight)
        check(reply.status == 503 and reply.json()["code"] == "store_away" or reply.json().get("node") == "b", reply.text)
        wait_until(lambda: look(b, flight).status == 200 and look(b, flight).json()["flights"], "the one that adopted it", 30)
        equal(look(b, flight).json()["node"], "b", "who solves it now")
        about = b.nodes()
        equal(([one["name"] for one in about["adopted"]], about["adopted"][0], about["adoptions"]), (["a"], about["last_adoption"], 1), "whom it adopted")


if __name__ == "__main__":
    run()
