"""What file systems and devices do: power cuts, full disks, errors from below. Needs root and loop devices."""

import contextlib
import os
import shutil
import subprocess

import disk
from disk import quietly


KINDS = ("ext4", "xfs", "btrfs")


def can_mount(bench, name):
    if os.geteuid() == 0 and shutil.which("xfs_io") and shutil.which("losetup") and os.path.exists("/dev/loop-control"):
        return True
    bench.results.skip(name, "needs root, loop devices and xfs_io")
    return False


class Disk(disk.Disk):
    """One that fails."""

    def remount(self, checks=False):
        self.unmount()
        if checks and self.kind == "ext4":
            quietly("e2fsck", "-fy", self.image, check=False)
        self.mount()

    def sync_other(self):
        """Somebody else's fsync takes along what the file system has in the same log."""
        path = os.path.join(self.mount_point, "other")
        with open(path, "ab") as file:
            file.write(os.urandom(4096))
            file.flush()
            os.fsync(file.fileno())

    def cut_power(self, halt, copies):
        """What was not written is lost, the process with it; then the file system is mounted again."""
        if copies or self.kind == "btrfs":
            # The image as it is at this moment is what a power cut leaves.
            cut = self.image + ".cut"
            quietly("cp", "--sparse=always", self.image, cut)
            halt.kill()
            self.unmount()
            self.mount(cut)
        else:
            quietly("xfs_io", "-x", "-c", "shutdown", self.mount_point)
            halt.kill()
            self.remount()


# --- Power cuts ---------------------------------------------------------------------------------------------

POWER_CALLS = ["renameat", "renameat2", "fsync", "syncfs", "unlinkat", "mkdirat", "utimensat", "write", "pwrite64",
               "fallocate", "ioctl"]
# A call that is never made: the power goes when the run has ended.
AT_END = ("syncfs", 999)
# What others do to the file system: nothing, or they sync a file or everything, at an earlier point or at the cut.
DISTURBANCES = ["none", "fsync earlier", "sync earlier", "fsync at the cut"]


def power_cuts(bench, cuts=None):
    """The power goes at a system call, most often one of the commit."""
    if not can_mount(bench, "power"):
        return
    kinds = ("btrfs",) if bench.is_subvolume else KINDS
    if bench.short and cuts is None:
        kinds, cuts = [bench.rng.choice(kinds)], 2
    for kind in kinds:
        disk = Disk(bench.scratch, kind)
        with disk.mounted():
            bench.reset(disk.target)
            bench.run_traced(bench.command, POWER_CALLS)
        calls = bench.sequence(with_lines=True)
        begin = next((i for i, (_, _, line) in enumerate(calls) if ', "journal"' in line), 0)
        staging, commit = [call[:2] for call in calls[:begin]], [call[:2] for call in calls[begin:]]
        for number in range(cuts or 24):
            place = bench.rng.choice([AT_END] if number % 9 == 8 else commit if number % 4 or not staging else staging)
            disturbance = bench.rng.choice(DISTURBANCES)
            earlier = None
            if "earlier" in disturbance:
                calls = staging + commit + [AT_END]
                earlier = bench.rng.choice(calls[:calls.index(place)] or [None])
            power_cut(bench, disk, place, earlier, disturbance, copies=bench.rng.random() < 0.3)


def power_cut(bench, disk, place, earlier, disturbance, copies):
    case = f"power {bench.name} {disk.kind} at {' '.join(map(str, place))}, {disturbance} {earlier or ''}"
    with disk.mounted():
        bench.reset(disk.target)
        disk.sync()
        with bench.stopped(*filter(None, [earlier, place]), names=POWER_CALLS) as halt:
            stops = halt.wait()
            if earlier and stops:
                disk.sync() if disturbance.startswith("sync") else disk.sync_other()
                halt.go_on()
                stops = halt.wait()
            if disturbance == "fsync at the cut":
                disk.sync_other()
            code = halt.process.poll()
            disk.cut_power(halt, copies)
        bench.results.count("power", stops or place == AT_END)
        # Exit 0 is a promise that outlives the power.
        bench.settle(case, code if code == 0 else None, is_rebooted=True,
                     how=("forward", "apply", "back", "displace")[bench.results.cases["power"] % 4])


# --- Full disks ---------------------------------------------------------------------------------------------

def full_disks(bench):
    """A target that really runs out of blocks, or of inodes, at every point."""
    if not can_mount(bench, "full"):
        return
    mount_point = os.path.join(bench.scratch, "full.mnt")
    os.makedirs(mount_point, exist_ok=True)
    sizes = [f"size={pages * 4}k" for pages in range(8, 200, 24 if bench.short else 4)]
    counts = [f"nr_inodes={number}" for number in range(36, 90, 9 if bench.short else 1)]
    for limit in sizes + counts:
        quietly("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", mount_point)
        try:
            bench.reset(os.path.join(mount_point, "target"))
            if not quietly("mount", "-o", f"remount,{limit}", mount_point, check=False):
                continue
            code = bench.run(bench.command).returncode
            bench.results.count("full", code != 0)
            quietly("mount", "-o", "remount,size=64m,nr_inodes=100k", mount_point)
            bench.settle(f"full {bench.name} {limit}", code)
        finally:
            quietly("umount", mount_point)


# --- Errors from below --------------------------------------------------------------------------------------

