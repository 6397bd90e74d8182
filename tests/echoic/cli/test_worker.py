"""`echoic worker` beside an instance, whose partitions it takes over or has its own of."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from schemas.values.subjects import partition_of
from tests.echoic.cli.conftest import Program
from tests.patience import PATIENCE_S

AGENTS = ("ana", "bo")


@contextmanager
def running(program: Program, **environment: str) -> Iterator[None]:
    """An instance for the length of the block."""
    started = program("up", "--detach", **environment)
    assert started.code == 0, started.err
    try:
        yield
    finally:
        program("down")


def heard(worker: "subprocess.Popen[str]") -> dict[str, Any]:
    """What a worker says next of who owns its range."""
    assert worker.stdout is not None
    return dict(json.loads(worker.stdout.readline()))


def worker_check(program: Program) -> dict[str, Any]:
    """What the doctor says of the workers."""
    checks = program.here("doctor", "--json", "--exit-zero").json["checks"]
    return next(dict(each) for each in checks if each["name"] == "worker")


def test_workers_have_ranges_and_stand_by(echoic: Program) -> None:
    """Who owns what is shown, what nobody owns is named, and who stands by takes over."""
    assert {partition_of(each) // 8 for each in AGENTS} == {0, 1}
    refused = echoic.here("worker")
    with running(echoic, ECHOIC_WORKER_PARTITIONS="0-7"):
        alone = worker_check(echoic)
        owner = echoic.start("worker", "--partitions", "8-15", "--name", "a", "--json")
        owns = heard(owner)
        other = echoic.start("worker", "--partitions", "8-15", "--name", "b", "--json")
        stands = heard(other)
        said = [echoic.here("pub", "hi", "--wait", "--agent", each) for each in AGENTS]
        status = echoic.here("status", "--json").json
        overlaps = echoic.here("worker")
        owner.terminate()
        owner.communicate(timeout=PATIENCE_S)
        took = heard(other)
        said += [echoic.here("pub", "ho", "--wait", "--agent", each) for each in AGENTS]
        other.terminate()
        other.communicate(timeout=PATIENCE_S)
        sound = echoic.here("log", "verify", "--full")

    assert refused.code == 3
    assert [each.code for each in (*said, sound)] == [0] * 5
    assert "no worker owns the partitions 8-15" in alone["found"]
    assert "echoic worker --partitions 8-15" in alone["advice"]
    assert (owns["range"], owns["is_owner"]) == ("8-15", True)
    assert (stands["range"], stands["is_owner"]) == ("8-15", False)
    assert stands["owner"] == owns["owner"]
    assert took == {**stands, "owner": took["owner"], "is_owner": True}
    held = {each["name"]: each["partitions"] for each in status["workers"]}
    assert held == {"worker-0": [*range(8)], "a": [*range(8, 16)], "b": []}
    assert "a owns 8-15, b stands by for 8-15" in status["worker"]
    assert overlaps.code == 2
    assert "0-15 overlap" in overlaps.err
    assert owner.returncode == other.returncode == 0


def test_a_range_that_is_none_is_told_by_the_flag_that_gave_it(echoic: Program) -> None:
    """Before anything is asked of an instance."""
    ran = echoic.here("worker", "--partitions", "9-3")

    assert ran.code == 2
    assert "--partitions 9-3: partitions from 0 to 15" in " ".join(ran.err.split())


def test_a_worker_is_refused_where_none_may_join(echoic: Program) -> None:
    """The error says how an instance comes to let others in."""
    with running(echoic):
        refused = echoic.here("worker")
        nothing = echoic.here("effects")
    assert (refused.code, nothing.code) == (2, 2)
    assert "ECHOIC_WORKER_PARTITIONS=0-7" in refused.err
    assert "model.name" in nothing.err
