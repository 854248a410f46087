"""The order of the protocol, checked in a trace of the system calls.

A lost barrier shows after few power cuts, if ever; in the trace it shows at once. `violations`
knows only names and calls. Each rule proves itself on every run: the trace is altered as if the
rule had been broken, and the checker must say so.
"""

import os
import re
from collections.abc import Callable, Iterator

from crash_harness.results import Results
from crash_harness.trial import CHANGING, SYNCING, Trial
from harness.trace import Injection, failing, killing

TRACED = [*CHANGING, "close", "statx", "pread64", "read", "exit_group"]
FILLING = {"write", "pwrite64", "copy_file_range", "ftruncate", "fallocate", "ioctl"}
# Which files are staged whole and durable.
LOG = "log"
FD = r"(\d+|AT_FDCWD)<([^>]*)>"


class Call:
    """One system call: its name, the path of its descriptor, the names in it, and its result."""

    def __init__(self, thread: str, name: str, arguments: str, result: str) -> None:
        self.thread, self.name, self.arguments = thread, name, arguments
        self.failed = result.startswith("-1")
        descriptors = [path for _, path in re.findall(FD, arguments)]
        names = re.findall(r'"((?:[^"\\]|\\.)*)"', arguments)
        self.place = descriptors[0] if descriptors else ""
        if name == "copy_file_range":
            self.source, self.place = descriptors[0], descriptors[1]
        elif name == "ioctl" and len(descriptors) > 1:
            self.source = descriptors[1]
        elif name == "symlinkat":
            names = names[1:]
        self.path = os.path.join(self.place, names[0]) if names and names[0] and name not in FILLING else self.place
        self.goal = os.path.join(descriptors[1], names[1]) if name == "renameat2" and len(names) > 1 else None

    @property
    def changes(self) -> bool:
        if self.failed:
            return False
        if self.name == "openat":
            return "O_CREAT" in self.arguments or "O_TRUNC" in self.arguments
        if self.name == "ioctl":
            return "FICLONE" in self.arguments or "0x94" in self.arguments
        return self.name in CHANGING and self.name not in (*SYNCING, "flock")

    def __repr__(self) -> str:
        return f"{self.name} {self.path}" + (f" -> {self.goal}" if self.goal else "")


def read_trace(log: str) -> list[Call]:
    calls, unfinished, opened = [], {}, {}
    with open(log, errors="replace") as file:
        for line in file:
            thread, _, rest = line.rstrip("\n").partition(" ")
            rest = rest.strip()
            if rest.endswith("<unfinished ...>"):
                unfinished[thread] = rest.removesuffix("<unfinished ...>").rstrip()
                continue
            resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", rest)
            if resumed:
                rest = unfinished.pop(thread, "") + resumed.group(1)
            found = re.match(r"(\w+)\((.*)\)\s+= (.*)$", rest)
            if not found:
                continue
            name, arguments, result = found.groups()
            if name == "openat" and (descriptor := re.match(r"(\d+)<(.*)>$", result)):
                opened[descriptor.group(1)] = descriptor.group(2)
            # The call that the C library makes for a rename without flags.
            name = "renameat2" if name == "renameat" else name
            # By its descriptor, because no call takes one that is only a place.
            arguments = re.sub(
                r'^"/proc/self/fd/(\d+)"',
                lambda number: f'"{opened.get(number.group(1))}"',
                arguments,
            )
            calls.append(Call(thread, name, arguments, result))
    return calls


# --- The rules --------------------------------------------------------------------------------


