"""Whether one tree is the mirror of another, by a walk that shares nothing with any of the tools."""

import os
import stat

RESERVED = b".fsync-lite"

# What a mirror is expected to have kept; not every tool keeps all of it.
EVERYTHING = frozenset({"directory times", "symlink times", "modes", "owners", "nanoseconds"})


def state(root, aspects=EVERYTHING):
    """What there is, by path, without the root itself and the state directory in it."""
    found, pending = {}, [b""]
    root = os.fsencode(root)
    while pending:
        directory = pending.pop()
        with os.scandir(os.path.join(root, directory)) as entries:
            for entry in entries:
                if not directory and entry.name == RESERVED:
                    continue
                path = os.path.join(directory, entry.name)
                found[path] = _entry(entry, entry.stat(follow_symlinks=False), aspects)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
    return found


def _entry(entry, status, aspects):
    kind = stat.S_IFMT(status.st_mode)
    time = status.st_mtime_ns if "nanoseconds" in aspects else status.st_mtime_ns // 10**9
    if kind == stat.S_IFDIR and "directory times" not in aspects or kind == stat.S_IFLNK and "symlink times" not in aspects:
        time = None
    return (
        kind, time, status.st_size if kind == stat.S_IFREG else None,
        os.readlink(entry.path) if kind == stat.S_IFLNK else None,
        stat.S_IMODE(status.st_mode) if "modes" in aspects and kind != stat.S_IFLNK else None,
        (status.st_uid, status.st_gid) if "owners" in aspects else None,
    )


def difference(source, target, aspects=EVERYTHING, sample=1):
    """The first difference in words, or None. Of the files every `sample`th is read; 0 reads none."""
    wanted, there = state(source, aspects), state(target, aspects)
    if wanted != there:
        for path in sorted(wanted.keys() | there.keys()):
            if wanted.get(path) != there.get(path):
                return f"{os.fsdecode(path)!r}: {wanted.get(path)} in the source, {there.get(path)} in the target"
    files = sorted(path for path, entry in wanted.items() if entry[0] == stat.S_IFREG) if sample else []
    return next((f"{os.fsdecode(path)!r}: the content differs" for path in files[::sample or 1]
                 if not same_content(os.path.join(os.fsencode(source), path), os.path.join(os.fsencode(target), path))),
                None)


def same_content(left, right):
    with open(left, "rb", buffering=0) as one, open(right, "rb", buffering=0) as other:
        while True:
            block = one.read(1 << 20)
            if block != other.read(1 << 20):
                return False
            if not block:
                return True
