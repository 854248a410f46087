"""The connection to another machine is cut, or the process there is killed: in a push, a pull, and an undo
there. The output of the run is true, the target is the old tree or the new one, and the next run sends little
again."""

import json
import os
import random
import shlex
from collections import Counter
from collections.abc import Iterable
from typing import Any

from crash_harness.history import Undo
from crash_harness.trial import CHANGING, READING, Trial
from crash_harness.verdict import DONE, PENDING, settle
from harness import command, trace, trees
from harness.command import Outcome
from harness.line import NEEDS, Line
from harness.trace import Injection, killing, points
from harness.trees import difference, same

WORKLOADS = ["mixed sizes", "mixed changes"]
# The exit codes of a run whose connection was lost. After PENDING the commit may have ended in any way.
UNCHANGED = (1, 69)
POINTS, FEW_POINTS = 100, 2
# The bytes that may be sent again: those under way when the connection was cut, and heads of frames.
WINDOW, HEADS = 4 << 20, 64 << 10
# How often staged files are noted, for a target that is killed.
SECONDS = 5
SLOWLY = 2 << 20


def line(trial: Trial) -> None:
    """The connection to another machine is cut, or the process there killed, in push, pull and undo."""
    line = Line(trial.scratch)
    if not line.compiles():
        trial.results.skip("line", NEEDS)
        return
    for way in ("push", "pull"):
        Breaking(FarTrial(trial, line, way)).run()
    if trial.name == "mixed changes":
        Breaking(FarUndo(trial, line, "push")).run()


class FarTrial(Trial):
    """A trial whose source or target is on another machine."""

    hows = ("forward", "back", "apply")

    def __init__(self, trial: Trial, line: Line, way: str) -> None:
        vars(self).update(vars(trial))
        self.line, self.way = line, way
        self.far_tool = os.path.join(trial.scratch, "far-fsync-lite")
        # The bytes of content of each run.
        self.sent: list[int] = []
        self.title = f"{self.name} {way}"

    @property
    def apply(self) -> list[str]:
        return self.over(super().apply)

    def over(self, words: list[str]) -> list[str]:
        """A command over the connection. Its operand for this trial is on the other machine."""
        *words, last = words
        if self.way == "push":
            last = "far:" + last
        else:
            words[-1] = "far:" + words[-1]
        return [*words, last, *self.line.conveying(self.far_tool)]

    def cut(self, words: list[str], *options: str) -> list[str]:
        """The same over a connection that is cut."""
        number = words.index("--ssh") + 1
        return [*words[:number], " ".join(self.line.words(*options)), *words[number + 1 :]]

    def run(self, arguments: list[str], *inject: Injection, **options: Any) -> Outcome:
        """An injection into a command over the connection happens at the other end."""
        if "--ssh" not in arguments:
            return super().run(arguments, *inject, **options)
        far = [self.tool]
        return self._run(arguments, trace.traced(far, log=self.log, inject=inject) if inject else far, **options)

    def record(
        self, arguments: list[str], calls: Iterable[str] = CHANGING, inject: Iterable[Injection] = ()
    ) -> list[trace.Call]:
        self._run(arguments, trace.traced([self.tool], calls, self.log, inject))
        return trace.recorded(self.log)

    def _run(self, arguments: list[str], far: list[str], **options: Any) -> Outcome:
        trees.write(self.far_tool, f'#!/bin/sh\nexec {shlex.join(far)} "$@"\n'.encode())
        os.chmod(self.far_tool, 0o755)
        self.line.clear()
        outcome = command.run([self.tool, *arguments], **options)
        self.traffic = self.line.traffic()
        self.sent.append(self.traffic.content_there if self.way == "push" else self.traffic.content_back)
        return outcome

    def manifest(self) -> str | None:
        """The manifest as a user sees it: empty if there is none, None while a commit is pending."""
        words = ["status", "--json", self.target]
        status = self.run(self.over(words) if self.way == "push" else words)
        shown = json.loads(status.output)
        return None if shown.get("state") == "pending" else shown.get("manifest") or ""


class FarUndo(FarTrial, Undo):
    """An undo over the connection, of a target with a history."""

    hows = Undo.hows

    def __init__(self, trial: Trial, line: Line, way: str) -> None:
        FarTrial.__init__(self, trial, line, way)
        self.title = f"{self.name} undo"

    @property
    def command(self) -> list[str]:
        return self.over(super().command)


