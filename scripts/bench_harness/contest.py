"""A contest: several commands do the same work in turn, round after round, and each result is
checked."""

import argparse
import contextlib
import datetime
import os
import platform
import shutil
import statistics
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bench_harness import comparison, forest, measure
from bench_harness.measure import Wrong
from harness.disk import MAKE, Disk, can_mount, needs
from harness.scratch import remove

# A larger tree is looked at as a whole only after the last round; before that, what was changed in
# it.
SMALL_TREE = 100_000
# How each program prints its version.
VERSIONS = {
    "rsync": "--version",
    "cp": "--version",
    "rclone": "version",
    "unison": "-version",
    "restic": "version",
    "borg": "--version",
    "sha256sum": "--version",
    "b3sum": "--version",
    "xxhsum": "--version",
}


@dataclass
class Contender:
    """A participant. Its function gets the number of the round; -1 is the one that does not count."""

    name: str
    command: Callable[[int], list]
    check: Callable[[int], str | None] = lambda round: None
    at_end: Callable[[], str | None] = lambda: None
    reset: Callable[[int], None] = lambda round: None
    environment: dict | None = None


@dataclass
class Result:
    name: str
    samples: list = field(default_factory=list)
    calls: int | None = None
    wrong: str | None = None
    # Further results of a case: bytes on disk, speed.
    more: dict = field(default_factory=dict)

    @property
    def counts(self) -> bool:
        return bool(self.samples) and not self.wrong

    @property
    def seconds(self) -> float:
        return statistics.median(sample.seconds for sample in self.samples)

    @property
    def processor(self) -> float:
        return statistics.median(sample.processor for sample in self.samples)

    @property
    def peak(self) -> float:
        return statistics.median(sample.peak for sample in self.samples)


@dataclass
class Table:
    title: str
    units: int
    results: dict

    @property
    def first(self) -> str:
        return next(iter(self.results))

    def find(self, name: str) -> Result | None:
        result = self.results.get(name)
        return result if result and result.counts else None

    def ratio(self, name: str, other: str) -> float | None:
        """The median of one divided by that of the other; None if either does not count."""
        one, two = self.find(name), self.find(other)
        return one.seconds / two.seconds if one and two else None


@dataclass
class Goal:
    text: str
    value: float | None
    bound: float
    unit: str

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        return "missed" if self.value > self.bound else "met"


