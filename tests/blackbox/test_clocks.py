#!/usr/bin/env python3
"""Clocks that jump and processes that stand still: nothing expires early, nothing is sent again in vain. (TAP)"""
import json
import signal
import socket
import time
import urllib.parse

from gateway import PAGE, World
from harness import KEY, check, equal, run, test, wait_until
from store_world import StoreWorld, Suspend, WallClock

# No poll is due within a test unless it says so.
PATIENT = {"poll": {"first": "60s", "interval": "60s", "fallback_after": "60s"}}
HOUR = 3600


def wall_of(world):
    """What the gateway takes for now: the newest flight's birth."""
    return world.rows("SELECT max(started) FROM attempt")[0][0] / 1000


# --- jumps while it runs --------------------------------------------------------------------------


def jumping(seconds):
    clock = WallClock()
    config = {**PATIENT, "ambiguity_window": "2m", "solve_timeout": "5m", "drain_timeout": "0s"}
    with StoreWorld(config, sim=("--solve-time", "10m"), env=clock.env, callbacks=True) as world:
        cached = world.submit_id(sitekey="cached")
        wait_until(lambda: world.paid() == 1, "the submit")
        world.sim.solve()
        text = world.result_text(cached)
        world.sim.set_faults(script=["submit-lost"])
        unheard = world.submit_id(sitekey="unheard")
        paid = world.submit_id(sitekey="paid")
        wait_until(lambda: world.paid() == 3, "the submits")

        clock.jump(seconds)
        later = world.submit_id(sitekey="later")
        wait_until(lambda: world.paid() == 4, "a submit after the jump")
        wait_until(lambda: abs(wall_of(world) - time.time() - seconds) < 60 or seconds < 0, "the jump in the journal")
        time.sleep(1)
        equal(world.paid(), 4, "no resend by the jump; accepted")
        equal(world.result(cached).text, text, "the answer before the jump")
        equal(world.solved(sitekey="cached")["source"], "dedup_cache", "source after the jump")
        world.sim.solve()
        for task in (unheard, paid, later):
            check(world.result_text(task).startswith("OK|SIM_"), "callbacks are understood after the jump")

        # And once more: the journal held times of both clocks.
        world.kill()
        world.start(env=clock.env)
        for task in (cached, unheard, paid, later):
            check(world.result_text(task).startswith("OK|SIM_"), "told ids after a restart")
        for sitekey in ("cached", "unheard", "paid", "later"):
            equal(world.solved(sitekey=sitekey)["source"], "dedup_cache", f"source of {sitekey} after a restart")
        equal(world.paid(), 4, "accepted in all")


@test
def an_hour_forward_while_it_runs_expires_nothing_and_resends_nothing():
    jumping(HOUR)


@test
def an_hour_back_while_it_runs_expires_nothing_and_resends_nothing():
    jumping(-HOUR)


# --- jumps over a restart -------------------------------------------------------------------------


def restarted(seconds):
    """A world with a solution and two open flights that is started again with another idea of the time."""
    clock = WallClock()
    world = StoreWorld({**PATIENT, "cache": {"ttl": {"turnstile": "100s"}}}, sim=("--solve-time", "60s"), env=clock.env)
    world.__enter__()
    world.cached = world.submit_id(sitekey="cached")
    wait_until(lambda: world.paid() == 1, "the submit")
    world.await_journaled_task()
    world.sim.solve()
    # Found by the poll that follows a restart.
    world.kill()
    world.start(env=clock.env)
    world.text = world.result_text(world.cached)
    world.open = [world.submit_id(sitekey=f"open-{i}") for i in range(2)]
    wait_until(lambda: world.paid() == 3, "the submits")
    world.await_journaled_task(2)
    world.kill()
    clock.jump(seconds)
    world.sim.solve()
    world.start(env=clock.env)
    return world


@test
def an_hour_forward_over_a_restart_fetches_what_is_paid_for_and_pays_nothing_again():
    world = restarted(HOUR)
    try:
        for task in world.open:
            check(world.result_text(task).startswith("OK|SIM_"), "paid flights")
        equal(world.result_text(world.cached), world.text, "the told id")
        equal(world.solved(sitekey="cached")["source"], "dedup_cache", "source")
        equal(world.paid(), 3, "accepted")
    finally:
        world.__exit__(None)


