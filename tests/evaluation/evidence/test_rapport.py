"""Rapport at another pace: the recorded curve is the mind's, the other goes its own way."""

from typing import Any

import pytest

from evaluation.evidence.rapport import as_fields, pace_of, rapport_curves
from replay.recording.source import of_file
from schemas.values.rapport_pace import USUAL, Pace
from schemas.values.settings_by_name import TuningError
from tests.factories import heuristic, pack
from tests.replay.evening import evening
from tests.replay.scenarios import recording_of_scenario
from tests.scenario import Scenario, decision_id

GARDEN = pack(heuristic("rest", "health low", "Rest.", 0.8))
THREAT = {"threat": 0.9}


def voted(**settings: Any) -> Scenario:
    """A scenario in which two people judge, and one changes their mind."""
    scenario = Scenario(GARDEN, **settings)
    first, second = (
        decision_id(scenario.wait(3_600).sense("health low", salience=THREAT))
        for _ in range(2)
    )
    scenario.feedback(first, actor="eva")
    scenario.feedback(first, "negative", actor="tom")
    scenario.wait(86_400).feedback(second, actor="eva")
    scenario.feedback(first, "negative", actor="eva")
    return scenario


async def test_the_recorded_curve_is_what_the_mind_folded() -> None:
    """Vote by vote, with changed votes and with time between them."""
    scenario = voted()
    eva, tom = await rapport_curves([recording_of_scenario(scenario)], USUAL)

    assert (eva.person, len(eva.recorded), len(tom.recorded)) == ("eva", 3, 1)
    for curve in (eva, tom):
        known = scenario.mind.rapport.get(curve.person)
        assert known is not None
        assert curve.recorded[-1] == known.value
        assert curve.retuned == curve.recorded


async def test_another_pace_goes_its_own_way() -> None:
    """A greater gain lifts, a greater loss takes; the recorded curve stays."""
    recording = recording_of_scenario(voted())
    eva, _ = await rapport_curves([recording], Pace(gain=0.5))
    _, tom = await rapport_curves([recording], Pace(loss=0.5))
    usual, _ = await rapport_curves([recording], USUAL)

    assert eva.recorded == usual.recorded
    assert eva.retuned[0] == 0.75
    assert tom.retuned == (0.25,)


async def test_a_recorded_pace_is_what_the_mind_folds_by() -> None:
    """Set when it starts; another pace changes only what it names."""
    usual, fast = voted(), voted(rapport={"gain": 0.5, "loss": 0.2})
    recording = recording_of_scenario(fast)
    eva, tom = await rapport_curves([recording], Pace(loss=0.5))

    assert fast.mind.rapport["eva"].value != usual.mind.rapport["eva"].value
    assert eva.recorded[-1] == fast.mind.rapport["eva"].value
    assert eva.recorded[:2] == eva.retuned[:2]
    assert (tom.recorded, tom.retuned) == ((0.4,), (0.25,))


async def test_the_evening_has_a_curve() -> None:
    """The shipped recording's votes, at twice the gain."""
    (curve,) = await rapport_curves([of_file(evening(), "evening")], Pace(gain=0.1))

    assert len(curve.recorded) == len(curve.retuned) > 3
    assert curve.retuned[-1] > curve.recorded[-1]


def test_a_pace_is_named_by_settings() -> None:
    """What is unknown or out of range says what there is."""
    pace = pace_of({"rapport.gain": 0.2, "rapport.half_life_days": 1.0})

    assert pace == Pace(gain=0.2, half_life_days=1.0)
    assert list(as_fields(pace, ())["changes"]) == [  # type: ignore[call-overload]
        "rapport.gain",
        "rapport.half_life_days",
    ]
    with pytest.raises(TuningError, match=r"there are rapport.gain"):
        pace_of({"rapport.gian": 0.2})
    for value in (-0.1, 1.1, "x"):
        with pytest.raises(TuningError, match="give 0 to 1"):
            pace_of({"rapport.gain": value})
