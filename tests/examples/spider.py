"""usage: spider.py ORDER SITEKEY PAGEURL   Sends a form through contrib/examples/scrapy_solvegate.py and prints what the site says."""
import os
import sys

from scrapy import FormRequest, Spider
from scrapy.crawler import CrawlerProcess
from scrapy_solvegate import Failed, NotInTime, Refused

EXITS = {Failed: 1, Refused: 65, NotInTime: 75}
ORDER, SITEKEY, PAGEURL = sys.argv[1:]
ended = []


class Login(Spider):
    name = "login"

    def start_requests(self):
        task = {"method": "turnstile", "sitekey": SITEKEY, "pageurl": PAGEURL}
        yield FormRequest(PAGEURL, formdata={"name": "me"}, callback=self.said, errback=self.not_solved,
                          meta={"solvegate": {"order": ORDER, "task": task, "field": "cf-turnstile-response"}})

    def said(self, response):
        print(response.text)
        ended.append(0)

    def not_solved(self, failure):
        print(f"{failure.type.__name__}: {failure.value}", file=sys.stderr)
        ended.append(EXITS.get(failure.type, 70))


names = ("SOLVEGATE_URL", "SOLVEGATE_KEY", "SOLVEGATE_PATIENCE")
process = CrawlerProcess({"DOWNLOADER_MIDDLEWARES": {"scrapy_solvegate.SolvegateMiddleware": 100}, "LOG_LEVEL": "CRITICAL",
                          "TELNETCONSOLE_ENABLED": False, "ROBOTSTXT_OBEY": True, "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
                          "TWISTED_REACTOR": os.environ.get("REACTOR"),
                          **{name: os.environ[name] for name in names if name in os.environ}})
process.crawl(Login)
process.start()
sys.exit(ended[0] if len(ended) == 1 else 70)
