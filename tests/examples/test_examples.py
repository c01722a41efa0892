#!/usr/bin/env python3
"""usage: test_examples.py NAME   One program of contrib/examples against the real gateway, in every way a request can end. (TAP)

The program is run as its reader would run it. What it printed and how it ended is looked at, and the simulator's ledger for
what was paid. `--only TEXT` runs the cases whose name contains TEXT.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.realpath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "contrib", "examples")
BROWSER = os.path.join(HERE, "..", "browser")
sys.path[:0] = [os.path.join(HERE, "..", "blackbox"), os.path.join(HERE, "..", "lint")]

from example_world import KEYS, Line, Site, make_world  # noqa: E402
from gateway import PAGE, World, free_port  # noqa: E402
from harness import Skip, check, contains, equal, wait_until  # noqa: E402
from node_world import install, program  # noqa: E402
from tap import Tap  # noqa: E402
from vendor_world import paid_for, strike  # noqa: E402

FAILED, REFUSED, NOT_IN_TIME = 1, 65, 75
AT_ONCE = 4
NAME = sys.argv[1]
folder = tempfile.TemporaryDirectory()


# --- how each is run ------------------------------------------------------------------------------


def python_with(module):
    """A Python that has the module: this one, or Debian's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
            return python
    raise Skip(f"the Python module {module} is not installed (./dev setup examples)")


def example(file):
    return os.path.join(EXAMPLES, file)


