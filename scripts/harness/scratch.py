"""Where a script makes its trees."""

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
    """A directory in memory, if there is one with so many bytes of room."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= room:
        return MEMORY
    return None


@contextlib.contextmanager
def scratch(script: str, folder: str | None, keep: bool = False) -> Iterator[str]:
    """A directory that is gone at the end, also when the script is told to stop: what is mounted
    below is unmounted before."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    path = tempfile.mkdtemp(prefix=f"fsync-lite-{script}-", dir=folder)
    try:
        yield path
    finally:
        if not keep:
            with contextlib.suppress(subprocess.CalledProcessError):
                remove(path)


def remove(path: str | bytes) -> None:
    """However deep it is: `shutil.rmtree` calls itself for each level."""
    subprocess.run(["rm", "-rf", "--", path], check=True)
