#!/usr/bin/env python3
"""The same gateway on each store: deaths of either side, a store that is away, a second gateway, and nobody told the password. (TAP)"""
import os
import re
import subprocess

from gateway import together
from harness import TIMEOUT, Skip, binary, check, contains, equal, get, run, wait_until
from stores import EX_CANTCREAT, EX_IOERR, PASSWORD, listen, metric, on_each_store, quoted, world_on


@on_each_store
def says_at_the_start_where_the_journal_is_and_what_it_is_worth(store):
    with world_on(store) as world:
        line = world.gate.wait_line("event=store_opened")
        contains(line, f"kind={store.kind}")
        contains(line, "durability=")
        service = world.stats()["service"]
        equal((service["store"], service["store_kind"], service["store_async"]), ("writable", store.kind, False))
        check(service["store_server"], "the server is named")
        equal(get(world.url + "/readyz").text, "ready\n")
        equal((metric(world, "store_configured"), metric(world, "store_up"), metric(world, "store_async")), (1, 1, 0))


@on_each_store
def survives_the_death_of_the_gateway(store):
    with world_on(store, {"poll": {"first": "300ms", "interval": "300ms"}}, sim=("--solve-time", "10m")) as world:
        tasks = [world.submit_id(sitekey=f"k{i}") for i in range(20)]
        wait_until(lambda: world.counter("submits_accepted") == 20, "the submits")
        wait_until(lambda: metric(world, "store_records_waiting") == 0, "the journal")
        world.restart()
        contains(world.gate.wait_line("event=restored"), "flights=20")
        world.sim.solve()
        for task in tasks:
            check(world.result_text(task).startswith("OK|SIM_"), f"the answer of {task}")
        again = world.submit_id(sitekey="k0")
        check(world.result_text(again).startswith("OK|SIM_"), "from the cache")
        wait_until(lambda: metric(world, "store_records_waiting") == 0, "the journal")
        world.restart()
        check(world.result_text(tasks[3]).startswith("OK|SIM_"), "an answer after a second death")
        equal(world.paid(), 20, "paid in three lives")


@on_each_store
def that_was_emptied_gets_everything_again(store):
    if not hasattr(store, "empty"):
        raise Skip("nobody empties a directory that is in use")
    with world_on(store, {"poll": {"first": "300ms", "interval": "300ms"}}, sim=("--solve-time", "10m")) as world:
        tasks = [world.submit_id(sitekey=f"k{i}") for i in range(5)]
        wait_until(lambda: world.counter("submits_accepted") == 5, "the submits")
        wait_until(lambda: metric(world, "store_records_waiting") == 0, "the journal")
        store.empty()
        if store.kind == "PostgreSQL":
            world.gate.wait_line("event=store_away", 40)
            # Between two of the gateway's looks nobody has the lock.
            init = [binary("SOLVEGATE"), "store", "init", store.url]
            wait_until(lambda: subprocess.run(init, capture_output=True, check=False).returncode == 0, "solvegate store init")
        contains(world.gate.wait_line("event=store_lost_rows", 40), "came back without rows")
        wait_until(lambda: get(world.url + "/readyz").text == "ready\n", "the store")
        again = world.submit_id(sitekey="k0")
        wait_until(lambda: metric(world, "store_records_waiting") == 0, "the journal")
        world.restart()
        contains(world.gate.wait_line("event=restored"), "flights=5")
        world.sim.solve()
        for task in [*tasks, again]:
            check(world.result_text(task).startswith("OK|SIM_"), f"the answer of {task}")
        equal(world.paid(), 5, "paid in both lives")


