"""Trials: where nothing else answers, one that was trusted once is heard now and then."""

from typing import Any

import pytest

from echoic import status
from echoic.explain.explain import explain
from echoic.terminal import learning
from echoic.terminal.screen import rendered
from evaluation.learning.summary import read, report
from handlers.mind.strategies.heuristic_first import HeuristicFirst
from handlers.mind.strategies.urgency import Hybrid, Urgency
from replay.recording.decisions import DecisionRecords
from schemas.messages.arms import SILENT
from schemas.messages.controls import HeuristicFrozen
from schemas.messages.decisions import Decided, HeuristicFired
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import TrustChanged
from schemas.ports.decision_context import DecisionContext, Odds
from schemas.values.subjects import SHARED_AGENT
from tests.factories import MODEL, candidate, heuristic, mind_started, pack
from tests.replay.scenarios import recording_of_scenario
from tests.scenario import Scenario, decision_id, one, said

RATE = 0.1
FALLEN = candidate("a", confidence=0.43, declared=0.9)
TRUSTED = candidate("b", confidence=0.8, declared=0.8)
DOUBTED = candidate("c", confidence=0.43, declared=0.5)


def odds(*candidates: Any, strategy: Any = None, **more: Any) -> Odds:
    """What a strategy gives where no model can be asked."""
    fields = {
        "event_id": "e",
        "event_text": "x",
        "event_source": "game",
        "trials": RATE,
    }
    here = DecisionContext(**{**fields, "candidates": candidates, **more})
    return (strategy or HeuristicFirst()).decide(here)


@pytest.mark.parametrize("strategy", [HeuristicFirst(), Hybrid(), Urgency()])
def test_one_that_fell_is_tried_with_a_known_probability(strategy: Any) -> None:
    """Silence keeps the rest, and stays what the strategy prefers, for its own reason."""
    found = odds(FALLEN, strategy=strategy)
    gate = found.gates[-1]

    assert dict(found.arms) == {FALLEN.arm: RATE, SILENT: 1.0 - RATE}
    assert (found.greedy, found.silence) == (SILENT, "llm_unavailable")
    assert (gate.name, gate.passed, gate.value, gate.threshold) == (
        "trial", True, 0.9, 0.7,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("candidates", "more"),
    [
        ((TRUSTED, FALLEN), {}),
        ((FALLEN,), {"llm_arm": "llm:m@t@s"}),
        ((FALLEN,), {"trials": 0.0}),
        ((DOUBTED,), {}),
        ((candidate("l", confidence=0.6, declared=0.6),), {}),
        ((candidate("f", confidence=0.43, declared=0.9, eligible=False),), {}),
        ((FALLEN,), {"personality_biases": {"confidence_threshold": 0.25}}),
        ((), {}),
    ],
    ids=[
        "another is trusted", "a model answers", "off", "never trusted", "locked",
        "frozen", "not by this character", "nothing fits",
    ],
)  # fmt: skip
def test_there_is_no_trial(candidates: Any, more: Any) -> None:
    """Where something else answers, or nothing was ever trusted."""
    found = odds(*candidates, **more)

    assert len(found.arms) == 1
    assert all(gate.name != "trial" for gate in found.gates)


def test_an_event_that_cannot_wait_for_a_model_has_one() -> None:
    """As little answers it as if there were none."""
    found = odds(FALLEN, llm_arm="llm:m@t@s", immediate=False)

    assert dict(found.arms)[FALLEN.arm] == RATE
    assert found.silence == "not_immediate"


def alone(trials: float = RATE, **settings: Any) -> Scenario:
    """An agent whose one heuristic failed twice, and which has no model."""
    known = pack(heuristic("leak", "water on the floor", "A pipe leaks!", 0.9))
    led = Scenario(known, relevance=0.0, trials=trials, **settings)
    for _ in range(2):
        led.feedback(led.wait(60).sense("water on the floor"), "negative")
    return led


def met(led: Scenario, count: int) -> list[Decided]:
    """What is decided on so many further events."""
    return [led.wait(3_600).decide("water on the floor") for _ in range(count)]


def test_two_failures_do_not_silence_it_for_good() -> None:
    """About one in ten is answered, by a keyed draw with its probability on record."""
    led = alone()
    found = met(led, 300)
    spoke = [each for each in found if each.path == "heuristic"]

    assert 15 <= len(spoke) <= 50
    for each in found:
        by = {arm.arm: arm.probability for arm in each.candidates}
        assert sorted(by.values()) == [RATE, 1.0 - RATE]
        assert each.draw is not None
        assert each.greedy_arm == SILENT
        assert each.probability == by[each.arm]
    assert all(each.silence == "llm_unavailable" for each in found if each not in spoke)


