"""A tree with what is hard to keep: every line is something that some tool loses."""

import os

from harness.command import run

LONG_AGO, FAR_AHEAD = -(2**31) + 1, 2**33


def make(root: str, *, levels: int = 2000, with_huge: bool = True) -> None:
    """`levels` of directories one in the other; `with_huge` holes of gigabytes, which not every file
    system leaves out."""

    def path(*names: str | bytes) -> bytes:
        return os.path.join(os.fsencode(root), *[os.fsencode(name) for name in names])

    def write(name: str | bytes, content: bytes = b"content\n", directory: bytes = b"") -> bytes:
        os.makedirs(path(directory), exist_ok=True)
        with open(path(directory, name), "wb") as file:
            file.write(content)
        return path(directory, name)

    names = [
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
    for name in names:
        write(name, name, b"names")
    write("empty", b"")
    os.makedirs(path("empty directory"))

    for name, mode in [("setuid", 0o4755), ("setgid", 0o2755), ("none", 0), ("all", 0o7777)]:
        os.chmod(write(name, directory=b"modes"), mode)
    for name, mode in [("sticky", 0o1777), ("setgid directory", 0o2770), ("closed", 0)]:
        os.makedirs(path("modes", name))
        os.chmod(path("modes", name), mode)

    for name, owner in [
        ("user", (1000, 0)),
        ("group", (0, 1000)),
        ("nobody", (65534, 65534)),
        ("large", (10**9, 10**9)),
    ]:
        os.chown(write(name, directory=b"owners"), *owner)
    os.symlink(b"user", path("owners", "link"))
    os.lchown(path("owners", "link"), 1000, 1000)

    for name, second, nanosecond in [
        ("before 1970", -1, 1),
        ("1901", LONG_AGO, 0),
        ("after 2038", 2**31 + 5, 999999999),
        ("2242", FAR_AHEAD, 123456789),
        ("zero", 0, 0),
    ]:
        os.utime(write(name, directory=b"times"), ns=(0, second * 10**9 + nanosecond))
    os.symlink("x", path("times", "link"))
    os.utime(path("times", "link"), ns=(0, 1234567890123456789), follow_symlinks=False)

    os.makedirs(path("links", "deep", "er"))
    write("a", b"one file\n" * 1000, b"links")
    for name in ["b", "deep/c", "deep/er/d"]:
        os.link(path("links", "a"), path("links", name))
    write("alike", b"one file\n" * 1000, b"links")

    write("plain", directory=b"xattrs")
    for name, value in [
        ("user.text", b"x"),
        ("user.binary", bytes(range(256))),
        ("user.empty", b""),
        ("trusted.t", b"only root"),
        ("security.fsynclite", b"s"),
    ]:
        os.setxattr(path("xattrs", "plain"), name, value)
    os.makedirs(path("xattrs", "directory"))
    os.setxattr(path("xattrs", "directory"), "user.of.a.directory", b"1")
    os.symlink("plain", path("xattrs", "link"))
    os.setxattr(path("xattrs", "link"), "trusted.of.a.link", b"1", follow_symlinks=False)
    capable = write("capable", directory=b"xattrs")
    run(["setcap", "cap_net_raw+ep", capable], check=True)

    os.makedirs(path("acls", "directory", "inside"))
    run(["setfacl", "-m", "u:1000:rw,g:1001:r,m::rw", write("file", directory=b"acls")], check=True)
    run(
        ["setfacl", "-m", "u:1000:rwx", "-d", "-m", "u:1002:rx,g::r", path("acls", "directory")],
        check=True,
    )
    write("in a directory with defaults", directory=b"acls/directory/inside")

    os.makedirs(path("holes"))
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

    os.makedirs(path("others"))
    os.mkfifo(path("others", "fifo"), 0o640)
    os.mknod(path("others", "character"), 0o600 | 0o020000, os.makedev(1, 3))
    os.mknod(path("others", "block"), 0o600 | 0o060000, os.makedev(7, 200))
    for destination in [b"nowhere", b"/etc/passwd", b"../..", b"\xff", b"d" * 1000]:
        os.symlink(destination, path("others", b"to " + destination[:20].replace(b"/", b"_")))

    # Beyond PATH_MAX and what a recursive walk's stack holds, and within the longest path that is mirrored.
    here = os.open(path("."), os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(b"lvl", dir_fd=here)
        here, above = os.open(b"lvl", os.O_RDONLY | os.O_DIRECTORY, dir_fd=here), here
        os.close(above)
    bottom = os.open(b"bottom", os.O_CREAT | os.O_WRONLY, dir_fd=here)
    os.write(bottom, b"here")
    for descriptor in (bottom, here):
        os.close(descriptor)

    # Directories last: making what is in them moved their times.
    for directory in [
        "names",
        "modes",
        "owners",
        "times",
        "links",
        "holes",
        "others",
        "empty directory",
        ".",
    ]:
        os.utime(path(directory), ns=(0, 1500000000987654321))
