"""Kills, errors and power cuts in undo, restore in place and prune: the old tree or the new one, and every kept
snapshot."""

import json
import os
import shutil
import tarfile

from crash_harness.devices import KINDS, can_mount, cuts_at_barriers
from crash_harness.injection import errors, kills
from crash_harness.trial import Fail, Trial
from crash_harness.verdict import Verdict
from harness import trees
from harness.trees import same

# A target of an earlier version, with records that pruning joined.
FIXTURE = os.path.join(os.path.dirname(__file__), "../../fixtures/history-v1/joined.tar.gz")

# The workload's own changes make the histories. The others add nothing here.
WORKLOADS = ["mixed changes", "mass delete", "type changes"]


def history(trial: Trial) -> None:
    """Undo, restore in place and prune, killed and failing: no kept snapshot is lost."""
    for kind in [Undo, Restore, Prune, Join] + [Conversion] * (trial.name == WORKLOADS[0]):
        case = kind(trial)
        kills(case, "history", 2 if trial.short else None)
        errors(case, "history", 1 if trial.short else 6, every=False)
        if can_mount(trial, "history"):
            for disk in (trial.rng.choice(KINDS),) if trial.short else KINDS:
                cuts_at_barriers(case, "history", disk)


class HistoryTrial(Trial):
    """A target with three snapshots. The middle one has a label. The broken command uses them."""

    # The next apply would make another tree.
    hows = ("forward", "back")
    most_records = 20
    # The command, with TARGET.
    words: str
    # The trees by how many snapshots ago they were: the one that it makes, and the kept ones.
    goes_to: int
    stays: tuple[int, ...]

    def __init__(self, trial: Trial) -> None:
        vars(self).update(vars(trial))
        self.title = f"{type(self).__name__.lower()} {trial.name}"
        self.trees: list[trees.Tree] = []

    def reset(self, target: str | None = None) -> None:
        super().reset(target)
        trees.write(os.path.join(self.state, "settings.json"), b'{"keep_last": 20}')
        self.trees = [self.old]
        self.add("--max-delete", "unlimited")
        self.run(["snapshot", "create", "--label", "middle", self.target], check=True)
        self.add_file("late")

    def add_file(self, name: str, *options: str) -> None:
        trees.write(os.path.join(self.source, name), name.encode())
        self.add(*options)

    def add(self, *options: str) -> None:
        """One more snapshot, of the source as it is."""
        self.run(["apply", *options, self.source, self.target], check=True)
        self.trees.insert(0, self.there())
        self.old, self.mirrored = self.trees[0], trees.walk(self.source)

    @property
    def command(self) -> list[str]:
        return [self.target if word == "TARGET" else word for word in self.words.split()]

    @property
    def new(self) -> trees.Tree:
        return self.trees[self.goes_to]

    @new.setter
    def new(self, tree: trees.Tree) -> None:
        """The workload's tree is one of the snapshots."""

    @property
    def repeated(self) -> None:
        return None

    def judge_history(self, fail: Fail) -> None:
        verified = self.run(["snapshot", "verify", self.target])
        if verified.code != 0:
            fail("loss", verified.message)
        restored = self.restored(fail)
        for number in self.stays:
            if not any(same(tree, self.trees[number]) for tree in restored):
                fail("loss", f"the tree of {number} before is not to be had")

    def restored(self, fail: Fail) -> list[trees.Tree]:
        """Every kept tree is there, even under another number."""
        out = os.path.join(self.work, "out")
        listed = self.run(["snapshot", "list", "--json", self.target], check=True).output
        found = []
        for step in range(len(json.loads(listed)["snapshots"])):
            shutil.rmtree(out, ignore_errors=True)
            run = self.run(["snapshot", "restore", self.target, f"latest~{step}", "--to", out])
            if run.code != 0:
                fail("loss", f"latest~{step}: {run.code} {run.message}")
            found.append(trees.walk(out))
        return found


class Undo(HistoryTrial):
    words, goes_to, stays = "undo TARGET", 1, (0, 1, 2)


class Restore(HistoryTrial):
    words, goes_to, stays = "snapshot restore TARGET latest~2 --in-place", 2, (0, 1, 2)


class Prune(HistoryTrial):
    """The snapshot before the present one is kept or removed. The oldest is removed."""

    words, goes_to, stays = "snapshot prune --keep-label oldest TARGET", 0, (0, 2)

    def reset(self, target: str | None = None) -> None:
        super().reset(target)
        self.run(["snapshot", "restore", self.target, "latest~2", "--in-place"], check=True)
        self.run(["snapshot", "create", "--label", "oldest", self.target], check=True)
        self.add_file("later", "--max-delete", "unlimited")
        # Now: present, oldest (labelled), late, middle, first.
        self.trees = [self.trees[0], self.trees[3], self.trees[3]]


class Join(HistoryTrial):
    """Of five snapshots the third and the oldest are removed. The records beside the third are joined."""

    words, goes_to, stays = "snapshot prune --keep-last 1 --keep-label middle TARGET", 0, (0, 1, 3)

    def reset(self, target: str | None = None) -> None:
        super().reset(target)
        for name in ("later", "last"):
            self.add_file(name)


class Conversion(Undo):
    """An undo of a target of an earlier version. Its records are converted to lists first."""

    is_own_manifest = False

    def reset(self, target: str | None = None) -> None:
        Trial.reset(self, target)
        shutil.rmtree(self.target)
        folder = os.path.dirname(self.target)
        with tarfile.open(FIXTURE) as packed:
            packed.extractall(folder, filter="tar")
        os.rename(os.path.join(folder, "mirror"), self.target)
        self.run(["recover", "--claim", self.target], check=True)
        self.old = self.there()
        # The same each time.
        self.trees = self.trees or self.restored(Verdict(self, self.title).fail)
