#!/usr/bin/env python3
"""Published clients of the vendor's and the createTask dialect against the gateway, unchanged. (TAP)

Installs the packages of package.json if need be, starts simulator and gateway and runs main.js, which prints a line
of TAP for each case. `--only TEXT` runs the cases whose name contains TEXT.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "blackbox"), os.path.join(HERE, "..", "lint")]

from gateway import ADMIN, ALICE, BOB, World, clients, free_port, merge  # noqa: E402
from harness import Skip  # noqa: E402
from node_world import install, lock_file, program, run_main  # noqa: E402
from proxy_world import Workers  # noqa: E402
from tap import Tap  # noqa: E402

# One attempt for each solve, so that what was paid can be counted; money enough to tell it from a default.
CONFIG = merge(clients(), {"retry": {"unsolvable": 0}})
SIM = ("--solve-time", "100ms", "--balance", "7.25")


def locked_wrongly():
    """What makes the lock file work on one machine only."""
    with open(lock_file(HERE), encoding="utf-8") as file:
        text = file.read()
    return [f"package-lock.json names {url}" for url in re.findall(r'"resolved": .*', text)]


def run_clients(report):
    problems = []
    try:
        with World(CONFIG, sim=SIM) as world:
            problems += run_main(report, HERE, GATE_URL=world.url, SIM_URL=world.sim.url, ALICE=ALICE, BOB=BOB, ADMIN=ADMIN)
    except AssertionError as problem:  # the harness found that one of them died or complained
        problems.append(str(problem))
    report.case("node, the gateway and the simulator ended well", problems)


def run_over_tls(report):
    """The clients whose addresses begin with https, come what may, through the site for workers of contrib."""
    port = free_port()
    problems = []
    try:
        with Workers(port) as proxy, World(merge(CONFIG, {"listen": [f"127.0.0.1:{port}"]}), sim=SIM) as world:
            problems += run_main(report, HERE, ["--only", "node_two_captcha|capsolver-npm|anticaptcha "],
                                 GATE_URL=f"https://localhost:{proxy.port}", OPERATOR_URL=world.url, SIM_URL=world.sim.url,
                                 ALICE=ALICE, BOB=BOB, ADMIN=ADMIN, NODE_EXTRA_CA_CERTS=proxy.certificate, OVER="over TLS ")
    except AssertionError as problem:
        problems.append(str(problem))
    report.case("nginx, too, ended well", problems)


def main():
    report = Tap()
    try:
        program("clients", "node")
        report.case("the lock file names no registry", locked_wrongly())
        problems = install(HERE, "clients")
        report.case("npm installs the clients", problems)
        if not problems:
            run_clients(report)
            if len(sys.argv) == 1:
                run_over_tls(report)
    except Skip as reason:
        report.case("the clients", skip=str(reason))
    report.finish()


main()
