"""A vendor that is honest about the probe and misbehaves in some way with everybody else.

A sitekey says how: "submit.KIND" answers in.php that way, "poll.KIND" takes the task and answers res.php that way; any
other is solved. Nobody is answered badly before `unleash()`, so that all the calls are on the wire by then.
"""
import gzip
import itertools
import socket
import threading
import time
import urllib.parse

ACCEPTED = b'{"status":1,"request":"%d"}'
SOLVED = b'{"status":1,"request":"HONEST_TOKEN_%d"}'
BLOCK = b"x" * 65536


def ok(body, *lines):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % len(body)
    return head + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body


def endless(start, block):
    def send(talk):
        talk.send(start)
        while True:
            talk.send(block)
    return send


def drip(start, piece=b"x"):
    def send(talk):
        talk.send(start)
        while True:
            talk.send(piece)
            time.sleep(0.05)
    return send


def once(data):
    """Sends this and hangs up."""
    def send(talk):
        talk.send(data)
    return send


def reset(talk):
    talk.reset()


def hang(talk):
    talk.connection.recv(1)  # until the other side gives up


def redirect(place):
    return once(b"HTTP/1.1 302 Found\r\nLocation: " + place + b"\r\nContent-Length: 0\r\n\r\n")


def kinds(trap_url):
    """Every misbehaviour: a function that is given the talk, and ends with the connection."""
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    start = b"HTTP/1.1 200 OK\r\n"
    trap = trap_url.encode()
    return {
        "endless-headers": endless(start, b"X-Header: value\r\n" * 1000),
        "endless-header": endless(start + b"X: ", BLOCK),
        "endless-body": endless(start + b"\r\n", BLOCK),
        "endless-chunks": endless(chunked, b"10000\r\n" + BLOCK + b"\r\n"),
        "endless-chunk-size": endless(chunked, b"0" * 65536),
        "endless-trailers": endless(chunked + b"0\r\n", b"X: y\r\n" * 1000),
        "endless-json": endless(start + b'\r\n{"status":1,"list":[', b"[],[]," * 10000),
        "flood-of-1xx": endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 500),
        "drip-headers": drip(start + b"X: "),
        "drip-body": drip(start + b"Content-Length: 60000\r\n\r\n"),
        "drip-status": drip(b"HTTP/1.1 200 "),
        "silence": hang,
        "reset": reset,
        "end": once(b""),
        "short-body": once(start + b"Content-Length: 1000\r\n\r\n{\"stat"),
        "lengths-differ": once(start + b"Content-Length: 5\r\nContent-Length: 9\r\n\r\n{\"stat"),
        "negative-length": once(start + b"Content-Length: -1\r\n\r\n{\"stat"),
        "huge-length": once(start + b"Content-Length: 99999999999999999999\r\n\r\n{\"stat"),
        "bad-chunks": once(chunked + b"zzz\r\nbody"),
        "gzip-bomb": once(ok(gzip.compress(b"0" * (64 << 20)), b"Content-Encoding: gzip")),
        "gzip-answer": once(ok(gzip.compress(ACCEPTED % 1), b"Content-Encoding: gzip")),
        "redirect-elsewhere": redirect(trap + b"/in.php"),
        "redirect-to-a-file": redirect(b"file:///etc/passwd"),
        "redirect-to-itself": redirect(b"/in.php"),
        "tls": once(b"\x15\x03\x01\x00\x02\x02\x28" + bytes(range(256)) * 40),
        "not-http": once(b"SSH-2.0-OpenSSH_9.2\r\n" + b"\xff" * 1000),
        "http-9": once(b"HTTP/9.9 200 OK\r\n\r\n" + ACCEPTED % 1),
        "no-head": once(ACCEPTED % 1),
        "huge-json": once(ok(b'{"pad":"' + b"x" * (16 << 20) + b'","status":1,"request":"1"}')),
        "deep-json": once(ok(b'{"status":' + b"[" * 60000)),
        "nul-bytes": once(ok(b"\0" * 1000)),
        "nul-in-headers": once(start + b"X: a\0b\r\nContent-Length: 2\r\n\r\n{}"),
        "nul-in-json": once(ok(b'{"status":1,"request":"12\0003"}')),
        "escaped-nul": once(ok(b'{"status":1,"request":"\\u0000"}')),
        "empty-request": once(ok(b'{"status":1,"request":""}')),
        "long-request": once(ok(b'{"status":1,"request":"' + b"7" * 20000 + b'"}')),
        "status-of-2": once(ok(b'{"status":2,"request":"1"}')),
        "said-twice": once(ok(b'{"status":1,"request":"1","request":"2"}')),
        "lone-surrogate": once(ok(b'{"status":1,"request":"\\ud800"}')),
        "page-of-500": once(b"HTTP/1.1 500 Oops\r\nContent-Length: 13\r\n\r\n<html></html>"),
    }


class Talk:
    """One connection from the gateway."""

    def __init__(self, vendor, connection):
        self.vendor = vendor
        self.connection = connection
        self.buffer = b""

    def send(self, data):
        self.connection.sendall(data)
        self.vendor.sent += len(data)

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def request(self):
        """Path and parameters of the next call, or None at the end."""
        while b"\r\n\r\n" not in self.buffer:
            if not self.fill():
                return None
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
        while len(self.buffer) < length:
            if not self.fill():
                return None
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return head.split(b" ")[1].decode(), dict(urllib.parse.parse_qsl(body.decode()))

    def fill(self):
        data = self.connection.recv(65536)
        self.buffer += data
        return bool(data)


class HostileVendor:
    """Looks like the simulator to a World, as far as that needs it."""

    def __init__(self, trap_url):
        self.kinds = kinds(trap_url)
        self.tasks = {}
        self.ids = itertools.count(1000)
        self.waiting = 0  # bad answers that somebody waits for
        self.sent = 0
        self._lock = threading.Lock()
        self._unleashed = threading.Event()

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._unleashed.set()
        self._listener.close()

    def unleash(self):
        self._unleashed.set()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(60)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        talk = Talk(self, connection)
        with connection:
            try:
                while True:
                    call = talk.request()
                    if call is None or not self._answer(talk, *call):
                        return
            except OSError:  # the gateway had enough
                pass

    def _answer(self, talk, path, params):
        """False when the connection is of no use afterwards."""
        if path == "/in.php":
            where, _, kind = params.get("sitekey", "").partition(".")
            if where == "submit":
                return self._misbehave(talk, kind)
            task = next(self.ids)
            self.tasks[str(task)] = kind if where == "poll" else None
            talk.send(ok(ACCEPTED % task))
        elif params.get("action") == "get":
            kind = self.tasks.get(params.get("id"))
            if kind:
                return self._misbehave(talk, kind)
            talk.send(ok(SOLVED % int(params["id"])))
        else:
            talk.send(ok(b'{"threads":5,"working_threads":0}' if params.get("action") == "threadsinfo" else b"12.50"))
        return True

    def _misbehave(self, talk, kind):
        with self._lock:
            self.waiting += 1
        self._unleashed.wait()
        self.kinds[kind](talk)
        return False
