#!/usr/bin/env python3
"""Help, manual pages and completion all come from one table, and say the same. (TAP)"""
import json
import os
import re
import shutil
import subprocess
import tempfile

from cli_world import EX_USAGE, File, clean_environment, expect, solvegate
from harness import TIMEOUT, Skip, binary, check, contains, equal, run, test

HERE = os.path.dirname(os.path.abspath(__file__))


def table():
    """The table itself."""
    return json.loads(expect(solvegate("help", "--json"), 0, stderr="").stdout)


def manual(page):
    """A manual page as the build made it."""
    folder = os.environ.get("MAN_PAGES")
    if not folder or not os.path.exists(os.path.join(folder, page)):
        raise Skip(f"MAN_PAGES does not hold {page}")
    with open(os.path.join(folder, page), encoding="utf-8") as file:
        return file.read()


def plain(roff):
    """The words of a page, without what is for roff."""
    text = re.sub(r"^\.\S+ ?", "", roff, flags=re.MULTILINE)
    text = re.sub(r"\\f[BIR]", "", text)
    for sign, meaning in (("\\-", "-"), ("\\(aq", "'"), ("\\(ti", "~"), ("\\(ha", "^"), ("\\&", ""), ("\\e", "\\")):
        text = text.replace(sign, meaning)
    return text


def words(text):
    """With every run of blanks as one, since help is wrapped."""
    return " ".join(text.split())


@test
def the_table_has_every_command_once_and_a_sentence_for_everything():
    commands = table()["commands"]
    names = [command["name"] for command in commands]
    equal(sorted(names), sorted(set(names)), "names")
    for name in ("serve", "check", "solve", "stats", "flights", "letters", "pools", "nodes", "explain", "top", "version",
                 "hash-key", "help", "completion"):
        check(name in names, f"{name} is missing")
    for command in commands:
        check(len(command["summary"]) <= 66, f"{command['name']}: the summary does not fit a line of the overview")
        flags = [flag["name"] for flag in command["flags"]]
        letters = [flag["letter"] for flag in command["flags"] if "letter" in flag]
        equal((len(set(flags)), len(set(letters))), (len(flags), len(letters)), f"{command['name']}: flags, letters")
        check("help" in flags and all(flag["help"] for flag in command["flags"]), f"{command['name']}: help")


@test
def whatever_a_program_may_read_has_json():
    # serve logs JSON by --log-format, completion prints a script.
    for command in table()["commands"]:
        if command["name"] not in ("serve", "completion"):
            check(any(flag["name"] == "json" for flag in command["flags"]), f"{command['name']} has no --json")


@test
def help_says_what_the_table_says_within_eighty_columns():
    overview = expect(solvegate("help"), 0).stdout
    for command in table()["commands"]:
        contains(overview, f"\n  {command['name']} ")
        contains(overview, f" {command['summary']}\n")
        text = expect(solvegate("help", command["name"]), 0).stdout
        contains(words(text), words(f"usage: solvegate {command['name']} {command['usage']}"))
        for flag in command["flags"]:
            letter = f"-{flag['letter']}, " if "letter" in flag else ""
            contains(words(text), words(f"{letter}--{flag['name']} {flag.get('value', '')} {flag['help']}"))
        # Examples are to be copied and stay as they are.
        prose = text.split("\nExamples:\n", maxsplit=1)[0]
        check(max(map(len, (overview + prose).splitlines())) <= 80, f"help {command['name']} is too wide")


@test
def exits_and_environment_are_topics_of_help():
    rows = table()
    for topic in ("exits", "environment"):
        text = words(expect(solvegate("help", topic), 0).stdout)
        for name, meaning in rows[topic].items():
            contains(text, words(f"{name} {meaning}"))
    for code in ("64", "69", "74", "78"):
        check(code in rows["exits"], f"exit code {code}")


@test
def the_manual_page_says_what_the_table_says():
    rows = table()
    roff = manual("solvegate.1")
    equal(roff, expect(solvegate("help", "--man", "solvegate.1"), 0).stdout, "what the build made")
    text = words(plain(roff))
    for command in rows["commands"]:
        contains(text, words(f"{command['name']} solvegate {command['name']} {command['usage']} {command['summary']}."))
        for flag in command["flags"]:
            letter = f"-{flag['letter']}, " if "letter" in flag else ""
            contains(text, words(f"{letter}--{flag['name']} {flag.get('value', '')} {flag['help']}"))
    for topic in ("exits", "environment"):
        for name, meaning in rows[topic].items():
            contains(text, words(f"{name} {meaning}"))


@test
def the_manual_of_the_configuration_has_every_option_of_the_reference():
    roff = manual("solvegate.json.5")
    text = words(plain(roff))
    reference = expect(solvegate("help", "config"), 0).stdout
    options = re.findall(r"^(\S+)\n((?:    .*\n)+)", reference, re.MULTILINE)
    check(len(options) > 50, f"{len(options)} options")
    for name, about in options:
        contains(text, words(f"{name} {about}").replace("`", ""))
        contains(roff, ".TP\n\\fB" + name + "\\fR\n")


