"""Test builds with a part of the protocol taken out. Each has to be noticed, or the harness proves
nothing.

A patch in `ablations/` begins with two lines: `Why:`, what the part is for, and `Try:`, the classes
that may notice. It is applied to a copy of the sources, which share one build directory.
"""

import glob
import os
import random
import subprocess
from collections.abc import Callable

from crash_harness.results import Noticed, Results
from crash_harness.trial import Trial
from harness import command
from harness.command import ROOT

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ablations")
# How long and on what a class looks for it.
WORKLOADS = ["bulk", "mixed changes"]
POWER_CUTS = 18

PATCH = ["patch", "-p1", "--force", "--fuzz=0", "--no-backup-if-mismatch", "-r", "-", "-i"]

# The name, what came of it in each class, and whether that is right.
Row = tuple[str, dict[str, str], bool]


class Builds:
    """The test builds, each as a binary of its own, and the classes that try them."""

    def __init__(self, classes: dict[str, Callable], scratch: str, seed: str) -> None:
        self.classes, self.scratch, self.seed = classes, scratch, seed
        self.copy = os.path.join(scratch, "altered")
        os.makedirs(self.copy)
        files = ["git", "ls-files", "-z", "Package.swift", "Sources", "Tests"]
        listed = command.run(files, cwd=ROOT, check=True).output
        copying = ["rsync", "-a", "--from0", "--files-from=-", ROOT + "/", self.copy]
        command.run(copying, input=listed, check=True)

    def build(self, patch: str | None) -> str:
        """Builds the sources, altered or not, and puts them back as they were."""
        if patch:
            self._call(*PATCH, patch, "--dry-run")
            self._call(*PATCH, patch)
        try:
            self._call("swift", "build", "--product", "fsync-lite")
        finally:
            if patch:
                self._call(*PATCH, patch, "--reverse")
        # The next build replaces it.
        tool = os.path.join(self.copy, "altered-" + stem(patch or "not"))
        os.link(os.path.join(self.copy, ".build", "debug", "fsync-lite"), tool)
        return tool

    def _call(self, *words: str) -> None:
        merged = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        subprocess.run(words, cwd=self.copy, check=True, **merged)

    def attempts(self, name: str, words: list[str], tool: str) -> dict[str, str]:
        outcome = {}
        for word in words:
            outcome[word] = self.attempt(word, tool)
            print(f"ablation: {name}: {word}: {outcome[word]}", flush=True)
        return outcome

    def attempt(self, name: str, tool: str) -> str:
        """Runs one class until it notices something."""
        results = Results(stops_at_first=True)
        try:
            for workload in WORKLOADS:
                rng = random.Random(f"{self.seed} {name} {workload}")
                trial = Trial(tool, self.scratch, workload, results, rng, short=True)
                if name == "power":
                    self.classes[name](trial, cuts=POWER_CUTS)
                else:
                    self.classes[name](trial)
        except Noticed:
            return f"case {results.cases.total()}"
        if name in results.skipped:
            return "skipped"
        return f"not in {results.cases.total()}"


def run(classes: dict[str, Callable], scratch: str, names: list[str] | None, seed: str, results: Results) -> list[Row]:
    wanted = [path for path in patches() if not names or stem(path) in names]
    if not wanted:
        raise SystemExit("no such ablation")
    builds = Builds(classes, scratch, seed)
    rows = [try_patch(builds, path, results) for path in wanted]
    return rows if names else [control(builds, wanted, results), *rows]


def try_patch(builds: Builds, path: str, results: Results) -> Row:
    name = stem(path)
    try:
        tool = builds.build(path)
    except subprocess.CalledProcessError as error:
        # A part that has moved is no longer proven: the patch has to follow it.
        what = "does not apply" if error.cmd[0] == "patch" else "does not compile"
        results.failures.append(f"ablation {name}: {what}\n{error.stdout[-2000:]}")
        print(f"ablation: {name}: {what}", flush=True)
        return name, {}, False
    outcome = builds.attempts(name, classes_of(path), tool)
    if not is_noticed(outcome):
        results.failures.append(f"ablation {name}: not noticed")
    return name, outcome, is_noticed(outcome)


def control(builds: Builds, paths: list[str], results: Results) -> Row:
    """What is whole must not be noticed."""
    words = list(dict.fromkeys(word for path in paths for word in classes_of(path)))
    outcome = builds.attempts("unaltered", words, builds.build(None))
    if is_noticed(outcome):
        results.failures.append("ablation: something was noticed where nothing was taken out")
    return "unaltered", outcome, not is_noticed(outcome)


def check(results: Results) -> None:
    """Whether every patch still applies: all that there is time for in the short form."""
    for path in patches():
        applied = command.run([*PATCH, path, "--dry-run"], cwd=ROOT)
        if applied.code != 0:
            results.failures.append(f"ablation {stem(path)}: does not apply\n{applied.message}")


def patches() -> list[str]:
    return sorted(glob.glob(os.path.join(FOLDER, "*.patch")))


def classes_of(path: str) -> list[str]:
    with open(path) as file:
        return next(line for line in file if line.startswith("Try: ")).split()[1:]


def is_noticed(outcome: dict[str, str]) -> bool:
    return any(text.startswith("case") for text in outcome.values())


def stem(path: str) -> str:
    return os.path.basename(path).removesuffix(".patch")


def summarize(table: list[Row]) -> None:
    words = list(dict.fromkeys(word for _, outcome, _ in table for word in outcome))
    width = max(len(name) for name, _, _ in table) + 2
    print(f"{'ablation':<{width}}" + "".join(f"{word:<14}" for word in words))
    for name, outcome, is_right in table:
        cells = "".join(f"{outcome.get(word, ''):<14}" for word in words)
        print(f"{name:<{width}}{cells}" + ("" if is_right else "  WRONG"))
    altered = [is_right for name, _, is_right in table if name != "unaltered"]
    print(f"noticed {sum(altered)} of {len(altered)} ablations")
