"""Kills and errors at system calls, in the apply and in the recovery."""

import functools
import os
import resource

from crash_harness.trial import CHANGING, READING, SYNCING, Trial
from crash_harness.verdict import settle
from harness import command, trees
from harness.trace import failing, killing, points


def kills(trial: Trial, name: str = "kill", sample: int | None = None) -> None:
    """Killed at every call that changes something, or at a sample of each."""
    trial.reset()
    counts = trial.count(trial.command)
    for call, number in points(counts, CHANGING, sample or (3 if trial.short else None), trial.rng):
        code = killed(trial, name, call, number)
        settle(trial, f"{name} {trial.title} kill {call} {number}", code, how=trial.how())


def killed(trial: Trial, name: str, call: str, number: int) -> int | None:
    """The exit code of a run that has ended before the call."""
    trial.reset()
    run = trial.run(trial.command, killing(call, number))
    trial.results.count(name, run.was_killed)
    return None if run.was_killed else run.code


ERRORS = {
    call: names.split()
    for call, names in {
        "openat": "ENOSPC EIO EACCES EROFS EDQUOT",
        "mkdirat": "ENOSPC EMLINK EROFS EDQUOT EACCES",
        "unlinkat": "EIO EROFS EACCES",
        "renameat2": "ENOSPC EIO EROFS EACCES EDQUOT EMLINK",
        "renameat": "ENOSPC EIO EROFS",
        "mkdir": "EMLINK EROFS",
        "symlinkat": "EDQUOT EIO",
        "mknodat": "ENOSPC EROFS",
        "write": "ENOSPC EIO EDQUOT",
        "pwrite64": "ENOSPC EIO EDQUOT",
        "ftruncate": "EIO ENOSPC",
        "fallocate": "ENOSPC EDQUOT",
        "copy_file_range": "EIO ENOSPC EDQUOT",
        "ioctl": "EIO",
        "fchmod": "EIO EROFS",
        "fchmodat2": "EIO",
        "chmod": "EROFS",
        "fchown": "EIO EDQUOT",
        "fchownat": "EIO EROFS",
        "utimensat": "EIO EROFS EACCES",
        "fsync": "EIO ENOSPC EDQUOT",
        "syncfs": "EIO ENOSPC",
        "flock": "EIO",
        "linkat": "EMLINK ENOSPC",
        "read": "EIO",
        "pread64": "EIO",
        "statx": "EIO EACCES",
        "getdents64": "EIO",
    }.items()
}


# The exit code if a library of the tool cannot be read. Nothing ran.
LOADER_FAILED = 127


def errors(trial: Trial, name: str = "error", sample: int | None = None, every: bool = True) -> None:
    """Each error at each call, once, and from there on forever, which also breaks the way back; or only one."""
    trial.reset()
    counts = trial.count(trial.command, CHANGING + READING)
    sample = sample or (2 if trial.short else 24)
    for index, (call, number) in enumerate(points(counts, ERRORS, sample, trial.rng)):
        for error, when in modes(ERRORS[call], index, number, every and not trial.short):
            trial.reset()
            run, injected = trial.run(trial.command, failing(call, error, when)), trial.injected()
            code: int | None = run.code
            if code and code < 0 and any('"/proc/' in line for line in injected):
                # libdispatch gives up if it cannot read about its own threads. That is like a kill.
                code = None
            if code == LOADER_FAILED:
                code = None
            trial.results.count(name, injected)
            # After the commit, old objects are removed, and a failure is a note.
            sync_failed = call in SYNCING and bool(injected) and b"could not be tidied" not in run.errors
            case = f"{name} {trial.title} {call} {when} {error}"
            settle(trial, case, code, how=trial.how(), messages=run.errors, sync_failed=sync_failed)


def modes(errors: list[str], index: int, number: int, every: bool) -> list[tuple[str, str]]:
    """The errors of a call, and when they come: each call has another one forever. If not every one is wanted,
    each call has another one, every second time forever."""
    turn = errors[index % len(errors)]
    once, for_ever = [(error, str(number)) for error in errors], (turn, f"{number}+")
    if not every:
        return [for_ever if index % 2 else (turn, str(number))]
    return [*once, for_ever]


def recovery_kills(trial: Trial) -> None:
    """Killed in the middle of the commit, then again in the recovery, forward and back."""
    trial.reset()
    renames = trial.commit_renames()
    thirds = [renames[len(renames) // 3], renames[len(renames) * 2 // 3]]
    for first in [trial.rng.choice(thirds)] if trial.short else sorted(set(thirds)):
        for back in ([], ["--back"]):
            if not killed_at_rename(trial, first):
                continue
            counts = trial.count(["recover", *back, trial.target])
            for call, number in points(counts, CHANGING, 1 if trial.short else None, trial.rng):
                killed_at_rename(trial, first)
                run = trial.run(["recover", *back, trial.target], killing(call, number))
                trial.results.count("recovery", run.was_killed)
                how = " ".join(back)
                case = f"recovery {trial.name} rename {first} {how} {call} {number}"
                settle(trial, case, None)


def killed_at_rename(trial: Trial, number: int) -> bool:
    trial.reset()
    trial.run(trial.apply, killing("renameat2", number))
    return trial.is_pending()


def foreign_objects(trial: Trial) -> None:
    """Killed at each rename of the commit; then a foreign file is in the way, at any free place."""
    trial.reset()
    numbers = trial.commit_renames()
    sample = sorted(trial.rng.sample(numbers, min(4, len(numbers))))
    for number in sample if trial.short else numbers * 4:
        trial.results.count("foreign", killed_at_rename(trial, number))
        settle(trial, f"foreign {trial.name} rename {number}", None, how="displace")


# --- Short counts and file size limits --------------------------------------------------------

SHIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "short-counts.c")
LIMITS = (0, 100, 512, 1024, 2048, 4096, 65536, 1 << 18, 1 << 20)


def short_counts(trial: Trial) -> None:
    """Reads and writes do less than they were asked, or are interrupted. Files may not grow."""
    shim = os.path.join(trial.scratch, "short-counts.so")
    if not os.path.exists(shim) and not command.compiled(SHIM, shim, "-shared", "-fPIC", "-ldl"):
        trial.results.skip("short", "needs a C compiler")
        return
    for seed in range(1, 4 if trial.short else 26):
        cut_short(trial, shim, seed)
    for limit in (0, 4096) if trial.short else LIMITS:
        limited(trial, limit)


def cut_short(trial: Trial, shim: str, seed: int) -> None:
    trial.reset()
    report = os.path.join(trial.scratch, "short-counts")
    variables = {
        "LD_PRELOAD": shim,
        "SHORT_COUNTS_SEED": str(seed),
        "SHORT_COUNTS_REPORT": report,
    }
    trees.write(report, b"")
    run = trial.run(trial.apply, env=os.environ | variables)
    with open(report) as file:
        cut = file.read()
    if run.code == 0 and not cut:
        raise SystemExit(f"{trial.tool}: no library is preloaded into a static binary")
    trial.results.count("short", int(cut or 0) > 0)
    case = f"short {trial.name} seed {seed}"
    if run.code != 0:
        trial.results.fail("untruthful", case, f"exit {run.code}: {run.message}")
    settle(trial, case, run.code)


def limited(trial: Trial, limit: int) -> None:
    trial.reset()
    limits = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
    code = trial.run(trial.apply, preexec_fn=limits).code
    trial.results.count("short", code != 0)
    settle(trial, f"short {trial.name} file size {limit}", code)
