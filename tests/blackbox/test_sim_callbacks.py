"""The stand-in's callbacks: how they are made, and everything that can go wrong with them."""
import time

from harness import Raw, Receiver, Sim, check, equal, run, test, wait_until
from sim_world import RECAPTCHA, TURNSTILE, form, request_bytes


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
    with Receiver(lambda call: (503, b"no")) as receiver, Sim("--solve-time", "0", "--pingback-timeout", "4s") as sim:
        sim.submit_id(pingback=receiver.url)
        wait_until(lambda: sim.totals()["callbacks_failed"] == 1, "the refusal")
        receiver.answer = lambda call: time.sleep(60)
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
        task = sim.submit_id(sitekey="SIM-CALLBACK-LATE-4s", pingback=receiver.url)
        equal(sim.poll(task).json()["status"], 1, "poll before the callback")
        equal(len(receiver.calls), 0, "callbacks so far")
        check(receiver.wait(1)[0]["at"] - started > 3.99, "it came too early")


@test
def a_forged_callback_goes_to_another_path_with_a_false_code():
    with Receiver(lambda call: (200 if call["path"].endswith("abc") else 404, b"")) as receiver, \
            Sim("--solve-time", "0", "--fault", "callback-forged=1") as sim:
        sim.submit_id(pingback=receiver.url + "/pingback/abc")
        # Two connections: a busy machine may serve the second one first.
        forged, true = sorted(receiver.wait(2)[:2], key=lambda call: call["path"] == "/pingback/abc")
        equal(forged["params"]["code"], "SIM_FORGED", "code")
        check(forged["path"] != true["path"] == "/pingback/abc", f"{forged['path']} {true['path']}")
        entry = wait_until(lambda: [e for e in sim.submits() if e["callback_count"] == 2], "both records")[0]
        equal({(c["sort"], c["status"]) for c in entry["callbacks"]}, {("forged", 404), ("true", 200)}, "records")


@test
def a_forged_callback_stays_at_the_address_of_the_true_one():
    with Receiver() as receiver, Sim("--solve-time", "0", "--fault", "callback-forged=1,only") as sim:
        for url, path in (("", "/forged"), ("/", "/forged"), ("?a=/b", "/forged"), ("/x0?q=1", "/x1")):
            before = len(receiver.calls)
            sim.submit_id(pingback=receiver.url + url)
            call = receiver.wait(before + 1)[-1]
            equal((call["path"], call["params"]["code"]), (path, "SIM_FORGED"), f"callback for {url!r}")
        wait_until(lambda: sim.totals()["callbacks_made"] == 4, "the count")


@test
def callbacks_can_bring_another_code_or_an_error():
    with Receiver() as receiver, Sim("--solve-time", "0") as sim:
        task = sim.submit_id(sitekey="SIM-CALLBACK-OTHER-CODE", pingback=receiver.url)
        true, other = sorted(receiver.wait(2), key=lambda call: "_other_" in call["params"]["code"])
        equal(true["params"]["code"], sim.poll(task).json()["request"], "the true one")
        check(other["params"]["code"].startswith(f"SIM_{task}_other_"), "the other one")
        task = sim.submit_id(sitekey="SIM-CALLBACK-OTHER-CODE-only", pingback=receiver.url)
        check(receiver.wait(3)[2]["params"]["code"] != sim.poll(task).json()["request"], "only")
        task = sim.submit_id(sitekey="SIM-CALLBACK-ERROR_BAD_DUPLICATES", pingback=receiver.url)
        equal(receiver.wait(4)[3]["params"]["code"], "ERROR_BAD_DUPLICATES", "error")
        equal(sim.poll(task).json()["status"], 1, "poll says solved")


if __name__ == "__main__":
    run()
