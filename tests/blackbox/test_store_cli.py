#!/usr/bin/env python3
"""solvegate store: init, check and copy on every kind of store. (TAP)"""
import json
import os
import socket
import sqlite3
import struct
import subprocess
import tempfile
import threading
import time

from gateway import PAGE
from harness import TIMEOUT, binary, check, contains, equal, run, test, wait_until
from store_world import StoreWorld
from stores import PASSWORD, PostgresStore, SqliteStore, need_driver, on_each_store, quoted
from vendor_world import strike

EX_USAGE, EX_DATAERR, EX_NOINPUT, EX_CANTCREAT, EX_IOERR, EX_CONFIG = 64, 65, 66, 73, 74, 78


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
    contains(report, store.title or store.kind)
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


@on_each_store
def is_looked_for_under_the_prefix_of_the_environment(store):
    if isinstance(store, SqliteStore):
        return  # a directory needs no prefix
    other = {"SOLVEGATE_STORE_PREFIX": "other"}
    good("init", store.url)
    made = good("check", store.url)
    check(good("check", store.url, env=other) != made, "it looked at the usual prefix")
    good("init", store.url, env=other)
    equal(good("check", store.url, env=other).replace("other", "solvegate"), made)
    code, _, words = cli("init", store.url, env={"SOLVEGATE_STORE_PREFIX": "x;y"})
    equal(code, EX_CONFIG, words)
    contains(words, "SOLVEGATE_STORE_PREFIX")


class Trickle:
    """A server that greets, and then sends some bytes every now and then but never an answer."""
    def __init__(self, greeting, bytes_):
        self.greeting, self.bytes = greeting, bytes_
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        try:
            connection.recv(4096)
            connection.sendall(self.greeting)
            while True:
                connection.sendall(self.bytes)
                time.sleep(0.3)
        except OSError:
            connection.close()


def arguments_of(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read()


def postgres_message(kind, body):
    return kind + struct.pack("!I", len(body) + 4) + body


@test
def a_server_that_trickles_is_given_up():
    """Bytes that are no answer buy no time: neither a start nor an end may wait for them for ever."""
    notice = postgres_message(b"N", b"SNOTICE\0C00000\0Mnothing\0\0")
    let_in = postgres_message(b"R", struct.pack("!I", 0)) + postgres_message(b"Z", b"I")
    began = time.monotonic()
    servers = {"redis": Trickle(b"", b"+"), "postgresql": Trickle(let_in, notice)}
    running = []
    for scheme, server in servers.items():
        tail = "/db?sslmode=disable&gssencmode=disable" if scheme == "postgresql" else ""
        url = f"{scheme}://user:{quoted(PASSWORD)}@127.0.0.1:{server.port}{tail}"
        need_driver(url)
        running.append(subprocess.Popen([binary("SOLVEGATE"), "store", "check", url], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True))
    for process in running:
        wait_until(lambda pid=process.pid: quoted(PASSWORD).encode() not in arguments_of(pid), "the password to be gone from the list of processes")
        equal(process.poll(), None, "exit code while everybody can look at its arguments")
        words, _ = process.communicate(timeout=60)
        equal(process.returncode, EX_IOERR, words)
    check(time.monotonic() - began < 40, f"{time.monotonic() - began:.0f} s")


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
    for broken in ("redis//:", "postgresql//user:"):
        code, _, said = cli("check", broken + PASSWORD + "@h/d")
        equal(code, EX_NOINPUT, said)
        contains(said, "there is no such file")


run()
