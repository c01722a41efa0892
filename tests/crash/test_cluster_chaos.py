#!/usr/bin/env python3
"""Three gateways behind nginx, real clients, and random faults: nothing is lost, nothing is paid twice without a reason. (TAP)

    test_cluster_chaos.py [--store redis|postgres|both] [--seed N] [--faults N | --minutes N] [--skew SECONDS]

A round is a world of its own with some faults; the judge looks at it at its end. The seed decides which faults, when, and what
the callers want; a failing round keeps the words of all in a folder whose name it prints.
"""
import concurrent.futures
import random
import sys
import time

from cluster_chaos import CONFIG, LEASE, WINDOW, ChaosCluster, Clients, Guest, Guests, Kept  # first: it knows where the harness is
from cluster_judge import ClusterJudge
from harness import check, get, run, wait_until
from stores import KINDS, need_driver


def option(name, default):
    return type(default)(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


SEED = option("--seed", random.SystemRandom().randrange(2**32))
FAULTS = option("--faults", 0)
MINUTES = option("--minutes", 0.0)
STORE = option("--store", "both")
# How far the wall clock of one of the gateways is off.
SKEW = option("--skew", 3600)
IS_SHORT = not (FAULTS or MINUTES)
ROUND_FAULTS = 5 if IS_SHORT else 40
CALLERS = 8
LOSSES = {"submit-lost": 0.01, "submit-lost-reset": 0.01, "callback-drop": 0.1, "callback-twice": 0.05, "callback-early": 0.05, "poll-close": 0.03}
# How often each is drawn in a long run.
WEIGHTS = {"kill": 6, "killed while it starts": 1, "pause": 4, "cut": 5, "leave": 2, "two at once": 4, "roll": 1, "store killed": 2,
           "store frozen": 1, "clock": 1, "all killed": 1}
# A short run has one of each of these, in an order that is drawn.
SHORT = ["kill", "pause", "cut", "store killed", "leave"]


class Faults:
    """Draws what is done next and does it."""

    def __init__(self, world, draw):
        self.world = world
        self.draw = draw

    def on_node(self, kind):
        """A function of a gateway: what happens to it, all drawn before it begins."""
        world, draw = self.world, self.draw
        if kind == "kill":
            seconds = draw.choice([0, draw.uniform(0, LEASE), draw.uniform(LEASE, 3 * LEASE)])
            return lambda node: world.kill(node, seconds)
        if kind == "killed while it starts":
            seconds, starting = draw.uniform(0, 2 * LEASE), draw.uniform(0.05, 1)
            return lambda node: world.kill(node, seconds, starting)
        if kind == "pause":
            longest = LEASE + WINDOW + 3 if draw.random() < 0.1 and not IS_SHORT else LEASE + WINDOW - 4
            seconds = draw.choice([draw.uniform(0.1, LEASE), draw.uniform(LEASE, longest), draw.uniform(LEASE, longest)])
            return lambda node: world.pause(node, seconds)
        if kind == "leave":
            seconds = draw.uniform(0, 1)
            return lambda node: world.leave(node, seconds)
        mode = draw.choice(["delay", "hold", "mute", "refuse"])
        seconds = draw.choice([0.05, draw.uniform(0, LEASE), draw.uniform(LEASE, 3 * LEASE)])
        value = f"{draw.choice([0.02, 0.1, 0.4]):g}" if mode == "delay" else None
        return lambda node: world.cut(node, mode, seconds, value)

    def do(self, kind):
        """Returns how many faults that were."""
        world, draw = self.world, self.draw
        if kind == "roll":
            world.roll(draw.uniform(0, 0.5))
            return len(world.nodes)
        if kind == "store killed":
            world.lose_store(draw.choice([0, draw.uniform(0, LEASE), draw.uniform(LEASE, 2 * LEASE)]))
        elif kind == "store frozen":
            world.freeze_store(draw.uniform(0.2, 3 * LEASE))
        elif kind == "clock":
            world.set_clock(draw.choice([-SKEW, 0, SKEW]))
        elif kind == "two at once":
            return self.together([draw.choice(["kill", "pause", "cut", "leave"]) for _ in range(2)])
        elif kind == "all killed":
            return self.together(["kill"] * len(world.nodes))
        else:
            return self.together([kind])
        return 1

    def together(self, kinds):
        """On different gateways, a moment apart."""
        jobs = list(zip(map(self.on_node, kinds), self.draw.sample(self.world.nodes, len(kinds)), [self.draw.uniform(0, 1) for _ in kinds]))

        def do_one(job):
            function, node, moment = job
            time.sleep(moment if len(jobs) > 1 else 0)
            function(node)

        with concurrent.futures.ThreadPoolExecutor(len(jobs)) as threads:
            list(threads.map(do_one, jobs))
        return len(jobs)

    def plan(self):
        """The kinds to come."""
        if IS_SHORT:
            yield from self.draw.sample(SHORT, len(SHORT))
            return
        while True:
            yield self.draw.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]

    def run(self, count):
        done = 0
        for kind in self.plan():
            if done >= count:
                break
            time.sleep(self.draw.uniform(0.1, 1))
            done += self.do(kind)
        return done


