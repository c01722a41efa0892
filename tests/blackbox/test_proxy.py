#!/usr/bin/env python3
"""contrib/nginx.conf and contrib/Caddyfile as they are, in front of the gateway: what they let through, and that their
logs hold neither tokens nor nonces. (TAP)"""
import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import urllib.parse

from gateway import World, free_port
from harness import (TIMEOUT, Program, Receiver, Response, Skip, check, contains, equal, multipart, run, test,
                     wait_until)

HOST = "gate.example.com"
CONTRIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "contrib")
NONCE = "0123456789abcdef" * 3
TOKEN = "TOKEN_" + "t" * 3994
SLOW = ("--solve-time", "60s")  # the test calls back, not the simulator

# An nginx of one's own, with another site on the same port, and its own logs as talkative as they get.
AROUND = """
{user}
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/main-error.log info;
events {{ }}
http {{
    access_log {folder}/main-access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} ssl default_server;
        server_name other.example.com;
        ssl_certificate {folder}/cert.pem;
        ssl_certificate_key {folder}/key.pem;
        return 200 other;
    }}
    include {folder}/solvegate.conf;
}}
"""


def program(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not path:
        raise Skip(f"{name} is not installed")
    return path


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        return True
    except OSError:
        return False


def substitute(path, pairs):
    """The text of a contrib file with each thing that its comments say to replace, replaced everywhere."""
    with open(os.path.join(CONTRIB, path), encoding="utf-8") as file:
        text = file.read()
    for old, new in pairs:
        check(old in text, f"{path} does not have {old!r}")
        text = text.replace(old, new)
    return text


class Proxy(Program):
    """A real reverse proxy with our file; its upstream is a port of this machine, or what else the proxy understands."""

    def __init__(self, upstream):
        super().__init__()
        self.port = free_port()
        self.upstream = upstream if isinstance(upstream, str) else f"127.0.0.1:{upstream}"

    def __enter__(self):
        self._kept = tempfile.TemporaryDirectory()
        self.folder = self._kept.name
        self.certificate = os.path.join(self.folder, "cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", os.path.join(self.folder, "key.pem"), "-out", self.certificate, "-days", "2",
                        "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"], check=True, capture_output=True)
        return self.start()

    def __exit__(self, *error):
        try:
            super().__exit__(*error)
        finally:
            self._kept.cleanup()

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def wait_line(self, pattern, timeout=TIMEOUT):
        """It prints no ready line: what counts is that somebody answers."""
        if pattern != self.ready:
            return super().wait_line(pattern, timeout)

        def is_there():
            check(self.process.poll() is None, f"the proxy ended: {self.stderr()}")
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return True
            except ConnectionRefusedError:
                return False

        wait_until(is_there, "the proxy")
        return f"ready on http://127.0.0.1:{self.port}"

    def connect(self):
        context = ssl.create_default_context(cafile=self.certificate)
        raw = socket.create_connection(("127.0.0.1", self.port), TIMEOUT)
        return context.wrap_socket(raw, server_hostname=HOST)

    def call(self, target, method="GET", body=None, headers=None):
        """One call over TLS with this very target."""
        connection = http.client.HTTPConnection(HOST, timeout=TIMEOUT)
        connection.sock = self.connect()
        try:
            try:
                connection.request(method, target, body, {"Host": HOST, **(headers or {})})
            except OSError:
                pass  # it has heard enough; its reply is there
            reply = connection.getresponse()
            names = {name.lower(): value for name, value in reply.getheaders()}
            return Response(reply.status, names, reply.read())
        finally:
            connection.close()

    def written(self):
        """Everything it has written down anywhere: logs, temporary files, stderr."""
        texts = [self.stderr()]
        for folder, _, names in os.walk(self.folder):
            for name in names:
                if name not in ("cert.pem", "key.pem", "solvegate.conf"):
                    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                        texts.append(file.read())
        return "\n".join(texts)

    def nameless_files(self):
        """What it and its workers have open on disk and have unlinked already."""
        own = f"/proc/{self.process.pid}"
        with open(f"{own}/task/{self.process.pid}/children", encoding="ascii") as file:
            folders = [f"/proc/{pid}/fd" for pid in (self.process.pid, *file.read().split())]
        links = [os.readlink(os.path.join(folder, name)) for folder in folders for name in os.listdir(folder)]
        return [link for link in links if link.endswith("(deleted)") and link.startswith("/") and "/dev/" not in link]

    def check_discretion(self, *secrets):
        """Nothing of the kind was written; call it after stop(), when everything has been."""
        written = self.written()
        for secret in secrets:
            check(secret[:40] not in written and secret[-40:] not in written,
                  f"{secret[:40]} was written down: {written[-3000:]}")


