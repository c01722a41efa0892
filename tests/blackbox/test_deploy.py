#!/usr/bin/env python3
"""The image's configuration, the compose file and the manifests for Kubernetes name what this gateway has. (TAP)

`./dev test package` builds the image and checks the manifests against their schemas.
"""
import glob
import json
import os
import re
import subprocess
import tempfile

from harness import KEY, Program, Skip, binary, check, contains, equal, http_request, run, test

try:
    import yaml
except ImportError:
    yaml = None

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
KUBERNETES = os.path.join(ROOT, "contrib", "kubernetes")
OVERLAYS = ("single", "postgresql", "redis")
WORKER, OPERATOR = "w" * 32, "o" * 32
KEYS = {"CAPTCHAAI_API_KEY": KEY, "WORKER_KEY": WORKER, "OPERATOR_KEY": OPERATOR}
# Of the compose file and of the command line; all others are options of the configuration.
OTHER_VARIABLES = {"SOLVEGATE_IMAGE", "SOLVEGATE_KEY"}


def text_of(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


def documents(*names):
    """The objects of a file of YAML."""
    if yaml is None:
        raise Skip("python3-yaml is not installed (./dev setup test)")
    return list(yaml.safe_load_all(text_of(*names)))


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith(("SOLVEGATE_", "CAPTCHAAI_"))}


def check_config(path, variables):
    """Code and mistakes of `solvegate check`."""
    done = subprocess.run([binary("SOLVEGATE"), "check", "-c", path], capture_output=True, text=True, check=False,
                          env={**clean_environment(), **variables})
    return done.returncode, done.stderr


def container(document):
    found, = document["spec"]["template"]["spec"]["containers"]
    return found


def enable_all(text):
    """A kustomization with the lines that are commented out."""
    return re.sub(r"^( +)#- ", r"\1- ", text, flags=re.MULTILINE)


def literals(path):
    """The variables with values that the patches of a component give to the container."""
    found = {}
    for patch in yaml.safe_load(text_of(path, "kustomization.yaml")).get("patches", ()):
        for variable in container(documents(path, patch["path"])[0]).get("env", ()):
            found[variable["name"]] = variable["value"]
    return found


def overlay_variables(name):
    """What a pod of the overlay with all its components has in its environment."""
    if yaml is None:
        raise Skip("python3-yaml is not installed (./dev setup test)")
    folder = os.path.join("contrib", "kubernetes", name)
    variables = dict(line.split("=", 1) for line in text_of(folder, "keys.env").splitlines() if line and line[0] != "#")
    for component in yaml.safe_load(enable_all(text_of(folder, "kustomization.yaml")))["components"]:
        variables.update(literals(os.path.join(folder, component)))
    variables["SOLVEGATE_CLUSTER_NODE"] = "solvegate-0"
    return variables


class Pod(Program):
    """The gateway with a container's own arguments."""

    variable = "SOLVEGATE"


def base(kind, name="solvegate"):
    found, = (each for file in ("statefulset.yaml", "services.yaml", "networkpolicy.yaml")
              for each in documents("contrib", "kubernetes", "base", file)
              if (each["kind"], each["metadata"]["name"]) == (kind, name))
    return found


@test
def the_images_configuration_wants_keys_and_then_nothing_else():
    path = os.path.join(ROOT, "contrib", "image", "solvegate.json")
    code, mistakes = check_config(path, {})
    equal(code, 78)
    for name in KEYS:
        contains(mistakes, name)
    given = dict(re.findall(r"^ENV (\w+)=(\S+)$", text_of("Containerfile"), re.MULTILINE))
    equal(check_config(path, {**KEYS, **given}), (0, ""))


@test
def the_gateways_of_the_compose_file_have_a_good_configuration():
    document, = documents("contrib", "compose.yaml")
    path = os.path.join(ROOT, "contrib", "image", "solvegate.json")
    gateways = {name: service for name, service in document["services"].items() if "solvegate" in service["image"]}
    equal(sorted(gateways), ["left", "right"])
    for name, service in gateways.items():
        variables = {key: re.sub(r"\$\{(\w+)[^}]*\}", lambda match: KEYS.get(match.group(1), "secret"), value)
                     for key, value in service["environment"].items()}
        equal(check_config(path, variables), (0, ""), name)
        equal(variables["SOLVEGATE_CLUSTER_NODE"], name)
        check(int(service["stop_grace_period"].rstrip("s")) > 15, "drain_timeout's default of 5 s, and 10 s more")


@test
def the_pods_of_every_overlay_have_a_good_configuration_once_their_keys_are_replaced():
    path = os.path.join(KUBERNETES, "base", "solvegate.json")
    for name in OVERLAYS:
        variables = overlay_variables(name)
        code, mistakes = check_config(path, variables)
        equal(code, 78, f"{name} with keys that nobody replaced")
        contains(mistakes, "WORKER_KEY" if "WORKER_KEY" in mistakes else "clients[0].key")
        equal(check_config(path, {**variables, **KEYS}), (0, ""), name)


