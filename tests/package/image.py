"""The container image as its users meet it: built without a registry, served, asked, ended."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import builds
from check import equal
from machine import CACHE, base_tar, call
from service import PAGE, answers, fetch, free_port, until

FOLDER = os.path.join(CACHE, "image")
LIMIT_BYTES = 40 * 1000 * 1000
USER = 65532
KEYS = {"CAPTCHAAI_API_KEY": "0" * 32, "WORKER_KEY": "w" * 32, "OPERATOR_KEY": "o" * 32}
DATA = "/var/lib/solvegate"


def buildah(*words):
    """buildah's words with the store of contrib/image/build."""
    return ["buildah", "--root", f"{FOLDER}/storage", "--runroot", f"{FOLDER}/run", "--storage-driver", "overlay", *words]


def process_of(port):
    """The gateway or simulator that was told to listen there: buildah has the same words, but is another program."""
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                words = file.read().decode().split("\0")
        except OSError:
            continue
        if os.path.basename(words[0]).startswith("solvegate") and f"127.0.0.1:{port}" in words:
            return int(number)
    return None


def root_options(process):
    with open(f"/proc/{process}/mountinfo", encoding="utf-8") as file:
        return next(line.split()[5] for line in file if line.split()[4] == "/").split(",")


def user_of(process):
    with open(f"/proc/{process}/status", encoding="utf-8") as file:
        return [int(number) for number in re.search(r"^Uid:\s+(.*)$", file.read(), re.MULTILINE).group(1).split()]


