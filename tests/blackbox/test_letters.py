#!/usr/bin/env python3
"""Dead letters: made, listed, shown, replayed, dropped, bounded, alerted; by HTTP and by command. (TAP)"""
import base64
import json
import os
import subprocess
import time

from gateway import ADMIN, ALICE, BOB, World, clients, merge, rewrite, together
from harness import (KEY, TIMEOUT, Receiver, binary, check, contains, equal, http_request, multipart, run, test,
                     wait_until)
from vendor_world import letters, metric, paid_for, problem, strike, wait_counter

UNSOLVABLE = "ERROR_CAPTCHA_UNSOLVABLE"
AT_ONCE = {"retry": {"busy": 0, "unsolvable": 0, "transient": 0, "unknown": 0}}


def shown(world, number, key=None):
    reply = world.call("GET", f"/v1/letters/{number}", key=key)
    equal(reply.status, 200, reply.text)
    return reply.json()


def die(world, *sitekeys, code=UNSOLVABLE, **more):
    """Lets the first attempt of these end badly; afterwards they can be solved."""
    world.sim.set_faults(script=[strike("submit-error", sitekey, 1, code) for sitekey in sitekeys])
    for reply in together(len(sitekeys), lambda i: world.solve(sitekey=sitekeys[i], **more)):
        check(reply.status >= 500, reply.text)


def order(world, method, path, body=None, **query):
    reply = world.call(method, "/v1/letters" + path, body, **query)
    check(reply.status in (200, 202), reply.text)
    return reply.json()


def sitekey_of(world, number):
    return shown(world, number)["params"]["sitekey"]


# --- made and not made ----------------------------------------------------------------------------


@test
def what_cost_something_or_was_the_vendors_fault_is_kept_and_mistakes_are_not():
    config = merge(AT_ONCE, {"on_ambiguous": "never", "ambiguity_window": "100ms", "solve_timeout": "5s"})
    with World(config) as world:
        kept = {"SIM-SUBMIT-ERROR_NO_SLOT_AVAILABLE": "busy", "SIM-ERROR_CAPTCHA_UNSOLVABLE": "unsolvable",
                "SIM-SUBMIT-ERROR_SERVER_ERROR": "transient", "SIM-ERROR_NOBODY_KNOWS": "unknown",
                "SIM-LOST": "ambiguous", "SIM-NEVER": "timeout"}
        not_kept = ["SIM-SUBMIT-ERROR_PAGEURL", "SIM-ERROR_BAD_PARAMETERS", "SIM-ERROR_BAD_PROXY", "good"]
        asked = list(kept) + not_kept
        together(len(asked), lambda i: world.solve(sitekey=asked[i]))
        numbers = [letter["id"] for letter in letters(world)["letters"]]
        found = {letter["params"]["sitekey"]: letter["class"] for letter in (shown(world, n) for n in numbers)}
        equal(found, kept)
        equal((world.counter("letters"), metric(world, "letters_kept")), (6, 6))


@test
def what_nobody_waited_for_is_no_letter():
    with World(merge(AT_ONCE, {"upstream": {"slots": 1}})) as world:
        identifier = world.solve(wait=None, sitekey="SIM-NEVER").json()["id"]
        wait_until(lambda: world.paid() == 1, "the submit")
        world.call("DELETE", f"/v1/solves/{identifier}")
        world.sim.solve(error=UNSOLVABLE)
        wait_counter(world, "failures_unsolvable", 1)
        equal(letters(world)["total"], 0)


