#!/usr/bin/env python3
"""Two gateways whose store is away: what they have goes on, what is new waits for its claim, and nothing is paid twice. (TAP)"""
import contextlib
import json

from cluster_world import Caller, Cluster, on_each_server
from gateway import PAGE, free_port
from harness import KEY, Raw, check, equal, get, http_request, run, wait_until
from stores import metric

SLOW = ("--solve-time", "10m")
# Long ones wait for a condition, on a busy machine; nobody is adopted, since a store that is away takes nobody for dead.
LEASE = {"cluster": {"lease": "6s", "heartbeat": "500ms"}}


@contextlib.contextmanager
def away(store, cluster):
    """Both gateways know that the store is away; afterwards both have it again."""
    counts = [node.stderr().count("event=store_away") for node in cluster.nodes]
    store.away()
    for node, count in zip(cluster.nodes, counts):
        wait_until(lambda node=node, count=count: node.stderr().count("event=store_away") > count, "news of the store", 40)
    yield
    store.back()
    for node in cluster.nodes:
        wait_until(lambda node=node: get(node.url + "/readyz").text == "ready\n", "ready again", 60)


def say(node, path, body, kind):
    """Sends a request and does not read."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return Raw(int(node.url.rsplit(":", 1)[1])).send(head.encode() + body)


@on_each_server
def what_memory_has_is_answered_at_once(store):
    with Cluster(store, config=LEASE) as cluster:
        answer = cluster[0].solve(sitekey="k").json()["solution"]
        equal(cluster[1].solve(sitekey="k").json()["solution"], answer)
        with away(store, cluster):
            for node in cluster.nodes:
                told = node.solve(sitekey="k", wait=1).json()
                equal((told["solution"], told["source"]), (answer, "dedup_cache"))
        equal(cluster.paid(), 1, "paid")


@on_each_server
def a_paid_task_that_is_solved_meanwhile_is_answered_at_once_and_in_the_store_later(store):
    """Also once the gateway that had it is gone, which had nobody else to tell."""
    with Cluster(store, config=LEASE, sim=SLOW) as cluster:
        a, b = cluster.nodes
        task = a.submit_id(sitekey="k")
        a.await_accepted(1)
        caller = Caller(a, sitekey="k")
        wait_until(lambda: a.waiting() == 2, "the caller")
        with away(store, cluster):
            cluster.sim.solve()
            answer = caller.answer().json()["solution"]
            equal(a.text_of(task), answer, "by its id")
            check(get(a.url + "/readyz").text.startswith("degraded"), "the store is away")
        wait_until(lambda: metric(a, "store_records_waiting") == 0, "its rows", 40)
        a.kill()
        equal(wait_until(lambda: b.text_of(task), "the request at the other one", 40), answer)
        told = b.solve(sitekey="k").json()
        equal((told["solution"], told["source"]), (answer, "dedup_cache"))
        equal(cluster.paid(), 1, "paid")


@on_each_server
def a_solution_for_one_request_only_waits_for_the_store(store):
    """Another gateway may have adopted its flight by then, for all that this one knows, and hand it out."""
    with Cluster(store, config=LEASE, sim=SLOW) as cluster:
        caller = Caller(cluster[0], sitekey="k", reuse="single")
        cluster[0].await_accepted(1)
        with away(store, cluster):
            cluster.sim.solve()
            wait_until(lambda: cluster[0].counter("solves") == 1, "the solution")
            equal(caller.reply, None, "an answer")
        equal(caller.answer().json()["source"], "api")
        equal(cluster.paid(), 1, "paid")


@on_each_server
def what_is_new_waits_and_is_paid_for_once_when_the_store_is_back(store):
    """At both gateways, by an idempotency key as well, and as a bare id."""
    with Cluster(store, config=LEASE) as cluster:
        with away(store, cluster):
            callers = [Caller(node, sitekey="k") for node in cluster.nodes]
            callers += [Caller(node, sitekey="single", reuse="single", headers={"Idempotency-Key": "one"}) for node in cluster.nodes]
            ids = [Caller(node, sitekey="k", wait=0) for node in cluster.nodes]
            for node in cluster.nodes:
                wait_until(lambda node=node: node.waiting() == 3, "those who wait")
            equal(cluster.paid(), 0, "paid before")
            equal([caller.reply for caller in callers + ids], [None] * 6, "answers")
        answers = [caller.answer() for caller in callers]
        equal([answer.status for answer in answers], [200] * 4, [answer.text for answer in answers])
        solutions = [answer.json()["solution"] for answer in answers]
        equal((solutions[0], solutions[2]), (solutions[1], solutions[3]), "one solution for each key")
        for node, caller in zip(cluster.nodes, ids):
            told = caller.answer().json()["id"]
            equal(wait_until(lambda node=node, told=told: node.text_of(told), "the answer of an id"), solutions[0])
        equal(cluster.paid(), 2, "paid")


@on_each_server
def who_waits_beyond_the_deadline_is_refused_and_nothing_is_paid_for(store):
    with Cluster(store, config={**LEASE, "solve_timeout": "5s", "ambiguity_window": "2s"}) as cluster:
        with away(store, cluster):
            callers = [Caller(node, sitekey=f"k{wait}", wait=wait) for node in cluster.nodes for wait in (0, 30)]
            plain = get(cluster[0].url + "/in.php", key=KEY, method="turnstile", sitekey="plain", pageurl=PAGE)
            equal(plain.text, "ERROR_NO_SLOT_AVAILABLE", "in.php")
            for caller in callers:
                reply = caller.answer()
                told = reply.json()
                equal((reply.status, told["code"], told["retryable"]), (503, "store_away", True), reply.text)
                check(int(reply.headers["retry-after"]) >= 1, "Retry-After")
            for node in cluster.nodes:
                wait_until(lambda node=node: node.waiting() == 0, "nobody to wait any more")
        equal(cluster.paid(), 0, "paid while it was away")
        equal(cluster[1].solve(sitekey="k0").status, 200, "the next one")
        equal(cluster.paid(), 1, "paid")


@on_each_server
def who_hangs_up_before_it_has_an_id_is_forgotten(store):
    with Cluster(store, config=LEASE) as cluster:
        node = cluster[0]
        with away(store, cluster):
            form = f"key={KEY}&method=turnstile&pageurl={PAGE}&sitekey=".encode()
            task = json.dumps({"clientKey": KEY, "task": {"type": "TurnstileTaskProxyless", "websiteURL": PAGE, "websiteKey": "t"}}).encode()
            gone = [say(node, "/in.php", form + b"%d" % number, "application/x-www-form-urlencoded") for number in range(3)]
            gone.append(say(node, "/createTask", task, "application/json"))
            wait_until(lambda: node.waiting() == 4, "those who wait")
            for connection in gone:
                connection.close()
            wait_until(lambda: node.waiting() == 0, "nobody to wait any more")
        equal(node.solve(sitekey="k").status, 200, "somebody else")
        equal(cluster.paid(), 1, "paid")


@on_each_server
def a_callback_that_cannot_be_kept_is_not_acknowledged_and_polls_stand_in(store):
    """Both vendor's callbacks come to b: for its own task, and for that of a, which it cannot tell."""
    ports = [free_port(), free_port()]
    patient = {"poll": {"first": "10m", "interval": "500ms", "fallback_after": "1s"}}
    with Cluster(store, count=0, config={**LEASE, **patient}, sim=SLOW) as cluster:
        for name, port in zip("ab", ports):
            cluster.add(name, {"listen": [f"127.0.0.1:{port}"], "public_url": f"http://127.0.0.1:{ports[1]}"})
        tasks = [node.submit_id(sitekey=node.url) for node in cluster.nodes]
        for node in cluster.nodes:
            node.await_accepted(1)
        with away(store, cluster):
            cluster.sim.solve()
            called = wait_until(lambda: [call for submit in cluster.sim.submits() for call in submit["callbacks"]][1:] and
                                [submit["callbacks"][0] for submit in cluster.sim.submits()], "both callbacks", 40)
            equal([call["status"] for call in called], [503, 503], "what the vendor was told")
            for node, task in zip(cluster.nodes, tasks):
                wait_until(lambda node=node, task=task: node.text_of(task), "the solution, without the store", 40)
        for node, other, task in zip(cluster.nodes, reversed(cluster.nodes), tasks):
            equal(wait_until(lambda other=other, task=task: other.text_of(task), "at the other one", 40), node.text_of(task))
        equal(cluster.paid(), 2, "paid")


