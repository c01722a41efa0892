#!/usr/bin/env python3
"""Two gateways on one store, behind a load balancer that does not care: a request is answered at any of them. (TAP)"""
import re
import time

from cluster_world import Cluster, on_each_server
from gateway import PAGE
from harness import check, equal, get, http_request, run, wait_until

SLOW = ("--solve-time", "10m")


def submit(node, **more):
    """The id of a request in the vendor's words."""
    reply = get(node.url + "/in.php", **{"key": "k", "method": "turnstile", "sitekey": "0xSITE", "pageurl": PAGE, **more})
    check(reply.text.startswith("OK|"), f"in.php said {reply.text}")
    return reply.text[3:]


def poll(node, request, **more):
    return get(node.url + "/res.php", **{"key": "k", "action": "get", "id": request, **more}).text


def poll_all(node, requests):
    return get(node.url + "/res.php", key="k", action="get", ids=",".join(requests)).text.split("|")


def ended(node, request):
    text = poll(node, request)
    return None if text == "CAPCHA_NOT_READY" else text


def create(node):
    task = {"type": "TurnstileTaskProxyless", "websiteURL": PAGE, "websiteKey": "0xSITE"}
    return http_request(node.url + "/createTask", "POST", {"clientKey": "k", "task": task}, {}, {}).json()["taskId"]


def written(node):
    """Entries that the gateway wrote into the store."""
    text = get(node.url + "/metrics").text
    return int(float(re.search(r"^solvegate_store_records_total (\S+)$", text, re.MULTILINE).group(1)))


def result(node, task):
    return http_request(node.url + "/getTaskResult", "POST", {"clientKey": "k", "taskId": task}, {}, {}).json()


@on_each_server
def answers_a_poll_at_the_gateway_that_was_not_asked(store):
    with Cluster(store, sim=SLOW) as cluster:
        request = submit(cluster[0], sitekey="k1", reuse="single")
        wait_until(lambda: cluster.paid() == 1, "the submit")
        equal(poll(cluster[1], request), "CAPCHA_NOT_READY")
        equal(poll_all(cluster[1], [request, request]), ["CAPCHA_NOT_READY"] * 2)
        cluster.sim.solve()
        text = wait_until(lambda: ended(cluster[1], request), "the solution at the other one")
        check(text.startswith("OK|"), text)
        equal(poll(cluster[0], request), text, "at the first one")
        equal(wait_until(lambda: [t for t in poll_all(cluster[1], [request]) if t != "CAPCHA_NOT_READY"], "ids="), [text[3:]])
        equal(cluster.paid(), 1, "paid")


@on_each_server
def says_that_an_id_is_unknown_when_nobody_has_it(store):
    with Cluster(store) as cluster:
        for request in ("4503599627370497", "9007199254740993", "18446744073709551615", "7"):
            equal(poll(cluster[1], request), "ERROR_WRONG_CAPTCHA_ID", request)
        equal(get(cluster[0].url + "/v1/solves/4503599627370497").status, 404)
        equal(result(cluster[0], 4711)["errorCode"], "ERROR_NO_SUCH_CAPCHA_ID")


@on_each_server
def tells_nobody_about_another_clients_request(store):
    clients = [{"name": "left", "key": "a" * 32}, {"name": "right", "key": "b" * 32}]
    with Cluster(store, config={"clients": clients}) as cluster:
        mine, other = "a" * 32, "b" * 32
        request = submit(cluster[0], key=mine)
        equal(poll(cluster[1], request, key=other), "ERROR_WRONG_CAPTCHA_ID")
        check(poll(cluster[1], request, key=mine) != "ERROR_WRONG_CAPTCHA_ID", "its own client is told")


@on_each_server
def wakes_a_held_look_at_the_other_gateway(store):
    with Cluster(store, sim=("--solve-time", "2s")) as cluster:
        request = cluster[0].submit_id(sitekey="held")
        begin = time.monotonic()
        answer = get(cluster[1].url + "/v1/solves/" + request, wait="30").json()
        equal(answer["status"], "solved", answer)
        check(time.monotonic() - begin < 20, "it did not wait for its time to be over")
        equal(cluster[0].text_of(request), answer["solution"])
        equal(cluster.paid(), 1, "paid")


