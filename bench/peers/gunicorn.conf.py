"""How the Python peers are served: gunicorn, never Flask's development server."""
# The handlers sleep while the vendor works. Greenlets hold thousands of them without a thread each; gunicorn makes the
# blocking calls of requests and redis yield by itself.
worker_class = "gevent"
# The server has one core in these measurements; a second worker would only take turns with the first, and the
# callback server keeps its state in the process, as its seed does.
workers = 1
worker_connections = 20000
backlog = 4096
# Connections stay open between requests, as with everybody else.
keepalive = 300
timeout = 120
graceful_timeout = 1  # the measurement is over then
accesslog = None
errorlog = "-"
loglevel = "critical"
