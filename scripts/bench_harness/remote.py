"""Another machine, beside rsync over the same connection: time, bytes each way, peak memory of both ends."""

import contextlib
import dataclasses
import os
import random
import shlex
import statistics
from collections.abc import Callable, Iterator
from typing import NamedTuple

from bench_harness import comparison, forest, measure, peers
from bench_harness.contest import Bench, Contender, Table, always, mirror_check
from harness import secure_shell, trees
from harness.line import NEEDS, Line, Traffic
from harness.scratch import remove

PUSH, PULL = "fsync-lite, push", "fsync-lite, pull"
RSYNC = "rsync -aHAX --delete"
TAR = "tar | ssh tar"
DELAY = 50
BLOCK = 4096
MOST_OF_NOTHING = 1000


class Way(NamedTuple):
    """A way to reach the other machine."""

    name: str
    # In ssh's place.
    words: list[str]


def remote(bench: Bench) -> None:
    """another machine, by ssh and 50 ms away: nothing changed, little, much, a large file, many small ones"""
    line = Line(bench.scratch)
    if not line.compiles():
        bench.note(f"remote: left out; it {NEEDS}")
        return
    # The calls of the other machine would be missing.
    counts, bench.counts_calls = bench.counts_calls, False
    try:
        with ways(bench, line) as found:
            Remote(bench, line, found).run()
    finally:
        bench.counts_calls = counts


@contextlib.contextmanager
def ways(bench: Bench, line: Line) -> Iterator[list[Way]]:
    delayed = Way(f"{DELAY} ms each way", line.words("-d", str(DELAY * 1000)))
    if not secure_shell.is_possible():
        bench.note(f"{secure_shell.NEEDS} are not there: without encryption")
        yield [Way("at once", line.words()), delayed]
        return
    with secure_shell.secure_shell(bench.scratch) as client:
        yield [Way("ssh", line.words(ssh=["ssh", "-F", client])), delayed]


