"""File systems for weak commits, for scripts that run as root."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import NamedTuple

from harness import command
from harness.disk import system, unmount
from harness.scratch import remove
from harness.secure_shell import secure_shell
from harness.trees import EVERYTHING, Tree, held


class Kind(NamedTuple):
    """The abilities of one of them, and the commands that make one."""

    name: str
    tools: tuple[str, ...]
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

KINDS = {
    kind.name: kind
    for kind in [
        Kind("exfat", ("mount.exfat-fuse", "mkfs.exfat"), SECOND, PLAIN, TIMES),
        Kind("ntfs-3g", ("mount.ntfs-3g", "mkntfs"), 100, aspects=EVERYTHING - {"modes", "owners"}),
        Kind("sshfs", ("sshfs", "sshd"), SECOND, PLAIN | {"symlink"}, SSHFS, True),
        Kind("bindfs", ("bindfs",), aspects=EVERYTHING - {"hard links"}, is_shared=True),
        Kind("overlay", ()),
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
    place = os.path.join(folder, f"{kind.name}.mnt")
    back = os.path.join(folder, f"{kind.name}.back")
    for path in (place, back):
        os.makedirs(path)
    with contextlib.ExitStack() as undo:
        undo.callback(remove, back)
        undo.callback(remove, place)
        MOUNT[kind.name](place, back, megabytes, undo)
        undo.callback(unmount, place)
        yield place


def _image(place: str, back: str, megabytes: int, undo: contextlib.ExitStack, make: list[str], mount: str) -> None:
    image = os.path.join(back, "image")
    with open(image, "wb") as file:
        file.truncate(megabytes << 20)
    system(*make, image)
    device = command.run(["losetup", "-f", "--show", image], check=True).output.decode().strip()
    undo.callback(system, "losetup", "-d", device, check=False)
    system(mount, device, place)


def _exfat(place: str, back: str, megabytes: int, undo: contextlib.ExitStack) -> None:
    _image(place, back, megabytes, undo, ["mkfs.exfat"], "mount.exfat-fuse")


def _ntfs(place: str, back: str, megabytes: int, undo: contextlib.ExitStack) -> None:
    _image(place, back, megabytes, undo, ["mkntfs", "-Q", "-F"], "mount.ntfs-3g")


def _sshfs(place: str, back: str, megabytes: int, undo: contextlib.ExitStack) -> None:
    """A server of our own on the loopback."""
    root = os.path.join(back, "root")
    os.makedirs(root)
    client = undo.enter_context(secure_shell(back))
    system("sshfs", "-F", client, f"far:{root}", place)


def _bindfs(place: str, back: str, megabytes: int, undo: contextlib.ExitStack) -> None:
    system("bindfs", back, place)


def _overlay(place: str, back: str, megabytes: int, undo: contextlib.ExitStack) -> None:
    layers = [os.path.join(back, name) for name in ("lower", "upper", "work")]
    for layer in layers:
        os.makedirs(layer)
    options = "lowerdir={},upperdir={},workdir={}".format(*layers)
    system("mount", "-t", "overlay", "-o", options, "overlay", place)


MOUNT = {"exfat": _exfat, "ntfs-3g": _ntfs, "sshfs": _sshfs, "bindfs": _bindfs, "overlay": _overlay}
