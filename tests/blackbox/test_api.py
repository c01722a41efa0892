#!/usr/bin/env python3
"""The JSON API: solves, waiting, idempotency, reports, explanations, problems. (TAP)"""
import json
import re
import subprocess
import time

from gateway import ADMIN, ALICE, BOB, PAGE, World, clients, with_defaults
from harness import TIMEOUT, Raw, binary, check, contains, equal, http_request, run, test, wait_until

SLOW = {"sitekey": "SIM-SLOW-30s"}


def problem(reply, status, code):
    """Checks that a reply is this problem, in the form of RFC 9457."""
    equal(reply.status, status, f"status of {reply.text}")
    equal(reply.headers["content-type"], "application/problem+json")
    body = reply.json()
    equal((body["status"], body["code"]), (status, code))
    for name in ("type", "title", "detail"):
        check(body[name], f"{name} of {body}")
    check(type(body["retryable"]) is bool, "retryable is a boolean")
    return body


@test
def one_call_asks_waits_and_gets_the_solution():
    with World() as world:
        reply = world.solve()
        equal(reply.status, 200)
        body = reply.json()
        equal((body["status"], body["source"], body["attempts"]), ("solved", "api", 1))
        check(body["solution"].startswith("SIM_"), body["solution"])
        check(body["expires_in"] > 200 and body["age"] < 20, f"{body}")
        equal(body["upstream_id"], str(world.sim.submits()[0]["id"]))
        equal(reply.headers["solvegate-source"], "api")
        check(reply.headers["age"].isdigit(), "Age in seconds")


@test
def the_second_asker_is_answered_from_memory():
    with World() as world:
        first = world.solved()
        reply = world.solve()
        body = reply.json()
        equal((body["solution"], body["source"]), (first["solution"], "dedup_cache"))
        equal(reply.headers["solvegate-source"], "dedup_cache")
        check(body["id"] != first["id"], "each call has its own id")
        equal(world.paid(), 1)


@test
def without_wait_the_answer_is_202_with_a_location():
    with World() as world:
        reply = world.solve(wait=None)
        equal(reply.status, 202)
        body = reply.json()
        check(body["status"] in ("queued", "solving"), body["status"])
        equal(reply.headers["location"], "/v1/solves/" + body["id"])
        state = world.call("GET", reply.headers["location"], wait=10)
        equal((state.status, state.json()["status"]), (200, "solved"))
        equal(world.call("GET", reply.headers["location"]).json()["solution"], state.json()["solution"])


@test
def wait_can_be_said_in_the_body_the_query_and_by_prefer():
    with World() as world:
        for how in ({"wait": 10}, {"wait": "10s"}, {"wait": "10"}):
            equal(world.solve(sitekey=str(how), **how).status, 200, f"{how}")
        equal(world.solve(sitekey="p", wait=None, headers={"Prefer": "respond-async, wait=10"}).status, 200)
        # Held for less than the time after which it would have been solved.
        started = time.monotonic()
        equal(world.solve(sitekey="SIM-NEVER", wait=0.3).status, 202)
        check(0.25 < time.monotonic() - started, "held for 0.3 s")
        world.await_accepted(5)
        identifier = world.solve(sitekey="SIM-NEVER", wait=None).json()["id"]
        started = time.monotonic()
        reply = world.call("GET", f"/v1/solves/{identifier}", wait="300ms")
        check(0.25 < time.monotonic() - started, "held for 0.3 s")
        equal((reply.status, reply.json()["status"]), (200, "solving"))


