"""The packages of this tree and of the version before, built in a Debian that has what the build needs."""
import functools
import glob
import os
import re
import shutil
import subprocess

from machine import CACHE, Machine, call

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VERSION = re.compile(r"^ *version: '([^']+)'", re.MULTILINE)


def git(*words):
    return call("git", "-C", ROOT, *words)


def version_in(text):
    return VERSION.search(text).group(1)


def this_version():
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as file:
        return version_in(file.read())


def commit_before():
    """The last commit of another version than this one's, or None."""
    first = None
    for commit in git("log", "--format=%H", "--", "meson.build").split():
        if version_in(git("show", f"{commit}:meson.build")) != this_version():
            return git("rev-parse", f"{first}^").strip() if first else git("rev-parse", "HEAD").strip()
        first = commit
    return None


CACHING = {"PATH": "/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin", "CCACHE_DIR": "/root/ccache"}


def build(release, archive, folder="/src", caching=None):
    """Builds the packages of a tar file's tree in that folder; returns where they are."""
    machine = Machine.kept(release, "build")
    try:
        source = machine.path(folder)
        shutil.rmtree(source, ignore_errors=True)
        os.mkdir(source)
        subprocess.run(["tar", "--extract", "--directory", source], input=archive, check=True)
        if not machine.exists("/usr/bin/ccache"):
            machine.apt("update")
            machine.apt("install", "ccache")
        # Most of the next build is that of the one before. debhelper gives every build another home.
        machine.run("./dev", "package", folder=folder, DEB_BUILD_OPTIONS=f"parallel={os.cpu_count()}",
                    **(CACHING if caching is None else caching))
    finally:
        machine.leave()
    return os.path.join(source, "build-package")


@functools.cache
def tree():
    """This tree as a tar file, with changes that are not committed; the same for all builds of a run."""
    names = [name for name in git("ls-files", "-z").split("\0") if name and os.path.lexists(os.path.join(ROOT, name))]
    return subprocess.run(["tar", "--create", "--null", "--files-from", "-"], cwd=ROOT, input="\0".join(names).encode(),
                          stdout=subprocess.PIPE, check=True).stdout


def packages_in(folder):
    """Those that people install, in the order of their names."""
    found = {os.path.basename(path).split("_")[0]: path for path in glob.glob(os.path.join(folder, "*.deb"))}
    return {name: found[name] for name in sorted(found) if not name.endswith("-dbgsym")}


def packages(release):
    """Name to file of this tree's packages, in a folder of the cache."""
    kept = os.path.join(CACHE, f"packages-{release}")
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(build(release, tree()), kept)
    return packages_in(kept)


def build_elsewhere(release):
    """The same again in another folder, without anything from the first build: what is kept was compiled in that folder."""
    return build(release, tree(), "/elsewhere", {**CACHING, "CCACHE_DIR": "/root/ccache-elsewhere"})


def packages_before(release):
    """The same of the version before, kept in the cache for as long as it is that commit. None: there is none."""
    commit = commit_before()
    if commit is None:
        return None
    kept = os.path.join(CACHE, f"before-{release}-{commit[:12]}")
    if not os.path.isdir(kept):
        archive = subprocess.run(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE, check=True).stdout
        shutil.copytree(build(release, archive), kept + ".new")
        os.rename(kept + ".new", kept)
    return packages_in(kept)
