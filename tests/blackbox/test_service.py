#!/usr/bin/env python3
"""As a service: what the gateway tells systemd, the sockets it takes from it, its units, and its core files. (TAP)"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from gateway import ADMIN, PAGE, clients, free_port
from harness import (KEY, TIMEOUT, Gate, Raw, Sim, Skip, binary, check, contains, equal, get, http_request, run, test,
                     wait_until)

CONTRIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "contrib")
NOWHERE = {"upstream": {"url": "http://127.0.0.1:9", "key": KEY}}

# Does what systemd does between fork and exec: fetches the sockets, puts them at 3 and above, says whose they are.
LAUNCHER = """
import fcntl, os, socket, sys
path, stranger, *command = sys.argv[1:]
pid = 1 if stranger == "stranger" else os.getpid()
os.environ.update(WATCHDOG_PID=str(pid), LISTEN_PID=str(pid))
with socket.socket(socket.AF_UNIX) as source:
    source.connect(path)
    fds = socket.recv_fds(source, 1, 32)[1]
fds = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in fds]
os.closerange(3, 100)
for place, fd in enumerate(fds, 3):
    os.dup2(fd, place)
os.closerange(100, 200)
if fds:
    os.environ.update(LISTEN_FDS=str(len(fds)), LISTEN_FDNAMES=":".join(f"name{n}" for n in range(len(fds))))
