#!/usr/bin/env python3
"""Clients that are inserted, removed, reordered and renamed: what one of them paid for stays its own. (TAP)"""
from gateway import ADMIN, PAGE, rewrite
from harness import check, contains, equal, run, test, wait_until
from store_world import StoreWorld, make_second_version
from vendor_world import letters, paid_for, problem

CRAWLER = {"name": "crawler", "key": "crawler-crawler-crawler-crawl-32"}
SHOP = {"name": "shop", "key": "shop-shop-shop-shop-shop-shop-32"}
AUDIT = {"name": "audit", "key": "audit-audit-audit-audit-audit-32"}
BOSS = {"name": "boss", "key": ADMIN, "scopes": ["admin"]}
RENAMED = {"name": "spider", "key": CRAWLER["key"]}

IDEMPOTENT = {"Idempotency-Key": "retry-1"}


def start(more=None):
    return StoreWorld({"clients": [CRAWLER, SHOP, BOSS], **(more or {})}, sim=("--solve-time", "100ms"))


def ask(world, client, sitekey, **more):
    return world.solve(key=client["key"], sitekey=sitekey, **more)


def solved(world, client, sitekey, **more):
    reply = ask(world, client, sitekey, **more)
    equal(reply.status, 200, f"{client['name']} asked for {sitekey}: {reply.text}, status")
    return reply.json()


def bank(world, client, sitekey):
    """A solution for one that nobody took: its caller left when it was paid for."""
    reply = ask(world, client, sitekey, reuse="single", wait=0)
    equal(reply.status, 202, reply.text)
    wait_until(lambda: len(paid_for(world, sitekey)) == 1, "the submit")
    equal(world.call("DELETE", f"/v1/solves/{reply.json()['id']}", key=client["key"]).status, 204, "detached")
    world.sim.solve(task=paid_for(world, sitekey)[0]["id"])
    wait_until(lambda: world.counter("solutions_banked", ADMIN) == 1, "the bank")


def fill(world):
    """One of everything that is kept, of the crawler."""
    kept = {"cache": solved(world, CRAWLER, "SIM-FAST.cache")["solution"],
            "retry": solved(world, CRAWLER, "SIM-FAST.retry", headers=IDEMPOTENT)["solution"]}
    bank(world, CRAWLER, "SIM-NEVER.bank")
    kept["id"] = world.submit_id(key=CRAWLER["key"], sitekey="SIM-NEVER.flight")
    world.await_journaled_task(1)
    wait_until(lambda: world.rows("SELECT count(*) FROM attempt WHERE task != '' AND closed = 0")[0][0] == 1, "the task on disk")
    return kept


def gets_nothing_of_it(world, client):
    """Another client pays for everything itself."""
    before = world.paid()
    equal(solved(world, client, "SIM-FAST.cache")["source"], "api", f"{client['name']}: the cache")
    equal(solved(world, client, "SIM-FAST.retry", headers=IDEMPOTENT)["source"], "api", f"{client['name']}: the idempotency key")
    equal(ask(world, client, "SIM-NEVER.bank", reuse="single", wait=0).status, 202, f"{client['name']}: the bank")
    equal(ask(world, client, "SIM-NEVER.flight", wait=0).status, 202, f"{client['name']}: the flight")
    wait_until(lambda: world.paid() >= before + 4, f"{client['name']} to pay for four")
    equal(world.paid(), before + 4, "paid for")


def has_it_all(world, kept):
    """The crawler gets what it paid for, and pays for nothing again."""
    before = world.paid()
    again = solved(world, CRAWLER, "SIM-FAST.cache")
    equal((again["source"], again["solution"]), ("dedup_cache", kept["cache"]), "from the cache")
    again = solved(world, CRAWLER, "SIM-FAST.retry", headers=IDEMPOTENT)
    equal((again["source"], again["solution"]), ("idempotent", kept["retry"]), "by its idempotency key")
    equal(solved(world, CRAWLER, "SIM-NEVER.bank", reuse="single")["source"], "dedup_cache", "from the bank")
    joined = world.submit_id(key=CRAWLER["key"], sitekey="SIM-NEVER.flight")
    equal(world.paid(), before, "paid for again")
    world.sim.solve()
    text = world.result_text(kept["id"], key=CRAWLER["key"])
    check(text.startswith("OK|"), text)
    equal(world.result_text(joined, key=CRAWLER["key"]), text, "by joining")


def over_a_restart(clients, strangers, is_there=True):
    with start() as world:
        kept = fill(world)
        world.kill()
        world.gate.config["clients"] = clients
        world.start()
        for stranger in strangers:
            gets_nothing_of_it(world, stranger)
        if is_there:
            has_it_all(world, kept)


