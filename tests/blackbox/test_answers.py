#!/usr/bin/env python3
"""Paid answers in every form: delivered as they came, or kept as a letter, and never bought twice. (TAP)"""
import base64
import json
import time

from gateway import PAGE, World
from harness import KEY, Raw, check, contains, equal, get, run, test, wait_until
from vendor_world import letters, problem, strike

LARGEST = 64 * 1024


def replies(world, **by_sitekey):
    """Tasks of these sitekeys are answered with these bodies, for as long as the simulator runs."""
    script = []
    for sitekey, body in by_sitekey.items():
        body = body if isinstance(body, (str, bytes)) else json.dumps(body)
        raw = body.encode() if isinstance(body, str) else body
        value = "".join(chr(byte) if 32 <= byte < 127 and byte != 37 else f"%{byte:02X}" for byte in raw)
        script.append(strike("task-reply", sitekey, 99, value))
    world.sim.set_faults(script=script)


def paid_for(world, sitekey):
    return sum(1 for entry in world.sim.submits() if entry["params"].get("sitekey") == sitekey)


def answer_of(world, sitekey, **params):
    """What res.php says in the end: text and JSON."""
    task = world.submit_id(sitekey=sitekey, **params)
    text = world.result_text(task)
    return text, world.result(task, json="1").body


@test
def a_solution_is_delivered_whatever_its_bytes_are():
    texts = {
        "control": "a\x01b\x7fc",
        "newlines": '{\n  "cf_clearance": "x",\r\n\t"n": 1\n}',
        "spaces": "  spaces around  ",
        "long": "t" * 17 * 1024,
        "largest": "\x02" * LARGEST,
        "unicode": "grüße \U0001f600",
    }
    with World() as world:
        replies(world, **{name: {"status": 1, "request": text} for name, text in texts.items()},
                nul='{"status":1,"request":"a\\u0000b"}', raw=b'{"status":1,"request":"raw\x01control\nbytes"}',
                warned='{"status":1,"request":"behind"}<br>Warning: something in PHP')
        texts.update(nul="a\0b", raw="raw\x01control\nbytes", warned="behind")
        for name, text in texts.items():
            plain, body = answer_of(world, name)
            equal(plain, "OK|" + text, f"{name} in text")
            equal(json.loads(body), {"status": 1, "request": text}, f"{name} in JSON")
            answer = world.solved(sitekey=name)
            equal(answer["solution"], text, f"{name} on /v1")
            check("solution_base64" not in answer, f"{name} is UTF-8")
            equal(paid_for(world, name), 1, f"{name}: paid")
        equal(letters(world)["total"], 0, "letters")


@test
def bytes_that_are_no_utf8_are_delivered_too():
    raw = b"caf\xe9 \xff\xfe"
    with World() as world:
        replies(world, bytes=b'{"status":1,"request":"' + raw + b'","agent":"\xe9"}')
        task = world.submit_id(sitekey="bytes")
        wait_until(lambda: world.result(task).body != b"CAPCHA_NOT_READY", "the answer")
        equal(world.result(task).body, b"OK|" + raw)
        equal(world.result(task, json="1").body, b'{"status":1,"request":"' + raw + b'","agent":"\xe9"}', "as the vendor says it")
        answer = json.loads(world.solve(sitekey="bytes").body.decode("utf-8"))
        equal(answer["solution"], raw.decode("utf-8", "replace"), "readable at least")
        equal(base64.b64decode(answer["solution_base64"]), raw, "and exact")
        equal(answer["extra"], {"agent": "�"})
        equal(paid_for(world, "bytes"), 1, "paid")


@test
def bytes_that_are_no_utf8_in_an_object_are_delivered_too():
    for name, raw in (("object", b'{"token":"caf\xe9","list":["\xff"]}'), ("array", b'["\xfe",1]')):
        with World() as world:
            replies(world, **{name: b'{"status":1,"request":' + raw + b"}"})
            task = world.submit_id(sitekey=name)
            wait_until(lambda: world.result(task).body != b"CAPCHA_NOT_READY", "the answer")
            equal(world.result(task).body, b"OK|" + raw, f"{name} in text")
            equal(world.result(task, json="1").body, b'{"status":1,"request":' + raw + b"}", f"{name} as the vendor says it")
            answer = json.loads(world.solve(sitekey=name).body.decode("utf-8"))
            equal(answer["solution"], json.loads(raw.decode("utf-8", "replace")), f"{name}: readable at least")
            equal(base64.b64decode(answer["solution_base64"]), raw, f"{name}: and exact")


