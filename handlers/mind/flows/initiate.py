"""Taking the initiative: a timer is due, and the companion speaks though no event came.

Such a decision is an occasion of its own: it is named by itself, and by its timer. So is
one on a text that somebody wants said.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from handlers.mind.context import TurnContext
from handlers.mind.flows import audience, character, output, restrain, waiting
from handlers.mind.flows.character import Spoken
from handlers.mind.flows.consult import strategy_in_force
from handlers.mind.flows.output import Addressee
from handlers.mind.stages import executive, limits
from handlers.mind.stages.skills import Saying
from handlers.mind.stages.timing import URGENT, Ready
from projections.folds.executive import reminders
from schemas.messages.arms import EMIT, MILESTONE, REMIND, SILENT
from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import (
    Candidate,
    Decided,
    Dropped,
    Held,
    HeldAnswer,
    Salience,
)
from schemas.messages.executive import OutputRequested
from schemas.state.agent import Timer
from schemas.values.reasons import ResponseType, Silence, Timing

_SOURCE = "echoic"
"""Who occasions what no sensor does, and its domain."""

_REMINDER_TTL_S = 3_600.0
"""How late a reminder may be; after that it is dropped as stale."""
_MUTED_TTL_S = 43_200.0
"""For how long it waits for the end of a mute that nobody gave one."""
REQUEST = "request"
"""The kind of what somebody wants said."""
_REQUEST_TTL_S = 300.0
"""How long it is worth saying, unless the request says so."""
_PRIORITY = 1.0
"""As that of a person's words: somebody asked for it."""

_NOTHING_SENSED = Salience(dimensions={}, score=0.0, sensitivity=1.0, effective=0.0)


class Initiative(Struct, frozen=True):
    """Something to say at a timer."""

    timer: str
    kind: str
    """What it is, in the place of an event's type."""
    arm: str
    text: str
    response_type: ResponseType
    urgency: float
    expires_at: datetime
    person: str | None = None
    """For whom; None: for everybody."""
    asked_by: str | None = None
    """Who asked for it; None: nobody."""
    is_always: bool = False
    """Whether it is said however lately something was."""
    channel: str | None = None
    """Where it goes; None: where responses go."""
    is_verbatim: bool = False
    """Whether its words are somebody's own, and in nobody's character."""


def remind(turn: TurnContext, timer: Timer) -> None:
    """Say what somebody asked to be reminded of, at its time or once nobody is busy."""
    reminder = reminders.of_timer(turn.state.executive, timer.id)
    assert reminder is not None, "a reminder and its timer come and go together"
    is_asked = reminder.purpose == "reminder"
    due = reminders.due_by_now(turn.state, reminder, turn.input.at, turn.now)
    take(
        turn,
        Initiative(
            timer=timer.id,
            kind=reminder.purpose,
            arm=REMIND if is_asked else MILESTONE,
            text=reminder.text,
            response_type="suggestion" if is_asked else "observation",
            urgency=URGENT if reminder.urgent else 0.5,
            expires_at=due + timedelta(seconds=_REMINDER_TTL_S),
            person=reminder.person,
            asked_by=reminder.by if is_asked else None,
            is_always=not is_asked,
        ),
    )


def requested(turn: TurnContext, control: OutputRequested) -> None:
    """Say what somebody wants said: now, later, or not at all."""
    take(
        turn,
        Initiative(
            # No timer's id begins so.
            timer=f"{REQUEST}/{turn.input.id}",
            kind=REQUEST,
            arm=EMIT,
            text=control.text,
            response_type=control.response_type,
            urgency=URGENT if control.urgent else 0.5,
            expires_at=turn.now + timedelta(seconds=control.ttl_s or _REQUEST_TTL_S),
            person=control.person,
            channel=control.channel,
            is_verbatim=True,
        ),
    )


