"""What the tests of the simulator share: parameters of common submits and requests byte by byte."""
import urllib.parse

from harness import KEY

OTHER_KEY = "f" * 32
IMAGE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2
TURNSTILE = {"key": KEY, "method": "turnstile", "sitekey": "0xSITE", "pageurl": "https://example.com/"}
RECAPTCHA = {"key": KEY, "method": "userrecaptcha", "googlekey": "6LeSITE", "pageurl": "https://example.com/"}


def form(params):
    return urllib.parse.urlencode(params)


def request_bytes(method, target, body=b"", headers=()):
    head = f"{method} {target} HTTP/1.1\r\nHost: sim\r\n" + "".join(f"{line}\r\n" for line in headers)
    if body:
        head += f"Content-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def submit_bytes(params=None, headers=()):
    return request_bytes("GET", "/in.php?" + form(params or TURNSTILE), headers=headers)
