"""Runs with nothing in the cache, on slow disks."""

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench_harness import comparison, measure, slow_disk
from bench_harness.contest import Bench, Contender, Table, always
from bench_harness.forest import Tree
from bench_harness.peers import COPIES, MIRRORS, OURS, RSYNC, TRUSTING, Peer, expect_nothing_done, renew
from bench_harness.slow_disk import SlowDisk
from harness.scratch import remove


def cold(bench: Bench) -> None:
    """nothing is cached: a no-op and a first copy of the Linux source, on two kinds of slow disk"""
    server = slow_disk.server(bench.scratch)
    if not server:
        bench.note(f"cold: not tried; {slow_disk.NEEDS}")
        return
    tree = bench.real()
    megabytes = (2 * tree.bytes + (20 << 10) * tree.entries >> 20) + 512
    with bench.place() as folder:
        source, target = (SlowDisk(folder, name, megabytes, server) for name in ("source", "target"))
        with source.mounted(), target.mounted():
            root = os.path.join(source.mount_point, "tree")
            measure.run(["cp", "-a", tree.root, root])
            ours, theirs = (os.path.join(target.mount_point, name) for name in ("ours", "rsync"))
            measure.run(["rsync", "-a", root + "/", theirs + "/"])
            measure.run([bench.tool, "apply", root, ours])
            # What changed shortly before a run is compared once more where its disk is attached anew, as below.
            time.sleep(racy_window() + 1)
            for disk in (source, target):
                disk.unmount()
                disk.mount()
            measure.run([bench.tool, "apply", root, ours])
            for disk in (source, target):
                disk.unmount()
            copy = os.path.join(folder, "copy")

            def contender(peer: Peer, target: str, **more) -> Contender:
                return Contender(peer.name, always(*peer.words(bench, root, target)), **more)

            def compared(_: int) -> str | None:
                return comparison.difference(root, copy, sample=max(1, len(tree.files) // 100))

            def contest(title: str, contenders: list[Contender], disks: Sequence[SlowDisk], kind: str) -> Table:
                """The disks are mounted again for each run."""
                return bench.contest(title, contenders, tree.entries, around=lambda: slow(disks, kind))

            places = {"ours": ours, "trusting": ours, "rsync": theirs}
            mirrors = [contender(MIRRORS[name], place) for name, place in places.items()]
            copies = [contender(peer, copy, reset=lambda _: remove(copy), check=compared) for peer in COPIES]
            young = [
                replace(mirror, reset=lambda _: renew(Tree(root), mirrors[:1])) if mirror.name != RSYNC else mirror
                for mirror in mirrors
            ]
            for kind, waits in slow_disk.KINDS.items():
                entries = f"{tree.entries:,} entries, {kind} disk ({waits})"
                table = contest(f"cold no-op, {entries}", mirrors, (source, target), kind)
                expect_nothing_done(bench, table, OURS, TRUSTING)
                bench.share(table, RSYNC, 0.33 if kind == "flash" else 0.5)
                if kind == "flash":
                    table = contest(f"cold no-op, {entries}, right after", young, (source, target), kind)
                    expect_nothing_done(bench, table, OURS, TRUSTING)
                    bench.share(table, RSYNC, 0.33)
                table = contest(f"cold first copy, {entries}, to memory", copies, (source,), kind)
                bench.share(table, "rsync -a", 0.25 if kind == "flash" else 0.5)
            remove(copy)
            # What `mounted` expects to find at its end.
            for disk in (source, target):
                disk.mount()


def racy_window() -> float:
    """Seconds in which the times may not show a store to a mapped file: twice the writeback delay."""
    delay = 0
    for name in ("dirty_expire_centisecs", "dirty_writeback_centisecs"):
        with open(f"/proc/sys/vm/{name}") as file:
            delay += int(file.read())
    return max(60, 2 * delay / 100)


@contextlib.contextmanager
def slow(disks: Sequence[SlowDisk], kind: str) -> Iterator[None]:
    with contextlib.ExitStack() as mounted:
        for disk in disks:
            mounted.enter_context(disk.slow(kind))
        yield
