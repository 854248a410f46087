"""File systems in images and in memory, for scripts that run as root."""

import contextlib
import glob
import os
import re
import shutil
import time
from collections.abc import Iterator

from harness import command

# The commands that make a new one of each kind.
MAKE = {"ext4": ["-q", "-F", "-I", "256"], "xfs": ["-q", "-f"], "btrfs": ["-q", "-f"]}
# The smallest that the tools make.
MEGABYTES = {"ext4": 128, "xfs": 320, "btrfs": 128}


def can_mount(kind: str) -> bool:
    if os.geteuid() != 0:
        return False
    has_loop = os.path.exists("/dev/loop-control") and shutil.which(f"mkfs.{kind}")
    return kind == "tmpfs" or bool(has_loop)


def needs(kind: str) -> str:
    return "needs root" + f", loop devices and mkfs.{kind}" * (kind != "tmpfs")


def system(*words: str, check: bool = True) -> bool:
    """Runs a tool of the system. Returns whether it succeeded."""
    return command.run(words, check=check).code == 0


def make_subvolume(path: str) -> None:
    system("btrfs", "-q", "subvolume", "create", path)


def subvolume_ids(path: str) -> tuple[str, str]:
    """Its own UUID, and that of the one that it is a snapshot of."""
    shown = command.run(["btrfs", "subvolume", "show", path], check=True).output.decode()
    own, origin = re.findall(r"^\s+(?:Parent )?UUID:\s+(\S+)$", shown, re.M)
    return own, origin


def loop_device(image: str, *options: str) -> str:
    return command.run(["losetup", "-f", "--show", *options, image], check=True).output.decode().strip()


def unmount(place: str) -> None:
    """A killed process closes its descriptors a moment after its end."""
    for _ in range(500):
        # Not `os.path.ismount`: a file system that was shut down does not even report its status.
        with open("/proc/self/mounts") as file:
            is_mounted = any(line.split()[1] == place for line in file)
        if not is_mounted or system("umount", place, check=False):
            return
        time.sleep(0.01)
    raise SystemExit(f"{place} cannot be unmounted")


class Disk:
    """A file system in an image; of tmpfs just the mount."""

    def __init__(self, folder: str, kind: str, options: str = "", megabytes: int | None = None) -> None:
        self.kind = kind
        self.options = ",".join(filter(None, ["" if kind == "tmpfs" else "loop", options]))
        self.megabytes = megabytes or MEGABYTES.get(kind, 0)
        self.image = os.path.join(folder, f"{kind}.img")
        self.mount_point = os.path.join(folder, f"{kind}.mnt")
        self.target = os.path.join(self.mount_point, "target")

    @contextlib.contextmanager
    def mounted(self) -> Iterator["Disk"]:
        """A new one, mounted. It is removed at the end."""
        os.makedirs(self.mount_point, exist_ok=True)
        if self.kind != "tmpfs":
            self._make()
        self.mount()
        try:
            yield self
        finally:
            self.unmount()
            for image in glob.glob(self.image + "*"):
                os.unlink(image)

    def _make(self) -> None:
        with open(self.image, "wb") as file:
            file.truncate(self.megabytes << 20)
        # It looks at all loop devices, and fails if one of another run is dead.
        for last in [False] * 50 + [True]:
            if system(f"mkfs.{self.kind}", *MAKE[self.kind], self.image, check=last):
                break
            time.sleep(0.1)

    def mount(self, image: str | None = None) -> None:
        what = ["-t", "tmpfs", "tmpfs"] if self.kind == "tmpfs" else [image or self.image]
        options = ["-o", self.options] if self.options else []
        system("mount", *options, *what, self.mount_point)

    def limit(self, options: str) -> bool:
        """Mounts it again with other options while it is mounted. Returns whether it accepts them."""
        return system("mount", "-o", f"remount,{options}", self.mount_point, check=False)

    def unmount(self) -> None:
        unmount(self.mount_point)

    def sync(self) -> None:
        system("sync", "-f", self.mount_point)
