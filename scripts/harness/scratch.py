"""The place for a script's trees."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator

MEMORY = "/dev/shm"


def memory(room: int = 0) -> str | None:
    """A directory in memory, if there is one with so much free space."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= room:
        return MEMORY
    return None


@contextlib.contextmanager
def scratch(script: str, folder: str | None, keep: bool = False) -> Iterator[str]:
    """A directory that is removed at the end, also if the script is stopped. Mounts below it are unmounted
    before."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    path = tempfile.mkdtemp(prefix=f"fsync-lite-{script}-", dir=folder)
    try:
        yield path
    finally:
        if not keep:
            with contextlib.suppress(subprocess.CalledProcessError):
                remove(path)


def remove(path: str | bytes) -> None:
    """Removes a tree of any depth: `shutil.rmtree` calls itself for each level."""
    subprocess.run(["rm", "-rf", "--", path], check=True)
