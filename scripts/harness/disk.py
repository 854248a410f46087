"""File systems in images, for scripts that run as root."""

import contextlib
import fcntl
import glob
import os
import shutil
import struct
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


# `struct btrfs_ioctl_vol_args` names a subvolume, `struct btrfs_ioctl_get_subvol_info_args` tells of one.
CREATE_SUBVOLUME, SUBVOLUME_INFORMATION = 0x5000940E, 0x81F8943C


def make_subvolume(path):
    folder, name = os.path.split(path)
    holder = os.open(folder, os.O_RDONLY)
    try:
        fcntl.ioctl(holder, CREATE_SUBVOLUME, bytearray(struct.pack("q4088s", 0, os.fsencode(name))))
    finally:
        os.close(holder)


def subvolume_ids(path):
    """Its own number, and that of the one that it is a snapshot of."""
    information = bytearray(504)
    root = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(root, SUBVOLUME_INFORMATION, information)
    finally:
        os.close(root)
    return bytes(information[296:312]), bytes(information[312:328])


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
