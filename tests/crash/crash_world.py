"""A gateway that is killed again and again, the vendor that stays, and what the disk said at each death."""
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))

from gateway import merge  # noqa: E402
from harness import check  # noqa: E402
from store_world import StoreWorld  # noqa: E402

# Nothing goes stale and nothing times out within a run, so whatever is paid twice is a mistake or has an excuse.
LASTING = {
    "cache": {"ttl": {"turnstile": "30m", "default": "30m"}},
    "idempotency": {"ttl": "30m"},
    "solve_timeout": "5m",
    "ambiguity_window": "6s",
    "poll": {"first": "100ms", "interval": "150ms", "fallback_after": "2s"},
    "upstream": {"submit_timeout": "20s", "poll_timeout": "20s"},
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


class Watch(threading.Thread):
    """Notes when somebody listens on the port; the kernel's table is read, so that nobody is called for it."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.wanted = f":{port:04X} 00000000:0000 0A "  # LISTEN
        self.since = time.time()
        self.bound = None
        self.start()

    def run(self):
        while self.bound is None and time.time() < self.since + 60:
            with open("/proc/net/tcp", encoding="ascii") as table:
                if self.wanted in table.read():
                    self.bound = time.time()
            time.sleep(0.001)


class CrashWorld(StoreWorld):
    """Remembers what each death left on disk, and when the next gateway listened and was ready."""

    def __init__(self, sim, config=None, callbacks=True):
        super().__init__(merge(LASTING, config or {}), sim, callbacks=callbacks)
        self.deaths = []  # (wall time, Disk)
        self.starts = []  # (wall times of: beginning, listening, ready)

    def start(self, *prefix, env=None):
        watch = Watch(self.port)
        super().start(*prefix, env=env)
        ready = time.time()
        watch.join()
        self.starts.append((watch.since, watch.bound, ready))

    def kill(self):
        super().kill()
        self.note_death()

    def note_death(self):
        self.deaths.append((time.time(), Disk(self.data)))

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
