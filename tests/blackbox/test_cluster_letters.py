#!/usr/bin/env python3
"""Gateways on one store: letters are listed, shown, replayed and dropped at any of them. (TAP)"""
import os
import subprocess

from cluster_world import Cluster, at_once, on_each_adopter
from gateway import PAGE, merge
from harness import binary, check, equal, http_request, run, wait_until
from vendor_world import strike

UNSOLVABLE = "ERROR_CAPTCHA_UNSOLVABLE"
CONFIG = {"retry": {"busy": 0, "unsolvable": 0, "transient": 0, "unknown": 0}, "letters": {"replay_interval": "10ms"}}
QUICK_LEASE = {"cluster": {"lease": "2s", "heartbeat": "250ms"}}


def call(node, method, path="", body=None, **query):
    return http_request(node.url + "/v1/letters" + path, method, body, {}, query)


def listed(node, **query):
    reply = call(node, "GET", **query)
    equal(reply.status, 200, reply.text)
    return reply.json()


def die(cluster, node, sitekey, **more):
    """Makes a letter at this gateway; afterwards it can be solved."""
    cluster.sim.set_faults(script=[strike("submit-error", sitekey, 1, UNSOLVABLE)])
    check(node.solve(sitekey=sitekey, **more).status >= 500, "it fails")


def numbers(node, **query):
    return [letter["id"] for letter in listed(node, **query)["letters"]]


def wait_letters(cluster, count):
    """The rows of all letters are in the store: any gateway sees them, in the same order, and knows all others."""
    for node in cluster.nodes:
        wait_until(lambda node=node: len(node.states()) == len(cluster.nodes), "the others' beats")
        wait_until(lambda node=node: listed(node)["total"] == count, f"{count} letters")
    return numbers(cluster[0])


@on_each_adopter
def lists_and_shows_the_letters_of_all(store):
    with Cluster(store, config=CONFIG) as cluster:
        a, b = cluster.nodes
        for node, sitekey in ((a, "one"), (b, "two"), (a, "three")):
            die(cluster, node, sitekey)
        ids = wait_letters(cluster, 3)
        for node in cluster.nodes:
            page = listed(node)
            equal([letter["node"] for letter in page["letters"]], ["a", "b", "a"], "who has it, newest first")
            own = "a" if node is a else "b"
            equal([letter["replaying"] for letter in page["letters"]],
                  [False if letter["node"] == own else None for letter in page["letters"]], "only its owner knows")
            first = listed(node, limit=2)
            equal(([letter["id"] for letter in first["letters"]], first["total"], first["next"]), (ids[:2], 3, ids[1]))
            rest = listed(node, limit=2, after=first["next"])
            equal(([letter["id"] for letter in rest["letters"]], rest["total"], rest["next"]), (ids[2:], 3, None))
            equal(numbers(node, error=UNSOLVABLE), ids)
            equal(numbers(node, **{"class": "busy"}), [])
            shown = [call(node, "GET", "/" + number).json() for number in ids]
            equal([letter["params"]["sitekey"] for letter in shown], ["three", "two", "one"])
            equal([len(letter["attempts"]) for letter in shown], [1, 1, 1])
            unknown = call(node, "GET", "/77")
            equal((unknown.status, unknown.json()["code"]), (404, "unknown_letter"))
        # What a list here and there says of a letter is the same, but for what only its owner knows.
        here, there = (call(node, "GET", "/" + ids[0]).json() for node in (a, b))
        equal({**here, "replaying": None}, there)


@on_each_adopter
def replays_and_drops_a_letter_of_another(store):
    with Cluster(store, config=CONFIG) as cluster:
        a, b = cluster.nodes
        die(cluster, a, "one")
        die(cluster, a, "two")
        second, first = wait_letters(cluster, 2)
        paid = cluster.paid()
        # Two give the order at once: one of them queues it.
        replies = [reply for reply, _ in at_once([lambda node=node: call(node, "POST", f"/{first}/replay") for node in (a, b, b)])]
        counts = sorted(reply.json()["queued"] if reply.status == 202 else -reply.status for reply in replies)
        check(counts[-1] == 1 and all(count in (0, -404) for count in counts[:-1]), f"queued once: {counts}")
        wait_letters(cluster, 1)
        equal(cluster.paid(), paid + 1, "paid once")
        equal((a.counter("letters_settled"), b.counter("letters_settled")), (1, 0), "by the one that has it")
        equal(b.solve(sitekey="one").json()["source"], "dedup_cache", "its solution is kept")
        reply = call(b, "DELETE", "/" + second)
        equal((reply.status, reply.json()), (200, {"dropped": 1}))
        equal(call(b, "DELETE", "/" + second).status, 404)
        wait_letters(cluster, 0)
        for node in cluster.nodes:
            equal(call(node, "POST", f"/{first}/replay").json()["code"], "unknown_letter")


