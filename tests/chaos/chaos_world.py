"""A gateway under attack, with the simulator behind it, a probe that must not notice, and an eye on its memory."""
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "blackbox"))

from gateway import PAGE, World, merge  # noqa: E402
import harness  # noqa: E402
from harness import KEY, Gate, allow_files, check, get, wait_until  # noqa: E402

# How long each attack lasts; a soak sets more.
SECONDS = float(os.environ.get("CHAOS_SECONDS", "3"))
# How late a busy machine may be with a deadline; who forgets one is later than that.
SLACK = 20
MIB = 1024
BASELINE_SECONDS = 0.6
# What 99 of 100 requests of the probe must not exceed, on a machine that is there for the gateway alone. A gateway
# with sanitizers is some times slower at everything.
P99_MS = 50
P99_SANITIZED_MS = 250
# Attacks in which the probe was slow are repeated: a machine has bad seconds, a bad gateway is slow every time.
TRIES = 3
STRETCH_MOST = 5
# Nothing that the probe asks for goes stale, and its connections may be idle while the machine is busy.
LASTING = {
    "cache": {"ttl": {"default": "7d"}},
    "limits": {"header_timeout": "1s", "body_timeout": "1s", "write_timeout": "1s", "idle_timeout": "10m"},
    "log": {"level": "error"},
}


class TooSlow(AssertionError):
    """The probe had to wait."""


def test(function):
    """As the harness's, but an attack in which the probe was too slow gets another chance."""
    @functools.wraps(function)
    def patiently():
        for _ in range(TRIES - 1):
            try:
                return function()
            except TooSlow as slow:
                print(f"# once more, because {slow}")
        return function()
    return harness.test(patiently)


def is_sanitized():
    with open(os.environ["SOLVEGATE"], "rb") as file:
        return b"__asan_init" in file.read()


