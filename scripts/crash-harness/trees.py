"""Trees: built, edited, and looked at by code that shares nothing with the tool."""

import base64
import calendar
import json
import os
import random
import shutil
import stat
import time

RESERVED = b".fsync-lite"

# What `snapshot` looks at beyond content, type, mode, owner, time and destination: "links" and "xattrs".
observed = set()


# --- Looking --------------------------------------------------------------------------------------------------

def snapshot(root):
    """Everything that a user of the tree can see, by path, but for what is ours at its root."""
    root = os.fsencode(root)
    seen, names = {}, {}
    if not os.path.lexists(root):
        return seen
    pending = [(root, b".")]
    while pending:
        path, relative = pending.pop()
        status = os.lstat(path)
        kind = stat.S_IFMT(status.st_mode)
        item = [kind, stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, status.st_mtime_ns]
        if kind == stat.S_IFREG:
            with open(path, "rb") as file:
                item.append(file.read())
        elif kind == stat.S_IFLNK:
            item[1] = 0
            item.append(os.readlink(path))
        elif kind == stat.S_IFDIR:
            for name in os.listdir(path):
                if relative == b"." and name == RESERVED:
                    continue
                pending.append((os.path.join(path, name), name if relative == b"." else relative + b"/" + name))
        if "xattrs" in observed:
            item.append(tuple((name, os.getxattr(path, name, follow_symlinks=False))
                              for name in sorted(os.listxattr(path, follow_symlinks=False))
                              if name.startswith(("user.", "system.posix_acl"))))
        if "links" in observed and kind != stat.S_IFDIR and status.st_nlink > 1:
            names.setdefault((status.st_dev, status.st_ino), []).append(relative)
        seen[relative] = item
    for group in names.values():
        # A name that the history has is none of the tree's.
        for relative in group if len(group) > 1 else ():
            seen[relative].append(tuple(sorted(group)))
    return {path: tuple(item) for path, item in seen.items()}


def same(left, right):
    """The root's own time moves when the state is made in it: what counts is what it holds."""
    return {k: v for k, v in left.items() if k != b"."} == {k: v for k, v in right.items() if k != b"."}


def difference(left, right):
    for path in sorted(set(left) | set(right)):
        if left.get(path) != right.get(path):
            return f"{path!r}: {str(left.get(path))[:120]} / {str(right.get(path))[:120]}"
    return "equal"


def manifest_error(state, tree):
    """What the manifest of a target says that the tree does not, or the other way round; None when they agree."""
    path = os.path.join(state, "manifest.json")
    if not os.path.exists(path):
        return None if set(tree) <= {b"."} else "there is a tree and no manifest"
    with open(path, "rb") as file:
        entries = json.load(file)["entries"]
    said = {}
    for entry in entries:
        said[_bytes(entry, "path")] = entry
    paths = set(tree) - {b"."}
    if set(said) != paths:
        return f"paths: {sorted(set(said) ^ paths)[:3]}"
    for path in paths:
        kind, mode, owner, group, modified, *rest = tree[path]
        entry = said[path]
        wanted = {
            "type": KINDS[kind], "modified": modified, "owner": owner, "group": group,
            "mode": mode if kind != stat.S_IFLNK else None, "size": len(rest[0]) if kind == stat.S_IFREG else None,
            "destination": rest[0] if kind == stat.S_IFLNK else None,
        }
        found = {
            "type": entry["type"], "modified": _nanoseconds(entry["modified"]), "owner": entry["owner"],
            "group": entry["group"], "mode": int(entry["mode"], 8) if kind != stat.S_IFLNK else None,
            "size": entry.get("size"), "destination": _bytes(entry, "destination"),
        }
        if wanted != found:
            return f"{path!r}: {({k: (found[k], wanted[k]) for k in wanted if wanted[k] != found[k]})}"
    return None


KINDS = {
    stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink", stat.S_IFIFO: "fifo",
    stat.S_IFCHR: "character_device", stat.S_IFBLK: "block_device",
}


def _bytes(entry, key):
    if key in entry:
        return entry[key].encode()
    return base64.b64decode(entry[key + "_base64"]) if key + "_base64" in entry else None


def _nanoseconds(text):
    whole, _, fraction = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) * 10**9 + int(fraction.ljust(9, "0") or 0)


# --- Building -------------------------------------------------------------------------------------------------

def build(root, tree, when=1_700_000_000):
    """Makes a tree of {name: bytes | dict | ("->", destination) | "fifo"}, times in the past."""
    os.makedirs(root, exist_ok=True)
    for name, node in tree.items():
        path = os.path.join(root, name)
        if isinstance(node, dict):
            build(path, node, when + 1)
        elif node == "fifo":
            os.mkfifo(path)
        elif isinstance(node, tuple):
            os.symlink(node[1], path)
        else:
            write(path, node)
        os.utime(path, ns=(when * 10**9, when * 10**9 + len(name)), follow_symlinks=False)
    os.utime(root, ns=(when * 10**9, when * 10**9))


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def files(count, size=20, tag="x"):
    return {f"{tag}{i:03}": (f"{tag}{i}" * size).encode() for i in range(count)}


