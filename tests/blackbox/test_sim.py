"""The vendor's stand-in: options, encodings, the shapes of answers, the account, solve times."""
import base64
import json
import re
import signal
import subprocess
import time

from harness import (KEY, TIMEOUT, Raw, Sim, binary, check, contains, equal, get, http_request, multipart,
                     post_form, run, test, wait_until)
from sim_world import IMAGE, OTHER_KEY, RECAPTCHA, TURNSTILE, form, request_bytes, submit_bytes


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
def a_profile_sets_several_options_and_those_behind_it_win():
    with Sim("--profile", "captchaai", "--slots", "1", "--fault", "task-error=0") as sim:
        sim.submit_id()
        equal(sim.submit().json(), {"status": 0, "request": "ERROR_ZERO_BALANCE"}, "all threads are taken")
    with Sim("--profile=flaky", "--fault", "task-never=0.5") as sim:
        chances = {fault["fault"]: fault["p"] for fault in sim.faults()["faults"]}
        equal((chances["callback-drop"], chances["task-never"]), (0.1, 0.5), "probabilities")
    done = subprocess.run([binary("SOLVEGATE_SIM"), "--profile", "fast"], capture_output=True, timeout=TIMEOUT)
    equal((done.returncode, b"captchaai, 2captcha, slow or flaky" in done.stderr), (64, True))


@test
def help_names_every_option_every_fault_and_shows_curl():
    done = subprocess.run([binary("SOLVEGATE_SIM"), "--help"], capture_output=True, timeout=TIMEOUT)
    text = done.stdout.decode()
    equal(done.returncode, 0, "exit status")
    for word in ("--listen", "--solve-time", "--read-once", "--ledger-max", "submit-lost-reset", "callback-forged",
                 "SIM-ERROR_CAPTCHA_UNSOLVABLE", "SIM-SLOW-30s", "/sim/ledger", "PUT"):
        contains(text, word, "help")
    check(text.count("curl ") >= 5, "fewer than five curl examples")
    check(max(map(len, text.splitlines())) <= 91, "help is too wide")


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
        lines = sim.wait_stderr(3).splitlines()
        equal(len(lines), 3, "lines")
        contains(lines[0], "/in.php turnstile", "first line")
        contains(lines[1], f"id= {task}", "second line")
        check(KEY not in sim.stderr() and token not in sim.stderr(), "the log tells a secret")


@test
def the_log_has_the_line_of_every_call_that_was_answered():
    # Also when the threads that read its output get no turn, as on a busy machine: here we hold their lock.
    with Sim("--log") as sim, sim._changed:
        for count in range(1, 11):
            get(sim.url + "/")
            equal(len(sim.stderr().splitlines()), count, "lines")


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
        body, kind = multipart([*TURNSTILE.items(), ("", "nameless")])
        body = body.replace(b'; name=""', b"")
        equal(http_request(sim.url + "/in.php", "POST", body, {"Content-Type": kind}).text, "ERROR_BAD_PARAMETERS", "nameless part")
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
        params["textinstructions"] = "SIM-ERROR_CAPTCHA_UNSOLVABLE"
        equal(post_form(sim.url + "/solve.php", params).json(), {"status": 0, "request": "ERROR_CAPTCHA_UNSOLVABLE"}, "failed")
        equal(sim.totals()["accepted"], 3, "accepted")


@test
def reset_does_not_leave_a_synchronous_caller_waiting():
    with Sim("--solve-time", "60s") as sim, Raw(sim.port) as connection:
        body = form({"key": KEY, "method": "base64", "body": base64.b64encode(IMAGE).decode()}).encode()
        connection.send(request_bytes("POST", "/solve.php", body))
        wait_until(lambda: sim.totals()["in_flight"] == 1, "the submit")
        sim.reset()
        equal(connection.reply().text, "ERROR_SERVER_ERROR", "reply")


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
    with Sim("--solve-time", "10m") as sim:
        task = sim.submit_id()
        equal(sim.poll(task, json=0).body, b"CAPCHA_NOT_READY", "plain")
        equal(sim.poll(task).body, b'{"status":0,"request":"CAPCHA_NOT_READY"}', "json")
        sim.solve(task)
        answer = sim.poll(task, json=0).text
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
    with Sim("--solve-time", "10m", "--threadsinfo", "number", "--slots", "7") as sim:
        sim.submit_id()
        equal(get(sim.url + "/res.php", key=KEY, action="threadsinfo", json=1).json(),
              {"threads": 7, "working_threads": 1}, "threads")


