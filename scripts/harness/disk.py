"""File systems in images, for scripts that run as root."""

import contextlib
import glob
import os
import shutil
import subprocess
import time

# What a fresh one of each kind asks for.
MAKE = {"ext4": ["-q", "-F", "-I", "256"], "xfs": ["-q", "-f"], "btrfs": ["-q", "-f"]}


# Where the tools are, also when PATH is not an administrator's.
os.environ["PATH"] += ":/usr/sbin:/sbin"


def can_mount(kind):
    return os.geteuid() == 0 and os.path.exists("/dev/loop-control") and bool(shutil.which(f"mkfs.{kind}"))


def quietly(*command, check=True):
    return subprocess.run(command, check=check, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL if not check else None).returncode == 0


class Disk:
    """A file system in an image; of tmpfs just the mount."""

    # The smallest that the tools make.
    MEGABYTES = {"ext4": 128, "xfs": 320, "btrfs": 128}

    def __init__(self, folder, kind, options="loop", megabytes=None):
        self.kind, self.options = kind, options
        self.megabytes = megabytes or self.MEGABYTES.get(kind)
        self.image = os.path.join(folder, f"{kind}.img")
        self.mount_point = os.path.join(folder, f"{kind}.mnt")
        self.target = os.path.join(self.mount_point, "target")

    @contextlib.contextmanager
    def mounted(self):
        """A fresh one, mounted, and gone at the end."""
        os.makedirs(self.mount_point, exist_ok=True)
        if self.kind == "tmpfs":
            quietly("mount", "-t", "tmpfs", "tmpfs", self.mount_point)
        else:
            self._make()
            self.mount()
        try:
            yield self
        finally:
            self.unmount()
            for image in glob.glob(self.image + "*"):
                os.unlink(image)

    def _make(self):
        with open(self.image, "wb") as file:
            file.truncate(self.megabytes << 20)
        # It looks at all loop devices, and gives up when one of another run is dead.
        for last in [False] * 50 + [True]:
            if quietly(f"mkfs.{self.kind}", *MAKE[self.kind], self.image, check=last):
                break
            time.sleep(0.1)

    def mount(self, image=None):
        quietly("mount", "-o", self.options, image or self.image, self.mount_point)

    def unmount(self):
        """The killed process lets go of its descriptors a moment after it is gone."""
        for _ in range(500):
            if not self.is_mounted() or quietly("umount", self.mount_point, check=False):
                return
            time.sleep(0.01)
        raise SystemExit(f"{self.mount_point} cannot be unmounted")

    def is_mounted(self):
        # Not `os.path.ismount`: one that was shut down does not even tell its status.
        with open("/proc/self/mounts") as file:
            return any(line.split()[1] == self.mount_point for line in file)

    def sync(self):
        quietly("sync", "-f", self.mount_point)
