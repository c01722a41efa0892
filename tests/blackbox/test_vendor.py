#!/usr/bin/env python3
"""What the gateway makes of the vendor's answers: retries, lost replies, polls, reports, probes. (TAP)"""
import http.server
import json
import threading
import time
import urllib.parse
from email.utils import formatdate

from gateway import ALICE, BOB, PAGE, World, clients, free_port, together
from harness import check, contains, equal, run, test, wait_until
from vendor_world import calls, gaps, letters, metric, paid_for, problem, rejections, sim_at, strike, wait_counter

LOG = ("--solve-time", "150ms", "--log")


# --- retries --------------------------------------------------------------------------------------


@test
def busy_is_asked_again_at_most_five_times_and_less_and_less_often():
    with World({"retry": {"cap": "400ms"}}, sim=LOG) as world:
        world.sim.set_faults(script=[strike("submit-error", "turn", 99, "MAX_USER_TURN")])
        slot, turn = together(2, lambda i: world.solve(sitekey=("SIM-SUBMIT-ERROR_NO_SLOT_AVAILABLE", "turn")[i]))
        for reply, code in ((slot, "ERROR_NO_SLOT_AVAILABLE"), (turn, "MAX_USER_TURN")):
            equal(problem(reply, 503, "vendor_busy")["upstream_code"], code)
            check(int(reply.headers["retry-after"]) > 0, "Retry-After")
            equal(len(calls(world, "in.php", code)), 6, code)
        pauses = gaps([call.at for call in calls(world, "in.php", "ERROR_NO_SLOT_AVAILABLE")])
        for pause, least in zip(pauses, (0.1, 0.2, 0.4, 0.4, 0.4)):
            check(least - 0.01 <= pause, f"pauses {pauses}")
        # A busy machine may be late once; without the cap both are at least that long.
        check(pauses[3] < 0.8 or pauses[4] < 1.6, f"the cap is not kept: {pauses}")
        pauses = gaps([call.at for call in calls(world, "in.php", "MAX_USER_TURN")])
        check(all(0.39 <= pause < 9 for pause in pauses), f"the ban of 10 s counts up to the cap: {pauses}")
        equal(world.paid(), 0)


@test
def retry_after_is_honoured_up_to_the_cap_and_nonsense_is_ignored():
    def wait_as_told(world, kinds):
        """Kinds of Retry-After to their value and the least time that they take. None takes longer than we wait here."""
        world.sim.set_faults(script=[strike("submit-429", kind, 1, kinds[kind][0]) for kind in kinds])
        started = time.time()
        answers = together(len(kinds), lambda i: world.solved(sitekey=list(kinds)[i]))
        equal([answer["attempts"] for answer in answers], [2] * len(kinds))
        for kind, (_, least) in kinds.items():
            waited = paid_for(world, kind)[0]["at"] - started
            check(least <= waited, f"{kind}: {waited:.3f} s")
        equal(world.paid(), len(kinds))

    # Nonsense that counted as much as the cap would be a minute.
    with World({"retry": {"cap": "60s"}}) as world:
        date = int(time.time()) + 4
        wait_as_told(world, {"seconds": ("1", 1.0), "date": (formatdate(date, usegmt=True), 0.0), "garbage": ("garbage", 0.1),
                             "none": ("none", 0.1)})
        check(paid_for(world, "date")[0]["at"] >= date - 0.01, "sent before the date")
    with World({"retry": {"cap": "1500ms"}}) as world:
        wait_as_told(world, {"huge": ("huge", 1.5)})


@test
def each_class_of_errors_has_its_own_number_of_retries():
    with World({"retry": {"base": "250ms", "cap": "500ms"}}, sim=LOG) as world:
        sitekeys = ["SIM-ERROR_CAPTCHA_UNSOLVABLE", "SIM-SUBMIT-ERROR_SERVER_ERROR", "SIM-SUBMIT-ERROR_FROM_THE_FUTURE",
                    "SIM-SUBMIT-ERROR_GOOGLEKEY", "SIM-ERROR_BAD_PROXY", "SIM-SUBMIT-ERROR_PROXY_CONNECTION_FAILED"]
        replies = together(len(sitekeys), lambda i: world.solve(sitekey=sitekeys[i]))
        for reply, code in zip(replies, ("unsolvable", "vendor_unreachable", "unknown_error", "refused_by_vendor",
                                         "bad_proxy", "bad_proxy")):
            problem(reply, 502, code)
        equal(len(paid_for(world, "SIM-ERROR_CAPTCHA_UNSOLVABLE")), 3, "unsolvable: submits")
        pauses = gaps([call.at for call in calls(world, "in.php", "SERVER_ERROR")])
        equal(len(pauses), 3, "transient: retries")
        check(all(pause >= least - 0.01 for pause, least in zip(pauses, (0.25, 0.5, 0.5))), f"transient: {pauses}")
        equal(rejections(world, "ERROR_FROM_THE_FUTURE"), 2, "unknown: submits")
        equal(rejections(world, "ERROR_GOOGLEKEY"), 1, "caller: submits")
        equal(len(paid_for(world, "SIM-ERROR_BAD_PROXY")), 1, "proxy: submits")
        equal(rejections(world, "ERROR_PROXY_CONNECTION_FAILED"), 1, "proxy at the submit: submits")


