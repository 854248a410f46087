"""Whether one tree is the mirror of another, by a walk that shares nothing with any of the
tools."""

import os
from collections.abc import Collection

from harness.trees import Entry, Tree, differences, show, walk

# What a mirror is expected to have kept; not every tool keeps all of it.
EVERYTHING = frozenset({"directory times", "symlink times", "modes", "owners", "nanoseconds"})


def difference(source: str, target: str, aspects: Collection[str] = EVERYTHING, sample: int = 1) -> str | None:
    """The first difference in words, or None. Of the files every `sample`th is read; 0 reads
    none."""
    wanted, there = _kept(source, aspects), _kept(target, aspects)
    if wanted != there:
        return differences(there, wanted, unlinked=there)[0]
    files = sorted(path for path, entry in wanted.items() if entry.is_file) if sample else []
    for path in files[:: sample or 1]:
        pair = (os.path.join(os.fsencode(root), path) for root in (source, target))
        if not same_content(*pair):
            return f"{show(path)}: the content differs"
    return None


def _kept(root: str, aspects: Collection[str]) -> Tree:
    tree = walk(root, contents=False, xattrs=False)
    del tree[b"."]
    return {path: _asked(entry, aspects) for path, entry in tree.items()}


def _asked(entry: Entry, aspects: Collection[str]) -> Entry:
    """An entry without what is not asked for."""
    changes: dict = {"inode": 0}
    if entry.type in ("directory", "symlink") and f"{entry.type} times" not in aspects:
        changes["modified"] = 0
    elif "nanoseconds" not in aspects:
        changes["modified"] = entry.modified // 10**9
    if "modes" not in aspects:
        changes["mode"] = 0
    if "owners" not in aspects:
        changes |= {"owner": 0, "group": 0}
    return entry._replace(**changes)


def same_content(left: bytes, right: bytes) -> bool:
    with open(left, "rb", buffering=0) as one, open(right, "rb", buffering=0) as other:
        while True:
            block = one.read(1 << 20)
            if block != other.read(1 << 20):
                return False
            if not block:
                return True
