#!/usr/bin/env python3
"""solvegate-sim --profile: what docs/simulator.md says of each is what its source has and what the program does. (TAP)"""
import os
import re

from harness import KEY, Sim, check, equal, get, post_form, run, test

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROFILES = ("captchaai", "2captcha", "slow", "flaky")
SITE = {"sitekey": "s", "pageurl": "p"}
IMAGE = {"body": "A" * 200}
# By the document's words.
METHODS = {
    "images": {"post": IMAGE, "base64": IMAGE},
    "Turnstile": {"turnstile": SITE},
    "GeeTest": {"geetest": {"gt": "x", "challenge": "y", "pageurl": "p"}, "geetest_v4": {"captcha_id": "x", "pageurl": "p"}},
    "reCAPTCHA": {"userrecaptcha": {"googlekey": "s", "pageurl": "p"}},
    "others": {"hcaptcha": SITE},
}
SECONDS = {"ms": 0.001, "s": 1}
# How the document tells each fault; a part after ":" is of those before the next ";".
WORDS = {"task-error": "{} % unsolvable", "submit-error": "{} % `ERROR_NO_SLOT_AVAILABLE`", "submit-5xx": "{} % HTTP 502",
         "submit-lost": "{} % lost replies", "submit-delay": "{} % late by 2 s", "poll-5xx": "{} % HTTP 502", "poll-reset": "{} % reset",
         "callback-drop": "{} % of callbacks dropped"}
QUIET = [f"--fault={fault}=0" for fault in WORDS]
SUBMITS = 60


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def rows():
    """The document's table: threads, price, times and faults of each profile, as texts."""
    table = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$", read("docs", "simulator.md").split("\n## Profiles\n")[1], re.MULTILINE)
    return {name: cells for name, *cells in table if name in PROFILES}


def written_times(cell):
    """{method: (shape, seconds...)} as the document has it."""
    times = {}
    shape = "exp" if cell.endswith(", exponential") else "tail"
    for part in cell.removesuffix(", exponential").split(", "):
        names, low, high = re.fullmatch(r"(?:(\D*) )?([\d.]+) s(?: to ([\d.]+) s)?", part).groups()
        for name in (names or "others").split(" and "):
            for method in METHODS[name]:
                times[method] = ("uniform", float(low), float(high)) if high else (shape, float(low))
    return {method: times.get(method, times["hcaptcha"]) for methods in METHODS.values() for method in methods}


def coded_times(code):
    """The same by the strings of the source: "tail:15s", "post=uniform:300ms-1s"."""
    times = {}
    for text in re.findall(r'"([^"]*)"', re.search(r"\.solve_times = \{(.*?)\}", code, re.DOTALL).group(1)):
        method, _, rule = text.rpartition("=")
        shape, _, spans = rule.partition(":")
        times[method] = (shape, *(round(float(number) * SECONDS[unit], 3) for number, unit in re.findall(r"([\d.]+)(ms|s)", spans)))
    return {method: times.get(method, times[""]) for methods in METHODS.values() for method in methods}


def told_faults(faults):
    """What the document says of these faults, as a sorted list."""
    return sorted(WORDS[name].format(round(100 * share)) for name, share in faults.items())


@test
def the_document_says_what_the_source_has():
    codes = {re.match(r'"(\w+)"', code).group(1): code for code in read("src", "sim", "profile.c").split(".name = ")[1:]}
    equal(tuple(codes), PROFILES, "profiles of the source")
    equal(tuple(rows()), PROFILES, "profiles of the document")
    for name, (threads, price, times, faults) in rows().items():
        code = codes[name]
        slots, busy = re.search(r"\.slots = (\d+)", code), re.search(r'\.busy_code = "(\w+)"', code)
        equal(threads, f"{slots.group(1)}; `{busy.group(1)}` beyond" if slots else "no limit", f"{name}: threads")
        equal(price, re.search(r'\.price = "(.*?)"', code).group(1), f"{name}: price")
        equal(written_times(times), coded_times(code), f"{name}: times")
        coded = {fault: float(share) for fault, share in re.findall(r'"([\w-]+)=([\d.]+)[,"]', code.partition(".faults")[2])}
        equal(sorted(re.findall(r"\d+ % [^,;]+", faults)), told_faults(coded), f"{name}: faults")


def submit(sim, method, params):
    return post_form(sim.url + "/in.php", {"key": KEY, "method": method, "json": "1", **params}).json()


def check_times(what, times, rule):
    """Of sixty, and always the same by the seed. The least of a long tail is half of its mean, and no more than a bit."""
    shape, low, *more = rule
    mean = sum(times) / len(times)
    if shape == "uniform":
        check(low <= min(times) < low + (more[0] - low) / 5 and more[0] - (more[0] - low) / 5 < max(times) <= more[0], f"{what}: {times}")
    elif shape == "tail":
        check(low / 2 <= min(times) < low / 2 * 1.1 and max(times) > 1.5 * low, f"{what}: {times}")
    else:
        check(0.7 * low < mean < 1.3 * low and min(times) < low / 4, f"{what}: {times}")


@test
def each_profile_takes_the_times_that_the_document_says():
    for name, (_, _, times, _) in rows().items():
        with Sim("--profile", name, "--slots", "100000", "--seed", "5", *QUIET) as sim:
            for methods in METHODS.values():
                for method, params in methods.items():
                    for _ in range(SUBMITS):
                        equal(submit(sim, method, params)["status"], 1, f"{name}, {method}")
            rules = written_times(times)
            seen = {method: [] for method in rules}
            for entry in sim.submits(limit="10000"):
                seen[entry["params"]["method"]].append(entry["solve_ms"] / 1000)
            for method, rule in rules.items():
                equal(len(seen[method]), SUBMITS, f"{name}: {method} in the ledger")
                check_times(f"{name}, {method}", seen[method], rule)


@test
def each_profile_has_the_threads_price_and_faults_that_the_document_says():
    for name, (threads, price, _, faults) in rows().items():
        with Sim("--profile", name, *QUIET) as sim:
            for _ in range(50):
                equal(submit(sim, "turnstile", SITE)["status"], 1, f"{name}: one of fifty")
            beyond = re.search(r"`(\w+)` beyond", threads)
            told = submit(sim, "turnstile", SITE)
            equal((told["status"], told["request"]) if beyond else told["status"], (0, beyond.group(1)) if beyond else 1, f"{name}: the 51st")
            paid = sim.totals()["accepted"]
            balance = get(sim.url + "/res.php", key=KEY, action="getbalance").text
            equal(round(float(balance), 6), round(10 - paid * float(price), 6), f"{name}: the balance")
        with Sim("--profile", name) as sim:
            shares = {fault["fault"]: fault["p"] for fault in sim.faults()["faults"]}
            equal(told_faults(shares), sorted(re.findall(r"\d+ % [^,;]+", faults)), f"{name}: faults")


run()
