#!/usr/bin/env python3
"""solvegate bench: whom it asks, whatever a name, the environment or a reply leads it to. (TAP)"""
import json
import os
import shutil
import subprocess
import tempfile

from bench_world import Gateway, Server, Vendor, enter_own_network, own_address, say
from cli_world import EX_USAGE, clean_environment, expect, solvegate
from harness import KEY, TIMEOUT, Skip, binary, contains, equal, run, test

NAME = "moving.example"
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def solved(_number, _is_look):
    return say({"id": "1", "status": "solved", "source": "api"})


def report(url, *args, code=0, env=None):
    return json.loads(expect(solvegate("bench", "--url", url, "--json", *args, env=env), code).stdout)


def port_of(server):
    return server.url.rsplit(":", 1)[1]


@test
def a_name_of_this_machine_is_this_machine():
    with Gateway(solved) as gateway:
        equal(report(f"http://localhost:{port_of(gateway)}", "--rate", "200/s", "-n", "20", "--duration", "1s")["solved"], 20)


@test
def what_is_neither_here_nor_private_is_refused():
    for host in ("[::ffff:1.1.1.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::1]", "192.0.2.1", "224.0.0.1", "0.0.0.0", "[::]"):
        for more in (["-n", "1"], ["--record", "/dev/null", "-d", "100ms"]):
            done = solvegate("bench", "--url", f"http://{host}", *more)
            contains(expect(done, EX_USAGE, stdout="").stderr, "--i-own-this-host")


class Network:
    """A world whose file of hosts names one; unshare gives it to one program alone."""

    def __enter__(self):
        if not shutil.which("unshare"):
            raise Skip("unshare is not installed")
        self.folder = tempfile.TemporaryDirectory()
        self.hosts = os.path.join(self.folder.name, "hosts")
        self.move("127.0.0.1")
        if self.run("true").returncode != 0:
            raise Skip("no program gets a file of hosts of its own here")
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def move(self, address):
        with open(self.hosts, "w", encoding="utf-8") as file:
            file.write(f"{address} {NAME}\n")

    def run(self, *command):
        script = 'mount --bind "$1" /etc/hosts && shift && exec "$@"'
        return subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", self.hosts, *command], capture_output=True,
                              text=True, check=False, timeout=TIMEOUT, env=clean_environment())


class Mover(Gateway):
    """Asked for its statistics, it moves the name to another address."""

    def __init__(self, network, address):
        super().__init__(solved)
        self.network, self.address = network, address

    def reply(self, path, body, calls):
        if path.startswith("/v1/stats"):
            self.network.move(self.address)
        return super().reply(path, body, calls)


@test
def a_name_that_moves_from_this_machine_to_another_is_not_followed():
    """No pace was set for this machine, so the other one must not be asked at all; whoever owns both may."""
    address = own_address()
    for more, calls in (((), 0), (("--i-own-this-host",), 5)):
        with Network() as network, Mover(network, address) as here, Gateway(solved, address, int(port_of(here))) as there:
            done = network.run(binary("SOLVEGATE"), "bench", "--url", f"http://{NAME}:{port_of(here)}", "-n", "5", "--json", *more)
            told = json.loads(expect(done, 0 if calls else 1).stdout)
            equal((there.calls, here.calls), (calls, 0), "asks there and here")
            equal(told["errors"], {} if calls else {"bench_unreachable": 5})


@test
def proxies_of_the_environment_are_not_asked():
    with Server() as proxy, Gateway(solved) as gateway, Vendor() as vendor:
        proxy.reply = lambda path, body, calls: (502, b"")
        env = {**{name: proxy.url for name in PROXIES}, "no_proxy": "", "NO_PROXY": ""}
        equal(report(gateway.url, "-n", "5", env=env)["solved"], 5)
        done = solvegate("bench", "vendor", "--url", vendor.url, "--yes", "--budget", "1", "-n", "2", "--poll", "50ms",
                         env={**env, "CAPTCHAAI_API_KEY": KEY})
        expect(done, 0)
        equal(len(proxy.times), 0, "calls of the proxy")


@test
def redirects_are_not_followed():
    with Gateway(solved) as other:
        with Server() as gateway:
            gateway.reply = lambda path, body, calls: (302, b"", ("Location", other.url + path))
            equal(report(gateway.url, "-n", "3", code=1)["errors"], {"http_302": 3})
            done = solvegate("bench", "vendor", "--url", gateway.url, "--yes", "--budget", "1", "--price", "0.1", "-n", "3", "--json",
                             env={"CAPTCHAAI_API_KEY": KEY})
            equal(json.loads(expect(done, 1).stdout)["rows"][0]["solved"], 0)
        equal(len(other.times), 0, "calls elsewhere")


enter_own_network()
run()
