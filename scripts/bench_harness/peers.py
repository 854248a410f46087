"""How each tool makes a mirror or a snapshot."""

import os
import subprocess
from collections.abc import Callable, Collection, Sequence

from bench_harness import comparison, measure
from bench_harness.contest import Bench, Contender, Table, always, mirror_check
from bench_harness.forest import Tree
from bench_harness.report import seconds
from harness.command import compiled, run
from harness.scratch import remove

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
    """Runs a command that mirrors once more, as if the trees were older."""
    if run([*LATER, "true"]).code:
        bench.note("what is young is looked at once more; without that, it needs root and unshare")
    else:
        measure.run([*LATER, *command])


def renew(tree: Tree, mirrors: list[Contender]) -> None:
    """Everything is young, and the mirrors know of it: what comes next is a run right after an apply."""
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
        outputs = [sample.output for found in (result, settled.results[name]) for sample in found.samples]
        if name != RSYNC and not all(b"nothing to do" in output for output in outputs):
            bench.fault(f"{title}: {name}", "found something to do", result)
    return settled, after


def calls(bench: Bench, name: str, *words: str, **more) -> list[Contender]:
    """A program in C that makes the system calls of the work and nothing else; none without a compiler."""
    program = os.path.join(bench.scratch, "calls")
    if not os.path.exists(program) and not compiled(CALLS_SOURCE, program, "-pthread"):
        bench.note("the system calls alone: left out; that needs a C compiler")
        return []
    return [Contender(name, always(program, *words), **more)]


def mirrors(
    bench: Bench,
    tree: Tree,
    folder: str,
    changed: Callable[[], Collection[bytes]] = lambda: (),
    tracks_renames: bool = False,
) -> list[Contender]:
    """Each with a target of its own, which is a mirror already."""
    source = tree.root

    def target(name):
        return os.path.join(folder, name)

    def mirror(name, command, place, aspects=comparison.EVERYTHING, environment=None):
        measure.run(command, environment=environment)
        if command[0] == bench.tool:
            settle(bench, command)
        return Contender(
            name,
            always(*command),
            **mirror_check(tree, place, aspects, changed),
            environment=environment,
        )

    found = [mirror(OURS, [bench.tool, "apply", source, target("ours")], target("ours"))]
    if bench.knows("apply", "--trust-manifest"):
        place = target("trusting")
        measure.run([bench.tool, "apply", source, place])
        found.append(mirror(TRUSTING, [bench.tool, "apply", "--trust-manifest", source, place], place))
    else:
        bench.note("apply --trust-manifest is not there yet")
    found.append(mirror(RSYNC, ["rsync", "-a", "--delete", source + "/", target("rsync") + "/"], target("rsync")))
    if tree.entries > MANY:
        bench.note(f"rclone and unison take part up to {MANY:,} entries")
        return found
    if bench.has("rclone"):
        renames = ["--track-renames", "--track-renames-strategy", "modtime"] if tracks_renames else []
        found.append(
            mirror(
                "rclone sync" + (" --track-renames" if renames else ""),
                [
                    "rclone",
                    "--config",
                    "/dev/null",
                    "sync",
                    "--links",
                    "--create-empty-src-dirs",
                    "--quiet",
                    *renames,
                    source,
                    target("rclone"),
                ],
                target("rclone"),
                LOOSE,
            )
        )
    if bench.has("unison"):
        os.makedirs(target("unison"))
        found.append(
            mirror(
                "unison",
                [
                    "unison",
                    source,
                    target("unison"),
                    "-batch",
                    "-silent",
                    "-times",
                    "-force",
                    source,
                    "-confirmbigdel=false",
                ],
                target("unison"),
                LOOSE - {"nanoseconds"},
                {"UNISON": os.path.join(folder, "unison-archives")},
            )
        )
    return found


