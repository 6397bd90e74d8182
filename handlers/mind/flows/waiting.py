"""Answers that wait: hold one that is ready, and say or drop it when its time has come.

What waits for one break, or for a cooldown's end, and is about one thing is said as one answer:
the lead's, the most relevant, of equals the earliest. The others end as batched into it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from handlers.mind.context import TurnContext
from handlers.mind.flows import audience, output, restrain
from handlers.mind.flows.decision_messages import Occasion, late_fire, left_s
from handlers.mind.flows.output import Addressee
from handlers.mind.stages import limits, timing
from handlers.mind.stages.timing import Ready
from projections.folds.executive import people, waiting
from schemas.messages.asks import DeliveryAsked, Rival
from schemas.messages.controls import PersonForgotten
from schemas.messages.decisions import (
    Answer,
    Completed,
    Dropped,
    Held,
    HeldAnswer,
    HeldHeuristic,
)
from schemas.messages.executive import BreakSignalled
from schemas.messages.sensing import Sensed
from schemas.ports.decision_context import HeuristicCandidate
from schemas.state.agent import Pending, Timer
from schemas.state.executive import EVERYBODY, Waiting
from schemas.state.limits import WAITING_ANSWERS
from schemas.values import vectors
from schemas.values.reasons import Drop, Timing


def held(
    turn: TurnContext,
    decision_id: str,
    when: Timing,
    answer: HeldAnswer,
    heuristic: HeldHeuristic | None = None,
    ask_id: str | None = None,
) -> Held:
    """Return that an answer waits for its time."""
    return Held(
        decision_id=decision_id,
        ask_id=ask_id or decision_id,
        timing=when,
        due_at=_due(turn, when, answer),
        answer=answer,
        heuristic=heuristic,
    )


def _due(turn: TurnContext, when: Timing, answer: HeldAnswer) -> datetime:
    """Return until when an answer of this timing is held at the latest."""
    held, settings = turn.state.executive, turn.settings.executive
    expires_at = answer.expires_at
    match when:
        case "deferred":
            return min(timing.lull(held, turn.now), expires_at)
        case "batched":
            return min(limits.cool_at(held, settings, turn.now), expires_at)
        case "queued":
            free_at = people.lapse_at(held, answer.person, turn.now)
            return min(free_at or expires_at, expires_at)
        case _:
            return expires_at


def timing_of(turn: TurnContext, answer: Ready, source: str = "") -> Timing:
    """Return when an answer that is ready is to be said; `source` if a model answers it."""
    way = audience.way_of(turn, answer)
    if way.waits:
        return "queued"
    when: Timing = "immediate"
    if turn.settings.executive.timing and not way.is_at_once:
        when = timing.timing(turn.state.executive, answer, turn.now)
    is_cool = restrain.cool_at(turn, answer, source) <= turn.now
    return when if is_cool or when != "immediate" else "batched"


def _held_answer(pending: Pending, end: Completed) -> HeldAnswer:
    """Return the answer of a decision that waited for its model, as it will be said."""
    rival = pending.rival if end.path == "heuristic" else None
    said = Answer.taken(end) | {"path": "heuristic" if rival else "llm"}
    return HeldAnswer(
        **said,
        channel=pending.channel,
        urgency=rival.urgency if rival else pending.urgency,
        priority=pending.priority,
        expires_at=pending.kept_until or pending.expires_at,
        event_id=pending.event_id,
        domain=pending.lesson.domain if pending.lesson else pending.domain or "",
        person=pending.person,
        entities=pending.entities,
        hidden_from=pending.hidden_from or None,
    )


def hold_late(turn: TurnContext, pending: Pending, end: Completed) -> bool:
    """Hold a late answer whose time has not come; return whether it is held."""
    answer = Ready(
        end.response_type,
        pending.urgency,
        pending.priority,
        pending.person,
        pending.speaker is not None,
        hidden_from=pending.hidden_from,
        is_aloud=pending.channel == turn.settings.channel,
    )
    rival = pending.rival if end.path == "heuristic" else None
    source = pending.lesson.source if pending.lesson and not rival else ""
    when = timing_of(turn, answer, source)
    if when == "immediate":
        return False
    of = _held_heuristic(rival) if rival else None
    answered = _held_answer(pending, end)
    turn.emit(held(turn, pending.decision_id, when, answered, of, pending.ask_id))
    return True


def asked_first(
    turn: TurnContext, pending: Pending, end: Completed, question: str
) -> Held:
    """Return that an answer waits for a person to confirm what it does."""
    expires_at = turn.now + timedelta(seconds=turn.settings.ttl_s)
    answer = replace(_held_answer(pending, end), expires_at=expires_at)
    return Held(
        decision_id=pending.decision_id,
        ask_id=pending.ask_id,
        timing="asked",
        due_at=expires_at,
        answer=answer,
        question=question,
    )


def awaited(turn: TurnContext, event: Sensed) -> Waiting | None:
    """Return what a person who answers yes or no was asked last; None if nothing."""
    held = reversed(turn.state.executive.waiting)
    return next((each for each in held if _is_asked(each, event)), None)


def lapse(turn: TurnContext, event: Sensed) -> None:
    """Leave what a person was asked about whose next words were no yes.

    Who is asked twice, or says yes to something else later, has not agreed to it.
    """
    for each in turn.state.executive.waiting if event.is_persons else ():
        if _is_asked(each, event):
            _drop(turn, each, "cancelled", "the person who was asked did not say yes")


def _is_asked(each: Waiting, event: Sensed) -> bool:
    return each.timing == "asked" and each.answer.person in (None, event.person)


def confirmed(turn: TurnContext, held: Waiting, *, is_yes: bool) -> None:
    """Do and say what a person was asked about, or leave it."""
    if is_yes:
        _say(turn, [held])
    else:
        _drop(turn, held, "cancelled", "the person who was asked said no")


def hold(
    turn: TurnContext,
    here: Occasion,
    decision_id: str,
    when: Timing,
    of: HeuristicCandidate | None,
    text: str,
    person: str | None,
) -> Held:
    """Return that words on the event at hand wait for their time: a heuristic's, or its own."""
    confidence = of.confidence if of is not None else 0.0
    answer = HeldAnswer(
        path="proactive" if of is None else "heuristic",
        text=text,
        response_type="observation" if of is None else of.response_type,
        action=of.action if of is not None else None,
        predicted_success=confidence,
        prediction_confidence=confidence,
        matched_heuristic_id=of.heuristic_id if of is not None else None,
        channel=here.channel,
        urgency=here.urgency(of),
        priority=here.priority,
        expires_at=here.kept_until,
        event_id=here.id,
        domain=here.domain.name,
        person=person,
        entities=here.event.entities,
        hidden_from=here.hidden_from or None,
    )
    its = _held_heuristic(of) if of is not None else None
    return held(turn, decision_id, when, answer, its)


