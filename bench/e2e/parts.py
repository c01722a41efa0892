"""What a solve costs the gateway beyond its parts. The whole: a request that is held, its submit, its callback and its
answer, every target asked for once, as fast as it goes and at 5 000 a second. The parts, each alone and as fast as it goes:
a POST that is answered from memory, one submit by src/upstream, one genuine callback. All are CPU time of the program on
cpu 0; rounds take turns, so that a busy machine disturbs all of them."""
import json
import pathlib
import statistics
import subprocess
import sys

import gates
from programs import LOAD_CPU, SERVER_CPU, Sim, pinned
from wrk import Call, measure

MOST, BEST = 1.15, 1.05
SOLVES = pathlib.Path(__file__).resolve().parents[1] / "store" / "solve.lua"
CONNECTIONS = 64
IDLE = "each byte wakes up a program that has nothing else to do, and the parts are measured in one that has"
CALLBACKS = 2000
BODY = json.dumps({"method": "turnstile", "sitekey": "0x4AAAAAAA00000001", "pageurl": "https://example.com/login", "wait": 30},
                  separators=(",", ":"))


def hit_us(gate, seconds):
    return measure(Call("POST", "/v1/solves", body=BODY), gate, gate.port, CONNECTIONS, seconds)["cpu_us"]


def whole_us(gate, sim, seconds, run):
    """As many solves as there is time for, as many at a time as there are connections to measure the parts."""
    paid, before = sim.totals()["accepted"], gate.cpu_ns()
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "30s", "-s", SOLVES,
               f"http://127.0.0.1:{gate.port}/v1/solves", "--", run]
    done = json.loads(subprocess.run(pinned(LOAD_CPU, command), check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    if done["errors"] or not done["requests"]:
        sys.exit(f"solves as fast as they go: {done}")
    return (gate.cpu_ns() - before) / 1000 / (sim.totals()["accepted"] - paid)


def submit_us(build, sim, seconds):
    command = [build / "bench" / "upstream" / "upstream-load", sim.url, "submit", CONNECTIONS, CONNECTIONS, seconds]
    done = json.loads(subprocess.run(pinned(SERVER_CPU, command), check=True, capture_output=True, text=True).stdout)
    if done["bad"]:
        sys.exit(f"{done['bad']} submits were not accepted")
    return done["user_us"] + done["system_us"]


def callback_us(gate, turn):
    flights = gate.open_flights(f"part{turn}", CALLBACKS)
    return gates.fire(gate, CONNECTIONS, *gates.callback_words(gate, flights))["cpu_us"]


def run(report, options, folder, make_gate, paced_us):
    """make_gate(sim) is a gateway whose vendor solves at once; paced_us(turn) one window of solves at 5 000 a second."""
    sim = Sim(options.build, "--solve-time", "10ms", "--pingback-connections", "512")
    far = Sim(options.build, "--solve-time", "24h", "--ledger-max", "1")
    gate = called = None
    rounds = []
    try:
        gate = make_gate(sim)
        called = gates.Gate(options.build, pathlib.Path(folder) / "parts", False)
        if gate.call("POST", "/v1/solves", BODY)[0] != 200 or "dedup_cache" not in gate.call("POST", "/v1/solves", BODY)[1]:
            sys.exit("the target of the hits is not solved")
        for turn in range(options.rounds):
            steps = {"whole": lambda turn=turn: whole_us(gate, sim, options.window_s, f"whole-{turn}"),
                     "paced": lambda turn=turn: paced_us(turn), "hit": lambda: hit_us(gate, options.window_s),
                     "submit": lambda: submit_us(options.build, far, options.window_s),
                     "callback": lambda turn=turn: callback_us(called, turn)}
            rounds.append({name: steps[name]() for name in list(steps)[::1 if turn % 2 == 0 else -1]})
            report.say(f"parts of a solve: round {turn + 1} of {options.rounds}, "
                       + ", ".join(f"{name} {us:.1f} us" for name, us in rounds[-1].items()))
    finally:
        for program in (gate, called, sim, far):
            if program:
                program.stop()
    add_rows(report, rounds)


def add_rows(report, rounds):
    sums = [one["hit"] + one["submit"] + one["callback"] for one in rounds]
    for name, which in ((f"CPU us a solve, held and called back, {CONNECTIONS} at a time", "whole"),
                        ("  the same at 5 000 a second", "paced")):
        why = IDLE if which == "paced" else None
        report.add(name, statistics.median(one[which] for one in rounds), statistics.median(sums),
                   [one[which] / parts for one, parts in zip(rounds, sums)], most=MOST, best=BEST, digits=1,
                   versus="a hit, a submit and a callback alone", why=why)
    for name in ("hit", "submit", "callback"):
        report.add_rounds(f"  the {name} alone", rounds, name, digits=1)
