"""Calling the command line: with pipes, with files, and on a terminal."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time

from harness import TIMEOUT, binary, equal

EX_USAGE, EX_DATAERR, EX_NOINPUT, EX_UNAVAILABLE = 64, 65, 66, 69
EX_IOERR, EX_TEMPFAIL, EX_PROTOCOL, EX_NOPERM, EX_CONFIG = 74, 75, 76, 77, 78


def clean_environment(**more):
    """Nothing of the tester's own configuration may leak in."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("SOLVEGATE_") and name not in ("CAPTCHAAI_API_KEY", "NO_COLOR")}
    return {**kept, **more}


def solvegate(*args, text="", env=None, stdin=None):
    given = {"stdin": stdin} if stdin is not None else {"input": text}
    return subprocess.run([binary("SOLVEGATE"), *args], capture_output=True, text=True,
                          env=clean_environment(**(env or {})), timeout=TIMEOUT * 2, check=False, **given)


def expect(done, code, stdout=None, stderr=None):
    equal(done.returncode, code, f"exit code ({done.stderr.strip()})")
    if stdout is not None:
        equal(done.stdout, stdout, "stdout")
    if stderr is not None:
        equal(done.stderr, stderr, "stderr")
    return done


class File:
    """A file for the length of a with; what is no text is written as JSON."""

    def __init__(self, content):
        if isinstance(content, (dict, list)):
            content = json.dumps(content)
        self.content = content.encode() if isinstance(content, str) else content

    def __enter__(self):
        self.file = tempfile.NamedTemporaryFile("wb", suffix=".json")
        self.file.write(self.content)
        self.file.flush()
        return self.file.name

    def __exit__(self, *_):
        self.file.close()


MARK = "<the end of what was shown>"


def hear_signals():
    """Whoever runs the tests with nohup or in the background of a script made us ignore some, and what is ignored stays ignored."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


class Terminal:
    """The program on a terminal of its own; .shown is everything it has written there."""

    def __init__(self, *args, env=None, columns=80, lines=24):
        self.main, self.terminal = pty.openpty()
        self.resize(columns, lines, tell=False)
        self.before = termios.tcgetattr(self.terminal)
        environment = clean_environment(**{"TERM": "xterm", "LC_ALL": "C.UTF-8", **(env or {})})
        self.process = subprocess.Popen([binary("SOLVEGATE"), *args], stdin=self.terminal, stdout=self.terminal,
                                        stderr=self.terminal, env=environment, start_new_session=True,
                                        preexec_fn=hear_signals)
        self.shown = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.main)
        os.close(self.terminal)

    def resize(self, columns, lines, tell=True):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        if tell:
            self.process.send_signal(signal.SIGWINCH)

    def read(self, seconds):
        """Takes what comes within that time, and whatever is there at once."""
        end = time.monotonic() + seconds
        while select.select([self.main], [], [], max(0, end - time.monotonic()))[0]:
            self.shown += os.read(self.main, 65536).decode("utf-8", "replace")
            if time.monotonic() > end:
                return

    def wait_screen(self, condition, what):
        """Until condition(the lines of the picture that was drawn last) holds; returns the lines."""
        end = time.monotonic() + TIMEOUT
        while not (self.screens() and condition(self.screens()[-1])):
            if time.monotonic() > end:
                raise AssertionError(f"{what} was not shown: {self.screens()[-1:]}")
            self.read(0.05)
        return self.screens()[-1]

    def wait_for(self, pattern, since=0, pause=0.05):
        """Until the pattern has been shown after that many characters; looks again after each pause."""
        end = time.monotonic() + TIMEOUT
        while not re.search(pattern, self.shown[since:]):
            if time.monotonic() > end:
                raise AssertionError(f"/{pattern}/ was not shown: {self.shown[since:]!r}")
            self.read(pause)

    def type(self, text):
        os.write(self.main, text.encode())

    def ended(self):
        """Its exit code."""
        end = time.monotonic() + TIMEOUT
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.02)
        code = self.process.wait(timeout=1)
        # The kernel passes on what is written to a terminal in its own time, but in order: our mark comes last.
        os.write(self.terminal, MARK.encode())
        self.wait_for(MARK)
        self.shown = self.shown.replace(MARK, "")
        return code

    def is_restored(self):
        """The terminal as it was, the alternate screen left, the cursor shown."""
        return termios.tcgetattr(self.terminal) == self.before and self.shown.rstrip().endswith("\x1b[?1049l") \
            and "\x1b[?25h" in self.shown[self.shown.rindex("\x1b[?25l"):]

    def screens(self):
        """Every picture that was drawn to its end, as lists of lines without colours."""
        drawn = re.findall(r"\x1b\[H((?:(?!\x1b\[H).)*?)\x1b\[J", self.shown, re.S)
        return [[re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", line) for line in one.split("\n")] for one in drawn]