class Nginx(Proxy):
    def command(self):
        self.write("solvegate.conf", substitute("nginx.conf", [
            ("listen 443 ssl;", f"listen 127.0.0.1:{self.port} ssl;"),
            ("listen [::]:443 ssl;", f"listen [::1]:{self.port} ssl;" if has_ipv6() else ""),
            ("server 127.0.0.1:8430;", f"server {self.upstream};"),
            (f"/etc/letsencrypt/live/{HOST}/fullchain.pem", self.certificate),
            (f"/etc/letsencrypt/live/{HOST}/privkey.pem", os.path.join(self.folder, "key.pem")),
            ("/var/log/nginx/", self.folder + "/")]))
        user = "user root;" if os.geteuid() == 0 else ""
        main = self.write("nginx.conf", AROUND.format(folder=self.folder, port=self.port, user=user))
        return [program("nginx"), "-p", self.folder, "-e", os.path.join(self.folder, "start.log"), "-c", main]

    def access_log(self):
        with open(os.path.join(self.folder, "solvegate-access.log"), encoding="utf-8") as file:
            return file.read().splitlines()


class Caddy(Proxy):
    def command(self):
        path = self.write("solvegate.conf", substitute("Caddyfile", [
            (f"https://{HOST}:443 {{", f"https://{HOST}:{self.port} {{"),
            ("reverse_proxy 127.0.0.1:8430", f"reverse_proxy {self.upstream}"),
            (f"/etc/caddy/{HOST}.pem", self.certificate),
            (f"/etc/caddy/{HOST}.key", os.path.join(self.folder, "key.pem")),
            # Its control door has a port of its own, which may be taken here.
            ("auto_https disable_redirects", "admin off\n\tauto_https disable_redirects")]))
        self.env.update(HOME=self.folder, XDG_DATA_HOME=self.folder, XDG_CONFIG_HOME=self.folder)
        return [program("caddy"), "run", "--adapter", "caddyfile", "--config", path]


def with_both(function):
    """A test for each proxy; it gets the class."""
    def bound(kind):
        def case():
            program(kind.__name__.lower())
            function(kind)

        case.__name__ = f"{kind.__name__.lower()}_{function.__name__}"
        return case

    for kind in (Nginx, Caddy):
        test(bound(kind))


def world_behind(port, public_url=f"https://{HOST}", **options):
    """The gateway as the contrib files ask for it."""
    return World({"listen": [f"127.0.0.1:{port}"], "public_url": public_url, "trusted_proxies": ["127.0.0.1/32"],
                  "poll": {"fallback_after": "60s"}}, **options)


def dressed(proxy):
    """A receiver that passes the simulator's callbacks on over TLS, which the simulator does not speak."""
    def pass_on(call):
        reply = proxy.call(call["path"] + "?" + urllib.parse.urlencode(call["params"]), call["method"])
        return reply.status, reply.body

    return Receiver(pass_on)


@with_both
def lets_a_whole_solve_through_and_writes_down_neither_nonce_nor_token(kind):
    port = free_port()
    with kind(port) as proxy, dressed(proxy) as tls, world_behind(port, tls.url) as world:
        solution = world.solved()["solution"]
        wait_until(lambda: world.sim.totals()["callbacks_ok"] == 1, "the simulator's OK")
        equal((world.paid(), world.sim.totals()["polls"]), (1, 0), "submits and polls")
        nonce = world.sim.submits()[0]["pingback"].rsplit("/", 1)[1]
        proxy.stop()
        proxy.check_discretion(nonce, solution)
        if kind is Nginx:
            equal([line.split()[2:4] for line in proxy.access_log()], [["GET", "200"]], "access log")


