"""Where tests write, and the variables that their instances run with."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

TALKATIVE = {
    "ECHOIC_COOLDOWN_S": "0",
    "ECHOIC_HEURISTIC_COOLDOWN_S": "0",
    "ECHOIC_QUIP_INTERVAL_S": "0",
}
"""No response waits for the one before: tests of all else would have to wait, too."""

_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 6 << 30
_PREFIX = "echoic-tests-"


def folder_in_memory() -> TemporaryDirectory[str] | None:
    """Make a folder that is no disk, and remove those of runs that were killed.

    Brokers and databases wait for the disk at every step, some five milliseconds each: a
    log is made in a third of the time here. A killed process loses nothing of what it
    wrote on either. Returns None where memory has too little room.
    """
    if not _MEMORY.is_dir() or _room_bytes() < _ROOM_BYTES:
        return None
    for left in _MEMORY.glob(f"{_PREFIX}*"):
        if not Path("/proc", left.name.split("-")[2]).exists():
            shutil.rmtree(left, ignore_errors=True)
    return TemporaryDirectory(
        prefix=f"{_PREFIX}{os.getpid()}-", dir=_MEMORY, ignore_cleanup_errors=True
    )


def _room_bytes() -> int:
    told = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    kilobytes = {
        name: text.split()[0]
        for name, _, text in (each.partition(":") for each in told)
    }
    return min(
        shutil.disk_usage(_MEMORY).free, int(kilobytes.get("MemAvailable", "0")) * 1024
    )
