#!/usr/bin/env python3
"""solvegate store: init, check and copy on every kind of store. (TAP)"""
import json
import os
import sqlite3
import subprocess
import tempfile

from gateway import PAGE
from harness import TIMEOUT, binary, check, contains, equal, run, test, wait_until
from store_world import StoreWorld
from stores import PASSWORD, PostgresStore, SqliteStore, need_driver, on_each_store
from vendor_world import strike

EX_USAGE, EX_DATAERR, EX_CANTCREAT, EX_IOERR, EX_CONFIG = 64, 65, 73, 74, 78


def cli(*words, env=None):
    """Exit code, stdout and stderr of `solvegate store ...`; no password in either."""
    done = subprocess.run([binary("SOLVEGATE"), "store", *words], capture_output=True, text=True, timeout=TIMEOUT, check=False,
                          env={**os.environ, **(env or {})})
    check(PASSWORD not in done.stdout + done.stderr, f"the password in {done.stdout}{done.stderr}")
    return done.returncode, done.stdout, done.stderr


def good(*words, env=None):
    code, out, err = cli(*words, env=env)
    equal((code, err), (0, ""), f"store {words[0]} said {out}")
    return out


def fill(world):
    """A journal with every kind of row: open and ended solves, letters, idempotency keys, notices, books."""
    world.solved(sitekey="kept", headers={"Idempotency-Key": "again"})
    world.sim.set_faults(script=[strike("task-never", "open", 9)])
    tasks = [world.submit_id(sitekey="kept"), world.submit_id(sitekey="second")]
    for task in tasks:
        world.result_text(task)
    world.solve(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE")
    world.call("POST", "/v1/solves", {"method": "turnstile", "sitekey": "open", "pageurl": PAGE})
    wait_until(lambda: world.stats()["now"]["letters"] == 1, "a letter")
    wait_until(lambda: world.rows("SELECT count(*) FROM attempt WHERE task != ''")[0][0] >= 1, "the open task on disk")
    return tasks


def world_with_journal():
    return StoreWorld({"retry": {"unsolvable": 0}, "cache": {"ttl": {"turnstile": "1h"}}, "idempotency": {"ttl": "1h"}})


def tables(folder):
    """Every row of every table, by table, in the order of the whole row."""
    database = sqlite3.connect(os.path.join(folder, "solvegate.db"))
    names = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    result = {name: sorted(map(repr, database.execute(f"SELECT * FROM {name}"))) for name in names}
    database.close()
    return result


def same(one, other):
    left, right = tables(one), tables(other)
    equal(sorted(left), sorted(right), "tables")
    for name in left:
        equal(right[name], left[name], f"rows of {name}")
    return left


@on_each_store
def is_made_by_init_and_described_by_check(store):
    good("init", store.url)
    report = good("check", store.url)
    contains(report, store.kind)
    for name in ("flight", "solution", "letter"):
        contains(report, name, f"{name} in the report")
    equal(good("check", store.url), report, "a second look")
    good("init", store.url)


@on_each_store
def takes_a_journal_and_gives_it_back_unchanged(store):
    with world_with_journal() as world, tempfile.TemporaryDirectory() as folder:
        tasks = fill(world)
        paid = world.paid()
        world.gate.stop()
        report = good("copy", "sqlite:" + world.data, store.url)
        for words in ("flight: 1 rows", "letter: 1 rows", "secrets: ", "both stores give back the same"):
            contains(report, words)
        again = good("copy", store.url, "sqlite:" + os.path.join(folder, "back"))
        contains(again, "flight: 1 rows")
        rows = same(world.data, os.path.join(folder, "back"))
        for name in ("flight", "attempt", "solution", "request", "letter", "idempotency", "secret", "clock", "day"):
            check(rows[name], f"{name} has rows to compare")
        # The gateway goes on with the copy: the same ids, nothing paid again.
        world.gate.config.update(data_dir=None, store=store.url)
        world.start()
        for task in tasks:
            check(world.result_text(task).startswith("OK|SIM_"), f"{task} from the copy")
        check(world.solved(sitekey="kept", headers={"Idempotency-Key": "again"})["solution"].startswith("SIM_"), "an idempotency key")
        equal(world.paid(), paid, "paid")
        equal(world.stats()["now"]["letters"], 1, "letters")


@on_each_store
def is_not_written_over(store):
    with world_with_journal() as world:
        fill(world)
        world.gate.stop()
        good("copy", "sqlite:" + world.data, store.url)
        code, _, words = cli("copy", "sqlite:" + world.data, store.url)
        equal(code, EX_CANTCREAT, words)
        contains(words, "has a journal already")


@on_each_store
def in_use_is_not_copied(store):
    with StoreWorld({"store": store.url, "data_dir": None}) as world, tempfile.TemporaryDirectory() as folder:
        world.solved()
        code, _, words = cli("copy", store.url, "sqlite:" + folder + "/new")
        equal(code, EX_CANTCREAT, words)
        contains(words, "another")
        contains(good("check", store.url), "solution")


@on_each_store
def without_a_journal_is_not_copied(store):
    with tempfile.TemporaryDirectory() as folder:
        good("init", store.url)
        code, _, words = cli("copy", store.url, "sqlite:" + folder + "/new")
        equal(code, EX_IOERR, words)
        contains(words, "no journal")


@test
def a_directory_that_is_not_there_is_not_made_by_looking_at_it():
    with tempfile.TemporaryDirectory() as folder:
        missing = os.path.join(folder, "missing")
        for words in (("check", "sqlite:" + missing), ("copy", "sqlite:" + missing, "sqlite:" + folder + "/new")):
            code, _, said = cli(*words)
            equal(code, EX_IOERR, said)
            contains(said, "is not there")
        equal(os.listdir(folder), [], "files")


@test
def the_statements_of_print_sql_are_all_that_a_role_without_rights_needs():
    store = PostgresStore()
    need_driver(store.url)
    with store:
        sql = good("init", "--print-sql", store.url)
        contains(sql, "CREATE TABLE")
        contains(good("check", store.url), "no tables yet")
        store.sql(sql)
        contains(good("check", store.url), "as this program's")


@test
def a_store_is_named_by_a_configuration_too():
    with SqliteStore() as store, tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"upstream": {"key": "x"}, "store": "sqlite:${PLACE}"}, file)
        file.flush()
        good("init", "-c", file.name, env={"PLACE": store.path})
        contains(good("check", file.name, env={"PLACE": store.path}), store.path)
        contains(good("check", "sqlite:${PLACE}", env={"PLACE": store.path}), store.path)
        contains(good("check", env={"SOLVEGATE_STORE": store.url, "CAPTCHAAI_API_KEY": "x"}), store.path)
        code, _, words = cli("check", env={"CAPTCHAAI_API_KEY": "x"})
        equal(code, EX_CONFIG, words)
        contains(words, "neither store nor data_dir")
        code, _, words = cli("check", "sqlite:${NOWHERE_AT_ALL}")
        equal(code, EX_CONFIG, words)
        contains(words, "NOWHERE_AT_ALL is not set")


@test
def programs_get_json():
    with SqliteStore() as store:
        code, out, _ = cli("check", "--json", store.url)
        told = json.loads(out)
        equal((code, told["ok"], told["report"]), (EX_IOERR, False, []))
        contains(told["mistake"], "is not there")
        good("init", store.url)
        told = json.loads(good("check", "--json", store.url))
        check(told["ok"] and "flight: 0 rows" in told["report"], str(told))


@test
def wrong_words_are_told_without_repeating_a_url():
    for words in ((), ("chek",), ("copy", "redis://:" + PASSWORD + "@h"), ("check", "a:" + PASSWORD, "b:" + PASSWORD),
                  ("check", "--print-sql", "sqlite:/x")):
        code, _, said = cli(*words)
        equal(code, EX_USAGE, f"{words[:1]} said {said}")
    code, _, said = cli("check", "mysql://u:" + PASSWORD + "@h/d")
    equal(code, EX_IOERR, said)
    contains(said, 'no store is called "mysql"')
    code, _, said = cli("check", "redis: " + PASSWORD)
    equal(code, EX_DATAERR, said)


run()
