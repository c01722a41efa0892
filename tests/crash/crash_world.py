"""A gateway that is killed again and again, the vendor that stays, and what the disk said at each death."""
import math
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

from gateway import merge  # noqa: E402
from harness import binary, check, get, wait_until  # noqa: E402
from store_world import StoreWorld  # noqa: E402
from stores import ALONE  # noqa: E402

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
    """What a killed gateway left: read from a copy, since closing a database tidies it up.

    The copy is made at once and read later, so that the next gateway starts as soon as a service manager's would."""

    def __init__(self, data):
        self.tasks = set()  # the vendor's ids that were known for sure
        self.intents = set()  # names of attempts
        self._copy = None
        if not os.path.exists(os.path.join(data, "solvegate.db")):
            return
        self._copy = tempfile.TemporaryDirectory()
        for name in os.listdir(data):
            shutil.copy(os.path.join(data, name), self._copy.name)

    def read(self):
        if self._copy is None:
            return
        with self._copy as copy:
            database = sqlite3.connect(os.path.join(copy, "solvegate.db"))
            try:
                self._read(database)
            finally:
                database.close()
        self._copy = None

    def _read(self, database):
        problem = database.execute("PRAGMA integrity_check").fetchone()[0]
        check(problem == "ok", f"the database is damaged: {problem}")
        if database.execute("PRAGMA user_version").fetchone()[0] == 0:
            return  # killed while it was made
        for task, name in database.execute("SELECT task, name FROM attempt UNION ALL SELECT task, attempt FROM solution"):
            self.intents.add(name & (2**64 - 1))
            if task:
                self.tasks.add(task)


class Left(Disk):
    """What a killed gateway left in a server, taken out by the program itself."""

    def __init__(self, url):
        super().__init__("")
        copy = tempfile.TemporaryDirectory()
        done = subprocess.run([binary("SOLVEGATE"), "store", "copy", url, "sqlite:" + copy.name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            self._copy = copy
            return
        copy.cleanup()
        # One that was killed at its very first start has not made its secrets yet.
        check("no journal" in done.stderr, f"the journal cannot be copied: {done.stderr}")


class Watch:
    """When somebody listened on the port."""

    def __init__(self, port):
        self._out = tempfile.TemporaryFile("w+", encoding="ascii")
        program = pathlib.Path(__file__).with_name("watch_port.py")
        self._process = subprocess.Popen([sys.executable, program, str(port)], stdin=subprocess.DEVNULL, stdout=self._out)

    def close(self):
        self._process.kill()
        self._process.wait()
        self._out.close()

    def spans(self):
        """(from, to) of each; the last may go on."""
        self._out.seek(0)
        times = [float(line.split()[0]) for line in self._out] + [math.inf]
        return list(zip(times[::2], times[1::2]))


class CrashWorld(StoreWorld):
    """Remembers what each death left on disk, and when the next gateway listened and was ready."""

    def __init__(self, sim, config=None, callbacks=True, store=None):
        super().__init__(merge(LASTING, config or {}), sim, callbacks=callbacks)
        self.store = store  # a server, or None: the journal is in a directory
        if store is not None:
            self.config.update(data_dir=None, store=store.url, **ALONE)
        self.outages = []  # (from, to): the wall times when the server was dead
        self.deaths = []  # (wall time, Disk)
        self.starts = []  # (wall times of: beginning, ready)
        self.watch = None

    def __enter__(self):
        self.watch = Watch(self.port)
        try:
            return super().__enter__()
        except BaseException:
            self.watch.close()
            raise

    def __exit__(self, *error):
        try:
            super().__exit__(*error)
        finally:
            self.watch.close()

    def start(self, *prefix, env=None):
        since = time.time()
        try:
            super().start(*prefix, env=env)
            self.starts.append((since, time.time()))
        finally:
            self.read_disks()

    def read_disks(self):
        for _, disk in self.deaths:
            disk.read()

    def kill(self):
        super().kill()
        self.note_death()

    def note_death(self):
        self.deaths.append((time.time(), Left(self.store.url) if self.store else Disk(self.data)))

    def kill_server(self, seconds):
        """Sudden death of the store, for so long; the gateway lives on."""
        since = time.time()
        self.store.away()
        time.sleep(seconds)
        self.store.back()
        wait_until(lambda: get(self.url + "/readyz").text == "ready\n", "the store to be found again")
        self.outages.append((since, time.time()))

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
