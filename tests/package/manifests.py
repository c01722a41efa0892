"""The compose file and the manifests for Kubernetes, read by the programs that people use, and checked with schemas."""
import json
import os
import re
import shutil
import subprocess

import yaml

import builds
from check import equal
from machine import CommandFailed, Machine, call

SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schemas")
OVERLAYS = {"single": 1, "postgresql": 2, "redis": 2}
PLAIN = {"ConfigMap", "NetworkPolicy", "Secret", "Service", "StatefulSet"}
COMPONENTS = {"Ingress", "ServiceMonitor"}
VARIABLES = {"CAPTCHAAI_API_KEY": "0" * 32, "WORKER_KEY": "w" * 32, "OPERATOR_KEY": "o" * 32, "POSTGRES_PASSWORD": "secret"}


def node_check(objects):
    """What the schemas and types have against the objects."""
    done = subprocess.run(["node", os.path.join(SCHEMAS, "check.mjs")], input=json.dumps(objects), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class ManifestStory:
    name = "manifests"

    def __init__(self):
        self.machine = None
        self.rendered = {}

    def close(self):
        if self.machine:
            self.machine.leave()

    def the_tools_are_those_of_debian_13(self):
        self.machine = Machine.kept("13", "tools")
        if not self.machine.exists("/usr/bin/kustomize"):
            self.machine.apt("update")
            self.machine.apt("install", "kustomize", "docker-compose")
        shutil.rmtree(self.machine.path("/contrib"), ignore_errors=True)
        shutil.copytree(os.path.join(builds.ROOT, "contrib"), self.machine.path("/contrib"))

    def compose_accepts_its_file(self):
        told = json.loads(self.machine.run("docker-compose", "-f", "/contrib/compose.yaml", "config", "--format", "json", **VARIABLES))
        equal(sorted(told["services"]), ["left", "postgresql", "right"], "services")
        for name in ("left", "right"):
            equal(told["services"][name]["read_only"], True, f"a read-only root of {name}")
        try:
            self.machine.run("docker-compose", "-f", "/contrib/compose.yaml", "config", "--quiet")
        except CommandFailed as problem:
            equal("is missing a value" in str(problem), True, f"says what is missing: {problem}")
        else:
            raise AssertionError("it is accepted without keys")

    def render(self, overlay):
        objects = list(yaml.safe_load_all(self.machine.run("kustomize", "build", f"/contrib/kubernetes/{overlay}")))
        for secret in (each for each in objects if each["kind"] == "Secret"):
            # kustomize folds long values, which Kubernetes reads and the schema does not know.
            secret["data"] = {name: value.replace("\n", "") for name, value in secret["data"].items()}
        return objects

    def kustomize_renders_every_overlay_as_it_is_and_with_all_components(self):
        for overlay, replicas in OVERLAYS.items():
            kinds = PLAIN | ({"PodDisruptionBudget"} if replicas > 1 else set())
            plain = self.render(overlay)
            equal({each["kind"] for each in plain}, kinds, overlay)
            gateways, = (each["spec"]["replicas"] for each in plain if each["kind"] == "StatefulSet")
            equal(gateways, replicas, f"gateways of {overlay}")
            path = self.machine.path(f"/contrib/kubernetes/{overlay}/kustomization.yaml")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(re.sub(r"^( +)#- ", r"\1- ", text, flags=re.MULTILINE))
            everything = self.render(overlay)
            equal({each["kind"] for each in everything}, kinds | COMPONENTS, f"{overlay} with all components")
            self.rendered[overlay], self.rendered[overlay + " and all"] = plain, everything

    def they_fit_the_schemas_of_kubernetes(self):
        if not os.path.exists(os.path.join(SCHEMAS, "node_modules", ".package-lock.json")):
            call("npm", "ci", cwd=SCHEMAS)
        everything = [each for objects in self.rendered.values() for each in objects]
        code, told = node_check(everything)
        equal((code, told), (0, ""), "mistakes")
        # The check finds mistakes: a number that is none, a member with a typo.
        stateful, = (each for each in self.rendered["single"] if each["kind"] == "StatefulSet")
        for wrong, said in (({"replicas": "one"}, "/spec/replicas"), ({"replica": 1}, '"replica"' + "' does not exist")):
            code, told = node_check([{**stateful, "spec": {**stateful["spec"], **wrong}}])
            equal((code, said in told), (1, True), f"mistakes found: {told}")

    def every_object_that_is_named_is_there(self):
        for overlay, objects in self.rendered.items():
            names = {(each["kind"], each["metadata"]["name"]) for each in objects}
            stateful, = (each["spec"]["template"]["spec"] for each in objects if each["kind"] == "StatefulSet")
            used = [("ConfigMap", volume["configMap"]["name"]) for volume in stateful["volumes"]]
            used += [("Secret", each["secretRef"]["name"]) for each in stateful["containers"][0]["envFrom"]]
            for each in objects:
                if each["kind"] == "ServiceMonitor":
                    used.append(("Secret", each["spec"]["endpoints"][0]["authorization"]["credentials"]["name"]))
            equal([each for each in used if each not in names], [], f"missing in {overlay}")

    STEPS = (the_tools_are_those_of_debian_13, compose_accepts_its_file,
             kustomize_renders_every_overlay_as_it_is_and_with_all_components, they_fit_the_schemas_of_kubernetes,
             every_object_that_is_named_is_there)
