"""Peak memory for each changed entry."""

import os

from bench_harness import measure
from bench_harness.contest import Bench, Result, Table
from bench_harness.forest import Tree
from harness import trees
from harness.scratch import remove

FILES_PER_DIRECTORY = 100
GOAL = 400
# The workloads delete more than the guards allow.
OVERRIDES = ["--max-delete", "unlimited", "--allow-empty-source"]


def memory(bench: Bench) -> None:
    """peak memory for each changed entry: all files new, touched, renamed, deleted, and undone"""
    for files in [bench.options.files // 10, bench.options.files * 3 // 10, bench.options.files]:
        with bench.place() as folder:
            measure_all(bench, folder, files)


def measure_all(bench: Bench, folder: str, files: int) -> None:
    source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
    table = Table(f"memory, {files:,} entries changed", files, {})
    print(table.title, flush=True)
    least = measure.run([bench.tool, "--version"]).peak

    def run(name: str, *command: str) -> None:
        result = table.results[name] = Result(name)
        try:
            result.samples = [measure.run([*command])]
        except measure.Wrong as error:
            bench.fault(f"{table.title}: {name}", str(error), result)
            return
        each = (result.peak - least) / files
        result.more["bytes/entry"] = f"{each:,.0f}"
        if command[0] == bench.tool:
            bench.goal(f"memory, {files:,} entries: {name}", each, GOAL, "B")

    changes = {
        "first copy": lambda: make(source, files),
        "touched": lambda: [os.utime(path, (1e9, 1e9)) for path in Tree(source).files],
        "renamed": lambda: [os.rename(path, path + b".new") for path in Tree(source).files],
        "deleted": lambda: [remove(source), os.makedirs(source)],
    }
    for name, change in changes.items():
        change()
        run(f"plan, {name}", bench.tool, "plan", "--quiet", *OVERRIDES, source, target)
        run(name, bench.tool, "apply", "--quiet", *OVERRIDES, source, target)
        if name == "first copy":
            run("rsync -a", "rsync", "-a", source + "/", os.path.join(folder, "rsync") + "/")
            remove(os.path.join(folder, "rsync"))
        else:
            run(f"undo, {name}", bench.tool, "undo", "--quiet", target)
            measure.run([bench.tool, "undo", "--quiet", target])
    bench.add(table)


def make(root: str, files: int) -> None:
    """Empty files. Their content does not matter here, and would use memory."""
    for number in range(0, files, FILES_PER_DIRECTORY):
        names = (f"report-{file:06}.txt" for file in range(number, min(number + FILES_PER_DIRECTORY, files)))
        directory = f"{number // FILES_PER_DIRECTORY**2:03}/{number // FILES_PER_DIRECTORY:05}"
        trees.make(os.path.join(root, directory), dict.fromkeys(names, b""))
