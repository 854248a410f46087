"""Kills and errors at system calls, in the apply and in the recovery."""

import os
import resource
import signal
import subprocess

from bench import CHANGING, READING, SYNCING, points

KILLED = (-9, 137)
# The ways on, in turn.
HOWS = ("forward", "back", "apply", "displace")


def kills(bench):
    bench.reset()
    counts = bench.calls(bench.command)
    pending = 0
    for call, number in points(counts, CHANGING, 3 if bench.short else None, bench.rng):
        bench.reset()
        code = bench.run(bench.command, [(call, f"signal=KILL:when={number}")]).returncode
        bench.results.count("kill", code in KILLED)
        pending += bench.is_pending()
        bench.settle(f"kill {bench.name} {call} {number}", None if code in KILLED else code, how=HOWS[pending % 3])


ERRORS = {
    "openat": ["ENOSPC", "EIO", "EACCES", "EROFS", "EDQUOT"],
    "mkdirat": ["ENOSPC", "EMLINK", "EROFS", "EDQUOT", "EACCES"],
    "unlinkat": ["EIO", "EROFS", "EACCES"],
    "renameat2": ["ENOSPC", "EIO", "EROFS", "EACCES", "EDQUOT", "EMLINK"], "renameat": ["ENOSPC", "EIO", "EROFS"],
    "mkdir": ["EMLINK", "EROFS"], "symlinkat": ["EDQUOT", "EIO"],
    "mknodat": ["ENOSPC", "EROFS"], "write": ["ENOSPC", "EIO", "EDQUOT"], "pwrite64": ["ENOSPC", "EIO", "EDQUOT"],
    "ftruncate": ["EIO", "ENOSPC"], "fallocate": ["ENOSPC", "EDQUOT"], "copy_file_range": ["EIO", "ENOSPC", "EDQUOT"],
    "ioctl": ["EIO"], "fchmod": ["EIO", "EROFS"], "fchmodat2": ["EIO"], "chmod": ["EROFS"],
    "fchown": ["EIO", "EDQUOT"], "fchownat": ["EIO", "EROFS"], "utimensat": ["EIO", "EROFS", "EACCES"],
    "fsync": ["EIO", "ENOSPC", "EDQUOT"], "syncfs": ["EIO", "ENOSPC"], "flock": ["EIO"], "linkat": ["EMLINK", "ENOSPC"],
    "read": ["EIO"], "pread64": ["EIO"], "statx": ["EIO", "EACCES"], "getdents64": ["EIO"],
}


def errors(bench):
    """Each error once, and from there on for ever, which also fails the way back."""
    bench.reset()
    counts = bench.calls(bench.command, CHANGING + READING)
    pending = 0
    for index, (call, number) in enumerate(
            points(counts, ERRORS, 2 if bench.short else 24, bench.rng)):
        wanted = ERRORS[call] if not bench.short else [ERRORS[call][index % len(ERRORS[call])]]
        modes = [(error, "") for error in wanted] + [(wanted[index % len(wanted)], "+")]
        if bench.short:
            modes = [modes[index % 2]]
        for error, repeat in modes:
            bench.reset()
            code = bench.run(bench.command, [(call, f"error={error}:when={number}{repeat}")]).returncode
            injected = bench.injected()
            if code < 0 and any('"/proc/' in line for line in injected):
                # libdispatch gives up when it cannot read about its own threads: no more than a kill.
                code = None
            bench.results.count("error", injected)
            pending += bench.is_pending()
            bench.settle(f"error {bench.name} {call} {number}{repeat} {error}", code,
                         how=HOWS[pending % 4], sync_failed=call in SYNCING and bool(injected))


def recovery_kills(bench):
    """Killed in the middle of the commit, then again in the recovery, forward and back."""
    bench.reset()
    renames = bench.commit_renames()
    thirds = [renames[len(renames) // 3], renames[len(renames) * 2 // 3]]
    for first in [bench.rng.choice(thirds)] if bench.short else sorted(set(thirds)):
        for back in ([], ["--back"]):
            if not killed_at_rename(bench, first):
                continue
            counts = bench.calls(["recover", *back, bench.target])
            for call, number in points(counts, CHANGING, 1 if bench.short else None, bench.rng):
                killed_at_rename(bench, first)
                code = bench.run(["recover", *back, bench.target], [(call, f"signal=KILL:when={number}")]).returncode
                bench.results.count("recovery", code in KILLED)
                bench.settle(f"recovery {bench.name} rename {first} {' '.join(back)} {call} {number}", None)


def killed_at_rename(bench, number):
    bench.reset()
    bench.run(bench.command, [("renameat2", f"signal=KILL:when={number}")])
    return bench.is_pending()


def foreign_objects(bench):
    """Killed at each rename of the commit; then somebody else's file is in the way, at any free place."""
    bench.reset()
    numbers = bench.commit_renames()
    numbers = sorted(bench.rng.sample(numbers, min(4, len(numbers)))) if bench.short else numbers * 4
    for number in numbers:
        pending = killed_at_rename(bench, number)
        bench.results.count("foreign", pending)
        bench.settle(f"foreign {bench.name} rename {number}", None, how="displace")


# --- Short counts and file size limits --------------------------------------------------------------------------

SHIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "short-counts.c")


def short_counts(bench):
    """Reads and writes that do less than they were asked, or are interrupted; files that may not grow."""
    shim = compiled_shim(bench)
    if not shim:
        return
    for seed in range(3 if bench.short else 25):
        bench.reset()
        report = os.path.join(bench.scratch, "short-counts")
        environment = os.environ | {
            "LD_PRELOAD": shim, "SHORT_COUNTS_SEED": str(seed + 1), "SHORT_COUNTS_REPORT": report}
        result = bench.run(bench.command, env=environment)
        with open(report) as file:
            bench.results.count("short", int(file.read()) > 0)
        case = f"short {bench.name} seed {seed + 1}"
        if result.returncode != 0:
            bench.results.fail("untruthful", case, f"exit {result.returncode}: {result.stderr.decode().strip()}")
        bench.settle(case, result.returncode)
    for limit in (0, 4096) if bench.short else (0, 100, 512, 1024, 2048, 4096, 65536, 1 << 18, 1 << 20):
        for ignores in (False, True):
            bench.reset()
            result = bench.run(bench.command, restore_signals=not ignores,
                               preexec_fn=lambda: limit_size(limit, ignores))
            bench.results.count("short", result.returncode != 0)
            code = None if result.returncode == -signal.SIGXFSZ else result.returncode
            bench.settle(f"short {bench.name} file size {limit} {'error' if ignores else 'signal'}", code)


def limit_size(limit, ignores):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignores else signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def compiled_shim(bench):
    library = os.path.join(bench.scratch, "short-counts.so")
    if os.path.exists(library):
        return library
    for compiler in ("cc", "clang", "gcc"):
        try:
            subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SHIM, "-ldl"], check=True,
                           stderr=subprocess.DEVNULL)
            return library
        except (FileNotFoundError, subprocess.CalledProcessError):
            continue
    bench.results.skip("short", "needs a C compiler")
    return None
