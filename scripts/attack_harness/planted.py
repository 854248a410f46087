"""Planted objects: the state contains an object of a wrong type, or of another owner."""

import os
import socket

from attack_harness.scene import TOKEN, Scene, write
from attack_harness.table import Row
from harness.scratch import remove
from harness.trees import content

FILES = ["manifest.json", "journal", "journal.back", "mark", "last-run", "settings.json"]
DIRECTORIES = ["stage", "stage/20260101T000000.000000Z-0000", "history", "trash"]
KINDS = ["symlink", "dangling", "fifo", "socket", "directory", "file"]
KINDS += ["hard link", "group-writable", "foreign"]
COMMANDS = [["apply"], ["plan"], ["status"], ["recover"], ["manifest", "list"]]
NOBODY = 65534


def run(tool: str, scratch: str, short: bool) -> list[Row]:
    rows = []
    for name in FILES + DIRECTORIES:
        rows.append(row := Row(f"planted {name}"))
        for kind in KINDS:
            if (kind == "hard link" and name in DIRECTORIES) or (kind == "foreign" and os.geteuid() != 0):
                continue
            for command in COMMANDS[: 1 if short else None]:
                scene = Scene(tool, scratch, "plant")
                scene.step()
                plant_in_state(scene, name, kind)
                try_command(scene, row, f"{name} as {kind}", command)
    return rows


def try_command(scene: Scene, row: Row, what: str, command: list[str]) -> None:
    scene.canaries.arm()
    applies = command == ["apply"]
    operands = [scene.source] if command[0] in ("apply", "plan") else []
    run = scene.run([*command, *operands, scene.target], seconds=10)
    case = f"{what}, {' '.join(command)}"
    row.count(run, case)
    said = run.output + run.errors if run else b""
    found = scene.escapes(b"" if applies else said)
    if "hard link" in what:
        # It is the same object as the planted one, which is in the target.
        found = [line for line in found if "in the target has content" not in line]
    if found:
        row.escapes.append([case, *found])
    words = said.decode(errors="replace").replace(scene.work, "").strip()
    if run and run.code != 0 and not run.has_crashed and not words:
        row.failures.append(f"{case}: exit {run.code} without a word")
    if run and run.code == 0 and applies and (why := scene.mirror_difference()):
        row.failures.append(f"{case}, and the tree is not the source's: {why}")


def plant_in_state(scene: Scene, name: str, kind: str) -> None:
    path = os.path.join(scene.state, name)
    outside = os.path.join(scene.outside, "state", name.split("/")[0])
    if kind in ("group-writable", "foreign"):
        if not os.path.exists(path):
            if name in DIRECTORIES:
                os.makedirs(path, 0o700)
            else:
                write(path, content(outside).replace(TOKEN, b""), 0o600)
        if kind == "foreign":
            os.chown(path, NOBODY, NOBODY)
        else:
            os.chmod(path, 0o770)
        return
    remove(path)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    if kind == "hard link":
        os.link(outside, path)
        return
    plant(path, kind, outside)
    if kind == "directory" and name in DIRECTORIES:
        write(os.path.join(path, "not ours"), b"not ours\n", 0o600)


def plant(path: str, kind: str, goal: str) -> None:
    if kind == "symlink":
        os.symlink(goal, path)
    elif kind == "dangling":
        os.symlink(goal + "-is-nowhere", path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path)
    elif kind == "directory":
        os.mkdir(path, 0o700)
    elif kind == "file":
        write(path, b"not ours\n", 0o600)
    else:
        raise ValueError(kind)