@test
def letters_are_replayed_by_themselves_where_the_operator_wants_it():
    config = merge(AT_ONCE, {"letters": {"retry_every": "500ms", "retry_max": 2, "replay_interval": "10ms"}})
    with World(config) as world:
        # The vendor's fault passes, the other is none that another try mends.
        die(world, "passes", code="ERROR_SERVER_ERROR")
        die(world, "stays")
        wait_counter(world, "letters_settled", 1)
        equal([sitekey_of(world, letter["id"]) for letter in letters(world)["letters"]], ["stays"])
        # What fails each time is tried twice, and then left to people.
        world.sim.set_faults(script=[strike("submit-error", "fails", 3, "ERROR_SERVER_ERROR")])
        check(world.solve(sitekey="fails").status == 502, "the first try")
        number = letters(world)["letters"][0]["id"]
        wait_until(lambda: shown(world, number)["retries"] == 2 and not shown(world, number)["replaying"], "two retries")
        time.sleep(1.2)
        letter = shown(world, number)
        equal((letter["retries"], letter["replays"], letter["attempt_count"]), (2, 2, 3))


# --- looking --------------------------------------------------------------------------------------


@test
def a_letter_tells_the_whole_story_without_secrets():
    with World({"retry": {"cap": "200ms"}, "upstream": {"slots": 1}}) as world:
        # Nothing goes out before all three wait for the same.
        world.solve(wait=None, sitekey="SIM-NEVER")
        wait_until(lambda: world.paid() == 1, "the slot to be taken")

        def give_way():
            world.await_waiting(4)
            world.sim.solve()

        secret = {"proxy": "user:hunter2@10.1.2.3:3128", "proxytype": "HTTP", "cookies": "session=hunter3",
                  "data": "D" * 300, "action": "login"}
        together(3, lambda _: world.solve({"method": "turnstile", **secret}, sitekey="SIM-SUBMIT-ERROR_SERVER_ERROR"), give_way)
        summary = letters(world)["letters"][0]
        letter = shown(world, summary["id"])
        for name, value in summary.items():
            equal(letter[name], value, name)
        equal((letter["client"], letter["type"], letter["class"]), ("anonymous", "turnstile", "transient"))
        equal((letter["error"], letter["callers_told"], letter["replays"]), ("ERROR_SERVER_ERROR", 3, 0))
        equal((len(letter["key"]), letter["replaying"], letter["attempt_count"]), (64, False, 4))
        equal(letter["params"], {"method": "turnstile", "sitekey": "SIM-SUBMIT-ERROR_SERVER_ERROR",
                                 "pageurl": "https://example.com/login", "proxy": "***@10.1.2.3:3128",
                                 "proxytype": "HTTP", "cookies": "<15 bytes>", "data": "<300 bytes>",
                                 "action": "login"})
        equal({(note["class"], note["error"]) for note in letter["attempts"]}, {("transient", "ERROR_SERVER_ERROR")})
        starts = [note["at"] for note in letter["attempts"]]
        check(starts == sorted(set(starts)) and letter["created"] >= starts[-1], f"{starts}")
        check(all(0 <= note["took"] < TIMEOUT for note in letter["attempts"]), "durations")
        check(letter["expires"] > letter["created"], "expiry")
        proxies = {"10.1.2.3:80": "10.1.2.3:80", "10.1.2.3:80:user:hunter2": "10.1.2.3:80:***",
                   "http://[::1]:80": "http://[::1]:80", "[::1]:80:user:hunter2": "[::1]:80:***",
                   "http://u:p@ss@h.example:80": "***@h.example:80"}
        given = list(proxies)
        together(len(given), lambda i: world.solve(sitekey=f"SIM-{UNSOLVABLE}.{i}", proxy=given[i]))
        found = {params["sitekey"][-1]: params["proxy"]
                 for params in (shown(world, number)["params"] for number in range(2, 7))}
        equal(found, {str(i): text for i, text in enumerate(proxies.values())})


@test
def a_letter_of_an_image_shows_its_size_and_an_attempt_its_task():
    with World(AT_ONCE) as world:
        world.sim.set_faults(script=["task-error"])
        fields = [("key", KEY), ("method", "post"), ("file", "a.png", b"\x89PNG\r\n\x1a\n" + b"x" * 992)]
        body, content_type = multipart(fields)
        task = http_request(world.url + "/in.php", "POST", body, {"Content-Type": content_type}).text[3:]
        equal(world.result_text(task), UNSOLVABLE)
        letter = shown(world, 1)
        equal((letter["type"], letter["params"]["file"]), ("image", "<1000 bytes>"))
        equal(letter["attempts"][0]["upstream_id"], str(world.sim.submits()[0]["id"]))
        check(KEY not in json.dumps(letter), "the caller's key is nobody's business")


