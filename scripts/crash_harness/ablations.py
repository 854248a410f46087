"""The mutants with a part of the protocol taken out. Each has to be noticed, or the harness proves nothing.

They are those of `mutants.txt` that name classes, all in one test build.
"""

import os
import random
from collections.abc import Callable

from crash_harness.results import Noticed, Results
from crash_harness.trial import Trial
from mutants_harness.package import COPY, SWITCH, Mutant, build, read_list

# How long and on what a class looks for it.
WORKLOADS = ["bulk", "mixed changes"]
POWER_CUTS = 18

# The name, what came of it in each class, and whether that is right.
Row = tuple[str, dict[str, str], bool]


class Ablations:
    """The test build, and the classes that try it."""

    def __init__(self, classes: dict[str, Callable], scratch: str, seed: str, mutants: list[Mutant]) -> None:
        self.classes, self.scratch, self.seed = classes, scratch, seed
        build(mutants, "--product", "fsync-lite")
        self.tool = os.path.join(COPY, ".build", "debug", "fsync-lite")

    def attempts(self, name: str, words: list[str], mutant: Mutant | None = None) -> dict[str, str]:
        os.environ[SWITCH] = str(mutant.number) if mutant else ""
        outcome = {}
        for word in words:
            outcome[word] = self.attempt(word)
            print(f"ablation: {name}: {word}: {outcome[word]}", flush=True)
        return outcome

    def attempt(self, name: str) -> str:
        """Runs one class until it notices something."""
        results = Results(stops_at_first=True)
        try:
            for workload in WORKLOADS:
                rng = random.Random(f"{self.seed} {name} {workload}")
                trial = Trial(self.tool, self.scratch, workload, results, rng, short=True)
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
    mutants = read_list()
    wanted = [mutant for mutant in mutants if mutant.classes and (not names or mutant.name in names)]
    if not wanted:
        raise SystemExit("no such ablation")
    ablations = Ablations(classes, scratch, seed, mutants)
    rows = []
    if not names:
        # What is whole must not be noticed.
        words = list(dict.fromkeys(word for mutant in wanted for word in mutant.classes))
        outcome = ablations.attempts("unaltered", words)
        rows.append(("unaltered", outcome, not is_noticed(outcome)))
    for mutant in wanted:
        outcome = ablations.attempts(mutant.name, mutant.classes, mutant)
        rows.append((mutant.name, outcome, is_noticed(outcome)))
    wrong = [name for name, _, is_right in rows if not is_right]
    results.failures += [f"ablation {name}: {'' if name == 'unaltered' else 'not '}noticed" for name in wrong]
    return rows


def is_noticed(outcome: dict[str, str]) -> bool:
    return any(text.startswith("case") for text in outcome.values())


def summarize(table: list[Row]) -> None:
    words = list(dict.fromkeys(word for _, outcome, _ in table for word in outcome))
    width = max(len(name) for name, _, _ in table) + 2
    print(f"{'ablation':<{width}}" + "".join(f"{word:<14}" for word in words))
    for name, outcome, is_right in table:
        cells = "".join(f"{outcome.get(word, ''):<14}" for word in words)
        print(f"{name:<{width}}{cells}" + ("" if is_right else "  WRONG"))
    altered = [is_right for name, _, is_right in table if name != "unaltered"]
    print(f"noticed {sum(altered)} of {len(altered)} ablations")
