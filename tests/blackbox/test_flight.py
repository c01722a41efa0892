#!/usr/bin/env python3
"""Where is my captcha now: /v1/flights/{key} and `solvegate flights show`. (TAP)"""
import re

from cli_world import EX_DATAERR, EX_USAGE, expect, solvegate
from gateway import ADMIN, ALICE, BOB, PAGE, World, clients
from harness import KEY, check, contains, equal, run, test, wait_until
from vendor_world import strike

SLOW = ("--solve-time", "60s")


def key_of(world, sitekey, key=None):
    reply = world.call("POST", "/v1/explain", {"method": "turnstile", "sitekey": sitekey, "pageurl": PAGE}, key=key)
    equal(reply.status, 200, reply.text)
    return reply.json()["key"]


def look(world, flight, key=None):
    return world.call("GET", f"/v1/flights/{flight}", key=key)


def await_state(world, flight, state, key=None):
    def found():
        reply = look(world, flight, key)
        flights = reply.json()["flights"] if reply.status == 200 else []
        return reply.json() if [one["state"] for one in flights] == [state] else None
    return wait_until(found, f"a flight that is {state}")


@test
def a_flight_under_way_has_its_requests_and_its_attempt():
    with World(sim=SLOW) as world:
        ids = [world.submit_id(sitekey="a") for _ in range(3)]
        flight = key_of(world, "a")
        wait_until(lambda: look(world, flight).json()["flights"][0]["attempts"][-1].get("upstream_id"), "the task's name")
        seen = await_state(world, flight, "solving")
        equal((seen["key"], seen["strays"], seen["solution"], seen["letter"]), (flight, [], None, None), "the rest")
        one = seen["flights"][0]
        equal([request["id"] for request in one["requests"]], ids, "requests")
        equal((one["request_count"], one["type"], one["dialect"], one["client"]), (3, "turnstile", "vendor", "anonymous"), "the flight")
        attempt, = one["attempts"]
        equal(attempt["state"], "working", "the attempt")
        check(one["created"] <= attempt["started"] <= attempt["accepted"], f"the order of {one}")
        check(0 < one["deadline_in"] and one["next"] == "poll", f"what comes: {one}")
        equal(look(world, flight[:12]).json()["key"], flight, "by its first digits")
        equal(look(world, flight[:9].upper()).json()["key"], flight, "by fewer, in capitals")


@test
def attempts_that_failed_are_told_with_their_codes_and_then_the_letter():
    config = {"retry": {"unsolvable": 1, "base": "100ms"}}
    with World(config, sim=("--solve-time", "100ms")) as world:
        flight = key_of(world, "SIM-ERROR_CAPTCHA_UNSOLVABLE")
        equal(world.solve(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE").status, 502, "the end")
        seen = look(world, flight).json()
        equal(seen["flights"], [], "flights")
        equal((seen["letter"]["error"], seen["letter"]["class"]), ("ERROR_CAPTCHA_UNSOLVABLE", "unsolvable"), "the letter")
        equal([one["error"] for one in seen["letter"]["attempts"]], ["ERROR_CAPTCHA_UNSOLVABLE"] * 2, "its attempts")
        text = expect(solvegate("flights", "show", flight, env={"SOLVEGATE_URL": world.url}), 0).stdout
        contains(text, "given up at ")
        check(len(re.findall(r"attempt \d sent", text)) == 2, text)


@test
def a_solved_one_is_remembered_without_its_token():
    with World() as world:
        answer = world.solved(sitekey="a")
        flight = key_of(world, "a")
        reply = look(world, flight)
        seen = reply.json()
        equal((seen["flights"], seen["solution"]["attempts"]), ([], 1), "what is left")
        equal(seen["solution"]["upstream_id"], answer["upstream_id"], "the task")
        for secret in (answer["solution"], KEY, PAGE):
            check(secret not in reply.text, f"{secret} is told")
        text = expect(solvegate("flights", "show", flight, env={"SOLVEGATE_URL": world.url}), 0).stdout
        contains(text, "solved at ")


@test
def a_client_sees_its_own_flights_and_no_others():
    with World(clients(), sim=SLOW) as world:
        world.submit_id(sitekey="a", key=ALICE)
        flight = key_of(world, "a", ALICE)
        seen = await_state(world, flight, "solving", ALICE)
        equal(seen["flights"][0]["client"], "alice", "its client")
        equal(await_state(world, flight, "solving", ADMIN)["flights"][0]["request_count"], 1, "for the admin")
        for stranger, status, code in ((BOB, 404, "unknown_flight"), (None, 401, "unauthorized"), ("x" * 32, 401, "unauthorized")):
            for text in (flight, flight[:12]):
                reply = look(world, text, stranger)
                equal((reply.status, reply.json()["code"]), (status, code), f"for {stranger}")


@test
def what_is_wrong_or_unknown_is_said():
    with World() as world:
        for text, status, code in (("0" * 64, 404, "unknown_flight"), ("0" * 8, 404, "unknown_flight"), ("1234567", 422, "bad_parameter"),
                                   ("g" * 12, 422, "bad_parameter"), ("0" * 65, 422, "bad_parameter"), ("", 422, "bad_parameter")):
            reply = look(world, text)
            equal((reply.status, reply.json()["code"]), (status, code), f"of {text!r}")
        env = {"SOLVEGATE_URL": world.url}
        contains(expect(solvegate("flights", "show", "0" * 12, env=env), EX_DATAERR).stderr, "nothing with this key")
        contains(expect(solvegate("flights", "show", env=env), EX_USAGE).stderr, "show needs the key")
        contains(expect(solvegate("flights", "show", "xyz", env=env), EX_USAGE).stderr, "hexadecimal")
        contains(expect(solvegate("flights", "shaw", env=env), EX_USAGE).stderr, "show")


@test
def the_command_line_shows_a_timeline():
    with World({"retry": {"base": "100ms"}}, sim=SLOW) as world:
        world.sim.set_faults(script=[strike("submit-error", "a", 1, "ERROR_SERVER_ERROR")])
        task = world.submit_id(sitekey="a")
        flight = key_of(world, "a")
        wait_until(lambda: any("accepted" in one for flown in look(world, flight).json()["flights"] for one in flown["attempts"]), "the second attempt")
        text = expect(solvegate("flights", "show", flight[:12], env={"SOLVEGATE_URL": world.url}), 0, stderr="").stdout
        contains(text, f"key {flight}\n\nsolving for ")
        contains(text, f"1 request waits: {task}\n")
        check(re.search(r"\+0\.0s  asked for at \d{4}-.*\n +\+\d+\.\ds  attempt 1 sent\n +failed after .*: ERROR_SERVER_ERROR \(transient\)\n"
                        r" +\+\d+\.\ds  attempt 2 sent\n +\+\d+\.\ds  accepted as task \d+\n", text), f"it says {text}")
        check(max(map(len, text.splitlines())) <= 80, f"wider than 80 columns: {text}")


run(beside=3)
