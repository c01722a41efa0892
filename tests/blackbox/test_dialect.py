#!/usr/bin/env python3
"""The vendor's dialect at our door: what real clients of the vendor insist on. (TAP)"""
import base64
import json
import time
import urllib.parse

from gateway import ALICE, BOB, PAGE, World, clients, with_defaults
from harness import KEY, Raw, check, contains, equal, get, http_request, multipart, post_form, run, test, wait_until

IMAGE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2


@test
def a_solve_goes_through_in_php_and_res_php_in_plain_text():
    with World(sim=("--solve-time", "10m")) as world:
        reply = world.submit()
        equal(reply.status, 200)
        check(reply.text.startswith("OK|"), reply.text)
        task = reply.text[3:]
        check(task.isdigit() and int(task) < 2 ** 53, f"id {task}")
        first = world.result(task)
        equal((first.status, first.body), (200, b"CAPCHA_NOT_READY"))
        wait_until(lambda: world.sim.solve() == 1, "the submit, which is solved now")
        answer = world.result_text(task)
        check(answer.startswith("OK|SIM_"), answer)
        check(not answer.endswith("\n"), "a newline stays in tokens")
        equal(world.result(task).text, answer, "read again")


@test
def the_form_of_each_reply_follows_that_very_request():
    with World() as world:
        task = world.submit_id()
        plain = world.result_text(task)
        for flag in ("1", "true"):
            reply = world.result(task, json=flag).json()
            equal(reply["status"], 1)
            check(type(reply["status"]) is int, "status is a JSON number")
            equal(reply["request"], plain[3:])
        for flag in ("0", "false", ""):
            equal(world.result(task, json=flag).text, plain, f"json={flag}")
        submitted = world.submit(json="1").json()
        equal(submitted["status"], 1)
        check(type(submitted["request"]) is str, "ids are strings")
        slow = world.submit_id(sitekey="SIM-SLOW-30s")
        equal(world.result(slow, json="1").json(), {"status": 0, "request": "CAPCHA_NOT_READY"})


