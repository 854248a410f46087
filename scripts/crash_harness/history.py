"""Kills, errors and power cuts in undo, restore in place and prune: the old tree or the new one, and
every snapshot that stays."""

import json
import os
import shutil
import tarfile

from crash_harness.devices import KINDS, POWER_CALLS, Disk, can_mount
from crash_harness.injection import ERRORS
from crash_harness.trial import CHANGING, SYNCING, Trial
from crash_harness.verdict import Verdict
from harness import trees
from harness.trace import failing, killing, points
from harness.trees import difference, same

# A target that an earlier version wrote, with records that pruning joined.
FIXTURE = os.path.join(os.path.dirname(__file__), "../../fixtures/history-v1/joined.tar.gz")

# Where the workload's own changes make the histories; the others add nothing here.
WORKLOADS = ["mixed changes", "mass delete", "type changes"]


def history(trial: Trial) -> None:
    if trial.name not in WORKLOADS:
        return
    cases = [Undo(trial), Restore(trial), Prune(trial), Join(trial)]
    if trial.name == WORKLOADS[0]:
        cases.append(Conversion(trial))
    for case in cases:
        case.run()
        if can_mount(trial, "history"):
            for kind in (trial.rng.choice(KINDS),) if trial.short else KINDS:
                case.cut_power(kind)


class Case:
    """A target with three snapshots, of which the middle one has a label."""

    # The trees by how many snapshots ago they were: the one that it makes, and those that stay.
    goes_to: int
    stays: tuple[int, ...]

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.title = f"history {type(self).__name__.lower()} {trial.name}"
        self.trees: list[trees.Tree] = []

    @property
    def command(self) -> list[str]:
        raise NotImplementedError

    def reset(self, target: str | None = None) -> None:
        trial = self.trial
        trial.reset(target)
        trees.write(os.path.join(trial.state, "settings.json"), b'{"keep_last": 20}')
        self.trees = [trial.old]
        self.apply("--max-delete", "unlimited")
        trial.run(["snapshot", "create", "--label", "middle", trial.target], check=True)
        trees.write(os.path.join(trial.source, "late"), b"late")
        self.apply()

    def apply(self, *options: str) -> None:
        trial = self.trial
        trial.run(["apply", *options, trial.source, trial.target], check=True)
        self.trees.insert(0, trial.there())
        self.old = self.trees[0]

    def run(self) -> None:
        trial = self.trial
        self.reset()
        counts = trial.count(self.command)
        for call, number in points(counts, CHANGING, 2 if trial.short else None, trial.rng):
            self.reset()
            run = trial.run(self.command, killing(call, number))
            trial.results.count("history", run.was_killed)
            self.settle(f"{self.title} kill {call} {number}", None if run.was_killed else run.code)
        for call, number in points(counts, ERRORS, 1 if trial.short else 6, trial.rng):
            self.reset()
            error = trial.rng.choice(ERRORS[call])
            code = trial.run(self.command, failing(call, error, number)).code
            trial.results.count("history", trial.injected())
            self.settle(f"{self.title} {call} {number} {error}", None if code < 0 else code)

    def cut_power(self, kind: str) -> None:
        """The power goes before and after each barrier."""
        trial = self.trial
        disk = Disk(trial.scratch, kind)
        with disk.mounted():
            self.reset(disk.target)
            calls = trial.record(self.command, POWER_CALLS)
        barriers = [i for i, call in enumerate(calls) if call.name in SYNCING]
        places = sorted({at for barrier in barriers for at in (barrier - 1, barrier) if at >= 0})
        for place in trial.rng.sample(places, min(1, len(places))) if trial.short else places:
            point = calls[place].point
            with disk.mounted():
                self.reset(disk.target)
                disk.sync()
                with trial.stopped(point, calls=POWER_CALLS, command=self.command) as halt:
                    stops = halt.wait()
                    code = halt.process.poll()
                    disk.cut_power(halt, copies=trial.rng.random() < 0.3)
                trial.results.count("history", stops)
                self.settle(f"{self.title} power {kind} {point}", code if code == 0 else None)

    def settle(self, case: str, code: int | None) -> None:
        trial, new = self.trial, self.trees[self.goes_to]
        fail = Verdict(trial, case).fail
        if code == 0 and not same(trial.there(), new):
            fail("untruthful", "exit 0 without the new tree")
        is_refused = code in (1, 4, 65, 66, 75)
        if is_refused and (trial.is_pending() or not same(trial.there(), self.old)):
            fail("untruthful", f"exit {code} and the target changed")
        recovered = trial.run(["recover", trial.target])
        if recovered.code != 0:
            # After a failed barrier only a new mount may finish.
            if recovered.code != 6 or code != 6:
                fail("mixture", f"recover: {recovered.code} {recovered.message}")
            return
        found = trial.there()
        if not same(found, self.old) and not same(found, new):
            fail("mixture", f"{difference(found, self.old)} or {difference(found, new)}")
            return
        verified = trial.run(["snapshot", "verify", trial.target])
        if verified.code != 0:
            fail("loss", verified.message)
        restored = self.restored(fail)
        for number in self.stays:
            if not any(same(tree, self.trees[number]) for tree in restored):
                fail("loss", f"the tree of {number} before is not to be had")
        again = trial.run(self.command)
        if again.code != 0:
            fail("leftover", f"once more: {again.code} {again.message}")
        names = set(os.listdir(trial.state))
        if left := names - {"manifest.json", "mark", "last-run", "history", "settings.json"}:
            fail("leftover", f"{sorted(left)}")

    def restored(self, fail) -> list[trees.Tree]:
        """Each tree that stays is there, also under another number."""
        trial = self.trial
        out = os.path.join(trial.work, "out")
        listed = trial.run(["snapshot", "list", "--json", trial.target], check=True).output
        found = []
        for step in range(len(json.loads(listed)["snapshots"])):
            shutil.rmtree(out, ignore_errors=True)
            run = trial.run(["snapshot", "restore", trial.target, f"latest~{step}", "--to", out])
            if run.code != 0:
                fail("loss", f"latest~{step}: {run.code} {run.message}")
            found.append(trees.walk(out))
        return found


