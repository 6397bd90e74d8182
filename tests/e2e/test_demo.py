"""The demo as a newcomer runs it: a whole instance in a process of its own."""

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from tests.echoic.cli.acting import levelled

pytestmark = [pytest.mark.services, pytest.mark.slow]

LIMIT_S = 150

STORY = Path(__file__).with_name("demo.txt")
"""What `make demo` tells, without its ids and times."""
_TOOK = re.compile(r" *\b[\d,]+(\.\d+)? (ms|s)\b")
"""How long something took, which differs from run to run; of the game no time does."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished demo."""

    status: int
    said: str
    complained: str
    children: tuple[psutil.Process, ...]
    """Every process that it started, and that those started."""


def demo(folder: Path, *flags: str) -> Ran:
    """Run the demo to its end, watching what it starts."""
    process = subprocess.Popen(
        [sys.executable, "-m", "echoic", "demo", *flags],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TMPDIR": str(folder), "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    tree = psutil.Process(process.pid)
    seen: set[psutil.Process] = set()
    deadline = time.monotonic() + LIMIT_S
    try:
        while process.poll() is None and time.monotonic() < deadline:
            seen |= _descendants(tree)
            time.sleep(0.05)
        said, complained = process.communicate(timeout=1)
    finally:
        process.kill()
        process.wait()
    return Ran(process.returncode, said, complained, tuple(seen))


def _descendants(tree: psutil.Process) -> set[psutil.Process]:
    try:
        return set(tree.children(recursive=True))
    except psutil.NoSuchProcess:
        return set()


def test_the_demo_decides_everything_and_leaves_nothing(tmp_path: Path) -> None:
    """All events are answered, the replay is identical, no process and no file is left."""
    ran = demo(tmp_path, "--json")

    assert ran.status == 0, ran.complained
    (line,) = ran.said.splitlines()
    closing: dict[str, Any] = json.loads(line)
    assert closing.keys() >= {
        "events", "answered", "spoke", "silent", "replay", "latency_ms",
    }  # fmt: skip
    assert closing["answered"] == closing["events"] > 200
    assert closing["spoke"] + closing["silent"] == closing["events"]
    assert closing["replay"]["identical"] == closing["replay"]["total"] > 300
    assert 0 < closing["latency_ms"]["p50"] <= closing["latency_ms"]["p95"]
    home = closing["home"]
    assert home["replay"]["identical"] == home["replay"]["total"] > 30
    # What waited for the end of a call, what two sentences asked for, what is dangerous
    # enough in spite of "be quiet", why that was said, and what was asked to be reminded of.
    assert [each[:16] for each in home["said"]] == [
        "The washing is d", "OK, I'll remind ", "OK, I'll be quie", "Water is leaking",
        "It was like \"Wat", "You wanted me to",
    ]  # fmt: skip
    assert len(ran.children) >= 2
    assert [child for child in ran.children if child.is_running()] == []
    assert list(tmp_path.iterdir()) == []


def test_the_demo_tells_a_newcomer_what_happened(tmp_path: Path) -> None:
    """Each kind of decision has a line, a few are told well, and the proof comes last."""
    ran = demo(tmp_path)

    assert ran.status == 0, ran.complained
    for words in (
        "Why did it say that?",
        "Why was it quiet?",
        "Next:",
        "recorded feedback and outcomes",
    ):
        assert words in ran.said + ran.complained
    assert ran.said.count("no model is set") == 1
    assert ran.said.count("llm_unavailable") <= 2  # its line, and in the summary
    assert 40 < ran.said.count("\n") < 150
    assert ran.said.splitlines()[-1].startswith("✓ replay verify, home: ")
    # Line by line: what is decided, learnt and explained is the same in every run.
    assert story(ran.said).splitlines() == STORY.read_text("utf-8").splitlines()


def story(said: str) -> str:
    """What a demo told, without what each run has of its own."""
    return re.sub(" +$", "", levelled(_TOOK.sub(" -", said)), flags=re.MULTILINE)
