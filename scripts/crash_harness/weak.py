"""Kills and a second writer on file systems with weak commits."""

import os

from crash_harness.injection import killed
from crash_harness.trial import CHANGING, Trial
from crash_harness.verdict import settle
from harness import trees
from harness.trace import killing, points
from harness.trees import Tree
from harness.weak_disk import KINDS, Kind, missing, mounted


class WeakTrial(Trial):
    """A trial whose target is on such a file system; its source is not."""

    def __init__(self, trial: Trial, kind: Kind, place: str) -> None:
        vars(self).update(vars(trial))
        self.kind, self.place = kind, place
        if "modes" not in kind.aspects:
            # Root follows no journal that others may have written, unless it is told to.
            self.hows = ("forward", "back", "forward", "displace")

    def reset(self, target: str | None = None) -> None:
        self.options = ["--weak-commit"]
        super().reset(target or os.path.join(self.place, "target"))
        self.new = self.kind.held(self.new)

    def there(self) -> Tree:
        return self.kind.held(self.recorded({}))

    def recorded(self, tree: Tree) -> Tree:
        return trees.walk(self.target, xattrs="xattrs" in self.kind.aspects)

    @property
    def recover(self) -> list[str]:
        # Some show every file as one that anybody may write to.
        return ["recover", "--trust-state"]


def weak(trial: Trial) -> None:
    """Killed in weak commits on exFAT, NTFS, sshfs, bindfs and overlayfs."""
    for kind in KINDS.values():
        if why := missing(kind):
            trial.results.skip("weak", f"{kind.name} {why}")
            continue
        with mounted(kind, trial.scratch) as place:
            weak_kills(WeakTrial(trial, kind, place))
            if trial.name == "first copy":
                other_runs(WeakTrial(trial, kind, place))


def weak_kills(trial: WeakTrial) -> None:
    """A sample of the points of each apply, a third of them killed once more in the recovery."""
    trial.reset()
    counts = trial.count(trial.apply)
    every = list(points(counts, CHANGING, None, trial.rng))
    chosen = trial.rng.sample(every, min(len(every), 4 if trial.short else 40))
    for call, number in chosen:
        code = killed(trial, "weak", call, number)
        break_torn_lock(trial)
        how = trial.how()
        if trial.is_pending() and trial.pending % 3 == 0:
            words = [*trial.recover, *["--back"] * (how == "back"), trial.target]
            trial.run(words, killing("renameat2", trial.rng.randint(1, 12)))
            code = None
        settle(trial, f"weak {trial.kind.name} {trial.name} {call} {number}", code, how=how)


def break_torn_lock(trial: WeakTrial) -> None:
    """A kill after the lock was made leaves an empty one, which may be another machine's."""
    lock = os.path.join(trial.state, "lock")
    if trial.kind.is_shared and os.path.exists(lock) and os.path.getsize(lock) == 0:
        refused = trial.run(trial.apply)
        if refused.code != 75:
            case = f"weak {trial.kind.name} torn lock"
            trial.results.fail("untruthful", case, f"got {refused.code} {refused.message}")
        trial.run(["recover", "--break-lock", trial.target])


def other_runs(trial: WeakTrial) -> None:
    """Another run is told that the target is locked, and readers of a commit that a run writes to it."""
    trial.reset()
    renames = trial.commit_renames()
    for number in sorted({1, renames[0], renames[len(renames) // 2]}):
        trial.reset()
        case = f"weak {trial.title}: with others at rename {number}"
        with trial.stopped(("renameat2", number)) as halt:
            fired = halt.wait()
            trial.results.count("weak", fired)
            if fired:
                expect_refusals(trial, case)
            code = halt.finish().code
        settle(trial, case, code)


def expect_refusals(trial: WeakTrial, case: str) -> None:
    """The run is alive, so no command may say that it was interrupted."""
    expected = [(75, trial.apply), (75, ["recover", trial.target])]
    if trial.is_pending():
        expected += [(75, ["plan", *trial.apply[1:]]), (0, ["status", trial.target])]
    for wanted, arguments in expected:
        code = trial.run(arguments).code
        if code != wanted:
            trial.results.fail("untruthful", case, f"{arguments[0]}: exit {code} instead of {wanted}")
