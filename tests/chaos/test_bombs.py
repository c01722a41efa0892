#!/usr/bin/env python3
"""Bombs: headers, bodies, JSON, parts and pipelines that are far too large are refused for little. (TAP)"""
import gzip
import json
import socket
import threading
import time

from chaos_world import SECONDS, ChaosWorld, allow_files, test, wait_open  # first: it knows where the harness is
from gateway import PAGE, together
from harness import KEY, check, equal, run
from swarm import Swarm

CONNECTIONS = 50


def post(path, body, *lines, kind="application/json"):
    head = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Type: {kind}", f"Content-Length: {len(body)}",
            "Connection: close", *lines]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def throw(cap_mib, bombs, connections=CONNECTIONS):
    """Each bomb, a tuple (name, bytes, statuses it may get), for its share of the time by many connections at once."""
    allow_files(connections + 500)
    with ChaosWorld({"limits": {"body_timeout": "10s", "header_timeout": "10s"}}) as world:
        with world.attack(cap_mib):
            for name, opening, expected, *drip in bombs:
                until = time.monotonic() + SECONDS / len(bombs)
                swarm = Swarm(world.port, connections, opening, *drip, interval=0)
                left = swarm.run(lambda end=until: time.monotonic() < end).abandon()
                print(f"# {name}: {dict(swarm.statuses)} {dict(swarm.words)} {len(swarm.lives)} closed")
                equal(left, 0, f"{name}: connections left open")
                check(set(swarm.statuses) <= set(expected), f"{name}: {swarm.statuses}")
                check(sum(swarm.statuses.values()) >= connections / 2, f"{name}: hardly anybody was told why")
                check("OK|" not in swarm.words, f"{name}: taken")
        wait_open(world, 1)
        equal(world.paid(), 1, "only the probe's solution was paid for; accepted submits")


@test
def header_bombs_are_refused():
    throw(32, [
        ("a header of 1 MiB", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * (1 << 20), [431]),
        ("100 000 fields", b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 100000, [431]),
        ("a URL of 1 MiB", b"GET /" + b"x" * (1 << 20) + b" HTTP/1.1\r\n\r\n", [414]),
        ("a method of 1 MiB", b"G" * (1 << 20), [400]),
        ("folded white space", b"GET / HTTP/1.1\r\nHost: localhost\r\nX:" + b" " * (1 << 20), [431]),
    ])


@test
def body_bombs_are_refused():
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    start = b"POST /in.php HTTP/1.1\r\nHost: localhost\r\n"
    # What is too large is said in the dialect's words, with 200. Half-sent requests may take 64 MiB together; beyond that
    # they are refused with 503. All grow at the same pace, and the heap keeps some of the smaller buffers that they had
    # before.
    throw(64 + 32, [
        ("10 GiB declared", start + b"Content-Length: 10737418240\r\n\r\nx", [200]),
        ("2^64 declared", start + b"Content-Length: 18446744073709551616\r\n\r\n", [200]),
        ("endless chunks", start + b"Transfer-Encoding: chunked\r\n\r\n", [200, 503], lambda number: chunk),
        ("a chunk of 2^63", start + b"Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n", [200],
         lambda number: chunk),
        ("endless trailers", start + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", [400],
         lambda number: b"X: y\r\n" * 5000),
    ], connections=200)


@test
def json_bombs_are_refused():
    wide = json.dumps({f"key{i}": i for i in range(60000)}).encode()
    deep = b'{"method":"turnstile","sitekey":"a","pageurl":"https://a/","data":'
    throw(64, [
        ("a million brackets", post("/v1/solves", b'{"a":' + b"[" * (1 << 20)), [400]),
        ("a million objects", post("/v1/solves", b'{"a":' * 200000), [400]),
        ("17 levels", post("/v1/solves", deep + b"[" * 17 + b"]" * 17 + b"}"), [400]),
        ("60 000 members", post("/v1/solves", wide), [413]),
        ("a million commas", post("/v1/solves", deep + b"[" + b"1," * 500000 + b"1]}"), [413]),
        ("a member twice", post("/v1/solves", b'{"method":"turnstile","method":"turnstile"}'), [400]),
        ("a million digits", post("/v1/solves", deep + b"9" * 1000000), [400]),
        ("half a string", post("/v1/solves", b'{"a":"' + b"\\u0000" * 100000), [400]),
    ], connections=20)


@test
def parts_and_compressed_bodies_are_refused():
    part = b'--B\r\nContent-Disposition: form-data; name="n%d"\r\n\r\nv\r\n'
    parts = b"".join(part % i for i in range(20000)) + b"--B--\r\n"
    form = "multipart/form-data; boundary=B"
    body = gzip.compress(json.dumps({"method": "turnstile", "sitekey": "a", "pageurl": PAGE, "key": KEY}).encode())
    bomb = gzip.compress(b"x" * (64 << 20))
    throw(64, [
        ("20 000 parts", post("/in.php", parts, kind=form), [200]),
        ("parts without end", post("/in.php", b"--B\r\n" * 300000, kind=form), [200]),
        ("a part's header of 1 MiB", post("/in.php", b"--B\r\nX: " + b"y" * (1 << 20), kind=form), [200]),
        ("100 000 form fields", post("/in.php", b"a=b&" * 100000, kind="application/x-www-form-urlencoded"), [200]),
        ("gzip for JSON", post("/v1/solves", body, "Content-Encoding: gzip"), [400, 415]),
        ("gzip for a form", post("/in.php", body, "Content-Encoding: gzip"), [200]),
        ("a gzip bomb", post("/in.php", bomb, "Content-Encoding: gzip"), [200]),
        ("gzip as a transfer coding",
         b"POST /in.php HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", [400]),
    ], connections=20)


def pipeline(world, count):
    """Sends them all without waiting for any; every seventh asks for somebody else's. Returns the answers in order."""
    known = world.solved(sitekey="probe")["id"]
    ids = [known if number % 7 else "1" for number in range(count)]
    path = f"/res.php?key={KEY}&action=get&id="
    requests = "".join(f"GET {path}{task} HTTP/1.1\r\nHost: localhost\r\n\r\n" for task in ids)
    found = []
    with socket.create_connection(("127.0.0.1", world.port), timeout=120) as connection:
        sender = threading.Thread(target=connection.sendall, args=(requests.encode(),))
        sender.start()
        rest = b""
        while len(found) < count:
            data = connection.recv(1 << 20)
            check(data, "closed before all were answered")
            *whole, rest = (rest + data).split(b"HTTP/1.1 200 OK\r\n")
            found += [text.rpartition(b"\r\n\r\n")[2] for text in whole if text]
            if len(found) == count - 1 and rest.endswith((world.solution.encode(), b"ERROR_WRONG_CAPTCHA_ID")):
                found.append(rest.rpartition(b"\r\n\r\n")[2])
        sender.join()
    return found


@test
def ten_thousand_pipelined_requests_are_answered_in_order():
    count = 10000
    with ChaosWorld({"limits": {"write_timeout": "30s"}}) as world:
        solved = b"OK|" + world.solution.encode()
        with world.attack(64) as attack:
            rounds = 0
            while attack.is_on() or rounds == 0:
                for found in together(2, lambda i: pipeline(world, count)):
                    expected = [solved if number % 7 else b"ERROR_WRONG_CAPTCHA_ID" for number in range(count)]
                    check(found == expected, f"not all or not in order: {found[:10]}")
                rounds += 1
        print(f"# {2 * rounds * count} requests")


if __name__ == "__main__":
    run()
