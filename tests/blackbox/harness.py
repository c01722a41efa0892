"""Black-box tests against the real programs: start them, talk HTTP to them, print TAP.

A test file looks like this:

    from harness import KEY, Sim, equal, get, run, test

    @test
    def a_balance_is_a_bare_number():
        with Sim("--balance", "7.5") as sim:
            equal(get(sim.url + "/res.php", key=KEY, action="getbalance").text, "7.50")

    run()

Programs are found through the environment (SOLVEGATE_SIM, SOLVEGATE), are started on port 0 and are
waited for by their ready line. Whatever a test leaves running is stopped after it, and a program that
died or complained makes the test fail. `--only TEXT` runs the tests whose name contains TEXT.
`run(beside=3)` runs three at a time: for files whose tests mostly wait, and share nothing.
"""
import atexit
import concurrent.futures
import contextlib
import http.client
import io
import json
import multiprocessing.util
import os
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse

# Tests import all of it from here.
from http_talk import TIMEOUT, Raw, Response, get, http_request, multipart, post_form, raw  # noqa: F401

KEY = "0123456789abcdef0123456789abcdef"
# A script's background job is born with it ignored, and so would be every program that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Skip(Exception):
    """Raised by a test that cannot run here; the text says why."""


# --- checks ---------------------------------------------------------------------------------------


def check(condition, message="check failed"):
    if not condition:
        raise AssertionError(message)


def equal(got, expected, what="value"):
    if got != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {got!r}")


def contains(text, part, what="text"):
    if part not in text:
        raise AssertionError(f"{what}: {part!r} is not in {text!r}")


def wait_until(condition, what="the condition", timeout=TIMEOUT):
    """Calls condition until it returns something true, and returns that."""
    deadline = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout:g} s in vain for {what}")
        time.sleep(0.005)


# --- programs -------------------------------------------------------------------------------------

_running = []


def binary(variable):
    path = os.environ.get(variable)
    if not path:
        raise Skip(f"{variable} does not name the program")
    return path


class _Stream:
    """One output pipe of a program; its whole lines are appended to the given lists."""

    def __init__(self, pipe, *lists):
        self.pipe = pipe
        self.lists = lists
        self.is_open = True
        self.rest = b""
        os.set_blocking(pipe.fileno(), False)

    def drain(self):
        """Reads what is in the pipe now, without waiting for more."""
        while self.is_open:
            data = self.pipe.read(65536)
            if data is None:
                return
            *lines, self.rest = (self.rest + data).split(b"\n")
            if not data:
                self.is_open = False
                lines, self.rest = [self.rest] if self.rest else [], b""
            for line in lines:
                for kept in self.lists:
                    kept.append(line.decode("utf-8", "replace"))


class Program:
    """A program under test, as a context manager: started, awaited, stopped, its exit checked."""

    variable = None  # environment variable with its path
    ready = r"ready on (http://\S+)"

    def __init__(self, *args, env=None, expect_exit=0):
        self.args = [str(arg) for arg in args]
        self.env = {**os.environ, **(env or {})}
        self.expect_exit = expect_exit
        self.process = None
        self.url = None
        self.port = None
        self.ready_line = None

    def command(self):
        return [binary(self.variable), *self.args]

    def start(self):
        self._lines = []  # of stdout and stderr as they came
        self._errors = []
        self._changed = threading.Condition()
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=self.env, bufsize=0)
        _running.append(self)
        self._streams = [_Stream(self.process.stdout, self._lines), _Stream(self.process.stderr, self._lines, self._errors)]
        self._readers = [threading.Thread(target=self._read, args=(stream,), daemon=True) for stream in self._streams]
        for reader in self._readers:
            reader.start()
        self.ready_line = self.wait_line(self.ready)
        self.url = re.search(self.ready, self.ready_line).group(1).rstrip("/")
        self.port = urllib.parse.urlsplit(self.url).port
        return self

    def _read(self, stream):
        """Keeps the pipe from filling up, and wakes whoever waits for a line."""
        poll = select.poll()  # select() knows no descriptors beyond 1023
        poll.register(stream.pipe, select.POLLIN)
        while stream.is_open:
            poll.poll()
            with self._changed:
                self._drain()

    def _drain(self):
        """Takes what the program has written up to now. Call it with the lock held."""
        for stream in self._streams:
            stream.drain()
        self._changed.notify_all()

    def wait_line(self, pattern, timeout=TIMEOUT):
        """The first line on stdout or stderr that matches, now or to come."""
        def found():
            match = next((line for line in self._lines if re.search(pattern, line)), None)
            return match if match is not None else not any(stream.is_open for stream in self._streams)

        with self._changed:
            result = self._changed.wait_for(found, timeout)
        if isinstance(result, str):
            return result
        how = f"ended with {self.process.wait()} before" if result else f"ran for {timeout:g} s without"
        raise AssertionError(f"{self.command()[0]} {how} printing /{pattern}/:\n{self.stderr()}")

    def stderr(self):
        """What it has said on stderr so far.

        Both programs write a line before they answer the call that it is about, so the lines of every call that was
        answered are here. Leaving the reading to the threads would lose the last of them on a busy machine.
        """
        with self._changed:
            self._drain()
            return "\n".join(self._errors)

    def output(self):
        """What it has said on stdout and stderr so far, line by line."""
        with self._changed:
            self._drain()
            return list(self._lines)

    def wait_stderr(self, count):
        """Its stderr once there are that many lines."""
        with self._changed:
            check(self._changed.wait_for(lambda: len(self._errors) >= count, TIMEOUT), f"fewer than {count} lines")
        return self.stderr()

    def rss_kib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def send_signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """Sudden death, which is not held against it."""
        self.expect_exit = None
        self.process.kill()
        self.process.wait()
        # What is left of it is read before another start, whose streams these threads would count.
        for reader in self._readers:
            reader.join()

    def stop(self, number=signal.SIGTERM):
        """Ends it and checks how it ended. A second stop does nothing."""
        if self not in _running:
            return
        _running.remove(self)
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"{self.command()[0]} did not end by signal {number}: {self.stderr()}") from None
        for reader in self._readers:
            reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        if self.expect_exit is not None and self.process.returncode != self.expect_exit:
            raise AssertionError(f"{self.command()[0]} ended with {self.process.returncode}: {self.stderr()}")

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        try:
            self.stop()
        except AssertionError as problem:
            if kind is None:
                raise
            print(f"# also: {problem}".replace("\n", "\n# "))


