"""Races: during a run, another process exchanges the run's objects as fast as it can."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass

from attack_harness.copiers import COPIERS
from attack_harness.planted import plant
from attack_harness.scene import HOT_FILES, STATE, Scene
from attack_harness.served import PULL, PUSH, ServedScene
from attack_harness.table import Row
from harness import command
from harness.scratch import remove
from harness.trees import listing

# A place, and the type of its stand-in.
Pair = tuple[str, str]

PAUSES = [0, 20_000, 200_000, 2_000_000]


@dataclass
class Race:
    """Each place is exchanged with an object of a type. A symlink leads to a goal outside."""

    name: str
    places: list[Pair]
    kind: str = "symlink"
    # The path that a person gives may be a symlink. Whoever exchanges it chooses what is read, as with any
    # tool. Nothing may be written there.
    ignoring: tuple[str, ...] = ()
    # The target does not exist before the run.
    fresh: bool = False
    short: bool = False
    # The directory that is served to another machine, if there is one.
    way: str = ""

    def scene(self, tool: str, scratch: str, name: str) -> Scene:
        if self.way:
            return ServedScene(tool, scratch, name, self.way, first_apply=not self.fresh)
        return Scene(tool, scratch, name, first_apply=not self.fresh)

    def pairs(self, scene: Scene) -> list[Pair]:
        pairs = []
        for number, (place, goal) in enumerate(self.places):
            stand_in = os.path.join(scene.aside, str(number))
            remove(stand_in)
            plant(stand_in, self.kind, os.path.join(scene.outside, goal))
            pairs.append((os.path.join(scene.work, place), stand_in))
        return pairs

    def next_round(self, scene: Scene, pairs: list[Pair]) -> list[Pair]:
        if not self.fresh:
            scene.step()
            return pairs
        remove(scene.target)
        return self.pairs(scene)


def within(tree: str, *places: str) -> list[Pair]:
    """Places in a tree, with the same places in its copy outside."""
    above = {"source": "from", "target": "to"}[tree]
    return [(f"{above}/{tree}/{place}", f"{tree}/{place}") for place in places]


FILES = [f"hot/{name}" for name in HOT_FILES]
DEPTHS = ["hot", "hot/deep", "hot/deep/er", "cold"]
STATE_NAMES = ["stage", "history", "trash", "manifest.json", "mark", "last-run", "journal"]
STATE_PAIRS = [
    (f"to/target/{STATE}", "state"),
    *((f"to/target/{STATE}/{name}", f"state/{name}") for name in STATE_NAMES),
]
BOTH = within("source", "hot", "hot/deep/er") + within("target", "hot/deep", "cold")
ROOT, MADE, PARENT = ("to/target", "target"), ("to/target", "empty"), ("to", "to")
READ = ("st_atime_ns",)

RACES = [
    Race("source directory", within("source", "hot")),
    Race("source, three deep", within("source", "hot/deep/er")),
    Race("source, all depths", within("source", *DEPTHS), short=True),
    Race("source files", within("source", *FILES), short=True),
    Race("source files, FIFO", within("source", *FILES), "fifo", short=True),
    Race("source directory, FIFO", within("source", "hot/deep", "cold"), "fifo"),
    Race("target directory", within("target", "hot")),
    Race("target, three deep", within("target", "hot/deep/er")),
    Race("target, all depths", within("target", *DEPTHS), short=True),
    Race("target files", within("target", *FILES), short=True),
    Race("target files, FIFO", within("target", *FILES), "fifo"),
    Race("target directory, file", within("target", "hot/deep", "cold"), "file"),
    Race("both trees", BOTH, short=True),
    Race("state", STATE_PAIRS[:1]),
    Race("state: stage", STATE_PAIRS[1:2]),
    Race("state: history", STATE_PAIRS[2:3]),
    Race("state: all", STATE_PAIRS, short=True),
    Race("target root", [ROOT], ignoring=READ, short=True),
    Race("parent of the target", [PARENT], ignoring=READ),
    Race("target being made", [MADE], ignoring=READ, fresh=True, short=True),
]

# A key that is confined to a directory trusts nothing in it, so nothing may be read outside either.
SERVED = [
    Race("push: target, all depths", within("target", *DEPTHS), way=PUSH, short=True),
    Race("push: target files", within("target", *FILES), way=PUSH),
    Race("push: target files, FIFO", within("target", *FILES), "fifo", way=PUSH),
    Race("push: state: all", STATE_PAIRS, way=PUSH),
    Race("push: target root", [ROOT], way=PUSH, short=True),
    Race("push: parent of the target", [PARENT], way=PUSH, short=True),
    Race("push: target being made", [MADE], fresh=True, way=PUSH),
    Race("push: both trees", BOTH, way=PUSH),
    Race("pull: source, all depths", within("source", *DEPTHS), way=PULL, short=True),
    Race("pull: source files", within("source", *FILES), way=PULL),
    Race("pull: source files, FIFO", within("source", *FILES), "fifo", way=PULL),
    Race("pull: source root", [("from/source", "source")], way=PULL, short=True),
    Race("pull: both trees", BOTH, way=PULL),
]


def run(races: list[Race], tool: str, scratch: str, seconds: float, rng: random.Random) -> list[Row]:
    program = os.path.join(scratch, "swapper")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "swapper.c")
    if not command.compiled(source, program):
        sys.exit("scripts/attack: no C compiler: cc, clang or gcc")
    attack = Attack(tool, scratch, program, rng)
    rows = []
    for race in races:
        rows.append(row := Row(race.name))
        attack.run_against_tool(race, row, seconds)
        if not row.swaps:
            row.failures.append("nothing was exchanged")
        row.caught = Counter(name for name in COPIERS if attack.catches(race, name, min(seconds / 2, 3)))
        print(f"{race.name}: {row.runs} runs", flush=True)
    return rows


class Swapper:
    """The process that exchanges pairs until the block ends, then puts them back."""

    def __init__(self, program: str, pairs: list[Pair], rng: random.Random) -> None:
        numbers = [str(rng.randrange(1 << 30)), str(rng.choice(PAUSES))]
        self.words = [program, *numbers, *(path for pair in pairs for path in pair)]

    def __enter__(self) -> "Swapper":
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE)
        self.process.stdout.readline()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.swaps = int(self.process.communicate()[0] or 0)


@dataclass
class Attack:
    tool: str
    scratch: str
    program: str
    rng: random.Random

    def run_against_tool(self, race: Race, row: Row, seconds: float) -> None:
        scene = race.scene(self.tool, self.scratch, "race")
        pairs = race.pairs(scene)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pairs = race.next_round(scene, pairs)
            with Swapper(self.program, pairs, self.rng) as swapper:
                run = scene.run(scene.applying)
            row.swaps += swapper.swaps
            row.count(run)
            said = run.output + run.errors if run else b""
            if found := scene.escapes(said, race.ignoring):
                row.escapes.append(found)
                scene = race.scene(self.tool, self.scratch, "race")
                pairs = race.pairs(scene)
        if race.fresh and os.path.islink(scene.target):
            os.unlink(scene.target)
        if race.kind == "symlink":
            give_back(scene, pairs)
        if why := scene.settle():
            row.failures.append(why)

    def catches(self, race: Race, copier: str, seconds: float) -> bool:
        """Attacks a copier that uses paths in the same way, until it is caught."""
        end = time.monotonic() + seconds
        scene = race.scene(self.tool, self.scratch, "naive")
        for name in ("stage", "history"):
            # It needs the places that the tool makes itself.
            os.makedirs(os.path.join(scene.state, name), exist_ok=True)
        pairs = race.pairs(scene)
        while time.monotonic() < end:
            pairs = race.next_round(scene, pairs)
            with Swapper(self.program, pairs, self.rng):
                hangs = COPIERS[copier](scene)
            if hangs or scene.escapes(ignoring=race.ignoring):
                return True
        return False


def give_back(scene: Scene, pairs: list[Pair]) -> None:
    """Puts the attacker's objects back in their places. The tool may have moved the stand-in elsewhere."""
    if os.path.isdir(scene.state) and not os.path.islink(scene.state):
        for name in map(os.fsdecode, listing(scene.state)):
            if os.path.islink(os.path.join(scene.state, name)):
                os.unlink(os.path.join(scene.state, name))
    for place, stand_in in pairs:
        if os.path.lexists(stand_in) and not os.path.islink(stand_in):
            if os.path.islink(place):
                os.unlink(place)
            if not os.path.lexists(place):
                os.rename(stand_in, place)