@test
def a_yes_makes_any_text_a_solution():
    with World({"retry": {"base": "10ms"}}) as world:
        replies(world, json='{"status":1,"request":"ERROR_CAPTCHA_UNSOLVABLE"}', plain="OK|ERROR_LIKE_TEXT")
        for name, text in (("json", "ERROR_CAPTCHA_UNSOLVABLE"), ("plain", "ERROR_LIKE_TEXT")):
            said, body = answer_of(world, name)
            equal(said, "OK|" + text, f"{name} in text")
            equal(json.loads(body), {"status": 1, "request": text}, f"{name} in JSON")
            equal(world.solved(sitekey=name)["solution"], text, f"{name} on /v1")
            equal(paid_for(world, name), 1, f"{name}: paid")
        equal(letters(world)["total"], 0, "letters")


def nested(levels):
    """A reply whose answer nests that deep."""
    return '{"status":1,"request":' + "[" * levels + "]" * levels + "}"


@test
def an_answer_that_says_solved_and_cannot_be_read_is_kept_at_once():
    bodies = {"surrogate": r'{"status":1,"request":"a\ud800"}', "escape": r'{"status":1,"request":"a\qb"}',
              "twice": '{"status":1,"request":"a","request":"b"}', "deep": nested(1000), "quote": '{"status":1,"request":"a"b"}',
              "geetest": r'{"challenge":"\udfff","validate":"v","seccode":"s"}', "comma": '{"status":1,"request":"a",}'}
    with World({"data_dir": "data", "retry": {"base": "10ms"}, "cache": {"caller_error_ttl": "10m"}}) as world:
        replies(world, **bodies, deliverable=nested(60))
        for name in bodies:
            said = problem(world.solve(sitekey=name), 502, "undeliverable")
            equal((said["upstream_code"], said["retryable"]), ("ERROR_BAD_SOLUTION", False), name)
        equal(answer_of(world, "deliverable")[0], "OK|" + "[" * 60 + "]" * 60)
        world.gate.kill()
        world.gate.start()
        world.url = world.gate.url
        kept = [world.call("GET", "/v1/letters/" + letter["id"]).json() for letter in letters(world)["letters"]]
        equal({letter["params"]["sitekey"]: letter["solution"] for letter in kept}, bodies, "the bytes")
        for name in bodies:
            equal(paid_for(world, name), 1, f"{name}: paid")


@test
def what_is_no_answer_yet_is_asked_for_again():
    bodies = {"cut": r'{"status":1,"request":"a\ud800', "page": "<html><body>502 Bad Gateway</body></html>",
              "empty": "", "broken": r'{"status":0,"request":"a\ud800"}'}
    with World({"poll": {"first": "100ms", "interval": "500ms"}}) as world:
        replies(world, **bodies)
        tasks = {name: world.submit_id(sitekey=name) for name in bodies}
        wait_until(lambda: world.sim.totals()["polls"] >= 3 * len(bodies), "each to be asked for again")
        for name, task in tasks.items():
            equal(world.result(task).text, "CAPCHA_NOT_READY", name)
            equal(paid_for(world, name), 1, f"{name}: paid")
        equal(letters(world)["total"], 0, "letters")


@test
def an_answer_is_found_in_result_when_request_is_empty():
    with World() as world:
        replies(world, null='{"status":1,"request":null,"result":"TOK"}', empty='{"status":1,"request":"","result":"TOK"}')
        for name in ("null", "empty"):
            plain, body = answer_of(world, name)
            equal(plain, "OK|TOK")
            equal(json.loads(body), {"status": 1, "request": "TOK", "result": "TOK"})
            equal(world.solved(sitekey=name)["solution"], "TOK")
            equal(paid_for(world, name), 1, f"{name}: paid")


