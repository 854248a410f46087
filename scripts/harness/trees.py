"""Trees: made, walked and compared by code that shares nothing with the tool."""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

# The tool's own names at the root of a target. It never mirrors them from a source.
RESERVED = b".fsync-lite"


def state_beside(target: str) -> str:
    """The place of the state beside a target, which an exchange does not move."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name}.fsync-lite")


def state_of(target: str) -> str:
    beside = state_beside(target)
    return beside if os.path.exists(beside) else os.path.join(target, os.fsdecode(RESERVED))


# XFS shows an ACL a second time under these names. The mark of a state is set by each tool, and never copied.
UNSEEN = ("trusted.SGI_ACL_FILE", "trusted.SGI_ACL_DEFAULT", "user.fsync-lite.state")

TYPES = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFCHR: "character_device",
    stat.S_IFBLK: "block_device",
    stat.S_IFSOCK: "socket",
}


class Entry(NamedTuple):
    """`data` is a file's content, or its size if contents are not read; a symlink's destination; a device's
    number; None for others."""

    type: str
    mode: int
    owner: int
    group: int
    modified: int
    data: object
    xattrs: tuple
    inode: int = 0

    @property
    def is_directory(self) -> bool:
        return self.type == "directory"

    @property
    def is_file(self) -> bool:
        return self.type == "file"


Tree = dict[bytes, Entry]

# The values of an entry that are compared. The names of one file are compared as groups.
ATTRIBUTES = ("type", "mode", "owner", "group", "modified", "data", "xattrs")


# --- Making -----------------------------------------------------------------------------------


def make(root: str, tree: dict[str, Any], when: int = 1_700_000_000) -> None:
    """Makes a tree of {name: bytes | dict | ("->", destination) | "fifo"}, times in the past."""
    os.makedirs(root, exist_ok=True)
    for name, node in tree.items():
        path = os.path.join(root, name)
        if isinstance(node, dict):
            make(path, node, when + 1)
        elif node == "fifo":
            os.mkfifo(path)
        elif isinstance(node, tuple):
            os.symlink(node[1], path)
        else:
            write(path, node)
        os.utime(path, ns=(when * 10**9, when * 10**9 + len(name)), follow_symlinks=False)
    os.utime(root, ns=(when * 10**9, when * 10**9))


def write(path: str | bytes, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)


# --- Walking ----------------------------------------------------------------------------------


def entries(root: str | bytes, *, with_state: bool = False) -> Iterator[tuple[bytes, bytes, os.stat_result]]:
    """Path, path from the root, and status of all entries of a directory, and of itself as ".". Follows no
    symlink, and moves no access time."""
    pending = [(os.fsencode(root), b".")] if os.path.lexists(root) else []
    while pending:
        path, relative = pending.pop()
        status = os.lstat(path)
        yield path, relative, status
        if stat.S_ISDIR(status.st_mode):
            for name in listing(path):
                if relative != b".":
                    pending.append((path + b"/" + name, relative + b"/" + name))
                elif name != RESERVED or with_state:
                    pending.append((path + b"/" + name, name))


def listing(directory: str | bytes) -> list[bytes]:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NOATIME)
    try:
        return sorted(map(os.fsencode, os.listdir(descriptor)))
    finally:
        os.close(descriptor)


def content(path: str | bytes) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NOATIME | os.O_NONBLOCK
    with open(path, "rb", opener=lambda path, _: os.open(path, flags)) as file:
        return file.read()


def walk(root: str | bytes, *, contents: bool = True, xattrs: bool = True) -> Tree:
    """The entries by path; empty if there is no directory."""
    return {relative: _entry(path, status, contents, xattrs) for path, relative, status in entries(root)}


def _entry(path: bytes, status: os.stat_result, contents: bool, xattrs: bool) -> Entry:
    kind = stat.S_IFMT(status.st_mode)
    data, mode = None, stat.S_IMODE(status.st_mode)
    if kind == stat.S_IFREG:
        data = content(path) if contents else status.st_size
    elif kind == stat.S_IFLNK:
        data, mode = os.readlink(path), 0
    elif kind in (stat.S_IFCHR, stat.S_IFBLK):
        data = status.st_rdev
    return Entry(
        TYPES[kind],
        mode,
        status.st_uid,
        status.st_gid,
        status.st_mtime_ns,
        data,
        _xattrs(path) if xattrs else (),
        status.st_ino,
    )


def _xattrs(path: bytes) -> tuple[tuple[str, bytes], ...]:
    names = sorted(os.listxattr(path, follow_symlinks=False))
    return tuple((name, os.getxattr(path, name, follow_symlinks=False)) for name in names if name not in UNSEEN)


# --- Comparing --------------------------------------------------------------------------------


# The values of an entry that some tools or file systems do not store.
EVERYTHING = frozenset({"directory times", "symlink times", "modes", "owners", "xattrs", "hard links"})


def held(tree: Tree, aspects: Collection[str], step: int = 1) -> Tree:
    """A tree with the stored values of another one, and with times in whole steps of nanoseconds."""

    def left(path: bytes, entry: Entry) -> Entry:
        is_timed = entry.type not in ("directory", "symlink") or f"{entry.type} times" in aspects
        return entry._replace(
            mode=entry.mode if "modes" in aspects else 0,
            owner=entry.owner if "owners" in aspects else 0,
            group=entry.group if "owners" in aspects else 0,
            modified=entry.modified // step * step if is_timed else 0,
            xattrs=entry.xattrs if "xattrs" in aspects else (),
            inode=entry.inode if "hard links" in aspects else hash(path),
        )

    return {path: left(path, entry) for path, entry in tree.items()}


def value(entry: Entry | None) -> tuple | None:
    """All values except the inode."""
    return entry[:7] if entry else None


def groups(tree: Tree, paths: Iterable[bytes] | None = None) -> set[frozenset[bytes]]:
    """The sets of names that are one object, of every type except directories."""
    names: dict[int, list[bytes]] = {}
    for path in tree if paths is None else paths:
        if path in tree and not tree[path].is_directory:
            names.setdefault(tree[path].inode, []).append(path)
    return {frozenset(group) for group in names.values() if len(group) > 1}


def parents(path: bytes) -> Iterator[bytes]:
    """The directories that lead to a path, without the root."""
    while b"/" in path:
        path = path[: path.rindex(b"/")]
        yield path


def below(path: bytes, directory: bytes) -> bool:
    return path != directory and (directory == b"." or path.startswith(directory + b"/"))


def differences(
    found: Tree, wanted: Tree, ignored: Collection[bytes] = (), unlinked: Collection[bytes] = ()
) -> list[str]:
    """The differences in words, empty if both are equal. `ignored` paths are skipped. Which of the `unlinked`
    ones are one object is not compared."""
    words = []
    for path in sorted(found.keys() | wanted.keys()):
        if path in ignored:
            continue
        one, other = found.get(path), wanted.get(path)
        if one is None or other is None:
            words.append(
                f"{show(path)}: {'missing' if one is None else 'there'}, wanted {brief(other) if other else 'nothing'}"
            )
            continue
        for name in ATTRIBUTES:
            if getattr(one, name) != getattr(other, name):
                words.append(f"{show(path)}: {name}: {getattr(one, name)!r}, wanted {getattr(other, name)!r}")
    common = (found.keys() & wanted.keys()) - set(ignored) - set(unlinked)
    return words + linked_differently(found, groups(found, common), groups(wanted, common))


def linked_differently(tree: Tree, found: set[frozenset[bytes]], wanted: set[frozenset[bytes]]) -> list[str]:
    words = []
    for group in sorted(sorted(group) for group in found ^ wanted):
        place = "found" if frozenset(group) in found else "wanted"
        names = ", ".join(map(show, group))
        words.append(f"links: {place} as one {tree[group[0]].type}: {names}")
    return words


def same(left: Tree, right: Tree, ignored: Collection[bytes] = (b".",)) -> bool:
    """The root's own time moves when the state is made in it, so only its content is compared."""
    return not differences(left, right, ignored)


def difference(found: Tree, wanted: Tree) -> str:
    """The first one, shortened."""
    return next((words[:300] for words in differences(found, wanted)), "equal")


def select(tree: Tree, test: Callable[[Entry], bool]) -> Tree:
    return {path: entry for path, entry in tree.items() if test(entry)}


def show(path: bytes) -> str:
    return path.decode(errors="backslashreplace")


def brief(entry: Entry | None) -> str:
    return f"{entry.type} {entry.mode:04o} {entry.data!r}" if entry else "nothing"