@with_both
def passes_callbacks_of_every_form_on_over_tls(kind):
    port = free_port()
    with kind(port) as proxy, world_behind(port, sim=SLOW) as world:
        secrets = []

        def deliver(number, send):
            token = f"TOKEN_{number}_" + "x" * 3990
            ask = world.solve(sitekey=str(number), wait=None).json()["id"]
            submit = wait_until(lambda: next((s for s in world.sim.submits() if s["params"]["sitekey"] == str(number)),
                                             None), "the submit")
            nonce = submit["pingback"].rsplit("/", 1)[1]
            reply = send("/pingback/" + nonce, submit["id"], token)
            equal((reply.status, reply.text), (200, "OK"), f"callback {number}")
            equal(world.call("GET", f"/v1/solves/{ask}").json()["solution"], token)
            secrets.extend((nonce, token))

        form = {"Content-Type": "application/x-www-form-urlencoded"}
        deliver(1, lambda path, task, token: proxy.call(f"{path}?id={task}&code={token}"))
        deliver(2, lambda path, task, token: proxy.call(path, "POST", f"id={task}&code={token}", form))
        deliver(3, lambda path, task, token: proxy.call(path, "POST", f'{{"id":"{task}","code":"{token}"}}'))

        def as_multipart(path, task, token):
            body, content_type = multipart([("id", str(task)), ("code", token)])
            return proxy.call(path, "POST", body, {"Content-Type": content_type})

        deliver(4, as_multipart)
        # The longest query that the gateway takes: every character of a token may be escaped.
        deliver(5, lambda path, task, token: proxy.call(
            f"{path}?id={task}&code=" + "".join(f"%{ord(c):02x}" for c in token[:2000]) + token[2000:]))
        proxy.stop()
        proxy.check_discretion(*secrets)


ELSEWHERE = """
/ /pingback /pingback/ /pingback? /pingback/?code=1 /v1/stats /v1/solves /metrics /livez /readyz /openapi.json
/in.php /res.php?key=1&action=getbalance /favicon.ico /.well-known/x
//pingback/{n} ///pingback/{n} /./pingback/{n} /x/../pingback/{n} /%70ingback/{n} /pingback%2f{n} /Pingback/{n}
/pingback//{n} /pingback/./{n} /pingback/{n}/ /pingback/{n}/x /pingback/{n}%00 /pingback/{n}%20 /pingback/{n};x
/pingback/../v1/stats /pingback/..;/v1/stats /pingback/%2e%2e/v1/stats /pingback/..%2fv1/stats /pingback/%2e%2e%2fv1%2fstats
/pingback/%252e%252e/v1/stats /pingback/..%252fv1/stats /pingback/..%5cv1/stats /pingback/x/../../v1/stats
/pingback/{n}/../../v1/stats /pingback/{n}%2f..%2f..%2fv1%2fstats /pingback/{n}%3f/../../v1/stats /pingback/%c0%ae%c0%ae/v1/stats
/v1/stats?/pingback/{n} /v1/stats%3f/pingback/{n} /v1/stats%23/pingback/{n} /v1/stats;/pingback/{n}
https://gate.example.com/metrics?x=/pingback/{n}
""".replace("{n}", NONCE).split()


@with_both
def passes_nothing_else_on(kind):
    with Receiver() as behind, kind(behind.port) as proxy:
        for target in ELSEWHERE:
            for method in ("GET", "POST"):
                reply = proxy.call(target, method, b"code=x" if method == "POST" else None)
                # A path that is no path at all may be called a bad request instead.
                check(reply.status == 404 or ("%00" in target and reply.status == 400), f"{method} {target}: {reply}")
        for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "HEAD", "TRACE", "BREW"):
            check(proxy.call(f"/pingback/{NONCE}", method).status in (404, 405), method)
        equal([call["path"] for call in behind.calls], [], "what came through")
        equal(proxy.call(f"/pingback/{NONCE}?code=x").status, 200, "a callback")
        equal([call["path"] for call in behind.calls], [f"/pingback/{NONCE}"], "what came through")
        proxy.stop()
        proxy.check_discretion(NONCE)


