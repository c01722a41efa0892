#!/usr/bin/env python3
"""solvegate bench vendor: --budget is a hard limit, whatever the vendor's connections and its balance do. (TAP)"""
import json
import re
import signal
import subprocess
import time

from bench_world import PRICE, Vendor
from cli_world import EX_UNAVAILABLE, clean_environment, expect, solvegate
from gateway import free_port
from harness import KEY, TIMEOUT, binary, check, equal, run, test, wait_until

BUDGET = 10 * PRICE


def vendor(server, *args, code=0):
    return expect(solvegate("bench", "vendor", "--url", server.url, "--yes", "--budget", str(BUDGET), "--poll", "50ms", *args,
                            env={"CAPTCHAAI_API_KEY": KEY}), code).stdout


def report(server, *args, code=0):
    return json.loads(vendor(server, "--json", *args, code=code))


def within_budget(server, told, budget=BUDGET):
    check(server.spent <= budget + 1e-9, f"{server.spent} was spent of {budget}; told: {told}")
    check(told["spent"] >= server.spent - 1e-9, f"{server.spent} was spent, and told: {told}")


@test
def a_submit_whose_reply_is_lost_is_not_sent_again():
    """libcurl repeats a request by itself if a connection that was used before dies."""
    for shown in (lambda vendor: None, None):
        with Vendor(shown=shown, lose=lambda calls: calls > 1) as server:
            told = report(server, "-n", "60", "-c", "1", "--price", str(PRICE))
            row = told["rows"][0]
            check(row["sent"] == len(server.tasks) and 9 <= row["sent"] <= 10, f"{len(server.tasks)} accepted: {row}")
            check(row["errors"].get("bench_connection_lost", 0) > 0, row)
            equal(told["spent"], server.spent, "spent: lost captchas are paid for, and no dearer than others")
            within_budget(server, told)


@test
def a_balance_that_rises_does_not_pay_anything_back():
    with Vendor(shown=lambda vendor: len(vendor.tasks) - (1000 if len(vendor.tasks) >= 3 else 0)) as server:
        told = report(server, "-n", "60", "-c", "5")
        within_budget(server, told)
        equal((len(server.tasks), told["is_budget_used"]), (10, True))


@test
def what_the_balance_shows_late_or_never_is_reserved_at_the_price():
    for shown in (lambda vendor: vendor.older_than(1), lambda vendor: 0):
        with Vendor(shown=shown) as server:
            told = report(server, "-n", "60", "-c", "10", "--price", str(PRICE))
            within_budget(server, told)
            equal((len(server.tasks), told["spent"], told["is_spent_by_balance"]), (10, BUDGET, False))
            check("by the price" in vendor(server, "-n", "60", "--price", str(PRICE)), "how it is known")


@test
def captchas_that_are_given_up_are_reserved():
    """They are charged when they are solved, which is long after --wait."""
    with Vendor(shown=lambda vendor: vendor.older_than(2.5), solve_s=2.5) as server:
        told = report(server, "-n", "60", "-c", "5", "--wait", "1s", "--budget", str(5 * PRICE), code=1)
        within_budget(server, told, 5 * PRICE)


@test
def refused_captchas_cost_nothing():
    """Neither a refusal nor a vendor that is not reached uses the budget up."""
    refusing = Vendor(shown=lambda vendor: None)
    refusing.reply = lambda path, body, calls: (200, b'{"status":0,"request":"ERROR_NO_SLOT_AVAILABLE"}')
    with refusing as server:
        told = report(server, "-n", "30", "--price", str(PRICE), code=1)
        equal((told["rows"][0]["sent"], told["rows"][0]["busy"], told["spent"]), (30, 30, 0))
        text = vendor(server, "-n", "30", "--price", str(PRICE), code=1)
        check(re.search(r"^spent 0 of 0.1, by the price", text, re.M), text)


