"""The command that a script tries."""

import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def built():
    """The one that FSYNC_LITE names, or the static release binary, built now."""
    tool = os.environ.get("FSYNC_LITE")
    if tool:
        return os.path.abspath(tool)
    build = subprocess.run([os.path.join(ROOT, "scripts", "build")], check=True, stdout=subprocess.PIPE, text=True)
    return build.stdout.strip()
