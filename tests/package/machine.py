"""Debian in a folder: made once, kept in a cache, copied for every test."""
import os
import shutil
import subprocess
import tempfile

CACHE = os.environ.get("SOLVEGATE_PACKAGE_CACHE", "/var/tmp/solvegate-package")
NAMES = {"12": "bookworm", "13": "trixie"}
# mmdebstrap's own choice for a folder that is entered with chroot.
ENVIRONMENT = {"HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
# Programs that a package starts when it is installed would be those of the machine around the folder.
POLICY = "#!/bin/sh\nexit 101\n"


class CommandFailed(Exception):
    """A command ended with another code than 0; the message ends with its last lines."""


def call(*command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **options)
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(command)} ended with {done.returncode}:\n" + "\n".join(done.stdout.splitlines()[-25:]))
    return done.stdout


def sources(suite):
    """The suite, its updates and its security archive, from where this machine has them of its own suite."""
    found = set()
    for line in call("apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI)").splitlines():
        origin, name, component, address = line.split()
        if origin == "Debian" and component == "main":
            kind = name.partition("-")[2]
            found.add(f"deb {address} {suite}{kind and '-' + kind} main")
    return sorted(found)


def base_tar(release):
    """A minimal Debian as a tar file."""
    path = os.path.join(CACHE, f"plain-{release}.tar")
    if not os.path.exists(path):
        os.makedirs(CACHE, exist_ok=True)
        call("mmdebstrap", "--mode=root", "--variant=minbase", "--include=ca-certificates", NAMES[release], path + ".new.tar",
             *sources(NAMES[release]))
        os.rename(path + ".new.tar", path)
    return path


class Machine:
    """A Debian in a folder, entered with chroot."""

    def __init__(self, root):
        self.root = root
        shutil.copy("/etc/resolv.conf", self.path("/etc/resolv.conf"))
        with open(self.path("/usr/sbin/policy-rc.d"), "w", encoding="utf-8") as file:
            file.write(POLICY)
        os.chmod(self.path("/usr/sbin/policy-rc.d"), 0o755)
        self.enter()

    def enter(self):
        if not os.path.ismount(self.path("/proc")):
            call("mount", "-t", "proc", "proc", self.path("/proc"))

    @staticmethod
    def fresh(release):
        root = tempfile.mkdtemp(prefix=f"fresh-{release}-", dir=CACHE)
        call("tar", "--extract", "--file", base_tar(release), "--directory", root)
        return Machine(root)

    @staticmethod
    def kept(release, purpose):
        """One that stays in the cache, with what is installed in it."""
        root = os.path.join(CACHE, f"{purpose}-{release}")
        if not os.path.isdir(root):
            os.makedirs(root)
            call("tar", "--extract", "--file", base_tar(release), "--directory", root)
        return Machine(root)

    def path(self, name):
        return self.root + name

    def exists(self, name):
        return os.path.lexists(self.path(name))

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def command(self, *words, user=None):
        rights = ["setpriv", "--reuid", user, "--regid", user, "--init-groups"] if user else []
        return ["chroot", self.root, *rights, *words]

    def run(self, *words, folder="/", **environment):
        return call(*self.command("env", "-C", folder, *words), env={**ENVIRONMENT, **environment})

    def apt(self, *words):
        self.run("apt-get", "-q", "-y", "-o", "Dpkg::Use-Pty=0", "--no-install-recommends", *words)

    def install_files(self, *paths):
        """Installs packages from files, and what they depend on from the archive."""
        names = []
        for path in paths:
            names.append("/tmp/" + os.path.basename(path))
            shutil.copy(path, self.path(names[-1]))
        self.apt("install", *names)

    def leave(self):
        call("umount", self.path("/proc"))

    def delete(self):
        self.leave()
        if not os.path.ismount(self.path("/proc")):
            shutil.rmtree(self.root)
