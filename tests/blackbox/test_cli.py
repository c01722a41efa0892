#!/usr/bin/env python3
"""The command line of solvegate: help, typos, checking a configuration, hashing a key, exit codes. (TAP)"""
import hashlib
import json
import os
import pty
import re
import select
import subprocess

import harness
from cli_world import EX_CONFIG, EX_DATAERR, EX_IOERR, EX_UNAVAILABLE, EX_USAGE, File, clean_environment, expect, solvegate
from harness import KEY, TIMEOUT, Program, binary, check, contains, equal, run, test, wait_until

CANARY = "canary7f3a"


@test
def help_goes_to_stdout_when_asked_for_and_to_stderr_when_not():
    for args in (["--help"], ["-h"], ["help"]):
        done = expect(solvegate(*args), 0, stderr="")
        contains(done.stdout, "usage: solvegate COMMAND")
        for command in ("serve", "check", "hash-key", "version", "help"):
            contains(done.stdout, f"\n  {command} ")
    contains(expect(solvegate(), EX_USAGE, stdout="").stderr, "usage: solvegate COMMAND")


@test
def every_command_has_help_of_its_own():
    for command in ("serve", "check", "hash-key", "version", "help"):
        first = expect(solvegate("help", command), 0, stderr="").stdout
        contains(first, f"usage: solvegate {command}")
        equal(expect(solvegate(command, "--help"), 0, stderr="").stdout, first)


@test
def the_version_is_told_by_command_and_by_flag():
    told = expect(solvegate("version"), 0, stderr="").stdout
    check(told.startswith("solvegate ") and told.count("\n") == 1, told)
    equal(expect(solvegate("--version"), 0).stdout, told)
    equal("solvegate " + json.loads(expect(solvegate("version", "--json"), 0).stdout)["version"] + "\n", told)
    expect(solvegate("version", "now"), EX_USAGE, stdout="")
    expect(solvegate("version", "--json", "now"), EX_USAGE, stdout="")


@test
def the_build_names_every_library_and_its_version():
    told = expect(solvegate("version", "--build"), 0, stderr="").stdout
    document = json.loads(expect(solvegate("version", "--build", "--json"), 0).stdout)
    equal(told.splitlines()[0], f"solvegate {document['version']}")
    libraries = {library["name"]: library for library in document["libraries"]}
    for name in ("libuv", "llhttp", "libcurl", "yyjson", "libsodium", "SQLite"):
        check(re.fullmatch(r"\d+\.\d+(\.\d+)*", libraries[name]["version"]), f"{name}: {libraries[name]}")
    equal([line.split() for line in told.splitlines()[1:]],
          [[each["name"], each["version"] + ",", each["link"]] for each in document["libraries"]])
    check("libraries" not in json.loads(expect(solvegate("version", "--json"), 0).stdout), "only when asked for")


@test
def a_health_check_asks_the_running_gateway():
    with harness.Gate({"upstream": {"url": "http://127.0.0.1:9", "key": KEY}}) as gate:
        expect(solvegate("check", "--ready", "-u", gate.url), 0, "ready\n", "")
        expect(solvegate("check", "--ready", "--json", "--url", gate.url), 0, '{"ready":true}\n', "")
        url = gate.url
    contains(expect(solvegate("check", "--ready", "-u", url), EX_UNAVAILABLE, stdout="").stderr, "no gateway answers")


@test
def a_typo_gets_a_suggestion():
    expect(solvegate("serv"), EX_USAGE, "",
           'solvegate: there is no command "serv", did you mean "serve"?\nTry `solvegate help`.\n')
    expect(solvegate("xyzzy"), EX_USAGE, "", 'solvegate: there is no command "xyzzy"\nTry `solvegate help`.\n')
    expect(solvegate("serve", "--lisen", "x"), EX_USAGE, "",
           "solvegate serve: unknown flag --lisen, did you mean --listen?\nTry `solvegate help serve`.\n")
    expect(solvegate("help", "chek"), EX_USAGE, "",
           'solvegate help: there is no command "chek", did you mean "check"?\nTry `solvegate help help`.\n')


