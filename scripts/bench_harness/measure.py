"""The cost of one run of a command: wall time, processor time, peak memory, and the number of system calls."""

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time
from typing import NamedTuple

PR_SET_CHILD_SUBREAPER = 36

# The second shell has the command in hand and waits for a line, so that its own start does not
# count; then it becomes the command. It is no child of this interpreter: a process begins with its
# parent's peak memory as its own.
LAUNCH = """exec 3<&0
sh -c 'read _ <&3; exec "$@" 3<&-' sh "$@" >&2 & echo $!"""


class Wrong(Exception):
    """A run that failed, or an unexpected result."""


class Sample(NamedTuple):
    seconds: float
    processor: float
    peak: int
    output: bytes


def run(command: list[str], directory: str | None = None, environment: dict[str, str] | None = None) -> Sample:
    """One run, to its end. Peak memory is that of the largest process, in bytes."""
    adopt_orphans()
    with tempfile.TemporaryFile() as output:
        first = subprocess.Popen(
            ["sh", "-c", LAUNCH, "sh", *command],
            cwd=directory,
            env=environment and {**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
        )
        process = int(first.stdout.readline())
        first.stdout.close()
        first.wait()
        started = time.perf_counter()
        first.stdin.write(b"\n")
        first.stdin.close()
        try:
            _, status, usage = os.wait4(process, 0)
        except BaseException:
            os.kill(process, signal.SIGKILL)
            os.wait4(process, 0)
            raise
        seconds = time.perf_counter() - started
        output.seek(0)
        text = output.read()
    if status:
        code = os.waitstatus_to_exitcode(status)
        raise Wrong(
            f"{' '.join(map(os.fsdecode, command[:4]))} ... ended with {code}: "
            + text.decode(errors="replace")[-400:].strip()
        )
    return Sample(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, text)


def adopt_orphans() -> None:
    """The command's parent ends at once. This interpreter takes its place, and learns the command's use of
    resources."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def drop_caches() -> None:
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write("3\n")


def can_count_calls() -> bool:
    try:
        return bool(shutil.which("perf")) and count_calls(["true"], None) > 0
    except (Wrong, ValueError):
        return False


def count_calls(command: list[str], environment: dict[str, str] | None) -> int:
    """One run, and the number of system calls in all of its processes, by perf, which hardly slows it."""
    with tempfile.NamedTemporaryFile("r") as report:
        counting = ["perf", "stat", "-x,", "-o", report.name, "-e", "raw_syscalls:sys_enter", "--"]
        run([*counting, *command], environment=environment)
        return int(next(line for line in report if "sys_enter" in line).split(",")[0])
