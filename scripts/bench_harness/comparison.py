"""Whether one tree is the mirror of another, by a walk that shares nothing with any of the
tools."""

import filecmp
import os
from collections.abc import Collection

from harness import trees
from harness.trees import Tree, differences, held, show, walk

# The values that a mirror should have. Not every tool stores all of them. Links are not looked at.
EVERYTHING = trees.EVERYTHING - {"xattrs", "hard links"} | {"nanoseconds"}


def difference(
    source: str, target: str, aspects: Collection[str] = EVERYTHING, sample: int = 1, round: int = 0
) -> str | None:
    """The first difference in words, or None. Of the files every `sample`th is read, others in each round; 0
    reads none."""
    wanted, there = _kept(source, aspects), _kept(target, aspects)
    if wanted != there:
        return differences(there, wanted, unlinked=there)[0]
    files = sorted(path for path, entry in wanted.items() if entry.is_file) if sample else []
    for path in files[round % (sample or 1) :: sample or 1]:
        pair = (os.path.join(os.fsencode(root), path) for root in (source, target))
        if not same_content(*pair):
            return f"{show(path)}: the content differs"
    return None


def _kept(root: str, aspects: Collection[str]) -> Tree:
    tree = walk(root, contents=False, xattrs=False)
    del tree[b"."]
    return held(tree, aspects, 1 if "nanoseconds" in aspects else 10**9)


def same_content(left: bytes, right: bytes) -> bool:
    # It believes what it found before if size and time are the same.
    filecmp.clear_cache()
    return filecmp.cmp(left, right, shallow=False)
