"""Kills and errors in undo, restore in place and prune: the old tree or the new one, and every snapshot that stays."""

import json
import os
import shutil

import trees
from bench import CHANGING, points
from injection import ERRORS, KILLED
from trees import difference, same, snapshot

# Where the workload's own changes make the histories; the others add nothing here.
WORKLOADS = {"mixed changes", "mass delete", "type changes"}


def history(bench):
    if bench.name not in WORKLOADS:
        return
    for case in (Undo, Restore, Prune):
        case(bench).run()


class Case:
    """A target with three snapshots, of which the middle one has a label."""

    def __init__(self, bench):
        self.bench = bench
        self.name = type(self).__name__.lower()

    def reset(self):
        bench = self.bench
        bench.reset()
        with open(os.path.join(bench.state, "settings.json"), "w") as file:
            file.write('{"keep_last": 20}')
        self.trees = [bench.old]
        bench.run(["apply", "--max-delete", "unlimited", bench.source, bench.target], check=True)
        self.trees.insert(0, snapshot(bench.target))
        bench.run(["snapshot", "create", "--label", "middle", bench.target], check=True)
        trees.write(os.path.join(bench.source, "late"), b"late")
        bench.run(["apply", bench.source, bench.target], check=True)
        self.trees.insert(0, snapshot(bench.target))
        self.old = self.trees[0]

    def run(self):
        bench = self.bench
        self.reset()
        counts = bench.calls(self.command)
        sample = 2 if bench.short else None
        for call, number in points(counts, CHANGING, sample, bench.rng):
            self.reset()
            code = bench.run(self.command, [(call, f"signal=KILL:when={number}")]).returncode
            bench.results.count("history", code in KILLED)
            self.settle(f"history {self.name} {bench.name} kill {call} {number}", None if code in KILLED else code)
        for call, number in points(counts, ERRORS, 1 if bench.short else 6, bench.rng):
            self.reset()
            error = bench.rng.choice(ERRORS[call])
            code = bench.run(self.command, [(call, f"error={error}:when={number}")]).returncode
            injected = bench.injected()
            bench.results.count("history", injected)
            self.settle(f"history {self.name} {bench.name} {call} {number} {error}",
                        None if code < 0 else code)

    def settle(self, case, code):
        bench = self.bench
        fail = lambda kind, message: bench.results.fail(kind, case, message)
        new = self.trees[self.goes_to]
        if code == 0 and not same(snapshot(bench.target), new):
            fail("untruthful", "exit 0 without the new tree")
        if code in (1, 4, 65, 66, 75) and (bench.is_pending() or not same(snapshot(bench.target), self.old)):
            fail("untruthful", f"exit {code} and the target changed")
        recovered = bench.run(["recover", bench.target])
        if recovered.returncode != 0:
            # After a failed barrier only a new mount may finish.
            if recovered.returncode != 6 or code != 6:
                fail("mixture", f"recover: {recovered.returncode} {recovered.stderr.decode().strip()}")
            return
        found = snapshot(bench.target)
        if not same(found, self.old) and not same(found, new):
            fail("mixture", f"{difference(found, self.old)} or {difference(found, new)}")
            return
        verified = bench.run(["snapshot", "verify", bench.target])
        if verified.returncode != 0:
            fail("loss", verified.stderr.decode().strip())
        # Each tree that stays is there, whatever has happened to its number.
        out = os.path.join(bench.work, "out")
        steps = len(json.loads(bench.run(["snapshot", "list", "--json", bench.target]).stdout)["snapshots"])
        restored = []
        for step in range(steps):
            shutil.rmtree(out, ignore_errors=True)
            result = bench.run(["snapshot", "restore", bench.target, f"latest~{step}", "--to", out])
            if result.returncode != 0:
                fail("loss", f"latest~{step}: {result.returncode} {result.stderr.decode().strip()}")
            restored.append(snapshot(out))
        for number in self.stays:
            if not any(same(tree, self.trees[number]) for tree in restored):
                fail("loss", f"the tree of {number} before is not to be had")
        again = bench.run(self.command)
        if again.returncode != 0:
            fail("leftover", f"once more: {again.returncode} {again.stderr.decode().strip()}")
        names = set(os.listdir(bench.state)) - {"manifest.json", "mark", "last-run", "history", "settings.json"}
        if names:
            fail("leftover", f"{sorted(names)}")


class Undo(Case):
    goes_to, stays = 1, (0, 1, 2)

    @property
    def command(self):
        return ["undo", self.bench.target]


class Restore(Case):
    goes_to, stays = 2, (0, 1, 2)

    @property
    def command(self):
        return ["snapshot", "restore", self.bench.target, "latest~2", "--in-place"]


class Prune(Case):
    """The snapshot before the present one stays or goes; the oldest goes."""

    goes_to, stays = 0, (0, 2)

    @property
    def command(self):
        return ["snapshot", "prune", "--keep-label", "oldest", self.bench.target]

    def reset(self):
        super().reset()
        bench = self.bench
        bench.run(["snapshot", "restore", bench.target, "latest~2", "--in-place"], check=True)
        bench.run(["snapshot", "create", "--label", "oldest", bench.target], check=True)
        trees.write(os.path.join(bench.target, "..", "source", "later"), b"later")
        bench.run(["apply", "--max-delete", "unlimited", bench.source, bench.target], check=True)
        self.trees.insert(0, snapshot(bench.target))
        # Now: present, oldest (labelled), late, middle, first.
        self.trees = [self.trees[0], self.trees[3], self.trees[3]]
        self.old = self.trees[0]
