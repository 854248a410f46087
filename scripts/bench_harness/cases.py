"""The cases. Each sets up its trees, lets the tools work in turn, and says which figures count."""

import json
import os
import subprocess

from bench_harness import comparison, forest, measure, peers
from bench_harness.cold import cold
from bench_harness.contest import VERSIONS, Bench, Contender, Result, Table, always, mirror_check
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
    """nothing has changed; at five sizes, for the plot"""
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
    bench.plot = {
        name: {files: table.find(name) for files, table in tables.items() if table.find(name)} for name in (OURS, RSYNC)
    }
    most, tenth = tables[sizes(bench)[-1]], tables[sizes(bench)[2]]
    text = f"no-op, {bench.options.files:,} files"
    bench.goal(f"{text}: time / rsync", most.ratio(OURS, RSYNC), 0.29)
    bench.goal(f"{text}, --trust-manifest: time / rsync", most.ratio(TRUSTING, RSYNC), 0.15)
    bench.goal(f"{text}, right after: time / rsync", after.ratio(OURS, RSYNC), 0.45)
    bench.goal(f"{text}, right after, --trust-manifest: time / rsync", after.ratio(TRUSTING, RSYNC), 0.30)
    ours, less = most.find(OURS), tenth.find(OURS)
    bench.goal(f"{text}: peak memory", ours and ours.peak / (1 << 20), 32, "MB")
    bench.goal(
        f"{text}: peak memory / that of a tenth of the files",
        ours and less and ours.peak / less.peak,
        1.2,
    )
    bench.goal(
        f"{text}: time per file / that of a tenth of the files",
        ours and less and ours.seconds / less.seconds / 10,
        1.2,
    )


def few_changes(bench: Bench) -> None:
    """10 files have changed among all"""
    tree, changed = bench.generated(bench.options.files), []

    def change(round: int) -> None:
        changed[:] = tree.edit(10, seed=round)

    with bench.place() as folder:
        contenders = peers.mirrors(bench, tree, folder, lambda: changed)
        # The same again right after, with nothing left to do.
        ours = contenders[0].command(0)
        contenders.insert(1, Contender(AGAIN, lambda round: ours))
        table = bench.contest(f"10 changes, {bench.options.files:,} files", contenders, tree.entries, before=change)
    peers.expect_nothing_done(bench, table, AGAIN)
    bench.goal(f"{table.title}: time / no-op right after", table.ratio(OURS, AGAIN), 1.6)
    bench.goal(f"{table.title}: time / rsync", table.ratio(OURS, RSYNC), 1 / 3)


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
        bench.goal(f"{title}: time / rsync", table.ratio(OURS, "rsync -a"), 1 / 3)
        bench.goal(f"{title}: time / cp -a", table.ratio(OURS, "cp -a"), 0.75)
        if kind != "tmpfs":
            bench.goal(f"{title}: time / rsync --fsync", table.ratio(OURS, "rsync -a --fsync"), 1 / 5)


def some_touched(bench: Bench) -> None:
    """1 % of the files of the Linux source are touched, every second one of them edited"""
    tree, changed = bench.real(), []

    def change(round: int) -> None:
        changed[:] = tree.touch(max(2, len(tree.files) // 100), seed=round)

    with bench.place() as folder:
        contenders = peers.mirrors(bench, tree, folder, lambda: changed)
        table = bench.contest(f"1 % of {len(tree.files):,} files touched", contenders, tree.entries, before=change)
    bench.goal(f"{table.title}: time / rsync", table.ratio(OURS, RSYNC), 1 / 3)


def renamed(bench: Bench) -> None:
    """the largest directory of the Linux source is renamed"""
    tree = bench.real()
    name, count = tree.largest_directory()
    names = [os.path.join(tree.root, name), os.path.join(tree.root, name + "-renamed")]

    def change(_: int) -> None:
        os.rename(*names)
        names.reverse()

    with bench.place() as folder:
        contenders = peers.mirrors(bench, tree, folder, tracks_renames=True)
        contenders += peers.calls(bench, CALLS, "walk", tree.root, os.path.join(folder, "ours"))
        table = bench.contest(f"directory of {count:,} files renamed", contenders, tree.entries, before=change)
    if not os.path.exists(os.path.join(tree.root, name)):
        change(0)
    bench.goal(f"{table.title}: time / rsync", table.ratio(OURS, RSYNC), 1 / 10)


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
            other = "cp -a" if kind == "tmpfs" else "cp -a; sync -f"
            bench.goal(f"{title}: time / {other}", table.ratio(OURS, other), 1)


def start(bench: Bench) -> None:
    """--version"""
    commands = {
        "fsync-lite --version": [bench.tool, "--version"],
        "rsync --version": ["rsync", "--version"],
    }
    for name in ("rclone", "restic", "borg", "unison"):
        if bench.has(name):
            commands[f"{name} {VERSIONS[name]}"] = [name, VERSIONS[name]]
    print(f"start: {', '.join(commands)}", flush=True)
    table = Table("start", 0, {name: Result(name) for name in commands}, next(iter(commands)))
    times = {name: [] for name in commands}
    for _ in range(10 * bench.options.rounds):
        for name, command in commands.items():
            times[name].append(measure.start(command))
    for name, command in commands.items():
        once = measure.run(command)
        table.results[name].samples = [once._replace(seconds=seconds) for seconds in times[name]]
        if bench.counter:
            table.results[name].calls = measure.count_calls(bench.counter, command)[0]
    bench.add(table)
    ours = table.find("fsync-lite --version")
    bench.goal("start, --version", ours.seconds * 1e3, 3, "ms")


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
        bench.goal(f"{table.title}: time / {name}", table.ratio(OURS, name), bound)


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
    bench.goal(f"{table.title}: manifest create / {CALLS}", table.ratio("manifest create", CALLS), 1.15)
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


def exchange(bench: Bench) -> None:
    """apply --exchange with 10 changes in the Linux source, beside copies of hard links"""
    tree = bench.real()
    with bench.place() as folder:
        ours, copy, new = (os.path.join(folder, name) for name in ("ours", "copy", "new"))
        exchanging = [bench.tool, "apply", "--exchange", tree.root, ours]
        measure.run(exchanging)
        peers.settle(bench, exchanging)
        measure.run(["cp", "-a", tree.root, copy])

        def compared(with_tree):
            return lambda round: comparison.difference(with_tree, new, sample=max(1, len(tree.files) // 500))

        bench.contest(
            f"exchange, 10 changes among {len(tree.files):,} files",
            [
                Contender(
                    "fsync-lite apply --exchange",
                    always(*exchanging),
                    **mirror_check(tree, ours),
                ),
                Contender(
                    "rsync --link-dest",
                    always("rsync", "-a", "--delete", "--link-dest", copy, tree.root + "/", new + "/"),
                    compared(tree.root),
                    reset=lambda round: remove(new),
                ),
                Contender(
                    "cp -al",
                    always("cp", "-al", copy, new),
                    compared(copy),
                    reset=lambda round: remove(new),
                ),
            ],
            tree.entries,
            before=lambda round: tree.edit(10, seed=round),
        )


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
    "exchange": exchange,
    "space": space,
    "large": large_files,
    "digest": digests,
    "start": start,
    "cold": cold,
    "memory": memory,
    "mount": mounts,
    "remote": remote,
}