def _held_heuristic(of: Rival | HeuristicCandidate) -> HeldHeuristic:
    return HeldHeuristic(
        content_hash=of.content_hash, similarity=of.similarity, confidence=of.confidence
    )


def make_room(turn: TurnContext) -> None:
    """Drop the least urgent answers that wait, while too many do."""
    while len(turn.state.executive.waiting) > WAITING_ANSWERS:
        least = min(
            turn.state.executive.waiting,
            key=lambda each: (each.answer.priority, each.due, each.decision_id),
        )
        _drop(turn, least, "superseded", "too many answers wait")


def release(turn: TurnContext, *, at_break_of: str | None = None) -> None:
    """Say what waits for people who are not busy any more.

    At a break of a person (`EVERYBODY` for all) also what was deferred for that person.
    """
    waiting = turn.state.executive.waiting
    _say(turn, [each for each in waiting if _is_free(turn, each, at_break_of)])


def heed(turn: TurnContext, control: object) -> None:
    """Say what may be said after a control; drop it all once a person was forgotten."""
    if isinstance(control, PersonForgotten):
        # What a model said is sealed under the keys of all whom the agent knew: no replay
        # could read what would be said here.
        for each in turn.state.executive.waiting:
            _drop(turn, each, "cancelled", "somebody was forgotten while it waited")
        return
    at_break_of = None
    if isinstance(control, BreakSignalled):
        at_break_of = control.person or EVERYBODY
    release(turn, at_break_of=at_break_of)


def would_say(turn: TurnContext, *, at_break_of: str) -> bool:
    """Tell whether something that waits is said at a break of this person."""
    return any(
        _is_free(turn, each, at_break_of)
        and turn.now <= each.answer.expires_at
        and restrain.stopped(turn, each) is None
        for each in turn.state.executive.waiting
    )


def run(turn: TurnContext, timer: Timer) -> None:
    """End the wait of an answer whose timer is due."""
    own = waiting.find(turn.state, timer.id)
    if own is None:
        return
    expires_at = own.answer.expires_at
    if own.timing == "asked" or turn.now >= expires_at:
        _drop(turn, own, "stale", f"stale since {expires_at}")
        return
    if own.timing == "queued" and restrain.is_kept(turn, own):
        _hold_on(turn, own, "queued")
        return
    # What waited for one cooldown, or for one person's typing to lapse.
    others = turn.state.executive.waiting if own.timing != "deferred" else ()
    with_it = (e for e in others if e.timing == own.timing and e.due <= turn.now)
    for group in _groups(turn, tuple(with_it) or (own,)):
        when = timing_of(turn, _as_answer(turn, group[0].answer))
        if when == "immediate":
            _say(turn, group)
        # After the first group the next cooldown runs.
        for each in group if when != "immediate" else ():
            _hold_on(turn, each, when)


def _hold_on(turn: TurnContext, own: Waiting, when: Timing) -> None:
    on = held(turn, own.decision_id, when, own.answer, own.heuristic, own.ask_id)
    turn.emit(on)


def _as_answer(turn: TurnContext, held: HeldAnswer) -> Ready:
    return Ready(
        held.response_type,
        held.urgency,
        0.0,
        held.person,
        is_addressed=False,
        hidden_from=held.hidden_from or (),
        is_asked_for=held.asked_by is not None,
        is_aloud=held.channel == turn.settings.channel,
    )


