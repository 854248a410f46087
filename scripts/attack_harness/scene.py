"""A source and a target with canaries around them, and the checks after a run."""

import os
import stat
import subprocess
from collections.abc import Callable, Collection

from harness import command, trees
from harness.command import Outcome
from harness.scratch import remove
from harness.trees import content, difference, entries, listing, same, walk

STATE = ".fsync-lite"
TOKEN = b"CANARY"
PAST = 1_600_000_000 * 10**9

HOT_FILES = [f"f{number}" for number in range(8)]
DEEP_FILES = [f"g{number}" for number in range(4)]


def write(path: str, data: bytes, mode: int = 0o644, when: int = PAST) -> None:
    trees.write(path, data)
    os.chmod(path, mode)
    os.utime(path, ns=(when, when))


def mine(name: str, number: int = 0) -> bytes:
    return f"mine {name} {number}".encode().ljust(64, b".")


def theirs(name: str) -> bytes:
    return (TOKEN + f" {name}".encode()).ljust(64, b".")


def fill(root: str, make: Callable[[str], bytes]) -> None:
    """Makes the tree of the source, or its copy outside."""

    def files(folder: str, names: Collection[str]) -> dict[str, bytes]:
        return {name: make(f"{folder}/{name}") for name in names}

    deep = {"er": files("hot/deep/er", DEEP_FILES)}
    moving = files("cold/moving", [f"m{number}" for number in range(6)])
    cold = files("cold", [f"c{number}" for number in range(6)])
    hot = files("hot", HOT_FILES)
    trees.make(
        root,
        {"hot": {**hot, "deep": deep, "link": ("->", "f0")}, "cold": {**cold, "moving": moving}},
    )


class Canaries:
    """The tree outside, and its state before."""

    LOOKED_AT = "st_ino st_mode st_uid st_gid st_size st_nlink st_mtime_ns st_ctime_ns st_atime_ns".split()

    def __init__(self, path: str) -> None:
        self.path = path

    def arm(self) -> None:
        """Sets access times far back, so that any read moves them (relatime)."""
        for path, _, status in entries(self.path):
            os.utime(path, ns=(10**9, status.st_mtime_ns), follow_symlinks=False)
        self.seen = self.look()

    def look(self) -> dict[bytes, dict]:
        seen = {}
        for path, relative, status in entries(self.path):
            seen[relative] = {name: getattr(status, name) for name in self.LOOKED_AT}
            if stat.S_ISREG(status.st_mode):
                seen[relative]["content"] = content(path)
        return seen

    def changes(self, ignoring: Collection[str] = ()) -> list[str]:
        found = []
        now = self.look()
        for path in sorted(now.keys() | self.seen.keys()):
            name = trees.show(path)
            if path not in self.seen:
                found.append(f"{name} was created outside")
            elif path not in now:
                found.append(f"{name} was removed outside")
            else:
                one, other = now[path], self.seen[path]
                what = [key for key in one if one[key] != other[key] and key not in ignoring]
                if what:
                    found.append(f"{name} outside: {', '.join(what)}")
        return found


