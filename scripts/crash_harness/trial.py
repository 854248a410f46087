"""The base of every class of cases: a workload on disk, and runs of the tool."""

import contextlib
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from crash_harness.results import Results
from crash_harness.workloads import WORKLOADS
from harness import command, disk, trace, trees
from harness.command import Outcome
from harness.trace import Injection, Point

# The calls that change something, or make it durable, or take the lock.
CHANGING = """
    openat mkdirat unlinkat renameat renameat2 symlinkat mknodat write ftruncate fallocate
    copy_file_range ioctl fchmod fchmodat2 chmod fchown fchownat utimensat fsync syncfs flock
    pwrite64 mkdir linkat fsetxattr fremovexattr
""".split()
READING = ["read", "pread64", "statx", "getdents64"]
SYNCING = {"fsync", "syncfs", "fdatasync"}

# How an exchange is made if the target is one, of btrfs.
SUBVOLUME = "subvolume"

# Reports a failure: its kind, and the finding.
Fail = Callable[[str, str], None]

# With more than one step, a leftover could not be noticed.
KEEPING = ["--keep-last", "1"]


class Trial:
    """A workload: source, target and canaries, built again for each case. The broken command is an apply, which
    makes the new tree from the old one."""

    # The ways to continue a pending commit, in turn.
    hows: tuple[str, ...] = ("forward", "back", "apply", "displace")
    # The most records that the target may have in the end.
    most_records = 1
    # Its manifest knows the inodes of the target.
    is_own_manifest = True

    def __init__(
        self,
        tool: str,
        scratch: str,
        workload: str,
        results: Results,
        rng: random.Random,
        short: bool,
        exchanges: bool | str = False,
    ) -> None:
        self.tool, self.scratch, self.name = tool, scratch, workload
        self.results, self.rng, self.short, self.exchanges = results, rng, short, bool(exchanges)
        self.is_subvolume = exchanges == SUBVOLUME
        self.workload = WORKLOADS[workload]
        self.log = os.path.join(scratch, "trace")
        self.work = os.path.join(scratch, re.sub(r"\W", "-", workload))
        self.source = os.path.join(self.work, "source")
        self.target = os.path.join(self.work, "target")
        self.outside = os.path.join(self.work, "canary")
        self.options: list[str] = []
        self.title = workload
        self.pending = 0

    def reset(self, target: str | None = None) -> None:
        """Builds the trees. If the workload changes a mirror, a first apply is made, so the manifest knows the
        inodes."""
        self.target = target or os.path.join(self.work, "target")
        for path in (self.work, self.target, trees.state_beside(self.target), self.trees_beside):
            shutil.rmtree(path, ignore_errors=True)
        os.makedirs(self.work)
        trees.make(self.outside, {"outside": b"do not touch", "d": {"e": b"f"}})
        self.canary = trees.walk(self.outside)
        steps = self.workload(lambda *names: os.path.join(self.source, *names))
        if self.is_subvolume:
            disk.make_subvolume(self.target)
        os.makedirs(self.target, exist_ok=True)
        if steps is not None:
            next(steps)
            # The state is in the target or beside it, by turns from one workload to the next.
            beside = ["--exchange"] * (self.exchanges and len(self.name) % 2)
            self.run(["apply", *KEEPING, *self.options, *beside, self.source, self.target], check=True)
        self.old = self.there()
        for _ in steps or ():
            pass
        self.new = self.mirrored = trees.walk(self.source)

    # --- Places -------------------------------------------------------------------------------

    @property
    def trees_beside(self) -> str:
        return trees.state_beside(self.target) + "-trees"

    @property
    def state(self) -> str:
        return trees.state_of(self.target)

    def is_pending(self) -> bool:
        journals = (os.path.join(self.state, name) for name in ("journal", "journal.back"))
        return any(map(os.path.exists, journals))

    def there(self) -> trees.Tree:
        """The content of the target."""
        return trees.walk(self.target)

    def recorded(self, tree: trees.Tree) -> trees.Tree:
        """The manifest's record of a target with this tree."""
        return tree

    # --- Judging ------------------------------------------------------------------------------

    def how(self) -> str:
        """The next way to continue. Only a pending commit takes a turn."""
        self.pending += self.is_pending()
        return self.hows[self.pending % len(self.hows)]

    def judge_history(self, fail: Fail) -> None:
        """The laws for older snapshots."""

    @property
    def repeated(self) -> trees.Tree | None:
        """The tree of the command if it runs again; None if that is unknown."""
        return self.new

    # --- Running ------------------------------------------------------------------------------

    @property
    def recover(self) -> list[str]:
        return ["recover"]

    @property
    def apply(self) -> list[str]:
        exchange = ["--exchange"] * self.exchanges
        limits = ["--threads", "1", "--max-delete", "unlimited", *KEEPING]
        return ["apply", *limits, *self.options, *exchange, self.source, self.target]

    @property
    def command(self) -> list[str]:
        return self.apply

    def run(self, arguments: list[str], *inject: Injection, **options: Any) -> Outcome:
        """Runs the tool, under strace if its calls are changed."""
        words = [self.tool, *arguments]
        return command.run(trace.traced(words, log=self.log, inject=inject) if inject else words, **options)

    def injected(self) -> list[str]:
        """The lines of the calls that failed, without those of the loader."""
        with open(self.log, errors="replace") as file:
            return [line for line in file if "(INJECTED)" in line and ".so" not in line]

    def record(
        self,
        arguments: list[str],
        calls: Iterable[str] = CHANGING,
        inject: Iterable[Injection] = (),
    ) -> list[trace.Call]:
        """The calls of a run, descriptors with their paths."""
        words = [self.tool, *arguments]
        command.run(trace.traced(words, calls, self.log, inject, ["-y", "-s", "4096"]))
        return trace.recorded(self.log)

    def count(self, arguments: list[str], calls: Iterable[str] = CHANGING) -> Counter:
        return trace.counted(self.record(arguments, calls))

    def commit_renames(self) -> list[int]:
        """The numbers of the renames from the journal's on, in an undisturbed command."""
        renames = self.record(self.command, ["renameat2"])
        begin = next((i for i, call in enumerate(renames) if '"journal"' in call.line), 0)
        return [call.number for call in renames[begin:]]

    def stopped(self, *points: Point, calls: Iterable[str] = ()) -> contextlib.AbstractContextManager[trace.Halt]:
        """The command, which stops right after these calls."""
        return trace.stopped([self.tool, *self.command], points, self.log, calls)