class Trace:
    def __init__(self, calls: list[Call], source: str, target: str, recovers: bool = False) -> None:
        self.calls = calls
        self.source, self.target = os.path.realpath(source), os.path.realpath(target)
        self.state = os.path.join(self.target, ".fsync-lite")
        self.stage = os.path.join(self.state, "stage")
        self.journals = [os.path.join(self.state, name) for name in ("journal", "journal.back")]
        renames = self.places(lambda call: call.goal == self.journals[0] and not call.failed)
        # Before the first call if there is none: a recovery has its journal from the start.
        self.commit = renames[0] if renames else -1
        self.has_commit = bool(renames) or recovers
        turns = self.places(lambda call: call.goal == self.journals[1] and not call.failed)
        self.turn = turns[0] if turns else None
        ends = self.places(lambda call: call.name == "unlinkat" and call.path in self.journals and not call.failed)
        self.end = ends[0] if ends else None
        # Those before the commit.
        self.barriers = self.places(lambda call: call.name == "syncfs", 0, max(self.commit, 0))

    def between(self, first: int, last: int | None) -> Iterator[tuple[int, Call]]:
        return iter(enumerate(self.calls[first:last], first))

    def places(self, test: Callable[[Call], bool], first: int = 0, last: int | None = None) -> list[int]:
        """The numbers of such calls."""
        return [number for number, call in self.between(first, last) if test(call)]

    def synced(self, paths: set[str], first: int, last: int) -> bool:
        """Whether a call between the two makes these paths durable."""
        return any(
            not call.failed
            and (
                call.name == "syncfs"
                and inside(call.place, self.target)
                or call.name == "fsync"
                and call.place in paths
            )
            for _, call in self.between(first, last)
        )

    def operations(self) -> Iterator[tuple[int, Call]]:
        """The calls of the commit that change names or attributes, with the mark and the
        history."""
        if not self.has_commit:
            return
        last = self.end if self.end is not None else len(self.calls)
        for index, call in self.between(self.commit + 1, last):
            if call.changes and inside(call.path, self.target) and call.goal not in self.journals:
                yield index, call

    def in_tree(self, path: str | None) -> bool:
        return path is not None and inside(path, self.target) and not inside(path, self.state)


Rule = Callable[[Trace], Iterator[str]]


def inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory + "/")


def staged_is_synced(trace: Trace) -> Iterator[str]:
    """Barrier 1: the staged objects are durable before the journal has its name."""
    for index, call in trace.between(0, max(trace.commit, 0)):
        place = call.goal or call.path
        is_staged = inside(place, trace.stage) and not place.endswith("/ballast")
        if call.changes and is_staged and not trace.synced({place}, index, trace.commit):
            yield f"not synced before the commit: {call}"


def journal_is_synced(trace: Trace) -> Iterator[str]:
    if trace.commit >= 0:
        journal = trace.calls[trace.commit].path
        written = trace.places(lambda call: call.place == journal and call.name == "write", 0, trace.commit)
        if not written or not trace.synced({journal}, written[-1], trace.commit):
            yield "the journal's content is not synced before it has its name"


def journal_name_is_synced(trace: Trace) -> Iterator[str]:
    """Both names: that of a commit, and that of a commit that is undone."""
    for named in (trace.commit, trace.turn):
        if named is None or named < 0:
            continue
        operation = next((i for i, call in trace.operations() if i > named), len(trace.calls))
        if not trace.synced({trace.state}, named, operation):
            yield f"{trace.calls[named].goal} is not synced before the first operation"


def operations_are_synced(trace: Trace) -> Iterator[str]:
    """Barrier 2: the tree is durable before the journal is removed."""
    if trace.end is not None:
        for index, call in trace.operations():
            if not trace.synced(set(), index, trace.end):
                yield f"not synced before the journal went: {call}"


def end_is_synced(trace: Trace) -> Iterator[str]:
    """The journal's objects remain until its removal is durable, and so does the process."""
    if trace.end is not None:
        later = trace.places(lambda call: call.changes and inside(call.path, trace.target), trace.end + 1)
        if not trace.synced({trace.state}, trace.end, [*later, len(trace.calls)][0]):
            yield "the removal of the journal is not synced"


def sync_error_is_final(trace: Trace) -> Iterator[str]:
    for failed in trace.places(lambda call: call.name in ("fsync", "syncfs") and call.failed)[:1]:
        for _, call in trace.between(failed, None):
            if call.name == "unlinkat" and call.path in trace.journals:
                yield "the journal went after a sync had failed"
            if call.goal == trace.journals[0]:
                yield "a commit began after a sync had failed"


def objects_are_checked(trace: Trace) -> Iterator[str]:
    """Immediately before the commit, each object that will leave its place is looked at once more."""
    if not trace.barriers:
        return
    seen = {call.path for _, call in trace.between(trace.barriers[-1], trace.commit) if call.name == "statx"}
    moved: set[str] = set()
    for _, call in trace.operations():
        if call.name != "renameat2":
            continue
        # By their names at that time. Below a directory that has moved since, they differ.
        for path in (call.path, call.goal if "EXCHANGE" in call.arguments else None):
            if trace.in_tree(path) and not any(inside(path, other) for other in moved) and path not in seen:
                yield f"not looked at before the commit: {path}"
        moved |= {call.path, call.goal or call.path}


