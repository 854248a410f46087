"""The workloads: what is in a tree, and how it changes.

A plain function fills the source for a first copy. A generator fills it, yields for the first
apply, and then changes it. `at` makes the path of a name in the source.
"""

import os
import random
import shutil
from collections.abc import Callable, Iterator

from harness.trees import make, write

At = Callable[..., str]


def files(count: int, size: int = 20, tag: str = "x") -> dict[str, bytes]:
    return {f"{tag}{i:03}": (f"{tag}{i}" * size).encode() for i in range(count)}


def first_copy(at: At) -> None:
    make(
        at(),
        {
            "a": files(5),
            "b": {"c": {"d": files(3)}, "empty": {}},
            "l": ("->", "a/x001"),
            "p": "fifo",
        },
    )


def bulk(at: At) -> Iterator[None]:
    """Files of more than one buffer, with and without holes."""
    noise = random.Random(7).randbytes
    make(
        at(),
        {
            "big": noise(700_001),
            "edge": noise(256 * 1024),
            "none": b"",
            "d": {"big": noise(300_000)},
        },
    )
    with open(at("holes"), "wb") as file:
        for offset in (0, 1 << 20, 3 << 20):
            file.seek(offset)
            file.write(noise(5000))
        file.truncate(5 << 20)
    yield
    write(at("big"), noise(900_000))
    os.rename(at("edge"), at("d", "edge"))


def mixed_changes(at: At) -> Iterator[None]:
    make(
        at(),
        {
            "keep": files(4),
            "dir": {"in": files(3), "f": b"f"},
            "a": b"A" * 50,
            "b": b"B" * 50,
            "c": b"C" * 50,
            "x": {"y": {"z": files(2)}},
            "gone": {"deep": files(3), "save": b"saved"},
            "edit": b"1",
            "type": b"file",
            "was": {"k": b"k", "m": b"m"},
        },
    )
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
    make(at("type"), {"now": b"dir"})
    os.rename(at("was", "m"), at("m"))
    shutil.rmtree(at("was"))
    write(at("was"), b"a file now")


def mass_delete(at: At) -> Iterator[None]:
    make(at(), {"keep": files(2), "d": files(12), "e": {"f": files(6)}, "g": {"h": {"i": files(3)}}})
    yield
    for name in ("d", "e", "g"):
        shutil.rmtree(at(name))


def attributes(at: At) -> Iterator[None]:
    """Modes, times, owners and extended attributes."""
    make(at(), {"a": files(4), "b": {"c": files(2)}, "e": files(2), "l": ("->", "x")})
    os.setxattr(at("e", "x000"), "user.stays", b"1")
    os.setxattr(at("b"), "user.goes", b"2")
    yield
    for name in files(4):
        os.chmod(at("a", name), 0o640)
    os.utime(at("l"), ns=(5, 1_600_000_000_000_000_005), follow_symlinks=False)
    os.chmod(at("b"), 0o750)
    os.utime(at("b", "c"), ns=(7, 1_500_000_000_000_000_007))
    if os.geteuid() == 0:
        os.chown(at("a", "x000"), 12, 34)
    os.setxattr(at("e", "x000"), "user.stays", b"changed")
    os.setxattr(at("e", "x001"), "user.new", bytes(range(256)))
    os.removexattr(at("b"), "user.goes")


def type_changes(at: At) -> Iterator[None]:
    """Other types, and groups of hard links that gain, lose and share names."""
    make(
        at(),
        {
            "f2d": b"f",
            "d2f": files(3),
            "f2l": b"f",
            "l2d": ("->", "f2d"),
            "d2l": {"k": b"k"},
            "p2f": "fifo",
            "a": files(3),
            "b": {},
            "one": b"one",
            "two": b"two",
        },
    )
    os.link(at("one"), at("b", "one"))
    os.link(at("two"), at("two too"))
    yield
    os.unlink(at("f2d"))
    make(at("f2d"), files(2))
    shutil.rmtree(at("d2f"))
    write(at("d2f"), b"now a file")
    os.unlink(at("f2l"))
    os.symlink("d2f", at("f2l"))
    os.unlink(at("l2d"))
    make(at("l2d"), {"n": {"o": b"o"}})
    shutil.rmtree(at("d2l"))
    os.symlink("f2l", at("d2l"))
    os.unlink(at("p2f"))
    write(at("p2f"), b"pipe no more")
    os.link(at("one"), at("a", "one"))
    os.unlink(at("two"))
    os.unlink(at("a", "x000"))
    os.link(at("a", "x001"), at("a", "x000"))


def mixed_sizes(at: At) -> None:
    """A first copy of about 40 MiB, to send to another machine."""
    rng = random.Random(11)
    # Most are small, and a few have most of the bytes.
    small = {f"s{number:03}": rng.randbytes(int(10 ** rng.uniform(0, 4.5))) for number in range(300)}
    large = {f"l{number:02}": rng.randbytes(rng.randrange(200_000, 2_000_000)) for number in range(24)}
    make(at(), {"a": small, "b": large, "c": {"d": {"x": rng.randbytes(10 << 20)}}, "e": files(20)})


DEFAULT = {
    "first copy": first_copy,
    "mixed changes": mixed_changes,
    "mass delete": mass_delete,
    "attributes": attributes,
    "type changes": type_changes,
    "bulk": bulk,
}
# With those of a class that asks for them.
WORKLOADS = DEFAULT | {"mixed sizes": mixed_sizes}
