"""A disk with the delays of a real one: an image behind FUSE, a loop device over it, ext4 on that."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator

from harness.disk import Disk, system, unmount

KINDS = {"flash": "0.1 ms a read", "rotating": "4 ms a seek"}
NEEDS = "it needs root, loop devices, /dev/fuse, a C compiler and libfuse3-dev"
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slow_disk.c")


def is_possible() -> bool:
    devices = os.path.exists("/dev/fuse") and os.path.exists("/dev/loop-control")
    return os.geteuid() == 0 and devices and bool(shutil.which("cc")) and library() is not None


def library() -> list[str] | None:
    """The compiler's options for FUSE; None if it is not installed."""
    if not shutil.which("pkg-config"):
        return None
    asked = subprocess.run(["pkg-config", "--cflags", "--libs", "fuse3"], capture_output=True, text=True)
    return asked.stdout.split() if asked.returncode == 0 else None


def build(folder: str) -> str:
    tool = os.path.join(folder, "slow_disk")
    if not os.path.exists(tool):
        subprocess.run(["cc", "-O2", "-o", tool, SOURCE, *(library() or [])], check=True)
    return tool


class SlowDisk(Disk):
    """It is filled while it is mounted like any image. Then it is mounted repeatedly as a slow disk, with
    nothing cached."""

    def __init__(self, folder: str, name: str, megabytes: int) -> None:
        super().__init__(os.path.join(folder, name), "ext4", megabytes=megabytes)
        self.front = os.path.join(folder, name, "front")
        os.makedirs(self.front)
        self.tool = build(folder)

    @contextlib.contextmanager
    def slow(self, kind: str) -> Iterator[str]:
        """Mounts it as a disk of this kind, of which nothing was read yet."""
        server = subprocess.Popen([self.tool, self.image, self.front, kind])
        device = None
        try:
            shown = os.path.join(self.front, "disk")
            for _ in range(500):
                if os.path.exists(shown) or server.poll() is not None:
                    break
                time.sleep(0.01)
            asked = subprocess.run(
                ["losetup", "-f", "--show", "--direct-io=on", shown], capture_output=True, text=True, check=True
            )
            device = asked.stdout.strip()
            system("mount", "-o", "noatime", device, self.mount_point)
            yield self.mount_point
        finally:
            self.unmount()
            if device:
                system("losetup", "-d", device, check=False)
            # The loop device closes the file a moment later.
            unmount(self.front)
            server.wait()
