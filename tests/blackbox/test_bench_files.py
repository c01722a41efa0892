#!/usr/bin/env python3
"""solvegate bench: what it prints, writes and reads, whatever is in the files and however full the disk is. (TAP)"""
import csv
import io
import json
import os
import re
import resource
import signal
import subprocess
import tempfile

from bench_world import Gateway, Server, say
from cli_world import EX_DATAERR, EX_IOERR, EX_UNAVAILABLE, EX_USAGE, clean_environment, expect, solvegate
from gateway import free_port
from harness import TIMEOUT, binary, check, contains, equal, run, test

EX_CANTCREAT = 73


def solved(_number, _is_look):
    return say({"id": "1", "status": "solved", "source": "api"})


def bench(server, *args, code=0):
    return expect(solvegate("bench", "--url", server.url, *args), code)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def harmless(text):
    """No line controls a terminal or is wider than it."""
    equal(re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", text), [], "control characters")
    check(max(map(len, text.splitlines())) <= 80, text)


@test
def an_old_report_cannot_control_the_terminal():
    with Gateway(solved) as gateway, tempfile.TemporaryDirectory() as folder:
        old = json.loads(bench(gateway, "-n", "20", "--json").stdout)
        for change in ({"dialect": "\x1b[31mX\x1b]0;p\x07", "method": "\x1b[2Jm\n\x9b\u202e", "load": "\x1b[31m<l>\n\u2066"},
                       {"latency_ms": {name: 1e308 for name in old["latency_ms"]}, "solves_per_second": 1e308,
                        "sent": 1, "solved": 2**64 - 1, "failed": 2**63, "gateway": {"submits_paid": 2**64 - 1}},
                       {"sent": 10**11, "solved": 10**11, "failed": 10**12 - 1, "gateway": {"submits_paid": 1, "money_spent": 9e11},
                        "sources": {"api": 1e11, "pool": -1, "dedup_wait": "\x1b"}},
                       {"latency_ms": {"mean": 1e-300, "p50": -5}, "solves_per_second": 1e-300}):
            path = write(folder, "old.json", json.dumps({**old, **change}))
            harmless(bench(gateway, "-n", "20", "--compare", path).stdout)


@test
def a_method_is_quoted_in_csv_and_clean_on_the_terminal():
    with Gateway(solved) as gateway, tempfile.TemporaryDirectory() as folder:
        table = list(csv.reader(io.StringIO(bench(gateway, "-n", "2", "-m", 'turn,"stile', "--csv").stdout)))
        equal((len(table), len(table[0]), table[1][0]), (2, len(table[1]), 'turn,"stile'))
        path = write(folder, "trace", '{"at":0,"target":"a","method":"tu\\u001b[31mr,\\n\\u202ex"}\n')
        table = list(csv.reader(io.StringIO(bench(gateway, "--replay", path, "--csv").stdout)))
        equal(len(table[0]), len(table[1]), "columns")
        harmless(table[1][0])
        harmless(bench(gateway, "--replay", path).stdout)


@test
def percentiles_of_a_few_solves_are_not_made_up():
    with Gateway(solved) as gateway, tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.html")
        text = bench(gateway, "-n", "5", "-c", "1", "--json", "--html", page).stdout
        shares = {"p90": None, "p95": None, "p99": None, "p99.9": None, "p99.99": None}
        equal({name: value for name, value in json.loads(text)["latency_ms"].items() if name in shares}, shares)
        with open(page, encoding="utf-8") as file:
            contains(file.read(), "<td>-</td><td>-</td><td>-</td><td>-</td><td>-</td>")
        row = next(csv.DictReader(io.StringIO(bench(gateway, "-n", "5", "--csv").stdout)))
        equal((row["p90_ms"], row["p99.99_ms"], row["p50_ms"] != ""), ("", "", True))
        told = bench(gateway, "-n", "5", "--compare", write(folder, "old.json", text)).stdout
        check(re.search(r"\np99 +- +- +-  too short to tell\n", told), told)
        steps = bench(gateway, "--rate", "5/s,10/s", "-d", "1s").stdout
        check(re.search(r"10/s +5 +5 +0 +\S+ +-\n", steps), steps)


@test
def intervals_hold_all_answers():
    with Gateway(solved) as gateway:
        for args in (("-n", "30", "-c", "1"), ("--rate", "50/s", "-d", "1500ms")):
            told = json.loads(bench(gateway, *args, "--json").stdout)
            for name in ("sent", "solved"):
                equal(sum(interval[name] for interval in told["intervals"]), told[name], name)


class Flights(Server):
    """A gateway with so many flights."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def reply(self, path, body, calls):
        return say({"flights": [{"key": f"{i:064x}", "type": "turnstile", "client": "x", "state": "solving", "age": 0,
                                 "requests": 1} for i in range(self.count)], "total": self.count, "next": None})


@test
def a_record_that_does_not_fit_the_disk_is_told():
    for count in (10, 71, 90):
        with Flights(count) as gateway:
            done = bench(gateway, "--record", "/dev/full", "-d", "300ms", code=EX_IOERR)
            equal(done.stderr, "solvegate bench: /dev/full: cannot be written: No space left on device\n")


@test
def a_page_is_there_as_a_whole_or_not_at_all():
    nowhere = f"http://127.0.0.1:{free_port()}"
    with Gateway(solved) as gateway, tempfile.TemporaryDirectory() as folder:
        expect(solvegate("bench", "--url", nowhere, "--html", folder + "/new.html"), EX_UNAVAILABLE)
        equal(os.listdir(folder), [], "files after a run that did not begin")
        page = write(folder, "page.html", "OLD")
        bench(gateway, "-n", "5", "--html", page)
        with open(page, encoding="utf-8") as file:
            check(file.read().endswith("</html>\n"), "the new page")
        equal(os.listdir(folder), ["page.html"], "files")
        os.unlink(page)
        os.symlink("/dev/full", page)
        contains(bench(gateway, "-n", "5", "--html", page, code=EX_CANTCREAT).stderr, "No space left on device")
        check(os.path.islink(page), "a link stays one")


def limit_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))


@test
def a_full_disk_leaves_the_older_page():
    """The limit of a file's size stands for the disk's end."""
    with Gateway(solved) as gateway, tempfile.TemporaryDirectory() as folder:
        page = write(folder, "page.html", "OLD")
        done = subprocess.run([binary("SOLVEGATE"), "bench", "--url", gateway.url, "-n", "5", "--html", page], check=False,
                              capture_output=True, text=True, env=clean_environment(), timeout=TIMEOUT, preexec_fn=limit_files)
        contains(expect(done, EX_CANTCREAT).stderr, "cannot be written: File too large")
        with open(page, encoding="utf-8") as file:
            equal(file.read(), "OLD")
        equal(os.listdir(folder), ["page.html"], "files")


@test
def a_trace_is_refused_with_its_reason():
    with Gateway(solved) as gateway, tempfile.TemporaryDirectory() as folder:
        line = '{{"at":0,"target":"a","method":"{}"}}\n'
        for text, words in (("", "has no line"), ("\n\n", "has no line"), (line.format("m") + "xx\n", ":2: is no line of a trace"),
                            ("".join(line.format(f"m{i}") for i in range(20)), ":17: has a 17th method"),
                            (line.format("m" * 60), ":1: has a method of more than 47 characters")):
            path = write(folder, "trace", text)
            contains(bench(gateway, "--replay", path, code=EX_DATAERR).stderr, words)


@test
def passwords_of_an_address_are_not_printed():
    with Gateway(solved) as gateway, tempfile.TemporaryDirectory() as folder:
        url = gateway.url.replace("http://", "http://user:secret@")
        page = os.path.join(folder, "page.html")
        told = expect(solvegate("bench", "--url", url, "-n", "1", "--json", "--html", page), 0).stdout
        equal(json.loads(told)["url"], gateway.url)
        with open(page, encoding="utf-8") as file:
            check("secret" not in file.read(), "the page")
        check("secret" not in expect(solvegate("bench", "--url", url, "-n", "1"), 0).stdout, "the print")
    for args in (["bench", "--url", "http://user:secret@1.1.1.1"], ["bench", "--url", f"http://user:secret@127.0.0.1:{free_port()}"],
                 ["stats", "--url", f"http://user:secret@127.0.0.1:{free_port()}"]):
        check("secret" not in solvegate(*args).stderr, args)


@test
def what_would_go_wrong_later_is_refused():
    for args, words in ((["--record", "/dev/null", "--url", "http://1.1.1.1", "-d", "1s"], "--i-own-this-host"),
                        (["-p", "https://example.com/" + "x" * 2000], "--pageurl: expected at most 2000 characters"),
                        (["--json", "report.json"], "--json prints to standard output"),
                        (["report.json", "--json"], 'unexpected argument "report.json"')):
        contains(expect(solvegate("bench", *args), EX_USAGE, stdout="").stderr, words)


run()