@on_each_store
def that_is_away_refuses_new_solves_and_delivers_paid_ones(store):
    with world_on(store, {"poll": {"first": "300ms", "interval": "300ms"}}, sim=("--solve-time", "10m")) as world:
        tasks = [world.submit_id(sitekey=f"paid{i}") for i in range(5)]
        wait_until(lambda: world.counter("submits_accepted") == 5, "the submits")
        wait_until(lambda: metric(world, "store_records_waiting") == 0, "the journal")
        store.away()
        # The one that finds out is refused like those who come later: its id would be in memory alone.
        equal(world.submit(sitekey="late").text, "ERROR_NO_SLOT_AVAILABLE", "in.php when the store is lost")
        world.gate.wait_line("event=store_away", 40)
        refused = world.solve(sitekey="refused")
        equal((refused.status, refused.json()["code"]), (503, "store_away"), "POST /v1/solves")
        check("retry-after" in refused.headers, "a Retry-After")
        equal(world.submit(sitekey="refused").text, "ERROR_NO_SLOT_AVAILABLE", "in.php")
        ready = get(world.url + "/readyz")
        equal((ready.status, ready.text), (200, "degraded: the store cannot be reached\n"), "/readyz")
        equal(world.stats()["service"]["store"], "away")
        equal((metric(world, "store_up"), metric(world, "store_writable")), (0, 0))
        world.sim.solve()
        for task in tasks:
            check(world.result_text(task).startswith("OK|SIM_"), "paid ones are delivered")
        check(world.solved(sitekey="paid0")["solution"].startswith("SIM_"), "from memory")
        equal(world.paid(), 5, "accepted while it is away")
        store.back()
        world.gate.wait_line("event=store_writable", 40)
        equal(world.submit(sitekey="refused").text[:3], "OK|", "in.php when it is back")
        equal(get(world.url + "/readyz").text, "ready\n")
        wait_until(lambda: metric(world, "store_records_waiting") == 0, "everything to be written")
        paid = wait_until(lambda: world.paid() if world.paid() >= 6 else None, "the submit")
        equal([submit["params"]["sitekey"] for submit in world.sim.submits()][5:], ["refused"], "paid for since then")
        world.restart()
        for task in tasks:
            check(world.result_text(task).startswith("OK|SIM_"), "from the store after a kill")
        equal(world.paid(), paid, "accepted after the restart")


@on_each_store
def that_is_away_lets_nobody_have_an_id_that_a_crash_forgets(store):
    with world_on(store, {"poll": {"first": "300ms", "interval": "300ms"}}, sim=("--solve-time", "10m")) as world:
        kept = world.submit_id(sitekey="paid")
        wait_until(lambda: world.counter("submits_accepted") == 1, "the submit")
        wait_until(lambda: metric(world, "store_records_waiting") == 0, "the journal")
        store.away()
        answers = together(6, lambda i: world.submit(sitekey=["new", "paid"][i % 2]) if i < 4 else world.solve(sitekey="new", wait=None))
        world.gate.wait_line("event=store_away", 40)
        equal([answer.text for answer in answers[:4]], ["ERROR_NO_SLOT_AVAILABLE"] * 4, "in.php, of something new and of what is under way")
        equal([(answer.status, answer.json()["code"]) for answer in answers[4:]], [(503, "store_away")] * 2, "POST /v1/solves without waiting")
        equal(world.result(kept).text, "CAPCHA_NOT_READY", "an id that was told before")
        world.kill()
        store.back()
        world.start()
        equal(world.result(kept).text, "CAPCHA_NOT_READY", "an id that was told before, after the crash")
        world.sim.solve()
        check(world.result_text(kept).startswith("OK|SIM_"), "its end")
        equal(world.paid(), 1, "paid in both lives")


@on_each_store
def that_is_away_until_the_end_is_told_with_what_it_never_got(store):
    with world_on(store) as world:
        world.solved(sitekey="kept")
        wait_until(lambda: metric(world, "store_records_waiting") == 0, "the journal")
        store.away()
        world.submit(sitekey="late")
        world.gate.wait_line("event=store_away", 40)
        world.submit(sitekey="kept")
        world.gate.expect_exit = EX_IOERR
        world.gate.stop()
        contains(world.gate.wait_line("event=store_unwritten"), "records=")
        store.back()
        world.start()
        check(world.solved(sitekey="kept")["source"] == "dedup_cache", "what was there before")
        world.gate.stop()
        check("store_unwritten" not in world.gate.stderr().split("event=restored")[-1], "a good end says nothing of the kind")


