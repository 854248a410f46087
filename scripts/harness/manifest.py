"""The manifest of a target, as any reader of JSON sees it."""

import base64
import calendar
import json
import os
import time

from harness.trees import Entry, differences, groups, show


def read_manifest(path):
    with open(path, "rb") as file:
        return Manifest(json.load(file))


def taken(item, key):
    if key + "_base64" in item:
        return base64.b64decode(item[key + "_base64"])
    value = item.get(key)
    return value.encode() if isinstance(value, str) else value


def nanoseconds(text):
    whole, _, fraction = text.rstrip("Z").partition(".")
    seconds = calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S"))
    return seconds * 10**9 + int(fraction.ljust(9, "0") if fraction else 0)


def recorded(item):
    """An entry as a walk would find it. The content of a file is replaced by its size."""
    kind, data = item["type"], None
    if kind == "file":
        data = item["size"]
    elif kind == "symlink":
        data = taken(item, "destination")
    elif kind.endswith("_device"):
        data = os.makedev(*map(int, item["device"].split(":")))
    mode = 0 if kind == "symlink" else int(item["mode"], 8)
    xattrs = sorted((taken(xattr, "name").decode(), taken(xattr, "value")) for xattr in item.get("xattrs", ()))
    times = nanoseconds(item["modified"])
    return Entry(kind, mode, item["owner"], item["group"], times, data, tuple(xattrs), item.get("target_inode", 0))


class Manifest:
    def __init__(self, document):
        self.header = {key: value for key, value in document.items() if key != "entries"}
        self.entries = {}
        # An excluded entry is not an entry of the mirror.
        self.uncovered = set()
        for item in document["entries"]:
            if item.get("uncovered"):
                self.uncovered.add(taken(item, "path"))
            else:
                self.entries[taken(item, "path")] = item
        self.tree = {path: recorded(item) for path, item in self.entries.items()}

    def compare(self, tree, staying=frozenset(), unseen=frozenset(), extra=frozenset()):
        """The differences from a tree, in words. The `staying` directories are ignored."""
        ignored = {b".", *staying, *unseen}
        sized = {path: entry._replace(data=len(entry.data)) if entry.is_file else entry for path, entry in tree.items()}
        words = ["recorded: " + text for text in differences(self.tree, sized, ignored, unlinked=tree)]
        for path in sorted(self.tree.keys() & tree.keys() - ignored):
            # A lasting inode is never 0.
            inode = self.tree[path].inode
            if inode not in (0, tree[path].inode):
                words.append(f"{show(path)}: recorded inode in the target: {inode}, there {tree[path].inode}")
        # Names that only the target has, after `--no-delete`, are ignored.
        for group in groups(tree, [path for path in tree if path not in unseen]):
            for path in sorted(group) if not group & extra else ():
                links = self.entries.get(path, {"links": len(group)}).get("links", 1)
                if links < len(group):
                    words.append(f"{show(path)}: recorded links: {links}, there {len(group)}")
        return words

    def differences(self, other):
        return ["recorded: " + text for text in differences(self.tree, other.tree, unlinked=self.tree)]
