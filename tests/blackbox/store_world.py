"""A gateway with a data_dir and the simulator behind it: killed, started again, and traced where a test needs faults."""
import glob
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile

from gateway import QUICK, World, free_port, merge
from harness import KEY, Gate, Skip, binary, check, wait_until


class TracedGate(Gate):
    """A gateway that may run under another program (strace); kill() means the gateway itself, and both end."""

    prefix = ()

    def command(self):
        return [*self.prefix, *super().command()]

    def pid(self):
        """Of the gateway itself, also behind a prefix; None when it is gone."""
        if not self.prefix:
            return self.process.pid if self.process.poll() is None else None
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as children:
                return next((int(pid) for pid in children.read().split()), None)
        except OSError:
            return None

    def signal_it(self, number):
        pid = self.pid()
        if pid is not None:
            os.kill(pid, number)

    def kill(self):
        self.expect_exit = None
        self.signal_it(signal.SIGKILL)
        self.process.wait()  # strace follows the one it watched


class StoreWorld(World):
    """The port stays the same, so that callers and vendor find the gateway again."""

    def __init__(self, config=None, sim=("--solve-time", "200ms"), env=None, callbacks=False):
        super().__init__(merge({"data_dir": "data"}, config or {}), sim, env)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.config["listen"] = [f"127.0.0.1:{self.port}"]
        if callbacks:
            self.config["public_url"] = self.url

    def __enter__(self):
        self.sim.start()
        upstream = {"url": self.sim.url, "key": KEY, "slots": 1000}
        self.gate = TracedGate(merge({"upstream": upstream}, self.config), env=self.env)
        try:
            self.gate.start()
        except BaseException:
            self.sim.__exit__(AssertionError)
            raise
        return self

    @property
    def data(self):
        return os.path.join(self.gate.folder.name, self.config["data_dir"])

    @property
    def database(self):
        return os.path.join(self.data, "solvegate.db")

    def kill(self):
        """Sudden death; one that died by itself is a failure."""
        status = self.gate.process.poll()
        check(status is None, f"the gateway had ended by itself with {status}:\n{self.gate.stderr()}")
        self.gate.kill()
        self.gate.stop()

    def start(self, *prefix, env=None):
        """Again, perhaps behind another program or with a few variables more, this time only."""
        self.gate.expect_exit = 0
        self.gate.prefix = prefix
        # A sanitizer cannot look for leaks while somebody else traces the process.
        sanitizer = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"} if prefix else {}
        self.gate.env = {**os.environ, **sanitizer, **(env or {})}
        self.gate.start()

    def restart(self, *prefix, env=None):
        self.kill()
        self.start(*prefix, env=env)

    def rows(self, sql):
        """What the database answers, also while the gateway writes to it."""
        database = sqlite3.connect(self.database)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def await_journaled_task(self, count=1):
        """Waits until the replies of that many submits are on disk, too."""
        wait_until(lambda: self.rows("SELECT count(*) FROM attempt WHERE task != ''")[0][0] >= count, "the task ids on disk")

    def await_exit(self, timeout=30):
        """The exit code of a gateway that ends by itself."""
        self.gate.expect_exit = None
        code = self.gate.process.wait(timeout)
        self.gate.stop()
        return code

    def fail_to_start(self, config=None, timeout=30):
        """Exit code and words of a gateway that is not to start; its configuration may differ."""
        path = os.path.join(self.gate.folder.name, "other.json")
        merged = merge({**self.gate.config, "listen": ["127.0.0.1:0"]}, config or {})
        if merged["data_dir"]:
            merged["data_dir"] = os.path.join(self.gate.folder.name, merged["data_dir"])
        else:
            del merged["data_dir"]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(merged, file)
        done = subprocess.run([binary("SOLVEGATE"), "serve", "-c", path], capture_output=True, text=True,
                              timeout=timeout, check=False)
        return done.returncode, done.stderr