def ask_again(world, needs):
    """At the end everything is asked for once more, wherever nginx leads: told ids, idempotency keys and what was abandoned."""
    for node in world.nodes:
        wait_until(lambda node=node: get(node.url + "/v1/flights").json()["total"] == 0, "what is under way to end", 120)
    caller = Guest(world.url)

    def ask(need):
        for task in need.ids:
            caller.poll(need, task)
        if need.is_abandoned and need.reuse == "single":
            caller.hold_once(need)  # to ask twice would be to want two
        elif (need.idempotency and not need.problems) or need.is_abandoned:
            caller.hold(need)

    with concurrent.futures.ThreadPoolExecutor(CALLERS) as callers:
        for _ in callers.map(ask, needs):
            pass


def go_round(kind, seed, faults):
    """One world and its judge; returns the number of faults."""
    draw = random.Random(seed)
    store = KINDS[kind]()
    need_driver(store.url)
    options = ("--solve-time", "uniform:100ms-700ms", "--seed", str(draw.randrange(2**32)), "--result-ttl", "1h")
    with store, Kept(seed.replace(" ", "-")) as folder, ChaosCluster(store, options, folder, SKEW) as world:
        clients = Clients(world.url, world.sim.url)
        crowd = Guests(world.url, seed, CALLERS)
        try:
            world.sim.set_faults(LOSSES)
            crowd.start()
            done = Faults(world, draw).run(faults)
            world.sim.set_faults({})
            needs = clients.stop()
            crowd.stop()
            ask_again(world, crowd.needs)
            line = ClusterJudge(world, crowd.needs + needs).judge()
        finally:
            crowd.must_stop = True
            clients.kill()
            world.save(crowd.needs)
        events = world.count_events("node_adopted", "node_fenced", "lease_lost")
        print(f"# {kind}: {line}; {len(needs)} by packages; {events}", flush=True)
    return done


def rounds(kinds):
    """Round after round until it is enough. One that failed does not keep the others from being tried."""
    until = time.monotonic() + 60 * MINUTES
    total = number = 0
    failures = []
    while total < FAULTS or time.monotonic() < until:
        try:
            total += go_round(kinds[number % len(kinds)], f"{SEED} {number}", ROUND_FAULTS)
        except AssertionError as problem:
            print(f"# round {number} failed: {problem}".replace("\n", "\n# "), flush=True)
            failures.append(number)
            total += ROUND_FAULTS
        number += 1
    print(f"# {total} faults in {number} rounds")
    check(not failures, f"rounds that failed: {failures}")


def nothing_is_lost_or_paid_twice_whatever_happens_to_three_gateways():
    kinds = ["postgres", "redis"] if STORE == "both" else [STORE]
    if IS_SHORT:
        for kind in kinds:
            go_round(kind, f"{SEED} {kind}", ROUND_FAULTS)
    else:
        rounds(kinds)


if __name__ == "__main__":
    print(f"# seed {SEED}; lease {CONFIG['cluster']['lease']}, window {CONFIG['ambiguity_window']}")
    run([nothing_is_lost_or_paid_twice_whatever_happens_to_three_gateways])
