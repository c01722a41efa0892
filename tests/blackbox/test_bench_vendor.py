#!/usr/bin/env python3
"""solvegate bench vendor: it measures a vendor and never spends more than its budget. (TAP)"""
import json
import re

from cli_world import EX_UNAVAILABLE, EX_USAGE, Terminal, expect, solvegate
from gateway import free_port
from harness import KEY, Sim, check, contains, equal, get, run, test

VENDOR = {"CAPTCHAAI_API_KEY": KEY}


def vendor(sim, *args, code=0):
    return expect(solvegate("bench", "vendor", "--url", sim.url, "--poll", "50ms", *args, env=VENDOR), code)


def report(sim, *args, code=0):
    return json.loads(vendor(sim, "--yes", "--json", *args, code=code).stdout)


def balance(sim):
    return float(get(sim.url + "/res.php", key=KEY, action="getbalance").text)


@test
def it_never_spends_more_than_the_budget():
    with Sim("--price", "0.003", "--solve-time", "20ms") as sim:
        told = report(sim, "-n", "50", "--budget", "0.02")
        equal((sim.totals()["accepted"], round(10 - balance(sim), 6)), (6, 0.018), "paid, by the ledger")
        equal((told["spent"], told["is_spent_by_balance"], told["is_budget_used"]), (0.018, True, True))
        equal([(row["method"], row["at_once"], row["sent"], row["solved"]) for row in told["rows"]], [("turnstile", 5, 6, 6)])
        equal(report(sim, "-n", "2", "--budget", "0.001")["spent"], 0.003, "one captcha shows the price")


@test
def methods_and_levels_share_requests_and_budget():
    with Sim("--price", "0.001", "--solve-time", "20ms", "--solve-time", "base64=300ms") as sim:
        told = report(sim, "-n", "12", "--budget", "1", "-m", "turnstile,base64", "-c", "1,3")
        equal([(row["method"], row["at_once"], row["solved"]) for row in told["rows"]],
              [("turnstile", 1, 3), ("turnstile", 3, 3), ("base64", 1, 3), ("base64", 3, 3)])
        check(min(row["p50_ms"] for row in told["rows"][2:]) >= 300, told)
        told = report(sim, "-n", "40", "--budget", "0.008", "-m", "turnstile,base64")
        equal([row["solved"] for row in told["rows"]], [4, 4], "half of the budget each")


@test
def percentiles_of_a_few_solves_are_not_made_up():
    with Sim("--price", "0.001", "--solve-time", "20ms") as sim:
        for solves, p50, p95 in ((1, False, False), (19, True, False), (20, True, True)):
            row = report(sim, "-n", str(solves), "--budget", "1")["rows"][0]
            equal((row["p50_ms"] is not None, row["p95_ms"] is not None), (p50, p95), f"percentiles of {solves}")
            equal((row["callback_sooner_p50_ms"], row["callback_sooner_p95_ms"]), (None, None), "callbacks, of which there are none")
            text = vendor(sim, "--yes", "-n", str(solves), "--budget", "1").stdout
            check(re.search(rf"turnstile +5 +{solves} +{solves} +0 +0 +{r'[0-9.]+m?s' if p50 else '-'} +{r'[0-9.]+m?s' if p95 else '-'}\n", text), text)
        row = report(sim, "-n", "2", "--budget", "1", "-s", "SIM-ERROR_CAPTCHA_UNSOLVABLE", code=1)["rows"][0]
        equal((row["p50_ms"], row["p95_ms"]), (None, None), "percentiles of nothing")


@test
def the_confirmation_names_what_may_exceed_the_budget():
    with Sim("--price", "0.001", "--solve-time", "0") as sim:
        for more, words in (((), r"more than 4 times the highest seen\s+between two looks.*costs more than is left.*shows late, or never"),
                            (("--price", "0.002"), r"more than 4 times.*more than the 0.002 given and the balance shows it late")):
            with Terminal("bench", "vendor", "--url", sim.url, "-n", "7", "--budget", "0.5", *more, env=VENDOR) as terminal:
                terminal.wait_for(r"Go on\? \[y/N\] ")
                check(re.search(r"(?s)can be more only.*" + words, terminal.shown), terminal.shown)
                check(max(map(len, terminal.shown.splitlines())) <= 80, terminal.shown)
                terminal.type("n\n")
                equal(terminal.ended(), 1, "exit code")


