"""A real server of S3's API for tests: rclone, over a folder, on loopback."""

import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.ports import free_port

START_S = 60.0
KEY, SECRET = "tests", "of-these-tests-alone"


@dataclass(frozen=True, slots=True)
class S3Server:
    """A running server and the folder that it serves; a bucket is a folder in it."""

    url: str
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """How a program finds it."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }


@contextmanager
def s3_server(folder: Path) -> Iterator[S3Server]:
    """Serve a folder until the end of the block."""
    program = Path(sysconfig.get_path("scripts")) / "rclone"
    port = free_port()
    log = folder.parent / "rclone.log"
    command = [str(program), "serve", "s3", str(folder), "--addr", f"127.0.0.1:{port}"]
    command += ["--auth-key", f"{KEY},{SECRET}", "--config", "/dev/null"]
    # A cache that ends at once, "0s", may lock it up: it then cleans up without a pause.
    command += ["--vfs-cache-mode", "off", "--dir-cache-time", "1h"]
    with log.open("wb") as said, subprocess.Popen(command, stderr=said) as process:
        try:
            _wait(port, process, log)
            yield S3Server(f"http://127.0.0.1:{port}", folder)
        finally:
            process.terminate()


def _wait(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(log.read_text())
