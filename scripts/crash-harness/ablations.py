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
    headers = {path: header(path) for path in patches}
    table = []
    if not names:
        # The control: what is whole must not be noticed.
        words = list(dict.fromkeys(word for found in headers.values() for word in found["Try"].split()))
        tool = build(copy, None)
        outcome = attempts("unaltered", words, classes, tool, scratch, seed)
        if is_noticed(outcome):
            results.failures.append("ablation: something was noticed where nothing was taken out")
        table.append(("unaltered", outcome, not is_noticed(outcome)))
    for path in patches:
        name = stem(path)
        try:
            tool = build(copy, path)
        except subprocess.CalledProcessError as error:
            # A part that has moved is no longer proven: somebody has to look.
            what = "does not apply" if error.cmd[0] == "patch" else "does not compile"
            results.failures.append(f"ablation {name}: {what}\n{error.stdout[-2000:]}")
            table.append((name, {}, False))
            print(f"ablation: {name}: {what}", flush=True)
            continue
        outcome = attempts(name, headers[path]["Try"].split(), classes, tool, scratch, seed)
        if not is_noticed(outcome):
            results.failures.append(f"ablation {name}: nobody noticed")
        table.append((name, outcome, is_noticed(outcome)))
    return table


def check(root, results):
    """Whether every patch still applies: all that there is time for in the short form."""
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.patch"))):
        applied = subprocess.run(["git", "apply", "--check", path], cwd=root, capture_output=True, text=True)
        if applied.returncode != 0:
            results.failures.append(f"ablation {stem(path)}: does not apply\n{applied.stderr}")


def header(path):
    with open(path) as file:
        return dict(line.rstrip("\n").split(": ", 1) for line in file if line.startswith(("Why: ", "Try: ")))


def is_noticed(outcome):
    return any(text.startswith("case") for text in outcome.values())


def stem(path):
    return os.path.basename(path).removesuffix(".patch")


def build(copy, patch):
    """Builds the sources, altered or not, and puts them back as they were."""
    options = {"cwd": copy, "check": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    apply = ["patch", "-p1", "--force", "--fuzz=0", "--no-backup-if-mismatch", "-r", "-", "-i", patch or os.devnull]
    if patch:
        subprocess.run([*apply, "--dry-run"], **options)
        subprocess.run(apply, **options)
    try:
        subprocess.run(["swift", "build", "--product", "fsync-lite"], **options)
    finally:
        if patch:
            subprocess.run([*apply, "--reverse"], **options)
    # The next build replaces it.
    tool = os.path.join(copy, "altered-" + stem(patch or "not"))
    os.link(os.path.join(copy, ".build", "debug", "fsync-lite"), tool)
    return tool


def attempts(name, words, classes, tool, scratch, seed):
    outcome = {}
    for word in words:
        outcome[word] = attempt(word, classes, tool, scratch, seed)
        print(f"ablation: {name}: {word}: {outcome[word]}", flush=True)
    return outcome


def attempt(name, classes, tool, scratch, seed):
    """Runs one class until it notices something."""
    results = Results(stops_at_first=True)
    try:
        for workload in WORKLOADS:
            bench = Bench(tool, scratch, workload, results, random.Random(f"{seed} {name} {workload}"), True)
            if name == "power":
                classes[name](bench, cuts=POWER_CUTS)
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
    for name, outcome, is_right in table:
        print(f"{name:<{width}}" + "".join(f"{outcome.get(word, ''):<14}" for word in words)
              + ("" if is_right else "  WRONG"))
    altered = [is_right for name, _, is_right in table if name != "unaltered"]
    print(f"noticed {sum(altered)} of {len(altered)} ablations")
