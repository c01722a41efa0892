#!/usr/bin/env python3
"""A kill at every system call of a solve, thread by thread: strace delivers it on entering the N-th. (TAP)

    test_sweep.py [--full] [--seed N] [--points N] [--only TEXT]

A dry run counts the calls that each thread makes until the answer is there. Then every one of them gets a run of its own
on a gateway that has just started under strace; after its death the gateway is started again without, the caller goes on
asking, and at the end the judge looks at all of it. Without --full a sample is taken.
"""
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import tempfile
import threading

from crash_world import CrashWorld  # first: it knows where the harness is
from callers import Caller, Need
from harness import TIMEOUT, check, run, test, wait_until
from judge import Judge
from store_world import injecting, need_strace

IS_FULL = "--full" in sys.argv


def option(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


SEED = option("--seed", random.SystemRandom().randrange(2**32))
SAMPLE = option("--points", 6)


# What changes a file: these make the difference between two moments of the writer.
FILE_CALLS = ("pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "fchmod", "mkdir", "flock")
# Waiting happens more or less often from run to run.
VAGUE_CALLS = ("futex", "epoll_wait", "epoll_pwait")


def read_traces(folder):
    """Of each thread, the loop's first: the names of its system calls in order, None where it said that it is ready."""
    paths = sorted(pathlib.Path(folder).iterdir(), key=lambda path: int(path.suffix[1:]))
    for path in paths:
        calls = []
        for line in path.read_text(encoding="latin-1").splitlines():
            name = re.match(r"(\w+)\(", line)
            calls += [name.group(1)] if name else []
            calls += [None] if "ready on" in line else []
        yield calls


def points_of(traces):
    """(system call, N): strace counts in each thread by itself, and the first that gets there dies.

    What another thread does is therefore out of reach while the loop's thread did it more often when it started; but
    the writer's moments differ by what it did to the files, and for that the loop's thread is not in the way."""
    loop, *others = traces
    at_start = collections.Counter(loop[:loop.index(None)])
    points = set()
    for call, count in collections.Counter(filter(None, loop)).items():
        first = 1 if call in FILE_CALLS else at_start[call] + 1
        points.update((call, number) for number in range(first, count + 1 + (call in VAGUE_CALLS)))
    for other in others:
        for call, count in collections.Counter(other).items():
            points.update((call, number) for number in range(at_start[call] + 1, count + 1))
    return sorted(points)


class Sweep:
    """One way of asking, tried with a death at each of its system calls."""

    def __init__(self, world, ask, reuse):
        self.world = world
        self.ask = ask
        self.reuse = reuse
        self.needs = []
        self.killed = 0

    def new_need(self, name):
        need = Need(name, self.reuse, f"order-{len(self.needs)}")
        self.needs.append(need)
        return need

    def points(self):
        with tempfile.TemporaryDirectory() as folder:
            self.world.kill()
            self.world.start("strace", "-ff", "-o", os.path.join(folder, "trace"))
            self.ask(Caller(self.world.url), self.new_need("dry"))
            self.world.kill()
            self.world.start()
            return points_of(list(read_traces(folder)))

    def die_at(self, call, number):
        """One solve, with a death on the way unless there are fewer such calls this time."""
        gate = self.world.gate
        need = self.new_need(f"{call}-{number}")
        self.world.kill()
        try:
            self.world.start(*injecting(call, f"signal=KILL:when={number}"))
        except AssertionError:
            check(gate.process.wait() == -signal.SIGKILL, f"{need} ended it with {gate.process.returncode}")
        caller = threading.Thread(target=self.ask, args=(Caller(self.world.url), need), daemon=True)
        caller.start()
        wait_until(lambda: not caller.is_alive() or gate.process.poll() is not None, f"{need}", 60)
        status = gate.process.poll()
        self.killed += status is not None
        check(status in (None, -signal.SIGKILL), f"{need} ended it with {status}:\n{gate.stderr()}")
        gate.kill()
        gate.stop()
        self.world.note_death()
        self.world.start()
        caller.join(60)
        check(not caller.is_alive(), f"{need} is still not answered")

    def run(self, name):
        points = self.points()
        least = len(points) // 4 if IS_FULL else min(SAMPLE, len(points)) // 2
        tried = 0
        # A dry run on a busy machine has calls that no other has, so a sample may take some more to reach enough.
        for point in points if IS_FULL else random.Random(f"{SEED} {name}").sample(points, min(4 * SAMPLE, len(points))):
            if not IS_FULL and tried >= SAMPLE and self.killed >= least:
                break
            self.die_at(*point)
            tried += 1
        print(f"# {len(points)} points, {tried} tried, {self.killed} reached")
        check(self.killed >= least, f"only {self.killed} of {tried} points were reached")


def sweep(name, ask, reuse, callbacks=True, faults=None):
    need_strace()
    # A solve is over long before the window is, whatever else this machine has to do.
    config = {"ambiguity_window": "6s", "poll": {"fallback_after": "1s"}}
    with CrashWorld(("--solve-time", "100ms", "--result-ttl", "1h"), config, callbacks) as world:
        if faults:
            world.sim.set_faults(faults)
        one = Sweep(world, ask, reuse)
        one.run(name)
        world.kill()
        world.start()
        caller = Caller(world.url)
        for need in one.needs:
            for task in need.ids:
                caller.poll(need, task)
            caller.hold(need)
        print(f"# {Judge(world, one.needs).judge()}")


@test
def a_solve_by_dialect_and_callback_survives_a_kill_at_every_system_call():
    sweep("callback", Caller.ask_by_dialect, "single")


@test
def a_held_solve_by_polling_survives_a_kill_at_every_system_call():
    sweep("poll", Caller.hold, "shared", callbacks=False)


@test
def a_held_solve_whose_reply_was_lost_survives_a_kill_at_every_system_call():
    sweep("lost reply", Caller.hold, "single", faults={"submit-lost": 1})


@test
def the_database_can_be_made_after_a_kill_at_every_change_of_a_file():
    need_strace()
    with CrashWorld(("--solve-time", "100ms")) as world:
        with tempfile.TemporaryDirectory() as folder:
            gate_anew(world, "strace", "-ff", "-o", os.path.join(folder, "trace"))
            loop = next(read_traces(folder))
        world.start()
        points = [(call, number) for call, count in collections.Counter(loop[:loop.index(None)]).items()
                  if call in FILE_CALLS for number in range(1, count + 1)]
        chosen = points if IS_FULL else random.Random(f"{SEED} making").sample(points, min(SAMPLE, len(points)))
        for call, number in chosen:
            gate_anew(world, *injecting(call, f"signal=KILL:when={number}"))
            world.start()
            need = Need(f"made-{call}-{number}", "single", f"order-{call}-{number}")
            Caller(world.url).hold(need)
            check(len(need.tokens) == 1, f"{need}: {need.problems}")
        print(f"# {len(points)} points, {len(chosen)} tried")


def gate_anew(world, *prefix):
    """The life of a gateway with an empty directory: until it is killed, or ready, and then killed."""
    world.kill()
    shutil.rmtree(world.data)
    try:
        world.start(*prefix)
    except AssertionError:
        check(world.gate.process.wait() == -signal.SIGKILL, world.gate.stderr())
    world.gate.kill()
    world.gate.stop()
    world.note_death()


print(f"# seed {SEED}; single waits are {TIMEOUT:g} s")
run()
