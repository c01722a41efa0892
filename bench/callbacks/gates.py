"""Gateways with callbacks on, flights that only we call back, and the calls themselves."""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request

from programs import LOAD_CPU, VENDOR_KEY, Server, Sim, free_port, pinned
from wrk import children_seconds, idle_seconds

BATCH = 200
BOOKS = {"day", "tally"}
TOKEN_FILL = "x" * 500  # as load.c pads it


def token_of(task):
    return f"TOKEN_{task}_{TOKEN_FILL}"


class Gate(Server):
    """The gateway beside a vendor that never calls back by itself; it may be killed and started again."""

    def __init__(self, build, folder, is_durable, log_level="error"):
        self.build, self.folder = build, pathlib.Path(folder)
        self.folder.mkdir()
        self.sim = Sim(build, "--solve-time", "24h", "--ledger-max", "1000000")
        port = free_port()
        config = {
            "listen": [f"127.0.0.1:{port}"],
            "public_url": f"http://127.0.0.1:{port}",
            "upstream": {"url": self.sim.url, "key": VENDOR_KEY, "slots": 100_000},
            "poll": {"fallback_after": "1h"},
            "solve_timeout": "1h",
            "limits": {"requests": 400_000, "flights": 200_000},
            "cache": {"solutions": 400_000, "bytes": "1GiB"},
            "log": {"level": log_level},
            "drain_timeout": "0s",
        }
        if is_durable:
            config["data_dir"] = str(self.folder / "data")
            (self.folder / "data").mkdir()
        self.config = self.folder / "solvegate.json"
        self.config.write_text(json.dumps(config), encoding="utf-8")
        self.log = self.folder / "log"
        self.seen, self.last_task = 0, 0  # of the vendor's ledger
        try:
            self.start()
        except BaseException:
            self.sim.stop()
            raise

    def start(self):
        with self.log.open("ab") as log:
            super().__init__([self.build / "src" / "solvegate", "serve", "-c", self.config], stdout=subprocess.PIPE, stderr=log)
        self.read_ready_line()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        super().stop()
        self.sim.stop()

    def pipelined(self, requests):
        """The bodies of the replies, in order."""
        bodies = []
        with socket.create_connection(("127.0.0.1", self.port), 60) as connection:
            for first in range(0, len(requests), BATCH):
                batch = requests[first:first + BATCH]
                connection.sendall("".join(batch).encode())
                bodies += read_bodies(connection, len(batch))
        return bodies

    def open_flights(self, name, count):
        """Flights that wait for their callback: the vendor's task to (path of its callback, our request)."""
        bodies = [f"key={VENDOR_KEY}&method=turnstile&sitekey={name}.{number}&pageurl=https://example.com/" for number in range(count)]
        replies = self.pipelined([f"POST /in.php HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}"
                                  for body in bodies])
        if not all(reply.startswith("OK|") for reply in replies):
            sys.exit(f"in.php said {next(reply for reply in replies if not reply.startswith('OK|'))!r}")
        wait_until(lambda: self.sim.totals()["accepted"] >= self.seen + count, "the submits")
        submits = self.ledger(count)
        self.seen += count
        return {submit["id"]: (submit["pingback"].partition(f":{self.port}")[2],
                               replies[int(submit["params"]["sitekey"].rpartition(".")[2])][3:]) for submit in submits}

    def ledger(self, count):
        """The next so many entries."""
        with urllib.request.urlopen(f"{self.sim.url}/sim/ledger?after={self.last_task}&limit={count}", timeout=60) as reply:
            submits = json.load(reply)["submits"]
        if len(submits) != count:
            sys.exit(f"the vendor's ledger shows {len(submits)} submits of {count}")
        self.last_task = submits[-1]["id"]
        return submits

    def count_solved(self, flights, tasks):
        """How many of these tasks' requests are answered with their very solution."""
        tasks = list(tasks)
        replies = self.pipelined([f"GET /res.php?key={VENDOR_KEY}&action=get&id={flights[task][1]} HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                  for task in tasks])
        return sum(reply == "OK|" + token_of(task) for task, reply in zip(tasks, replies))

    def counters(self):
        return json.loads(self.call("GET", "/v1/stats")[1])["total"]

    def rows(self):
        """How many there are of everything in the database, but for the books, which are written as time passes."""
        path, = (self.folder / "data").glob("*.db")
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            names = {name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")} - BOOKS
            return {name: database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in sorted(names)}


def read_bodies(connection, count):
    """So many replies, which all say how long they are."""
    data, bodies = b"", []
    while len(bodies) < count:
        more = connection.recv(1 << 18)
        if not more:
            sys.exit("the gateway closed the connection")
        data += more
        at = 0
        while len(bodies) < count:
            end = data.find(b"\r\n\r\n", at)
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", data[at:end]) if end >= 0 else None
            if length is None or len(data) < end + 4 + int(length.group(1)):
                break
            at = end + 4 + int(length.group(1))
            bodies.append(data[end + 4:at].decode())
        data = data[at:]
    return bodies


def wait_until(is_so, what, seconds=120):
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            sys.exit(f"waited too long for {what}")
        time.sleep(0.05)


class Load:
    """callbacks-load on the other cpu."""

    def __init__(self, gate, connections, *words):
        command = [gate.build / "bench" / "callbacks" / "callbacks-load", gate.port, connections, *words]
        self.process = subprocess.Popen(pinned(LOAD_CPU, command), stdout=subprocess.PIPE, text=True)

    def wait(self):
        out, _ = self.process.communicate()
        if self.process.returncode:
            sys.exit("callbacks-load failed, see above")
        return json.loads(out)


def fire(gate, connections, *words):
    """All of them, with what they cost the gateway and how much others disturbed."""
    cpu, idle, load, started = gate.cpu_ns(), idle_seconds(), children_seconds(), time.monotonic()
    done = Load(gate, connections, *words).wait()
    if done["bad"] or done["good"] != done["sent"]:
        sys.exit(f"{done['sent']} calls, of which {done['good']} were answered as they should: {done['first_bad']}")
    cpu, wall = gate.cpu_ns() - cpu, time.monotonic() - started
    ours = idle_seconds() - idle + children_seconds() - load + cpu / 1e9
    return {"rate": done["good"] / done["seconds"], "p99_ms": done["p99_us"] / 1000, "cpu_us": cpu / done["good"] / 1000,
            "others": max(0, 1 - ours / (min(os.cpu_count(), 2) * wall))}


def callback_words(gate, flights):
    """For callbacks-load: the vendor calls back for these. The last word is the file that will name who was acknowledged."""
    targets = gate.folder / "targets"
    targets.write_text("".join(f"{path} {task}\n" for task, (path, _) in flights.items()), encoding="utf-8")
    return "callbacks", targets, gate.folder / "acked"
