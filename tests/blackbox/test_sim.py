"""The vendor's stand-in: both doors in all encodings, every answer's shape, every fault, the ledger."""
import base64
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import time
import urllib.parse

from harness import (KEY, TIMEOUT, Raw, Receiver, Sim, binary, check, contains, equal, get, http_request,
                     multipart, post_form, raw, run, test, wait_until)

OTHER_KEY = "f" * 32
IMAGE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2
TURNSTILE = {"key": KEY, "method": "turnstile", "sitekey": "0xSITE", "pageurl": "https://example.com/"}
RECAPTCHA = {"key": KEY, "method": "userrecaptcha", "googlekey": "6LeSITE", "pageurl": "https://example.com/"}


def form(params):
    return urllib.parse.urlencode(params)


def request_bytes(method, target, body=b"", headers=()):
    head = f"{method} {target} HTTP/1.1\r\nHost: sim\r\n" + "".join(f"{h}\r\n" for h in headers)
    if body:
        head += f"Content-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def submit_bytes(params=None, headers=()):
    return request_bytes("GET", "/in.php?" + form(params or TURNSTILE), headers=headers)


# --- starting and stopping ------------------------------------------------------------------------


@test
def the_ready_line_names_the_address_and_sigterm_ends_it_with_zero():
    sim = Sim().start()
    equal(sim.ready_line, f"solvegate-sim ready on http://127.0.0.1:{sim.port}", "ready line")
    sim.stop(signal.SIGTERM)
    sim = Sim().start()
    sim.stop(signal.SIGINT)


@test
def an_unknown_option_exits_64_with_a_suggestion():
    done = subprocess.run([binary("SOLVEGATE_SIM"), "--solvetime", "5s"], capture_output=True, timeout=TIMEOUT)
    equal(done.returncode, 64, "exit status")
    contains(done.stderr.decode(), "did you mean --solve-time?", "stderr")
    equal(done.stdout, b"", "stdout")


@test
def a_bad_option_value_exits_64_and_says_what_was_expected():
    for args, part in ((["--solve-time", "5 apples"], "exp:5s"), (["--key", "short"], "32 characters"),
                       (["--slots"], "a number"), (["--fault", "submit-lots=0.1"], "did you mean submit-lost?"),
                       (["--fault", "submit-lost=2"], "more than 1"), (["--fault", "submit-drip=0.1,fast"], "value"),
                       (["--script", "/nonexistent.json"], "cannot read"), (["--read-once=yes"], "no value"),
                       (["--script", '[{"fault":"poll-oops"}]'], "unknown fault")):
        done = subprocess.run([binary("SOLVEGATE_SIM"), *args], capture_output=True, timeout=TIMEOUT)
        equal(done.returncode, 64, f"exit status of {args}")
        contains(done.stderr.decode(), part, f"stderr of {args}")


@test
def help_names_every_option_every_fault_and_shows_curl():
    done = subprocess.run([binary("SOLVEGATE_SIM"), "--help"], capture_output=True, timeout=TIMEOUT)
    text = done.stdout.decode()
    equal(done.returncode, 0, "exit status")
    for word in ("--listen", "--solve-time", "--read-once", "--ledger-max", "submit-lost-reset", "callback-forged",
                 "SIM-ERROR_CAPTCHA_UNSOLVABLE", "SIM-SLOW-30s", "/sim/ledger", "PUT"):
        contains(text, word, "help")
    check(text.count("curl ") >= 5, "fewer than five curl examples")
    check(max(map(len, text.splitlines())) <= 100, "help is wider than 100 columns")


@test
def two_programs_cannot_share_a_port():
    with Sim() as sim:
        done = subprocess.run([binary("SOLVEGATE_SIM"), "--listen", f"127.0.0.1:{sim.port}"],
                              capture_output=True, timeout=TIMEOUT)
        equal(done.returncode, 69, "exit status")
        contains(done.stderr.decode(), "cannot listen", "stderr")


@test
def the_log_has_one_line_per_call_without_keys_or_tokens():
    with Sim("--log", "--solve-time", "0") as sim:
        task = sim.submit_id()
        token = sim.poll(task).json()["request"]
        get(sim.url + "/in.php", key=KEY, method="evil\nline")
        lines = sim.stderr().splitlines()
        equal(len(lines), 3, "lines")
        contains(lines[0], "/in.php turnstile", "first line")
        contains(lines[1], f"id= {task}", "second line")
        check(KEY not in sim.stderr() and token not in sim.stderr(), "the log tells a secret")


# --- encodings ------------------------------------------------------------------------------------


@test
def a_submit_works_by_query_form_multipart_and_json():
    with Sim() as sim:
        url = sim.url + "/in.php"
        body, kind = multipart(list(TURNSTILE.items()))
        replies = [
            get(url, **TURNSTILE),
            post_form(url, TURNSTILE),
            http_request(url, "POST", body, {"Content-Type": kind}),
            http_request(url, "POST", TURNSTILE),
            http_request(url, "POST", json.dumps(TURNSTILE), {"Content-Type": "text/plain"}),
            http_request(url, "POST", " \r\n" + json.dumps(TURNSTILE), {"Content-Type": "multipart/form-data"}),
            http_request(url, "POST", json.dumps({"method": "turnstile", "sitekey": "x"}),
                         {"Content-Type": "text/plain"}, {"key": KEY, "pageurl": "https://example.com/"}),
        ]
        for number, reply in enumerate(replies):
            check(re.fullmatch(r"OK\|\d+", reply.text), f"reply {number}: {reply}")
            equal(reply.status, 200, f"status {number}")
        equal(sim.totals()["accepted"], len(replies), "accepted")
        for entry in sim.submits()[:6]:
            equal(entry["params"]["sitekey"], "0xSITE", "sitekey")


