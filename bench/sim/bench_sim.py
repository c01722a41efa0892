#!/usr/bin/env python3
"""How fast is the stand-in, and how much does it hold? Only ratios within one run mean anything.

    SOLVEGATE_SIM=build/bench/sim/solvegate-sim bench/sim/bench_sim.py [--rounds 15] [--seconds 2]

Rounds of wrk alternate between solvegate-sim (res.php polls of a solved task) and nginx (`return 200`
of a body of the same length, one worker, access log off). Servers are pinned to cpu 0, wrk to cpu 1.
Printed: the median of the per-round ratios and their spread; the same for POST submits; memory with
100 000 tasks in flight; callbacks a second. Exits 1 when a target (ratio 0.70, 200 MB) is missed.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "blackbox"))
sys.dont_write_bytecode = True

from harness import KEY, Raw, Sim, wait_until  # noqa: E402

TARGET_RATIO = 0.70
TARGET_BYTES = 200e6
IN_FLIGHT = 100_000


class PinnedSim(Sim):
    def command(self):
        return ["taskset", "-c", "0", *super().command()]


class Nginx:
    """One worker that answers everything from memory."""

    def __init__(self, body):
        self.body = body

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name)
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        quoted = self.body.replace("\\", "\\\\").replace('"', '\\"')
        (path / "nginx.conf").write_text(f"""
            worker_processes 1;
            daemon off;
            pid {path}/pid;
            error_log {path}/error.log crit;
            events {{ worker_connections 4096; }}
            http {{
                access_log off;
                default_type text/plain;
                keepalive_requests 1000000000;
                client_body_temp_path {path}/body; proxy_temp_path {path}/proxy;
                fastcgi_temp_path {path}/fastcgi; uwsgi_temp_path {path}/uwsgi; scgi_temp_path {path}/scgi;
                server {{
                    listen 127.0.0.1:{self.port};
                    location / {{ return 200 "{quoted}"; }}
                }}
            }}""")
        self.process = subprocess.Popen(["taskset", "-c", "0", "nginx", "-p", str(path), "-c", str(path / "nginx.conf")],
                                        stderr=subprocess.DEVNULL)
        wait_until(self.is_up, "nginx")
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.worker = int(children[0])
        return self

    def is_up(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def wrk(url, seconds, connections, script=None):
    """Requests a second."""
    command = ["taskset", "-c", "1", "wrk", "-t1", f"-c{connections}", f"-d{seconds}s"]
    if script:
        command += ["-s", script]
    done = subprocess.run([*command, url], capture_output=True, text=True, check=True)
    if "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
        raise SystemExit(f"wrk met errors:\n{done.stdout}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout).group(1))


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def compare(name, sim, nginx, target, args, connections, script=None):
    """The median ratio of requests a second; processor time tells what a busy machine hides."""
    servers = {"sim": (sim.process.pid, sim.url), "nginx": (nginx.worker, f"http://127.0.0.1:{nginx.port}")}
    ratios, rates, costs = [], {"sim": [], "nginx": []}, {"sim": [], "nginx": []}
    for number in range(args.rounds):
        for who in ("sim", "nginx") if number % 2 == 0 else ("nginx", "sim"):
            pid, url = servers[who]
            before = cpu_seconds(pid)
            rates[who].append(wrk(url + target, args.seconds, connections, script))
            costs[who].append((cpu_seconds(pid) - before) / (rates[who][-1] * args.seconds) * 1e6)
        ratios.append(rates["sim"][-1] / rates["nginx"][-1])
    median = statistics.median(ratios)
    print(f"{name}, {connections} connections: median ratio {median:.2f} ({min(ratios):.2f} to {max(ratios):.2f}, "
          f"{len(ratios)} rounds); " + "; ".join(
              f"{who} {statistics.median(rates[who]):,.0f}/s, {statistics.median(costs[who]):.1f} µs cpu each"
              for who in servers), flush=True)
    return median


def speed(args):
    with PinnedSim("--solve-time", "0", "--ledger-max", "1000", "--tasks-max", "200000") as sim:
        task = sim.submit_id()
        body = sim.poll(task).text
        poll = "/res.php?" + urllib.parse.urlencode({"key": KEY, "action": "get", "id": task, "json": 1})
        with Nginx(body) as nginx:
            ratio = min(compare("polls", sim, nginx, poll, args, count) for count in (64, 512))
            with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
                form = urllib.parse.urlencode({"key": KEY, "method": "turnstile", "sitekey": "0x4AAAAAAADnPIDROrmt1Wwj",
                                               "pageurl": "https://example.com/login", "json": 1})
                script.write(f'wrk.method="POST"\nwrk.body="{form}"\n'
                             'wrk.headers["Content-Type"]="application/x-www-form-urlencoded"\n')
                script.flush()
                compare("submits", sim, nginx, "/in.php", args, 64, script.name)
    return ratio


def memory():
    """RSS with many tasks in flight, each with the parameters and pingback a gateway would send."""
    with PinnedSim("--solve-time", "600s") as sim, Raw(sim.port) as connection:
        start = sim.rss_kib()
        for first in range(0, IN_FLIGHT, 500):
            batch = []
            for number in range(first, first + 500):
                form = urllib.parse.urlencode({
                    "key": KEY, "method": "userrecaptcha", "googlekey": f"6LfD3PIbAAAAAJs_eEHvoOl75_83eXSqpPS{number:05}",
                    "pageurl": f"https://example.com/account/{number}/login", "json": 1, "invisible": 1,
                    "pingback": f"http://127.0.0.1:8430/pingback/{number:08x}Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA"}).encode()
                batch.append(b"POST /in.php HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(form), form))
            connection.send(b"".join(batch))
            for _ in batch:
                connection.reply()
        totals = sim.totals()
        assert totals["in_flight"] == IN_FLIGHT, totals
        used = sim.rss_kib() * 1024
        print(f"memory: {used / 1e6:.0f} MB resident with {IN_FLIGHT:,} tasks in flight "
              f"({start * 1024 / 1e6:.0f} MB empty, {(used - start * 1024) / IN_FLIGHT:.0f} bytes each)", flush=True)
        return used


def callbacks(args):
    """Callbacks a second, both ends on one core each: nginx answers them."""
    count = 50_000
    with Nginx("OK") as nginx, PinnedSim("--solve-time", "0", "--ledger-max", "10") as sim, Raw(sim.port) as connection:
        target = "/in.php?" + urllib.parse.urlencode({
            "key": KEY, "method": "turnstile", "sitekey": "x", "pageurl": "https://example.com/",
            "pingback": f"http://127.0.0.1:{nginx.port}/pingback/x"})
        request = f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        started = time.monotonic()
        for _ in range(0, count, 500):
            connection.send(request * 500)
            for _ in range(500):
                connection.reply()
        totals = wait_until(lambda: (lambda t: t if t["callbacks_made"] == count else None)(sim.totals()), "callbacks", 60)
        assert totals["callbacks_ok"] == count, totals
        print(f"callbacks: {count / (time.monotonic() - started):,.0f}/s, submits included "
              "(sim and nginx share cpu 0, Python submits)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=int, default=1)
    args = parser.parse_args()
    for program in ("nginx", "wrk", "taskset"):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"):
            raise SystemExit(f"{program} is not installed")
    used = memory()
    callbacks(args)
    ratio = speed(args)
    is_good = ratio >= TARGET_RATIO and used <= TARGET_BYTES
    print(json.dumps({"poll_ratio": round(ratio, 3), "rss_mb": round(used / 1e6, 1), "ok": is_good}))
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
