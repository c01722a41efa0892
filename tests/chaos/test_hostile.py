#!/usr/bin/env python3
"""Hostile and garbled vendors, all kinds at once: every flight ends with a class, nobody else notices. (TAP)"""
import collections
import time

from chaos_world import ChaosWorld, test  # first: it knows where the harness is
from gateway import together
from harness import Receiver, check, equal, run, wait_until
from hostile_vendor import HostileVendor

SUBMIT_TIMEOUT = 12
CONFIG = {
    "upstream": {"submit_timeout": f"{SUBMIT_TIMEOUT}s", "poll_timeout": "4s", "connections": 100},
    "poll": {"first": "100ms", "interval": "500ms"},
    "solve_timeout": "24s", "ambiguity_window": "1s", "on_ambiguous": "never",
    "breaker": {"probe": "300ms", "probe_max": "1s"},
}
CAP_MIB = 24
PATIENCE = 180


class HostileWorld(ChaosWorld):
    def __init__(self, trap):
        super().__init__(CONFIG)
        self.sim = self.vendor = HostileVendor(trap.url)


def end_of(world, identifier):
    """(status, code) once the request has come to its end."""
    def ended():
        reply = world.call("GET", f"/v1/solves/{identifier}", wait=20)
        is_running = reply.json().get("status") in ("queued", "solving")
        return None if is_running else (reply.status, reply.json())

    status, body = wait_until(ended, f"the end of {identifier}", timeout=PATIENCE)
    return status, body.get("code") or body.get("status")


def misbehave(where, expected, others=None):
    """One request for each kind of vendor; expected is how they end, others has the kinds that end in another way."""
    with Receiver() as trap, HostileWorld(trap) as world:
        kinds = sorted(world.vendor.kinds)
        with world.attack(CAP_MIB):
            ids = together(len(kinds), lambda i: world.solve(sitekey=f"{where}.{kinds[i]}", wait=None).json()["id"])
            wait_until(lambda: world.vendor.waiting >= len(kinds), "every kind to be on the wire")
            world.vendor.unleash()
            started = time.monotonic()
            ends = dict(zip(kinds, together(len(kinds), lambda i: end_of(world, ids[i]))))
            took = time.monotonic() - started
        print(f"# {len(kinds)} kinds of vendor: {dict(collections.Counter(ends.values()))}; the last ended after "
              f"{took:.1f} s, {world.vendor.sent / 2**20:.1f} MiB were sent")
        wrong = {kind: end for kind, end in ends.items() if end != (others or {}).get(kind, expected)}
        equal(wrong, {}, "ends that are not as they should be")
        check(took < 120, f"the last one ended after {took:.1f} s")
        equal(trap.connections, 0, "redirects that were followed")
        wait_until(lambda: world.solve(sitekey="honest", wait=20).status == 200, "an honest answer", timeout=60)


@test
def submits_that_are_answered_with_nonsense_end_as_ambiguous():
    misbehave("submit", (504, "ambiguous_submit"))


@test
def polls_that_are_answered_with_nonsense_end_with_the_deadline():
    # Paid answers are handed on whatever their bytes are; what claims to be one and is empty, too large or unclear becomes a letter.
    solved, kept = (200, "solved"), (502, "undeliverable")
    misbehave("poll", (504, "solve_timeout"), {"escaped-nul": solved, "nul-in-json": solved, "long-request": solved,
                                               "empty-request": kept, "endless-json": kept, "huge-json": kept,
                                               "said-twice": kept, "lone-surrogate": kept})


if __name__ == "__main__":
    run()