class ImageStory:
    """One image; each step goes on where the one before ended."""

    name = "image"

    def __init__(self):
        self.archive = self.container = self.config = None
        self.volume = tempfile.mkdtemp()
        self.port, self.sim_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.programs = []
        self.mounted = None

    def close(self):
        for port in (self.port, self.sim_port):
            number = process_of(port)
            if number:
                os.kill(number, signal.SIGKILL)
        for program in self.programs:
            program.wait()
        if self.mounted:
            subprocess.run(["umount", self.mounted], check=False)
        if self.container:
            call(*buildah("rm", self.container))
        shutil.rmtree(self.volume)

    def it_is_built_without_a_registry(self):
        lines = call(os.path.join(builds.ROOT, "contrib", "image", "build"), FOLDER, base_tar("13")).splitlines()
        self.archive = lines[-1]
        equal(os.path.basename(self.archive), f"solvegate-{builds.this_version()}.tar.gz", "archive")

    def it_is_as_small_as_the_readme_says(self):
        size = os.path.getsize(self.archive)
        with open(os.path.join(builds.ROOT, "README.md"), encoding="utf-8") as file:
            said = int(re.search(r"container image of (\d+) MB", file.read()).group(1)) * 1000 * 1000
        equal(size <= LIMIT_BYTES, True, f"{size} bytes are few enough")
        equal(abs(size - said) <= 0.15 * said, True, f"README says {said} bytes of {size}")

    def it_tells_a_runtime_how_to_run_it(self):
        image = f"localhost/solvegate:{builds.this_version()}"
        self.container = call(*buildah("from", image)).split()[-1]
        told = json.loads(call(*buildah("inspect", "--type", "image", image)))["Docker"]["config"]
        self.config = told
        equal(told["User"], f"{USER}:{USER}", "user")
        equal(told["Healthcheck"]["Test"], ["CMD", "/usr/bin/solvegate", "check", "--ready"], "health check")
        equal((told["StopSignal"], list(told["Volumes"]), list(told["ExposedPorts"])), ("SIGTERM", [DATA], ["8430/tcp"]), "image")

    def it_has_the_programs_and_their_libraries_and_no_shell(self):
        root = call(*buildah("mount", self.container)).strip()
        equal(sorted(os.listdir(root + "/usr/bin")), ["solvegate", "solvegate-sim"], "programs")
        equal([name for name in ("/bin", "/sbin", "/usr/sbin", "/usr/bin/sh") if os.path.lexists(root + name)], [], "shells")
        equal(os.path.isfile(root + "/var/lib/dpkg/status.d/libc6"), True, "the record of libc6")
        facts = os.stat(root + DATA)
        equal((facts.st_uid, facts.st_gid, facts.st_mode & 0o777), (USER, USER, 0o700), DATA)
        call(*buildah("umount", self.container))

    def run(self, *words, environment=()):
        """Starts it as a runtime would, as far as one can without its rights."""
        variables = [word for name, value in dict(environment).items() for word in ("--env", f"{name}={value}")]
        return buildah("run", "--isolation", "chroot", "--volume", f"{self.volume}:{DATA}", *variables, self.container, "--", *words)

    def environment(self):
        return {**KEYS, "SOLVEGATE_LISTEN": f"127.0.0.1:{self.port}", "SOLVEGATE_UPSTREAM_URL": f"http://127.0.0.1:{self.sim_port}",
                "SOLVEGATE_POLL_FIRST": "200ms", "SOLVEGATE_POLL_INTERVAL": "200ms"}

    def start(self, command, **options):
        os.chown(self.volume, USER, USER)
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.programs.append(program)
        until(lambda: program.poll() is not None or answers(self.url + "/readyz"), "the gateway")
        if program.poll() is not None:
            raise AssertionError(f"it ended with {program.returncode}: {program.stderr.read()}")
        return program

    def solve(self, sitekey):
        reply = fetch(self.url + "/v1/solves", {"method": "turnstile", "sitekey": sitekey, "pageurl": PAGE, "wait": 30}, KEYS["WORKER_KEY"])
        equal(json.loads(reply)["status"], "solved", reply)

    def end(self, program, number):
        """Its code, what it printed and its log."""
        os.kill(number, signal.SIGTERM)
        output, log = program.communicate(timeout=60)
        return program.returncode, output, log

    def it_serves_as_another_user_is_healthy_solves_and_obeys_sigterm(self):
        sim = self.run("/usr/bin/solvegate-sim", "--listen", f"127.0.0.1:{self.sim_port}", "--solve-time", "100ms")
        self.programs.append(subprocess.Popen(sim, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        until(lambda: answers(f"http://127.0.0.1:{self.sim_port}/sim/ledger"), "the simulator")
        command = [*self.config["Entrypoint"], *self.config["Cmd"], "-l", f"127.0.0.1:{self.port}"]
        gate = self.start(self.run(*command, environment=self.environment()))
        number = until(lambda: process_of(self.port), "its process")
        equal(user_of(number), [USER] * 4, "its user")
        call(*self.run(*self.config["Healthcheck"]["Test"][1:], environment={"SOLVEGATE_URL": self.url}))
        self.solve("first")
        code, output, log = self.end(gate, number)
        equal(code, 0, f"exit code after {log}")
        equal("ready on" in output and "event=" not in output, True, f"the ready line alone on stdout: {output!r}")
        equal("event=draining" in log and "event=stopped" in log, True, f"the log on stderr: {log!r}")
        done = subprocess.run(self.run(*self.config["Healthcheck"]["Test"][1:], environment={"SOLVEGATE_URL": self.url}),
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        equal(done.returncode, 69, "health of one that has ended")

    def its_root_may_be_read_only_and_it_may_be_the_first_process(self):
        root = call(*buildah("mount", self.container)).strip()
        self.mounted = root + DATA
        call("mount", "--bind", self.volume, self.mounted)
        script = f'mount -o remount,bind,ro "{root}" && exec chroot --userspec={USER}:{USER} "{root}" "$@"'
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh", *self.config["Entrypoint"],
                   *self.config["Cmd"], "-l", f"127.0.0.1:{self.port}"]
        variables = dict(entry.split("=", 1) for entry in self.config["Env"])
        gate = self.start(command, env={**variables, **self.environment()})
        number = until(lambda: process_of(self.port), "its process")
        equal("ro" in root_options(number), True, f"its root is read-only: {root_options(number)}")
        with open(f"/proc/{number}/status", encoding="utf-8") as file:
            equal(re.search(r"^NSpid:.*\s(\d+)$", file.read(), re.MULTILINE).group(1), "1", "its number within")
        self.solve("first")
        self.solve("second")
        equal(self.end(gate, number)[0], 0, "exit code")
        call("umount", self.mounted)
        self.mounted = None
        call(*buildah("umount", self.container))

    STEPS = (it_is_built_without_a_registry, it_is_as_small_as_the_readme_says, it_tells_a_runtime_how_to_run_it,
             it_has_the_programs_and_their_libraries_and_no_shell,
             it_serves_as_another_user_is_healthy_solves_and_obeys_sigterm,
             its_root_may_be_read_only_and_it_may_be_the_first_process)
