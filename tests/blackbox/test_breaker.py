#!/usr/bin/env python3
"""The breaker of the vendor's account: opens, fails fast, is seen everywhere, closes without paying. (TAP)"""
import json

from gateway import World, together
from harness import Receiver, check, equal, run, test, wait_until
from vendor_world import calls, gaps, letters, metric, paid_for, problem, strike, wait_counter

BAD_KEY = "ERROR_KEY_DOES_NOT_EXIST"
UNCERTAIN = "ERROR_UPSTREAM_UNCERTAIN"


def breaker(world):
    now = world.stats()["now"]
    return now["breaker"], now.get("breaker_cause")


def wait_closed(world):
    wait_until(lambda: breaker(world) == ("closed", None), "the breaker to close")


def account_is(world, code):
    """From now on the free calls say this; None: they work."""
    world.sim.set_faults(faults={} if code is None else {"account-error": {"p": 1, "value": code}})


@test
def a_bad_account_fails_fast_for_everybody_and_heals_by_a_free_call():
    config = {"upstream": {"slots": 2}, "breaker": {"probe": "300ms", "probe_max": "300ms"}}
    with Receiver() as alerts, World({**config, "alerts": {"url": alerts.url + "/hook"}}) as world:
        world.solved(sitekey="known")
        world.sim.set_faults(script=[strike("submit-error", "bad", 1, BAD_KEY)])
        account_is(world, BAD_KEY)
        asked = [world.solve(wait=None, sitekey=sitekey).json()["id"]
                 for sitekey in ("SIM-NEVER.0", "SIM-NEVER.1", "bad", "queued", "queued too")]
        wait_until(lambda: world.paid() == 3, "both slots to be taken")
        world.sim.solve(task=paid_for(world, "SIM-NEVER.0")[0]["id"])
        for identifier in asked[2:]:
            reply = world.call("GET", f"/v1/solves/{identifier}", wait=15)
            equal(problem(reply, 503, "vendor_account")["upstream_code"], BAD_KEY)
            check(int(reply.headers["retry-after"]) >= 1, "Retry-After")
        submits = world.sim.totals()["submits"]
        equal(submits, 4, "the queued ones never left; submits")

        reply = world.solve(sitekey="new")
        body = problem(reply, 503, "breaker_open")
        equal((body["upstream_code"], body["retryable"]), (BAD_KEY, True))
        check(int(reply.headers["retry-after"]) >= 1, "Retry-After")
        equal(world.submit(sitekey="new").text, BAD_KEY)
        equal(world.submit(sitekey="new", json="1").json(), {"status": 0, "request": BAD_KEY})
        equal(world.solved(sitekey="known")["source"], "dedup_cache", "what is known is served")
        state, cause = breaker(world)
        check(state in ("open", "probing") and cause == BAD_KEY, f"{state} {cause}")
        equal(metric(world, "breaker_open"), 1)
        world.gate.wait_line(f"level=error event=breaker_open error={BAD_KEY} class=account")
        equal(world.call("GET", "/readyz").status, 200, "restarting us would not help; readiness")
        alert = json.loads(alerts.wait(1)[0]["body"])
        equal((alert["alert"], alert["error"], alert["class"]), ("breaker_open", BAD_KEY, "account"))
        equal(letters(world, **{"class": "account"})["total"], 3, "letters of those that failed")

        world.sim.solve(task=paid_for(world, "SIM-NEVER.1")[0]["id"])
        solved = world.call("GET", f"/v1/solves/{asked[1]}", wait=15).json()
        equal(solved["status"], "solved", "what was paid for is finished; status")
        before = world.counter("probes")
        wait_until(lambda: world.counter("probes") > before, "another probe in vain")
        account_is(world, None)
        wait_closed(world)
        equal(world.sim.totals()["submits"], submits, "it closed without a submit; submits")
        equal(metric(world, "breaker_open"), 0)
        world.gate.wait_line("level=info event=breaker_closed")
        equal(json.loads(alerts.wait(2)[1]["body"])["alert"], "breaker_closed")
        equal(world.solve(sitekey="bad").status, 200)
        equal(len(alerts.calls), 2, "one alert per change; alerts")


