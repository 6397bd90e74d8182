"""What the processes of a household take: memory, open files, disk.

A part that is killed begins again with less, so that growth is told by what each part took
in a span of minutes, not by one process.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil  # type: ignore[import-untyped]  # has no types

from bench.enduring.findings import Findings
from bench.enduring.processes import Processes

EVERY_S = 5.0
SETTLED_MINUTES = 3.0
"""From when on growth counts: before, caches fill."""
_SPAN_S = 60.0
LIMITS_MB: Mapping[str, tuple[float, float]] = {
    "instance": (700, 200),
    "worker": (500, 150),
    "projector": (500, 150),
    "broker": (500, 250),
    "database": (600, 200),
    "door": (250, 60),
    "model": (120, 40),
    "webhook": (120, 40),
}
"""How much resident memory a part may take at most, and by how much it may grow from its
third minute to the end, in MB. Stated before the first run, from what an idle instance
takes (some 150 MB a process), a state of 15 MB for each agent, and the broker's buffers."""
FILES = 1_000
"""How many files a part may have open: a tenth of what its limit usually is."""


@dataclass(slots=True)
class Sampling:
    """Memory and open files of each part, over time."""

    parts: Sequence[str]
    began: float = field(default_factory=time.monotonic)
    rss: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    """By part: seconds since the beginning, and MB."""
    files: dict[str, int] = field(default_factory=dict)
    """By part: the most that were open."""

    def look(self, living: Processes) -> None:
        """Look at every part that runs; of the database at all of its processes."""
        at = time.monotonic() - self.began
        for part in self.parts:
            process_id = living.process_of(part)
            if process_id is None:
                continue
            with suppress(psutil.Error):
                process = psutil.Process(process_id)
                family = [process]
                if part == "database":
                    family += process.children(recursive=True)
                # Shared buffers are in each of them, and count once.
                taken = max(each.memory_info().rss for each in family)
                taken += sum(_own(each) for each in family[1:])
                self.rss.setdefault(part, []).append((at, taken / 2**20))
                self.files[part] = max(self.files.get(part, 0), process.num_fds())

    def growth(self, part: str) -> float:
        """Return by how many MB a part grew since its third minute, in medians of minutes."""
        taken = self.rss[part]
        start = min(SETTLED_MINUTES * 60.0, taken[-1][0] / 2)
        early = [mb for at, mb in taken if start <= at < start + _SPAN_S]
        late = [mb for at, mb in taken if at > taken[-1][0] - _SPAN_S]
        return median(late) - median(early) if early else 0.0

    def judge(self, found: Findings) -> None:
        """Compare every part with its limits."""
        for part, (most, more) in LIMITS_MB.items():
            if part not in self.rss:
                continue
            peak, growth = max(mb for _, mb in self.rss[part]), self.growth(part)
            files = self.files[part]
            found.figures[f"memory of {part}, MB"] = (
                f"{peak:.0f} at most of {most:.0f}, {growth:+.0f} of {more:.0f} since"
                f" minute {SETTLED_MINUTES:.0f}; {files} files open at most"
            )
            found.expect(f"{part} took {peak:.0f} MB", holds=peak <= most)
            found.expect(f"{part} grew by {growth:.0f} MB", holds=growth <= more)
            found.expect(f"{part} had {files} files open", holds=files <= FILES)


def _own(process: psutil.Process) -> float:
    """Return the bytes that a process shares with nobody, about."""
    taken = process.memory_info()
    return float(max(0, taken.rss - taken.shared))


def disk_bytes(folder: Path) -> int:
    """Return how many bytes the files of a folder take on disk."""
    taken = 0
    for each in folder.rglob("*"):
        with suppress(OSError):
            taken += os.lstat(each).st_blocks * 512
    return taken
