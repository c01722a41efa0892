#!/usr/bin/env python3
"""The dashboard in a real browser: Chromium looks at real gateways with simulators behind them. (TAP)

Installs playwright-core with npm if need be, starts the gateways and runs main.js, which prints a line of TAP for each
case and leaves screenshots in the folder that SCREENSHOTS names. `--only TEXT` runs the cases whose name contains TEXT.
"""
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "blackbox"), os.path.join(HERE, "..", "lint")]

from gateway import ADMIN, ALICE, World, clients, merge  # noqa: E402
from harness import Skip  # noqa: E402
from tap import Tap  # noqa: E402

LOCK = os.path.join(HERE, "package-lock.json")
INSTALLED = os.path.join(HERE, "node_modules", ".package-lock.json")  # npm writes it last
AT_ONCE = {"retry": {"busy": 0, "unsolvable": 0, "transient": 0, "unknown": 0}, "letters": {"replay_interval": "20ms"},
           "breaker": {"probe": "4s"}}

PRICES = {"upstream": {"price": {"turnstile": 0.002}}}
POOL = {"name": "ahead", "client": "alice", "method": "turnstile", "sitekey": "pooled", "pageurl": "https://example.com/",
        "size": 1}


def is_installed():
    return os.path.exists(INSTALLED) and os.path.getmtime(INSTALLED) >= os.path.getmtime(LOCK)


def install():
    """Brings playwright-core, which brings no browser of its own. Returns what went wrong."""
    with open(LOCK, encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two builds may be tested at once
        if is_installed():
            return []
        done = subprocess.run(["npm", "ci"], cwd=HERE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return [done.stdout] if done.returncode else []


def program(*names):
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise Skip(f"{names[0]} is not installed (./dev setup browser)")
    return found


def run_node(report, chromium, worlds):
    """Relays the cases that main.js prints, and counts them."""
    env = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    for name, world in worlds.items():
        env.update({f"{name}_URL": world.url, f"{name}_SIM": world.sim.url})
    env.update(CHROMIUM=chromium, ALICE=ALICE, ADMIN=ADMIN)
    node = subprocess.Popen(["node", os.path.join(HERE, "main.js"), str(report.count + 1), *sys.argv[1:]], env=env, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    for line in node.stdout:
        print(line, end="", flush=True)
        report.count += bool(re.match(r"(not )?ok\b", line))
        report.failed += line.startswith("not ok")
    return [f"node ended with {node.returncode}"] if node.wait() else []


def run_browser(report, chromium):
    problems = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            with World(merge(AT_ONCE, {"data_dir": folder, **PRICES}), callbacks=True) as kept, \
                    World(merge(AT_ONCE, {**clients(), "pools": [POOL]})) as locked:
                problems += run_node(report, chromium, {"GATE": kept, "LOCKED": locked})
    except AssertionError as problem:  # the harness found that one of them died or complained
        problems.append(str(problem))
    report.case("node, the gateways and the simulators ended well", problems)


def main():
    report = Tap()
    try:
        program("node")
        program("npm")
        chromium = program("chromium", "chromium-browser", "google-chrome")
        problems = install()
        report.case("npm installs playwright-core", problems)
        if not problems:
            run_browser(report, chromium)
    except Skip as reason:
        report.case("the dashboard in a browser", skip=str(reason))
    report.finish()


main()