def go_program():
    """Compiled once; go run would do it for each case."""
    go = program("examples", "go")
    built = os.path.join(folder.name, "solve")
    if not os.path.exists(built):
        cache = {"GOCACHE": os.path.join(folder.name, "cache"), "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
        subprocess.run([go, "vet", example("solve.go")], env={**os.environ, **cache}, check=True)
        subprocess.run([go, "build", "-o", built, example("solve.go")], env={**os.environ, **cache}, check=True)
    return [built]


def php_program():
    php = program("examples", "php")
    modules = subprocess.run([php, "-m"], capture_output=True, text=True, check=True).stdout.split()
    if "curl" not in modules:
        raise Skip("PHP's curl extension is not installed (./dev setup examples)")
    return [php, example("solve.php")]


def bash_program():
    for needed in ("curl", "jq"):
        program("examples", needed)
    return [program("examples", "bash"), example("solve.sh")]


def playwright_program():
    """The example in a folder where it finds the package, as in a project that has installed it."""
    node = program("examples", "node")
    program("examples", "chromium")
    problems = install(BROWSER, "browser")
    if problems:
        raise Skip("npm could not install playwright-core: " + " ".join(problems[0].split())[:200])
    packages = os.path.join(folder.name, "node_modules")
    if not os.path.exists(packages):
        os.mkdir(packages)
        os.symlink(os.path.join(BROWSER, "node_modules", "playwright-core"), os.path.join(packages, "playwright"))
        for file in ("solve.mjs", "playwright_login.mjs"):
            shutil.copy(example(file), folder.name)
    return [node, os.path.join(folder.name, "playwright_login.mjs")]


PROGRAMS = {
    "requests": lambda: [python_with("requests"), example("solve_requests.py")],
    "httpx": lambda: [python_with("httpx"), example("solve_httpx.py")],
    "node": lambda: [program("examples", "node"), example("solve.mjs")],
    "php": php_program,
    "go": go_program,
    "ruby": lambda: [program("examples", "ruby"), example("solve.rb")],
    "bash": bash_program,
    "scrapy": lambda: [python_with("scrapy"), os.path.join(HERE, "spider.py")],
    "playwright": playwright_program,
}


class Case:
    """One run or more of the example in a world that others use, too; order and sitekey are its own, and so is the line. The
    site is there for those examples that send a form to one."""

    def __init__(self, command, worlds, site, number):
        self.command, self.site = command, site
        self.world, self.open_world = worlds
        self.order = f"order-{number}"
        self.sitekey = f"0x{number}"
        self.line = Line(self.world)
        self.url = None  # the line's, unless there is no gateway

    def arguments(self, sitekey):
        if NAME == "scrapy":
            return [self.order, sitekey, self.site.url + "/login"]
        if NAME == "playwright":
            return [self.order, f"{self.site.url}/login?sitekey={sitekey}"]
        return [self.order, sitekey, PAGE]

    def run(self, sitekey=None, client="alice", patience=30, **env):
        """Runs the example to its end; without a client it is told nothing but the address."""
        clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        clean.update(SOLVEGATE_URL=self.url or self.line.url, PYTHONPATH=EXAMPLES, CHROMIUM=shutil.which("chromium") or "", **env)
        if client is not None:
            clean.update(SOLVEGATE_KEY=KEYS.get(client, client), SOLVEGATE_PATIENCE=str(patience))
        arguments = self.arguments(self.sitekey if sitekey is None else sitekey)
        return subprocess.run([*self.command, *arguments], env=clean, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, check=False)

    def solved(self, sitekey=None, **options):
        """Runs it to a good end: the solution alone is on standard output, and was paid for once."""
        done = self.run(sitekey, **options)
        equal(done.returncode, 0, f"it said {done.stderr!r}, exit code")
        paid = paid_for(self.world, sitekey or self.sitekey)
        equal(len(paid), 1, "paid submits")
        equal(done.stdout, paid[0]["answer"] + "\n", "standard output")
        return done

    def ended(self, code, words, sitekey=None, client="alice", **options):
        """Runs it to a bad end, which is told on standard error."""
        done = self.run(sitekey, client, **options)
        equal((done.returncode, done.stdout), (code, ""), f"it said {done.stderr!r}, exit code and standard output")
        contains(done.stderr, words, "standard error")
        check("Traceback" not in done.stderr and "file:" not in done.stderr, f"standard error: {done.stderr}")
        check(KEYS.get(client, client) not in done.stderr, "the key is on standard error")

    def told(self):
        """The status of every reply."""
        return [call[-1] for call in self.line.calls]

    def paid(self, sitekey=None):
        return len(paid_for(self.world, self.sitekey if sitekey is None else sitekey))


# --- the cases ------------------------------------------------------------------------------------


def a_solution_is_printed(case):
    case.solved()
    equal(len(case.line.calls), 1, "calls")
    path, order, task, _, _ = case.line.calls[0]
    equal((path, order, task["method"], task["wait"]), ("/v1/solves", case.order, "turnstile", 50))


def the_same_order_again_is_the_same_solution_and_costs_nothing(case):
    first = case.solved()
    equal(case.solved().stdout, first.stdout, "the second token")


def a_failure_of_the_vendor_is_an_end(case):
    case.ended(FAILED, '"code":"unsolvable"', "SIM-ERROR_CAPTCHA_UNSOLVABLE")
    equal(case.told(), [502])


def wrong_parameters_are_an_end(case):
    case.ended(REFUSED, '"code":"bad_parameter"', "")
    equal((case.told(), case.paid("")), ([422], 0))


def a_wrong_key_is_an_end(case):
    case.ended(REFUSED, '"code":"unauthorized"', client="nobody-nobody-nobody-nobody-no32")
    equal((case.told(), case.paid()), ([401], 0))


def an_order_used_for_something_else_is_an_end(case):
    case.solved()
    case.ended(REFUSED, '"code":"idempotency_mismatch"', "0xOTHER")
    equal(case.paid("0xOTHER"), 0, "paid")


def a_used_up_budget_is_not_waited_for(case):
    case.ended(NOT_IN_TIME, '"code":"budget_used_up"', client="bob")
    equal((case.told(), case.paid()), ([429], 0))


def a_busy_vendor_is_asked_again_after_the_pause_that_was_told(case):
    case.world.sim.set_faults(script=[strike("submit-429", case.sitekey, value="2")])
    case.solved()
    equal(case.told(), [503, 200])
    equal(case.line.calls[0][1:3], case.line.calls[1][1:3], "order and task of both calls")
    check(case.line.times[1] - case.line.times[0] >= 2, f"called at {case.line.times}")


def a_full_gateway_is_asked_again(case):
    room = "SIM-NEVER.room"
    equal(case.world.solve({"sitekey": room}, key=KEYS["carol"], wait=0).status, 202, "the request that takes all the room")
    wait_until(lambda: case.paid(room), "its submit")

    def make_room():
        wait_until(case.line.calls.__len__, "the first call", timeout=100)
        case.world.sim.solve(paid_for(case.world, room)[0]["id"])

    helper = threading.Thread(target=make_room, daemon=True)
    helper.start()
    case.solved(client="carol")
    helper.join()
    equal((case.told()[0], case.told()[-1]), (429, 200), "first and last reply")


def a_wait_that_ended_too_early_goes_on_with_the_same_order(case):
    case.line.damage = ["short"]
    case.solved("SIM-SLOW-2s.wait")
    equal(case.told(), [202, 200])


def after_a_cut_connection_the_same_order_finds_the_paid_solve(case):
    case.line.damage = ["cut", "half"]
    case.solved()
    equal([call[3] for call in case.line.calls], ["cut", "half", None], "what happened to the calls")
    equal({call[1] for call in case.line.calls}, {case.order}, "orders")


def without_a_gateway_it_gives_up_in_time(case):
    case.url = f"http://127.0.0.1:{free_port()}"
    case.ended(NOT_IN_TIME, "", patience=2)


def a_gateway_without_clients_needs_no_key(case):
    case.line.world = case.world = case.open_world
    case.solved(client=None)


def asyncio_may_be_the_reactor(case):
    case.line.damage = ["cut"]
    case.solved(REACTOR="twisted.internet.asyncioreactor.AsyncioSelectorReactor")


CASES = [a_full_gateway_is_asked_again, a_busy_vendor_is_asked_again_after_the_pause_that_was_told,
         after_a_cut_connection_the_same_order_finds_the_paid_solve, a_wait_that_ended_too_early_goes_on_with_the_same_order,
         without_a_gateway_it_gives_up_in_time, a_gateway_without_clients_needs_no_key, a_solution_is_printed,
         the_same_order_again_is_the_same_solution_and_costs_nothing, a_failure_of_the_vendor_is_an_end,
         wrong_parameters_are_an_end, a_wrong_key_is_an_end, an_order_used_for_something_else_is_an_end,
         a_used_up_budget_is_not_waited_for]


def problems_of(check_case, case):
    try:
        with case.line:
            check_case(case)
    except Exception as problem:  # a case may fail in any way
        return [f"{type(problem).__name__}: {problem}", traceback.format_exc()]
    return []


def run_cases(report, command, cases):
    """Most of the time an example waits, so several run at once."""
    problems = []
    try:
        with make_world() as world, World() as open_world, Site() as site, ThreadPoolExecutor(AT_ONCE) as pool:
            tried = [(one, pool.submit(problems_of, one, Case(command, (world, open_world), site, 17 + number)))
                     for number, one in enumerate(cases)]
            for one, result in tried:
                report.case(f"{NAME}: {one.__name__.replace('_', ' ')}", result.result())
    except AssertionError as problem:  # the harness found that one of them died or complained
        problems.append(str(problem))
    report.case(f"{NAME}: the gateway and the simulator ended well", problems)


def main():
    report = Tap()
    only = sys.argv[sys.argv.index("--only") + 1].replace(" ", "_") if "--only" in sys.argv else ""
    cases = CASES + [asyncio_may_be_the_reactor] * (NAME == "scrapy")
    try:
        run_cases(report, PROGRAMS[NAME](), [case for case in cases if only in case.__name__])
    except Skip as reason:
        report.case(f"{NAME}: the example", skip=str(reason))
    report.finish()


main()