@test
def what_cannot_be_handed_out_is_a_letter_with_its_bytes_and_is_not_bought_again():
    huge = json.dumps({"status": 1, "request": "h" * (LARGEST + 1)})
    endless = '{"status":1,"request":"' + "e" * 600 * 1024
    bodies = {"huge": huge, "endless": endless, "empty": '{"status":1,"request":""}', "nothing": '{"status":1,"request":null}'}
    codes = {"huge": "ERROR_SOLUTION_TOO_LARGE", "endless": "ERROR_SOLUTION_TOO_LARGE", "empty": "ERROR_BAD_SOLUTION",
             "nothing": "ERROR_BAD_SOLUTION"}
    with World({"data_dir": "data", "retry": {"base": "10ms"}, "cache": {"caller_error_ttl": "10m"}}) as world:
        replies(world, **bodies)
        for name, code in codes.items():
            said = problem(world.solve(sitekey=name), 502, "undeliverable")
            equal((said["upstream_code"], said["retryable"]), (code, False), name)
            equal(problem(world.solve(sitekey=name), 502, "undeliverable")["upstream_code"], code, f"{name} asked again")
            equal(world.result_text(world.submit_id(sitekey=name)), code)
        world.gate.kill()
        world.gate.start()
        world.url = world.gate.url
        equal(letters(world)["total"], 4, "letters")
        for letter in letters(world)["letters"]:
            whole = world.call("GET", "/v1/letters/" + letter["id"]).json()
            equal((whole["kind"], whole["class"]), ("answer", "unknown"))
            name = whole["params"]["sitekey"]
            equal(whole["error"], codes[name])
            equal(whole["solution"], bodies[name][:512 * 1024], f"{name}: the bytes")
            check(whole["upstream_id"], "the task's name")
        reply = world.call("POST", "/v1/letters/replay", {"all": True})
        equal(reply.json()["queued"], 0, "a replay of all letters buys none of them")
        for name in codes:
            equal(paid_for(world, name), 1, f"{name}: paid")
        one = letters(world)["letters"][0]["id"]
        equal(world.call("POST", f"/v1/letters/{one}/replay").json()["queued"], 1, "asked for by its number")
        wait_until(lambda: len(world.sim.submits()) == 5, "it is bought again")


@test
def an_answer_that_cannot_be_handed_out_is_bought_again_only_once_its_letter_is_dropped():
    same = {"idempotency-key": "same"}
    with World({"data_dir": "data", "cache": {"caller_error_ttl": "1s"}}) as world:
        replies(world, odd='{"status":1,"request":""}')
        first = problem(world.solve(sitekey="odd", headers=same), 502, "undeliverable")
        letter = letters(world)["letters"][0]["id"]
        equal(first["letter"], letter, "the letter's name")
        contains(first["detail"], f"dead letter, number {letter}")
        time.sleep(1.2)
        for what in ("after a while", "after a restart"):
            for headers in (same, {"idempotency-key": "other"}, {}):
                said = problem(world.solve(sitekey="odd", headers=headers), 502, "undeliverable")
                equal((said["letter"], said["retryable"], said["upstream_code"]), (letter, False, "ERROR_BAD_SOLUTION"), what)
            problem(world.solve(sitekey="odd", reuse="none"), 502, "undeliverable")
            equal(world.result_text(world.submit_id(sitekey="odd")), "ERROR_BAD_SOLUTION", what)
            reply = world.call("POST", "/v1/explain", {"method": "turnstile", "sitekey": "odd", "pageurl": PAGE}).json()
            equal((reply["would"], reply["letter"]), ("fail", letter), what)
            equal(paid_for(world, "odd"), 1, what)
            world.gate.kill()
            world.gate.start()
            world.url = world.gate.url
        world.sim.set_faults(script=[])
        equal(world.call("DELETE", f"/v1/letters/{letter}").json()["dropped"], 1, "dropped")
        equal(world.solve(sitekey="odd", headers=same).status, 200, "solved at last")
        equal(paid_for(world, "odd"), 2, "paid")


@test
def callbacks_bring_any_bytes_too():
    with World(callbacks=True, sim=("--solve-time", "100ms", "--pingback-method", "POST")) as world:
        world.sim.set_faults(script=[strike("callback-code", "odd", 1, "a%01b%0A%25"), strike("callback-code", "huge", 1, "h" * 70000)])
        equal(world.solved(sitekey="odd")["solution"], "a\x01b\n%")
        equal(problem(world.solve(sitekey="huge"), 502, "undeliverable")["upstream_code"], "ERROR_SOLUTION_TOO_LARGE")
        letter = world.call("GET", "/v1/letters/" + letters(world)["letters"][0]["id"]).json()
        equal((letter["kind"], letter["solution"]), ("answer", "h" * 70000))
        equal(world.paid(), 2, "paid")


