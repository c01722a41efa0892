"""Callers that never give up: each has a need, asks until it is answered, and remembers what it was told."""
import http.client
import json
import random
import threading
import time

from harness import KEY, Raw, get, http_request, post_form

PAGE = "https://example.com/login"
PATIENCE = 120


class Need:
    """One thing somebody wants, and what became of it."""

    def __init__(self, sitekey, reuse, idempotency=None):
        self.sitekey = sitekey
        self.reuse = reuse
        self.idempotency = idempotency
        self.ids = []  # told by in.php
        self.tokens = set()
        self.told = []  # when what was told, for people
        self.problems = []
        self.is_abandoned = False
        self.left_at = None  # when whoever abandoned it hung up
        self.is_uncertain = False  # the caller was cut off and cannot ask again for the same thing

    def __repr__(self):
        return f"<{self.sitekey} {self.reuse} {self.idempotency} ids {self.ids}>"

    def params(self):
        return {"method": "turnstile", "sitekey": self.sitekey, "pageurl": PAGE, "reuse": self.reuse}


class Caller:
    """Talks to one gateway that may be gone at any moment."""

    def __init__(self, url, is_over=lambda: False):
        self.url = url
        self.is_over = is_over

    def attempt(self, call):
        """The reply, or None when the gateway is dead, dying or not there yet."""
        try:
            return call()
        except (OSError, EOFError, http.client.HTTPException):
            return None

    def until_answered(self, need, ask):
        """Calls ask until it returns something true; a long silence is a problem of the gateway's."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not self.is_over():
            answer = ask()
            if answer:
                return answer
            time.sleep(0.02)
        need.problems.append(f"no answer within {PATIENCE} s")
        return None

    def submit(self, need):
        """in.php until it tells an id."""
        params = {"key": KEY, **need.params()}
        if need.idempotency:
            params["idempotency_key"] = need.idempotency

        def ask():
            reply = self.attempt(lambda: post_form(self.url + "/in.php", params))
            text = "" if reply is None else reply.text
            if text.startswith("OK|"):
                return text[3:]
            # Refused for now: the breaker is open. Anything else would be a wrong answer.
            if text not in ("", "ERROR_NO_SLOT_AVAILABLE", "ERROR_UPSTREAM_UNCERTAIN"):
                need.problems.append(f"in.php said {text}")
            return None

        task = self.until_answered(need, ask)
        if task:
            need.ids.append(task)
        return task

    def poll(self, need, task):
        """res.php until it has an answer: an id that was told must be known ever after."""
        def ask():
            reply = self.attempt(lambda: get(self.url + "/res.php", key=KEY, action="get", id=task, wait="2"))
            return None if reply is None or reply.text == "CAPCHA_NOT_READY" else reply.text

        self.take(need, self.until_answered(need, ask), "res.php")

    def take(self, need, text, where):
        if text is not None and text.startswith("OK|SIM_"):
            need.tokens.add(text[3:])
        elif text is not None:
            need.problems.append(f"{where} said {text}")

    def hold(self, need):
        """POST /v1/solves until it is solved, with the same idempotency key if the need has one."""
        headers = {"Idempotency-Key": need.idempotency} if need.idempotency else {}

        def ask():
            reply = self.attempt(lambda: http_request(self.url + "/v1/solves", "POST", {**need.params(), "wait": 3}, headers))
            if reply is None or reply.status in (202, 429, 503):
                return None
            return f"OK|{reply.json()['solution']}" if reply.status == 200 else f"{reply.status} {reply.text}"

        self.take(need, self.until_answered(need, ask), "POST /v1/solves")

    def hold_once(self, need):
        """POST /v1/solves with nothing to ask again by: whoever is cut off may have been handed something in vain."""
        def ask():
            reply = self.attempt(lambda: http_request(self.url + "/v1/solves", "POST", {**need.params(), "wait": 20},
                                                 timeout=PATIENCE))
            if reply is None:
                need.is_uncertain = True
                return True
            if reply.status == 200:
                need.tokens.add(reply.json()["solution"])
            elif reply.status not in (429, 503):
                need.problems.append(f"POST /v1/solves said {reply.status} {reply.text}")
            return reply.status not in (429, 503)

        self.until_answered(need, ask)

    def ask_by_dialect(self, need):
        task = self.submit(need)
        if task:
            self.poll(need, task)

    def abandon(self, need, seconds):
        """Asks and hangs up; the answer, if it is paid for, must not be lost."""
        need.is_abandoned = True
        body = json.dumps({**need.params(), "wait": 10})
        head = "POST /v1/solves HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

        def ask():
            with Raw(int(self.url.rpartition(":")[2])) as connection:
                connection.send(f"{head}Content-Length: {len(body)}\r\n\r\n{body}")
                time.sleep(seconds)
            need.left_at = time.time()
            return True

        self.until_answered(need, lambda: self.attempt(ask))


class Crowd:
    """Threads of callers with a mix of needs, drawn from the seed; stop() lets each finish what it began."""

    caller = Caller

    def __init__(self, url, seed, count):
        self.needs = []
        self.url = url
        self.must_stop = False
        self._lock = threading.Lock()
        self._serial = 0
        self._threads = [threading.Thread(target=self._live, args=(random.Random(f"{seed} {i}"),), daemon=True)
                         for i in range(count)]

    def start(self):
        for thread in self._threads:
            thread.start()
        return self

    def stop(self):
        self.must_stop = True
        for thread in self._threads:
            thread.join()

    def _new_need(self, draw):
        with self._lock:
            self._serial += 1
            number = self._serial
            kind = draw.choice(["shared", "shared", "single", "single", "loner", "abandoned"])
            if kind == "shared":  # what others want at the same time, or wanted a moment ago
                need = Need(f"shared-{number // 8}", "shared", draw.choice([None, f"order-{number}"]))
            elif kind == "single":  # the same target for many, a solution for each
                need = Need(f"single-{number // 200}", "single", f"order-{number}")
            elif kind == "loner":
                need = Need(f"loner-{number // 200}", "single")
            else:
                # Slow ones: under single reuse nobody may get what was handed to one who left too late.
                need = Need(f"SIM-SLOW-2s+CALLBACK-OK.left-{number}", draw.choice(["shared", "single"]))
            self.needs.append(need)
        return need, kind

    def _live(self, draw):
        caller = self.caller(self.url)
        while not self.must_stop:
            need, kind = self._new_need(draw)
            try:
                if kind == "abandoned":
                    caller.abandon(need, draw.uniform(0, 0.1))
                elif kind == "loner":
                    caller.hold_once(need)
                elif draw.random() < 0.5:
                    caller.ask_by_dialect(need)
                else:
                    caller.hold(need)
            except Exception as problem:  # the judge hears of it
                need.problems.append(repr(problem))
            time.sleep(draw.uniform(0, 0.1))