def sanitizer_options():
    """Freed memory is kept a while by a sanitizer: little of it, so that growth can be seen."""
    return {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=4"}


class Memory:
    """The most memory that the gateway had since the start of the watch, looked at 20 times a second."""

    def __init__(self, gate):
        self.gate = gate
        self.before = self.most = gate.rss_kib()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        while not self._is_over.wait(0.05):
            try:
                self.most = max(self.most, self.gate.rss_kib())
            except (OSError, AttributeError):  # it died, which the test learns in its own way
                return

    def grown(self):
        """KiB at the worst moment."""
        self._is_over.set()
        self._thread.join()
        return self.most - self.before


class Probe:
    """probe.py beside the gateway. `attack()` starts the count that matters."""

    def __init__(self, world):
        command = [sys.executable, str(HERE / "probe.py"), str(world.port), "probe", PAGE, KEY, world.solution]
        if world.pending:
            command.append(world.pending)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        check(self.process.stdout.readline() == "ready\n", "the probe did not start")

    def mark(self):
        self.process.stdin.write("next\n")
        self.process.stdin.flush()

    def finish(self):
        text, _ = self.process.communicate(timeout=120)
        return [json.loads(line) for line in text.splitlines()]

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


class ChaosGate(Gate):
    """With a limit of descriptors if asked for."""

    files = None

    def command(self):
        wrapper = [] if self.files is None else ["prlimit", f"--nofile={self.files}"]
        return wrapper + super().command()


class ChaosWorld(World):
    """A gateway that knows the probe's solution. `with world.attack(cap_mib):` runs an attack under watch."""

    pending = None  # an id that never gets ready, if the probe shall poll that

    def __init__(self, config=None, sim=("--solve-time", "50ms"), files=None):
        super().__init__(merge(LASTING, config or {}), sim, env=sanitizer_options())
        self.files = files

    def make_gate(self, config):
        gate = ChaosGate(config, env=self.env)
        gate.files = self.files
        return gate

    def __enter__(self):
        super().__enter__()
        self.solution = self.solved(sitekey="probe", wait=30)["solution"]
        return self

    def attack(self, cap_mib):
        return Attack(self, cap_mib)

    def metric(self, name):
        found = re.search(rf"^solvegate_{name} (\d+)$", get(self.url + "/metrics").text, re.M)
        check(found, f"metric {name}")
        return int(found.group(1))

    def cpu_shares(self):
        """Seconds that the gateway's loop ran, and that it could have run but had to wait for a core."""
        with open(f"/proc/{self.gate.process.pid}/schedstat", encoding="ascii") as file:
            return [int(word) / 1e9 for word in file.read().split()[:2]]

    def cpu_seconds(self):
        with open(f"/proc/{self.gate.process.pid}/stat", encoding="ascii") as file:
            ticks = sum(int(word) for word in file.read().rpartition(")")[2].split()[11:13])
        return ticks / os.sysconf("SC_CLK_TCK")


class Attack:
    """What must hold during any attack: the probe never fails and is not slow, memory stays below its cap."""

    def __init__(self, world, cap_mib):
        self.world = world
        # A sanitizer's own memory comes on top: shadow, red zones, what it keeps of the freed.
        self.cap_kib = cap_mib * MIB * (3 if is_sanitized() else 1)

    def __enter__(self):
        self.probe = Probe(self.world)
        time.sleep(BASELINE_SECONDS)
        self.memory = Memory(self.world.gate)
        self.started = time.monotonic()
        self.until = self.started + SECONDS
        self.shares = self.world.cpu_shares()
        self.probe.mark()
        return self

    def is_on(self):
        return time.monotonic() < self.until

    def patience_ms(self, during):
        """How slow the probe may be: as much slower as the machine is, whose cores are not the gateway's alone.

        What the gateway does takes longer when it has to wait for a core meanwhile, which matters as far as it has much
        to do; and the probe has to wait for one itself, as the echo shows.
        """
        ran, waited = (now - then for now, then in zip(self.world.cpu_shares(), self.shares))
        busy = min(1, (ran + waited) / (time.monotonic() - self.started))
        stretch = 1 + min(waited / max(ran, 0.001), STRETCH_MOST) * busy
        print(f"# the gateway ran {ran:.2f} s and waited {waited:.2f} s for a core; an echo took "
              f"{during['echo_p99_ms']:.1f} ms (p99)")
        return (P99_SANITIZED_MS if is_sanitized() else P99_MS) * stretch + 2 * during["echo_p99_ms"]

    def __exit__(self, kind, *_):
        try:
            # The probe counts at least as long as the attack was meant to last.
            time.sleep(max(0, self.until - time.monotonic()) if kind is None else 0)
            before, during = self.probe.finish()
            patience = self.patience_ms(during) if kind is None else 0
        finally:
            self.probe.kill()
            grown = self.memory.grown()
        print(f"# probe: {during['requests']} requests, {during['failed']} failed; p50 {during['p50_ms']:.1f} ms, "
              f"p99 {during['p99_ms']:.1f} ms, max {during['max_ms']:.1f} ms (before: p50 {before['p50_ms']:.1f} ms, "
              f"p99 {before['p99_ms']:.1f} ms); p99 may be {patience:.0f} ms; memory +{grown / MIB:.1f} MiB of {self.cap_kib / MIB:g}")
        if kind is not None:
            return
        check(self.world.gate.process.poll() is None, "the gateway died")
        check(before["failed"] == 0 and during["failed"] == 0, f"the probe failed: {before} {during}")
        check(grown <= self.cap_kib, f"the gateway grew by {grown} KiB, more than {self.cap_kib}")
        if during["requests"] < 10:
            raise TooSlow(f"the probe came to only {during['requests']} requests")
        if during["p99_ms"] > patience:
            raise TooSlow(f"the probe waited {during['p99_ms']:.0f} ms (p99), and may {patience:.0f} ms")


def wait_open(world, most):
    """Until the gateway has no more than so many connections, this one for asking among them."""
    wait_until(lambda: world.metric("http_connections_open") <= most, f"{most} connections", timeout=60)
