#!/usr/bin/env python3
"""Shadow mode: the ledger shows one submit for each request, and the books what serving would have saved. (TAP)"""
import json

from cli_world import expect, solvegate
from gateway import ADMIN, ALICE, BOB, PAGE, World, clients, merge, rewrite, together
from harness import KEY, check, contains, equal, run, test, wait_until
from store_world import StoreWorld
from task_world import SITE, create, create_id, solution

SHADOW = {"mode": "shadow", "upstream": {"price": {"turnstile": 0.002}}}
TURNSTILE = {"type": "TurnstileTaskProxyless", **SITE}
SLOW = ("--solve-time", "10m")


def ask_in_turn(world, i, **more):
    """The same target, in each dialect in turn; returns the solution."""
    if i % 3 == 0:
        return world.result_text(world.submit_id(**more))[3:]
    if i % 3 == 1:
        return world.solved(**more)["solution"]
    return solution(world, create_id(world, TURNSTILE))["token"]


def all_shared(world):
    """The shadow of what was paid since the start."""
    return world.stats()["total"].get("shadow", {})


# --- one submit for each request ------------------------------------------------------------------


@test
def identical_requests_in_all_dialects_are_each_paid_for_and_get_their_own_solution():
    with World(SHADOW) as world:
        answers = together(12, lambda i: ask_in_turn(world, i))
        equal(len(set(answers)), 12, "solutions")
        equal(world.paid(), 12, "submits")
        answers += [ask_in_turn(world, i) for i in range(3)]
        equal(len(set(answers)), 15, "solutions, later ones too")
        equal(world.paid(), 15, "submits, later ones too")
        shadow = all_shared(world)
        equal((shadow["paid"], shadow["duplicates"]), (15, 14), "what would have been saved")
        equal(shadow["dedup_wait"] + shadow["dedup_cache"], 14, "by joining or from memory")
        check(shadow["dedup_cache"] >= 3, "those that came later would have found it in memory")


@test
def retries_with_an_idempotency_key_pay_again():
    with World(SHADOW) as world:
        headers = {"Idempotency-Key": "order-1"}
        texts = {world.solved(headers=headers, reuse="single")["solution"] for _ in range(3)}
        equal(len(texts), 3, "solutions")
        reply = world.solve(headers=headers, reuse="single", sitekey="other")
        equal(reply.status, 200, "the same key for something else")
        equal(world.submit(idempotency_key="order-2").text[:3], "OK|", "in.php")
        equal(create(world, TURNSTILE, headers={"Idempotency-Key": "order-2"})["errorId"], 0, "createTask")
        world.await_accepted(6)
        equal(world.paid(), 6, "submits")
        equal(all_shared(world)["idempotent"], 3, "by idempotency key")
        equal(world.counter("shadow_mismatched"), 1, "keys for something else")


@test
def polling_and_asking_again_for_the_same_id_submits_nothing():
    with World(SHADOW, sim=SLOW) as world:
        task = world.submit_id()
        for _ in range(20):
            equal(world.result(task).text, "CAPCHA_NOT_READY", "the poll")
        world.sim.solve()
        text = world.result_text(task)
        for _ in range(5):
            equal(world.result(task).text, text, "the poll")
        equal(world.paid(), 1, "submits")


@test
def what_the_vendor_refuses_is_said_at_once_and_not_tried_again():
    with World(SHADOW, sim=(*SLOW, "--slots", "1")) as world:
        world.submit_id()
        for _ in range(3):
            equal(world.submit().text, "ERROR_NO_SLOT_AVAILABLE", "in.php")
        equal(world.submit(json=1).json(), {"status": 0, "request": "ERROR_NO_SLOT_AVAILABLE"}, "in.php as JSON")
        reply = create(world, TURNSTILE)
        equal((reply["errorId"], reply["errorCode"]), (1, "ERROR_NO_SLOT_AVAILABLE"), "createTask")
        totals = world.sim.totals()
        equal((totals["accepted"], totals["rejected"]), (1, 5), "accepted and refused")


