"""Attacks on `serve --restrict`: the other end of a push or a pull is confined to a directory."""

import os
import shlex
import shutil

from attack_harness.scene import STATE, Scene, write
from attack_harness.table import Row
from harness.scratch import remove

# Whose path the client gives.
PUSH, PULL = "push", "pull"
COMMANDS = [["apply"], ["status"], ["recover"], ["undo"], ["manifest", "list"], ["snapshot", "list"]]


class ServedScene(Scene):
    """A scene whose target or source is on the other machine."""

    # Until the first mirror is made.
    way = ""

    def __init__(self, tool: str, scratch: str, name: str, way: str, *, first_apply: bool = True) -> None:
        super().__init__(tool, scratch, name, first_apply=first_apply)
        os.chmod(self.work, 0o700)
        # No directory on the way to a target may be a symlink, even if it leads to a served place.
        self.serve(way, self.work if way == PUSH else os.path.dirname(self.source))

    def serve(self, way: str, root: str) -> None:
        """A key that can do nothing else, whatever command comes with it."""
        self.way, self.root = way, root
        self.ssh = os.path.join(self.work, "ssh")
        words = [self.tool, "serve", *["--read-only"] * (way == PULL), "--restrict", root]
        # A relative path reaches only the scene.
        write(self.ssh, f"#!/bin/sh\ncd {root} && exec {shlex.join(words)}\n".encode(), 0o755)

    @property
    def applying(self) -> list[str]:
        if not self.way:
            return super().applying
        served = os.path.relpath(self.target if self.way == PUSH else self.source, self.root)
        return self.command(["apply", "--max-delete", "unlimited"], served)

    def command(self, words: list[str], path: str) -> list[str]:
        """A command with a served path."""
        far, is_apply = "far:" + path, words[0] == "apply"
        operands = [far, self.target] if self.way == PULL else [*[self.source] * is_apply, far]
        return [*words, *operands, "--ssh", self.ssh]


def paths(tool: str, scratch: str) -> list[Row]:
    """Paths that lead outside, or would if they were taken literally."""
    rows = []
    for way in (PUSH, PULL):
        rows.append(row := Row(f"{way}: paths"))
        for words in COMMANDS if way == PUSH else COMMANDS[:1]:
            scene = prepared(tool, scratch, way)
            for path in hostile(scene):
                try_path(scene, row, words, path)
    return rows


def prepared(tool: str, scratch: str, way: str) -> ServedScene:
    scene = ServedScene(tool, scratch, "served", way)
    root = os.path.dirname(scene.target if way == PUSH else scene.source)
    os.chmod(root, 0o700)
    scene.serve(way, root)
    os.symlink(scene.outside, os.path.join(root, "link"))
    os.symlink(os.path.basename(scene.target if way == PUSH else scene.source), os.path.join(root, "own"))
    # Directories that look like our targets, and one whose name begins like the served one's.
    for place in ("target", "to/target"):
        shutil.copytree(scene.state, os.path.join(scene.outside, place, STATE), symlinks=True)
    shutil.copytree(scene.outside, root + "-beside", symlinks=True)
    return scene


def hostile(scene: ServedScene) -> list[str]:
    """All paths lead into the scene. If nothing stopped them, they would harm nothing else on the machine."""
    root, outside = scene.root, scene.outside
    mirror = os.path.basename(scene.target if scene.way == PUSH else scene.source)
    up = [f"../outside/{place}" for place in ("target", "source", "new")]
    return [
        *("", ".", "..", mirror + "/..", "own", "own/new"),
        *("link", "link/target", "link/source", "link/new", "link/to/target", "own/../link/target"),
        *up,
        *(f"{mirror}/hot/../../{path}" for path in up),
        *(f"{outside}/{place}" for place in ("target", "source", "to/target", "new")),
        *(f"{root}{path}" for path in ("", "/", "/..", "/../outside/target", "/link/target", "-beside/target")),
        *(f"{root}/{path}" for path in ("own", mirror + "/../../outside/source")),
        *("/proc/self/cwd/link/target", f"/proc/self/root{outside}/target", f"/{outside}/target"),
        *("new/../../outside/new", "a\nb/.."),
    ]


def try_path(scene: ServedScene, row: Row, words: list[str], path: str) -> None:
    if scene.way == PULL:
        remove(scene.target)
    scene.canaries.arm()
    options = ["--adopt", "--create-parents", "--change-source"] if words == ["apply"] else []
    run = scene.run(scene.command([*words, *options], path), seconds=10)
    case = f"{' '.join(words)} {path!r}"
    row.count(run, case)
    said = (run.output + run.errors if run else b"").replace(os.fsencode(path), b"")
    if found := scene.escapes(said):
        row.escapes.append([case, *found])
    # A source may be the served directory itself, or the goal of a symlink within it.
    if run and run.code == 0 and scene.way == PUSH:
        row.failures.append(f"{case}: it was carried out")
