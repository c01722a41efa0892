"""Load by wrk: one call against several servers in rounds of alternating order, and how quiet the machine was."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

from figures import BUSY
from programs import LOAD_CPU, pinned

HERE = pathlib.Path(__file__).resolve().parent


class Call:
    """What wrk sends: the same bytes to everybody."""

    def __init__(self, method, target, key="", body="", depth=1, kind="application/json"):
        self.target = target
        self.arguments = [method, key, body, depth, kind]

    def wrk(self, port, connections, seconds):
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", HERE / "load.lua",
                   f"http://127.0.0.1:{port}{self.target}", "--", *self.arguments]
        done = subprocess.run(pinned(LOAD_CPU, command), capture_output=True, text=True, check=True)
        figures = json.loads(done.stdout.splitlines()[-1])
        if figures["errors"] or not figures["requests"]:
            sys.exit(f"wrk met errors at port {port}, so the figures mean nothing:\n{done.stdout}")
        return figures


def idle_seconds():
    """Of the two processors that are measured on, so far."""
    lines = pathlib.Path("/proc/stat").read_text().splitlines()[1:]
    fields = [line.split() for line in lines if line.split()[0] in ("cpu0", "cpu1")]
    return sum(int(field[4]) + int(field[5]) for field in fields) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(call, server, port, connections, seconds):
    """One round against one server: rate, latencies, CPU time per request, and how much others disturbed."""
    before, before_ns = server.cpu_seconds(), server.cpu_ns()
    free_before, wrk_before, started = idle_seconds(), children_seconds(), time.monotonic()
    figures = call.wrk(port, connections, seconds)
    after, used_ns = server.cpu_seconds(), server.cpu_ns() - before_ns
    wall, wrk = time.monotonic() - started, children_seconds() - wrk_before
    ours = idle_seconds() - free_before + wrk + used_ns / 1e9
    count = figures["requests"]
    return {
        "rate": count / figures["seconds"],
        "p50_ms": figures["p50_us"] / 1000,
        "p99_ms": figures["p99_us"] / 1000,
        "percentiles_ms": [[percent, us / 1000] for percent, us in figures["percentiles_us"]],
        "user_us": (after[0] - before[0]) / count * 1e6,
        "system_us": (after[1] - before[1]) / count * 1e6,
        "cpu_us": used_ns / count / 1000,
        "wrk_us": wrk / count * 1e6,
        "others": max(0, 1 - ours / (min(os.cpu_count(), 2) * wall)),
    }


class Patience:
    """On a shared machine: waits for moments in which nobody else works, as long as the budget lasts."""

    def __init__(self, minutes):
        self.left = minutes * 60

    def wait(self):
        while self.left > 0:
            idle, started = idle_seconds(), time.monotonic()
            time.sleep(0.3)
            took = time.monotonic() - started
            self.left -= took
            if (idle_seconds() - idle) / (min(os.cpu_count(), 2) * took) > 1 - BUSY:
                return


def compare(report, name, call, peers, connections, options):
    """Rounds in alternating order. peers: name to (server, port) or (server, port, call); the first is ours."""
    rounds = {peer: [] for peer in peers}
    for turn in range(options.rounds):
        options.patience.wait()
        for peer in list(peers) if turn % 2 == 0 else reversed(list(peers)):
            server, port, *own_call = peers[peer]
            rounds[peer].append(measure(own_call[0] if own_call else call, server, port, connections, options.seconds))
        report.say(f"{name}: round {turn + 1} of {options.rounds}, "
                   + ", ".join(f"{peer} {rounds[peer][-1]['rate']:,.0f}/s" for peer in peers))
    report.others += [one["others"] for peer in rounds.values() for one in peer]
    return rounds
