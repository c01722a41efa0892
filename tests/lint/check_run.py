#!/usr/bin/env python3
"""usage: check_run.py ROOT   (TAP; `./dev run` as a newcomer meets it: it starts, its curl call works, it leaves nothing behind)"""
import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import uuid

import tap

ROOT = sys.argv[1]
PATIENCE_S = 120  # it builds first, and machines are slow now and then


class Run:
    """./dev run as a terminal's foreground job, with a mark in its environment by which its descendants are found."""

    def __init__(self, *words, **environment):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith("SOLVEGATE") and name != "CAPTCHAAI_API_KEY"}
        self.mark = f"DEV_RUN_MARK={uuid.uuid4()}"
        env["DEV_RUN_MARK"] = self.mark.split("=")[1]
        self.process = subprocess.Popen([os.path.join(ROOT, "dev"), "run", *words], env={**env, **environment}, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        start_new_session=True)
        self.out, self.err = [], []
        self.lines = queue.Queue()
        self.readers = [threading.Thread(target=self._read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.out), (self.process.stderr, self.err))]
        for reader in self.readers:
            reader.start()

    def _read(self, stream, kept):
        for line in stream:
            kept.append(line)
            self.lines.put(line)
        self.lines.put(None)

    def wait_for(self, pattern):
        """The match of the first line that has the pattern, or None when it ended without one."""
        open_streams = 2
        while open_streams:
            line = self.lines.get(timeout=PATIENCE_S)
            open_streams -= line is None
            match = line and re.search(pattern, line)
            if match:
                return match
        return None

    def stop(self, how):
        """Sends the signal to all of them (as Ctrl-C does) or to ./dev alone; its exit code and what is left."""
        if how is signal.SIGINT:
            os.killpg(self.process.pid, how)
        elif how is not None:
            self.process.send_signal(how)
        code = self.process.wait(PATIENCE_S)
        left = marked_with(self.mark)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return code, list(left.values())

    def said(self):
        for reader in self.readers:
            reader.join(5)
        return [line.rstrip() for line in self.out + self.err]


