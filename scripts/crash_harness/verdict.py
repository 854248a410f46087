"""The verdict on a case: looks at the wreck, recovers it, and compares it with the old tree and the new one."""

import os

from crash_harness.trial import Trial
from harness import disk, trees
from harness.manifest import read_manifest
from harness.trees import Tree, difference, same

# The exit codes of a broken run. LISTED is done, except for the paths in its messages. The last ones promise that
# nothing has changed.
DONE, LISTED, PENDING, UNCHANGED = 0, 3, 6, (1, 4, 64, 65, 66, 69, 75)
# The objects that the harness puts in the way, and finds again.
FOREIGN = b"not the tool's"


def settle(trial: Trial, case: str, code: int | None, **circumstances) -> None:
    Verdict(trial, case).settle(code, **circumstances)


class Verdict:
    def __init__(self, trial: Trial, case: str) -> None:
        self.trial, self.case = trial, case
        self.listed: set[bytes] = set()

    def fail(self, kind: str, message: str) -> None:
        self.trial.results.fail(kind, self.case, message)

    def settle(
        self,
        code: int | None,
        *,
        how: str = "forward",
        messages: bytes = b"",
        sync_failed: bool = False,
        is_rebooted: bool = False,
    ) -> None:
        """`code` is what the run said; None when it could not. `messages` name the paths that it listed.

        `how` it goes on: "forward", "back", "apply" for a recovery by the next apply, or
        "displace", which plants a foreign object in the way."""
        trial = self.trial
        was_pending, before = trial.is_pending(), trial.there()
        if code == LISTED:
            paths = trial.old.keys() | trial.new.keys()
            self.listed = {path for path in paths if b"fsync-lite: " + path + b": " in messages}
        self._judge_code(code, was_pending, before, sync_failed)
        # Exit 6 without a journal: its removal could not be synced, so it may be back after a power cut. Both
        # trees are whole.
        wanted, foreign = [trial.old, trial.new], b""
        if was_pending:
            wanted = [self._recovered_tree(how)]
            if how == "displace":
                foreign = self.plant(before)
            # After a failed barrier only a new mount may finish. If there is none, the case ends here.
            if not self._recover(how, may_refuse=sync_failed and not is_rebooted):
                return
        after = self.without_foreign(trial.there(), foreign)
        if not any(same(after, tree, {b".", *self.listed}) for tree in wanted):
            against = " or ".join(difference(after, tree) for tree in wanted)
            self.fail("mixture", f"{'pending' if was_pending else 'not pending'}, {how}: {against}")
            return
        self._judge_rest(after)
        trial.judge_history(self.fail)
        self._judge_once_more()

    def _judge_code(self, code: int | None, was_pending: bool, before: Tree, sync_failed: bool) -> None:
        trial = self.trial
        if code not in (None, DONE, LISTED, PENDING, *UNCHANGED):
            self.fail("untruthful", f"crashed, or no outcome of what was done: {code}")
        if code == LISTED and not self.listed:
            self.fail("untruthful", f"exit {code} without a path")
        if code in (DONE, LISTED) and not same(before, trial.new, self.listed):
            self.fail("untruthful", f"exit {code} without the new tree: " + difference(before, trial.new))
        if code in (DONE, LISTED) and sync_failed:
            self.fail("untruthful", f"exit {code} although a sync failed")
        if code in UNCHANGED and (was_pending or not same(before, trial.old)):
            changes = difference(before, trial.old)
            self.fail("untruthful", f"exit {code} and the target changed: {changes}")
        if trial.exchanges and not (same(before, trial.old) or same(before, trial.new, {b".", *self.listed})):
            self.fail("mixture", "before any recovery: " + difference(before, trial.old))

    def _recovered_tree(self, how: str) -> Tree:
        went_back = not os.path.exists(os.path.join(self.trial.state, "journal"))
        return self.trial.old if how != "apply" and (went_back or how == "back") else self.trial.new

    def _recover(self, how: str, may_refuse: bool) -> bool:
        trial = self.trial
        again = [*trial.recover, *["--back"] * (how == "back"), trial.target]
        recovered = trial.run(trial.apply if how == "apply" else again)
        if recovered.code == 6 and how == "displace":
            recovered = trial.run([*trial.recover, "--displace", trial.target])
        if recovered.code == 6 and may_refuse:
            return False
        if recovered.code != 0:
            self.fail("mixture", f"recover {how}: {recovered.code} {recovered.message}")
            return False
        once = trial.there()
        second = trial.run(again)
        if second.code != 0 or b"nothing" not in second.output or not same(trial.there(), once, ()):
            self.fail("mixture", f"second recover: {second.code} {second.message}")
        return True

    def plant(self, tree: Tree) -> bytes:
        """Puts a foreign file at a name that the commit has left or not yet reached."""
        trial = self.trial
        root = os.path.realpath(os.fsencode(trial.target))

        def is_free(path: bytes) -> bool:
            folder = os.path.dirname(os.path.join(root, path))
            return os.path.isdir(folder) and os.path.realpath(folder) == folder

        free = sorted(filter(is_free, (trial.old.keys() | trial.new.keys()) - tree.keys()))
        if not free:
            return b""
        path = trial.rng.choice(free)
        trees.write(os.path.join(root, path), FOREIGN)
        return path

    def without_foreign(self, tree: Tree, path: bytes) -> Tree:
        """The tree without the planted object, which must be there or in the history: nothing is lost. It may
        have moved with its directory."""
        if not path:
            return tree
        trial = self.trial
        there = [path for path, entry in tree.items() if entry.data == FOREIGN]
        # A file that was added to the old tree of an exchange remains there for a while.
        kept = [os.path.join(trial.state, name) for name in ("history", "trees")]
        is_kept = any(entry.data == FOREIGN for folder in kept for entry in trees.walk(folder, xattrs=False).values())
        if len(there) + is_kept != 1:
            self.fail("loss", f"the foreign object at {path!r}: there {there}, kept {is_kept}")
        for path in there:
            # Otherwise the next apply would refuse a target with foreign files.
            os.unlink(os.path.join(os.fsencode(trial.target), path))
        return {path: entry for path, entry in tree.items() if path not in there}

    def _judge_rest(self, after: Tree) -> None:
        trial = self.trial
        if trial.is_own_manifest and (error := manifest_error(trial.state, trial.recorded(after))):
            self.fail("mixture", f"the manifest does not match: {error}")
        if not same(trees.walk(trial.source), trial.mirrored, ()):
            self.fail("loss", "the source was touched")
        if not same(trees.walk(trial.outside), trial.canary, ()):
            self.fail("loss", "a canary was touched")

    def _judge_once_more(self) -> None:
        """The command works, makes its tree, and leaves nothing behind."""
        trial = self.trial
        last, wanted = trial.run(trial.command), trial.repeated
        if last.code != 0 or (wanted is not None and not same(trial.there(), wanted, ())):
            found = difference(trial.there(), wanted or trial.there())
            self.fail("mixture", f"once more: {last.code} {last.message} {found}")
            return
        names = set(os.listdir(trial.state))
        leftovers = names - {*("manifest.json", "mark", "last-run", "history", "settings.json", "linked", "trees")}
        if trial.is_subvolume:
            leftovers |= unfinished_trees(trial)
        # An object that a recovery backward moved aside remains forever, without a record beside it.
        history = trees.walk(os.path.join(trial.state, "history"), xattrs=False)
        inside = [path.split(b"/") for path in history if b"/" in path]
        records = {names[0] for names in inside if not names[1].startswith(b"conflicts")}
        if leftovers or len(records) > trial.most_records:
            self.fail("leftover", f"{sorted(leftovers)} {sorted(records)}")


def manifest_error(state: str, tree: Tree) -> str | None:
    """The difference between a manifest and the content of the target."""
    path = os.path.join(state, "manifest.json")
    if not os.path.exists(path):
        return None if tree.keys() <= {b"."} else "there is a tree and no manifest"
    try:
        manifest = read_manifest(path)
    except ValueError as error:
        return f"the manifest cannot be read: {error}"
    return next(iter(manifest.compare(tree)), None)


def unfinished_trees(trial: Trial) -> set[str]:
    """Snapshots that never were the target. Its own line of descent leads to all others."""
    folder = trial.trees_beside
    descent = {}
    for name in os.listdir(folder) if os.path.exists(folder) else []:
        own, origin = disk.subvolume_ids(os.path.join(folder, name))
        descent[own] = (name, origin)
    _, origin = disk.subvolume_ids(trial.target)
    while origin in descent:
        _, origin = descent.pop(origin)
    return {name for name, _ in descent.values()}
