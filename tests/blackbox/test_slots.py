#!/usr/bin/env python3
"""The plan's slots: never more than there are, fair between clients, adapted to what the vendor says. (TAP)"""
import time

from gateway import ADMIN, ALICE, BOB, PAGE, World, clients, merge, together
from harness import check, equal, run, test, wait_until
from vendor_world import letters, most_at_once, paid_for, problem, rejections, strike

FAST = ("--solve-time", "50ms")
BROKE = "ERROR_ZERO_BALANCE"


def start(world, sitekey, **more):
    """Asks without waiting."""
    equal(world.solve(wait=None, sitekey=sitekey, **more).status, 202)


def finish(world, count, key=None):
    wait_until(lambda: world.counter("answered_api", key) >= count, f"{count} answers")


def order(world):
    """Sitekeys in the order in which they were paid for."""
    return [entry["params"]["sitekey"] for entry in world.sim.submits()]


@test
def there_are_never_more_tasks_at_the_vendor_than_slots():
    with World({"upstream": {"slots": 4}}, sim=("--solve-time", "uniform:20ms-200ms", "--slots", "4")) as world:
        together(40, lambda i: world.solved(sitekey=str(i)))
        totals = world.sim.totals()
        equal((totals["accepted"], totals["rejected"]), (40, 0))
        equal(most_at_once(world.sim.submits()), 4, "the plan is used to the full; at once")


@test
def the_queue_is_shared_by_weight_whoever_came_first():
    with World(merge(clients(alice={"weight": 3}), {"upstream": {"slots": 1}}), sim=FAST) as world:
        start(world, "SIM-NEVER", key=ALICE)
        wait_until(lambda: world.paid() == 1, "the slot to be taken")
        for i in range(9):
            start(world, f"a{i}", key=ALICE)
        for i in range(3):
            start(world, f"b{i}", key=BOB)
        world.sim.solve()
        finish(world, 13, key=ADMIN)
        queue = order(world)[1:]
        equal([name for name in queue if name[0] == "a"], [f"a{i}" for i in range(9)], "first in, first out")
        # Wherever in its turn alice was, every window of four holds three of hers and one of bob's.
        for i in range(0, 9):
            equal(sorted(name[0] for name in queue[i:i + 4]), ["a", "a", "a", "b"], f"{queue} from {i}")


@test
def what_one_client_does_not_read_keeps_nobody_out():
    config = merge(clients(), {"limits": {"requests": 40}, "idempotency": {"max": 20}})
    with World(config, sim=FAST) as world:
        first = world.submit_id(key=ALICE)
        equal(world.result_text(first, key=ALICE)[:3], "OK|")
        for i in range(100):
            world.submit_id(key=ALICE, idempotency_key=f"k{i}")
        world.submit_id(key=BOB, sitekey="b", idempotency_key="mine")
        equal(world.solved(sitekey="c", key=BOB)["status"], "solved")
        equal(world.result(first, key=ALICE).text, "ERROR_WRONG_CAPTCHA_ID", "the oldest of the greediest gave way")


@test
def the_queue_of_one_client_leaves_others_a_place():
    config = merge(clients(), {"limits": {"flights": 20}, "upstream": {"slots": 1}})
    with World(config, sim=("--solve-time", "10m")) as world:
        answers = [world.submit(key=ALICE, sitekey=f"a{i}").text for i in range(30)]
        equal(sum(answer.startswith("OK|") for answer in answers), 16, "four fifths")
        world.submit_id(key=BOB, sitekey="b")


@test
def higher_priority_goes_first_within_a_client():
    with World({"upstream": {"slots": 1}}, sim=FAST) as world:
        start(world, "SIM-NEVER")
        wait_until(lambda: world.paid() == 1, "the slot to be taken")
        for i, priority in enumerate((0, 0, 9, 5, 5, 9)):
            start(world, f"{priority}.{i}", priority=priority)
        world.sim.solve()
        finish(world, 7)
        equal(order(world)[1:], ["9.2", "9.5", "5.3", "5.4", "0.0", "0.1"])


