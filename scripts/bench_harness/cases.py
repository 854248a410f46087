"""The cases. Each sets up its trees, lets the tools work in turn, and says which figures count."""

import json
import os
import subprocess

from bench_harness import comparison, forest, measure, peers
from bench_harness.cold import cold
from bench_harness.contest import VERSIONS, Bench, Contender, always
from bench_harness.memory import memory
from bench_harness.mounts import mounts
from bench_harness.peers import CALLS, OURS, RSYNC, TRUSTING
from bench_harness.remote import remote
from harness.scratch import remove

AGAIN = f"{OURS}, again"


def sizes(bench: Bench) -> list[int]:
    """From a hundredth to all of the files, in steps that are even on a logarithmic scale."""
    most = bench.options.files
    return [most // 100, most * 3 // 100, most // 10, most * 3 // 10, most]


def nothing_to_do(bench: Bench) -> None:
    """nothing has changed; at five sizes"""
    tables = {}
    for files in sizes(bench):
        tree = bench.generated(files)
        with bench.place() as folder:
            contenders = peers.mirrors(bench, tree, folder)
            contenders += peers.calls(bench, CALLS, "walk", tree.root, os.path.join(folder, "ours"))
            contenders += peers.calls(bench, f"{CALLS}, of one tree", "walk", tree.root)
            tables[files], after = peers.no_op(bench, f"no-op, {files:,} files", contenders, tree)
        if files < bench.options.files:
            bench.remove(tree)
    most, tenth = tables[sizes(bench)[-1]], tables[sizes(bench)[2]]
    for table, bound, trusting in ((most, 0.29, 0.15), (after, 0.45, 0.30)):
        bench.share(table, RSYNC, bound)
        bench.share(table, RSYNC, trusting, TRUSTING)
    ours, less = most.find(OURS), tenth.find(OURS)
    bench.goal(f"{most.title}: peak memory", ours and ours.peak / (1 << 20), 32, "MB")
    text = "that of a tenth of the files"
    bench.goal(f"{most.title}: peak memory / {text}", ours and less and ours.peak / less.peak, 1.2)
    bench.goal(f"{most.title}: time per file / {text}", ours and less and ours.seconds / less.seconds / 10, 1.2)


def few_changes(bench: Bench) -> None:
    """10 files have changed among all"""
    tree = bench.generated(bench.options.files)
    with bench.place() as folder:
        contenders = peers.mirrors(bench, tree, folder)
        # The same again right after, with nothing left to do.
        contenders.insert(1, Contender(AGAIN, contenders[0].command))
        title = f"10 changes, {bench.options.files:,} files"
        table = bench.contest(title, contenders, tree.entries, before=lambda round: tree.edit(10, seed=round))
    peers.expect_nothing_done(bench, table, AGAIN)
    bench.share(table, AGAIN, 1.6)
    bench.share(table, RSYNC, 1 / 3)


def first_copy(bench: Bench) -> None:
    """first copy of the Linux source, from memory, durable where it can be"""
    tree = bench.real()
    for kind in dict.fromkeys([bench.kind, *bench.kinds()]):
        with bench.place(kind, 3 * tree.bytes + (20 << 10) * tree.entries) as folder:
            title, target = f"first copy, {len(tree.files):,} files, {kind}", os.path.join(folder, "target")
            contenders = peers.copies(bench, tree, folder, kind)
            contenders += peers.calls(
                bench, CALLS, "copy", tree.root, target, reset=lambda round, target=target: remove(target)
            )
            table = bench.contest(title, contenders, tree.entries, place=folder)
        bench.share(table, "rsync -a", 1 / 3)
        bench.share(table, "cp -a", 0.75)
        if kind != "tmpfs":
            bench.share(table, "rsync -a --fsync", 1 / 5)


def some_touched(bench: Bench) -> None:
    """1 % of the files of the Linux source are touched, every second one of them edited"""
    tree = bench.real()
    with bench.place() as folder:
        table = bench.contest(
            f"1 % of {len(tree.files):,} files touched",
            peers.mirrors(bench, tree, folder),
            tree.entries,
            before=lambda round: tree.edit(max(2, len(tree.files) // 100), seed=round, every=2),
        )
    bench.share(table, RSYNC, 1 / 3)


def renamed(bench: Bench) -> None:
    """the largest directory of the Linux source is renamed"""
    tree = bench.real()
    names, count = tree.largest_directory()
    with bench.place() as folder:
        contenders = peers.mirrors(bench, tree, folder, tracks_renames=True)
        contenders += peers.calls(bench, CALLS, "walk", tree.root, os.path.join(folder, "ours"))
        title = f"directory of {count:,} files renamed"
        table = bench.contest(title, contenders, tree.entries, before=lambda _: tree.rename(names))
    bench.share(table, RSYNC, 1 / 10)


def large_files(bench: Bench) -> None:
    """4 files of 1 GB, source and target on one file system; cloned where it can"""
    for kind in dict.fromkeys([bench.kind, *bench.kinds()]):
        size = bench.large_size()
        with bench.place(kind, 4 * size * 5 // 2) as folder:
            tree = forest.large(os.path.join(folder, "large"), 4, size)
            clones = kind in ("xfs", "btrfs")
            every = peers.copies(bench, tree, folder, kind, [peers.UNCLONED] * clones)
            contenders = [contender for contender in every if "rclone" not in contender.name]
            title = f"4 files of {tree.bytes >> 22:,} MB, {kind}"
            table = bench.contest(title, contenders, tree.entries, place=folder)
        for result in table.results.values():
            if result.counts:
                result.more["GB/s"] = f"{tree.bytes / result.seconds / 1e9:.2f}"
        if clones:
            ours = table.find(OURS)
            bench.goal(f"{title}, cloned", ours and ours.seconds, 0.5, "s")
        else:
            bench.share(table, "cp -a" if kind == "tmpfs" else "cp -a; sync -f", 1)


def start(bench: Bench) -> None:
    """--version"""
    contenders = [Contender("fsync-lite --version", always(bench.tool, "--version"))]
    for name in ("rsync", "rclone", "restic", "borg", "unison"):
        if bench.has(name):
            contenders.append(Contender(f"{name} {VERSIONS[name]}", always(name, VERSIONS[name])))
    table = bench.contest("start", contenders, 0, rounds=10 * bench.options.rounds)
    ours = table.find(table.first)
    bench.goal("start, --version", ours and ours.seconds * 1e3, 3, "ms")


def snapshot(bench: Bench) -> None:
    """a snapshot of the Linux source with 10 changes"""
    tree = bench.real()
    with bench.place() as folder:
        contenders = peers.snapshots(bench, tree, folder)
        table = bench.contest(
            f"snapshot, 10 changes among {len(tree.files):,} files",
            contenders,
            tree.entries,
            before=lambda round: tree.edit(10, seed=round),
        )
    for name, bound in [("rsync --link-dest", 1 / 20), ("restic backup", 1), ("borg create", 1)]:
        bench.share(table, name, bound)


def space(bench: Bench) -> None:
    """bytes on disk after 30 snapshots of the Linux source, each with 1 % changed"""
    tree, days = bench.real(), 6 if bench.options.quick else 30
    with bench.place() as folder:
        contenders = peers.snapshots(bench, tree, folder)
        table = bench.contest(
            f"{days} snapshots, 1 % of {len(tree.files):,} files changed in each",
            contenders,
            tree.entries,
            before=lambda round: tree.edit(max(1, len(tree.files) // 100), seed=round),
            rounds=days - 1,
        )
        used = {name: blocks(os.path.join(folder, name.split()[0])) for name in table.results}
        # The oldest that counted, as both have it.
        there, oldest = os.path.join(folder, "restored"), f"latest~{days - 2}"
        measure.run([bench.tool, "snapshot", "restore", os.path.join(folder, "fsync-lite"), oldest, "--to", there])
        if difference := comparison.difference(os.path.join(folder, "rsync", "day-2"), there):
            bench.fault(f"{table.title}: {oldest}", difference, table.results[OURS])
    source = blocks(tree.root)[0]
    for name, (bytes, inodes) in used.items():
        table.results[name].more.update(
            {
                "MB on disk": f"{bytes / 1e6:,.1f}",
                "/ one copy": f"{bytes / source:.2f}",
                "inodes": f"{inodes:,}",
            }
        )


def blocks(root: str) -> tuple[int, int]:
    """Bytes allocated, and inodes, each counted once."""

    def du(*options: str) -> int:
        return int(subprocess.check_output(["du", "-s", *options, root]).split()[0])

    return du("--block-size=1"), du("--inodes")


def manifest(bench: Bench) -> None:
    """a manifest of all files is read, and written; writing has the walk in it"""
    tree = bench.generated(bench.options.files)
    with bench.place() as folder:
        path, written = os.path.join(folder, "read.json"), os.path.join(folder, "written.json")
        measure.run([bench.tool, "manifest", "create", tree.root, "-o", path])

        def totals(round: int) -> str | None:
            shown = json.loads(measure.run([bench.tool, "manifest", "show", "--json", path]).output)["summary"]
            return None if shown["files"] == len(tree.files) else f"shows {shown['files']} files, not {len(tree.files)}"

        def complete(round: int) -> str | None:
            with open(written) as file:
                entries = json.load(file)["entries"]
            return None if len(entries) == tree.entries else f"{len(entries)} entries, not {tree.entries}"

        table = bench.contest(
            f"manifest, {tree.entries:,} entries",
            [
                Contender("manifest show", always(bench.tool, "manifest", "show", path), totals),
                Contender(
                    "manifest create",
                    always(bench.tool, "manifest", "create", tree.root, "-o", written),
                    complete,
                    reset=lambda round: remove(written),
                ),
                *peers.calls(bench, CALLS, "walk", "-x", tree.root),
                Contender("cat (the bytes alone)", always("sh", "-c", 'cat "$0" >/dev/null', path)),
                Contender(
                    "python3 json.load",
                    always("python3", "-c", "import json, sys; json.load(open(sys.argv[1]))", path),
                ),
            ],
            tree.entries,
        )
        size = os.path.getsize(path)
    for name in ("manifest show", "manifest create"):
        if result := table.find(name):
            result.more["MB/s"] = f"{size / result.seconds / 1e6:,.0f}"
    shown = table.find("manifest show")
    bench.goal(f"{table.title}: read", shown and shown.seconds, 0.5, "s")
    bench.share(table, CALLS, 1.15, "manifest create")
    bench.remove(tree)


def digests(bench: Bench) -> None:
    """content digests of 4 large files"""
    with bench.place() as folder:
        tree = forest.large(os.path.join(folder, "large"), 4, bench.large_size())
        path = os.path.join(folder, "manifest.json")
        files = [os.fsdecode(name) for name in tree.files]
        commands = {
            "sha256sum": ["sha256sum"],
            "b3sum": ["b3sum", f"--num-threads={len(os.sched_getaffinity(0))}"],
            "xxhsum": ["xxhsum", "-H64"],
        }

        def recorded(_):
            lines = subprocess.check_output(["sha256sum", *files], text=True).splitlines()
            with open(path) as file:
                text = file.read()
            return next((f"no {line}" for line in lines if line.split()[0] not in text), None)

        creating = always(bench.tool, "manifest", "create", "--digest", tree.root, "-o", path)
        contenders = [
            Contender("manifest create --digest", creating, recorded, reset=lambda round: remove(path)),
            *(
                Contender(" ".join(command), always(*command, *files))
                for name, command in commands.items()
                if bench.has(name)
            ),
        ]
        table = bench.contest(f"digests of 4 files of {tree.bytes >> 22:,} MB", contenders, tree.entries)
    for result in table.results.values():
        if result.counts:
            result.more["GB/s"] = f"{tree.bytes / result.seconds / 1e9:.2f}"


def records(bench: Bench) -> None:
    """what the record of runs costs a run with nothing to do, and the list of 500 snapshots"""
    tree = bench.generated(1000)
    # The record is durable, which costs nothing in memory.
    kind = next(iter(bench.kinds()), bench.kind)
    with bench.place(kind, 1 << 28) as folder:
        target, state = os.path.join(folder, "target"), os.path.join(folder, "state")
        command = [bench.tool, "apply", "--keep-last", "600", tree.root, target]
        measure.run(command)
        peers.settle(bench, command)
        table = bench.contest(
            f"a run with nothing to do, 1,000 files, {kind}",
            [
                Contender("fsync-lite apply, recorded", always("env", f"FSYNC_LITE_STATE={state}", *command)),
                Contender("fsync-lite apply, not recorded", always("env", "FSYNC_LITE_STATE=", *command)),
            ],
            tree.entries,
        )
        recorded, plain = map(table.find, table.results)
        difference = recorded and plain and (recorded.seconds - plain.seconds) * 1000
        bench.goal(f"{table.title}: what the record costs", difference, 10, "ms")
        for round in range(500):
            tree.edit(1, seed=round)
            measure.run(command)
        shown = [bench.tool, "snapshot", "list", target]
        table = bench.contest("a list of 500 snapshots", [Contender("fsync-lite snapshot list", always(*shown))], 500)
        listed = table.find("fsync-lite snapshot list")
        bench.goal(table.title, listed and listed.seconds * 1000, 100, "ms")
    bench.remove(tree)


# Those of the generated tree first: it goes before the others need the room.
CASES = {
    "no-op": nothing_to_do,
    "changes": few_changes,
    "manifest": manifest,
    "records": records,
    "first-copy": first_copy,
    "touched": some_touched,
    "rename": renamed,
    "snapshot": snapshot,
    "space": space,
    "large": large_files,
    "digest": digests,
    "start": start,
    "cold": cold,
    "memory": memory,
    "mount": mounts,
    "remote": remote,
}
