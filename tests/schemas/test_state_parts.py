"""What states are made of: bounded maps, checkpoints, packs at hand, times."""

from datetime import datetime, timedelta, timezone

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from schemas.codec import checkpoint
from schemas.codec.checkpoint import CheckpointError
from schemas.codec.upcasts import NewerVersionError, upcast
from schemas.messages.arms import Action
from schemas.messages.controls import HeuristicSeeded, SessionStarted
from schemas.ports import aids
from schemas.ports.aids import Aids
from schemas.ports.faults import MissingPackError
from schemas.state.agent import AgentState, PackRef, PartitionState, SharedState
from schemas.values.base import rfc3339
from schemas.values.bounded_map import Bounded
from schemas.values.record import moment, nanoseconds
from tests import factories
from tests.factories import heuristic, pack, pattern
from tests.scenario import Scenario


@given(st.lists(st.integers(0, 30), max_size=80), st.integers(1, 8))
def test_a_bounded_map_keeps_the_newest_keys(keys: list[int], limit: int) -> None:
    """At least the newest `limit`, at most twice that, each with its latest value."""
    held: Bounded[int, int] = Bounded(limit)
    latest: dict[int, int] = {}
    for place, key in enumerate(keys):
        held = held.set(key, place)
        latest.pop(key, None)
        latest[key] = place

    newest = list(latest)[-limit:]
    assert [held.get(key) for key in newest] == [latest[key] for key in newest]
    remembered = [key for key in latest if key in held]
    assert len(remembered) <= 2 * limit
    assert all(held.get(key) == latest[key] for key in remembered)
    assert held.get(-1) is None
    assert -1 not in held


def filled() -> Scenario:
    """A scenario in which every part of the state holds something."""
    garden = pack(
        heuristic("low", "health low", "Drink."), patterns=[pattern("health", "x")]
    )
    scenario = Scenario(garden, model=factories.MODEL)
    scenario.control(SessionStarted(session_id="s", clock="event"))
    scenario.control(
        HeuristicSeeded(
            heuristic_id="h",
            name="h",
            domain="game",
            condition="dusk falls",
            text="Sleep.",
            action=Action(type="sleep", params={"for_s": 3, "where": None}),
        )
    )
    scenario.feedback(scenario.sense("health low"), "scaled", value=0.25)
    scenario.sense("what now", occurred_at="2026-05-04T12:00:01.5+02:00")
    return scenario


def test_a_checkpoint_holds_the_whole_state() -> None:
    """Reading it gives a state that goes on as the first one would."""
    scenario = filled()
    again = Scenario(state=checkpoint.load(checkpoint.dump(scenario.state)))
    again.blobs, again._sequence, again._ids = (
        scenario.blobs,
        scenario._sequence,
        scenario._ids,
    )
    again.at = scenario.at
    for one in (scenario, again):
        one.sense("health low", salience={"threat": 0.9})
        one.sense("dusk falls", type_="other", salience={"threat": 0.9})

    assert checkpoint.dump(scenario.state) == checkpoint.dump(again.state)
    assert scenario.mind.chain == again.mind.chain


def test_equal_states_have_equal_bytes() -> None:
    """Whatever the order in which their maps were filled."""
    one = AgentState(frozen=Map({"a": True}).set("b", True))
    two = AgentState(frozen=Map({"b": True}).set("a", True))

    def dumped(agent: AgentState) -> bytes:
        return checkpoint.dump(PartitionState(agents=Map({"ana": agent})))

    assert dumped(one) == dumped(two)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"format": 2}',
        b'{"format": 2, "state": 3}',
        b'{"format": 3, "state": {"shared": {"settings": {"seed": 3}}}}',
    ],
)
def test_what_is_no_checkpoint_is_refused(data: bytes) -> None:
    """Its reader then folds the log instead."""
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        checkpoint.load(data)


@pytest.mark.parametrize("place", ["", "agents.x", "agents.x.executive.peace"])
def test_a_field_that_no_slice_has_is_refused(place: str) -> None:
    """What would be lost without a word."""
    whole = orjson.loads(
        checkpoint.dump(PartitionState(agents=Map({"x": AgentState()})))
    )
    held = whole["state"]
    for name in filter(None, place.split(".")):
        held = held[name]
    held["muted"] = True

    with pytest.raises(CheckpointError, match="unknown field `muted`"):
        checkpoint.load(orjson.dumps(whole))


