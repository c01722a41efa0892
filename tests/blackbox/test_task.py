#!/usr/bin/env python3
"""The createTask dialect: the rules of docs/createtask.md, each of which some published client insists on. (TAP)"""
import json
import time

from gateway import ADMIN, ALICE, BOB, PAGE, World, clients, together
from harness import KEY, Raw, Receiver, check, contains, equal, get, http_request, run, test, wait_until
from task_world import PICTURE, PROXY, SITE, call, create, create_id, final, result, solution

TURNSTILE = {"type": "TurnstileTaskProxyless", **SITE}
IMAGE = {"type": "ImageToTextTask", "body": PICTURE}
ENDPOINTS = ("/createTask", "/getTaskResult", "/getBalance", "/reportIncorrectImageCaptcha", "/reportIncorrectRecaptcha",
             "/reportCorrectRecaptcha", "/reportIncorrectHcaptcha", "/reportCorrect", "/reportIncorrect")
MEMBERS = {"status", "solution", "cost", "ip", "createTime", "endTime", "solveCount", "taskId", "balance", "errorId",
           "errorCode", "errorDescription"}
SLOW = ("--solve-time", "10m")


def fails(reply, code, what=""):
    """All that every error has."""
    equal((reply.get("errorId"), reply.get("errorCode")), (1, code), f"{what} {reply}: the error")
    check(type(reply["errorId"]) is int, "errorId is a number")
    check(isinstance(reply.get("errorDescription"), str) and reply["errorDescription"], f"{what}: {reply} has no description")


@test
def rules_1_to_4_every_reply_is_200_and_json_and_every_error_has_three_members():
    stranger = "x" * 32
    with World(clients(alice={"allow_hosts": ["example.com"], "budget_per_day": 1}), sim=SLOW) as world:
        for path in ENDPOINTS:
            for body in ("", "x", "[]", "{", "[1", '"text"', "{}", '{"clientKey":12}', json.dumps({"clientKey": stranger})):
                reply = call(world, path, body)
                check(reply["errorId"] == 1 and reply["errorCode"].startswith("ERROR_"), f"{path} {body!r}: {reply}")
                check(reply["errorDescription"], f"{path} {body!r}: {reply}")
            fails(call(world, path, {"clientKey": stranger}), "ERROR_KEY_DOES_NOT_EXIST", path)
            fails(call(world, path, {"clientKey": "short"}), "ERROR_KEY_DOES_NOT_EXIST", path)
            fails(call(world, path, {}), "ERROR_KEY_DOES_NOT_EXIST", path)
            fails(call(world, path, {"clientKey": ADMIN}), "ERROR_KEY_DOES_NOT_EXIST", path)
        fails(create(world, None, ALICE), "ERROR_TASK_ABSENT")
        fails(create(world, [], ALICE), "ERROR_TASK_ABSENT")
        fails(create(world, {}, ALICE), "ERROR_TASK_NOT_SUPPORTED")
        fails(create(world, {"type": 5}, ALICE), "ERROR_TASK_NOT_SUPPORTED")
        fails(create(world, {"type": "TurnstileTask", "websiteURL": PAGE}, ALICE), "ERROR_GOOGLEKEY")
        fails(create(world, {"type": "TurnstileTask", "websiteKey": "k"}, ALICE), "ERROR_PAGEURL")
        fails(create(world, {**TURNSTILE, "websiteURL": "ftp://x"}, ALICE), "ERROR_PAGEURL")
        fails(create(world, {"type": "ImageToTextTask"}, ALICE), "ERROR_ZERO_CAPTCHA_FILESIZE")
        fails(create(world, {"type": "ImageToTextTask", "body": "!!!!" * 100}, ALICE), "ERROR_UPLOAD")
        fails(create(world, {"type": "AntiCloudflareTask", "websiteURL": PAGE}, ALICE), "ERROR_BAD_PARAMETERS")
        fails(create(world, {**TURNSTILE, "websiteURL": "https://other.example/"}, ALICE), "ERROR_DOMAIN_NOT_ALLOWED")
        create_id(world, TURNSTILE, key=ALICE)
        fails(create(world, {**TURNSTILE, "websiteKey": "second"}, ALICE), "ERROR_ZERO_BALANCE", "the budget")
        fails(result(world, 12345, ALICE), "ERROR_NO_SUCH_CAPCHA_ID")
        fails(result(world, "no number", ALICE), "ERROR_NO_SUCH_CAPCHA_ID")
        fails(result(world, None, ALICE), "ERROR_NO_SUCH_CAPCHA_ID")
        fails(call(world, "/reportCorrect", {"clientKey": ALICE, "taskId": 12345}), "ERROR_NO_SUCH_CAPCHA_ID")
        for path in ("/getAppStats", "/pushAntiGateVariable", "/test"):
            fails(call(world, path, {"clientKey": ALICE}), "ERROR_NO_SUCH_METHOD", path)


