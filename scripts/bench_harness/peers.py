"""How each tool makes a mirror or a snapshot."""

import os
import shlex
from collections.abc import Collection, Sequence
from typing import NamedTuple

from bench_harness import comparison, measure
from bench_harness.contest import Bench, Contender, Table, always, mirror_check
from bench_harness.forest import Tree
from bench_harness.report import seconds
from harness.command import compiled, run
from harness.scratch import remove
from harness.trees import write

OURS = "fsync-lite apply"
TRUSTING = "fsync-lite apply --trust-manifest"
RSYNC = "rsync -a --delete"
CALLS_SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls.c")
# What no program that does the same work goes below.
CALLS = "the same calls alone"

# What is not asked of a tool that does not promise it.
LOOSE = comparison.EVERYTHING - {"directory times", "symlink times", "modes", "owners"}
# rclone and unison take minutes for a first copy of more.
MANY = 150_000


# What is a minute old is not compared again: a clock that is ahead makes it so.
LATER = ["unshare", "--time", "--boottime", "600"]


def settle(bench: Bench, command: Sequence[str]) -> None:
    """Runs a mirroring command once more, as if the trees were older."""
    if run([*LATER, "true"]).code:
        bench.note("what is young is looked at once more; without that, it needs root and unshare")
    else:
        measure.run([*LATER, *command])


def renew(tree: Tree, mirrors: list[Contender]) -> None:
    """Makes everything new, also for the mirrors. The next run is like one right after an apply."""
    tree.renew()
    for contender in mirrors:
        measure.run(contender.command(0))


def no_op(bench: Bench, title: str, contenders: list[Contender], tree: Tree) -> tuple[Table, Table]:
    """With nothing to do, twice: settled, and right after an apply of a tree in which everything is young. The second
    is a column of the first, too."""
    settled = bench.contest(title, contenders, tree.entries)
    some = [contender for contender in contenders if contender.command(0)[0] in (bench.tool, "rsync")]

    after = bench.contest(f"{title}, right after", some, tree.entries, before=lambda _: renew(tree, some))
    for name, result in after.results.items():
        if result.counts:
            settled.results[name].more["right after"] = seconds(result.seconds)
    for table in (settled, after):
        expect_nothing_done(bench, table, OURS, TRUSTING)
    return settled, after


def expect_nothing_done(bench: Bench, table: Table, *names: str) -> None:
    for name in names:
        result = table.find(name)
        if result and not all(b"nothing to do" in sample.output for sample in result.samples):
            bench.fault(f"{table.title}: {name}", "found something to do", result)


def calls(bench: Bench, name: str, *words: str, **more) -> list[Contender]:
    """A C program that makes only the system calls of the work; none without a compiler."""
    program = os.path.join(bench.scratch, "calls")
    if not os.path.exists(program) and not compiled(CALLS_SOURCE, program, "-pthread"):
        bench.note("the system calls alone: left out; that needs a C compiler")
        return []
    return [Contender(name, always(program, *words), **more)]


class Peer(NamedTuple):
    """A shell command that mirrors SOURCE to TARGET. `fsync-lite` is the measured binary."""

    name: str
    told: str
    aspects: Collection[str] = comparison.EVERYTHING
    # In the folder of the targets.
    archives: str = ""

    def words(self, bench: Bench, source: str, target: str) -> list[str]:
        words = [word.replace("SOURCE", source).replace("TARGET", target) for word in shlex.split(self.told)]
        return [bench.tool, *words[1:]] if words[0] == "fsync-lite" else words

    def is_there(self, bench: Bench) -> bool:
        program = self.told.split()[0]
        return program == "fsync-lite" or bench.has(program)


RCLONE = "rclone --config /dev/null {} --links --create-empty-src-dirs --quiet{} SOURCE TARGET"
RENAMES = " --track-renames"
UNISON = "unison SOURCE TARGET -batch -silent -times -force SOURCE -confirmbigdel=false"

# Each with a target of its own, by the name of its directory.
MIRRORS = {
    "ours": Peer(OURS, "fsync-lite apply SOURCE TARGET"),
    "trusting": Peer(TRUSTING, "fsync-lite apply --trust-manifest SOURCE TARGET"),
    "rsync": Peer(RSYNC, "rsync -a --delete SOURCE/ TARGET/"),
    "rclone": Peer("rclone sync", RCLONE.format("sync", ""), LOOSE),
    "unison": Peer("unison", UNISON, LOOSE - {"nanoseconds"}, "unison-archives"),
}
COPIES = [
    Peer(OURS, "fsync-lite apply SOURCE TARGET"),
    Peer("rsync -a", "rsync -a SOURCE/ TARGET/"),
    Peer("cp -a", "cp -a SOURCE TARGET"),
]
# Which file systems tell what is durable from what is not.
DURABLE = [
    Peer("rsync -a --fsync", "rsync -a --fsync SOURCE/ TARGET/"),
    Peer("cp -a; sync -f", 'sh -c \'cp -a "$0" "$1" && sync -f "$1"\' SOURCE TARGET'),
]
VOLATILE = [Peer("rclone copy", RCLONE.format("copy", ""), LOOSE)]
UNCLONED = Peer(
    "cp -a --reflink=never; sync -f", 'sh -c \'cp -a --reflink=never "$0" "$1" && sync -f "$1"\' SOURCE TARGET'
)


