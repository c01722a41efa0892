#!/usr/bin/env python3
"""Two gateways on one store, and one of them dies, stands still or leaves: the other goes on, and nothing is paid twice. (TAP)"""
import signal
import subprocess
import time

from cli_world import expect, solvegate
from cluster_world import Cluster, on_each_adopter, on_servers
from gateway import free_port
from harness import Receiver, binary, check, contains, equal, get, run, wait_until
from stores import metric

# Short, so that deaths are noticed soon; not too short for a busy machine.
LEASE = {"cluster": {"lease": "2s", "heartbeat": "250ms"}}


def with_an_open_task(cluster):
    """An accepted task of gateway a that the vendor has not solved: the request's id."""
    task = cluster[0].submit_id(sitekey="k")
    cluster[0].await_accepted(1)
    return task


def taken_over(node):
    """How many gateways it adopted, and how many of them did not end in order."""
    return metric(node, "cluster_adoptions_total"), metric(node, "cluster_deaths_total")


@on_each_adopter
def goes_on_with_the_paid_task_of_one_that_was_killed(store):
    """The survivor polls it, answers whoever followed and whoever asks, and submits nothing."""
    with Cluster(store, config=LEASE, sim=("--solve-time", "10m")) as cluster:
        task = with_an_open_task(cluster)
        follower = cluster[1].submit_id(sitekey="k")
        wait_until(lambda: cluster[1].waiting() == 1, "the follower")
        cluster[0].kill()
        cluster[1].wait_line("event=node_adopted", 40)
        cluster.sim.solve()
        answer = wait_until(lambda: cluster[1].text_of(follower), "the follower's answer", 40)
        # The request's id is known at the survivor now.
        equal(wait_until(lambda: cluster[1].text_of(task), "the answer"), answer)
        equal(cluster[1].solve(sitekey="k").json()["solution"], answer)
        equal(cluster.paid(), 1, "paid")
        equal(cluster[1].counter("requests_adopted"), 1, "requests that came with it")
        equal(taken_over(cluster[1]), (1, 1), "adoptions and deaths")
        cluster[0].start()
        equal(cluster[0].solve(sitekey="k").json()["solution"], answer)
        equal(cluster.paid(), 1, "paid")


@on_each_adopter
def goes_on_with_a_task_in_shadow_mode_and_gives_its_solution_to_nobody_else(store):
    with Cluster(store, config={**LEASE, "mode": "shadow"}, sim=("--solve-time", "10m")) as cluster:
        task = with_an_open_task(cluster)
        cluster[0].kill()
        cluster[1].wait_line("event=node_adopted", 40)
        other = cluster[1].submit_id(sitekey="k")
        cluster[1].await_accepted(1)
        cluster.sim.solve()
        answers = [wait_until(lambda id_=id_: cluster[1].text_of(id_), "the answer", 40) for id_ in (task, other)]
        equal(len(set(answers)), 2, "solutions")
        equal(cluster.paid(), 2, "paid")


@on_each_adopter
def tells_a_caller_of_its_own_accord_though_the_one_that_was_asked_died(store):
    """Once, also when that one is back, which knew the address, too."""
    with Receiver() as receiver:
        callbacks = {"callbacks": {"allow": [f"127.0.0.1:{receiver.port}"], "allow_private": True, "retry_base": "100ms"}}
        with Cluster(store, config={**LEASE, **callbacks}, sim=("--solve-time", "10m")) as cluster:
            a, b = cluster.nodes
            task = a.submit_id(sitekey="k", pingback=receiver.url + "/hook?mine=1")
            a.await_accepted(1)
            a.kill()
            b.wait_line("event=node_adopted", 40)
            cluster.sim.solve()
            told = receiver.wait(1, 40)[0]["params"]
            equal((told["id"], told["mine"], told["code"]), (task, "1", b.text_of(task)), "what it was told")
            wait_until(lambda: b.counter("notices_delivered") == 1, "the adopter to hear that it was taken")
            wait_until(lambda: metric(b, "store_records_waiting") == 0, "its rows")
            a.start()
            # Whoever adopts now would find the address if it was still there.
            b.kill()
            a.wait_line("event=node_adopted", 40)
            equal(wait_until(lambda: a.text_of(task), "the answer"), told["code"])
            equal(a.counter("notices_delivered"), 0, "notices of the one that is back")
            equal(len(receiver.calls), 1, "calls")
            equal(cluster.paid(), 1, "paid")


@on_each_adopter
def tells_a_callback_to_whoever_has_the_task(store):
    """The vendor calls the gateway that did not submit: the owner hears it long before it would poll."""
    ports = [free_port(), free_port()]
    with Cluster(store, count=0, config={"poll": {"first": "10m", "interval": "10m", "fallback_after": "10m"}},
                 sim=("--solve-time", "300ms")) as cluster:
        for name, own, called in (("a", 0, 1), ("b", 1, 0)):
            cluster.add(name, {"listen": [f"127.0.0.1:{ports[own]}"], "public_url": f"http://127.0.0.1:{ports[called]}"})
        for node in cluster.nodes:
            reply = node.solve(sitekey=f"key of {node.port}")
            equal(reply.status, 200, reply.text)
        equal(cluster.paid(), 2, "paid")
        equal(sum(node.counter("callbacks_unknown") for node in cluster.nodes), 0, "callbacks that nobody understood")


