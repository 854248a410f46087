"""Snapshots as a file system, beside bindfs, restic mount and borg mount of the same tree."""

import os
import subprocess
from collections.abc import Callable

from bench_harness import forest, measure
from bench_harness.contest import Bench, Contender, Result, Table, always
from bench_harness.peers import MANY
from bench_harness.report import seconds
from harness.command import wait_until
from harness.scratch import remove

OURS = "fsync-lite snapshot mount"
TREE = "the tree itself"
DATES = 30
GOAL_BYTES = 100_000_000
# Seconds for a server to begin or to end.
PATIENCE = 60
SECRET = {"RESTIC_PASSWORD": "x", "BORG_PASSPHRASE": "x", "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes"}


class Mount:
    """A server in the foreground, and where it shows the tree.

    A new one knows nothing, and neither does the kernel.
    """

    def __init__(self, folder: str, name: str, command: list[str], inner: Callable[[str], str]) -> None:
        self.name, self.command, self._inner = name, command, inner
        self.place = os.path.join(folder, "mount-" + name.split()[0])
        os.makedirs(self.place)
        self.process = None

    def begin(self, _=None) -> None:
        self.end()
        self.process = subprocess.Popen(
            [*self.command, self.place],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **SECRET},
        )
        if not wait_until(lambda: os.path.ismount(self.place), PATIENCE, self.process):
            raise measure.Wrong(f"{self.name} did not begin")

    def end(self) -> None:
        if self.process:
            subprocess.run(["umount", self.place], check=True)
            self.process.wait(PATIENCE)
            self.process = None

    @property
    def tree(self) -> str:
        return self._inner(self.place)

    def peak(self) -> int:
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) << 10


def latest(place: str) -> str:
    """The newest date: names sort by time."""
    return os.path.join(place, max(name for name in os.listdir(place) if name.startswith("20")))


def mounts(bench: Bench) -> None:
    """snapshots as a file system: find, ls -lR, reading a large file, and memory after 30 dates"""
    for files in sorted({min(bench.options.files, MANY * 2 // 3), bench.options.files}):
        tree = bench.generated(files)
        with bench.place() as folder:
            shown = begun(bench, folder, tree)
            try:
                compare(bench, tree, shown)
                dates(bench, tree, folder, shown[0])
            finally:
                for mount in shown:
                    mount.end()
        bench.remove(tree)
    with bench.place() as folder:
        reading(bench, folder)


def without_repository(bench: Bench, folder: str, target: str) -> list[Mount]:
    """Our server, and those that show only the target."""
    shown = [Mount(folder, OURS, [bench.tool, "snapshot", "mount", target], latest)]
    if bench.has("bindfs"):
        shown.append(Mount(folder, "bindfs -r", ["bindfs", "-f", "-r", target], lambda place: place))
    return shown


def begun(bench: Bench, folder: str, tree) -> list[Mount]:
    target, source = os.path.join(folder, "target"), tree.root
    measure.run([bench.tool, "apply", "--keep-last", "100", source, target])
    shown = without_repository(bench, folder, target)
    if tree.entries > MANY:
        return shown
    if bench.has("restic"):
        repository = ["restic", "-q", "-r", os.path.join(folder, "restic")]
        measure.run([*repository, "init"], environment=SECRET)
        measure.run([*repository, "backup", source], environment=SECRET)
        shown.append(Mount(folder, "restic mount", [*repository, "mount"], lambda at: f"{at}/snapshots/latest{source}"))
    if bench.has("borg"):
        repository = os.path.join(folder, "borg")
        measure.run(["borg", "init", "-e", "none", repository], environment=SECRET)
        measure.run(["borg", "create", f"{repository}::a", source], environment=SECRET)
        shown.append(Mount(folder, "borg mount", ["borg", "mount", "-f", f"{repository}::a"], lambda at: at + source))
    return shown


def contenders(root: str, shown: list[Mount], command: Callable[[str], list[str]]) -> list[Contender]:
    """The command on the tree, and on each mount, which begins anew each time."""
    found = [Contender(TREE, always(*command(root)))]
    for mount in shown:
        found.append(Contender(mount.name, lambda _, mount=mount: command(mount.tree), reset=mount.begin))
    return found


def compare(bench: Bench, tree, shown: list[Mount]) -> None:
    work = {
        "find": (["find"], 4.0),
        "ls -lR": (["ls", "-lR"], 3.0),
    }
    for name, (command, goal) in work.items():
        table = bench.contest(
            f"{name}, {tree.entries:,} entries, a fresh mount",
            contenders(tree.root, shown, lambda root, command=command: [*command, root]),
            tree.entries,
        )
        bench.share(table, TREE, goal, OURS)
        for mount in shown:
            if mount.process:
                table.results[mount.name].more["server's memory"] = f"{mount.peak() / 1e6:.0f} MB"
    table = bench.contest(
        f"the first ls of a date, {tree.entries:,} entries",
        contenders(tree.root, shown, lambda root: ["ls", root])[1:],
        tree.entries,
    )
    first = table.find(OURS)
    bench.goal(table.title, first and first.seconds, 0.5, "s")
    for mount in shown[1:]:
        mount.end()


def dates(bench: Bench, tree, folder: str, mount: Mount) -> None:
    """Looks at every entry of many snapshots."""
    mount.end()
    for round in range(DATES - 1):
        tree.edit(10, seed=round)
        measure.run([bench.tool, "apply", "--quiet", tree.root, os.path.join(folder, "target")])
    mount.begin()
    table = Table(f"find over {DATES} dates of {tree.entries:,} entries", DATES * tree.entries, {})
    result = table.results[OURS] = Result(OURS, [measure.run(["find", mount.place])])
    result.more["server's memory"] = f"{mount.peak() / 1e6:.0f} MB"
    bench.goal(f"{table.title}: memory", mount.peak(), GOAL_BYTES, "B")
    bench.add(table)
    mount.end()


def reading(bench: Bench, folder: str) -> None:
    source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
    size = forest.large(source, 1, bench.large_size()).bytes
    measure.run([bench.tool, "apply", source, target])
    shown = without_repository(bench, folder, target)
    try:
        table = bench.contest(
            f"reading {size >> 20} MB, a fresh mount",
            contenders(source, shown, lambda root: ["dd", f"if={root}/large-0", "of=/dev/null", "bs=1M"]),
            size,
        )
        bench.share(table, TREE, 1 / 0.9, OURS)
        for result in table.results.values():
            if result.counts:
                result.more["speed"] = f"{size / result.seconds / 1e6:,.0f} MB/s in {seconds(result.seconds)}"
    finally:
        for mount in shown:
            mount.end()
        remove(source)