@test
def lists_are_filtered_and_paged():
    with World(merge(AT_ONCE, clients())) as world:
        for i in range(3):
            die(world, f"a{i}", key=ALICE)
        die(world, "b0", key=BOB, code="ERROR_NO_SLOT_AVAILABLE")
        image = {"method": "base64", "sitekey": None, "pageurl": None, "body": "iVBORw0KGgo" + "A" * 400}
        world.sim.set_faults(script=["task-error"])
        equal(world.solve(image, key=BOB).status, 502)

        def numbers(**query):
            found = letters(world, key=ADMIN, **query)
            return [letter["id"] for letter in found["letters"]], found["total"], found["next"]

        equal(numbers(), (["5", "4", "3", "2", "1"], 5, None), "newest first")
        equal(numbers(client="alice")[0], ["3", "2", "1"])
        equal(numbers(**{"class": "busy"})[0], ["4"])
        equal(numbers(type="image")[0], ["5"])
        equal(numbers(error=UNSOLVABLE, client="bob")[0], ["5"])
        equal(numbers(client="admin"), ([], 0, None))
        equal(numbers(limit=2), (["5", "4"], 5, "4"))
        equal(numbers(limit=2, after=4), (["3", "2"], 5, "2"))
        equal(numbers(limit=2, after=2), (["1"], 5, None))
        for path in ("/v1/letters", "/v1/flights"):
            for name, values in (("limit", ("many", "-1", "1.5", "0", "", "9" * 30)), ("after", ("x", "-1", "", "9" * 30))):
                for value in values:
                    reply = world.call("GET", path, key=ADMIN, **{name: value})
                    contains(problem(reply, 422, "bad_parameter")["detail"], name + ": expected", f"{path} {name}={value}")
        for query, name in (({"class": "odd"}, "class"), ({"type": "odd"}, "type"), ({"client": "odd"}, "client")):
            reply = world.call("GET", "/v1/letters", key=ADMIN, **query)
            contains(problem(reply, 422, "bad_parameter")["detail"], name)
        problem(world.call("GET", "/v1/letters", key=ALICE), 403, "forbidden")
        problem(world.call("GET", "/v1/letters/6", key=ADMIN), 404, "unknown_letter")
        problem(world.call("GET", "/v1/letters/0", key=ADMIN), 404, "unknown_letter")


# --- replaying ------------------------------------------------------------------------------------


@test
def a_replay_is_solved_and_kept_for_the_next_who_asks():
    with World(AT_ONCE) as world:
        die(world, "k")
        equal(order(world, "POST", "/1/replay"), {"queued": 1})
        wait_counter(world, "letters_settled", 1)
        equal(letters(world)["total"], 0)
        equal(world.solved(sitekey="k")["source"], "dedup_cache")
        equal((world.paid(), world.counter("solutions_banked")), (1, 1))
        problem(world.call("POST", "/v1/letters/1/replay"), 404, "unknown_letter")


@test
def a_replay_asks_for_no_host_that_its_client_may_not_ask_for():
    narrow = {"allow_hosts": ["other.org"]}
    with World({**AT_ONCE, **clients(bob=narrow, admin={"scopes": ["solve", "admin"]})}) as world:
        die(world, "k", key=ALICE)

        def replay(**body):
            return world.call("POST", "/v1/letters/1/replay", body, key=ADMIN)

        problem(replay(into="bob"), 403, "host_not_allowed")

        def change(config):
            config["clients"][0].update(narrow)

        rewrite(world, change)("reloaded")
        problem(replay(), 403, "host_not_allowed")
        equal(world.call("POST", "/v1/letters/replay", {"all": True}, key=ADMIN).status, 202, "all")
        equal(replay(into="admin").status, 202, "into a client that may ask for any host")
        wait_counter(world, "letters_settled", 1, key=ADMIN)
        equal(world.solve(sitekey="k", key=ADMIN).json()["source"], "dedup_cache", "it is admin's")
        equal(world.paid(), 1, "paid for")


