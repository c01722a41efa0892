#!/usr/bin/env python3
"""Fifty legitimate requests a second over a few kept-alive connections, in a process of their own.

    probe.py PORT ID SITEKEY PAGE KEY SOLUTION

Starts at once, says "ready" once every connection has been answered, counts anew at each line on stdin, and at the end
of stdin prints a line of JSON for each count: requests, failures, the first of them, latencies in milliseconds.
"""
import http.client
import json
import sys
import threading
import time

RATE = 50
CONNECTIONS = 4
TIMEOUT = 60  # of one request; the machine may be busy, and slow is not failed


class Count:
    """What came of the requests that began while this was the current one."""

    def __init__(self):
        self.lock = threading.Lock()
        self.times = []
        self.failures = []

    def note(self, seconds, problem):
        with self.lock:
            self.times.append(seconds)
            if problem:
                self.failures.append(problem)

    def report(self):
        times = sorted(self.times) or [0]
        at = [times[min(len(times) - 1, int(len(times) * share))] for share in (0.5, 0.99, 1)]
        return {"requests": len(self.times), "failed": len(self.failures), "failures": self.failures[:3],
                "p50_ms": at[0] * 1e3, "p99_ms": at[1] * 1e3, "max_ms": at[2] * 1e3}


class Prober:
    def __init__(self, port, task, sitekey, page, key, solution):
        self.port = int(port)
        self.get = f"/res.php?key={key}&action=get&id={task}"
        self.body = json.dumps({"method": "turnstile", "sitekey": sitekey, "pageurl": page, "wait": 15})
        self.headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        self.solution = solution
        self.counts = [Count()]
        self.is_over = threading.Event()
        self.warm = threading.Barrier(CONNECTIONS + 1)

    def ask(self, connection, is_poll):
        """None, or what was wrong with the answer."""
        if is_poll:
            connection.request("GET", self.get)
        else:
            connection.request("POST", "/v1/solves", self.body, self.headers)
        reply = connection.getresponse()
        text = reply.read().decode("utf-8", "replace")
        if is_poll:
            return None if text == "OK|" + self.solution else f"res.php said {reply.status} {text[:200]}"
        is_right = reply.status == 200 and json.loads(text).get("solution") == self.solution
        return None if is_right else f"POST /v1/solves said {reply.status} {text[:200]}"

    def ask_once(self, connection, is_poll):
        count = self.counts[-1]
        started = time.monotonic()
        try:
            problem = self.ask(connection, is_poll)
        except (OSError, http.client.HTTPException, ValueError) as failure:
            problem = f"{type(failure).__name__}: {failure}"
            connection.close()
        count.note(time.monotonic() - started, problem)

    def work(self, number):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        self.ask_once(connection, True)
        self.warm.wait()
        due = time.monotonic() + number / RATE
        is_poll = number % 2 == 0
        while not self.is_over.wait(max(0, due - time.monotonic())):
            self.ask_once(connection, is_poll)
            is_poll = not is_poll
            # Behind time it does not catch up: the machine is slow, and a burst would be another test.
            due = max(due + CONNECTIONS / RATE, time.monotonic() - 0.5)
        connection.close()

    def run(self):
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
    Prober(*sys.argv[1:]).run()
