"""Hundreds of hostile connections in one thread: each opens, drips, and is opened again when the gateway closes it."""
import collections
import re
import selectors
import socket
import time


OPENED_AT_ONCE = 50


def nothing(_number):
    return b""


class Hostile:
    """One connection: what it still wants to send, and what it has heard."""

    def __init__(self, swarm):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if swarm.window:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, swarm.window)
        self.socket.connect(("127.0.0.1", swarm.port))
        self.socket.setblocking(False)
        self.opened = time.monotonic()
        self.pending = swarm.opening
        self.due = self.opened + swarm.interval
        self.number = 0
        self.heard = b""

    def send(self):
        """Sends what the kernel takes; an end shows as OSError."""
        if self.pending:
            try:
                self.pending = self.pending[self.socket.send(self.pending):]
            except BlockingIOError:
                pass

    def hear(self):
        """False at the end."""
        try:
            data = self.socket.recv(65536)
        except BlockingIOError:
            return True
        self.heard = (self.heard + data)[-4096:]
        return bool(data)


class Swarm:
    """opening is sent at once; drip(n) gives what follows every interval; unless it reads, nothing is ever read.

    Afterwards .lives has the seconds that each closed connection lasted, .statuses how often each status was heard and
    .words how often each answer of the dialect.
    """

    def __init__(self, port, count, opening, drip=nothing, interval=0.1, reads=True, window=0):
        self.port = port
        self.count = count
        self.opening = opening
        self.drip = drip
        self.interval = interval
        self.reads = reads
        self.window = window
        self.selector = selectors.DefaultSelector()
        self.opened = 0
        self.lives = []
        self.statuses = collections.Counter()
        self.words = collections.Counter()

    def open(self):
        one = Hostile(self)
        self.opened += 1
        # Whoever never reads learns of its end by an error, which comes with either kind of interest.
        self.selector.register(one.socket, selectors.EVENT_READ if self.reads else selectors.EVENT_WRITE, one)

    def close(self, one):
        self.lives.append(time.monotonic() - one.opened)
        self.statuses.update(int(status) for status in re.findall(rb"HTTP/1\.1 (\d+)", one.heard))
        self.words.update(word.decode() for word in re.findall(rb"ERROR_\w+|OK\|", one.heard))
        self.selector.unregister(one.socket)
        one.socket.close()

    def members(self):
        return [key.data for key in self.selector.get_map().values()]

    def step(self, one):
        """Says False when the connection has ended."""
        try:
            if self.reads and not one.hear():
                return False
            if not one.pending and time.monotonic() >= one.due:
                one.pending = self.drip(one.number)
                one.number += 1
                one.due = time.monotonic() + self.interval
            one.send()
            return True
        except OSError:
            return False

    def turn(self):
        ready = {key.data for key, _ in self.selector.select(0.02)}
        now = time.monotonic()
        for one in self.members():
            if (one in ready or one.pending or now >= one.due) and not self.step(one):
                self.close(one)
        if not self.reads:  # sockets that take more are ready all the time
            time.sleep(0.02)

    def run(self, is_on, patience=60):
        """Attacks while is_on() says so and until all were there, then waits until the gateway has closed every one of them."""
        while is_on() or self.opened < self.count:
            # Not all at once: hundreds that come in one go are a burst of this machine's, not of the world's.
            for _ in range(min(self.count - len(self.members()), OPENED_AT_ONCE)):
                self.open()
            self.turn()
        ended = time.monotonic()
        while self.members() and time.monotonic() - ended < patience:
            self.turn()
        return self

    def abandon(self):
        """What is still open is closed by us; returns how many."""
        left = self.members()
        for one in left:
            self.selector.unregister(one.socket)
            one.socket.close()
        return len(left)
