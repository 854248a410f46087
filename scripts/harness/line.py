"""A connection to another machine in ssh's place, which counts, delays and cuts the bytes."""

import contextlib
import os
from collections.abc import Sequence
from typing import NamedTuple

from harness import command

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "line.c")
NEEDS = "needs a C compiler"


class Traffic(NamedTuple):
    """Bytes there and back, those of them that are content, and how often the direction changed."""

    there: int
    back: int
    content_there: int
    content_back: int
    turns: int


class Line:
    """A connection. Its traffic is known when both ends have ended."""

    def __init__(self, folder: str) -> None:
        self.program = os.path.join(folder, "line")
        self.report = os.path.join(folder, "traffic")
        self.peak = os.path.join(folder, "peak")

    def compiles(self) -> bool:
        return os.path.exists(self.program) or command.compiled(SOURCE, self.program, "-pthread")

    def words(self, *options: str, ssh: Sequence[str] = ("here",)) -> list[str]:
        """The command in ssh's place. Without another one, a shell of this machine is the other end."""
        return [self.program, *options, self.report, *ssh]

    def conveying(self, tool: str) -> list[str]:
        """The options of a fsync-lite command that uses it."""
        return ["--ssh", " ".join(self.words()), "--remote-command", tool]

    def noting_peak(self, *words: str) -> list[str]:
        """A command at the other end whose peak memory is noted."""
        return [self.program, "-p", self.peak, *words]

    def clear(self) -> None:
        for path in (self.report, self.peak):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    def traffic(self, seconds: float = 60) -> Traffic:
        """The traffic of the last run. Waits for its other end."""
        *numbers, process = _numbers(self.report, seconds)
        # A child where this process adopts orphans.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process, 0)
        return Traffic(*numbers)

    def far_peak(self, seconds: float = 60) -> int:
        return _numbers(self.peak, seconds)[0]


def _numbers(path: str, seconds: float) -> list[int]:
    if not command.wait_until(lambda: os.path.exists(path), seconds):
        raise TimeoutError(f"the far end does not end: {path}")
    with open(path) as file:
        return [int(word) for word in file.read().split()]
