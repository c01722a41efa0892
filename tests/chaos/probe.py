#!/usr/bin/env python3
"""Fifty legitimate requests a second over a few kept-alive connections, in a process of their own.

    probe.py PORT SITEKEY PAGE KEY SOLUTION [ID]

Half of them ask POST /v1/solves for something that is solved, the others res.php for the id that was told then; or for
this ID, which is not ready yet and stays so: answered ones give way to newcomers when limits.requests are there. Starts at
once, says "ready" once every connection has been answered, counts anew at each line on stdin, and at the end of stdin
prints a line of JSON for each count: requests, failures, the first of them, latencies in milliseconds.

After each request it sends some bytes to a peer that does nothing but send them back, which is another process of its
own (probe.py echo): how long that takes is how long this machine takes, whatever the gateway does.
"""
import http.client
import json
import selectors
import socket
import subprocess
import sys
import threading
import time

RATE = 50
CONNECTIONS = 4
ECHOED = b"x" * 300
TIMEOUT = 60  # of one request; the machine may be busy, and slow is not failed


def share_ms(seconds, share):
    """The time that this share of them did not exceed, in milliseconds."""
    ordered = sorted(seconds) or [0]
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1e3


def echo():
    """Sends everything back until it is killed."""
    selector = selectors.DefaultSelector()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        for _ in range(CONNECTIONS):
            selector.register(listener.accept()[0], selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                data = key.fileobj.recv(4096)
                key.fileobj.sendall(data)
                if not data:
                    selector.unregister(key.fileobj)


class Count:
    """What came of the requests that began while this was the current one."""

    def __init__(self):
        self.lock = threading.Lock()
        self.times = []
        self.echoes = []
        self.failures = []

    def note(self, seconds, problem):
        with self.lock:
            self.times.append(seconds)
            if problem:
                self.failures.append(problem)

    def note_echo(self, seconds):
        with self.lock:
            self.echoes.append(seconds)

    def report(self):
        at = [share_ms(self.times, share) for share in (0.5, 0.99, 1)]
        return {"requests": len(self.times), "failed": len(self.failures), "failures": self.failures[:3],
                "p50_ms": at[0], "p99_ms": at[1], "max_ms": at[2], "echo_p99_ms": share_ms(self.echoes, 0.99)}


class Prober:
    def __init__(self, port, sitekey, page, key, solution, pending=None):
        self.port = int(port)
        self.get = f"/res.php?key={key}&action=get&id="
        self.pending = pending
        self.body = json.dumps({"method": "turnstile", "sitekey": sitekey, "pageurl": page, "wait": 15})
        self.headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        self.solution = solution
        self.counts = [Count()]
        self.is_over = threading.Event()
        self.echo_port = None
        self.warm = threading.Barrier(CONNECTIONS + 1)

    def poll(self, connection, told):
        connection.request("GET", self.get + (self.pending or told))
        reply = connection.getresponse()
        text = reply.read().decode("utf-8", "replace")
        expected = "CAPCHA_NOT_READY" if self.pending else "OK|" + self.solution
        return told, None if text == expected else f"res.php said {reply.status} {text[:200]}"

    def solve(self, connection):
        connection.request("POST", "/v1/solves", self.body, self.headers)
        reply = connection.getresponse()
        text = reply.read().decode("utf-8", "replace")
        if reply.status != 200 or json.loads(text).get("solution") != self.solution:
            return None, f"POST /v1/solves said {reply.status} {text[:200]}"
        return str(json.loads(text)["id"]), None

    def ask(self, connection, told):
        """Returns the id that was told, which the next call polls if there is one."""
        count = self.counts[-1]
        started = time.monotonic()
        try:
            answered, problem = self.poll(connection, told) if told else self.solve(connection)
        except (OSError, http.client.HTTPException, ValueError) as failure:
            answered, problem = None, f"{type(failure).__name__}: {failure}"
            connection.close()
        count.note(time.monotonic() - started, problem)
        return None if told else answered

    def ask_echo(self, peer):
        count = self.counts[-1]
        started = time.monotonic()
        peer.sendall(ECHOED)
        got = 0
        while got < len(ECHOED):
            got += len(peer.recv(4096))
        count.note_echo(time.monotonic() - started)

    def work(self, number):
        peer = socket.create_connection(("127.0.0.1", self.echo_port), timeout=TIMEOUT)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        told = self.ask(connection, None)
        self.warm.wait()
        due = time.monotonic() + number / RATE
        while not self.is_over.wait(max(0, due - time.monotonic())):
            told = self.ask(connection, told)
            self.ask_echo(peer)
            # Behind time it does not catch up: the machine is slow, and a burst would be another test.
            due = max(due + CONNECTIONS / RATE, time.monotonic() - 0.5)
        connection.close()
        peer.close()

    def run(self):
        with subprocess.Popen([sys.executable, __file__, "echo"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              text=True) as peer:
            self.echo_port = int(peer.stdout.readline())
            self.probe()

    def probe(self):
        threads = [threading.Thread(target=self.work, args=(number,)) for number in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        self.warm.wait()
        print("ready", flush=True)
        for _ in sys.stdin:
            self.counts.append(Count())
        self.is_over.set()
        for thread in threads:
            thread.join()
        for count in self.counts:
            print(json.dumps(count.report()), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "echo":
        echo()
    else:
        Prober(*sys.argv[1:]).run()