@test
def a_request_may_want_fewer_retries_and_longer_pauses_in_both_doors():
    with World({"retry": {"base": "50ms", "cap": "600ms"}}, sim=LOG) as world:
        fault = "SIM-SUBMIT-ERROR_SERVER_ERROR"
        problem(world.solve(sitekey=fault, max_retries=0), 502, "vendor_unreachable")
        equal(rejections(world, "ERROR_SERVER_ERROR"), 1, "submits with max_retries 0")
        task = world.submit_id(sitekey=fault, max_retries="1", retry_delay="500ms")
        equal(world.result_text(task), "ERROR_SERVER_ERROR")
        equal(rejections(world, "ERROR_SERVER_ERROR"), 3, "submits with max_retries 1")
        [pause] = gaps([call.at for call in calls(world, "in.php", "SERVER_ERROR")])[1:]
        check(pause >= 0.49, f"a pause of {pause:.2f} s instead of half a second")
        # Neither is part of what is asked for, nor sent to the vendor, and the operator's limits hold.
        explained = world.call("POST", "/v1/explain", {"method": "turnstile", "sitekey": fault, "pageurl": PAGE,
                                                       "max_retries": 7, "retry_delay": 2}).json()
        equal((explained["max_retries"], explained["retry_delay"]), (7, 2))
        check("max_retries" not in explained["counted"], f"{explained}")
        problem(world.solve(sitekey=fault, max_retries=100), 502, "vendor_unreachable")
        equal(rejections(world, "ERROR_SERVER_ERROR"), 7, "submits with max_retries 100")
        for wrong in ({"max_retries": 1001}, {"max_retries": "many"}, {"retry_delay": "soon"}):
            contains(problem(world.solve(**wrong), 422, "bad_parameter")["detail"], next(iter(wrong)))


@test
def a_client_may_have_retries_of_its_own():
    with World(clients(alice={"retry": {"transient": 0}}), sim=LOG) as world:
        fault = "SIM-SUBMIT-ERROR_SERVER_ERROR"
        problem(world.solve(sitekey=fault, key=ALICE), 502, "vendor_unreachable")
        equal(rejections(world, "ERROR_SERVER_ERROR"), 1, "submits of the one with its own limit")
        problem(world.solve(sitekey=fault, key=BOB), 502, "vendor_unreachable")
        equal(rejections(world, "ERROR_SERVER_ERROR"), 5, "submits with those of another")