@with_both
def says_where_a_callback_comes_from_and_does_not_believe_what_it_claims(kind):
    with Receiver() as behind, kind(behind.port) as proxy:
        claims = {"X-Forwarded-For": "6.6.6.6, 127.0.0.1"}
        equal(proxy.call(f"/pingback/{NONCE}?id=1&code=a%2fb+c", headers=claims).status, 200)
        equal(proxy.call(f"/pingback/{NONCE}", "POST", b"code=x", claims).status, 200)
        equal([call["headers"]["X-Forwarded-For"] for call in behind.calls], ["127.0.0.1"] * 2)
        equal((behind.calls[0]["params"], behind.calls[1]["body"]), ({"id": "1", "code": "a/b c"}, b"code=x"))


@with_both
def writes_no_secret_down_when_things_go_wrong(kind):
    """The gateway is stopped or hangs up; a call is too long, too large, broken, or ends in the middle."""
    port = free_port()
    target = f"/pingback/{NONCE}?id=1&code={TOKEN}"
    with kind(port) as proxy:
        equal(proxy.call(target).status, 502, "a stopped gateway")
        equal(proxy.call(f"/pingback/{NONCE}", "POST", f"code={TOKEN}").status, 502, "a stopped gateway")
        check(proxy.call(target + "&more=" + TOKEN * 5).status in (400, 414, 431), "a long line")
        check(proxy.call(target, headers={"Referer": HOST + TOKEN * 5}).status in (400, 414, 431), "a long header")
        check(proxy.call(target, "POST", TOKEN * 40).status in (413, 502), "a large body")
        for broken in (f"GET {target} HTTP/9.9\r\n\r\n", f"GET {target}\x01 HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
                       f"GET {target} HTTP/1.1\r\nHost: {HOST}\r\nHost: {TOKEN}\r\n\r\n",
                       f"GET {target} HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {NONCE}\r\n\r\n"):
            with proxy.connect() as connection:
                connection.sendall(broken.encode())
                check(re.match(r"HTTP/1\.1 (400|505) ", connection.recv(100).decode()), repr(broken[-40:]))
        with proxy.connect() as connection:
            connection.sendall(f"POST {target} HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 99\r\n\r\n{TOKEN[:50]}".encode())
        proxy.stop()
        proxy.check_discretion(NONCE, TOKEN)
        if kind is Nginx:
            contains("\n".join(proxy.access_log()), " GET 502 ")
        else:
            contains(proxy.written(), "connection refused")
    with Receiver(answer=lambda call: None) as rude, kind(rude.port) as proxy:
        equal(proxy.call(target).status, 502, "a gateway that hangs up")
        proxy.stop()
        proxy.check_discretion(NONCE, TOKEN)


@test
def nginx_writes_no_secret_down_when_the_gateways_unix_socket_is_missing():
    """That is `crit` for nginx, where a refused connection is only `error`."""
    with Nginx("unix:/nonexistent/solvegate.sock") as proxy:
        equal(proxy.call(f"/pingback/{NONCE}?code={TOKEN}").status, 502)
        proxy.stop()
        proxy.check_discretion(NONCE, TOKEN)


@with_both
def leaves_no_token_in_a_temporary_file(kind):
    """The largest body that is taken, looked for while the gateway is still busy with it."""
    found = []
    with Receiver() as behind, kind(behind.port) as proxy:
        def look(_):
            found.append((proxy.written(), proxy.nameless_files()))
            return 200, b"OK"

        behind.answer = look
        body = f"code={TOKEN}&rest=".ljust(60000, "r")
        equal(proxy.call(f"/pingback/{NONCE}", "POST", body).status, 200)
        equal(len(behind.calls[0]["body"]), 60000, "bytes that arrived")
        (written, nameless), = found
        check(TOKEN not in written, "a token on disk")
        equal(nameless, [], "files without a name")


run()
