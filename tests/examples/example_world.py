"""What stands around an example: a gateway with clients and a simulator, a line to it that breaks, and a site with a form."""
import html
import json
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from gateway import ALICE, BOB, World, clients
from harness import http_request, wait_until
from vendor_world import paid_for

# Nothing but its idempotency key can find a solve: requests are never joined, and no failure is tried again.
CONFIG = {
    "retry": {"busy": 0, "unsolvable": 0, "transient": 0, "unknown": 0},
    "reuse": {"default": "none"},
    **clients(bob={"budget_per_day": 0}),
}
CAROL = "carol-carol-carol-carol-carol-32"
CONFIG["clients"].append({"name": "carol", "key": CAROL, "scopes": ["solve"], "requests": 1})
KEYS = {"alice": ALICE, "bob": BOB, "carol": CAROL}


class Server:
    """An HTTP server in a thread; handle(handler) answers one call."""

    def __enter__(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.handle(self, b"")

            def do_POST(self):
                outer.handle(self, self.rfile.read(int(self.headers["Content-Length"])))

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def answer(handler, status, headers, body, sent=None):
    """All of it, or only the first bytes and then the end of the connection."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[:sent])
    handler.close_connection = sent is not None


class Line(Server):
    """The line to the gateway. `damage` is what happens to the calls to come: "cut" loses the reply once the task is paid
    for, "half" loses the second half of it, "short" lets the gateway wait not at all; otherwise calls pass."""

    def __init__(self, world):
        self.world = world
        self.damage = []
        self.calls = []  # path, order, task, damage, status
        self.times = []

    def handle(self, handler, body):
        self.times.append(time.monotonic())
        damage = self.damage.pop(0) if self.damage else None
        task = json.loads(body)
        call = (handler.path, handler.headers.get("Idempotency-Key"), dict(task), damage)
        if damage in ("cut", "short"):
            task["wait"] = 0
        kept = {name: handler.headers[name] for name in ("Idempotency-Key", "Authorization", "Content-Type")
                if name in handler.headers}
        reply = http_request(self.world.url + handler.path, handler.command, json.dumps(task), kept)
        self.calls.append((*call, reply.status))
        if damage == "cut":
            wait_until(lambda: paid_for(self.world, task["sitekey"]), "the paid submit")
            handler.close_connection = True
            return
        headers = {name: value for name, value in reply.headers.items() if name in ("retry-after", "content-type")}
        answer(handler, reply.status, headers, reply.body, len(reply.body) // 2 if damage == "half" else None)


class Site(Server):
    """A site of one's own: GET has a form with the sitekey of the query, POST says which token came."""

    def handle(self, handler, body):
        if handler.command == "POST":
            form = urllib.parse.parse_qs(body.decode())
            page = "".join(form.get("cf-turnstile-response", ["no token"]))
        else:
            sitekey = urllib.parse.parse_qs(urllib.parse.urlsplit(handler.path).query).get("sitekey", [""])[0]
            page = (f'<form method="post"><div data-sitekey="{html.escape(sitekey)}"></div><input name="name" value="me">'
                    '<input type="hidden" name="cf-turnstile-response"><button type="submit">Log in</button></form>')
        answer(handler, 200, {"Content-Type": "text/html; charset=utf-8"}, page.encode())


def make_world():
    return World(CONFIG, sim=("--solve-time", "300ms"))
