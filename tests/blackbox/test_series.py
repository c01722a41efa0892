#!/usr/bin/env python3
"""Lines over time: /v1/series, its pages and tags, marks, standstills, and the bars of `solvegate top`. (TAP)"""
import time

from cli_world import Terminal, expect, solvegate
from gateway import ADMIN, ALICE, World, clients, rewrite
from harness import check, contains, equal, run, test, wait_until
from store_world import Suspend, WallClock
from vendor_world import strike

COUNTERS = ("requests", "answered_api", "answered_dedup_wait", "answered_dedup_cache", "answered_idempotent", "answered_pool",
            "failed", "rejected", "submits_accepted")
LEVELS = ("flights", "queued", "waiting", "slots_used", "slots_limit")
SOLVES = ("solve_p50_ms", "solve_p95_ms")


def series(world, key=None, **query):
    reply = world.call("GET", "/v1/series", key=key, **query)
    equal(reply.status, 200, "status")
    page = reply.json()
    for line in COUNTERS + LEVELS + SOLVES:
        equal(len(page[line]), page["points"], f"points of {line}")
    return page


def so_far(world):
    """All pages as one: on a busy machine a test may take longer than a page."""
    whole = series(world)
    for number in reversed(range(whole["first_page"], whole["page"])):
        older = series(world, page=number)
        for line in COUNTERS + LEVELS + SOLVES:
            whole[line] = older[line] + whole[line]
        whole["marks"] = older["marks"] + [{**mark, "point": mark["point"] + older["points"]} for mark in whole["marks"]]
        whole["points"] += older["points"]
    return whole


def total(page, line):
    return sum(value or 0 for value in page[line])


def await_total(world, line, least):
    def found():
        page = so_far(world)
        return page if total(page, line) >= least else None
    return wait_until(found, f"{least} {line}")


def await_points(world, count):
    return wait_until(lambda: (page := so_far(world))["points"] >= count and page, f"{count} points")


def marks(page):
    return [mark["what"] for mark in page["marks"]]


@test
def requests_and_solves_appear_in_their_second_and_are_those_of_the_statistics():
    with World(sim=("--solve-time", "300ms")) as world:
        for i in range(3):
            world.solved(sitekey=f"s{i}")
        world.solved(sitekey="s0")
        page = await_total(world, "answered_dedup_cache", 1)
        stats = world.stats()["total"]
        for line in COUNTERS:
            equal(total(page, line), stats[line], line)
        equal((page["step"], page["first_page"]), ("second", 0), "the page")
        solved = [value for value in page["solve_p50_ms"] if value is not None]
        check(solved and all(100 <= value <= 5000 for value in solved), f"solve times are {solved}")
        equal(page["slots_limit"][-1], 1000, "the limit")
        check(marks(page) == ["started"], f"marks are {page['marks']}")


@test
def a_flight_and_the_queue_are_levels():
    with World({"upstream": {"slots": 2}}, sim=("--solve-time", "60s")) as world:
        for i in range(5):
            world.submit_id(sitekey=f"s{i}")
        page = wait_until(lambda: (page := series(world))["queued"][-1:] == [3] and page, "three in the queue")
        equal((page["flights"][-1], page["slots_used"][-1], page["slots_limit"][-1], page["waiting"][-1]), (5, 2, 2, 5), "levels")


@test
def the_time_of_the_last_second_is_now_and_points_come_once_a_second():
    with World() as world:
        first = await_points(world, 1)
        began = time.monotonic()
        later = await_points(world, first["points"] + 4)
        took = time.monotonic() - began
        check(2.5 < took, f"four points came in {took:.1f} s")
        at = time.strptime(later["at"][:19], "%Y-%m-%dT%H:%M:%S")
        check(abs(time.mktime(at) - time.timezone - time.time()) < 10, f"it says {later['at']}")
        equal(later["run"], first["run"], "the run")