@on_servers(["postgres"])
def comes_back_while_another_one_adopts_it(store):
    """Both lock the node's row before they touch any other; otherwise the server has to end one of them."""
    with Cluster(store, config={"cluster": {"lease": "5m", "heartbeat": "250ms"}}, sim=("--solve-time", "10m")) as cluster:
        with_an_open_task(cluster)
        cluster[0].kill()
        adopter = subprocess.Popen(store.psql("SET search_path = solvegate; BEGIN; SELECT name FROM node WHERE name = 'a' FOR UPDATE;"
                                              " SELECT pg_sleep(3); UPDATE flight SET owner = owner; COMMIT"),
                                   env=store.psql_env(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        time.sleep(0.5)
        cluster[0].start()
        said, _ = adopter.communicate(timeout=60)
        equal(adopter.returncode, 0, said)
        contains(cluster[0].wait_line("event=restored"), "flights=1")


@on_each_adopter
def starts_over_after_it_stood_still_for_longer_than_its_lease(store):
    """It finds itself adopted, joins again in the same process, and whatever it was about to do is not done twice."""
    with Cluster(store, config=LEASE | {"drain_timeout": "30s"}, sim=("--solve-time", "10m")) as cluster:
        task = with_an_open_task(cluster)
        cluster[0].process.send_signal(signal.SIGSTOP)
        try:
            cluster[1].wait_line("event=node_adopted", 40)
        finally:
            cluster[0].process.send_signal(signal.SIGCONT)
        cluster[0].wait_line("event=node_fenced", 40)
        wait_until(lambda: get(cluster[0].url + "/readyz").text == "ready\n", "ready again", 40)
        cluster.sim.solve()
        answer = wait_until(lambda: cluster[1].text_of(task), "the answer at the adopter", 40)
        equal(cluster[0].solve(sitekey="k").json()["solution"], answer)
        equal(cluster.paid(), 1, "paid")
        # A node as any other: it solves, and others follow it.
        follower = cluster[0].submit_id(sitekey="next")
        wait_until(lambda: cluster.paid() == 2, "another submit")
        cluster.sim.solve()
        wait_until(lambda: cluster[0].text_of(follower), "its answer")
        check(cluster[0].process.poll() is None, "it is the same process")
        # Once more, and told to end as soon as it can notice, whichever it hears first: it joins again to hand in what it
        # knows, and leaves in order.
        cluster[0].process.send_signal(signal.SIGSTOP)
        try:
            wait_until(lambda: cluster[1].stderr().count("event=node_adopted") == 2, "the second adoption", 40)
            cluster[0].process.send_signal(signal.SIGTERM)
        finally:
            cluster[0].process.send_signal(signal.SIGCONT)
        equal(cluster[0].process.wait(40), 0, "exit code")
        equal(cluster[0].stderr().count("event=node_fenced"), 2, "times that it found itself adopted")


@on_each_adopter
def all_say_who_adopted_whom(store):
    """Also the one that was adopted, once it is back."""
    with Cluster(store, count=3, config=LEASE) as cluster:
        a, b, c = cluster.nodes
        wait_until(lambda: all(list(node.states().values()) == ["alive"] * 3 for node in cluster.nodes), "all three")
        a.kill()
        seen = wait_until(lambda: b.nodes()["adopted"] == c.nodes()["adopted"] and b.nodes()["adopted"], "the same at both", 40)
        equal([one["name"] for one in seen], ["a"])
        check(seen[0]["by"] in ("b", "c"), seen)
        equal([node.nodes()["adoptions"] for node in (b, c)], [int(seen[0]["by"] == name) for name in "bc"], "its own count")
        a.start()
        wait_until(lambda: a.nodes()["adopted"] == seen, "at the one that was adopted, too", 20)
        adopter = "*" if seen[0]["by"] == "b" else "c"
        contains(expect(solvegate("nodes", "--url", b.url), 0).stderr, f"{adopter} went on with {seen[0]['rows']} row")


@on_each_adopter
def leaves_its_tasks_to_the_others_at_sigterm(store):
    """A rolling restart: nobody waits for a lease, here one of five minutes, and nothing is paid twice."""
    config = {"cluster": {"lease": "5m", "heartbeat": "250ms"}}
    with Cluster(store, config=config, sim=("--solve-time", "10m")) as cluster:
        tasks = {}
        for turn in range(2):
            node, other = cluster[turn], cluster[1 - turn]
            tasks[turn] = node.submit_id(sitekey=f"key {turn}")
            wait_until(lambda: cluster.paid() == turn + 1, "the submit")
            wait_until(lambda node=node: node.counter("submits_accepted") > 0, "the submit's reply")
            node.stop()
            contains(other.wait_line("event=node_adopted", 40), "rows=")
            equal(taken_over(other), (1, 0), "adoptions and deaths")
            cluster.sim.solve()
            wait_until(lambda other=other, id_=tasks[turn]: other.text_of(id_), "the answer at the other", 40)
            node.start()
            equal(node.solve(sitekey=f"key {turn}").status, 200)
        equal(cluster.paid(), 2, "paid")


if __name__ == "__main__":
    binary("SOLVEGATE")
    run()
