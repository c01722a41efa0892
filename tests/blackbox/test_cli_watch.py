#!/usr/bin/env python3
"""Looking at a running gateway: stats, flights, pools and the live view, with and without a terminal. (TAP)"""
import json
import signal
import threading
import time

from cli_world import EX_DATAERR, EX_NOPERM, EX_PROTOCOL, EX_UNAVAILABLE, EX_USAGE, Terminal, expect, solvegate
from gateway import ADMIN, ALICE, BOB, World, clients, free_port
from harness import TIMEOUT, Receiver, check, contains, equal, run, test, wait_until
from vendor_world import strike

SLOW = ("--solve-time", "60s")
DRAWN = "\x1b\\[J"  # the end of a picture
EVIL = "bad\x1b[2Jname\x07\u009b31m"


def ask(world, *args, **env):
    return solvegate(*args, env={"SOLVEGATE_URL": world.url, **env})


def rows(text):
    """The cells of each line by the first of them."""
    cells = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]
    return {line[0]: line for line in cells if line}


class Fake:
    """A gateway that answers what it is told to, by path."""

    def __init__(self, **replies):
        self.replies = {"/v1/" + name: value for name, value in replies.items()}
        self.receiver = Receiver(self.answer)

    def answer(self, call):
        reply = self.replies.get(call["path"])
        return (404, b'{"detail":"no such path"}') if reply is None else (200, json.dumps(reply).encode())

    def __enter__(self):
        self.receiver.__enter__()
        self.url = self.receiver.url
        return self

    def __exit__(self, *error):
        self.receiver.__exit__(*error)


@test
def stats_show_savings_first_and_agree_with_the_api():
    with World() as world:
        world.solved()
        for _ in range(3):
            world.solved()
        world.solve(pageurl=None)
        text = expect(ask(world, "stats"), 0, stderr="").stdout
        table = rows(text)
        equal(table["saved"], ["saved", "75.0 %", "75.0 %", "75.0 %"])
        check(text.splitlines()[1].startswith("saved "), "savings do not come first")
        equal(table["from memory"][1:], ["3", "3", "3"])
        equal(table["answers that were paid for"][1:], ["1", "1", "1"])
        equal(table["submits paid for"][1:], [str(world.paid())] * 3)
        today = world.stats()["today"]
        contains(text, f"\n{today['date']}  75.0 %")
        contains(text, "now: 0 flights (0 queued), 0 requests waiting, slots 0 of 1000,\n     breaker closed")
        equal(json.loads(expect(ask(world, "stats", "--json"), 0).stdout)["total"]["requests"], today["requests"])
        check(max(map(len, text.splitlines())) <= 80, "wider than 80 columns")


@test
def stats_add_up_days_and_ignore_what_they_do_not_know():
    page = {"requests": 12345678, "deduplicated": 3, "answered_api": 1}
    with Fake(stats={"now": {"breaker": "open", "breaker_cause": EVIL}, "total": page, "today": {"date": "2026-07-27", **page},
                     "days": [{"date": "2026-07-26", **page, "deduplicated": 0}], "by_client": {"x": [1, {}]}}) as fake:
        text = expect(ask(fake, "stats"), 0).stdout
        table = rows(text)
        equal(table["saved"][1:], ["75.0 %", "60.0 %", "75.0 %"])
        equal(table["requests"][1:], ["12,345,678", "24,691,356", "12,345,678"])
        contains(text, "\n2026-07-26   0.0 %")
        contains(text, "breaker open (bad?[2Jname??31m)")
        check("\x1b" not in text and "\u009b" not in text, "a control character reached the terminal")


def section(text, title):
    """The lines of one table of the statistics, split at blanks, its column titles first."""
    lines = text.split(f"\n{title}:\n", 1)[1].split("\n\n", 1)[0].splitlines()
    return [line.replace(" %", "%").replace("NOT SPENT", "NOT_SPENT").split() for line in lines]