def marked_with(mark):
    """{pid: command} of the living processes that inherited the mark."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                is_ours = mark.encode() in file.read().split(b"\0")
            if is_ours:
                with open(f"/proc/{name}/cmdline", encoding="utf-8", errors="replace") as file:
                    found[int(name)] = file.read().replace("\0", " ").strip()
        except OSError:  # it ended while we looked, or is somebody else's
            continue
    return found


def paste(line):
    """The result of the command in a shell."""
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, timeout=60)


def check_first_run(report):
    run = Run()
    dashboard = run.wait_for(r"^dashboard +(http://\S+/)$")
    page = paste(f"curl -s {dashboard.group(1)}").stdout if dashboard else ""
    said = [] if "<title>solvegate</title>" in page else [f"the page was {page[:200]!r}"] + run.said()
    report.case("the address of the dashboard that it prints brings the dashboard", said)
    found = run.wait_for(r"^try +(curl .*)$")
    more = run.wait_for(r"^ +(\S.*')$") if found else None
    answer = paste(f"{found.group(1)}\n{more.group(1)}").stdout if more else ""
    try:
        solution = json.loads(answer).get("solution", "")
    except ValueError:
        solution = ""
    code, left = run.stop(signal.SIGINT)
    said = [] if found and str(solution).startswith("SIM_") else [f"the answer was {answer!r}"] + run.said()
    report.case("without a key it serves against the simulator, and the curl call it prints brings a solution", said)
    wide = [line for line in run.out if len(line.rstrip()) > 80]
    report.case("what it prints fits a terminal of 80 columns", [] if run.out and not wide else wide or ["nothing was printed"])
    report.case("Ctrl-C stops it and leaves nothing behind", [] if (code, left) == (130, []) else [f"{code} {left}"])


def check_second_run(report):
    first, second = Run(), None
    try:
        address = first.wait_for(r"^solvegate +(http://\S+)$")
        second = Run()
        other = second.wait_for(r"^solvegate +(http://\S+)$")
        is_good = bool(address and other and address.group(1) != other.group(1))
        report.case("two at once get along: the second takes another port", [] if is_good else first.said() + second.said())
    finally:
        code, left = first.stop(signal.SIGTERM)
        if second:
            second.stop(signal.SIGTERM)
    report.case("SIGTERM to ./dev alone stops everything", [] if (code, left) == (143, []) else [f"{code} {left}"])


def check_taken_port(report):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run = Run(SOLVEGATE_LISTEN=f"127.0.0.1:{taken.getsockname()[1]}")
        found = run.wait_for(r"^solvegate +http")
        code, left = run.stop(signal.SIGTERM if found else None)
    is_good = not found and code == 69 and not left and any("in use" in line or "taken" in line for line in run.said())
    report.case("a chosen port that is taken is a clear failure that leaves nothing behind",
                [] if is_good else [f"{code} {left}"] + run.said())


def check_stores(report):
    """Each store starts, is what the gateway uses, and is gone with it, folder and all."""
    for kind, scheme in (("sqlite", "sqlite:"), ("redis", r"redis\+unix:"), ("postgres", "postgresql:")):
        run = Run("--store", kind, SOLVEGATE_LISTEN="127.0.0.1:0")
        dashboard = run.wait_for(r"^dashboard +(http://\S+/)$")
        journal = run.wait_for(rf"^journal +({scheme}\S+),") if dashboard else None
        stats = paste(f"curl -s {dashboard.group(1)}v1/stats").stdout if dashboard else ""
        code, left = run.stop(signal.SIGINT)
        said = run.said()
        if any("is not installed" in line or "has no store" in line for line in said):
            report.case(f"--store {kind} says what is missing", [])
            continue
        folder = re.search(r"/tmp/[^/?&]+", journal.group(1)) if journal else None
        is_good = (code, left) == (130, []) and '"store":"writable"' in stats and not (folder and os.path.exists(folder.group()))
        report.case(f"--store {kind} keeps the journal there and leaves nothing behind", [] if is_good else [f"{code} {left} {stats[-200:]}"] + said)


def check_nodes(report):
    """Two gateways behind nginx: the calls that it prints work, and go on working when one was killed as it says."""
    run = Run("--nodes", "2", "--store", "redis", SOLVEGATE_LISTEN="127.0.0.1:0")
    address = run.wait_for(r"^solvegate +(http://\S+)$")
    kill = run.wait_for(r"^kill one +(kill -9 \d+)$") if address else None
    look = run.wait_for(r"^then look +(\S.*)$") if kill else None
    back = run.wait_for(r"^bring back +(sh \S+)$") if look else None
    shown, answers, again = "", [], None
    if back:
        for word in ("one", "two"):
            body = json.dumps({"method": "turnstile", "sitekey": word, "pageurl": "https://example.com/", "wait": 30})
            answers.append(paste(f"curl -s {address.group(1)}/v1/solves -d '{body}'").stdout)
            paste(kill.group(1))
        process = subprocess.Popen(["sh", "-c", back.group(1)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        again = process.stdout.readline()
        shown = paste(f"cd '{ROOT}' && {look.group(1)}").stdout
    code, left = run.stop(signal.SIGINT)
    said = run.said()
    if back:
        process.communicate()
        left += [] if process.returncode == 0 else [f"what was brought back ended with {process.returncode}"]
    if any("is not installed" in line or "has no store" in line for line in said):
        report.case("--nodes says what is missing", [])
        return
    is_good = (code, left) == (130, []) and all("SIM_" in answer for answer in answers) and shown.count("\n") == 3 and \
        "http" in (again or "") and shown.count("alive") == 2 and all(any(line.startswith(f"{name} | time=") for line in said) for name in "ab")
    report.case("--nodes 2 starts two gateways behind nginx, of which one can be killed and brought back, and leaves nothing behind",
                [] if is_good else [f"{code} {left} {answers} {again} {shown}"] + said)
    wide = [line for line in run.out if len(line.rstrip()) > 80]
    report.case("what it prints of them fits a terminal of 80 columns", wide)


def main():
    report = tap.Tap()
    check_first_run(report)
    check_second_run(report)
    check_taken_port(report)
    check_stores(report)
    check_nodes(report)
    report.finish()


main()