@test
def wrong_usage_is_told_and_ends_with_64():
    contains(expect(solvegate("serve", "gate.json"), EX_USAGE).stderr, 'unexpected argument "gate.json"')
    contains(expect(solvegate("serve", "-c"), EX_USAGE).stderr, "--config needs a value: FILE")
    contains(expect(solvegate("serve", "-x"), EX_USAGE).stderr, "unknown flag -x")
    contains(expect(solvegate("check", "gate.json"), EX_USAGE).stderr, "a file is given with -c")
    contains(expect(solvegate("check", "--reference=5"), EX_USAGE).stderr, "--reference takes no value")
    expect(solvegate("serve", *(["--listen", "127.0.0.1:0"] * 100)), EX_USAGE)


@test
def a_good_file_is_ok_and_summed_up():
    config = {"listen": ["0.0.0.0:8430"], "upstream": {"key": "v", "slots": 7},
              "clients": [{"name": "crawler", "key": KEY, "allow_hosts": ["a.example"], "budget_per_day": 9}]}
    with File(config) as path:
        for args in (["-c", path], [f"-c{path}"], ["--config", path], [f"--config={path}"]):
            done = expect(solvegate("check", *args), 0, stderr="")
            equal(done.stdout.splitlines()[0], f"{path}: ok")
        contains(done.stdout, "listen    0.0.0.0:8430\n")
        contains(done.stdout, "7 slots")
        contains(done.stdout, "crawler: solve, weight 1, 1 hosts, 9 submits a day\n")
        contains(done.stdout, "memory only")
        check(KEY not in done.stdout, "the key is shown")


@test
def a_file_may_come_from_standard_input_and_none_is_needed():
    done = expect(solvegate("check", "-c", "-", text='{"upstream": {"key": "v"}} // fine'), 0, stderr="")
    equal(done.stdout.splitlines()[0], "standard input: ok")
    done = expect(solvegate("check", env={"CAPTCHAAI_API_KEY": "v"}), 0, stderr="")
    equal(done.stdout.splitlines()[0], "environment and defaults: ok")


@test
def every_mistake_of_a_file_is_listed_and_the_exit_code_is_78():
    config = {"lisen": [], "upstream": {"key": CANARY + " x", "url": f"https://a:{CANARY}@b"},
              "poll": {"interval": 5}, "clients": [{"name": "a", "key": CANARY}]}
    with File(config) as path:
        for command in ("check", "serve"):
            done = expect(solvegate(command, "-c", path, env={"SOLVEGATE_LOG_LEVEL": "loud"}), EX_CONFIG, stdout="")
            equal(done.stderr.splitlines(), [
                f'{path}: lisen: unknown key, did you mean "listen"?',
                f"{path}: upstream.key: expected a text of visible characters, found a text of 12 bytes",
                f'{path}: upstream.url: expected a URL like "https://host", without user, query and fragment, '
                "found a URL with a user in it",
                f'{path}: poll.interval: expected a duration of 100ms to 10m, like "5s", found 5',
                f"{path}: clients[0].key: expected 32 or 36 visible characters, found 10",
                'environment: SOLVEGATE_LOG_LEVEL: expected "debug", "info", "warn" or "error", found "loud"',
            ])
            check(CANARY not in done.stderr, "a secret is shown")


@test
def what_a_check_finds_is_also_there_for_programs():
    with File({"upstream": {"key": "v"}}) as path:
        done = expect(solvegate("check", "--json", "-c", path), 0, stderr="")
        equal(json.loads(done.stdout), {"ok": True, "file": path, "mistakes": [], "warnings": []})
    with File({"lisen": [], "poll": {"interval": 5}, "upstream": {"key": "v"}}) as path:
        done = expect(solvegate("check", "--json", "-c", path), EX_CONFIG, stderr="")
        told = json.loads(done.stdout)
        equal((told["ok"], told["mistakes"]), (False, solvegate("check", "-c", path).stderr.splitlines()))
        equal(len(told["mistakes"]), 2, "mistakes")


