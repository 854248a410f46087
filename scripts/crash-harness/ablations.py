"""Test builds with a part of the protocol taken out. Each has to be noticed, or the harness proves nothing.

A patch in `ablations/` begins with two lines: `Why:`, what the part is for, and `Try:`, the classes that may
notice. It is applied to a copy of the sources, which share one build directory.
"""

import glob
import os
import random
import subprocess

from bench import Bench, Noticed, Results

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ablations")
# How long and on what a class looks for it.
WORKLOADS = ["bulk", "mixed changes"]
POWER_CUTS = 18


def run(root, classes, scratch, names, seed, results):
    """Returns rows of (name, {class: what came of it}, whether it was noticed)."""
    patches = sorted(glob.glob(os.path.join(FOLDER, "*.patch")))
    if names:
        patches = [path for path in patches if stem(path) in names]
    if not patches:
        raise SystemExit("no such ablation")
    copy = os.path.join(scratch, "altered")
    os.makedirs(copy)
    listing = subprocess.run(["git", "ls-files", "-z", "Package.swift", "Sources", "Tests"], cwd=root, check=True,
                             capture_output=True).stdout
    subprocess.run(["rsync", "-a", "--from0", "--files-from=-", root + "/", copy], input=listing, check=True)
    table = []
    for path in patches:
        name = stem(path)
        with open(path) as file:
            header = dict(line.rstrip("\n").split(": ", 1) for line in file if line.startswith(("Why: ", "Try: ")))
        try:
            tool = build(copy, path)
        except subprocess.CalledProcessError as error:
            # A part that has moved is no longer proven: somebody has to look.
            what = "does not apply" if error.cmd[0] == "patch" else "does not compile"
            results.failures.append(f"ablation {name}: {what}\n{error.stdout[-2000:]}")
            table.append((name, {}, False))
            print(f"ablation: {name}: {what}", flush=True)
            continue
        outcome = {}
        for word in header["Try"].split():
            outcome[word] = attempt(word, classes, tool, scratch, seed)
            print(f"ablation: {name}: {word}: {outcome[word]}", flush=True)
        noticed = any(text.startswith("case") for text in outcome.values())
        if not noticed:
            results.failures.append(f"ablation {name}: nobody noticed")
        table.append((name, outcome, noticed))
    return table


def stem(path):
    return os.path.basename(path).removesuffix(".patch")


def build(copy, patch):
    """Builds the altered sources, and puts them back as they were."""
    apply = ["patch", "-p1", "--batch", "--fuzz=0", "--no-backup-if-mismatch", "-r", "-", "-i", patch]
    options = {"cwd": copy, "check": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    subprocess.run([*apply, "--dry-run"], **options)
    subprocess.run(apply, **options)
    try:
        subprocess.run(["swift", "build", "--product", "fsync-lite"], **options)
    finally:
        subprocess.run([*apply, "--reverse"], **options)
    # The next build replaces it.
    tool = os.path.join(copy, "altered-" + stem(patch))
    os.link(os.path.join(copy, ".build", "debug", "fsync-lite"), tool)
    return tool


def attempt(word, classes, tool, scratch, seed):
    """Runs one class until it notices something, `power/btrfs` on that file system only."""
    name, _, kind = word.partition("/")
    results = Results(stops_at_first=True)
    try:
        for workload in WORKLOADS:
            bench = Bench(tool, scratch, workload, results, random.Random(f"{seed} {name} {workload}"), True)
            if name == "power":
                classes[name](bench, kinds=(kind,) if kind else ("ext4", "xfs", "btrfs"), cuts=POWER_CUTS)
            else:
                classes[name](bench)
    except Noticed:
        return f"case {sum(results.cases.values())}"
    if name in results.skipped:
        return "skipped"
    return f"not in {sum(results.cases.values())}"


def summarize(table):
    words = list(dict.fromkeys(word for _, outcome, _ in table for word in outcome))
    width = max(len(name) for name, _, _ in table) + 2
    print(f"{'ablation':<{width}}" + "".join(f"{word:<14}" for word in words))
    for name, outcome, noticed in table:
        print(f"{name:<{width}}" + "".join(f"{outcome.get(word, ''):<14}" for word in words)
              + ("" if noticed else "  NOT NOTICED"))
    print(f"noticed {sum(noticed for _, _, noticed in table)} of {len(table)} ablations")
