"""Real reverse proxies, with the files of contrib or a file of the test's own."""
import http.client
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading

from gateway import free_port
from harness import TIMEOUT, Program, Response, Skip, check, wait_until

HOST = "gate.example.com"
CONTRIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "contrib")

# An nginx that keeps everything in a folder of its own; its logs are as talkative as they get.
NGINX = """
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
    ssl_certificate {folder}/cert.pem;
    ssl_certificate_key {folder}/key.pem;
{sites}
}}
"""

# The file of contrib beside another site on the same port.
CONTRIB_SITES = """
    server {{
        listen 127.0.0.1:{port} ssl default_server;
        server_name other.example.com;
        return 200 other;
    }}
    include {folder}/solvegate.conf;
"""


def program(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not path:
        raise Skip(f"{name} is not installed")
    return path


def certificate(folder, host="localhost"):
    """Makes cert.pem and key.pem there, for this name and for 127.0.0.1; returns the path of the former."""
    path = os.path.join(folder, "cert.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", os.path.join(folder, "key.pem"), "-out", path, "-days", "2", "-subj", f"/CN={host}",
                    "-addext", f"subjectAltName=DNS:{host},IP:127.0.0.1"], check=True, capture_output=True)
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


class TlsListener:
    """A vendor of the test's own with TLS: `serve(raw, number)` gets each connection before its handshake, in a thread of its own."""

    PROTOCOLS = []  # by ALPN

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.certificate = certificate(self._folder.name)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, os.path.join(self._folder.name, "key.pem"))
        if self.PROTOCOLS:
            self.context.set_alpn_protocols(self.PROTOCOLS)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()
        self._folder.cleanup()

    def _accept(self):
        while True:
            try:
                raw, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(raw, self.connections), daemon=True).start()


class Proxy(Program):
    """A real reverse proxy; its upstream is a port of this machine, or what else the proxy understands."""

    host = HOST

    def __init__(self, upstream):
        super().__init__()
        self.port = free_port()
        self.upstream = upstream if isinstance(upstream, str) else f"127.0.0.1:{upstream}"

    def __enter__(self):
        self._kept = tempfile.TemporaryDirectory()
        self.folder = self._kept.name
        self.certificate = certificate(self.folder, self.host)
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
        return context.wrap_socket(raw, server_hostname=self.host)

    def call(self, target, method="GET", body=None, headers=None):
        """One call over TLS with this very target."""
        connection = http.client.HTTPConnection(self.host, timeout=TIMEOUT)
        connection.sock = self.connect()
        try:
            try:
                connection.request(method, target, body, {"Host": self.host, **(headers or {})})
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


class NginxOf(Proxy):
    """An nginx with these sites: the text of its http block, in which {folder}, {port} and {upstream} are replaced."""

    sites = None

    def command(self):
        values = {"folder": self.folder, "port": self.port, "upstream": self.upstream}
        user = "user root;" if os.geteuid() == 0 else ""
        main = self.write("nginx.conf", NGINX.format(user=user, sites=self.sites.format(**values), **values))
        return [program("nginx"), "-p", self.folder, "-e", os.path.join(self.folder, "start.log"), "-c", main]

    def access_log(self, name="main-access.log"):
        """Call it after stop(): a line is written after its reply was sent."""
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read().splitlines()


class Nginx(NginxOf):
    sites = CONTRIB_SITES
    file = "nginx.conf"
    name = HOST  # as the file has it

    def command(self):
        self.write("solvegate.conf", substitute(self.file, [
            ("listen 443 ssl;", f"listen 127.0.0.1:{self.port} ssl;"),
            ("listen [::]:443 ssl;", f"listen [::1]:{self.port} ssl;" if has_ipv6() else ""),
            ("server 127.0.0.1:8430;", f"server {self.upstream};"),
            (f"/etc/letsencrypt/live/{self.name}/fullchain.pem", self.certificate),
            (f"/etc/letsencrypt/live/{self.name}/privkey.pem", os.path.join(self.folder, "key.pem")),
            (f"server_name {self.name};", f"server_name {self.host};"),
            ("/var/log/nginx/", self.folder + "/")]))
        return super().command()

    def access_log(self, name="solvegate-access.log"):
        return super().access_log(name)


class Workers(Nginx):
    """The site for workers, under a name that every client can resolve."""
    file = "nginx-workers.conf"
    name = "workers.example.com"
    host = "localhost"


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
