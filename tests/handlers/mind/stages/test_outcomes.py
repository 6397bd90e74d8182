"""Outcomes: what the world shows of earlier advice, credited to the fire it is about."""

from typing import Any

import pytest

from handlers.mind.turn import Turn
from projections.folds.learning import confidence
from schemas.messages.decisions import Decided, HeuristicFired
from schemas.messages.learning import OutcomeExpired, OutcomeObserved
from schemas.messages.results import ClockTicked
from schemas.state import limits
from schemas.state.evidence import Belief
from tests import factories
from tests.factories import heuristic, pack, pattern
from tests.scenario import Scenario, decision_id, one, output, said

THREAT = {"threat": 0.9}
LOW = heuristic("low", "health low", "Drink.")
GARDEN = pack(
    LOW,
    patterns=[
        pattern("health", "player died", 60, success=False),
        pattern("health", "health restored", 120),
        pattern("zombie", "zombie gone", 30),
    ],
)


def advised(scenario: Scenario, text: str = "health low", **event: Any) -> Turn:
    """An event that the heuristic `low` answered."""
    turn = scenario.sense(text, salience=THREAT, **event)
    assert one(turn, HeuristicFired).mode == "shown"
    return turn


def low(scenario: Scenario) -> Belief:
    """What is believed of the heuristic `low`."""
    return scenario.belief(GARDEN.ids[0], GARDEN.content_hashes[0])


@pytest.mark.parametrize(
    ("reported", "outcome", "confidence"),
    [
        ("succeeded", "success", 0.866667),
        ("failed", "fail", 0.533333),
        ("overridden", "overridden", 0.8),
        ("cancelled", "cancelled", 0.8),
    ],
)
def test_a_report_settles_the_decision_that_it_names(
    reported: str, outcome: str, confidence: float
) -> None:
    """Only success and failure move confidence."""
    scenario = Scenario(GARDEN)
    turn = advised(scenario)
    report = scenario.sense(
        "done", in_reply_to=decision_id(turn), outcome=reported, reason="it worked"
    )

    observed = one(report, OutcomeObserved)
    assert (observed.outcome, observed.by, observed.reason) == (
        outcome,
        "report",
        "it worked",
    )
    assert observed.fire_id == output(turn, HeuristicFired).id
    assert observed.event_id == report.input.id
    assert low(scenario).confidence == confidence
    assert one(report, Decided).silence == "informational"


def test_a_report_may_name_the_event_that_was_answered() -> None:
    """A sensor knows its own event's id, and need not know the decision's."""
    scenario = Scenario(GARDEN)
    advised(scenario, id_="e1")
    ref = {"source": "game", "event_id": "e1"}
    report = scenario.sense("done", in_reply_to=ref, outcome="failed")

    assert one(report, OutcomeObserved).outcome == "fail"


@pytest.mark.parametrize(
    "target",
    [
        "nobody",
        {"source": "game", "event_id": "nothing"},
        {"source": "nobody", "event_id": "e1"},
    ],
    ids=str,
)
def test_a_report_on_nothing_known_is_flagged(target: object) -> None:
    """It credits nobody, and the decision on it says why."""
    scenario = Scenario(GARDEN)
    advised(scenario, id_="e1")
    report = scenario.sense("done", in_reply_to=target, outcome="failed")

    assert said(report, OutcomeObserved) == []
    assert one(report, Decided).flags == ("unknown_reply",)


def test_a_report_without_an_outcome_credits_nobody() -> None:
    """A reply is not yet a result, and speaks of its own decision only."""
    scenario = Scenario(GARDEN)
    turn = advised(scenario)
    reply = scenario.sense("health restored", in_reply_to=decision_id(turn))

    assert said(reply, OutcomeObserved) == []
    assert one(reply, Decided).flags == ()


