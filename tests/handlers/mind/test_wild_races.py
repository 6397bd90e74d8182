"""Races at random: however answers, failures and the clock fall, each is run once.

`Scenario` checks every turn by itself; here is what must hold of all of them together.
"""

from collections import Counter
from random import Random

import pytest

from schemas.codec.envelope import Output
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import SessionStarted
from schemas.messages.decisions import Completed, Decided, Dropped, HeuristicFired
from schemas.messages.results import ClockTicked, ModelAnswered, ModelFailed
from tests import factories
from tests.factories import heuristic, pack, pattern
from tests.scenario import Scenario

ANSWERS = (
    "Hi",
    "",
    '{"response": ""}',
    '{"response": "Hi", "predicted_success": 0.7}',
    '{"predicted_success": 0.7}',
)


def raced(seed: int) -> Scenario:
    """A scenario of races, led by the random numbers of this seed."""
    random = Random(seed)
    garden = pack(
        heuristic("low", "health low", "Drink.", 0.8),
        heuristic("dusk", "dusk falls", "Sleep.", 0.5),
        patterns=[pattern("health low", "dusk", timeout_s=2.0)],
    )
    scenario = Scenario(
        garden,
        model=factories.MODEL,
        strategy={"name": "hybrid"},
        relevance=0.0,
        prediction=random.choice(["same", "separate", "off"]),
        present=random.choice(["neutral", "hint", "none"]),
        exploration=random.choice([None, {"scheme": "uniform", "rate": 0.3}]),
    )
    if random.random() < 0.3:
        scenario.control(SessionStarted(session_id="s", clock="event"))
    for _ in range(60):
        scenario.wait(random.choice([0, 0.1, 0.2, 0.3, 1, 16, 40]))
        step(scenario, random)
    return scenario


def step(scenario: Scenario, random: Random) -> None:
    """One thing that happens."""
    asks = [each for each in outputs(scenario) if isinstance(each.message, ModelAsked)]
    ask = random.choice(asks[-3:]).id if asks else "nobody"
    match random.choice(
        ["event", "event", "answer", "answer", "failure", "tick", "vote"]
    ):
        case "event":
            scenario.sense(
                random.choice(["health low", "health low", "dusk falls"]),
                ttl_s=random.choice([0.2, 5, 30]),
                occurred_at=scenario.at.isoformat(),
                entities=random.choice([[], ["y"], ["z"]]),
            )
        case "answer":
            said = ModelAnswered(
                ask_id=ask, request_hash="r", model="m", text=random.choice(ANSWERS)
            )
            scenario.tell(said)
        case "failure":
            scenario.tell(ModelFailed(ask_id=ask, request_hash="r", reason="timeout"))
        case "tick":
            scenario.tell(ClockTicked(due_at=scenario.at))
        case _:
            decided = [each.id for each in of(scenario, Decided)]
            scenario.feedback(random.choice([*decided, "nothing"]))


def outputs(scenario: Scenario) -> list[Output]:
    """All that was put out."""
    return [each for turn in scenario.turns for each in turn.outputs]


def of(scenario: Scenario, kind: type) -> list[Output]:
    """All that was put out of one kind."""
    return [each for each in outputs(scenario) if isinstance(each.message, kind)]


def ended(scenario: Scenario, *kinds: type) -> Counter[str]:
    """How many ends, or words, each decision had."""
    messages = [each.message for kind in kinds for each in of(scenario, kind)]
    return Counter(getattr(message, "decision_id", "") for message in messages)


@pytest.mark.parametrize("seed", range(30))
def test_each_race_is_run_once(seed: int) -> None:
    """It ends once or is waited for, speaks once at most, and fires if it was won so."""
    scenario = raced(seed)
    open_, ends = Counter[str](), ended(scenario, Completed, Dropped)
    for pending in scenario.mind.pending.values():
        open_[pending.decision_id] += 1

    for each in of(scenario, Decided):
        assert isinstance(each.message, Decided)
        waits = 0 if each.message.final else 1
        assert ends[each.id] + open_[each.id] == waits
    words = ended(scenario, DeliveryAsked)
    assert not [id_ for id_ in words if words[id_] > 1]
    shown = {
        each.message.decision_id
        for each in of(scenario, HeuristicFired)
        if isinstance(each.message, HeuristicFired) and each.message.mode == "shown"
    }
    by_heuristic = {
        each.message.decision_id
        for each in of(scenario, DeliveryAsked)
        if isinstance(each.message, DeliveryAsked) and each.message.path == "heuristic"
    }
    assert shown == by_heuristic
    waiting = {timer.id for timer in scenario.mind.timers if timer.purpose != "outcome"}
    assert waiting == set(scenario.mind.pending)
