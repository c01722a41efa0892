#!/usr/bin/env python3
"""Two gateways on one store: what one of them has for whoever asks, and only for one, is handed out by both, once. (TAP)"""
from cluster_world import Cluster, at_once, on_each_adopter, on_each_server
from gateway import PAGE
from harness import check, equal, get, http_request, run, wait_until

LEASE = {"cluster": {"lease": "2s", "heartbeat": "250ms"}}
TARGET = {"method": "turnstile", "sitekey": "0xSITE", "pageurl": PAGE}


def bank(cluster, node, count):
    """Paid solutions of this gateway that nobody waits for any more."""
    accepted, banked = node.counter("submits_accepted"), node.counter("solutions_banked")
    tasks = [node.submit_id(reuse="single") for _ in range(count)]
    wait_until(lambda: node.counter("submits_accepted") >= accepted + count, "the submits' replies")
    for task in tasks:
        equal(http_request(f"{node.url}/v1/solves/{task}", "DELETE", None, {}, {}).status, 204, "DELETE")
    cluster.sim.solve()
    wait_until(lambda: node.counter("solutions_banked") >= banked + count, "the bank")


def single(node, **more):
    return node.solve(reuse="single", **more)


def pool_of(node):
    return get(node.url + "/v1/pools").json()["pools"][0]


@on_each_adopter
def each_banked_solution_is_handed_to_one_of_all_who_ask_anywhere(store):
    """Twelve wait at a; twice eight ask at both at once: twelve are answered, each with its own, and four are paid for."""
    with Cluster(store, sim=("--solve-time", "10m")) as cluster:
        bank(cluster, cluster[0], 12)
        calls = [lambda node=node: single(node, wait=3) for _ in range(8) for node in cluster.nodes]
        replies = [reply.json() for reply, _ in at_once(calls)]
        tokens = [reply["solution"] for reply in replies if reply["status"] == "solved"]
        equal((len(tokens), len(set(tokens))), (12, 12), "answered, and with different tokens")
        wait_until(lambda: cluster.paid() == 16, "those who got nothing pay")
        taken = [node.counter("answered_dedup_cache") for node in cluster.nodes]
        equal(sum(taken), 12, "in the books of both")
        print(f"# {store.kind}: {taken[0]} by the one that had them, {taken[1]} by the other")
        check(taken[1] > 0, f"the other one took some: {taken}")


@on_each_adopter
def a_pool_that_runs_empty_takes_what_another_one_has(store):
    """Whoever would share gets a solution of its own, too; the other one fills its pool again."""
    with Cluster(store, config={"pools": [{**TARGET, "size": 4}]}, sim=("--solve-time", "10m")) as cluster:
        wait_until(lambda: cluster.paid() >= 4, "refills")
        wait_until(lambda: all(node.counter("pool_refills") == node.counter("submits_accepted") for node in cluster.nodes), "replies")
        cluster.sim.solve()
        total = cluster.paid()
        wait_until(lambda: sum(pool_of(node)["ready"] for node in cluster.nodes) == total, "all of them ready")
        others = pool_of(cluster[0])["ready"]
        check(others > 0, "one at the other gateway")
        replies = [cluster[1].solve(wait=5).json() for _ in range(total)]
        equal({reply.get("source") for reply in replies}, {"pool"}, "sources")
        equal(len({reply["solution"] for reply in replies}), total, "tokens")
        wait_until(lambda: pool_of(cluster[0])["ready"] == 0, "the other one hears of it")
        wait_until(lambda: cluster[0].counter("pool_refills") > others, "and fills its pool again")


def ready(nodes):
    """Of the pool at all of them together, if nothing is being solved."""
    pools = [pool_of(node) for node in nodes]
    return sum(pool["ready"] for pool in pools) if not any(pool["solving"] for pool in pools) else None


@on_each_server
def a_pool_is_filled_once_by_gateways_that_start_at_the_same_moment(store):
    """Four are paid for, and one for each that is handed out, also where another gateway has them all."""
    config = {"pools": [{**TARGET, "size": 4}], "cluster": {"heartbeat": "500ms"}}
    with Cluster(store, count=0, config=config, sim=("--solve-time", "20ms")) as cluster:
        nodes = [cluster.make("a"), cluster.make("b")]
        at_once([node.__enter__ for node in nodes])
        cluster.nodes += nodes
        wait_until(lambda: ready(nodes) == 4, "a full pool", 20)
        print(f"# {store.kind}: {[pool_of(node)['ready'] for node in nodes]} of 4")
        equal(nodes[0].solve().json()["source"], "pool")
        wait_until(lambda: cluster.paid() == 5 and ready(nodes) == 4, "one more", 20)
        late = cluster.make("c")
        late.__enter__()
        cluster.nodes.append(late)
        wait_until(lambda: all(node.states().get("c") == "alive" for node in nodes), "the third")
        equal(late.solve().json()["source"], "pool", "what it has not")
        wait_until(lambda: cluster.paid() == 6 and ready(cluster.nodes) == 4, "one more", 20)
        for node in cluster.nodes:
            equal(node.solve().json()["source"], "pool")
        wait_until(lambda: cluster.paid() == 9 and ready(cluster.nodes) == 4, "three more", 20)


@on_each_server
def what_is_paid_for_is_used_while_nothing_more_can_be(store):
    """The account of both is the same; only b has heard that it does not work."""
    config = {"breaker": {"probe": "5m"}, "retry": {"unknown": 0}}
    with Cluster(store, config=config, sim=("--solve-time", "10m")) as cluster:
        bank(cluster, cluster[0], 2)
        value = "ERROR_KEY_DOES_NOT_EXIST"
        cluster.sim.set_faults(script=[{"fault": "submit-error", "value": value}], faults={"account-error": {"p": 1, "value": value}})
        equal(cluster[1].solve(sitekey="broken").status, 503, "the breaker opens")
        replies = [single(cluster[1]) for _ in range(3)]
        equal([reply.status for reply in replies], [200, 200, 503], "what was paid for, and then nothing")
        equal([reply.json().get("source") for reply in replies], ["dedup_cache", "dedup_cache", None])
        equal(replies[2].json()["code"], "breaker_open", replies[2].text)
        equal(cluster.paid(), 2, "paid")


@on_each_adopter
def nobody_gets_it_twice_when_the_one_that_has_it_or_took_it_is_killed(store):
    with Cluster(store, config=LEASE, sim=("--solve-time", "10m")) as cluster:
        tokens = []

        def ask(node):
            try:
                reply = single(node, wait=2)
                tokens.extend([reply.json()["solution"]] if "solution" in reply.json() else [])
            except OSError:
                pass  # it was killed

        for victim in (0, 1):
            bank(cluster, cluster[0], 24)
            calls = [lambda node=node: ask(node) for _ in range(8) for node in cluster.nodes]
            at_once(calls + [cluster[victim].kill])
            cluster[1 - victim].wait_line("event=node_adopted", 40)
            cluster[victim].start()
            at_once([lambda node=node: ask(node) for _ in range(8) for node in cluster.nodes])
        print(f"# {store.kind}: {len(tokens)} of 48 were handed out")
        equal(len(set(tokens)), len(tokens), "different tokens")
        check(len(tokens) > 12, f"{len(tokens)} were handed out")


if __name__ == "__main__":
    run()
