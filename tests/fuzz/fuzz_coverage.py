"""How many lines of src/proto the corpora reach, file by file, measured with clang's source-based coverage."""
import json
import os
import re
import subprocess

import fuzz_tools as tools

LEAST_PERCENT = 90.0
LAYER = "src/proto/"
FLAGS = "-fprofile-instr-generate -fcoverage-mapping"


def replay(folder, target, kind, *places):
    """Replays these inputs; the path of the profile. A property that does not hold ends it."""
    profile = os.path.join(folder, f"{target}.{kind}.profraw")
    tools.call([replayer(folder, target), *places], {"LLVM_PROFILE_FILE": profile})
    return profile


def replayer(folder, target):
    return os.path.join(folder, "tests", "fuzz", "fuzz-replay-" + target)


def export(folder, targets, profile):
    objects = [word for target in targets[1:] for word in ("-object", replayer(folder, target))]
    done = subprocess.run(["llvm-cov", "export", "-summary-only", f"-instr-profile={profile}", replayer(folder, targets[0]),
                           *objects], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)["data"][0]["files"]


def lines_of(files):
    """{file: (lines reached, lines)} of the layer."""
    found = {}
    for file in files:
        path = os.path.relpath(os.path.realpath(file["filename"]), tools.ROOT)
        if path.startswith(LAYER) and path.endswith(".c"):
            found[path] = file["summary"]["lines"]["covered"], file["summary"]["lines"]["count"]
    return found


def reached_by(folder, targets, kind, place_of):
    """{file: (lines reached, lines)} after replaying each target's folder; earlier profiles count, too."""
    for target in targets:
        if os.listdir(place_of(target)):
            replay(folder, target, kind, place_of(target))
    profiles = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".profraw")]
    merged = os.path.join(folder, "all.profdata")
    tools.call(["llvm-profdata", "merge", "-sparse", "-o", merged, *profiles])
    lines = lines_of(export(folder, targets, merged))
    if targets == tools.target_names():
        add_unlinked(lines)
    return lines


def has_functions(path):
    """A function's brace stands alone in the first column; a file of tables has no lines to count."""
    with open(os.path.join(tools.ROOT, path), encoding="utf-8") as file:
        return any(line.rstrip() == "{" for line in file)


def unlinked(lines):
    """Files of the build that no target links: the export does not know them, which must not pass for good coverage."""
    with open(os.path.join(tools.ROOT, LAYER, "meson.build"), encoding="utf-8") as file:
        built = [LAYER + name for name in re.findall(r"'(\w+\.c)'", file.read())]
    return sorted(path for path in built if path not in lines and has_functions(path))


def add_unlinked(lines):
    """Nothing of them is reached, and roughly every line of them counts."""
    for path in unlinked(lines):
        with open(os.path.join(tools.ROOT, path), encoding="utf-8") as file:
            lines[path] = 0, sum(bool(line.strip()) for line in file)


def total(lines):
    return 100 * sum(reached for reached, _ in lines.values()) / max(1, sum(count for _, count in lines.values()))


def measure(targets):
    folder = tools.BUILD + "-coverage"
    tools.say(f"building {len(targets)} targets in {folder}")
    tools.build(folder, ["-Dbench=false", "-Dbuildtype=debug", "-Doptimization=0", f"-Dc_args={FLAGS}",
                         f"-Dc_link_args={FLAGS}"], [f"tests/fuzz/fuzz-replay-{target}" for target in targets])
    for name in os.listdir(folder):
        if name.endswith(".profraw"):
            os.remove(os.path.join(folder, name))
    lines = reached_by(folder, targets, "corpus", tools.corpus)
    for path, (reached, count) in sorted(lines.items(), key=lambda item: item[1][0] / max(1, item[1][1])):
        print(f"{path:<36} {reached:>5} of {count:>5}   {100 * reached / max(1, count):5.1f} %")
    percent = total(lines)
    print(f"\n{LAYER}: {percent:.1f} % of {sum(count for _, count in lines.values())} lines (at least {LEAST_PERCENT:.0f} %)")
    if any(os.listdir(tools.work(target)) for target in targets):
        found = total(reached_by(folder, targets, "work", tools.work))
        print(f"with the new finds in {tools.BUILD}/work: {found:.1f} %")
    return 0 if percent >= LEAST_PERCENT else 1