@test
def the_example_in_the_manual_of_the_configuration_is_right():
    lines = plain(manual("solvegate.json.5").split(".EX\n")[1].split(".EE\n")[0])
    with File(lines.replace('"..."', f'"{"a" * 64}"')) as path:
        expect(solvegate("check", "-c", path, env={"CAPTCHAAI_API_KEY": "v"}), 0, stderr="")


@test
def the_manual_of_the_simulator_says_what_its_help_says():
    text = words(plain(manual("solvegate-sim.1")))
    told = subprocess.run([binary("SOLVEGATE_SIM"), "--help"], capture_output=True, text=True, timeout=TIMEOUT,
                          check=True).stdout
    rows = re.findall(r"^  ((?:-h, )?--[\w-]+)( \S+)?  +(.*(?:\n {28}.*)*)", told, re.MULTILINE)
    check(len(rows) > 25, f"{len(rows)} options in --help")
    for name, value, about in rows:
        contains(text, words(f"{name}{value} {about}"))
    # The options that it understands are a table of their own, in its source.
    with open(os.path.join(HERE, "..", "..", "src", "sim", "options.c"), encoding="utf-8") as file:
        understood = set(re.findall(r'^    \{"(--[\w-]+)", set_', file.read(), re.MULTILINE))
    equal({name.split(", ")[-1] for name, _, _ in rows}, understood, "options in --help")
    for fault in ("submit-lost-reset", "callback-forged"):
        contains(text, f" {fault} ")


@test
def the_document_of_the_simulator_has_every_option_and_fault_of_its_help():
    told = subprocess.run([binary("SOLVEGATE_SIM"), "--help"], capture_output=True, text=True, timeout=TIMEOUT,
                          check=True).stdout
    with open(os.path.join(HERE, "..", "..", "docs", "simulator.md"), encoding="utf-8") as file:
        written = file.read().replace("\\|", "|")
    options = [option.strip() for option in re.findall(r"^  (?:-h, )?(--[\w-]+(?: \S+)?)  ", told, re.MULTILINE)]
    equal(re.findall(r"^\| `(--[^`]+)` \|", written, re.MULTILINE), options, "options")
    faults = re.findall(r"^  ((?:submit|poll|account|task|callback)-[\w-]+) ", told, re.MULTILINE)
    check(len(faults) > 50, f"{len(faults)} faults in --help")
    equal(re.findall(r"^\| `((?:submit|poll|account|task|callback)-[^`]+)` \|", written, re.MULTILINE), faults, "faults")
    doors = re.findall(r"^  ((?:[A-Z]+ )?/\S+) ", told.split("\nDOORS\n")[1].split("\nOPTIONS\n", maxsplit=1)[0], re.MULTILINE)
    equal(re.findall(r"^\| `((?:[A-Z]+ )?/[^`]+)` \|", written, re.MULTILINE), doors, "doors")
    magic = re.findall(r"^  (SIM-.*?)  ", told, re.MULTILINE)
    equal([row.replace("`", "") for row in re.findall(r"^\| (`SIM-.*?) \|", written, re.MULTILINE)],
          [row.replace(" or ", ", ") for row in magic], "magic sitekeys")


@test
def the_document_of_the_benchmark_names_every_flag():
    told = expect(solvegate("bench", "--help"), 0, stderr="").stdout
    flags = set(re.findall(r"^  (?:-\w, |    )(--[\w-]+)", told, re.MULTILINE)) - {"--help"}
    check(len(flags) > 30, f"{len(flags)} flags in --help")
    with open(os.path.join(HERE, "..", "..", "docs", "bench.md"), encoding="utf-8") as file:
        written = re.sub(r"journalctl [^|]*\|", "", file.read())
    equal(set(re.findall(r"--[a-z][\w-]*", written)), flags, "flags")


@test
def manual_pages_are_good_roff():
    checkers = [tool for tool in (["mandoc", "-T", "lint", "-W", "error"], ["groff", "-ww", "-man", "-Tascii", "-z"])
                if shutil.which(tool[0])]
    if not checkers:
        raise Skip("neither mandoc nor groff is installed")
    for page in ("solvegate.1", "solvegate.json.5", "solvegate-sim.1"):
        with File(manual(page)) as path:
            for tool in checkers:
                done = subprocess.run([*tool, path], capture_output=True, text=True, timeout=TIMEOUT, check=False)
                equal((done.returncode, done.stdout + done.stderr), (0, ""), f"{tool[0]} about {page}")


@test
def the_document_of_the_configuration_is_what_the_program_prints():
    document = os.path.join(HERE, "..", "..", "docs", "configuration.md")
    with open(document, encoding="utf-8") as file:
        text = file.read()
    equal(text, expect(solvegate("help", "config", "--markdown"), 0, stderr="").stdout,
          "docs/configuration.md: make it anew with `solvegate help config --markdown`")
    check(text.count("\n| `") == len(re.findall(r"^\S+$", expect(solvegate("help", "config"), 0).stdout, re.MULTILINE)),
          "a row for every option")
    expect(solvegate("help", "routes", "--markdown"), EX_USAGE)
    expect(solvegate("help", "--markdown"), EX_USAGE)


