"""Failures of file systems and devices: power cuts, full disks, errors from below. Needs root and loop devices."""

import contextlib
import os
import shutil
from collections.abc import Callable

from crash_harness.trial import SYNCING, Trial
from crash_harness.verdict import settle
from harness import command, disk, trace
from harness.disk import system
from harness.trace import Point, failing, killing

KINDS = ("ext4", "xfs", "btrfs")


def can_mount(trial: Trial, name: str) -> bool:
    if os.geteuid() == 0 and os.path.exists("/dev/loop-control") and shutil.which("xfs_io"):
        return True
    trial.results.skip(name, "needs root, loop devices and xfs_io")
    return False


class Disk(disk.Disk):
    """A disk that fails."""

    def remount(self, checks: bool = False) -> None:
        self.unmount()
        if checks and self.kind == "ext4":
            system("e2fsck", "-fy", self.image, check=False)
        self.mount()

    def sync_other(self) -> None:
        """The fsync of another program also writes other parts of the same log."""
        with open(os.path.join(self.mount_point, "other"), "ab") as file:
            file.write(os.urandom(4096))
            file.flush()
            os.fsync(file.fileno())

    def shut_down(self) -> bool:
        """Unflushed writes are lost."""
        return system("xfs_io", "-x", "-c", "shutdown", self.mount_point)

    def cut_power(self, halt: trace.Halt, copies: bool) -> None:
        """Unwritten data is lost with the process. Then the file system is mounted again."""
        if copies or self.kind == "btrfs":
            # The present image is the one after a power cut.
            cut = self.image + ".cut"
            system("cp", "--sparse=always", self.image, cut)
            halt.kill()
            self.unmount()
            self.mount(cut)
        else:
            self.shut_down()
            halt.kill()
            self.remount()


# --- Power cuts -------------------------------------------------------------------------------

POWER_CALLS = """
    renameat renameat2 fsync syncfs unlinkat mkdirat utimensat write pwrite64 fallocate ioctl
""".split()
# A call that is never made: the power is cut after the run has ended.
AT_END = ("syncfs", 999)
# Other programs at the same time: none, or they sync a file or everything, at an earlier point or at the cut.
DISTURBANCES = ["none", "fsync earlier", "sync earlier", "fsync at the cut"]


def power_cuts(trial: Trial) -> None:
    """The power is cut on ext4, xfs or btrfs at a system call, most often one of the commit."""
    if not can_mount(trial, "power"):
        return
    kinds, cuts = ("btrfs",) if trial.is_subvolume else KINDS, 24
    if trial.short and not trial.results.stops_at_first:
        kinds, cuts = (trial.rng.choice(kinds),), 2
    for kind in kinds:
        disk = Disk(trial.scratch, kind)
        calls = recorded(trial, disk)
        begin = next((i for i, call in enumerate(calls) if ', "journal"' in call.line), 0)
        points = [call.point for call in calls]
        staging, commit = points[:begin], points[begin:]
        for number in range(cuts):
            choices = [AT_END] if number % 9 == 8 else commit if number % 4 or not staging else staging
            place = trial.rng.choice(choices)
            disturbance = trial.rng.choice(DISTURBANCES)
            earlier = None
            if "earlier" in disturbance:
                before = [*points, AT_END].index(place)
                earlier = trial.rng.choice(points[:before] or [None])
            power_cut(trial, disk, place, earlier, disturbance, copies=trial.rng.random() < 0.3)


def recorded(trial: Trial, disk: Disk) -> list[trace.Call]:
    """The calls of the command on such a disk."""
    with disk.mounted():
        trial.reset(disk.target)
        return trial.record(trial.command, POWER_CALLS)


def cuts_at_barriers(trial: Trial, name: str, kind: str) -> None:
    """The power is cut before and after each barrier."""
    disk = Disk(trial.scratch, kind)
    calls = recorded(trial, disk)
    barriers = [i for i, call in enumerate(calls) if call.name in SYNCING]
    places = sorted({at for barrier in barriers for at in (barrier - 1, barrier) if at >= 0})
    for place in trial.rng.sample(places, min(1, len(places))) if trial.short else places:
        power_cut(trial, disk, calls[place].point, copies=trial.rng.random() < 0.3, name=name)


def power_cut(
    trial: Trial,
    disk: Disk,
    place: Point,
    earlier: Point | None = None,
    disturbance: str = "none",
    *,
    copies: bool,
    name: str = "power",
) -> None:
    where = " ".join(map(str, place))
    case = f"{name} {trial.title} {disk.kind} at {where}, {disturbance} {earlier or ''}"
    with disk.mounted():
        trial.reset(disk.target)
        disk.sync()
        with trial.stopped(*filter(None, [earlier, place]), calls=POWER_CALLS) as halt:
            stops = halt.wait()
            if earlier and stops:
                disk.sync() if disturbance.startswith("sync") else disk.sync_other()
                halt.go_on()
                stops = halt.wait()
            if disturbance == "fsync at the cut":
                disk.sync_other()
            code = halt.process.poll()
            disk.cut_power(halt, copies)
        trial.results.count(name, stops or place == AT_END)
        # Exit code 0 is a promise that survives a power cut.
        settle(trial, case, code if code == 0 else None, is_rebooted=True, how=trial.how())


# --- Full disks -------------------------------------------------------------------------------


def full_disks(trial: Trial) -> None:
    """A target that really has no more blocks, or inodes, at every point."""
    if not can_mount(trial, "full"):
        return
    sizes = [f"size={pages * 4}k" for pages in range(8, 200, 24 if trial.short else 4)]
    counts = [f"nr_inodes={number}" for number in range(36, 90, 9 if trial.short else 1)]
    for limit in sizes + counts:
        with Disk(trial.scratch, "tmpfs", "size=64m").mounted() as disk:
            trial.reset(disk.target)
            if not disk.limit(limit):
                continue
            code = trial.run(trial.apply).code
            trial.results.count("full", code != 0)
            disk.limit("size=64m,nr_inodes=100k")
            settle(trial, f"full {trial.name} {limit}", code)