@test
def stats_by_client_and_type_are_those_of_the_api():
    prices = {"upstream": {"price": {"turnstile": 0.0015, "image": 0.2}}}
    with World({**clients(), **prices}) as world:
        for i in range(5):
            world.solved(sitekey=f"s{i % 2}", key=ALICE)
        for i in range(3):
            world.solved(sitekey=f"s{i}", key=BOB)
        world.solve(sitekey="SIM-ERROR_BAD_PROXY", key=BOB)
        for span, words in (("today", "today"), ("days", "8 days"), ("start", "since start"), (None, "8 days")):
            chosen = ["--span", span] if span else []
            text = expect(ask(world, "stats", *chosen, SOLVEGATE_KEY=ADMIN), 0, stderr="").stdout
            titles = ["SAVED", "FREE", "PAID", "FAILED", "REFUSED", "REQUESTS", "SPENT", "NOT_SPENT"]
            equal(section(text, f"by client, {words}"),
                  [["CLIENT", *titles], ["bob", "0.0%", "0", "3", "1", "0", "4", "0.0060", "0.0000"],
                   ["alice", "60.0%", "3", "2", "0", "0", "5", "0.0030", "0.0045"]], "by client")
            equal(section(text, f"by type, {words}"),
                  [["TYPE", *titles], ["turnstile", "37.5%", "3", "5", "1", "0", "9", "0.0090", "0.0045"]], "by type")
        equal((rows(text)["money spent"][1:], rows(text)["money saved"][1:]), (["0.0090"] * 3, ["0.0045"] * 3), "money")
        day = world.stats(ADMIN)["today"]["date"]
        equal(rows(text)[day][-1], "0.0090", "money of the day")
        check(max(map(len, text.splitlines())) <= 80, "wider than 80 columns")


@test
def stats_by_client_add_up_the_days_and_say_nothing_of_money_without_prices():
    def tally(answered, requests, **more):
        return {"answered": answered, "deduplicated": 0, "requests": requests, **more}

    today = {"date": "2026-07-27", "by_client": {"small": tally(1, 1), "big": tally(2, 5), EVIL: tally(0, 2)}, "by_type": {}}
    days = [{"date": f"2026-07-{26 - i}", "by_client": {"small": tally(1, 1), "gone": tally(3, 3), "odd": [1]}} for i in range(7)]
    with Fake(stats={"now": {"breaker": "closed"}, "total": {}, "today": today, "days": days}) as fake:
        text = expect(ask(fake, "stats"), 0).stdout
        table = section(text, "by client, 8 days")
        equal(table[0], ["CLIENT", "SAVED", "FREE", "PAID", "FAILED", "REFUSED", "REQUESTS"])
        equal([(line[0], line[3], line[6]) for line in table[1:]],
              [("gone", "21", "21"), ("small", "8", "8"), ("big", "2", "5"), ("bad?[2Jname??31m", "0", "2"), ("odd", "0", "0")], "sums")
        check("by type" not in text and "SPENT" not in text and "money" not in text, "what is not there is shown")
        check("by client" not in expect(ask(fake, "stats", "--span=start"), 0).stdout, "a table of nobody")
    contains(expect(solvegate("stats", "--span", "tody"), EX_USAGE, stdout="").stderr, 'unknown span "tody", did you mean "today"?')


@test
def stats_name_the_errors_nobody_knows():
    with World({"retry": {"base": "10ms"}}) as world:
        check("UNKNOWN" not in ask(world, "stats").stdout, "unknown errors before there was one")
        world.sim.set_faults(script=[strike("submit-error", "moon", 2, "ERROR_NEW_MOON"), strike("submit-error", "odd", 1, "ERROR: 1099")])
        world.solve(sitekey="moon")
        world.solve(sitekey="odd")
        contains(expect(ask(world, "stats"), 0).stdout, "\nUNKNOWN ERROR, SINCE START  TIMES\n"
                 "ERROR_NEW_MOON                  2\nother                           1\n\n")


@test
def flights_are_listed_oldest_first():
    with World(sim=SLOW) as world:
        equal(expect(ask(world, "flights"), 0, stdout="").stderr, "nothing is in flight\n")
        for i in range(4):
            world.submit_id(sitekey=f"k{i}")
            world.await_accepted(i + 1)
        world.submit_id(sitekey="k0")
        table = expect(ask(world, "flights"), 0, stderr="").stdout.splitlines()
        equal(table[0].split(), ["AGE", "STATE", "CLIENT", "TYPE", "REQS", "TRY", "LEFT", "KEY", "TASK", "LAST", "ERROR"])
        equal([line.split()[1:6] for line in table[1:]],
              [["solving", "anonymous", "turnstile", "2", "1"]] + [["solving", "anonymous", "turnstile", "1", "1"]] * 3)
        flights = json.loads(expect(ask(world, "flights", "--json"), 0).stdout)
        equal(flights["total"], 4, "total")
        oldest = max(flights["flights"], key=lambda flight: flight["age"])
        equal(table[1].split()[7:9], [oldest["key"][:12], oldest["upstream_id"]])
        some = expect(ask(world, "flights", "--limit", "2"), 0)
        equal((len(some.stdout.splitlines()), some.stderr), (3, "2 of 4 shown, oldest first; --limit shows more\n"))


