"""File systems for weak commits, for scripts that run as root."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import NamedTuple

from harness.disk import loop_device, system, unmount
from harness.scratch import remove
from harness.secure_shell import secure_shell
from harness.trees import EVERYTHING, Tree, held


class Kind(NamedTuple):
    """The abilities of one of them, and the commands that make one. PLACE is its mount point, BACK a directory and
    DEVICE a loop device behind it, CLIENT the configuration of an ssh client."""

    name: str
    tools: tuple[str, ...]
    commands: tuple[str, ...]
    # Nanoseconds between two times.
    step: int = 1
    types: frozenset[str] = frozenset({"file", "directory", "symlink", "fifo", "character_device", "block_device"})
    aspects: frozenset[str] = EVERYTHING
    # Other machines may write to it, as far as the tool knows.
    is_shared: bool = False

    def held(self, tree: Tree) -> Tree:
        """The part of a tree that it can store, as a walk sees it."""
        some = {path: entry for path, entry in tree.items() if entry.type in self.types}
        return held(some, self.aspects, self.step)


SECOND = 10**9
PLAIN = frozenset({"file", "directory"})
TIMES = frozenset({"directory times", "symlink times"})
SSHFS = frozenset({"directory times", "modes", "owners"})
EXFAT_COMMANDS = "mkfs.exfat DEVICE", "mount.exfat-fuse DEVICE PLACE"
NTFS_COMMANDS = "mkntfs -Q -F DEVICE", "mount.ntfs-3g DEVICE PLACE"
SSHFS_COMMANDS = "mkdir BACK/root", "sshfs -F CLIENT far:BACK/root PLACE"
OVERLAY_COMMANDS = (
    "mkdir BACK/lower BACK/upper BACK/work",
    "mount -t overlay -o lowerdir=BACK/lower,upperdir=BACK/upper,workdir=BACK/work overlay PLACE",
)

KINDS = {
    kind.name: kind
    for kind in [
        Kind("exfat", ("mount.exfat-fuse", "mkfs.exfat"), EXFAT_COMMANDS, SECOND, PLAIN, TIMES),
        Kind("ntfs-3g", ("mount.ntfs-3g", "mkntfs"), NTFS_COMMANDS, 100, aspects=EVERYTHING - {"modes", "owners"}),
        Kind("sshfs", ("sshfs", "sshd"), SSHFS_COMMANDS, SECOND, PLAIN | {"symlink"}, SSHFS, True),
        Kind("bindfs", ("bindfs",), ("bindfs BACK PLACE",), aspects=EVERYTHING - {"hard links"}, is_shared=True),
        Kind("overlay", (), OVERLAY_COMMANDS),
    ]
}


def missing(kind: Kind) -> str | None:
    """The reason why it cannot be mounted here; None if it can."""
    if os.geteuid() != 0:
        return "needs root"
    if kind.name != "overlay" and not os.path.exists("/dev/fuse"):
        return "needs /dev/fuse"
    absent = [tool for tool in kind.tools if not shutil.which(tool)]
    return "needs " + ", ".join(absent) if absent else None


@contextlib.contextmanager
def mounted(kind: Kind, folder: str, megabytes: int = 256) -> Iterator[str]:
    """Gives the mount point of a new one, which is removed at the end."""
    names = {"PLACE": os.path.join(folder, f"{kind.name}.mnt"), "BACK": os.path.join(folder, f"{kind.name}.back")}
    told = "\n".join(kind.commands)
    with contextlib.ExitStack() as undo:
        for path in names.values():
            os.makedirs(path)
            undo.callback(remove, path)
        if "DEVICE" in told:
            image = os.path.join(names["BACK"], "image")
            with open(image, "wb") as file:
                file.truncate(megabytes << 20)
            names["DEVICE"] = device = loop_device(image)
            undo.callback(system, "losetup", "-d", device, check=False)
        if "CLIENT" in told:
            names["CLIENT"] = undo.enter_context(secure_shell(names["BACK"]))
        for name, value in names.items():
            told = told.replace(name, value)
        for line in told.split("\n"):
            system(*line.split())
        undo.callback(unmount, names["PLACE"])
        yield names["PLACE"]
