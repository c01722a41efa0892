"""Servers of the benchmark's tests: a vendor that charges as a test says, and a gateway that answers as it says."""
import contextlib
import ctypes
import ipaddress
import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness import Skip

PRICE = 0.01


NEAR = [ipaddress.ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16")]
OWN = "10.77.0.1"
CLONE_NEWNET = 0x40000000


def enter_own_network():
    """From here on this program and what it starts have a network without any cable, where OWN is an address of this machine.
    Without the right to make one, the machine's own network stays."""
    if shutil.which("ip") and ctypes.CDLL(None).unshare(CLONE_NEWNET) == 0:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        subprocess.run(["ip", "address", "add", OWN + "/8", "dev", "lo"], check=True)


def own_address():
    """One of this machine that is private and not its loopback: for the benchmark that is another machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((OWN, 9))
        except OSError as error:
            raise Skip("this machine has no address but its loopback") from error
        address = probe.getsockname()[0]
    if not any(ipaddress.ip_address(address) in network for network in NEAR):
        raise Skip(f"{address} is no private address")
    return address


class Talker(BaseHTTPRequestHandler):
    """One connection; the server's owner knows what is said on it."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def setup(self):
        super().setup()
        self.calls = 0  # on this connection

    def log_message(self, *args):
        """Tests do not read it."""

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.calls += 1
        self.server.owner.times.append(time.monotonic())
        reply = self.server.owner.reply(self.path, body, self.calls)
        if reply is None:
            self.close_connection = True
            return
        status, text, *headers = reply
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def handle(self):
        with contextlib.suppress(ConnectionError):  # the benchmark may hang up
            super().handle()

    def finish(self):
        with contextlib.suppress(ConnectionError):
            super().finish()

    do_GET = do_POST = answer


class Server:
    """Listens until its block ends; reply(path, body, calls) of a subclass returns status, bytes and pairs for headers, or
    None to hang up."""

    def __init__(self, host="127.0.0.1", port=0):
        self.lock = threading.Lock()
        self.times = []  # of all calls
        self.server = ThreadingHTTPServer((host, port), Talker)
        self.server.owner = self
        self.server.daemon_threads = True
        self.url = f"http://{host}:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def say(thing):
    return 200, json.dumps(thing).encode()


class Vendor(Server):
    """in.php and res.php. Every submit that arrives is accepted and costs PRICE, or price(number of those before); what the
    balance shows of it is the test's choice: shown(vendor) returns the number of captchas that it shows, None if it is not
    told."""

    def __init__(self, shown=None, solve_s=0.02, lose=None, end=None, host="127.0.0.1", price=None):
        super().__init__(host)
        self.price = price or (lambda number: PRICE)
        self.shown = shown or (lambda vendor: len(vendor.tasks))
        self.solve_s = solve_s
        self.lose = lose or (lambda calls: False)  # is the reply to a submit lost?
        self.end = end or {"status": 1, "request": "TOKEN"}
        self.tasks = []  # when each was accepted

    @property
    def spent(self):
        return self.cost(len(self.tasks))

    def cost(self, captchas):
        """A balance that is topped up shows fewer than none."""
        if captchas < 0:
            return captchas * PRICE
        return round(sum(self.price(number) for number in range(captchas)), 6)

    def older_than(self, seconds):
        now = time.monotonic()
        return sum(1 for task in self.tasks if now - task >= seconds)

    def reply(self, path, body, calls):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(path).query))
        with self.lock:
            if path.startswith("/in.php"):
                self.tasks.append(time.monotonic())
                return None if self.lose(calls) else say({"status": 1, "request": str(len(self.tasks))})
            if query.get("action") == "getbalance":
                shown = self.shown(self)  # may take its time
                return say({"status": 0, "request": "ERROR_X"} if shown is None
                           else {"status": 1, "request": f"{100 - self.cost(shown):.4f}"})
            if time.monotonic() - self.tasks[int(query["id"]) - 1] < self.solve_s:
                return say({"status": 0, "request": "CAPCHA_NOT_READY"})
        return say(self.end)


class Gateway(Server):
    """/v1/solves: answers(number of the call, is it a look) returns a reply."""

    def __init__(self, answers, host="127.0.0.1", port=0):
        super().__init__(host, port)
        self.answers = answers
        self.calls = 0  # asks and looks

    def reply(self, path, body, calls):
        if path.startswith("/v1/stats"):
            return 403, b"{}"
        with self.lock:
            self.calls += 1
            number = self.calls
        return self.answers(number, path.startswith("/v1/solves/"))