@test
def more_flights_than_a_page_are_fetched_page_by_page():
    with World(sim=SLOW) as world:
        for i in range(130):
            world.submit_id(sitekey=f"k{i}")
        equal(len(expect(ask(world, "flights", "--limit=500"), 0).stdout.splitlines()), 131, "lines")


@test
def flights_can_be_watched_without_a_terminal():
    with World(sim=SLOW) as world:
        world.submit_id()
        text = expect(ask(world, "flights", "--watch", "--interval", "100ms", "-n", "3"), 0, stderr="").stdout
        equal(text.count("STATE"), 3, "tables")
        lines = expect(ask(world, "flights", "--watch", "--json", "--interval=100ms", "--count=2"), 0).stdout.splitlines()
        equal([json.loads(line)["total"] for line in lines], [1, 1])


@test
def pools_are_shown_with_their_levels():
    pool = {"name": "login", "method": "turnstile", "size": 5, "ready": 3, "solving": 2, "state": "filling",
            "served": 1234, "refilled": 1300, "expired": 7, "unknown": {}}
    with Fake(pools={"pools": [pool, {**pool, "name": EVIL, "state": "sleeping"}], "total": 2, "next": None}) as fake:
        text = expect(ask(fake, "pools"), 0, stderr="").stdout.splitlines()
        equal(text[0].split(), ["POOL", "METHOD", "STATE", "READY", "SOLVING", "SERVED", "REFILLED", "EXPIRED"])
        equal(text[1].split(), ["login", "turnstile", "filling", "3", "of", "5", "2", "1,234", "1,300", "7"])
        check("\x1b" not in text[2], "a control character reached the terminal")
        equal(json.loads(expect(ask(fake, "pools", "--json"), 0).stdout)["pools"][0], pool)
    with Fake(pools={"pools": [], "total": 0, "next": None}) as fake:
        equal(expect(ask(fake, "pools"), 0, stdout="").stderr, "no pools are configured\n")


@test
def nodes_are_shown_with_their_leases():
    node = {"name": "left", "number": 1795035397881, "state": "alive", "self": True, "silent_for": 0.4, "lease_left": 7.6, "demand": 1200, "share": 8}
    nodes = [node, {**node, "name": EVIL, "state": "dead", "self": False, "lease_left": 0, "unknown": {}}]
    about = {"enabled": True, "joined": True, "leased": True, "lease": 10, "nodes": nodes, "total": 2, "next": None}
    with Fake(nodes=about) as fake:
        text = expect(ask(fake, "nodes"), 0, stderr="").stdout.splitlines()
        equal(text[0].split(), ["NODE", "STATE", "SILENT", "LEASE", "DEMAND", "SHARE", "NUMBER"])
        equal(text[1].split(), ["*", "left", "alive", "400ms", "7.6s", "1,200", "8", "1795035397881"])
        check("\x1b" not in text[2] and "dead" in text[2], f"the second line: {text[2]!r}")
        equal(json.loads(expect(ask(fake, "nodes", "--json"), 0).stdout)["nodes"][0], node)
    last = {"name": "right\x1b", "by": "left", "number": 2, "rows": 15, "at": "2026-11-18T09:31:05.898Z"}
    with Fake(nodes={**about, "last_adoption": last, "adopted": [last, {**last, "by": "third", "rows": 1, "at": "2026-11-18T09:30:00.000Z"}]}) as fake:
        equal(expect(ask(fake, "nodes"), 0).stderr, "* went on with 15 rows of right? at 2026-11-18T09:31:05.898Z\n"
              "third went on with 1 row of right? at 2026-11-18T09:30:00.000Z\n")
    with Fake(nodes={**about, "leased": False}) as fake:
        contains(expect(ask(fake, "nodes"), 0).stderr, "has lost its lease")
    with Fake(nodes={**about, "joined": False, "leased": False, "nodes": []}) as fake:
        contains(expect(ask(fake, "nodes"), 0).stderr, "has not joined yet")
    with Fake(nodes={**about, "enabled": False, "joined": False, "leased": False, "nodes": []}) as fake:
        contains(expect(ask(fake, "nodes"), 0, stdout="").stderr, "cluster.enabled is off")


