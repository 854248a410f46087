"""File systems on which a commit is a weak one, for scripts that run as root."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import NamedTuple

from harness import command
from harness.disk import system, unmount
from harness.scratch import remove
from harness.secure_shell import secure_shell
from harness.trees import Entry, Tree


class Kind(NamedTuple):
    """What one of them can hold, and what making one needs."""

    name: str
    tools: tuple[str, ...]
    # Nanoseconds between two times.
    step: int = 1
    types: frozenset[str] = frozenset({"file", "directory", "symlink", "fifo", "character_device", "block_device"})
    has_modes: bool = True
    has_xattrs: bool = True
    has_links: bool = True
    # Times and owners of symlinks can be set.
    has_symlink_times: bool = True
    # Other machines may write to it, for all that the tool knows.
    is_shared: bool = False

    def held(self, tree: Tree) -> Tree:
        """What of a tree it holds, as far as a walk tells."""
        return {path: self._held(path, entry) for path, entry in tree.items() if entry.type in self.types}

    def _held(self, path: bytes, entry: Entry) -> Entry:
        is_timed = self.has_symlink_times or entry.type != "symlink"
        return entry._replace(
            mode=entry.mode if self.has_modes else 0,
            owner=entry.owner if self.has_modes else 0,
            group=entry.group if self.has_modes else 0,
            modified=entry.modified // self.step * self.step if is_timed else 0,
            xattrs=entry.xattrs if self.has_xattrs else (),
            inode=entry.inode if self.has_links else hash(path),
        )


SECOND = 10**9
PLAIN = frozenset({"file", "directory"})

KINDS = {
    kind.name: kind
    for kind in [
        Kind("exfat", ("mount.exfat-fuse", "mkfs.exfat"), SECOND, PLAIN, False, False, False),
        Kind("ntfs-3g", ("mount.ntfs-3g", "mkntfs"), 100, has_modes=False),
        Kind("sshfs", ("sshfs", "sshd"), SECOND, PLAIN | {"symlink"}, True, False, False, False, True),
        Kind("bindfs", ("bindfs",), has_links=False, is_shared=True),
        Kind("overlay", ()),
    ]
}


def missing(kind: Kind) -> str | None:
    """Why it cannot be mounted here; None where it can."""
    if os.geteuid() != 0:
        return "needs root"
    if kind.name != "overlay" and not os.path.exists("/dev/fuse"):
        return "needs /dev/fuse"
    absent = [tool for tool in kind.tools if not shutil.which(tool)]
    return "needs " + ", ".join(absent) if absent else None


@contextlib.contextmanager
def mounted(kind: Kind, folder: str, megabytes: int = 256) -> Iterator[str]:
    """A fresh one: where it is mounted. It is gone at the end."""
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
