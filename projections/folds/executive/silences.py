"""Fold silences: the last one of what each person might have been told, for "why?", and those
that mattered, for "what did I miss?".

People are told apart: of what concerned somebody else nothing is told, and of what is hidden
from some only the one whom it concerned.
"""

from datetime import datetime

from msgspec.structs import replace

from projections.folds import pending_answers
from projections.folds.executive import waiting
from projections.folds.executive.conversation import cut
from projections.folds.fold_context import FoldContext
from schemas.messages.decisions import Decided, Dropped
from schemas.messages.executive import BreakSignalled, OfPerson
from schemas.messages.sensing import SOMEBODY, Sensed
from schemas.state.agent import AgentState
from schemas.state.executive import EVERYBODY
from schemas.state.limits import MISSED
from schemas.state.memory import Memory, Silent

_MISSED = ("muted", "quiet", "stale", "superseded")
"""Why something is missed that mattered."""

_OF_WORTH = ("relevance", "habituation")
"""The gates of what an event is worth."""

_TOLD_OTHERWISE = ("informational", "nothing_due", "batched")
"""What nobody expects an answer to, and what was answered together with others."""


def decided(
    memory: Memory, context: FoldContext, id_: str, message: Decided, event: Sensed
) -> Memory:
    """Return the memory after a decision on an event: what was kept from whom, and why."""
    reason = message.silence
    if reason is None or reason in _TOLD_OTHERWISE:
        return memory
    declared = context.appearance.domain.event_type
    is_hidden = declared is not None and bool(declared.hides(event))
    gate = next((each for each in message.gates if not each.passed), None)
    silent = Silent(
        decision_id=id_,
        at=context.now,
        reason=reason,
        about=cut(event.text),
        value=gate.value if gate is not None else None,
        threshold=gate.threshold if gate is not None else None,
        is_threat=message.salience.is_threat,
    )
    worth = (each.passed for each in message.gates if each.name in _OF_WORTH)
    words = silent.about if all(worth) and not event.is_persons else ""
    return _with(memory, silent, event.person, is_hidden=is_hidden, missed=words)


def dropped(state: AgentState, message: Dropped, now: datetime) -> Memory:
    """Return the memory after an answer that was wanted was not said.

    To be called while the answer is still known to be pending or to wait.
    """
    memory = state.executive.memory
    if message.reason in _TOLD_OTHERWISE:
        return memory
    asks = pending_answers.of_decision(state, message.decision_id)
    pending = state.pending[asks[0]] if asks else None
    held = waiting.find(state, message.decision_id)
    if pending is not None:
        about, person, hidden_from = pending.heard, pending.person, pending.hidden_from
    elif held is not None:
        about, person = held.heard, held.answer.person
        hidden_from = held.answer.hidden_from or ()
    else:
        return memory
    silent = Silent(
        decision_id=message.decision_id, at=now, reason=message.reason, about=about
    )
    # What it would have said tells more than what it was about.
    words = cut(held.answer.text) if held is not None else about
    is_hidden = bool(hidden_from)
    return _with(memory, silent, person, is_hidden=is_hidden, missed=words)


def missed(memory: Memory, person: str | None) -> tuple[Silent, ...]:
    """Return what a person missed that they may be told of, the latest at the end."""
    return tuple(each for each in memory.missed if each.whom in (EVERYBODY, person))


def caught_up(memory: Memory, control: OfPerson) -> Memory:
    """Return the memory after a control: at a break that a person asks for, what was missed
    is told; at one that a sensor signals, nobody asked.
    """
    if not memory.missed or not isinstance(control, BreakSignalled):
        return memory
    if control.by not in (control.person, SOMEBODY):
        return memory
    told = missed(memory, control.person)
    return replace(memory, missed=tuple(e for e in memory.missed if e not in told))


def last(memory: Memory, person: str | None) -> Silent | None:
    """Return the last silence about what a person might have been told."""
    own = memory.silent.get(person) if person is not None else None
    both = [each for each in (memory.silent.get(EVERYBODY), own) if each is not None]
    return max(both, key=lambda each: each.at, default=None)


def _with(
    memory: Memory, silent: Silent, person: str | None, *, is_hidden: bool, missed: str
) -> Memory:
    if is_hidden and person is None:
        return memory
    whom = person or EVERYBODY
    kept = memory.missed
    if missed and silent.reason in _MISSED:
        kept = (*kept, replace(silent, whom=whom, about=missed))[-MISSED:]
    return replace(memory, silent=memory.silent.set(whom, silent), missed=kept)