os.execv(command[0], command)
"""


class Manager:
    """systemd's side: .heard are the messages in order; fds are what it passes on."""

    def __init__(self, is_abstract=False, fds=()):
        self.folder = tempfile.TemporaryDirectory()
        self.address = f"@solvegate-test-{os.getpid()}" if is_abstract else os.path.join(self.folder.name, "notify")
        self.fds = [item if isinstance(item, int) else item.fileno() for item in fds]
        self.source = os.path.join(self.folder.name, "fds")
        self.heard = []
        self._changed = threading.Condition()

    def __enter__(self):
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind("\0" + self.address[1:] if self.address.startswith("@") else self.address)
        self.giver = socket.socket(socket.AF_UNIX)
        self.giver.bind(self.source)
        self.giver.listen()
        threading.Thread(target=self._hear, daemon=True).start()
        threading.Thread(target=self._give, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.notify.close()
        self.giver.close()
        self.folder.cleanup()

    def _hear(self):
        try:
            while True:
                text = self.notify.recv(4096).decode()
                with self._changed:
                    self.heard.append((time.monotonic(), text))
                    self._changed.notify_all()
        except OSError:
            pass

    def _give(self):
        try:
            while True:
                taker, _ = self.giver.accept()
                with taker:
                    socket.send_fds(taker, [b"x"], self.fds)
        except OSError:
            pass

    def hear_out(self):
        """Until everything that was said so far is heard, too; returns how much that is."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own:
            mark = f"MARK={time.monotonic_ns()}"
            own.sendto(mark.encode(), self.notify.getsockname())
        self.wait(mark)
        with self._changed:
            return len(self.heard)

    def wait(self, start, count=1):
        """The messages that start like this, once there are so many: (time, text)."""
        def found():
            return [item for item in self.heard if item[1].startswith(start)]

        with self._changed:
            check(self._changed.wait_for(lambda: len(found()) >= count, TIMEOUT),
                  f"{count} times {start} not heard, but {self.heard}")
            return found()


class Service(Gate):
    """The gateway as the manager starts it."""

    def __init__(self, manager, config=None, watchdog=None, is_stranger=False, **options):
        env = {"NOTIFY_SOCKET": manager.address, **(options.pop("env", {}))}
        if watchdog is not None:
            env["WATCHDOG_USEC"] = str(watchdog)
        super().__init__({"drain_timeout": "200ms", **NOWHERE, **(config or {})}, env=env, **options)
        self.manager = manager
        self.is_stranger = is_stranger

    def command(self):
        return [sys.executable, "-c", LAUNCHER, self.manager.source, "stranger" if self.is_stranger else "ours",
                *super().command()]

    def refusal(self):
        """Exit code and words of one that must not start."""
        done = subprocess.run(self.command(), env=self.env, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        return done.returncode, done.stderr


def unix_get(path, target):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(TIMEOUT)
        connection.connect(path)
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return connection.makefile("rb").read().decode()


def listener(address=("127.0.0.1", 0), **options):
    return socket.create_server(address, **options)


# --- words ----------------------------------------------------------------------------------------


@test
def it_says_ready_when_it_listens_and_where():
    with Manager() as manager, Service(manager) as gate:
        (_, text), = manager.wait("READY=1")
        equal(text, f"READY=1\nSTATUS=solvegate ready on {gate.url}")
        equal(manager.heard[0][1], text, "the first word")
        equal(get(gate.url + "/livez").status, 200)


@test
def an_abstract_address_is_understood():
    with Manager(is_abstract=True) as manager, Service(manager):
        manager.wait("READY=1")


@test
def one_that_cannot_listen_never_says_ready():
    with listener() as taken, Manager() as manager:
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        equal(Service(manager, {"listen": [address]}).refusal()[0], 69)
        equal(manager.heard, [])


@test
def without_a_manager_or_with_one_that_is_gone_it_serves_all_the_same():
    for address in ("", "@", "relative", "/nonexistent/notify", "@" + "n" * 200, "@nobody-listens-here", "vsock:2:1"):
        with Gate(NOWHERE, env={"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "50000"}) as gate:
            equal(get(gate.url + "/livez").status, 200, address)


@test
def sigterm_is_announced_with_the_time_that_draining_may_take():
    with Manager() as manager, Service(manager, {"drain_timeout": "3s"}) as gate:
        gate.send_signal(signal.SIGTERM)
        (_, text), = manager.wait("STOPPING=1")
        contains(text, "\nEXTEND_TIMEOUT_USEC=13000000\nSTATUS=draining")
        equal(gate.process.wait(TIMEOUT), 0)


# --- watchdog -------------------------------------------------------------------------------------


@test
def signs_of_life_come_twice_as_often_as_asked_for():
    # Half of the time allowed is 200 ms; a busy machine's delays come on top, to some more than to others.
    started = time.monotonic()
    with Manager() as manager, Service(manager, watchdog=400000):
        times = [at for at, _ in manager.wait("WATCHDOG=1", 20)]
        check(times[19] - started > 3.7, f"twenty within {times[19] - started:.3f} s")
        pauses = sorted(later - earlier for earlier, later in zip(times, times[1:]))
        check(pauses[len(pauses) // 4] < 0.35, f"pauses {pauses}")


@test
def a_process_that_hangs_is_silent():
    with Manager() as manager, Service(manager, watchdog=60000) as gate:
        manager.wait("WATCHDOG=1", 2)
        gate.send_signal(signal.SIGSTOP)
        wait_until(lambda: "(stopped)" in open(f"/proc/{gate.process.pid}/status").read(), "the stop")
        count = manager.hear_out()
        time.sleep(0.3)  # ten times the interval: the absence of words takes its time
        equal(manager.hear_out() - count, 1, "words of a stopped process, and one of our own")
        gate.send_signal(signal.SIGCONT)
        manager.wait("WATCHDOG=1", len(manager.heard) + 2)


@test
def it_shows_signs_of_life_while_it_drains():
    with Sim("--solve-time", "60s") as sim, Manager() as manager:
        config = {"drain_timeout": "4s", "upstream": {"url": sim.url, "key": KEY}}
        with Service(manager, config, watchdog=60000) as gate:
            body = f'{{"method":"turnstile","sitekey":"a","pageurl":"{PAGE}","wait":30}}'
            with Raw(gate.port) as caller:
                caller.send(f"POST /v1/solves HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}")
                wait_until(sim.submits, "the submit")
                gate.send_signal(signal.SIGTERM)
                (stopping, _), = manager.wait("STOPPING=1")
                gate.process.wait(TIMEOUT)
            manager.hear_out()
            late = [at for at, text in manager.wait("WATCHDOG=1") if at > stopping]
            check(len(late) >= 5, f"{len(late)} signs of life within four seconds of draining")


@test
def a_watchdog_meant_for_another_process_or_nonsense_is_ignored():
    for options in ({"watchdog": 20000, "is_stranger": True}, {"watchdog": 0}, {"watchdog": "20000x"}, {"watchdog": -1}):
        with Manager() as manager, Service(manager, **options):
            manager.wait("READY=1")
            time.sleep(0.1)  # ten times the interval it must not keep
            equal([text for _, text in manager.heard if text.startswith("WATCHDOG")], [], options)


# --- sockets --------------------------------------------------------------------------------------


@test
def a_passed_socket_is_served_instead_of_listen():
    with Sim("--solve-time", "100ms") as sim, listener() as passed:
        own = free_port()
        config = {"listen": [f"127.0.0.1:{own}"], "poll": {"first": "100ms", "interval": "100ms"},
                  "upstream": {"url": sim.url, "key": KEY}}
        with Manager(fds=[passed]) as manager, Service(manager, config) as gate:
            equal(gate.port, passed.getsockname()[1])
            gate.wait_line("event=sockets_passed count=1 names=name0")
            reply = http_request(gate.url + "/v1/solves", "POST", {"method": "turnstile", "sitekey": "a", "pageurl": PAGE,
                                                                   "wait": 10})
            equal((reply.status, reply.json()["status"]), (200, "solved"))
            try:
                socket.create_connection(("127.0.0.1", own)).close()
                raise AssertionError("the configured address is served, too")
            except ConnectionRefusedError:
                pass


@test
def several_sockets_of_both_kinds_are_served_and_a_path_is_left_to_the_manager():
    with tempfile.TemporaryDirectory() as folder, listener() as first, listener() as second:
        path = os.path.join(folder, "gate.sock")
        name = f"\0solvegate-passed-{os.getpid()}"
        with listener(path, family=socket.AF_UNIX) as third, listener(name, family=socket.AF_UNIX) as fourth:
            with Manager(fds=[first, third, second, fourth]) as manager, Service(manager) as gate:
                gate.wait_line(f"^solvegate ready on unix:{path}$")
                gate.wait_line(f"^solvegate ready on unix:@{name[1:]}$")
                for port in (first.getsockname()[1], second.getsockname()[1]):
                    equal(get(f"http://127.0.0.1:{port}/livez").status, 200)
                for address in (path, name):
                    contains(unix_get(address, "/livez"), "HTTP/1.1 200 ")
                # Those who come by a path are of this machine.
                contains(unix_get(path, "/metrics"), "HTTP/1.1 200 ")
            check(os.path.exists(path), "the manager's path was removed")


@test
def between_two_runs_callers_wait_instead_of_being_refused():
    with listener() as passed, Manager(fds=[passed]) as manager:
        gate = Service(manager)
        with gate:
            equal(get(gate.url + "/livez").status, 200)
        with socket.create_connection(passed.getsockname()) as caller:
            caller.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            with gate:
                caller.settimeout(TIMEOUT)
                contains(caller.makefile("rb").read().decode(), "HTTP/1.1 200 ")


@test
def sockets_meant_for_another_process_are_ignored():
    with listener() as passed, Manager(fds=[passed]) as manager, Service(manager, is_stranger=True) as gate:
        check(gate.port != passed.getsockname()[1], "served a stranger's socket")
        equal(get(gate.url + "/livez").status, 200)


@test
def a_public_socket_needs_clients_as_listen_does():
    with listener(("0.0.0.0", 0)) as public, Manager(fds=[public]) as manager:
        code, words = Service(manager).refusal()
        equal(code, 78)
        contains(words, "without clients everybody who reaches it may spend")
        with Service(manager, clients()) as gate:
            url = f"http://127.0.0.1:{gate.port}/v1/stats"
            equal(http_request(url).status, 401)
            equal(http_request(url, headers={"Authorization": "Bearer " + ADMIN}).status, 200)


@test
def what_is_no_listening_stream_socket_is_refused():
    def words_about(*items):
        with Manager(fds=items) as manager:
            code, words = Service(manager).refusal()
            equal((code, manager.heard), (78, []))
            return words

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams, listener() as good:
        contains(words_about(datagrams), "expected a listening stream socket")
        words = words_about(good, datagrams)
        contains(words, "names=name0:name1")
        contains(words, "descriptor=4")
        with socket.create_connection(good.getsockname()) as connected:
            contains(words_about(connected), "expected a listening stream socket (ListenStream=, Accept=no)")
        with open("/dev/null", "rb") as file:
            contains(words_about(file), "expected a TCP or unix socket")
        contains(words_about(*[good] * 17), "expected fewer sockets")


# --- core files -----------------------------------------------------------------------------------


def has_sanitizer():
    return contains_word(b"__asan_init")


def contains_word(word):
    with open(binary("SOLVEGATE"), "rb") as file:
        return word in file.read()


@test
def it_leaves_no_core_file():
    with Gate(NOWHERE) as gate:
        with open(f"/proc/{gate.process.pid}/limits", encoding="ascii") as file:
            contains(re.sub(r" +", " ", file.read()), "Max core file size 0 0 bytes")


@test
def its_memory_is_for_root_alone():
    """A core file may also go to a pipe, which no limit stops; and others of its user may not read its memory."""
    if has_sanitizer():
        raise Skip("the leak check of a sanitizer has to read it")
    command = [binary("SOLVEGATE"), "serve", "--listen", "127.0.0.1:0"]
    env = {"SOLVEGATE_UPSTREAM_KEY": KEY, "SOLVEGATE_UPSTREAM_URL": NOWHERE["upstream"]["url"]}
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/", **nobody)
    except PermissionError:
        raise Skip("nobody may not reach the program") from None
    try:
        contains(process.stdout.readline().decode(), "ready on")
        equal(os.stat(f"/proc/{process.pid}/environ").st_uid, 0, "owner of its environment and memory")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


# --- units ----------------------------------------------------------------------------------------


def analyze(*arguments):
    tool = shutil.which("systemd-analyze")
    if not tool:
        raise Skip("systemd-analyze is not installed")
    return subprocess.run([tool, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "SYSTEMD_COLORS": "0"})


# The services are made by the build, which knows where the program will be.
UNITS = ("solvegate.service", "solvegate@.service", "solvegate.socket")


def unit_text(name):
    folder = os.environ["UNITS"] if name.endswith(".service") else os.path.join(CONTRIB, "systemd")
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def units(folder):
    """The units in that folder, with the program where it is instead of where it will be."""
    paths = []
    for name in UNITS:
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(re.sub(r"=/\S+/bin/solvegate ", f"={binary('SOLVEGATE')} ", unit_text(name)))
    return paths


def settings(name):
    """Key to values of a unit, in order."""
    found = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", unit_text(name), re.MULTILINE):
        found.setdefault(key, []).append(value)
    return found


@test
def systemd_finds_nothing_wrong_with_the_units():
    with tempfile.TemporaryDirectory() as folder:
        done = analyze("verify", "--man=no", *units(folder))
        # It may complain about units of this machine as well.
        words = [line for line in (done.stdout + done.stderr).splitlines() if "solvegate" in line]
        equal(words, [], "systemd-analyze verify")
        equal(done.returncode, 0, f"systemd-analyze verify said {done.stderr!r}, exit code")


@test
def the_sandbox_leaves_an_exposure_of_at_most_1_5():
    with tempfile.TemporaryDirectory() as folder:
        done = analyze("security", "--offline=true", "--no-pager", "--threshold=15", units(folder)[0])
        if "unrecognized option" in done.stderr:
            raise Skip("this systemd cannot rate a file")
        level = re.search(r"Overall exposure level for solvegate.service: ([0-9.]+)", done.stdout)
        check(level and float(level.group(1)) <= 1.5 and done.returncode == 0, done.stdout[-300:] + done.stderr)


def allowed_calls():
    """The system calls that the unit's filter lets through."""
    listing = analyze("syscall-filter", "--no-pager").stdout
    sets, current = {}, None
    for line in listing.splitlines():
        if line.startswith("@"):
            current = sets.setdefault(line.strip(), [])
        elif current is not None and line.startswith("    ") and not line.strip().startswith("#"):
            current.append(line.strip())

    def members(name):
        return set().union(*map(members, sets[name])) if name.startswith("@") else {name}

    allowed = members("@default")
    for value in settings("solvegate.service")["SystemCallFilter"]:
        names = set().union(*(members(name) for name in value.lstrip("~").split()))
        allowed = allowed - names if value.startswith("~") else allowed | names
    return allowed


@test
def the_sandbox_forbids_nothing_that_the_gateway_does():
    """A solve and a drain under strace: which system calls, which address families, any memory to write and execute."""
    if has_sanitizer() or contains_word(b"__gcov_"):
        raise Skip("sanitizers and coverage make calls of their own")
    strace = shutil.which("strace")
    if not strace:
        raise Skip("strace is not installed")
    allowed = allowed_calls()
    check({"accept4", "epoll_wait", "execve"} <= allowed and "mount" not in allowed, "the filter was understood")
    with Sim("--solve-time", "100ms") as sim, tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")

        class Traced(Gate):
            def command(self):
                return [strace, "-D", "-f", "-q", "-s", "0", "-o", trace, *super().command()]

        with Traced({"poll": {"first": "100ms", "interval": "100ms"}, "upstream": {
                "url": sim.url.replace("127.0.0.1", "localhost"), "key": KEY}}) as gate:
            reply = http_request(gate.url + "/v1/solves", "POST", {"method": "turnstile", "sitekey": "a", "pageurl": PAGE,
                                                                   "wait": 10})
            equal(reply.json().get("status"), "solved", reply.text)

        def whole_trace():
            with open(trace, encoding="utf-8", errors="replace") as file:
                text = file.read()
            # Small numbers of processes are padded.
            return text if re.search(rf"^{gate.process.pid} +\+\+\+ exited with 0 \+\+\+$", text, re.MULTILINE) else None

        text = wait_until(whole_trace, "strace's end")
        made = set(re.findall(r"^\d+ +(\w+)\(", text, re.MULTILINE))
        check({"execve", "accept4", "listen"} <= made, f"only saw {sorted(made)}")
        # The C library asks which addresses the machine has, and without an answer assumes all kinds.
        families = set(re.findall(r"socket\((AF_\w+)", text)) - {"AF_NETLINK"}
        equal(sorted(families - set(settings("solvegate.service")["RestrictAddressFamilies"][0].split())), [], "families")
        equal(re.findall(r"(?:mmap|mprotect)\(.*PROT_WRITE\|PROT_EXEC.*", text), [], "memory to write and execute")
        equal(sorted(made - allowed), [], "calls that the filter forbids")


@test
def the_configuration_to_begin_with_is_good_and_only_for_this_machine():
    path = os.path.join(CONTRIB, "solvegate.json")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SOLVEGATE_", "CAPTCHAAI_"))}
    command = [binary("SOLVEGATE"), "check", "-c", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    equal((done.returncode, done.stdout), (78, ""))
    contains(done.stderr, "CAPTCHAAI_API_KEY")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**environment, "CAPTCHAAI_API_KEY": KEY})
    equal((done.returncode, done.stderr), (0, ""))
    contains(done.stdout, "listen    127.0.0.1:8430\n")
    contains(done.stdout, "journal   /var/lib/solvegate\n")
    # What is commented out has to be right, too.
    with open(path, encoding="utf-8") as file:
        text = re.sub(r'^( *)//( *["{}\]])', r"\1\2", file.read(), flags=re.MULTILINE).replace('"..."', '"' + "0" * 64 + '"')
    done = subprocess.run([*command[:-1], "-"], input=text, capture_output=True, text=True, check=False,
                          env={**environment, "CAPTCHAAI_API_KEY": KEY})
    equal((done.returncode, done.stderr), (0, ""), text)
    contains(done.stdout, "crawler: solve")


@test
def the_service_waits_longer_than_the_gateway_drains_and_does_not_restart_in_vain():
    unit = settings("solvegate.service")
    equal((unit["Restart"], unit["RestartPreventExitStatus"]), (["on-failure"], ["64 73 78"]))
    equal((unit["Type"], unit["NotifyAccess"], unit["KillSignal"]), (["notify"], ["main"], ["SIGTERM"]))
    check(int(unit["TimeoutStopSec"][0].rstrip("s")) >= 15, "drain_timeout's default of 5 s, and 10 s more")
    check(int(unit["LimitNOFILE"][0]) >= 10000 + 1000, "limits.connections and a reserve")
    equal(subprocess.run([binary("SOLVEGATE"), "serve", "--no-such-flag"], capture_output=True, check=False).returncode, 64)
    equal(subprocess.run([binary("SOLVEGATE"), "serve", "-c", "/nonexistent"], capture_output=True, check=False).returncode, 78)


run()