@test
def rule_1_a_body_that_http_refuses_is_answered_in_the_dialect():
    with World() as world:
        for path, word in (("/createTask", "ERROR_TOO_BIG_CAPTCHA_FILESIZE"), ("/getTaskResult", "ERROR_BAD_PARAMETERS")):
            with Raw(world.port) as raw:
                raw.send(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99000000\r\n\r\n")
                reply = raw.reply()
            equal((reply.status, reply.headers["content-type"]), (200, "application/json"), path)
            fails(reply.json(), word, path)


@test
def rule_1_web_pages_are_refused_in_the_dialect_without_clients():
    with World() as world:
        reply = http_request(world.url + "/createTask", "POST", {"clientKey": KEY, "task": TURNSTILE}, {"Origin": "https://evil.example"})
        equal(reply.status, 200)
        fails(reply.json(), "ERROR_IP_NOT_ALLOWED")
        equal(world.paid(), 0, "paid")


@test
def rule_2_bodies_come_under_any_content_type():
    with World() as world:
        body = json.dumps({"clientKey": KEY, "task": TURNSTILE})
        for kind in ("application/json", "application/json; charset=utf-8", "text/plain;charset=UTF-8", "text/plain",
                     "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None):
            headers = {} if kind is None else {"Content-Type": kind}
            reply = http_request(world.url + "/createTask", "POST", "\r\n " + body, headers)
            equal(reply.headers["content-type"], "application/json", f"{kind}: content type")
            equal(reply.json().get("errorId"), 0, f"{kind}: {reply.text}, errorId")
        wait_until(lambda: world.paid() == 1, "one submit for all of them")


@test
def rules_3_and_4_a_success_has_errorid_0_and_no_description():
    with World(sim=("--solve-time", "100ms", "--balance", "7.25")) as world:
        created = create(world, TURNSTILE)
        replies = [created, result(world, created["taskId"]), final(world, created["taskId"]), create(world, TURNSTILE),
                   call(world, "/getBalance", {"clientKey": KEY}),
                   call(world, "/reportCorrect", {"clientKey": KEY, "taskId": created["taskId"]})]
        for reply in replies:
            equal((type(reply["errorId"]), reply["errorId"]), (int, 0), f"{reply}: errorId")
            check(not reply.get("errorDescription") and not reply.get("errorCode"), f"{reply}")


@test
def a_member_that_is_given_twice_is_a_mistake_wherever_it_stands():
    with World(clients()) as world:
        task = json.dumps(TURNSTILE)
        for body, name in ((f'{{"clientKey":"{ALICE}","clientKey":"{BOB}","task":{task}}}', "clientKey"),
                           (f'{{"clientKey":"{ALICE}","task":{task},"task":{task}}}', "task"),
                           (f'{{"clientKey":"{ALICE}","task":{{"type":"TurnstileTask","type":"NoCaptchaTask"}}}}', "type")):
            reply = call(world, "/createTask", body)
            fails(reply, "ERROR_BAD_PARAMETERS", name)
            contains(reply["errorDescription"], f"the member '{name}' is given twice")
        equal(world.paid(), 0, "submits")


@test
def rule_5_errorid_is_1_for_every_error():
    with World({"retry": {"unsolvable": 0}}) as world:
        for fault in ("ERROR_CAPTCHA_UNSOLVABLE", "ERROR_BAD_PROXY", "ERROR_PROXY_CONNECTION_FAILED", "ERROR_WRONG_GOOGLEKEY"):
            world.sim.set_faults(script=[{"fault": "task-error", "value": fault}])
            reply = final(world, create_id(world, {**TURNSTILE, "websiteKey": fault}))
            fails(reply, "ERROR_PROXY_CONNECT_REFUSED" if "PROXY" in fault else fault)
            equal(reply["status"], "failed", "status")


@test
def rule_6_ids_are_numbers_below_2_to_the_31_and_no_two_are_the_same():
    with World(sim=SLOW) as world:
        ids = [create_id(world, task) for task in (TURNSTILE, IMAGE, {"type": "NoCaptchaTask", **SITE}) for _ in range(40)]
        for number in ids:
            check(type(number) is int and 0 < number < 2 ** 31, f"id {number}")
        equal(len(set(ids)), len(ids), "different ids")
        equal(result(world, ids[0])["status"], "processing", "as a number")
        equal(result(world, str(ids[0]))["status"], "processing", "as text")


@test
def an_id_works_in_its_own_dialect_only_and_for_its_own_client_only():
    with World(clients()) as world:
        mine = create_id(world, TURNSTILE, key=ALICE)
        theirs = world.submit_id(key=ALICE)
        other = world.solve(key=ALICE).json()["id"]
        solution(world, mine, ALICE)
        equal(world.result(mine, key=ALICE).text, "ERROR_WRONG_CAPTCHA_ID", "res.php")
        equal(get(world.url + "/res.php", key=ALICE, action="get", ids=f"{mine},{theirs}").text.split("|")[0],
              "ERROR_WRONG_CAPTCHA_ID", "ids=")
        equal(world.result(mine, key=ALICE, action="reportbad").text, "ERROR_WRONG_CAPTCHA_ID", "a report by res.php")
        equal(world.call("GET", f"/v1/solves/{mine}", key=ALICE).status, 404, "/v1")
        equal(world.call("DELETE", f"/v1/solves/{mine}", key=ALICE).status, 404, "DELETE /v1")
        equal(world.call("POST", f"/v1/solves/{mine}/report", {"good": True}, key=ALICE).status, 404, "a report to /v1")
        for foreign in (theirs, other, int(theirs), int(other)):
            fails(result(world, foreign, ALICE), "ERROR_NO_SUCH_CAPCHA_ID", f"{foreign}")
            fails(call(world, "/reportIncorrect", {"clientKey": ALICE, "taskId": foreign}), "ERROR_NO_SUCH_CAPCHA_ID")
        fails(result(world, mine, BOB), "ERROR_NO_SUCH_CAPCHA_ID", "another client")
        equal(result(world, mine, ALICE)["status"], "ready", "its own")


@test
def ids_and_the_form_of_their_solutions_survive_a_restart():
    with World({"data_dir": "data"}, sim=SLOW) as world:
        tasks = {name: create_id(world, task) for name, task in (("token", TURNSTILE), ("text", IMAGE))}
        tasks["seccode"] = create_id(world, {"type": "GeeTestTask", "websiteURL": PAGE, "gt": "g", "challenge": "c"})
        wait_until(lambda: world.paid() == 3, "the submits")
        solved = create_id(world, {"type": "NoCaptchaTask", **SITE})
        wait_until(lambda: world.paid() == 4, "the submit")
        world.sim.solve()
        before = solution(world, solved)
        world.gate.kill()
        world.gate.start()
        world.url = world.gate.url
        for member, number in tasks.items():
            contains(solution(world, number), member, f"{number} after the restart")
        equal(solution(world, solved), before, "a solution that was known before")
        equal(world.paid(), 4, "paid")


@test
def rule_7_createtask_says_its_status():
    with World() as world:
        first = create(world, TURNSTILE)
        equal(first["status"], "processing", "status")
        solution(world, first["taskId"])
        equal(create(world, TURNSTILE)["status"], "ready", "of what is known already")


@test
def rule_8_no_reply_has_a_member_beyond_the_known_ones_and_a_result_has_no_id():
    with World({"upstream": {"price": {"turnstile": 0.00145}}, "retry": {"unsolvable": 0}}) as world:
        created = create(world, TURNSTILE)
        replies = [created, final(world, created["taskId"]), create(world, TURNSTILE), result(world, 5), create(world, {"type": "X"}),
                   call(world, "/getBalance", {"clientKey": KEY, "taskId": None, "softId": 5})]
        world.sim.set_faults(script=[{"fault": "task-error", "value": "ERROR_CAPTCHA_UNSOLVABLE"}])
        replies.append(final(world, create_id(world, {**TURNSTILE, "websiteKey": "k"})))
        for reply in replies:
            equal(set(reply) - MEMBERS, set(), f"{reply}: members beyond")
        for reply in (replies[1], replies[3], replies[-1]):
            check("taskId" not in reply, f"{reply}")
        ready = replies[1]
        equal(ready["cost"], "0.00145", "cost")
        equal(ready["solveCount"], 1, "solveCount")
        check(time.time() - 60 < ready["createTime"] <= ready["endTime"] <= time.time() + 1, f"times: {ready}")
        raw = http_request(world.url + "/getTaskResult", "POST", {"clientKey": KEY, "taskId": created["taskId"]},
                           {"X-Request-Id": "mine-1"})
        equal(raw.headers["x-request-id"], "mine-1", "what else there is to say is in headers")
        equal(raw.headers["solvegate-source"], "api", "source")


@test
def rule_9_every_result_has_a_status():
    with World({"retry": {"unsolvable": 0}}, sim=SLOW) as world:
        number = create_id(world, TURNSTILE)
        equal(result(world, number)["status"], "processing", "under way")
        wait_until(lambda: world.sim.solve(error="ERROR_CAPTCHA_UNSOLVABLE"), "its end")
        equal(final(world, number)["status"], "failed", "failed")
        equal(result(world, 77)["status"], "failed", "unknown")
        equal(call(world, "/getTaskResult", "{")["status"], "failed", "no JSON")


@test
def rule_10_the_balance_is_a_number():
    with World(sim=("--balance", "7.25")) as world:
        reply = call(world, "/getBalance", {"clientKey": KEY})
        equal((reply, type(reply["balance"])), ({"errorId": 0, "balance": 7.25}, float))
    with World(clients()) as world:
        equal(call(world, "/getBalance", {"clientkey": ALICE})["errorId"], 0, "clientkey in small letters")
        fails(call(world, "/getBalance", {"clientkey": "y" * 32}), "ERROR_KEY_DOES_NOT_EXIST")


@test
def rule_11_createtask_answers_at_once():
    with World({"upstream": {"slots": 1}}, sim=SLOW) as world:
        for number in range(5):
            started = time.monotonic()
            create_id(world, {**TURNSTILE, "websiteKey": str(number)})
            check(time.monotonic() - started < 4, "longer than a client waits")


@test
def rule_12_an_image_of_capsolvers_clients_is_answered_in_createtask():
    with World({"retry": {"unsolvable": 0}}) as world:
        for number, app in enumerate(({"appId": "B7E57F27-0AD3-434D-A5B7-FF32D9FC3811"}, {"AppID": "x"})):
            reply = create(world, {**IMAGE, "comment": str(number)}, **app)
            equal((reply["errorId"], reply["status"]), (0, "ready"), f"{app}: {reply}")
            check(reply["solution"]["text"].startswith("SIM_"), f"{reply}")
            equal(result(world, reply["taskId"])["solution"], reply["solution"], "asked for again")
        equal(create(world, {**IMAGE, "comment": "other"})["status"], "processing", "of other clients")
        equal(create(world, {**TURNSTILE, "websiteKey": "a"}, appId="x")["status"], "processing", "a token")
        wait_until(lambda: world.paid() == 4, "the submits that came before")
        world.sim.set_faults(script=[{"fault": "task-error", "value": "ERROR_CAPTCHA_UNSOLVABLE"}])
        fails(create(world, {**IMAGE, "comment": "bad"}, appId="x"), "ERROR_CAPTCHA_UNSOLVABLE")


@test
def rule_12_what_createtask_told_at_once_is_told_again():
    with World() as world:
        known = solution(world, create_id(world, TURNSTILE))
        reply = create(world, TURNSTILE)
        equal((reply["status"], reply["solution"]), ("ready", known), "from memory")
        for _ in range(3):
            equal(solution(world, reply["taskId"]), known, "asked for")
        equal(world.paid(), 1, "paid")


@test
def rule_13_reports_may_repeat():
    with World() as world:
        for path, opinion in (("/reportIncorrectImageCaptcha", "bad"), ("/reportIncorrectRecaptcha", "bad"),
                              ("/reportCorrectRecaptcha", "good"), ("/reportIncorrectHcaptcha", "bad"),
                              ("/reportCorrect", "good"), ("/reportIncorrect", "bad")):
            number = create_id(world, {**TURNSTILE, "websiteKey": path})
            fails(call(world, path, {"clientKey": KEY, "taskId": number}), "REPORT_NOT_RECORDED", "too early")
            solution(world, number)
            for task_id in [number] * 19 + [str(number)]:
                equal(call(world, path, {"clientKey": KEY, "taskId": task_id}), {"errorId": 0, "status": "success"}, path)
            wait_until(lambda: world.sim.submits()[-1]["report"] == opinion, f"{path}: what the vendor is told")
        totals = world.sim.totals()
        equal((totals["reports_good"], totals["reports_bad"]), (2, 4), "each is passed on once")


@test
def rule_14_types_are_compared_without_case_and_outer_blanks():
    with World(sim=SLOW) as world:
        for name in ("TurnstileTaskProxyless", "turnstiletaskproxyless", " TURNSTILETASK ", "AntiTurnstileTaskProxyLess\n"):
            create_id(world, {**TURNSTILE, "type": name})
        wait_until(lambda: world.paid() == 1, "one submit for all of them")
        equal(world.counter("requests"), 4, "requests")


@test
def rule_15_null_is_absent_and_flags_come_in_two_forms():
    with World(sim=SLOW) as world:
        task = {"type": "NoCaptchaTaskProxyless", **SITE}
        unset = dict.fromkeys(("isInvisible", "recaptchaDataSValue", "userAgent", "cookies", "newThing", *PROXY))
        for more in ({}, unset, {"isInvisible": False}, {"isInvisible": 0}):
            create_id(world, {**task, **more})
        wait_until(lambda: world.paid() == 1, "one submit for all of them")
        for more in ({"isInvisible": True}, {"isInvisible": 1}):
            create_id(world, {**task, **more})
        for more in ({}, {"numeric": False, "phrase": 0, "case": None, "math": False, "minLength": 0}):
            create_id(world, {**IMAGE, **more})
        wait_until(lambda: world.paid() == 3, "one submit for each")
        equal(world.counter("flights"), 3, "flights")


@test
def rule_16_a_key_may_have_36_characters_and_come_as_a_bearer():
    long = "CAP-" + "0123456789ABCDEF" * 2
    with World({"clients": [{"name": "capsolver", "key": long}]}) as world:
        check(create_id(world, TURNSTILE, key=long) > 0, "in the body")
        bearer = {"Authorization": "Bearer " + long}
        reply = call(world, "/createTask", {"task": TURNSTILE}, bearer)
        equal(reply["errorId"], 0, f"as a header alone: {reply}")
        fails(call(world, "/createTask", {"clientKey": "z" * 36, "task": TURNSTILE}, bearer), "ERROR_KEY_DOES_NOT_EXIST",
              "the body's key counts first")


@test
def rule_17_a_callback_is_posted_as_json_with_the_id():
    with Receiver() as receiver:
        hosts = {"callbacks": {"allow": [f"127.0.0.1:{receiver.port}"], "allow_private": True}, "retry": {"unsolvable": 0}}
        with World(hosts) as world:
            url = receiver.url + "/told?by=us"
            number = create_id(world, {"type": "GeeTestTask", "websiteURL": PAGE, "gt": "g", "challenge": "c"}, callbackUrl=url)
            told = receiver.wait(1)[0]
            body = json.loads(told["body"])
            equal((told["method"], told["path"], told["params"], told["headers"]["Content-Type"]),
                  ("POST", "/told", {"by": "us"}, "application/json"), "the call")
            equal((body["errorId"], body["taskId"], body["status"]), (0, number, "ready"), f"{body}")
            equal(sorted(body["solution"]), ["challenge", "seccode", "validate"], "solution")
            equal(body["solution"], solution(world, number), "the same as asked for")
            world.sim.set_faults(script=[{"fault": "task-error", "value": "ERROR_CAPTCHA_UNSOLVABLE"}])
            number = create_id(world, {**TURNSTILE, "websiteKey": "bad"}, callbackUrl=url)
            body = json.loads(receiver.wait(2)[1]["body"])
            fails(body, "ERROR_CAPTCHA_UNSOLVABLE")
            equal((body["taskId"], body["status"]), (number, "failed"), f"{body}")
            world.submit(sitekey="in.php", pingback=url)
            equal(receiver.wait(3)[2]["method"], "GET", "the vendor's dialect keeps its form")
            equal(create(world, TURNSTILE, callbackUrl=None)["errorId"], 0, "null is none")
        with World() as world:
            fails(create(world, TURNSTILE, callbackUrl=receiver.url), "ERROR_PINGBACK_NOT_ALLOWED")


@test
def a_callback_that_failed_is_posted_again_from_its_letter():
    with Receiver(lambda call: (500, b"")) as receiver:
        config = {"callbacks": {"allow": [f"127.0.0.1:{receiver.port}"], "allow_private": True, "retries": 0}}
        with World(config) as world:
            number = create_id(world, TURNSTILE, callbackUrl=receiver.url)
            letter = wait_until(lambda: world.call("GET", "/v1/letters").json()["letters"], "the letter")[0]
            receiver.answer = lambda call: (200, b"")
            world.call("POST", f"/v1/letters/{letter['id']}/replay")
            body = json.loads(receiver.wait(2)[1]["body"])
            equal((body["taskId"], body["status"]), (number, "ready"), f"{body}")
            check(body["solution"]["token"].startswith("SIM_"), f"{body}")


@test
def prefer_wait_holds_a_result_until_it_is_there():
    with World(sim=SLOW) as world:
        number = create_id(world, TURNSTILE)
        wait_until(lambda: world.paid() == 1, "the submit")

        def wait_for_it(_):
            return call(world, "/getTaskResult", {"clientKey": KEY, "taskId": number}, {"Prefer": "wait=20"})

        def solve():
            wait_until(lambda: world.stats()["now"]["held_callers"] == 3, "three held callers")
            world.sim.solve()

        for reply in together(3, wait_for_it, solve):
            equal(reply["status"], "ready", f"{reply}")
        equal(call(world, "/createTask", {"clientKey": KEY, "task": TURNSTILE}, {"Prefer": "wait=20"})["status"], "ready")


@test
def an_idempotency_key_returns_the_same_solve_in_every_dialect():
    with World({"reuse": {"turnstile": "none"}}) as world:
        headers = {"Idempotency-Key": "order-1"}
        first = solution(world, create_id(world, TURNSTILE, headers=headers))["token"]
        raw = http_request(world.url + "/createTask", "POST", {"clientKey": KEY, "task": TURNSTILE}, headers)
        equal(raw.headers["idempotency-replayed"], "true", "said in a header")
        equal(raw.json()["solution"]["token"], first, "the second time")
        equal(world.solved(headers=headers)["solution"], first, "/v1")
        equal(world.paid(), 1, "paid")
        fails(create(world, {**TURNSTILE, "websiteKey": "another"}, headers=headers), "ERROR_IDEMPOTENCY_MISMATCH")
        solution(world, create_id(world, TURNSTILE))
        equal(world.paid(), 2, "without the key; paid")


@test
def options_of_the_gateway_stand_beside_the_task():
    with World() as world:
        first = solution(world, create_id(world, TURNSTILE))
        check(solution(world, create_id(world, TURNSTILE, reuse="none")) != first, "reuse")
        fails(create(world, TURNSTILE, reuse="sometimes"), "ERROR_BAD_PARAMETERS")
        fails(create(world, TURNSTILE, priority=99), "ERROR_BAD_PARAMETERS")
        equal(create(world, TURNSTILE, priority=9, max_age="1h", softId=1, soft_id="2", revenueShareTronAddress="T")["errorId"], 0)


@test
def one_solve_serves_clients_of_all_dialects_that_wait_together():
    with World(sim=SLOW) as world:
        def ask(number):
            if number % 3 == 0:
                return world.result_text(world.submit_id())[3:]
            if number % 3 == 1:
                return world.solved()["solution"]
            return solution(world, create_id(world, TURNSTILE))["token"]

        def solve():
            world.await_waiting(12)
            wait_until(lambda: world.sim.solve() == 1, "the submit")

        equal(len(set(together(12, ask, solve))), 1, "different tokens")
        equal(world.paid(), 1, "paid")


@test
def a_failed_task_becomes_a_letter_and_its_replay_answers_the_next():
    with World({"retry": {"unsolvable": 0}}) as world:
        world.sim.set_faults(script=[{"fault": "task-error", "value": "ERROR_CAPTCHA_UNSOLVABLE"}])
        final(world, create_id(world, TURNSTILE))
        letter = wait_until(lambda: world.call("GET", "/v1/letters").json()["letters"], "the letter")[0]
        world.call("POST", f"/v1/letters/{letter['id']}/replay")
        wait_until(lambda: world.counter("letters_settled") == 1, "its replay")
        equal(create(world, TURNSTILE)["status"], "ready", "from memory")
        equal(world.paid(), 2, "paid")


@test
def requests_are_counted_and_flights_listed_by_dialect():
    with World(sim=SLOW) as world:
        create_id(world, {**TURNSTILE, "websiteKey": "first"})
        world.submit(sitekey="second")
        world.submit(sitekey="first")
        world.solve(sitekey="third", wait=0)
        total = world.stats()["total"]
        equal([total["requests_" + dialect] for dialect in ("vendor", "v1", "createtask")], [2, 1, 1], "requests")
        flights = world.call("GET", "/v1/flights").json()["flights"]
        equal(sorted(flight["dialect"] for flight in flights), ["createtask", "v1", "vendor"], "of who asked first")


@test
def queue_figures_are_told_without_a_key():
    with World({**clients(), "upstream": {"slots": 4, "price": {"image": 0.0005}}}, sim=SLOW) as world:
        create_id(world, TURNSTILE, key=ALICE)
        wait_until(lambda: world.paid() == 1, "the submit")
        equal(call(world, "/getQueueStats", {"queueId": "1"}),
              {"waiting": 3, "load": 25.0, "bid": "0.00050", "speed": 0.0, "total": 4})


run()