@test
def troubles_are_told_by_words_and_exit_code():
    with World(clients()) as world:
        for command in ("stats", "flights", "top"):
            contains(expect(ask(world, command), EX_NOPERM, stdout="").stderr, "HTTP 401")
            contains(expect(ask(world, command, SOLVEGATE_KEY=ALICE), EX_NOPERM, stdout="").stderr, "HTTP 403")
            expect(ask(world, command, *(["-n1"] if command == "top" else []), SOLVEGATE_KEY=ADMIN), 0)
    nowhere = f"http://127.0.0.1:{free_port()}"
    for command in ("stats", "flights", "pools", "top", "letters list"):
        done = expect(solvegate(*command.split(), "--url", nowhere), EX_UNAVAILABLE, stdout="")
        contains(done.stderr, f"no gateway answers at {nowhere}")
        contains(expect(solvegate(*command.split(), "now"), EX_USAGE, stdout="").stderr, "Try `solvegate help")
    with Receiver(lambda call: (200, b"hello")) as other:
        for command in ("stats", "pools", "top", "flights"):
            contains(expect(solvegate(command, "-u", other.url), EX_PROTOCOL, stdout="").stderr, "not JSON")
    with Fake() as fake:
        contains(expect(ask(fake, "pools"), EX_DATAERR, stdout="").stderr, "no such path (HTTP 404)")
    for args in (["flights", "--limit", "0"], ["top", "--interval", "1"], ["top", "--count", "0"], ["flights", "-n", "x"]):
        contains(expect(solvegate(*args), EX_USAGE, stdout="").stderr, "expected a ")


# --- the live view --------------------------------------------------------------------------------