@test
def a_syntax_error_names_line_and_column():
    with File('{\n  "upstream": {,}\n}') as path:
        done = expect(solvegate("check", "-c", path), EX_CONFIG, stdout="")
        check(done.stderr.startswith(f"{path}: line 2, column 16: "), done.stderr)


@test
def folders_that_are_not_there_are_warned_of():
    """They may be made before the gateway starts, so they are no mistakes."""
    none = "there is no folder /nonexistent/, so the gateway would not start now"
    for config, warnings in (({"listen": ["unix:/nonexistent/x"]}, ["listen: " + none]), ({"data_dir": "/nonexistent/x"}, ["data_dir: " + none]),
                             ({"data_dir": "/dev/null"}, ["data_dir: /dev/null is no folder, so the gateway would not start now"]),
                             ({"data_dir": "/nonexistent/", "listen": ["unix:/tmp/x"]}, [])):
        with File({"upstream": {"key": "v"}, **config}) as path:
            equal(json.loads(expect(solvegate("check", "--json", "-c", path), 0, stderr="").stdout)["warnings"], warnings)
            text = expect(solvegate("check", "-c", path), 0, stderr="").stdout
            equal([line for line in text.splitlines() if line.startswith("warning")], ["warning   " + line for line in warnings])


@test
def a_data_dir_that_others_can_write_to_is_warned_of():
    with harness.Gate({"upstream": {"key": KEY, "url": "http://127.0.0.1:9"}, "data_dir": "data"}) as gate:
        check("data_dir_not_private" not in gate.stderr(), "one that we made")
        path = os.path.join(gate.folder.name, "config.json")
        check("warning" not in expect(solvegate("check", "-c", path), 0, stderr="").stdout, "check of it")
        for mode in (0o777, 0o770):
            gate.stop()
            os.chmod(os.path.join(gate.folder.name, "data"), mode)
            gate.start()
            wait_until(lambda: "event=data_dir_not_private" in gate.stderr(), f"the warning for {mode:o}")
            warning = f"data_dir: others can put files into {gate.folder.name}/data or remove ours; chmod 700 ends that"
            contains(solvegate("check", "-c", path).stdout, f"\nwarning   {warning}\n", "check")
            equal(json.loads(solvegate("check", "--json", "-c", path).stdout)["warnings"], [warning])


@test
def a_file_that_cannot_be_read_is_told():
    expect(solvegate("check", "-c", "/nonexistent.json"), EX_CONFIG, "",
           "/nonexistent.json: cannot be read: No such file or directory\n")
    expect(solvegate("check", "-c", "/"), EX_CONFIG, "", "/: cannot be read: Is a directory\n")
    expect(solvegate("check", "-c", "/dev/zero"), EX_CONFIG, "", "/dev/zero: cannot be read: it is no regular file\n")
    with File("") as path:
        expect(solvegate("check", "-c", path), EX_CONFIG, "", f"{path}: expected an object, found an empty file\n")
        os.truncate(path, 5 << 20)
        expect(solvegate("check", "-c", path), EX_CONFIG, "", f"{path}: cannot be read: File too large\n")


@test
def without_the_vendors_key_serve_says_what_is_missing():
    expect(solvegate("serve"), EX_CONFIG, "",
           "upstream.key: expected the vendor's API key (or CAPTCHAAI_API_KEY), found nothing\n")


@test
def mistakes_of_flags_name_the_flag():
    done = expect(solvegate("serve", "--listen", "nowhere", "--log-level=loud", "--upstream", "ftp://x",
                            env={"CAPTCHAAI_API_KEY": "v"}), EX_CONFIG, stdout="")
    lines = done.stderr.splitlines()
    equal([line.split(": expected")[0] for line in lines],
          ["command line: --listen", "command line: --log-level", "command line: --upstream"])