def names_are_not_overwritten(trace: Trace) -> Iterator[str]:
    for _, call in trace.operations():
        if call.name == "renameat2" and "RENAME_NOREPLACE" not in call.arguments and "EXCHANGE" not in call.arguments:
            yield f"this may overwrite: {call}"


def attributes_come_last(trace: Trace) -> Iterator[str]:
    is_set = False
    for index, call in trace.operations():
        if trace.turn is not None and index >= trace.turn:
            return
        is_set |= call.name == "utimensat" and trace.in_tree(call.path)
        if is_set and call.name == "renameat2" and (trace.in_tree(call.path) or trace.in_tree(call.goal)):
            yield f"names change after attributes were set: {call}"


def sources_are_looked_at_again(trace: Trace) -> Iterator[str]:
    """After a source's last byte was staged and before it is closed, its status is read once more."""
    reading, copied = None, {}
    for call in trace.calls[: max(trace.commit, 0)]:
        source = getattr(call, "source", call.place)
        if call.failed:
            continue
        if call.name in ("pread64", "read", "copy_file_range", "ioctl") and inside(source, trace.source):
            reading = source
        if call.name in FILLING and inside(call.place, trace.stage) and reading:
            copied[reading] = False
        elif call.name == "statx" and source in copied and call.path == source:
            copied[source] = True
        elif call.name == "close" and inside(source, trace.source):
            reading = None
            if not copied.pop(source, True):
                yield f"closed without another look: {source}"


def writes_log(call: Call) -> bool:
    return call.name == "write" and os.path.basename(call.place) == LOG and not call.failed


def log_is_true(trace: Trace) -> Iterator[str]:
    """The log of an interrupted stage lists only synced files, because the next run uses them without reading."""
    for listed, call in enumerate(trace.calls):
        if not writes_log(call) or not inside(call.place, trace.stage):
            continue
        for index, written in trace.between(0, listed):
            fills = written.name in FILLING and inside(written.place, trace.stage)
            if not fills or written.place == call.place:
                continue
            if not trace.synced({written.place}, index, listed):
                yield f"in the log and not synced: {written}"


def others_are_left_alone(trace: Trace) -> Iterator[str]:
    for call in trace.calls:
        place = call.goal or call.path
        if not call.changes or call.name in ("write", "ioctl") or not place.startswith("/"):
            continue
        if inside(place, trace.source) or not inside(place, trace.target) and place != trace.target:
            yield f"outside the target: {call}"


RULES = [
    staged_is_synced,
    journal_is_synced,
    journal_name_is_synced,
    operations_are_synced,
    end_is_synced,
    sync_error_is_final,
    objects_are_checked,
    names_are_not_overwritten,
    attributes_come_last,
    sources_are_looked_at_again,
    log_is_true,
    others_are_left_alone,
]


def violations(trace: Trace) -> list[tuple[Rule, str]]:
    return [(rule, message) for rule in RULES for message in list(rule(trace))[:2]]


# --- Proof that each rule is alive ------------------------------------------------------------