@test
def a_replay_starts_with_fresh_counters_and_its_failure_is_written_behind_the_first():
    with World({"retry": {"unsolvable": 1, "cap": "100ms"}}) as world:
        sitekey = "SIM-ERROR_CAPTCHA_UNSOLVABLE"
        equal(world.solve(sitekey=sitekey).status, 502)
        equal(order(world, "POST", "/1/replay"), {"queued": 1})
        wait_until(lambda: shown(world, 1)["attempt_count"] == 4, "two attempts each time")
        letter = shown(world, 1)
        equal((letter["replays"], letter["replaying"], letter["callers_told"]), (1, False, 1))
        ids = [str(task["id"]) for task in paid_for(world, sitekey)]
        equal([note["upstream_id"] for note in letter["attempts"]], ids)
        equal((letters(world)["total"], world.counter("letters"), world.counter("letters_replayed")), (1, 1, 1))


@test
def letters_of_one_thing_are_replayed_by_one_solve_and_all_learn_how_it_ended():
    with World(merge(AT_ONCE, {"letters": {"replay_interval": "10ms"}})) as world:
        for _ in range(3):
            die(world, "same")
        world.sim.set_faults(script=[strike("submit-delay", "same", 1, "3s"), strike("task-error", "same", 1)])
        equal(order(world, "POST", "/replay", {"all": True}), {"queued": 3})
        wait_until(lambda: world.counter("failures_unsolvable") == 4, "the replay to fail")
        equal(world.paid(), 1)
        for number in (1, 2, 3):
            errors = [note["error"] for note in shown(world, number)["attempts"]]
            equal(errors, [UNSOLVABLE, UNSOLVABLE], f"letter {number}")
        equal(order(world, "POST", "/replay", {"all": True}), {"queued": 3})
        wait_counter(world, "letters_settled", 3)
        equal(letters(world)["total"], 0)


@test
def replays_go_out_one_by_one_and_can_be_stopped():
    names = [f"k{i}" for i in range(6)]
    with World(merge(AT_ONCE, {"letters": {"replay_interval": "1500ms"}})) as world:
        die(world, *names)
        problem(world.call("POST", "/v1/letters/replay", {}), 422, "bad_parameter")
        problem(world.call("POST", "/v1/letters/replay", {"class": "odd"}), 422, "bad_parameter")
        ordered = time.time()
        equal(order(world, "POST", "/replay", {"class": "unsolvable"}), {"queued": 6})
        equal(order(world, "POST", "/replay", {"class": "unsolvable"})["queued"] <= 1, True, "those wait already")
        wait_until(lambda: world.paid() >= 3, "three replays")
        check(world.stats()["now"]["letters_to_replay"] <= 3, "letters_to_replay")
        stopped = order(world, "DELETE", "/replay")["cancelled"]
        check(1 <= stopped <= 3, f"{stopped} were cancelled")
        # From the order on: the vendor may have been late to see one, but sees none before it was sent.
        came = [task["at"] - ordered for task in world.sim.submits()]
        check(all(at >= 1.5 * place - 0.05 for place, at in enumerate(came)), f"after the order: {came}")
        paid = 6 - stopped
        wait_counter(world, "letters_settled", paid)
        time.sleep(1.6)
        equal((world.paid(), letters(world)["total"]), (paid, stopped))
        check(not any(letter["replaying"] for letter in letters(world)["letters"]), "nothing goes on")


@test
def single_orders_are_rate_capped_too():
    with World(merge(AT_ONCE, {"letters": {"replay_interval": "400ms"}})) as world:
        die(world, "x", "y")
        ordered = time.time()
        for number in (1, 2):
            order(world, "POST", f"/{number}/replay")
            wait_until(lambda: letters(world)["total"] == 2 - number, f"letter {number} to be settled")
        _, second = [task["at"] for task in world.sim.submits()]
        check(second - ordered >= 0.39, f"the second {second - ordered:.3f} s after the first was ordered")