def need_strace():
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    tried = subprocess.run(["strace", "-f", "-o", "/dev/null", "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        raise Skip(f"strace does not work here: {tried.stderr.strip()}")


def traced_gate(trace, config):
    """A gateway whose opening of files is noted in this one."""
    need_strace()
    gate = TracedGate(merge(QUICK, config))
    gate.prefix = ("strace", "-f", "-o", trace.name, "-e", "trace=openat")
    gate.env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    return gate


def openings(trace, path):
    """How often this file was opened."""
    with open(trace.name, encoding="utf-8", errors="replace") as file:
        return file.read().count(f'"{path}"')


def injecting(call, what):
    """The prefix for a gateway whose system calls of that name meet with a fault."""
    return ("strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{what}")


def is_sanitized():
    with open(binary("SOLVEGATE"), "rb") as program:
        return b"__asan_init" in program.read()


class WallClock:
    """libfaketime for the wall clock alone, read from a file anew each time; .jump(seconds) moves it."""

    def __init__(self):
        libraries = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        if not libraries:
            raise Skip("libfaketime is not installed")
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "faketime")
        self.jump(0)
        self.env = {
            "LD_PRELOAD": libraries[0],
            "FAKETIME_TIMESTAMP_FILE": self.file,
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # The library comes before the sanitizer's, which that does not like.
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0",
        }
        # As the systemd unit does where /proc does not tell.
        if not os.path.exists("/proc/sys/kernel/random/boot_id"):
            self.env["SOLVEGATE_BOOT_ID"] = "this one"

    def jump(self, seconds):
        """So far from the true time. All at once: the library reads it at any moment and ends with half a number."""
        with open(self.file + ".new", "w", encoding="ascii") as file:
            file.write(f"{seconds:+d}")
        os.replace(self.file + ".new", self.file)


class Suspend:
    """A machine that sleeps: .sleep(seconds) lets so much time pass for all clocks but CLOCK_MONOTONIC, at once."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "suspended")
        self.sleep(0)
        self.env = {
            "LD_PRELOAD": binary("SUSPEND_LIBRARY"),
            "SUSPENDED_FILE": self.file,
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0",
        }

    def sleep(self, seconds, after=0):
        """After so many readings of a clock that notices it."""
        with open(self.file + ".new", "w", encoding="ascii") as file:
            file.write(f"{seconds} {after}")
        os.replace(self.file + ".new", self.file)


# The tables of schema version 2, by their columns.
SECOND_VERSION = {
    "secret": "name bytes made", "day": "day counters", "tally": "day client type counters", "spent": "client day spent",
    "solution": "id flight attempt key client type born expires solve_ms handed attempts kept shared task text extra",
    "flight": "id key client type reuse priority one_time over class code created params",
    "attempt": "name flight key client type reuse one_time counted closed solved started task cause_class cause",
    "request": "id client flight solution state source class code attempts expires pingback",
    "idempotency": "digest fingerprint flight solution expires",
    "letter": "number key client type class reuse priority one_time created told replays error notes params kind request "
              "pingback text task",
    "clock": "id boot even wall",
}


def make_second_version(path):
    """Takes a database back to schema version 2: what came later goes, and keys are others."""
    database = sqlite3.connect(path)
    for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if name not in SECOND_VERSION:
            database.execute(f"DROP TABLE {name}")
            continue
        known = SECOND_VERSION[name].split()
        for column in [row[1] for row in database.execute(f"PRAGMA table_info({name})").fetchall()]:
            if column not in known:
                database.execute(f"ALTER TABLE {name} DROP COLUMN {column}")
    for name in ("solution", "flight", "attempt", "letter"):
        database.execute(f"UPDATE {name} SET key = randomblob(32)")
    database.execute("UPDATE idempotency SET digest = randomblob(32)")
    database.execute("PRAGMA user_version = 2")
    database.commit()
    database.close()
