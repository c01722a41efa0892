#!/usr/bin/env python3
"""Adds up the TAP lines of Meson's test logs and ends with the line "N passed, N failed".

usage: tally.py LABEL=LOG.json...   (what `meson test --logbase` leaves in meson-logs)

Meson counts executables; people count cases, so every `ok` and `not ok` counts here. A test that crashed, ran out
of time or printed no TAP counts as one failure, and so does a log that is missing: then the build itself failed.
"""
import json
import os
import re
import sys

CASE = re.compile(r"^(not )?ok\b(.*)")
SKIPPED = re.compile(r"#\s*SKIP\b", re.IGNORECASE)
TAIL_LINES = 40
COMMENT_LINES = 16


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self.failures = []

    def add_test(self, label, test):
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
        failed = max(len(failures), 0 if went_well else 1)
        self.passed += passed
        self.failed += failed
        if failed:
            self.failures.append((f"{label}: {test.get('name')}: {result}", said(failures, test)))

    def add_log(self, label, path):
        if not os.path.exists(path):
            self.failed += 1
            self.failures.append((f"{label}: no results: the build or the start of the tests failed, see above", []))
            return
        with open(path, encoding="utf-8", errors="replace") as log:
            tests = [json.loads(line) for line in log if line.strip()]
        for test in tests:
            self.add_test(label, test)

    def print_report(self):
        for title, lines in self.failures:
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


def main(arguments):
    tally = Tally()
    for argument in arguments:
        label, _, path = argument.partition("=")
        tally.add_log(label, path)
    if not arguments:
        tally.failed += 1
        tally.failures.append(("nothing was tested", []))
    tally.print_report()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