@test
def a_replay_joins_whatever_is_under_way():
    with World(AT_ONCE) as world:
        die(world, "asked", "replayed", "known")
        number = {sitekey_of(world, n): n for n in (1, 2, 3)}
        world.sim.set_faults(faults={"task-never": 1})
        asked = world.solve(wait=None, sitekey="asked").json()["id"]
        order(world, "POST", f"/{number['asked']}/replay")
        order(world, "POST", f"/{number['replayed']}/replay")
        wait_until(lambda: world.paid() == 2, "both at the vendor")
        check(shown(world, number["asked"])["replaying"], "it rides on the request's solve")
        joined = world.solve(wait=None, sitekey="replayed").json()["id"]
        world.sim.set_faults(faults={})
        world.sim.solve()
        equal(world.call("GET", f"/v1/solves/{joined}", wait=15).json()["source"], "dedup_wait", "and a request on a replay's")
        equal(world.call("GET", f"/v1/solves/{asked}", wait=15).json()["source"], "api")
        wait_counter(world, "letters_settled", 2)
        world.solved(sitekey="known")
        order(world, "POST", f"/{number['known']}/replay")
        wait_counter(world, "letters_settled", 3)
        equal((world.paid(), letters(world)["total"]), (3, 0))


@test
def a_remembered_mistake_settles_no_letter_but_delays_it():
    with World(merge(AT_ONCE, {"cache": {"caller_error_ttl": "1s"}})) as world:
        die(world, "k")
        world.sim.set_faults(script=[strike("submit-error", "k", 1, "ERROR_PAGEURL")])
        remembered = time.time()  # or later
        problem(world.solve(sitekey="k"), 502, "refused_by_vendor")
        order(world, "POST", "/1/replay")
        wait_counter(world, "letters_settled", 1)
        solved, = paid_for(world, "k")
        check(solved["at"] - remembered > 0.99, "solved when the mistake was forgotten")


@test
def a_letter_that_may_not_start_does_not_hold_up_the_others():
    config = merge(merge(AT_ONCE, clients(alice={"budget_per_day": 1})), {"letters": {"replay_interval": "50ms"}})
    with World(config) as world:
        die(world, "a", key=ALICE)
        die(world, "b", key=BOB)
        world.solved(sitekey="spent", key=ALICE)
        equal(world.call("POST", "/v1/letters/replay", {"all": True}, key=ADMIN).json(), {"queued": 2})
        wait_counter(world, "letters_settled", 1, key=ADMIN)
        left, = letters(world, key=ADMIN)["letters"]
        equal((left["client"], left["replaying"]), ("alice", True))
        equal(world.call("DELETE", "/v1/letters/replay", key=ADMIN).json(), {"cancelled": 1})


@test
def replays_wait_for_the_breaker():
    breaker = {"probe": "200ms", "probe_max": "200ms"}
    with World(merge(AT_ONCE, {"breaker": breaker, "letters": {"replay_interval": "50ms"}})) as world:
        code = "ERROR_KEY_DOES_NOT_EXIST"
        world.sim.set_faults(script=[strike("submit-error", "k", 1, code)], faults={"account-error": {"p": 1, "value": code}})
        problem(world.solve(sitekey="k"), 503, "vendor_account")
        order(world, "POST", "/replay", {"class": "account"})
        probes = world.counter("probes")
        wait_until(lambda: world.counter("probes") > probes + 2, "probes in vain")
        equal(world.stats()["now"]["letters_to_replay"], 1)
        world.sim.set_faults(faults={})
        wait_counter(world, "letters_settled", 1)
        equal(world.sim.totals()["submits"], 2)


# --- dropping, bounds, alerts ---------------------------------------------------------------------