def over_a_reload(clients, strangers, is_there=True):
    with start() as world:
        kept = fill(world)
        rewrite(world, lambda config: config.update(clients=clients))("reloaded")
        for stranger in strangers:
            gets_nothing_of_it(world, stranger)
        if is_there:
            has_it_all(world, kept)


CHANGES = {
    "reordered": ([SHOP, CRAWLER, BOSS], [SHOP], True),
    "inserted_before": ([AUDIT, CRAWLER, SHOP, BOSS], [AUDIT, SHOP], True),
    "removed_before_another": ([SHOP, BOSS], [SHOP], False),
    "renamed": ([RENAMED, SHOP, BOSS], [RENAMED, SHOP], False),
}


def register(name, function, arguments):
    def case():
        function(*arguments)

    case.__name__ = name
    test(case)


for _change, _arguments in CHANGES.items():
    register(f"nobody_gets_what_another_paid_for_when_clients_are_{_change}_over_a_restart", over_a_restart, _arguments)
    register(f"nobody_gets_what_another_paid_for_when_clients_are_{_change}_over_a_reload", over_a_reload, _arguments)


@test
def a_pool_for_one_client_stays_its_own_when_clients_are_reordered():
    pool = {"method": "turnstile", "sitekey": "SIM-FAST.pool", "pageurl": PAGE, "size": 1, "client": "crawler"}
    with start({"pools": [pool]}) as world:
        wait_until(lambda: world.call("GET", "/v1/pools", key=ADMIN).json()["pools"][0]["ready"] == 1, "the pool")
        wait_until(lambda: world.rows("SELECT count(*) FROM solution")[0][0] == 1, "its solution on disk")
        world.kill()
        world.gate.config["clients"] = [SHOP, CRAWLER, BOSS]
        world.start()
        equal(solved(world, SHOP, "SIM-FAST.pool")["source"], "api", "the shop")
        equal(solved(world, CRAWLER, "SIM-FAST.pool")["source"], "pool", "the crawler")


@test
def a_database_of_the_version_before_keeps_ids_and_paid_tasks_and_says_what_it_discards():
    with start() as world:
        kept = fill(world)
        told = world.submit_id(key=CRAWLER["key"], sitekey="SIM-FAST.told")
        wait_until(lambda: world.rows("SELECT count(*) FROM solution WHERE kept = 1")[0][0] == 4, "four solutions on disk")
        world.kill()
        make_second_version(world.database)
        world.gate.config["clients"] = [SHOP, CRAWLER, BOSS]
        world.start()
        line = world.gate.wait_line("event=keys_changed")
        for words in ("level=warn", "solutions_discarded=4", "idempotency_keys_discarded=1"):
            contains(line, words)
        before = world.paid()
        check(world.result_text(told, key=CRAWLER["key"]).startswith("OK|"), "a request that was solved")
        joined = world.submit_id(key=CRAWLER["key"], sitekey="SIM-NEVER.flight")
        gets_nothing_of_it(world, SHOP)
        equal(world.paid(), before + 4, "paid for by the shop alone")
        world.sim.solve()
        text = world.result_text(kept["id"], key=CRAWLER["key"])
        check(text.startswith("OK|"), text)
        equal(world.result_text(joined, key=CRAWLER["key"]), text, "by joining what was under way")
        world.restart()
        check("keys_changed" not in world.gate.stderr(), "said once")


# --- clients that are gone ------------------------------------------------------------------------


def pay_for(world, **client):
    """A paid task whose solution is not there yet, of a request whose id was told."""
    world.submit_id(sitekey="SIM-NEVER.orphan", **client)
    world.await_journaled_task(1)


def the_orphan(world, name, key=ADMIN):
    """The letter that the task of a client that is gone becomes, once the vendor has solved it."""
    world.sim.solve()
    wait_until(lambda: letters(world, key=key)["total"] == 1, "the letter")
    number = letters(world, key=key)["letters"][0]["id"]
    letter = world.call("GET", f"/v1/letters/{number}", key=key).json()
    equal((letter["kind"], letter["client"]), ("orphan", name), "kind and client")
    equal(letter["params"]["sitekey"], "SIM-NEVER.orphan", "what was asked for")
    check(letter["solution"].startswith("SIM_"), f"its solution: {letter}")
    return letter


def is_warned_of(world, name, tasks=1):
    line = world.gate.wait_line("event=client_gone")
    for words in ("level=warn", f"client={name}", f"paid_tasks={tasks}", "orphan"):
        contains(line, words)


def replay_into(world, letter, client, key=ADMIN):
    reply = world.call("POST", f"/v1/letters/{letter['id']}/replay", {"into": client}, key=key)
    equal((reply.status, reply.text), (202, '{"queued":1}'), "the replay")


