"""Calls that wait for one of upstream.connections: what nobody is served by any more is taken back, and never sent."""
import signal
import tempfile

from gateway import World, together
from harness import check, equal, run, test, wait_until
from store_world import StoreWorld
from vendor_world import calls, problem, strike, wait_counter

CALLERS = 20
# The vendor hangs on the first calls; whoever waits behind them is told so long before those end.
NARROW = {"upstream": {"connections": 2, "submit_timeout": "6s"}, "solve_timeout": "4s",
          "ambiguity_window": "1s"}
HANG = ["--log", "--solve-time", "100ms"]


def hanging_world(config=None):
    return World({**NARROW, **(config or {})}, sim=HANG)


def hang(world, count=2):
    """Every connection to the vendor is taken by a submit that gets no answer."""
    world.sim.set_faults(script=[strike("submit-hang", "hangs", count)])
    for i in range(count):
        world.solve(wait=None, sitekey="hangs", pageurl=f"https://example.com/{i}")
    wait_until(lambda: world.sim.faults()["struck"].get("submit-hang", 0) == count, "the vendor to hang")


@test
def nothing_is_sent_for_callers_who_were_told_that_it_is_over():
    with hanging_world() as world:
        hang(world)
        for reply in together(CALLERS, lambda i: world.solve(sitekey=f"waits-{i}")):
            problem(reply, 504, "solve_timeout")
        wait_counter(world, "submits_not_sent", CALLERS)
        # The connections come free, and a submit goes through.
        wait_counter(world, "submits_ambiguous", 2)
        equal(world.solve(sitekey="after").status, 200)
        equal(len(calls(world, "in.php")), 3, "two that hung and the one after them; submits")
        equal(world.stats()["now"]["slots_used"], 0, "slots in use")


@test
def nothing_is_sent_for_callers_who_left():
    with hanging_world({"solve_timeout": "60s"}) as world:
        hang(world)
        ids = [world.solve(wait=None, sitekey=f"waits-{i}").json()["id"] for i in range(CALLERS)]
        for identifier in ids:
            equal(world.call("DELETE", f"/v1/solves/{identifier}").status, 204)
        wait_counter(world, "submits_not_sent", CALLERS)
        equal(world.solve(sitekey="after").status, 200)
        sent = [call for call in calls(world, "in.php", "waits-")]
        equal(sent, [], "submits that nobody wants")


@test
def a_gateway_that_ends_does_not_wait_for_submits_that_nobody_wants():
    with tempfile.TemporaryDirectory() as folder:
        config = {"data_dir": folder, "drain_timeout": "30s", "upstream": {**NARROW["upstream"], "submit_timeout": "3s"}}
        with hanging_world({**config, "solve_timeout": "60s"}) as world:
            hang(world)
            ids = [world.solve(wait=None, sitekey=f"waits-{i}").json()["id"] for i in range(CALLERS)]
            for identifier in ids:
                equal(world.call("DELETE", f"/v1/solves/{identifier}").status, 204)
            world.gate.process.send_signal(signal.SIGTERM)
            world.gate.process.wait(20)
            equal(len(calls(world, "in.php")), 2, "submits")


@test
def what_never_left_is_sent_at_once_after_a_restart():
    # Were it taken for one that may have been sent, the window would have to pass first.
    config = {"ambiguity_window": "60s", "solve_timeout": "120s", "upstream": {"connections": 2, "submit_timeout": "50s"}}
    with StoreWorld(config, sim=HANG) as world:
        hang(world)
        ids = [world.submit_id(sitekey=f"waits-{i}") for i in range(5)]
        equal(len(calls(world, "in.php", "waits-")), 0, "submits before the restart")
        world.gate.stop()
        world.start()
        for identifier in ids:
            check(world.result_text(identifier).startswith("OK|SIM_"), "a solution")
        equal(len(calls(world, "in.php")), 2 + 5, "submits")


@test
def a_gateway_that_ends_sends_nothing_more_and_pays_once():
    # Each reply takes a while, so that the queue outlasts the drain: what were sent in its last moment would be cut.
    config = {"drain_timeout": "2s", "upstream": {"connections": 1}, "ambiguity_window": "1s"}
    with StoreWorld(config, sim=["--log", "--solve-time", "100ms"]) as world:
        world.sim.set_faults(script=[strike("submit-delay", "waits", 99, "1200ms")])
        ids = [world.submit_id(sitekey="waits", pageurl=f"https://example.com/{i}") for i in range(5)]
        wait_until(lambda: world.sim.faults()["struck"].get("submit-delay", 0) == 1, "the first submit to be there")
        world.gate.stop()
        equal(world.sim.faults()["struck"]["submit-delay"], 1, "submits before the end")
        world.sim.set_faults(script=[])
        world.start()
        for identifier in ids:
            check(world.result_text(identifier).startswith("OK|SIM_"), "a solution")
        equal(world.paid(), 5, "paid")


run()
