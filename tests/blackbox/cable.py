"""The cable between a gateway and its store, which can be cut so that neither end notices."""
import contextlib
import socket
import threading
import time


class Cable:
    """Carries every connection to the server's port. While it is cut, and for ever on connections of that time and before, bytes vanish,
    and so does the news that an end hung up: the server keeps its sessions, as it does when a network is divided."""

    def __init__(self, port):
        self._to = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._pairs = []
        self._is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A thread that waits in accept() keeps the port until it is woken.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for pair in self._pairs:
                pair.close()

    def url(self, url):
        """The server's URL, by way of this cable."""
        own = f":{self._to[1]}"
        assert own in url
        return url.replace(own, f":{self.port}")

    def cut(self):
        with self._lock:
            self._is_cut = True
            for pair in self._pairs:
                pair.is_dead = True

    def cut_new(self):
        """Connections that are there go on; new ones lead nowhere."""
        with self._lock:
            self._is_cut = True

    def cut_first(self):
        """The first connection that was ever made, and no other, just after something was said there."""
        first = self._pairs[0]
        carried = first.carried
        while first.carried == carried:
            time.sleep(0.01)
        while carried != first.carried:
            carried = first.carried
            time.sleep(0.1)
        first.is_dead = True

    def sever(self):
        """Ends what the server still has of the connections that were cut."""
        with self._lock:
            for pair in self._pairs:
                if pair.is_dead:
                    pair.close_far()

    def mend(self):
        with self._lock:
            self._is_cut = False

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                pair = _Pair(near, None if self._is_cut else self._to)
                self._pairs.append(pair)
            pair.run()


class _Pair:
    """One connection; without an address it leads nowhere."""

    def __init__(self, near, to):
        self.is_dead = to is None
        self.carried = 0
        self._near = near
        self._far = socket.create_connection(to) if to else None

    def run(self):
        if self._far is None:
            return
        for source, sink in ((self._near, self._far), (self._far, self._near)):
            threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self.carried += 1
                if not self.is_dead:
                    sink.sendall(data)
            if not self.is_dead:
                sink.shutdown(socket.SHUT_WR)

    def close_far(self):
        if self._far is not None:
            with contextlib.suppress(OSError):
                self._far.shutdown(socket.SHUT_RDWR)
            self._far.close()

    def close(self):
        self.close_far()
        self._near.close()
