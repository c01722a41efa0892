"""The gateway as it is measured here, and the vendor's stand-in behind it."""
import http.server
import itertools
import json
import threading
import time
import urllib.parse

from programs import VENDOR_KEY, Gateway

WORKER_KEY = "worker-worker-worker-worker-wo32"
ADMIN_KEY = "admin-admin-admin-admin-admin-32"
CONNECTIONS = 10_000
TOKEN = ("0.bench" + "Zm9vYmFyYmF6cXV4" * 13)[:200]  # as long as a real Turnstile token is at least
HELD = "/held"


class Vendor:
    """Accepts every submit; answers polls once it is allowed to, and remembers when it first did.

    For caches, which can only hold what they are asked for, GET /held is answered when it is allowed to."""

    def __init__(self):
        vendor = self
        self.is_open = threading.Event()
        self.is_open.set()
        self.told_ns = None
        self.held = 0
        numbers = itertools.count(5_000_000_001)  # no two tasks have one id

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
                    self.reply('{"status":1,"request":"%d"}' % next(numbers))
                elif action == "threadsinfo":
                    self.reply('{"threads":"1000","working_threads":0}')
                elif action == "getbalance":
                    self.reply('{"status":1,"request":"10"}')
                elif vendor.is_open.is_set():
                    self.reply('{"status":1,"request":"%s"}' % TOKEN)
                else:
                    self.reply('{"status":0,"request":"CAPCHA_NOT_READY"}')

            def do_GET(self):
                if not self.path.startswith(HELD):
                    self.do_POST()
                    return
                vendor.held += 1
                vendor.is_open.wait(60)
                self.reply(TOKEN)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()


class Gate(Gateway):
    """With clients; lifetimes long enough that nothing expires meanwhile."""

    def __init__(self, build, folder, vendor):
        super().__init__(build, folder, {
            "listen": ["127.0.0.1:0"],
            "upstream": {"url": vendor.url, "key": VENDOR_KEY, "slots": 1000},
            "poll": {"first": "100ms", "interval": "100ms"},
            "cache": {"ttl": {"turnstile": "1h"}},
            "limits": {"connections": CONNECTIONS + 200, "idle_timeout": "10m"},
            "log": {"level": "warn"},
            "drain_timeout": "100ms",
            "clients": [{"name": "worker", "key": WORKER_KEY},
                        {"name": "operator", "key": ADMIN_KEY, "scopes": ["admin"]}],
        })

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
