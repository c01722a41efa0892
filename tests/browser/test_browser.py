#!/usr/bin/env python3
"""The dashboard in a real browser: Chromium looks at real gateways with simulators behind them. (TAP)

Installs playwright-core with npm if need be, starts the gateways and runs main.js, which prints a line of TAP for each
case and leaves screenshots in the folder that SCREENSHOTS names. `--only TEXT` runs the cases whose name contains TEXT.
"""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "blackbox"), os.path.join(HERE, "..", "lint")]

from cli_world import expect, solvegate  # noqa: E402
from gateway import ADMIN, ALICE, World, clients, merge  # noqa: E402
from harness import Skip  # noqa: E402
from node_world import install, program, run_main  # noqa: E402
from tap import Tap  # noqa: E402

AT_ONCE = {"retry": {"busy": 0, "unsolvable": 0, "transient": 0, "unknown": 0}, "letters": {"replay_interval": "20ms"},
           "breaker": {"probe": "4s"}}

PRICES = {"upstream": {"price": {"turnstile": 0.002}}}
POOL = {"name": "ahead", "client": "alice", "method": "turnstile", "sitekey": "pooled", "pageurl": "https://example.com/",
        "size": 1}


REPORTS = {"rate": ["--rate", "40/s", "-d", "4s", "--repeat", "0.3"], "steps": ["--rate", "10/s,20/s", "-d", "3s"],
           "failed": ["-n", "20", "-s", "SIM-ERROR_BAD_PROXY"]}


def measure(folder):
    """Pages of `solvegate bench --html`, by name."""
    with World(merge(AT_ONCE, PRICES)) as world:
        for name, flags in REPORTS.items():
            done = solvegate("bench", *flags, "--html", os.path.join(folder, name + ".html"), env={"SOLVEGATE_URL": world.url})
            expect(done, 1 if name == "failed" else 0)


def run_browser(report, chromium):
    problems = []
    try:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as reports:
            measure(reports)
            with World(merge(AT_ONCE, {"data_dir": folder, **PRICES}), callbacks=True) as kept, \
                    World(merge(AT_ONCE, {**clients(), "pools": [POOL]})) as locked, \
                    World({"mode": "shadow", "upstream": {"price": {"turnstile": 0.5}}}) as shadow:
                problems += run_main(report, HERE, CHROMIUM=chromium, REPORTS=reports, ALICE=ALICE, ADMIN=ADMIN, GATE_URL=kept.url,
                                     GATE_SIM=kept.sim.url, LOCKED_URL=locked.url, LOCKED_SIM=locked.sim.url,
                                     SHADOW_URL=shadow.url, SHADOW_SIM=shadow.sim.url)
    except AssertionError as problem:  # the harness found that one of them died or complained
        problems.append(str(problem))
    report.case("node, the gateways and the simulators ended well", problems)


def main():
    report = Tap()
    try:
        program("browser", "node")
        chromium = program("browser", "chromium", "chromium-browser", "google-chrome")
        problems = install(HERE, "browser")  # which brings no browser of its own
        report.case("npm installs playwright-core", problems)
        if not problems:
            run_browser(report, chromium)
    except Skip as reason:
        report.case("the dashboard in a browser", skip=str(reason))
    report.finish()


main()
