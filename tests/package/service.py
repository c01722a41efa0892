"""The gateway of an installed package, started as its unit says, and the simulator that it asks."""
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from machine import ENVIRONMENT

UNIT_PLACES = ("/usr/lib/systemd/system/", "/lib/systemd/system/")
ENVIRONMENT_FILE = "/etc/solvegate/environment"
DEADLINE_S = 60
PAGE = "https://example.com/"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fetch(url, body=None, key=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=DEADLINE_S) as reply:
        return reply.read().decode()


def until(condition, what):
    end = time.monotonic() + DEADLINE_S
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited {DEADLINE_S} s for {what}")
        time.sleep(0.1)
    return found


def answers(url):
    try:
        return fetch(url) is not None
    except (urllib.error.URLError, ConnectionError):
        return False


def unit(machine, name="solvegate.service"):
    """Key to the last value of an installed unit."""
    place = next(place for place in UNIT_PLACES if machine.exists(place + name))
    return dict(re.findall(r"^(\w+)=(.*)$", machine.read(place + name), re.MULTILINE))


class Simulator:
    def __init__(self, machine):
        self.url = f"http://127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(machine.command("solvegate-sim", "--listen", self.url[7:], "--solve-time", "1h"),
                                        env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        until(lambda: answers(self.url + "/sim/ledger"), "the simulator")

    def submits(self):
        return len(json.loads(fetch(self.url + "/sim/ledger"))["submits"])

    def solve_all(self):
        fetch(self.url + "/sim/solve", {})

    def kill(self):
        self.process.kill()
        self.process.wait()


class Service:
    """What systemd does with the unit, without systemd: ExecStart, User, EnvironmentFile, UMask."""

    def __init__(self, machine):
        self.machine = machine
        self.url = f"http://127.0.0.1:{free_port()}"
        self.process = None

    def write_environment(self, sim):
        """What an administrator writes; ports and the simulator take the place of the usual port and the vendor."""
        path = self.machine.path(ENVIRONMENT_FILE)
        with open(path, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f"CAPTCHAAI_API_KEY={'0' * 32}\nSOLVEGATE_LISTEN={self.url[7:]}\nSOLVEGATE_UPSTREAM_URL={sim.url}\n"
                       "SOLVEGATE_POLL_FIRST=200ms\nSOLVEGATE_POLL_INTERVAL=200ms\n")

    def start(self):
        settings = unit(self.machine)
        written = self.machine.read(settings["EnvironmentFile"].lstrip("-"))
        environment = {**ENVIRONMENT, **dict(line.split("=", 1) for line in written.splitlines())}
        words = self.machine.command(*shlex.split(settings["ExecStart"]), user=settings["User"])
        self.process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, umask=int(settings["UMask"], 8))
        until(lambda: self.process.poll() is not None or answers(self.url + "/readyz"), "the gateway")
        if self.process.poll() is not None:
            raise AssertionError(f"the gateway ended with {self.process.returncode}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DEADLINE_S)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def ask(self, sitekey):
        """Starts a solve, waits for nothing and returns the reply."""
        return json.loads(fetch(self.url + "/v1/solves", {"method": "turnstile", "sitekey": sitekey, "pageurl": PAGE}))

    def look(self, request):
        return json.loads(fetch(f"{self.url}/v1/solves/{request}"))

    def await_solved(self, request):
        until(lambda: self.look(request)["status"] == "solved", f"the solution of {request}")
