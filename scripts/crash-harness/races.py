"""Source and target change while the apply stands still in the middle."""

import os
import re
import stat

import trees
from bench import FOREIGN
from trees import difference, snapshot


def races(bench):
    target_edits(bench)
    target_arrivals(bench)
    source_edits(bench)
    other_runs(bench)


def at(root, path):
    return os.path.join(os.fsencode(root), path)


# --- The target ---------------------------------------------------------------------------------------------

def target_edits(bench):
    """What takes part in the commit is edited, replaced or closed after it was looked at: the apply stops."""
    bench.reset()
    is_file = lambda tree, path: path in tree and tree[path][0] == stat.S_IFREG
    changing = [path for path in sorted(bench.old)
                if is_file(bench.old, path) and is_file(bench.new, path) and bench.old[path][:6] != bench.new[path][:6]]
    for path in bench.rng.sample(changing, min(2 if bench.short else 6, len(changing))):
        for edit in (overwrite, replace, close):
            bench.reset()
            case = f"race {bench.name}: {edit.__name__} {path!r} in the target before the commit"
            with bench.stopped(("syncfs", 1)) as halt:
                fired = halt.wait()
                edit(at(bench.target, path))
                edited = snapshot(bench.target)
                code = halt.continue_to_end()
            bench.results.count("race", fired)
            if code != 1:
                bench.results.fail("untruthful", case, f"exit {code}: what changed was not noticed")
            expect_tree(bench, case, edited)


def overwrite(path):
    trees.write(path, FOREIGN)


def replace(path):
    trees.write(path + b".new", FOREIGN)
    os.rename(path + b".new", path)


def close(path):
    os.chmod(path, 0o400)


def expect_tree(bench, case, wanted):
    """But for the times of directories, which the edit and the apply both moved."""
    content = lambda tree: {path: item if item[0] != stat.S_IFDIR else item[:4] for path, item in tree.items()}
    found = snapshot(bench.target)
    if content(found) != content(wanted):
        bench.results.fail("mixture", case, difference(content(found), content(wanted)))


def target_arrivals(bench):
    """Somebody's new file takes a name that the commit needs, or an object is edited in the middle of the commit:
    nothing of it is lost, and the tree is old or new."""
    bench.reset()
    numbers = bench.commit_renames()
    for number in sorted(bench.rng.sample(numbers, min(3, len(numbers)))) if bench.short else numbers:
        bench.reset()
        case = f"race {bench.name}: arrival after rename {number}"
        with bench.stopped(("renameat2", number)) as halt:
            fired = halt.wait()
            path = bench.plant(snapshot(bench.target)) if fired else b""
            code = halt.continue_to_end()
        bench.results.count("race", path)
        if not path:
            continue
        tree = bench.without_foreign(snapshot(bench.target), path,
                                     lambda kind, message: bench.results.fail(kind, case, message))
        wanted = {0: bench.new, 1: bench.old}.get(code)
        if wanted is not None and not bench.is_pending():
            items = lambda tree: {p: i for p, i in tree.items() if i[0] != stat.S_IFDIR}
            if items(tree) != items(wanted):
                bench.results.fail("mixture", case, f"exit {code}: {difference(items(tree), items(wanted))}")
        elif code != 6:
            bench.results.fail("untruthful", case, f"exit {code}, pending {bench.is_pending()}")
        else:
            bench.run(["recover", "--displace", bench.target], check=True)


# --- The source ---------------------------------------------------------------------------------------------

COPYING = ["pread64", "copy_file_range", "pwrite64"]


def source_edits(bench):
    """A file changes while it is read, also with its size and modification time as before. What was being copied is
    right at once; what was only compared is right after the next apply."""
    bench.reset()
    bench.run_traced(bench.command, COPYING)
    source = os.path.realpath(bench.source)
    calls = bench.sequence(with_lines=True)
    reads, copied = [], set()
    for (call, number, line), (_, _, following) in zip(calls, [*calls[1:], ("", 0, "")]):
        if found := re.search(rf"<({re.escape(source)}/[^>]*)>", line):
            reads.append((call, number))
            # By its path: which number a read has differs from run to run.
            if "/.fsync-lite/stage/" in line + following:
                copied.add(found.group(1))
    for call, number in bench.rng.sample(reads, min(3 if bench.short else 16, len(reads))):
        for hides in (False, True):
            bench.reset()
            case = f"race {bench.name}: source edited at {call} {number}{', time put back' if hides else ''}"
            with bench.stopped((call, number), names=COPYING) as halt:
                fired = halt.wait()
                path = last_path_read(bench.log, source) if fired else None
                if path:
                    flip(path, hides)
                code = halt.continue_to_end()
            bench.results.count("race", path)
            if code == 0 and path not in copied:
                code = bench.run(bench.command).returncode
            now = snapshot(bench.source)
            if code == 0 and snapshot(bench.target) != now:
                bench.results.fail("untruthful", case,
                                   "exit 0 and another content: " + difference(snapshot(bench.target), now))
            if code not in (0, 1):
                bench.results.fail("untruthful", case, f"exit {code}")


def last_path_read(log, source):
    with open(log, errors="replace") as file:
        found = re.findall(rf"<({re.escape(source)}/[^>]*)>", file.read())
    return found[-1] if found else None


def flip(path, hides):
    status = os.stat(path)
    with open(path, "r+b") as file:
        content = file.read()
        file.seek(0)
        file.write(bytes(byte ^ 0xFF for byte in content))
    if hides:
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


# --- Others -------------------------------------------------------------------------------------------------

def other_runs(bench):
    """Another run is told that the target is locked, and readers that a commit is pending."""
    bench.reset()
    renames = bench.commit_renames()
    for number in sorted({1, renames[0], renames[len(renames) // 2]}):
        bench.reset()
        with bench.stopped(("renameat2", number)) as halt:
            fired = halt.wait()
            pending = bench.is_pending()
            expected = {"apply": 75, "recover": 75, "plan": 6 if pending else None, "status": 6 if pending else None}
            commands = {"apply": bench.command, "plan": ["plan", *bench.command[1:]]}
            for verb, wanted in expected.items():
                if not fired or wanted is None:
                    continue
                code = bench.run(commands.get(verb, [verb, bench.target])).returncode
                bench.results.count("race", True)
                if code != wanted:
                    bench.results.fail("untruthful", f"race {bench.name}: {verb} during rename {number}",
                                       f"exit {code} instead of {wanted}")
            code = halt.continue_to_end()
        bench.settle(f"race {bench.name}: with others at rename {number}", code)
