"""Stops: at one system call a place is exchanged, for good or for one call."""

import ctypes
import glob
import os
import random
import subprocess

from attack_harness.races import within
from attack_harness.scene import STATE, Scene
from attack_harness.table import Row
from harness import command, trace
from harness.command import Outcome
from harness.trace import Point

CALLS = """
    openat statx getdents64 readlinkat copy_file_range mkdirat symlinkat renameat2 unlinkat
    utimensat fchownat fchown fchmod chmod fallocate fsync syncfs
""".split()

# The places. `*` is an existing name, such as the transaction's own directory in the stage.
PLACES = {
    **dict(within("source", "hot", "hot/deep/er", "hot/f1")),
    **dict(within("target", "hot", "hot/deep/er", "hot/f1", "cold/moving")),
    f"to/target/{STATE}": "state",
    f"to/target/{STATE}/stage": "state/stage",
    f"to/target/{STATE}/stage/*": "state/stage",
    f"to/target/{STATE}/stage/*/0": "target/hot",
    f"to/target/{STATE}/stage/*/0/*": "target/hot",
    f"to/target/{STATE}/history": "state/history",
    f"to/target/{STATE}/history/*": "state/history",
    f"to/target/{STATE}/mark": "state/mark",
    f"to/target/{STATE}/manifest.json": "state/manifest.json",
}


def run(tool: str, scratch: str, count: int, rng: random.Random) -> list[Row]:
    """A row for each place, over a sample of all calls."""
    rows = {place: Row(place.split("/", 1)[1]) for place in PLACES}
    points = points_of(scene_with_changes(tool, scratch), os.path.join(scratch, "trace"))
    # Before the first directory is made there is no stage.
    late = points[points.index(("mkdirat", 1)) :]
    cases = [(point, place) for place in PLACES for point in (late if "/stage" in place else points)]
    for point, place in rng.sample(cases, count) if count < len(cases) else cases:
        Stop(scene_with_changes(tool, scratch), place, rows[place]).run(point, rng.choice((1, 2)))
    for row in rows.values():
        # In a sample, a place may not exist yet at each of the few calls.
        if not row.swaps and row.runs > 20:
            row.failures.append("nothing was exchanged")
    return list(rows.values())


def scene_with_changes(tool: str, scratch: str) -> Scene:
    scene = Scene(tool, scratch, "stop")
    scene.step()
    return scene


def applying(scene: Scene) -> list[str]:
    return [scene.tool, *scene.applying, "--threads", "1"]


def points_of(scene: Scene, log: str) -> list[Point]:
    """Each call of the thread that does the work, in order."""
    command.run(trace.traced(applying(scene), CALLS, log))
    # What strace has no name for is in every log.
    calls = [call for call in trace.recorded(log) if call.name in CALLS]
    return [call.point for call in calls if call.thread == calls[0].thread]


class Stop:
    """A place of a scene that is exchanged with a symlink to its copy outside."""

    def __init__(self, scene: Scene, place: str, row: Row) -> None:
        self.scene, self.place, self.row = scene, place, row
        self.stand_in = os.path.join(scene.aside, "0")
        os.symlink(os.path.join(scene.outside, PLACES[place]), self.stand_in)
        scene.canaries.arm()
        # Which one was exchanged, because the place may be a pattern.
        self.exchanged = ""

    def run(self, point: Point, calls: int) -> None:
        """The place is exchanged at a call, and back at the next one of its kind if there are two."""
        scene, row = self.scene, self.row
        case = f"{self.place} at {point[0]} {point[1]}"
        run = self.stopping(point, calls)
        row.count(run, case)
        if found := scene.escapes(run.output + run.errors if run else b""):
            row.escapes.append([case, *found])
        # The attacker ends, and removes the stand-in.
        if os.path.islink(self.exchanged) and not os.path.islink(self.stand_in):
            exchange(self.exchanged, self.stand_in)
        if why := scene.settle():
            row.failures.append(f"{case}: exit {run and run.code}; {why}")

    def stopping(self, point: Point, calls: int) -> Outcome | None:
        name, number = point
        at = [(name, number + index) for index in range(calls)]
        log = os.path.join(self.scene.work, "trace")
        try:
            with trace.stopped(applying(self.scene), at, log, seconds=30) as halt:
                if halt.wait():
                    self.exchange()
                    halt.go_on()
                if calls > 1 and halt.wait() and self.exchanged:
                    exchange(self.exchanged, self.stand_in)
                return halt.finish()
        except subprocess.TimeoutExpired:
            return None

    def exchange(self) -> None:
        pattern = os.path.join(self.scene.work, self.place)
        found = sorted(glob.glob(pattern), key=lambda path: (os.path.isdir(path), path))
        if found and exchange(found[-1], self.stand_in):
            self.exchanged = found[-1]
            self.row.swaps += 1


def exchange(left: str, right: str) -> bool:
    """Uses `RENAME_EXCHANGE`. Returns false if one of them does not exist."""
    library = ctypes.CDLL(None, use_errno=True)
    return library.renameat2(-100, os.fsencode(left), -100, os.fsencode(right), 2) == 0
