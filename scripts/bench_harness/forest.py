"""The trees, and their changes between two runs."""

import os
import random
import stat
from collections import Counter

from harness.command import run
from harness.trees import entries

FILES_PER_DIRECTORY, DIRECTORIES_PER_DIRECTORY = 20, 12
# In a tree of many files most are empty: a page each would be most of the memory, and a walk does
# not read them.
EMPTY_OF_FOUR = 3


def generated(root: str, files: int, seed: int = 1) -> None:
    """Files over directories of up to a hundred and a few levels, with names, modes and times of
    some variety."""
    rng = random.Random(seed)
    count = max(1, files // FILES_PER_DIRECTORY)
    # Sizes differ, as they do: a few directories hold many files.
    shares = [rng.paretovariate(1.5) for _ in range(count)]
    total, left = sum(shares), files
    paths = [os.fsencode(root)]
    os.makedirs(root)
    for number in range(count):
        if number:
            paths.append(b"%s/dir-%05d" % (paths[(number - 1) // DIRECTORIES_PER_DIRECTORY], number))
            os.mkdir(paths[number])
        here = min(left, max(1, round(files * shares[number] / total))) if number < count - 1 else left
        left -= here
        _fill(paths[number], here, rng)
    for path in reversed(paths):
        os.utime(path, ns=(0, _some_time(rng)))


def _fill(directory: bytes, count: int, rng: random.Random) -> None:
    here = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    for number in range(count):
        name = b"%s-%06d.%s" % (
            rng.choice([b"report", b"img", b"module_test", b"x"]),
            number,
            rng.choice([b"c", b"txt", b"jpeg"]),
        )
        if number % 100 == 99:
            os.symlink(b"../somewhere/else", name, dir_fd=here)
        else:
            mode = rng.choice([0o644, 0o644, 0o600, 0o755])
            file = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode, dir_fd=here)
            if number % 4 >= EMPTY_OF_FOUR:
                os.write(file, rng.randbytes(rng.randrange(1, 3000)))
            os.close(file)
        os.utime(name, ns=(0, _some_time(rng)), dir_fd=here, follow_symlinks=False)
    os.close(here)


def _some_time(rng: random.Random) -> int:
    return rng.randrange(1_400_000_000, 1_700_000_000) * 10**9 + rng.randrange(10**9)


# That of Debian's package linux-source-6.1.
LINUX = "/usr/src/linux-source-6.1.tar.xz"


def linux(root: str) -> None:
    os.makedirs(root)
    run(["tar", "-C", root, "--strip-components=1", "-xf", LINUX], check=True, seconds=3600)


def large(root: str, count: int, size: int) -> "Tree":
    """Files of noise, no two alike."""
    os.makedirs(root)
    noise = bytearray(random.Random(1).randbytes(8 << 20))
    for number in range(count):
        with open(os.path.join(root, f"large-{number}"), "wb") as file:
            for offset in range(0, size, len(noise)):
                noise[:16] = number.to_bytes(8, "little") + offset.to_bytes(8, "little")
                file.write(noise[: size - offset])
    return Tree(root)


class Tree:
    """A tree, and the files that it has."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.files, self.entries, self.bytes = [], 0, 0
        for path, relative, status in entries(root):
            self.entries += relative != b"."
            if not stat.S_ISDIR(status.st_mode):
                self.bytes += status.st_size
            if stat.S_ISREG(status.st_mode):
                self.files.append(path)
        self.files.sort()
        # The files of the last change.
        self.changed: list[bytes] = []

    def edit(self, count: int, seed: int, every: int = 1) -> None:
        """New times for the same files for the same seed. Each of them, or every second one, is a line longer."""
        self.changed = random.Random(seed).sample(self.files, min(count, len(self.files)))
        for path in self.changed[every - 1 :: every]:
            with open(path, "ab") as file:
                file.write(b"one more line\n")
        for path in self.changed:
            os.utime(path)

    def rename(self, names: list[str]) -> None:
        """Renames a directory at the top from the first name to the second, and back the next time."""
        old, new = (os.fsencode(os.path.join(self.root, name, "")) for name in names)
        os.rename(old, new)
        names.reverse()
        self.files, self.changed = [path.replace(old, new, 1) for path in self.files], []

    def renew(self) -> None:
        """Makes everything as new, except the mirrored times."""
        for path, _, status in entries(self.root):
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns), follow_symlinks=False)

    def largest_directory(self) -> tuple[list[str], int]:
        """The one at the top with the most files below: its name, another one for it, and how many."""
        start = len(os.fsencode(self.root)) + 1
        tops = (path[start:].partition(b"/") for path in self.files)
        counts = Counter(os.fsdecode(name) for name, slash, _ in tops if slash)
        name, count = counts.most_common(1)[0]
        return [name, name + "-renamed"], count