class Sim(Program):
    """solvegate-sim on a free port; args are its options."""

    variable = "SOLVEGATE_SIM"

    def command(self):
        return [binary(self.variable), "--listen", "127.0.0.1:0", *self.args]

    def ledger(self, **query):
        """Totals and accepted submits; summary=1 for the totals alone."""
        return get(self.url + "/sim/ledger", **query).json()

    def totals(self):
        return self.ledger(summary=1)["totals"]

    def submits(self, **query):
        return self.ledger(**query)["submits"]

    def faults(self):
        return get(self.url + "/sim/faults").json()

    def set_faults(self, faults=None, script=None):
        """What is given replaces what was there. A wrong fault is an error of the test."""
        body = {}
        if faults is not None:
            body["faults"] = faults
        if script is not None:
            body["script"] = script
        reply = http_request(self.url + "/sim/faults", "PUT", body)
        equal(reply.status, 200, f"PUT /sim/faults said {reply.text!r}, status")
        return reply.json()

    def reset(self):
        equal(http_request(self.url + "/sim/reset", "POST").status, 200, "POST /sim/reset")

    def solve(self, task=None, error=None):
        """Ends a task now, or all that are in flight; with an error code it fails. Returns how many."""
        query = {name: value for name, value in (("id", task), ("error", error)) if value is not None}
        reply = http_request(self.url + "/sim/solve", "POST", query=query)
        equal(reply.status, 200, f"POST /sim/solve said {reply.text!r}, status")
        return reply.json()["settled"]

    def submit(self, /, **params):
        """A Turnstile submit unless told otherwise; returns the reply."""
        defaults = {"key": KEY, "method": "turnstile", "json": "1"}
        if params.get("method", "turnstile") == "turnstile":
            defaults.update(sitekey="0xSITE", pageurl="https://example.com/")
        params = {**defaults, **params}
        return get(self.url + "/in.php", **{name: value for name, value in params.items() if value is not None})

    def submit_id(self, /, **params):
        reply = self.submit(**params).json()
        equal(reply["status"], 1, f"submit said {reply}, status")
        return str(reply["request"])

    def poll(self, task, **params):
        return get(self.url + "/res.php", **{"key": KEY, "action": "get", "json": "1", "id": task, **params})

    def poll_until_ready(self, task, **params):
        def ready():
            reply = self.poll(task, **params)
            return None if "CAPCHA_NOT_READY" in reply.text else reply

        return wait_until(ready, f"the answer of {task}")


class Gate(Program):
    """`solvegate serve` with this configuration (a dict) on a free port, in a folder of its own.

    The same object may be started again after stop() or kill(): it keeps its folder, so a data_dir of
    "data" in the configuration survives.
    """

    variable = "SOLVEGATE"

    def __init__(self, config, *args, **options):
        super().__init__(*args, **options)
        self.folder = tempfile.TemporaryDirectory()
        self.config = {"listen": ["127.0.0.1:0"], **config}

    def command(self):
        path = os.path.join(self.folder.name, "config.json")
        config = dict(self.config)
        if config.get("data_dir"):
            config["data_dir"] = os.path.join(self.folder.name, config["data_dir"])
        elif "data_dir" in config:
            del config["data_dir"]  # the journal is elsewhere
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        return [binary(self.variable), "serve", "-c", path, *self.args]