def unheard_over_a_restart(seconds):
    """A submit whose reply was lost, then another idea of the time: its window is as long as ever."""
    clock = WallClock()
    config = {**PATIENT, "ambiguity_window": "15s", "drain_timeout": "0s"}
    with StoreWorld(config, sim=("--solve-time", "60s"), env=clock.env, callbacks=True) as world:
        world.sim.set_faults(script=["submit-lost"])
        task = world.submit_id()
        wait_until(lambda: world.counter("submits_ambiguous") == 1, "the lost reply")
        wait_until(lambda: world.rows("SELECT counted FROM attempt") == [(1,)], "its record")
        world.kill()
        clock.jump(seconds)
        world.start(env=clock.env)
        time.sleep(2)
        equal(world.paid(), 1, "accepted, and not sent again")
        world.sim.solve()
        check(world.result_text(task).startswith("OK|SIM_"), "solved by the callback")
        equal(world.paid(), 1, "accepted in all")


@test
def an_hour_forward_over_a_restart_sends_nothing_again():
    unheard_over_a_restart(HOUR)


@test
def an_hour_back_over_a_restart_sends_nothing_again():
    unheard_over_a_restart(-HOUR)


@test
def an_hour_back_over_a_restart_keeps_what_is_fresh_and_makes_nothing_live_longer():
    world = restarted(-HOUR)
    try:
        for task in world.open:
            check(world.result_text(task).startswith("OK|SIM_"), "paid flights")
        equal(world.result_text(world.cached), world.text, "the told id")
        reply = world.solved(sitekey="cached")
        equal(reply["source"], "dedup_cache", "source")
        check(0 < reply["expires_in"] <= 100, f"a solution for 100 s lives {reply['expires_in']} s more")
        equal(world.paid(), 3, "accepted")
    finally:
        world.__exit__(None)


# --- standing still -------------------------------------------------------------------------------


def waiting_peers(port):
    """How many sent something to this port that was not read yet? The kernel keeps it meanwhile."""
    count = 0
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in list(table)[1:]:
            fields = line.split()
            established, unread = fields[3] == "01", int(fields[4].split(":")[1], 16)
            count += established and unread > 0 and int(fields[1].split(":")[1], 16) == port
    return count