def mirrors(bench: Bench, tree: Tree, folder: str, tracks_renames: bool = False) -> list[Contender]:
    """Each has made its mirror already."""
    peers, found = dict(MIRRORS), []
    if tree.entries > MANY:
        bench.note(f"rclone and unison take part up to {MANY:,} entries")
        del peers["rclone"], peers["unison"]
    elif tracks_renames:
        told = RCLONE.format("sync", f"{RENAMES} --track-renames-strategy modtime")
        peers["rclone"] = Peer("rclone sync" + RENAMES, told, LOOSE)
    for name, peer in peers.items():
        if not peer.is_there(bench):
            continue
        target = os.path.join(folder, name)
        environment = {"UNISON": os.path.join(folder, peer.archives)} if peer.archives else None
        if peer.archives:
            os.makedirs(target)
        command = peer.words(bench, tree.root, target)
        measure.run(command, environment=environment)
        if command[0] == bench.tool:
            settle(bench, command)
        checks = mirror_check(tree, target, peer.aspects)
        found.append(Contender(peer.name, always(*command), **checks, environment=environment))
    return found


def copies(bench: Bench, tree: Tree, folder: str, kind: str, more: Sequence[Peer] = ()) -> list[Contender]:
    """Each makes a first copy, at the same place."""
    source, target = tree.root, os.path.join(folder, "target")

    def copy(peer: Peer) -> Contender:
        def content(round: int) -> str | None:
            # A seventh of the files each round, another seventh the next time.
            sample = max(1, min(7, len(tree.files) // 100))
            return comparison.difference(source, target, peer.aspects, sample, round)

        command = always(*peer.words(bench, source, target))
        return Contender(peer.name, command, content, reset=lambda round: remove(target))

    peers = [*COPIES, *(VOLATILE if kind == "tmpfs" else DURABLE), *more]
    return [copy(peer) for peer in peers if peer.is_there(bench)]


def snapshots(bench: Bench, tree: Tree, folder: str) -> list[Contender]:
    """Each tool has a first snapshot and makes one more. Each has its own directory for the space on disk."""
    source = tree.root
    ours, dated = os.path.join(folder, "fsync-lite"), os.path.join(folder, "rsync")
    applying = [bench.tool, "apply", source, ours]
    measure.run(applying)
    write(os.path.join(ours, ".fsync-lite", "settings.json"), b'{"keep_last": 1000}\n')
    settle(bench, applying)
    found = [Contender(OURS, always(*applying), **mirror_check(tree, ours))]

    def day(round):
        return os.path.join(dated, f"day-{round + 2}")

    os.makedirs(dated)
    measure.run(["rsync", "-a", source + "/", day(-2) + "/"])
    found.append(
        Contender(
            "rsync --link-dest",
            lambda round: [*RSYNC.split(), "--link-dest", day(round - 1), source + "/", day(round) + "/"],
            lambda round: comparison.difference(source, day(round), sample=max(1, len(tree.files) // 500)),
        )
    )

    return found + [repository(tree, folder, *row) for row in REPOSITORIES if bench.has(row[0].split()[0])]


# The name; what makes the repository, a snapshot of SOURCE in it, and restores the one of DAY; and the environment.
REPOSITORIES = [
    (
        "restic backup",
        "restic init",
        "restic backup --quiet SOURCE",
        "restic restore latest --target .",
        {"RESTIC_REPOSITORY": "PLACE", "RESTIC_PASSWORD": "x", "RESTIC_CACHE_DIR": "PLACE-cache"},
    ),
    (
        "borg create",
        "borg init -e none",
        "borg create ::day-DAY SOURCE",
        "borg extract ::day-DAY",
        {"BORG_REPO": "PLACE", "BORG_BASE_DIR": "PLACE-base", "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes"},
    ),
]


def repository(tree: Tree, folder: str, name: str, make: str, save: str, restore: str, variables: dict) -> Contender:
    """A tool with a repository of its own kind: at the end its last snapshot is restored and
    compared."""
    place, last = os.path.join(folder, name.split()[0]), -2
    environment = {key: value.replace("PLACE", place) for key, value in variables.items()}

    def words(told: str) -> list[str]:
        return [word.replace("SOURCE", tree.root).replace("DAY", str(last + 2)) for word in told.split()]

    def numbered(round: int) -> list[str]:
        nonlocal last
        last = round
        return words(save)

    def at_end() -> str | None:
        there = os.path.join(folder, "restored")
        os.makedirs(there)
        measure.run(words(restore), there, environment)
        found = comparison.difference(tree.root, there + tree.root, sample=max(1, len(tree.files) // 500))
        remove(there)
        return found

    measure.run(words(make), environment=environment)
    measure.run(words(save), environment=environment)
    return Contender(name, numbered, at_end=at_end, environment=environment)