class Receiver:
    """An HTTP server in a thread that receives callbacks: .calls, .wait(n), and .answer to misbehave.

    A call is a dict: method, path, params (query and form merged), body, headers, at.
    `answer` may be set to a function(call) returning (status, body), or None to close without a reply.
    """

    def __init__(self, answer=None):
        self.answer = answer or (lambda call: (200, b"OK"))
        self.calls = []
        self.connections = 0
        self._changed = threading.Condition()

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()

    def wait(self, count, timeout=TIMEOUT):
        """The calls once there are at least count of them."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.calls) >= count, timeout):
                raise AssertionError(f"{len(self.calls)} instead of {count} callbacks within {timeout:g} s")
            return list(self.calls)

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection, connection.makefile("rb") as stream:
            try:
                while self._serve_one(connection, stream):
                    pass
            except OSError:
                pass

    def _serve_one(self, connection, stream):
        line = stream.readline().decode("latin-1").split()
        if len(line) != 3:
            return False
        headers = http.client.parse_headers(stream)
        body = stream.read(int(headers.get("Content-Length", 0)))
        target = urllib.parse.urlsplit(line[1])
        params = dict(urllib.parse.parse_qsl(target.query, keep_blank_values=True))
        if "urlencoded" in headers.get("Content-Type", ""):
            params.update(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
        call = {"method": line[0], "path": target.path, "params": params, "body": body,
                "headers": headers, "at": time.monotonic()}
        with self._changed:
            self.calls.append(call)
            self._changed.notify_all()
        answer = self.answer(call)
        if answer is None:
            return False
        status, content = answer
        connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(content)) + content)
        return True


# --- TAP ------------------------------------------------------------------------------------------

_tests = []


def test(function):
    """Marks a function as a test; its name is a sentence."""
    _tests.append(function)
    return function


@atexit.register
def _stop_all():
    for program in list(_running):
        _running.remove(program)
        if program.process.poll() is None:
            program.process.kill()


def allow_files(count):
    """This process plays thousands of clients."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))


def _diagnose(text):
    for line in text.rstrip().splitlines():
        print("# " + line)


def _stop_leftovers():
    problems = []
    for program in list(_running):
        try:
            program.stop()
        except AssertionError as problem:
            problems.append(str(problem))
    return "\n".join(problems)


def _run_one(number, function):
    name = function.__name__.replace("_", " ")
    started = time.monotonic()
    try:
        function()
        problem = ""
    except Skip as reason:
        print(f"ok {number} - {name} # SKIP {reason}", flush=True)
        return True
    except Exception as failure:  # a test may fail in any way
        # The reason first: reports cut long texts at their end.
        problem = f"{type(failure).__name__}: {failure}\n{traceback.format_exc()}"
    stderr = "".join(program.stderr()[-4000:] for program in _running)
    leftovers = _stop_leftovers()
    problem += leftovers
    print(f"{'not ok' if problem else 'ok'} {number} - {name}")
    if problem:
        _diagnose(problem)
        _diagnose(stderr)
    if time.monotonic() - started > 5:
        _diagnose(f"took {time.monotonic() - started:.1f} s")
    sys.stdout.flush()
    return not problem


_beside = []


def _run_apart(number):
    """One of those in _beside, in a process that was forked: the text that it prints and whether it went well."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        went_well = _run_one(number, _beside[number - 1])
    return text.getvalue(), went_well


def _begin_apart():
    """Such a process ends without what was registered for the end, folders to remove for example."""
    multiprocessing.util.Finalize(None, atexit._run_exitfuncs, exitpriority=1)


def _run_beside(tests, processes):
    """For tests that wait more than they work: several at a time, told in their order."""
    _beside.extend(tests)  # before the fork: functions within functions cannot be sent
    results = []
    with concurrent.futures.ProcessPoolExecutor(processes, multiprocessing.get_context("fork"), _begin_apart) as pool:
        for number, future in enumerate([pool.submit(_run_apart, number) for number, _ in enumerate(tests, 1)], 1):
            try:
                text, went_well = future.result()
            except concurrent.futures.process.BrokenProcessPool as problem:
                text, went_well = f"not ok {number} - {tests[number - 1].__name__} # {problem}\n", False
            print(text, end="", flush=True)
            results.append(went_well)
    return results


def run(tests=None, beside=1):
    """Runs the given tests, or all that were marked, so many beside one another, prints TAP and exits."""
    tests = list(_tests if tests is None else tests)
    if "--only" in sys.argv:
        text = sys.argv[sys.argv.index("--only") + 1].replace(" ", "_")
        tests = [function for function in tests if text in function.__name__]
    print(f"1..{len(tests)}", flush=True)
    if beside > 1:
        results = _run_beside(tests, beside)
    else:
        results = [_run_one(number, function) for number, function in enumerate(tests, 1)]
    sys.exit(0 if all(results) else 1)
