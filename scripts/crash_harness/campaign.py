"""All classes of cases over all workloads, and their results."""

import argparse
import contextlib
import random
from collections.abc import Iterator

from crash_harness import workloads
from crash_harness.devices import device_failures, full_disks, power_cuts
from crash_harness.history import WORKLOADS as HISTORY_WORKLOADS
from crash_harness.history import history
from crash_harness.injection import errors, foreign_objects, kills, recovery_kills, short_counts
from crash_harness.line import WORKLOADS as LINE_WORKLOADS
from crash_harness.line import line
from crash_harness.order import demand_proofs, order
from crash_harness.races import races
from crash_harness.results import KINDS, Noticed, Results
from crash_harness.trial import SUBVOLUME, Trial
from crash_harness.weak import weak
from harness import disk
from harness.arguments import seed
from harness.command import built
from harness.scratch import memory, scratch

CLASSES = {
    "order": order,
    "race": races,
    "short": short_counts,
    "kill": kills,
    "error": errors,
    "recovery": recovery_kills,
    "foreign": foreign_objects,
    "history": history,
    "full": full_disks,
    "power": power_cuts,
    "device": device_failures,
    "weak": weak,
    "line": line,
}
# The workloads of classes that do not use all.
CHOSEN = {"history": HISTORY_WORKLOADS, "line": LINE_WORKLOADS}
# The classes that make sense for each kind of exchange. A subvolume's exchange has no journal to recover.
EXCHANGED = {
    False: [*CLASSES],
    True: ["kill", "error", "recovery", "foreign", "full", "power"],
    SUBVOLUME: ["kill", "error", "power"],
}
HOW = {False: "", True: ", exchanged", SUBVOLUME: ", exchanged as a subvolume"}


def succeeds(options: argparse.Namespace) -> bool:
    classes = [name for name in options.classes or EXCHANGED[options.exchange] if name not in options.without]
    chosen, tool = seed(options), built()
    results = Results(stops_at_first=options.first)
    # Thousands of cases, each with its syncs.
    with scratch("crash", options.scratch or memory(2 << 30)) as folder, contextlib.suppress(Noticed):
        for name in classes:
            for workload, exchanges in variants(name, options, chosen):
                before = results.cases[name]
                rng = random.Random(f"{chosen} {name} {workload}" + " exchange" * bool(exchanges))
                with place(name, exchanges, folder) as found:
                    if not found:
                        results.skip(name, f"a subvolume {disk.needs('btrfs')}")
                        continue
                    CLASSES[name](Trial(tool, found, workload, results, rng, options.short, exchanges))
                print(f"{name}: {workload}{HOW[exchanges]}: {results.cases[name] - before} cases", flush=True)
        results.demand_fired(
            classes if options.classes else [name for name in classes if variants(name, options, chosen)]
        )
        if "order" in classes and not options.workloads:
            demand_proofs(results)
    summarize(results)
    return not results.failures


def variants(name: str, options: argparse.Namespace, seed: str) -> list[tuple[str, bool | str]]:
    """The workloads of a class, and how the target is exchanged. In two classes, one is exchanged as well."""
    names = options.workloads or CHOSEN.get(name) or [*workloads.DEFAULT]
    names = [workload for workload in names if workload in CHOSEN.get(name, names)]
    if name == "history" and options.short and names:
        names = [random.Random(seed).choice(names)]
    found: list[tuple[str, bool | str]] = [(workload, options.exchange) for workload in names]
    if name in ("kill", "power") and not options.exchange and "mixed changes" in names:
        found += [("mixed changes", True), ("mixed changes", SUBVOLUME)]
    return found


@contextlib.contextmanager
def place(name: str, exchanges: bool | str, scratch: str) -> Iterator[str | None]:
    """The place for the trees of a class; None if there is none. The power class uses new file systems."""
    if exchanges != SUBVOLUME or name == "power":
        yield scratch
    elif not disk.can_mount("btrfs"):
        yield None
    else:
        with disk.Disk(scratch, "btrfs", megabytes=512).mounted() as mounted:
            yield mounted.mount_point


def summarize(results: Results) -> None:
    def line(*cells: object) -> None:
        print("".join(f"{cell:<12}" for cell in cells))

    print()
    line("class", "cases", "fired", "mixtures", "losses", "untruthful", "leftovers", "order", "resent")
    for name in CLASSES:
        if results.cases[name]:
            bad = (results.bad[name, kind] for kind in KINDS)
            line(name, results.cases[name], results.fired[name], *bad)
        elif name in results.skipped:
            print(f"{name:<12}skipped: {results.skipped[name]}")
    bad = (sum(count for (_, found), count in results.bad.items() if found == kind) for kind in KINDS)
    line("all", results.cases.total(), results.fired.total(), *bad)
    for failure in results.failures[:20]:
        print(failure)