@test
def an_unchanged_page_is_not_sent_again():
    with World() as world:
        await_points(world, 1)
        reply = world.call("GET", "/v1/series", step="minute")
        equal(reply.json()["points"], 0, "minutes so far")
        tag = reply.headers["etag"]
        for known in (tag, f'W/"x", {tag}', "*"):
            again = world.call("GET", "/v1/series", step="minute", headers={"If-None-Match": known})
            equal((again.status, again.text, again.headers["etag"]), (304, "", tag), f"with {known}")
        equal(world.call("GET", "/v1/series", step="minute", headers={"If-None-Match": tag[1:-1]}).status, 200, "another tag")
        newest = world.call("GET", "/v1/series")
        wait_until(lambda: world.call("GET", "/v1/series", headers={"If-None-Match": newest.headers["etag"]}).status == 200, "a new second")


@test
def a_standstill_is_a_gap_and_a_complete_page_never_changes():
    machine = Suspend()
    with World(env=machine.env) as world:
        before = await_points(world, 2)
        machine.sleep(70)
        wait_until(lambda: series(world)["page"] == 1, "the second page")
        reply = world.call("GET", "/v1/series", page=0)
        first = reply.json()
        equal((first["complete"], first["points"], first["run"]), (True, 60, before["run"]), "the first page")
        check("at" not in first and "first_page" not in first, "a complete page tells what will change")
        for line in COUNTERS + LEVELS + SOLVES:
            equal(first[line][:2], before[line][:2], f"{line} before the gap")
            equal(first[line][59], None, f"{line} in the gap")
        world.solved()
        await_total(world, "requests", 1)
        again = world.call("GET", "/v1/series", page=0)
        equal((again.text, again.headers["etag"]), (reply.text, reply.headers["etag"]), "the page later")
        equal(world.call("GET", "/v1/series", page=0, headers={"If-None-Match": reply.headers["etag"]}).status, 304, "asked again")
        minute = series(world, step="minute")
        equal((minute["points"], minute["requests"], marks(minute)), (1, [0], ["started"]), "the first minute")
        machine.sleep(3600 * 30)
        latest = wait_until(lambda: (now := series(world))["first_page"] > 1700 and now, "the next day")
        equal(world.call("GET", "/v1/series", page=0).status, 404, "what is a day old")
        equal(total(latest, "requests"), 0, "requests of today")


@test
def the_machines_clock_may_be_set():
    clock = WallClock()
    with World(env=clock.env) as world:
        before = await_points(world, 2)
        for seconds in (86400 * 400, -86400 * 700):
            clock.jump(seconds)
            after = await_points(world, before["points"] + 2)
            check(None not in after["requests"][before["points"]:], "the jump is a gap")
            check(after["points"] < 600, f"there are {after['points']} points")
            before = after


@test
def mistakes_are_named_and_only_admins_look():
    with World(clients()) as world:
        for query, status, code in (({"step": "hour"}, 422, "bad_parameter"), ({"page": "x"}, 422, "bad_parameter"),
                                    ({"page": "-1"}, 422, "bad_parameter"), ({"page": "1"}, 404, "unknown_page"),
                                    ({"page": str(2**64 - 1)}, 404, "unknown_page"), ({"page": str(2**70)}, 422, "bad_parameter")):
            reply = world.call("GET", "/v1/series", key=ADMIN, **query)
            equal((reply.status, reply.json()["code"]), (status, code), f"with {query}")
            contains(reply.json()["detail"], next(iter(query)), "the detail")
        equal(world.call("GET", "/v1/series", key=ALICE).status, 403, "a client")
        equal(world.call("GET", "/v1/series").status, 401, "a stranger")


@test
def a_reload_and_the_breaker_leave_marks():
    with World(sim=("--solve-time", "100ms")) as world:
        await_points(world, 1)
        rewrite(world, lambda config: config)
        wait_until(lambda: "reloaded" in marks(so_far(world)), "the reload")
        world.sim.set_faults(script=[strike("submit-error", "x", 1, "ERROR_KEY_DOES_NOT_EXIST")])
        world.solve(sitekey="x")
        page = wait_until(lambda: "breaker_opened" in marks(now := so_far(world)) and now, "the breaker")
        equal(marks(page)[:2], ["started", "reloaded"], "the marks before")