@test
def a_client_holds_no_more_than_its_own_slots():
    with World(merge(clients(alice={"slots": 2}), {"upstream": {"slots": 10}}), sim=("--solve-time", "10m")) as world:
        for i in range(6):
            start(world, f"a{i}", key=ALICE)
        wait_until(lambda: world.paid() == 2, "alice's slots to be taken")
        world.solved(sitekey="SIM-SLOW-100ms.b", key=BOB)
        equal(world.counter("answered_api", ADMIN), 1, "bob does not wait behind alice; answers")
        wait_until(lambda: (world.sim.solve(), world.counter("answered_api", ADMIN) == 7)[1], "all answers")
        entries = world.sim.submits()
        equal(most_at_once([entry for entry in entries if entry["params"]["sitekey"][0] == "a"]), 2)
        equal(most_at_once(entries), 3)


@test
def busy_answers_lower_the_limit_and_accepted_submits_raise_it_again():
    with World({"upstream": {"slots": 8}}, sim=FAST) as world:
        equal(world.stats()["now"]["slots_limit"], 8)
        world.sim.set_faults(script=[strike("submit-error", None, 3)])
        together(8, lambda i: world.solved(sitekey=f"cut{i}"))
        limit = world.stats()["now"]["slots_limit"]
        check(1 <= limit < 8, f"limit {limit}")
        together(60, lambda i: world.solved(sitekey=f"grow{i}"))
        equal((world.stats()["now"]["slots_limit"], world.stats()["now"]["slots_plan"]), (8, 8))
        equal(world.sim.totals()["rejected"], 3)


@test
def a_plan_smaller_than_we_were_told_is_found_out():
    config = {"upstream": {"slots": 20}, "retry": {"busy": 20, "cap": "200ms"}}
    with World(config, sim=("--solve-time", "100ms", "--slots", "2")) as world:
        together(20, lambda i: world.solved(sitekey=str(i)))
        totals = world.sim.totals()
        equal(totals["accepted"], 20)
        check(totals["rejected"] < 50, f"{totals['rejected']} refusals")
        check(world.stats()["now"]["slots_limit"] <= 4, "the limit has come down")


@test
def a_long_queue_does_not_run_into_a_full_plan_one_by_one():
    with World({"upstream": {"slots": 20}, "retry": {"base": "30s", "cap": "30s"}}) as world:
        for i in range(20):
            start(world, f"SIM-NEVER.{i}")
        for i in range(100):
            start(world, str(i))
        wait_until(lambda: world.paid() == 20, "all slots to be taken")
        world.sim.set_faults(faults={"submit-error": 1})
        world.sim.solve()
        finish(world, 20)
        wait_until(lambda: world.sim.totals()["rejected"] >= 1, "a refusal")
        time.sleep(0.3)
        refused = world.sim.totals()["rejected"]
        check(1 <= refused < 40, f"{refused} of 100 were sent to be refused")


@test
def auto_learns_the_plan_from_the_vendor():
    with World({"upstream": {"slots": "auto"}}, sim=(*FAST, "--slots", "3")) as world:
        wait_until(lambda: world.stats()["now"]["slots_plan"] == 3, "the plan")
        equal(world.stats()["now"]["slots_limit"], 3)
        together(12, lambda i: world.solved(sitekey=str(i)))
        equal(world.sim.totals()["rejected"], 0)
        equal(most_at_once(world.sim.submits()), 3)


@test
def auto_starts_at_a_plan_of_any_size_and_calls_nothing_cut():
    with World({"upstream": {"slots": "auto"}}, sim=(*FAST, "--slots", "10000")) as world:
        wait_until(lambda: world.stats()["now"]["slots_limit"] == 10000, "the plan")
        equal(world.stats()["now"]["slots_cut"], False, "slots_cut")


@test
def auto_feels_its_way_when_the_vendor_does_not_tell():
    with World({"upstream": {"slots": "auto"}}, sim=(*FAST, "--fault", "account-5xx=1")) as world:
        wait_until(lambda: world.sim.totals()["threads_calls"] >= 1, "the question")
        # Nothing is solved before all are there, so that the limit is reached however late they come.
        world.sim.set_faults(faults={"account-5xx": 1, "task-never": 1})

        def let_go():
            world.await_waiting(40)
            world.sim.set_faults(faults={"account-5xx": 1})
            wait_until(lambda: (world.sim.solve(), world.counter("answered_api") == 40)[1], "all answers")

        together(40, lambda i: world.solved(sitekey=str(i)), let_go)
        limit = world.stats()["now"]["slots_limit"]
        check(10 < limit < 20, f"starts with 10 and grows: {limit}")