def test_what_is_tried_and_praised_is_trusted_again() -> None:
    """Its fire counts as any other, so that it can earn its way back."""
    led = alone()
    turn = led.wait(3_600).sense("water on the floor")
    while one(turn, Decided).probability < 1.0:
        if said(turn, HeuristicFired):
            led.feedback(turn)
        turn = led.wait(3_600).sense("water on the floor")

    assert one(turn, Decided).path == "heuristic"
    assert led.mind.beliefs[next(iter(led.mind.beliefs))].confidence >= 0.7


def test_without_trials_it_is_silent() -> None:
    """As it is while one is frozen by hand."""
    off, frozen = alone(trials=0.0), alone()
    id_ = next(iter(frozen.mind.beliefs)).partition("@")[0]
    frozen.control(HeuristicFrozen(heuristic_id=id_))

    for led in (off, frozen):
        assert {each.path for each in met(led, 60)} == {"rejected"}


def test_a_trial_is_explained() -> None:
    """With its probability, and why there is one."""
    led = alone()
    while (
        one(turn := led.wait(3_600).sense("water on the floor"), Decided).text is None
    ):
        pass
    (record,) = DecisionRecords().take(turn.input, turn.outputs)
    found = explain(record, {})

    assert record.id == decision_id(turn)
    assert "A trial (probability 0.10): it was trusted once" in found.verdict


def judged(led: Scenario, rating: str = "negative") -> list[TrustChanged]:
    """What is announced of a vote on the heuristic that answered last."""
    fired = [each for turn in led.turns for each in said(turn, HeuristicFired)]
    vote = {"heuristic_id": fired[-1].heuristic_id, "rating": rating}
    given = FeedbackGiven.from_fields({**vote, "actor": f"a{len(led.turns)}"})
    return said(led.tell(given), TrustChanged)


def garden(*more: Any, **settings: Any) -> Scenario:
    """An agent whose trusted heuristic has answered once."""
    leak = heuristic("leak", "water on the floor", "A pipe leaks!", 0.9)
    led = Scenario(pack(leak, *more), relevance=0.0, **settings)
    led.sense("water on the floor")
    return led


def test_the_fall_of_the_last_trusted_one_is_announced() -> None:
    """Once, by the evidence that did it, and once more when one is trusted again."""
    led = garden()
    fell = [each for _ in range(3) for each in judged(led)]
    rose = [each for _ in range(12) for each in judged(led, "positive")]

    assert [(each.domain, each.is_trusted) for each in fell] == [("garden", False)]
    assert fell[0].confidence < fell[0].threshold == 0.7
    assert [(each.domain, each.is_trusted) for each in rose] == [("garden", True)]


@pytest.mark.parametrize(
    ("more", "settings"),
    [
        ((heuristic("dusk", "dusk falls", "Rest.", 0.8),), {}),
        ((), {"model": MODEL}),
        ((), {"strategy": {"name": "silent"}}),
    ],
    ids=["another is trusted", "a model answers", "no strategy trusts"],
)
def test_nothing_is_announced_where_something_answers(
    more: Any, settings: dict[str, Any]
) -> None:
    """Nor where the strategy heeds no heuristic at all."""
    led = garden(*more)
    if settings:
        led.control(mind_started(relevance=0.0, **settings), agent=SHARED_AGENT)

    assert [each for _ in range(4) for each in judged(led)] == []


async def test_the_learning_report_tells_of_it() -> None:
    """On its page and for programs, the latest alone where it is told in a line."""
    led = garden()
    for _ in range(2):
        judged(led)
    found = report([await read(recording_of_scenario(led))])
    (told,) = found.trust
    page = rendered(learning.report(found))

    assert told.what == "the last trusted one of garden fell: nothing answers there"
    assert "trust         leak: the last trusted one of garden fell" in page
    assert [each["what"] for each in found.as_json()["trust"]] == [told.what]  # type: ignore[attr-defined]


async def test_status_names_where_nothing_answers() -> None:
    """As evidence has told it last, of each domain of each agent."""
    led = garden()
    for _ in range(2):
        judged(led)
    fell = recording_of_scenario(led).log
    for _ in range(12):
        judged(led, "positive")
    rose = recording_of_scenario(led).log

    assert await status.fallen(fell, [led.agent, "bo"]) == ["ana/garden"]
    assert await status.fallen(rose, [led.agent]) == []
