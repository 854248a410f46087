"""Mutants change one small thing of the code: their list, and a copy of the package with all of them."""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.command import ROOT, run

LIST = os.path.join(ROOT, "scripts", "mutants_harness", "mutants.txt")
COPY = os.path.join(ROOT, ".build", "mutants")
SWITCH = "FSYNC_LITE_MUTANT"
# In the target that all others import.
SWITCH_CODE = f"""
import Glibc

package enum Mutant {{
    package static let active = getenv("{SWITCH}").flatMap {{ Int(String(cString: $0)) }}
}}
"""
SWITCH_FILE = "Sources/FileSystem/Mutant.swift"


class Edit(NamedTuple):
    """The code around a part in ⟦brackets⟧, and its replacement."""

    code: str
    replacement: str

    def applied(self, number: int, part: str) -> str:
        condition = f"Mutant.active == {number}"
        if self.replacement and not self.replacement.startswith("{"):
            return f"({condition} ? ({self.replacement}) : ({part}))"
        return f"if {condition} {self.replacement or '{}'} else {{ {part} }}"

    def place(self, path: str, text: str) -> tuple[int, int]:
        """The place of the changed part. Line breaks and indentation of the list may differ from the file."""
        pieces = (re.sub(r"(?:\\?\s)+", r"\\s+", re.escape(code)) for code in re.split("[⟦⟧]", self.code))
        before, part, after = pieces
        found = list(re.finditer(f"{before}({part}){after}", text))
        if len(found) != 1:
            sys.exit(f"scripts/mutants: this stands {len(found)} times in {path}: {self.code}")
        return found[0].span(1)


@dataclass
class Mutant:
    name: str
    path: str
    # The tests that run first; empty if no test is expected to notice it.
    tests: str
    number: int
    edits: list[Edit] = field(default_factory=list)
    # The classes of scripts/crash that may notice it.
    classes: list[str] = field(default_factory=list)


def read_list() -> list[Mutant]:
    mutants: list[Mutant] = []
    code: list[str] = []
    with open(LIST, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            if not line.startswith(" "):
                name, path, tests = text.split()
                mutants.append(Mutant(name, os.path.join("Sources", path), tests.strip("-"), len(mutants)))
            elif text.startswith("=>"):
                mutants[-1].edits.append(Edit("\n".join(code), text[2:].strip()))
                code = []
            elif text.startswith("crash: "):
                mutants[-1].classes = text.split()[1:]
            else:
                code.append(text)
    names = [mutant.name for mutant in mutants]
    for name in {name for name in names if names.count(name) > 1}:
        sys.exit(f"scripts/mutants: {name} is listed twice")
    return mutants


def mutated(mutants: list[Mutant]) -> dict[str, str]:
    """The files with all their mutants, by path."""
    paths = sorted({mutant.path for mutant in mutants})
    return {path: with_mutants(path, [mutant for mutant in mutants if mutant.path == path]) for path in paths}


def with_mutants(path: str, mutants: list[Mutant]) -> str:
    """If some share a part, each one wraps the one before it."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    changed: dict[tuple[int, int], str] = {}
    for mutant in mutants:
        for edit in mutant.edits:
            span = edit.place(path, text)
            changed[span] = edit.applied(mutant.number, changed.get(span, text[span[0] : span[1]]))
    last = len(text)
    for (start, end), part in sorted(changed.items(), reverse=True):
        if end > last:
            sys.exit(f"scripts/mutants: two mutants overlap in {path}: {text[start:end]}")
        text, last = text[:start] + part + text[end:], start
    return text if "import FileSystem" in text else "import FileSystem\n" + text


def copy_package(mutants: list[Mutant]) -> None:
    """Only changed files are written, so that only these are built again."""
    with tempfile.TemporaryDirectory() as new:
        listing = "git ls-files -z --cached --others --exclude-standard --deduplicate"
        # One that was removed may still be in the index.
        run(["sh", "-c", f'{listing} | xargs -0 cp --parents -pt "$0"', new], cwd=ROOT)
        for path, text in (mutated(mutants) | {SWITCH_FILE: SWITCH_CODE}).items():
            with open(os.path.join(new, path), "w", encoding="utf-8") as file:
                file.write(text)
        os.makedirs(COPY, exist_ok=True)
        run(["rsync", "-rlpc", "--delete", "--exclude=/.build", new + "/", COPY + "/"], check=True)


def build(mutants: list[Mutant], *options: str) -> None:
    copy_package(mutants)
    subprocess.run(["swift", "build", *options], cwd=COPY, check=True, stdout=sys.stderr)