def device_failures(bench):
    """The target's device fails for ever at a system call; once it is repaired and mounted anew, the tree is whole."""
    if not can_mount(bench, "device"):
        return
    for kind in (bench.rng.choice(KINDS),) if bench.short else KINDS:
        for failure in (becomes_readonly, meets_an_error, fills_up_below, dies):
            folder = os.path.join(bench.scratch, "device")
            os.makedirs(folder, exist_ok=True)
            for place in failure_points(bench, kind):
                failure(bench, kind, folder, place)
        failed_barriers(bench, kind)


def failure_points(bench, kind):
    disk = Disk(bench.scratch, kind)
    with disk.mounted():
        bench.reset(disk.target)
        bench.run_traced(bench.command, POWER_CALLS)
    calls = bench.sequence()
    return bench.rng.sample(calls, min(1 if bench.short else 8, len(calls)))


def fail_at(bench, disk, place, fault, repair=lambda: None):
    """Runs up to the point, strikes, and lets the run find out; then repairs, mounts anew, and judges."""
    bench.reset(disk.target)
    disk.sync()
    with bench.stopped(place, names=POWER_CALLS) as halt:
        strikes = halt.wait() and fault()
        code = halt.continue_to_end()
    bench.results.count("device", strikes)
    repair()
    disk.remount(checks=True)
    return code


def becomes_readonly(bench, kind, folder, place):
    """The administrator, or the kernel, makes the file system read-only."""
    with Disk(folder, kind).mounted() as disk:
        code = fail_at(bench, disk, place,
                       lambda: quietly("mount", "-o", "remount,ro", disk.mount_point, check=False))
        bench.settle(f"device {bench.name} {kind} read-only at {place}", code, is_rebooted=True)


def meets_an_error(bench, kind, folder, place):
    """The file system finds itself damaged and stops: ext4 turns read-only, xfs shuts down."""
    if kind == "btrfs":
        return
    with Disk(folder, kind, "loop,errors=remount-ro" if kind == "ext4" else "loop").mounted() as disk:
        def strike():
            if kind == "xfs":
                return quietly("xfs_io", "-x", "-c", "shutdown", disk.mount_point)
            device = os.path.basename(subprocess.check_output(
                ["findmnt", "-no", "SOURCE", disk.mount_point], text=True).strip())
            with open(f"/sys/fs/ext4/{device}/trigger_fs_error", "w") as file:
                file.write("test")
            return True
        code = fail_at(bench, disk, place, strike)
        bench.settle(f"device {bench.name} {kind} error at {place}", code, is_rebooted=True)


def fills_up_below(bench, kind, folder, place):
    """The image is sparse, and what holds it is full: writes that the file system believed in fail later."""
    below = os.path.join(folder, "below")
    os.makedirs(below, exist_ok=True)
    quietly("mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", below)
    try:
        with Disk(below, kind).mounted() as disk:
            filler = os.path.join(below, "filler")

            def fill():
                with open(filler, "wb") as file, contextlib.suppress(OSError):
                    os.posix_fallocate(file.fileno(), 0, os.statvfs(below).f_bavail * 4096)
                return os.statvfs(below).f_bavail == 0

            code = fail_at(bench, disk, place, fill,
                           lambda: os.path.exists(filler) and os.unlink(filler))
            bench.settle(f"device {bench.name} {kind} full below at {place}", code, is_rebooted=True)
    finally:
        quietly("umount", below)


def dies(bench, kind, folder, place):
    """Every read and write fails, and what was not flushed is lost: the image lies on a file system that is shut
    down. Of the writes between two flushes any may be missing."""
    outer_folder = os.path.join(folder, "outer")
    os.makedirs(outer_folder, exist_ok=True)
    outer = Disk(outer_folder, "xfs", megabytes=1024)
    with outer.mounted():
        inner = Disk(outer.mount_point, kind)
        with inner.mounted():
            def revive():
                inner.unmount()
                outer.remount()
            code = fail_at(bench, inner, place,
                           lambda: quietly("xfs_io", "-x", "-c", "shutdown", outer.mount_point), revive)
            bench.settle(f"device {bench.name} {kind} dead at {place}", code, is_rebooted=True)


def failed_barriers(bench, kind):
    """After a barrier of the commit has failed nobody knows what is durable: under the same mount no command ends
    the commit, for a second sync would say success. Nor after the barrier of a recovery."""
    cases = [(first, verb) for first in ("apply", "recover") for verb in ("recover", "recover --back", "apply")]
    for first, verb in bench.rng.sample(cases, 2) if bench.short else cases:
        with Disk(bench.scratch, kind).mounted() as disk:
            failed_barrier(bench, disk, first, verb)


def failed_barrier(bench, disk, first, verb):
    bench.reset(disk.target)
    if first == "recover":
        renames = bench.commit_renames()
        bench.reset(disk.target)
        bench.run(bench.command, [("renameat2", f"signal=KILL:when={renames[1]}")])
    arguments = {"apply": bench.command, "recover": ["recover", bench.target]}
    code = bench.run(arguments[first], [("syncfs", f"error=EIO:when={2 if first == 'apply' else 1}")]).returncode
    bench.results.count("device", code == 6)
    case = f"device {bench.name} {disk.kind} failed barrier of {first}, then {verb}"
    second = bench.run(arguments.get(verb, [*verb.split(), bench.target]))
    if second.returncode != 6 or not bench.is_pending():
        bench.results.fail("untruthful", case, f"exit {second.returncode} under the same mount: "
                           + (second.stdout + second.stderr).decode().strip())
        return
    disk.remount()
    bench.settle(case, code, is_rebooted=True)