# --- Workloads ------------------------------------------------------------------------------------------------
#
# A plain function fills the source for a first copy. A generator fills it, yields for the first apply, and then
# changes it.

def first_copy(at):
    build(at(), {"a": files(5), "b": {"c": {"d": files(3)}, "empty": {}}, "l": ("->", "a/x001"), "p": "fifo"})


def bulk(at):
    """Files of more than one buffer, with and without holes."""
    noise = random.Random(7).randbytes
    build(at(), {"big": noise(700_001), "edge": noise(256 * 1024), "none": b"", "d": {"big": noise(300_000)}})
    with open(at("holes"), "wb") as file:
        for offset in (0, 1 << 20, 3 << 20):
            file.seek(offset)
            file.write(noise(5000))
        file.truncate(5 << 20)
    yield
    write(at("big"), noise(900_000))
    os.rename(at("edge"), at("d", "edge"))


def mixed_changes(at):
    build(at(), {
        "keep": files(4), "dir": {"in": files(3), "f": b"f"}, "a": b"A" * 50, "b": b"B" * 50, "c": b"C" * 50,
        "x": {"y": {"z": files(2)}}, "gone": {"deep": files(3), "save": b"saved"}, "edit": b"1", "type": b"file",
        "was": {"k": b"k", "m": b"m"},
    })
    yield
    os.rename(at("dir"), at("renamed"))
    write(at("renamed", "f"), b"changed")
    for old, new in (("a", "t"), ("b", "a"), ("c", "b"), ("t", "c")):
        os.rename(at(old), at(new))
    os.rename(at("x", "y"), at("q"))
    os.rename(at("x"), at("q", "x"))
    os.makedirs(at("fresh", "sub"))
    os.rename(at("gone", "save"), at("fresh", "sub", "save"))
    shutil.rmtree(at("gone"))
    write(at("edit"), b"22")
    os.unlink(at("type"))
    build(at("type"), {"now": b"dir"})
    os.rename(at("was", "m"), at("m"))
    shutil.rmtree(at("was"))
    write(at("was"), b"a file now")


def mass_delete(at):
    build(at(), {"keep": files(2), "d": files(12), "e": {"f": files(6)}, "g": {"h": {"i": files(3)}}})
    yield
    for name in ("d", "e", "g"):
        shutil.rmtree(at(name))


def attributes(at):
    build(at(), {"a": files(4), "b": {"c": files(2)}, "l": ("->", "x")})
    yield
    for path, _, names in os.walk(at()):
        for name in names:
            full = os.path.join(path, name)
            if os.path.islink(full):
                os.utime(full, ns=(5, 1_600_000_000_000_000_005), follow_symlinks=False)
            else:
                os.chmod(full, 0o640)
    os.chmod(at("b"), 0o750)
    os.utime(at("b", "c"), ns=(7, 1_500_000_000_000_000_007))
    if os.geteuid() == 0:
        os.chown(at("a", "x000"), 12, 34)


def type_changes(at):
    build(at(), {"f2d": b"f", "d2f": files(3), "f2l": b"f", "l2d": ("->", "f2d"), "d2l": {"k": b"k"}, "p2f": "fifo"})
    yield
    os.unlink(at("f2d"))
    build(at("f2d"), files(2))
    shutil.rmtree(at("d2f"))
    write(at("d2f"), b"now a file")
    os.unlink(at("f2l"))
    os.symlink("d2f", at("f2l"))
    os.unlink(at("l2d"))
    build(at("l2d"), {"n": {"o": b"o"}})
    shutil.rmtree(at("d2l"))
    os.symlink("f2l", at("d2l"))
    os.unlink(at("p2f"))
    write(at("p2f"), b"pipe no more")


def links(at):
    """Groups of hard links that gain, lose and share names."""
    build(at(), {"a": files(3), "b": {}, "one": b"one", "two": b"two"})
    os.link(at("one"), at("b", "one"))
    os.link(at("two"), at("two too"))
    yield
    os.link(at("one"), at("a", "one"))
    os.unlink(at("two"))
    os.unlink(at("a", "x000"))
    os.link(at("a", "x001"), at("a", "x000"))


def xattrs(at):
    build(at(), {"a": files(2), "b": {}})
    os.setxattr(at("a", "x000"), "user.stays", b"1")
    os.setxattr(at("b"), "user.goes", b"2")
    yield
    os.setxattr(at("a", "x000"), "user.stays", b"changed")
    os.setxattr(at("a", "x001"), "user.new", bytes(range(256)))
    os.removexattr(at("b"), "user.goes")


WORKLOADS = {
    "first copy": first_copy, "mixed changes": mixed_changes, "mass delete": mass_delete, "attributes": attributes,
    "type changes": type_changes, "bulk": bulk,
}
# Only where what they are about is looked at: `--compare`.
OPTIONAL_WORKLOADS = {"links": links, "xattrs": xattrs}
