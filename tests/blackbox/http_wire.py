"""http-echo and raw sockets towards it: what the HTTP tests need and no HTTP library would let them send."""
import random
import select
import socket
import sys

from harness import TIMEOUT, Program, Raw, get, wait_until


def seeded():
    """A source of chance; --seed repeats a run."""
    seed = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else random.randrange(1 << 32)
    print(f"# seed {seed}")
    return random.Random(seed)


class Echo(Program):
    """The real frontend with nothing behind it; options are those of http-echo."""

    variable = "HTTP_ECHO"
    ready = r"ready (http://127\S+)"

    def __init__(self, *addresses, wrapper=(), **options):
        # A sanitizer cannot look for leaks below strace.
        super().__init__(*[f"{name.replace('_', '-')}={value}" for name, value in options.items()],
                         "127.0.0.1:0", *addresses, env={"ASAN_OPTIONS": "detect_leaks=0"} if wrapper else None)
        self.wrapper = list(wrapper)

    def command(self):
        return self.wrapper + super().command()

    def __exit__(self, *failure):
        if self.wrapper and failure[0] is None:
            self.ask("/quit")  # strace keeps the signal to itself
            self.process.wait(TIMEOUT)
        super().__exit__(*failure)

    def wire(self):
        return Wire(("127.0.0.1", self.port))

    def ask(self, path):
        return get(self.url + path).text

    def stats(self):
        """The counters; asking for them is itself one request, seen and open."""
        return get(self.url + "/stats").json()

    def until(self, wanted, what):
        return wait_until(lambda: [stats for stats in [self.stats()] if wanted(stats)], what)[0]

    def until_held(self, count):
        return self.until(lambda stats: stats["waiting"] == count, f"{count} held")


class Wire(Raw):
    def __init__(self, address, family=socket.AF_INET):  # pylint: disable=super-init-not-called
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(address)
        if family != socket.AF_UNIX:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def send(self, data):
        """Bytes that the server hung up on are no concern of ours: what it answered is."""
        try:
            return super().send(data)
        except (BrokenPipeError, ConnectionResetError):
            return self

    def send_slowly(self, data, pieces):
        """In pieces that arrive one by one; pieces is a list of lengths, repeated as needed."""
        at = index = 0
        while at < len(data):
            step = pieces[index % len(pieces)]
            self.send(data[at:at + step])
            at += step
            index += 1
            # Something to read means that it answered early: more bytes would only risk a reset.
            if select.select([self.socket], [], [], 0.0002)[0]:
                break
        return self

    def ask(self, path, lines="", method="GET", body=b""):
        """One request on this connection, and its reply."""
        return self.send(request(path, lines, method, body)).reply()

    def head_reply(self):
        """The reply to HEAD: nothing but a head, whatever length it names."""
        while b"\r\n\r\n" not in self.buffer:
            if not self.fill():
                raise EOFError("closed within a head")
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        return head.decode("latin-1")

    def end(self):
        """Sends no more, but reads on."""
        self.socket.shutdown(socket.SHUT_WR)
        return self


def request(path, lines="", method="GET", body=b"", version="1.1"):
    if body:
        lines += f"Content-Length: {len(body)}\r\n"
    return f"{method} {path} HTTP/{version}\r\nHost: x\r\n{lines}\r\n".encode("latin-1") + body


def fields(reply):
    """What /echo says that it saw, as a dict."""
    return dict(line.split("=", 1) for line in reply.text.splitlines())


def fnv(data):
    """The hash that /echo shows of a body."""
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % (1 << 64)
    return str(value)
