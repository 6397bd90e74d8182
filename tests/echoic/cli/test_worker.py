"""`echoic worker` beside an instance that shares its agents."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from schemas.values.subjects import ALL_PARTITIONS
from tests.echoic.cli.conftest import Program

AGENTS = ("ana", "bo", "cy", "dee")


@contextmanager
def running(program: Program, **environment: str) -> Iterator[None]:
    """An instance for the length of the block."""
    started = program("up", "--detach", **environment)
    assert started.code == 0, started.err
    try:
        yield
    finally:
        program("down")


def shared(worker: "subprocess.Popen[str]") -> list[int]:
    """What a worker owns once it has half of all."""
    assert worker.stdout is not None
    for line in worker.stdout:
        own = json.loads(line)["partitions"]
        if len(own) == len(ALL_PARTITIONS) // 2:
            return list(own)
    raise AssertionError("it has ended")


def test_a_worker_joins_and_leaves(echoic: Program) -> None:
    """It has half of the agents, all are answered and asked for, and it gives them back."""
    refused = echoic.here("worker")
    with running(echoic, ECHOIC_WORKER_LEASES="on"):
        worker = echoic.start("worker", "--name", "garage", "--json")
        own = shared(worker)
        said = [echoic.here("pub", "hi", "--wait", "--agent", each) for each in AGENTS]
        status = echoic.here("status", "--json").json
        other = echoic.here("worker", ECHOIC_THRESHOLD="0.123")
        worker.terminate()
        worker.communicate(timeout=50)
        left = echoic.here("status", "--json").json["workers"]
        said += [echoic.here("pub", "ho", "--wait", "--agent", each) for each in AGENTS]
        sound = echoic.here("log", "verify", "--full")

    assert refused.code == 3
    assert [each.code for each in (*said, sound)] == [0] * 9
    (own_,) = [each for each in status["workers"] if each["name"].endswith("/garage")]
    assert own_["partitions"] == own
    assert "garage 8" in status["worker"]
    assert other.code == 2
    assert "threshold is 0.123 here and 0.7 there" in other.err
    assert worker.returncode == 0
    # It takes them over one after the other.
    (alone,) = left
    assert 8 <= len(alone["partitions"]) <= 16


def test_a_worker_is_refused_where_nothing_is_shared(echoic: Program) -> None:
    """The error says how an instance comes to share."""
    with running(echoic):
        refused = echoic.here("worker")
        nothing = echoic.here("effects")
    assert (refused.code, nothing.code) == (2, 2)
    assert "ECHOIC_WORKER_LEASES=on" in refused.err
    assert "model.name" in nothing.err