class Scene:
    def __init__(self, tool: str, scratch: str, name: str, *, first_apply: bool = True) -> None:
        self.tool = tool
        self.work = os.path.join(scratch, name)
        remove(self.work)
        self.source = os.path.join(self.work, "from", "source")
        self.target = os.path.join(self.work, "to", "target")
        self.aside = os.path.join(self.work, "aside")
        self.outside = os.path.join(self.work, "outside")
        self.state = os.path.join(self.target, STATE)
        for directory in ("from", "to", "aside", "outside"):
            os.makedirs(os.path.join(self.work, directory))
        self.canaries = Canaries(self.outside)
        self.round = 0
        fill(self.source, mine)
        if first_apply:
            command.run([tool, *self.applying], check=True)
        self._make_canaries()

    def _make_canaries(self) -> None:
        """Copies of the whole tree and of the state, with other names and contents."""
        for place in ("source", "target", "to/target"):
            root = os.path.join(self.outside, place)
            fill(root, theirs)
            for path, _, status in list(entries(root)):
                if stat.S_ISDIR(status.st_mode):
                    write(os.path.join(os.fsdecode(path), "canary-only"), theirs("canary-only"))
        os.mkdir(os.path.join(self.outside, "empty"))
        state = os.path.join(self.outside, "state")
        os.mkdir(state, 0o700)
        for name in ("manifest.json", "mark", "last-run", "settings.json", "journal", "journal.back"):
            inside = os.path.join(self.state, name)
            # A state that would be used if it were looked at.
            data = content(inside) if os.path.exists(inside) else b"{}\n"
            token = TOKEN * name.startswith("journal")
            write(os.path.join(state, name), data + token, 0o600)
        for name in ("stage", "history", "trash"):
            os.mkdir(os.path.join(state, name), 0o700)
            write(os.path.join(state, name, "canary-only"), theirs(name), 0o600)
        self.canaries.arm()

    def step(self) -> None:
        """Changes for the next run: in every place an edit, a new file and directory, a move, a mode."""
        self.round += 1
        number = self.round
        for place, names in (("hot", HOT_FILES), ("hot/deep/er", DEEP_FILES)):
            folder = os.path.join(self.source, place)
            name = names[number % len(names)]
            write(os.path.join(folder, name), mine(f"{place}/{name}", number), when=PAST + number)
            for old in map(os.fsdecode, listing(folder)):
                if old.startswith("new"):
                    remove(os.path.join(folder, old))
            write(os.path.join(folder, f"new{number}"), mine("new", number))
            os.mkdir(os.path.join(folder, f"newdir{number}"))
            write(os.path.join(folder, f"newdir{number}", "in"), mine("in", number))
            os.chmod(os.path.join(folder, names[-1]), 0o600 if number % 2 else 0o644)
        os.chmod(os.path.join(self.source, "hot/deep"), 0o700 if number % 2 else 0o755)
        moves = [os.path.join(self.source, name) for name in ("cold/moving", "hot/moved")]
        here, there = moves if number % 2 else reversed(moves)
        if os.path.isdir(here):
            os.rename(here, there)

    # --- Running --------------------------------------------------------------------------

    @property
    def applying(self) -> list[str]:
        return ["apply", "--max-delete", "unlimited", self.source, self.target]

    def run(self, arguments: list[str], seconds: float = 30) -> Outcome | None:
        """Returns None for a hang."""
        try:
            return command.run([self.tool, *arguments], seconds=seconds)
        except subprocess.TimeoutExpired:
            return None

    def escapes(self, output: bytes = b"", ignoring: Collection[str] = ()) -> list[str]:
        found = self.canaries.changes(ignoring)
        for path, relative, status in entries(self.target, with_state=True):
            name = trees.show(relative)
            if "canary-only" in name:
                found.append(f"{name} came into the target")
            elif stat.S_ISREG(status.st_mode) and TOKEN in content(path):
                found.append(f"{name} in the target has content from outside")
        if not ignoring and (b"canary-only" in output or TOKEN in output):
            found.append("the output tells of what is outside")
        return found

    def mirror_difference(self) -> str:
        found, wanted = walk(self.target), walk(self.source)
        return "" if same(found, wanted) else difference(found, wanted)

    def settle(self) -> str:
        """Runs without the attacker. Returns why the target was not repaired; empty if it was."""
        journals = (os.path.join(self.state, name) for name in ("journal", "journal.back"))
        if any(map(os.path.lexists, journals)):
            for options in ([], ["--displace"], ["--back", "--displace"]):
                run = self.run(["recover", *options, self.target])
                if run is None or run.code != 6:
                    break
            # Exit code 3 lists objects that are at none of their places. The attacker may have had them where
            # the tool put the stand-in. The apply must restore them.
            if run is None or run.code not in (0, 3):
                return f"recover: {told(run)}"
        run = self.run(self.applying)
        if run is None or run.code != 0:
            return f"quiet apply: {told(run)}"
        return self.mirror_difference()


def told(run: Outcome | None) -> str:
    return f"exit {run.code}: {run.message[-400:]}" if run else "it does not end"