@test
def several_ids_are_answered_in_order_without_ok():
    with Sim("--solve-time", "10m") as sim:
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
    with Sim("--image-min", "0") as sim:
        equal(sim.submit(method="post").json()["request"], "ERROR_ZERO_CAPTCHA_FILESIZE", "no image at all")


@test
def every_method_the_vendor_documents_is_accepted():
    with Sim() as sim:
        proxy = {"proxy": "1.2.3.4:80", "proxytype": "HTTP"}
        site = {"sitekey": "s", "pageurl": "p"}
        for params in (RECAPTCHA,
                       {**RECAPTCHA, "invisible": "1"},
                       {**RECAPTCHA, "version": "v3", "min_score": "0.3"},
                       {"method": "hcaptcha", **site},
                       {"method": "friendly_captcha", **site},
                       {"method": "captchafox", **site, **proxy},
                       {"method": "cloudflare_challenge", "pageurl": "p", **proxy},
                       {"method": "lemin", "captcha_id": "c", "pageurl": "p"},
                       {"method": "geetest", "gt": "g", "version": "4", "pageurl": "p"},
                       {"method": "geetest_v4", "captcha_id": "c", "pageurl": "p"},
                       {"method": "post", "textcaptcha": "what?"}):
            sim.submit_id(**params)


@test
def slots_are_held_from_accept_until_solved():
    with Sim("--slots", "2", "--solve-time", "60s") as sim:
        first = sim.submit_id()
        sim.submit_id()
        equal(sim.submit().json()["request"], "ERROR_NO_SLOT_AVAILABLE", "third")
        sim.solve(first)
        sim.submit_id()
        equal(sim.totals()["rejected"], 1, "rejected")
    with Sim("--solve-time", "10m", "--slots", "1", "--busy-code", "ERROR_ZERO_BALANCE") as sim:
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


def solve_times(spec):
    with Sim("--solve-time", spec, "--seed", "7") as sim, Raw(sim.port) as connection:
        connection.send(submit_bytes() * 1000)
        for _ in range(1000):
            connection.reply()
        return sorted(entry["solve_ms"] for entry in sim.submits())


@test
def solve_times_have_the_mean_and_shape_they_claim():
    exponential = solve_times("exp:100s")
    check(90_000 < sum(exponential) / 1000 < 110_000, f"exponential mean {sum(exponential) / 1000}")
    check(60_000 < exponential[500] < 78_000, f"exponential median {exponential[500]}")
    tail = solve_times("tail:100s")
    check(50_000 <= tail[0] < 51_000, f"shortest of the tail {tail[0]}")
    check(66_000 < tail[500] < 76_000, f"median of the tail {tail[500]}")
    check(350_000 < tail[990] < 800_000, f"long end of the tail {tail[990]}")
    uniform = solve_times("uniform:1s-9s")
    check(uniform[0] >= 1000 and uniform[-1] <= 9000 and 4500 < uniform[500] < 5500, f"uniform {uniform[::250]}")
    equal(set(solve_times("5s")), {5000}, "fixed")


@test
def a_task_is_solved_when_its_time_is_over_and_not_before():
    with Sim("--solve-time", "uniform:50ms-150ms") as sim:
        for _ in range(20):
            sim.submit_id()
        wait_until(lambda: sim.totals()["in_flight"] == 0, "all solved")
        for entry in sim.submits():
            check(entry["settled"] - entry["at"] >= entry["solve_ms"] / 1000 - 0.002, f"too early: {entry}")


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
    with Sim("--solve-time", "0", "--result-ttl", "4s") as sim:
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


if __name__ == "__main__":
    run()
