#!/usr/bin/env python3
"""The books under random load: they balance, agree with the vendor's ledger, and survive restarts. (TAP)

`--seed N` repeats a run as far as threads allow it.
"""
import json
import os
import random
import sqlite3
import sys

from gateway import ADMIN, ALICE, BOB, clients, together
from harness import check, equal, http_request, run, test, wait_until
from store_world import StoreWorld
from vendor_world import strike

SEED = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else int.from_bytes(os.urandom(4), "big")
PRICE = {"turnstile": 0.0015, "recaptcha_v2": 0.002}
SOURCES = ("answered_api", "answered_dedup_wait", "answered_dedup_cache", "answered_idempotent", "answered_pool")
ENDS = (*SOURCES, "failed", "rejected", "detached")
SMALL_ENDS = ("answered", "deduplicated", "failed", "rejected", "detached")


def world(callbacks=False):
    config = {**clients(bob={"budget_per_day": 60}), "upstream": {"price": PRICE}, "ambiguity_window": "400ms"}
    return StoreWorld(config, sim=("--solve-time", "uniform:5ms-150ms", "--seed", str(SEED)), callbacks=callbacks)


def random_request(chance):
    body = {"method": "turnstile", "sitekey": f"k{chance.randrange(8)}", "pageurl": "https://example.com/"}
    if chance.random() < 0.3:
        body = {"method": "userrecaptcha", "googlekey": f"g{chance.randrange(6)}", "pageurl": "https://example.com/"}
    body["reuse"] = chance.choice(("shared", "shared", "single", "none"))
    body["wait"] = chance.choice((0, 15, 15))
    headers = {"Idempotency-Key": f"i{chance.randrange(10)}"} if chance.random() < 0.2 else {}
    return body, headers


def worker(place, number, rounds):
    """One caller: asks, sometimes gives up, sometimes asks in the vendor's words."""
    chance = random.Random(SEED * 1000 + number)
    key = (ALICE, BOB)[number % 2]
    for _ in range(rounds):
        body, headers = random_request(chance)
        headers["Authorization"] = "Bearer " + key
        reply = http_request(place.url + "/v1/solves", "POST", body, headers, timeout=60)
        if reply.status == 202 and chance.random() < 0.5:
            place.call("DELETE", "/v1/solves/" + reply.json()["id"], key=key)
        if chance.random() < 0.2:
            place.submit(key=key, sitekey=f"k{chance.randrange(8)}")


def load(place, callers=8, rounds=12):
    together(callers, lambda number: worker(place, number, rounds))


def settled(place):
    """The statistics once nothing is in flight any more."""
    return wait_until(lambda: (lambda s: s["now"]["flights"] == 0 and s["now"]["waiting"] == 0 and s)(place.stats(ADMIN)),
                      "the last flight to land", timeout=60)


def check_balance(page, waiting=0):
    equal(page["requests"], sum(page[name] for name in ENDS) + waiting, f"the books balance: {page}, requests")
    for group in ("by_client", "by_type"):
        parts = page[group].values()
        for part in parts:
            equal(part["requests"], sum(part[name] for name in SMALL_ENDS), f"{group} balances: {part}, requests")


def check_parts(page):
    """Client by client and type by type it is the same money and the same work."""
    for group in ("by_client", "by_type"):
        parts = page[group].values()
        for name in ("requests", "failed", "rejected", "detached", "slot_ms_used", "slot_ms_saved"):
            equal(sum(part[name] for part in parts), page[name], f"{group} {name}")
        equal(sum(part["answered"] for part in parts), page["answered_api"], f"{group} answered")
        equal(sum(part["deduplicated"] for part in parts), page["deduplicated"], f"{group} deduplicated")
        equal(sum(part["paid"] for part in parts),
              page["submits_accepted"] + page["submits_proven"] + page["duplicates_proven"], f"{group} paid")
        for money in ("money_spent", "money_saved"):
            equal(round(sum(part[money] for part in parts), 6), page[money], f"{group} {money}")


