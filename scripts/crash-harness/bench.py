"""What every class of cases works with: a workload on disk, the runs of the tool, and the verdict."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections import Counter

import disk
import trees
from trees import difference, manifest_error, same, snapshot

# The calls that change something, or make it durable, or take the lock.
CHANGING = [
    "openat", "mkdirat", "unlinkat", "renameat", "renameat2", "symlinkat", "mknodat", "write", "ftruncate", "fallocate",
    "copy_file_range", "ioctl", "fchmod", "fchmodat2", "chmod", "fchown", "fchownat", "utimensat", "fsync", "syncfs",
    "flock", "pwrite64", "mkdir", "linkat", "fsetxattr", "fremovexattr",
]
READING = ["read", "pread64", "statx", "getdents64"]
SYNCING = {"fsync", "syncfs", "fdatasync"}

# What the harness puts in the way, and finds again.
FOREIGN = b"somebody else's"

# How an exchange goes where the target is one, of btrfs.
SUBVOLUME = "subvolume"

KINDS = ("mixture", "loss", "untruthful", "leftover", "order")


class Noticed(Exception):
    """A failure, where one is all that is wanted."""


class Results:
    def __init__(self, stops_at_first=False):
        self.cases, self.fired, self.bad = Counter(), Counter(), Counter()
        self.failures = []
        self.skipped = {}
        self.stops_at_first = stops_at_first

    def count(self, name, fired):
        self.cases[name] += 1
        self.fired[name] += bool(fired)

    def fail(self, kind, case, message):
        """`case` begins with the name of its class."""
        assert kind in KINDS
        self.bad[case.split()[0], kind] += 1
        self.failures.append(f"{kind}: {case}: {message}")
        if self.stops_at_first:
            raise Noticed(self.failures[-1])
        print(f"  {kind}: {case}: {message}", flush=True)

    def skip(self, name, why):
        if name not in self.skipped:
            print(f"  {name}: skipped: {why}", flush=True)
        self.skipped[name] = why


# Of more than one step a leftover could not be told.
KEEPING = ["--keep-last", "1"]


class Bench:
    """A workload: source, target and canaries, built anew for each case."""

    def __init__(self, tool, scratch, workload, results, rng, short, exchanges=False):
        self.tool, self.scratch, self.name = tool, scratch, workload
        self.results, self.rng, self.short, self.exchanges = results, rng, short, bool(exchanges)
        self.is_subvolume = exchanges == SUBVOLUME
        self.workload = (trees.WORKLOADS | trees.OPTIONAL_WORKLOADS)[workload]
        self.log = os.path.join(scratch, "trace")
        self.work = os.path.join(scratch, re.sub(r"\W", "-", workload))
        self.source = os.path.join(self.work, "source")
        self.target = os.path.join(self.work, "target")

    def reset(self, target=None):
        """Builds the trees, with a first apply where the workload changes a mirror: the manifest knows the
        inodes."""
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        self.target = target or os.path.join(self.work, "target")
        shutil.rmtree(self.target, ignore_errors=True)
        shutil.rmtree(self.state_beside, ignore_errors=True)
        shutil.rmtree(self.trees_beside, ignore_errors=True)
        trees.build(os.path.join(self.work, "canary"), {"outside": b"do not touch", "d": {"e": b"f"}})
        self.canary = snapshot(os.path.join(self.work, "canary"))
        steps = self.workload(lambda *names: os.path.join(self.source, *names))
        if self.is_subvolume:
            disk.make_subvolume(self.target)
        os.makedirs(self.target, exist_ok=True)
        if steps is not None:
            next(steps)
            # The state is in the target or beside it, by turns from one workload to the next.
            beside = ["--exchange"] * (self.exchanges and len(self.name) % 2)
            self.run(["apply", *KEEPING, *beside, self.source, self.target], check=True)
        self.old = snapshot(self.target)
        for _ in steps or ():
            pass
        self.new = snapshot(self.source)

    # --- Running ----------------------------------------------------------------------------------------------

    @property
    def command(self):
        # strace counts the calls of each thread by themselves.
        return ["apply", "--threads", "1", "--max-delete", "unlimited", *KEEPING,
                *["--exchange"] * self.exchanges, self.source, self.target]

    @property
    def state_beside(self):
        folder, name = os.path.split(self.target)
        return os.path.join(folder, f".{name}.fsync-lite")

    @property
    def trees_beside(self):
        return self.state_beside + "-trees"

    @property
    def state(self):
        beside = self.state_beside
        return beside if os.path.exists(beside) else os.path.join(self.target, ".fsync-lite")

    def is_pending(self):
        return any(os.path.exists(os.path.join(self.state, name)) for name in ("journal", "journal.back"))

    def run(self, arguments, inject=(), check=False, **options):
        """Runs the tool, under strace where faults are injected: pairs of a call and what happens to it."""
        command = [self.tool, *arguments]
        if inject:
            command = [*tracing({call for call, _ in inject}, self.log, inject), *command]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, **options)
        if check and result.returncode != 0:
            raise SystemExit(f"{command}: {result.returncode}\n{result.stderr.decode()}")
        return result

    def injected(self):
        """The lines of the calls that failed, but for those of the loader."""
        with open(self.log, errors="replace") as file:
            return [line for line in file if "(INJECTED)" in line and ".so" not in line]

    def calls(self, arguments, names=CHANGING):
        """How often one thread makes each call."""
        self.run_traced(arguments, names)
        counts = Counter()
        for call, number in self.sequence():
            counts[call] = max(counts[call], number)
        return counts

    def run_traced(self, arguments, names=CHANGING, inject=()):
        """A run whose calls are in the log, descriptors with their paths."""
        return subprocess.run([*tracing(names, self.log, inject), "-y", "-s", "4096", self.tool, *arguments],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300)

    def sequence(self, with_lines=False):
        """The calls of the last trace in order, each with its number in its thread, as strace counts them."""
        counts = Counter()
        calls = []
        with open(self.log, errors="replace") as file:
            for line in file:
                found = re.match(r"(\d+)\s+(\w+)\(", line)
                if found:
                    counts[found.groups()] += 1
                    call = (found.group(2), counts[found.groups()])
                    calls.append((*call, line) if with_lines else call)
        return calls

    def commit_renames(self):
        """The numbers of the renames from the journal's on, in an apply that nothing disturbs."""
        self.run_traced(self.command, ["renameat2"])
        renames = self.sequence(with_lines=True)
        begin = next((i for i, (_, _, line) in enumerate(renames) if '"journal"' in line), 0)
        return [number for _, number, _ in renames[begin:]]

    @contextlib.contextmanager
    def stopped(self, *points, names=()):
        """An apply that stops right after calls of one thread, each (call, number); yields the `Halt`."""
        inject = []
        for call in dict.fromkeys(call for call, _ in points):
            numbers = sorted(number for name, number in points if name == call)
            step = numbers[1] - numbers[0] if len(numbers) > 1 else 0
            inject.append((call, f"signal=STOP:when={numbers[0]}" + (f"..{numbers[1]}+{step}" if step else "")))
        names = {*names, *(call for call, _ in inject)}
        halt = Halt([*tracing(names, self.log, inject), "-y", self.tool, *self.command], self.log)
        try:
            yield halt
        finally:
            halt.kill()

    # --- The verdict ------------------------------------------------------------------------------------------

    def settle(self, case, code, *, how="forward", sync_failed=False, is_rebooted=False):
        """Looks at the wreck, recovers, and compares. `code` is what the run said; None when it could not.

        `how` it goes on: "forward", "back", "apply" for a recovery by the next apply, or "displace", which plants an
        object of somebody else in the way."""
        fail = lambda kind, message: self.results.fail(kind, case, message)
        was_pending, before = self.is_pending(), snapshot(self.target)
        if code is not None and (code < 0 or code > 128):
            fail("untruthful", f"ended by signal or crashed: {code}")
        if code == 0 and before != self.new:
            fail("untruthful", "exit 0 without the new tree: " + difference(before, self.new))
        if code == 0 and sync_failed:
            fail("untruthful", "exit 0 although a sync failed")
        if code in (1, 4, 65, 66, 75) and (was_pending or not same(before, self.old)):
            fail("untruthful", f"exit {code} and the target changed: " + difference(before, self.old))
        if self.exchanges and not (same(before, self.old) or same(before, self.new)):
            fail("mixture", "before any recovery: " + difference(before, self.old))
        # Exit 6 without a journal: its removal could not be synced, so a power cut may bring it back. Both trees
        # are whole.
        wanted, foreign = (self.old, self.new), None
        if was_pending:
            wanted = [self.recovered_tree(how)]
            if how == "displace":
                foreign = self.plant(before)
            # After a failed barrier only a new mount may finish: where there is none, this ends here.
            if not self.recover(fail, how, may_refuse=sync_failed and not is_rebooted):
                return
        after = snapshot(self.target)
        if foreign is not None:
            after = self.without_foreign(after, foreign, fail)
        if not any(same(after, tree) for tree in wanted):
            against = " or ".join(difference(after, tree) for tree in wanted)
            fail("mixture", f"{'pending' if was_pending else 'not pending'}, {how}: {against}")
            return
        error = manifest_error(self.state, after)
        if error:
            fail("mixture", f"the manifest does not match: {error}")
        if snapshot(self.source) != self.new:
            fail("loss", "the source was touched")
        if snapshot(os.path.join(self.work, "canary")) != self.canary:
            fail("loss", "a canary was touched")
        self.settle_next(fail)

    def recovered_tree(self, how):
        went_back = not os.path.exists(os.path.join(self.state, "journal"))
        return self.new if how == "apply" else self.old if went_back or how == "back" else self.new

    def recover(self, fail, how, may_refuse):
        options = ["--back"] if how == "back" else []
        recovered = self.run(self.command if how == "apply" else ["recover", *options, self.target])
        if recovered.returncode == 6 and how == "displace":
            recovered = self.run(["recover", "--displace", self.target])
        if recovered.returncode == 6 and may_refuse:
            return False
        if recovered.returncode != 0:
            fail("mixture", f"recover {how}: {recovered.returncode} {recovered.stderr.decode().strip()}")
            return False
        once = snapshot(self.target)
        again = self.run(["recover", *options, self.target])
        if again.returncode != 0 or b"nothing" not in again.stdout or snapshot(self.target) != once:
            fail("mixture", f"second recover: {again.returncode} {again.stderr.decode().strip()}")
        return True

    def plant(self, tree):
        """Puts somebody else's file at a name that the commit has left or not yet reached."""
        root = os.path.realpath(os.fsencode(self.target))
        folder = lambda path: os.path.dirname(os.path.join(root, path))
        free = [path for path in sorted((set(self.old) | set(self.new)) - set(tree))
                if os.path.isdir(folder(path)) and os.path.realpath(folder(path)) == folder(path)]
        if not free:
            return b""
        path = self.rng.choice(free)
        trees.write(os.path.join(os.fsencode(self.target), path), FOREIGN)
        return path

    def without_foreign(self, tree, path, fail):
        """The tree but for what was planted, which must be there or in the history: nothing is lost. It may have
        moved along with its directory."""
        if not path:
            return tree
        there = [path for path, item in tree.items() if FOREIGN in item]
        # What came into the old tree of an exchange stays in it for a while.
        kept = [os.path.join(self.state, name) for name in ("history", "trees")]
        is_kept = any(FOREIGN in item for folder in kept for item in snapshot(folder).values())
        if len(there) + is_kept != 1:
            fail("loss", f"an object of somebody else at {path!r}: there {there}, kept {is_kept}")
        for path in there:
            # Or the next apply would refuse a target that is somebody's.
            os.unlink(os.path.join(os.fsencode(self.target), path))
        return {path: item for path, item in tree.items() if path not in there}

    def settle_next(self, fail):
        """The next apply makes the new tree and leaves nothing behind."""
        last = self.run(self.command)
        if last.returncode != 0 or snapshot(self.target) != self.new:
            fail("mixture", f"the next apply: {last.returncode} {last.stderr.decode().strip()} "
                            + difference(snapshot(self.target), self.new))
            return
        names = set(os.listdir(self.state))
        leftovers = names - {"manifest.json", "mark", "last-run", "history", "settings.json", "linked", "trees"}
        if self.is_subvolume:
            leftovers |= self.unfinished_trees()
        history = snapshot(os.path.join(self.state, "history")) if "history" in names else {}
        # What a recovery that went back moved out of somebody's way stays for good, without a record beside it.
        inside = [path.split(b"/") for path in history if b"/" in path]
        records = {names[0] for names in inside if not names[1].startswith(b"conflicts")}
        if leftovers or len(records) > 1:
            fail("leftover", f"{sorted(leftovers)} {sorted(records)}")


    def unfinished_trees(self):
        """Snapshots that never had the target's place: its own line of descent leads to all others."""
        folder = self.trees_beside
        names = os.listdir(folder) if os.path.exists(folder) else []
        trees = {}
        for name in names:
            own, origin = disk.subvolume_ids(os.path.join(folder, name))
            trees[own] = (name, origin)
        _, origin = disk.subvolume_ids(self.target)
        while origin in trees:
            _, origin = trees.pop(origin)
        return {name for name, _ in trees.values()}


