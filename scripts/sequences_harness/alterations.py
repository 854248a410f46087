"""Random alterations of a tree with few names, so that they meet again and again. Each is printed as a shell
command."""

import base64
import ctypes
import mmap
import os
import shlex
import shutil
import stat
import struct

from harness.trees import entries, make

NAMES = ["a", "b", "c", "d", "e", "f.x", "g.y", "h"]
USERS = [0, 1, 33, 65534]

# The subject of an alteration, for `--without`; its function, and its frequency.
KINDS = {
    "create": ("make", 4),
    "directory": ("make_directory", 2),
    "deep": ("make_deep", 1),
    "symlinks": ("make_symlink", 1),
    "fifos": ("make_fifo", 0.6),
    "devices": ("make_device", 0.3),
    "links": ("link", 2.5),
    "special-links": ("link_special", 0.8),
    "append": ("append", 1.5),
    "rewrite": ("rewrite", 2),
    "replace": ("replace", 1),
    "hidden": ("hidden", 2),
    "move": ("move", 3),
    "move-directory": ("move_directory", 3),
    "swaps": ("swap", 1.5),
    "inside-out": ("inside_out", 0.7),
    "delete": ("delete", 2.5),
    "types": ("change_type", 1),
    "modes": ("chmod", 1.5),
    "owners": ("chown", 0.8),
    "times": ("touch", 1),
    "xattrs": ("xattr", 2),
    "acls": ("acl", 2),
    "unlink-name": ("unlink_name", 1),
    "copy": ("copy", 0.5),
    "mapped": ("store", 6),
}
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class Mapping:
    """A file that a program has mapped for writing, but has not open."""

    def __init__(self, path):
        self.path, self.size = path, os.path.getsize(path)
        file = os.open(path, os.O_RDWR)
        self.start = LIBC.mmap(None, self.size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file, 0)
        os.close(file)
        # A store after the end of the file would end this process.
        self.reader = os.open(path, os.O_RDONLY)
        self.bytes = (ctypes.c_ubyte * self.size).from_address(self.start)

    def is_whole(self):
        return os.fstat(self.reader).st_size >= self.size

    def close(self):
        LIBC.munmap(self.start, self.size)
        os.close(self.reader)