def test_the_first_report_stands() -> None:
    """A decision has one outcome; a second report changes nothing."""
    scenario = Scenario(GARDEN)
    turn = advised(scenario)
    scenario.sense("done", in_reply_to=decision_id(turn), outcome="succeeded")
    second = scenario.sense("hm", in_reply_to=decision_id(turn), outcome="failed")

    assert said(second, OutcomeObserved) == []
    assert low(scenario).confidence == 0.866667


def test_success_and_failure_are_both_waited_for() -> None:
    """The first of an event's patterns that is seen decides."""
    for text, outcome in (("player died", "fail"), ("health restored", "success")):
        scenario = Scenario(GARDEN)
        turn = advised(scenario)
        (fire,) = scenario.mind.fires
        shown = one(scenario.wait(5).sense(text), OutcomeObserved)

        assert [each.is_success for each in fire.expectations] == [False, True]
        assert (shown.outcome, shown.by, shown.pattern) == (outcome, "pattern", text)
        assert shown.decision_id == decision_id(turn)
        assert (scenario.mind.fires, scenario.mind.timers) == ((), ())


def test_words_are_matched_whole() -> None:
    """ "zombie gone" is not in "zombie goner", nor "player died" across fields."""
    scenario = Scenario(GARDEN)
    advised(scenario)

    assert not said(scenario.sense("the player diedx"), OutcomeObserved)
    assert not said(scenario.sense("player", fields={"a": "died"}), OutcomeObserved)
    assert said(scenario.sense("x", fields={"a": "Player died!"}), OutcomeObserved)


def test_one_outcome_closes_one_fire_the_oldest_first() -> None:
    """Two fires of one heuristic need two outcomes."""
    scenario = Scenario(GARDEN)
    first, second = advised(scenario), advised(scenario)
    shown = [one(scenario.sense("health restored"), OutcomeObserved) for _ in range(2)]
    third = scenario.sense("health restored")

    assert [each.decision_id for each in shown] == [
        decision_id(first),
        decision_id(second),
    ]
    assert said(third, OutcomeObserved) == []
    assert low(scenario).success_count == 2
    assert low(scenario).fire_count == 2