@test
def letters_are_dropped_one_by_one_by_filter_or_all():
    with World(AT_ONCE) as world:
        die(world, *[f"u{i}" for i in range(3)])
        die(world, "b", code="ERROR_NO_SLOT_AVAILABLE")
        equal(order(world, "DELETE", "/2"), {"dropped": 1})
        problem(world.call("DELETE", "/v1/letters/2"), 404, "unknown_letter")
        problem(world.call("DELETE", "/v1/letters"), 422, "bad_parameter")
        problem(world.call("DELETE", "/v1/letters", **{"class": "odd"}), 422, "bad_parameter")
        equal(order(world, "DELETE", "", **{"class": "busy"}), {"dropped": 1})
        equal(order(world, "DELETE", "", all="true"), {"dropped": 2})
        equal((letters(world)["total"], world.counter("letters_dropped")), (0, 4))


@test
def a_letter_dropped_while_it_is_replayed_does_not_come_back():
    with World(AT_ONCE) as world:
        die(world, "k")
        world.sim.set_faults(script=[strike("task-never", "k", 1)])
        order(world, "POST", "/1/replay")
        wait_until(lambda: world.paid() == 1, "the replay at the vendor")
        order(world, "DELETE", "/1")
        world.sim.solve()
        wait_counter(world, "solutions_banked", 1)
        equal((letters(world)["total"], world.counter("letters_settled")), (0, 0))


@test
def the_oldest_make_room_and_the_alert_comes_once_per_crossing():
    with Receiver() as alerts:
        config = {"letters": {"max": 4, "alert_above": 3}, "alerts": {"url": alerts.url + "/hook"}}
        with World(merge(AT_ONCE, config)) as world:
            die(world, "0", "1", "2")
            die(world, "3")
            call, = alerts.wait(1)
            alert = json.loads(call["body"])
            equal((alert["alert"], alert["letters"], alert["error"], alert["class"]),
                  ("letters_growing", 4, UNSOLVABLE, "unsolvable"))
            check(alert["time"].endswith("Z"), "time")
            equal((call["method"], call["path"]), ("POST", "/hook"))
            equal(call["headers"]["Content-Type"], "application/json")
            world.gate.wait_line(f"level=error event=letters_growing error={UNSOLVABLE} class=unsolvable letters=4")
            equal((metric(world, "letters_kept"), metric(world, "letters_total")), (4, 4))
            for name in ("4", "5"):
                die(world, name)
            equal([letter["id"] for letter in letters(world)["letters"]], ["6", "5", "4", "3"], "the oldest went")
            equal(world.gate.stderr().count("letters_growing"), 1, "still the same crossing; alerts")
            order(world, "DELETE", "/6")
            die(world, "6")
            equal(len(alerts.wait(2)), 2, "another crossing; alerts")


@test
def an_alert_is_tried_again_when_its_receiver_stumbles():
    answers = [(500, b""), (200, b"OK")]
    with Receiver(lambda _: answers.pop(0)) as alerts:
        config = {"letters": {"alert_above": 0}, "alerts": {"url": alerts.url}}
        with World(merge(AT_ONCE, config)) as world:
            die(world, "k")
            first, second = alerts.wait(2)
            equal(first["body"], second["body"])
            check("alert_undelivered" not in world.gate.stderr(), "delivered in the end")


# --- the command ----------------------------------------------------------------------------------


def solvegate(world, *args, key=None, url=None):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SOLVEGATE_")}
    env = {**kept, "SOLVEGATE_URL": url or world.url, **({} if key is None else {"SOLVEGATE_KEY": key})}
    return subprocess.run([binary("SOLVEGATE"), "letters", *args], capture_output=True, text=True, env=env,
                          timeout=TIMEOUT, check=False)


def said(world, *args, code=0, **more):
    done = solvegate(world, *args, **more)
    equal(done.returncode, code, f"exit code of {args}: {done.stderr}")
    return done.stdout if code == 0 else done.stderr