@test
def a_new_attempt_starts_as_soon_as_the_failure_of_a_task_is_known():
    # Retries that wait would take a minute each.
    with World({"retry": {"base": "60s", "cap": "60s"}}) as world:
        problem(world.solve(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE"), 502, "unsolvable")
        equal(world.paid(), 3)


@test
def limits_and_classes_are_the_configurations():
    retry = {"busy": 1, "unsolvable": 0, "transient": 2, "unknown": 0, "cap": "100ms"}
    errors = {"ERROR_GOOGLEKEY": "transient", "ERROR_NEW": "caller", "ERROR_CAPTCHA_UNSOLVABLE": "proxy",
              "ERROR_WRONG_USER_KEY": "busy"}
    with World({"retry": retry, "errors": errors}) as world:
        expected = {"SUBMIT-ERROR_GOOGLEKEY": ("vendor_unreachable", 3), "SUBMIT-ERROR_NEW": ("refused_by_vendor", 1),
                    "ERROR_CAPTCHA_UNSOLVABLE": ("bad_proxy", 1), "SUBMIT-ERROR_WRONG_USER_KEY": ("vendor_busy", 2),
                    "SUBMIT-ERROR_NO_SLOT_AVAILABLE": ("vendor_busy", 2), "SUBMIT-ERROR_OTHER": ("unknown_error", 1),
                    "ERROR_BAD_DUPLICATES": ("unsolvable", 1)}
        names = list(expected)
        replies = together(len(names), lambda i: world.solve(sitekey="SIM-" + names[i]))
        for name, reply in zip(names, replies):
            code, attempts = expected[name]
            equal(reply.json()["code"], code, name)
            submits = len(paid_for(world, "SIM-" + name)) + rejections(world, name.replace("SUBMIT-", ""))
            equal(submits, attempts, f"{name}: submits")
        equal(world.stats()["now"]["breaker"], "closed", "a wrong key was said to be busy; breaker")


@test
def the_deadline_beats_every_counter():
    # All the retries would take 100 s, and what is never solved for ever.
    config = {"solve_timeout": "4s", "ambiguity_window": "500ms", "retry": {"busy": 1000, "cap": "100ms"}}
    with World(config) as world:
        started = time.monotonic()
        reply = world.solve(sitekey="SIM-SUBMIT-ERROR_NO_SLOT_AVAILABLE")
        # It may come just when the vendor is being asked once more.
        check((reply.status, reply.json()["code"]) in ((503, "vendor_busy"), (504, "solve_timeout")), reply.text)
        submits = world.sim.totals()["submits"]
        check(3 <= submits <= 41, f"{submits} submits")
        problem(world.solve(sitekey="SIM-NEVER"), 504, "solve_timeout")
        took = time.monotonic() - started
        check(7.5 < took, f"took {took:.3f} s")
        equal(world.sim.totals()["submits"], submits + 1, "nothing more is sent for the dead; submits")


@test
def what_is_solved_after_its_deadline_is_fetched_by_polls_and_kept():
    config = {"solve_timeout": "5s", "ambiguity_window": "500ms", "poll": {"first": "300ms", "interval": "300ms"}}
    with World(config, sim=("--solve-time", "10m")) as world:
        problem(world.solve(), 504, "solve_timeout")
        world.sim.solve()
        wait_counter(world, "solutions_banked", 1)
        equal(world.solved()["source"], "dedup_cache", "source")
        equal(world.paid(), 1)


@test
def a_retry_budget_stops_a_storm():
    with World({"retry": {"budget": 0.2, "cap": "100ms"}}) as world:
        replies = together(60, lambda i: world.solve(sitekey=f"SIM-SUBMIT-ERROR_SERVER_ERROR.{i}"))
        equal({reply.status for reply in replies}, {502})
        equal(world.sim.totals()["submits"], 80, "60 submits and the 20 retries a minute that are always allowed")
        equal(world.counter("retries"), 20)


@test
def a_vendor_that_is_away_for_a_moment_costs_nothing_but_time():
    port = free_port()
    with World({"retry": {"transient": 1000, "cap": "200ms"}}, sim=("--listen", f"127.0.0.1:{port}", "--solve-time", "100ms")) as world:
        world.solved(sitekey="before")
        world.sim.stop()
        identifier = world.solve(wait=None).json()["id"]
        wait_until(lambda: world.counter("submits_not_sent") >= 2, "two attempts in vain")
        with sim_at(port, "--solve-time", "100ms") as back:
            answer = world.call("GET", f"/v1/solves/{identifier}", wait=15).json()
            check(answer["attempts"] > 2, f"{answer}")
            equal((answer["status"], back.totals()["submits"]), ("solved", 1))


@test
def a_vendor_that_stays_away_is_tried_four_times():
    with World({"retry": {"cap": "100ms"}}) as world:
        world.sim.stop()
        body = problem(world.solve(), 502, "vendor_unreachable")
        equal(body["upstream_code"], "ERROR_UPSTREAM_UNREACHABLE")
        equal(world.counter("submits_not_sent"), 4)
        equal(world.submit(sitekey="x").text[:3], "OK|", "requests are taken all the same")


# --- submits whose reply is lost ------------------------------------------------------------------

# Replies that come are not that late, and the test looks while the window is open.
WINDOW = {"ambiguity_window": "6s", "upstream": {"submit_timeout": "3s"}}


def lose(faults):
    """Each fault strikes the first submit of a sitekey of that name; all are sent again after the window."""
    with World(WINDOW) as world:
        world.sim.set_faults(script=[strike(fault, fault) for fault in faults])
        started = time.time()
        ids = [world.solve(wait=None, sitekey=fault).json()["id"] for fault in faults]
        wait_counter(world, "submits_ambiguous", len(faults))
        equal(world.sim.totals()["submits"], len(faults), "during the window; submits")
        for fault, identifier in zip(faults, ids):
            answer = world.call("GET", f"/v1/solves/{identifier}", wait=15).json()
            equal((answer["status"], answer["attempts"]), ("solved", 2), fault)
            tasks = paid_for(world, fault)
            was_accepted = faults[fault]
            equal(len(tasks), 2 if was_accepted else 1, f"{fault}: paid")
            waited = tasks[-1]["at"] - started
            check(5.98 <= waited, f"{fault}: sent again after {waited:.3f} s")
        equal(world.sim.totals()["submits"], 2 * len(faults), "in all; submits")
        equal(world.counter("resends"), len(faults))


@test
def a_closed_or_reset_connection_is_waited_out_and_then_sent_again():
    lose({"submit-close": False, "submit-reset": False, "submit-lost": True, "submit-lost-reset": True})


@test
def silence_and_error_pages_are_waited_out_and_then_sent_again():
    lose({"submit-stall": False, "submit-hang": True, "submit-5xx": False, "submit-5xx-accepted": True})


@test
def replies_without_sense_are_waited_out_and_then_sent_again():
    lose({"submit-garbage": True, "submit-empty": True, "submit-truncate": True})


@test
def where_nothing_may_be_sent_again_the_solve_fails_and_is_kept():
    faults = ["submit-lost", "submit-hang", "submit-5xx-accepted", "submit-truncate"]
    with World({**WINDOW, "on_ambiguous": "never"}) as world:
        world.sim.set_faults(script=[strike(fault, fault) for fault in faults])
        for reply in together(len(faults), lambda i: world.solve(sitekey=faults[i])):
            check(problem(reply, 504, "ambiguous_submit")["retryable"], "retryable")
        equal((world.sim.totals()["submits"], world.paid()), (4, 4))
        equal({letter["class"] for letter in letters(world)["letters"]}, {"ambiguous"})
        equal(world.counter("resends"), 0)


@test
def a_reply_lost_on_a_reused_connection_is_not_sent_again_behind_our_back():
    config = {"on_ambiguous": "never", "ambiguity_window": "0s", "breaker": {"probe": "100ms"},
              "upstream": {"connections": 1}}
    with World(config) as world:
        for fault in ("submit-lost", "submit-lost-reset", "submit-close", "submit-reset"):
            world.solved(sitekey=fault + "-warm-up")
            opened = metric(world, "vendor_connections_total")
            world.solved(sitekey=fault + "-reused")
            equal(metric(world, "vendor_connections_total"), opened, "one connection is used for all; connections")
            before = world.sim.totals()
            world.sim.set_faults(script=[strike(fault)])
            problem(world.solve(sitekey=fault), 504, "ambiguous_submit")
            after = world.sim.totals()
            equal(after["submits"] - before["submits"], 1, f"{fault}: submits")
            equal(after["accepted"] - before["accepted"], 1 if "lost" in fault else 0, f"{fault}: charges")


@test
def a_slow_reply_is_no_lost_reply():
    with World({"upstream": {"submit_timeout": "5s"}}) as world:
        sitekeys = ["SIM-SUBMIT-DELAY-600ms", "SIM-SUBMIT-DRIP-5ms"]
        answers = together(2, lambda i: world.solved(sitekey=sitekeys[i]))
        equal([answer["attempts"] for answer in answers], [1, 1])
        equal((world.paid(), world.counter("submits_ambiguous")), (2, 0))


# --- polls ----------------------------------------------------------------------------------------


@test
def the_first_poll_waits_for_its_time_and_the_others_for_theirs():
    first = {"turnstile": "4s", "image": "100ms", "default": "60s"}
    with World({"poll": {"first": first, "interval": "200ms"}}, sim=("--solve-time", "5s", "--log")) as world:
        image = {"method": "base64", "sitekey": None, "pageurl": None, "body": "iVBORw0KGgo" + "A" * 400}
        together(2, lambda i: world.solved((None, image)[i]))
        for task in world.sim.submits():
            least, most = (0.1, 4) if task["params"]["method"] == "base64" else (4, 60)
            polls = [call.at for call in calls(world, "res.php", task["id"])]
            waited = polls[0] - task["at"]
            check(least <= waited < most, f"first poll of {task['params']['method']} after {waited:.3f} s")
            pauses = gaps(polls)
            # A busy vendor may read one late, which leaves less until the next.
            check(pauses and min(pauses) > 0.1 and sum(pauses) >= 0.19 * len(pauses), f"pauses {pauses}")
            check(sorted(pauses)[len(pauses) // 2] < 1, f"most pauses {pauses}")


@test
def whatever_a_poll_brings_the_paid_task_is_not_given_up():
    faults = ["poll-5xx", "poll-garbage", "poll-empty", "poll-truncate", "poll-close", "poll-reset", "poll-hang",
              strike("poll-429", None, 1, "huge")]
    faults += [strike("poll-error", None, 1, code)
               for code in ("ERROR_SERVER_ERROR", "ERROR_NO_SLOT_AVAILABLE", "ERROR_KEY_DOES_NOT_EXIST")]
    faults += [strike("poll-delay", None, 1, "150ms")]
    with World({"upstream": {"poll_timeout": "300ms"}, "retry": {"cap": "500ms"}}) as world:
        world.sim.set_faults(script=faults)
        answer = world.solved()
        equal((answer["attempts"], world.paid()), (1, 1))
        equal(world.sim.faults()["script"], [], "all of them struck; left")
        check(world.counter("polls_unheard") >= 8, "most were of no use")
        equal(world.stats()["now"]["breaker"], "closed")


@test
def a_task_that_the_vendor_no_longer_knows_is_submitted_once_more():
    with World({"retry": {"cap": "100ms"}}) as world:
        reply = world.solve(sitekey="SIM-POLL-ERROR_WRONG_CAPTCHA_ID")
        equal(problem(reply, 502, "unknown_error")["upstream_code"], "ERROR_WRONG_CAPTCHA_ID")
        equal(world.paid(), 2)


# --- reports and free questions -------------------------------------------------------------------


@test
def balance_and_threads_are_asked_once_for_many_and_their_failures_told():
    with World(sim=("--balance", "7.25", "--slots", "9")) as world:
        def ask(action):
            return world.result(None, action=action).text

        started = time.monotonic()
        equal(set(together(20, lambda _: ask("getbalance"))), {"7.25"})
        equal(ask("threadsinfo"), '{"threads":"9","working_threads":0}')
        is_stale = time.monotonic() - started > 5  # after which it has to be asked again
        calls_made = world.sim.totals()["balance_calls"], world.sim.totals()["threads_calls"]
        check(calls_made == (1, 1) or is_stale, f"balance and threads were asked for {calls_made} times")
    with World() as world:
        world.sim.set_faults(script=[strike("account-error"), "account-5xx", "account-garbage"])
        told = [world.result(None, action="getbalance").text for _ in range(3)]
        equal(told, ["ERROR_KEY_DOES_NOT_EXIST", "ERROR_UPSTREAM_HTTP_502", "ERROR_UNKNOWN_REPLY"])
        world.sim.kill()
        equal(world.result(None, action="getbalance").text, "ERROR_UPSTREAM_UNREACHABLE")
        equal(world.result(None, action="threadsinfo", json="1").json(),
              {"status": 0, "request": "ERROR_UPSTREAM_UNREACHABLE"})


@test
def reports_reach_the_vendor_once_and_hurt_nobody_when_it_is_away():
    with World() as world:
        task = world.submit_id()
        world.result_text(task)
        for _ in range(3):
            equal(world.result(task, action="reportgood").text, "OK_REPORT_RECORDED")
        wait_until(lambda: world.sim.totals()["reports_good"] == 1, "the report at the vendor")
        other = world.solved(sitekey="other")
        world.sim.kill()
        reply = world.call("POST", f"/v1/solves/{other['id']}/report", {"good": False})
        equal((reply.status, reply.json()), (200, {"recorded": True}))
        equal(world.counter("reports_bad"), 1)


# --- one task for all -----------------------------------------------------------------------------


class OneTask(http.server.BaseHTTPRequestHandler):
    """A vendor that gives every submit the same task, and every poll the same token."""
    submits = 0

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        OneTask.submits += self.path.startswith("/in.php")
        self.do_GET()

    def do_GET(self):
        word = {"in.php": "777", "res.php": "TOKEN"}[urllib.parse.urlsplit(self.path).path.strip("/")]
        body = json.dumps({"status": 1, "request": word}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@test
def one_token_is_not_handed_to_two_because_the_vendor_gave_both_one_task():
    vendor = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OneTask)
    threading.Thread(target=vendor.serve_forever, daemon=True).start()
    config = {"upstream": {"url": f"http://127.0.0.1:{vendor.server_port}"}, "retry": {"transient": 1}}
    try:
        with World(config) as world:
            equal(world.solved(reuse="single")["solution"], "TOKEN")
            reply = world.solve(reuse="single")
            equal((reply.status, reply.json()["upstream_code"]), (502, "ERROR_TASK_OF_ANOTHER"), reply.text)
            world.gate.wait_line("event=task_id_twice")
            equal(world.solve(sitekey="another").json()["upstream_code"], "ERROR_TASK_OF_ANOTHER")
            equal((OneTask.submits, world.counter("tasks_twice")), (5, 4))
    finally:
        vendor.shutdown()
        vendor.server_close()


run(beside=4)