@on_each_store
def has_room_for_one_gateway(store):
    with world_on(store) as world:
        calls = world.sim.totals()["calls"]
        code, words = world.fail_to_start({"data_dir": None})
        equal(code, EX_CANTCREAT, f"exit code ({words})")
        contains(words, "another")
        check(PASSWORD not in words, "the password in its words")
        equal(world.sim.totals()["calls"], calls, "calls to the vendor")
        check(world.solved()["solution"].startswith("SIM_"), "the first goes on")


def texts_of(world):
    """Everything that people look at who are not meant to know the store's password."""
    for path in ("/metrics", "/v1/stats", "/v1/flights", "/v1/letters", "/livez", "/readyz", "/openapi.json", "/"):
        reply = world.call("GET", path)
        yield path, str(reply.headers) + reply.text
    for name in ("cmdline", "comm", "status", "limits"):
        with open(f"/proc/{world.gate.process.pid}/{name}", "rb") as file:
            yield name, file.read().decode("latin-1")


@on_each_store
def is_never_told_with_its_password(store):
    if store.kind == "SQLite":
        raise Skip("it has none")
    with world_on(store, {"log": {"level": "debug"}}) as world:
        world.solved()
        listen(texts_of(world))
        contains(re.sub(" +", " ", dict(texts_of(world))["limits"]), "Max core file size 0 0", "core limit")
        listen([("a second gateway", world.fail_to_start({"data_dir": None})[1])])
        store.away()
        world.submit(sitekey="late")
        world.gate.wait_line("event=store_away", 40)
        listen(texts_of(world))
        listen([("a start without the server", world.fail_to_start({"data_dir": None})[1])])
        store.back()
        world.gate.wait_line("event=store_writable", 40)
        wrong = store.url.replace(quoted(PASSWORD), "canary%2Fwrong")
        code, words = world.fail_to_start({"data_dir": None, "store": wrong})
        equal(code, EX_IOERR, words)
        listen([("a wrong password", words)])
        path = os.path.join(world.gate.folder.name, "config.json")
        for arguments in (("check", "-c", path), ("check", "--json", "-c", path), ("store", "check", "-c", path), ("--help",), ("help", "config")):
            done = subprocess.run([binary("SOLVEGATE"), *arguments], capture_output=True, text=True, timeout=TIMEOUT, check=False)
            listen([(" ".join(arguments[:2]), done.stdout + done.stderr)])
        world.gate.stop()
        listen([("the log", world.gate.stderr() + "".join(world.gate.output()))])
        contains(world.gate.stderr(), "level=debug", "debug level")


@on_each_store
def that_is_away_at_the_start_ends_it_with_74(store):
    if store.kind == "SQLite":
        raise Skip("it is never away at the start")
    with world_on(store) as world:
        world.gate.stop()
        store.away()
        code, words = world.fail_to_start({"data_dir": None}, timeout=60)
        equal(code, EX_IOERR, words)
        contains(words, "event=store_unusable")
        store.back()


@on_each_store
def that_may_lose_what_it_acknowledged_is_taken_only_when_told_so(store):
    if store.kind == "SQLite":
        raise Skip("it has no such setting")
    store.stop()
    store.is_relaxed = True
    store.start()
    with world_on(store, {"cluster": {"allow_async": True}}) as world:
        world.gate.wait_line("level=warn event=store_async")
        wait_until(lambda: get(world.url + "/readyz").text == "ready\nthe store may lose what it acknowledged\n", "readiness to tell it")
        equal(metric(world, "store_async"), 1)
        check(world.stats()["service"]["store_async"], "in the statistics")
        check(world.solved()["solution"].startswith("SIM_"), "it works all the same")
        world.gate.stop()
        code, words = world.fail_to_start({"data_dir": None, "cluster": {"allow_async": False}})
        equal(code, EX_IOERR, words)
        contains(words, "cluster.allow_async")


run()
