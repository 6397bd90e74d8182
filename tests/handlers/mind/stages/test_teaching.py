"""Teaching: what a person teaches is a heuristic like a pack's, and can be edited."""

from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.arms import Action
from schemas.messages.controls import HeuristicEdited, HeuristicFrozen, HeuristicSeeded
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import LifecycleChanged
from schemas.messages.notes import ControlApplied
from schemas.state.taught import Taught
from tests import factories
from tests.factories import heuristic, pack
from tests.scenario import Scenario, applied, one, refused

THREAT = {"threat": 0.9}


def seeded(id_: str = "h", **changes: Any) -> HeuristicSeeded:
    """A heuristic taught for events of the source `game`."""
    return HeuristicSeeded(
        **{
            "heuristic_id": id_,
            "name": "rest",
            "domain": "game",
            "condition": "health low",
            "text": "Rest.",
            "confidence": 0.8,
            **changes,
        }
    )


def taught(scenario: Scenario, id_: str = "h") -> Taught:
    """What the agent was taught under an id."""
    (found,) = (
        shelf.heuristics[id_]
        for shelf in scenario.mind.shelves.values()
        if id_ in shelf.heuristics
    )
    return found


def test_a_taught_heuristic_answers() -> None:
    """With everything that it was taught with."""
    scenario = Scenario()
    action = Action(type="drink", target="water", params={"sips": 2})
    control = seeded(action=action, urgency=0.9, response_type="alert")
    assert applied(scenario.control(control)) == "rest"
    decided = scenario.decide("health low")

    assert (decided.text, decided.action) == ("Rest.", action)
    assert (decided.urgency, decided.response_type) == (0.9, "alert")
    assert decided.predicted_success == decided.prediction_confidence == 0.8


def test_the_longest_names_are_weighed_like_any_other() -> None:
    """Whatever a control may name, a decision can hold."""
    long = "n" * 200
    scenario = Scenario(model=factories.MODEL.model_copy(update={"name": long}))
    applied(scenario.control(seeded(long, name=long, domain="game")))

    assert scenario.decide("health low").matched_heuristic_id == long
    assert scenario.decide("dusk falls").path == "llm"


def test_a_condition_that_cannot_be_read_is_refused() -> None:
    """Whether it is taught or edited."""
    scenario = Scenario()
    assert refused(scenario.control(seeded(when="health <"))) == "invalid"
    applied(scenario.control(seeded(when="health < 3")))
    edited = HeuristicEdited(heuristic_id="h", when="and and")

    assert refused(scenario.control(edited)) == "invalid"
    assert taught(scenario).when == "health < 3"


def test_teaching_again_replaces_what_was_taught() -> None:
    """One id is one heuristic, also when it moves to another domain."""
    scenario = Scenario()
    scenario.control(seeded(text="Rest."))
    scenario.control(seeded(text="Eat."))
    assert taught(scenario).text == "Eat."

    scenario.control(seeded(domain="camera"))
    assert taught(scenario).domain == "camera"
    assert scenario.decide("health low").path == "rejected"


def believe(scenario: Scenario) -> float:
    """The confidence of the taught heuristic's present content, after a bad vote."""
    scenario.tell(FeedbackGiven(heuristic_id="h", rating="negative"))
    return confidence(scenario)


def confidence(scenario: Scenario) -> float:
    """The confidence with which the taught heuristic was weighed."""
    decided = scenario.decide("health low", salience=THREAT, fields={"health": 1})
    found = [each for each in decided.candidates if "heuristic:h@" in each.arm]
    assert found[0].confidence is not None
    return found[0].confidence


@pytest.mark.parametrize(
    "edit",
    [
        {"condition": "health low now"},
        {"when": "health < 3"},
        {"text": "Eat."},
        {"action": Action(type="eat")},
    ],
    ids=str,
)
def test_an_edit_starts_anew(edit: dict[str, Any]) -> None:
    """Evidence belongs to a content; another content has the declared confidence."""
    scenario = Scenario()
    scenario.control(seeded())
    assert believe(scenario) == 0.571429
    assert (
        applied(scenario.control(HeuristicEdited(heuristic_id="h", **edit))) == "rest"
    )

    assert confidence(scenario) == 0.8


def test_an_edit_may_keep_what_was_learnt() -> None:
    """If the person says so, the evidence goes over to the new content."""
    scenario = Scenario()
    scenario.control(seeded())
    assert believe(scenario) == 0.571429
    scenario.control(HeuristicEdited(heuristic_id="h", text="Eat.", keep=True))

    assert confidence(scenario) == 0.571429
    assert len(scenario.mind.beliefs) == 2


def test_keeping_nothing_learnt_keeps_nothing() -> None:
    """Before any evidence there is nothing to carry over."""
    scenario = Scenario()
    scenario.control(seeded())
    scenario.control(HeuristicEdited(heuristic_id="h", text="Eat.", keep=True))

    assert len(scenario.mind.beliefs) == 0


def test_a_new_name_is_no_new_content() -> None:
    """What was learnt stays where it is."""
    scenario = Scenario()
    scenario.control(seeded())
    assert believe(scenario) == 0.571429
    scenario.control(HeuristicEdited(heuristic_id="h", name="nap"))

    assert taught(scenario).name == "nap"
    assert confidence(scenario) == 0.571429


def test_an_edit_changes_what_it_names() -> None:
    """An empty `when` takes the condition away; a new condition has its own vector."""
    scenario = Scenario()
    scenario.control(seeded(when="health < 3"))
    scenario.control(HeuristicEdited(heuristic_id="h", when="", condition="dusk falls"))

    assert taught(scenario).when is None
    assert taught(scenario).vector == factories.embed("dusk falls")
    assert taught(scenario).text == "Rest."
    assert scenario.decide("dusk falls").text == "Rest."


def test_only_what_was_taught_can_be_edited() -> None:
    """A pack's heuristic is edited in its manifest."""
    garden = pack(heuristic("h", "health low", "Rest."))
    scenario = Scenario(garden)

    for id_ in ("nobody", garden.ids[0]):
        edited = HeuristicEdited(heuristic_id=id_, text="Eat.")
        assert refused(scenario.control(edited)) == "unknown_heuristic"


def test_freezing_is_undone() -> None:
    """By hand, for what was taught and for a pack's; both ways it is announced, once."""
    scenario = Scenario()
    scenario.control(seeded())
    freeze = HeuristicFrozen(heuristic_id="h")
    frozen = scenario.control(freeze)
    assert one(frozen, ControlApplied).detail == "frozen"
    assert _scenarios(frozen) == ("active", "frozen")
    assert applied(scenario.control(freeze)) == "frozen"
    assert scenario.decide("health low", salience=THREAT).path == "rejected"

    release = HeuristicFrozen(heuristic_id="h", frozen=False)
    released = scenario.control(release)
    assert one(released, ControlApplied).detail == "released"
    assert _scenarios(released) == ("frozen", "active")
    assert applied(scenario.control(release)) == "released"
    assert scenario.decide("health low", salience=THREAT).path == "heuristic"


def _scenarios(turn: Turn) -> tuple[str, str]:
    """Between which stages of life a turn says that a heuristic went."""
    changed = one(turn, LifecycleChanged)
    return changed.before, changed.after


def test_nobody_is_frozen() -> None:
    """An unknown heuristic is refused."""
    scenario = Scenario(pack(heuristic("h", "health low", "Rest.")))

    assert refused(scenario.control(HeuristicFrozen(heuristic_id="x"))) == (
        "unknown_heuristic"
    )
