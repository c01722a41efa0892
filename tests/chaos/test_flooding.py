#!/usr/bin/env python3
"""Keys and ids made to collide in a hash table cost no more than any others. (TAP)"""
import itertools
import random
import socket
import sys

from chaos_world import SECONDS, ChaosWorld, test  # first: it knows where the harness is
from gateway import PAGE
from harness import KEY, check, run

SEED = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else random.SystemRandom().randrange(2**32)
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
SCALE = min(10, max(1, SECONDS / 5))  # a soak takes more of them, but tables have a limit
PER_FAMILY = int(25000 * SCALE)  # five families
ROUNDS = 5
BATCH = 250
MOST = 3  # times what random keys cost
FNV_START, FNV_PRIME = 0xcbf29ce484222325, 0x100000001b3
FNV_BITS = 26  # far more than any table's buckets need


def pairs_of(pair, count):
    """Strings of two halves that a multiplicative hash does not tell apart: every choice of halves collides."""
    length = count.bit_length()
    return ["".join(choice) for choice in itertools.islice(itertools.product(pair, repeat=length), count)]


def fnv_colliding(draw, count):
    """The lowest bits of FNV-1a depend on its lowest bits alone, so blocks that meet there can be chained."""
    mask = (1 << FNV_BITS) - 1
    state = FNV_START & mask
    stages = []
    for _ in range(count.bit_length()):
        seen = {}
        while True:
            block = "".join(draw.choices(LETTERS, k=6))
            after = state
            for byte in block.encode():
                after = ((after ^ byte) * FNV_PRIME) & mask
            if seen.setdefault(after, block) != block:
                stages.append((seen[after], block))
                state = after
                break
    return ["".join(choice) for choice in itertools.islice(itertools.product(*stages), count)]


def families(draw, count):
    return {
        "random": ["".join(draw.choices(LETTERS, k=40)) for _ in range(count)],
        "sequential": [f"{number:040d}" for number in range(count)],
        "times 31": pairs_of(("Aa", "BB"), count),
        "times 33": pairs_of(("Ez", "FY"), count),
        "FNV-1a": fnv_colliding(draw, count),
    }


def numbers(draw, count):
    start = draw.randrange(2**40)
    return {
        "random": [str(draw.randrange(1, 2**53)) for _ in range(count)],
        "sequential": [str(start + number) for number in range(count)],
        "multiples of 2^20": [str(number << 20) for number in range(1, count + 1)],
        "one low half": [str((number << 32) + 1) for number in range(1, count + 1)],
    }


def send_all(connection, requests, end):
    """In batches, each answered before the next; every answer is recognised by a text in it."""
    for first in range(0, len(requests), BATCH):
        batch = requests[first:first + BATCH]
        connection.sendall(b"".join(batch))
        got, rest = 0, b""
        while got < len(batch):
            data = connection.recv(1 << 20)
            check(data, "the connection was closed")
            rest += data
            got += rest.count(end)
            rest = rest[rest.rfind(end) + len(end):] if end in rest else rest
        check(got == len(batch), f"{got} answers to {len(batch)} requests")


def cost(world, words, make, end):
    """Milliseconds of the gateway's time for each family's words, family by family in small rounds."""
    spent = dict.fromkeys(words, 0.0)
    share = len(words["random"]) // ROUNDS
    with socket.create_connection(("127.0.0.1", world.port), timeout=120) as connection:
        for turn in range(ROUNDS):
            for family, all_words in words.items():
                requests = [make(word) for word in all_words[turn * share:(turn + 1) * share]]
                before = world.cpu_seconds()
                send_all(connection, requests, end)
                spent[family] += world.cpu_seconds() - before
    return spent


def judge(what, spent):
    """A clock of 10 ms is coarse, hence the tenth of a second that everybody may take more."""
    print(f"# {what}: " + ", ".join(f"{family} {seconds:.2f} s" for family, seconds in spent.items()))
    for family, seconds in spent.items():
        check(seconds <= MOST * spent["random"] + 0.1, f"{what}: {family} keys took {seconds:.2f} s, see above")


def ask_with(key):
    body = f'{{"method":"turnstile","sitekey":"probe","pageurl":"{PAGE}","key":"{KEY}"}}'
    return (f"POST /v1/solves HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Idempotency-Key: {key}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()


def ask_for(task):
    return f"GET /res.php?key={KEY}&action=get&id={task} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


@test
def colliding_keys_and_ids_cost_what_random_ones_do():
    draw = random.Random(SEED)
    print(f"# seed {SEED}")
    keys = families(draw, PER_FAMILY)
    room = {"idempotency": {"max": 8 * PER_FAMILY, "ttl": "1h"}, "limits": {"requests": 20 * PER_FAMILY}}
    with ChaosWorld({"solve_timeout": "1h", **room}) as world:
        world.pending = world.submit_id(sitekey="SIM-NEVER")
        with world.attack(64 * SCALE):
            judge("new idempotency keys", cost(world, keys, ask_with, b'"status":"solved"'))
            judge("the same again", cost(world, keys, ask_with, b'"status":"solved"'))
            judge("unknown ids", cost(world, numbers(draw, PER_FAMILY), ask_for, b"ERROR_WRONG_CAPTCHA_ID"))


if __name__ == "__main__":
    run()
