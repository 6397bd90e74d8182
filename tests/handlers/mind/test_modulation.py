"""Modulation: topics suppressed, watched for, focused on; the threshold moved; undone."""

from datetime import timedelta
from typing import Any

import pytest

from schemas.messages.decisions import Gate
from schemas.messages.executive import Muted, SalienceModulated
from schemas.state import limits
from tests.factories import heuristic, pack
from tests.handlers.mind.test_restraint import THREAT, closed, gate, happens, says
from tests.scenario import Scenario, applied, refused

GARDEN = pack(
    heuristic("zombie", "a zombie is near", "Run.", 0.8),
    heuristic("rain", "rain is near", "Take a coat.", 0.8),
    types=("vital", "thing", "message"),
)
ZOMBIE = "a zombie is near"
RAIN = "rain is near"


def alive(relevance: float = 0.0) -> Scenario:
    """A scenario with an executive that sets nothing, and two heuristics that answer."""
    return Scenario(GARDEN, relevance=relevance, executive={})


def told(scenario: Scenario, **fields: Any) -> str:
    """What is said of a modulation that is made."""
    return applied(scenario.control(SalienceModulated(**fields)))


def worth(value: float) -> dict[str, Any]:
    """An event's fields with this salience."""
    return {"salience": {"novelty": value, "social": value}}


def test_a_suppressed_topic_is_not_spoken_of() -> None:
    """Alerts and answers to a person's words pass; other topics are as before."""
    scenario = alive()
    assert told(scenario, change="suppress", about="zombie", by="ana") == (
        "suppress until cleared"
    )

    decided = happens(scenario, ZOMBIE)

    (held,) = scenario.mind.executive.peace.modulations
    assert closed(decided) == "suppressed"
    assert gate(decided, "suppressed") == Gate(
        name="suppressed", passed=False, note=f"as ana asked: {held.id}"
    )
    assert closed(happens(scenario, RAIN)) is None
    assert closed(happens(scenario, ZOMBIE, **THREAT)) is None
    assert closed(says(scenario, ZOMBIE)) is None


@pytest.mark.parametrize(
    ("fields", "is_silent"),
    [
        ({"source": "game"}, True),
        ({"source": "desk"}, False),
        ({"type": "vital"}, True),
        ({"type": "thing"}, False),
        ({"about": "zombie", "type": "thing"}, False),
        # By its words, by its vector, by an entity, and by none of these.
        ({"about": "zombie is"}, True),
        ({"about": "a dog is here"}, False),
        ({"about": "a near zombie and"}, True),
        ({"about": "Willow"}, True),
        ({"about": "weather"}, False),
    ],
)
def test_what_a_modulation_is_about(fields: dict[str, Any], is_silent: bool) -> None:
    """A source, a type, and a topic, as far as each is named, must all fit."""
    scenario = alive()
    told(scenario, change="suppress", **fields)

    decided = happens(scenario, ZOMBIE, entities=["willow"])

    assert (closed(decided) == "suppressed") == is_silent


def test_a_modulation_for_a_time_ends_by_itself() -> None:
    """To the second, and the next one forgets it."""
    scenario = alive()
    assert told(scenario, change="suppress", about="zombie", for_s=60) == (
        "suppress for 60 s"
    )

    assert closed(happens(scenario, ZOMBIE, after_s=59.999)) == "suppressed"
    assert closed(happens(scenario, RAIN, after_s=0.0)) is None
    assert closed(happens(scenario, ZOMBIE, after_s=0.001)) is None
    told(scenario, change="heighten", about="rain")
    assert [each.change for each in scenario.mind.executive.peace.modulations] == [
        "heighten"
    ]


@pytest.mark.parametrize(
    ("fields", "least"),
    [
        ({"change": "threshold"}, 0.7),
        ({"change": "threshold", "amount": -0.2}, 0.2),
        ({"change": "threshold", "amount": 1.0}, 0.9),
        ({"change": "heighten", "source": "game"}, 0.1),
        ({"change": "heighten", "source": "kitchen"}, 0.4),
        ({"change": "focus", "about": "zombie"}, 0.2),
        ({"change": "focus", "about": "rain"}, 0.6),
        ({"change": "habituate", "about": "zombie"}, 0.8),
        ({"change": "habituate", "about": "zombie", "amount": 0.2}, 0.5),
        ({"change": "threshold", "person": "bo"}, 0.4),
    ],
)
def test_how_far_the_threshold_is_moved(fields: dict[str, Any], least: float) -> None:
    """An event passes at exactly the moved threshold, and not a millionth below."""
    below, there = (
        happens(prepared(fields), ZOMBIE, person="ana", **worth(value))
        for value in (round(least - 0.00001, 6), least)
    )

    assert (below.silence is None, there.silence is None) == (False, True)
    assert below.silence in ("below_relevance", "habituated")


def prepared(fields: dict[str, Any]) -> Scenario:
    """A scenario with a threshold of 0.4 and a modulation."""
    scenario = alive(relevance=0.4)
    told(scenario, **fields)
    return scenario


def test_one_of_the_same_takes_the_place_of_another() -> None:
    """Whoever watches for a topic has it suppressed no more."""
    scenario = alive()
    told(scenario, change="suppress", about="zombie")
    told(scenario, change="heighten", about="Zombie")
    told(scenario, change="threshold", amount=0.1)
    told(scenario, change="threshold", amount=0.2)

    held = scenario.mind.executive.peace.modulations
    assert [(each.change, each.amount) for each in held] == [
        ("heighten", 0.3),
        ("threshold", 0.2),
    ]


def test_a_modulation_is_undone_by_its_id() -> None:
    """And a mute as well; without an id, all of it is."""
    scenario = alive()
    scenario.control(Muted(mode="mute"))
    told(scenario, change="suppress", about="zombie")
    first, second = (
        scenario.mind.executive.peace.restraints,
        scenario.mind.executive.peace.modulations,
    )

    assert told(scenario, change="clear", modulation_id=first[0].id) == "cleared"
    assert not scenario.mind.executive.peace.restraints
    told(scenario, change="clear", modulation_id=second[0].id)
    assert not scenario.mind.executive.peace.modulations
    again = SalienceModulated(change="clear", modulation_id=first[0].id)
    assert refused(scenario.control(again)) == "unknown_modulation"
    scenario.control(Muted())
    told(scenario, change="focus", about="rain")
    told(scenario, change="clear")
    assert closed(happens(scenario, ZOMBIE)) is None


def test_a_modulation_of_nothing_is_refused() -> None:
    """Only the threshold is that of all events."""
    scenario = alive()

    assert refused(scenario.control(SalienceModulated(change="suppress"))) == "invalid"


def test_modulations_are_bounded() -> None:
    """The one that began first goes first."""
    scenario = alive()
    for place in range(limits.MODULATIONS + 1):
        told(scenario, change="suppress", about=f"topic{place}")

    held = scenario.mind.executive.peace.modulations
    assert (len(held), held[0].about) == (limits.MODULATIONS, "topic1")


def test_without_a_vector_words_alone_tell() -> None:
    """Nothing else can be compared."""
    scenario = alive()
    scenario.vectorless = True
    told(scenario, change="suppress", about="near zombie a")
    told(scenario, change="suppress", about="rain")

    assert happens(scenario, ZOMBIE).silence != "suppressed"
    assert happens(scenario, RAIN).silence == "suppressed"
    assert scenario.at - timedelta(seconds=2) < scenario.mind.now  # type: ignore[operator]
