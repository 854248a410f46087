"""Copiers that use paths, which the attacks must catch."""

import contextlib
import os
import signal
import stat
import subprocess

from attack_harness.scene import STATE, Scene
from harness import command


def hangs_cp(scene: Scene) -> bool:
    try:
        copying = ["cp", "-a", "--no-target-directory", scene.source, scene.target]
        command.run(copying, seconds=2)
    except subprocess.TimeoutExpired:
        return True
    return False


def hangs_by_paths(scene: Scene) -> bool:
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(2)
        try:
            with contextlib.suppress(OSError):
                copy_by_paths(scene.source, scene.target)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def copy_by_paths(source: str, target: str) -> None:
    """Works like many a backup script: it looks, then opens the same path again."""
    stage, history = (os.path.join(target, STATE, name) for name in ("stage", "history"))
    for directory, _, names in os.walk(source):
        relative = os.path.relpath(directory, source)
        goal = os.path.normpath(os.path.join(target, relative))
        if os.path.basename(directory) != STATE and not os.path.isdir(goal):
            os.mkdir(goal)
        for name in os.listdir(goal):
            path = os.path.join(goal, name)
            is_gone = not os.path.lexists(os.path.join(directory, name))
            if name != STATE and is_gone and not os.path.isdir(path):
                os.rename(path, os.path.join(history, name))
        for name in names:
            path, staged = os.path.join(directory, name), os.path.join(stage, name)
            if os.path.islink(path):
                continue
            status = os.stat(path)
            with open(path, "rb") as original, open(staged, "wb") as copy:
                copy.write(original.read())
            os.chmod(staged, stat.S_IMODE(status.st_mode))
            os.rename(staged, os.path.join(goal, name))
            os.utime(os.path.join(goal, name), ns=(status.st_atime_ns, status.st_mtime_ns))


COPIERS = {"cp": hangs_cp, "paths": hangs_by_paths}