def leaves_nothing(world, name):
    for table in ("flight", "attempt", "request", "solution"):
        wait_until(lambda: world.rows(f"SELECT count(*) FROM {table} WHERE client = '{name}'")[0][0] == 0, f"no row in {table}")


@test
def what_a_removed_client_paid_for_becomes_a_letter_that_any_client_can_have():
    with start() as world:
        pay_for(world, key=CRAWLER["key"])
        world.kill()
        world.gate.config["clients"] = [SHOP, BOSS]
        world.start()
        is_warned_of(world, "crawler")
        letter = the_orphan(world, "crawler")
        leaves_nothing(world, "crawler")
        problem(world.call("POST", f"/v1/letters/{letter['id']}/replay", key=ADMIN), 422, "bad_parameter")
        problem(world.call("POST", f"/v1/letters/{letter['id']}/replay", {"into": "crawler"}, key=ADMIN), 422, "bad_parameter")
        replay_into(world, letter, "shop")
        equal(letters(world, key=ADMIN)["total"], 0, "letters left")
        had = solved(world, SHOP, "SIM-NEVER.orphan")
        equal((had["solution"], had["source"]), (letter["solution"], "dedup_cache"), "the shop has it")
        equal(world.paid(), 1, "paid for")


@test
def an_orphan_survives_a_restart_with_its_solution_and_its_clients_name():
    with start() as world:
        pay_for(world, key=CRAWLER["key"])
        world.kill()
        world.gate.config["clients"] = [RENAMED, SHOP, BOSS]
        world.start()
        is_warned_of(world, "crawler")
        letter = the_orphan(world, "crawler")
        leaves_nothing(world, "crawler")
        world.restart()
        check("client_gone" not in world.gate.stderr(), "nothing is at the vendor any more")
        equal(letters(world, key=ADMIN, client="crawler")["total"], 1, "letters of the old name")
        replay_into(world, letter, "spider")
        equal(solved(world, RENAMED, "SIM-NEVER.orphan")["solution"], letter["solution"], "under its new name")
        equal(world.paid(), 1, "paid for")


@test
def the_first_clients_orphan_what_everybody_paid_for():
    with StoreWorld(sim=("--solve-time", "100ms")) as world:
        pay_for(world)
        world.kill()
        world.gate.config["clients"] = [CRAWLER, BOSS]
        world.start()
        is_warned_of(world, "anonymous")
        replay_into(world, the_orphan(world, "anonymous"), "crawler")
        equal(solved(world, CRAWLER, "SIM-NEVER.orphan")["source"], "dedup_cache", "the crawler has it")
        equal(world.paid(), 1, "paid for")


@test
def removing_all_clients_orphans_what_they_paid_for():
    with start() as world:
        pay_for(world, key=CRAWLER["key"])
        world.kill()
        del world.gate.config["clients"]
        world.start()
        is_warned_of(world, "crawler")
        replay_into(world, the_orphan(world, "crawler", key=None), "anonymous", key=None)
        equal(world.solved(sitekey="SIM-NEVER.orphan")["source"], "dedup_cache", "everybody has it")
        equal(world.paid(), 1, "paid for")


@test
def a_client_that_comes_back_gets_its_orphan_for_nothing():
    for is_reload in (False, True):
        with start() as world:
            pay_for(world, key=CRAWLER["key"])
            world.kill()
            world.gate.config["clients"] = [SHOP, BOSS]
            world.start()
            letter = the_orphan(world, "crawler")
            if is_reload:
                rewrite(world, lambda config: config.update(clients=[SHOP, BOSS, CRAWLER]))("reloaded")
            else:
                world.gate.config["clients"] = [SHOP, BOSS, CRAWLER]
                world.restart()
            had = solved(world, CRAWLER, "SIM-NEVER.orphan")
            equal((had["solution"], had["source"]), (letter["solution"], "dedup_cache"), "its own again")
            equal(letters(world, key=ADMIN)["total"], 0, "letters left")
            equal(world.paid(), 1, "paid for")


@test
def a_reload_that_removes_a_client_orphans_what_it_paid_for():
    with start() as world:
        pay_for(world, key=CRAWLER["key"])
        rewrite(world, lambda config: config.update(clients=[SHOP, BOSS]))("reloaded")
        is_warned_of(world, "crawler")
        replay_into(world, the_orphan(world, "crawler"), "shop")
        equal(solved(world, SHOP, "SIM-NEVER.orphan")["source"], "dedup_cache", "the shop has it")
        equal(world.paid(), 1, "paid for")


run(beside=2)
