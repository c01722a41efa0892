"""A gateway that is killed again and again, the vendor that stays, and what the disk said at each death."""
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))

from gateway import QUICK, free_port, merge  # noqa: E402
from harness import KEY, Gate, Sim, check  # noqa: E402

# Nothing goes stale and nothing times out within a run, so whatever is paid twice is a mistake or has an excuse.
LASTING = {
    "data_dir": "data",
    "cache": {"ttl": {"default": "30m"}},
    "idempotency": {"ttl": "30m"},
    "solve_timeout": "5m",
    "ambiguity_window": "3s",
    "poll": {"first": "100ms", "interval": "150ms", "fallback_after": "2s"},
    "upstream": {"submit_timeout": "3s", "poll_timeout": "3s"},
    "breaker": {"probe": "300ms", "probe_max": "1s"},
}


class Disk:
    """What a killed gateway left: read from a copy, since closing a database tidies it up."""

    def __init__(self, data):
        self.tasks = set()  # the vendor's ids that were known for sure
        self.intents = set()  # names of attempts
        if not os.path.exists(os.path.join(data, "solvegate.db")):
            return
        with tempfile.TemporaryDirectory() as copy:
            for name in os.listdir(data):
                shutil.copy(os.path.join(data, name), copy)
            database = sqlite3.connect(os.path.join(copy, "solvegate.db"))
            try:
                self._read(database)
            finally:
                database.close()

    def _read(self, database):
        problem = database.execute("PRAGMA integrity_check").fetchone()[0]
        check(problem == "ok", f"the database is damaged: {problem}")
        if database.execute("PRAGMA user_version").fetchone()[0] == 0:
            return  # killed while it was made
        for task, name in database.execute("SELECT task, name FROM attempt UNION ALL SELECT task, attempt FROM solution"):
            self.intents.add(name & (2**64 - 1))
            if task:
                self.tasks.add(task)


class TracedGate(Gate):
    """A gateway that may run under strace; the programs meant by kill() are then both of them."""

    prefix = ()

    def command(self):
        return [*self.prefix, *super().command()]

    def pid(self):
        """Of the gateway itself, also under strace; None when it is gone."""
        if not self.prefix:
            return self.process.pid
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as children:
                return next((int(pid) for pid in children.read().split()), None)
        except OSError:
            return None

    def kill(self):
        self.expect_exit = None
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        self.process.wait()  # strace follows the one it watched


class CrashWorld:
    """Simulator and gateway on a port that stays the same, so that callers and vendor find it again."""

    def __init__(self, sim, config=None, callbacks=True):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.sim = Sim(*sim)
        self.config = merge(merge(QUICK, LASTING), config or {})
        self.config["listen"] = [f"127.0.0.1:{self.port}"]
        if callbacks:
            self.config["public_url"] = self.url
        self.deaths = []  # (wall time, Disk)

    def __enter__(self):
        self.sim.start()
        upstream = {"url": self.sim.url, "key": KEY, "slots": 1000}
        self.gate = TracedGate(merge({"upstream": upstream}, self.config))
        self.gate.start()
        return self

    def __exit__(self, kind, *_):
        try:
            self.gate.__exit__(kind)
        finally:
            self.sim.__exit__(kind)

    @property
    def data(self):
        return os.path.join(self.gate.folder.name, "data")

    def kill(self):
        """Sudden death; one that died by itself is a failure."""
        status = self.gate.process.poll()
        check(status is None, f"the gateway had ended by itself with {status}:\n{self.gate.stderr()}")
        self.gate.kill()
        self.gate.stop()
        self.note_death()

    def note_death(self):
        self.deaths.append((time.time(), Disk(self.data)))

    def start(self):
        self.gate.expect_exit = 0
        self.gate.start()

    def kill_while_starting(self, seconds):
        """One that does not even get to its ready line, or has only just got there."""
        process = subprocess.Popen(self.gate.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=self.gate.env)
        try:
            _, errors = process.communicate(timeout=seconds)
            raise AssertionError(f"the gateway ended by itself with {process.returncode}: {errors.decode()}")
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        self.note_death()