@test
def every_variable_that_is_set_is_an_option():
    reference = subprocess.run([binary("SOLVEGATE"), "check", "--reference"], capture_output=True, text=True, check=True).stdout
    options = {"SOLVEGATE_" + name.upper().replace(".", "_") for name in
               re.findall(r"^([a-z_]+(?:\.[a-z_]+)*)$", reference, re.MULTILINE)}
    check("SOLVEGATE_CLUSTER_NODE" in options, "the reference names cluster.node")
    files = [path for pattern in ("contrib/kubernetes/**/*.*", "contrib/compose.yaml", "contrib/image/*", "Containerfile")
             for path in glob.glob(os.path.join(ROOT, pattern), recursive=True) if os.path.isfile(path)]
    check(len(files) > 20, f"{len(files)} files")
    for path in files:
        unknown = set(re.findall(r"\bSOLVEGATE_[A-Z_]+", text_of(path))) - options - OTHER_VARIABLES
        equal(unknown, set(), path)


@test
def probes_and_figures_are_asked_for_where_a_gateway_answers():
    pod = container(base("StatefulSet"))
    monitor, = documents("contrib", "kubernetes", "components", "monitoring", "servicemonitor.yaml")
    endpoint, = monitor["spec"]["endpoints"]
    equal(endpoint["authorization"]["credentials"], {"name": "solvegate-keys", "key": "OPERATOR_KEY"})
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        config = os.path.join(KUBERNETES, "base", "solvegate.json")
        flags = [config if word == "/etc/solvegate/solvegate.json" else word for word in pod["args"]]
        env = {**KEYS, "SOLVEGATE_LISTEN": "127.0.0.1:0", "SOLVEGATE_STORE": f"sqlite:{folder}/journal",
               "SOLVEGATE_UPSTREAM_URL": "http://127.0.0.1:9"}
        with Pod(*flags, env=env) as gate:
            # As the kubelet asks: by the pod's address.
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                reply = http_request(gate.url + pod[probe]["httpGet"]["path"], headers={"Host": "10.1.2.3:8430"})
                equal(reply.status, 200, probe)
            reply = http_request(gate.url + endpoint["path"], headers={"Host": "10.1.2.3:8430", "Authorization": f"Bearer {OPERATOR}"})
            equal(reply.status, 200, endpoint["path"])
            contains(reply.text, "solvegate_")
            health = json.loads(re.search(r"^HEALTHCHECK .* CMD (\[.*\])$", text_of("Containerfile"), re.MULTILINE).group(1))
            equal(health[0], "/usr/bin/solvegate")
            subprocess.run([binary("SOLVEGATE"), *health[1:]], env={**clean_environment(), "SOLVEGATE_URL": gate.url},
                           capture_output=True, check=True)


@test
def every_name_of_a_port_and_of_an_object_is_there():
    pod = container(base("StatefulSet"))
    ports = {port["name"]: port["containerPort"] for port in pod["ports"]}
    listen = re.search(r'"listen": (\[.*\])', text_of("contrib", "kubernetes", "base", "solvegate.json")).group(1)
    equal(sorted(ports.values()), sorted(int(address.rpartition(":")[2]) for address in json.loads(listen)))
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        check(pod[probe]["httpGet"]["port"] in ports, probe)
    services = documents("contrib", "kubernetes", "base", "services.yaml")
    for service in services:
        for port in service["spec"]["ports"]:
            equal(ports[port["targetPort"]], port["port"], service["metadata"]["name"])
    check(base("StatefulSet")["spec"]["serviceName"] in [each["metadata"]["name"] for each in services], "serviceName")


@test
def the_ingress_gets_callbacks_and_the_port_for_them_alone():
    ingress, = documents("contrib", "kubernetes", "components", "callbacks", "ingress.yaml")
    rule, = ingress["spec"]["rules"]
    path, = rule["http"]["paths"]
    equal((path["path"], path["pathType"]), ("/pingback/", "Prefix"))
    service = path["backend"]["service"]
    equal(service["name"], base("Service", service["name"])["metadata"]["name"])
    equal(service["port"]["name"], "callbacks")
    variables = literals("contrib/kubernetes/components/callbacks")
    equal(variables["SOLVEGATE_PUBLIC_URL"], "https://" + rule["host"])
    open_to = {}
    for each in base("NetworkPolicy")["spec"]["ingress"]:
        source, = each["from"]
        for port in each["ports"]:
            open_to.setdefault(port["port"], []).append(
                source["namespaceSelector"].get("matchLabels", {}).get("kubernetes.io/metadata.name", "any with the label"))
    equal(open_to, {"http": ["any with the label", "monitoring"], "callbacks": ["ingress-nginx"]})


@test
def a_pod_has_longer_to_end_than_the_gateway_needs():
    config = text_of("contrib", "kubernetes", "base", "solvegate.json")
    drain = int(re.search(r'"drain_timeout": "(\d+)s"', config).group(1))
    check(base("StatefulSet")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] > drain + 10, "10 s more than to drain")


@test
def images_are_of_this_version():
    version = subprocess.run([binary("SOLVEGATE"), "version"], capture_output=True, text=True, check=True).stdout.split()[1]
    equal(container(base("StatefulSet"))["image"], f"solvegate:{version}")
    contains(text_of("contrib", "compose.yaml"), f"localhost/solvegate:{version}")
    for name in OVERLAYS:
        contains(text_of("contrib", "kubernetes", name, "kustomization.yaml"), f"newTag: {version}\n")


run()