class Remote:
    def __init__(self, bench: Bench, line: Line, ways: list[Way]) -> None:
        self.bench, self.line, self.ways = bench, line, ways
        self.rounds = 1 if bench.options.quick else bench.options.rounds
        self.far_tool = os.path.join(bench.scratch, "far-fsync-lite")
        trees.write(self.far_tool, f'#!/bin/sh\nexec {shlex.join(line.noting_peak(bench.tool))} "$@"\n'.encode())
        os.chmod(self.far_tool, 0o755)
        # For each run that counts, by table and contender: the bytes, and the other end's memory.
        self.traffic: dict[tuple[str, str], list[tuple[Traffic, int]]] = {}

    def run(self) -> None:
        bench = self.bench
        tree = bench.real()
        with bench.place() as folder:
            self.changes(tree, folder)
        with bench.place() as folder:
            self.first_copy(tree, folder)
        with bench.place() as folder:
            self.small_files(folder)
        with bench.place() as folder:
            self.image(folder)
        everything = bench.generated(bench.options.files)
        with bench.place() as folder:
            self.no_op(everything, self.mirrors(everything, folder), folder)
        bench.remove(everything)

    # --- The cases ----------------------------------------------------------------------------

    def changes(self, tree: forest.Tree, folder: str) -> None:
        names, count = tree.largest_directory()
        some = max(2, len(tree.files) // 100)
        mirrors = self.mirrors(tree, folder)
        self.no_op(tree, mirrors, folder)
        for title, change in (
            (f"1 change, {tree.entries:,} entries", lambda round: tree.edit(1, seed=round)),
            (f"1 % of {len(tree.files):,} files touched", lambda round: tree.edit(some, seed=round, every=2)),
            (f"directory of {count:,} files renamed", lambda _: tree.rename(names)),
        ):
            self.contests(title, tree, mirrors, change)

    def no_op(self, tree: forest.Tree, mirrors: Callable[[Way], list[Contender]], folder: str) -> None:
        """Settled, and right after an apply."""
        here = [contender for contender, _ in self.tools(Way("here", self.line.words()), tree, folder)]
        title = f"no-op, {tree.entries:,} entries"
        tables = self.contests(title, tree, mirrors)
        tables += self.contests(f"{title}, right after", tree, mirrors, lambda _: peers.renew(tree, here))
        for table in tables:
            peers.expect_nothing_done(self.bench, table, PUSH, PULL)
            for name in (PUSH, PULL):
                self.bench.goal(f"{table.title}: {name}: bytes", self.bytes_of(table, name), MOST_OF_NOTHING, "B")

    def first_copy(self, tree: forest.Tree, folder: str) -> None:
        def copies(way: Way) -> list[Contender]:
            return [copying(tree, tool) for tool in self.tools(way, tree, folder)]

        self.contests(f"first copy, {tree.entries:,} entries", tree, copies)

    def small_files(self, folder: str) -> None:
        count = 5_000 if self.bench.options.quick else 100_000
        root, noise = os.path.join(folder, "source"), random.Random(3)
        for number in range(0, count, 100):
            files = {f"f{index:02}": noise.randbytes(noise.randrange(200, 2000)) for index in range(100)}
            trees.make(os.path.join(root, f"d{number // 100:04}"), files)
        tree = forest.Tree(root)

        def copies(way: Way) -> list[Contender]:
            return [copying(tree, tool) for tool in [*self.tools(way, tree, folder), self.tar(way, tree, folder)]]

        for table in self.contests(f"{count:,} small files are new", tree, copies):
            for name in (PUSH, PULL):
                self.bench.share(table, TAR, 1 / 0.9, name)

    def image(self, folder: str) -> None:
        # There is the image, three mirrors of it, and a new one.
        size = self.bench.large_size(4 << 30, 512 << 20, 6)
        count = size // BLOCK // 100
        tree = forest.large(os.path.join(folder, "source"), 1, size)
        tree.changed = tree.files

        def change(round: int) -> None:
            noise = random.Random(str(round))
            with open(tree.files[0], "r+b") as file:
                for number in noise.sample(range(size // BLOCK), count):
                    file.seek(number * BLOCK)
                    file.write(noise.randbytes(BLOCK))

        # Each old image would stay in the history.
        mirrors = self.mirrors(tree, folder, "--keep-last", "0", ages=False)
        title = f"1 % of the blocks of a file of {size >> 20:,} MiB changed"
        for table in self.contests(title, tree, mirrors, change):
            for name in (PUSH, PULL):
                sent = self.bytes_of(table, name)
                ratio = sent and sent / count / BLOCK
                self.bench.goal(f"{table.title}: {name}: bytes / what changed", ratio, 1.05)

    # --- Who takes part -----------------------------------------------------------------------

    def tools(self, way: Way, tree: forest.Tree, folder: str, *options: str) -> list[tuple[Contender, str]]:
        """Each tool with its own target."""
        pushed, pulled, synced = (os.path.join(folder, name) for name in ("pushed", "pulled", "rsync"))
        conveyed = [*options, "--ssh", " ".join(way.words), "--remote-command", self.far_tool]
        peak = " ".join(self.line.noting_peak("rsync"))
        rsync = [*RSYNC.split(), "-e", " ".join(way.words), "--rsync-path", peak, tree.root + "/", f"far:{synced}/"]
        return [
            (Contender(PUSH, always(self.bench.tool, "apply", tree.root, f"far:{pushed}", *conveyed)), pushed),
            (Contender(PULL, always(self.bench.tool, "apply", f"far:{tree.root}", pulled, *conveyed)), pulled),
            (Contender(RSYNC, always(*rsync)), synced),
        ]

    def tar(self, way: Way, tree: forest.Tree, folder: str) -> tuple[Contender, str]:
        target = os.path.join(folder, "tar")
        far = shlex.join(self.line.noting_peak("tar", "-C", target, "-xf", "-"))
        pipe = f'mkdir "$1" && tar -C "$0" --format=posix -cf - . | {shlex.join([*way.words, "far", far])}'
        return Contender(TAR, always("sh", "-c", pipe, tree.root, target)), target

    def mirrors(
        self, tree: forest.Tree, folder: str, *options: str, ages: bool = True
    ) -> Callable[[Way], list[Contender]]:
        """Existing mirrors, in which no entry is young."""
        for contender, _ in self.tools(Way("here", self.line.words()), tree, folder, *options):
            measure.run(contender.command(0))
            if ages:
                peers.settle(self.bench, contender.command(0))
        return lambda way: [
            dataclasses.replace(contender, **mirror_check(tree, target))
            for contender, target in self.tools(way, tree, folder, *options)
        ]

    # --- Running ------------------------------------------------------------------------------

    def contests(
        self,
        title: str,
        tree: forest.Tree,
        contenders: Callable[[Way], list[Contender]],
        before: Callable[[int], None] = lambda round: None,
    ) -> list[Table]:
        """One contest for each way."""
        tables = []
        for number, way in enumerate(self.ways):
            named = f"remote, {way.name}: {title}"
            table = self.bench.contest(
                named,
                [self.counted(named, contender) for contender in contenders(way)],
                tree.entries,
                # Nothing changes in the same way twice.
                before=lambda round, number=number: before(round + 100 * number),
                rounds=self.rounds,
            )
            for name, result in table.results.items():
                result.more |= self.figures(named, name)
            tables.append(table)
        return tables

    def counted(self, title: str, contender: Contender) -> Contender:
        def reset(round: int) -> None:
            contender.reset(round)
            self.line.clear()

        def check(round: int) -> str | None:
            figures = self.line.traffic(), self.line.far_peak()
            if round >= 0:
                self.traffic.setdefault((title, contender.name), []).append(figures)
            return contender.check(round)

        return dataclasses.replace(contender, reset=reset, check=check)

    def figures(self, title: str, name: str) -> dict[str, str]:
        runs = self.traffic.get((title, name), [])
        if not runs:
            return {}
        there, back, turns = (
            statistics.median(getattr(traffic, part) for traffic, _ in runs) for part in ("there", "back", "turns")
        )
        peak = statistics.median(peak for _, peak in runs)
        return {
            "kB there": f"{there / 1e3:,.1f}",
            "kB back": f"{back / 1e3:,.1f}",
            "turns": f"{turns:,.0f}",
            "peak there": f"{peak / (1 << 20):.1f} MB",
        }

    def bytes_of(self, table: Table, name: str) -> float | None:
        """Both ways; None if the run does not count."""
        if not table.find(name):
            return None
        return statistics.median(traffic.there + traffic.back for traffic, _ in self.traffic[table.title, name])


def copying(tree: forest.Tree, tool: tuple[Contender, str]) -> Contender:
    """A first copy, each time."""
    contender, target = tool

    def content(_: int) -> str | None:
        return comparison.difference(tree.root, target, sample=max(1, len(tree.files) // 500))

    return dataclasses.replace(contender, check=content, reset=lambda round: remove(target))
