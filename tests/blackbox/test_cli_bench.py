#!/usr/bin/env python3
"""solvegate bench: what it reports agrees with the simulator's ledger, and whom it refuses to ask. (TAP)"""
import csv
import io
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import tempfile

from cli_world import EX_DATAERR, EX_NOINPUT, EX_UNAVAILABLE, EX_USAGE, Terminal, clean_environment, expect, solvegate
from gateway import ALICE, World, clients, free_port
from harness import TIMEOUT, binary, check, contains, equal, run, test, wait_until
from vendor_world import metric

EX_CANTCREAT = 73
SHARES = ("min", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max")


def bench(world, *args, code=0, env=None):
    return expect(solvegate("bench", *args, env={"SOLVEGATE_URL": world.url, **(env or {})}), code)


def report(world, *args, code=0, env=None):
    return json.loads(bench(world, *args, "--json", code=code, env=env).stdout)


@test
def the_report_agrees_with_the_vendors_ledger_in_every_dialect():
    with World() as world:
        paid = 0
        for dialect in ("v1", "vendor", "createtask"):
            told = report(world, "--dialect", dialect, "-n", "60", "-c", "20", "--repeat", "0.5", "--zipf", "1.1")
            equal((told["dialect"], told["sent"], told["solved"], told["failed"]), (dialect, 60, 60, 0))
            equal(told["gateway"]["submits_paid"], world.paid() - paid, "submits paid, by the ledger")
            paid = world.paid()
            equal((told["gateway"]["requests"], sum(told["sources"].values())), (60, 60), "requests, answers")
            equal(told["sources"]["api"], told["gateway"]["submits_paid"], "answers of own solves")
            check(told["sources"]["api"] < 60, "half of them were repeats")
            times = [told["latency_ms"][share] for share in SHARES]
            equal(times[4:7], [None] * 3, "percentiles that need more than 60 solves")
            known = [time for time in times if time is not None]
            equal(known, sorted(known), "percentiles rise")
            equal(sum(row["solved"] for row in told["latency_classes"]), 60, "solves by latency")


@test
def notices_end_requests_in_every_dialect():
    """At an address that the gateway allows; another one is refused, and one that is taken is named."""
    port = free_port()
    place = f"127.0.0.1:{port}"
    with World({"callbacks": {"allow": [place], "allow_private": True}}) as world:
        for dialect in ("v1", "vendor", "createtask"):
            told = report(world, "--dialect", dialect, "-n", "30", "-c", "10", "--callbacks", place)
            equal((told["solved"], told["failed"]), (30, 0), f"{dialect}: {told['errors']}; solved, failed")
            check(told["latency_ms"]["p50"] > 50, f"{dialect}: a solve takes its time: {told['latency_ms']}")
        equal(world.counter("requests"), 90, "requests")
        contains(bench(world, "-n", "1", "--callbacks", place).stdout, "told by notices")
        refused = report(world, "-n", "2", "--callbacks", f"127.0.0.1:{free_port()}", code=1)
        equal(refused["errors"], {"pingback_not_allowed": 2})
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            contains(bench(world, "-n", "1", "--callbacks", address, code=71).stderr, f"cannot listen on {address}: address already in use")
        contains(bench(world, "-n", "1", "--callbacks", place, "--poll", "1s", code=EX_USAGE).stderr, "--poll or --callbacks")


@test
def an_open_loop_sends_what_is_due_and_counts_from_then():
    """The gateway stands still for a second: requests that were due meanwhile are sent, and count the delay."""
    with World() as world:
        report(world, "-n", "1", "--seed", "9")
        args = ("--rate", "100/s", "-d", "4s", "--repeat", "1", "--seed", "9", "--json")
        process = subprocess.Popen([binary("SOLVEGATE"), "bench", *args], stdout=subprocess.PIPE, text=True,
                                   env=clean_environment(SOLVEGATE_URL=world.url))
        wait_until(lambda: world.counter("requests") > 50, "requests")
        world.gate.process.send_signal(signal.SIGSTOP)
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            pass
        world.gate.process.send_signal(signal.SIGCONT)
        told = json.loads(process.communicate(timeout=TIMEOUT)[0])
        equal((told["sent"], told["solved"]), (400, 400))
        slow = sum(row["solved"] for row in told["latency_classes"] if row["up_to_ms"] > 200)
        # One that waits for answers would have had one slow request; on a busy machine the stop may come late in the run.
        check(slow >= 20, f"{slow} requests took longer than 200 ms")
        check(told["latency_ms"]["max"] > 500, told["latency_ms"])
        equal(told["sources"]["dedup_cache"], 400, "from memory")


@test
def steps_are_reported_one_by_one():
    with World() as world:
        told = report(world, "--rate", "20/s,60/s", "-d", "2s", "--repeat", "0.9")
        equal([(step["rate"], step["sent"], step["solved"]) for step in told["steps"]], [(20, 20, 20), (60, 60, 60)])


@test
def errors_are_counted_by_code():
    with World({"retry": {"unsolvable": 0}}) as world:
        told = report(world, "-n", "8", "--sitekey", "SIM-ERROR_CAPTCHA_UNSOLVABLE", code=1)
        equal((told["solved"], told["failed"], told["errors"]), (0, 8, {"unsolvable": 8}))
        told = report(world, "-n", "8", "--sitekey", "SIM-ERROR_CAPTCHA_UNSOLVABLE", "--dialect", "vendor", code=1)
        equal(told["errors"], {"ERROR_CAPTCHA_UNSOLVABLE": 8})
        text = bench(world, "-n", "3", "--sitekey", "SIM-ERROR_CAPTCHA_UNSOLVABLE", code=1).stdout
        check(re.search(r"\nERRORS\n  unsolvable +3\n", text), text)


@test
def polling_gets_the_same_answers():
    with World() as world:
        for dialect in ("v1", "vendor", "createtask"):
            told = report(world, "-n", "5", "--poll", "50ms", "--dialect", dialect)
            equal((told["solved"], told["failed"]), (5, 0), dialect)


@test
def images_are_made_up_or_come_from_a_folder():
    with World() as world, tempfile.TemporaryDirectory() as folder:
        for name, size in (("a.png", 200), ("b.png", 300), ("small", 20), ("huge", 2 << 20)):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(os.urandom(size))
        told = report(world, "-n", "10", "--images", folder)
        equal((told["method"], told["solved"], world.paid()), ("base64", 10, 2), "two images can be solved")
        equal(report(world, "-n", "10", "-m", "base64")["gateway"]["submits_paid"], 10, "made up")
        with tempfile.TemporaryDirectory() as empty:
            contains(bench(world, "--images", empty, code=EX_NOINPUT).stderr, "no image of 100 bytes")


@test
def the_calls_of_the_vendor_are_those_of_its_ledger():
    """Submits, refused ones as well, and either polls or callbacks, so that none is under way when the last answer is there."""
    for callbacks in (False, True):
        with World({"poll": {"first": "1m"}} if callbacks else {}, callbacks=callbacks) as world:
            world.sim.set_faults(script=[{"fault": "submit-error", "count": 3}])
            told = report(world, "-n", "20", "-c", "5", "--repeat", "0.3", "--seed", "4")
            calls, solved = told["gateway"]["vendor_calls"], told["solved"]
            equal((solved, told["gateway"]["submits_refused"]), (20, 3), "solved, refused")
            totals = world.sim.totals()
            check(totals["callbacks_made" if callbacks else "polls"] >= totals["accepted"], totals)
            equal(calls, totals["submits"] + totals["polls"] + totals["callbacks_made"], f"calls, by {totals}")
            equal(told["gateway"]["vendor_calls_per_solve"], calls / solved)


@test
def money_is_told_where_prices_are_known():
    with World({"upstream": {"price": {"turnstile": 0.002}}}) as world:
        told = report(world, "-n", "5")
        equal(told["gateway"]["money_spent"], 0.01)
        text = bench(world, "-n", "5").stdout
        check(re.search(r"submits paid +5  1.000 per solve\n", text) and re.search(r"money spent +0.0100\n", text), text)


@test
def a_key_without_scope_admin_gets_a_report_without_cost():
    with World(clients()) as world:
        text = bench(world, "-n", "3", env={"SOLVEGATE_KEY": ALICE}).stdout
        check("The cost is not known" in text and "own solve" in text, text)
        told = report(world, "-n", "3", "--dialect", "vendor", code=1)
        equal(told["errors"], {"ERROR_KEY_DOES_NOT_EXIST": 3})
        check("gateway" not in told, "statistics without a key")


@test
def the_report_fits_eighty_columns_and_csv_is_csv():
    with World() as world:
        text = bench(world, "-n", "50", "-c", "10", "--repeat", "0.5", env={"LC_ALL": "C.UTF-8"}).stdout
        check(max(map(len, text.splitlines())) <= 80, text)
        rows = list(csv.DictReader(io.StringIO(bench(world, "-n", "5", "--csv").stdout)))
        equal((len(rows), rows[0]["solved"], rows[0]["submits_paid"]), (1, "5", "5"))


@test
def a_page_needs_nothing_from_elsewhere():
    with World() as world, tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.html")
        bench(world, "-n", "30", "--html", path)
        with open(path, encoding="utf-8") as file:
            page = file.read()
        check("<svg " in page and page.endswith("</html>\n"), page[-200:])
        equal(re.findall(r"(?:src|href|url)\s*[=(]", page), [], "what it loads")
        contains(bench(world, "--html", folder, code=EX_CANTCREAT).stderr, "cannot be written")


@test
def a_report_is_compared_with_an_older_one():
    with World({"upstream": {"price": {"turnstile": 0.002}}}) as world, tempfile.TemporaryDirectory() as folder:
        old = os.path.join(folder, "old.json")
        with open(old, "w", encoding="utf-8") as file:
            file.write(bench(world, "-n", "80", "--json").stdout)
        page = os.path.join(folder, "page.html")
        text = bench(world, "-n", "80", "--repeat", "1", "--compare", old, "--html", page).stdout
        check(re.search(r"\nsubmits paid per solve +1.000 +0.013 +-98.8 %  BETTER\n", text), text)
        check(re.search(r"\nmoney per solve +0.002000 +0.000025 +-98.8 %  BETTER\n", text), text)
        check(re.search(r"\nown solve +100.0 % +1.2 % +-98.8 %  changed\n", text), text)
        contains(text, "not alike")
        with open(page, encoding="utf-8") as file:
            contains(file.read(), "<tr><td>submits paid per solve</td><td>1.000</td><td>0.013</td><td>-98.8 %</td><td>BETTER</td></tr>")
        text = bench(world, "-n", "49", "--compare", old).stdout
        check(re.search(r"\nsubmits paid per solve +1.000 +1.000 +\+0.0 %  too short to tell\n", text), text)
        contains(bench(world, "--compare", folder + "/none", code=EX_NOINPUT).stderr, "cannot be read")
        with open(old, "w", encoding="utf-8") as file:
            file.write("{}")
        contains(bench(world, "--compare", old, code=EX_DATAERR).stderr, "is no report")


@test
def what_others_asked_for_is_recorded_and_sent_again():
    with World(sim=("--solve-time", "10m")) as world, tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.jsonl")
        process = subprocess.Popen([binary("SOLVEGATE"), "bench", "--record", path, "-d", "5m"], stderr=subprocess.PIPE,
                                   text=True, env=clean_environment(SOLVEGATE_URL=world.url))
        for sitekey in ("a", "a", "b"):
            world.submit_id(sitekey=sitekey)
        # Its looks are the only requests besides ours: two more than we made begin after all was submitted.
        asked = itertools.count(metric(world, "http_requests_total"))
        wait_until(lambda: metric(world, "http_requests_total") - next(asked) >= 3, "two looks")
        process.send_signal(signal.SIGINT)
        contains(process.communicate(timeout=TIMEOUT)[1], "3 requests in ")
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        equal([line["method"] for line in lines], ["turnstile"] * 3)
        equal(len({line["target"] for line in lines}), 2, "targets")
        world.sim.solve()
        paid = world.paid()
        world.sim.set_faults(script=[{"fault": "task-slow", "value": "50ms", "count": 9}])
        told = report(world, "--replay", path, "--speed", "10")
        equal((told["sent"], told["solved"], world.paid() - paid), (3, 3, 2))
        contains(bench(world, "--replay", __file__, code=EX_DATAERR).stderr, ":1: is no line of a trace")


@test
def the_live_line_is_for_terminals_and_an_interrupt_ends_with_the_report():
    with World(sim=("--solve-time", "10m")) as world:
        with Terminal("bench", "-c", "5", "-d", "5m", "--yes", env={"SOLVEGATE_URL": world.url}) as terminal:
            terminal.wait_for(r"\[\.+\].*5 in flight  0 errors")
            terminal.process.send_signal(signal.SIGINT)
            equal(terminal.ended(), 130, "exit code")
            check(re.search(r"unfinished +5  100.0 %", terminal.shown), terminal.shown)


@test
def a_person_is_asked_before_money_is_spent():
    with World() as world:
        with Terminal("bench", "-n", "1000", "--repeat", "0.5", env={"SOLVEGATE_URL": world.url}) as terminal:
            terminal.wait_for(r"about 500 captchas solved[^?]*Go on\? \[y/N\]")
            terminal.type("n\n")
            equal(terminal.ended(), 1, "exit code")
        equal(world.paid(), 0, "paid")
        with Terminal("bench", "-n", "101", "-c", "50", env={"SOLVEGATE_URL": world.url}) as terminal:
            terminal.wait_for(r"Go on")
            terminal.type("y\n")
            equal(terminal.ended(), 0, "exit code")
        equal(world.paid(), 101, "paid")


@test
def strangers_are_not_asked():
    for args, words in ((["--url", "http://1.1.1.1"], "--i-own-this-host"),
                        (["--url", "http://10.255.255.1", "--rate", "101/s"], "more than 100 requests a second"),
                        (["--url", "http://no-such-host.invalid"], "has no address")):
        contains(expect(solvegate("bench", "-n", "1", *args), EX_USAGE, stdout="").stderr, words)
    nowhere = f"http://127.0.0.1:{free_port()}"
    contains(expect(solvegate("bench", "--url", nowhere), EX_UNAVAILABLE, stdout="").stderr, "no gateway answers")


@test
def wrong_usage_ends_with_64_before_anything_is_asked():
    for args, words in ((["--rate", "fast"], "a rate like"), (["--rate", "10/s", "-c", "5"], "not both"),
                        (["-c", "0"], "1 to 20000"), (["-d", "10"], "a duration like"), (["-n", "0"], "a number from 1"),
                        (["--repeat", "1.5"], "a share from 0 to 1"), (["--zipf", "1"], "give --repeat, too"),
                        (["--dialect", "v2"], 'did you mean "v1"'), (["--reuse", "shard"], 'did you mean "shared"'),
                        (["--param", "x"], "NAME=VALUE"), (["--images", ".", "-m", "turnstile"], "for --method base64"),
                        (["--rate", "1/s,2/s", "-n", "5"], "several rates need --duration"),
                        (["--ramp", "20s", "-d", "10s"], "--ramp is longer than --duration"),
                        (["--ramp", "20s"], "--ramp is longer than --duration"),
                        (["--rate", "300/s,1/s,1/s", "-d", "9s", "--ramp", "9s"], "the part of --duration that the first rate has"),
                        (["x"], 'unexpected argument "x"'),
                        (["--json", "--csv"], "not both"), (["--json", "--compare", "x"], "for people"),
                        (["--speed", "2"], "for --replay"), (["--replay", "x", "--rate", "1/s"], "says what is sent")):
        contains(expect(solvegate("bench", *args), EX_USAGE, stdout="").stderr, words)


run()
