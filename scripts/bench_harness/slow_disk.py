"""A disk with the delays of a real one: an image behind FUSE, a loop device over it, ext4 on that."""

import contextlib
import os
import subprocess
from collections.abc import Iterator

from harness.command import compiled, wait_until
from harness.disk import Disk, loop_device, system, unmount

KINDS = {"flash": "0.1 ms a read", "rotating": "4 ms a seek"}
NEEDS = "it needs root, loop devices, /dev/fuse, a C compiler and libfuse3-dev"
# As `pkg-config fuse3` says on Debian.
FUSE = ["-I/usr/include/fuse3", "-lfuse3", "-lpthread"]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slow_disk.c")


def server(folder: str) -> str | None:
    """The program that serves slow disks; None if that is not possible here."""
    program = os.path.join(folder, "slow_disk")
    devices = os.path.exists("/dev/fuse") and os.path.exists("/dev/loop-control")
    return program if os.geteuid() == 0 and devices and compiled(SOURCE, program, *FUSE) else None


class SlowDisk(Disk):
    """It is filled while it is mounted like any image. Then it is mounted repeatedly as a slow disk, with
    nothing cached."""

    def __init__(self, folder: str, name: str, megabytes: int, program: str) -> None:
        super().__init__(os.path.join(folder, name), "ext4", megabytes=megabytes)
        self.front = os.path.join(folder, name, "front")
        os.makedirs(self.front)
        self.program = program

    @contextlib.contextmanager
    def slow(self, kind: str) -> Iterator[str]:
        """Mounts it as a disk of this kind, of which nothing was read yet."""
        server = subprocess.Popen([self.program, self.image, self.front, kind])
        device = None
        try:
            shown = os.path.join(self.front, "disk")
            wait_until(lambda: os.path.exists(shown), 5, server)
            device = loop_device(shown, "--direct-io=on")
            system("mount", "-o", "noatime", device, self.mount_point)
            yield self.mount_point
        finally:
            self.unmount()
            if device:
                system("losetup", "-d", device, check=False)
            # The loop device closes the file a moment later.
            unmount(self.front)
            server.wait()