@test
def a_breaker_that_opens_and_closes_leaves_both_marks_at_their_seconds():
    probing = {"breaker": {"probe": "1500ms", "probe_max": "2s"}}
    with World(probing, sim=("--solve-time", "100ms")) as world:
        await_points(world, 2)
        world.sim.set_faults(script=[strike("submit-error", "x", 1, "ERROR_KEY_DOES_NOT_EXIST")])
        equal(world.solve(sitekey="x").status, 503, "what opens the breaker")
        # Then the vendor is asked for the balance, which says that the account works.
        page = wait_until(lambda: "breaker_closed" in marks(now := so_far(world)) and now, "its mark")
        equal(marks(page), ["started", "breaker_opened", "breaker_closed"], "all marks")
        opened, closed = [mark["point"] for mark in page["marks"][1:]]
        check(opened < closed, f"opened at {opened}, closed at {closed}")
        equal(world.stats()["now"]["breaker"], "closed", "the breaker")
        world.solved(sitekey="y")


@test
def after_a_restart_there_is_another_run():
    with World() as world:
        first = await_points(world, 3)
        world.gate.stop()
        world.gate.start()
        world.url, world.port = world.gate.url, world.gate.port
        again = await_points(world, 1)
        check(again["run"] != first["run"], "the run has the same name")
        equal(marks(again), ["started"], "what is left")


# --- solvegate top --------------------------------------------------------------------------------

BARS = "▁▂▃▄▅▆▇█"


def lines_of(text):
    return {line[:13].strip(): line[13:] for line in text.splitlines() if len(line) > 13}


@test
def top_shows_the_last_seconds_as_bars_within_80_columns():
    with World({"upstream": {"slots": 2}}, sim=("--solve-time", "60s")) as world:
        for i in range(5):
            world.submit_id(sitekey=f"s{i}")
        wait_until(lambda: series(world)["queued"][-1:] == [3], "three in the queue")
        text = expect(solvegate("top", "-n", "1", env={"SOLVEGATE_URL": world.url, "LC_ALL": "C.UTF-8"}), 0).stdout
        lines = lines_of(text)
        for name, figure in (("requests", "most "), ("in flight", " 5, most 5"), ("queued", " 3, most 3"), ("slots used", " 2, most 2")):
            contains(lines[name], figure, name)
            contains(lines[name], "█", name)
        check(lines["queued"].strip().split(" ")[0].endswith("█"), f"the newest is the last: {lines['queued']}")
        check(lines["solve p95"].strip() == "-", f"nothing was solved: {lines['solve p95']!r}")
        contains(lines["marks"], "S started")
        check(all(len(line) <= 80 for line in text.splitlines() if any(bar in line for bar in BARS)), "bars wider than 80 columns")
        plain = expect(solvegate("top", "-n", "1", env={"SOLVEGATE_URL": world.url, "LC_ALL": "C"}), 0).stdout
        check(plain.isascii(), "not all of it is ASCII")
        contains(lines_of(plain)["queued"], "#", "the bars")


@test
def top_keeps_room_for_flights_on_a_small_screen():
    with World(sim=("--solve-time", "60s")) as world:
        for i in range(8):
            world.submit_id(sitekey=f"s{i}")
        await_total(world, "requests", 8)
        for lines, has_all in ((24, False), (45, True)):
            with Terminal("top", env={"SOLVEGATE_URL": world.url, "LC_ALL": "C.UTF-8"}, columns=80, lines=lines) as terminal:
                screen = terminal.wait_screen(lambda shown: "TRY" in "\n".join(shown) and "by the second" in "\n".join(shown), "bars and flights")
                screen = "\n".join(screen)
                equal("solve p50" in screen, has_all, f"all bars on {lines} lines")
                check(any(bar in screen for bar in BARS), "no bars")
                terminal.type("q")
                equal(terminal.ended(), 0, "exit code")


run(beside=3)