@test
def callbacks_are_compared_with_polls():
    """A solve of 300 ms that is polled for each second: the callback comes about 700 ms sooner."""
    with Sim("--price", "0.001", "--solve-time", "300ms") as sim:
        place = f"127.0.0.1:{free_port()}"
        args = ("--yes", "-n", "6", "--budget", "1", "--callbacks", place, "--poll", "1s")
        row = report(sim, *args)["rows"][0]
        equal((row["solved"], row["called_back"]), (6, 6))
        check(200 < row["callback_sooner_p50_ms"] < 1000, row)
        text = vendor(sim, *args).stdout
        check(re.search(r"turnstile +5 +6 of 6 ", text), text)
        check(max(map(len, text.splitlines())) <= 80, text)


@test
def busy_answers_and_failures_are_told_apart():
    with Sim("--slots", "1", "--solve-time", "10m", "--price", "0.001") as sim:
        sim.submit_id()
        text = vendor(sim, "--yes", "-n", "4", "--budget", "1", code=1).stdout
        check(re.search(r"turnstile +5 +4 +0 +4 +0 +- +-\n", text), text)
        contains(text, "ERROR_NO_SLOT_AVAILABLE")
        check(max(map(len, text.splitlines())) <= 80, text)
    with Sim("--solve-time", "0") as sim:
        row = report(sim, "-n", "4", "--budget", "1", "-s", "SIM-ERROR_CAPTCHA_UNSOLVABLE", code=1)["rows"][0]
        equal((row["busy"], row["failed"], row["errors"]), (0, 4, {"ERROR_CAPTCHA_UNSOLVABLE": 4}))


@test
def a_vendor_without_balance_needs_a_price():
    with Sim("--solve-time", "0", "--fault", "account-error=1") as sim:
        contains(vendor(sim, "--yes", "--budget", "1", code=EX_UNAVAILABLE).stderr, "--price")
        told = report(sim, "-n", "9", "--budget", "0.5", "--price", "0.1")
        equal((sim.totals()["accepted"], told["spent"], told["is_spent_by_balance"]), (5, 0.5, False))


@test
def nothing_is_spent_without_budget_key_and_consent():
    with Sim("--price", "0.001", "--solve-time", "0") as sim:
        contains(vendor(sim, "--yes", code=EX_USAGE).stderr, "--budget")
        contains(vendor(sim, "--budget", "1", code=EX_USAGE).stderr, "confirm it with --yes")
        contains(vendor(sim, "--budget", "1", "--rate", "5/s", code=EX_USAGE).stderr, "has no --rate")
        done = solvegate("bench", "vendor", "--url", sim.url, "--yes", "--budget", "1", env={"SOLVEGATE_KEY": KEY})
        contains(expect(done, EX_USAGE, stdout="").stderr, "CAPTCHAAI_API_KEY")
        with Terminal("bench", "vendor", "--url", sim.url, "-n", "7", "--budget", "0.5", env=VENDOR) as terminal:
            terminal.wait_for(r"(?s)Up to 7 captchas \(turnstile\).*for at most 0.5 of the balance of 10\..*Go on")
            terminal.type("n\n")
            equal(terminal.ended(), 1, "exit code")
        equal(sim.totals()["accepted"], 0, "paid")
    for args, words in ((["--url", "https://1.1.1.1"], "--i-own-this-host"),
                        (["--url", "http://1.1.1.1", "--i-own-this-host"], "use https")):
        done = solvegate("bench", "vendor", "--yes", "--budget", "1", *args, env=VENDOR)
        contains(expect(done, EX_USAGE, stdout="").stderr, words)
    contains(expect(solvegate("bench", "--budget", "1"), EX_USAGE).stderr, "for bench vendor")
    contains(expect(solvegate("bench", "-c", "1,2"), EX_USAGE).stderr, "for bench vendor")


run()