def copies(bench: Bench, tree: Tree, folder: str, kind: str) -> list[Contender]:
    """Each makes a first copy, at the same place."""
    source, target = tree.root, os.path.join(folder, "target")

    def copy(name, command, aspects=comparison.EVERYTHING):
        def content(_):
            # A seventh of the files each round, another seventh the next time.
            return comparison.difference(source, target, aspects, sample=max(1, min(7, len(tree.files) // 100)))

        return Contender(name, always(*command), content, reset=lambda round: remove(target))

    found = [
        copy(OURS, [bench.tool, "apply", source, target]),
        copy("rsync -a", ["rsync", "-a", source + "/", target + "/"]),
        copy("cp -a", ["cp", "-a", source, target]),
    ]
    if kind != "tmpfs":
        if "--fsync" in subprocess.run(["rsync", "--help"], capture_output=True, text=True).stdout:
            found.append(copy("rsync -a --fsync", ["rsync", "-a", "--fsync", source + "/", target + "/"]))
        else:
            bench.note("this rsync does not know --fsync")
        found.append(copy("cp -a; sync -f", ["sh", "-c", 'cp -a "$0" "$1" && sync -f "$1"', source, target]))
    elif bench.has("rclone"):
        found.append(
            copy(
                "rclone copy",
                [
                    "rclone",
                    "--config",
                    "/dev/null",
                    "copy",
                    "--links",
                    "--create-empty-src-dirs",
                    "--quiet",
                    source,
                    target,
                ],
                LOOSE,
            )
        )
    return found


def snapshots(bench: Bench, tree: Tree, folder: str) -> list[Contender]:
    """Each has a first snapshot and makes one more. What each fills on disk is in a directory of
    its own."""
    source = tree.root
    ours, dated = os.path.join(folder, "fsync-lite"), os.path.join(folder, "rsync")
    applying = [bench.tool, "apply", source, ours]
    measure.run(applying)
    settings = os.open(os.path.join(ours, ".fsync-lite", "settings.json"), os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(settings, b'{"keep_last": 1000}\n')
    os.close(settings)
    settle(bench, applying)
    found = [Contender(OURS, always(*applying), **mirror_check(tree, ours))]

    def day(round):
        return os.path.join(dated, f"day-{round + 2}")

    os.makedirs(dated)
    measure.run(["rsync", "-a", source + "/", day(-2) + "/"])
    found.append(
        Contender(
            "rsync --link-dest",
            lambda round: [
                "rsync",
                "-a",
                "--delete",
                "--link-dest",
                day(round - 1),
                source + "/",
                day(round) + "/",
            ],
            lambda round: comparison.difference(source, day(round), sample=max(1, len(tree.files) // 500)),
        )
    )

    if bench.has("restic"):
        repository = os.path.join(folder, "restic")
        found.append(
            repository_contender(
                tree,
                folder,
                "restic backup",
                ["restic", "init"],
                always("restic", "backup", "--quiet", source),
                ["restic", "restore", "latest", "--target", "."],
                {
                    "RESTIC_REPOSITORY": repository,
                    "RESTIC_PASSWORD": "x",
                    "RESTIC_CACHE_DIR": repository + "-cache",
                },
            )
        )
    if bench.has("borg"):
        repository = os.path.join(folder, "borg")
        found.append(
            repository_contender(
                tree,
                folder,
                "borg create",
                ["borg", "init", "-e", "none"],
                lambda round: ["borg", "create", f"::day-{round + 2}", source],
                ["borg", "extract", "::day-{last}"],
                {
                    "BORG_REPO": repository,
                    "BORG_BASE_DIR": repository + "-base",
                    "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
                },
            )
        )
    return found


def repository_contender(
    tree: Tree,
    folder: str,
    name: str,
    make: list[str],
    command: Callable[[int], list[str]],
    restore: list[str],
    environment: dict[str, str],
) -> Contender:
    """A tool with a repository of its own kind: at the end its last snapshot is restored and
    compared."""
    measure.run(make, environment=environment)
    measure.run(command(-2), environment=environment)
    last = -2

    def numbered(round):
        nonlocal last
        last = round
        return command(round)

    def at_end():
        there = os.path.join(folder, "restored")
        os.makedirs(there)
        measure.run([word.replace("{last}", str(last + 2)) for word in restore], there, environment)
        found = comparison.difference(tree.root, there + tree.root, sample=max(1, len(tree.files) // 500))
        remove(there)
        return found

    return Contender(name, numbered, at_end=at_end, environment=environment)
