"""Folds with a bounded memory: what is forgotten does no harm."""

from immutables import Map

from projections.folds import fires, formation, timers
from projections.folds.learning import beliefs, heuristics
from schemas.messages.controls import (
    HeuristicEdited,
    HeuristicFrozen,
    ProposalApplied,
    ProposalReverted,
)
from schemas.messages.decisions import Completed, Dropped, HeuristicFired
from schemas.messages.learning import FeedbackApplied, OutcomeExpired
from schemas.state.agent import AgentState, Timer
from schemas.state.taught import Shelf
from schemas.state.triggers import Trigger
from tests.factories import NOON, after, controlled


def test_the_end_of_a_forgotten_decision_is_taken_in() -> None:
    """After ten thousand more decisions, nobody asks for it."""
    state = AgentState()
    completed = Completed(
        decision_id="d",
        ask_id="a",
        path="llm",
        text="x",
        response_type="quip",
        model="m",
        predicted_success=0.5,
        prediction_confidence=0.5,
    )
    fired = HeuristicFired(
        decision_id="d",
        event_id="e",
        heuristic_id="h",
        content_hash="c",
        mode="shown",
        similarity=1.0,
        confidence=0.8,
    )
    expired = OutcomeExpired(
        fire_id="f", decision_id="d", heuristic_id="h", content_hash="c"
    )

    trigger = Trigger(at=NOON, domain="garden", entities=(), expectations=())

    assert fires.completed(state, completed) == state
    dropped = Dropped(decision_id="d", reason="cancelled")
    given_up = Dropped(decision_id="d", ask_id="a", reason="llm_timeout")

    assert fires.dropped(state, dropped) == state
    assert fires.dropped(state, given_up).asks.get("a") == "late"
    assert fires.fired(state, "f", fired, trigger) == state
    assert fires.ended(state, expired, "timeout") == state


def test_an_unknown_heuristic_is_left_alone() -> None:
    """A fold takes in what was recorded, and adds nothing of its own."""
    state = AgentState(shelves=Map({"garden": Shelf()}))
    edited = HeuristicEdited(heuristic_id="h", text="x")
    released = HeuristicFrozen(heuristic_id="h", frozen=False)

    assert controlled(state, edited) == state
    assert controlled(state, released) == state
    assert beliefs.declared_confidence(state, (), "h") == 0.5
    assert heuristics.content_in_force(state, (), "h") is None


def test_an_unknown_proposal_is_left_alone() -> None:
    """Also one that was applied so long ago that it is forgotten."""
    state = AgentState()
    applied = ProposalApplied(proposal_id="p")
    reverted = ProposalReverted(proposal_id="p")

    assert controlled(state, applied) == state
    assert controlled(state, reverted) == state


def test_timers_are_kept_in_order() -> None:
    """The soonest first, then by id."""

    def timer(seconds: float, id_: str) -> Timer:
        return Timer(due=after(seconds), id=id_, purpose="outcome")

    late, soon, same = timer(9, "a"), timer(1, "b"), timer(1, "a")
    held = timers.added(timers.added(timers.added((), late), soon), same)

    assert held == (same, soon, late)
    assert timers.without(held, "a") == (soon,)
    assert timers.due(held, after(1)) == (same, soon)
    assert timers.due(held, after(0.999)) == ()


def test_a_forgotten_decision_can_still_be_learnt_from() -> None:
    """The heuristic earns the vote; that later votes count for it is not remembered."""
    vote = FeedbackApplied(
        heuristic_id="h", content_hash="c", actor="user", value=1.0, through="d"
    )

    assert formation.reinforced(AgentState(), vote) == AgentState()
    suggested = HeuristicFired(
        decision_id="d",
        event_id="e",
        heuristic_id="h",
        content_hash="c",
        mode="suggested",
        similarity=1.0,
        confidence=0.3,
    )
    assert fires.suggested(AgentState(), suggested) == AgentState()