@on_each_adopter
def orders_about_many_are_for_all(store):
    with Cluster(store, count=3, config=merge(CONFIG, {"letters": {"replay_interval": "10s"}})) as cluster:
        for i, node in enumerate(cluster.nodes):
            die(cluster, node, f"m{i}")
        die(cluster, cluster[0], "m3")
        wait_letters(cluster, 4)
        reply = call(cluster[1], "POST", "/replay", {"all": True})
        equal((reply.status, reply.json()), (202, {"queued": 4}))
        # Each gateway begins with one; that of the one that has two waits for ten seconds.
        wait_letters(cluster, 1)
        equal(call(cluster[2], "DELETE", "/replay").json(), {"cancelled": 1})
        equal(call(cluster[2], "DELETE", "", None, **{"class": "busy"}).json(), {"dropped": 0})
        equal(call(cluster[2], "DELETE", "", None, **{"class": "unsolvable"}).json(), {"dropped": 1})
        wait_letters(cluster, 0)
        equal(call(cluster[2], "DELETE").status, 422, "all must be said")


@on_each_adopter
def asks_what_a_single_gateway_asks(store):
    admin, shop, crawler = "a" * 32, "b" * 32, "c" * 32
    clients = [{"name": "ops", "key": admin, "scopes": ["solve", "admin"]}, {"name": "shop", "key": shop},
               {"name": "crawler", "key": crawler, "allow_hosts": ["example.org"]}]
    with Cluster(store, config=merge(CONFIG, {"clients": clients, "dedup": {"scope": "client"}})) as cluster:
        a, b = cluster.nodes
        cluster.sim.set_faults(script=[strike("submit-error", "into", 1, UNSOLVABLE)])
        body = {"method": "turnstile", "sitekey": "into", "pageurl": PAGE, "wait": 30}
        equal(http_request(a.url + "/v1/solves", "POST", body, {"Authorization": "Bearer " + shop}, {}).status, 502)
        asked = {"Authorization": "Bearer " + admin}

        def order(method, path, body=None, key=asked):
            return http_request(b.url + "/v1/letters" + path, method, body, key, {})

        number = wait_until(lambda: order("GET", "").json()["letters"], "the letter")[0]["id"]
        equal(order("GET", "", key={}).status, 401)
        equal(order("GET", "/" + number, key={"Authorization": "Bearer " + shop}).status, 403, "no operator")
        equal(order("POST", f"/{number}/replay", key={"Authorization": "Bearer " + shop}).status, 403)
        equal(order("POST", f"/{number}/replay", {"into": "nobody"}).status, 422)
        refused = order("POST", f"/{number}/replay", {"into": "crawler"})
        equal((refused.status, refused.json()["code"]), (403, "host_not_allowed"))
        equal(order("GET", "").json()["letters"][0]["client"], "shop", "it is where it was")
        equal(order("POST", f"/{number}/replay", {"into": "ops"}).json(), {"queued": 1})
        wait_until(lambda: order("GET", "").json()["total"] == 0, "the replay")
        reply = http_request(b.url + "/v1/solves", "POST", body, asked, {})
        equal((reply.status, reply.json().get("source")), (200, "dedup_cache"), "it is the client's whose it became")


@on_each_adopter
def says_when_the_store_or_the_owner_is_away(store):
    with Cluster(store, config=merge(CONFIG, QUICK_LEASE)) as cluster:
        a, b = cluster.nodes
        die(cluster, a, "dies")
        number = wait_letters(cluster, 1)[0]
        paid = cluster.paid()
        a.kill()
        # Its adopter may be in time for the caller, or the caller is told to come again.
        reply = call(b, "POST", f"/{number}/replay")
        check(reply.status in (202, 503), reply.text)
        wait_until(lambda: all(letter["node"] == "b" for letter in listed(b)["letters"]), "the adoption", 60)
        if reply.status == 503:
            check(call(b, "POST", f"/{number}/replay").status in (202, 404), "it is there, or done")
        wait_until(lambda: listed(b)["total"] == 0, "the replay", 60)
        equal(cluster.paid(), paid + 1, "once")
        die(cluster, b, "later")
        wait_until(lambda: listed(b)["total"] == 1, "the letter")
        store.stop()
        reply = wait_until(lambda: (lambda r: r if r.status == 503 else None)(call(b, "GET")), "the store is away", 60)
        equal((reply.json()["code"], reply.json()["retryable"]), ("store_away", True))
        reply = wait_until(lambda: (lambda r: r if r.status == 503 else None)(call(b, "DELETE", "", None, all="true")), "likewise", 60)
        equal(reply.json()["code"], "store_away")
        store.start()
        wait_until(lambda: call(b, "GET").status == 200, "the store is back", 60)


@on_each_adopter
def commands_work_with_any(store):
    with Cluster(store, config=CONFIG) as cluster:
        a, b = cluster.nodes
        die(cluster, a, "cli")
        number = wait_letters(cluster, 1)[0]

        def command(*words):
            environment = {**os.environ, "SOLVEGATE_URL": b.url}
            return subprocess.run([binary("SOLVEGATE"), "letters", *words], env=environment, capture_output=True, text=True, check=False)

        shown = command("list").stdout
        check(number in shown and "NODE" in shown, shown)
        check("gateway" in command("show", number).stdout, "who has it")
        equal(command("replay", number).returncode, 0)
        wait_letters(cluster, 0)
        equal(a.counter("letters_settled"), 1)


if __name__ == "__main__":
    run()