@pytest.mark.parametrize("first", ["world", "person"])
def test_a_late_signal_adds_no_second_success(
    first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though what was said of the fire before is settled, and can change no more."""
    monkeypatch.setattr(confidence, "SIGNAL_LIMIT", 2)
    scenario = Scenario(GARDEN)
    fires = [advised(scenario) for _ in range(5)]
    reports = [
        lambda turn=turn: scenario.sense(
            "done", in_reply_to=decision_id(turn), outcome="succeeded"
        )
        for turn in fires
    ]
    votes = [lambda turn=turn: scenario.feedback(turn) for turn in fires]
    steps = [*reports, *votes] if first == "world" else [*votes, *reports]
    for step in steps:
        step()

    assert (low(scenario).fire_count, low(scenario).success_count) == (5, 5)
    assert low(scenario).alpha == pytest.approx(2 * 0.8 + 5 * 1.8)


def test_entities_tell_fires_apart() -> None:
    """Where both sides say who takes part, they must share somebody."""
    scenario = Scenario(GARDEN)
    bo = advised(scenario, entities=["bo"])
    cy = advised(scenario, entities=["cy", "dee"])

    shown = one(scenario.sense("health restored", entities=["dee"]), OutcomeObserved)
    assert shown.decision_id == decision_id(cy)
    assert not said(
        scenario.sense("health restored", entities=["eve"]), OutcomeObserved
    )
    anybody = one(scenario.sense("health restored"), OutcomeObserved)
    assert anybody.decision_id == decision_id(bo)


def test_another_domains_events_show_nothing() -> None:
    """What happens on the desk is no outcome of advice in the garden."""
    scenario = Scenario(GARDEN)
    advised(scenario)

    assert not said(scenario.sense("health restored", type_="load"), OutcomeObserved)


def test_only_triggered_patterns_are_armed() -> None:
    """Advice on something that no pattern speaks of is waited for by nobody."""
    garden = pack(
        heuristic("dusk", "dusk falls", "Sleep."), patterns=[pattern("health", "x")]
    )
    scenario = Scenario(garden)
    one(scenario.sense("dusk falls", salience=THREAT), HeuristicFired)

    assert scenario.mind.fires == ()
    assert scenario.mind.timers == ()


def test_what_is_waited_for_in_vain_expires() -> None:
    """A timeout is told, and moves no confidence."""
    scenario = Scenario(GARDEN)
    turn = advised(scenario)
    late = scenario.wait(120).tell(ClockTicked(due_at=scenario.at))

    expired = one(late, OutcomeExpired)
    assert expired.fire_id == output(turn, HeuristicFired).id
    assert low(scenario).confidence == 0.8
    assert (scenario.mind.fires, scenario.mind.timers) == ((), ())
    assert scenario.mind.decisions.get(decision_id(turn)).outcome == "timeout"  # type: ignore[union-attr]


def test_each_pattern_has_its_own_time() -> None:
    """After 60 s a death is nobody's fault; after 119 s health can still be restored."""
    just = Scenario(GARDEN)
    advised(just)
    assert said(just.wait(60).sense("player died"), OutcomeObserved)
    scenario = Scenario(GARDEN)
    advised(scenario)

    assert not said(scenario.wait(61).sense("player died"), OutcomeObserved)
    assert said(scenario.wait(58).sense("health restored"), OutcomeObserved)


def test_expiry_comes_before_the_event_of_the_same_moment() -> None:
    """What is due runs first, so an event at the very end is too late."""
    scenario = Scenario(GARDEN)
    advised(scenario)
    turn = scenario.wait(120).sense("health restored")

    assert said(turn, OutcomeExpired)
    assert not said(turn, OutcomeObserved)


def test_a_report_counts_after_the_wait_is_over() -> None:
    """Who names the decision is believed, also when nobody waited any more."""
    scenario = Scenario(GARDEN)
    turn = advised(scenario)
    scenario.wait(200).tell(ClockTicked(due_at=scenario.at))
    report = scenario.sense("done", in_reply_to=decision_id(turn), outcome="succeeded")

    assert one(report, OutcomeObserved).outcome == "success"
    assert low(scenario).confidence == 0.866667


def test_an_outcome_credits_the_fire_it_is_about() -> None:
    """Not the latest fire of the heuristic: evidence names the one advised."""
    scenario = Scenario(GARDEN)
    first, _ = advised(scenario), advised(scenario)
    scenario.sense("done", in_reply_to=decision_id(first), outcome="succeeded")

    (signal,) = low(scenario).signals
    assert signal.fire_id == output(first, HeuristicFired).id


def test_suggestions_are_not_waited_for() -> None:
    """What only the model saw earns nothing, whatever happens then."""
    garden = pack(
        heuristic("low", "health low", "Drink.", confidence=0.6),
        patterns=[pattern("health", "health restored")],
    )
    scenario = Scenario(garden, model=factories.MODEL)
    turn = scenario.sense("health low", salience=THREAT)
    scenario.answer_model(turn)
    restored = scenario.sense("health restored")
    scenario.sense("done", in_reply_to=decision_id(turn), outcome="succeeded")

    assert one(turn, HeuristicFired).mode == "suggested"
    assert not said(restored, OutcomeObserved)
    assert not [
        each for each in scenario.outputs() if isinstance(each, OutcomeObserved)
    ]
    assert len(scenario.mind.beliefs) == 0


def test_too_many_waiting_fires_are_given_up() -> None:
    """The oldest go first, with their timers."""

    limit, limits.OPEN_FIRES = limits.OPEN_FIRES, 2
    try:
        scenario = Scenario(GARDEN)
        first = advised(scenario)
        advised(scenario)
        advised(scenario)
    finally:
        limits.OPEN_FIRES = limit

    assert len(scenario.mind.fires) == len(scenario.mind.timers) == 2
    assert decision_id(first) not in {each.decision_id for each in scenario.mind.fires}
