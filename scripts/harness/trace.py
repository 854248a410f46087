"""The system calls of a run, by strace: recorded, failed, stopped at and killed at.

strace counts the calls of each thread by themselves. A command that does its work in one thread
makes the same calls in every run: a point of it is a call and its number, such as ("renameat2", 3).
"""

import contextlib
import os
import random
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.command import Outcome

Point = tuple[str, int]
# A call, and what strace does to it.
Injection = tuple[str, str]


def traced(
    command: list[str],
    calls: Iterable[str] = (),
    log: str = os.devnull,
    inject: Iterable[Injection] = (),
    options: Iterable[str] = (),
) -> list[str]:
    """The command under strace, with these calls and the changed ones in the log."""
    # An older strace does not know every call: a question mark makes that no error.
    names = sorted({*calls, *(call for call, _ in inject)})
    words = [
        "strace",
        "-f",
        "-qq",
        "-o",
        log,
        "-e",
        "trace=" + ",".join("?" + name for name in names),
    ]
    for call, what in inject:
        words += ["-e", f"inject={call}:{what}"]
    return [*words, *options, *command]


def killing(call: str, number: int) -> Injection:
    return call, f"signal=KILL:when={number}"


def failing(call: str, error: str, when: int | str) -> Injection:
    """`when` is a number, or one and "+": from there on forever."""
    return call, f"error={error}:when={when}"


def stopping(points: Iterable[Point]) -> list[Injection]:
    """At one call or two of each kind."""
    inject = []
    for call in dict.fromkeys(call for call, _ in points):
        first, *more = sorted(number for name, number in points if name == call)
        when = f"{first}..{more[0]}+{more[0] - first}" if more else str(first)
        inject.append((call, f"signal=STOP:when={when}"))
    return inject


class Call(NamedTuple):
    """A call in a trace, with its number in its thread."""

    thread: str
    name: str
    number: int
    line: str

    @property
    def point(self) -> Point:
        return self.name, self.number


def recorded(log: str) -> list[Call]:
    counts: Counter = Counter()
    calls = []
    with open(log, errors="replace") as file:
        for line in file:
            if found := re.match(r"(\d+)\s+(\w+)\(", line):
                counts[found.groups()] += 1
                thread, name = found.groups()
                calls.append(Call(thread, name, counts[found.groups()], line))
    return calls


def counted(calls: Iterable[Call]) -> Counter:
    """How often one thread makes each call."""
    counts: Counter = Counter()
    for call in calls:
        counts[call.name] = max(counts[call.name], call.number)
    return counts


def points(counts: Counter, names: Iterable[str], sample: int | None, rng: random.Random) -> Iterator[Point]:
    """Every number of every call, or a sample of each call's."""
    for call in names:
        numbers = list(range(1, counts[call] + 1))
        if sample and len(numbers) > sample:
            numbers = sorted(rng.sample(numbers, sample))
        for number in numbers:
            yield call, number


class Halt:
    """A traced run that stops at its points, to be looked at, disturbed, continued or killed."""

    def __init__(self, command: list[str], log: str, seconds: float) -> None:
        self.log, self.seconds = log, seconds
        with contextlib.suppress(FileNotFoundError):
            os.unlink(log)
        self.stops = 0
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def wait(self) -> bool:
        """Waits for the next stop. False if the run has ended without it."""
        end = time.monotonic() + self.seconds
        while self.process.poll() is None:
            if (stops := self._count_stops()) > self.stops:
                self.stops = stops
                return True
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(self.process.args, self.seconds)
            time.sleep(0.001)
        return False

    def _count_stops(self) -> int:
        """Every thread reports a stop. The first one exists until the end. The one with the signal may have
        ended by the next stop."""
        stopped = f"{self.child} +--- stopped by SIGSTOP"
        try:
            with open(self.log, errors="replace") as file:
                return len(re.findall(f"^{stopped}", file.read(), re.M))
        except FileNotFoundError:
            return 0

    @property
    def child(self) -> int | None:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, IndexError):
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
                return int(file.read().split()[0])
        return None

    def go_on(self) -> None:
        # It may end in between.
        if child := self.child:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGCONT)

    def finish(self) -> Outcome:
        """Continues to the end, through all remaining stops."""
        self.go_on()
        while self.wait():
            self.go_on()
        return self._end()

    def kill(self) -> None:
        if self.process.poll() is None:
            if self.child:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.child, signal.SIGKILL)
            self._end()

    def _end(self) -> Outcome:
        output, errors = self.process.communicate(timeout=self.seconds)
        return Outcome(self.process.returncode, output, errors)


@contextlib.contextmanager
def stopped(
    command: list[str],
    at: Iterable[Point],
    log: str,
    calls: Iterable[str] = (),
    seconds: float = 60,
) -> Iterator[Halt]:
    """A run that stops right after these calls of one thread."""
    halt = Halt(traced(command, calls, log, stopping(list(at)), ["-y"]), log, seconds)
    try:
        yield halt
    finally:
        halt.kill()
