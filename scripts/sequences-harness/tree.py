"""What a tree holds, seen by code that shares nothing with the tool, and what differs between two."""

import os
import stat
from typing import NamedTuple

# The tool's own at the root of a target; also what it never mirrors from a source.
RESERVED = b".fsync-lite"

# XFS shows an ACL a second time under these.
SECOND_VIEWS = ("trusted.SGI_ACL_FILE", "trusted.SGI_ACL_DEFAULT")

LETTERS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink", stat.S_IFIFO: "fifo",
           stat.S_IFCHR: "character_device", stat.S_IFBLK: "block_device"}


class Entry(NamedTuple):
    """`data` is a file's content, a symlink's destination, a device's number; None of others."""
    type: str
    mode: int
    owner: int
    group: int
    modified: int
    data: object
    xattrs: tuple
    inode: int = 0

    @property
    def is_directory(self):
        return self.type == "directory"


# What is compared of an entry; names of one file are compared as groups.
ATTRIBUTES = ("type", "mode", "owner", "group", "modified", "data", "xattrs")


def walk(root):
    """{path: Entry}, paths in bytes, the root itself as b"."; empty where there is none."""
    root = os.fsencode(root)
    seen = {}
    if not os.path.lexists(root):
        return seen
    pending = [(root, b".")]
    while pending:
        path, relative = pending.pop()
        seen[relative] = entry = look(path)
        if entry.is_directory:
            for name in os.listdir(path):
                if relative != b".":
                    pending.append((path + b"/" + name, relative + b"/" + name))
                elif name != RESERVED:
                    pending.append((path + b"/" + name, name))
    return seen


def look(path):
    status = os.lstat(path)
    kind = stat.S_IFMT(status.st_mode)
    data, mode = None, stat.S_IMODE(status.st_mode)
    if kind == stat.S_IFREG:
        with open(path, "rb") as file:
            data = file.read()
    elif kind == stat.S_IFLNK:
        data, mode = os.readlink(path), 0
    elif kind in (stat.S_IFCHR, stat.S_IFBLK):
        data = status.st_rdev
    xattrs = tuple((name, os.getxattr(path, name, follow_symlinks=False))
                   for name in sorted(os.listxattr(path, follow_symlinks=False)) if name not in SECOND_VIEWS)
    return Entry(LETTERS[kind], mode, status.st_uid, status.st_gid, status.st_mtime_ns, data, xattrs, status.st_ino)


def value(entry):
    """All but the inode."""
    return entry[:7] if entry else None


def groups(tree, paths=None):
    """The sets of names that are one object, of every kind but directories."""
    names = {}
    for path in tree if paths is None else paths:
        if path in tree and not tree[path].is_directory:
            names.setdefault(tree[path].inode, []).append(path)
    return {frozenset(group) for group in names.values() if len(group) > 1}


def parents(path):
    """The directories that lead to a path, without the root."""
    while b"/" in path:
        path = path[:path.rindex(b"/")]
        yield path


def below(path, directory):
    return path != directory and (directory == b"." or path.startswith(directory + b"/"))


def differences(found, wanted, ignored=(), unlinked=()):
    """In words, empty where both are equal; `ignored` paths have no part in it, of `unlinked` ones nobody asks which
    are one object."""
    words = []
    for path in sorted(found.keys() | wanted.keys()):
        if path in ignored:
            continue
        one, other = found.get(path), wanted.get(path)
        if one is None or other is None:
            words.append(f"{show(path)}: {'missing' if one is None else 'there'}, "
                         f"wanted {brief(other) if other else 'nothing'}")
            continue
        for name in ATTRIBUTES:
            if getattr(one, name) != getattr(other, name):
                words.append(f"{show(path)}: {name}: {getattr(one, name)!r}, wanted {getattr(other, name)!r}")
    common = (found.keys() & wanted.keys()) - set(ignored) - set(unlinked)
    first, second = groups(found, common), groups(wanted, common)
    for group in sorted(sorted(group) for group in first ^ second):
        place = "found" if frozenset(group) in first else "wanted"
        words.append(f"links: {place} as one {found[group[0]].type}: {', '.join(map(show, group))}")
    return words


def show(path):
    return path.decode(errors="backslashreplace")


def brief(entry):
    return f"{entry.type} {entry.mode:04o} {entry.data!r}" if entry else "nothing"
