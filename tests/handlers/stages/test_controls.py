"""Controls: what changes behaviour is applied or refused, and in force from there."""

from typing import Any

import pytest

from handlers.turns import Turn
from schemas.asks import ModelAsked
from schemas.catalogue import ControlMessage
from schemas.controls import (
    UNBUILT,
    Action,
    GoalsSet,
    HeuristicEdited,
    HeuristicFrozen,
    HeuristicSeeded,
    PackLoaded,
    ProfileSet,
    SessionEnded,
    SessionStarted,
    StrategySelected,
)
from schemas.decisions import Decided
from schemas.feedback import FeedbackGiven
from schemas.notes import ControlApplied, ControlRefused
from schemas.state import Taught
from schemas.subjects import SHARED_AGENT
from tests import factories
from tests.factories import heuristic, mind_started, pack, pack_loaded
from tests.life import Life, names, one

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


def applied(turn: Turn) -> str:
    """What is said of a control that was applied."""
    assert names(turn) == ["ControlApplied"]
    return one(turn, ControlApplied).detail


def refused(turn: Turn) -> str:
    """Why a control was refused."""
    assert names(turn) == ["ControlRefused"]
    message = one(turn, ControlRefused)
    assert message.detail
    return message.reason


def taught(life: Life, id_: str = "h") -> Taught:
    """What the agent was taught under an id."""
    (found,) = (
        shelf.heuristics[id_]
        for shelf in life.mind.shelves.values()
        if id_ in shelf.heuristics
    )
    return found


@pytest.mark.parametrize("control", UNBUILT)
def test_what_is_not_built_is_refused(control: str) -> None:
    """Each control that has a name and no meaning yet says so."""
    life = Life()
    turn = life.take(f"ev.{life.partition}.in.ana.control.{control}", b"{}")

    assert refused(turn) == "not_built"
    assert one(turn, ControlRefused).control == control


def test_goals_of_an_agent_go_before_the_settings() -> None:
    """Also when there are none."""
    life = Life(model=factories.MODEL, goals=("Survive",))

    def system() -> str:
        return one(life.sense(f"x{len(life.turns)}"), ModelAsked).system

    assert "- Survive" in system()
    assert applied(life.control(GoalsSet(goals=("Explore",)))) == ""
    assert "- Explore" in system()
    assert "- Survive" not in system()
    life.control(GoalsSet(goals=()))
    assert "goals" not in system()


def test_a_profile_biases_the_threshold() -> None:
    """An agent's biases go before the settings' of the same name."""
    garden = pack(heuristic("h", "health low", "Rest.", confidence=0.65))
    life = Life(garden, biases={"confidence_threshold": 0.1})

    def path() -> str:
        return life.decide("health low", salience=THREAT).path

    assert path() == "rejected"
    assert (
        applied(life.control(ProfileSet(biases={"confidence_threshold": -0.05}))) == ""
    )
    assert path() == "heuristic"
    life.control(ProfileSet(biases={"other": 1.0}))
    assert path() == "rejected"


def test_a_strategy_is_selected_for_one_agent() -> None:
    """It decides from there; the record says which one did, and how it was set."""
    life = Life(model=factories.MODEL)
    before = life.decide("a")
    assert applied(life.control(StrategySelected(strategy="silent"))) == "silent"
    after = life.decide("b")

    assert (before.strategy, after.strategy) == ("heuristic_first", "silent")
    assert before.config_hash != after.config_hash
    assert after.silence == "strategy_silent"


@pytest.mark.parametrize(
    ("name", "parameters"), [("genius", {}), ("heuristic_first", {"max_candidates": 6})]
)
def test_a_strategy_that_cannot_be_is_refused(
    name: str, parameters: dict[str, Any]
) -> None:
    """The old one stays in force, for an agent and for everybody."""
    life = Life()
    selected = life.control(StrategySelected(strategy=name, parameters=parameters))
    strategy = {"name": name, "parameters": parameters}
    started = life.control(
        mind_started(strategy=strategy, threshold=0.1), agent=SHARED_AGENT
    )

    assert refused(selected) == refused(started) == "unknown_strategy"
    assert life.decide("a").strategy == "heuristic_first"
    assert life.settings.threshold == 0.7


