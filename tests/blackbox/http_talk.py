"""HTTP for tests: whole calls, and sockets on which a test decides every byte."""
import http.client
import json
import os
import socket
import struct
import urllib.parse

TIMEOUT = float(os.environ.get("TEST_TIMEOUT", "30"))  # of any single wait; sanitizers are slow, machines are busy


class Response:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers  # names in lower case; of several the last
        self.body = body

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            raise AssertionError(f"not JSON: HTTP {self.status} {self.body[:300]!r}") from None

    def __repr__(self):
        return f"<HTTP {self.status} {self.body[:200]!r}>"


def http_request(url, method=None, body=None, headers=None, query=None, timeout=TIMEOUT):
    """One call on a fresh connection. A dict for a body is sent as JSON; query is a dict, too."""
    parts = urllib.parse.urlsplit(url)
    target = parts.path or "/"
    query = "&".join(filter(None, [parts.query, urllib.parse.urlencode(query or {})]))
    if query:
        target += "?" + query
    headers = dict(headers or {})
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
        headers.setdefault("Content-Type", "application/json")
    elif isinstance(body, str):
        body = body.encode()
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    try:
        connection.request(method or ("GET" if body is None else "POST"), target, body, headers)
        reply = connection.getresponse()
        names = {name.lower(): value for name, value in reply.getheaders()}
        return Response(reply.status, names, reply.read())
    finally:
        connection.close()


def get(url, /, **query):
    return http_request(url, "GET", query=query)


def post_form(url, params, headers=None):
    headers = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
    return http_request(url, "POST", urllib.parse.urlencode(params), headers)


def multipart(fields, boundary="----harness"):
    """Body and content type; a field is (name, text), or (name, filename, bytes) for a file."""
    out = b""
    for field in fields:
        out += f'--{boundary}\r\nContent-Disposition: form-data; name="{field[0]}"'.encode()
        if len(field) == 3:
            out += f'; filename="{field[1]}"\r\nContent-Type: application/octet-stream'.encode()
        value = field[-1]
        out += b"\r\n\r\n" + (value if isinstance(value, bytes) else value.encode()) + b"\r\n"
    out += f"--{boundary}--\r\n".encode()
    return out, f"multipart/form-data; boundary={boundary}"


class Raw:
    """A socket on which a test decides every byte."""

    def __init__(self, port, host="127.0.0.1", timeout=TIMEOUT):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())
        return self

    def fill(self):
        """Reads once: True for bytes, False for the end; a reset raises ConnectionResetError."""
        data = self.socket.recv(65536)
        self.buffer += data
        return bool(data)

    def reply(self):
        """The next reply; a body without a length runs to the end. Interim replies are returned, too."""
        while b"\r\n\r\n" not in self.buffer:
            if not self.fill():
                raise EOFError(f"connection closed after {self.buffer!r}")
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        status = int(lines[0].split(" ")[1])
        length = 0 if status < 200 or status == 204 else headers.get("content-length")
        while length is None and self.fill():
            pass
        length = len(self.buffer) if length is None else int(length)
        while len(self.buffer) < length:
            if not self.fill():
                raise EOFError(f"body ends after {len(self.buffer)} of {length} bytes: {self.buffer!r}")
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return Response(status, headers, body)

    def rest(self):
        """Everything up to the end of the connection."""
        while self.fill():
            pass
        data, self.buffer = self.buffer, b""
        return data

    def ending(self):
        """How it ends without any more bytes: "fin" or "reset"."""
        try:
            data = self.rest()
        except ConnectionResetError:
            return "reset"
        return "fin" if not data else f"bytes {data!r}"

    def is_silent(self, seconds):
        """True if nothing comes for that long, not even an end."""
        self.socket.settimeout(seconds)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
            return False
        except (socket.timeout, TimeoutError):
            return True
        finally:
            self.socket.settimeout(TIMEOUT)

    def reset(self):
        """Closes with RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self):
        self.socket.close()


def raw(port, data, timeout=TIMEOUT):
    """Sends the bytes and returns everything up to the end of the connection."""
    with Raw(port, timeout=timeout) as connection:
        return connection.send(data).rest()
