"""Every command of the bench is run at a tiny size, so that none is broken unseen."""

import asyncio
import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMIT_S = 400.0
"""At most so long for one run, on a busy machine: a command that hangs fails."""
WHOLE_S = 900.0
"""All of the bench: about a minute on a machine of its own."""

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "bench": ("--tiny",),
    "bench.busy_start": ("--waiting 60 --busy 1",),
    "bench.cafe": ("--seeds 1 --hours 0.5",),
    "bench.characters": ("--agents 4 --rates 20 --seconds 1",),
    "bench.cluster": ("--minutes 0.1 --agents 2",),
    "bench.disturbances": ("--pairs 1 --seconds 0.5 collector_refusing",),
    "bench.embedders.measure": ("",),
    "bench.estimates": ("--runs 2 --show",),
    "bench.reanswer": ("packs/survival/recording/explored.echoic",),
    "bench.evening": ("--seeds 3 --unseen --count 2 --causes",),
    "bench.evidence": ("--without d",),
    "bench.flood": (
        "--messages 200 --seconds 0.5",
        "--disk-mb 260 --senders 1 --seconds 0.5",
    ),
    "bench.fuzz": (
        "mind --count 200",
        "subjects --count 600 --seed short",
        "http --count 4",
    ),
    "bench.hearing": ("",),
    "bench.home": ("packs/home/recording/day.echoic",),
    "bench.home.replies": ("--read tests/bench/replies.jsonl",),
    "bench.idle": (
        "--agents 20 --seconds 0.5",
        "--characters --agents 20 --seconds 0.5",
    ),
    "bench.kills": ("--count 1 --standing 1 --standing-s 1",),
    "bench.learning": ("--hours 1 --hour-steps 60 --show",),
    "bench.memory": ("--heuristics 100 --events 1200",),
    "bench.metering": ("",),
    "bench.mutants": (
        "projections/folds/clock.py --tests tests/projections/folds/test_clock.py"
        " --sample 3",
    ),
    "bench.record_survival": ("{folder}/evening.echoic --steps 20",),
    "bench.scaling": ("--workers 1 --agents 2 --events 600",),
    "bench.segments": ("--rounds 1 --events 2400",),
    "bench.soak": ("--minutes 0.1",),
    "bench.starts": ("--events 6000",),
    "bench.truth": ("--sessions 2 --lived-sessions 2 --steps 40 --show",),
    "bench.village": ("--kills 1",),
    "bench.village.modes": ("--hours 0.25",),
    "bench.wording": ("--count 200",),
}
"""The arguments of each run, of each command."""

PARTS: Mapping[str, str] = {
    "bench.asking_worker": "bench",
    "bench.bare": "bench",
    "bench.collectors": "bench.disturbances",
    "bench.door": "bench.disturbances",
    "bench.enduring.model": "bench.kills",
    "bench.enduring.webhook": "bench.kills",
    "bench.flooding": "bench.flood",
    "bench.logged": "bench",
    "bench.rebuilding": "bench",
    "bench.village.talkative": "bench.village",
    "bench.worker": "bench",
}
"""Processes that a command starts."""

MEASURED_ELSEWHERE: Mapping[str, str] = {
    "bench.cluster_faults": "tests/deploy/test_cluster_faults.py",
    "bench.executive": "bench",
    "bench.mind": "bench",
    "bench.proactive": "bench",
    "bench.queueing": "bench",
    "bench.recalling": "bench",
    "bench.recorded": "bench",
    "bench.saying": "bench",
    "bench.shape": "tests/bench/test_shape.py",
    "bench.state": "bench",
    "bench.tracing": "bench",
    "bench.worker_parts": "bench",
}
"""What they measure runs as a part of another command or test: of these only the arguments
are read here, since each whole run costs every run of the tests ten seconds."""

VERDICTS = ("bench.cluster", "bench.kills", "bench.soak", "bench.village")
"""These end with 1 also where a limit of time did not hold, or too little came about, as on a
busy machine may be: that they come to a count is what is looked at here."""

NOT_HERE: Mapping[str, str] = {
    "bench.image": "needs root and the root folder of a Debian, and a minute or two"
}


def programs() -> Iterator[str]:
    """The modules of the bench that can be run."""
    for path in sorted((ROOT / "bench").rglob("*.py")):
        if '__name__ == "__main__"' in path.read_text():
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts).removesuffix(".__main__")


RUNS = [(name, each) for name, runs in COMMANDS.items() for each in runs]


def test_every_command_is_run_here() -> None:
    """One that is added stands in the table, or is a process of one that does."""
    named = [*COMMANDS, *PARTS, *MEASURED_ELSEWHERE, *NOT_HERE]
    assert sorted(named) == list(programs())
    assert set(PARTS.values()) <= set(COMMANDS)


@pytest.mark.parametrize("name", sorted({*MEASURED_ELSEWHERE} - {"bench.queueing"}))
def test_a_command_says_what_it_takes(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It loads, and its arguments can be read; `bench.queueing` has none."""
    module = importlib.import_module(
        f"{name}.__main__" if (ROOT / name.replace(".", "/")).is_dir() else name
    )
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    # What it sets up is for a whole process.
    monkeypatch.setattr(module, "prepare", lambda: None, raising=False)

    with pytest.raises(SystemExit, match=r"^0$"):
        # Some are asynchronous: those that are not have ended by then.
        asyncio.run(module.main())

    assert capsys.readouterr().out.startswith("usage:")


@pytest.mark.services
@pytest.mark.slow
@pytest.mark.timeout(WHOLE_S + 30)
@pytest.mark.parametrize(("name", "arguments"), RUNS)
def test_a_command_works(name: str, arguments: str, tmp_path: Path) -> None:
    """It ends in time, by itself, without an error, and leaves the tree as it was."""
    words = arguments.format(folder=tmp_path).split()
    before = tracked()

    done = run([name, *words], WHOLE_S if name == "bench" else LIMIT_S, tmp_path)

    has_counted = name in VERDICTS and done.returncode == 1 and done.stdout.strip()
    assert done.returncode == 0 or has_counted, done.stderr[-4_000:]
    assert done.stdout.strip() or list(tmp_path.rglob("*.echoic"))
    assert tracked() == before


def run(
    words: list[str], limit_s: float, folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run a command of the bench; one that hangs says where, and ends with its programs."""
    command = [sys.executable, "-X", "faulthandler", "-m", *words]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            with suppress(ProcessLookupError):
                time.sleep(2)
                os.killpg(process.pid, signal.SIGKILL)
            _, err = process.communicate()
            pytest.fail(f"it takes {limit_s:.0f} s, and was here: {err[-4_000:]}")
        return subprocess.CompletedProcess(command, process.returncode, out, err)


def tracked() -> dict[Path, int]:
    """When each file that a command might write was last written."""
    folders = (ROOT / "bench", ROOT / "docs")
    kinds = (".json", ".md", ".svg")
    return {
        each: each.stat().st_mtime_ns
        for folder in folders
        for each in folder.rglob("*")
        if each.suffix in kinds
    }