class Breaking:
    """Judges a command whose connection, or whose other end, was lost."""

    def __init__(self, trial: FarTrial) -> None:
        self.trial, self.results = trial, trial.results
        # The most bytes of content that were sent again, by what was done.
        self.again: Counter = Counter()

    # --- Breaking -----------------------------------------------------------------------------

    def run(self) -> None:
        trial, count = self.trial, FEW_POINTS if self.trial.short else POINTS
        trial.reset()
        trial.run(trial.command, check=True)
        self.whole, traffic = trial.sent[-1], trial.traffic
        for option, total in (("-t", traffic.there), ("-b", traffic.back)):
            for number in spread(total, count, trial.rng):
                self.cut(option, number)
        self.kill(count)
        if not trial.short and self.whole > 10 * SLOWLY:
            self.cut_slowly()
        most = ", ".join(f"{again:,} after {what}" for what, again in sorted(self.again.items()))
        print(f"  line {trial.title}: of {self.whole:,} bytes of content at most {most} were sent again", flush=True)

    def cut(self, option: str, number: int, *others: str, may_send_again: int = WINDOW) -> None:
        trial = self.trial
        self.begin()
        run = trial.run([*trial.cut(trial.command, option, str(number), *others[:1]), *others[1:]])
        passed = trial.traffic.there if option == "-t" else trial.traffic.back
        self.results.count("line", passed == number)
        case = f"line {trial.title} {option} {number} {' '.join(others)}".strip()
        self.judge("a slow kill" if others else "a cut", case, run, may_send_again)

    def kill(self, count: int) -> None:
        """Kills the other end. That of a pull only reads, so it is killed at its reads, and the target is not."""
        trial = self.trial
        trial.reset()
        calls, may_send_again = (CHANGING, self.whole) if trial.way == "push" else (CHANGING + READING, WINDOW)
        every = list(points(trial.count(trial.command, calls), calls, None, trial.rng))
        for call, number in sorted(trial.rng.sample(every, min(count, len(every)))):
            self.begin()
            run = trial.run(trial.command, killing(call, number))
            self.results.count("line", b"the connection was lost" in run.errors)
            self.judge("a kill", f"line {trial.title} kill {call} {number}", run, may_send_again)

    def cut_slowly(self) -> None:
        """Kills the other end after it has copied for longer than the time between two notes of its files."""
        is_push = self.trial.way == "push"
        option, copied = ("-t", SECONDS * SLOWLY) if is_push else ("-b", 0)
        for percent in (50, 70, 90):
            number = self.whole * percent // 100
            self.cut(option, number, "-k", "--bandwidth", str(SLOWLY), may_send_again=copied + WINDOW)

    # --- Judging ------------------------------------------------------------------------------

    def begin(self) -> None:
        self.trial.reset()
        self.before = self.trial.manifest()
        self.trial.sent.clear()

    def judge(self, what: str, case: str, run: Outcome, may_send_again: int) -> None:
        trial, (passed,) = self.trial, self.trial.sent
        self.judge_answer(case, run)
        trial.sent.clear()
        settle(trial, case, run.code, how=trial.how())
        again = passed + sum(trial.sent) - self.whole
        self.again[what] = max(self.again[what], again)
        if again > may_send_again + HEADS:
            self.results.fail("resent", case, f"{again} bytes of content were sent again, {passed} had passed")

    def judge_answer(self, case: str, run: Outcome) -> None:
        trial, found = self.trial, self.trial.there()

        def fail(message: str) -> None:
            self.results.fail("untruthful", case, f"{message}: exit {run.code}: {run.message}")

        if run.code not in (DONE, PENDING, *UNCHANGED):
            fail("no outcome of a lost line")
        if run.code in UNCHANGED and (trial.is_pending() or not same(found, trial.old)):
            fail(f"the target changed, {difference(found, trial.old)}")
        manifest = trial.manifest()
        if (manifest is None) != trial.is_pending():
            fail("status does not tell of the commit")
        elif manifest is not None and not same(found, trial.old if manifest == self.before else trial.new):
            fail(f"status says {'old' if manifest == self.before else 'new'}")


def spread(total: int, count: int, rng: random.Random) -> list[int]:
    """Numbers of bytes all over a conversation, and more near its beginning and end, where it is most dense."""
    steps = [round((total / 2) ** (step / count)) for step in range(count)]
    near = sorted({*steps, *(total - step for step in steps)})
    chosen = set(rng.sample(near, min(len(near), count * 2 // 3 or 1)))
    while len(chosen) < min(count, total - 1):
        chosen.add(rng.randrange(1, total))
    return sorted(chosen)
