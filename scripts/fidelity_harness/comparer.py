"""Compares two trees by find, getfattr, getfacl and sha256sum, which share no code with the mirroring tools."""

import functools
import sys
from collections.abc import Collection

from harness import command

# By path, the values that must be equal.
Aspect = dict[bytes, bytes]

# A large tree takes its time.
run = functools.partial(command.run, seconds=3600)


def find(tree: str, form: str, *conditions: str, left_out: Collection[str] = ("./.fsync-lite", "./lvl")) -> bytes:
    prune = [word for path in left_out for word in ("-path", path, "-prune", "-o")]
    return run(["find", ".", "-mindepth", "1", *prune, *conditions, "-printf", form], cwd=tree, check=True).output


def depth(tree: str) -> Aspect:
    """The number of levels, which most tools cannot name by a path."""
    text = find(tree, "%d %y %m %T@\\n", "-path", "./lvl*", left_out=["./.fsync-lite"])
    return dict(line.split(b" ", 1) for line in text.splitlines())


def entries(tree: str, form: str, *conditions: str) -> Aspect:
    """One record for each entry by path."""
    fields = find(tree, "%P\\0" + form + "\\0", *conditions).split(b"\0")[:-1]
    return dict(zip(fields[0::2], fields[1::2], strict=True))


def hard_links(tree: str) -> Aspect:
    groups: dict[bytes, set[bytes]] = {}
    for path, inode in entries(tree, "%i", "-type", "f", "-links", "+1").items():
        groups.setdefault(inode, set()).add(path)
    return {min(group): b" ".join(sorted(group)) for group in groups.values() if len(group) > 1}


def asked(tree: str, names: bytes, *command: str) -> bytes:
    """The output of a program for these names. It may miss some, but it must be installed."""
    done = run(["xargs", "-0", "-r", *command], cwd=tree, input=names)
    if done.code not in (0, 123):
        sys.exit(f"{command[0]}: exit {done.code}: {done.message}")
    return done.output


def digests(tree: str) -> Aspect:
    """Not of those that have gigabytes, most of them holes."""
    names = find(tree, "%p\\0", "-type", "f", "-size", "-1000M")
    lines = asked(tree, names, "sha256sum", "-z").split(b"\0")[:-1]
    return {line[66:]: line[:64] for line in lines}


def blocks(text: bytes) -> Aspect:
    """The output of getfattr and getfacl: a block of lines for each path."""
    found = {}
    for block in text.split(b"\n\n"):
        lines = [line for line in block.split(b"\n") if line]
        if lines and lines[0].startswith(b"# file: "):
            found[lines[0].removeprefix(b"# file: ")] = b"\n".join(sorted(lines[1:]))
    return found


def xattrs(tree: str, pattern: str) -> Aspect:
    return blocks(asked(tree, find(tree, "%p\\0"), "getfattr", "-h", "-d", "-e", "hex", "-m", pattern))


def acls(tree: str) -> Aspect:
    return blocks(asked(tree, find(tree, "%p\\0", "-not", "-type", "l"), "getfacl", "-n", "-p"))


def sparse(tree: str) -> Aspect:
    """How full the files with holes are, in steps that do not depend on a file system's blocks."""
    used = entries(tree, "%b %s", "-type", "f", "-path", "*/holes/*")
    return {
        path: b"holes" if int(value.split()[0]) * 512 < int(value.split()[1]) // 2 else b"full"
        for path, value in used.items()
    }


def devices(tree: str) -> Aspect:
    paths = entries(tree, "%y", "(", "-type", "b", "-o", "-type", "c", ")")
    return {path: status(tree, "%t:%T", b"./" + path) for path in paths}


def status(tree: str, form: str, path: bytes) -> bytes:
    return run(["stat", "-c", form, path], cwd=tree, check=True).output


OTHERS = ("-not", "(", "-type", "f", "-o", "-type", "d", "-o", "-type", "l", ")")

ASPECTS = {
    "names, kinds": lambda tree: entries(tree, "%y"),
    "content": digests,
    "sizes": lambda tree: entries(tree, "%s", "-type", "f"),
    "destinations": lambda tree: entries(tree, "%l", "-type", "l"),
    "modes": lambda tree: entries(tree, "%m"),
    "owners": lambda tree: entries(tree, "%U:%G"),
    "times of files": lambda tree: entries(tree, "%T@", "-type", "f"),
    "times of directories": lambda tree: entries(tree, "%T@", "-type", "d"),
    "times of symlinks": lambda tree: entries(tree, "%T@", "-type", "l"),
    "times of others": lambda tree: entries(tree, "%T@", *OTHERS),
    "hard links": hard_links,
    "user xattrs": lambda tree: xattrs(tree, "^user[.]"),
    "root's xattrs": lambda tree: xattrs(tree, "^(trusted|security)[.]"),
    "ACLs": acls,
    "holes": sparse,
    "root": lambda tree: {b".": status(tree, "%a %u %g %.9Y", b".")},
    "devices": devices,
    "2,000 levels": depth,
}


def compare(source: str, target: str) -> dict[str, list[bytes]]:
    """The paths that differ, by aspect."""
    result = {}
    for name, look in ASPECTS.items():
        wanted, there = look(source), look(target)
        if name == "names, kinds":
            wanted = {path: kind for path, kind in wanted.items() if kind != b"s"}
        result[name] = sorted(path for path in wanted.keys() | there.keys() if wanted.get(path) != there.get(path))
    return result
