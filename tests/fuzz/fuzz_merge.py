"""Takes the best of the new finds into the corpora of the repository, and keeps those small."""
import os
import shutil
import subprocess
import tempfile

import fuzz_tools as tools

FILES_MAX = 60
BYTES_MAX = 100 * 1024
# Found inputs have libFuzzer's name, their SHA-1; those with a name of their own were written by somebody.
HEX_CHARS = 40


def is_found(name):
    return len(name) == HEX_CHARS and all(c in "0123456789abcdef" for c in name)


def read_control_file(path):
    """{file: (coverage points, features)} of libFuzzer's merge control file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    count = int(lines[0])
    names = lines[2:2 + count]
    seen = {name: (set(), set()) for name in names}
    for line in lines[2 + count:]:
        word, _, rest = line.partition(" ")
        numbers = rest.split()
        if word in ("FT", "COV") and numbers:
            seen[names[int(numbers[0])]][word == "FT"].update(numbers[1:])
    return seen


def survey(target):
    """What each input of the corpus and of the work folder reaches."""
    with tempfile.TemporaryDirectory() as folder:
        control = os.path.join(folder, "control")
        target_folder = os.path.join(folder, "merged")
        os.mkdir(target_folder)
        subprocess.run([tools.program(target), "-set_cover_merge=1", f"-merge_control_file={control}", target_folder,
                        tools.corpus(target), tools.work(target)], check=True, env={**os.environ, **tools.SANITIZERS},
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return read_control_file(control)


def choose(seen):
    """Greedy set cover: the written ones stay; then whatever adds most code, then most features, while there is room."""
    written = [path for path in seen if not is_found(os.path.basename(path))]
    chosen = list(written)
    size = sum(os.path.getsize(path) for path in chosen)
    for kind in (0, 1):
        covered = set().union(*(seen[path][kind] for path in chosen))
        left = {path: seen[path][kind] - covered for path in seen if path not in chosen}
        while left and len(chosen) < FILES_MAX:
            # Small ones first where they bring the same.
            best = max(left, key=lambda path: (len(left[path]) / (200 + os.path.getsize(path)), path))
            news = left.pop(best)
            if not news:
                break
            if size + os.path.getsize(best) > BYTES_MAX:
                continue
            chosen.append(best)
            size += os.path.getsize(best)
            left = {path: more - news for path, more in left.items()}
    return chosen, size


def merge_one(target):
    os.makedirs(tools.corpus(target), exist_ok=True)
    chosen, size = choose(survey(target))
    before = set(os.listdir(tools.corpus(target)))
    # libFuzzer does not even look at an empty one.
    kept = {os.path.basename(path) for path in chosen} | {name for name in before if not is_found(name)}
    for path in chosen:
        if os.path.dirname(path) != tools.corpus(target):
            shutil.copyfile(path, os.path.join(tools.corpus(target), os.path.basename(path)))
    for name in before - kept:
        # The work folder keeps what the repository no longer needs.
        shutil.move(os.path.join(tools.corpus(target), name), os.path.join(tools.work(target), name))
    print(f"{target:<12} {len(kept):>5} files {size:>7} bytes   {len(kept - before):>3} new, {len(before - kept):>3} gone")


def merge(targets):
    for target in targets:
        merge_one(target)
    return 0