# --- Errors from below ------------------------------------------------------------------------


def device_failures(trial: Trial) -> None:
    """The target's device becomes read-only, fills up, or dies. Repaired and mounted again, the tree is whole."""
    if not can_mount(trial, "device"):
        return
    folder = os.path.join(trial.scratch, "device")
    os.makedirs(folder, exist_ok=True)
    for kind in (trial.rng.choice(KINDS),) if trial.short else KINDS:
        for failure in (becomes_readonly, meets_an_error, fills_up_below, dies):
            calls = recorded(trial, Disk(trial.scratch, kind))
            for call in trial.rng.sample(calls, min(1 if trial.short else 8, len(calls))):
                failure(trial, kind, folder, call.point)
        failed_barriers(trial, kind)


def fail_at(
    trial: Trial,
    disk: Disk,
    what: str,
    place: Point,
    fault: Callable[[], bool],
    repair: Callable[[], None] = lambda: None,
) -> None:
    """Runs up to the point, breaks the device, and lets the run notice it. Then repairs, mounts again, and
    judges."""
    trial.reset(disk.target)
    disk.sync()
    with trial.stopped(place, calls=POWER_CALLS) as halt:
        strikes = halt.wait() and fault()
        code = halt.finish().code
    trial.results.count("device", strikes)
    repair()
    disk.remount(checks=True)
    settle(trial, f"device {trial.name} {disk.kind} {what} at {place}", code, is_rebooted=True)


def becomes_readonly(trial: Trial, kind: str, folder: str, place: Point) -> None:
    """The administrator, or the kernel, makes the file system read-only."""
    with Disk(folder, kind).mounted() as disk:
        fail_at(trial, disk, "read-only", place, lambda: disk.limit("ro"))


def meets_an_error(trial: Trial, kind: str, folder: str, place: Point) -> None:
    """The file system finds itself damaged and stops: ext4 turns read-only, xfs shuts down."""
    if kind == "btrfs":
        return
    with Disk(folder, kind, "errors=remount-ro" * (kind == "ext4")).mounted() as disk:
        strike = disk.shut_down if kind == "xfs" else lambda: report_damage(disk)
        fail_at(trial, disk, "error", place, strike)


def report_damage(disk: Disk) -> bool:
    """Reports damage to ext4, which believes it."""
    source = command.run(["findmnt", "-no", "SOURCE", disk.mount_point], check=True).output
    device = os.path.basename(source.decode().strip())
    with open(f"/sys/fs/ext4/{device}/trigger_fs_error", "w") as file:
        file.write("test")
    return True


def fills_up_below(trial: Trial, kind: str, folder: str, place: Point) -> None:
    """The image is sparse, and its disk is full. Writes that the file system accepted fail later."""
    with Disk(folder, "tmpfs", "size=400m").mounted() as below:
        filler = os.path.join(below.mount_point, "filler")

        def fill() -> bool:
            free = os.statvfs(below.mount_point).f_bavail * 4096
            with open(filler, "wb") as file, contextlib.suppress(OSError):
                os.posix_fallocate(file.fileno(), 0, free)
            return os.statvfs(below.mount_point).f_bavail == 0

        def empty() -> None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(filler)

        with Disk(below.mount_point, kind).mounted() as disk:
            fail_at(trial, disk, "full below", place, fill, empty)


def dies(trial: Trial, kind: str, folder: str, place: Point) -> None:
    """Every read and write fails, and unflushed data is lost: the image is on a file system that is shut down.
    Any write between two flushes may be missing."""
    outer_folder = os.path.join(folder, "outer")
    os.makedirs(outer_folder, exist_ok=True)
    with Disk(outer_folder, "xfs", megabytes=1024).mounted() as outer:
        with Disk(outer.mount_point, kind).mounted() as inner:

            def revive() -> None:
                inner.unmount()
                outer.remount()

            fail_at(trial, inner, "dead", place, outer.shut_down, revive)


def failed_barriers(trial: Trial, kind: str) -> None:
    """After a failed barrier of the commit it is unknown what is durable. Under the same mount no command
    finishes the commit, because a second sync would report success. The same is true for the barrier of a
    recovery."""
    verbs = ("recover", "recover --back", "apply")
    cases = [(first, verb) for first in ("apply", "recover") for verb in verbs]
    for first, verb in trial.rng.sample(cases, 2) if trial.short else cases:
        with Disk(trial.scratch, kind).mounted() as disk:
            failed_barrier(trial, disk, first, verb)


def failed_barrier(trial: Trial, disk: Disk, first: str, verb: str) -> None:
    trial.reset(disk.target)
    if first == "recover":
        renames = trial.commit_renames()
        trial.reset(disk.target)
        trial.run(trial.apply, killing("renameat2", renames[1]))
        code = trial.run(["recover", trial.target], failing("syncfs", "EIO", 1)).code
    else:
        code = trial.run(trial.apply, failing("syncfs", "EIO", 2)).code
    trial.results.count("device", code == 6)
    case = f"device {trial.name} {disk.kind} failed barrier of {first}, then {verb}"
    arguments = trial.apply if verb == "apply" else [*verb.split(), trial.target]
    second = trial.run(arguments)
    if second.code != 6 or not trial.is_pending():
        said = second.output.decode() + second.message
        trial.results.fail("untruthful", case, f"exit {second.code} under the same mount: {said.strip()}")
        return
    disk.remount()
    settle(trial, case, code, is_rebooted=True)
