"""The command that a script tries."""

import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def built(*options):
    """The one that FSYNC_LITE names, or the release binary, built now with these options of scripts/build."""
    tool = os.environ.get("FSYNC_LITE")
    if tool:
        return os.path.abspath(tool)
    command = [os.path.join(ROOT, "scripts", "build"), *options]
    build = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return build.stdout.strip()