def test_a_checkpoint_of_another_format_is_refused() -> None:
    """A state of another shape is never guessed at."""
    document = orjson.loads(checkpoint.dump(PartitionState()))

    with pytest.raises(CheckpointError, match="format 99"):
        checkpoint.load(orjson.dumps(document | {"format": 99}))


def test_only_parts_of_a_state_are_written() -> None:
    """A strange value is a mistake of ours, and shows."""
    strange = PartitionState(agents=object())  # type: ignore[arg-type]

    with pytest.raises(NotImplementedError, match="no part of a state"):
        checkpoint.dump(strange)
    with pytest.raises(NotImplementedError, match="no part of a state"):
        msgspec.convert("x", type=complex, dec_hook=checkpoint._from_builtin)


def test_an_agents_part_is_what_it_depends_on() -> None:
    """What is shared, and its own; other agents are left out."""
    scenario = filled()
    other = checkpoint.of_agent(scenario.state, "bo")
    own = checkpoint.of_agent(scenario.state, "ana")

    assert own.agents["ana"] == scenario.mind
    assert own.shared == other.shared == scenario.state.shared
    assert other.agents == Map({"bo": AgentState()})


def test_a_missing_pack_stops_the_fold() -> None:
    """The error says which blob to put back."""
    ref = PackRef(name="garden", version="1.0.0", digest="d" * 64)
    shared = SharedState(packs=Map({"garden": ref}))

    with pytest.raises(MissingPackError, match="put its blob back"):
        aids.in_force(shared, AgentState(), Aids())


def test_packs_in_force_are_ordered_by_name() -> None:
    """Not by how they were loaded."""
    scenario = Scenario(pack(name="b"), pack(name="a"))
    found = aids.in_force(
        scenario.state.shared, AgentState(), Aids(packs=scenario.blobs)
    )

    assert [each.pack.name for each in found] == ["a", "b"]


def test_older_messages_become_present_ones() -> None:
    """Step by step; a newer one asks for a newer program."""
    steps = {
        ("noted", 1): lambda fields: {**fields, "two": fields["one"] + 1},
        ("noted", 2): lambda fields: {**fields, "three": fields["two"] + 1},
    }

    assert upcast("noted", {"one": 1}, 1, 3, steps) == {"one": 1, "two": 2, "three": 3}
    assert upcast("noted", {"two": 5}, 2, 3, steps) == {"two": 5, "three": 6}
    assert upcast("noted", {}, 3, 3, steps) == {}
    with pytest.raises(NewerVersionError, match="upgrade"):
        upcast("noted", {}, 4, 3, steps)


@given(st.integers(-4 * 10**15, 10**16))
def test_times_come_back_to_the_microsecond(microseconds: int) -> None:
    """Nanoseconds since 1970, and the text in headers."""
    at = factories.NOON + timedelta(microseconds=microseconds)

    assert moment(nanoseconds(at)) == at
    assert moment(nanoseconds(at) + 999) == at
    assert datetime.fromisoformat(rfc3339(at)) == at


def test_other_zones_are_the_same_moment() -> None:
    """Noon in Rome is an hour or two before noon in London."""
    rome = datetime(2026, 5, 4, 14, tzinfo=timezone(timedelta(hours=2)))

    assert nanoseconds(rome) == nanoseconds(factories.NOON)


def test_a_bounded_map_reads_like_a_map() -> None:
    """Keys of both generations are there, counted and in order; others are missing."""
    held = Bounded[str, int](2).set("b", 1).set("c", 2).set("a", 3)

    assert (held["a"], held["b"], len(held)) == (3, 1, 3)
    assert held.sorted_keys() == ["a", "b", "c"]
    assert held.get("d", 4) == 4
    with pytest.raises(KeyError):
        held["d"]


def test_a_bounded_map_tells_none_from_absence() -> None:
    """What was set to None stays None, whatever an older generation holds."""
    held = Bounded[str, int | None](2).set("a", 1).set("b", 2).set("c", 3)
    held = held.set("a", None)

    assert (held.get("a"), held.get("a", 7), held["a"]) == (None, None, None)
    assert held.get("b") == 2
    assert held.get("x", 7) == 7