class Halt:
    """A traced run that stops at its points, to be looked at, disturbed, continued or killed."""

    def __init__(self, command, log):
        self.log = log
        with contextlib.suppress(FileNotFoundError):
            os.unlink(log)
        self.stops = 0
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE)

    def wait(self):
        """Waits for the next stop. False when the run has ended without it."""
        while self.process.poll() is None:
            if self._text().count("--- stopped by SIGSTOP") > self.stops:
                self.stops = self._text().count("--- stopped by SIGSTOP")
                return True
            time.sleep(0.001)
        return False

    def _text(self):
        # One line per thread and stop: those of the first thread count.
        try:
            with open(self.log, errors="replace") as file:
                lines = file.readlines()
        except FileNotFoundError:
            return ""
        first = next((line.split()[0] for line in lines if "--- SIGSTOP {" in line), None)
        return "".join(line for line in lines if line.split()[:1] == [first])

    @property
    def child(self):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, IndexError):
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
                return int(file.read().split()[0])
        return None

    def go_on(self):
        if self.child:
            os.kill(self.child, signal.SIGCONT)

    def finish(self):
        """Continues to the end and returns the exit code."""
        while self.wait():
            self.go_on()
        return self._end()

    def continue_to_end(self):
        self.go_on()
        return self.finish()

    def kill(self):
        if self.process.poll() is None:
            if self.child:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.child, signal.SIGKILL)
            self._end()

    def _end(self):
        _, self.stderr = self.process.communicate(timeout=60)
        return self.process.returncode


def tracing(names, log, inject=()):
    # An older strace does not know every call: a question mark makes that no error.
    command = ["strace", "-f", "-qq", "-o", log, "-e", "trace=" + ",".join("?" + name for name in sorted(names))]
    for call, what in inject:
        command += ["-e", f"inject={call}:{what}"]
    return command


def points(counts, names, sample, rng):
    """Every number of every call, or a sample of each call's."""
    for call in names:
        numbers = list(range(1, counts[call] + 1))
        if sample and len(numbers) > sample:
            numbers = sorted(rng.sample(numbers, sample))
        for number in numbers:
            yield call, number