@on_each_server
def answers_in_every_dialect_and_tells_failures(store):
    with Cluster(store) as cluster:
        tasks = [create(cluster[i % 2]) for i in range(4)]
        equal(len(set(tasks)), 4, "ids")
        for i, task in enumerate(tasks):
            done = wait_until(lambda i=i, task=task: (r := result(cluster[1 - i % 2], task))["status"] == "ready" and r, "the task")
            check(done["solution"]["token"], done)
    with Cluster(store, sim=SLOW, config={"retry": {"unsolvable": 0}}) as cluster:
        request = submit(cluster[0], sitekey="bad")
        wait_until(lambda: cluster[0].counter("submits_accepted") == 1, "the submit")
        cluster.sim.solve(error="ERROR_CAPTCHA_UNSOLVABLE")
        equal(wait_until(lambda: ended(cluster[1], request), "the failure"), "ERROR_CAPTCHA_UNSOLVABLE")


@on_each_server
def finds_what_came_from_the_cache_of_the_other(store):
    """A hit in the memory of one gateway, of a solution that the other one has."""
    with Cluster(store) as cluster:
        first = cluster[0].solve(sitekey="c").json()
        equal(cluster[1].solve(sitekey="c").json()["solution"], first["solution"])
        request = submit(cluster[1], sitekey="c", reuse="shared")
        equal(poll(cluster[0], request), "OK|" + first["solution"])
        equal(cluster.paid(), 1, "paid")


@on_each_server
def is_not_ready_while_the_store_is_away(store):
    with Cluster(store, sim=SLOW) as cluster:
        request = submit(cluster[0], sitekey="a")
        cluster[0].await_accepted(1)
        store.away()
        equal(poll(cluster[1], request), "CAPCHA_NOT_READY")
        away = get(cluster[1].url + "/v1/solves/" + request)
        equal((away.status, away.json()["code"]), (503, "store_away"))
        store.back()
        cluster.sim.solve()
        text = wait_until(lambda: ended(cluster[1], request), "the solution", 60)
        check(text.startswith("OK|"), text)
        equal(cluster.paid(), 1, "paid")


@on_each_server
def answers_anywhere_for_an_id_that_came_with_its_solution(store):
    """No row tells of it: the gateway that gave it is asked."""
    with Cluster(store) as cluster:
        first = cluster[0].solve(sitekey="c").json()
        hit = cluster[0].solve(sitekey="c").json()
        equal(hit["solution"], first["solution"])
        for told in (first, hit):
            again = get(cluster[1].url + "/v1/solves/" + told["id"])
            equal((again.status, again.json().get("solution")), (200, told["solution"]), "at the other one")
            equal(again.json()["source"], told["source"], "its source")
            equal(poll(cluster[1], told["id"]), "OK|" + told["solution"], "in the vendor's words")
        third = cluster[0].solve(sitekey="c").json()
        known = wait_until(lambda: [t for t in poll_all(cluster[1], [third["id"]]) if t != "CAPCHA_NOT_READY"], "ids=")
        equal(known, [first["solution"]])
        equal(cluster.paid(), 1, "paid")
        cluster[0].kill()
        wait_until(lambda: cluster[1].nodes()["adoptions"] == 1, "the adoption", 60)
        fourth = hit["id"][:-1] + ("0" if hit["id"][-1] != "0" else "1")
        equal(poll(cluster[1], fourth), "ERROR_WRONG_CAPTCHA_ID", "an id of a dead one")


@on_each_server
def made_up_ids_do_not_flood_the_gateway_that_they_name(store):
    with Cluster(store) as cluster:
        known = cluster[0].solve(sitekey="c").json()["id"]
        base = int(known) & ~0xfff
        made_up = [str(base + i) for i in range(600) if str(base + i) != known]
        before = written(cluster[1])
        begin = time.monotonic()
        for start in range(0, len(made_up), 100):
            words = poll_all(cluster[1], made_up[start:start + 100])
            check(set(words) <= {"CAPCHA_NOT_READY", "ERROR_WRONG_CAPTCHA_ID"}, words)
        seconds = time.monotonic() - begin
        check(written(cluster[1]) - before <= 2 * 32 * (2 + seconds), f"{written(cluster[1]) - before} facts in {seconds:.1f} s")
        wait_until(lambda: poll(cluster[1], made_up[0]) == "ERROR_WRONG_CAPTCHA_ID", "the owner's word")
        wait_until(lambda: poll(cluster[1], known).startswith("OK|"), "an id that is known")


if __name__ == "__main__":
    run()
