"""What each command does with a session's file that a stranger altered.

Who looks is warned and goes on, who decides again or counts refuses; both name the file,
what was altered, and `echoic replay verify`.
"""

import logging
from pathlib import Path

import orjson
import pytest
import zstandard

from echoic.client.recordings import tell_altered
from echoic.client.sending import read_file
from tests.echoic.cli.conftest import ROOT, Program
from tests.replay.test_altered import PACKED

RECORDING = ROOT / "packs" / "survival" / "recording" / "evening.echoic"
FILE = "altered.echoic"
WORDS = "a message (its place, time, subject, headers or body) was altered"


@pytest.fixture
def altered(echoic: Program) -> Path:
    """The broker's time of one message is another; all else is as it was."""
    text = zstandard.decompress(RECORDING.read_bytes(), max_output_size=50_000_000)
    lines = [orjson.loads(line) for line in text.splitlines()]
    lines[-2]["t"] += 1
    made = b"".join(orjson.dumps(line) + b"\n" for line in lines)
    (echoic.folder / FILE).write_bytes(PACKED.compress(made))
    # It is said once for each file of a process, and these run in ours.
    tell_altered.cache_clear()
    return echoic.folder / FILE


@pytest.mark.parametrize(
    "command",
    [
        ("session", "film", FILE),
        ("session", "shares", FILE),
        ("watch", "--map", FILE, "--json"),
        ("trace", "export", "--session", FILE, "traces.jsonl"),
        ("replay", "verify", "--reread", FILE),
    ],
    ids=" ".join,
)
def test_who_looks_is_warned(
    echoic: Program,
    altered: Path,
    command: tuple[str, ...],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In one line on stderr, where `logging` puts it; the command goes on."""
    ran = echoic.here(*command)

    assert ran.code == 0, ran.err
    (told,) = (each for each in caplog.records if each.levelno == logging.WARNING)
    assert WORDS in told.getMessage()
    assert told.getMessage().endswith(f"echoic replay verify {FILE}")


def test_who_plays_it_again_is_warned(
    altered: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As `echoic pub -f` does, before the first event."""
    next(read_file(altered, agent="ada", default_agent="ada", new_id=str))

    assert f"{WORDS}; what it shows" in caplog.text


@pytest.mark.parametrize(
    "command",
    [
        ("replay", "verify", FILE),
        ("replay", "compare", FILE, "-s", "silent", "--jobs", "1", "--json"),
        ("replay", "plan", FILE, "--strategy", "silent", "--jobs", "1"),
        ("learning", "report", FILE),
        ("tune", FILE, "learning.gamma=0.9..1"),
    ],
    ids=" ".join,
)
def test_who_counts_refuses(
    echoic: Program, altered: Path, command: tuple[str, ...]
) -> None:
    """With an exit code of its own, and no figures."""
    ran = echoic.here(*command)

    assert ran.code in (1, 2, 3), ran.out
    assert WORDS in ran.out + ran.err
