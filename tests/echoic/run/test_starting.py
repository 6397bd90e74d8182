"""Waiting for an instance in the background: as long as it makes progress."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from echoic.errors import EchoicError, NotRunningError
from echoic.run import starting

BEGIN = """
import os, sys, time
from pathlib import Path
from echoic.client.instance_note import InstanceNote, sole_instance, write_note
data = Path(sys.argv[1])
def say(line):
    print(line, flush=True)
"""
UP = """
with sole_instance(data):
    for at in range(4):
        say(f"folding the log: partition 3, {at} of 4")
        time.sleep(0.2)
    write_note(data, InstanceNote(
        pid=os.getpid(), started_at="", nats_url="", nats_user="", nats_password="",
        database_url=None,
    ))
    say("echoic 0 is up\\n  data  here")
    time.sleep(60)
"""


LEFT = """
with sole_instance(data):
    # Of the instance before, which was killed.
    write_note(data, InstanceNote(
        pid=1, started_at="", nats_url="", nats_user="", nats_password="",
        database_url=None,
    ))
    say("starting …")
    time.sleep(1)
    sys.exit("the port is taken")
"""


@contextmanager
def started(data: Path, script: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A program that does what an instance does when it starts."""
    data.mkdir()
    with (data / "echoic.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", BEGIN + script, str(data)], stdout=log, stderr=log
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_start_may_take_as_long_as_it_makes_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line moves the deadline and is passed on; the banner comes once, at the end."""
    data, heard = tmp_path / "data", list[str]()
    with started(data, UP) as process:
        monkeypatch.setattr(starting, "SILENCE_S", 20.0)
        banner = starting.await_start(process, data, data / "echoic.log", heard.append)

    assert "\n".join(heard).splitlines() == [
        f"folding the log: partition 3, {at} of 4" for at in range(4)
    ]
    assert banner == "echoic 0 is up\n  data  here"


def test_a_start_that_says_nothing_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the file to look into."""
    data = tmp_path / "data"
    monkeypatch.setattr(starting, "SILENCE_S", 0.3)
    with (
        started(data, "time.sleep(60)") as process,
        pytest.raises(NotRunningError) as e,
    ):
        starting.await_start(process, data, data / "echoic.log", print)

    assert "has said nothing" in e.value.what
    assert str(data / "echoic.log") in (e.value.next_step or "")


def test_a_start_that_ends_shows_its_words(tmp_path: Path) -> None:
    """Whoever waits sees what the program said at its end, once."""
    data, heard = tmp_path / "data", list[str]()
    with (
        started(data, "sys.exit('the disk is on fire')") as process,
        pytest.raises(EchoicError, match="the instance did not start") as error,
    ):
        starting.await_start(process, data, data / "echoic.log", heard.append)

    seen = "\n".join([*heard, error.value.what])
    assert seen.count("the disk is on fire") == 1


def test_a_note_of_the_one_before_is_no_success(tmp_path: Path) -> None:
    """It is believed while a lock is held, which the one that is starting holds as well."""
    data = tmp_path / "data"
    with (
        started(data, LEFT) as process,
        pytest.raises(EchoicError, match="the instance did not start"),
    ):
        starting.await_start(process, data, data / "echoic.log", print)


def test_folding_is_told_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often the worker reports, a person reads one line a second."""
    now, heard = [0.0], list[str]()
    monkeypatch.setattr("echoic.run.starting.time.monotonic", lambda: now[0])
    tell = starting.folding(heard.append)
    for at in range(40):
        now[0] = at / 10
        tell(5, at * 1_000, 40_000)

    assert heard == [
        f"folding the log: partition 5, {at:,} of 40,000"
        for at in (10_000, 20_000, 30_000)
    ]