class Bench:
    def __init__(self, tool: str, scratch: str, options: argparse.Namespace) -> None:
        self.tool, self.scratch, self.options = tool, scratch, options
        self.counts_calls = measure.can_count_calls()
        mounts = subprocess.check_output(["findmnt", "-n", "-o", "FSTYPE", "-T", scratch], text=True)
        self.kind = mounts.split()[-1]
        self.tables, self.goals, self.notes, self.faults = [], [], [], []
        self._trees = {}
        # Called after each table, because there may not be enough time for a later one.
        self.tell: Callable[[], None] = lambda: None

    # What there is to work with ---------------------------------------------------------------

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
            print(f"note: {text}", flush=True)

    def has(self, program: str) -> bool:
        found = bool(shutil.which(program))
        if not found:
            self.note(f"{program} is not installed: left out")
        return found

    def generated(self, files: int) -> forest.Tree:
        return self._tree(f"generated-{files}", lambda root: forest.generated(root, files))

    def real(self) -> forest.Tree:
        """The Linux source, or a generated tree if that is missing. Cases change it."""
        small = self.options.quick
        if not small and os.path.exists(forest.LINUX):
            return self._tree("real", forest.linux)
        if not small:
            self.note(f"{forest.LINUX} is not there (Debian's linux-source-6.1): a generated tree in its place")
        return self._tree("real", lambda root: forest.generated(root, 3_000 if small else 80_000, seed=2))

    def large_size(self, most: int = 1 << 30, small: int = 32 << 20, times: int = 4 * 3) -> int:
        """The size of a large file: as the memory allows, so many times. For four files there is each, a copy, and
        space to write it."""
        size = small if self.options.quick else min(most, self.free() // times >> 20 << 20)
        if size < most and not self.options.quick:
            self.note(f"not enough room for files of {most >> 20:,} MB: {size >> 20:,} MB")
        return size

    def free(self) -> int:
        """Bytes that trees may use: of memory, because the default scratch directory is there, and of the disk."""
        with open("/proc/meminfo") as file:
            available = next(int(line.split()[1]) for line in file if line.startswith("MemAvailable")) << 10
        free = shutil.disk_usage(self.scratch).free
        return min(free, available) * 9 // 10 if self.kind == "tmpfs" else free * 9 // 10

    def _tree(self, name: str, make: Callable[[str], None]) -> forest.Tree:
        if name not in self._trees:
            print(f"making the tree {name}", flush=True)
            root = os.path.join(self.scratch, name)
            make(root)
            self._trees[name] = forest.Tree(root)
        return self._trees[name]

    def remove(self, tree: forest.Tree) -> None:
        """Frees its space. No later case needs it."""
        name = os.path.basename(tree.root)
        remove(self._trees.pop(name).root)

    @contextlib.contextmanager
    def place(self, kind: str | None = None, bytes: int = 0) -> Iterator[str]:
        """A directory on the scratch directory's file system, or on a new one. It is empty at the end."""
        if kind in (None, self.kind):
            folder = os.path.join(self.scratch, "place")
            os.makedirs(folder)
            try:
                yield folder
            finally:
                remove(folder)
        else:
            with Disk(self.scratch, kind, megabytes=max(1024, bytes >> 20)).mounted() as disk:
                yield disk.mount_point

    def kinds(self) -> list[str]:
        """The kinds of durable file systems that can be tried."""
        found = [kind for kind in MAKE if kind == self.kind or can_mount(kind)]
        for kind in MAKE.keys() - found:
            self.note(f"{kind}: not tried; it {needs(kind)}")
        return found

    # Running ----------------------------------------------------------------------------------

    def contest(self, title, contenders, units, before=lambda round: None, rounds=None, place=None, around=None):
        """All in turn, and again. Before the rounds that count is one that does not: it warms the
        caches, and there the system calls are counted. Not so with something `around` each run, in which it gets
        nothing from the cache."""
        print(f"{title}: {', '.join(contender.name for contender in contenders)}", flush=True)
        table = Table(title, units, {contender.name: Result(contender.name) for contender in contenders})
        for round in range(0 if around else -1, rounds or self.options.rounds):
            before(round)
            for contender in contenders:
                result = table.results[contender.name]
                if not result.wrong:
                    try:
                        with around() if around else contextlib.nullcontext():
                            self._run(contender, result, round, place, around is not None)
                    except (Wrong, OSError) as error:
                        self.fault(f"{title}: {contender.name}", str(error), result)
        for contender in contenders:
            result = table.results[contender.name]
            if not result.wrong and (difference := contender.at_end()):
                self.fault(f"{title}: {contender.name}", difference, result)
        self.add(table)
        return table

    def add(self, table: Table) -> None:
        self.tables.append(table)
        self.tell()

    def _run(self, contender, result, round, place, is_cold):
        contender.reset(round)
        if place:
            subprocess.run(["sync", "-f", place], check=True)
        if is_cold:
            measure.drop_caches()
        command = [os.fspath(word) for word in contender.command(round)]
        if round < 0 and self.counts_calls:
            result.calls = measure.count_calls(command, contender.environment)
        else:
            sample = measure.run(command, environment=contender.environment)
            if round >= 0:
                result.samples.append(sample)
        if difference := contender.check(round):
            raise Wrong(difference)

    def fault(self, what: str, text: str, result: Result | None = None) -> None:
        """An error: a result does not count, or a case broke off."""
        if result:
            result.wrong = text
        self.faults.append(f"{what}: {text}")
        print(f"wrong: {self.faults[-1]}", flush=True)

    def goal(self, text: str, value: float | None, bound: float, unit: str = "") -> None:
        self.goals.append(Goal(text, value, bound, unit))

    def share(self, table: Table, other: str, bound: float, name: str = "") -> None:
        """A goal for the time of a contender, usually the first, divided by that of another."""
        name = name or table.first
        self.goal(f"{table.title}: {name}: time / {other}", table.ratio(name, other), bound)

    # The circumstances ------------------------------------------------------------------------

    def circumstances(self) -> list[tuple[str, str]]:
        with open("/proc/cpuinfo") as file:
            processor = next(
                (line.split(":")[1].strip() for line in file if line.startswith("model name")),
                platform.machine(),
            )
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30)
        versions = []
        for name, option in {self.tool: "--version", **VERSIONS}.items():
            if shutil.which(name):
                done = subprocess.run([name, option], capture_output=True, text=True)
                versions.append(((done.stdout or done.stderr).splitlines() or ["?"])[0].split("  protocol")[0].strip())
        cores = len(os.sched_getaffinity(0))
        machine = f"{cores} cores, {processor}, {memory:.0f} GB"
        return [
            ("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
            ("machine", f"{machine}; load {os.getloadavg()[0]:.1f} at the start"),
            ("system", f"Linux {platform.release()} {platform.machine()}"),
            ("scratch", f"{self.kind}; other file systems in loop-mounted images there"),
            ("caches", "warm: one round before those that count"),
            ("rounds", f"{self.options.rounds}, in turn; medians"),
            ("user", "root" if os.geteuid() == 0 else "not root"),
            ("system calls", "counted by perf in the round before" if self.counts_calls else "not counted"),
            ("ratio", "time over that of the first row"),
            ("versions", "; ".join(versions)),
        ]


def always(*words: str) -> Callable[[int], list]:
    """The same command in every round."""
    return lambda round: list(words)


def mirror_check(source, target, aspects=comparison.EVERYTHING):
    """The two checks of a mirror: after a round, and after the last one."""

    def check(_):
        for path in source.changed:
            mirrored = os.path.join(os.fsencode(target), os.path.relpath(path, os.fsencode(source.root)))
            if not comparison.same_content(path, mirrored):
                return f"{os.fsdecode(mirrored)} has other content than the source"
        return comparison.difference(source.root, target, aspects, sample=0) if source.entries <= SMALL_TREE else None

    def at_end():
        return comparison.difference(source.root, target, aspects, sample=max(1, len(source.files) // 2_000))

    return {"check": check, "at_end": at_end}