@test
def every_encoding_that_clients_use_is_understood():
    with World() as world:
        url = world.url + "/in.php"
        params = with_defaults({})
        body, kind = multipart(list(params.items()))
        text = json.dumps(params)
        form = "&".join(f"{name}={value}" for name, value in params.items())
        replies = {
            "query": get(url, **params),
            "form": post_form(url, params),
            "multipart": http_request(url, "POST", body, {"Content-Type": kind}),
            "json": http_request(url, "POST", params),
            "json as text": http_request(url + "?json=0", "POST", text, {"Content-Type": "text/plain"}),
            "json as multipart": http_request(url, "POST", text, {"Content-Type": "multipart/form-data"}),
            "query and json": http_request(url + "?key=" + KEY, "POST",
                                           json.dumps({**params, "key": None}), {"Content-Type": "text/plain"}),
        }
        with Raw(world.port) as raw:
            chunk = form.encode()
            raw.send(b"POST /in.php HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            raw.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(chunk), chunk))
            replies["chunked without a type"] = raw.reply()
        with Raw(world.port) as raw:
            raw.send(f"POST /in.php HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: {len(form)}\r\n\r\n")
            equal(raw.reply().status, 100)
            replies["expect"] = raw.send(form).reply()
        for name, reply in replies.items():
            check(reply.text.startswith("OK|"), f"{name}: {reply.text}")
        equal(len({reply.text for reply in replies.values()}), len(replies), "distinct ids")
        for reply in replies.values():
            world.result_text(reply.text[3:])
        equal(world.paid(), 1, "all of them are the same request; paid")


@test
def an_image_as_a_file_is_the_same_request_as_its_base64():
    with World() as world:
        body, kind = multipart([("key", KEY), ("method", "post"), ("file", "captcha.png", IMAGE)])
        file = http_request(world.url + "/in.php", "POST", body, {"Content-Type": kind}).text
        body, kind = multipart([("key", KEY), ("file", "other.png", IMAGE)])
        no_method = http_request(world.url + "/in.php", "POST", body, {"Content-Type": kind}).text
        text = world.submit(method="base64", body=base64.b64encode(IMAGE).decode()).text
        answers = {world.result_text(reply[3:]) for reply in (file, no_method, text)}
        equal(len(answers), 1, "answers")
        equal(world.paid(), 1, "paid")
        other = world.submit_id(method="base64", body=base64.b64encode(IMAGE + b"x").decode())
        check(world.result_text(other) not in answers, "one byte more is another image")
        equal(world.paid(), 2, "paid")


@test
def solve_php_answers_with_the_text_of_an_image():
    with World() as world:
        url = world.url + "/solve.php"
        text = base64.b64encode(IMAGE).decode()
        form = {"key": KEY, "method": "base64", "body": text}
        first = post_form(url, form)
        equal(first.status, 200)
        check(first.text.startswith("OK|"), first.text)
        body, kind = multipart([("key", KEY), ("json", "1"), ("file", "captcha.png", IMAGE)])
        file = http_request(url, "POST", body, {"Content-Type": kind}).json()
        equal(file, {"status": 1, "request": first.text[3:]})
        equal(world.result_text(world.submit_id(method="base64", body=text)), first.text, "in.php's answer")
        equal(world.paid(), 1, "paid")
        books = world.stats()["total"]
        equal((books["requests"], books["answered_api"], books["answered_dedup_cache"]), (3, 1, 2), "the books")
        for word, params in (("ERROR_BAD_PARAMETERS", {"method": "turnstile", "sitekey": "k", "pageurl": PAGE}),
                             ("ERROR_ZERO_CAPTCHA_FILESIZE", {"method": "base64"}),
                             ("ERROR_BAD_PARAMETERS", {})):
            equal(post_form(url, {"key": KEY, **params}).text, word, f"{params}")
            equal(post_form(url, {"key": KEY, "json": "1", **params}).json(), {"status": 0, "request": word})
        equal(get(url, **form).status, 405, "GET")
        world.sim.set_faults(script=[{"fault": "task-error", "value": "ERROR_BAD_PROXY"}])
        equal(post_form(url, {**form, "numeric": "1"}).text, "ERROR_BAD_PROXY")
        equal(world.paid(), 2, "paid")


@test
def who_leaves_solve_php_before_the_submit_has_paid_nothing():
    with World({"upstream": {"slots": 1}}, sim=("--solve-time", "10m")) as world:
        world.submit()
        wait_until(lambda: world.paid() == 1, "the one slot is taken")
        form = f"key={KEY}&method=base64&body=" + base64.b64encode(IMAGE).decode().replace("+", "%2B")
        with Raw(world.port) as raw:
            raw.send(f"POST /solve.php HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(form)}\r\n\r\n{form}")
            world.await_waiting(2)
        world.await_waiting(1)
        wait_until(lambda: world.sim.solve() == 1, "the first")
        wait_until(lambda: world.stats()["now"]["waiting"] == 0, "nobody waits")
        equal(world.paid(), 1, "paid")
        equal(world.counter("detached"), 1, "detached")


@test
def an_image_is_paid_once_whatever_a_client_notes_beside_it():
    with World() as world:
        text = base64.b64encode(IMAGE).decode()
        body, kind = multipart([("key", KEY), ("method", "post"), ("file", "captcha.png", IMAGE), ("body", "")])
        replies = [
            world.submit(method="base64", body=text),
            world.submit(method="base64", body=text, filename="a.png", ext="png"),
            world.submit(method="base64", body=text, filename="b.png", ext="png", lang="", imginstructions=""),
            world.submit(method="base64", body=text, file=""),
            world.submit(method=None, body=text, _="1763400000000"),
            http_request(world.url + "/in.php", "POST", body, {"Content-Type": kind}),
        ]
        answers = {world.result_text(reply.text[3:]) for reply in replies}
        equal(len(answers), 1, "answers")
        equal(world.paid(), 1, "paid")
        world.result_text(world.submit_id(method="base64", body=text, numeric="1"))
        equal(world.paid(), 2, "an option of recognition is another request; paid")


@test
def an_image_of_10_kb_can_be_submitted_by_get():
    with World() as world:
        image = base64.b64encode(IMAGE * 20).decode()
        check(len(image) > 13000, "long enough")
        reply = get(world.url + "/in.php", key=KEY, method="base64", body=image)
        check(reply.text.startswith("OK|"), reply.text)
        world.result_text(reply.text[3:])
        equal(world.sim.submits()[0]["params"]["body"]["bytes"], len(image), "as the vendor got it")


@test
def what_is_too_large_is_said_in_the_vendors_words():
    big = "ERROR_TOO_BIG_CAPTCHA_FILESIZE"
    wide = "X-Wide: " + "w" * 20000
    form = "Content-Type: application/x-www-form-urlencoded"
    cases = [
        ("GET /in.php?method=base64&body=" + "A" * 40000, "", big),
        ("GET /in.php?json=1&header_acao=1&method=base64&body=" + "A" * 40000, "", {"status": 0, "request": big}),
        ("GET /res.php?action=get&id=" + "1" * 40000, "", "ERROR_BAD_PARAMETERS"),
        ("POST /in.php", form + "\r\nContent-Length: 3000000", big),
        ("POST /in.php?json=1", form + "\r\nContent-Length: 3000000", {"status": 0, "request": big}),
        ("POST /in.php", "Content-Type: application/json\r\nContent-Length: 3000000", {"status": 0, "request": big}),
        ("POST /solve.php", form + "\r\nContent-Length: 3000000", big),
        ("POST /in.php", form + "\r\nContent-Length: 99999999999999999999", big),
        ("POST /solve.php?json=1", form + "\r\nContent-Length: 18446744073709551616", {"status": 0, "request": big}),
        ("POST /res.php", form + "\r\nContent-Length: " + "9" * 40, "ERROR_BAD_PARAMETERS"),
        ("POST /in.php", wide, "ERROR_BAD_PARAMETERS"),
        ("GET /res.php?json=1&action=get&id=1", wide, {"status": 0, "request": "ERROR_BAD_PARAMETERS"}),
    ]
    with World() as world:
        def ask(line, headers):
            with Raw(world.port) as raw:
                more = headers + "\r\n" if headers else ""
                return raw.send(f"{line} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n").reply()
        for line, headers, expected in cases:
            reply = ask(line, headers)
            equal(reply.status, 200, f"{line[:60]} {headers[:60]}")
            equal(reply.json() if isinstance(expected, dict) else reply.text, expected, f"{line[:60]} {headers[:60]}")
            equal(reply.headers["connection"], "close", "what follows is not read")
            equal("access-control-allow-origin" in reply.headers, "header_acao" in line, "CORS")
        for status, line, headers in ((413, "POST /v1/solves", "Content-Length: 3000000"), (414, "GET /" + "x" * 40000, ""),
                                      (431, "GET /v1/stats", wide), (414, "GET /pingback/" + "0" * 40000, "")):
            reply = ask(line, headers)
            equal((reply.status, reply.headers["content-type"]), (status, "application/problem+json"), line[:60])
        with Raw(world.port) as raw:
            raw.send("POST /in.php HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n")
            raw.send(b"b" * 0x200000 + b"\r\n10\r\n" + b"b" * 16)
            reply = raw.reply()
            equal((reply.status, reply.text), (200, big), "chunks")
        for size in ("200001", "7fffffffffffffff", "ffffffffffffffff", "FFFFFFFFFFFFFFFFF"):
            with Raw(world.port) as raw:  # before a byte of it is there
                raw.send(f"POST /in.php HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\n")
                reply = raw.reply()
                equal((reply.status, reply.text), (200, big), f"a chunk of {size}")
        equal(world.submit().status, 200, "it goes on")


@test
def too_many_parameters_are_not_called_a_large_image():
    pairs = {f"p{i}": "v" for i in range(9999)}
    form = urllib.parse.urlencode(pairs)
    parts = "".join(f'--B\r\nContent-Disposition: form-data; name="{name}"\r\n\r\nv\r\n' for name in pairs) + "--B--\r\n"
    with World() as world:
        for path in ("/in.php", "/solve.php", "/res.php"):
            for kind, body in (("application/x-www-form-urlencoded", form), ("application/json", json.dumps(pairs)),
                               ("multipart/form-data; boundary=B", parts)):
                reply = http_request(world.url + path, "POST", body, {"Content-Type": kind})
                equal((reply.status, reply.text), (200, "ERROR_BAD_PARAMETERS"), f"{path} {kind}")
        reply = http_request(world.url + "/v1/solves", "POST", json.dumps(pairs), {"Content-Type": "application/json"})
        equal((reply.status, reply.json()["code"]), (413, "too_large"))


@test
def a_body_without_a_method_and_a_method_with_blanks_reach_the_vendor_as_they_are_meant():
    with World() as world:
        text = base64.b64encode(IMAGE).decode()
        world.result_text(world.submit_id(method=None, sitekey=None, pageurl=None, body=text))
        equal(world.sim.submits()[0]["params"]["method"], "base64")
        world.result_text(world.submit_id(method="turnstile ", sitekey="0xSITE", pageurl=PAGE))
        equal(world.sim.submits()[1]["params"]["method"], "turnstile")
        world.result_text(world.submit_id())
        equal(world.paid(), 2, "blanks make no other request; paid")


@test
def only_the_vendor_judges_methods_that_its_reference_does_not_have():
    cases = [
        {"method": "vkimage", "file_1": "aGVsbG8="},
        {"method": "altcha", "websiteURL": PAGE, "challenge_url": PAGE},
        {"method": "alibaba", "sceneId": "s", "prefix": "p", "pageurl": PAGE},
        {"method": "hunt", "apiGetLib": PAGE, "pageurl": PAGE},
        {"method": "tspd", "tspdcookie": "c", "pageurl": PAGE},
        {"method": "vkcaptcha", "useragent": "u"},
        {"method": "yandex", "sitekey": "k", "url": PAGE},
        {"method": "capy", "sitekey": "k", "pageurl": PAGE},
    ]
    with World() as world:
        for place, params in enumerate(cases):
            world.result_text(world.submit_id(**{"sitekey": None, "pageurl": None, **params}))
            sent = world.sim.submits()[place]["params"]
            equal({name: sent.get(name) for name in params}, params, "what the vendor got")


@test
def a_page_by_another_name_does_not_get_around_the_allowed_hosts():
    with World(clients(alice={"allow_hosts": ["example.com"]})) as world:
        word = "ERROR_DOMAIN_NOT_ALLOWED"
        other = "https://elsewhere.test/"
        def submit(**params):
            return world.submit(method="yandex", key=ALICE, **params).text
        equal(submit(pageurl=None, url=other), word)
        equal(submit(pageurl=PAGE, url=other), word, "two pages")
        equal(submit(pageurl=None, websiteURL=other), word)
        equal(submit(pageurl=None), word, "no page at all")
        contains(submit(pageurl=None, url=PAGE), "OK|")


@test
def inputs_that_a_site_takes_once_are_joined_but_never_cached():
    cases = [
        {"method": "turnstile", "data": "d"},
        {"method": "turnstile", "pagedata": "p"},
        {"method": "hcaptcha", "data": "d"},
        {"method": "hcaptcha", "rqdata": "r"},
    ]
    with World(sim=("--solve-time", "10m")) as world:
        paid = 0
        for case in cases:
            params = {"sitekey": "0xSITE", "pageurl": PAGE, **case}
            tasks = [world.submit_id(**params) for _ in range(3)]
            wait_until(lambda: world.sim.solve() == 1, "one submit for all of them")
            equal(len({world.result_text(task) for task in tasks}), 1, "answers of those that asked together")
            paid += 1
            equal(world.paid(), paid, f"{params}: paid")
            later = world.submit_id(**params)
            wait_until(lambda: world.sim.solve() == 1, f"{params}: a submit for who asks later")
            world.result_text(later)
            paid += 1


@test
def mistakes_get_the_vendors_words_and_never_reach_the_vendor():
    with World() as world:
        big = base64.b64encode(bytes(1100 * 1024)).decode()
        cases = [
            ("ERROR_PAGEURL", {"pageurl": None}),
            ("ERROR_GOOGLEKEY", {"sitekey": None}),
            ("ERROR_GOOGLEKEY", {"method": "userrecaptcha", "pageurl": PAGE}),
            ("ERROR_PAGEURL", {"method": "userrecaptcha", "googlekey": "6Le"}),
            ("ERROR_BAD_PARAMETERS", {"method": None, "sitekey": None, "pageurl": None}),
            ("ERROR_ZERO_CAPTCHA_FILESIZE", {"method": "base64", "body": ""}),
            ("ERROR_TOO_BIG_CAPTCHA_FILESIZE", {"method": "base64", "body": big}),
            ("ERROR_BAD_PARAMETERS", {"reuse": "sometimes"}),
            ("ERROR_BAD_PARAMETERS", {"min_ttl": "soon"}),
            ("ERROR_PINGBACK_NOT_ALLOWED", {"pingback": "http://127.0.0.1:1/"}),
        ]
        for word, params in cases:
            reply = world.submit(**params)
            equal((reply.status, reply.text), (200, word), f"{list(params)}")
            equal(world.submit(json="1", **params).json(), {"status": 0, "request": word}, f"{list(params)} in JSON")
        malformed = http_request(world.url + "/in.php", "POST", '{"method": ', {"Content-Type": "application/json"})
        equal((malformed.status, malformed.text), (200, "ERROR_BAD_PARAMETERS"))
        equal(world.sim.totals()["submits"], 0, "submits that reached the vendor")


@test
def res_php_names_what_is_wrong():
    with World() as world:
        url = world.url + "/res.php"
        equal(get(url, key=KEY).text, "ERROR_EMPTY_ACTION")
        equal(get(url, key=KEY, action="dance").text, "ERROR_BAD_PARAMETERS")
        equal(get(url, key=KEY, action="get").text, "ERROR_WRONG_ID_FORMAT")
        equal(get(url, key=KEY, action="get", id="12x").text, "ERROR_WRONG_ID_FORMAT")
        equal(get(url, key=KEY, action="get", id="99").text, "ERROR_WRONG_CAPTCHA_ID")
        equal(get(url, key=KEY, action="reportbad", id="99").text, "ERROR_WRONG_CAPTCHA_ID")


@test
def methods_and_parameters_we_never_heard_of_pass_through_untouched():
    with World() as world:
        task = world.submit_id(method="moon_captcha", phase="full", **{"data[key]": "a b&c", "data-s": "Ü"})
        check(world.result_text(task).startswith("OK|"), "solved")
        params = world.sim.submits()[0]["params"]
        equal(params["method"], "moon_captcha")
        equal((params["phase"], params["data[key]"], params["data-s"]), ("full", "a b&c", "Ü"))
        for name in ("soft_id", "header_acao", "idempotency_key", "wait"):
            check(name not in params, f"{name} is ours")


@test
def the_vendor_gets_our_key_and_never_the_callers():
    caller_key = "c" * 32
    with World() as world:
        world.result_text(world.submit_id(key=caller_key))
        check(caller_key not in json.dumps(world.sim.ledger()), "the caller's key went upstream")


@test
def a_client_may_have_a_key_of_36_characters():
    long = "CAP-" + "0123456789ABCDEF" * 2
    with World({"clients": [{"name": "long", "key": long}]}) as world:
        task = world.submit_id(key=long)
        check(world.result_text(task, key=long).startswith("OK|"), "solved")
        equal(world.solve(key=long).status, 200, "/v1")
        equal(world.submit(key=long[:-1] + "X").text, "ERROR_KEY_DOES_NOT_EXIST")
        for key in (long[:-1], long + "0", long[:31], ""):
            equal(world.submit(key=key).text, "ERROR_WRONG_USER_KEY", key)


@test
def several_ids_are_answered_in_order():
    with World() as world:
        first = world.submit_id(sitekey="a")
        second = world.submit_id(sitekey="SIM-SLOW-30s")
        answer = world.result_text(first)[3:]
        ids = f"{first},{second},17"
        equal(get(world.url + "/res.php", key=KEY, action="get", ids=ids).text,
              f"{answer}|CAPCHA_NOT_READY|ERROR_WRONG_CAPTCHA_ID")
        reply = get(world.url + "/res.php", key=KEY, action="get", ids=ids, json="1").json()
        equal(reply, {"status": 1, "request": f"{answer}|CAPCHA_NOT_READY|ERROR_WRONG_CAPTCHA_ID"})


@test
def get2_adds_the_price():
    with World({"upstream": {"price": {"turnstile": 0.0015}}}) as world:
        task = world.submit_id()
        token = world.result_text(task)
        equal(world.result(task, action="get2").text, token + "|0.001500")
        equal(world.result(task, action="get2", json="1").json()["price"], "0.001500")


@test
def balance_and_threads_come_from_the_vendor_once_for_everybody():
    with World(sim=("--balance", "7.5", "--slots", "9")) as world:
        url = world.url + "/res.php"
        started = time.monotonic()
        for _ in range(5):
            equal(get(url, key=KEY, action="getbalance").text, "7.50")
        equal(get(url, key=KEY, action="getbalance", json="1").json(), {"status": 1, "request": "7.50"})
        threads = get(url, key=KEY, action="threadsinfo", json="1").json()
        equal((str(threads["threads"]), int(threads["working_threads"])), ("9", 0))
        is_stale = time.monotonic() - started > 5  # after which it has to be asked again
        check(world.counter("probes") <= 2 or is_stale, "the vendor was asked once for each")


@test
def reports_are_recorded_and_a_bad_solution_is_not_served_again():
    with World() as world:
        task = world.submit_id()
        bad = world.result_text(task)
        equal(get(world.url + "/res.php", key=KEY, action="reportbad", id=task).text, "OK_REPORT_RECORDED")
        again = world.submit_id()
        check(world.result_text(again) != bad, "another solution")
        equal(world.paid(), 2)
        equal(get(world.url + "/res.php", key=KEY, action="reportgood", id=again, json="1").json(),
              {"status": 1, "request": "OK_REPORT_RECORDED"})
        wait_until(lambda: world.sim.totals()["reports_bad"] == 1, "the bad report at the vendor")
        wait_until(lambda: world.sim.totals()["reports_good"] == 1, "the good report at the vendor")


@test
def wait_holds_the_poll_until_the_answer():
    with World() as world:
        task = world.submit_id()
        check(world.result(task, wait="10").text.startswith("OK|SIM_"), "held until solved")
        slow = world.submit_id(sitekey="SIM-SLOW-30s")
        equal(world.result(slow, wait="0.2").text, "CAPCHA_NOT_READY")


@test
def cors_is_added_only_when_asked_for():
    with World() as world:
        check("access-control-allow-origin" not in world.submit().headers, "not asked for")
        equal(world.submit(header_acao="1").headers["access-control-allow-origin"], "*")
        equal(world.submit(header_acao="1", pageurl=None).headers["access-control-allow-origin"], "*")


@test
def irregular_results_are_relayed_so_that_a_client_of_the_vendor_understands_them():
    with World() as world:
        enterprise = world.submit_id(method="userrecaptcha", googlekey="6Le", pageurl=PAGE, enterprise="1")
        token = world.result_text(enterprise)
        check(token.startswith("OK|SIM_"), token)
        reply = world.result(enterprise, json="1").json()
        equal((reply["status"], reply["request"]), (1, token[3:]))
        check(reply.get("user_agent"), f"the user agent belongs to the token: {reply}")
        geetest = world.submit_id(method="geetest", gt="g", challenge="c", pageurl=PAGE)
        plain = world.result_text(geetest)
        contains(plain, "challenge:")
        reply = world.result(geetest, json="1").json()
        for name in ("challenge", "validate", "seccode"):
            check(reply.get(name), f"{name} in {reply}")
        equal(reply["status"], 1)
        equal(reply["request"], {name: reply[name] for name in ("challenge", "validate", "seccode")}, "request is an object too")


@test
def vendor_errors_are_told_in_the_vendors_words():
    with World() as world:
        for word in ("ERROR_CAPTCHA_UNSOLVABLE", "ERROR_BAD_PROXY"):
            task = world.submit_id(sitekey="SIM-" + word)
            equal(world.result_text(task), word)
            equal(world.result(task, json="1").json(), {"status": 0, "request": word})


@test
def a_clients_request_is_nobody_elses():
    with World(clients()) as world:
        task = world.submit_id(key=ALICE)
        equal(world.result(task, key=BOB).text, "ERROR_WRONG_CAPTCHA_ID")
        wait_until(lambda: world.result(task, key=ALICE).text.startswith("OK|"), "the answer")
        equal(world.result(task, key=BOB, action="reportbad").text, "ERROR_WRONG_CAPTCHA_ID")


@test
def keys_are_judged_in_the_vendors_words():
    with World(clients()) as world:
        equal(world.submit(key="short").text, "ERROR_WRONG_USER_KEY")
        equal(world.submit(key=None).text, "ERROR_WRONG_USER_KEY")
        equal(world.submit(key="x" * 32).text, "ERROR_KEY_DOES_NOT_EXIST")
        check(world.submit(key=ALICE).text.startswith("OK|"), "alice")


run()
