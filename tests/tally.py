#!/usr/bin/env python3
"""Adds up the TAP lines of Meson's test logs and ends with the line "N passed, N failed".

usage: tally.py LABEL=LOG.json... [again:LABEL=LOG.json...]   (what `meson test --logbase` leaves in meson-logs)
       tally.py --choose-again LABEL=LOG.json...              (prints what may be run again: LABEL SUITE NAME)

Meson counts executables; people count cases, so every `ok` and `not ok` counts here. A test that crashed, ran out
of time or printed no TAP counts as one failure, and so does a log that is missing: then the build itself failed.

Tests that depend on time may be run again once. Then the second result counts, and the report says which
tests passed only that way and how they failed at first.
"""
import json
import os
import re
import sys

CASE = re.compile(r"^(not )?ok\b(.*)")
SKIPPED = re.compile(r"#\s*SKIP\b", re.IGNORECASE)
TAIL_LINES = 40
COMMENT_LINES = 30

# These start programs and wait for them, so that a machine with too much to do can make them fail. A failure of any
# other suite is a bug. "servers" are the unit tests that start servers.
TIMED_SUITES = {"blackbox", "browser", "chaos", "clients", "servers"}
# More failures than this are no accident of the machine: then nothing is run again.
MOST_AGAIN = 6
# No machine is slow enough for these: a program crashed, or a sanitizer found a mistake in it.
CRASH = re.compile(r"Sanitizer|runtime error:|assertion failed:|\bended with -(6|11)\b")


class Outcome:
    """What one test of a log came to."""

    def __init__(self, label, test):
        self.title = f"{label}: {test.get('name')}: {test.get('result')}"
        self.skipped = 0
        passed, failures = 0, []
        is_failing = False
        for line in test.get("stdout", "").splitlines():
            case = CASE.match(line)
            if case:
                is_skipped = bool(SKIPPED.search(case.group(2)))
                is_failing = bool(case.group(1)) and not is_skipped
                self.skipped += is_skipped
                passed += not is_failing and not is_skipped
                if is_failing:
                    failures.append([line])
            elif is_failing and line.startswith("#"):
                failures[-1].append(line)
        result = test.get("result", "ERROR")
        went_well = result in ("OK", "SKIP", "EXPECTEDFAIL")
        # A test without TAP that went well is one case; one that went wrong is a failure whatever it printed.
        if result == "OK" and not passed and not failures:
            passed = 1
        self.passed = passed
        self.failed = max(len(failures), 0 if went_well else 1)
        self.lines = said(failures, test) if self.failed else []


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self.reports = []

    def add_test(self, label, test, second=None):
        first = Outcome(label, test)
        outcome = Outcome(label, second) if first.failed and second else first
        self.passed += outcome.passed
        self.failed += outcome.failed
        self.skipped += outcome.skipped
        if outcome.failed:
            more = " (run again alone, and failed again)" if outcome is not first else ""
            self.reports.append((outcome.title + more, outcome.lines))
        elif first.failed:
            # Not as TAP: whoever looks for failed cases in the output shall not find these.
            lines = [re.sub(r"^not ok \d*", "failed at first:", line) for line in first.lines]
            self.reports.append((f"passed only when run again alone: {first.title} at first", lines))

    def add_log(self, label, tests, seconds):
        if tests is None:
            self.failed += 1
            self.reports.append((f"{label}: no results: the build or the start of the tests failed, see above", []))
        for test in tests or []:
            self.add_test(label, test, seconds.get((label, test.get("name"))))

    def print_report(self):
        for title, lines in self.reports:
            print(f"\n=== {title}")
            for line in lines:
                print(f"    {line}")
        if self.skipped:
            print(f"\n{self.skipped} skipped")
        print(f"\n{self.passed} passed, {self.failed} failed")


def said(failures, test):
    """Each failed case with the beginning of its comments, and the end of what the test wrote besides."""
    lines = [line for failure in failures for line in shortened(failure)]
    if not failures:
        lines += test.get("stdout", "").splitlines()[-TAIL_LINES:]
    return lines + test.get("stderr", "").splitlines()[-TAIL_LINES:]


def shortened(failure):
    more = len(failure) - COMMENT_LINES
    return failure if more <= 0 else failure[:COMMENT_LINES] + [f"# ... and {more} more lines"]


def read_log(path):
    """The tests of a log, or None if there is none."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as log:
        return [json.loads(line) for line in log if line.strip()]


def choose_again(logs):
    """(label, suite, name) of the failed tests that may be run again: none if there are too many to blame the machine."""
    chosen = []
    for label, path in logs:
        for test in read_log(path) or []:
            # Meson's names are "solvegate:blackbox / vendor" and "solvegate:unit+servers / store_away".
            suites, _, name = test.get("name", "").partition(" / ")
            suites = suites.rpartition(":")[2].split("+")
            if not TIMED_SUITES.isdisjoint(suites) and Outcome(label, test).failed and not has_crash(test):
                chosen.append((label, suites[0], name))
    return chosen if len(chosen) <= MOST_AGAIN else []


def has_crash(test):
    return any(CRASH.search(test.get(stream, "")) for stream in ("stdout", "stderr"))


def main(arguments):
    if arguments[:1] == ["--choose-again"]:
        for chosen in choose_again([argument.split("=", 1) for argument in arguments[1:]]):
            print(*chosen)
        return 0
    tally = Tally()
    logs = [argument.split("=", 1) for argument in arguments]
    seconds = {(label.partition(":")[2], test.get("name")): test for label, path in logs if label.startswith("again:")
               for test in read_log(path) or []}
    firsts = [(label, path) for label, path in logs if not label.startswith("again:")]
    for label, path in firsts:
        tally.add_log(label, read_log(path), seconds)
    if not firsts:
        tally.failed += 1
        tally.reports.append(("nothing was tested", []))
    tally.print_report()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
