"""Scenarios at random whose clock changes: nothing of an old clock survives or is credited."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from hypothesis import example, given, settings
from hypothesis import strategies as st

from handlers.mind.turn import Turn
from projections.folds import clock
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.decisions import Decided, HeuristicFired
from schemas.messages.learning import OutcomeObserved
from schemas.messages.results import ClockTicked
from schemas.state.agent import AgentState
from tests import factories
from tests.factories import heuristic, pack, pattern
from tests.scenario import Scenario, occurred, said

GARDEN = pack(
    heuristic("drink", "health low", "Drink.", confidence=0.8),
    heuristic("light", "dusk falls", "Light!", confidence=0.4),
    patterns=[pattern("health", "health restored", 60), pattern("dusk", "died", 600)],
)
TTL_S = 30.0
LONGEST_S = {
    "outcome": 600,
    "race": 10,
    "prediction": 30,
    "model": 90,
    "formation": 660,
}
"""The longest that a timer of each purpose may wait."""
YEAR_S = 365 * 24 * 3600.0

WAITS = st.sampled_from(
    [0.0, 0.5, 20.0, 70.0, 1_700.0, 1_800.0, 36_000.0, -60.0, -7_200.0]
)
TEXTS = st.sampled_from(
    ["health low", "dusk falls", "health restored", "died", "undo", "a stranger comes"]
)
AHEAD = st.one_of(
    st.none(),
    st.sampled_from(
        [0.0, -1.0, 3_600.0, -YEAR_S, 50 * YEAR_S, -600 * YEAR_S, 5_000 * YEAR_S]
    ),
)
STEPS = st.lists(
    st.tuples(
        WAITS,
        st.sampled_from(
            [
                "sense",
                "sense",
                "sense",
                "answer",
                "vote",
                "event",
                "broker",
                "end",
                "tick",
            ]
        ),
        TEXTS,
        AHEAD,
    ),
    max_size=24,
)
Step = tuple[float, str, str, float | None]


@settings(max_examples=100, deadline=None)
@example(
    steps=[(0.0, "sense", "health low", None), (0.5, "sense", "health restored", None)],
    strategy="hybrid",
)
@example(
    steps=[
        (0.0, "event", "", None),
        (0.0, "sense", "health low", 50 * YEAR_S),
        (0.0, "end", "", None),
        (36_000.0, "sense", "health restored", None),
    ],
    strategy="heuristic_first",
)
@given(
    steps=STEPS, strategy=st.sampled_from(["heuristic_first", "hybrid", "always_llm"])
)
def test_nothing_of_an_old_clock_survives(steps: Sequence[Step], strategy: str) -> None:
    """Whatever changes the clock, in either direction, and however far."""
    scenario = Scenario(
        GARDEN,
        model=factories.MODEL,
        strategy={"name": strategy},
        formation=True,
        relevance=0.0,
        learning={"undo_s": 30.0},
    )
    fired: dict[str, int] = {}
    changes = 0
    for step in steps:
        last = scenario.mind
        turn = lead(scenario, *step)
        if turn is None:
            continue
        changes += has_changed(last, scenario.mind)
        check_times(scenario.mind)
        check_credit(turn, fired, changes)


def lead(
    scenario: Scenario, wait_s: float, kind: str, text: str, ahead_s: float | None
) -> Turn | None:
    """Let one thing happen, if it can."""
    scenario.wait(wait_s)
    match kind:
        case "sense":
            at = (
                None
                if ahead_s is None
                else occurred(scenario.at + timedelta(seconds=ahead_s))
            )
            return scenario.sense(text, occurred_at=at)
        case "event" | "broker":
            id_ = f"s{len(scenario.turns)}"
            return scenario.control(SessionStarted(session_id=id_, clock=kind))
        case "end":
            return scenario.control(SessionEnded())
        case "tick":
            return scenario.tell(ClockTicked(due_at=scenario.at))
        case "answer":
            asks = [turn for turn in scenario.turns if said(turn, ModelAsked)]
            return scenario.answer_model(asks[-1]) if asks else None
        case _:
            decided = [turn for turn in scenario.turns if said(turn, Decided)]
            return scenario.feedback(decided[-1]) if decided else None


def has_changed(last: AgentState, mind: AgentState) -> bool:
    """Whether the agent's clock is another than before the input, or was set back."""
    if last.now is None or mind.now is None or mind is last:
        return False
    return clock.told_by(last) != clock.told_by(mind) or mind.now < last.now


def check_times(mind: AgentState) -> None:
    """No deadline lies further ahead than any can be set, and nothing remembered does."""
    now = mind.now
    if now is None:
        return

    def left_s(at: datetime) -> float:
        return (at - now).total_seconds()

    assert all(left_s(each.due) <= LONGEST_S[each.purpose] for each in mind.timers)
    waiting = [mind.pending[id_] for id_ in sorted(mind.pending)]
    assert all(left_s(each.expires_at) <= TTL_S for each in waiting)
    assert all(left_s(each.rival.due_at) <= TTL_S for each in waiting if each.rival)
    assert all(left_s(each.at) <= 0 for each in mind.shown)
    people = [mind.rapport[person] for person in mind.rapport.sorted_keys()]
    assert all(left_s(each.at) <= 0 for each in people if each.at is not None)
    beliefs = [mind.beliefs[key] for key in sorted(mind.beliefs)]
    assert all(left_s(each.last_fired) <= 0 for each in beliefs if each.last_fired)


def check_credit(turn: Turn, fired: dict[str, int], changes: int) -> None:
    """An outcome is of a fire of this clock, and what is said is worth half a minute."""
    # In order: a due timer may fire what the event of the same turn then shows the outcome of.
    for each in turn.outputs:
        match each.message:
            case OutcomeObserved(fire_id=fire_id):
                assert fired[fire_id] == changes
            case HeuristicFired(mode="shown"):
                fired[each.id] = changes
            case _:
                pass
    assert all(each.ttl_s <= TTL_S for each in said(turn, DeliveryAsked))
