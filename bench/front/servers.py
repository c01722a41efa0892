"""The programs that are measured, each on cpu 0, and the vendor's stand-in behind the gateway."""
import http.client
import http.server
import json
import os
import pathlib
import re
import socket
import string
import subprocess
import threading
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
SERVER_CPU = 0
VENDOR_KEY = "0123456789abcdef0123456789abcdef"
WORKER_KEY = "worker-worker-worker-worker-wo32"
ADMIN_KEY = "admin-admin-admin-admin-admin-32"
CONNECTIONS = 10_000
TOKEN = ("0.bench" + "Zm9vYmFyYmF6cXV4" * 13)[:200]  # as long as a real Turnstile token is at least


def pinned(cpu, command):
    return (["taskset", "-c", str(cpu)] if os.cpu_count() > 1 else []) + [str(word) for word in command]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Server:
    """A process on cpu 0: its address, its CPU time, its memory."""

    def __init__(self, command, port=None, **options):
        self.process = subprocess.Popen(pinned(SERVER_CPU, command), text=True, **options)
        self.port = port

    def wait_for_port(self):
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise SystemExit(f"{self.process.args} did not start")
                time.sleep(0.02)

    @property
    def pid(self):
        """Of the process that serves."""
        return self.process.pid

    def cpu_seconds(self):
        """In user space and in the kernel."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        tick = os.sysconf("SC_CLK_TCK")
        return int(fields[11]) / tick, int(fields[12]) / tick

    def cpu_ns(self):
        """The same together, exactly."""
        return int(pathlib.Path(f"/proc/{self.pid}/schedstat").read_text().split()[0])

    def rss_bytes(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024

    def call(self, method, target, body=None, key=None):
        """Status and text of one call."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Authorization": "Bearer " + key} if key else {}
        connection.request(method, target, body, headers)
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, text

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Vendor:
    """Accepts every submit; answers polls once it is allowed to, and remembers when it first did."""

    def __init__(self):
        vendor = self
        self.is_open = threading.Event()
        self.is_open.set()
        self.told_ns = None

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def reply(self, text):
                body = text.encode()
                head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
                if TOKEN in text and vendor.told_ns is None:
                    vendor.told_ns = time.monotonic_ns()
                self.wfile.write(head.encode() + body)

            def do_POST(self):
                form = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                action = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query + "&" + form).get("action", [""])[0]
                if action == "":
                    self.reply('{"status":1,"request":"5000000001"}')
                elif action == "threadsinfo":
                    self.reply('{"threads":"1000","working_threads":0}')
                elif action == "getbalance":
                    self.reply('{"status":1,"request":"10"}')
                elif vendor.is_open.is_set():
                    self.reply('{"status":1,"request":"%s"}' % TOKEN)
                else:
                    self.reply('{"status":0,"request":"CAPCHA_NOT_READY"}')

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()


class Gate(Server):
    """solvegate as released, with clients; lifetimes long enough that nothing expires meanwhile."""

    def __init__(self, build, folder, vendor):
        path = pathlib.Path(folder) / "solvegate.json"
        path.write_text(json.dumps({
            "listen": ["127.0.0.1:0"],
            "upstream": {"url": vendor.url, "key": VENDOR_KEY, "slots": 1000},
            "poll": {"first": "100ms", "interval": "100ms"},
            "cache": {"ttl": {"turnstile": "1h"}},
            "limits": {"connections": CONNECTIONS + 200, "idle_timeout": "10m"},
            "log": {"level": "warn"},
            "drain_timeout": "100ms",
            "clients": [{"name": "worker", "key": WORKER_KEY},
                        {"name": "operator", "key": ADMIN_KEY, "scopes": ["admin"]}],
        }))
        super().__init__([build / "src" / "solvegate", "serve", "-c", path], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
        ready = self.process.stdout.readline()
        found = re.search(r"ready on http://127\.0\.0\.1:(\d+)", ready)
        if not found:
            raise SystemExit(f"the gateway did not start: {ready!r}")
        self.port = int(found.group(1))

    def submit(self, sitekey):
        """A request's id."""
        query = urllib.parse.urlencode({"key": WORKER_KEY, "method": "turnstile", "sitekey": sitekey,
                                        "pageurl": "https://example.com/login"})
        text = self.call("POST", "/in.php", query)[1]
        if not text.startswith("OK|"):
            raise SystemExit(f"in.php said {text}")
        return text[3:]

    def held_callers(self):
        return json.loads(self.call("GET", "/v1/stats", key=ADMIN_KEY)[1])["now"]["held_callers"]


class Nginx(Server):
    """`return 200` with these bodies, and at cache_port the first of them as a hit of its cache."""

    def __init__(self, folder, result, solve):
        folder = pathlib.Path(folder) / "nginx"
        folder.mkdir(mode=0o755)
        port, self.cache_port = free_port(), free_port()
        words = {"folder": folder, "port": port, "cache_port": self.cache_port, "result": result, "solve": solve}
        (folder / "nginx.conf").write_text(string.Template((HERE / "nginx.conf").read_text()).substitute(words))
        search = os.environ.get("PATH", "") + ":/usr/sbin"
        super().__init__(["nginx", "-p", folder, "-c", folder / "nginx.conf"], port, stderr=subprocess.DEVNULL,
                         env={**os.environ, "PATH": search})
        self.wait_for_port()
        self.worker = self.find_worker()

    def find_worker(self):
        """The child that serves; its parent only watches it."""
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:  # gone meanwhile
                continue
            if int(fields[1]) == self.process.pid:
                return int(stat.parent.name)
        raise SystemExit("nginx has no worker")

    @property
    def pid(self):
        return self.worker


class Node(Server):
    def __init__(self, key, task, answer):
        port = free_port()
        super().__init__(["node", HERE / "node_map.js", port, key, task, answer], port)
        self.wait_for_port()
