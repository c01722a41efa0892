"""The databases that a gateway can keep its journal in, started by the tests in folders of their own and ended by their ids."""
import functools
import glob
import json
import os
import pwd
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.parse

from gateway import free_port
from harness import TIMEOUT, Skip, binary, check, get, test, wait_until
from store_world import StoreWorld

# One gateway that has its store for itself. Without this those on a server share it: test_cluster*.py.
ALONE = {"cluster": {"enabled": False}}

EX_CANTCREAT = 73
EX_IOERR = 74

# Passwords with everything that a URL has to quote.
PASSWORD = "canary/STORE:p@ss?word#7f3a"


def quoted(text):
    return urllib.parse.quote(text, safe="")


def listen(texts):
    """The password in plain words, as a URL writes it, and its middle, which both have."""
    for where, text in texts:
        for secret in (PASSWORD, quoted(PASSWORD), "canary/", "canary%2F"):
            check(secret not in text, f"the password sings in {where}: {text[max(0, text.find(secret) - 100):][:300]}")


def need_driver(url):
    """Skips a test whose store this build does not have."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"upstream": {"key": "x"}, "store": url}, file)
        file.flush()
        done = subprocess.run([binary("SOLVEGATE"), "check", "-c", file.name], capture_output=True, text=True, check=False)
    if "this build has no store" in done.stderr:
        raise Skip(done.stderr.strip())


def find_program(name, *places):
    """A program of the system, also where Debian hides those of PostgreSQL."""
    found = shutil.which(name) or next(iter(sorted((path for place in places for path in glob.glob(os.path.join(place, name))), reverse=True)), None)
    if not found:
        raise Skip(f"{name} is not installed")
    return found


def world_on(store, config=None, **options):
    """A gateway alone whose journal is in this store."""
    return StoreWorld({"store": store.url, "data_dir": None, **ALONE, **(config or {})}, **options)


def metric(world, name):
    return float(re.search(rf"^solvegate_{name} (\S+)$", get(world.url + "/metrics").text, re.M)[1])


class Store:
    """One database; `away` and `back` are what happens to its server."""

    kind = ""  # as the gateway calls it
    title = None  # as the names of tests do, if that differs

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="solvegate-store-")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()

    def start(self):
        raise NotImplementedError

    def stop(self):
        raise NotImplementedError


class SqliteStore(Store):
    """No server: somebody else's lock stands in for one that is away."""

    kind = "SQLite"
    _locker = None

    @property
    def path(self):
        return os.path.join(self.folder.name, "data")

    @property
    def url(self):
        return "sqlite:" + self.path

    def start(self):
        pass

    def stop(self):
        if self._locker:
            self.back()

    def away(self):
        self._locker = sqlite3.connect(os.path.join(self.path, "solvegate.db"), isolation_level=None)
        self._locker.execute("BEGIN IMMEDIATE")

    def back(self):
        self._locker.execute("ROLLBACK")
        self._locker.close()
        self._locker = None


