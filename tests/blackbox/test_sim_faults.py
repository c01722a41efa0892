"""The stand-in's faults: by script, by probability and by magic sitekey."""
import base64
import json
import re
import tempfile
import time

from harness import KEY, Raw, Receiver, Sim, check, contains, equal, get, http_request, run, test, wait_until
from sim_world import IMAGE, RECAPTCHA, TURNSTILE, form, request_bytes, submit_bytes


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
def a_synchronous_submit_can_be_lost_too():
    body = form({"key": KEY, "method": "base64", "body": base64.b64encode(IMAGE).decode()}).encode()
    with Sim("--solve-time", "0") as sim:
        one_fault(sim, "submit-lost")
        with Raw(sim.port) as connection:
            equal(connection.send(request_bytes("POST", "/solve.php", body)).ending(), "fin", "lost")
        one_fault(sim, "submit-hang")
        with Raw(sim.port) as connection:
            check(connection.send(request_bytes("POST", "/solve.php", body)).is_silent(0.2), "hang")
        one_fault(sim, "submit-5xx-accepted")
        with Raw(sim.port) as connection:
            equal(connection.send(request_bytes("POST", "/solve.php", body)).reply().status, 502, "status")
        equal(sim.totals()["accepted"], 3, "accepted")


@test
def a_fault_value_cannot_smuggle_in_a_header():
    with Sim() as sim:
        reply = sim.submit(sitekey="SIM-SUBMIT-429-1\r\nX-Evil: 1")
        equal(reply.json()["request"], "ERROR_SIM_UNKNOWN_MAGIC", "reply")
        check("x-evil" not in reply.headers, "smuggled")


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
        sim.set_faults(script=[{"fault": "submit-429", "skip": 1}, "submit-5xx"])
        equal([sim.submit().status for _ in range(4)], [200, 429, 502, 200], "nothing overtakes a skip")


@test
def rejected_submits_do_not_use_up_the_script():
    with Sim("--slots", "1", "--script", '["submit-ok","submit-empty"]', "--solve-time", "60s") as sim:
        sim.submit_id()
        equal(sim.submit().json()["request"], "ERROR_NO_SLOT_AVAILABLE", "busy")
        equal(sim.submit(key="x").json()["request"], "ERROR_WRONG_USER_KEY", "key")
        sim.solve()
        equal(sim.submit().body, b"", "script")


@test
def a_script_may_come_from_a_file():
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


if __name__ == "__main__":
    run()
