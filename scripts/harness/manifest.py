"""The manifest of a target, as any reader of JSON sees it."""

import base64
import calendar
import json
import os
import time

from harness.trees import brief, groups, show


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


class Manifest:
    def __init__(self, document):
        self.header = {key: value for key, value in document.items() if key != "entries"}
        self.entries = {}
        # What takes no part is no entry of the mirror.
        self.uncovered = set()
        for item in document["entries"]:
            if item.get("uncovered"):
                self.uncovered.add(taken(item, "path"))
            else:
                self.entries[taken(item, "path")] = item

    def get(self, key, default=None):
        return self.header.get(key, default)

    @staticmethod
    def record(item):
        """What a user would compare."""
        device = item.get("device")
        xattrs = tuple(sorted((taken(x, "name"), taken(x, "value")) for x in item.get("xattrs", ())))
        return {
            "type": item["type"],
            "size": item.get("size"),
            "modified": nanoseconds(item["modified"]),
            "mode": None if item["type"] == "symlink" else int(item["mode"], 8),
            "owner": item["owner"],
            "group": item["group"],
            "destination": taken(item, "destination"),
            "device": device,
            "xattrs": xattrs,
        }

    @staticmethod
    def seen(entry):
        """The same of an entry of a walk."""
        device = entry.data if entry.type.endswith("_device") else None
        return {
            "type": entry.type,
            "size": len(entry.data) if entry.type == "file" else None,
            "modified": entry.modified,
            "mode": None if entry.type == "symlink" else entry.mode,
            "owner": entry.owner,
            "group": entry.group,
            "destination": entry.data if entry.type == "symlink" else None,
            "device": f"{os.major(device)}:{os.minor(device)}" if device is not None else None,
            "xattrs": tuple(sorted((name.encode(), value) for name, value in entry.xattrs)),
        }

    def compare(self, tree, staying=frozenset(), unseen=frozenset(), extra=frozenset()):
        words = []
        for path in sorted(tree.keys() | self.entries.keys()):
            if path == b"." or path in unseen:
                continue
            entry, item = tree.get(path), self.entries.get(path)
            if entry is None:
                words.append(f"{show(path)}: recorded, and not there, or not covered")
            elif item is None:
                if path not in staying:
                    words.append(f"{show(path)}: not recorded: {brief(entry)}")
            elif path not in staying:
                one, other = self.record(item), self.seen(entry)
                words += [
                    f"{show(path)}: recorded {key}: {one[key]!r}, there {other[key]!r}"
                    for key in one
                    if one[key] != other[key]
                ]
                # None that lasts is 0.
                if item.get("target_inode", 0) not in (0, entry.inode):
                    words.append(
                        f"{show(path)}: recorded inode in the target: {item['target_inode']}, there {entry.inode}"
                    )
        # Names that only the target has, after `--no-delete`, count for nothing.
        for group in groups(tree, [path for path in tree if path not in unseen]):
            for path in sorted(group) if not group & extra else ():
                recorded = self.entries.get(path, {"links": len(group)}).get("links", 1)
                if recorded < len(group):
                    words.append(f"{show(path)}: recorded links: {recorded}, there {len(group)}")
        return words

    def differences(self, other):
        words = []
        for path in sorted(self.entries.keys() | other.entries.keys()):
            one, two = self.entries.get(path), other.entries.get(path)
            if one is None or two is None:
                words.append(
                    f"{show(path)}: {'not ' * (one is None)}recorded, and before it was{'' if two else ' not'}"
                )
                continue
            first, second = self.record(one), self.record(two)
            words += [
                f"{show(path)}: recorded {key}: {first[key]!r}, before {second[key]!r}"
                for key in first
                if first[key] != second[key]
            ]
        return words
