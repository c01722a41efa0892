#!/usr/bin/env python3
"""Slow clients by the hundred: headers, bodies and readers that take for ever are closed by their deadline. (TAP)"""
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from chaos_world import SECONDS, SLACK, ChaosWorld, allow_files, test, wait_open  # first: it knows where the harness is
from gateway import together
from harness import KEY, Skip, check, get, run, wait_until
from swarm import Swarm

DEADLINE = 1  # second, of each phase
CONNECTIONS = 300
CAP_MIB = 64  # docs/reliability.md, threat 2
DOCUMENT = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"  # 71 KB come back


def read_again_and_again(world, document, is_on):
    """Somebody who wants the same large answer and does read it; says how often it came."""
    count = 0
    while is_on() or count == 0:
        check(get(world.url + "/openapi.json").text == document, "another document, or half of it")
        count += 1
    return count


def assault(opening, drip=None, slack=SLACK, cap_mib=CAP_MIB, **options):
    """Runs a swarm against a gateway under watch and checks that each of its connections came to its end."""
    allow_files(4 * CONNECTIONS)
    with ChaosWorld() as world:
        with world.attack(cap_mib) as attack:
            swarm = Swarm(world.port, CONNECTIONS, opening, drip or (lambda number: b""), **options)
            left = swarm.run(attack.is_on).abandon()
        lives = sorted(swarm.lives)
        print(f"# {len(lives)} connections were closed after {lives[0] if lives else 0:.2f} to "
              f"{lives[-1] if lives else 0:.2f} s, statuses {dict(swarm.statuses)}")
        check(left == 0, f"{left} connections stayed open")
        check(len(lives) >= CONNECTIONS, f"only {len(lives)} connections were closed")
        check(lives[-1] < DEADLINE + slack, f"one lasted {lives[-1]:.1f} s")
        check(set(swarm.statuses) <= {408}, f"statuses {swarm.statuses}")
        wait_open(world, 1)


@test
def headers_byte_by_byte_are_closed_by_the_deadline():
    head = b"GET /res.php?action=get&id=1 HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"x" * 10000
    assault(b"G", lambda number: head[number + 1:number + 2])


@test
def header_fields_without_end_are_closed_by_the_deadline():
    assault(b"GET / HTTP/1.1\r\nHost: localhost\r\n", lambda number: b"X-%d: y\r\n" % number, interval=0.2)


@test
def bodies_byte_by_byte_are_closed_by_the_deadline():
    assault(b"POST /in.php HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nkey=", lambda number: b"x")


@test
def chunks_byte_by_byte_are_closed_by_the_deadline():
    assault(b"POST /v1/solves HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
            lambda number: b"1\r\nx\r\n", interval=0.2)


@test
def readers_that_never_read_are_closed_by_the_deadline():
    # Longer than the deadline, because the kernel has buffers of its own to fill up.
    batch = DOCUMENT * 8
    assault(batch, lambda number: batch, reads=False, window=4096, slack=3 * SLACK,
            cap_mib=16)


def pile_up(crowd, opening):
    """Callers whose answers stay in the gateway for longer than this lasts; opening(world) says what they ask."""
    limit = 8
    allow_files(crowd + 500)
    config = {"solve_timeout": "1h", "limits": {"write_timeout": "10m", "unsent_bytes": f"{limit}MiB"}}
    with ChaosWorld(config) as world:
        document = get(world.url + "/openapi.json").text
        asked = opening(world)
        with world.attack(limit + 16) as attack:
            swarm = Swarm(world.port, crowd, asked, lambda number: DOCUMENT, reads=False, window=4096)
            with ThreadPoolExecutor(1) as pool:
                reading = pool.submit(read_again_and_again, world, document, attack.is_on)
                swarm.run(attack.is_on, patience=0)
                reads = reading.result()
            # What the last of them asked may be on its way still.
            wait_until(lambda: world.metric("http_unread_total") >= 100, "a hundred to be closed")
            unsent, closed = world.metric("http_unsent_bytes"), world.metric("http_unread_total")
            print(f"# {closed} of {crowd + len(swarm.lives)} connections were closed for {unsent / 2**20:.1f} MiB "
                  f"of {limit}; the document was read {reads} times meanwhile")
            swarm.abandon()
        check(closed >= 100, f"only {closed} were closed")
        check(limit / 2 <= unsent / 2**20 <= limit, f"{unsent} bytes are unsent")
        wait_open(world, 1)
        check(world.metric("http_unsent_bytes") == 0, "unsent bytes of nobody")