def test_a_mind_starts_for_a_partition() -> None:
    """Its settings are in force for every agent of it, and for none if sent to one."""
    life = Life()
    assert applied(life.control(mind_started(threshold=0.4), SHARED_AGENT)) == (
        "heuristic_first"
    )
    assert refused(life.control(mind_started(threshold=0.1))) == "invalid"
    assert life.settings.threshold == 0.4


@pytest.mark.parametrize(
    "control",
    [GoalsSet(goals=()), SessionStarted(session_id="s"), ProfileSet(biases={})],
    ids=lambda control: control.token(),
)
def test_what_concerns_one_agent_must_name_it(control: ControlMessage) -> None:
    """The shared agent has no goals, sessions or profile."""
    assert refused(Life().control(control, agent=SHARED_AGENT)) == "invalid"


def test_a_pack_is_loaded_for_all_or_for_one() -> None:
    """And replaces an older one of the same name."""
    old = pack(heuristic("h", "health low", "Rest."))
    new = pack(heuristic("h", "health low", "Eat."), version="2.0.0")
    life = Life()
    life.blobs = {old.digest: old, new.digest: new}

    assert applied(life.control(pack_loaded(old))) == "garden 1.0.0, 1 heuristics"
    assert life.decide("health low", salience=THREAT).text == "Rest."
    applied(life.control(pack_loaded(new), agent=SHARED_AGENT))
    assert life.decide("health low", salience=THREAT).text == "Rest."
    applied(life.control(pack_loaded(new)))
    assert life.decide("health low", salience=THREAT).text == "Eat."


def test_a_pack_that_is_not_what_it_is_called_is_refused() -> None:
    """A missing blob, and one under another name."""
    garden = pack()
    life = Life()
    missing = PackLoaded(name="garden", pack_version="1.0.0", digest="0" * 64)
    life.blobs = {garden.digest: garden}
    misnamed = PackLoaded(name="desk", pack_version="1.0.0", digest=garden.digest)

    assert refused(life.control(missing)) == "unknown_pack"
    assert refused(life.control(misnamed)) == "invalid"
    assert len(life.mind.packs) == 0


def test_a_taught_heuristic_answers() -> None:
    """With everything that it was taught with."""
    life = Life()
    action = Action(type="drink", target="water", params={"sips": 2})
    control = seeded(action=action, urgency=0.9, response_type="alert")
    assert applied(life.control(control)) == "rest"
    decided = life.decide("health low")

    assert (decided.text, decided.action) == ("Rest.", action)
    assert (decided.urgency, decided.response_type) == (0.9, "alert")
    assert decided.predicted_success == decided.prediction_confidence == 0.8


def test_the_longest_names_are_weighed_like_any_other() -> None:
    """Whatever a control may name, a decision can hold."""
    long = "n" * 200
    life = Life(model=factories.MODEL.model_copy(update={"name": long}))
    applied(life.control(seeded(long, name=long, domain="game")))

    assert life.decide("health low").matched_heuristic_id == long
    assert life.decide("dusk falls").path == "llm"


def test_a_condition_that_cannot_be_read_is_refused() -> None:
    """Whether it is taught or edited."""
    life = Life()
    assert refused(life.control(seeded(when="health <"))) == "invalid"
    applied(life.control(seeded(when="health < 3")))
    edited = HeuristicEdited(heuristic_id="h", when="and and")

    assert refused(life.control(edited)) == "invalid"
    assert taught(life).when == "health < 3"


