"""A damaged log: it is named without a server, mended on a copy, and gone on with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from schemas.values.subjects import partition_of
from streams.disk import survey as surveying
from tests.echoic.cli.acting import eventually
from tests.echoic.cli.conftest import Program
from tests.echoic.cli.test_instances import running

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]

ADA, BOB, CLEO = AGENTS = ("ada", "bob", "cleo")
EVENTS = 8

Damage = Callable[[Path], None]


def flipped(folder: Path) -> None:
    """Eight bytes of an answer to ada are others."""
    (file,) = surveying.blocks(folder)
    data = bytearray(file.read_bytes())
    answers = [
        each
        for each in surveying.read(file).records
        if b".out.ada.decision." in each.subject
    ]
    at = data.index(answers[3].raw) + len(answers[3].raw) // 2
    for place in range(at, at + 8):
        data[place] ^= 0x55
    file.write_bytes(data)


def cut(folder: Path) -> None:
    """The end of the block is gone, from the middle of a group of bob's on."""
    (file,) = surveying.blocks(folder)
    data = file.read_bytes()
    answers = [
        each
        for each in surveying.read(file).records
        if b".out.bob.decision." in each.subject
    ]
    file.write_bytes(data[: data.index(answers[-2].raw) + 40])


def flipped_without_index(folder: Path) -> None:
    """As after a crash, when a server would look into each block, and cut it."""
    flipped(folder)
    (folder / surveying.INDEX).unlink()


@pytest.mark.parametrize("damage", [cut, flipped_without_index])
def test_a_damaged_log_is_salvaged(echoic: Program, damage: Damage) -> None:
    """Found without a server, recorded as lost, and every agent goes on."""
    assert len({partition_of(agent) for agent in AGENTS}) == 3
    with running(echoic):
        speak(echoic, "first", EVENTS)
        assert echoic.here("log", "verify").code == 0
    folder = surveying.messages_of(echoic.data / "nats")
    assert folder is not None
    whole = echoic.here("log", "verify", "--json")
    assert (whole.code, whole.json["damaged"]) == (0, [])
    assert whole.json["not_checked"] == ["answers", "chains"]
    assert (whole.json["missed"], whole.json["waiting"]) == ([], 0)
    told = " ".join(echoic.here("log", "verify").err.split())
    assert "each of its blocks was read" in told
    assert "not checked, as no instance runs: answers, chains; a start" in told
    assert told.endswith("log verify")
    last = whole.json["last"]
    damage(folder)
    found = echoic.here("log", "verify", "--json")
    assert found.code == 1
    assert found.json["damaged"] == ["1.blk"]
    assert found.json["missing"]

    if damage is flipped_without_index:
        started = echoic("up", "--detach")
        assert started.code != 0
        assert "damaged" in started.err
        assert echoic.here("log", "verify", "--json").json == found.json

    salvaged = echoic.here("log", "salvage", "--json")

    assert salvaged.code == 0, salvaged.err
    assert salvaged.json["missing"] == found.json["missing"]
    copy = Path(salvaged.json["copy"])
    assert list(copy.glob("*/*/streams/LOG/msgs/1.blk"))
    again = echoic.here("log", "salvage", "--json")
    assert (again.code, again.json["sound"]) == (0, True)
    with running(echoic):
        speak(echoic, "second", 2)
        verified = echoic.here("log", "verify", "--full", "--json")
        assert verified.code == 0, verified.out
        assert verified.json["sound"]
        assert echoic.here("projection", "rebuild").code == 0
        assert echoic.here("projection", "rebuild", "--verify").code == 0
        assert eventually(lambda: echoic.here("projection", "lag")).code == 0
        assert all(sequence > last for sequence in sequences(echoic, "second"))
    after = echoic.here("log", "verify", "--json")
    assert after.code == 0
    lost = sum(each["last"] - each["first"] + 1 for each in found.json["missing"])
    assert after.json["recorded_lost"] == lost
    with running(echoic):
        speak(echoic, "third", 1)
        assert echoic.here("log", "verify").code == 0


