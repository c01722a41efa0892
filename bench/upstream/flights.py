"""Flights in the whole gateway: what one that waits costs in memory, and what its polls cost.

The gateway runs on cpu 1 with the simulator, whose tasks are never ready, on cpu 0. Reported: bytes of resident memory
per waiting flight beyond its parameters at 100 000, and polls a second and CPU per poll with 1 000 and 10 000 flights,
each polled as often as the gateway can, as a share of what wrk reaches on the same cpu against the same simulator."""
import json
import signal
import socket
import sys
import time
import urllib.request

import figures
from programs import LOAD_CPU, SERVER_CPU, VENDOR_KEY, Gateway, Sim
from wrk import Call, measure

BATCH = 100
MANY = 100_000
BYTES_TARGET = 800


def params_of(number):
    return (f"key={VENDOR_KEY}&method=turnstile&sitekey=0x4AAAAAAA{number:08d}"
            f"&pageurl=https://example.com/login/{number:08d}")


def start(build, folder, poll):
    sim = Sim(build, "--solve-time", "24h", cpu=SERVER_CPU)
    return sim, Gateway(build, folder, {
        "listen": ["127.0.0.1:0"], "poll": poll, "solve_timeout": "1h", "drain_timeout": "0s", "log": {"level": "error"},
        "upstream": {"url": sim.url, "key": VENDOR_KEY, "slots": MANY, "connections": 64}}, cpu=LOAD_CPU)


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


def wait_accepted(sim, count):
    deadline = time.monotonic() + 120
    while sim.totals()["accepted"] < count:
        if time.monotonic() > deadline:
            sys.exit(f"only {sim.totals()['accepted']} of {count} submits were accepted")
        time.sleep(0.1)


def run_memory(report, options, folder):
    report.say(f"{MANY:,} flights waiting")
    sim, gate = start(options.build, folder, {"first": "10m", "interval": "10m"})
    try:
        before, cpu = gate.rss_bytes(), gate.cpu_ns()
        ask_for(gate, MANY)
        wait_accepted(sim, MANY)
        each = (gate.rss_bytes() - before) / MANY - len(params_of(0))
        cpu = (gate.cpu_ns() - cpu) / MANY / 1000
    finally:
        gate.stop()
        sim.stop()
    report.add(f"{figures.spaced(MANY)} flights waiting, bytes each beyond their parameters", each, most=BYTES_TARGET, best=700)
    report.add("  CPU us from request to task", cpu, digits=1)


def polls_a_second(sim, gate, seconds):
    polls, cpu, started = sim.totals()["polls"], gate.cpu_ns(), time.monotonic()
    time.sleep(seconds)
    done = max(sim.totals()["polls"] - polls, 1)
    return {"rate": done / (time.monotonic() - started), "cpu_us": (gate.cpu_ns() - cpu) / done / 1000}


def run_polls(report, options, folder, count, interval):
    sim, gate = start(options.build, folder, {"first": interval, "interval": interval})
    ours, wrk = [], []
    try:
        ask_for(gate, count)
        wait_accepted(sim, count)
        with urllib.request.urlopen(sim.url + "/sim/ledger?limit=1", timeout=30) as reply:
            task = json.load(reply)["submits"][0]["id"]
        call = Call("POST", "/res.php", body=f"key={VENDOR_KEY}&action=get&id={task}&json=1", kind="application/x-www-form-urlencoded")
        for turn in range(options.rounds):
            ours.append(polls_a_second(sim, gate, options.seconds))
            gate.process.send_signal(signal.SIGSTOP)  # wrk has the cpu to itself
            wrk.append(measure(call, sim, sim.port, 64, options.seconds))
            gate.process.send_signal(signal.SIGCONT)
            time.sleep(0.3)
            report.say(f"{count:,} flights polled: round {turn + 1} of {options.rounds}, {ours[-1]['rate']:,.0f} polls/s")
    finally:
        gate.process.send_signal(signal.SIGCONT)
        gate.stop()
        sim.stop()
    report.add(f"{figures.spaced(count)} flights polled by the whole gateway, polls/s", figures.median_of(ours, "rate"),
               figures.median_of(wrk, "rate"), figures.ratios_of(ours, wrk, "rate"), versus="wrk")
    report.add_rounds("  CPU us a poll", ours, "cpu_us", digits=1)
    return figures.median_of(ours, "cpu_us")


def run(report, options, folder):
    run_memory(report, options, folder)
    costs = [[count, run_polls(report, options, folder, count, interval)] for count, interval in ((1000, "100ms"), (10_000, "250ms"))]
    report.plot(kind="lines", group="cpu", title="CPU us a poll against flights in flight", x="flights", y="us", is_log_x=True,
                series={"solvegate": costs})
