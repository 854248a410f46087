"""A tree that is hard to copy: every line is something that some tool loses."""

import os

from harness import trees
from harness.command import run

LONG_AGO, FAR_AHEAD = -(2**31) + 1, 2**33

NAMES = [
    b"\xff\xfe no utf-8",
    b"line\nbreak",
    b"tab\there",
    b"quote\"'`$(x)",
    b"\x01\x1b[31mred",
    b"-rf",
    b" ",
    b"~",
    b"*",
    b"back\\slash",
    b"n" * 255,
    "caf\u00e9".encode(),
    "cafe\u0301".encode(),
    b"Case",
    b"case",
]
MODES = {"setuid": 0o4755, "setgid": 0o2755, "none": 0, "all": 0o7777}
DIRECTORY_MODES = {"sticky": 0o1777, "setgid directory": 0o2770, "closed": 0}
OWNERS = {"user": (1000, 0), "group": (0, 1000), "nobody": (65534, 65534), "large": (10**9, 10**9)}
TIMES = {
    "before 1970": -(10**9) + 1,
    "1901": LONG_AGO * 10**9,
    "after 2038": (2**31 + 5) * 10**9 + 999999999,
    "2242": FAR_AHEAD * 10**9 + 123456789,
    "zero": 0,
}
XATTRS = {
    "user.text": b"x",
    "user.binary": bytes(range(256)),
    "user.empty": b"",
    "trusted.t": b"only root",
    "security.fsynclite": b"s",
}
ONE_FILE, CONTENT = b"one file\n" * 1000, b"content\n"
DESTINATIONS = [b"nowhere", b"/etc/passwd", b"../..", b"\xff", b"d" * 1000]

TREE = {
    "names": {os.fsdecode(name): name for name in NAMES},
    "empty": b"",
    "empty directory": {},
    "modes": dict.fromkeys(MODES, CONTENT) | dict.fromkeys(DIRECTORY_MODES, {}),
    "owners": dict.fromkeys(OWNERS, CONTENT) | {"link": ("->", "user")},
    "times": dict.fromkeys(TIMES, CONTENT) | {"link": ("->", "x")},
    "links": {"a": ONE_FILE, "alike": ONE_FILE, "deep": {"er": {}}},
    "xattrs": {"plain": CONTENT, "directory": {}, "link": ("->", "plain"), "capable": CONTENT},
    "acls": {"file": CONTENT, "directory": {"inside": {}}},
    "holes": {},
    "others": {"to " + os.fsdecode(to[:20].replace(b"/", b"_")): ("->", os.fsdecode(to)) for to in DESTINATIONS},
}


def make(root: str, *, levels: int = 2000, with_huge: bool = True) -> None:
    """`levels` of directories inside each other. `with_huge` makes holes of gigabytes, which some file systems
    store as data."""

    def path(*names: str) -> str:
        return os.path.join(root, *names)

    trees.make(root, TREE)
    for name, mode in (MODES | DIRECTORY_MODES).items():
        os.chmod(path("modes", name), mode)
    for name, owner in (OWNERS | {"link": (1000, 1000)}).items():
        os.lchown(path("owners", name), *owner)
    for name, when in (TIMES | {"link": 1234567890123456789}).items():
        os.utime(path("times", name), ns=(0, when), follow_symlinks=False)
    for name in ["b", "deep/c", "deep/er/d"]:
        os.link(path("links", "a"), path("links", name))

    for name, value in XATTRS.items():
        os.setxattr(path("xattrs", "plain"), name, value)
    os.setxattr(path("xattrs", "directory"), "user.of.a.directory", b"1")
    os.setxattr(path("xattrs", "link"), "trusted.of.a.link", b"1", follow_symlinks=False)
    run(["setcap", "cap_net_raw+ep", path("xattrs", "capable")], check=True)

    run(["setfacl", "-m", "u:1000:rw,g:1001:r,m::rw", path("acls", "file")], check=True)
    run(
        ["setfacl", "-m", "u:1000:rwx", "-d", "-m", "u:1002:rx,g::r", path("acls", "directory")],
        check=True,
    )
    trees.write(path("acls", "directory", "inside", "in a directory with defaults"), CONTENT)

    for name, size, data in [
        ("all hole", 1 << 30, []),
        ("middle", 1 << 24, [(0, b"a"), (1 << 23, b"b" * 70000)]),
        ("end", 1 << 22, [(1 << 20, b"c")]),
        ("gigabytes", 1 << 32, [(1 << 31, b"d")]),
    ]:
        if size > 1 << 24 and not with_huge:
            continue
        with open(path("holes", name), "wb") as file:
            for offset, content in data:
                file.seek(offset)
                file.write(content)
            file.truncate(size)

    os.mkfifo(path("others", "fifo"), 0o640)
    os.mknod(path("others", "character"), 0o600 | 0o020000, os.makedev(1, 3))
    os.mknod(path("others", "block"), 0o600 | 0o060000, os.makedev(7, 200))

    # Longer than PATH_MAX and the stack of a recursive walk, but not longer than the longest mirrored path.
    here = os.open(path("."), os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(b"lvl", dir_fd=here)
        here, above = os.open(b"lvl", os.O_RDONLY | os.O_DIRECTORY, dir_fd=here), here
        os.close(above)
    bottom = os.open(b"bottom", os.O_CREAT | os.O_WRONLY, dir_fd=here)
    os.write(bottom, b"here")
    for descriptor in (bottom, here):
        os.close(descriptor)

    # Directories come last, because making their content moved their times.
    for name in [*TREE, "."]:
        os.utime(path(name), ns=(0, 1500000000987654321))