@test
def a_task_that_cannot_be_solved_is_not_submitted_again():
    with World(SHADOW) as world:
        equal(world.result_text(world.submit_id(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE")), "ERROR_CAPTCHA_UNSOLVABLE", "res.php")
        reply = world.solve(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE")
        equal(reply.json()["upstream_code"], "ERROR_CAPTCHA_UNSOLVABLE", "/v1")
        equal(world.paid(), 2, "submits")


@test
def a_budget_refuses_nobody_but_allow_lists_still_do():
    config = clients(alice={"budget_per_day": 1, "allow_hosts": ["example.com"]})
    with World({**config, "mode": "shadow"}) as world:
        for _ in range(3):
            world.submit_id(key=ALICE)
        equal(world.submit(key=ALICE, pageurl="https://other.example/").text, "ERROR_DOMAIN_NOT_ALLOWED", "another host")
        equal(world.submit(key="x" * 32).text, "ERROR_KEY_DOES_NOT_EXIST", "a stranger")
        world.await_accepted(3, ADMIN)
        equal(world.paid(), 3, "submits")


# --- who is in shadow mode ------------------------------------------------------------------------


@test
def a_watched_and_a_served_client_never_share():
    config = {**clients(alice={"mode": "shadow"}), "dedup": {"scope": "global"}}
    with World(config) as world:
        answers = together(8, lambda i: world.solved(key=ALICE if i % 2 else BOB)["solution"])
        equal(len(set(answers[1::2])), 4, "alice's solutions")
        equal(len(set(answers[0::2])), 1, "bob's solutions")
        check(not set(answers[1::2]) & set(answers[0::2]), "somebody shared")
        equal(world.paid(), 5, "submits")
        stats = world.stats(ADMIN)
        equal(stats["shadow"]["clients"], ["alice"], "who is in shadow mode")
        equal(stats["total"]["by_client"]["alice"]["shadow"]["duplicates"], 3, "alice's duplicates")
        check("shadow" not in stats["total"]["by_client"]["bob"], "bob has no shadow")


@test
def one_word_and_a_reload_switch_to_serving_and_back():
    with World(SHADOW) as world:
        for _ in range(2):
            world.solved()
        equal(world.paid(), 2, "submits in shadow mode")
        rewrite(world, lambda config: config.update(mode="serve"))("reloaded")
        equal([world.solved()["source"] for _ in range(3)], ["api", "dedup_cache", "dedup_cache"], "sources")
        equal(world.paid(), 3, "submits")
        rewrite(world, lambda config: config.update(mode="shadow"))("reloaded")
        equal(world.solved()["source"], "api", "the source")
        equal(world.paid(), 4, "submits in shadow mode again")


@test
def another_word_is_refused_and_named():
    done = solvegate("check", "-c", "-", text=json.dumps({"mode": "watch", "clients": [{"name": "a", "key": ALICE, "mode": 1}]}))
    equal(done.returncode, 78, "exit code")
    contains(done.stdout + done.stderr, "mode: expected \"serve\" or \"shadow\", found \"watch\"")
    contains(done.stdout + done.stderr, "clients[0].mode: expected")


# --- what is found out ----------------------------------------------------------------------------


@test
def the_books_say_what_serving_would_have_saved():
    with World(merge(SHADOW, clients())) as world:
        for _ in range(3):
            world.solved(key=ALICE)
        world.solved(key=BOB, sitekey="another")
        stats = world.stats(ADMIN)
        day = stats["shadow"]["last_24_hours"]
        equal(day, {"paid": 4, "duplicates": 2, "duplicates_pct": 50.0, "money_saved": 0.004}, "the last day")
        alice = stats["today"]["by_client"]["alice"]["shadow"]
        equal((alice["paid"], alice["duplicates"], alice["dedup_cache"]), (3, 2, 2), "alice")
        equal((alice["money_spent"], alice["money_saved"]), (0.006, 0.004), "alice's money")
        equal(alice["money_saved_by"], {"dedup_wait": 0, "dedup_cache": 0.004, "idempotent": 0}, "by source")
        equal(stats["today"]["by_type"]["turnstile"]["shadow"]["duplicates"], 2, "by type")
        equal(world.call("GET", "/v1/stats", key=ALICE).status, 403, "the keys are for admins only")
        metrics = world.call("GET", "/metrics", key=ADMIN).text
        contains(metrics, "\nsolvegate_shadow_paid_total 4\n")
        contains(metrics, '\nsolvegate_shadow_duplicates_total{source="dedup_cache"} 2\n')
        contains(metrics, '\nsolvegate_client_shadow_dedup_cache_total{client="alice"} 2\n')
        contains(metrics, '\nsolvegate_type_shadow_money_dedup_cache_total{type="turnstile"} 0.004000\n')


@test
def the_keys_that_repeat_most_are_named_with_host_and_type():
    with World(merge(SHADOW, {"shadow": {"top": 2}})) as world:
        for times, key in ((4, "most"), (3, "more"), (2, "few")):
            for _ in range(times):
                world.solved(sitekey=key)
        repeats = world.stats()["shadow"]["repeats"]
        equal(len(repeats), 2, "as many as the configuration says")
        first = repeats[0]
        explained = world.call("POST", "/v1/explain", {"method": "turnstile", "sitekey": "most", "pageurl": PAGE}).json()
        equal(first, {"key": explained["key"], "host": "example.com", "type": "turnstile", "client": "anonymous",
                      "duplicates": 3, "at_least": 3, "money_saved": 0.006}, "the first")
        equal((repeats[1]["duplicates"], repeats[1]["at_least"]), (3, 1), "one that took another's place")
        check("most" not in json.dumps(repeats), "keys are hashed")


@test
def the_command_line_shows_the_shadow():
    with World(merge(SHADOW, clients())) as world:
        for _ in range(4):
            world.solved(key=ALICE)
        done = solvegate("stats", "--shadow", "--url", world.url, "--key-file", "-", text=ADMIN)
        expect(done, 0)
        contains(done.stdout, "Shadow: 75 % of your solves in the last 24 hours were duplicates (3 of 4);"
                              " serving them once would have saved 0.01.")
        contains(done.stdout, "In shadow mode now: alice, bob, admin.")
        for words in ("from memory", "0.0060", "alice", "turnstile", "example.com", "since the gateway's start", "REPEATED KEY"):
            contains(done.stdout, words)
        plain = solvegate("stats", "--url", world.url, "--key-file", "-", text=ADMIN)
        expect(plain, 0)
        check("Shadow" not in plain.stdout, "only with --shadow")


@test
def reports_about_shared_solutions_give_advice_by_target():
    with World() as world:
        for host, word in (("once.example", "reportbad"), ("often.example", "reportgood")):
            for i in range(5):
                page = f"https://{host}/{i}"
                tasks = [world.submit_id(pageurl=page) for _ in range(2)]
                for task in tasks:
                    check(world.result_text(task).startswith("OK|"), "the solution")
                for task in tasks:
                    world.result(task, action=word)
        targets = {target["host"]: target for target in world.stats()["shadow"]["targets"]}
        equal(targets["once.example"]["shared"], {"good": 0, "bad": 10}, "reports")
        equal(targets["once.example"]["advice"], "single", "the advice")
        equal(targets["often.example"]["advice"], "shared", "the advice")
        done = solvegate("stats", "--shadow", "--url", world.url)
        expect(done, 0)
        contains(done.stdout, "once.example")
        contains(done.stdout, "single")


# --- crashes --------------------------------------------------------------------------------------


@test
def kill_9_loses_no_paid_solution_and_no_books():
    with StoreWorld(SHADOW, sim=SLOW) as world:
        tasks = [world.submit_id() for _ in range(2)] + [create_id(world, TURNSTILE)]
        world.await_journaled_task(3)
        wait_until(lambda: any('"shadow_paid":3' in row[0] for row in world.rows("SELECT counters FROM day")), "the books on disk")
        world.restart()
        world.sim.solve()
        answers = [world.result_text(task)[3:] for task in tasks[:2]] + [solution(world, tasks[2])["token"]]
        equal(len(set(answers)), 3, "each has its own")
        equal(world.paid(), 3, "submits")
        stats = world.stats()
        equal(stats["today"]["shadow"]["duplicates"], 2, "the books")
        equal(stats["shadow"]["last_24_hours"]["duplicates"], 2, "the last day")


run()
