"""What the tests of the vendor's side share: problems, scripts, and what the simulator has seen."""
import re
from collections import namedtuple

from harness import Sim, check, equal, wait_until

Call = namedtuple("Call", "at door what outcome")  # of the simulator's --log


def problem(reply, status, code):
    """Checks that a reply is this problem and returns its body."""
    equal((reply.status, reply.json().get("code")), (status, code), f"status and code of {reply.text}")
    return reply.json()


def strike(fault, sitekey=None, count=1, value=None):
    """An entry for the simulator's script: the next submits (of this sitekey) get this fault."""
    entry = {"fault": fault, "count": count}
    if sitekey is not None:
        entry["match"] = {"sitekey": sitekey}
    if value is not None:
        entry["value"] = value
    return entry


def calls(world, door, text=""):
    """Calls at /in.php or /res.php in order, of a simulator with --log; text is in what was asked or said."""
    lines = re.findall(r"^(\d+\.\d+) \S+ /(\S+) (\S+) http=\d+ (.*)$", world.sim.stderr(), re.M)
    found = [Call(float(at), where, what, outcome) for at, where, what, outcome in lines]
    return [call for call in found if call.door == door and text in f"{call.what} {call.outcome}"]


def gaps(times):
    return [later - earlier for earlier, later in zip(times, times[1:])]


def paid_for(world, sitekey):
    """The accepted submits of a sitekey, from the ledger."""
    return [entry for entry in world.sim.submits() if entry["params"].get("sitekey") == sitekey]


def rejections(world, code):
    return world.sim.totals()["rejected_by_code"].get(code, 0)


def most_at_once(entries):
    """The most tasks that the ledger shows in flight at the same moment."""
    moves = [(entry["at"], 1) for entry in entries] + [(entry["settled"], -1) for entry in entries]
    most = now = 0
    for _, change in sorted(moves):
        now += change
        most = max(most, now)
    return most


def wait_counter(world, name, value, key=None):
    wait_until(lambda: world.counter(name, key) >= value, f"{name} to reach {value}")
    equal(world.counter(name, key), value, name)


def letters(world, key=None, **query):
    reply = world.call("GET", "/v1/letters", key=key, **query)
    equal(reply.status, 200, reply.text)
    return reply.json()


def metric(world, name):
    found = re.search(rf"^solvegate_{name} (\d+)$", world.call("GET", "/metrics").text, re.M)
    check(found, f"metric {name}")
    return int(found.group(1))


def sim_at(port, *args):
    """A simulator where one has been before."""
    return Sim("--listen", f"127.0.0.1:{port}", *args)