class Undo(Case):
    goes_to, stays = 1, (0, 1, 2)

    @property
    def command(self) -> list[str]:
        return ["undo", self.trial.target]


class Restore(Case):
    goes_to, stays = 2, (0, 1, 2)

    @property
    def command(self) -> list[str]:
        return ["snapshot", "restore", self.trial.target, "latest~2", "--in-place"]


class Prune(Case):
    """The snapshot before the present one stays or goes; the oldest goes."""

    goes_to, stays = 0, (0, 2)

    @property
    def command(self) -> list[str]:
        return ["snapshot", "prune", "--keep-label", "oldest", self.trial.target]

    def reset(self, target: str | None = None) -> None:
        super().reset(target)
        trial = self.trial
        trial.run(["snapshot", "restore", trial.target, "latest~2", "--in-place"], check=True)
        trial.run(["snapshot", "create", "--label", "oldest", trial.target], check=True)
        trees.write(os.path.join(trial.source, "later"), b"later")
        self.apply("--max-delete", "unlimited")
        # Now: present, oldest (labelled), late, middle, first.
        self.trees = [self.trees[0], self.trees[3], self.trees[3]]


class Join(Case):
    """Of five snapshots the third and the oldest go: the records beside the third are joined."""

    goes_to, stays = 0, (0, 1, 3)

    @property
    def command(self) -> list[str]:
        return ["snapshot", "prune", "--keep-last", "1", "--keep-label", "middle", self.trial.target]

    def reset(self, target: str | None = None) -> None:
        super().reset(target)
        for name in ("later", "last"):
            trees.write(os.path.join(self.trial.source, name), name.encode())
            self.apply()


class Conversion(Undo):
    """An undo of a target that an earlier version wrote: lists are made of its records first."""

    def reset(self, target: str | None = None) -> None:
        trial = self.trial
        trial.reset(target)
        shutil.rmtree(trial.target)
        folder = os.path.dirname(trial.target)
        with tarfile.open(FIXTURE) as packed:
            packed.extractall(folder, filter="tar")
        os.rename(os.path.join(folder, "mirror"), trial.target)
        trial.run(["recover", "--claim", trial.target], check=True)
        self.old = trial.there()
        # The same each time.
        self.trees = self.trees or self.restored(Verdict(trial, self.title).fail)
