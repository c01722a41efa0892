#!/usr/bin/env python3
"""Stores behind TLS: the right authority lets the gateway in, another one gets neither password nor records. (TAP)"""
import os
import shutil

from gateway import free_port
from harness import check, contains, equal, run, test
from proxy_world import certificate, program
from stores import EX_IOERR, PASSWORD, PostgresStore, RedisStore, ValkeyStore, need_driver, quoted, world_on


class Certified:
    """A store with a certificate of its own; `ca_file` verifies it, and `other_ca_file` does not."""

    def __init__(self):
        super().__init__()
        program("openssl")
        for name in ("right", "wrong"):
            os.mkdir(os.path.join(self.folder.name, name))
            certificate(os.path.join(self.folder.name, name))
        self.ca_file, self.other_ca_file = self.path("right", "cert.pem"), self.path("wrong", "cert.pem")

    def path(self, *names):
        return os.path.join(self.folder.name, *names)


class TlsRedis(Certified, RedisStore):
    def __init__(self):
        super().__init__()
        self.tls_port = free_port()
        self.settings = (f"tls-port {self.tls_port}\ntls-cert-file {self.ca_file}\ntls-key-file {self.path('right', 'key.pem')}\n"
                         f"tls-ca-cert-file {self.ca_file}\ntls-auth-clients no\n")

    @property
    def url(self):
        return f"{self.scheme}s://:{quoted(PASSWORD)}@localhost:{self.tls_port}/0"


class TlsValkey(TlsRedis, ValkeyStore):
    pass


class TlsPostgres(Certified, PostgresStore):
    """It wants a key that is its own."""

    @property
    def url(self):
        return f"postgresql://gate:{quoted(PASSWORD)}@localhost:{self.port}/gate?sslmode=verify-full"

    @property
    def settings(self):
        return ("-c", "ssl=on", "-c", f"ssl_cert_file={self.ca_file}", "-c", f"ssl_key_file={self.path('key.pem')}")

    def make(self):
        super().make()
        key = shutil.copy(self.path("right", "key.pem"), self.path("key.pem"))
        os.chmod(key, 0o600)
        self.own(key)


def try_authorities(kind):
    store = kind()
    need_driver(store.url)
    with store, world_on(store, {"store_ca_file": store.ca_file}) as world:
        check(world.solved(sitekey="tls")["solution"].startswith("SIM_"), "a solve")
        check("event=store_exposed" not in world.gate.stderr(), "a warning although it is verified")
        world.restart()
        equal(world.solved(sitekey="tls")["source"], "dedup_cache", "from the journal")
        world.gate.stop()
        code, words = world.fail_to_start({"data_dir": None, "store_ca_file": store.other_ca_file})
        equal(code, EX_IOERR, words)
        contains(words, "event=store_unusable")
        contains(words, "certificate")
        check(PASSWORD not in words, "the password in its words")


@test
def redis_is_used_if_the_right_authority_vouches_for_it():
    try_authorities(TlsRedis)


@test
def valkey_is_used_if_the_right_authority_vouches_for_it():
    try_authorities(TlsValkey)


@test
def postgresql_is_used_if_the_right_authority_vouches_for_it():
    try_authorities(TlsPostgres)


run()