def _is_free(turn: TurnContext, each: Waiting, at_break_of: str | None) -> bool:
    """Tell whether what waits may be said now."""
    if each.timing == "asked" or restrain.is_kept(turn, each):
        return False
    answer = _as_answer(turn, each.answer)
    way = audience.way_of(turn, answer, at_break_of=at_break_of)
    if way.waits:
        return False
    if way.is_at_once or _is_break_for(each, at_break_of):
        return True
    is_busy = people.is_busy(turn.state.executive, each.answer.person, turn.now)
    return each.timing == "queued" and not is_busy


def _is_break_for(each: Waiting, person: str | None) -> bool:
    if person is None:
        return False
    return person in (EVERYBODY, each.answer.person) or each.answer.person is None


def _say(turn: TurnContext, ready: Sequence[Waiting]) -> None:
    """Say answers, those about one thing as one; drop the stale ones."""
    fresh: list[Waiting] = []
    for each in ready:
        stopped = restrain.stopped(turn, each)
        if turn.now > each.answer.expires_at:
            _drop(turn, each, "stale", f"stale since {each.answer.expires_at}")
        elif stopped is not None:
            _drop(turn, each, *stopped)
        else:
            fresh.append(each)
    for group in _groups(turn, fresh):
        # Asked again: what was said a moment ago may forbid the next.
        stopped = restrain.stopped(turn, group[0])
        if stopped is None:
            _say_as_one(turn, group)
            continue
        for each in group:
            _drop(turn, each, *stopped)


def _groups(turn: TurnContext, ready: Sequence[Waiting]) -> list[list[Waiting]]:
    """Return the answers by what they are about, the lead of each group first."""
    # A stable sort: of equals the one that was held first leads.
    left = sorted(ready, key=lambda each: -each.answer.priority)
    limit = turn.settings.limits.match
    groups: list[list[Waiting]] = []
    for each in left:
        found = next((group for group in groups if _alike(group[0], each, limit)), None)
        if found is None:
            groups.append([each])
        else:
            found.append(each)
    return groups


def _alike(lead: Waiting, other: Waiting, limit: float) -> bool:
    """Tell whether two answers are about one thing, for the same ears."""
    one, two = lead.answer, other.answer
    # Of two that are said as one only one's action would be done.
    if one.action is not None or two.action is not None:
        return False
    if any(getattr(one, name) != getattr(two, name) for name in _FOR_THE_SAME_EARS):
        return False
    if any(each in two.entities for each in one.entities):
        return True
    if not lead.vector or not other.vector:
        return False
    return vectors.cosine(lead.vector, other.vector) >= limit


_FOR_THE_SAME_EARS = ("domain", "person", "channel", "hidden_from")


def _say_as_one(turn: TurnContext, group: Sequence[Waiting]) -> None:
    lead, others = group[0], group[1:]
    # Each different one once.
    texts = list(dict.fromkeys(each.answer.text for each in group))
    for each in group:
        # A heuristic whose words nobody hears has not been shown.
        if each.heuristic is not None and each.answer.text in texts:
            of, id_ = each.answer, each.answer.matched_heuristic_id or ""
            turn.emit(late_fire(each.decision_id, of.event_id, id_, each.heuristic))
    words = " ".join(texts)
    turn.emit(_completed(lead, others, words))
    to = Addressee(lead.answer.person, lead.answer.hidden_from or ())
    output.send(turn, _delivery(turn, lead, words), to)
    for each in others:
        _drop(turn, each, "batched", f"batched into {lead.decision_id}")


def _completed(lead: Waiting, others: Sequence[Waiting], words: str) -> Completed:
    return Completed(
        **Answer.taken(lead.answer) | {"text": words},
        decision_id=lead.decision_id,
        ask_id=lead.ask_id,
        also_answers=tuple(each.decision_id for each in others),
    )


def _delivery(turn: TurnContext, held: Waiting, text: str) -> DeliveryAsked:
    answer: HeldAnswer = held.answer
    return DeliveryAsked(
        decision_id=held.decision_id,
        event_id=answer.event_id,
        channel=answer.channel,
        text=text,
        response_type=answer.response_type,
        urgency=answer.urgency,
        path=answer.path,
        action=answer.action,
        priority=answer.priority,
        expires_at=answer.expires_at,
        ttl_s=left_s(answer.expires_at, turn.now),
    )


def broken(held: Waiting, detail: str) -> Dropped:
    """Return the end of an answer whose timer could not be run."""
    return _dropped(held, "error", detail)


def _drop(turn: TurnContext, held: Waiting, reason: Drop, detail: str) -> None:
    turn.emit(_dropped(held, reason, detail))


def _dropped(held: Waiting, reason: Drop, detail: str) -> Dropped:
    return Dropped(
        decision_id=held.decision_id,
        ask_id=held.ask_id if held.answer.path == "llm" else None,
        reason=reason,
        detail=detail,
    )
