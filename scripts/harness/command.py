"""The command that a script tries."""

import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def built():
    """The one that FSYNC_LITE names, or the static release binary, built now."""
    tool = os.environ.get("FSYNC_LITE")
    if tool:
        return os.path.abspath(tool)
    command = ["swift", "build", "-c", "release", "--static-swift-stdlib", "--product", "fsync-lite"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return os.path.join(ROOT, ".build", "release", "fsync-lite")
