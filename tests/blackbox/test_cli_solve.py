#!/usr/bin/env python3
"""solvegate solve and explain: what they ask, what they print where, how they end. (TAP)"""
import base64
import itertools
import json
import os
import signal
import subprocess
import time

from cli_world import (EX_DATAERR, EX_NOINPUT, EX_NOPERM, EX_PROTOCOL, EX_TEMPFAIL, EX_UNAVAILABLE, EX_USAGE, File,
                       Terminal, clean_environment, expect, solvegate)
from gateway import ALICE, PAGE, World, clients, free_port
from harness import TIMEOUT, Receiver, binary, check, contains, equal, run, test, wait_until
from vendor_world import metric, strike

TARGET = ("--method", "turnstile", "--sitekey", "0xSITE", "--pageurl", PAGE)
UNSOLVABLE = ("--method", "turnstile", "--sitekey", "SIM-ERROR_CAPTCHA_UNSOLVABLE", "--pageurl", PAGE)
IMAGE = bytes(range(256)) * 4


def ask(world, *args, **more):
    env = {"SOLVEGATE_URL": world.url, **more.pop("env", {})}
    return solvegate(*args, env=env, **more)


def started(world, *args, **env):
    """solve as a process that goes on; standard error is read at its end."""
    return subprocess.Popen([binary("SOLVEGATE"), "solve", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env=clean_environment(SOLVEGATE_URL=world.url, **env))


@test
def the_solution_stands_alone_on_standard_output():
    with World() as world:
        done = expect(ask(world, "solve", *TARGET), 0, stderr="")
        check(done.stdout.startswith("SIM_") and done.stdout.count("\n") == 1, done.stdout)
        equal(done.stdout.strip(), world.solved()["solution"], "the gateway's solution")
        equal(world.paid(), 1, "paid")


@test
def json_is_the_answer_of_the_api():
    with World() as world:
        told = json.loads(expect(ask(world, "solve", "--json", *TARGET), 0, stderr="").stdout)
        equal((told["status"], told["source"], told["attempts"]), ("solved", "api", 1))
        again = json.loads(expect(ask(world, "solve", "--json", *TARGET), 0).stdout)
        equal((again["source"], again["solution"]), ("dedup_cache", told["solution"]))


@test
def bytes_that_are_no_utf8_are_printed_as_they_came():
    answers = {b'"caf%E9"': b"caf\xe9\n", b'{"token":"caf%E9"}': b'{"token":"caf\xe9"}\n', b'["a"]': b'["a"]\n'}
    with World() as world:
        for answer, printed in answers.items():
            world.sim.set_faults(script=[strike("task-reply", None, 1, '{"status":1,"request":' + answer.decode() + "}")])
            command = [binary("SOLVEGATE"), "solve", *TARGET, "--param", f"action={len(answer)}"]
            done = subprocess.run(command, capture_output=True, env=clean_environment(SOLVEGATE_URL=world.url), check=True)
            equal(done.stdout, printed, answer)


@test
def an_image_comes_from_a_file_or_from_standard_input():
    with World() as world, File(IMAGE) as path:
        first = expect(ask(world, "solve", "--image", path), 0).stdout
        with open(path, "rb") as file:
            equal(expect(ask(world, "solve", "-i-", stdin=file), 0).stdout, first, "the same image")
        encoded = base64.b64encode(IMAGE).decode()
        equal(expect(ask(world, "solve", "-m", "base64", "--param", f"body={encoded}"), 0).stdout, first)
        equal(world.paid(), 1, "paid")
        contains(expect(ask(world, "solve", "--image", "/nonexistent.png"), EX_NOINPUT, stdout="").stderr,
                 "/nonexistent.png: cannot be read: No such file")


@test
def parameters_without_a_flag_reach_the_vendor():
    with World() as world:
        expect(ask(world, "solve", "-m", "userrecaptcha", "-s", "6LcX", "-p", PAGE, "--param", "version=v3",
                   "--param=action=log=in \"quoted\""), 0)
        submit = world.sim.submits()[0]
        contains(json.dumps(submit), "userrecaptcha")
        explained = json.loads(expect(ask(world, "explain", "--json", "-m", "userrecaptcha", "-s", "6LcX", "-p", PAGE,
                                          "--param", "version=v3", "--param=action=log=in \"quoted\""), 0).stdout)
        equal(explained["counted"]["action"], "log=in \"quoted\"")


@test
def reuse_and_idempotency_keys_are_passed_on():
    with World() as world:
        single = [expect(ask(world, "solve", "--reuse", "single", *TARGET), 0).stdout for _ in range(2)]
        check(single[0] != single[1], "a single solution was handed out twice")
        keyed = [expect(ask(world, "solve", "--reuse=single", "--idempotency-key", "order-17", *TARGET), 0).stdout
                 for _ in range(2)]
        equal(keyed[0], keyed[1], "the retry's solution")
        done = expect(ask(world, "solve", "--idempotency-key", "order-17", "-m", "turnstile", "-s", "other", "-p", PAGE),
                      EX_DATAERR, stdout="")
        contains(done.stderr, "HTTP 422")


@test
def a_solve_that_fails_ends_with_1_and_the_gateways_words():
    with World({"retry": {"unsolvable": 0}}) as world:
        done = expect(ask(world, "solve", *UNSOLVABLE), 1, stdout="")
        contains(done.stderr, "could not solve it (ERROR_CAPTCHA_UNSOLVABLE)")
        told = json.loads(expect(ask(world, "solve", "--json", *UNSOLVABLE), 1).stdout)
        equal((told["code"], told["upstream_code"]), ("unsolvable", "ERROR_CAPTCHA_UNSOLVABLE"))


@test
def what_the_gateway_refuses_is_told_by_code_and_words():
    with World() as world:
        contains(expect(ask(world, "solve", "-m", "turnstile", "-s", "x"), EX_DATAERR, stdout="").stderr, "pageurl")
        contains(expect(ask(world, "explain", "-m", "turnstile", "-s", "x"), EX_DATAERR, stdout="").stderr, "pageurl")
        equal(world.paid(), 0, "paid")
    nowhere = f"http://127.0.0.1:{free_port()}"
    contains(expect(solvegate("solve", *TARGET, "--url", nowhere), EX_UNAVAILABLE, stdout="").stderr,
             f"no gateway answers at {nowhere}")
    with Receiver(lambda call: (200, b"<html>")) as other:
        for command in ("solve", "explain"):
            contains(expect(solvegate(command, *TARGET, "-u", other.url), EX_PROTOCOL).stderr, "not JSON")


@test
def the_key_comes_from_the_environment_or_a_file():
    with World(clients()) as world, File(ALICE + "\nsecond line\n") as path:
        contains(expect(ask(world, "solve", *TARGET), EX_NOPERM, stdout="").stderr, "HTTP 401")
        for args, more in (([], {"env": {"SOLVEGATE_KEY": ALICE}}), (["--key-file", path], {}),
                           (["--key-file=-"], {"text": ALICE + "\r\n"}), (["--key", ALICE], {}),
                           (["--key-file", path], {"env": {"SOLVEGATE_KEY": "z" * 32}})):
            expect(ask(world, "solve", *TARGET, *args, **more), 0)
        contains(expect(ask(world, "solve", *TARGET, "--key-file", "/nonexistent"), EX_NOINPUT).stderr, "cannot be read")
        with File("\n") as empty:
            contains(expect(ask(world, "solve", *TARGET, "--key-file", empty), EX_DATAERR).stderr, "visible characters")
        contains(expect(ask(world, "solve", *TARGET, "--key", "a\nX-Evil: 1"), EX_DATAERR).stderr, "visible characters")


@test
def a_key_among_the_arguments_is_wiped_from_the_process_list():
    with World(clients(), sim=("--solve-time", "30s")) as world:
        process = started(world, *TARGET, "--key", ALICE)
        wait_until(lambda: world.paid() == 1, "the submit")
        with open(f"/proc/{process.pid}/cmdline", "rb") as file:
            shown = file.read()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIMEOUT)
        check(b"0xSITE" in shown and ALICE.encode() not in shown, f"the process list shows {shown!r}")
        equal(process.returncode, 128 + signal.SIGTERM, "exit code")