@test
def result_and_request_are_both_there_and_every_other_member_as_it_came():
    with World() as world:
        task = world.submit_id(method="userrecaptcha", googlekey="6Le", pageurl=PAGE, enterprise="1")
        token = world.result_text(task)[3:]
        reply = world.result(task, json="1").json()
        equal((reply["status"], reply["request"], reply["result"]), (1, token, token))
        check(reply["user_agent"], "user_agent")
        task = world.submit_id(method="cloudflare_challenge", pageurl=PAGE, proxy="u:p@1.2.3.4:80", proxytype="HTTP")
        token = world.result_text(task)[3:]
        reply = world.result(task, json="1").json()
        equal((reply["result"], reply["request"]), (token, token))
        check(reply["user_agent"], "user_agent")
        replies(world, more='{"status":1,"request":"TOK","price":0.00299,"useragent":"UA","respKey":"E0_","cost":null,"list":[1]}')
        text = world.result(world.submit_id(sitekey="more"), wait=10, json="1").text
        equal(text, '{"status":1,"request":"TOK","price":0.00299,"useragent":"UA","respKey":"E0_","cost":null,"list":[1]}')
        answer = world.solved(sitekey="more")
        equal(answer["extra"], {"price": 0.00299, "useragent": "UA", "respKey": "E0_", "cost": None, "list": [1]})


@test
def objects_and_arrays_stay_what_they_are():
    geetest = {"geetest_challenge": "c", "geetest_validate": "v", "geetest_seccode": "v|jordan"}
    points = [{"x": "39", "y": "59"}, {"x": 252, "y": 72}]
    values = {"object": geetest, "points": points, "list": [1, 4, 7], "number": 12345678901234567890123}
    texts = {"object": json.dumps(geetest, separators=(",", ":")), "points": "coordinates:x=39,y=59;x=252,y=72",
             "list": "[1,4,7]", "number": "12345678901234567890123"}
    with World() as world:
        replies(world, **{name: {"status": 1, "request": value} for name, value in values.items()},
                text='{"status":1,"request":"[1,4]"}', moved={"status": 1, "result": geetest},
                unnamed={"status": 1, "cookies": {"cf": "x"}, "userAgent": "UA"})
        for name, value in values.items():
            plain, body = answer_of(world, name)
            equal(plain, "OK|" + texts[name], f"{name} in text")
            equal(json.loads(body), {"status": 1, "request": value}, f"{name} in JSON")
            solution = world.solved(sitekey=name)["solution"]
            equal(solution, texts[name] if name == "number" else value, f"{name} on /v1")
        equal(json.loads(answer_of(world, "text")[1])["request"], "[1,4]", "a string stays one")
        equal(json.loads(answer_of(world, "moved")[1]), {"status": 1, "request": geetest, "result": geetest})
        unnamed = json.loads(answer_of(world, "unnamed")[1])
        equal((unnamed["cookies"], unnamed["userAgent"]), ({"cf": "x"}, "UA"), "whatever the members are called")
        equal(unnamed["request"], {"cookies": {"cf": "x"}, "userAgent": "UA"})
        task = world.submit_id(method="geetest", gt="g", challenge="c", pageurl=PAGE)
        contains(world.result_text(task), "OK|challenge:SIM_")
        reply = world.result(task, json="1").json()
        equal(reply["request"], {name: reply[name] for name in ("challenge", "validate", "seccode")})


@test
def answers_that_are_too_large_together_are_refused_and_never_cut():
    with World() as world:
        replies(world, large={"status": 1, "request": "x" * LARGEST})
        task = world.submit_id(sitekey="large")
        equal(len(world.result_text(task)), 3 + LARGEST, "one of them")
        asked = {"key": KEY, "action": "get"}
        whole = get(world.url + "/res.php", **asked, ids=",".join([task] * 20)).text
        equal([len(part) for part in whole.split("|")], [LARGEST] * 20, "twenty")
        for form, refused in (("0", "ERROR_BAD_PARAMETERS"), ("1", '{"status":0,"request":"ERROR_BAD_PARAMETERS"}')):
            equal(get(world.url + "/res.php", **asked, ids=",".join([task] * 40), json=form).text, refused, "forty")


