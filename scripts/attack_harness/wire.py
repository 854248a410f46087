"""The other end of the line, which speaks the protocol and means harm: a source, a target, a client.

As a script it is the far end of a client (`--ssh`); imported, it runs each case and measures what a
message costs the victim. See `Sources/FsyncLite/Remote/WireFormat.swift`.
"""

import contextlib
import functools
import hashlib
import os
import random
import resource
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from attack_harness.scene import write
from attack_harness.table import Row
from harness.scratch import remove
from harness.trees import make

HELLO, REQUEST, ANSWER, ENTRIES, FILE, DATA, CREDIT, PING, FAILURE = range(1, 10)
RUN, OUTPUT, READY, OUTCOME, CANCEL, GO, BLOCKS = range(10, 17)
OPEN, RULES, SCAN, ATTRIBUTES, DIGEST, OBSTACLES, CONTENT, DIGESTS, LIST = range(1, 10)
KINDS = {"file": 0, "directory": 1, "symlink": 2}
HUGE = 2**62


# --- Bytes ----------------------------------------------------------------------------------------


def number(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def text(value: bytes | str) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return number(len(value)) + value


def moment(seconds: int) -> bytes:
    return number(((seconds << 1) ^ (seconds >> 63)) & (2**64 - 1)) + number(0)


def frame(kind: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(4, "little") + bytes([kind]) + payload


def status(kind: str, size: int = 0, allocated: int | None = None, inode: int = 7) -> bytes:
    numbers = [0o755 if kind == "directory" else 0o644, 0, 0, 1, inode, 0]
    numbers += [size, size if allocated is None else allocated]
    return bytes([KINDS[kind]]) + b"".join(map(number, numbers)) + moment(10**9) * 2 + bytes([0])


def entry(name: bytes, kind: str, levels: int = 0, **rest: int) -> bytes:
    return number(levels) + b"\0" + text(name) + status(kind, **rest)


def opened(clock: int = 1_700_000_000) -> bytes:
    root = text("") + text("/src") + status("directory", inode=1) + b"\0" + text("801") + b"\1" + number(1)
    root += number(1) + number(0) + number(0)
    return (
        number(1)
        + root
        + number(0)
        + text("0123456789abcdef")
        + text("boot")
        + b"\0\0"
        + moment(clock)
        + number(1)
        + text("")
        + number(0)
        + b"\0"
    )


# --- The line -------------------------------------------------------------------------------------


class Line:
    """An end of the connection."""

    def __init__(self, read: int, write: int) -> None:
        self.descriptors = read, write
        self.data = b""

    def send(self, *frames: bytes) -> None:
        data = memoryview(b"".join(frames))
        while data:
            data = data[os.write(self.descriptors[1], data) :]

    def greet(self) -> None:
        self.send(frame(HELLO, b"fsync-lite\n" + number(5) + number(5)))

    def frames(self) -> Iterator[tuple[int, bytes]]:
        while True:
            while len(self.data) >= 5 and len(self.data) >= (end := 5 + int.from_bytes(self.data[:4], "little")):
                kind, payload = self.data[4], self.data[5:end]
                self.data = self.data[end:]
                yield kind, payload
            piece = os.read(self.descriptors[0], 1 << 16)
            if not piece:
                return
            self.data += piece

    def answer(self, id: int, payload: bytes = b"") -> None:
        self.send(frame(ANSWER, number(id) + b"\1" + payload))

    def pings(self, seconds: float = 600) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.send(frame(PING))
            time.sleep(0.1)


def request(payload: bytes) -> tuple[int, int, bytes]:
    """The id, the kind, and the rest."""
    id = shift = index = 0
    while True:
        byte = payload[index]
        id |= (byte & 0x7F) << shift
        index, shift = index + 1, shift + 7
        if byte < 0x80:
            return id, payload[index], payload[index + 1 :]


# --- A hostile source -----------------------------------------------------------------------------

Replies = dict[int, Callable[[Line, int], None]]


def scan(*entries: bytes) -> Callable[[Line, int], None]:
    def reply(line: Line, id: int) -> None:
        for start in range(0, len(entries), 500):
            line.send(frame(ENTRIES, number(id) + b"".join(entries[start : start + 500])))
        line.answer(id, number(0) + b"\0" + number(0))

    return reply


def content(*frames: Callable[[int], bytes], then: Callable[[Line], None] = lambda line: sys.exit(0)):
    def reply(line: Line, id: int) -> None:
        line.send(*(make(id) for make in frames))
        then(line)

    return reply


def sparse_end(size: int) -> Callable[[int], bytes]:
    # The digest of nothing: by offsets it is right.
    digest = hashlib.sha256().digest()
    end = b"\0" + status("file", size=size, allocated=0, inode=9) + b"\0\0" + number(0) + digest
    return lambda id: frame(ANSWER, number(id) + b"\1" + end)


def begin(size: int, zeros: bool) -> Callable[[int], bytes]:
    return lambda id: frame(FILE, number(id) + number(size) + bytes([zeros]))


def nested(depth: int) -> list[bytes]:
    return [entry(b"d", "directory", inode=100 + level) for level in range(depth)]


ONE = scan(entry(b"d", "directory", inode=9))
SPARSE = scan(entry(b"f", "file", size=HUGE, allocated=0, inode=9))


class Bound(NamedTuple):
    codes: tuple[int, ...]
    # None: nothing.
    says: str | None = ""
    seconds: float = 20
    memory: int = 250 << 20


ANY = Bound((0, 1, 3, 69))
# The answers of the source, and what a victim may do.
SOURCES: dict[str, tuple[Replies, Bound]] = {
    "holes": ({SCAN: SPARSE, CONTENT: content(begin(HUGE, True), sparse_end(HUGE))}, Bound((1, 69))),
    "holes, and the line stays": (
        {SCAN: SPARSE, CONTENT: content(begin(HUGE, True), sparse_end(HUGE), then=lambda line: line.pings())},
        Bound((69,), "not asked for"),
    ),
    # A file system that holds such a file holds it.
    "holes by offset": ({SCAN: SPARSE, CONTENT: content(begin(HUGE, False), sparse_end(HUGE))}, ANY),
    "empty data": (
        {
            SCAN: SPARSE,
            CONTENT: lambda line, id: [
                line.send(begin(HUGE, False)(id)),
                line.send(frame(DATA, number(id) + number(0)) * 2_000_000),
                line.pings(),
            ],
        },
        Bound((69,), "data beyond the end"),
    ),
    # The times of another machine.
    "clock at -2^63": ({OPEN: lambda line, id: line.answer(id, opened(-(2**63))), SCAN: ONE}, ANY),
    "clock at 2^63-1": ({OPEN: lambda line, id: line.answer(id, opened(2**63 - 1)), SCAN: ONE}, ANY),
    "20,000 nested": ({SCAN: scan(*nested(20_000))}, ANY._replace(memory=1 << 30, seconds=60)),
}
TARGETS = {"controls of terminals": Bound((0,))}


def give(line: Line, replies: Replies) -> None:
    """Answers as a source, in the role that this end has."""
    usual: Replies = {
        OPEN: lambda line, id: line.answer(id, opened()),
        SCAN: scan(),
        RULES: lambda line, id: line.answer(id),
    }
    for kind, payload in line.frames():
        if kind == REQUEST:
            id, wish, _ = request(payload)
            {**usual, **replies}.get(wish, lambda line, id: line.answer(id, b"\1"))(line, id)


# --- A hostile target -----------------------------------------------------------------------------


SHOWN = b"\x1b[32m+ a\x1b[0m\n" + b"\x9b31m \xc2\x9b \x1b[8m \x1b]0;t\x07 \xe2\x80\xae \x1b[5m\n"


def shows(line: Line) -> None:
    line.send(frame(OUTPUT, b"\1" + SHOWN), frame(OUTCOME, b"\0"))
    sys.exit(0)


def be(case: str) -> None:
    """Is the other end of a client."""
    line = Line(0, 1)
    line.greet()
    with contextlib.suppress(BrokenPipeError):
        if case in SOURCES:
            give(line, SOURCES[case][0])
        for kind, payload in line.frames():
            if kind == RUN and payload[0] == 1:
                shows(line)


# --- A hostile client -----------------------------------------------------------------------------


def command(target: str, source: str) -> bytes:
    words = [source, f"far:{target}"]
    line = text("apply")
    for part in (words, ["--adopt"], ["apply", "--adopt", "--", *words]):
        line += number(len(part)) + b"".join(map(text, part))
    streams = (b"\0\0" + number(0)) * 2
    return (
        b"\1"
        + line
        + number(0) * 2
        + b"\0"
        + number(1)
        + text("")
        + text(source)
        + (b"\0\0" + text("client") + streams)
    )


def opening(path: str, attributes: int = 0) -> bytes:
    """Opens a source without filters, and asks only for attributes."""
    selection, digests, holes, strict = b"\0\0\0", b"\0", number(0), b"\0"
    filters = number(0) + text("") + b"\0\0\0\0"
    return text(path) + bytes([attributes]) + selection + digests + holes + strict + filters


def floods(line: Line, id: int) -> None:
    """Sends entries until the other end has enough."""
    granted, count = 4 << 20, 0
    head, rest = entry(b"n%08d" % count, "file", inode=9).split(b"n%08d" % count)
    while True:
        entries = b"".join(head + b"n%08d" % (count + index) + rest for index in range(500))
        count += 500
        granted -= len(entries) + 1
        line.send(frame(ENTRIES, number(id) + entries))
        while granted <= 0:
            kind, payload = next(line.frames())
            if kind == CREDIT:
                granted += request(payload + b"\0")[0]


# --- Messages by chance ---------------------------------------------------------------------------

ENDS = [0, 1, 127, 128, 2**16, 2**31, 2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 1, 2**64 - 1]


class Fuzz:
    """Nearly valid messages: with numbers at the ends of their ranges, empty, or repeated."""

    def __init__(self, seed: int, wanted: int) -> None:
        self.rng, self.wanted = random.Random(seed), wanted
        self.messages = self.bytes = self.asked = self.answers = 0

    def some(self) -> bytes:
        """Rarely a name that no directory may have, which ends the connection."""
        value = self.rng.choice(ENDS) if self.rng.random() < 0.1 else self.rng.randrange(3)
        return number(value if self.rng.random() < 0.001 else min(value, 2**32 - 1))

    def send(self, line: Line, *frames: bytes) -> None:
        self.messages += len(frames)
        self.bytes += sum(map(len, frames))
        line.send(*frames)

    def count_answers(self, line: Line) -> None:
        with contextlib.suppress(OSError):
            for kind, _ in line.frames():
                self.answers += kind == ANSWER

    def client(self, served: str) -> Callable[[Line], None]:
        """Asks a source. Most requests are understood, because the first bad one would be the last."""

        def attack(line: Line) -> None:
            line.greet()
            threading.Thread(target=self.count_answers, args=[line], daemon=True).start()
            id = iter(range(1, 10**9))

            def ask(kind: int, rest: bytes) -> bytes:
                self.asked += 1
                return frame(REQUEST, number(next(id)) + bytes([kind]) + rest)

            self.send(line, ask(OPEN, opening(served, 7)), ask(SCAN, b"\0"))
            asked = [
                lambda: [ask(DIGEST, self.some() + text(b"f%d" % self.rng.randrange(9)) + b"\1")],
                lambda: [ask(CONTENT, self.some() + text(b"f1") + b"\0")],
                lambda: [ask(ATTRIBUTES, self.some() + text(b"f1") + b"\1\1\1")],
                lambda: [ask(OBSTACLES, self.some() + text(b""))],
                lambda: [frame(PING)] * self.rng.randrange(20),
                lambda: [frame(CREDIT, number(0))] * self.rng.randrange(20),
                lambda: [frame(BLOCKS, self.some() + b"\0")] * self.rng.randrange(3),
                lambda: [ask(SCAN, b"\0")] * (self.rng.random() < 0.01),
                lambda: [frame(self.rng.randrange(18), self.some())] * (self.rng.random() < 0.0005),
                lambda: [ask(LIST, self.some() * 3)] * (self.rng.random() < 0.0005),
            ]
            while self.messages < self.wanted:
                self.send(line, *self.rng.choice(asked)())

        return attack

    def source(self) -> Replies:
        """Answers with entries, whose numbers are of any size."""

        def reply(line: Line, id: int) -> None:
            count = 0
            while self.messages < self.wanted:
                count += 1
                numbers = [self.rng.choice(ENDS) & (2**63 - 1) for _ in range(2)]
                entries = entry(b"n%07d" % count, "file", size=numbers[0], allocated=numbers[1], inode=9)
                self.send(line, frame(ENTRIES, number(id) + entries), *[frame(PING)] * self.rng.randrange(20))
                if self.rng.random() < 0.0005:
                    self.send(line, frame(self.rng.randrange(18), self.some()))
            line.answer(id, number(0) + b"\0" + number(0))

        return {SCAN: reply}


# Beside a start: for each byte that came.
START, EACH = (1.0, 100 << 20), (20e-6, 100)


def fuzz(tool: str, scratch: str, row: Row, wanted: int) -> None:
    """Fuzzes both ends. Their time and memory must be at most linear in the received bytes."""
    folder = fresh(scratch)
    source, target = os.path.join(folder, "source"), os.path.join(folder, "served", "t")
    sent = received = seed = asked = answers = 0
    worst = (0.0, 0)
    while sent < wanted:
        seed += 1
        one = Fuzz(seed, min(20_000, wanted - sent))
        if seed % 2:
            victim = watched([tool, "serve", "--read-only", "--restrict", source], 120, one.client(source))
        else:
            words = [tool, "serve", "--restrict", os.path.dirname(target)]

            def attack(line: Line, one: Fuzz = one) -> None:
                line.greet()
                line.send(frame(RUN, command(target, "/src")))
                give(line, one.source())

            victim = watched(words, 120, attack)
        sent, received = sent + one.messages, received + one.bytes
        asked, answers = asked + one.asked, answers + one.answers
        allowed = Bound((0, 1, 3, 4, 69, 143), "", START[0] + EACH[0] * one.bytes, START[1] + EACH[1] * one.bytes)
        judge(row, f"fuzz {seed}, {one.messages} messages of {one.bytes} bytes", victim, allowed)
        if victim:
            worst = max(worst[0], victim.seconds / allowed.seconds), max(worst[1], victim.memory)
    if answers * 10 < asked:
        row.failures.append(f"fuzz: {answers} of {asked} requests were understood")
    print(
        f"    {sent} messages, {received} bytes, {answers} answers, {seed} runs: at most {worst[0]:.0%} of the time "
        f"allowed, {worst[1] >> 20} MiB"
    )


# --- What a victim does ---------------------------------------------------------------------------


class Victim(NamedTuple):
    code: int
    output: bytes
    errors: bytes
    seconds: float
    memory: int


def watched(words: list[str], limit: float, attack: Callable[[Line], None] | None = None) -> Victim | None:
    """Runs a command. Returns None if it does not end."""
    with contextlib.ExitStack() as stack:
        output, errors = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
        printed = subprocess.PIPE if attack else output
        streams = {"stdin": subprocess.PIPE, "stdout": printed, "stderr": errors}
        child = stack.enter_context(subprocess.Popen(words, **streams, start_new_session=True))
        timer = threading.Timer(limit, child.kill)
        timer.start()
        if attack:
            # Of its own: it may go on while the next case has descriptors with these numbers.
            ends = os.dup(child.stdout.fileno()), os.dup(child.stdin.fileno())
            child.stdin.close()

            def client() -> None:
                with contextlib.suppress(OSError, StopIteration):
                    attack(Line(*ends))
                os.close(ends[1])

            threading.Thread(target=client, daemon=True).start()
        _, code, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(code)
        is_in_time = timer.is_alive()
        timer.cancel()
        for file in (output, errors):
            file.seek(0)
        said = output.read(), errors.read()
    if not is_in_time:
        return None
    return Victim(child.returncode, *said, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)


def judge(row: Row, case: str, victim: Victim | None, bound: Bound) -> None:
    row.runs += 1
    row.exits["hang" if victim is None else victim.code] += 1
    if victim is None:
        row.failures.append(f"{case}: it does not end")
        return
    said = victim.errors.decode(errors="replace").strip()
    if victim.code not in bound.codes:
        row.failures.append(f"{case}: exit {victim.code}: {said[-300:]}")
    if (bound.says or "") not in said or (bound.says is None and said):
        row.failures.append(f"{case}: it says: {said[-300:]}")
    if len(said.splitlines()) > 4:
        row.failures.append(f"{case}: it says {len(said.splitlines())} lines")
    if victim.seconds > bound.seconds or victim.memory > bound.memory:
        row.failures.append(f"{case}: it took {victim.seconds:.1f} s and {victim.memory >> 20} MiB")


def run(tool: str, scratch: str, short: bool) -> list[Row]:
    rows = {name: Row(name) for name in ("a hostile source", "a hostile target", "a hostile client of serve")}
    for case, bound in [*((case, bound) for case, (_, bound) in SOURCES.items()), *TARGETS.items()]:
        row = rows["a hostile source" if case in SOURCES else "a hostile target"]
        folder = fresh(scratch)
        ssh = os.path.join(folder, "ssh")
        write(ssh, f"#!/bin/sh\nexec {shlex.join([sys.executable, '-B', __file__, case])}\n".encode(), 0o755)
        places = ["far:/src", "target"] if case in SOURCES else ["source", "far:/t"]
        words = [tool, "apply", *(os.path.join(folder, p) if ":" not in p else p for p in places), "--ssh", ssh]
        victim = watched(words, 60)
        judge(row, case, victim, bound)
        if case == "controls of terminals" and victim:
            shown = victim.output.decode(errors="replace")
            if any(0x7F <= ord(c) <= 0x9F or c in "\u202e\ufffd" for c in shown) or "\x1b[8m" in shown:
                row.failures.append(f"{case}: {shown!r}")
            if "\x1b[32m+ a\x1b[0m\n" not in shown:
                row.failures.append(f"{case}: the colours are gone: {shown!r}")
    served(tool, scratch, rows["a hostile client of serve"])
    rows["fuzz"] = Row("messages by chance, both ends")
    fuzz(tool, scratch, rows["fuzz"], 20_000 if short else 1_000_000)
    return list(rows.values())


def fresh(scratch: str) -> str:
    folder = os.path.join(scratch, "wire")
    remove(folder)
    files = {f"f{index}": b"x" * index for index in range(9)}
    make(folder, {"source": files, "served": {}})
    os.chmod(os.path.join(folder, "served"), 0o700)
    return folder


def served(tool: str, scratch: str, row: Row) -> None:
    folder = fresh(scratch)
    source, target = os.path.join(folder, "source"), os.path.join(folder, "served", "t")

    def serve(*options: str) -> list[str]:
        return [tool, "serve", "--restrict", os.path.dirname(target), *options]

    def apply(replies: Replies) -> Callable[[Line], None]:
        def reached(wish: int, line: Line, id: int) -> None:
            asked.append(wish)
            replies[wish](line, id)

        def attack(line: Line) -> None:
            line.greet()
            line.send(frame(RUN, command(target, "/src")))
            give(line, {wish: functools.partial(reached, wish) for wish in replies})

        return attack

    asked: list[int] = []

    def idle(line: Line) -> None:
        line.greet()
        line.send(frame(REQUEST, number(1) + bytes([OPEN]) + opening(os.path.dirname(target))))
        line.pings()

    much = Bound((0,), seconds=60, memory=300 << 20)
    cases: list[tuple[str, list[str], Callable[[Line], None], Bound]] = [
        ("only pings, at a scan", serve("--timeout", "1s"), apply({SCAN: lambda line, id: line.pings()}), Bound((0,))),
        ("only pings, of a client that reads", serve("--timeout", "1s"), idle, Bound((69,), None)),
        ("too much memory", serve("--max-memory", "40M"), apply({SCAN: floods}), much),
    ]
    for case, words, attack, bound in cases:
        asked.clear()
        judge(row, case, watched(words, 60, attack), bound)
        if attack != idle and not asked:
            row.failures.append(f"{case}: it asked for nothing")
        after = subprocess.run([tool, "apply", "--adopt", source, target], capture_output=True, check=False)
        if after.returncode != 0:
            row.failures.append(f"{case}: the next run: exit {after.returncode}: {after.stderr.decode()}")
    with contextlib.ExitStack() as stack:
        for _ in range(32):
            words = serve()
            stack.enter_context(process := subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            stack.callback(process.kill)
            # It has counted once it greets.
            os.read(process.stdout.fileno(), 1)
        victim = watched(serve(), 20, lambda line: line.pings())
        judge(row, "a process too many", victim, Bound((71,), "already"))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    be(sys.argv[1])