@test
def zero_balance_means_busy_while_all_threads_are_working():
    sim = ("--solve-time", "10m", "--slots", "2", "--busy-code", BROKE)
    with World({"upstream": {"slots": 4}, "retry": {"busy": 50, "cap": "200ms"}}, sim=sim) as world:
        def let_go():
            wait_until(lambda: rejections(world, BROKE) > 0, "it to be said")
            wait_until(lambda: (world.sim.solve(), world.counter("answered_api") == 10)[1], "all answers")

        together(10, lambda i: world.solved(sitekey=str(i)), let_go)
        check(world.sim.totals()["threads_calls"] > 0, "and asked about")
        equal(world.stats()["now"]["breaker"], "closed")
        equal(letters(world)["total"], 0)


@test
def zero_balance_means_the_account_while_threads_are_free():
    with World({}, sim=("--slots", "5")) as world:
        world.sim.set_faults(script=[strike("submit-error", None, 99, BROKE)])
        reply = world.solve()
        equal(problem(reply, 503, "vendor_account")["upstream_code"], BROKE)
        equal(world.stats()["now"]["breaker"], "open")
        equal(rejections(world, BROKE), 1)


@test
def zero_balance_opens_the_breaker_also_when_nobody_may_try_again():
    with World({"retry": {"busy": 0}}, sim=("--slots", "5")) as world:
        world.sim.set_faults(script=[strike("submit-error", None, 99, BROKE)])
        equal(world.solve().status, 503)
        wait_until(lambda: world.stats()["now"]["breaker"] == "open", "the breaker to open")
        equal(world.submit(sitekey="other").text, BROKE)


@test
def zero_balance_at_a_full_plan_is_busy_even_if_a_thread_is_free_by_the_time_we_ask():
    with World({}, sim=("--solve-time", "100ms", "--slots", "3")) as world:
        for i in range(2):
            start(world, f"SIM-NEVER.{i}")
        wait_until(lambda: world.paid() == 2, "two at the vendor")
        # The vendor frees the third thread a little later than it hands out the solution.
        world.sim.set_faults(script=[strike("submit-error", "third", 1, BROKE)])
        third = world.solve(wait=None, sitekey="third").json()["id"]
        wait_until(lambda: world.sim.totals()["threads_calls"] == 1, "the question")
        world.sim.solve()
        answer = world.call("GET", f"/v1/solves/{third}", wait=15).json()
        equal((answer["status"], answer["attempts"]), ("solved", 2))
        equal(world.stats()["now"]["breaker"], "closed")
        equal(world.sim.totals()["threads_calls"], 1)


@test
def who_waits_in_the_queue_too_long_is_told_and_costs_nothing():
    config = {"upstream": {"slots": 1}, "solve_timeout": "6s", "ambiguity_window": "500ms"}
    with World(config) as world:
        start(world, "SIM-NEVER.0")
        late = world.solve(wait=None, sitekey="late").json()["id"]
        time.sleep(1)
        start(world, "SIM-NEVER.1", priority=9)  # gets the slot when the first one gives up
        problem(world.call("GET", f"/v1/solves/{late}", wait=10), 504, "solve_timeout")
        equal(len(paid_for(world, "late")), 0)
        check(letters(world)["total"] == world.counter("letters") <= 2, "letters are for what was paid")
        equal([letter for letter in letters(world)["letters"] if letter["attempt_count"] == 0], [])


@test
def what_is_queued_can_be_seen():
    with World({"upstream": {"slots": 2}}) as world:
        for i in range(5):
            start(world, "SIM-SLOW-30s", pageurl=f"{PAGE}/{i}")
        world.await_accepted(2)
        states = [flight["state"] for flight in world.call("GET", "/v1/flights").json()["flights"]]
        equal(sorted(states), ["queued"] * 3 + ["solving"] * 2)
        now = world.stats()["now"]
        equal((now["queued"], now["slots_used"], now["slots_limit"]), (3, 2, 2))


run()