@test
def a_public_address_without_clients_is_refused():
    done = expect(solvegate("serve", "--listen", "0.0.0.0:0", env={"CAPTCHAAI_API_KEY": "v"}), EX_CONFIG, stdout="")
    contains(done.stderr, "expected a loopback address or a unix socket, since without clients")


@test
def the_reference_lists_the_options():
    reference = expect(solvegate("help", "config"), 0, stderr="").stdout
    equal(expect(solvegate("check", "--reference"), 0, stderr="").stdout, reference)
    for option in ("listen", "upstream.key", "clients[].weight", "limits.per_flight", "log.level"):
        contains(reference, f"\n{option}\n    ")


@test
def hash_key_prints_blake2b_of_the_key_on_standard_input():
    digest = hashlib.blake2b(KEY.encode(), digest_size=32).hexdigest()
    for ending in ("", "\n", "\r\n"):
        expect(solvegate("hash-key", text=KEY + ending), 0, digest + "\n", "")
    equal(json.loads(expect(solvegate("hash-key", "--json", text=KEY), 0).stdout), {"key_hash": digest})
    with File({"upstream": {"key": "v"}, "clients": [{"name": "a", "key_hash": digest}]}) as path:
        expect(solvegate("check", "-c", path), 0)


@test
def hash_key_refuses_other_lengths_and_arguments_without_repeating_them():
    for key in ("", "short", KEY + "x", "x" * 1000, KEY[:-1] + " "):
        done = expect(solvegate("hash-key", text=key), EX_DATAERR, stdout="")
        contains(done.stderr, "expected 32 or 36 visible characters, found")
    done = expect(solvegate("hash-key", CANARY), EX_USAGE, stdout="")
    check(CANARY not in done.stderr, "the argument is repeated")


@test
def hash_key_asks_on_a_terminal_and_does_not_show_the_key():
    main, terminal = pty.openpty()
    process = subprocess.Popen([binary("SOLVEGATE"), "hash-key"], stdin=terminal, stdout=subprocess.PIPE,
                               stderr=terminal, env=clean_environment())
    os.close(terminal)
    shown = b""
    while b"Key: " not in shown:
        check(select.select([main], [], [], TIMEOUT)[0], "no prompt")
        shown += os.read(main, 1000)
    os.write(main, KEY.encode() + b"\n")
    stdout, _ = process.communicate(timeout=TIMEOUT)
    equal(process.returncode, 0, "exit code")
    equal(stdout.decode().strip(), hashlib.blake2b(KEY.encode(), digest_size=32).hexdigest())
    while select.select([main], [], [], 0)[0]:
        try:
            shown += os.read(main, 1000)
        except OSError:  # the other end is closed
            break
    os.close(main)
    check(KEY.encode() not in shown, f"the key was shown: {shown!r}")


@test
def output_that_cannot_be_written_is_an_error():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([binary("SOLVEGATE"), "help"], stdout=full, stderr=subprocess.PIPE, check=False,
                              env=clean_environment(), timeout=TIMEOUT)
    equal(done.returncode, EX_IOERR, "exit code")


class Gate(Program):
    variable = "SOLVEGATE"


@test
def serve_keeps_its_secrets_from_others_on_the_machine():
    with Gate("serve", "--listen", "127.0.0.1:0", "--upstream", "http://127.0.0.1:9",
              env={"CAPTCHAAI_API_KEY": CANARY}) as gate:
        with open(f"/proc/{gate.process.pid}/limits", encoding="utf-8") as file:
            core = next(line for line in file if line.startswith("Max core file size"))
        equal(core.split()[4:6], ["0", "0"], "limits of core files")
        with open(f"/proc/{gate.process.pid}/status", encoding="utf-8") as file:
            contains(file.read(), "Umask:\t0077")
        check(CANARY not in gate.stderr() + gate.ready_line, "the vendor's key is logged")


run()