def take(turn: TurnContext, wanted: Initiative) -> None:
    """Decide on what a timer has to say: now, later, or not at all."""
    gates, silence = restrain.at_timer(
        turn,
        wanted.person,
        wanted.asked_by,
        is_always=wanted.is_always,
        is_alert=wanted.response_type == "alert",
    )
    spoken = _in_character(turn, wanted)
    common = _common(turn, wanted) | {"gates": gates, "voice": spoken.voice}
    # Whoever asked for it is told once the mute is over.
    is_kept = silence == "muted" and wanted.asked_by is not None
    if silence is not None and not is_kept:
        turn.emit(_silent(common, silence))
        return
    until: datetime | None = None
    if is_kept:
        here = limits.Heard(turn.now, wanted.person, wanted.asked_by, is_threat=False)
        until = limits.muted_until(turn.state.executive, here)
        kept = until or turn.now + timedelta(seconds=_MUTED_TTL_S)
        wanted = replace(wanted, expires_at=kept + timedelta(seconds=_REMINDER_TTL_S))
        waits = (replace(each, passed=True, note=limits.WAITS) for each in gates)
        common |= {"gates": tuple(waits)}
    common |= {"skills": spoken.skills, "wording": spoken.wording}
    wanted = replace(wanted, text=spoken.text)
    answer = Ready(
        wanted.response_type,
        wanted.urgency,
        0.0,
        wanted.person,
        is_addressed=False,
        is_asked_for=wanted.is_always or wanted.asked_by is not None,
    )
    when = "queued" if is_kept else waiting.timing_of(turn, answer)
    common |= {"hearing": audience.hearing(turn, answer, when)}
    is_stale = turn.now > wanted.expires_at
    is_final = when == "immediate" and not is_stale
    decision_id = turn.emit(_spoken(wanted, common, when, is_final=is_final))
    if is_stale:
        detail = f"stale since {wanted.expires_at}"
        turn.emit(Dropped(decision_id=decision_id, reason="stale", detail=detail))
    elif is_final:
        asked = _delivery(turn, wanted, decision_id)
        turn.emit(output.routed(turn, asked, Addressee(wanted.person)))
    else:
        held = _held(turn, wanted, decision_id, when)
        if until is not None:
            held = replace(held, timing="batched", due_at=until)
        turn.emit(held)


def _in_character(turn: TurnContext, wanted: Initiative) -> Spoken:
    if wanted.is_verbatim:
        return Spoken(wanted.text)
    saying = Saying(
        text=wanted.text,
        response_type=wanted.response_type,
        type=wanted.kind,
        source=_SOURCE,
        fields={},
    )
    return character.unasked(turn, saying, wanted.timer, wanted.person)


def _common(turn: TurnContext, wanted: Initiative) -> dict[str, Any]:
    strategy, session = strategy_in_force(turn), turn.state.session
    return {
        "event_id": turn.next_id,
        "timer": wanted.timer,
        "source": _SOURCE,
        "type": wanted.kind,
        "domain": _SOURCE,
        "strategy": strategy.name,
        "strategy_version": strategy.version,
        "config_hash": executive.config_hash(strategy),
        "salience": _NOTHING_SENSED,
        "probability": 1.0,
        "session_id": session.id if session else None,
        "chain": turn.state.chain,
        "person": wanted.person,
    }


def _silent(common: Mapping[str, Any], silence: Silence) -> Decided:
    return Decided(
        **common,
        path="none",
        arm=SILENT,
        greedy_arm=SILENT,
        silence=silence,
        final=True,
    )


def _spoken(
    wanted: Initiative, common: Mapping[str, Any], when: Timing, *, is_final: bool
) -> Decided:
    return Decided(
        **common,
        path="proactive",
        arm=wanted.arm,
        greedy_arm=wanted.arm,
        final=is_final,
        text=wanted.text,
        response_type=wanted.response_type,
        urgency=wanted.urgency,
        timing=when,
        expires_at=wanted.expires_at,
        candidates=(Candidate(arm=wanted.arm, probability=1.0),),
    )


def _held(
    turn: TurnContext, wanted: Initiative, decision_id: str, when: Timing
) -> Held:
    answer = HeldAnswer(
        path="proactive",
        text=wanted.text,
        response_type=wanted.response_type,
        predicted_success=0.0,
        prediction_confidence=0.0,
        channel=wanted.channel or turn.settings.channel,
        urgency=wanted.urgency,
        priority=_PRIORITY,
        expires_at=wanted.expires_at,
        event_id=decision_id,
        domain=_SOURCE,
        person=wanted.person,
        asked_by=wanted.asked_by,
    )
    return waiting.held(turn, decision_id, when, answer)


def _delivery(turn: TurnContext, wanted: Initiative, decision_id: str) -> DeliveryAsked:
    left_s = (wanted.expires_at - turn.now).total_seconds()
    return DeliveryAsked(
        decision_id=decision_id,
        event_id=decision_id,
        channel=wanted.channel or turn.settings.channel,
        text=wanted.text,
        response_type=wanted.response_type,
        urgency=wanted.urgency,
        path="proactive",
        priority=_PRIORITY,
        expires_at=wanted.expires_at,
        ttl_s=max(left_s, 0.001),
    )
