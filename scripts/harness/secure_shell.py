"""An ssh server on a port of this machine, with new keys."""

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator

from harness.command import run, wait_until

NEEDS = "ssh, sshd and ssh-keygen (openssh-client, openssh-server)"


def is_possible() -> bool:
    return all(map(shutil.which, ("ssh", "sshd", "ssh-keygen")))


@contextlib.contextmanager
def secure_shell(folder: str) -> Iterator[str]:
    """The configuration of a client, in which the server is the host `far`."""
    place = os.path.join(folder, "ssh")
    os.mkdir(place, 0o700)

    def path(name: str) -> str:
        return os.path.join(place, name)

    def write(name: str, *lines: str) -> str:
        with open(path(name), "w") as file:
            file.writelines(line + "\n" for line in lines)
        return path(name)

    def key(name: str) -> str:
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(name)], check=True)
        with open(path(name + ".pub")) as file:
            return file.read().strip()

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    known = write("known", f"[127.0.0.1]:{port} {key('host')}")
    keys = write("keys", key("key"))
    server = write(
        "server",
        *(f"Port {port}", "ListenAddress 127.0.0.1", f"HostKey {path('host')}", f"AuthorizedKeysFile {keys}"),
        *("SetEnv FSYNC_LITE_STATE=none", "Subsystem sftp internal-sftp"),
        *("PidFile none", "UsePAM no", "StrictModes no", "PermitRootLogin prohibit-password"),
    )
    client = write(
        "client",
        *("Host far", "HostName 127.0.0.1", f"Port {port}", f"IdentityFile {path('key')}"),
        *(f"UserKnownHostsFile {known}", "BatchMode yes", "IdentitiesOnly yes", "LogLevel ERROR"),
    )
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", exist_ok=True)
    # It starts itself again for each connection, by its whole path.
    process = subprocess.Popen([shutil.which("sshd"), "-D", "-f", server])
    try:
        if not wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0, 5, process):
            raise TimeoutError("sshd does not answer")
        yield client
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(place)