# --- completion -----------------------------------------------------------------------------------


def script(shell):
    return expect(solvegate("completion", shell), 0, stderr="").stdout


class Bash:
    """A real bash with the script loaded: complete(words...) is what it offers for the last word."""

    def __enter__(self):
        if not shutil.which("bash"):
            raise Skip("bash is not installed")
        self.folder = tempfile.TemporaryDirectory()
        with open(os.path.join(self.folder.name, "solvegate"), "w", encoding="utf-8") as file:
            file.write(script("bash"))
        for name in ("one.json", "two words.json"):
            with open(os.path.join(self.folder.name, name), "w", encoding="utf-8"):
                pass
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def complete(self, *typed):
        code = ('. ./solvegate; COMP_WORDS=(solvegate "$@"); COMP_CWORD=$#; $(complete -p solvegate | '
                "sed 's/.*-F \\([^ ]*\\) .*/\\1/'); printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "--norc", "-u", "-c", code, "bash", *typed], capture_output=True, text=True,
                              cwd=self.folder.name, timeout=TIMEOUT, check=False, env=clean_environment())
        equal((done.returncode, done.stderr), (0, ""), f"completing {typed}")
        return [line for line in done.stdout.split("\n") if line]


@test
def bash_offers_what_the_table_says():
    with Bash() as bash:
        commands = table()["commands"]
        equal(bash.complete(""), [command["name"] for command in commands] + ["--help", "--version"])
        for command in commands:
            name = command["name"]
            equal(bash.complete(name, "--"), ["--" + flag["name"] for flag in command["flags"]], f"flags of {name}")
            offered = bash.complete(name, "")
            if name != "help":
                equal(offered, command["words"], f"words of {name}")
            for flag in command["flags"]:
                if "value" in flag and flag["value"] != "FILE":
                    equal(bash.complete(name, "--" + flag["name"], ""), flag["words"], f"{name} --{flag['name']}")
        equal(bash.complete("help", ""), commands[-2]["words"] + [command["name"] for command in commands])


@test
def bash_narrows_down_by_what_is_typed_and_knows_files():
    with Bash() as bash:
        equal(bash.complete("sta"), ["stats"])
        equal(bash.complete("solve", "--re"), ["--reuse"])
        equal(bash.complete("solve", "--reuse", "s"), ["shared", "single"])
        equal(bash.complete("solve", "--reuse", "=", "n"), ["none"], "with an equals sign")
        equal(bash.complete("solve", "--reuse", "="), ["shared", "single", "none"], "right behind an equals sign")
        equal(sorted(bash.complete("check", "-c", "")), ["one.json", "solvegate", "two words.json"])
        equal(bash.complete("serve", "--config", "two"), ["two words.json"])
        equal(bash.complete("letters", "list", ""), [])
        equal(bash.complete("letters", "--client", ""), [])


@test
def scripts_of_all_shells_are_well_formed_and_complete():
    for shell, option in (("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")):
        text = script(shell)
        for command in table()["commands"]:
            contains(text, command["name"])
            for flag in command["flags"]:
                contains(text, {"bash": "--", "zsh": "--", "fish": "-l "}[shell] + flag["name"])
                if flag["words"]:
                    contains(text, " ".join(flag["words"]))
        if shutil.which(shell):
            with File(text) as path:
                done = subprocess.run([shell, option, path], capture_output=True, text=True, timeout=TIMEOUT, check=False)
                equal((done.returncode, done.stderr), (0, ""), f"{shell} about its script")
    if shutil.which("shellcheck"):
        with File(script("bash")) as path:
            done = subprocess.run(["shellcheck", "-s", "bash", path], capture_output=True, text=True, check=False)
            equal((done.returncode, done.stdout), (0, ""), "shellcheck")


@test
def fish_offers_what_the_table_says():
    if not shutil.which("fish"):
        raise Skip("fish is not installed")
    with File(script("fish")) as path, tempfile.TemporaryDirectory() as home:
        def offered(line):
            done = subprocess.run(["fish", "-c", f"source {path}; complete -C '{line}'"], capture_output=True, text=True,
                                  env=clean_environment(HOME=home), cwd=home, timeout=TIMEOUT, check=False)
            return sorted(row.split("\t")[0] for row in done.stdout.splitlines())

        equal(offered("solvegate "), sorted(command["name"] for command in table()["commands"]))
        equal(offered("solvegate solve --reuse "), ["none", "shared", "single"])
        equal(offered("solvegate letters "), ["drop", "list", "replay", "show"])


@test
def a_shell_or_page_that_does_not_exist_is_a_usage_mistake():
    contains(expect(solvegate("completion"), EX_USAGE, stdout="").stderr, "bash, zsh or fish")
    contains(expect(solvegate("completion", "bsh"), EX_USAGE, stdout="").stderr, 'did you mean "bash"')
    contains(expect(solvegate("completion", "powershell"), EX_USAGE, stdout="").stderr, "bash zsh fish")
    contains(expect(solvegate("help", "--man", "solvegate.8"), EX_USAGE, stdout="").stderr, "solvegate.1")


run()