@test
def a_form_without_content_type_in_chunks_is_understood():
    with Sim() as sim, Raw(sim.port) as connection:
        body = form(TURNSTILE).encode()
        connection.send(b"POST /in.php HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for at in range(0, len(body), 7):
            part = body[at:at + 7]
            connection.send(b"%x\r\n%s\r\n" % (len(part), part))
        connection.send(b"0\r\n\r\n")
        check(connection.reply().text.startswith("OK|"))
        equal(sim.submits()[0]["params"]["pageurl"], "https://example.com/", "pageurl")


@test
def a_request_split_at_every_byte_is_understood():
    with Sim() as sim, Raw(sim.port) as connection:
        body = form(TURNSTILE).encode()
        data = request_bytes("POST", "/in.php?json=1", body, ["Content-Type: application/x-www-form-urlencoded"])
        for byte in range(len(data)):
            connection.send(data[byte:byte + 1])
            if byte % 16 == 0:
                time.sleep(0.0005)
        equal(connection.reply().json()["status"], 1, "status")
        entry = sim.submits()[0]
        equal(entry["params"]["sitekey"], "0xSITE", "sitekey")


@test
def percent_signs_plus_signs_and_brackets_in_names_are_decoded():
    with Sim() as sim:
        post_form(sim.url + "/in.php", {**TURNSTILE, "data[key]": "a b+c%d&é", "data-s": "1=2"})
        params = sim.submits()[0]["params"]
        equal(params["data[key]"], "a b+c%d&é", "data[key]")
        equal(params["data-s"], "1=2", "data-s")


@test
def the_body_wins_over_the_query_and_the_last_over_the_first():
    with Sim() as sim:
        http_request(sim.url + "/in.php?method=nothing&sitekey=query&sitekey=second", "POST", form(TURNSTILE))
        equal(sim.submits()[0]["params"]["sitekey"], "0xSITE", "sitekey")
        get(sim.url + "/in.php?sitekey=a&" + form(TURNSTILE) + "&sitekey=b")
        equal(sim.submits()[1]["params"]["sitekey"], "b", "sitekey")


@test
def json_numbers_booleans_and_objects_become_text():
    with Sim() as sim:
        http_request(sim.url + "/in.php", "POST",
                     {**TURNSTILE, "json": 1, "invisible": False, "min_score": 0.3, "data": {"a": [1, "x"]}})
        params = sim.submits()[0]["params"]
        equal((params["json"], params["invisible"], params["min_score"], params["data"]),
              ("1", "false", "0.3", '{"a":[1,"x"]}'), "values")


@test
def broken_bodies_are_bad_parameters_and_not_the_end():
    with Sim() as sim:
        deep = '{"a":' * 200 + "1" + "}" * 200
        for body, kind in (('{"key":', "application/json"), (deep, "application/json"), ("[1]", "application/json"),
                           ("--b\r\nbroken", "multipart/form-data; boundary=b"),
                           ("--b\r\n\r\nno name\r\n--b--", "multipart/form-data; boundary=b"),
                           ("x", "multipart/form-data; boundary=b"), ("&".join(f"p{i}=1" for i in range(200)), "")):
            reply = http_request(sim.url + "/in.php", "POST", body, {"Content-Type": kind})
            equal(reply.status, 200, "status")
            check(reply.text.startswith("ERROR_"), f"{body[:20]}: {reply}")
        equal(sim.totals()["accepted"], 0, "accepted")


@test
def images_come_as_file_or_base64_and_a_file_alone_means_post():
    with Sim("--solve-time", "0") as sim:
        body, kind = multipart([("key", KEY), ("file", "captcha.png", IMAGE)])
        task = http_request(sim.url + "/in.php", "POST", body, {"Content-Type": kind}).text[3:]
        entry = sim.submits()[0]["params"]
        equal(entry["file"]["bytes"], len(IMAGE), "bytes")
        check(re.fullmatch("[0-9a-f]{16}", entry["file"]["fnv1a"]))
        check(re.fullmatch(r"OK\|SIM_[0-9a-z]+", sim.poll(task, json=0).text))
        encoded = base64.b64encode(IMAGE).decode()
        for text in (encoded, "data:image/png;base64," + encoded):
            check(post_form(sim.url + "/in.php", {"key": KEY, "method": "base64", "body": text}).text.startswith("OK|"))
        equal(sim.submits()[1]["params"]["body"]["bytes"], len(encoded), "bytes")


@test
def solve_php_answers_with_the_text_itself_when_it_is_solved():
    with Sim("--solve-time", "150ms") as sim:
        started = time.monotonic()
        encoded = base64.b64encode(IMAGE).decode()
        params = {"key": KEY, "method": "base64", "body": encoded, "json": "1"}
        reply = post_form(sim.url + "/solve.php", params)
        check(reply.json()["request"].startswith("SIM_") and reply.json()["status"] == 1, repr(reply))
        check(time.monotonic() - started > 0.14, "it did not take its time")
        check(post_form(sim.url + "/solve.php", {**params, "json": "0"}).text.startswith("OK|SIM_"))
        equal(post_form(sim.url + "/solve.php", TURNSTILE).text, "ERROR_BAD_PARAMETERS", "not an image")
        equal(sim.totals()["accepted"], 2, "accepted")


# --- replies --------------------------------------------------------------------------------------


@test
def the_reply_form_follows_json_of_that_very_request():
    with Sim("--solve-time", "0") as sim:
        for value, is_json in (("1", True), ("true", True), ("0", False), (None, False), ("", False)):
            reply = sim.submit(json=value)
            equal(reply.text.startswith("{"), is_json, f"json={value}")
            equal("json" in reply.headers["content-type"], is_json, f"content type for json={value}")
    with Sim("--default-json", "1") as sim:
        check(sim.submit(json=None).text.startswith("{"))


@test
def replies_have_no_newline_and_the_vendors_spelling():
    with Sim("--solve-time", "300ms") as sim:
        task = sim.submit_id()
        equal(sim.poll(task, json=0).body, b"CAPCHA_NOT_READY", "plain")
        equal(sim.poll(task).body, b'{"status":0,"request":"CAPCHA_NOT_READY"}', "json")
        answer = sim.poll_until_ready(task, json=0).text
        check(re.fullmatch(r"OK\|SIM_[0-9a-z_]+", answer), answer)


@test
def ids_are_strings_numbers_or_long_as_told():
    with Sim("--ids", "number") as sim:
        check(isinstance(sim.submit().json()["request"], int))
    with Sim("--ids", "mixed") as sim:
        kinds = {type(sim.submit().json()["request"]) for _ in range(4)}
        equal(kinds, {int, str}, "kinds")
    with Sim("--ids", "long", "--solve-time", "0") as sim:
        task = sim.submit().json()["request"]
        check(re.fullmatch(r"0+\d+", task) and len(task) == 23, task)
        equal(sim.poll(task).json()["status"], 1, "status")
        equal(sim.poll(task.lstrip("0")).json()["request"], "ERROR_WRONG_CAPTCHA_ID", "without zeros")
        equal(sim.submits()[0]["id"], task, "id in the ledger")


@test
def irregular_results_have_the_vendors_shapes():
    with Sim("--solve-time", "0") as sim:
        def answer(**params):
            return sim.poll(sim.submit_id(**params)).json()

        enterprise = answer(**{**RECAPTCHA, "enterprise": "1", "userAgent": 'UA "x"'})
        equal(sorted(enterprise), ["result", "status", "user_agent"], "enterprise")
        equal(enterprise["user_agent"], 'UA "x"', "user_agent")
        clearance = answer(method="cloudflare_challenge", pageurl="https://e.com/", proxy="u:p@1.2.3.4:80", proxytype="HTTP")
        equal(sorted(clearance), ["result", "status", "user_agent"], "cloudflare_challenge")
        geetest = answer(method="geetest", gt="g", challenge="c", pageurl="https://e.com/")
        equal(sorted(geetest), ["challenge", "seccode", "validate"], "geetest")
        bls = answer(method="bls", instructions="664", **{f"image_base64_{i}": "data:," for i in range(1, 10)})
        check(isinstance(bls["request"], str) and set(json.loads(bls["request"])) <= set(range(1, 10)), repr(bls))
        grid = answer(method="base64", body=base64.b64encode(IMAGE).decode(), img_type="recaptcha", instructions="cars",
                      grid_size="3x3")
        check(isinstance(json.loads(grid["request"]), list))
        plain = sim.poll(sim.submit_id(method="geetest", gt="g", challenge="c", pageurl="https://e.com/"), json=0).text
        check(plain.startswith("OK|challenge:SIM_"), plain)


@test
def the_cloudflare_answer_can_also_be_a_document_in_request():
    with Sim("--solve-time", "0", "--cloudflare", "request") as sim:
        task = sim.submit_id(method="cloudflare_challenge", pageurl="https://e.com/", proxy="1.2.3.4:80", proxytype="SOCKS5")
        inner = json.loads(sim.poll(task).json()["request"])
        check(inner["cookies"]["cf_clearance"].startswith("SIM_") and inner["userAgent"])


@test
def unknown_methods_are_solved_unless_they_are_to_be_rejected():
    with Sim("--solve-time", "0") as sim:
        check(sim.poll(sim.submit_id(method="prosopo", sitekey="x")).json()["request"].startswith("SIM_"))
    with Sim("--unknown-methods", "reject") as sim:
        equal(sim.submit(method="prosopo").json()["request"], "ERROR_BAD_PARAMETERS", "code")


@test
def balance_threads_and_get2_look_like_the_vendors():
    with Sim("--solve-time", "0", "--balance", "1.234", "--price", "0.001", "--slots", "5") as sim:
        account = sim.url + "/res.php"
        equal(get(account, key=KEY, action="getbalance").text, "1.234", "balance")
        task = sim.submit_id()
        equal(get(account, key=KEY, action="getbalance", json=1).json(), {"status": 1, "request": "1.233"}, "balance")
        check(re.fullmatch(r"OK\|SIM_\w+\|0\.001", sim.poll(task, action="get2", json=0).text))
        equal(sim.poll(task, action="get2").json()["price"], "0.001", "price")
        equal(get(account, key=KEY, action="threadsinfo", json=1).json(), {"threads": "5", "working_threads": 0}, "threads")
    with Sim("--threadsinfo", "number", "--slots", "7") as sim:
        sim.submit_id()
        equal(get(sim.url + "/res.php", key=KEY, action="threadsinfo", json=1).json(),
              {"threads": 7, "working_threads": 1}, "threads")


@test
def several_ids_are_answered_in_order_without_ok():
    with Sim() as sim:
        first, second = sim.submit_id(sitekey="SIM-FAST"), sim.submit_id()
        third = sim.submit_id(sitekey="SIM-FAST+ERROR_CAPTCHA_UNSOLVABLE")
        ids = f"{first},{second},{third},123"
        parts = get(sim.url + "/res.php", key=KEY, action="get", ids=ids).text.split("|")
        check(parts[0].startswith(f"SIM_{first}_"), parts[0])
        equal(parts[1:], ["CAPCHA_NOT_READY", "ERROR_CAPTCHA_UNSOLVABLE", "ERROR_WRONG_CAPTCHA_ID"], "rest")
        equal(get(sim.url + "/res.php", key=KEY, action="get", ids=ids, json=1).json()["request"].split("|"), parts, "json")


@test
def reports_are_recorded_once_and_only_for_finished_tasks():
    with Sim("--solve-time", "0") as sim:
        task = sim.submit_id()
        equal(sim.poll(task, action="reportbad", json=0).text, "OK_REPORT_RECORDED", "reportbad")
        equal(sim.poll(task, action="reportgood", json=0).text, "ERROR_DUPLICATE_REPORT", "again")
        other = sim.submit_id()
        equal(sim.poll(other, action="reportgood").json(), {"status": 1, "request": "OK_REPORT_RECORDED"}, "reportgood")
        never = sim.submit_id(sitekey="SIM-NEVER")
        equal(sim.poll(never, action="reportgood", json=0).text, "ERROR_REPORT_NOT_RECORDED", "unsolved")
        equal([entry["report"] for entry in sim.submits()], ["bad", "good", None], "reports")


@test
def wrong_ids_and_actions_get_the_vendors_words():
    with Sim("--solve-time", "0") as sim:
        account = sim.url + "/res.php"
        equal(get(account, key=KEY).text, "ERROR_EMPTY_ACTION", "no action")
        equal(get(account, key=KEY, action="dance").text, "ERROR_BAD_PARAMETERS", "unknown action")
        equal(get(account, key=KEY, action="get").text, "ERROR_WRONG_ID_FORMAT", "no id")
        equal(get(account, key=KEY, action="get", id="12x").text, "ERROR_WRONG_ID_FORMAT", "bad id")
        equal(get(account, key=KEY, action="get", id="99").text, "ERROR_WRONG_CAPTCHA_ID", "unknown id")
        task = sim.submit_id()
        equal(sim.poll(task, key=OTHER_KEY).json()["request"], "ERROR_WRONG_CAPTCHA_ID", "another account's")


@test
def header_acao_adds_cors_and_every_reply_is_200():
    with Sim() as sim:
        reply = sim.submit(header_acao="1")
        equal(reply.headers.get("access-control-allow-origin"), "*", "header")
        reply = get(sim.url + "/in.php", key="short", header_acao="1")
        equal((reply.status, reply.text), (200, "ERROR_WRONG_USER_KEY"), "error")
        equal(reply.headers.get("access-control-allow-origin"), "*", "header")
        check("access-control-allow-origin" not in sim.submit().headers)


# --- the account ----------------------------------------------------------------------------------


@test
def keys_are_checked_for_length_and_then_for_existence():
    with Sim() as sim:
        equal(sim.submit(key="short").json()["request"], "ERROR_WRONG_USER_KEY", "length")
        equal(sim.submit(key=None).json()["request"], "ERROR_WRONG_USER_KEY", "none")
        equal(sim.submit(key=OTHER_KEY).json()["status"], 1, "any key")
    with Sim("--key", KEY, "--key", "e" * 32) as sim:
        equal(sim.submit(key=OTHER_KEY).json()["request"], "ERROR_KEY_DOES_NOT_EXIST", "submit")
        equal(sim.poll("1", key=OTHER_KEY).json()["request"], "ERROR_KEY_DOES_NOT_EXIST", "poll")
        equal(sim.submit(key="e" * 32).json()["status"], 1, "second key")


@test
def missing_parameters_get_the_vendors_codes():
    big = base64.b64encode(bytes(1024 * 1024 + 1)).decode()
    cases = [
        ({"method": "userrecaptcha", "pageurl": "x"}, "ERROR_GOOGLEKEY"),
        ({"method": "userrecaptcha", "googlekey": " ", "pageurl": "x"}, "ERROR_GOOGLEKEY"),
        ({"method": "userrecaptcha", "googlekey": "a b", "pageurl": "x"}, "ERROR_WRONG_GOOGLEKEY"),
        ({"method": "userrecaptcha", "googlekey": "x"}, "ERROR_PAGEURL"),
        ({"method": "userrecaptcha", "googlekey": "x", "pageurl": "x", "version": "v3", "min_score": "7"}, "ERROR_BAD_PARAMETERS"),
        ({"method": "turnstile", "pageurl": "x"}, "ERROR_GOOGLEKEY"),
        ({"method": "hcaptcha", "sitekey": "x"}, "ERROR_PAGEURL"),
        ({"method": "geetest", "gt": "x", "pageurl": "x"}, "ERROR_BAD_PARAMETERS"),
        ({"method": "cloudflare_challenge", "pageurl": "x"}, "ERROR_BAD_PARAMETERS"),
        ({"method": "cloudflare_challenge", "pageurl": "x", "proxy": "nonsense", "proxytype": "HTTP"}, "ERROR_BAD_PROXY"),
        ({"method": "captchafox", "sitekey": "s", "pageurl": "x", "proxy": "a:1", "proxytype": "FTP"}, "ERROR_BAD_PARAMETERS"),
        ({"method": "lemin", "pageurl": "x"}, "ERROR_BAD_PARAMETERS"),
        ({"method": "bls", "instructions": "1"}, "ERROR_BAD_PARAMETERS"),
        ({"method": "base64"}, "ERROR_ZERO_CAPTCHA_FILESIZE"),
        ({"method": "base64", "body": "AAAA"}, "ERROR_ZERO_CAPTCHA_FILESIZE"),
        ({"method": "base64", "body": "!" * 400}, "ERROR_UPLOAD"),
        ({"method": "base64", "body": big}, "ERROR_TOO_BIG_CAPTCHA_FILESIZE"),
        ({"method": "post"}, "ERROR_ZERO_CAPTCHA_FILESIZE"),
        ({}, "ERROR_BAD_PARAMETERS"),
    ]
    with Sim() as sim:
        for params, code in cases:
            equal(post_form(sim.url + "/in.php", {"key": KEY, **params}).text, code, f"{str(params)[:80]}")
        body, kind = multipart([("key", KEY), ("method", "post"), ("file", "movie.mp4", IMAGE)])
        equal(http_request(sim.url + "/in.php", "POST", body, {"Content-Type": kind}).text,
              "ERROR_WRONG_FILE_EXTENSION", "extension")
        totals = sim.totals()
        equal((totals["accepted"], totals["rejected"]), (0, len(cases) + 1), "accepted and rejected")
        equal(totals["rejected_by_code"]["ERROR_GOOGLEKEY"], 3, "by code")


@test
def every_method_the_vendor_documents_is_accepted():
    with Sim() as sim:
        proxy = {"proxy": "1.2.3.4:80", "proxytype": "HTTP"}
        for params in (RECAPTCHA, {**RECAPTCHA, "invisible": "1"}, {**RECAPTCHA, "version": "v3", "min_score": "0.3"},
                       {"method": "hcaptcha", "sitekey": "s", "pageurl": "p"}, {"method": "friendly_captcha", "sitekey": "s", "pageurl": "p"},
                       {"method": "lemin", "captcha_id": "c", "pageurl": "p"}, {"method": "captchafox", "sitekey": "s", "pageurl": "p", **proxy},
                       {"method": "cloudflare_challenge", "pageurl": "p", **proxy}, {"method": "geetest", "gt": "g", "version": "4", "pageurl": "p"},
                       {"method": "geetest_v4", "captcha_id": "c", "pageurl": "p"}, {"method": "post", "textcaptcha": "what?"}):
            sim.submit_id(**params)


@test
def slots_are_held_from_accept_until_solved():
    with Sim("--slots", "2", "--solve-time", "200ms") as sim:
        first = sim.submit_id()
        sim.submit_id()
        equal(sim.submit().json()["request"], "ERROR_NO_SLOT_AVAILABLE", "third")
        sim.poll_until_ready(first)
        wait_until(lambda: sim.totals()["in_flight"] == 0, "both solved")
        sim.submit_id()
        equal(sim.totals()["rejected"], 1, "rejected")
    with Sim("--slots", "1", "--busy-code", "ERROR_ZERO_BALANCE") as sim:
        sim.submit_id()
        equal(sim.submit(json="0").text, "ERROR_ZERO_BALANCE", "busy code")


@test
def money_is_taken_with_the_submit_and_returned_for_the_unsolvable():
    with Sim("--solve-time", "0", "--balance", "0.002", "--price", "0.001") as sim:
        def balance():
            return get(sim.url + "/res.php", key=KEY, action="getbalance").text

        task = sim.submit_id(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE")
        equal(sim.poll(task).json()["request"], "ERROR_CAPTCHA_UNSOLVABLE", "poll")
        equal(balance(), "0.002", "after a failure")
        sim.submit_id()
        sim.submit_id()
        equal(balance(), "0.00", "after two solves")
        equal(sim.submit().json()["request"], "ERROR_ZERO_BALANCE", "no money")


# --- time -----------------------------------------------------------------------------------------


@test
def solve_time_can_differ_by_method():
    with Sim("--solve-time", "60s", "--solve-time", "turnstile=0") as sim:
        equal(sim.poll(sim.submit_id()).json()["status"], 1, "turnstile")
        equal(sim.poll(sim.submit_id(**RECAPTCHA)).json()["request"], "CAPCHA_NOT_READY", "userrecaptcha")


def _times(spec, seed, count=300):
    with Sim("--solve-time", spec, "--seed", seed) as sim:
        with Raw(sim.port) as connection:
            connection.send(submit_bytes() * count)
            for _ in range(count):
                connection.reply()
        wait_until(lambda: sim.totals()["in_flight"] <= count * 0.02, "nearly all solved")
        return [entry.get("settled", entry["at"] + 9) - entry["at"] for entry in sim.submits()]


@test
def exponential_and_long_tailed_times_have_the_mean_and_shape_they_claim():
    exponential = sorted(_times("exp:200ms", 7))
    mean = sum(exponential[:294]) / 294
    check(0.13 < mean < 0.26, f"exponential mean {mean}")
    check(exponential[30] < 0.06, "no short times")
    tail = sorted(_times("tail:200ms", 7))
    check(tail[0] > 0.095, f"shortest of the tail {tail[0]}")
    check(0.12 < tail[150] < 0.18, f"median of the tail {tail[150]}")


@test
def the_same_seed_gives_the_same_ids_tokens_times_and_faults():
    def story(seed):
        with Sim("--seed", seed, "--solve-time", "uniform:1ms-40ms", "--fault", "task-error=0.3") as sim:
            ids = [sim.submit_id() for _ in range(30)]
            return [sim.poll_until_ready(task).text for task in ids]

    equal(story(1), story(1), "story")
    check(story(1) != story(2), "another seed tells the same story")


@test
def tokens_are_unique_and_long_as_told():
    with Sim("--solve-time", "0", "--token-bytes", "2000") as sim:
        tokens = {sim.poll(sim.submit_id()).json()["request"] for _ in range(20)}
        equal(len(tokens), 20, "distinct tokens")
        check(all(len(token) == 2000 and token.startswith("SIM_") and "ERROR" not in token for token in tokens))


@test
def results_can_be_read_until_they_expire():
    with Sim("--solve-time", "0", "--result-ttl", "300ms") as sim:
        task = sim.submit_id()
        first = sim.poll(task).text
        equal(sim.poll(task).text, first, "second read")
        wait_until(lambda: "ERROR_WRONG_CAPTCHA_ID" in sim.poll(task).text, "expiry")
        entry = sim.submits()[0]
        equal(entry["state"], "expired", "state")
        check(entry["reads"] >= 2, "reads")


@test
def read_once_forgets_the_result_after_the_first_read():
    with Sim("--solve-time", "0", "--read-once") as sim:
        task = sim.submit_id()
        equal(sim.poll(task).json()["status"], 1, "first read")
        equal(sim.poll(task).json()["request"], "ERROR_WRONG_CAPTCHA_ID", "second read")
        equal(sim.submits()[0]["reads"], 1, "reads")


# --- callbacks ------------------------------------------------------------------------------------


@test
def a_solved_task_calls_back_by_get_with_id_and_code():
    with Receiver() as receiver, Sim("--solve-time", "20ms") as sim:
        task = sim.submit_id(pingback=receiver.url + "/pingback/n0nce?x=1")
        call = receiver.wait(1)[0]
        equal((call["method"], call["path"]), ("GET", "/pingback/n0nce"), "request")
        equal(call["params"], {"x": "1", "id": task, "code": sim.poll(task).json()["request"]}, "parameters")
        entry = wait_until(lambda: [e for e in sim.submits() if e["callbacks"]], "the record")[0]
        equal((entry["callbacks"][0]["status"], entry["callbacks"][0]["sort"]), (200, "true"), "record")
        equal(entry["pingback"], receiver.url + "/pingback/n0nce?x=1", "pingback")


@test
def callbacks_can_be_posted_as_a_form():
    with Receiver() as receiver, Sim("--solve-time", "0", "--pingback-method", "POST", "--ids", "long") as sim:
        task = sim.submit_id(pingback=receiver.url + "/p", **{**RECAPTCHA, "enterprise": "1"})
        call = receiver.wait(1)[0]
        equal(call["method"], "POST", "method")
        equal(call["headers"]["Content-Type"], "application/x-www-form-urlencoded", "type")
        equal(call["params"], {"id": task, "code": sim.poll(task).json()["result"]}, "parameters")


@test
def a_failed_task_calls_back_with_its_error_code():
    with Receiver() as receiver, Sim("--solve-time", "0") as sim:
        sim.submit_id(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE.1", pingback=receiver.url)
        call = receiver.wait(1)[0]
        equal((call["path"], call["params"]["code"]), ("/", "ERROR_CAPTCHA_UNSOLVABLE"), "callback")


@test
def many_callbacks_share_few_connections():
    with Receiver() as receiver, Sim("--solve-time", "0", "--pingback-connections", "4") as sim:
        params = form({**TURNSTILE, "pingback": receiver.url + "/p"})
        with Raw(sim.port) as connection:
            connection.send(request_bytes("GET", "/in.php?" + params) * 300)
            for _ in range(300):
                connection.reply()
        calls = receiver.wait(300)
        equal(len({call["params"]["id"] for call in calls}), 300, "ids")
        check(receiver.connections <= 4, f"{receiver.connections} connections")
        wait_until(lambda: sim.totals()["callbacks_ok"] == 300, "the count")


@test
def a_callback_that_is_refused_or_unanswered_is_recorded_as_failed():
    with Receiver(lambda call: (503, b"no")) as receiver, Sim("--solve-time", "0", "--pingback-timeout", "200ms") as sim:
        sim.submit_id(pingback=receiver.url)
        wait_until(lambda: sim.totals()["callbacks_failed"] == 1, "the refusal")
        receiver.answer = lambda call: time.sleep(1)
        sim.submit_id(pingback=receiver.url)
        wait_until(lambda: sim.totals()["callbacks_failed"] == 2, "the timeout")
        sim.submit_id(pingback="http://127.0.0.1:1/")
        wait_until(lambda: sim.totals()["callbacks_failed"] == 3, "the refused connection")
        statuses = [entry["callbacks"][0]["status"] for entry in sim.submits()]
        equal(statuses[0], 503, "status")
        check(statuses[1] < 0 and statuses[2] < 0, f"{statuses}")


@test
def only_numeric_addresses_and_localhost_are_called():
    with Receiver() as receiver, Sim("--solve-time", "0") as sim:
        for url in ("https://127.0.0.1/", "http://example.com/", "ftp://127.0.0.1/", "http://127.0.0.1:99999/",
                    "nonsense", "http:///", "http://[::1/"):
            sim.submit_id(pingback=url)
        wait_until(lambda: sim.totals()["callbacks_failed"] == 7, "the failures")
        sim.submit_id(pingback=f"http://localhost:{receiver.port}/x")
        receiver.wait(1)


@test
def a_kept_connection_that_died_costs_no_callback():
    answers = iter([(200, b"OK"), None])
    with Receiver(lambda call: next(answers, (200, b"OK"))) as receiver, Sim("--solve-time", "0") as sim:
        sim.submit_id(pingback=receiver.url)
        wait_until(lambda: sim.totals()["callbacks_ok"] == 1, "the first")
        sim.submit_id(pingback=receiver.url)
        wait_until(lambda: sim.totals()["callbacks_ok"] == 2, "the second, on a new connection")
        equal(len(receiver.calls), 3, "calls seen")


@test
def callback_drop_and_twice_do_what_they_say():
    with Receiver() as receiver, Sim("--solve-time", "0", "--script", '["callback-drop","callback-twice"]') as sim:
        dropped = sim.submit_id(pingback=receiver.url)
        doubled = sim.submit_id(pingback=receiver.url)
        plain = sim.submit_id(pingback=receiver.url)
        calls = receiver.wait(3)
        equal(sorted(call["params"]["id"] for call in calls), sorted([doubled, doubled, plain]), "ids")
        equal(sim.totals()["callbacks_dropped"], 1, "dropped")
        equal(sim.poll(dropped).json()["status"], 1, "poll of the dropped")


@test
def an_early_callback_is_answered_before_the_submit_is():
    with Receiver() as receiver, Sim("--solve-time", "60s") as sim:
        seen = []
        receiver.answer = lambda call: (time.sleep(0.2), seen.append(time.monotonic()), (200, b"OK"))[2]
        task = sim.submit_id(sitekey="SIM-CALLBACK-EARLY", pingback=receiver.url)
        equal(len(seen), 1, "callbacks before the reply")
        equal(receiver.calls[0]["params"]["id"], task, "id")
        equal(sim.poll(task).json()["request"], receiver.calls[0]["params"]["code"], "poll")


@test
def a_late_callback_comes_after_its_delay():
    with Receiver() as receiver, Sim("--solve-time", "0") as sim:
        started = time.monotonic()
        task = sim.submit_id(sitekey="SIM-CALLBACK-LATE-300ms", pingback=receiver.url)
        equal(sim.poll(task).json()["status"], 1, "poll before the callback")
        equal(len(receiver.calls), 0, "callbacks so far")
        check(receiver.wait(1)[0]["at"] - started > 0.29, "it came too early")


@test
def a_forged_callback_goes_to_another_path_with_a_false_code():
    with Receiver(lambda call: (200 if call["path"].endswith("abc") else 404, b"")) as receiver, \
            Sim("--solve-time", "0", "--fault", "callback-forged=1") as sim:
        sim.submit_id(pingback=receiver.url + "/pingback/abc")
        first, second = receiver.wait(2)[:2]
        equal(first["params"]["code"], "SIM_FORGED", "code")
        check(first["path"] != second["path"] == "/pingback/abc", f"{first['path']} {second['path']}")
        entry = wait_until(lambda: [e for e in sim.submits() if e["callback_count"] == 2], "both records")[0]
        equal([(c["sort"], c["status"]) for c in entry["callbacks"]], [("forged", 404), ("true", 200)], "records")


@test
def callbacks_can_bring_another_code_or_an_error():
    with Receiver() as receiver, Sim("--solve-time", "0") as sim:
        task = sim.submit_id(sitekey="SIM-CALLBACK-OTHER-CODE", pingback=receiver.url)
        first, second = receiver.wait(2)
        equal(first["params"]["code"], sim.poll(task).json()["request"], "first")
        check(second["params"]["code"].startswith(f"SIM_{task}_other_"), "second")
        task = sim.submit_id(sitekey="SIM-CALLBACK-OTHER-CODE-only", pingback=receiver.url)
        check(receiver.wait(3)[2]["params"]["code"] != sim.poll(task).json()["request"], "only")
        task = sim.submit_id(sitekey="SIM-CALLBACK-ERROR_BAD_DUPLICATES", pingback=receiver.url)
        equal(receiver.wait(4)[3]["params"]["code"], "ERROR_BAD_DUPLICATES", "error")
        equal(sim.poll(task).json()["status"], 1, "poll says solved")


# --- faults of calls ------------------------------------------------------------------------------


def one_fault(sim, name, value=None):
    entry = {"fault": name}
    if value is not None:
        entry["value"] = value
    sim.set_faults(script=[entry])


@test
def a_lost_reply_leaves_an_accepted_task_behind():
    with Sim() as sim:
        for name, ending in (("submit-lost", "fin"), ("submit-lost-reset", "reset")):
            one_fault(sim, name)
            with Raw(sim.port) as connection:
                equal(connection.send(submit_bytes()).ending(), ending, name)
        equal(sim.totals()["accepted"], 2, "accepted")
        equal([entry["submit_fault"] for entry in sim.submits()], ["submit-lost", "submit-lost-reset"], "faults")


@test
def a_refused_connection_leaves_nothing_behind():
    with Sim() as sim:
        for name, ending in (("submit-close", "fin"), ("submit-reset", "reset")):
            one_fault(sim, name)
            with Raw(sim.port) as connection:
                equal(connection.send(submit_bytes()).ending(), ending, name)
        totals = sim.totals()
        equal((totals["accepted"], totals["rejected"], totals["faults"]), (0, 2, 2), "accepted, rejected, faults")


@test
def hanging_accepts_and_stalling_does_not():
    with Sim() as sim:
        for name, accepted in (("submit-hang", 1), ("submit-stall", 1)):
            one_fault(sim, name)
            with Raw(sim.port) as connection:
                connection.send(submit_bytes())
                check(connection.is_silent(0.3), f"{name} is not silent")
                equal(sim.totals()["accepted"], accepted, name)
        wait_until(lambda: sim.totals()["connections"] == 1, "hung connections to be noticed as closed")


@test
def http_429_comes_with_every_kind_of_retry_after():
    with Sim() as sim:
        for value, pattern in ((None, "5"), ("17", "17"), ("date", r"\w{3}, \d\d \w{3} \d{4} .* GMT"), ("huge", "315360000"),
                               ("garbage", r".*soon.*"), ("none", None)):
            one_fault(sim, "submit-429", value)
            reply = sim.submit()
            equal(reply.status, 429, "status")
            got = reply.headers.get("retry-after")
            check(got is None if pattern is None else re.fullmatch(pattern, got), f"Retry-After {got!r} for {value}")
        equal(sim.totals()["accepted"], 0, "accepted")


@test
def server_errors_are_html_accepted_or_not():
    with Sim() as sim:
        for name, value, accepted in (("submit-5xx", 503, 0), ("submit-5xx-accepted", 500, 1)):
            one_fault(sim, name, value)
            reply = sim.submit()
            equal(reply.status, value, "status")
            contains(reply.text, "<html>", "body")
            equal(sim.totals()["accepted"], accepted, name)


@test
def garbage_empty_and_truncated_replies_are_accepted_submits():
    with Sim() as sim:
        one_fault(sim, "submit-garbage")
        check(b"\xff" in sim.submit().body)
        one_fault(sim, "submit-empty")
        equal(sim.submit().body, b"", "body")
        whole = len(sim.submit().body)
        for cut in (0, 1, whole - 1):
            one_fault(sim, "submit-truncate", cut)
            with Raw(sim.port) as connection:
                head, _, body = connection.send(submit_bytes({**TURNSTILE, "json": "1"})).rest().partition(b"\r\n\r\n")
            contains(head, b"Content-Length: %d" % whole, "head")
            equal(len(body), cut, "bytes of the body")
        equal(sim.totals()["accepted"], 6, "accepted")


@test
def replies_can_drip_or_be_late():
    with Sim() as sim:
        one_fault(sim, "submit-drip", "2ms")
        started = time.monotonic()
        equal(sim.submit().json()["status"], 1, "status")
        check(time.monotonic() - started > 0.2, "it did not drip")
        one_fault(sim, "submit-delay", "300ms")
        started = time.monotonic()
        equal(sim.submit().json()["status"], 1, "status")
        check(time.monotonic() - started > 0.29, "it was not late")


@test
def any_error_code_can_be_said_on_submit_and_on_poll():
    with Sim("--solve-time", "0") as sim:
        task = sim.submit_id()
        for code in ("ERROR_IP_NOT_ALLOWED", "IP_BANNED", "MAX_USER_TURN", "ERROR: 1001", "https://example.com/blog"):
            one_fault(sim, "submit-error", code)
            equal(sim.submit().json(), {"status": 0, "request": code}, "submit")
            one_fault(sim, "poll-error", code)
            equal(sim.poll(task, json=0).text, code, "poll")
        equal(sim.poll(task).json()["status"], 1, "afterwards")
        equal(sim.totals()["rejected_by_code"]["IP_BANNED"], 1, "by code")


@test
def a_wrong_id_names_no_task_and_a_double_accept_makes_two():
    with Receiver() as receiver, Sim("--solve-time", "0") as sim:
        one_fault(sim, "submit-wrong-id")
        equal(sim.poll(sim.submit_id()).json()["request"], "ERROR_WRONG_CAPTCHA_ID", "poll")
        one_fault(sim, "submit-twice")
        sim.submit_id(pingback=receiver.url)
        equal(len({call["params"]["id"] for call in receiver.wait(2)}), 2, "ids that called back")
        equal(sim.totals()["accepted"], 3, "accepted")


@test
def polls_can_fail_in_every_way_and_the_task_goes_on():
    with Sim("--solve-time", "0") as sim:
        task = sim.submit_id()
        target = "/res.php?" + form({"key": KEY, "action": "get", "id": task})
        for name, ending in (("poll-close", "fin"), ("poll-reset", "reset")):
            one_fault(sim, name)
            with Raw(sim.port) as connection:
                equal(connection.send(request_bytes("GET", target)).ending(), ending, name)
        one_fault(sim, "poll-hang")
        with Raw(sim.port) as connection:
            check(connection.send(request_bytes("GET", target)).is_silent(0.2), "poll-hang")
        for name, status in (("poll-429", 429), ("poll-5xx", 502), ("poll-garbage", 200), ("poll-empty", 200)):
            one_fault(sim, name)
            reply = sim.poll(task)
            equal(reply.status, status, name)
            check("SIM_" not in reply.text, name)
        equal(sim.poll(task).json()["status"], 1, "afterwards")


@test
def account_calls_have_faults_of_their_own():
    with Sim("--fault", "account-error=1,ERROR_KEY_DOES_NOT_EXIST") as sim:
        equal(get(sim.url + "/res.php", key=KEY, action="getbalance").text, "ERROR_KEY_DOES_NOT_EXIST", "balance")
        sim.submit_id()
        sim.set_faults(faults={"account-5xx": 1})
        equal(get(sim.url + "/res.php", key=KEY, action="threadsinfo").status, 502, "threads")
        sim.set_faults(faults={})
        equal(get(sim.url + "/res.php", key=KEY, action="threadsinfo").status, 200, "threads")


@test
def probabilities_strike_about_as_often_as_they_say():
    with Sim("--fault", "submit-error=0.2,ERROR_A", "--fault", "submit-error=0.3,ERROR_B", "--seed", "3") as sim:
        with Raw(sim.port) as connection:
            connection.send(submit_bytes() * 1000)
            texts = [connection.reply().text for _ in range(1000)]
        a, b = texts.count("ERROR_A"), texts.count("ERROR_B")
        check(150 < a < 250 and 250 < b < 350, f"{a} and {b} of 1000")
        equal(sim.totals()["accepted"], 1000 - a - b, "accepted")
        equal(sim.faults()["struck"], {"submit-error": a + b}, "struck")


@test
def a_script_is_followed_in_order_with_skip_count_and_match():
    with Sim("--fault", "submit-error=1,ERROR_RULE") as sim:
        sim.set_faults(script=["submit-ok", {"fault": "submit-error", "value": "ERROR_S", "count": 2},
                               {"fault": "submit-error", "value": "ERROR_M", "match": {"sitekey": "special"}}])
        said = [sim.submit(sitekey="x").json()["request"] for _ in range(4)]
        equal(said[1:], ["ERROR_S", "ERROR_S", "ERROR_RULE"], "said")
        check(said[0].isdigit(), "submit-ok was not obeyed")
        equal(len(sim.faults()["script"]), 1, "entries left")
        equal(sim.submit(sitekey="special").json()["request"], "ERROR_M", "match")
        sim.set_faults(faults={}, script=[{"fault": "submit-empty", "skip": 2}])
        equal([len(sim.submit().body) == 0 for _ in range(4)], [False, False, True, False], "skip")


@test
def rejected_submits_do_not_use_up_the_script():
    with Sim("--slots", "1", "--script", '["submit-ok","submit-empty"]', "--solve-time", "100ms") as sim:
        sim.submit_id()
        equal(sim.submit().json()["request"], "ERROR_NO_SLOT_AVAILABLE", "busy")
        equal(sim.submit(key="x").json()["request"], "ERROR_WRONG_USER_KEY", "key")
        wait_until(lambda: sim.totals()["in_flight"] == 0, "the slot")
        equal(sim.submit().body, b"", "script")


@test
def a_script_may_come_from_a_file():
    import tempfile
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"script": [{"fault": "submit-5xx", "value": 504}], "faults": {"poll-error": {"p": 1, "value": "ERROR_X"}}}, file)
        file.flush()
        with Sim("--script", file.name) as sim:
            equal(sim.submit().status, 504, "status")
            equal(sim.poll("1").json()["request"], "ERROR_X", "poll")


@test
def wrong_faults_are_refused_as_a_whole():
    with Sim("--fault", "poll-error=0.5") as sim:
        before = sim.faults()
        for body in ({"faults": {"submit-lots": 0.1}}, {"faults": {"submit-lost": 0.6, "submit-hang": 0.6}}, {"script": "x"},
                     {"script": [{"fault": "submit-lost", "count": 0}]}, {"fault": {}}, {"script": [{"fault": "submit-5xx", "value": 200}]},
                     {"faults": {"submit-lost": "often"}}, {"script": [{"fault": "poll-ok", "match": {"a": "b", "c": "d"}}]}):
            reply = http_request(sim.url + "/sim/faults", "PUT", body)
            equal(reply.status, 422, f"{body}: {reply}")
            check(reply.json()["error"], "no words")
        equal(http_request(sim.url + "/sim/faults", "PUT", "{").status, 422, "broken JSON")
        equal(sim.faults(), before, "faults")


@test
def magic_sitekeys_force_an_outcome():
    with Sim("--solve-time", "0") as sim:
        equal(sim.submit(sitekey="SIM-SUBMIT-ERROR_ZERO_BALANCE").json()["request"], "ERROR_ZERO_BALANCE", "submit error")
        equal(sim.poll(sim.submit_id(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE.no1")).json()["request"], "ERROR_CAPTCHA_UNSOLVABLE", "task error")
        equal(sim.poll(sim.submit_id(sitekey="SIM-SLOW-30s")).json()["request"], "CAPCHA_NOT_READY", "slow")
        equal(sim.poll(sim.submit_id(**{**RECAPTCHA, "googlekey": "SIM-NEVER"})).json()["request"], "CAPCHA_NOT_READY", "never")
        task = sim.submit_id(sitekey="SIM-POLL-ERROR_SERVER_ERROR+SLOW-1ms")
        equal([sim.poll(task).json()["request"] for _ in range(3)], ["ERROR_SERVER_ERROR"] * 3, "every poll")
        with Raw(sim.port) as connection:
            equal(connection.send(submit_bytes({**TURNSTILE, "sitekey": "SIM-LOST"})).ending(), "fin", "lost")
        with Raw(sim.port) as connection:
            check(connection.send(submit_bytes({**TURNSTILE, "sitekey": "SIM-HANG"})).is_silent(0.2), "hang")
        equal(sim.submit(sitekey="SIM-SUBMIT-5XX-504").status, 504, "fault with value")
        equal(sim.submit(sitekey="SIM-TYPO").json()["request"], "ERROR_SIM_UNKNOWN_MAGIC", "typo")
        equal(sim.submit(sitekey="SIM-SLOW-often").json()["request"], "ERROR_SIM_UNKNOWN_MAGIC", "bad value")


@test
def a_task_that_is_never_solved_keeps_its_slot():
    with Sim("--slots", "1", "--solve-time", "0", "--fault", "task-never=1") as sim:
        sim.submit_id()
        equal(sim.submit().json()["request"], "ERROR_NO_SLOT_AVAILABLE", "code")
        equal(sim.submits()[0]["task_fault"], "task-never", "fault")


# --- the ledger and the control door --------------------------------------------------------------


@test
def the_ledger_never_shows_the_key_and_shows_bodies_as_hashes():
    with Sim() as sim:
        sim.submit_id(method="base64", body=base64.b64encode(IMAGE).decode())
        sim.submit_id(cookies="c" * 600)
        text = get(sim.url + "/sim/ledger").text
        check(KEY not in text, "the key is in the ledger")
        entries = sim.submits()
        encoded = base64.b64encode(IMAGE)
        value = 0xcbf29ce484222325
        for byte in encoded:
            value = (value ^ byte) * 0x100000001b3 % 2**64
        equal(entries[0]["params"]["body"], {"bytes": len(encoded), "fnv1a": f"{value:016x}"}, "body")
        equal(entries[0]["params"]["key"], "redacted", "key")
        equal(entries[1]["params"]["cookies"]["bytes"], 600, "long value")


@test
def the_ledger_can_be_asked_for_parts():
    with Sim() as sim:
        ids = [sim.submit_id() for _ in range(5)]
        check("submits" not in sim.ledger(summary=1), "summary has submits")
        equal([entry["id"] for entry in sim.submits(limit=2)], ids[:2], "limit")
        equal([entry["id"] for entry in sim.submits(after=ids[2])], ids[3:], "after")
        equal([entry["id"] for entry in sim.submits(id=ids[1])], ids[1:2], "id")


@test
def the_ledger_is_bounded_and_tasks_outlive_their_entry():
    with Sim("--ledger-max", "3", "--solve-time", "0") as sim:
        ids = [sim.submit_id() for _ in range(10)]
        equal([entry["id"] for entry in sim.submits()], ids[-3:], "entries")
        equal(sim.totals()["forgotten"], 7, "forgotten")
        equal(sim.poll(ids[0]).json()["status"], 1, "poll of a forgotten one")
        equal(sim.totals()["accepted"], 10, "accepted")


@test
def when_memory_is_full_the_oldest_finished_task_goes_and_running_ones_stay():
    with Sim("--tasks-max", "3", "--solve-time", "0") as sim:
        never = sim.submit_id(sitekey="SIM-NEVER")
        finished = [sim.submit_id() for _ in range(3)]
        for task in finished:
            sim.poll(task)
        equal(sim.poll(never).json()["request"], "CAPCHA_NOT_READY", "the running one")
        equal(sim.poll(finished[0]).json()["request"], "ERROR_WRONG_CAPTCHA_ID", "the oldest finished")
        equal(sim.poll(finished[2]).json()["status"], 1, "the newest")
        for _ in range(2):
            sim.submit_id(sitekey="SIM-NEVER")
        equal(sim.submit(sitekey="SIM-NEVER").json()["request"], "ERROR_NO_SLOT_AVAILABLE", "full")


@test
def reset_goes_back_to_the_start_but_never_reuses_an_id():
    with Receiver() as receiver, Sim("--solve-time", "100ms", "--fault", "poll-error=0.5", "--balance", "5", "--price", "1") as sim:
        old = sim.submit_id(pingback=receiver.url)
        sim.set_faults(faults={"submit-lost": 1}, script=["poll-hang"])
        sim.reset()
        ledger = sim.ledger()
        equal((ledger["submits"], ledger["totals"]["accepted"], ledger["balance"]), ([], 0, 5.0), "ledger")
        equal([rule["fault"] for rule in sim.faults()["faults"]], ["poll-error"], "faults")
        equal(sim.faults()["script"], [], "script")
        check(int(sim.submit_id()) > int(old), "an id was reused")
        wait_until(lambda: sim.totals()["solved"] == 1, "the new task")
        equal(receiver.calls, [], "callbacks of forgotten tasks")


@test
def control_paths_insist_on_their_methods():
    with Sim() as sim:
        for method, path, allow in (("POST", "/sim/faults", "GET, PUT"), ("DELETE", "/sim/ledger", "GET"),
                                    ("GET", "/sim/reset", "POST"), ("PUT", "/in.php", "GET, POST")):
            reply = http_request(sim.url + path, method)
            equal((reply.status, reply.headers.get("allow")), (405, allow), f"{method} {path}")
        equal(get(sim.url + "/sim/nothing").status, 404, "unknown control path")
        equal(get(sim.url + "/nothing.php").status, 404, "unknown path")
        contains(get(sim.url + "/").text, "solvegate-sim", "welcome")


# --- HTTP -----------------------------------------------------------------------------------------


@test
def pipelined_requests_are_answered_in_order():
    with Sim("--solve-time", "0") as sim, Raw(sim.port) as connection:
        connection.send(submit_bytes() * 500)
        ids = [connection.reply().text[3:] for _ in range(500)]
        equal(ids, sorted(ids, key=int), "ids")
        polls = [request_bytes("GET", "/res.php?" + form({"key": KEY, "action": "get", "id": task})) for task in ids]
        connection.send(b"".join(polls))
        for task in ids:
            check(connection.reply().text.startswith(f"OK|SIM_{task}_"), "out of order")


@test
def a_held_reply_holds_back_the_pipelined_ones_behind_it():
    with Sim("--solve-time", "0") as sim, Raw(sim.port) as connection:
        sim.set_faults(script=["submit-ok", {"fault": "submit-delay", "value": "200ms"}, {"fault": "submit-drip", "value": "1ms"}])
        started = time.monotonic()
        connection.send(submit_bytes() * 6)
        ids = [int(connection.reply().text[3:]) for _ in range(6)]
        equal(ids, sorted(ids), "ids")
        check(time.monotonic() - started > 0.29, "the delay was skipped")


@test
def connection_close_and_http_1_0_are_honoured():
    with Sim() as sim:
        data = raw(sim.port, submit_bytes(headers=["Connection: close"]))
        contains(data, b"Connection: close\r\n", "reply")
        data = raw(sim.port, "GET /in.php?" + form(TURNSTILE) + " HTTP/1.0\r\n\r\n")
        check(data.startswith(b"HTTP/1.1 200") and b"OK|" in data, repr(data))
        with Raw(sim.port) as connection:
            request = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
            for _ in range(2):
                equal(connection.send(request).reply().headers.get("connection"), "keep-alive", "connection")


@test
def expect_100_continue_is_answered():
    with Sim() as sim, Raw(sim.port) as connection:
        body = form(TURNSTILE).encode()
        connection.send(f"POST /in.php HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n")
        equal(connection.reply().status, 100, "interim status")
        check(connection.send(body).reply().text.startswith("OK|"))


@test
def hostile_requests_get_4xx_and_a_close():
    cases = [
        (b"GET / HTTP/1.1\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505), (b"GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505),
        (b"nonsense\r\n\r\n", 400), (b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        (b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400), (b"GET / HTTP/1.1\nHost: a\n\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 40000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 9000 + b"\r\n", 431),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b"a" * 65536 + b"\r\n") * 80, 413),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ]
    with Sim() as sim:
        for data, status in cases:
            try:
                reply = raw(sim.port, data)
            except ConnectionError:
                raise AssertionError(f"reset instead of {status} for {data[:60]!r}") from None
            check(reply.startswith(b"HTTP/1.1 %d " % status), f"{data[:60]!r}: {reply[:60]!r}")
        check(sim.submit_id(), "it still works")


@test
def idle_connections_are_closed_and_busy_ones_are_not():
    with Sim("--keep-alive", "300ms") as sim, Raw(sim.port) as idle, Raw(sim.port) as busy:
        for _ in range(8):
            busy.send(request_bytes("GET", "/"))
            busy.reply()
            time.sleep(0.06)
        equal(idle.ending(), "fin", "the idle one")
        equal(busy.send(request_bytes("GET", "/")).reply().status, 200, "the busy one")


@test
def connections_past_the_limit_are_dropped_and_others_live_on():
    with Sim("--connections-max", "3") as sim:
        held = [Raw(sim.port) for _ in range(3)]
        for connection in held:
            equal(connection.send(request_bytes("GET", "/")).reply().status, 200, "status")
        with Raw(sim.port) as extra:
            check(extra.ending() in ("fin", "reset"))
        held.pop().close()
        wait_until(lambda: _answers(sim.port), "a free place")
        for connection in held:
            connection.close()


def _answers(port):
    try:
        with Raw(port) as connection:
            return connection.send(request_bytes("GET", "/")).reply().status == 200
    except (EOFError, ConnectionError):
        return False


@test
def a_slow_reader_of_a_large_ledger_gets_all_of_it():
    with Sim("--solve-time", "0") as sim:
        with Raw(sim.port) as connection:
            data = submit_bytes({**TURNSTILE, "data": "d" * 500})
            for _ in range(10):
                connection.send(data * 500)
                for _ in range(500):
                    connection.reply()
        with Raw(sim.port) as slow:
            slow.send(request_bytes("GET", "/sim/ledger") * 2 + request_bytes("GET", "/"))
            time.sleep(0.2)
            for _ in range(2):
                equal(len(slow.reply().json()["submits"]), 5000, "entries")
            equal(slow.reply().status, 200, "the one behind")


@test
def many_clients_at_once_are_all_served():
    with Sim("--solve-time", "uniform:1ms-50ms") as sim:
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            ids = list(pool.map(lambda _: sim.submit_id(), range(200)))
            answers = list(pool.map(lambda task: sim.poll_until_ready(task).json()["request"], ids))
        equal(len(set(ids)), 200, "ids")
        for task, answer in zip(ids, answers):
            check(answer.startswith(f"SIM_{task}_"), "an answer went to the wrong task")
        totals = sim.totals()
        equal((totals["accepted"], totals["solved"], totals["in_flight"]), (200, 200, 0), "totals")


@test
def clients_that_vanish_at_any_moment_do_no_harm():
    with Sim("--solve-time", "20ms") as sim:
        data = submit_bytes()
        for cut in range(0, len(data), 9):
            with Raw(sim.port) as connection:
                connection.send(data[:cut])
                if cut % 2:
                    connection.reset()
        encoded = base64.b64encode(IMAGE).decode()
        body = form({"key": KEY, "method": "base64", "body": encoded}).encode()
        for _ in range(5):
            connection = Raw(sim.port)
            connection.send(request_bytes("POST", "/solve.php", body)).reset()
        wait_until(lambda: sim.totals()["in_flight"] == 0, "the abandoned tasks")
        sim.submit_id()


if __name__ == "__main__":
    run()
