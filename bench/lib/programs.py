"""Programs under measurement: started on a processor of their own, watched, stopped."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

SERVER_CPU = 0
LOAD_CPU = 1
VENDOR_KEY = "0123456789abcdef0123456789abcdef"
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
PEERS = pathlib.Path(__file__).resolve().parents[1] / "peers"

os.environ["PATH"] += ":/usr/sbin"  # where Debian keeps nginx, HAProxy and Varnish


def pinned(cpu, command):
    return (["taskset", "-c", str(cpu)] if os.cpu_count() > 1 else []) + [str(word) for word in command]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            sys.exit(f"{program} is not installed: ./dev setup bench")


def raise_file_limit(wanted):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < wanted:
        sys.exit(f"needs {wanted} open files, this shell allows {hard} (ulimit -Hn)")
    # Without a bound some programs close a billion descriptors one by one when they start.
    most = wanted if hard == resource.RLIM_INFINITY else min(hard, max(wanted, 65536))
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def parents():
    """Of every process there is: pid to parent's pid."""
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(stat.parent.name)] = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:  # gone meanwhile
            continue
    return found


def family(pid):
    """The process and all that it started."""
    found, tree = [pid], parents()
    for member in found:
        found += [child for child, parent in tree.items() if parent == member]
    return found


def threads_of(pids):
    """The ids of all threads of these processes and of what they started."""
    return [int(task.name) for pid in pids for member in family(pid) for task in pathlib.Path("/proc").glob(f"{member}/task/*")]


def threads_ns(threads):
    """CPU time of these threads, exactly."""
    return sum(int((read_proc(thread, "schedstat") or "0").split()[0]) for thread in threads)


@contextlib.contextmanager
def ahead_of_others(pids):
    """As on a machine that nobody else uses: these processes and their children, and what is started meanwhile, do not wait
    for a processor that others have. Yields False where that is not allowed."""
    mine = [os.getpid(), *threads_of(pids)]
    try:
        schedule(mine, os.SCHED_RR, 1)
    except PermissionError:
        yield False
        return
    try:
        yield True
    finally:
        schedule(mine, os.SCHED_OTHER, 0)


def schedule(threads, policy, priority):
    for thread in threads:
        with contextlib.suppress(ProcessLookupError):
            os.sched_setscheduler(thread, policy, os.sched_param(priority))


class Server:
    """A process on cpu 0, its children included: address, CPU time, memory."""

    # Threads that come and go take their exact times with them; ticks of 10 ms are then what is left.
    has_passing_threads = False

    def __init__(self, command, port=None, cpu=SERVER_CPU, **options):
        self.process = subprocess.Popen(pinned(cpu, command), text=True, **options)
        self.port = port

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def wait_for_port(self, seconds=10):
        deadline = time.monotonic() + seconds
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise SystemExit(f"{self.process.args} did not start")
                time.sleep(0.02)

    def read_ready_line(self):
        """Our own programs say where they listen."""
        ready = self.process.stdout.readline()
        found = re.search(r"ready on http://127\.0\.0\.1:(\d+)", ready)
        if not found:
            raise SystemExit(f"{self.process.args} did not start: {ready!r}")
        self.port = int(found.group(1))

    def cpu_seconds(self):
        """In user space and in the kernel, of all its threads that ever were."""
        stats = [read_proc(pid, "stat").rpartition(")")[2].split() for pid in family(self.process.pid)]
        return tuple(sum(int(stat[field]) for stat in stats if stat) * TICK_NS / 1e9 for field in (11, 12))

    def cpu_ns(self):
        """The same together, exactly."""
        if self.has_passing_threads:
            return int(sum(self.cpu_seconds()) * 1e9)
        return threads_ns(threads_of([self.process.pid]))

    def rss_bytes(self):
        return sum(int(found.group(1)) * 1024 for pid in family(self.process.pid)
                   for found in [re.search(r"VmRSS:\s+(\d+) kB", read_proc(pid, "status"))] if found)

    def call(self, method, target, body=None, key=None):
        """Status and text of one call."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Authorization": "Bearer " + key} if key else {}
        if body:
            headers["Content-Type"] = "application/json" if body[0] == "{" else "application/x-www-form-urlencoded"
        connection.request(method, target, body, headers)
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, text

    def stop(self):
        members = family(self.process.pid)
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        # Some let their workers finish first, however long that takes.
        for pid in members if self.process.poll() is None else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


def read_proc(pid, name):
    """Nothing of a process that has just ended, as some helpers of nginx do."""
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_text()
    except OSError:
        return ""


class Sim(Server):
    """The vendor's stand-in."""

    def __init__(self, build, *options, cpu=LOAD_CPU):
        super().__init__([build / "src" / "sim" / "solvegate-sim", "--listen", "127.0.0.1:0", *options], cpu=cpu,
                         stdout=subprocess.PIPE)
        self.read_ready_line()

    def totals(self):
        with urllib.request.urlopen(self.url + "/sim/ledger?summary=1", timeout=30) as reply:
            return json.load(reply)["totals"]


class Gateway(Server):
    """solvegate as released, with this configuration."""

    def __init__(self, build, folder, config, cpu=SERVER_CPU):
        path = pathlib.Path(folder) / f"solvegate-{id(self)}.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        super().__init__([build / "src" / "solvegate", "serve", "-c", path], cpu=cpu, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
        self.read_ready_line()

    def longest_turn_ms(self):
        """The bound that no turn of its loop exceeded."""
        found = re.findall(r'^solvegate_loop_lag_seconds_bucket{le="([^"]+)"} (\d+)$', self.call("GET", "/metrics")[1], re.M)
        return next(float(bound) * 1000 for bound, count in found if count == found[-1][1])