def bad_id(cluster):
    """An id at the first gateway whose solution may be reported, and the solution; all of it is in the store."""
    request = cluster[0].submit_id(sitekey="k")
    text = wait_until(lambda: cluster[0].text_of(request), "the solution")
    wait_until(lambda: metric(cluster[0], "store_records_waiting") == 0, "its rows")
    return request, text


def report(node, request):
    return http_request(f"{node.url}/v1/solves/{request}/report", "POST", {"good": False}, {}, {})


def is_refused(node, request):
    """In each dialect: somebody who comes again is heard."""
    reply = report(node, request)
    equal((reply.status, reply.json()["code"], reply.json()["retryable"]), (503, "store_away", True), reply.text)
    plain = get(node.url + "/res.php", key=KEY, action="reportbad", id=request).text
    equal(plain, "ERROR_NO_SLOT_AVAILABLE", "res.php")


@on_each_server
def a_bad_report_that_dies_with_its_gateway_was_never_acknowledged(store):
    """Nobody has noticed that the store is away when it comes."""
    with Cluster(store, config=LEASE) as cluster:
        a, b = cluster.nodes
        request, bad = bad_id(cluster)
        store.away()
        is_refused(a, request)
        a.kill()
        equal(cluster.sim.totals()["reports_bad"], 0, "the vendor hears of what is recorded")
        store.back()
        wait_until(lambda: report(b, request).status == 200, "the report at the other one", 60)
        check(b.solve(sitekey="k").json()["solution"] != bad, "it is handed out no more")


@on_each_server
def a_bad_report_while_the_store_is_away_may_be_repeated(store):
    with Cluster(store, config=LEASE) as cluster:
        a, b = cluster.nodes
        request, bad = bad_id(cluster)
        with away(store, cluster):
            is_refused(a, request)
            equal(cluster.sim.totals()["reports_bad"], 0, "the vendor")
        for _ in range(2):
            equal(wait_until(lambda: report(a, request), "the report").json(), {"recorded": True})
        wait_until(lambda: b.solve(sitekey="k").json()["solution"] != bad, "another solution")
        wait_until(lambda: cluster.sim.totals()["reports_bad"] == 1, "the vendor")


if __name__ == "__main__":
    run(beside=3)
