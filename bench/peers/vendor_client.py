"""What both Python peers share: where the vendor is, and connections to it that stay open."""
import os

import requests
from requests.adapters import HTTPAdapter

VENDOR = os.environ["VENDOR_URL"]
API_KEY = os.environ["VENDOR_KEY"]
# The seeds poll every 5 s.
POLL_S = float(os.environ.get("POLL_S", "5"))

# The seeds call requests.post and open a connection each time; keeping them is what anybody would change first.
http = requests.Session()
http.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=256))
http.trust_env = False  # else it looks for proxies in the environment with every call


def submit(params, **more):
    """The vendor's answer to in.php."""
    return http.post(VENDOR + "/in.php", data={"key": API_KEY, "json": 1, **params, **more}, timeout=30).json()


def fetch(task_id):
    """The vendor's answer to res.php."""
    return http.get(VENDOR + "/res.php", params={"key": API_KEY, "action": "get", "id": task_id, "json": 1},
                    timeout=30).json()


def captcha_of(body):
    """The parameters that are about the captcha."""
    return {name: body[name] for name in ("method", "sitekey", "pageurl")}
