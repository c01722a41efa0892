#!/usr/bin/env python3
"""usage: solve_requests.py ORDER SITEKEY PAGEURL   Prints a Turnstile token."""
import os
import sys
import time

import requests

URL = os.environ.get("SOLVEGATE_URL", "http://127.0.0.1:8430")
KEY = os.environ.get("SOLVEGATE_KEY", "none")
PATIENCE = float(os.environ.get("SOLVEGATE_PATIENCE", "300"))


class Refused(Exception):
    """The request or the key is wrong; asking again does not help."""


class Failed(Exception):
    """The vendor could not solve it, also not when the gateway tried again."""


def ask(order, task):
    """One call that waits for the end: status, solution or problem, seconds to pause before the next."""
    headers = {"Idempotency-Key": order, "Authorization": f"Bearer {KEY}"}
    try:
        reply = requests.post(f"{URL}/v1/solves", json={**task, "wait": 50}, headers=headers, timeout=60)
        text = reply.json()["solution"] if reply.status_code == 200 else reply.text
        return reply.status_code, text, int(reply.headers.get("Retry-After", 1))
    except requests.RequestException as problem:
        return 0, str(problem), 1


def solve(order, task):
    """Asks until there is an end. The same order finds the solve that the first call started: it is paid for once."""
    end = time.monotonic() + PATIENCE
    while True:
        status, text, pause = ask(order, task)
        if status == 200:
            return text
        if status not in (0, 202, 429, 503):  # connection lost, still solving, come again later
            raise Failed(text) if status >= 500 else Refused(text)
        if time.monotonic() + pause > end:
            raise TimeoutError(text)
        time.sleep(pause)


if __name__ == "__main__":
    try:
        print(solve(sys.argv[1], {"method": "turnstile", "sitekey": sys.argv[2], "pageurl": sys.argv[3]}))
    except (Refused, Failed, TimeoutError) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        sys.exit({Failed: 1, Refused: 65, TimeoutError: 75}[type(problem)])