@test
def an_interrupt_gives_the_request_up_and_says_so():
    with World(sim=("--solve-time", "30s")) as world:
        process = started(world, *TARGET)
        # Its second request asks for the solve, so it knows by then what to give up; ours are not its.
        asked = itertools.count(1)
        wait_until(lambda: metric(world, "http_requests_total") - next(asked) >= 2, "its question after the submit")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=TIMEOUT)
        equal((process.returncode, stdout), (130, ""))
        contains(stderr, "gave up request ")
        equal(world.counter("detached"), 1, "detached")


@test
def the_end_of_the_wait_gives_the_request_up():
    with World(sim=("--solve-time", "30s")) as world:
        done = expect(ask(world, "solve", "--wait", "1s", *TARGET), EX_TEMPFAIL, stdout="")
        contains(done.stderr, "not solved within 1 s\n")
        contains(done.stderr, "gave up request ")
        equal(world.counter("detached"), 1, "detached")


@test
def progress_is_shown_on_a_terminal_once_it_takes_longer_than_a_second():
    with World(sim=("--solve-time", "10m")) as world:
        with Terminal("solve", *TARGET, env={"SOLVEGATE_URL": world.url}) as terminal:
            terminal.wait_for(r"solving, \d+ s")
            terminal.wait_for(r"solving, ([2-9]|\d\d+) s")
            world.sim.solve()
            equal(terminal.ended(), 0, "exit code")
            contains(terminal.shown, "SIM_")
            contains(terminal.shown, "source api, good for 2")
            check(terminal.shown.index("\r\x1b[K") < terminal.shown.index("SIM_"), "the line was not taken away")
        def at_once():
            """One that took less than a second; a machine that has something else to do gets another chance."""
            begun = time.monotonic()
            with Terminal("solve", *TARGET, env={"SOLVEGATE_URL": world.url}) as terminal:
                equal(terminal.ended(), 0, "exit code")
                return terminal if time.monotonic() - begun < 1 else None

        terminal = wait_until(at_once, "a solve of less than a second")
        check("waiting" not in terminal.shown and "solving" not in terminal.shown, "progress for something that was there at once")


