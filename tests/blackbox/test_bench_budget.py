#!/usr/bin/env python3
"""solvegate bench vendor: --budget is a hard limit, whatever the vendor's connections and its balance do. (TAP)"""
import json
import re
import signal
import subprocess
import time

from bench_world import PRICE, Vendor
from cli_world import clean_environment, expect, solvegate
from harness import KEY, TIMEOUT, binary, check, equal, run, test, wait_until

BUDGET = 10 * PRICE


def vendor(server, *args, code=0):
    return expect(solvegate("bench", "vendor", "--url", server.url, "--yes", "--budget", str(BUDGET), "--poll", "50ms", *args,
                            env={"CAPTCHAAI_API_KEY": KEY}), code).stdout


def report(server, *args, code=0):
    return json.loads(vendor(server, "--json", *args, code=code))


def within_budget(server, told):
    check(server.spent <= BUDGET + 1e-9, f"{server.spent} was spent of {BUDGET}; told: {told}")
    check(told["spent"] >= server.spent - 1e-9, f"{server.spent} was spent, and told: {told}")


@test
def a_submit_whose_reply_is_lost_is_not_sent_again():
    """libcurl repeats a request by itself if a connection that was used before dies."""
    for shown in (lambda vendor: None, None):
        with Vendor(shown=shown, lose=lambda calls: calls > 1) as server:
            told = report(server, "-n", "60", "-c", "5", "--price", str(PRICE))
            row = told["rows"][0]
            equal((row["sent"], len(server.tasks)), (10, 10), "sent, accepted")
            check(row["errors"].get("bench_connection_lost", 0) > 0, row)
            equal(told["spent"], BUDGET, "spent: lost captchas are paid for, and no dearer than others")
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
        told = report(server, "-n", "60", "-c", "5", "--wait", "1s", code=1)
        within_budget(server, told)


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