class Server(Store):
    """A process of our own on a free port of the loopback."""

    process = None
    is_relaxed = False  # its settings may lose what it acknowledged

    def __init__(self):
        super().__init__()
        self.port = free_port()

    def command(self):
        raise NotImplementedError

    def is_there(self):
        """True once it answers."""
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def start(self):
        self.log = open(os.path.join(self.folder.name, "log"), "ab")
        self.process = subprocess.Popen(self.command(), stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, **self.options())
        wait_until(self.is_there, f"{self.kind} at port {self.port}")

    def options(self):
        return {}

    def end(self, number):
        if self.process is None:
            return
        self.thaw()
        self.process.send_signal(number)
        try:
            self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
        self.log.close()

    def stop(self):
        self.end(signal.SIGTERM)

    def away(self):
        """Sudden death."""
        self.end(signal.SIGKILL)

    def back(self):
        self.start()

    def family(self):
        """The server and its children."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as children:
            return [self.process.pid, *map(int, children.read().split())]

    def freeze(self):
        """It takes connections and bytes, since its kernel does, and says nothing."""
        for pid in self.family():
            os.kill(pid, signal.SIGSTOP)

    def thaw(self):
        if self.process.poll() is None:
            for pid in self.family():
                os.kill(pid, signal.SIGCONT)


class RedisStore(Server):
    """A Redis that writes every command to disk before it answers."""

    kind = "Redis"
    program = "redis-server"
    scheme = "redis"
    settings = ""  # lines of redis.conf

    @property
    def url(self):
        return f"{self.scheme}://:{quoted(PASSWORD)}@127.0.0.1:{self.port}/0"

    def command(self):
        path = os.path.join(self.folder.name, "redis.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'bind 127.0.0.1\nport {self.port}\ndir {self.folder.name}\nappendonly yes\nappendfsync {"everysec" if self.is_relaxed else "always"}\n'
                       f'maxmemory-policy noeviction\nsave ""\nrequirepass "{PASSWORD}"\ndaemonize no\n{self.settings}')
        return [find_program(self.program), path]

    def is_there(self):
        try:
            return self.ask("PING") == b"+PONG"
        except OSError:
            return False

    def empty(self):
        self.ask("FLUSHALL")

    def ask(self, *words):
        """The first line of the reply to a command."""
        with socket.create_connection(("127.0.0.1", self.port), TIMEOUT) as connection, connection.makefile("rwb") as stream:
            for command in (("AUTH", PASSWORD), words):
                stream.write(b"*%d\r\n" % len(command) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in map(str.encode, command)))
            stream.flush()
            stream.readline()
            return stream.readline().strip()


class ValkeyStore(RedisStore):
    """The same by others; Debian has it from 13 on."""

    title = "Valkey"
    program = "valkey-server"
    scheme = "valkey"


class PostgresStore(Server):
    """A cluster of PostgreSQL with a role and a database for the gateway; the server refuses root, so it runs as nobody."""

    kind = "PostgreSQL"
    settings = ()  # more options of the server
    _template = None

    @property
    def url(self):
        return f"postgresql://gate:{quoted(PASSWORD)}@127.0.0.1:{self.port}/gate"

    @property
    def data(self):
        return os.path.join(self.folder.name, "cluster")

    def program(self, name):
        return find_program(name, "/usr/lib/postgresql/*/bin")

    def options(self):
        if os.geteuid() != 0:
            return {}
        nobody = pwd.getpwnam("nobody")
        return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": [], "cwd": "/"}

    @functools.cached_property
    def _nobody(self):
        return pwd.getpwnam("nobody")

    def own(self, path):
        """Gives it to whom the server runs as."""
        if os.geteuid() == 0:
            os.chown(path, self._nobody.pw_uid, self._nobody.pw_gid)

    def make(self):
        """The cluster and its role: made once by each program, then copied, which takes a tenth of the time."""
        self.own(self.folder.name)
        if not PostgresStore._template:
            PostgresStore._template = tempfile.TemporaryDirectory(prefix="solvegate-cluster-")
            self.own(PostgresStore._template.name)
            password = os.path.join(PostgresStore._template.name, "password")
            with open(password, "w", encoding="utf-8") as file:
                file.write(PASSWORD)
            self.own(password)
            subprocess.run([self.program("initdb"), "-D", self._made(), "-U", "gate", "-A", "scram-sha-256", "--pwfile", password, "-E", "UTF8",
                            "--locale=C", "--no-sync"], check=True, capture_output=True, **self.options())
        subprocess.run(["cp", "-a", self._made(), self.data], check=True)

    @staticmethod
    def _made():
        return os.path.join(PostgresStore._template.name, "cluster")

    def command(self):
        if not os.path.isdir(self.data):
            self.make()
        return [self.program("postgres"), "-D", self.data, "-p", str(self.port), "-k", self.folder.name, "-c", "listen_addresses=127.0.0.1",
                "-c", "shared_buffers=16MB", "-c", "max_connections=20", "-c", f"synchronous_commit={'off' if self.is_relaxed else 'on'}", *self.settings]

    def start(self):
        wait_until(self.try_to_start, "PostgreSQL to start")
        if self.sql("SELECT 1 FROM pg_database WHERE datname = 'gate'", "postgres") == "":
            self.sql("CREATE DATABASE gate", "postgres")

    def try_to_start(self):
        """False while children of a server that was killed still hold its memory."""
        try:
            super().start()
            return True
        except AssertionError as error:
            if "pre-existing shared memory block" not in str(error):
                raise
            self.log.close()
            time.sleep(0.2)
            return False

    def is_there(self):
        if self.process is not None and self.process.poll() is not None:
            raise AssertionError(f"PostgreSQL ended: {open(self.log.name, encoding='utf-8').read()[-500:]}")
        ready = subprocess.run([self.program("pg_isready"), "-h", "127.0.0.1", "-p", str(self.port)], capture_output=True, check=False)
        return ready.returncode == 0

    def psql(self, text, database="gate"):
        """The command that has it done, in psql_env()."""
        return [self.program("psql"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "gate", "-d", database, "-AtXq", "-v", "ON_ERROR_STOP=1",
                "-c", text]

    @staticmethod
    def psql_env():
        return {**os.environ, "PGPASSWORD": PASSWORD}

    def sql(self, text, database="gate"):
        """What psql prints for it, without headings."""
        done = subprocess.run(self.psql(text, database), capture_output=True, text=True, check=False, env=self.psql_env())
        if done.returncode != 0:
            raise AssertionError(f"psql said {done.stderr}")
        return done.stdout.strip()

    def empty(self):
        """Drops the tables under the gateway; somebody makes them again."""
        self.sql("DROP SCHEMA solvegate CASCADE")

    def stop(self):
        self.end(signal.SIGINT)


KINDS = {"sqlite": SqliteStore, "redis": RedisStore, "valkey": ValkeyStore, "postgres": PostgresStore}


def on_each_store(function):
    """A test for every kind of store; the function gets one that runs."""
    for kind in KINDS.values():
        @functools.wraps(function)
        def one(kind=kind):
            store = kind()
            need_driver(store.url)
            with store:
                function(store)

        one.__name__ = f"{kind.title or kind.kind}_{function.__name__}"
        test(one)
    return function
