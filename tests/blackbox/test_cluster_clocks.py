#!/usr/bin/env python3
"""Two gateways on one store whose wall clocks are an hour apart: all go by the server's, and nothing expires early. (TAP)"""
from cluster_world import Cluster, on_each_server
from gateway import free_port
from harness import binary, equal, run, wait_until
from store_world import WallClock

HOUR = 3600


def with_clock(cluster, clock, callbacks=False):
    """Gateways a and b, the latter with another idea of the time; each takes the other's callbacks."""
    ports = [free_port(), free_port()]
    for place, name in enumerate("ab"):
        config = {"listen": [f"127.0.0.1:{ports[place]}"]}
        if callbacks:
            config.update(public_url=f"http://127.0.0.1:{ports[1 - place]}", poll={"first": "10m", "interval": "10m", "fallback_after": "10m"})
        node = cluster.make(name, config)
        if name == "b":
            node.env.update(clock.env)
        node.start()
        cluster.nodes.append(node)


def share_everything(store, seconds):
    clock = WallClock()
    clock.jump(seconds)
    with Cluster(store, count=0) as cluster:
        with_clock(cluster, clock)
        for place in (0, 1):
            one, other = cluster[place], cluster[1 - place]
            header = {"Idempotency-Key": f"order-{place}"}
            first = one.solve(sitekey=f"shared {place}").json()
            again = other.solve(sitekey=f"shared {place}").json()
            equal((again["source"], again["solution"]), ("dedup_cache", first["solution"]))
            first = one.solve(sitekey=f"single {place}", reuse="single", headers=header).json()
            equal(other.solve(sitekey=f"single {place}", reuse="single", headers=header).json()["solution"], first["solution"])
            told = one.submit_id(sitekey=f"told {place}")
            answer = wait_until(lambda one=one, told=told: one.text_of(told), "the answer")
            equal(wait_until(lambda other=other, told=told: other.text_of(told), "the answer at the other one"), answer)
        equal(cluster.paid(), 6, "paid")
        # Somebody sets it while it runs.
        clock.jump(-seconds)
        for place in (0, 1):
            for node in cluster.nodes:
                equal(node.solve(sitekey=f"shared {place}").json()["source"], "dedup_cache")
        equal(cluster.paid(), 6, "paid")


@on_each_server
def shares_everything_with_one_that_is_an_hour_ahead(store):
    share_everything(store, HOUR)


@on_each_server
def shares_everything_with_one_that_is_an_hour_behind(store):
    share_everything(store, -HOUR)


@on_each_server
def understands_callbacks_for_one_whose_clock_is_wrong(store):
    for seconds in (HOUR, -HOUR):
        clock = WallClock()
        clock.jump(seconds)
        with Cluster(store, count=0, sim=("--solve-time", "300ms")) as cluster:
            with_clock(cluster, clock, callbacks=True)
            for place, node in enumerate(cluster.nodes):
                reply = node.solve(sitekey=f"called {place} {seconds}")
                equal(reply.status, 200, reply.text)
            equal(cluster.paid(), 2, "paid")


@on_each_server
def goes_on_with_the_task_of_a_dead_one_whose_clock_was_right(store):
    clock = WallClock()
    clock.jump(HOUR)
    config = {"cluster": {"lease": "2s", "heartbeat": "250ms"}}
    with Cluster(store, count=0, config=config, sim=("--solve-time", "10m")) as cluster:
        with_clock(cluster, clock)
        task = cluster[0].submit_id(sitekey="k")
        cluster[0].await_accepted(1)
        cluster[0].kill()
        cluster[1].wait_line("event=node_adopted", 40)
        cluster.sim.solve()
        answer = wait_until(lambda: cluster[1].text_of(task), "the answer", 40)
        cluster[0].start()
        equal(cluster[0].solve(sitekey="k").json()["solution"], answer)
        equal(cluster.paid(), 1, "paid")


if __name__ == "__main__":
    binary("SOLVEGATE")
    run(beside=3)