@test
def without_a_terminal_top_prints_one_snapshot_per_interval():
    with World({"retry": {"unsolvable": 0}}) as world:
        world.solved()
        world.solved()
        world.solve(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE")
        text = expect(ask(world, "top", "--interval", "200ms", "--count", "3"), 0, stderr="").stdout
        equal(text.count(f"solvegate at {world.url}, "), 3, "snapshots")
        equal(text.count("saved      50.0 %   today 1 of 2 answers cost nothing\n"), 3)
        equal(text.count("unsolvable  ERROR_CAPTCHA_UNSOLVABLE\n"), 3, "recent errors")
        check("\x1b" not in text, "escape sequences in a pipe")
        lines = expect(ask(world, "top", "--json", "--interval=100ms", "-n2"), 0).stdout.splitlines()
        equal([json.loads(line)["today"]["requests"] for line in lines], [3, 3])


@test
def rates_are_those_between_two_looks():
    looks = []  # when each was answered

    def answer(call):
        if call["path"] != "/v1/stats":
            return (404, b"{}")
        looks.append(time.monotonic())
        total = {"requests": 1000, "deduplicated": 900} if len(looks) == 1 else {"requests": 3000, "deduplicated": 1900}
        return (200, json.dumps({"now": {"breaker": "closed"}, "total": total, "today": {}, "days": []}).encode())

    with Receiver(answer) as gateway:
        text = expect(solvegate("top", "--interval", "3s", "-n", "2", "--url", gateway.url), 0).stdout
    contains(text.split("per second, ")[0], "REQUESTS  FREE  PAID")
    rate = next(line for line in text.splitlines() if line.startswith("per second, "))
    requests, free_of_charge = (float(word) for word in rate.split()[4:6])
    # 2000 requests in as many seconds as went by, of which half cost nothing; it looked a little later than it was answered.
    seconds = looks[1] - looks[0]
    check(abs(2000 / requests - seconds) < 0.5 * seconds, f"2000 requests in {seconds:.2f} s are {rate!r}")
    check(abs(requests / free_of_charge - 2) < 0.01, f"{rate!r}")


@test
def on_a_terminal_top_draws_itself_and_q_gives_the_terminal_back():
    with World(sim=SLOW) as world:
        world.submit_id()
        with Terminal("top", "--interval", "200ms", env={"SOLVEGATE_URL": world.url}) as terminal:
            terminal.wait_for(r"per second, \d+ s")
            terminal.wait_for("solving  anonymous")
            contains(terminal.shown, "\x1b[?1049h")
            contains(terminal.shown, "\x1b[32msaved")
            terminal.type("q")
            equal(terminal.ended(), 0, "exit code")
            check(terminal.is_restored(), f"the terminal is not as it was: {terminal.shown[-200:]!r}")
            widest = max(len(line) for screen in terminal.screens() for line in screen)
            check(widest <= 80, f"a line has {widest} columns")
            check(max(map(len, terminal.screens())) <= 24, "more lines than the terminal has")


@test
def a_window_that_changes_is_redrawn_to_fit():
    with World(sim=SLOW) as world:
        for i in range(30):
            world.submit_id(sitekey=f"k{i}")
        world.await_accepted(30)  # it looks once, and all are to be solving by then
        with Terminal("top", "--interval", "30s", env={"SOLVEGATE_URL": world.url}) as terminal:
            terminal.wait_for("LEFT")
            for columns, lines in ((50, 12), (30, 5), (140, 60)):
                terminal.resize(columns, lines)
                # What fills it was drawn for it, and not for the one before: there is more to show than any of them holds.
                full = min(lines, 35)
                screen = terminal.wait_screen(lambda drawn: full <= len(drawn) and max(map(len, drawn)) > columns // 2 and
                                              len(drawn) <= lines, f"a screen of {columns} times {lines}")
                check(max(map(len, screen)) <= columns, f"more than {columns} columns: {screen}")
            equal(sum("solving" in line for line in screen), 30, "flights on a large screen")
            contains("\n".join(screen), "TASK")
            terminal.type("\x1b")
            equal(terminal.ended(), 0, "exit code")


@test
def no_change_of_the_window_is_forgotten_whenever_it_comes():
    with World() as world, Terminal("top", "--interval", "10m", env={"SOLVEGATE_URL": world.url}) as terminal:
        terminal.wait_for(DRAWN)
        for i in range(400):
            shown = len(terminal.shown)
            terminal.resize(80 + i % 2, 24)
            # The next change comes when it has just drawn and is about to wait.
            terminal.wait_for(DRAWN, shown, pause=0)
        terminal.type("q")
        equal(terminal.ended(), 0, "exit code")


@test
def every_signal_gives_the_terminal_back():
    with World() as world:
        for number, code in ((signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131),
                             (signal.SIGSEGV, -signal.SIGSEGV)):
            # The sanitizer would report the crash that is asked for here.
            with Terminal("top", env={"SOLVEGATE_URL": world.url, "ASAN_OPTIONS": "handle_segv=0"}) as terminal:
                terminal.wait_for("breaker    closed")
                terminal.process.send_signal(number)
                equal(terminal.ended(), code, f"exit code after {number!r}")
                check(terminal.is_restored(), f"{number!r}: the terminal is not as it was: {terminal.shown[-200:]!r}")


@test
def a_stopped_top_gives_the_terminal_back_and_takes_it_again():
    with World() as world:
        with Terminal("top", env={"SOLVEGATE_URL": world.url}) as terminal:
            terminal.wait_for("breaker    closed")
            terminal.process.send_signal(signal.SIGTSTP)
            terminal.wait_for(r"\x1b\[\?1049l")
            def state():
                with open(f"/proc/{terminal.process.pid}/stat", encoding="utf-8") as file:
                    return file.read().rsplit(")", 1)[1].split()[0]
            wait_until(lambda: state() == "T", "the stop")
            check(terminal.is_restored(), "the terminal is not as it was")
            seen = len(terminal.shown)
            terminal.process.send_signal(signal.SIGCONT)
            terminal.wait_for(r"\x1b\[\?1049h(.|\n)*breaker    closed", since=seen)
            terminal.type("q")
            equal(terminal.ended(), 0, "exit code")


@test
def colours_are_left_out_when_nobody_wants_them():
    with World() as world:
        for more in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            with Terminal("top", "-n", "1", env={"SOLVEGATE_URL": world.url, **more}) as terminal:
                equal(terminal.ended(), 0, "exit code")
                contains(terminal.shown, "saved")
                check("\x1b[32m" not in terminal.shown and "\x1b[1m" not in terminal.shown, "it is coloured")


@test
def a_gateway_that_goes_away_is_told_and_waited_for():
    with World() as world:
        with Terminal("top", "--interval", "100ms", env={"SOLVEGATE_URL": world.url}) as terminal:
            terminal.wait_for("breaker    closed")
            world.gate.stop()
            terminal.wait_for("no gateway answers: .*trying on")
            check(terminal.process.poll() is None, "it gave up")
            terminal.type("q")
            equal(terminal.ended(), 0, "exit code")
            check(terminal.is_restored(), "the terminal is not as it was")


@test
def a_slow_gateway_does_not_keep_q_from_working():
    stats = json.dumps({"now": {"breaker": "closed"}, "total": {}, "today": {}, "days": []}).encode()
    calls = []

    def answer(call):
        calls.append(call)
        if len(calls) > 5:
            time.sleep(3 * TIMEOUT)
        return (200, stats)

    with Receiver(answer) as slow:
        with Terminal("top", "--interval", "100ms", env={"SOLVEGATE_URL": slow.url}) as terminal:
            wait_until(lambda: (terminal.read(0.05), len(calls) > 5)[1], "a call that hangs")
            terminal.type("q")
            equal(terminal.ended(), 0, "exit code of one that does not wait for the gateway")
            check(terminal.is_restored(), "the terminal is not as it was")


@test
def progress_is_shown_while_a_slow_gateway_thinks():
    may_answer = threading.Event()

    def answer(call):
        may_answer.wait(3 * TIMEOUT)
        return (200, b'{"pools":[],"flights":[],"letters":[],"total":0,"next":null}')

    with Receiver(answer) as slow:
        for args in (["pools"], ["flights"], ["letters", "list"]):
            may_answer.clear()
            with Terminal(*args, env={"SOLVEGATE_URL": slow.url}) as terminal:
                terminal.wait_for(r"waiting for the gateway, \d+ s")
                may_answer.set()
                equal(terminal.ended(), 0, "exit code")
                check(terminal.shown.rindex("\r\x1b[K") > terminal.shown.rindex("waiting"), "the line was not taken away")
            may_answer.clear()
            timer = threading.Timer(1.7, may_answer.set)
            timer.start()
            equal(solvegate(*args, "--url", slow.url).stderr.count("waiting"), 0, "progress in a pipe")
            timer.join()


@test
def tables_fit_a_terminal_of_eighty_columns():
    with World({"retry": {"unsolvable": 0}}) as world:
        world.solve(sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE")
        world.sim.set_faults(faults={"task-never": 1})
        world.submit_id()
        for args in (["flights"], ["letters", "list"], ["stats"]):
            with Terminal(*args, env={"SOLVEGATE_URL": world.url}) as terminal:
                equal(terminal.ended(), 0, "exit code")
                widest = max(terminal.shown.splitlines(), key=len)
                check(len(widest) <= 80, f"{args}: {len(widest)} columns: {widest!r}")
                contains(terminal.shown, "turnstile" if args != ["stats"] else "saved")


@test
def large_books_with_money_fit_a_terminal_of_eighty_columns():
    tally = {"requests": 123456789, "answered": 12345678, "deduplicated": 98765432, "failed": 12345, "rejected": 12345,
             "money_spent": 12345.6789, "money_saved": 98765.4321}
    page = {"date": "2026-07-27", **tally, "answered_api": 12345678, "letters": 12345,
            "by_client": {"a-client-with-a-rather-long-name-indeed": tally, "b": tally}, "by_type": {"recaptcha_v2": tally}}
    with Fake(stats={"now": {"breaker": "closed"}, "total": page, "today": page, "days": [page] * 7}) as fake:
        with Terminal("stats", env={"SOLVEGATE_URL": fake.url}) as terminal:
            equal(terminal.ended(), 0, "exit code")
            widest = max(terminal.shown.splitlines(), key=len)
            check(len(widest) <= 80, f"{len(widest)} columns: {widest!r}")
            contains(terminal.shown, "a-client")
            contains(terminal.shown, "98765.4321")
            contains(terminal.shown, "recap")


run()
