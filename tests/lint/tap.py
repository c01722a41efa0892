"""The Test Anything Protocol, as far as the lint tests need it."""
import sys


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def case(self, name, problems=(), notes=(), skip=None):
        """One case: it is ok when there are no problems, which are printed as comments."""
        self.count += 1
        problems = list(problems)
        name = name.replace("#", "")  # would begin a directive
        verdict = "not ok" if problems else "ok"
        self.failed += bool(problems)
        print(f"{verdict} {self.count} - {name}" + (f" # SKIP {skip}" if skip else ""), flush=True)
        for line in list(notes) + problems:
            for part in str(line).splitlines() or [""]:
                print(f"# {part}", flush=True)

    def finish(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)
