"""Sleep: the decisions that a reflection may repeat, and the state of the present sleep.

Moments are bounded in number and size, and each is used once. A sleep has one ask open at
a time; the last finished sleep is kept as a report.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec.structs import asdict, replace

from projections.folds import formation, pending_answers, timers
from projections.folds.fold_context import FoldContext
from projections.folds.learning import heuristics
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided
from schemas.messages.learning import CandidateRefused, ProposalMade
from schemas.messages.sensing import Sensed
from schemas.messages.sleep import Reflected, SleepBegun, SleepEnded
from schemas.packs.compiled import CompiledPack
from schemas.state.agent import AgentState, Timer
from schemas.state.lessons import PastDecision, Reflection, Sleeping
from schemas.values.settings import SleepSettings
from schemas.values.vectors import Vector

_MOMENT_LIMIT = 4_000
"""How many characters of text and fields an event may have to become a moment."""

_REPORT_LIMIT = 200
"""How many characters of each text a report keeps."""

_IDLE = "sleep"
"""The id of the timer that lets an idle agent sleep."""


def decided(
    state: AgentState,
    packs: Sequence[CompiledPack],
    id_: str,
    message: Decided,
    event: Sensed,
    now: datetime,
    settings: SleepSettings,
    *,
    vector: Vector = b"",
) -> AgentState:
    """Return the state with a decision kept as a moment, and the idle timer set anew.

    `vector` is the event's.
    """
    if settings.auto and state.sleeping is None:
        state = _awake(state, now + timedelta(seconds=settings.idle_s))
    lesson = formation.of_event(event, message.domain, vector)
    is_chosen = message.path not in ("none", "acknowledged")
    if not is_chosen or len(lesson.text) + len(lesson.fields) > _MOMENT_LIMIT:
        return state
    # Longer events are left out, not cut: a decision on half an event is another one.
    moment = PastDecision(
        **asdict(replace(lesson, said=message.text or "")),
        decision_id=id_,
        event_id=message.event_id,
        at=now,
        path=message.path,
        said_vector=_words(state, packs, message),
    )
    return replace(state, moments=(*state.moments, moment)[-settings.events :])


def completed(
    state: AgentState, message: Completed, vector: Vector | None
) -> AgentState:
    """Return the state whose moment has the answer of a completed decision."""
    return _said(state, message.decision_id, message.text, vector, message.path)


def asked_about(
    state: AgentState, decision_id: str, text: str, vector: Vector | None
) -> AgentState:
    """Return the state whose moment has an answer that waits for its prediction."""
    return _said(state, decision_id, text, vector, "llm")


def begun(state: AgentState, context: FoldContext, message: SleepBegun) -> AgentState:
    """Return the state of an agent that begins to sleep."""
    sleeping = Sleeping(
        id=message.sleep_id,
        cause=message.cause,
        apply=message.apply,
        begun_at=context.now,
        left=message.decisions,
    )
    return replace(state, sleeping=sleeping, timers=timers.without(state.timers, _IDLE))


def asked(state: AgentState, ask_id: str, message: ModelAsked) -> AgentState:
    """Return the state that waits for a model's answer to a moment, or for its rule."""
    sleeping, decision_id = state.sleeping, message.decision_id
    assert sleeping is not None
    about = sleeping.about
    for_rule = about is not None and about.decision_id == decision_id
    if not for_rule:
        about = next(e for e in state.moments if e.decision_id == decision_id)
    due = message.expires_at + pending_answers.MODEL_GRACE
    timer = Timer(due=due, id=ask_id, purpose="reflection")
    return replace(
        state,
        asks=state.asks.set(ask_id, "open"),
        timers=timers.added(state.timers, timer),
        # Used once it is asked about, whatever comes of the ask.
        moments=tuple(e for e in state.moments if e.decision_id != decision_id),
        sleeping=replace(
            sleeping,
            ask_id=ask_id,
            about=about,
            for_rule=for_rule,
            left=tuple(each for each in sleeping.left if each != decision_id),
        ),
    )


def reflected(state: AgentState, message: Reflected) -> AgentState:
    """Return the state with a model's answer to a moment in the sleep's report."""
    state = _heard(state)
    sleeping = state.sleeping
    assert sleeping is not None
    assert sleeping.about is not None
    reflection = Reflection(
        decision_id=message.decision_id,
        text=sleeping.about.text[:_REPORT_LIMIT],
        done=message.done[:_REPORT_LIMIT],
        said=message.text[:_REPORT_LIMIT],
        agrees=message.agrees,
    )
    seen = (*sleeping.reflections, reflection)
    return replace(state, sleeping=replace(sleeping, reflections=seen))


def refused(state: AgentState, message: CandidateRefused) -> AgentState:
    """Return the state with one more candidate refused in this sleep."""
    state = _heard(state)
    sleeping = state.sleeping
    assert sleeping is not None
    return replace(state, sleeping=replace(sleeping, refused=sleeping.refused + 1))


def proposed(state: AgentState, message: ProposalMade) -> AgentState:
    """Return the state with one more proposal of this sleep."""
    state = _heard(state)
    sleeping, id_ = state.sleeping, message.proposal_id
    assert sleeping is not None
    now_in_force = (id_,) if message.applied else ()
    sleeping = replace(
        sleeping,
        proposals=(*sleeping.proposals, id_),
        applied=(*sleeping.applied, *now_in_force),
    )
    return replace(state, sleeping=sleeping)


def ended(state: AgentState, context: FoldContext, message: SleepEnded) -> AgentState:
    """Return the state of an agent that is awake again, with a report of its sleep."""
    state = _heard(state)
    sleeping = state.sleeping
    assert sleeping is not None
    over = replace(
        sleeping, left=(), about=None, ended_at=context.now, reason=message.reason
    )
    return replace(state, sleeping=None, slept=over)


def _awake(state: AgentState, until: datetime) -> AgentState:
    timer = Timer(due=until, id=_IDLE, purpose="sleep")
    others = timers.without(state.timers, _IDLE)
    return replace(state, timers=timers.added(others, timer))


def _words(
    state: AgentState, packs: Sequence[CompiledPack], message: Decided
) -> Vector:
    """Return the vector of the heuristic's text that was answered with; empty if none."""
    id_ = message.matched_heuristic_id
    if message.path != "heuristic" or id_ is None:
        return b""
    found = heuristics.find(state, packs, id_)
    return found.action_vector if found is not None else b""


def _said(
    state: AgentState, decision_id: str, text: str, vector: Vector | None, path: str
) -> AgentState:
    if not any(each.decision_id == decision_id for each in state.moments):
        return state
    moments = tuple(
        replace(each, said=text, said_vector=vector or each.said_vector, path=path)
        if each.decision_id == decision_id
        else each
        for each in state.moments
    )
    return replace(state, moments=moments)


def _heard(state: AgentState) -> AgentState:
    """Return the state with no ask of its sleep open; an answer still to come is late."""
    sleeping = state.sleeping
    assert sleeping is not None
    if not sleeping.ask_id:
        return state
    is_heard = state.asks.get(sleeping.ask_id) == "answered"
    return replace(
        state,
        asks=state.asks.set(sleeping.ask_id, "answered" if is_heard else "late"),
        timers=timers.without(state.timers, sleeping.ask_id),
        sleeping=replace(sleeping, ask_id="", for_rule=False),
    )
