"""The command that a script tries, and how its runs end."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

SCRIPTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(SCRIPTS)

# For `mkfs` and others, even if PATH is not an administrator's.
os.environ["PATH"] += ":/usr/sbin:/sbin"
# The targets of a script are not recorded as those of its user.
os.environ["FSYNC_LITE_STATE"] = ""


# Of runs that nobody interrupted.
EXIT_CODES = {*range(7), 64, 65, 66, 69, 71, 75}


class Outcome(NamedTuple):
    """How a run ended."""

    code: int
    output: bytes
    errors: bytes

    @property
    def was_killed(self) -> bool:
        """Killed by SIGKILL. strace ends like its command, a shell adds 128."""
        return self.code in (-signal.SIGKILL, 128 + signal.SIGKILL)

    @property
    def has_crashed(self) -> bool:
        """Ended by a signal, or with an undocumented exit code."""
        return self.code not in EXIT_CODES

    @property
    def message(self) -> str:
        """The text of its error."""
        return self.errors.decode(errors="replace").strip()


def run(command: Sequence[Any], *, seconds: float = 300, check: bool = False, **options: Any) -> Outcome:
    """Runs a command to its end, without input. Raises `TimeoutExpired` if it does not end in time. If it must
    succeed and fails, the script ends."""
    options = {"stdin": subprocess.DEVNULL, **options} if "input" not in options else options
    done = subprocess.run(command, capture_output=True, timeout=seconds, **options)
    outcome = Outcome(done.returncode, done.stdout, done.stderr)
    if check and outcome.code != 0:
        words = " ".join(os.fsdecode(word) for word in command)
        sys.exit(f"{words}: exit {outcome.code}\n{outcome.message}")
    return outcome


def wait_until(holds: Callable[[], object], seconds: float, process: subprocess.Popen | None = None) -> bool:
    """Waits until something holds. False if it does not in time, or if the process has ended before."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end or process and process.poll() is not None:
            return False
        time.sleep(0.002)
    return True


def built(*options: str) -> str:
    """The command that FSYNC_LITE names, or the release binary, built with these options of scripts/build."""
    if tool := os.environ.get("FSYNC_LITE"):
        return os.path.realpath(tool)
    build = subprocess.run([os.path.join(SCRIPTS, "build"), *options], check=True, stdout=subprocess.PIPE, text=True)
    return build.stdout.strip()


def compiled(source: str, result: str, *options: str) -> bool:
    """Compiles a file of C; false if there is no compiler (clang comes with Swift)."""
    for compiler in ("cc", "clang", "gcc"):
        with contextlib.suppress(FileNotFoundError):
            if run([compiler, "-O2", "-o", result, source, *options]).code == 0:
                return True
    return False