@test
def a_price_that_rises_ends_it_before_the_budget_is_exceeded():
    """Up to four times as high, as documented, it costs no more than the budget and a part of the last captcha; beyond that, not
    more than the few that were sent at once."""
    for after, rise in ((1, 4), (30, 4), (60, 1.5)):
        with Vendor(price=lambda number: PRICE / 10 * (rise if number >= after else 1)) as server:
            told = report(server, "-n", "200", "-c", "20")
            most = BUDGET + PRICE / 10 * (rise - 1)
            check(server.spent <= most + 1e-9, f"{server.spent} was spent of {BUDGET} with a rise to {rise} after {after}; told: {told}")
            check(told["spent"] >= server.spent - 1e-9, f"{server.spent} was spent, and told: {told}")
    with Vendor(price=lambda number: PRICE * (5 if number >= 5 else 0.1)) as server:
        report(server, "-n", "60", "-c", "20")
        check(server.spent <= 2 * BUDGET, f"{server.spent} was spent of {BUDGET} with a rise to fifty times the price")


@test
def a_budget_of_four_times_the_cost_slows_nothing_down():
    with Vendor() as server:
        told = report(server, "-n", "60", "-c", "20", "--budget", str(60 * 4 * PRICE))
        equal((len(server.tasks), told["is_budget_used"]), (60, False))


@test
def a_price_that_is_given_too_low_is_seen_after_one_captcha():
    with Vendor() as server:
        told = report(server, "-n", "60", "-c", "20", "--price", str(PRICE / 10))
        within_budget(server, told)
        equal((len(server.tasks), told["is_spent_by_balance"]), (10, True))


@test
def a_balance_that_shows_nothing_is_no_proof():
    """Neither one that stays as it is nor one that rises says what was spent."""
    looks = []
    for shown in (lambda vendor: 0, lambda vendor: looks.append(1) or -len(looks)):
        with Vendor(shown=shown) as server:
            told = report(server, "-n", "4", "-c", "2")
            equal((told["spent"], told["is_spent_known"]), (0, False))
            text = vendor(server, "-n", "4", "-c", "2")
            check(re.search(r"(?s)^spent at least 0 of 0.1\n.*balance did not fall.*--price", text, re.M), text)
            check(max(map(len, text.splitlines())) <= 80, text)
            told = report(server, "-n", "4", "-c", "2", "--price", str(PRICE))
            equal((told["spent"], told["is_spent_known"], told["is_spent_by_balance"]), (4 * PRICE, True, False), "with a price")


@test
def nobody_at_the_address_is_told_as_that():
    nowhere = f"http://127.0.0.1:{free_port()}"
    for more in ((), ("--price", "0.01")):
        done = solvegate("bench", "vendor", "--url", nowhere, "--yes", "--budget", "1", *more, env={"CAPTCHAAI_API_KEY": KEY})
        stderr = expect(done, EX_UNAVAILABLE, stdout="").stderr
        check(f"nobody answers at {nowhere}:" in stderr and "balance" not in stderr, stderr)


@test
def an_interrupt_does_not_wait_for_a_balance_that_hangs():
    """And what was spent is told as far as it is known."""
    told = []

    def hangs(server):
        told.append(1)
        if len(told) > 1:
            time.sleep(30)
        return 0
    with Vendor(shown=hangs) as server:
        process = subprocess.Popen([binary("SOLVEGATE"), "bench", "vendor", "--url", server.url, "--yes", "--budget", "0.1", "--poll", "50ms"],
                                   stdout=subprocess.PIPE, text=True, env=clean_environment(CAPTCHAAI_API_KEY=KEY))
        wait_until(lambda: len(told) > 1, "the second look at the balance")
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=TIMEOUT)[0]
        check(time.monotonic() - begin < 8, f"ended after {time.monotonic() - begin:.1f} s")
        equal(process.returncode, 130, "exit code")
        check(re.search(r"^spent at least 0 of 0.1, by the vendor's balance", text, re.M), text)
        check("did not tell its balance after the last captchas" in text, text)


run()
