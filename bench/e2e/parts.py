"""What a solve costs the gateway beyond its parts. The whole: a request that is held, its submit, its callback and its
answer, every target asked for once, 5 000 a second. The parts, each alone and as fast as it goes: a POST that is answered
from memory, one submit by src/upstream, one genuine callback. All are CPU time of the program on cpu 0; rounds
take turns, so that a busy machine disturbs all of them."""
import json
import pathlib
import statistics
import subprocess
import sys

import gates
from programs import SERVER_CPU, Sim, pinned
from wrk import Call, measure

MOST, BEST = 1.15, 1.05
CONNECTIONS = 64
CALLBACKS = 2000
BODY = json.dumps({"method": "turnstile", "sitekey": "0x4AAAAAAA00000001", "pageurl": "https://example.com/login", "wait": 30},
                  separators=(",", ":"))


def hit_us(gate, seconds):
    return measure(Call("POST", "/v1/solves", body=BODY), gate, gate.port, CONNECTIONS, seconds)["cpu_us"]


def submit_us(build, sim, seconds):
    command = [build / "bench" / "upstream" / "upstream-load", sim.url, "submit", CONNECTIONS, CONNECTIONS, seconds]
    done = json.loads(subprocess.run(pinned(SERVER_CPU, command), check=True, capture_output=True, text=True).stdout)
    if done["bad"]:
        sys.exit(f"{done['bad']} submits were not accepted")
    return done["user_us"] + done["system_us"]


def callback_us(gate, turn):
    flights = gate.open_flights(f"part{turn}", CALLBACKS)
    return gates.fire(gate, CONNECTIONS, *gates.callback_words(gate, flights))["cpu_us"]


def run(report, options, folder, make_gate, whole_us):
    """make_gate(sim) is a gateway whose vendor solves at once; whole_us(turn) one window of whole solves."""
    sim = Sim(options.build, "--solve-time", "10ms")
    far = Sim(options.build, "--solve-time", "24h", "--ledger-max", "1")
    gate = called = None
    rounds = []
    try:
        gate = make_gate(sim)
        called = gates.Gate(options.build, pathlib.Path(folder) / "parts", False)
        if gate.call("POST", "/v1/solves", BODY)[0] != 200 or "dedup_cache" not in gate.call("POST", "/v1/solves", BODY)[1]:
            sys.exit("the target of the hits is not solved")
        for turn in range(options.rounds):
            steps = {"whole": lambda turn=turn: whole_us(turn), "hit": lambda: hit_us(gate, options.window_s),
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
    report.add("CPU us a solve, held and called back", statistics.median(one["whole"] for one in rounds), statistics.median(sums),
               [one["whole"] / parts for one, parts in zip(rounds, sums)], most=MOST, best=BEST, digits=1,
               versus="a hit, a submit and a callback alone")
    for name in ("hit", "submit", "callback"):
        report.add_rounds(f"  the {name} alone", rounds, name, digits=1)
