#!/usr/bin/env python3
"""Flights in the whole gateway: what one that waits costs in memory, and what its polls cost.

    bench/upstream/flights.py BUILD [--seconds 3]

The gateway runs on cpu 1 with the simulator, whose tasks are never ready, on cpu 0. Printed: bytes of
resident memory per waiting flight beyond its parameters at 100 000 (target: under 1.5 KiB), and polls a
second and CPU per poll with 1 000 and 10 000 flights in flight, each polled as often as the gateway can,
as a share of what wrk reaches on the same cpu against the same simulator.
"""
import argparse
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

KEY = "0123456789abcdef0123456789abcdef"
BATCH = 100
BYTES_TARGET = 1536
TICKS = os.sysconf("SC_CLK_TCK")


def pinned(cpu, command):
    return (["taskset", "-c", str(cpu)] if os.cpu_count() > 1 else []) + command


class Program:
    def __init__(self, cpu, command):
        self.process = subprocess.Popen(pinned(cpu, command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)
        found = re.search(r"http://127\.0\.0\.1:(\d+)", self.process.stdout.readline())
        if not found:
            sys.exit(f"{command[0]} did not start")
        self.url, self.port = found.group(0), int(found.group(1))

    def rss_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) * 1024

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def stop(self):
        self.process.terminate()
        self.process.wait()


def params_of(number):
    return f"key={KEY}&method=turnstile&sitekey=0x4AAAAAAA{number:08d}&pageurl=https://example.com/login/{number:08d}"


def start(build, folder, poll):
    sim = Program(0, [str(build / "bench/sim/solvegate-sim"), "--listen", "127.0.0.1:0", "--solve-time", "24h"])
    config = {"listen": ["127.0.0.1:0"], "poll": poll, "solve_timeout": "1h", "drain_timeout": "0s",
              "upstream": {"url": sim.url, "key": KEY, "slots": 100000, "connections": 64}}
    path = pathlib.Path(folder) / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return sim, Program(1, [str(build / "src/solvegate"), "serve", "-c", str(path), "--log-level", "error"])


def read_replies(connection, count):
    data = b""
    while data.count(b"OK|") < count:
        more = connection.recv(1 << 16)
        if not more or b"ERROR" in more:
            sys.exit(f"in.php said {data[-200:]!r}{more[-200:]!r}")
        data += more


def ask_for(gate, count):
    """That many different requests through in.php, pipelined."""
    with socket.create_connection(("127.0.0.1", gate.port)) as connection:
        for first in range(0, count, BATCH):
            batch = ""
            for number in range(first, min(first + BATCH, count)):
                body = params_of(number)
                batch += f"POST /in.php HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}"
            connection.sendall(batch.encode())
            read_replies(connection, min(BATCH, count - first))


def totals(sim):
    with urllib.request.urlopen(sim.url + "/sim/ledger?summary=1", timeout=10) as reply:
        return json.load(reply)["totals"]


def wait_accepted(sim, count):
    deadline = time.monotonic() + 120
    while totals(sim)["accepted"] < count:
        if time.monotonic() > deadline:
            sys.exit(f"only {totals(sim)['accepted']} of {count} submits were accepted")
        time.sleep(0.1)


def measure_memory(build, folder, count):
    sim, gate = start(build, folder, {"first": "10m", "interval": "10m"})
    before = gate.rss_bytes()
    cpu = gate.cpu_seconds()
    ask_for(gate, count)
    wait_accepted(sim, count)
    each = (gate.rss_bytes() - before) / count - len(params_of(0))
    cpu = (gate.cpu_seconds() - cpu) / count
    gate.stop()
    sim.stop()
    verdict = "met" if each < BYTES_TARGET else "MISSED"
    print(f"{count:>7} flights waiting   {each:7.0f} bytes each beyond their parameters"
          f"   (target under {BYTES_TARGET}: {verdict})   {cpu * 1e6:5.0f} us CPU from request to task", flush=True)
    return each < BYTES_TARGET


def run_wrk(url, task, folder, seconds):
    script = pathlib.Path(folder) / "poll.lua"
    script.write_text(f'wrk.method = "POST"\nwrk.body = "key={KEY}&action=get&id={task}&json=1"\n', encoding="utf-8")
    command = ["wrk", "-t1", "-c64", f"-d{seconds}s", "-s", str(script), url + "/res.php"]
    out = subprocess.run(pinned(1, command), check=True, capture_output=True, text=True).stdout
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))


def polls_a_second(sim, gate, seconds):
    polls, cpu, started = totals(sim)["polls"], gate.cpu_seconds(), time.monotonic()
    time.sleep(seconds)
    done = totals(sim)["polls"] - polls
    return done / (time.monotonic() - started), (gate.cpu_seconds() - cpu) / max(done, 1)


def measure_polls(build, folder, count, interval, seconds, rounds):
    sim, gate = start(build, folder, {"first": interval, "interval": interval})
    ask_for(gate, count)
    wait_accepted(sim, count)
    with urllib.request.urlopen(sim.url + "/sim/ledger?limit=1", timeout=30) as reply:
        task = json.load(reply)["submits"][0]["id"]
    rates, costs, ratios = [], [], []
    for _ in range(rounds):
        rate, cost = polls_a_second(sim, gate, seconds)
        gate.process.send_signal(19)  # SIGSTOP: wrk has the cpu to itself
        wrk = run_wrk(sim.url, task, folder, seconds)
        gate.process.send_signal(18)
        time.sleep(0.3)
        rates.append(rate)
        costs.append(cost)
        ratios.append(rate / wrk)
    gate.stop()
    sim.stop()
    print(f"{count:>7} flights polled   {statistics.median(rates):8.0f} polls/s"
          f"   {statistics.median(ratios):5.2f} x wrk   {statistics.median(costs) * 1e6:5.0f} us CPU per poll", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        is_met = measure_memory(options.build, folder, 100_000)
        measure_polls(options.build, folder, 1000, "100ms", options.seconds, options.rounds)
        measure_polls(options.build, folder, 10_000, "250ms", options.seconds, options.rounds)
    return 0 if is_met or not os.environ.get("SOLVEGATE_BENCH_STRICT") else 1


if __name__ == "__main__":
    sys.exit(main())