def test_a_damaged_segment_costs_the_others_nothing(echoic: Program) -> None:
    """No server cuts it, what it lost is named, and every other message stays."""
    stream = f"LOG_{partition_of(ADA) // 4 + 1}"
    with running(echoic, ECHOIC_LOG_STREAMS="4"):
        speak(echoic, "first", EVENTS)
        before = all_messages(echoic)
    (folder,) = (echoic.data / "nats").glob(f"jetstream/*/*/streams/{stream}/msgs")
    whole = echoic.here("log", "verify", "--json")
    flipped_without_index(folder)
    (file,) = surveying.blocks(folder)
    harmed = file.read_bytes()

    refused = echoic("up", "--detach")
    found = echoic.here("log", "verify", "--json")
    salvaged = echoic.here("log", "salvage", "--json")
    again = echoic.here("log", "salvage", "--json")

    assert (whole.code, whole.json["messages"]) == (0, len(before)), whole.err
    assert refused.code != 0
    assert "damaged" in refused.err
    assert found.json["damaged"] == [f"{stream}/{file.name}"]
    (missing,) = found.json["missing"]
    assert missing["first"] == missing["last"]
    assert (found.json["agents"], found.code) == ([ADA], 1)
    assert list(found.json["partitions"]) == [str(partition_of(ADA))]
    assert salvaged.code == 0, salvaged.err
    copy = Path(salvaged.json["copy"])
    assert [each.read_bytes() for each in copy.rglob(f"{stream}/msgs/{file.name}")] == [
        harmed
    ]
    assert (again.code, again.json["sound"]) == (0, True)
    with running(echoic):
        speak(echoic, "second", 2)
        verified = echoic.here("log", "verify", "--full", "--json")
        rebuilt = echoic.here("projection", "rebuild")
        proved = echoic.here("projection", "rebuild", "--verify")
        after = all_messages(echoic)
    assert (verified.code, rebuilt.code, proved.code) == (0, 0, 0), verified.out
    assert before.keys() - after.keys() == {missing["first"]}
    assert all(after[each] == before[each] for each in before.keys() & after.keys())


def all_messages(echoic: Program) -> dict[int, Any]:
    """What the log holds, by sequence."""
    ran = echoic.here("log", "tail", "-n", "100000", "--json")
    lines = [orjson.loads(line) for line in ran.out.splitlines()]
    return {each["sequence"]: each for each in lines}


def test_what_a_flipped_byte_costs_is_named(echoic: Program) -> None:
    """The block, the one sequence, its partition and its agent; the group is left over."""
    with running(echoic):
        speak(echoic, "first", EVENTS)
    folder = surveying.messages_of(echoic.data / "nats")
    assert folder is not None
    flipped(folder)

    found = echoic.here("log", "verify", "--json").json
    told = echoic.here("log", "verify")

    (missing,) = found["missing"]
    assert missing["block"] == "1.blk"
    assert missing["first"] == missing["last"]
    assert found["agents"] == [ADA]
    assert list(found["partitions"]) == [str(partition_of(ADA))]
    assert "salvage" in told.err
    assert str(folder / "1.blk") in told.out


def speak(echoic: Program, about: str, count: int) -> None:
    """Each agent hears of so many things, and answers each."""
    for number in range(count):
        for agent in AGENTS:
            text = f"{about} thing {number} came by"
            ran = echoic.here("pub", text, "--wait", "--json", "--agent", agent)
            assert ran.code == 0, ran.err


def sequences(echoic: Program, about: str) -> list[Any]:
    """Where in the log the events about something stand."""
    ran = echoic.here("log", "tail", "-n", "1000", "--direction", "in", "--json")
    lines = [orjson.loads(line) for line in ran.out.splitlines()]
    return [
        each["sequence"]
        for each in lines
        if str(each["body"]).find(f"{about} thing") > 0
    ]