def test_teaching_again_replaces_what_was_taught() -> None:
    """One id is one heuristic, also when it moves to another domain."""
    life = Life()
    life.control(seeded(text="Rest."))
    life.control(seeded(text="Eat."))
    assert taught(life).text == "Eat."

    life.control(seeded(domain="camera"))
    assert taught(life).domain == "camera"
    assert life.decide("health low").path == "rejected"


def believe(life: Life) -> float:
    """The confidence of the taught heuristic's present content, after a bad vote."""
    life.tell(FeedbackGiven(heuristic_id="h", rating="negative"))
    return confidence(life)


def confidence(life: Life) -> float:
    """The confidence with which the taught heuristic was weighed."""
    decided = life.decide("health low", salience=THREAT, fields={"health": 1})
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
    life = Life()
    life.control(seeded())
    assert believe(life) == 0.571429
    assert applied(life.control(HeuristicEdited(heuristic_id="h", **edit))) == "rest"

    assert confidence(life) == 0.8


def test_an_edit_may_keep_what_was_learnt() -> None:
    """If the person says so, the evidence goes over to the new content."""
    life = Life()
    life.control(seeded())
    assert believe(life) == 0.571429
    life.control(HeuristicEdited(heuristic_id="h", text="Eat.", keep=True))

    assert confidence(life) == 0.571429
    assert len(life.mind.beliefs) == 2


def test_keeping_nothing_learnt_keeps_nothing() -> None:
    """Before any evidence there is nothing to carry over."""
    life = Life()
    life.control(seeded())
    life.control(HeuristicEdited(heuristic_id="h", text="Eat.", keep=True))

    assert len(life.mind.beliefs) == 0


def test_a_new_name_is_no_new_content() -> None:
    """What was learnt stays where it is."""
    life = Life()
    life.control(seeded())
    assert believe(life) == 0.571429
    life.control(HeuristicEdited(heuristic_id="h", name="nap"))

    assert taught(life).name == "nap"
    assert confidence(life) == 0.571429


def test_an_edit_changes_what_it_names() -> None:
    """An empty `when` takes the condition away; a new condition has its own vector."""
    life = Life()
    life.control(seeded(when="health < 3"))
    life.control(HeuristicEdited(heuristic_id="h", when="", condition="dusk falls"))

    assert taught(life).when is None
    assert taught(life).vector == factories.embed("dusk falls")
    assert taught(life).text == "Rest."
    assert life.decide("dusk falls").text == "Rest."


def test_only_what_was_taught_can_be_edited() -> None:
    """A pack's heuristic is edited in its manifest."""
    garden = pack(heuristic("h", "health low", "Rest."))
    life = Life(garden)

    for id_ in ("nobody", garden.ids[0]):
        edited = HeuristicEdited(heuristic_id=id_, text="Eat.")
        assert refused(life.control(edited)) == "unknown_heuristic"


def test_freezing_is_undone() -> None:
    """By hand, for what was taught and for a pack's."""
    life = Life()
    life.control(seeded())
    assert applied(life.control(HeuristicFrozen(heuristic_id="h"))) == "frozen"
    assert life.decide("health low", salience=THREAT).path == "rejected"

    release = HeuristicFrozen(heuristic_id="h", frozen=False)
    assert (
        applied(life.control(release)) == applied(life.control(release)) == "released"
    )
    assert life.decide("health low", salience=THREAT).path == "heuristic"


def test_nobody_is_frozen() -> None:
    """An unknown heuristic is refused."""
    life = Life(pack(heuristic("h", "health low", "Rest.")))

    assert refused(life.control(HeuristicFrozen(heuristic_id="x"))) == (
        "unknown_heuristic"
    )


def test_sessions_are_started_and_ended() -> None:
    """A decision names its session; there is none to end twice."""
    life = Life()
    applied(life.control(SessionStarted(session_id="s1", title="A walk")))
    assert one(life.sense("a"), Decided).session_id == "s1"
    assert applied(life.control(SessionEnded())) == "s1"
    assert refused(life.control(SessionEnded())) == "no_session"