@test
def a_gateway_on_a_unix_socket_is_asked_as_well():
    path = f"/tmp/solvegate-test-{os.getpid()}.sock"
    with World({"listen": ["127.0.0.1:0", "unix:" + path]}):
        check(expect(solvegate("solve", *TARGET, "--url", "unix:" + path), 0).stdout.startswith("SIM_"), "no solution")


@test
def wrong_usage_ends_with_64_before_anything_is_asked():
    for args, words in (([], "--method NAME"), (["-s", "x"], "--method NAME"), (["x"], 'unexpected argument "x"'),
                        (["-m", "turnstile", "--param", "novalue"], "expected NAME=VALUE"),
                        (["-m", "turnstile", "--param", "=x"], "expected NAME=VALUE"),
                        (["-m", "turnstile", "--reuse", "shard"], 'did you mean "shared"'),
                        (["-m", "turnstile", "--idempotency-key", ""], "1 to 255 visible"),
                        (["-m", "turnstile", "--idempotency-key", "a b"], "1 to 255 visible"),
                        (["-m", "turnstile", "--sitkey", "x"], "did you mean --sitekey")):
        for command in ("solve", "explain"):
            contains(expect(solvegate(command, *args), EX_USAGE, stdout="").stderr, words)
    for wait in ("0s", "10", "2h", "soon"):
        contains(expect(solvegate("solve", *TARGET, "--wait", wait), EX_USAGE).stderr, "--wait: expected a duration")


@test
def explain_tells_what_would_happen_and_which_fields_count():
    with World(sim=("--solve-time", "30s")) as world:
        fresh = expect(ask(world, "explain", *TARGET, "--param", "soft_id=9"), 0, stderr="").stdout
        contains(fresh, "would     submit: a new solve would be started and paid\n")
        contains(fresh, f"counted   pageurl  {PAGE}\n          sitekey  0xSITE\n")
        contains(fresh, "ignored   soft_id\n")
        told = json.loads(expect(ask(world, "explain", "--json", *TARGET), 0).stdout)
        contains(fresh, f"key       {told['key']}\n")
        world.submit_id()
        contains(expect(ask(world, "explain", *TARGET), 0).stdout, "would     join: ")
        wait_until(lambda: world.paid() == 1, "the submit")
        world.sim.solve()
        wait_until(lambda: world.counter("solves") == 1, "the solution")
        contains(expect(ask(world, "explain", *TARGET), 0).stdout, "would     hit: ")
        contains(expect(ask(world, "explain", *TARGET, "--reuse", "none"), 0).stdout, "reuse     none, never kept\n")
        equal(world.paid(), 1, "paid")


run()