RICH = {
    "enterprise": {"method": "userrecaptcha", "googlekey": "6Le", "pageurl": PAGE, "enterprise": "1"},
    "clearance": {"method": "cloudflare_challenge", "pageurl": PAGE, "proxy": "u:p@1.2.3.4:80", "proxytype": "HTTP"},
    "geetest": {"method": "geetest", "gt": "g", "challenge": "c", "pageurl": PAGE},
    "hcaptcha": {"method": "hcaptcha", "sitekey": "h", "pageurl": PAGE},
    "challenge page": {"method": "turnstile", "sitekey": "t", "pageurl": PAGE, "pagedata": "p"},
}


@test
def a_callback_is_followed_by_one_poll_where_the_answer_is_more_than_a_text():
    with World(callbacks=True, sim=("--solve-time", "100ms")) as world:
        more = {"status": 1, "request": "TOK", "useragent": "UA", "respKey": "E0_"}
        replies(world, h=more, t=more)
        for name, params in RICH.items():
            before = world.sim.totals()["polls"]
            task = world.submit_id(**params)
            reply = json.loads(wait_until(lambda: (lambda text: None if "CAPCHA_NOT_READY" in text else text)(
                world.result(task, json="1").text), f"the answer of {name}"))
            equal(world.sim.totals()["polls"] - before, 1, f"{name}: polls")
            check(reply.get("user_agent") or reply.get("useragent") or reply.get("seccode"), f"{name}: {reply}")
        equal(world.counter("polls"), len(RICH), "polls in the books")
        equal(world.counter("callbacks_ok"), len(RICH), "callbacks")
        before = world.sim.totals()["polls"]
        check(world.solved(sitekey="plain")["solution"].startswith("SIM_"), "a token")
        equal(world.sim.totals()["polls"], before, "a token needs no poll")
        equal(world.paid(), len(RICH) + 1, "paid")


@test
def what_a_callback_brought_survives_a_kill_before_the_poll_and_is_given_when_that_fails():
    with World({"data_dir": "data"}, callbacks=True, sim=("--solve-time", "100ms")) as world:
        world.sim.set_faults({"poll-hang": 1})
        task = world.submit_id(**RICH["clearance"])
        wait_until(lambda: world.sim.totals()["callbacks_ok"] == 1, "the callback to be acknowledged")
        world.gate.kill()
        world.sim.set_faults({"poll-error": {"p": 1, "value": "ERROR_WRONG_CAPTCHA_ID"}})
        world.gate.start()
        check(world.result_text(task).startswith("OK|SIM_"), "the text at least")
        world.sim.set_faults({})
        equal(world.paid(), 1, "paid")


# --- answers that stay whole ----------------------------------------------------------------------


def raw_post(port, path, body, headers=""):
    with Raw(port) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        connection.send(head.encode() + body)
        return connection.reply()


@test
def too_many_ids_are_a_mistake_instead_of_a_short_answer():
    with World() as world:
        task = world.submit_id()
        token = world.result_text(task)[3:]
        equal(world.result(None, ids=",".join([task] * 100)).text, "|".join([token] * 100))
        equal(world.result(None, ids=",".join([task] * 101)).text, "ERROR_BAD_PARAMETERS")


@test
def an_explanation_of_the_longest_value_is_still_json():
    with World() as world:
        body = b'{"method":"x","blob":"' + b"\x7f" * 1900000 + b'"}'
        reply = raw_post(world.port, "/v1/explain", body)
        equal(reply.status, 200)
        equal(reply.json()["counted"]["blob"], "<1900000 bytes>")
        odd = "é\x7f\x01\""
        equal(world.call("POST", "/v1/explain", {"method": "x", "a": odd}).json()["counted"]["a"], odd)


@test
def refusals_of_the_frontend_are_whole_problems_too():
    with World({"limits": {"body": "1KiB"}}) as world:
        for body, headers in ((b"{" + b" " * 2000, ""), (b"", "Bad\r\n")):
            reply = raw_post(world.port, "/v1/solves", body, headers)
            problem = reply.json()
            equal(reply.headers["content-type"], "application/problem+json")
            equal((problem["status"], problem["retryable"]), (reply.status, False))
            check(problem["title"] and problem["code"] and problem["detail"], reply.text)


run()
