"""A Scrapy downloader middleware: a form that asks for a token gets one before it is sent. For sites that agree to it.

In settings.py:

    DOWNLOADER_MIDDLEWARES = {"scrapy_solvegate.SolvegateMiddleware": 100}
    SOLVEGATE_URL = "http://127.0.0.1:8430"
    SOLVEGATE_KEY = "the client's key"

In the spider; what cannot be solved arrives in errback as Refused, Failed or NotInTime:

    task = {"method": "turnstile", "sitekey": "0x4AAB", "pageurl": response.url}
    yield FormRequest(url, formdata={"name": "me"}, errback=self.not_solved,
                      meta={"solvegate": {"order": "order-17", "task": task, "field": "cf-turnstile-response"}})
"""
import json
import time
from urllib.parse import urlencode

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.task import deferLater

# The gateway's replies are for us, whatever their status, and need no robots.txt.
PLAIN = {"dont_retry": True, "dont_redirect": True, "dont_obey_robotstxt": True, "download_timeout": 60}


class Refused(IgnoreRequest):
    """The request or the key is wrong; asking again does not help."""


class Failed(IgnoreRequest):
    """The vendor could not solve it, also not when the gateway tried again."""


class NotInTime(IgnoreRequest):
    """There was no end in time; asking again later finds the same solve."""


class SolvegateMiddleware:
    def __init__(self, crawler):
        self.crawler = crawler
        self.url = crawler.settings.get("SOLVEGATE_URL", "http://127.0.0.1:8430")
        self.key = crawler.settings.get("SOLVEGATE_KEY", "none")
        self.patience = crawler.settings.getfloat("SOLVEGATE_PATIENCE", 300)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    async def process_request(self, request, spider):
        wanted = request.meta.get("solvegate")
        if not wanted:
            return None
        token = await self.solve(wanted["order"], wanted["task"])
        meta = {name: value for name, value in request.meta.items() if name != "solvegate"}
        token_field = urlencode({wanted["field"]: token}).encode()
        return request.replace(body=b"&".join(filter(None, [request.body, token_field])), meta=meta, dont_filter=True)

    async def ask(self, order, task):
        """One call that waits for the end: status, reply, seconds to pause before the next."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": order, "Authorization": f"Bearer {self.key}"}
        call = Request(f"{self.url}/v1/solves", method="POST", headers=headers, body=json.dumps({**task, "wait": 50}), meta=PLAIN)
        try:
            reply = await maybe_deferred_to_future(self.crawler.engine.download(call))
        except Exception as problem:  # Twisted has many names for a lost connection
            return 0, repr(problem), 1
        return reply.status, reply.text, int(reply.headers.get("Retry-After", 1))

    async def solve(self, order, task):
        """Asks until there is an end. The same order finds the solve that the first call started: it is paid for once."""
        from twisted.internet import reactor  # importing it earlier would choose one before Scrapy does
        end = time.monotonic() + self.patience
        while True:
            status, text, pause = await self.ask(order, task)
            if status == 200:
                return json.loads(text)["solution"]
            if status not in (0, 202, 429, 503):  # connection lost, still solving, come again later
                raise Failed(text) if status >= 500 else Refused(text)
            if time.monotonic() + pause > end:
                raise NotInTime(text)
            await maybe_deferred_to_future(deferLater(reactor, pause, lambda: None))