def broken_traces(trace: Trace) -> Iterator[tuple[Rule, Trace]]:
    """For each rule, the trace of a tool that breaks it: the same calls except one."""
    calls, commit, end, barriers = trace.calls, trace.commit, trace.end, trace.barriers
    if not barriers or end is None:
        return

    def made(calls: list[Call]) -> Trace:
        return Trace(calls, trace.source, trace.target)

    def without(test: Callable[[Call], bool], first: int = 0, last: int | None = None) -> Trace:
        left_out = set(trace.places(test, first, last))
        return made([call for i, call in enumerate(calls) if i not in left_out])

    def with_call(index: int, name: str, arguments: str, result: str = "0") -> Trace:
        call = Call(calls[index - 1].thread, name, arguments, result)
        return made([*calls[:index], call, *calls[index:]])

    journal, barrier = calls[commit].path, barriers[-1]
    yield staged_is_synced, without(lambda call: call.name == "syncfs", 0, commit)
    yield journal_is_synced, without(lambda call: call.name == "fsync" and call.place == journal, 0, commit)
    yield journal_name_is_synced, without(lambda call: call.name == "fsync", commit, end)
    yield operations_are_synced, without(lambda call: call.name == "syncfs", commit, end)
    yield end_is_synced, without(lambda call: call.name in ("fsync", "syncfs"), end)
    yield sync_error_is_final, with_call(barrier, "syncfs", calls[barrier].arguments, "-1 EIO (Input/output error)")
    moves = [(i, call) for i, call in trace.operations() if call.name == "renameat2"]
    moved = [call.path for _, call in moves if trace.in_tree(call.path)]
    if moved:
        yield objects_are_checked, without(lambda call: call.name == "statx" and call.path == moved[0], barrier, commit)
    index, move = moves[0]
    bare = Call(move.thread, "renameat2", re.sub(r"RENAME_\w+", "0", move.arguments), "0")
    yield names_are_not_overwritten, made([*calls[:index], bare, *calls[index + 1 :]])
    if trace.in_tree(move.path) or trace.in_tree(move.goal):
        yield attributes_come_last, with_call(index, "utimensat", f'3<{trace.target}>, "", [], AT_EMPTY_PATH')
    writes = trace.places(lambda call: call.name in FILLING and inside(call.place, trace.stage), 1, commit)
    before = (calls[i - 1] for i in writes)
    reads = [call.place for call in before if call.name in ("pread64", "read") and inside(call.place, trace.source)]
    if reads:
        yield (
            sources_are_looked_at_again,
            without(lambda call: call.name == "statx" and call.path == reads[0], writes[0], commit),
        )
    yield others_are_left_alone, with_call(len(calls), "mkdirat", f'3<{trace.source}>, "new", 0700')


def broken_logs(trace: Trace) -> Iterator[tuple[Rule, Trace]]:
    """An interrupted stage whose log is written without a sync."""
    if any(writes_log(call) for call in trace.calls):
        calls = [call for call in trace.calls if call.name not in ("fsync", "syncfs")]
        yield log_is_true, Trace(calls, trace.source, trace.target)


# --- The class --------------------------------------------------------------------------------


def order(trial: Trial) -> None:
    """The order of the system calls of applies: whole, interrupted, undone, with failed barriers; and of recoveries."""
    prove_rules(trial, broken_traces(traced(trial, "apply", trial.apply)))
    trial.reset()
    renames = trial.commit_renames()
    middle = renames[len(renames) // 2]
    traced(trial, "turns round", trial.apply, failing("renameat2", "EIO", middle))
    interrupted = traced(trial, "interrupted", trial.apply, ("pwrite64", "signal=INT:when=2"))
    prove_rules(trial, broken_logs(interrupted))
    for number in (1, 2):
        traced(trial, f"barrier {number} fails", trial.apply, failing("syncfs", "EIO", number))
    for back in ([], ["--back"]):
        trial.reset()
        trial.run(trial.apply, killing("renameat2", middle))
        if trial.is_pending():
            arguments = ["recover", *back, trial.target]
            traced(trial, f"recover {' '.join(back)}", arguments, recovers=True)


def prove_rules(trial: Trial, traces: Iterator[tuple[Rule, Trace]]) -> None:
    if trial.results.stops_at_first:
        return
    for rule, broken in traces:
        trial.results.count("order", True)
        trial.results.proved.add(rule.__name__)
        if rule not in {found for found, _ in violations(broken)}:
            text = f"the checker does not see a breach of {rule.__name__}"
            trial.results.fail("order", f"order {trial.name}", text)


def demand_proofs(results: Results) -> None:
    """Over all workloads each rule was broken once. A rule that concerns no call is dead."""
    for rule in RULES:
        if rule.__name__ not in results.proved:
            results.failures.append(f"order: no trace breaks {rule.__name__}")


def traced(trial: Trial, what: str, arguments: list[str], *inject: Injection, recovers: bool = False) -> Trace:
    if not recovers:
        trial.reset()
    trial.record(arguments, TRACED, inject)
    found = Trace(read_trace(trial.log), trial.source, trial.target, recovers=recovers)
    trial.results.count("order", True)
    for rule, message in violations(found):
        trial.results.fail("order", f"order {trial.name}: {what}", f"{rule.__name__}: {message}")
    return found
