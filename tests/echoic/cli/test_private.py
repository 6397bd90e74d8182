"""Who may read what an instance writes: its owner."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.echoic.cli.conftest import Program

pytestmark = [pytest.mark.services, pytest.mark.timeout(180)]

PASSED = 0o011 if os.geteuid() == 0 else 0
"""As root, the database runs as another user, who has to pass through folders."""


def readable(folder: Path) -> Iterator[str]:
    """What of a folder somebody else could read, write or enter."""
    for path in (folder, *folder.rglob("*")):
        if not path.exists():
            continue  # of a running server, and gone by now
        mode = stat.S_IMODE(path.stat().st_mode)
        allowed = 0o700 | PASSED if path.is_dir() else 0o600
        if mode & ~allowed:
            yield f"{mode:o} {path.relative_to(folder)}"


def test_a_data_folder_is_its_owners_alone(echoic: Program) -> None:
    """Logs, locks, accounts, tables: nothing of it is open, nor what once was."""
    old = echoic.data / "nats" / "server.lock"
    old.parent.mkdir(parents=True)
    old.touch(0o644)
    old.chmod(0o644)
    old.parent.chmod(0o755)
    echoic.data.chmod(0o755)
    started = echoic("up", "--detach", "--pack", "desk")
    try:
        made = echoic.here("sensor", "access", "door")
        heard = echoic.here("pub", "The front door opened", "--wait")
        open_ = list(readable(echoic.data))
        files = {path.name for path in echoic.data.rglob("*")}
    finally:
        echoic("down")

    assert [each.code for each in (started, made, heard)] == [0, 0, 0], started.err
    assert {"postgres.log", "instance.lock", "companion.door.json"} <= files
    assert open_ == []
