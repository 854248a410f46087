"""What one run of a command costs: wall time, processor time, peak memory, and the number of its
system calls."""

import contextlib
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
    """A run that failed, or a result that is not what it should be."""


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
    """The command's parent ends at once; this interpreter takes its place and gets to know what the
    command used."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def start(command: list[str]) -> float:
    """The seconds of a start, without a shell in between."""
    began = time.perf_counter()
    process = os.posix_spawnp(
        command[0],
        command,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
    )
    _, status = os.waitpid(process, 0)
    seconds = time.perf_counter() - began
    if status:
        raise Wrong(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    return seconds


def drop_caches() -> None:
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write("3\n")


def call_counter() -> str | None:
    """What counts system calls here; None where it is not there, or may not trace."""
    with contextlib.suppress(Wrong, OSError):
        if shutil.which("strace") and count_calls(["true"]):
            return "strace"
    return None


def count_calls(command: list[str], directory: str | None = None, environment: dict[str, str] | None = None) -> int:
    """The number of system calls in all processes of a run."""
    with tempfile.NamedTemporaryFile("r") as report:
        run(["strace", "-f", "-c", "-U", "calls,name", "-o", report.name, "--", *command], directory, environment)
        return int(next(line for line in report if line.endswith("total\n")).split()[0])
