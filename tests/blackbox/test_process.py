#!/usr/bin/env python3
"""The process: its addresses and its signals. (TAP)"""
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time

from gateway import PAGE, World, clients
from harness import KEY, TIMEOUT, Raw, binary, check, contains, equal, http_request, run, test, wait_until


def serve(config, *args):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(config, file)
        file.flush()
        return subprocess.run([binary("SOLVEGATE"), "serve", "-c", file.name, *args], capture_output=True, text=True,
                              timeout=30)


@test
def nothing_is_called_ready_when_one_address_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        config = {"listen": ["127.0.0.1:0", address], "upstream": {"url": "http://127.0.0.1:1", "key": KEY}}
        ended = serve(config)
    equal((ended.returncode, ended.stdout), (69, ""))
    contains(ended.stderr, f"cannot listen on {address}: address already in use")


@test
def all_addresses_serve_and_a_unix_socket_is_as_near_as_loopback():
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/gate.sock"
        with World({**clients(), "listen": ["127.0.0.1:0", "unix:" + path, "[::1]:0"]}) as world:
            wait_until(lambda: os.path.exists(path), "the socket")
            with socket.socket(socket.AF_UNIX) as near:
                near.connect(path)
                near.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                equal(near.makefile("rb").readline(), b"HTTP/1.1 200 OK\r\n")
            six = world.gate.wait_line(r"ready on http://\[::1\]")
            equal(http_request(re.search(r"http://\S+", six).group(0) + "/livez").text, "ok\n")
        check(not os.path.exists(path), "the socket goes with the gateway")


@test
def a_hangup_neither_ends_the_gateway_nor_loses_a_solve():
    with World(sim=("--solve-time", "500ms")) as world:
        task = world.submit_id()
        world.gate.send_signal(signal.SIGHUP)
        world.gate.wait_line("event=reloaded")
        contains(world.result_text(task), "OK|SIM_")


def signals(process, name):
    """One of the masks of signals in /proc; nothing is masked once the process is gone."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        found = re.search(rf"^{name}:\s+(\w+)$", status.read(), re.MULTILINE)
    return int(found.group(1), 16) if found else 0


@test
def a_hangup_during_the_start_waits_until_it_can_be_obeyed():
    # So many clients take a while to read. By then SIGPIPE is ignored, which shows from outside that the start has begun.
    many = [{"name": f"c{i}", "key": f"{i:032d}", "allow_hosts": [f"h{j}.example" for j in range(60)]} for i in range(1000)]
    config = {"listen": ["127.0.0.1:0"], "upstream": {"url": "http://127.0.0.1:9", "key": KEY}, "clients": many}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(config, file)
        file.flush()
        process = subprocess.Popen([binary("SOLVEGATE"), "serve", "-c", file.name], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        try:
            while process.poll() is None and not signals(process, "SigIgn") & 1 << signal.SIGPIPE - 1:
                pass
            process.send_signal(signal.SIGHUP)
            check(any("event=reloaded" in line for line in process.stdout), "it starts and then reloads")
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@test
def a_reload_that_comes_during_the_end_does_not_cut_it_short():
    for _ in range(5):
        with World() as world:
            world.solved(wait=TIMEOUT)
            process = world.gate.process
            process.send_signal(signal.SIGTERM)
            while process.poll() is None:
                process.send_signal(signal.SIGHUP)
                time.sleep(0.0005)
            equal(process.returncode, 0, "the end")


@test
def a_second_signal_ends_it_at_once():
    with World({"drain_timeout": "10m"}, sim=("--solve-time", "10m")) as world:
        with Raw(world.port) as held:
            body = json.dumps({"method": "turnstile", "sitekey": "k", "pageurl": PAGE, "wait": 40})
            held.send(f"POST /v1/solves HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}")
            wait_until(lambda: world.paid() == 1, "the submit")
            world.gate.send_signal(signal.SIGTERM)
            world.gate.wait_line("event=draining")
            world.gate.send_signal(signal.SIGTERM)
            equal(world.gate.process.wait(TIMEOUT), 0)


run()