@test
def under_random_load_the_books_balance_and_are_the_ledgers():
    with world() as place:
        place.sim.set_faults(faults={"submit-error": 0.1, "submit-5xx": 0.05, "task-error": 0.1, "poll-reset": 0.05})
        load(place)
        stats = settled(place)
        check(stats["total"]["requests"] >= 96, "there was load")
        for page in (stats["total"], stats["today"]):
            check_balance(page)
            check_parts(page)
        bob = stats["budgets"].pop("bob")
        check(bob["used"] >= stats["today"]["by_client"]["bob"]["paid"], f"what nobody heard of may be paid for: {bob}")
        equal(bob, {"limit": 60, "used": bob["used"], "reserved": 0, "left": 60 - bob["used"]}, "the budget")
        equal(stats["budgets"], {}, "other budgets")
        equal(stats["total"]["submits_accepted"], place.paid(), "submits accepted")
        of_type = stats["today"]["by_type"]
        for name, method in (("turnstile", "turnstile"), ("recaptcha_v2", "userrecaptcha")):
            paid = sum(submit["params"]["method"] == method for submit in place.sim.submits(limit=10000))
            equal(of_type[name]["paid"], paid, name)
            equal(of_type[name]["money_spent"], round(paid * PRICE[name], 6), f"money for {name}")
        check(stats["today"]["by_client"]["bob"]["paid"] <= 60, "bob's budget")
        equal(stats["today"]["deduplicated"], sum(stats["today"][name] for name in SOURCES[1:]), "deduplicated")


@test
def lost_replies_and_doubled_submits_are_found_in_the_books_by_their_callbacks():
    with world(callbacks=True) as place:
        # One for certain, the others by chance.
        place.sim.set_faults(faults={"submit-lost": 0.2, "submit-twice": 0.1}, script=[strike("submit-lost")])
        load(place, rounds=8)
        total = settled(place)["total"]
        check_balance(total)
        check_parts(total)
        paid = total["submits_accepted"] + total["submits_proven"] + total["duplicates_proven"]
        wait_until(lambda: place.sim.totals()["accepted"] == place.paid(), "the ledger to rest")
        check(total["submits_proven"] > 0, f"some replies were lost: {total}")
        # A second task whose callback came after the last look may be missing; nothing is counted that was not paid.
        last = wait_until(lambda: (lambda t: t["submits_accepted"] + t["submits_proven"] + t["duplicates_proven"] ==
                                   place.paid() and t)(place.stats(ADMIN)["total"]), f"the books ({paid}) to reach the ledger")
        check_parts(last)


@test
def a_restart_keeps_the_days_page_and_begins_new_totals():
    with world() as place:
        load(place, rounds=6)
        before = settled(place)["today"]
        place.gate.stop()
        place.start()
        stats = place.stats(ADMIN)
        equal(stats["today"], before, "today")
        equal(stats["total"]["requests"], 0, "requests since the start")
        load(place, callers=4, rounds=4)
        after = settled(place)["today"]
        check_balance(after)
        check_parts(after)
        equal(after["submits_accepted"], place.paid(), "paid over both lives")


@test
def a_crash_costs_the_books_no_more_than_their_last_second():
    with world() as place:
        load(place, callers=4, rounds=6)
        before = settled(place)["today"]
        written = "SELECT count(*) FROM tally"
        wait_until(lambda: rows(place, written) >= 3 and is_on_disk(place, before), "the page on disk")
        place.restart()
        equal(place.stats(ADMIN)["today"], before, "today")
        # And in the middle of things: whatever is lost, what is left balances.
        place.sim.set_faults(script=[strike("task-slow", None, 50, "2s")])
        together(6, lambda i: place.call("POST", "/v1/solves", {"method": "turnstile", "sitekey": f"slow{i}", "pageurl": "https://a.example/"}, key=ALICE))
        place.restart()
        stats = place.stats(ADMIN)
        equal(stats["today"]["requests"], sum(stats["today"][name] for name in ENDS) + stats["now"]["waiting"], "balance")
        check(stats["today"]["requests"] >= before["requests"], "nothing of the old page is gone")
        check_balance(settled(place)["today"])


def rows(place, question):
    database = sqlite3.connect(place.database)
    try:
        return database.execute(question).fetchone()[0]
    finally:
        database.close()


def is_on_disk(place, page):
    """Every counter, not requests alone: a flight whose caller left may land after the last request came."""
    counters = json.loads(rows(place, "SELECT coalesce(max(counters), '{}') FROM day"))
    return "requests" in counters and all(page[name] == count for name, count in counters.items() if name in page)


print(f"# seed {SEED}")
run()