@test
def the_command_lists_shows_replays_and_drops():
    with World(AT_ONCE) as world:
        empty = solvegate(world, "list")
        equal((empty.returncode, empty.stdout, empty.stderr), (0, "", "no dead letters\n"))
        equal(json.loads(said(world, "list", "--json"))["total"], 0)
        die(world, "one")
        die(world, "two")
        die(world, "three", code="ERROR_NO_SLOT_AVAILABLE")
        table = said(world, "list").splitlines()
        equal(table[0].split(), ["ID", "CREATED", "CLIENT", "TYPE", "CLASS", "TRIES", "TOLD", "ERROR"])
        equal([line.split()[0] for line in table[1:]], ["3", "2", "1"])
        equal(table[3].split()[2:], ["anonymous", "turnstile", "unsolvable", "1", "1", UNSOLVABLE])
        equal(len(said(world, "list", "--class", "busy").splitlines()), 2)
        equal(json.loads(said(world, "list", "--json", f"--error={UNSOLVABLE}"))["total"], 2)
        equal(json.loads(said(world, "list", "--type", "image", "--json"))["letters"], [])
        letter = said(world, "show", "1")
        for part in ("id        1\n", f"error     {UNSOLVABLE}\n", "  sitekey        one\n", "attempts\n  20"):
            contains(letter, part)
        equal(json.loads(said(world, "show", "--json", "1")), shown(world, 1))
        equal(said(world, "replay", "1"), "queued 1\n")
        wait_counter(world, "letters_settled", 1)
        equal(json.loads(said(world, "replay", "--class", "busy", "--json")), {"queued": 1})
        wait_counter(world, "letters_settled", 2)
        equal(said(world, "drop", "--type", "image"), "dropped 0\n")
        equal(said(world, "drop", "2"), "dropped 1\n")
        equal(said(world, "drop", "--all"), "dropped 0\n")
        equal(said(world, "replay", "--all"), "queued 0\n")


@test
def the_command_tells_what_went_wrong_by_words_and_exit_code():
    with World(merge(AT_ONCE, clients())) as world:
        die(world, "k", key=ALICE)
        contains(said(world, "list", code=77), "HTTP 401")
        contains(said(world, "list", code=77, key=ALICE), "HTTP 403")
        contains(said(world, "list", code=77, key="z" * 32), "HTTP 401")
        contains(said(world, "list", key=ADMIN), UNSOLVABLE)
        equal(said(world, "list", key=ADMIN, url=world.url + "/"), said(world, "list", key=ADMIN), "slash at the end")
        contains(said(world, "show", "7", code=65, key=ADMIN), "no such dead letter")
        contains(said(world, "list", "--class", "odd", code=65, key=ADMIN), "class")
        contains(said(world, "list", "--client", "nobody", code=65, key=ADMIN), "client")
        for args, words in (([], "list, show, replay or drop"), (["lsit"], 'did you mean "list"'), (["show"], "number"),
                            (["show", "x"], "number"), (["replay"], "--all"), (["drop"], "--all"),
                            (["show", "1", "2"], "number"), (["list", "--clas", "busy"], "--class")):
            contains(said(world, *args, code=64, key=ADMIN), words)
        url = world.url
        world.gate.stop()
        contains(said(world, "list", code=69, url=url), "no gateway answers")


@test
def the_images_of_all_letters_together_are_bounded():
    config = {"letters": {"bytes": "3MiB"}, "retry": {"unsolvable": 0}}
    with World(config, sim=("--solve-time", "10m")) as world:
        for i in range(6):
            task = world.submit_id(method="base64", body=base64.b64encode(bytes([i]) * 700000).decode())
            wait_until(lambda: world.paid() == i + 1, "the submit")
            world.sim.solve(error="ERROR_CAPTCHA_UNSOLVABLE")
            equal(world.result_text(task), "ERROR_CAPTCHA_UNSOLVABLE")
        letters = world.call("GET", "/v1/letters").json()
        equal((letters["total"], letters["letters"][0]["id"]), (3, "6"), "the newest stay; letters")


run()
