#!/usr/bin/env python3
"""solvegate bench --record --from-log: what a gateway's log at level debug tells of the requests is what was asked. (TAP)"""
import json
import os
import re
import signal
import subprocess
import tempfile

from cli_world import EX_DATAERR, EX_NOINPUT, EX_USAGE, clean_environment, expect, solvegate
from gateway import ALICE, PAGE, World, clients
from harness import TIMEOUT, binary, check, contains, equal, run, test, wait_until

DEBUG = {"log": {"level": "debug", "format": "key_value"}}
LINE = 'time=2026-01-31T23:59:5{}.250Z level=debug event=request_accepted client=anonymous key={} type=turnstile\n'


def record(path, log, *args, code=0):
    return expect(solvegate("bench", "--record", path, "--from-log", log, *args), code, stdout="")


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def trace(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def log_of(world, count):
    """The gateway's log once so many requests are in it."""
    wait_until(lambda: world.gate.stderr().count("request_accepted") == count, f"{count} lines of requests")
    return world.gate.stderr()


def ask_in_all_ways(world):
    """Eight requests for three captchas, three of them answered from memory, in three dialects; one that is refused."""
    world.solved(sitekey="a")
    world.solved(sitekey="a")
    world.result_text(world.submit_id(sitekey="a"))
    task = {"clientKey": "0" * 32, "task": {"type": "TurnstileTaskProxyless", "websiteURL": PAGE, "websiteKey": "a"}}
    equal(world.call("POST", "/createTask", task).status, 200, "createTask")
    first = world.submit_id(sitekey="b")
    world.result_text(world.submit_id(sitekey="b"))
    world.result_text(first)
    world.solved(method="userrecaptcha", googlekey="c", sitekey=None)
    world.solved(sitekey="a", idempotency_key="once")
    equal(world.solve(sitekey=None).status, 422, "a request without its parameters")


def replayed(world, path):
    paid = world.paid()
    done = expect(solvegate("bench", "--replay", path, "--speed", "0.5", "--json", env={"SOLVEGATE_URL": world.url}), 0)
    return json.loads(done.stdout), world.paid() - paid


@test
def a_log_of_either_form_is_recorded_and_its_repeats_are_answered_from_memory():
    for form in ("key_value", "json"):
        with World({"log": {"level": "debug", "format": form}}) as world, tempfile.TemporaryDirectory() as folder:
            ask_in_all_ways(world)
            log = write(folder, "log", log_of(world, 8))
            path = os.path.join(folder, "trace.jsonl")
            equal(record(path, log).stderr, f"8 requests in {path}\n")
            lines = trace(path)
            equal([line["method"] for line in lines], ["turnstile"] * 6 + ["userrecaptcha", "turnstile"], form)
            targets = [line["target"] for line in lines]
            equal([targets.index(target) for target in targets], [0, 0, 0, 0, 4, 4, 6, 0], f"{form}: repeats")
            times = [line["at"] for line in lines]
            equal((times[0], times), (0, sorted(times)), "times")
            check(times[1] >= 0.2, f"the second came after the first was solved: {times}")
            told, paid = replayed(world, path)
            equal((told["sent"], told["solved"], paid), (8, 8, 3), "sent, solved, paid")
            check(told["sources"]["dedup_cache"] >= 2, f"answers from memory: {told['sources']}")


@test
def many_requests_in_a_second_are_all_there():
    with World(DEBUG) as world, tempfile.TemporaryDirectory() as folder:
        world.solved()
        done = solvegate("bench", "-n", "400", "-c", "1", "--repeat", "1", "--yes", env={"SOLVEGATE_URL": world.url})
        expect(done, 0)
        log = write(folder, "log", log_of(world, 401))
        path = os.path.join(folder, "trace")
        equal(record(path, log).stderr, f"401 requests in {path}\n")


@test
def what_a_line_of_a_request_tells_is_no_secret():
    config = {**clients(), **DEBUG}
    with World(config) as world:
        world.solved(key=ALICE, sitekey="SITEKEYofTHEsite", data="PAYLOADofTHEtask", cookies="a=COOKIE")
        line = next(line for line in log_of(world, 1).splitlines() if "request_accepted" in line)
    check(re.fullmatch(r"time=\S+ level=debug event=request_accepted client=alice key=[0-9a-f]{12} type=turnstile request_id=[0-9a-f]{16}", line), line)


@test
def only_the_level_debug_tells_of_requests():
    with World() as world:
        world.solved()
        world.gate.stop()
        check("request_accepted" not in world.gate.stderr(), world.gate.stderr())


@test
def a_log_that_is_still_written_is_read_until_an_interrupt():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        process = subprocess.Popen([binary("SOLVEGATE"), "bench", "--record", path, "--from-log", "-"], stdin=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=clean_environment())
        process.stdin.write(LINE.format(1, "a" * 12) + LINE.format(3, "b" * 12))
        process.stdin.flush()
        wait_until(lambda: os.path.exists(path) and len(trace(path)) == 2, "both lines, while the log is open")
        process.send_signal(signal.SIGINT)
        contains(process.communicate(timeout=TIMEOUT)[1], "2 requests in ")
        equal((process.returncode, [line["at"] for line in trace(path)]), (0, [0, 2]))


@test
def what_surrounds_and_interrupts_the_lines_does_no_harm():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        key = "0123456789ab"
        for before, text, at in (
                ("", LINE.format(1, key) + "no line of ours\n\n{\n\0\xff\n" + LINE.format(2, key), [0, 1]),
                ("", LINE.format(1, key).strip(), [0]),  # the last line is not finished
                ("Nov 19 05:55:43 host solvegate[1]: ", LINE.format(1, key) + LINE.format(2, key), [0, 1]),
                # The clock was set back: what follows comes after what was before, and not all at once.
                ("", LINE.format(5, key) + LINE.format(2, key) + LINE.format(4, key), [0, 0, 2]),
                ("", LINE.format(1, key) + "x" * 20000 + LINE.format(2, key) + LINE.format(4, key), [0, 3])):
            log = write(folder, "log", "".join(before + line for line in text.splitlines(True)))
            record(path, log)
            equal([line["at"] for line in trace(path)], at, text[:200])
            equal({line["target"] for line in trace(path)}, {key}, "targets")


@test
def a_line_that_only_quotes_one_of_a_request_is_none():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        good = LINE.format(1, "a" * 12)
        for bad in ('time=2026-01-31T23:59:52.250Z level=warn event=x said="a event=request_accepted key=bbbbbbbbbbbb type=turnstile"\n',
                    'time=2026-01-31T23:59:52.250Z level=warn event=x event=request_accepted key=bbbbbbbbbbbb type=turnstile\n',
                    '{"time":"2026-01-31T23:59:52.250Z","event":"x","said":"\\"event\\":\\"request_accepted\\",\\"key\\":\\"bbbbbbbbbbbb\\""}\n',
                    LINE.format(2, "not-a-digit!"), LINE.format(2, "abc"), LINE.format("x", "b" * 12),
                    LINE.format(2, "b" * 12).replace(" type=turnstile", "")):
            done = record(path, write(folder, "log", good + bad))
            equal((done.stderr, len(trace(path))), (f"1 requests in {path}\n", 1), bad)


@test
def lines_that_the_log_itself_lost_are_told():
    with tempfile.TemporaryDirectory() as folder:
        lost = "time=2026-01-31T23:59:52.250Z level=warn event=log_lines_lost count={}\n"
        log = write(folder, "log", LINE.format(1, "a" * 12) + lost.format(7) + lost.format(4))
        contains(record(os.path.join(folder, "trace"), log).stderr, "11 lines of the log were lost, and requests may be among them")


@test
def a_log_without_requests_and_files_that_cannot_be_read_are_told():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        log = write(folder, "log", "time=2026-01-31T23:59:52.250Z level=info event=stopped code=0\n")
        contains(record(path, log, code=EX_DATAERR).stderr, "no request: the gateway logs them at log.level debug")
        contains(record(path, folder + "/none", code=EX_NOINPUT).stderr, "cannot be read: No such file or directory")
        contains(record(path, folder, code=EX_NOINPUT).stderr, "cannot be read: Is a directory")
        log = write(folder, "log", LINE.format(1, "a" * 12))
        contains(record(log, log, code=EX_USAGE).stderr, "is the log itself")
        with open(log, encoding="utf-8") as file:
            equal(file.read(), LINE.format(1, "a" * 12), "the log")
    for args in (["--from-log", "x"], ["--record", "a", "--from-log", "x", "-d", "1s"], ["vendor", "--budget", "1", "--from-log", "x"]):
        contains(expect(solvegate("bench", *args, env={"CAPTCHAAI_API_KEY": "0" * 32}), EX_USAGE, stdout="").stderr, "--from-log")


@test
def every_type_is_sent_again_as_a_method_of_its_own_type():
    types = {"recaptcha_v2": "userrecaptcha", "recaptcha_v3": "userrecaptcha", "hcaptcha": "hcaptcha", "turnstile": "turnstile",
             "image": "base64", "geetest": "geetest", "cloudflare": "cloudflare_challenge", "default": "friendly_captcha"}
    with World(DEBUG) as world, tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        log = "".join(LINE.format(1, f"{i:012x}").replace("=turnstile", "=" + name) for i, name in enumerate(types))
        record(path, write(folder, "log", log))
        equal([line["method"] for line in trace(path)], list(types.values()), "methods")
        for dialect in ("v1", "vendor", "createtask"):
            done = expect(solvegate("bench", "--replay", path, "--dialect", dialect, "--json", "--seed", "7" + str(len(dialect)),
                                    env={"SOLVEGATE_URL": world.url}), 0)
            told = json.loads(done.stdout)
            equal((told["solved"], told["errors"]), (len(types), {}), dialect)
        asked = set(re.findall(r"event=request_accepted .* type=(\w+)", log_of(world, 3 * len(types))))
        equal(asked, set(types) - {"recaptcha_v3"}, "types of what was sent")


run()
