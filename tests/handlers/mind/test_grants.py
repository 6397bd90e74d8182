"""Whom a sensor may name: as its account was granted, and nobody else."""

from typing import Any

import pytest

from replay.recording.decisions import DecisionRecords
from schemas.codec.decode import read_input
from schemas.messages.decisions import Decided
from schemas.messages.executive import Muted, PersonsGranted
from schemas.messages.notes import ControlApplied, ControlRefused
from schemas.messages.sensing import Sensed
from schemas.state import limits
from tests.factories import heuristic, pack
from tests.projections.test_rows import rows
from tests.scenario import Scenario, one

DOOR = PersonsGranted(source="door", persons=("ada",))


def home(**settings: Any) -> Scenario:
    """A mind with an executive that answers what it hears."""
    known = pack(heuristic("bell", "the bell rings", "Somebody is here.", 0.9))
    return Scenario(known, relevance=0.0, executive=settings)


def named(scenario: Scenario, person: str | None, **event: Any) -> Decided:
    """What is decided on an event that names a person."""
    told = {"source": "door", "type_": "seen", "person": person, **event}
    return scenario.decide("the bell rings", **told)


def test_a_sensor_that_nobody_granted_anything_is_believed() -> None:
    """As in every log of before; and another's grants say nothing of it."""
    scenario = home()
    before = named(scenario, "ben")
    scenario.control(PersonsGranted(source="camera", persons=()))
    after = named(scenario, "ben")

    assert (
        (before.person, before.claimed)
        == (after.person, after.claimed)
        == ("ben", None)
    )


def test_whom_a_sensor_may_not_name_is_unknown() -> None:
    """The decision says whom it claimed, and the log has the event as it was sent."""
    scenario = home()
    applied = one(scenario.control(DOOR), ControlApplied)
    own, other = named(scenario, "ada"), named(scenario, "ben")
    raw = read_input(scenario.turns[-1].input.record).message
    nobody = named(scenario, None)

    assert applied.detail == "door may name ada"
    assert (own.person, own.claimed) == ("ada", None)
    assert (other.person, other.claimed) == ("unknown", "ben")
    assert (nobody.person, nobody.claimed) == (None, None)
    assert isinstance(raw, Sensed)
    assert raw.person == "ben"


def test_nothing_of_another_is_done_or_learnt() -> None:
    """A hostile sensor speaks as somebody else: it is told as from nobody known."""
    scenario = home(prompt_tokens=1_000)
    scenario.control(PersonsGranted(source="user", persons=("ada",)))
    words = {"source": "user", "type_": "message"}
    named(scenario, "ben", **words)
    named(scenario, "ada", **words)

    talks = scenario.mind.executive.memory.said
    assert sorted(talks.sorted_keys()) == ["ada", "unknown"]


def test_a_grant_replaces_the_one_before() -> None:
    """All of the latest, and no more."""
    scenario = home()
    scenario.control(DOOR)
    scenario.control(PersonsGranted(source="door", persons=("ben",)))

    assert named(scenario, "ada").claimed == "ada"
    assert named(scenario, "ben").claimed is None


def test_a_sensor_with_controls_grants_itself_nothing() -> None:
    """Nor does it speak for others by a control."""
    scenario = home()
    scenario.control(DOOR)

    def published(control: str, **fields: Any) -> ControlApplied | ControlRefused:
        turn = scenario.published("door", "control", {"control": control, **fields})
        [note] = [
            each.message
            for each in turn.outputs
            if isinstance(each.message, ControlApplied | ControlRefused)
        ]
        return note

    itself = published("persons_granted", source="door", persons=["ben"])
    other = published("muted", person="ben")
    own = published("muted", person="ada", off=True)
    everybody = published("goals_set", goals=["rest"])

    assert isinstance(itself, ControlRefused)
    assert itself.reason == "not_granted"
    assert isinstance(other, ControlRefused)
    assert (other.reason, other.detail) == ("not_granted", "door may not name 'ben'")
    assert isinstance(own, ControlApplied)
    assert isinstance(everybody, ControlApplied)
    # By anybody else it is one of the usual controls.
    assert isinstance(
        one(scenario.control(Muted(person="ben")), ControlApplied), object
    )


@pytest.mark.parametrize(
    ("told", "whose"),
    [
        ({"person": "ada"}, "ada"),
        ({"person": "ben"}, "unknown"),
        ({"fields": {"busy": True, "person": "ben"}}, "unknown"),
        ({"fields": {"busy": True, "person": "ada"}}, "ada"),
    ],
)
def test_what_a_sensor_tells_of_people_is_of_those_it_may_name(
    told: dict[str, Any], whose: str
) -> None:
    """Also where an event's fields name the person, in place of the event itself."""
    kinds = ({"type": "doing", "means": "user_state"},)
    known = pack(heuristic("bell", "the bell rings", "Hello.", 0.9), events=kinds)
    scenario = Scenario(known, executive={})
    scenario.control(PersonsGranted(source="game", persons=("ada",)))
    scenario.sense("is busy", type_="doing", **({"fields": {"busy": True}} | told))

    assert list(scenario.mind.executive.presence.people) == [whose]


def test_the_read_models_and_the_record_know_it_as_the_mind_does() -> None:
    """Nothing is recalled for whom a sensor only claimed."""
    scenario = home(prompt_tokens=1_000)
    scenario.control(DOOR)
    decision = scenario.sense("the bell rings", source="door", person="ben")
    [row] = rows(scenario, "episodes")
    [record] = DecisionRecords().take(decision.input, decision.outputs)

    assert row["person"] == "unknown"
    assert record.event is not None
    assert record.event.person == "unknown"


def test_more_sensors_than_can_be_remembered_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A forgotten grant would be one to name anybody."""
    monkeypatch.setattr(limits, "SOURCES_GRANTED", 1)
    scenario = home()
    scenario.control(DOOR)
    further = one(
        scenario.control(PersonsGranted(source="b", persons=())), ControlRefused
    )
    again = one(scenario.control(DOOR), ControlApplied)

    assert further.reason == "invalid"
    assert again.detail == "door may name ada"
