"""Changes in the middle of an apply."""

import itertools
import os
import re

from crash_harness.trial import Trial
from crash_harness.verdict import FOREIGN, Verdict
from harness import trees
from harness.trees import difference, same, select


def races(trial: Trial) -> None:
    """Source and target change while the apply is stopped in the middle."""
    target_edits(trial)
    target_arrivals(trial)
    source_edits(trial)


# --- The target -------------------------------------------------------------------------------


def target_edits(trial: Trial) -> None:
    """An object of the commit is edited, replaced or closed after it was looked at. The apply stops."""
    trial.reset()
    old, new = (select(tree, lambda entry: entry.is_file) for tree in (trial.old, trial.new))
    common = sorted(old.keys() & new.keys())
    changing = [path for path in common if trees.value(old[path]) != trees.value(new[path])]
    for path in trial.rng.sample(changing, min(2 if trial.short else 6, len(changing))):
        for edit in (overwrite, replace, close):
            trial.reset()
            case = f"race {trial.name}: {edit.__name__} {path!r} in the target before the commit"
            with trial.stopped(("syncfs", 1)) as halt:
                fired = halt.wait()
                edit(os.path.join(os.fsencode(trial.target), path))
                edited = trial.there()
                code = halt.finish().code
            trial.results.count("race", fired)
            if code != 1:
                trial.results.fail("untruthful", case, f"exit {code}: the change was not noticed")
            expect_tree(trial, case, edited)


def overwrite(path: bytes) -> None:
    trees.write(path, FOREIGN)


def replace(path: bytes) -> None:
    trees.write(path + b".new", FOREIGN)
    os.rename(path + b".new", path)


def close(path: bytes) -> None:
    os.chmod(path, 0o400)


def expect_tree(trial: Trial, case: str, wanted: trees.Tree) -> None:
    """The tree without the times of directories, which the edit and the apply both moved."""

    def timeless(tree: trees.Tree) -> trees.Tree:
        return {path: entry._replace(modified=0) if entry.is_directory else entry for path, entry in tree.items()}

    found, wanted = timeless(trial.there()), timeless(wanted)
    if not same(found, wanted, ()):
        trial.results.fail("mixture", case, difference(found, wanted))


def target_arrivals(trial: Trial) -> None:
    """A foreign file takes a name that the commit needs. It is not lost, and the tree is old or new."""
    trial.reset()
    numbers = trial.commit_renames()
    sample = sorted(trial.rng.sample(numbers, min(3, len(numbers))))
    for number in sample if trial.short else numbers:
        trial.reset()
        verdict = Verdict(trial, f"race {trial.name}: arrival after rename {number}")
        with trial.stopped(("renameat2", number)) as halt:
            fired = halt.wait()
            path = verdict.plant(trial.there()) if fired else b""
            code = halt.finish().code
        trial.results.count("race", path)
        if path:
            judge_arrival(trial, verdict, code, path)


def judge_arrival(trial: Trial, verdict: Verdict, code: int, path: bytes) -> None:
    tree = verdict.without_foreign(trial.there(), path)
    wanted = {0: trial.new, 1: trial.old}.get(code)
    if wanted is not None and not trial.is_pending():
        found, wanted = (select(tree, lambda entry: not entry.is_directory) for tree in (tree, wanted))
        if not same(found, wanted):
            verdict.fail("mixture", f"exit {code}: {difference(found, wanted)}")
    elif code != 6:
        verdict.fail("untruthful", f"exit {code}, pending {trial.is_pending()}")
    else:
        trial.run(["recover", "--displace", trial.target], check=True)


# --- The source -------------------------------------------------------------------------------

COPYING = ["pread64", "copy_file_range", "pwrite64"]


def source_edits(trial: Trial) -> None:
    """A file changes while it is read, also with its old size and modification time. A file that was being
    copied is right at once. One that was only compared is right after the next apply."""
    trial.reset()
    calls = trial.record(trial.apply, COPYING)
    source = os.path.realpath(trial.source)
    reads, copied = [], set()
    for call, following in itertools.zip_longest(calls, calls[1:]):
        if path := path_read(call.line, source):
            reads.append(call.point)
            # By its path, because the number of a read differs from run to run.
            if "/.fsync-lite/stage/" in call.line + (following.line if following else ""):
                copied.add(path)
    for point in trial.rng.sample(reads, min(3 if trial.short else 16, len(reads))):
        for hides in (False, True):
            trial.reset()
            with trial.stopped(point, calls=COPYING) as halt:
                path = last_path_read(trial.log, source) if halt.wait() else None
                if path:
                    rewrite_in_place(path, hides)
                code = halt.finish().code
            trial.results.count("race", path)
            if code == 0 and path not in copied:
                code = trial.run(trial.apply).code
            case = f"race {trial.name}: source edited at {point}{', time put back' * hides}"
            found, wanted = trial.there(), trees.walk(trial.source)
            if code == 0 and not same(found, wanted, ()):
                trial.results.fail("untruthful", case, "exit 0 and another content: " + difference(found, wanted))
            if code not in (0, 1):
                trial.results.fail("untruthful", case, f"exit {code}")


def rewrite_in_place(path: str, hides: bool) -> None:
    """Gives each byte another value. `hides` restores the modification time."""
    status = os.stat(path)
    with open(path, "r+b") as file:
        content = file.read()
        file.seek(0)
        file.write(bytes(byte ^ 0xFF for byte in content))
    if hides:
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def path_read(line: str, source: str) -> str | None:
    found = re.search(rf"<({re.escape(source)}/[^>]*)>", line)
    return found and found.group(1)


def last_path_read(log: str, source: str) -> str | None:
    with open(log, errors="replace") as file:
        paths = [path for line in file if (path := path_read(line, source))]
    return paths[-1] if paths else None