@test
def a_failed_solve_is_a_problem_that_names_the_vendors_code():
    with World() as world:
        reply = world.solve(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE")
        body = problem(reply, 502, "unsolvable")
        equal(body["upstream_code"], "ERROR_CAPTCHA_UNSOLVABLE")
        again = world.call("GET", f"/v1/solves/{body['id']}")
        problem(again, 502, "unsolvable")


@test
def a_solve_that_takes_too_long_is_504():
    with World({"solve_timeout": "1s", "ambiguity_window": "500ms"}) as world:
        problem(world.solve(SLOW), 504, "solve_timeout")


@test
def a_retry_with_the_same_idempotency_key_finds_the_solve_it_started():
    with World() as world:
        key = {"Idempotency-Key": '"order-17"'}
        first = world.solve(headers=key)
        equal(first.status, 200)
        check("idempotency-replayed" not in first.headers, "the first is no replay")
        retry = world.solve(headers={"Idempotency-Key": "order-17"})
        equal(retry.headers["idempotency-replayed"], "true")
        body = retry.json()
        equal((body["solution"], body["source"]), (first.json()["solution"], "idempotent"))
        equal(world.paid(), 1)


@test
def under_single_reuse_a_retry_gets_its_own_solution_and_others_get_theirs():
    with World() as world:
        mine = world.solved(reuse="single", headers={"Idempotency-Key": "mine"})
        other = world.solved(reuse="single")
        check(other["solution"] != mine["solution"], "handed to one request only")
        retry = world.solved(reuse="single", headers={"Idempotency-Key": "mine"})
        equal(retry["solution"], mine["solution"])
        equal(world.paid(), 2)


@test
def an_idempotency_key_cannot_be_used_for_something_else():
    with World() as world:
        headers = {"Idempotency-Key": "once"}
        world.solved(headers=headers)
        problem(world.solve(sitekey="other", headers=headers), 422, "idempotency_mismatch")
        equal(world.submit(sitekey="other", idempotency_key="once").text, "ERROR_IDEMPOTENCY_MISMATCH")
        equal(world.paid(), 1)
        problem(world.solve(headers={"Idempotency-Key": "x" * 300}), 422, "bad_idempotency_key")


@test
def after_a_failure_the_same_idempotency_key_may_submit_again():
    with World({"retry": {"unsolvable": 0}}) as world:
        headers = {"Idempotency-Key": "again"}
        equal(world.solve(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE", headers=headers).status, 502)
        equal(world.solve(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE", headers=headers).status, 502)
        equal(world.sim.totals()["accepted"], 2)


@test
def an_expired_idempotent_solution_is_solved_anew_and_said_so():
    with World({"cache": {"ttl": {"turnstile": "4s"}, "min_ttl": "0s"}}) as world:
        headers = {"Idempotency-Key": "short"}
        first = world.solved(headers=headers)
        time.sleep(4.1)
        second = world.solve(headers=headers)
        body = second.json()
        equal((second.status, body.get("renewed")), (200, True))
        check(body["solution"] != first["solution"], "a new one")
        check("idempotency-replayed" not in second.headers, "nothing was replayed")


@test
def a_request_can_be_given_up_and_is_then_unknown():
    with World() as world:
        identifier = world.solve(SLOW, wait=None).json()["id"]
        reply = world.call("DELETE", f"/v1/solves/{identifier}")
        equal((reply.status, reply.body), (204, b""))
        problem(world.call("GET", f"/v1/solves/{identifier}"), 404, "unknown_id")
        problem(world.call("DELETE", f"/v1/solves/{identifier}"), 404, "unknown_id")
        equal(world.counter("detached"), 1)


@test
def a_bad_report_evicts_the_solution_for_everybody():
    with World() as world:
        first = world.solved()
        reply = world.call("POST", f"/v1/solves/{first['id']}/report", {"good": False})
        equal((reply.status, reply.json()), (200, {"recorded": True}))
        check(world.solved()["solution"] != first["solution"], "another one")
        wait_until(lambda: world.sim.totals()["reports_bad"] == 1, "the report at the vendor")
        running = world.solve(SLOW, wait=None).json()["id"]
        problem(world.call("POST", f"/v1/solves/{running}/report", {"good": True}), 409, "not_solved")
        problem(world.call("POST", f"/v1/solves/{first['id']}/report", {"good": "maybe"}), 422, "bad_parameter")
        problem(world.call("POST", "/v1/solves/17/report", {"good": True}), 404, "unknown_id")


@test
def a_shared_solution_that_went_bad_is_not_blamed_on_the_vendor():
    with World() as world:
        world.solved()
        second = world.solved()
        equal(world.call("POST", f"/v1/solves/{second['id']}/report", {"good": False}).status, 200)
        world.solved()
        equal(world.paid(), 2, "it was evicted all the same")
        equal(world.sim.totals()["reports_bad"], 0)


@test
def explain_tells_what_counts_and_what_would_happen():
    with World() as world:
        body = {"method": "turnstile", "sitekey": "k", "pageurl": "HTTPS://Example.COM:443/a#b",
                "proxy": "1.2.3.4:80", "wait": 5, "soft_id": "7"}

        def explain(**more):
            reply = world.call("POST", "/v1/explain", {**body, **more})
            equal(reply.status, 200, reply.text)
            return reply.json()

        told = explain()
        equal(told["counted"], {"pageurl": "https://example.com/a", "sitekey": "k"})
        equal(sorted(told["ignored"]), ["proxy", "soft_id", "wait"])
        equal((told["would"], told["type"], told["reuse"]), ("submit", "turnstile", "shared"))
        check(re.fullmatch("[0-9a-f]{64}", told["key"]), told["key"])
        equal(explain(pageurl="https://example.com/a", proxy="5.6.7.8:1", googlekey="k", sitekey=None)["key"],
              told["key"], "key of the same thing said otherwise")
        check(explain(action="login")["key"] != told["key"], "an unknown parameter counts")
        world.solved({"sitekey": "k", "pageurl": "https://example.com/a"})
        equal(explain()["would"], "hit")
        equal(explain(reuse="single")["would"], "submit")
        equal(world.paid(), 1, "explaining costs nothing")
        problem(world.call("POST", "/v1/explain", {"method": "turnstile"}), 422, "bad_parameter")


@test
def flights_are_listed_while_they_run():
    with World() as world:
        for i in range(5):
            equal(world.solve(SLOW, wait=None, pageurl=f"{PAGE}/{i}").status, 202)
        world.await_accepted(5)
        page = world.call("GET", "/v1/flights", limit=3).json()
        equal((len(page["flights"]), page["total"]), (3, 5))
        rest = world.call("GET", "/v1/flights", limit=3, after=page["next"]).json()
        equal((len(rest["flights"]), rest["next"]), (2, None))
        flight = page["flights"][0]
        equal((flight["state"], flight["requests"], flight["attempts"], flight["client"], flight["dialect"]),
              ("solving", 1, 1, "anonymous", "v1"))
        keys = {entry["key"] for entry in page["flights"] + rest["flights"]}
        equal(len(keys), 5)


@test
def read_answers_stay_readable_as_long_as_the_limit_says():
    with World({"limits": {"finished": 2}}) as world:
        ids = [world.solved(sitekey=f"key{i}")["id"] for i in range(4)]
        equal([world.call("GET", f"/v1/solves/{task}").status for task in ids], [404, 404, 200, 200])


@test
def the_books_balance():
    with World() as world:
        world.solved()
        world.solved()
        world.solved(headers={"Idempotency-Key": "a"})
        world.solve(sitekey="SIM-ERROR_BAD_PROXY")
        world.solve(SLOW, wait=None)
        stats = world.stats()
        total = stats["total"]
        answered = sum(total["answered_" + source]
                       for source in ("api", "dedup_wait", "dedup_cache", "idempotent", "pool"))
        equal(total["requests"], answered + total["failed"] + total["rejected"] + total["detached"]
              + stats["now"]["waiting"])
        equal((total["deduplicated"], total["answered_api"]), (2, 1))
        equal(total["savings_pct"], 66.6)
        equal(stats["today"]["requests"], total["requests"])
        wait_until(lambda: world.counter("submits_accepted") == world.paid() == 3, "the slow submit's reply")


@test
def bad_input_gets_a_problem_that_names_it():
    with World({"limits": {"body": "64KiB"}}) as world:
        url = world.url + "/v1/solves"
        plain = {"Content-Type": "text/csv"}
        problem(http_request(url, "POST", "a,b", plain), 415, "unsupported_media_type")
        problem(http_request(url, "POST", "[1]", {"Content-Type": "application/json"}), 400, "malformed_body")
        problem(http_request(url, "POST", '{"a":', {"Content-Type": "application/json"}), 400, "malformed_body")
        duplicate = problem(http_request(url, "POST", '{"method":"a","method":"b"}'), 400, "malformed_body")
        contains(duplicate["detail"], "method")
        problem(http_request(url, "POST", "[" * 60000), 400, "malformed_body")
        deep = problem(http_request(url, "POST", '{"a":' + "[" * 5000 + "]" * 5000 + "}"), 400, "malformed_body")
        check("deep" in deep["detail"] or "nest" in deep["detail"], deep["detail"])
        contains(problem(world.solve(sitekey=None), 422, "bad_parameter")["detail"], "sitekey")
        contains(problem(world.solve(reuse="twice"), 422, "bad_parameter")["detail"], "reuse")
        contains(problem(world.solve(priority=10), 422, "bad_parameter")["detail"], "priority")
        contains(problem(world.solve(max_age="old"), 422, "bad_parameter")["detail"], "max_age")
        problem(world.solve(pingback="http://127.0.0.1/"), 403, "pingback_not_allowed")
        equal(http_request(url, "POST", "x" * 70000).status, 413)
        equal(world.sim.totals()["submits"], 0)


@test
def unknown_paths_and_wrong_methods_are_told_apart():
    with World() as world:
        problem(world.call("GET", "/v2/solves"), 404, "unknown_path")
        problem(world.call("GET", "/v1/solves/abc"), 404, "unknown_path")
        reply = world.call("PUT", "/v1/solves")
        problem(reply, 405, "wrong_method")
        contains(reply.headers["allow"], "POST")
        contains(world.call("DELETE", "/res.php").headers["allow"], "GET, HEAD")
        options = world.call("OPTIONS", "/v1/solves/1")
        equal(options.status, 204)
        contains(options.headers["allow"], "DELETE")
        head = world.call("HEAD", "/livez")
        equal((head.status, head.body), (200, b""))
        equal(world.call("GET", "/v1/solves/99999999999999999999").status, 404)


@test
def request_ids_are_echoed_and_never_injected():
    with World() as world:
        equal(world.solve(headers={"X-Request-Id": "job-42"}).headers["x-request-id"], "job-42")
        check(re.fullmatch("[0-9a-f]{16}", world.solve().headers["x-request-id"]), "made up when absent")
        long = "y" * 200
        check(world.solve(headers={"X-Request-Id": long}).headers["x-request-id"] != long, "too long to echo")
        equal(world.call("GET", "/nope", headers={"X-Request-Id": "lost"}).headers["x-request-id"], "lost")
        held = world.solve(SLOW, wait=0.2, headers={"X-Request-Id": "held"})
        equal(held.headers["x-request-id"], "held", "also after holding")


@test
def without_clients_no_web_page_may_spend():
    with World() as world:
        foreign = [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
                   {"Host": "evil.example:8430"}, {"Host": "127.0.0.1.evil.example"}, {"Origin": "http://localhost.evil"},
                   {"Origin": "http://127.0.0.1:3000"}, {"Origin": "http://localhost"}, {"Origin": "http://[::1]:3000"},
                   {"Sec-Fetch-Site": "same-site"}, {"Origin": f"http://127.0.0.1:{world.port}0"}]
        for headers in foreign:
            problem(world.solve(headers=headers), 403, "foreign_origin")
            equal(http_request(world.url + "/in.php", "GET", headers=headers, query=with_defaults({})).text,
                  "ERROR_IP_NOT_ALLOWED", f"{headers}")
            problem(world.call("GET", "/v1/stats", headers=headers), 403, "foreign_origin")
            problem(world.call("GET", "/metrics", headers=headers), 403, "foreign_origin")
        equal(world.sim.totals()["submits"], 0)
        for headers in ({"Origin": f"http://localhost:{world.port}"}, {"Host": "localhost"}, {"Host": "[::1]:8430"},
                        {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
            equal(world.solve(headers=headers).status, 200, f"{headers}")
            equal(world.call("GET", "/metrics", headers=headers).status, 200, f"{headers}")
    with World(clients()) as world:
        for headers in foreign:
            problem(world.call("GET", "/metrics", headers=headers), 401, "unauthorized")
            equal(world.call("GET", "/metrics", key=ADMIN, headers=headers).status, 200, f"{headers} with a key")
        equal(world.solve(key=ALICE, headers={"Origin": "https://shop.example", "Host": "gate.example"}).status, 200)


@test
def clients_need_their_key_and_their_scope():
    with World(clients()) as world:
        reply = world.solve()
        problem(reply, 401, "unauthorized")
        equal(reply.headers["www-authenticate"], "Bearer")
        problem(world.solve(key="z" * 32), 401, "unauthorized")
        equal(world.solve(key=ALICE).status, 200)
        body = {"method": "turnstile", "sitekey": "q", "pageurl": PAGE, "wait": 10}
        equal(world.call("POST", "/v1/solves", {**body, "key": BOB}).status, 200, "key in the body; status")
        equal(world.call("POST", "/v1/solves", body, key=BOB).status, 200)
        problem(world.solve(key=ADMIN), 403, "forbidden")
        problem(world.call("GET", "/v1/stats", key=ALICE), 403, "forbidden")
        problem(world.call("GET", "/v1/letters"), 401, "unauthorized")
        equal(world.call("GET", "/v1/stats", key=ADMIN).status, 200)
        equal(world.call("GET", "/livez").status, 200)


@test
def clients_do_not_share_solutions_unless_the_scope_is_global():
    with World(clients()) as world:
        first = world.solved(key=ALICE)
        check(world.solved(key=BOB)["solution"] != first["solution"], "bob has his own")
        problem(world.call("GET", f"/v1/solves/{first['id']}", key=BOB), 404, "unknown_id")
        equal(world.paid(), 2)
    with World({**clients(), "dedup": {"scope": "global"}}) as world:
        equal(world.solved(key=ALICE)["solution"], world.solved(key=BOB)["solution"])
        equal(world.paid(), 1)


@test
def a_client_may_ask_only_for_its_hosts():
    allowed = {"alice": {"allow_hosts": ["example.com", "*.example.org"]}}
    with World(clients(**allowed)) as world:
        good = ["https://example.com/a", "https://EXAMPLE.com:8443/", "http://example.com./x", "https://a.b.example.org/",
                "https://user:pw@example.com/"]
        bad = ["https://evil.com/", "https://example.com@evil.com/", "https://evil.com/#example.com",
               "https://evil.com?example.com", "https://notexample.com/", "https://example.com.evil.com/",
               "https://sub.example.com/", "https://example.com\\@evil.com/", "https://evil.com/example.com", "nonsense",
               "https://example.com%2eevil.com/", "https://example.com..//"]
        for pageurl in good:
            equal(world.solve(key=ALICE, pageurl=pageurl).status, 200, pageurl)
        submits = world.sim.totals()["submits"]
        for pageurl in bad:
            problem(world.solve(key=ALICE, pageurl=pageurl), 403, "host_not_allowed")
            equal(world.submit(key=ALICE, pageurl=pageurl).text, "ERROR_DOMAIN_NOT_ALLOWED", pageurl)
        equal(world.sim.totals()["submits"], submits, "none reached the vendor")
        equal(world.solve(key=BOB, pageurl="https://evil.com/").status, 200, "bob may")


@test
def a_budget_is_kept_to_the_very_submit():
    with World(clients(alice={"budget_per_day": 3})) as world:
        for i in range(3):
            equal(world.solve(key=ALICE, sitekey=str(i)).status, 200)
        reply = world.solve(key=ALICE, sitekey="3")
        body = problem(reply, 429, "budget_used_up")
        check(body["retryable"] and int(reply.headers["retry-after"]) > 0, "tomorrow")
        equal(world.submit(key=ALICE, sitekey="3").text, "ERROR_ZERO_BALANCE")
        equal(world.solve(key=ALICE, sitekey="0").json()["source"], "dedup_cache", "what is known is still served")
        equal(world.solve(key=BOB, sitekey="3").status, 200)


@test
def a_clients_own_limits_are_answered_with_429():
    with World(clients(alice={"requests": 2})) as world:
        for i in range(2):
            equal(world.solve(SLOW, key=ALICE, wait=None, pageurl=f"{PAGE}/{i}").status, 202)
        reply = world.solve(SLOW, key=ALICE, wait=None, pageurl=PAGE)
        problem(reply, 429, "client_limit")
        check(int(reply.headers["retry-after"]) > 0, "Retry-After")
        equal(world.submit(key=ALICE).text, "ERROR_NO_SLOT_AVAILABLE")
        equal(world.solve(key=BOB).status, 200)


@test
def the_openapi_document_lists_exactly_the_routes_that_exist():
    with World() as world:
        document = world.call("GET", "/openapi.json").json()
        equal(document["openapi"], "3.1.0")
        documented = {f"{method.upper()} {path}" for path, item in document["paths"].items() for method in item}
        served = subprocess.run([binary("SOLVEGATE"), "help", "routes"], capture_output=True, text=True,
                                check=True).stdout.splitlines()
        equal(sorted(documented), sorted(served))
        for entry in documented:
            method, path = entry.split(" ")
            reply = world.call(method, path.replace("{id}", "1").replace("{nonce}", "0"), body={} if method == "POST" else None)
            if reply.status in (404, 405):
                check("nonce" in path or reply.json()["code"] in ("unknown_id", "unknown_letter"), f"{entry}: {reply}")


@test
def every_reference_in_the_openapi_document_resolves():
    with World() as world:
        document = world.call("GET", "/openapi.json").json()
        text = json.dumps(document)
        for name in set(re.findall(r'"#/components/schemas/(\w+)"', text)):
            check(name in document["components"]["schemas"], f"schema {name}")


@test
def metrics_and_health_are_served():
    with World() as world:
        world.solved()
        text = world.call("GET", "/metrics").text
        for line in ("solvegate_requests_total 1", 'solvegate_submits_ended_total{outcome="accepted"} 1', "solvegate_breaker_open 0"):
            contains(text, line)
        names = re.findall(r"^# TYPE (\S+) ", text, re.M)
        equal(len(names), len(set(names)), "each metric once")
        equal(world.call("GET", "/livez").text, "ok\n")
        equal(world.call("GET", "/readyz").text, "ready\n")


@test
def metrics_are_for_this_machine_or_for_an_admin():
    with World({**clients(), "trusted_proxies": ["127.0.0.1/32"]}) as world:
        equal(world.call("GET", "/metrics").status, 200, "from here; status")
        far = {"X-Forwarded-For": "203.0.113.7"}
        problem(world.call("GET", "/metrics", headers=far), 401, "unauthorized")
        problem(world.call("GET", "/metrics", headers=far, key=ALICE), 403, "forbidden")
        equal(world.call("GET", "/metrics", headers=far, key=ADMIN).status, 200)


@test
def readiness_does_not_depend_on_the_vendor():
    with World() as world:
        world.sim.kill()
        equal(world.call("GET", "/readyz").status, 200)


@test
def draining_refuses_new_requests_and_finishes_the_others():
    with World({"drain_timeout": "60s"}, sim=("--solve-time", "60s")) as world:
        with Raw(world.port) as waiting, Raw(world.port) as late:
            body = json.dumps({"method": "turnstile", "sitekey": "k", "pageurl": PAGE, "wait": 20})
            head = f"POST /v1/solves HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            waiting.send(head + body)
            wait_until(lambda: world.sim.totals()["accepted"] == 1, "the submit")
            late.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /v1/solves HTTP/1.1\r\n")
            equal(late.reply().status, 200, "what it read together with half a request; status")
            world.gate.send_signal(15)
            world.gate.wait_line("event=draining")
            late.send(f"Host: localhost\r\nContent-Length: {len(body)}\r\n\r\n" + body)
            refused = late.reply()
            equal((refused.status, refused.json()["code"]), (503, "shutting_down"))
            world.sim.solve()
            reply = waiting.reply()
            equal((reply.status, reply.json()["status"]), (200, "solved"))
        world.gate.process.wait(TIMEOUT)
        equal(world.gate.process.returncode, 0)


run()