@test
def senders_that_never_finish_share_one_limit_of_memory():
    # 300 MiB if each could send all but its last byte.
    limit, crowd, size = 8, 300, 1 << 20
    allow_files(crowd + 500)
    with ChaosWorld({"limits": {"body_timeout": "10m", "partial_bytes": f"{limit}MiB"}}) as world:
        head = f"POST /in.php HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n".encode()
        with world.attack(limit + 16) as attack:
            swarm = Swarm(world.port, crowd, head + b"x" * (size - 1), lambda number: b"")
            swarm.run(attack.is_on, patience=0)
            partial, refused = world.metric("http_partial_bytes"), world.metric("http_partial_limit_refusals_total")
            print(f"# {refused} requests were refused for {partial / 2**20:.1f} MiB of {limit}")
            swarm.abandon()
        check(refused >= 100, f"only {refused} were refused")
        check(set(swarm.statuses) <= {503}, f"statuses {swarm.statuses}")
        check(limit / 4 <= partial / 2**20 <= limit, f"{partial} bytes are half-sent")
        wait_open(world, 1)
        check(world.metric("http_partial_bytes") == 0, "half-sent bytes of nobody")


@test
def readers_that_never_read_share_one_limit_of_memory():
    # The kernel takes all but some 3 KB of the first document of each.
    pile_up(4000, lambda world: DOCUMENT * 8)


@test
def answers_behind_a_held_one_share_one_limit_of_memory():
    # A quarter of a mebibyte for each, and they would read it.
    pile_up(500, lambda world: f"GET /v1/solves/{world.submit_id(sitekey='SIM-NEVER')}?wait=60&key={KEY} HTTP/1.1\r\n"
                               "Host: localhost\r\n\r\n".encode() + DOCUMENT * 7)


def slowhttptest(world, kind, *options):
    """The well-known tool with one of its attacks; returns what it says of the end."""
    path = {"-H": "/", "-B": "/in.php", "-X": "/openapi.json"}[kind]
    command = ["slowhttptest", kind, "-c", "400", "-r", "200", "-l", str(max(4, int(SECONDS))), "-p", "30", *options]
    done = subprocess.run([*command, "-u", world.url + path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=120 + 2 * SECONDS, check=False)
    text = re.sub("\x1b\\[[0-9;]*[A-Za-z]", "", done.stdout)
    return done.returncode, re.findall(r"Exit status:\s*(.*)", text), re.findall(r"service available:\s*(\w+)", text)


@test
def slow_headers_bodies_and_readers_of_slowhttptest_do_no_harm():
    if not shutil.which("slowhttptest"):
        raise Skip("slowhttptest is not installed")
    attacks = [("-H", "-i", "1", "-t", "GET", "-x", "24"), ("-B", "-i", "1", "-s", "8192", "-t", "POST", "-x", "10"),
               ("-X", "-w", "1", "-y", "1024", "-n", "1", "-z", "32", "-k", "3")]
    with ChaosWorld() as world:
        with world.attack(CAP_MIB):
            ends = together(len(attacks), lambda i: slowhttptest(world, *attacks[i]))
        for attack, (code, status, available) in zip(attacks, ends):
            print(f"# slowhttptest {attack[0]}: {' '.join(status)}; service available: {' '.join(available)}")
            check(code == 0 and status and "NO" not in available, f"{attack[0]}: {code} {status} {available}")
        wait_open(world, 1)


if __name__ == "__main__":
    run()
