"""What TLS to the vendor costs: CPU per poll over warm connections, handshakes, and how long the loop stands still while
connections open. nginx stands before the simulator on cpu 0, our client on cpu 1 takes turns with plain HTTP, HTTP/1.1
over TLS and HTTP/2, all through the same nginx. A handshake is a connection's first request in its access log."""
import pathlib
import subprocess

from figures import median_of, ratios_of
from programs import SERVER_CPU, Server, free_port

# What each is called here, and what nginx is told of it.
WAYS = {"plain HTTP": "", "HTTP/1.1 over TLS": " ssl", "HTTP/2": " ssl http2"}
PLAIN = "plain HTTP"
MOST_TURN_MS = 10
# As many polls at once as there are connections; so many at once are a start after a pause.
STEADY, MANY = 64, 1000
# Of the CPU time over plain HTTP.
MOST_CPU = {"HTTP/1.1 over TLS": 1.15, "HTTP/2": 1.1}
SITE = """
    server {{
        listen 127.0.0.1:{port}{words} reuseport;
        access_log {folder}/{port}.log seen;
        location / {{
            proxy_pass http://vendor;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }}
    }}
"""
NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 9000; }}
http {{
    log_format seen "$connection_requests $ssl_session_reused";
    keepalive_requests 100000000;
    keepalive_timeout 1h;
    ssl_certificate {folder}/cert.pem;
    ssl_certificate_key {folder}/key.pem;
    ssl_session_cache shared:all:4m;
    upstream vendor {{
        server 127.0.0.1:{vendor};
        keepalive 1024;
    }}
{sites}
}}
"""


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                    folder / "key.pem", "-out", folder / "cert.pem", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    return folder / "cert.pem"


class Front(Server):
    """nginx with a port for each way to the vendor."""

    def __init__(self, folder, vendor_port):
        self.folder = pathlib.Path(folder) / "tls"
        self.folder.mkdir()
        self.certificate = make_certificate(self.folder)
        self.ports = {way: free_port() for way in WAYS}
        sites = "".join(SITE.format(port=self.ports[way], words=words, folder=self.folder) for way, words in WAYS.items())
        path = self.folder / "nginx.conf"
        path.write_text(NGINX.format(folder=self.folder, vendor=vendor_port, sites=sites), encoding="utf-8")
        super().__init__(["nginx", "-p", self.folder, "-e", self.folder / "start.log", "-c", path], self.ports[PLAIN], cpu=SERVER_CPU)
        self.wait_for_port()

    def url_of(self, way):
        return ("https" if "ssl" in WAYS[way] else "http") + f"://localhost:{self.ports[way]}"

    def handshakes(self, way):
        """Connections that were made since the last time, how many of them took up an older one's session, and all requests."""
        log = self.folder / f"{self.ports[way]}.log"
        lines = log.read_text(encoding="utf-8").splitlines()
        first = [line.split()[1] for line in lines if line.startswith("1 ")]
        log.write_text("", encoding="utf-8")
        return len(first), first.count("r"), len(lines)


def one_round(front, way, poll, connections=STEADY):
    front.handshakes(way)
    one = poll(front.url_of(way), front.certificate, connections)
    made, resumed, requests = front.handshakes(way)
    return {**one, "cpu_us": one["user_us"] + one["system_us"], "made": made, "per_thousand": 1000 * made / max(requests, 1), "resumed": resumed}


def run(report, options, folder, sim, poll):
    """poll(url, certificates, connections) is one round of polls against that address."""
    rounds = {way: [] for way in WAYS}
    front = Front(folder, sim.port)
    try:
        for turn in range(options.rounds):
            for way in list(WAYS)[::1 if turn % 2 == 0 else -1]:
                rounds[way].append(one_round(front, way, poll))
            report.say(f"TLS: round {turn + 1} of {options.rounds}, "
                       + ", ".join(f"{way} {one[-1]['cpu_us']:.1f} us" for way, one in rounds.items()))
        crowds = {way: [one_round(front, way, poll, MANY) for _ in range(min(options.rounds, 3))] for way in WAYS if way != PLAIN}
    finally:
        front.stop()
    if sum(one["bad"] for ours in (*rounds.values(), *crowds.values()) for one in ours):
        raise SystemExit("some polls through nginx were not answered with CAPCHA_NOT_READY: the figures mean nothing")
    add(report, rounds, crowds)


def add(report, rounds, crowds):
    plain = rounds.pop(PLAIN)
    for way, ours in rounds.items():
        report.add(f"{way}, {STEADY} active, CPU us a poll", median_of(ours, "cpu_us"), median_of(plain, "cpu_us"),
                   ratios_of(ours, plain, "cpu_us"), most=MOST_CPU[way], digits=1, versus=PLAIN)
        report.add_rounds("  handshakes for 1 000 polls, the start included", ours, "per_thousand", digits=2)
        report.add_rounds("  connections that were opened", ours, "made")
        report.add_rounds("  of these resumed", ours, "resumed")
        report.add_rounds("  longest turn of the loop, ms of CPU", ours, "longest_ms", digits=2, most=MOST_TURN_MS)
        report.add_rounds(f"  the same while {MANY:,} polls start at once".replace(",", " "), crowds[way], "longest_ms", digits=2, most=MOST_TURN_MS)
