"""Random trees and random changes of every kind that a mirror follows."""

import os
import random
import shutil
from collections.abc import Callable


def grow(root: str, files: int, rng: random.Random) -> None:
    """A tree of about so many files, some with several names, some with attributes."""
    os.makedirs(root)
    directories = [root]
    for number in range(files):
        if number % 12 == 0:
            path = os.path.join(rng.choice(directories[-60:]), f"d{number}")
            os.mkdir(path)
            directories.append(path)
        make(rng.choice(directories), number, rng)
    _age(root, rng)


def make(directory: str, number: int, rng: random.Random) -> None:
    path = os.path.join(directory, f"n{number}-{rng.randrange(10**9)}")
    kind = rng.randrange(20)
    if kind == 0:
        os.symlink(f"n{number}", path)
    elif kind == 1:
        os.mkfifo(path)
    else:
        with open(path, "wb") as file:
            file.write(rng.randbytes(rng.choice([0, 1, 20, 100, 300, 2000])))
        if kind == 2:
            os.setxattr(path, "user.note", rng.randbytes(6))
        if kind == 3:
            os.link(path, path + "-too")


def rewrite_in_place(path: str, change: Callable[[int], int], hides: bool) -> None:
    """Gives each byte another value; `hides` puts the modification time back."""
    status = os.stat(path)
    with open(path, "r+b") as file:
        content = file.read()
        file.seek(0)
        file.write(bytes(map(change, content)))
    if hides:
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def edit(root: str, rng: random.Random, changes: int) -> None:
    for number in range(changes):
        rng.choice(EDITS)(root, rng, number)


def _age(root: str, rng: random.Random) -> None:
    """Times in the past, so that they differ."""
    for path, _, names in os.walk(root, topdown=False):
        for name in [*names, "."]:
            when = rng.randrange(10**9 * 1_000_000_000, 10**9 * 1_700_000_000)
            os.utime(os.path.join(path, name), ns=(when, when), follow_symlinks=False)


def _pick(root: str, rng: random.Random, directories: bool) -> str:
    """Something of the tree, by a random walk: no listing of all of it for each change."""
    path = root
    while True:
        entries = [entry for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False) or not directories]
        if not entries or (path != root and rng.random() < 0.4):
            return path
        entry = rng.choice(sorted(entries, key=lambda entry: entry.name))
        path = entry.path
        if not entry.is_dir(follow_symlinks=False):
            return path


def _file(root: str, rng: random.Random) -> str | None:
    path = _pick(root, rng, False)
    return path if _is_plain(path) else None


def _create(root: str, rng: random.Random, number: int) -> None:
    make(_pick(root, rng, True), number, rng)


def _rewrite(root: str, rng: random.Random, number: int) -> None:
    if path := _file(root, rng):
        with open(path, "wb") as file:
            file.write(rng.randbytes(rng.randrange(400)))


def _replace_by_twin(root: str, rng: random.Random, number: int) -> None:
    """Other content of the same size and time."""
    if path := _file(root, rng):
        rewrite_in_place(path, lambda _: rng.randrange(256), hides=True)


def _delete(root: str, rng: random.Random, number: int) -> None:
    path = _pick(root, rng, False)
    if path == root:
        return
    if os.path.isdir(path) and not os.path.islink(path):
        if sum(len(names) for _, _, names in os.walk(path)) < 40:
            shutil.rmtree(path)
    else:
        os.unlink(path)


def _move(root: str, rng: random.Random, number: int) -> None:
    path, directory = _pick(root, rng, number % 3 == 0), _pick(root, rng, True)
    if path != root and not (directory + "/").startswith(path + "/"):
        goal = os.path.join(directory, f"m{number}-{rng.randrange(10**9)}")
        os.rename(path, goal)


def _swap(root: str, rng: random.Random, number: int) -> None:
    first, second = _pick(root, rng, number % 2 == 0), _pick(root, rng, number % 2 == 0)
    related = (first + "/").startswith(second + "/") or (second + "/").startswith(first + "/")
    if root not in (first, second) and not related:
        os.rename(first, first + ".swap")
        os.rename(second, first)
        os.rename(first + ".swap", second)


def _turn_inside_out(root: str, rng: random.Random, number: int) -> None:
    """A directory becomes one of its own directories'."""
    inner = _pick(root, rng, True)
    outer = os.path.dirname(inner)
    if inner != root and outer != root:
        above = os.path.join(os.path.dirname(outer), f"i{number}-{rng.randrange(10**9)}")
        os.rename(inner, above)
        os.rename(outer, os.path.join(above, f"o{number}-{rng.randrange(10**9)}"))


def _change_type(root: str, rng: random.Random, number: int) -> None:
    if path := _file(root, rng):
        os.unlink(path)
        if number % 2:
            os.mkdir(path)
            make(path, number, rng)
        else:
            os.symlink("elsewhere", path)


def _chmod(root: str, rng: random.Random, number: int) -> None:
    path = _pick(root, rng, number % 2 == 0)
    if not os.path.islink(path):
        os.chmod(
            path,
            rng.choice([0o700, 0o711, 0o755, 0o750] if os.path.isdir(path) else [0o600, 0o640, 0o444]),
        )


def _touch(root: str, rng: random.Random, number: int) -> None:
    when = rng.randrange(10**18)
    os.utime(_pick(root, rng, number % 2 == 0), ns=(when, when), follow_symlinks=False)


def _annotate(root: str, rng: random.Random, number: int) -> None:
    path = _pick(root, rng, number % 2 == 0)
    if os.path.isdir(path) or _is_plain(path):
        os.setxattr(path, "user.note", rng.randbytes(8))


def _is_plain(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)


def _link(root: str, rng: random.Random, number: int) -> None:
    if path := _file(root, rng):
        os.link(path, os.path.join(_pick(root, rng, True), f"l{number}-{rng.randrange(10**9)}"))


EDITS = [
    _create,
    _create,
    _rewrite,
    _rewrite,
    _replace_by_twin,
    _delete,
    _move,
    _move,
    _swap,
    _turn_inside_out,
    _change_type,
    _chmod,
    _touch,
    _annotate,
    _link,
]