@test
def every_account_error_opens_it():
    with World({"breaker": {"probe": "100ms"}}) as world:
        for code in ("ERROR_WRONG_USER_KEY", "ERROR_IP_NOT_ALLOWED", "IP_BANNED"):
            world.sim.set_faults(script=[strike("submit-error", code, 9, code)])
            equal(problem(world.solve(sitekey=code), 503, "vendor_account")["upstream_code"], code)
            world.gate.wait_line(f"event=breaker_open error={code}")
            wait_closed(world)
        equal(world.sim.totals()["submits"], 3)


@test
def probes_come_less_and_less_often():
    with World({"breaker": {"probe": "200ms", "probe_max": "500ms"}}, sim=("--log",)) as world:
        account_is(world, BAD_KEY)
        world.solve(sitekey="SIM-SUBMIT-" + BAD_KEY)
        # Eight that go on doubling would take 51 s, with the longest pause it is less than 4 s.
        wait_until(lambda: len(calls(world, "res.php", "getbalance")) >= 8, "eight probes")
        opened = calls(world, "in.php")[0].at
        pauses = gaps([opened] + [call.at for call in calls(world, "res.php", "getbalance")])
        for pause, least in zip(pauses, (0.2, 0.4, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)):
            check(least - 0.01 <= pause, f"pauses {pauses}")


@test
def one_working_answer_of_two_is_enough_and_silence_is_none():
    with World({"breaker": {"probe": "100ms", "probe_max": "100ms"}, "upstream": {"poll_timeout": "200ms"}}) as world:
        world.sim.set_faults(faults={"account-hang": 1})
        world.solve(sitekey="SIM-SUBMIT-" + BAD_KEY)
        wait_until(lambda: world.counter("probes") >= 4, "two rounds in vain")
        check(breaker(world)[0] != "closed", "silence says nothing")
        world.sim.set_faults(faults={}, script=["account-5xx"])
        wait_closed(world)


@test
def a_storm_of_lost_replies_stops_all_submits_until_the_vendor_answers():
    config = {"ambiguity_window": "6s", "breaker": {"probe": "500ms"}, "upstream": {"slots": 6}}
    with World(config) as world:
        world.sim.set_faults(faults={"submit-lost": 1, "account-error": {"p": 1, "value": "ERROR_SERVER_ERROR"}})
        ids = [world.solve(wait=None, sitekey=f"lost{i}").json()["id"] for i in range(5)]
        wait_counter(world, "submits_ambiguous", 5)
        state, cause = breaker(world)
        check(state in ("open", "probing") and cause == UNCERTAIN, f"{state} {cause}")
        world.gate.wait_line(f"event=breaker_open error={UNCERTAIN} class=ambiguous")
        equal(problem(world.solve(sitekey="sixth"), 503, "breaker_open")["upstream_code"], UNCERTAIN)
        equal(world.submit(sitekey="sixth").text, UNCERTAIN)
        equal(world.paid(), 5)
        world.sim.set_faults(faults={})
        wait_closed(world)
        equal(world.paid(), 5, "closed by a free call; paid")
        for identifier in ids:
            answer = world.call("GET", f"/v1/solves/{identifier}", wait=15).json()
            equal((answer["status"], answer["attempts"]), ("solved", 2))
        equal((world.paid(), world.counter("resends")), (10, 5))


@test
def four_lost_replies_are_no_storm():
    with World({"ambiguity_window": "300ms"}) as world:
        world.sim.set_faults(script=[strike("submit-lost", None, 4)])
        together(4, lambda i: world.solved(sitekey=str(i)))
        equal((breaker(world), world.paid()), (("closed", None), 8))


@test
def what_ends_while_the_breaker_is_open_does_not_pay_again():
    """An unsolvable task would be tried again at once; now it waits for the next probe, and fails with it."""
    with World({"breaker": {"probe": "1500ms"}, "upstream": {"slots": 2}}) as world:
        account_is(world, "IP_BANNED")
        first = world.solve(wait=None, sitekey="SIM-NEVER").json()["id"]
        wait_until(lambda: world.paid() == 1, "the first")
        problem(world.solve(sitekey="SIM-SUBMIT-" + BAD_KEY), 503, "vendor_account")
        world.sim.solve(error="ERROR_CAPTCHA_UNSOLVABLE")
        body = problem(world.call("GET", f"/v1/solves/{first}", wait=10), 503, "vendor_account")
        equal((body["upstream_code"], world.paid()), ("IP_BANNED", 1))
        history = world.call("GET", "/v1/letters/2").json()["attempts"]
        equal([note["error"] for note in history], ["ERROR_CAPTCHA_UNSOLVABLE"])


run()