def stand_still(world, seconds, is_called=False, questions=(), moments=0):
    """As after the lid of a laptop was closed, or a virtual machine was moved; perhaps the vendor calls meanwhile, and
    perhaps open connections ask these questions, which are read before the vendor's new connection is. On a machine that is
    busy with waking up the process gets so many short moments first."""
    peers = [socket.create_connection(("127.0.0.1", world.port)) for _ in questions]
    # Answered means accepted: a connection that the kernel alone knows is read no earlier than the vendor's.
    for peer in peers:
        peer.settimeout(10)
        peer.sendall(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        check(peer.recv(4096).endswith(b"ok\n"), "a connection that is open")
    world.gate.send_signal(signal.SIGSTOP)
    for peer, question in zip(peers, questions):
        peer.sendall(question)
    if is_called:
        world.sim.solve()
    time.sleep(seconds)
    if is_called:
        wait_until(lambda: waiting_peers(world.port) > len(peers), "the vendor's call")
    for _ in range(moments):
        world.gate.send_signal(signal.SIGCONT)
        world.gate.send_signal(signal.SIGSTOP)
        time.sleep(0.12)
    world.gate.send_signal(signal.SIGCONT)
    for peer in peers:
        reply = peer.recv(4096)
        check(reply.startswith(b"HTTP/1.1 200"), f"an answer to each, and not {reply}")
        peer.close()


@test
def a_callback_that_came_while_it_stood_still_is_heard_before_the_window_is_over():
    config = {**PATIENT, "ambiguity_window": "5s"}
    with World(config, sim=("--solve-time", "10m"), callbacks=True) as world:
        world.sim.set_faults(script=["submit-lost"])
        task = world.submit_id()
        wait_until(lambda: world.counter("submits_ambiguous") == 1, "the lost reply")
        stand_still(world, 6, is_called=True)
        check(world.result_text(task).startswith("OK|SIM_"), "solved by the callback")
        equal(world.paid(), 1, "accepted")
        equal(world.counter("resends"), 0, "resends")


@test
def it_is_heard_also_if_waking_up_takes_long():
    config = {**PATIENT, "ambiguity_window": "5s"}
    with World(config, sim=("--solve-time", "10m"), callbacks=True) as world:
        world.sim.set_faults(script=["submit-lost"])
        task = world.submit_id()
        wait_until(lambda: world.counter("submits_ambiguous") == 1, "the lost reply")
        stand_still(world, 6, is_called=True, moments=60)
        check(world.result_text(task).startswith("OK|SIM_"), "solved by the callback")
        equal((world.paid(), world.counter("resends")), (1, 0), "accepted, and sent again")


def questions_of(task, body=b"sitekey=another&pageurl=https://example.com&method=turnstile"):
    """What a dashboard, a scraper and workers ask all the time."""
    def head(line, *more):
        return "\r\n".join((line + " HTTP/1.1", "Host: 127.0.0.1", *more, "", "")).encode()

    yield from (head(f"GET {path}") for path in ("/v1/flights", "/v1/stats", "/v1/letters", "/v1/pools", "/metrics", "/livez"))
    yield head(f"GET /res.php?key={KEY}&action=get&id={task}")
    yield head(f"GET /res.php?key={KEY}&action=get&ids={task}")
    yield head("POST /in.php", "Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}") + body
    params = json.dumps(dict(urllib.parse.parse_qsl(body.decode()))).encode()
    yield head("POST /v1/explain", "Content-Type: application/json", f"Content-Length: {len(params)}") + params


@test
def no_question_makes_time_pass_before_a_callback_that_came_while_it_stood_still_is_heard():
    config = {**PATIENT, "ambiguity_window": "5s"}
    with World(config, sim=("--solve-time", "10m"), callbacks=True) as world:
        world.sim.set_faults(script=["submit-lost"])
        task = world.submit_id()
        wait_until(lambda: world.counter("submits_ambiguous") == 1, "the lost reply")
        stand_still(world, 6, is_called=True, questions=list(questions_of(task)))
        check(world.result_text(task).startswith("OK|SIM_"), "solved by the callback")
        equal(world.counter("resends"), 0, "resends")
        equal(world.paid(), 2, "accepted, one for each of two keys")


@test
def the_age_of_a_flight_grows_while_nothing_happens():
    with World(PATIENT, sim=("--solve-time", "10m")) as world:
        world.submit_id()
        world.await_accepted(1)
        before = world.call("GET", "/v1/flights").json()["flights"][0]
        time.sleep(1.5)
        after = world.call("GET", "/v1/flights").json()["flights"][0]
        check(after["age"] >= before["age"] + 1.4, f"it was {before['age']} s old, and is {after['age']} s")
        check(after["deadline_in"] <= before["deadline_in"] - 1.4, "its deadline comes nearer")


@test
def a_reply_that_came_while_it_stood_still_is_no_lost_reply():
    config = {"upstream": {"submit_timeout": "5s"}, "ambiguity_window": "2s"}
    with World(config, sim=("--solve-time", "200ms")) as world:
        world.sim.set_faults(script=[{"fault": "submit-delay", "value": "1s"}])
        task = world.submit_id()
        wait_until(lambda: world.paid() == 1, "the submit")
        stand_still(world, 6)
        check(world.result_text(task).startswith("OK|SIM_"), "solved")
        equal(world.paid(), 1, "accepted")
        equal(world.counter("submits_ambiguous"), 0, "submits called ambiguous")


@test
def a_solution_that_came_while_it_stood_still_beats_the_deadline():
    config = {**PATIENT, "solve_timeout": "5s", "ambiguity_window": "1s"}
    with World(config, sim=("--solve-time", "10m"), callbacks=True) as world:
        task = world.submit_id()
        world.await_accepted(1)
        stand_still(world, 6, is_called=True)
        equal(world.result_text(task)[:7], "OK|SIM_", "the answer")
        equal(world.paid(), 1, "accepted")


@test
def a_solution_that_only_a_poll_can_bring_beats_the_deadline_after_a_standstill():
    config = {**PATIENT, "poll": {"first": "1s", "interval": "1s"}, "solve_timeout": "10s", "ambiguity_window": "1s"}
    with World(config, sim=("--solve-time", "60s")) as world:
        task = world.submit_id()
        wait_until(lambda: world.paid() == 1, "the submit")
        world.gate.send_signal(signal.SIGSTOP)
        world.sim.solve()
        time.sleep(13)
        world.gate.send_signal(signal.SIGCONT)
        equal(world.result_text(task)[:7], "OK|SIM_", "the answer")
        equal(world.paid(), 1, "accepted")


@test
def standing_still_for_long_loses_no_told_id_and_pays_nothing_again():
    config = {"ambiguity_window": "2s", "solve_timeout": "60s", "upstream": {"poll_timeout": "1s", "submit_timeout": "2500ms"}}
    with StoreWorld(config, sim=("--solve-time", "uniform:100ms-3s")) as world:
        tasks = [world.submit_id(sitekey=f"still-{i}") for i in range(20)]
        for _ in range(3):
            stand_still(world, 3)
            time.sleep(0.1)
        for task in tasks:
            check(world.result_text(task).startswith("OK|SIM_"), "solved")
        equal(world.paid(), 20, "accepted")


# --- a machine that sleeps ------------------------------------------------------------------------


@test
def a_solution_that_expired_while_the_machine_slept_is_not_served():
    machine = Suspend()
    with World(env=machine.env) as world:
        first = world.solved()
        machine.sleep(100)
        again = world.solved()
        equal(again["source"], "dedup_cache", "source after 100 s of sleep")
        check(again["age"] >= 100, f"it is {again['age']} s old")
        machine.sleep(1800)
        later = world.solved()
        equal(later["source"], "api", "source after half an hour of sleep")
        check(later["solution"] != first["solution"], "another solution")
        equal(world.paid(), 2, "accepted")


def statuses_of_one_turn(count):
    """Of so many questions that come together while the machine falls asleep; 202 means that nothing fresh was there."""
    machine = Suspend()
    body = json.dumps({"method": "turnstile", "sitekey": "0xSITE", "pageurl": PAGE}).encode()
    question = b"POST /v1/solves HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    with World(env=machine.env) as world, socket.create_connection(("127.0.0.1", world.port), 10) as peer:
        world.solved()
        machine.sleep(1800, after=10)
        peer.sendall(question * count)
        replies = b""
        while replies.count(b"HTTP/1.1 ") < count:
            replies += peer.recv(65536)
        return [int(reply[:3]) for reply in replies.split(b"HTTP/1.1 ")[1:]]


@test
def a_sleep_in_the_middle_of_a_turn_of_the_loop_is_noticed():
    # Something else may read the clocks while nobody asks; then all come too late.
    statuses = next(found for found in (statuses_of_one_turn(40) for _ in range(8)) if found[0] == 200)
    equal(statuses[-1], 202, f"the last of {statuses}")


@test
def a_callback_that_came_while_the_machine_slept_is_heard_before_the_window_is_over():
    machine = Suspend()
    with World({**PATIENT, "ambiguity_window": "45s"}, sim=("--solve-time", "10m"), env=machine.env, callbacks=True) as world:
        world.sim.set_faults(script=["submit-lost"])
        task = world.submit_id()
        wait_until(lambda: world.counter("submits_ambiguous") == 1, "the lost reply")
        world.gate.send_signal(signal.SIGSTOP)
        world.sim.solve()
        wait_until(lambda: waiting_peers(world.port) > 0, "the vendor's call")
        machine.sleep(60)
        world.gate.send_signal(signal.SIGCONT)
        check(world.result_text(task).startswith("OK|SIM_"), "solved by the callback")
        equal(world.counter("resends"), 0, "resends")
        equal(world.paid(), 1, "accepted")


@test
def what_was_due_while_the_machine_slept_is_done_when_it_wakes_up():
    machine = Suspend()
    config = {**PATIENT, "ambiguity_window": "45s"}
    with World(config, sim=("--solve-time", "10m"), env=machine.env, callbacks=True) as world:
        world.sim.set_faults(script=["submit-lost"])
        world.submit_id()
        wait_until(lambda: world.counter("submits_ambiguous") == 1, "the lost reply")
        machine.sleep(60)
        wait_until(lambda: world.counter("resends") == 1, "the end of its window")


run(beside=3)
