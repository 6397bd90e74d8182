"""Names that only the mind's state knows, in the traces of real turns."""

from echoic.tracing.naming import Held, heuristic_of, named_arm, nameless
from echoic.tracing.observe import Answered, Observer
from echoic.tracing.spans import DecisionTrace
from schemas.messages.arms import heuristic_arm, llm_arm, race_arm
from schemas.messages.controls import HeuristicSeeded
from schemas.values.ids import heuristic_id
from tests import factories
from tests.echoic.tracing import samples
from tests.scenario import Scenario

THIRST = "the player is thirsty"
GARDEN = factories.pack(factories.heuristic("drink", THIRST, "Drink something."))


def traced(scenario: Scenario, *, packs: bool = True) -> DecisionTrace:
    """The trace of the decision on an event that a heuristic is about."""
    turn = scenario.wait(60).sense(THIRST, fields={}, salience={"threat": 1.0})
    held = Held(turn.state, scenario.blobs if packs else {})
    seen = Answered(turn.input, turn.outputs, samples.times(), held)
    observer = Observer()
    traces = [*observer.answered(seen), *observer.rest()]
    (trace,) = [each for each in traces if isinstance(each, DecisionTrace)]
    return trace


def test_a_packs_heuristic_is_called_by_its_name() -> None:
    """In the summary, for a search, and beside each candidate; the id stays."""
    trace = traced(Scenario(GARDEN))
    matched = next(each for each in trace.stages if each.name == "match")

    assert trace.tags["echoic.summary"] == "game.vital: spoke by heuristic, drink"
    assert trace.tags["echoic.heuristic.name"] == "drink"
    assert trace.tags["echoic.heuristic.id"] == heuristic_id("garden", "drink")
    assert trace.tags["echoic.pack.version"] == "1.0.0"
    assert [each.attributes["echoic.heuristic.name"] for each in matched.events] == [
        "drink"
    ]


def test_a_taught_heuristic_is_called_by_its_name() -> None:
    """What a person taught is in the agent's own state."""
    scenario = Scenario(factories.pack())
    scenario.control(
        HeuristicSeeded(
            heuristic_id="h-1",
            name="sip",
            condition=THIRST,
            text="Take a sip.",
            domain="garden",
            confidence=0.9,
        )
    )

    assert (
        traced(scenario).tags["echoic.summary"] == "game.vital: spoke by heuristic, sip"
    )


def test_what_is_not_known_keeps_its_id() -> None:
    """A pack that this process has not read has no names; nothing fails."""
    trace = traced(Scenario(GARDEN), packs=False)

    assert heuristic_id("garden", "drink") in str(trace.tags["echoic.summary"])
    assert "echoic.heuristic.name" not in trace.tags


def test_arms_of_races_name_their_heuristic() -> None:
    """Whatever stands around it; hashes of prompts and contents are left out."""
    model = llm_arm("ollama/tiny", "t", "s")
    own = heuristic_arm("h-1", "c0ffee")

    assert named_arm(own, {"h-1": "sip"}.get) == "sip"
    assert named_arm(race_arm(model, own, 400), {"h-1": "sip"}.get) == (
        "race:ollama/tiny+sip@400"
    )
    assert named_arm(own, nameless) == "h-1"
    assert named_arm(llm_arm("a@b/c", "t", "s"), nameless) == "a@b/c"
    assert (heuristic_of(own), heuristic_of(model)) == ("h-1", None)