class Alterations:
    """Alterations of one root, which is called `name` in the output."""

    def __init__(self, root, name, without, tell):
        self.root, self.name, self.tell = root, name, tell
        self.mappings = []
        self.has_stored = False
        self.kinds = [kind for kind in KINDS if kind not in without]
        self.serial = 0

    def some(self, rng, count, serial, then=lambda: None):
        """`serial` makes each content unique. `then` is called after each alteration."""
        for number in range(count):
            self.rng, self.serial = rng, f"{serial}.{number}"
            kind = rng.choices(self.kinds, [KINDS[kind][1] for kind in self.kinds])[0]
            self.list()
            # An impossible one, such as a taken name, is no alteration.
            try:
                getattr(self, KINDS[kind][0])()
            except (
                FileExistsError,
                NotADirectoryError,
                IsADirectoryError,
                FileNotFoundError,
            ) as error:
                self.tell(f"# {kind}: {error.strerror}")
            then()

    def fill(self, rng, count):
        """Makes so many files below one directory, beside those that meet."""
        tree = {}
        for number in range(count):
            files = tree.setdefault(f"d{number // 12}", {})
            files[f"n{number}"] = rng.randbytes(rng.choice([0, 1, 20, 100, 300, 2000]))
        make(self.path("many"), tree)
        self.tell(f"# {self.told('many')} has {count} files")

    # --- Choosing -----------------------------------------------------------------------------

    def list(self):
        self.directories, self.others, self.files = [""], [], []
        for _, relative, status in entries(self.root):
            path = os.fsdecode(relative)
            if stat.S_ISDIR(status.st_mode):
                self.directories += [path] * (path != ".")
            else:
                self.others.append(path)
            if stat.S_ISREG(status.st_mode):
                self.files.append(path)
        for paths in (self.directories, self.others, self.files):
            paths.sort()

    def path(self, relative):
        return os.path.join(self.root, relative) if relative else self.root

    def told(self, relative):
        return shlex.quote(f"{self.name}/{relative}" if relative else self.name)

    def pick(self, among):
        if not among:
            raise FileNotFoundError(2, "nothing to choose")
        return self.rng.choice(among)

    def anything(self):
        return self.pick(self.others + self.directories[1:])

    def free(self):
        """A name that is probably free."""
        folder = self.pick(self.directories)
        if folder.count("/") > 3:
            folder = ""
        path = self.name_in(folder)
        if os.path.lexists(self.path(path)):
            raise FileExistsError(17, "the name is taken")
        return path

    def name_in(self, folder):
        """Below the root, a state's name is ordinary, because a tree may contain a mirror."""
        return os.path.join(folder, self.rng.choice([*NAMES, ".fsync-lite"] if folder else NAMES))

    def content(self):
        size = self.rng.choice([0, 1, 1, 4, 12, 12, 40, 300, 5000])
        text = self.serial.encode()
        return (text + b"." * size)[: max(size, len(text))]

    def write(self, path, mode="wb"):
        content = self.content()
        with open(self.path(path), mode) as file:
            file.write(content)
        sign = ">>" if mode == "ab" else ">"
        dots = len(content) - len(self.serial)
        text = f"printf %s {self.serial}; head -c {dots} /dev/zero | tr '\\0' ."
        self.tell(f"({text}) {sign} {self.told(path)}")

    def set_time(self, path, when):
        os.utime(self.path(path), ns=(when, when), follow_symlinks=False)
        self.tell(f"touch -hd @{when // 10**9}.{when % 10**9:09} {self.told(path)}")

    # --- Alterations --------------------------------------------------------------------------

    def make(self):
        path = self.free()
        self.write(path)
        if self.rng.random() < 0.5:
            self.touch(path)

    def make_directory(self, path=None):
        path = path or self.free()
        os.mkdir(self.path(path))
        self.tell(f"mkdir {self.told(path)}")

    def make_deep(self):
        path = self.free()
        inner = os.path.join(path, self.rng.choice(NAMES))
        os.makedirs(self.path(inner))
        self.tell(f"mkdir -p {self.told(inner)}")
        for folder in (path, inner):
            self.write(os.path.join(folder, self.rng.choice(NAMES) + "1"))

    def make_symlink(self, path=None, to="to"):
        if path is None:
            path, to = self.free(), self.rng.choice(NAMES)
        to += "-" + self.serial
        os.symlink(to, self.path(path))
        self.tell(f"ln -s {to} {self.told(path)}")

    def make_fifo(self, path=None):
        path = path or self.free()
        os.mkfifo(self.path(path), 0o644)
        self.tell(f"mkfifo {self.told(path)}")

    def make_device(self):
        path, minor = self.free(), self.rng.randrange(3, 9)
        os.mknod(self.path(path), stat.S_IFCHR | 0o600, os.makedev(1, minor))
        self.tell(f"mknod -m 600 {self.told(path)} c 1 {minor}")

    def link(self, among=None):
        old, new = self.pick(self.files if among is None else among), self.free()
        os.link(self.path(old), self.path(new), follow_symlinks=False)
        self.tell(f"ln -P {self.told(old)} {self.told(new)}")

    def link_special(self):
        self.link([path for path in self.others if path not in self.files])

    def append(self):
        self.write(self.pick(self.files), "ab")

    def rewrite(self):
        self.write(self.pick(self.files))

    def replace(self):
        """Replaces a file by another one, as editors do."""
        path = self.pick(self.files)
        new = os.path.join(os.path.dirname(path), "new~")
        self.write(new)
        self.rename(new, path)

    def hidden(self):
        """Writes other content of the same size, and restores the time."""
        path = self.pick([path for path in self.files if os.path.getsize(self.path(path)) > 0])
        status = os.stat(self.path(path))
        size = status.st_size
        content = (self.serial.encode()[::-1] + b"!" * size)[:size]
        with open(self.path(path), "r+b") as file:
            file.write(content)
        text = base64.b64encode(content).decode()
        self.tell(f"echo {text} | base64 -d | dd of={self.told(path)} conv=notrunc status=none")
        self.set_time(path, status.st_mtime_ns)

    def store(self):
        """Stores through a new or an old mapping, with the page read before or not. The time may remain
        unchanged."""
        if not self.mappings or self.rng.random() < 0.3:
            path = self.pick([path for path in self.files if os.path.getsize(self.path(path)) > 0])
            self.mappings.append(Mapping(self.path(path)))
            self.tell(f"# {self.told(path)} is mapped")
        mapping = self.pick(self.mappings)
        if mapping.is_whole():
            for index in (self.rng.randrange(mapping.size), self.rng.randrange(mapping.size)):
                reads = self.rng.random() < 0.5
                mapping.bytes[index] = (mapping.bytes[0 if reads else index] + 1) % 256
            self.has_stored = True
            self.tell(f"# stored through the mapping of {mapping.path}")
        if self.rng.random() < 0.25 or not mapping.is_whole():
            self.mappings.remove(mapping)
            mapping.close()
            self.tell(f"# the mapping of {mapping.path} is closed")

    def release(self):
        for mapping in self.mappings:
            mapping.close()
        self.mappings = []

    def rename(self, old, new):
        os.rename(self.path(old), self.path(new))
        self.tell(f"mv -T {self.told(old)} {self.told(new)}")

    def move(self, among=None):
        path = self.pick(self.others if among is None else among)
        new = self.name_in(self.pick(self.directories))
        if (new + "/").startswith(path + "/") or new == path:
            raise FileExistsError(17, "into itself")
        if os.path.lexists(self.path(new)) and self.rng.random() < 0.5:
            raise FileExistsError(17, "the name is taken")
        try:
            self.rename(path, new)
        except OSError as error:
            raise FileExistsError(17, "cannot take the place") from error

    def move_directory(self):
        self.move(self.directories[1:])

    def swap(self):
        first, second = self.anything(), self.anything()
        if (first + "/").startswith(second + "/") or (second + "/").startswith(first + "/"):
            raise FileExistsError(17, "one is in the other")
        self.rename(first, "swapping~")
        self.rename(second, first)
        self.rename("swapping~", second)

    def inside_out(self):
        """Moves a directory into one of its own directories, which takes its place."""
        inner = self.pick([path for path in self.directories if "/" in path])
        outer = os.path.dirname(inner)
        above = os.path.join(os.path.dirname(outer), "above~")
        self.rename(inner, above)
        goal = os.path.join(above, os.path.basename(outer))
        while os.path.lexists(self.path(goal)):
            goal += "~"
        self.rename(outer, goal)
        self.rename(above, outer)

    def delete(self, path=None):
        path = path or self.anything()
        if sum(len(names) + len(folders) for _, folders, names in os.walk(self.path(path))) > 12:
            raise FileNotFoundError(2, "too much to delete")
        self.remove(path)

    def remove(self, path):
        whole = self.path(path)
        if os.path.isdir(whole) and not os.path.islink(whole):
            shutil.rmtree(whole)
        else:
            os.unlink(whole)
        self.tell(f"rm -r {self.told(path)}")

    def halve(self):
        """A disaster: every second entry is deleted."""
        self.list()
        for path in sorted(self.others + self.directories[1:])[::2]:
            if os.path.lexists(self.path(path)):
                self.remove(path)

    def unlink_name(self):
        """One of several names."""
        path = self.pick([path for path in self.others if os.lstat(self.path(path)).st_nlink > 1])
        self.delete(path)

    def change_type(self):
        path = self.anything()
        self.delete(path)
        kind = self.rng.choice(["file", "directory", "symlink", "fifo"])
        if kind == "directory":
            self.make_directory(path)
            self.write(os.path.join(path, "inside"))
        elif kind == "symlink" and "symlinks" in self.kinds:
            self.make_symlink(path)
        elif kind == "fifo" and "fifos" in self.kinds:
            self.make_fifo(path)
        else:
            self.write(path)

    def chmod(self):
        path = self.pick(self.others + self.directories)
        if os.path.islink(self.path(path)):
            raise FileNotFoundError(2, "a symlink has no mode")
        folder = path in self.directories
        mode = self.rng.choice(
            [0o700, 0o711, 0o755, 0o2750, 0o1777] if folder else [0o600, 0o640, 0o644, 0o444, 0o755, 0o4755]
        )
        os.chmod(self.path(path), mode)
        self.tell(f"chmod {mode:o} {self.told(path)}")

    def chown(self):
        path = self.pick(self.others + self.directories)
        owner, group = self.rng.choice(USERS), self.rng.choice(USERS)
        os.chown(self.path(path), owner, group, follow_symlinks=False)
        self.tell(f"chown -h {owner}:{group} {self.told(path)}")

    def touch(self, path=None):
        path = self.pick(self.others + self.directories) if path is None else path
        self.set_time(path, self.rng.randrange(10**18, 2 * 10**18))

    def xattr(self):
        path = self.pick(self.others + self.directories)
        whole = self.path(path)
        plain = path in self.files or path in self.directories
        name = self.rng.choice(["user.a", "user.b", "trusted.c"] if plain else ["trusted.c"])
        if name in os.listxattr(whole, follow_symlinks=False) and self.rng.random() < 0.4:
            os.removexattr(whole, name, follow_symlinks=False)
            self.tell(f"setfattr -hx {name} {self.told(path)}")
        else:
            text = f"{self.serial}-{self.rng.randrange(100)}"
            os.setxattr(whole, name, text.encode(), follow_symlinks=False)
            self.tell(f"setfattr -hn {name} -v {text} {self.told(path)}")

    def acl(self):
        path = self.pick(self.files + self.directories)
        default = path in self.directories and self.rng.random() < 0.5
        name = "system.posix_acl_default" if default else "system.posix_acl_access"
        if name in os.listxattr(self.path(path)) and self.rng.random() < 0.3:
            os.removexattr(self.path(path), name)
            self.tell(f"setfattr -x {name} {self.told(path)}")
            return
        bits = lambda: self.rng.randrange(8)  # noqa: E731
        none = 0xFFFFFFFF
        entries = [(1, 7, none), (2, bits(), self.rng.choice(USERS[1:])), (4, bits(), none)]
        entries += [(8, bits(), self.rng.choice(USERS))] if self.rng.random() < 0.3 else []
        entries += [(16, bits(), none), (32, bits(), none)]
        words = {1: "u::", 2: "u:{}:", 4: "g::", 8: "g:{}:", 16: "m::", 32: "o::"}
        os.setxattr(
            self.path(path),
            name,
            struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries),
        )
        text = ",".join(words[tag].format(who) + str(permissions) for tag, permissions, who in entries)
        self.tell(f"setfacl {'-d ' if default else ''}--set {text} {self.told(path)}")

    def copy(self):
        """Copies with times, like `cp -p`: equal content at two places."""
        old, new = self.pick(self.files), self.free()
        shutil.copy2(self.path(old), self.path(new))
        self.tell(f"cp -p {self.told(old)} {self.told(new)}")
