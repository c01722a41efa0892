#!/usr/bin/env python3
"""Published clients of the vendor's dialect against the gateway, unchanged. (TAP)

Installs the packages of package.json if need be, starts simulator and gateway and runs main.js, which prints a line
of TAP for each case. `--only TEXT` runs the cases whose name contains TEXT.
"""
import fcntl
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "blackbox"), os.path.join(HERE, "..", "lint")]

from gateway import ADMIN, ALICE, BOB, World, clients, merge  # noqa: E402
from harness import Skip  # noqa: E402
from tap import Tap  # noqa: E402

LOCK = os.path.join(HERE, "package-lock.json")
INSTALLED = os.path.join(HERE, "node_modules", ".package-lock.json")  # npm writes it last

# One attempt for each solve, so that what was paid can be counted; money enough to tell it from a default.
CONFIG = merge(clients(), {"retry": {"unsolvable": 0}})
SIM = ("--solve-time", "100ms", "--balance", "7.25")


def is_installed():
    return os.path.exists(INSTALLED) and os.path.getmtime(INSTALLED) >= os.path.getmtime(LOCK)


def install():
    """Brings the packages; only the first run needs a network. Returns what went wrong."""
    with open(LOCK, encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two builds may be tested at once
        if is_installed():
            return []
        if shutil.which("npm") is None:
            raise Skip("npm is not installed (./dev setup clients)")
        done = subprocess.run(["npm", "ci"], cwd=HERE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return [done.stdout] if done.returncode else []


def locked_wrongly():
    """What makes the lock file work on one machine only."""
    with open(LOCK, encoding="utf-8") as file:
        text = file.read()
    return [f"package-lock.json names {url}" for url in re.findall(r'"resolved": .*', text)]


def run_node(report, world):
    """Relays the cases that main.js prints, and counts them."""
    # One of the packages would send even calls to this machine through a proxy.
    env = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    env.update(GATE_URL=world.url, SIM_URL=world.sim.url, ALICE=ALICE, BOB=BOB, ADMIN=ADMIN)
    node = subprocess.Popen(["node", os.path.join(HERE, "main.js"), str(report.count + 1), *sys.argv[1:]], env=env, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    for line in node.stdout:
        print(line, end="", flush=True)
        report.count += bool(re.match(r"(not )?ok\b", line))
        report.failed += line.startswith("not ok")
    return [f"node ended with {node.returncode}"] if node.wait() else []


def run_clients(report):
    problems = []
    try:
        with World(CONFIG, sim=SIM) as world:
            problems += run_node(report, world)
    except AssertionError as problem:  # the harness found that one of them died or complained
        problems.append(str(problem))
    report.case("node, the gateway and the simulator ended well", problems)


def main():
    report = Tap()
    try:
        if shutil.which("node") is None:
            raise Skip("node is not installed (./dev setup clients)")
        report.case("the lock file names no registry", locked_wrongly())
        problems = install()
        report.case("npm installs the clients", problems)
        if not problems:
            run_clients(report)
    except Skip as reason:
        report.case("the clients", skip=str(reason))
    report.finish()


main()
