#!/usr/bin/env python3
"""The README and docs/ against the programs: what they show works, and what they list is what there is. (TAP)"""
import glob
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess

from cli_world import expect, solvegate
from gateway import World
from harness import KEY, TIMEOUT, Skip, binary, check, contains, equal, run, test, wait_until
from store_world import StoreWorld
from stores import PostgresStore, need_driver
from vendor_world import strike

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))]


def text_of(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def section(name, heading):
    """What stands under a heading, up to the next one of any level."""
    return re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text_of(name), re.DOTALL | re.MULTILINE).group(1)


def rows(text):
    """The cells of every row of every table, heads left out."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    heads = {i - 1 for i, line in enumerate(lines) if line.startswith("|---")}
    return [[cell.strip() for cell in line[1:-1].split(" | ")] for i, line in enumerate(lines)
            if i not in heads and not line.startswith("|---")]


def words(text):
    return " ".join(text.replace("`", "").split())


# --- the README -----------------------------------------------------------------------------------

@test
def the_requests_of_the_readme_are_answered_as_it_says():
    """Each `$ curl` with the line that follows it: the same members, or the same words, come from a real gateway."""
    block = section("README.md", "One request").replace("\\\n", "")
    examples = re.findall(r"^\$ (curl .*)\n(.*)$", block, re.MULTILINE)
    check(len(examples) == 3, f"{len(examples)} requests")
    known = {}
    with World(sim=("--solve-time", "50ms")) as world:
        for command, printed in examples:
            real = command.replace("http://127.0.0.1:8430", world.url)
            for shown, told in known.items():
                real = real.replace(shown, told)
            done = subprocess.run(shlex.split(real) + ["-sS"], capture_output=True, text=True, timeout=TIMEOUT, check=True)
            if printed.startswith("{"):
                equal(list(json.loads(done.stdout)), list(json.loads(printed)), command)
            else:
                equal(re.sub(r"\d+|SIM_.*", "…", done.stdout), re.sub(r"\d+|SIM_.*", "…", printed), command)
                known[printed[3:]] = done.stdout[3:]
        equal(world.paid(), 1, "the same target is paid for once; submits")


# --- the configuration ----------------------------------------------------------------------------

@test
def every_configuration_in_the_documents_is_in_order():
    found = 0
    for path in DOCUMENTS:
        for block in re.findall(r"```jsonc\n(.*?)```", text_of(path), re.DOTALL):
            found += 1
            whole = block if block.lstrip().startswith("{") else "{" + block + "}"
            checked = subprocess.run([binary("SOLVEGATE"), "check", "-c", "-"], input=whole, text=True, capture_output=True,
                                     env={**os.environ, "CAPTCHAAI_API_KEY": KEY}, timeout=TIMEOUT, check=False)
            equal((checked.returncode, checked.stderr), (0, ""), f"{os.path.relpath(path, ROOT)}: {block[:60]}")
    check(found >= 3, f"{found} configurations")


@test
def the_exit_codes_of_the_operators_document_are_those_of_help():
    told = json.loads(expect(solvegate("help", "--json"), 0).stdout)["exits"]
    written = {row[0]: words(row[1]) for row in rows(section("docs/operations.md", "Exit codes"))}
    equal(list(written), list(told), "codes")
    for code, meaning in told.items():
        check(written[code].startswith(words(meaning)), f"exit code {code}: {written[code]!r} does not begin with {meaning!r}")


# --- the database ---------------------------------------------------------------------------------

def documented_tables():
    """Table to the columns that its row names."""
    found = {}
    for row in rows(section("docs/operations.md", "What is on disk")):
        if len(row) == 3:
            for table in re.findall(r"`(\w+)`", row[0]):
                found[table] = set(re.findall(r"`(\w+)`", row[2]))
    return found


@test
def the_tables_of_the_operators_document_are_those_of_the_database():
    with StoreWorld() as world:
        world.solved()
        with sqlite3.connect(f"file:{world.database}?mode=ro", uri=True) as db:
            tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            columns = {table: {row[1] for row in db.execute(f"PRAGMA table_info({table})")} for table in tables}
    written = documented_tables()
    equal(sorted(written), sorted(columns), "tables")
    # What a column means may name what a column of another table holds.
    everywhere = set().union(*columns.values()) | {"res"}
    for table, names in written.items():
        equal(names - everywhere, set(), f"columns of {table} that do not exist")


@test
def the_newest_release_of_the_table_of_versions_writes_what_the_program_does():
    places = ("src/store/sqlite/sqlite_schema.h", "src/store/postgres/postgres_schema.h", "src/store/redis/redis_session.c")
    written = [re.search(r"define (?:PG_)?SCHEMA_VERSION (\d+)", text_of(place)).group(1) for place in places]
    newest = rows(section("docs/operations.md", "Upgrade"))[-1]
    equal([re.search(r"writes(?: and reads)? (\d+)", cell).group(1) for cell in newest[1:]], written, newest[0])


@test
def the_queries_of_the_operators_document_work_while_the_gateway_runs():
    if not shutil.which("sqlite3"):
        raise Skip("sqlite3 is not installed")
    lines = re.findall(r"^sqlite3 .*$", text_of("docs/operations.md"), re.MULTILINE)
    check(len(lines) >= 5, f"{len(lines)} queries")
    with StoreWorld(sim=("--solve-time", "10m")) as world:
        task = world.submit_id()
        world.await_accepted(1)

        def ask(line):
            real = line.replace("5261039047781241", task).replace("/somewhere", world.gate.folder.name)
            done = subprocess.run(["sh", "-c", real], cwd=world.data, capture_output=True, text=True, timeout=TIMEOUT, check=False)
            equal((done.returncode, done.stderr), (0, ""), line)
            return done.stdout.strip()

        for line in lines:
            if "FROM letter" in line or ".backup" in line:
                equal(ask(line), "", line)
            else:  # the books are written once a second
                wait_until(lambda asked=line: ask(asked), f"an answer to {line}")
        copy = os.path.join(world.gate.folder.name, "solvegate.db")
        with sqlite3.connect(copy) as db:
            equal(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)], "the backup")


@test
def the_queries_of_the_storage_document_work_while_the_gateway_runs():
    lines = re.findall(r"^psql .*$", text_of("docs/storage.md"), re.MULTILINE)
    equal(len(lines), 4, "queries")
    store = PostgresStore()
    need_driver(store.url)
    with store, StoreWorld({"store": store.url, "data_dir": None, "retry": {"unsolvable": 0}}) as world:
        world.solve(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE")
        world.sim.set_faults(script=[strike("task-never", "open", 9)])
        task = world.submit_id(sitekey="open")
        for line in lines:
            sql = re.search(r'-c "(.*)"$', line).group(1).replace("5261039047781241", task)
            wait_until(lambda asked=sql: store.sql(asked), f"an answer to {sql}")
        contains(store.sql(re.search(r'-c "(.*)"$', lines[2]).group(1)), "ERROR_CAPTCHA_UNSOLVABLE", "the letter")


# --- the API --------------------------------------------------------------------------------------

def sources(*folders):
    """The C files of these rooms, without comments."""
    paths = [path for folder in folders for path in sorted(glob.glob(os.path.join(ROOT, "src", folder, "*.c")))]
    return {os.path.relpath(path, ROOT): re.sub(r"/\*.*?\*/", "", text_of(path), flags=re.DOTALL) for path in paths}


@test
def the_paths_of_the_api_document_are_those_that_are_served():
    served = expect(solvegate("help", "routes"), 0).stdout.splitlines()
    written = [path for row in rows(section("docs/api.md", "Paths")) for path in re.findall(r"`([A-Z]+ /[^`]*)`", row[0])]
    equal(sorted(written), sorted(served), "paths")


@test
def the_problems_of_the_api_document_are_those_of_the_program():
    """The codes are words in the code; each is written with its status, in one of four ways."""
    code = "\n".join(sources("doors", "proto").values())
    told = set(re.findall(r"verdict\)\{(\d+), \"(\w+)\"", code))
    told |= set(re.findall(r"fail\(mistake, (\d+), \"(\w+)\"", code))
    told |= set(re.findall(r"\.status = (\d+),\s*\.code = \"(\w+)\"", code))
    check(len(told) > 25, f"{len(told)} problems in the code")
    http = "\n".join(sources("http").values())
    told |= {(status, f"http_{status}") for status in re.findall(r"_refuse\(\w+, (\d+),", http)}
    written = [(row[0], row[1].strip("`")) for row in rows(section("docs/api.md", "Problems"))]
    equal(len(written), len(set(written)), "each problem once; rows")
    equal(sorted(set(written) - told), [], "problems that the program does not have")
    equal(sorted(told - set(written)), [], "problems that are not documented")


@test
def the_words_of_the_api_document_are_those_of_the_program():
    code = "\n".join(sources("doors", "proto", "gate", "engine").values()) + text_of("include/solvegate/words.h")
    words_said = [word for row in rows(section("docs/api.md", "The vendor's dialect")) for word in re.findall(r"`([A-Z_]+)`", row[0])]
    check(len(words_said) > 15, f"{len(words_said)} words")
    equal([word for word in words_said if f'"{word}"' not in code], [], "words that the program never says")


@test
def the_members_of_the_api_document_are_those_of_the_openapi_document():
    with StoreWorld() as world:
        api = world.call("GET", "/openapi.json").json()
    answer = [name for row in rows(section("docs/api.md", "The JSON API")) for name in re.findall(r"`(\w+)`", row[0])]
    known = {*api["components"]["schemas"]["Answer"]["properties"], *api["components"]["schemas"]["Solve"]["properties"], "pingback"}
    equal(set(answer) ^ (known - {"method"}), set(), "members")


run()
