"""An ssh server on a port of this machine, with keys made for it."""

import os
import shutil
import socket
import subprocess
import time
from types import TracebackType

from harness.command import run

NEEDS = "ssh, sshd and ssh-keygen (openssh-client, openssh-server)"


def is_possible() -> bool:
    return all(map(shutil.which, ("ssh", "sshd", "ssh-keygen")))


class SecureShell:
    """Reached as the host `far`."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.join(folder, "ssh")
        os.mkdir(self.folder, 0o700)
        self.configuration = self._path("client")

    @property
    def words(self) -> list[str]:
        return ["ssh", "-F", self.configuration]

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _write(self, name: str, *lines: str) -> str:
        with open(self._path(name), "w") as file:
            file.writelines(line + "\n" for line in lines)
        return self._path(name)

    def _key(self, name: str) -> str:
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self._path(name)], check=True)
        with open(self._path(name + ".pub")) as file:
            return file.read().strip()

    def __enter__(self) -> "SecureShell":
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        known = self._write("known", f"[127.0.0.1]:{port} {self._key('host')}")
        keys = self._write("keys", self._key("key"))
        server = self._write(
            "server",
            *(f"Port {port}", "ListenAddress 127.0.0.1", f"HostKey {self._path('host')}", f"AuthorizedKeysFile {keys}"),
            *("SetEnv FSYNC_LITE_STATE=none", "Subsystem sftp internal-sftp"),
            *("PidFile none", "UsePAM no", "StrictModes no", "PermitRootLogin prohibit-password"),
        )
        self._write(
            "client",
            *("Host far", "HostName 127.0.0.1", f"Port {port}", f"IdentityFile {self._path('key')}"),
            *(f"UserKnownHostsFile {known}", "BatchMode yes", "IdentitiesOnly yes", "LogLevel ERROR"),
        )
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        # It starts itself anew for each connection, by its whole path.
        self.server = subprocess.Popen([shutil.which("sshd"), "-D", "-f", server])
        self._await(port)
        return self

    def _await(self, port: int) -> None:
        for last in [False] * 500 + [True]:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except ConnectionRefusedError:
                if last or self.server.poll() is not None:
                    raise
                time.sleep(0.01)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.folder)
